//! Parses a path in Jayway's dialect, with that parser's tolerance and error messages.

use super::cursor::Cursor;
use super::failure::Failure;
use super::filter::{self, Filter};

type Reading<T> = Result<T, Failure>;

/// Maximum nesting depth of filters and function parameters in a path.
pub(super) const MAX_DEPTH: u32 = 50;

/// A step of a JSONPath.
#[derive(Clone, Debug)]
pub(super) enum Token {
    Property { names: Vec<String>, quote: char },
    Index(Vec<i32>),
    Slice(Option<i32>, Option<i32>),
    Wildcard,
    Scan,
    Filter(Box<Filter>),
    Function { name: String, parameters: Vec<Parameter> },
}

/// A parameter of a function in a JSONPath: JSON text or a path.
#[derive(Clone, Debug)]
pub(super) enum Parameter {
    Json(String),
    Path(Path),
}

/// A parsed JSONPath.
#[derive(Clone, Debug)]
pub(super) struct Path {
    /// True if the path starts at the document (`$`); false if it starts at the current node (`@`).
    pub(super) from_root: bool,
    pub(super) tokens: Vec<Token>,
}

impl Token {
    /// Returns true if the step leads to at most one node. `last` is true for the last step of a path.
    pub(super) fn is_definite(&self, last: bool) -> bool {
        match self {
            Self::Property { names, .. } => last || names.len() == 1,
            Self::Index(indexes) => indexes.len() == 1,
            Self::Function { .. } => true,
            Self::Slice(..) | Self::Wildcard | Self::Scan | Self::Filter(_) => false,
        }
    }

    /// Appends the step of a path in Jayway's notation.
    pub(super) fn write(&self, out: &mut String) {
        match self {
            Self::Property { names, quote } => {
                let quoted: Vec<_> =
                    names.iter().map(|name| format!("{quote}{name}{quote}")).collect();
                out.push_str(&format!("[{}]", quoted.join(",")));
            }
            Self::Index(indexes) => {
                let indexes: Vec<_> = indexes.iter().map(i32::to_string).collect();
                out.push_str(&format!("[{}]", indexes.join(",")));
            }
            Self::Slice(from, to) => {
                let bound =
                    |bound: &Option<i32>| bound.map(|bound| bound.to_string()).unwrap_or_default();
                out.push_str(&format!("[{}:{}]", bound(from), bound(to)));
            }
            Self::Wildcard => out.push_str("[*]"),
            Self::Scan => out.push_str(".."),
            Self::Filter(_) => out.push_str("[?]"),
            Self::Function { name, parameters } => {
                let parameters = if parameters.is_empty() { "()" } else { "(...)" };
                out.push_str(&format!(".{name}{parameters}"));
            }
        }
    }
}

impl Path {
    pub(super) fn is_definite(&self) -> bool {
        let last = self.tokens.len().saturating_sub(1);
        self.tokens.iter().enumerate().all(|(at, token)| token.is_definite(at == last))
    }

    pub(super) fn is_function(&self) -> bool {
        matches!(self.tokens.last(), Some(Token::Function { .. }))
    }

    /// Returns the path in Jayway's notation.
    pub(super) fn text(&self) -> String {
        let mut out = String::from(if self.from_root { "$" } else { "@" });
        self.tokens.iter().for_each(|token| token.write(&mut out));
        out
    }
}

fn invalid<T>(message: impl Into<String>) -> Reading<T> {
    Err(Failure::InvalidPath(message.into()))
}

/// Parses a JSONPath.
pub(super) fn read(source: &str, depth: u32) -> Reading<Path> {
    if depth > MAX_DEPTH {
        return invalid("Path is nested too deeply");
    }
    let read = || {
        let mut cursor = Cursor::new(source);
        cursor.trim();
        // As in Jayway, the test is on the first character, even if it is a blank.
        if !matches!(cursor.char_at(0)?, '$' | '@') {
            cursor = Cursor::new(&format!("$.{source}"));
            cursor.trim();
        }
        if cursor.last_is('.')? {
            return invalid("Path must not end with a '.' or '..'");
        }
        Reader { cursor, depth }.path()
    };
    read().map_err(|failure| match failure {
        Failure::InvalidPath(_) | Failure::NotFound(_) => failure,
        Failure::Index(text) | Failure::Other(text) => Failure::InvalidPath(text),
    })
}

struct Reader {
    cursor: Cursor,
    depth: u32,
}

impl Reader {
    fn path(mut self) -> Reading<Path> {
        let cursor = &mut self.cursor;
        while cursor.in_bounds() && is_whitespace(cursor.current()?) {
            cursor.at += 1;
        }
        let root = cursor.current()?;
        if !matches!(root, '$' | '@') {
            return invalid("Path must start with '$' or '@'");
        }
        let mut tokens = Vec::new();
        if !cursor.is_tail() {
            cursor.at += 1;
            if !matches!(cursor.current()?, '.' | '[') {
                return invalid(format!(
                    "Illegal character at position {} expected '.' or '['",
                    cursor.at
                ));
            }
            while self.token(&mut tokens)? {}
        }
        Ok(Path { from_root: root == '$', tokens: invert(tokens) })
    }

    /// Parses one step of a path and adds it to `tokens`. Returns true if another step follows.
    fn token(&mut self, tokens: &mut Vec<Token>) -> Reading<bool> {
        match self.cursor.current()? {
            '[' => {
                let read = self.bracket_property(tokens)?
                    || self.array(tokens)?
                    || self.wildcard(tokens)?
                    || self.filter(tokens)?
                    || self.placeholder()?;
                if !read {
                    return invalid(format!(
                        "Could not parse token starting at position {}. Expected ?, ', 0-9, * ",
                        self.cursor.at
                    ));
                }
            }
            '.' => return self.dot(tokens),
            '*' => {
                if !self.wildcard(tokens)? {
                    return self.unparsable();
                }
            }
            _ => {
                if !self.property_or_function(tokens)? {
                    return self.unparsable();
                }
            }
        }
        Ok(!self.cursor.is_tail())
    }

    fn unparsable<T>(&self) -> Reading<T> {
        invalid(format!("Could not parse token starting at position {}", self.cursor.at))
    }

    fn dot(&mut self, tokens: &mut Vec<Token>) -> Reading<bool> {
        if self.cursor.next_is('.') {
            tokens.push(Token::Scan);
            self.cursor.at += 2;
        } else if !self.cursor.contains(self.cursor.at + 1) {
            return invalid("Path must not end with a '.");
        } else {
            self.cursor.at += 1;
        }
        if self.cursor.is('.')? {
            return invalid(format!("Character '.' on position {} is not valid.", self.cursor.at));
        }
        Ok(true)
    }

    fn property_or_function(&mut self, tokens: &mut Vec<Token>) -> Reading<bool> {
        let cursor = &mut self.cursor;
        if matches!(cursor.current()?, '[' | '*' | '.' | ' ') {
            return Ok(false);
        }
        let start = cursor.at;
        let (mut at, mut end, mut is_function) = (start, 0, false);
        while cursor.contains(at) {
            match cursor.char_at(at)? {
                ' ' => {
                    return invalid(format!(
                        "Use bracket notion ['my prop'] if your property contains blank characters. position: {start}"
                    ));
                }
                '.' | '[' => {
                    end = at;
                    break;
                }
                '(' => {
                    (end, is_function) = (at, true);
                    break;
                }
                _ => at += 1,
            }
        }
        if end == 0 {
            end = cursor.len();
        }
        let name = cursor.slice(start, end);
        if !is_function {
            cursor.at = end;
            tokens.push(Token::Property { names: vec![name], quote: '\'' });
            return Ok(true);
        }
        let mut depth = 1;
        for at in at + 1..cursor.len() {
            match cursor.char_at(at)? {
                ')' => depth -= 1,
                '(' => depth += 1,
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
        if depth != 0 {
            return invalid(format!("Arguments to function: '{name}' are not closed properly."));
        }
        let mut parameters = Vec::new();
        if !cursor.contains(at + 1) {
            cursor.at = at;
        } else if cursor.char_at(at + 1)? == ')' {
            cursor.at = at + 1;
        } else {
            cursor.at = end + 1;
            parameters = self.parameters(&name)?;
        }
        tokens.push(Token::Function { name, parameters });
        Ok(true)
    }

    /// Parses the parameters of a function, from after the opening to after the closing parenthesis.
    fn parameters(&mut self, function: &str) -> Reading<Vec<Parameter>> {
        let mut kind = None;
        let mut open = Open { parentheses: 1, ..Open::default() };
        let mut prior = '\0';
        let mut done = false;
        let mut parameters = Vec::new();
        let mut text = String::new();
        while self.cursor.in_bounds() && !done {
            let value = self.cursor.current()?;
            self.cursor.at += 1;
            if kind.is_none() {
                if is_whitespace(value) {
                    continue;
                }
                kind = ParameterKind::of(value);
            }
            open.count(value, prior, self.cursor.at)?;
            if value == ')' && (open.parentheses < 0 || prior == '(') {
                text.push(value);
            }
            if open.ends_parameter(value) {
                done = open.parentheses == 0;
                match kind.take() {
                    Some(ParameterKind::Json) => {
                        parameters.push(Parameter::Json(std::mem::take(&mut text)));
                    }
                    Some(ParameterKind::Path) => {
                        let path = std::mem::take(&mut text);
                        parameters.push(Parameter::Path(self.inner_path(&path)?));
                    }
                    None => {}
                }
            }
            if kind.is_some() && !(value == ',' && open.is_list()) {
                text.push(value);
            }
            prior = value;
        }
        if open.braces != 0 || open.parentheses != 0 || open.brackets != 0 {
            return invalid(format!(
                "Arguments to function: '{function}' are not closed properly."
            ));
        }
        Ok(parameters)
    }

    /// Parses a path that is a parameter of a function.
    fn inner_path(&self, text: &str) -> Reading<Path> {
        if self.depth >= MAX_DEPTH {
            return invalid("Path is nested too deeply");
        }
        Reader { cursor: Cursor::new(text), depth: self.depth + 1 }.path()
    }

    /// Parses `[?]`, which refers to a filter that a program passes. JMeter passes none.
    fn placeholder(&mut self) -> Reading<bool> {
        let cursor = &self.cursor;
        let Some(mark) = cursor.index_of_next(cursor.at, '?')? else { return Ok(false) };
        if !matches!(cursor.next_significant_char(mark), ']' | ',') {
            return Ok(false);
        }
        let Some(end) = cursor.find(cursor.at + 1, ']') else { return Ok(false) };
        invalid(format!(
            "Not enough predicates supplied for filter [{}] at position {}",
            cursor.slice(cursor.at + 1, end),
            cursor.at
        ))
    }

    fn filter(&mut self, tokens: &mut Vec<Token>) -> Reading<bool> {
        let cursor = &mut self.cursor;
        let start = cursor.at;
        let Some(mark) = cursor.index_of_next(start, '?')? else { return Ok(false) };
        let Some(open) = cursor.index_of_next(mark, '(')? else { return Ok(false) };
        let Some(close) = cursor.find_close(open, '(', ')', true)? else { return Ok(false) };
        if !cursor.next_significant_is(close, ']') {
            return Ok(false);
        }
        let Some(end) = cursor.index_of_next(close, ']')? else { return Ok(false) };
        let read = filter::read(&cursor.slice(start, end + 1), self.depth + 1)?;
        tokens.push(Token::Filter(Box::new(read)));
        cursor.at = end + 1;
        Ok(true)
    }

    fn wildcard(&mut self, tokens: &mut Vec<Token>) -> Reading<bool> {
        let cursor = &mut self.cursor;
        if cursor.is('[')? {
            if !cursor.next_significant_is(cursor.at, '*') || !cursor.contains(cursor.at + 1) {
                return Ok(false);
            }
            let Some(star) = cursor.index_of_next(cursor.at, '*')? else { return Ok(false) };
            if !cursor.next_significant_is(star, ']') {
                return invalid(format!(
                    "Expected wildcard token to end with ']' on position {}",
                    star + 1
                ));
            }
            let Some(end) = cursor.index_of_next(star, ']')? else { return Ok(false) };
            cursor.at = end + 1;
        } else {
            cursor.at += 1;
        }
        tokens.push(Token::Wildcard);
        Ok(true)
    }

    fn array(&mut self, tokens: &mut Vec<Token>) -> Reading<bool> {
        let cursor = &mut self.cursor;
        let next = cursor.next_significant_char(cursor.at);
        if !next.is_ascii_digit() && !matches!(next, '-' | ':') {
            return Ok(false);
        }
        let start = cursor.at + 1;
        let Some(end) = cursor.find(start, ']') else { return Ok(false) };
        let text = cursor.slice(start, end);
        let text = text.trim();
        if !text
            .chars()
            .all(|value| value.is_ascii_digit() || matches!(value, ',' | '-' | ':' | ' '))
        {
            return Ok(false);
        }
        tokens.push(if text.contains(':') { slice(text)? } else { index(text)? });
        cursor.at = end + 1;
        Ok(true)
    }

    fn bracket_property(&mut self, tokens: &mut Vec<Token>) -> Reading<bool> {
        let cursor = &mut self.cursor;
        let quote = cursor.next_significant_char(cursor.at);
        if !matches!(quote, '\'' | '"') {
            return Ok(false);
        }
        let mut names = Vec::new();
        let (mut start, mut end) = (cursor.at + 1, 0);
        let (mut inside, mut escaped, mut after_comma) = (false, false, false);
        let mut at = start;
        while cursor.contains(at) {
            let value = cursor.char_at(at)?;
            if escaped {
                escaped = false;
            } else if value == '\\' {
                escaped = true;
            } else if value == ']' && !inside {
                if after_comma {
                    return invalid(format!("Found empty property at index {at}"));
                }
                break;
            } else if value == quote {
                if inside {
                    if !matches!(cursor.next_significant_char(at), ']' | ',') {
                        return invalid(format!(
                            "Property must be separated by comma or Property must be terminated close square \
                             bracket at index {at}"
                        ));
                    }
                    end = at;
                    names.push(unescape(&cursor.slice(start, end))?);
                    inside = false;
                } else {
                    start = at + 1;
                    inside = true;
                    after_comma = false;
                }
            } else if value == ',' && !inside {
                if after_comma {
                    return invalid(format!("Found empty property at index {at}"));
                }
                after_comma = true;
            }
            at += 1;
        }
        if inside {
            return invalid(format!("Property has not been closed - missing closing {quote}"));
        }
        cursor.at = cursor.index_of_next(end, ']')?.map_or(0, |close| close + 1);
        if names.is_empty() {
            return invalid("Empty properties");
        }
        if cursor.at == 0 {
            // Jayway would loop forever at this position. Nothing valid can follow this list of names.
            return invalid("Empty properties");
        }
        tokens.push(Token::Property { names, quote });
        Ok(true)
    }
}

/// The kind of a function's parameter, determined by its first character.
#[derive(Clone, Copy)]
enum ParameterKind {
    Json,
    Path,
}

impl ParameterKind {
    fn of(first: char) -> Option<Self> {
        match first {
            '{' | '"' | '-' | '0'..='9' => Some(Self::Json),
            '$' | '@' => Some(Self::Path),
            _ => None,
        }
    }
}

/// Numbers of brackets, braces, parentheses and quotes that are open in a function's parameters.
#[derive(Default)]
struct Open {
    parentheses: i32,
    brackets: i32,
    braces: i32,
    quotes: i32,
}

impl Open {
    /// Counts the character `value` if it is a bracket or a quote. `prior` is the character before it, and `at` the
    /// position after it.
    fn count(&mut self, value: char, prior: char, at: usize) -> Reading<()> {
        match value {
            '"' if prior != '\\' && self.quotes > 0 => self.quotes -= 1,
            '"' => self.quotes += 1,
            '(' => self.parentheses += 1,
            '{' => self.braces += 1,
            '[' => self.brackets += 1,
            '}' if self.braces == 0 => {
                return invalid(format!("Unexpected close brace '}}' at character position: {at}"));
            }
            '}' => self.braces -= 1,
            ']' if self.brackets == 0 => {
                return invalid(format!(
                    "Unexpected close bracket ']' at character position: {at}"
                ));
            }
            ']' => self.brackets -= 1,
            ')' => self.parentheses -= 1,
            _ => {}
        }
        Ok(())
    }

    /// Returns true if only the function's own parenthesis is open; quotes are ignored.
    fn is_list(&self) -> bool {
        self.parentheses == 1 && self.braces == 0 && self.brackets == 0
    }

    /// Returns true if the character `value`, after [`Self::count`] has counted it, ends a function's parameter: a
    /// comma or a closing parenthesis outside of quotes and other brackets.
    fn ends_parameter(&self, value: char) -> bool {
        let outermost = self.quotes == 0 && self.braces == 0 && self.brackets == 0;
        outermost
            && match value {
                ')' => matches!(self.parentheses, 0 | 1),
                ',' => self.parentheses == 1,
                _ => false,
            }
    }
}

/// Rewrites `$..a.sum()` to `$.sum($..a)`.
fn invert(mut tokens: Vec<Token>) -> Vec<Token> {
    if !matches!(tokens.first(), Some(Token::Scan))
        || !matches!(tokens.last(), Some(Token::Function { .. }))
    {
        return tokens;
    }
    let Some(at) = tokens.iter().position(|token| matches!(token, Token::Function { .. })) else {
        return tokens;
    };
    let Token::Function { name, .. } = tokens.swap_remove(at) else { return tokens };
    tokens.truncate(at);
    vec![Token::Function {
        name,
        parameters: vec![Parameter::Path(Path { from_root: true, tokens })],
    }]
}

fn index(text: &str) -> Reading<Token> {
    let number = |part: &str| {
        part.parse::<i32>().map_err(|_| {
            Failure::InvalidPath(format!("Failed to parse token in ArrayIndexOperation: {part}"))
        })
    };
    let indexes: Reading<Vec<i32>> =
        text.split(',').map(|part| number(part.trim_matches(' '))).collect();
    Ok(Token::Index(indexes?))
}

fn slice(text: &str) -> Reading<Token> {
    let unreadable = || Failure::InvalidPath(format!("Failed to parse SliceOperation: {text}"));
    if !text.chars().all(|value| value.is_ascii_digit() || matches!(value, '-' | ':')) {
        return Err(unreadable());
    }
    let mut parts = text.split(':');
    let mut bound = || match parts.next() {
        None | Some("") => Ok(None),
        Some(part) => part.parse::<i32>().map(Some).map_err(|_| {
            Failure::InvalidPath(format!(
                "java.lang.NumberFormatException: For input string: \"{part}\""
            ))
        }),
    };
    match (bound()?, bound()?) {
        (None, None) => Err(unreadable()),
        (from, to) => Ok(Token::Slice(from, to)),
    }
}

fn is_whitespace(value: char) -> bool {
    matches!(value, ' ' | '\t' | '\n' | '\r')
}

/// Replaces the escapes in a quoted name or text.
pub(super) fn unescape(text: &str) -> Reading<String> {
    if !text.contains('\\') {
        return Ok(text.into());
    }
    let mut units: Vec<u16> = Vec::new();
    let mut chars = text.chars();
    while let Some(value) = chars.next() {
        if value != '\\' {
            units.extend(value.encode_utf16(&mut [0; 2]).iter());
            continue;
        }
        match chars.next() {
            None => units.push(u16::from(b'\\')),
            Some('r') => units.push(13),
            Some('f') => units.push(12),
            Some('t') => units.push(9),
            Some('n') => units.push(10),
            Some('b') => units.push(8),
            Some('u') => {
                let digits: String = chars.by_ref().take(4).collect();
                if digits.chars().count() < 4 {
                    break;
                }
                let unit = u16::from_str_radix(&digits, 16).map_err(|_| {
                    Failure::Other(format!("Unable to parse unicode value: {digits}"))
                })?;
                units.push(unit);
            }
            Some(other) => units.extend(other.encode_utf16(&mut [0; 2]).iter()),
        }
    }
    Ok(String::from_utf16_lossy(&units))
}
