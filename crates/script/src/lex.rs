//! Splits Groovy and BeanShell scripts into tokens.
//!
//! Whatever cannot be read with certainty is refused: slashy strings, unicode escapes, and Groovy's decimals, which are
//! `BigDecimal`. Such a script runs in a JVM. Groovy text in double quotes with `${…}` is split into pieces, and the
//! code in it is split into tokens as well. The depth of nesting is limited.

use super::{Language, NotSimple};

/// Maximum nesting depth of strings that contain code.
const DEEPEST: u32 = 8;

/// A token of a script, with the whitespace before it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Word {
    pub(super) token: Token,
    /// True if a line end precedes the token.
    pub(super) fresh_line: bool,
    /// True if no whitespace separates the token from the previous token.
    pub(super) joined: bool,
}

/// The kind and the value of a token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Name(String),
    Text(String),
    /// A `GString`: text with code in it.
    Pieces(Vec<Piece>),
    Int(i32),
    Long(i64),
    Double(f64),
    Sign(&'static str),
}

/// A part of a string with code in it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Piece {
    Text(String),
    Code(Vec<Word>),
}

/// All operators and punctuation marks, the longest first.
const SIGNS: [&str; 56] = [
    ">>>=", "<=>", "===", "!==", "==~", "**=", "<<=", ">>=", ">>>", "...", "..<", "?.", "?:", "*.",
    ".&", ".@", "=~", "==", "!=", "<=", ">=", "&&", "||", "++", "--", "+=", "-=", "*=", "/=", "%=",
    "->", "::", "..", "**", "<<", ">>", "(", ")", "{", "}", "[", "]", ";", ",", ".", "=", "<", ">",
    "!", "?", ":", "+", "-", "*", "/", "%",
];

/// Splits a script into tokens.
pub(super) fn words(source: &str, language: Language) -> Result<Vec<Word>, NotSimple> {
    Lexer { rest: source, language, depth: 0 }.all()
}

struct Lexer<'s> {
    rest: &'s str,
    language: Language,
    depth: u32,
}

impl<'s> Lexer<'s> {
    fn all(&mut self) -> Result<Vec<Word>, NotSimple> {
        let mut found: Vec<Word> = Vec::new();
        loop {
            let before = self.rest.len();
            let fresh_line = self.blank()?;
            let joined = before == self.rest.len();
            if self.rest.is_empty() {
                return Ok(found);
            }
            let token = self.token()?;
            found.push(Word { token, fresh_line, joined });
        }
    }

    /// Skips blanks and comments, and returns whether they contain a line end.
    fn blank(&mut self) -> Result<bool, NotSimple> {
        let mut fresh_line = false;
        loop {
            let Some(first) = self.rest.chars().next() else { return Ok(fresh_line) };
            match first {
                '\n' => fresh_line = true,
                '\r' if self.rest.starts_with("\r\n") || self.language == Language::BeanShell => {}
                ' ' | '\t' | '\u{c}' => {}
                '/' if self.rest.starts_with("//") => {
                    self.rest = &self.rest[self.rest.find('\n').unwrap_or(self.rest.len())..];
                    continue;
                }
                '/' if self.rest.starts_with("/*") => {
                    let Some(end) = self.rest[2..].find("*/") else {
                        return Err(NotSimple::new("an unterminated comment"));
                    };
                    fresh_line |= self.rest[..end].contains('\n');
                    self.rest = &self.rest[end + 4..];
                    continue;
                }
                _ => return Ok(fresh_line),
            }
            self.rest = &self.rest[first.len_utf8()..];
        }
    }

    fn token(&mut self) -> Result<Token, NotSimple> {
        let Some(first) = self.rest.chars().next() else {
            return Err(NotSimple::new("an unexpected end of the script"));
        };
        match first {
            'a'..='z' | 'A'..='Z' | '_' => Ok(Token::Name(self.name().to_owned())),
            '0'..='9' => self.number(),
            '"' | '\'' => self.quoted(first),
            _ => match SIGNS.iter().find(|sign| self.rest.starts_with(**sign)) {
                Some(sign) => {
                    self.rest = &self.rest[sign.len()..];
                    Ok(Token::Sign(sign))
                }
                None => Err(NotSimple::new(format!("the character {first}"))),
            },
        }
    }

    fn name(&mut self) -> &'s str {
        let more = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let (name, rest) = split(self.rest, more);
        self.rest = rest;
        name
    }

    fn number(&mut self) -> Result<Token, NotSimple> {
        let (digits, rest) = split(self.rest, |c| c.is_ascii_digit());
        let refuse = || NotSimple::new("an unsupported form of number");
        if digits.len() > 1 && digits.starts_with('0') {
            return Err(refuse());
        }
        let fraction = rest.strip_prefix('.').map(|rest| split(rest, |c| c.is_ascii_digit()));
        if let Some((fraction, after)) = fraction.filter(|(digits, _)| !digits.is_empty()) {
            let decimal = self.language == Language::BeanShell;
            let after = match after.strip_prefix(['d', 'D']) {
                Some(after) => after,
                None if decimal => after,
                None => return Err(NotSimple::new("a decimal number")),
            };
            if after.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') {
                return Err(refuse());
            }
            self.rest = after;
            return format!("{digits}.{fraction}").parse().map(Token::Double).map_err(|_| refuse());
        }
        let (long, after) = match rest.strip_prefix(['l', 'L']) {
            Some(after) => (true, after),
            None => (false, rest),
        };
        if after.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') {
            return Err(refuse());
        }
        self.rest = after;
        match digits.parse::<i32>() {
            Ok(value) if !long => Ok(Token::Int(value)),
            // In Groovy a number that is too large for an `int` is a `long`.
            _ if long || self.language == Language::Groovy => {
                digits.parse().map(Token::Long).map_err(|_| refuse())
            }
            _ => Err(refuse()),
        }
    }

    fn quoted(&mut self, quote: char) -> Result<Token, NotSimple> {
        let groovy = self.language == Language::Groovy;
        if !groovy && quote == '\'' {
            return Err(NotSimple::new("a single character"));
        }
        let triple = if quote == '"' { "\"\"\"" } else { "'''" };
        let long = groovy && self.rest.starts_with(triple);
        let end = if long { triple } else { &triple[..1] };
        self.rest = &self.rest[end.len()..];
        let (mut pieces, mut text) = (Vec::new(), String::new());
        loop {
            if let Some(rest) = self.rest.strip_prefix(end) {
                self.rest = rest;
                break;
            }
            let Some(c) = self.rest.chars().next() else {
                return Err(NotSimple::new("an unterminated string"));
            };
            self.rest = &self.rest[c.len_utf8()..];
            match c {
                '\\' => self.escaped(&mut text)?,
                '\r' => return Err(NotSimple::new("a carriage return in a string")),
                '\n' if !long => return Err(NotSimple::new("an unterminated string")),
                '$' if groovy && quote == '"' => {
                    if !text.is_empty() {
                        pieces.push(Piece::Text(std::mem::take(&mut text)));
                    }
                    pieces.push(Piece::Code(self.code()?));
                }
                _ => text.push(c),
            }
        }
        if pieces.is_empty() {
            return Ok(Token::Text(text));
        }
        if !text.is_empty() {
            pieces.push(Piece::Text(text));
        }
        Ok(Token::Pieces(pieces))
    }

    fn escaped(&mut self, text: &mut String) -> Result<(), NotSimple> {
        let c = self.rest.chars().next();
        text.push(match c {
            Some('n') => '\n',
            Some('t') => '\t',
            Some('r') => '\r',
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('\\') => '\\',
            Some('"') => '"',
            Some('\'') => '\'',
            Some('$') if self.language == Language::Groovy => '$',
            _ => return Err(NotSimple::new("an unsupported escape in a string")),
        });
        self.rest = &self.rest[1..];
        Ok(())
    }

    /// Reads the tokens after a dollar sign in text.
    fn code(&mut self) -> Result<Vec<Word>, NotSimple> {
        if let Some(rest) = self.rest.strip_prefix('{') {
            return self.braced(rest);
        }
        if !self.rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            return Err(NotSimple::new("a dollar sign in a string"));
        }
        let word = |token, joined| Word { token, fresh_line: false, joined };
        let mut found = vec![word(Token::Name(self.name().to_owned()), false)];
        while let Some(rest) = self.rest.strip_prefix('.') {
            if !rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
                break;
            }
            self.rest = rest;
            found.push(word(Token::Sign("."), true));
            found.push(word(Token::Name(self.name().to_owned()), true));
        }
        Ok(found)
    }

    /// Reads code in braces, which may contain text with braces.
    fn braced(&mut self, source: &'s str) -> Result<Vec<Word>, NotSimple> {
        if self.depth == DEEPEST {
            return Err(NotSimple::new("strings nested too deeply"));
        }
        let mut inner = Lexer { rest: source, language: self.language, depth: self.depth + 1 };
        let (mut found, mut open) = (Vec::new(), 0);
        loop {
            let fresh_line = inner.blank()?;
            let token = inner.token()?;
            match token {
                Token::Sign("{") => open += 1,
                Token::Sign("}") if open == 0 => {
                    self.rest = inner.rest;
                    return Ok(found);
                }
                Token::Sign("}") => open -= 1,
                _ => {}
            }
            found.push(Word { token, fresh_line, joined: false });
        }
    }
}

/// Splits a string after its longest prefix of characters that are `kept`.
fn split(text: &str, kept: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !kept(c)).unwrap_or(text.len()))
}
