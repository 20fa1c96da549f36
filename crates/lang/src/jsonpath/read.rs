//! Parses JSON as json-smart 2.5.0 does in its permissive mode.
//!
//! Nearly everything is accepted: strings without quotes or in single quotes, extra commas, leading zeros, text after
//! the end. A page of HTML is one string. Errors have json-smart's messages. Nesting is limited to 400 levels. Parsing
//! takes one pass, and strings without escapes are not copied.

use std::borrow::Cow;

use super::projection::Projection;
use super::value::{Object, Value};
use crate::members::insert;
use crate::utf16::push_unit;

const MAX_DEPTH: u32 = 400;
/// json-smart's mark for the end of the text; a control character with this code ends a string, too.
const END: u8 = 0x1A;

/// Error: the JSON text cannot be parsed; with json-smart's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable(pub String);

/// The position of a text without quotes in the document. The position decides which characters end the text.
#[derive(Clone, Copy)]
enum Stop {
    Never,
    Key,
    Member,
    Element,
}

impl Stop {
    fn at(self, byte: u8) -> bool {
        byte == END
            || match self {
                Self::Never => false,
                Self::Key => byte == b':',
                Self::Member => matches!(byte, b',' | b'}'),
                Self::Element => matches!(byte, b',' | b']'),
            }
    }
}

/// Parses a JSON document.
pub fn read(text: &str) -> Result<Value<'_>, Unreadable> {
    read_for(text, &Projection::WHOLE)
}

/// Parses a JSON document, and keeps only the parts in the projection.
pub fn read_for<'t>(text: &'t str, wanted: &Projection) -> Result<Value<'t>, Unreadable> {
    let mut reader = Reader { text, at: 0, depth: 0 };
    reader.value(Stop::Never, true, Some(wanted))
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    depth: u32,
}

type Reading<T> = Result<T, Unreadable>;

impl<'t> Reader<'t> {
    fn byte(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(END)
    }

    /// Returns a position in the text in UTF-16 units, for messages.
    fn position(&self, at: usize) -> i64 {
        let read = self.text.as_bytes().get(..at).unwrap_or(self.text.as_bytes());
        let units: usize = String::from_utf8_lossy(read).encode_utf16().count();
        units as i64 + (at as i64 - self.text.len() as i64).max(0)
    }

    fn char(&self) -> String {
        match self.text.get(self.at..).and_then(|rest| rest.chars().next()) {
            Some(value) => value.into(),
            None => char::from(END).into(),
        }
    }

    fn unexpected_char<T>(&self, back: i64) -> Reading<T> {
        let position = self.position(self.at) - back;
        Err(Unreadable(format!("Unexpected character ({}) at position {position}.", self.char())))
    }

    fn unexpected_token<T>(&self, token: &str, back: i64) -> Reading<T> {
        let position = self.position(self.at) - back;
        Err(Unreadable(format!("Unexpected token {token} at position {position}.")))
    }

    fn unexpected_end<T>(&self, what: &str) -> Reading<T> {
        let position = self.position(self.at) - 1;
        Err(Unreadable(format!("Unexpected End Of File position {position}: {what}")))
    }

    fn skip_space(&mut self) {
        while self.byte() <= b' ' && self.byte() != END {
            self.at += 1;
        }
    }

    fn descend(&mut self) -> Reading<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let position = self.position(self.at);
            return Err(Unreadable(format!(
                "Malicious payload, having non natural depths, parsing stoped on {} at position {position}.",
                self.char()
            )));
        }
        Ok(())
    }

    /// Parses a value. If `wanted` is `None`, nothing of the value is needed, and arrays and objects are returned
    /// empty.
    fn value(
        &mut self,
        stop: Stop,
        first: bool,
        wanted: Option<&Projection>,
    ) -> Reading<Value<'t>> {
        while matches!(self.byte(), b' ' | b'\r' | b'\n' | b'\t') {
            self.at += 1;
        }
        match self.byte() {
            b':' | b'}' | b']' => self.unexpected_char(0),
            b'{' => self.object(wanted),
            b'[' => self.array(wanted.filter(|wanted| wanted.whole)),
            b'"' | b'\'' => Ok(Value::String(self.string()?)),
            b'0'..=b'9' | b'-' => self.number(stop),
            _ if first && self.at >= self.text.len() => Ok(Value::String("".into())),
            _ => Ok(match self.bare(stop) {
                "null" => Value::Null,
                "true" => Value::Bool(true),
                "false" => Value::Bool(false),
                "NaN" => Value::Double(f64::NAN),
                other => Value::String(other.into()),
            }),
        }
    }

    /// Parses a text without quotes. Removes white space at both ends.
    fn bare(&mut self, stop: Stop) -> &'t str {
        let start = self.at;
        self.skip_bare(stop);
        self.trimmed(start)
    }

    fn skip_bare(&mut self, stop: Stop) {
        while !stop.at(self.byte()) {
            self.at += 1;
        }
    }

    fn trimmed(&self, start: usize) -> &'t str {
        let text = &self.text[start..self.at.min(self.text.len())];
        let visible = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_graphic);
        let bytes = text.as_bytes();
        // Nearly all strings have no whitespace at their ends.
        if visible(bytes.first()) && visible(bytes.last()) {
            return text;
        }
        text.trim_matches(is_whitespace)
    }

    fn array(&mut self, wanted: Option<&Projection>) -> Reading<Value<'t>> {
        self.descend()?;
        self.at += 1;
        let mut values = Vec::new();
        loop {
            match self.byte() {
                b' ' | b'\r' | b'\n' | b'\t' | b',' => self.at += 1,
                b']' => {
                    self.depth -= 1;
                    self.at += 1;
                    return Ok(Value::Array(values));
                }
                b':' | b'}' => return self.unexpected_char(0),
                END => return self.unexpected_end("EOF"),
                _ => {
                    let value = self.value(Stop::Element, false, wanted)?;
                    if wanted.is_some() {
                        values.push(value);
                    }
                }
            }
        }
    }

    fn object(&mut self, wanted: Option<&Projection>) -> Reading<Value<'t>> {
        self.descend()?;
        let mut members: Vec<(Cow<'t, str>, Value<'t>)> = Vec::new();
        let mut many = None;
        loop {
            self.at += 1;
            match self.byte() {
                b' ' | b'\r' | b'\n' | b'\t' | b',' => continue,
                b':' | b']' | b'[' | b'{' => return self.unexpected_char(0),
                b'}' => break,
                _ => {}
            }
            let key = match self.byte() {
                b'"' | b'\'' => self.string()?,
                _ => self.bare(Stop::Key).into(),
            };
            self.skip_space();
            match self.byte() {
                b':' => self.at += 1,
                END => return self.unexpected_end("null"),
                _ => return self.unexpected_char(1),
            }
            if self.at >= self.text.len() {
                return self.unexpected_end("EOF");
            }
            let wanted = wanted.and_then(|wanted| wanted.of(&key));
            let value = self.value(Stop::Member, false, wanted)?;
            if wanted.is_some() {
                insert(&mut members, &mut many, key, value);
            }
            self.skip_space();
            match self.byte() {
                b'}' => break,
                b',' => {}
                END => return self.unexpected_end("null"),
                _ => return self.unexpected_token(&self.char(), 1),
            }
        }
        self.depth -= 1;
        self.at += 1;
        Ok(Value::Object(Object(members)))
    }

    fn string(&mut self) -> Reading<Cow<'t, str>> {
        let quote = self.byte();
        let start = self.at + 1;
        let rest = &self.text.as_bytes()[start..];
        let length = match memchr::memchr2(quote, b'\\', rest) {
            Some(at) if rest[at] == quote => Some(at),
            Some(at) => memchr::memchr(quote, &rest[at..]).map(|_| usize::MAX),
            None => None,
        };
        match length {
            None => {
                self.at = self.text.len() + 1;
                return self.unexpected_end("null");
            }
            Some(usize::MAX) => {}
            Some(length) => {
                self.at = start + length + 1;
                return Ok(self.text[start..start + length].into());
            }
        }
        self.at = start;
        self.escaped_string(quote).map(Cow::Owned)
    }

    /// Parses a string with escapes; control characters and unknown escapes in it are dropped.
    fn escaped_string(&mut self, quote: u8) -> Reading<String> {
        let mut out = String::new();
        // First half of a surrogate pair that is written as two escapes.
        let mut high: Option<u16> = None;
        loop {
            let Some(value) = self.text[self.at..].chars().next() else {
                return self.unexpected_end("null");
            };
            let mut unit = None;
            match value {
                '\u{1A}' => return self.unexpected_end("null"),
                '\\' => {
                    self.at += 1;
                    let Some(escaped) = self.text[self.at..].chars().next() else { continue };
                    self.at += escaped.len_utf8();
                    match escaped {
                        't' => unit = Some(9),
                        'n' => unit = Some(10),
                        'r' => unit = Some(13),
                        'f' => unit = Some(12),
                        'b' => unit = Some(8),
                        '\\' | '/' | '\'' | '"' => unit = Some(escaped as u16),
                        'u' => unit = Some(self.hex(4)?),
                        'x' => unit = Some(self.hex(2)?),
                        _ => {}
                    }
                    if let Some(unit) = unit {
                        push_unit(&mut out, &mut high, unit);
                    }
                    continue;
                }
                '\0'..='\u{1F}' | '\u{7F}' => {}
                _ if value as u32 == u32::from(quote) => {
                    if high.is_some() {
                        out.push(char::REPLACEMENT_CHARACTER);
                    }
                    self.at += 1;
                    return Ok(out);
                }
                _ => {
                    if high.take().is_some() {
                        out.push(char::REPLACEMENT_CHARACTER);
                    }
                    out.push(value);
                }
            }
            self.at += value.len_utf8();
        }
    }

    fn hex(&mut self, digits: u32) -> Reading<u16> {
        let mut value = 0;
        for _ in 0..digits {
            let Some(digit) = char::from(self.byte()).to_digit(16) else {
                let position = self.position(self.at);
                return Err(Unreadable(if self.byte() == END {
                    format!("Unexpected End Of File position {position}: EOF")
                } else {
                    format!(
                        "Unexpected unicode escape sequence {} at position {position}.",
                        self.char()
                    )
                }));
            };
            value = value * 16 + digit as u16;
            self.at += 1;
        }
        Ok(value)
    }

    fn skip_digits(&mut self) {
        while self.byte().is_ascii_digit() {
            self.at += 1;
        }
    }

    /// Parses a number, or a text without quotes that begins like a number.
    fn number(&mut self, stop: Stop) -> Reading<Value<'t>> {
        let start = self.at;
        self.at += 1;
        self.skip_digits();
        let mut whole = true;
        if self.byte() == b'.' {
            whole = false;
            self.at += 1;
            self.skip_digits();
        }
        if matches!(self.byte(), b'E' | b'e') {
            whole = false;
            self.at += 1;
            if !matches!(self.byte(), b'+' | b'-' | b'0'..=b'9') {
                self.skip_bare(stop);
                return Ok(Value::String(self.trimmed(start).into()));
            }
            self.at += 1;
            self.skip_digits();
        }
        self.skip_space();
        if self.byte() < 126 && !stop.at(self.byte()) {
            self.skip_bare(stop);
            return Ok(Value::String(self.trimmed(start).into()));
        }
        let token = self.trimmed(start);
        if whole {
            return Ok(integer(token));
        }
        let readable = token.bytes().any(|byte| byte.is_ascii_digit());
        match token.parse() {
            Ok(value) if readable && token.len() <= 18 => Ok(Value::Double(value)),
            Ok(_) if readable => Ok(Value::BigDecimal(token.into())),
            _ => self.unexpected_token(token, 0),
        }
    }
}

/// Converts the text of a whole number. A single minus sign is 0.
fn integer(token: &str) -> Value<'static> {
    if let Ok(value) = token.parse::<i64>() {
        return Value::Int(value);
    }
    let (sign, digits) = token.strip_prefix('-').map_or(("", token), |digits| ("-", digits));
    let digits = digits.trim_start_matches('0');
    match digits {
        "" => Value::Int(0),
        digits => Value::BigInt(format!("{sign}{digits}")),
    }
}

/// Returns true for a character that Java's `Character.isWhitespace` accepts.
fn is_whitespace(value: char) -> bool {
    match value {
        '\t'..='\r' | '\u{1C}'..='\u{20}' => true,
        '\u{A0}' | '\u{2007}' | '\u{202F}' | '\u{85}' => false,
        other => !other.is_ascii() && other.is_whitespace(),
    }
}
