//! Imports of a style sheet, as JMeter finds them with ph-css 6.5.0: only `@import` at top level counts, no `url()`
//! elsewhere.
//!
//! Only imports are parsed; other rules are skipped by their braces. The treatment of broken sheets follows ph-css
//! where it loses imports. After an error outside of rules, parsing continues after the next closing brace. An unknown
//! at-rule extends to the next opening brace. A comment without an end makes the whole sheet unreadable.

use std::ops::Range;

use super::Links;
use super::tokenizer::Thrown;

/// Adds the links in a style sheet.
pub(super) fn find(
    text: &str,
    base: &str,
    lenient: bool,
    links: &mut Links<'_>,
) -> Result<(), Thrown> {
    let mut sheet = Sheet { text, at: 0, unreadable: false };
    let mut imports = Vec::new();
    sheet.read(&mut imports);
    if sheet.unreadable {
        return if lenient { Ok(()) } else { Err(unreadable(text, base)) };
    }
    for import in imports {
        links.add(&import, base)?;
    }
    Ok(())
}

/// Returns the exception for a comment without an end, with line and column of the sheet's end.
fn unreadable(text: &str, base: &str) -> Thrown {
    const TAB: u32 = 8;
    let (mut line, mut column) = (1, 0);
    let mut last = ' ';
    for c in text.encode_utf16().map(|unit| char::from_u32(unit.into()).unwrap_or(' ')) {
        column += 1;
        if last == '\n' || (last == '\r' && c != '\n') {
            (line, column) = (line + 1, 1);
        }
        if c == '\t' {
            column = (column - 1) / TAB * TAB + TAB;
        }
        last = c;
    }
    (line, column) = if matches!(last, '\n' | '\r') { (line + 1, 0) } else { (line, column + 1) };
    format!(
        "java.lang.IllegalArgumentException: Unrecoverable error met during parsing, you can ignore such errors by \
         setting property:'httpsampler.ignore_failed_embedded_resource' to true, message:Failed to parse CSS: {base}, \
         Lexical error at line {line}, column {column}.  Encountered: <EOF> after : \"\""
    )
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    Space,
    Open,
    Close,
    Semicolon,
    Comma,
    Colon,
    Left,
    Right,
    Text,
    Url,
    Name,
    /// A name followed by an opening parenthesis.
    Function,
    At,
    /// One of the marks `<!--` and `-->`.
    Mark,
    Other,
}

struct Sheet<'t> {
    text: &'t str,
    at: usize,
    /// True if the style sheet contains a comment without an end.
    unreadable: bool,
}

impl Sheet<'_> {
    fn read(&mut self, imports: &mut Vec<String>) {
        // After a rule other than an import, extra closing braces and semicolons are ignored.
        let mut lenient = false;
        while let Some((token, range)) = self.next() {
            match token {
                Token::Space | Token::Mark => {}
                Token::Close | Token::Semicolon if lenient => {}
                Token::At => {
                    let word = self.text[range].to_ascii_lowercase();
                    let ended = match word.as_str() {
                        "@import" => self.import(imports),
                        "@charset" => {
                            let rest = &self.text[self.at..];
                            rest.starts_with(|c: char| c.is_ascii_whitespace())
                                && self.statement(&[Token::Text])
                        }
                        "@namespace" => self.statement(&[Token::Name, Token::Text, Token::Url]),
                        _ => {
                            lenient = true;
                            self.pass_rule(known(&word))
                        }
                    };
                    if !ended {
                        self.recover(0);
                        lenient = false;
                    }
                }
                Token::Close | Token::Semicolon => {
                    self.at = range.start;
                    self.recover(0);
                }
                _ => {
                    self.at = range.start;
                    self.recover(0);
                    lenient = true;
                }
            }
        }
    }

    /// Skips an at-rule other than an import. Returns false if the rule is invalid.
    fn pass_rule(&mut self, known: bool) -> bool {
        loop {
            let before = self.at;
            match self.next() {
                None => return true,
                Some((Token::Open, _)) => {
                    self.recover(1);
                    return true;
                }
                Some((Token::Semicolon | Token::Close, _)) if known => {
                    self.at = before;
                    return false;
                }
                Some(_) => {}
            }
        }
    }

    /// Skips tokens of the `allowed` kinds up to a semicolon. Returns false at a token of another kind.
    fn statement(&mut self, allowed: &[Token]) -> bool {
        loop {
            let before = self.at;
            match self.next() {
                Some((Token::Semicolon, _)) | None => return true,
                Some((Token::Space, _)) => {}
                Some((token, _)) if allowed.contains(&token) => {}
                Some(_) => {
                    self.at = before;
                    return false;
                }
            }
        }
    }

    /// Parses an import after its keyword. Returns false if it is invalid; the invalid token is not consumed.
    fn import(&mut self, imports: &mut Vec<String>) -> bool {
        let Some((token, range)) = self.solid() else { return true };
        let link = match token {
            Token::Text => self.text[range.start + 1..range.end - 1].to_string(),
            Token::Url => unescape(unquoted(self.text[range.start + 4..range.end - 1].trim())),
            _ => {
                self.at = range.start;
                return false;
            }
        };
        if self.media() {
            imports.push(link);
            return true;
        }
        false
    }

    /// Parses the media queries of an import and the semicolon after them.
    fn media(&mut self) -> bool {
        let Some((mut token, mut range)) = self.solid() else { return false };
        if token == Token::Semicolon {
            return true;
        }
        loop {
            // A media query consists of a medium, or of conditions in parentheses.
            let word = |range: &Range<usize>| self.text[range.clone()].to_ascii_lowercase();
            match token {
                Token::Name if matches!(word(&range).as_str(), "only" | "not") => {
                    match self.solid() {
                        Some((Token::Name, _)) => {}
                        other => return self.broken(other),
                    }
                }
                Token::Name if !reserved(&word(&range)) => {}
                Token::Left => {
                    if !self.condition() {
                        return false;
                    }
                }
                _ => return self.broken(Some((token, range))),
            }
            loop {
                match self.solid() {
                    Some((Token::Semicolon, _)) => return true,
                    Some((Token::Comma, _)) => break,
                    Some((Token::Name, at))
                        if self.text[at.clone()].eq_ignore_ascii_case("and") =>
                    {
                        match self.solid() {
                            Some((Token::Left, _)) if self.condition() => {}
                            Some((Token::Left, _)) => return false,
                            other => return self.broken(other),
                        }
                    }
                    other => return self.broken(other),
                }
            }
            match self.solid() {
                Some(next) => (token, range) = next,
                None => return false,
            }
        }
    }

    /// Parses the rest of a condition in a media query, after its opening parenthesis.
    fn condition(&mut self) -> bool {
        let mut depth = 1;
        match self.solid() {
            Some((Token::Name, _)) => {}
            other => return self.broken(other),
        }
        loop {
            match self.solid() {
                Some((Token::Left | Token::Function, _)) => depth += 1,
                Some((Token::Right, _)) if depth == 1 => return true,
                Some((Token::Right, _)) => depth -= 1,
                other @ (Some((Token::Open | Token::Close | Token::Semicolon, _)) | None) => {
                    return self.broken(other);
                }
                Some(_) => {}
            }
        }
    }

    /// Puts back a token that is not allowed here, and returns false.
    fn broken(&mut self, token: Option<(Token, Range<usize>)>) -> bool {
        if let Some((_, range)) = token {
            self.at = range.start;
        }
        false
    }

    /// Skips to the brace that closes `depth` open braces, or to an unmatched closing brace.
    fn recover(&mut self, mut depth: usize) {
        while let Some((token, _)) = self.next() {
            match token {
                Token::Open => depth += 1,
                Token::Close if depth <= 1 => return,
                Token::Close => depth -= 1,
                _ => {}
            }
        }
    }

    /// Returns the next token of the style sheet that is not whitespace.
    fn solid(&mut self) -> Option<(Token, Range<usize>)> {
        loop {
            let token = self.next()?;
            if token.0 != Token::Space {
                return Some(token);
            }
        }
    }

    /// Returns the next token of the style sheet and its position; comments are skipped.
    fn next(&mut self) -> Option<(Token, Range<usize>)> {
        loop {
            let rest = self.text.get(self.at..)?;
            let start = self.at;
            let first = rest.chars().next()?;
            let (token, length) = match first {
                '/' if rest.starts_with("/*") => match rest[2..].find("*/") {
                    Some(end) => {
                        self.at += end + 4;
                        continue;
                    }
                    None => {
                        self.unreadable = true;
                        self.at = self.text.len();
                        return None;
                    }
                },
                '/' if rest.starts_with("//") => {
                    let end = rest.find(['\n', '\r', ';', '}']).unwrap_or(rest.len());
                    self.at += end;
                    continue;
                }
                ' ' | '\t' | '\n' | '\r' | '\u{c}' => (Token::Space, 1),
                '{' => (Token::Open, 1),
                '}' => (Token::Close, 1),
                ';' => (Token::Semicolon, 1),
                ',' => (Token::Comma, 1),
                ':' => (Token::Colon, 1),
                '(' => (Token::Left, 1),
                ')' => (Token::Right, 1),
                '"' | '\'' => string(rest, first),
                '@' => (Token::At, 1 + name(&rest[1..])),
                '<' if rest.starts_with("<!--") => (Token::Mark, 4),
                '-' if rest.starts_with("-->") => (Token::Mark, 3),
                _ => match name(rest) {
                    0 => (Token::Other, first.len_utf8()),
                    length => named(rest, length),
                },
            };
            self.at = start + length;
            return Some((token, start..start + length));
        }
    }
}

/// Returns the token for the string at the start of `rest`, and the string's length. Without a closing quote, the token
/// is [`Token::Other`] up to the end of the line.
fn string(rest: &str, quote: char) -> (Token, usize) {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\n' | '\r' | '\u{c}' => return (Token::Other, at),
            c if c == quote => return (Token::Text, at + 1),
            _ => {}
        }
    }
    (Token::Other, rest.len())
}

/// Returns the length of the name at the start of the text. Hyphens, escapes and non-ASCII characters belong to a name.
fn name(rest: &str) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices() {
        match c {
            '\n' | '\r' | '\u{c}' if escaped => return at - 1,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') || c >= '\u{80}' => {}
            _ => return at,
        }
    }
    rest.len() - usize::from(escaped)
}

/// Returns the token that begins with a name, and its length: the name alone, a function's name, or a whole `url(…)`.
fn named(rest: &str, length: usize) -> (Token, usize) {
    if !rest[length..].starts_with('(') {
        return (Token::Name, length);
    }
    if rest[..length].eq_ignore_ascii_case("url")
        && let Some(end) = url_end(&rest[length + 1..])
    {
        return (Token::Url, length + 1 + end);
    }
    (Token::Function, length + 1)
}

/// Returns the length of the content of `url(` including the closing parenthesis; `None` if the content is invalid.
fn url_end(inside: &str) -> Option<usize> {
    let blank = |c: char| matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{c}');
    let content = inside.trim_start_matches(blank);
    let length = match content.chars().next()? {
        quote @ ('"' | '\'') => match string(content, quote) {
            (Token::Text, length) => length,
            _ => return None,
        },
        _ => {
            let mut escaped = false;
            let end = content.char_indices().find(|(_, c)| {
                let plain = matches!(c, '!' | '#'..='&' | '*'..='[' | ']'..='~' | '\u{80}'..);
                let ends = !escaped && !plain && *c != '\\';
                escaped = !escaped && *c == '\\';
                ends
            });
            end.map_or(content.len(), |(at, _)| at)
        }
    };
    let after = content[length..].trim_start_matches(blank);
    after.starts_with(')').then(|| inside.len() - after.len() + 1)
}

/// Returns true for at-rules that ph-css supports. Any other at-rule extends to the next opening brace.
fn known(word: &str) -> bool {
    matches!(word, "@media" | "@page" | "@font-face" | "@keyframes" | "@viewport" | "@supports")
        || (word.starts_with("@-")
            && ["-font-face", "-keyframes", "-viewport"].iter().any(|end| word.ends_with(end)))
}

/// Returns true for keywords, which cannot be media types in a media query.
fn reserved(word: &str) -> bool {
    matches!(word, "and" | "not" | "only" | "from" | "to" | "or" | "inherit")
}

fn unquoted(text: &str) -> &str {
    for quote in ['"', '\''] {
        if text.len() >= 2 && text.starts_with(quote) && text.ends_with(quote) {
            return &text[1..text.len() - 1];
        }
    }
    text
}

/// Removes the backslashes of escapes.
fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        out.extend(if c == '\\' { chars.next() } else { Some(c) });
    }
    out
}
