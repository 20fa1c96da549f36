//! Splits an expression into tokens: at each position the longest possible token.
//!
//! Blanks between tokens are ignored, even inside a literal. Characters that belong to no token are skipped and
//! reported. Splitting takes one pass, and tokens point into the expression.

use super::parse::Problem;

/// The kind of a token in a JMESPath expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name without quotation marks.
    Name,
    /// `true`, `false` or `null`. The three words can be used as names, except as names of functions.
    Constant,
    /// A name in quotation marks.
    Quoted,
    /// A string literal in apostrophes.
    Raw,
    /// A number without fraction and exponent.
    Integer,
    /// A number with a fraction or an exponent.
    Real,
    /// A comparison operator: one of `< <= == >= > !=`.
    Comparator,
    /// Any other operator or punctuation.
    Sign,
    /// The end of the expression.
    End,
}

/// A token of a JMESPath expression, and its position in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'t> {
    pub(super) kind: Kind,
    pub(super) text: &'t str,
    pub(super) at: usize,
}

impl Token<'_> {
    pub(super) fn is(&self, sign: &str) -> bool {
        self.kind == Kind::Sign && self.text == sign
    }
}

/// Splits an expression into tokens, ended by a token [`Kind::End`]. Invalid characters are reported in `problems`.
pub(super) fn split<'t>(source: &'t str, problems: &mut Vec<Problem>) -> Vec<Token<'t>> {
    let mut tokens = Vec::new();
    let mut at = 0;
    loop {
        let rest = source[at..].trim_start_matches([' ', '\t', '\n', '\r']);
        at = source.len() - rest.len();
        if rest.is_empty() {
            tokens.push(Token { kind: Kind::End, text: "<EOF>", at });
            return tokens;
        }
        let Some((kind, length)) = word(rest) else {
            let unknown = &rest[..unknown(rest)];
            problems.push((format!("syntax error token recognition error at: '{unknown}'"), at));
            at += unknown.len();
            continue;
        };
        tokens.push(Token { kind, text: &rest[..length], at });
        at += length;
    }
}

/// Returns the length of the invalid text at the start of `rest`.
fn unknown(rest: &str) -> usize {
    let through = |count: usize| rest.chars().take(count).map(char::len_utf8).sum();
    match rest.as_bytes()[0] {
        b'-' | b'=' => through(2),
        b'\'' => rest.len(),
        b'"' => {
            // The invalid text ends with the invalid escape.
            let mut letters = rest.chars().enumerate();
            while let Some((_, letter)) = letters.next() {
                if letter != '\\' {
                    continue;
                }
                match letters.next() {
                    Some((at, escaped)) if !"\"\\/bfnrtu`".contains(escaped) => {
                        return through(at + 1);
                    }
                    _ => {}
                }
            }
            rest.len()
        }
        _ => through(1),
    }
}

/// Returns kind and length of the token at the start of `rest`; `None` if no token begins with these characters.
fn word(rest: &str) -> Option<(Kind, usize)> {
    let bytes = rest.as_bytes();
    let second = bytes.get(1).copied();
    Some(match bytes[0] {
        b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
            let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
            let length = bytes.iter().take_while(|byte| is_part(byte)).count();
            match &rest[..length] {
                "true" | "false" | "null" => (Kind::Constant, length),
                _ => (Kind::Name, length),
            }
        }
        b'0'..=b'9' | b'-' => number(bytes)?,
        b'"' => (Kind::Quoted, quoted(bytes)?),
        b'\'' => (Kind::Raw, raw(bytes)?),
        b'<' | b'>' => (Kind::Comparator, 1 + usize::from(second == Some(b'='))),
        b'!' if second == Some(b'=') => (Kind::Comparator, 2),
        b'=' => (second == Some(b'=')).then_some((Kind::Comparator, 2))?,
        b'&' => (Kind::Sign, 1 + usize::from(second == Some(b'&'))),
        b'|' => (Kind::Sign, 1 + usize::from(second == Some(b'|'))),
        b'[' => (Kind::Sign, 1 + usize::from(second == Some(b'?'))),
        b'.' | b'!' | b'(' | b')' | b'*' | b',' | b']' | b'{' | b'}' | b':' | b'@' | b'`' => {
            (Kind::Sign, 1)
        }
        _ => return None,
    })
}

/// Returns the position after a whole number that begins at `from`; `None` if no number begins there. A leading zero is
/// a whole number by itself.
fn integer(bytes: &[u8], from: usize) -> Option<usize> {
    match bytes.get(from)? {
        b'0' => Some(from + 1),
        b'1'..=b'9' => Some(digits(bytes, from)),
        _ => None,
    }
}

fn digits(bytes: &[u8], from: usize) -> usize {
    from + bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count()
}

fn number(bytes: &[u8]) -> Option<(Kind, usize)> {
    let whole = integer(bytes, usize::from(bytes[0] == b'-'))?;
    let mut end = whole;
    if bytes.get(end) == Some(&b'.') {
        let fraction = digits(bytes, end + 1);
        if fraction > end + 1 {
            end = fraction;
        }
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let signed = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        if let Some(exponent) = integer(bytes, end + 1 + signed) {
            end = exponent;
        }
    }
    Some((if end > whole { Kind::Real } else { Kind::Integer }, end))
}

fn quoted(bytes: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => match bytes.get(at + 1)? {
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' | b'`' => at += 2,
                b'u' => {
                    let code = bytes.get(at + 2..at + 6)?;
                    if !code.iter().all(u8::is_ascii_hexdigit) {
                        return None;
                    }
                    at += 6;
                }
                _ => return None,
            },
            _ => at += 1,
        }
    }
}

fn raw(bytes: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        match bytes.get(at)? {
            b'\'' => return Some(at + 1),
            b'\\' => {
                bytes.get(at + 1)?;
                at += 2;
            }
            _ => at += 1,
        }
    }
}
