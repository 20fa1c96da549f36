//! Parses JSON as Jackson 2.16 does for JMeter: strictly, but without checking what follows the first value.
//!
//! Errors have Jackson's messages with the positions that Jackson reports, because assertions show them. Parsing takes
//! one pass. As in Jackson, nesting is limited to 1000 levels.

use std::fmt::Write;
use std::sync::Arc;

use super::Failure;
use super::value::{Members, Value};
use crate::members::insert;
use crate::utf16::push_unit;

const MAX_DEPTH: u32 = 1000;
const MAX_NUMBER: usize = 1000;
/// Maximum number of characters of the document that a message shows.
const SHOWN: usize = 500;
/// Maximum number of characters of an unknown word that a message shows.
const WORD: usize = 256;
/// Length of a document in UTF-16 units above which Jackson reads the document as a stream. Messages about streams do
/// not show the text.
const TEXT: usize = 0x8000;
const EXPECTED: &str = "(JSON String, Number, Array, Object or token 'null', 'true' or 'false')";
const IN_STRING: &str = "string value";
const NO_DIGIT: &str = "expected digit (0-9) to follow minus sign, for valid numeric value";

type Reading<T> = Result<T, Failure>;

/// Parses a JSON document.
pub fn read(text: &str) -> Reading<Value> {
    Reader::new(text, true).document()
}

/// Parses the JSON literal between backquotes in an expression; messages do not show its text.
pub(super) fn read_literal(text: &str) -> Reading<Value> {
    Reader::new(text, false).document()
}

/// The kind of the innermost open container, with the line and column where it begins.
#[derive(Clone, Copy)]
enum Container {
    Root,
    Array(usize, usize),
    Object(usize, usize),
}

impl Container {
    fn name(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::Array(..) => "Array",
            Self::Object(..) => "Object",
        }
    }
}

struct Reader<'t> {
    text: &'t str,
    shows: bool,
    at: usize,
    line: usize,
    /// Byte offset at which the current line begins.
    start: usize,
    depth: u32,
    around: Container,
}

impl<'t> Reader<'t> {
    fn new(text: &'t str, shows: bool) -> Self {
        Self { text, shows, at: 0, line: 1, start: 0, depth: 0, around: Container::Root }
    }

    fn document(mut self) -> Reading<Value> {
        match self.next()? {
            Some(first) => self.value(first),
            None => {
                let place = self.place(1, 0);
                Err(Failure(format!("No content to map due to end-of-input\n at {place}")))
            }
        }
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self) -> Option<char> {
        let taken = self.text[self.at..].chars().next()?;
        self.at += taken.len_utf8();
        Some(taken)
    }

    /// Returns the number of UTF-16 units between the start of the line and the current position.
    fn column(&self) -> usize {
        self.text[self.start..self.at].encode_utf16().count()
    }

    fn place(&self, line: usize, column: usize) -> String {
        let mut out = String::from("[Source: ");
        let length = self.text.encode_utf16().count();
        if !self.shows {
            out.push_str("REDACTED (`StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION` disabled)");
        } else if length > TEXT {
            out.push_str("(StringReader)");
        } else {
            out.push_str("(String)\"");
            for shown in self.text.chars().take(SHOWN) {
                if shown.is_control() && !matches!(shown, '\r' | '\n') {
                    let _ = write!(out, "\\u{:04X}", u32::from(shown));
                } else {
                    out.push(shown);
                }
            }
            out.push('"');
            if length > SHOWN {
                let _ = write!(out, "[truncated {} chars]", length - SHOWN);
            }
        }
        let _ = write!(out, "; line: {line}, column: {column}]");
        out
    }

    fn fail<T>(&self, message: &str) -> Reading<T> {
        let place = self.place(self.line, self.column() + 1);
        Err(Failure(format!("{message}\n at {place}")))
    }

    fn unexpected<T>(&self, found: char, expected: &str) -> Reading<T> {
        self.fail(&format!("Unexpected character ({}): {expected}", described(found)))
    }

    fn no_number<T>(&self, found: char, why: &str) -> Reading<T> {
        self.fail(&format!("Unexpected character ({}) in numeric value: {why}", described(found)))
    }

    /// Returns the next character after whitespace, or `None` at the end.
    fn next(&mut self) -> Reading<Option<char>> {
        while let Some(found) = self.take() {
            match found {
                ' ' | '\t' => {}
                '\n' => self.new_line(),
                '\r' => {
                    if self.byte() == Some(b'\n') {
                        self.at += 1;
                    }
                    self.new_line();
                }
                '\0'..' ' => {
                    return self.fail(&format!(
                        "Illegal character ({}): only regular white space (\\r, \\n, \\t) is allowed between tokens",
                        described(found)
                    ));
                }
                '/' => {
                    return self.unexpected(
                        '/',
                        "maybe a (non-standard) comment? (not recognized as one since Feature 'ALLOW_COMMENTS' not \
                         enabled for parser)",
                    );
                }
                _ => return Ok(Some(found)),
            }
        }
        Ok(None)
    }

    fn new_line(&mut self) {
        self.line += 1;
        self.start = self.at;
    }

    /// Returns the next character after whitespace. If the text ends, reports the container that was not closed.
    fn inside(&mut self) -> Reading<char> {
        match (self.next()?, self.around) {
            (Some(found), _) => Ok(found),
            (None, Container::Array(line, column) | Container::Object(line, column)) => {
                let (name, place) = (self.around.name(), self.place(line, column));
                self.fail(&format!(
                    "Unexpected end-of-input: expected close marker for {name} (start marker at {place})"
                ))
            }
            (None, Container::Root) => self.fail("Unexpected end-of-input in a value"),
        }
    }

    /// Returns the next character after whitespace between two entries. If the text ends, reports the container that
    /// was not closed.
    fn between(&mut self) -> Reading<char> {
        match self.next()? {
            Some(found) => Ok(found),
            None => self.fail(&format!(
                "Unexpected end-of-input within/between {} entries",
                self.around.name()
            )),
        }
    }

    fn value(&mut self, first: char) -> Reading<Value> {
        match first {
            '"' => Ok(Value::text(&self.string()?)),
            '[' | '{' => {
                let outer = self.around;
                let (line, column) = (self.line, self.column());
                self.depth += 1;
                if self.depth > MAX_DEPTH {
                    return Err(Failure(format!(
                        "Document nesting depth ({}) exceeds the maximum allowed ({MAX_DEPTH}, from \
                         `StreamReadConstraints.getMaxNestingDepth()`)",
                        self.depth
                    )));
                }
                let made = if first == '[' {
                    self.around = Container::Array(line, column);
                    self.array()?
                } else {
                    self.around = Container::Object(line, column);
                    self.object()?
                };
                self.depth -= 1;
                self.around = outer;
                Ok(made)
            }
            ']' | '}' if matches!(self.around, Container::Root) => self.mismatched(first),
            '}' if matches!(self.around, Container::Array(..)) => {
                self.unexpected('}', "expected a value")
            }
            't' => self.word("true").map(|()| Value::Bool(true)),
            'f' => self.word("false").map(|()| Value::Bool(false)),
            'n' => self.word("null").map(|()| Value::Null),
            '-' | '0'..='9' => self.number(first),
            other => self.odd(other),
        }
    }

    fn mismatched<T>(&self, found: char) -> Reading<T> {
        let expected = if found == ']' { '}' } else { ']' };
        let place = match self.around {
            Container::Root => self.place(1, 0),
            Container::Array(line, column) | Container::Object(line, column) => {
                self.place(line, column)
            }
        };
        self.fail(&format!(
            "Unexpected close marker '{found}': expected '{expected}' (for {} starting at {place})",
            self.around.name()
        ))
    }

    fn array(&mut self) -> Reading<Value> {
        let mut values = Vec::new();
        let mut next = self.inside()?;
        loop {
            match next {
                ']' => return Ok(Value::list(values)),
                '}' => return self.mismatched('}'),
                ',' if !values.is_empty() => next = self.between()?,
                _ if !values.is_empty() => {
                    return self.unexpected(next, "was expecting comma to separate Array entries");
                }
                _ => {}
            }
            values.push(self.value(next)?);
            next = self.inside()?;
        }
    }

    fn object(&mut self) -> Reading<Value> {
        let mut members = Members::new();
        let mut many = None;
        let mut first = true;
        let mut next = self.inside()?;
        loop {
            match next {
                '}' => return Ok(Value::Object(Arc::new(members))),
                ']' => return self.mismatched(']'),
                ',' if !first => next = self.between()?,
                _ if !first => {
                    return self.unexpected(next, "was expecting comma to separate Object entries");
                }
                _ => {}
            }
            first = false;
            if next != '"' {
                return self.unexpected(next, "was expecting double-quote to start field name");
            }
            let key = self.quoted("name")?;
            let colon = self.between()?;
            if colon != ':' {
                return self
                    .unexpected(colon, "was expecting a colon to separate field name and value");
            }
            let start = self.between()?;
            let value = self.value(start)?;
            insert(&mut members, &mut many, key.into(), value);
            next = self.inside()?;
        }
    }

    fn string(&mut self) -> Reading<String> {
        self.quoted(IN_STRING)
    }

    /// Parses text up to the closing quotation mark, of a `name` or of a string.
    fn quoted(&mut self, kind: &str) -> Reading<String> {
        let mut out = String::new();
        // First half of a surrogate pair that is written as two escapes.
        let mut high: Option<u16> = None;
        loop {
            let Some(found) = self.take() else {
                return if kind == IN_STRING {
                    self.fail(
                        "Unexpected end-of-input: was expecting closing quote for a string value",
                    )
                } else {
                    self.fail("Unexpected end-of-input in field name")
                };
            };
            let unit = match found {
                '\\' => Some(self.escape()?),
                '"' => None,
                '\0'..' ' => {
                    return self.fail(&format!(
                        "Illegal unquoted character ({}): has to be escaped using backslash to be included in {kind}",
                        described(found)
                    ));
                }
                _ => {
                    if high.take().is_some() {
                        out.push(char::REPLACEMENT_CHARACTER);
                    }
                    out.push(found);
                    continue;
                }
            };
            let Some(unit) = unit else {
                if high.is_some() {
                    out.push(char::REPLACEMENT_CHARACTER);
                }
                return Ok(out);
            };
            push_unit(&mut out, &mut high, unit);
        }
    }

    fn escape(&mut self) -> Reading<u16> {
        let end = "Unexpected end-of-input in character escape sequence";
        let Some(escaped) = self.take() else { return self.fail(end) };
        Ok(match escaped {
            'b' => 8,
            't' => 9,
            'n' => 10,
            'f' => 12,
            'r' => 13,
            '"' | '/' | '\\' => escaped as u16,
            'u' => {
                let mut value = 0;
                for _ in 0..4 {
                    let Some(digit) = self.take() else { return self.fail(end) };
                    let Some(number) = digit.to_digit(16) else {
                        return self.unexpected(
                            digit,
                            "expected a hex-digit for character escape sequence",
                        );
                    };
                    value = value << 4 | number as u16;
                }
                value
            }
            other => {
                return self.fail(&format!("Unrecognized character escape {}", described(other)));
            }
        })
    }

    /// Parses the letters after the first of a word such as `true`.
    fn word(&mut self, word: &str) -> Reading<()> {
        self.rest_of(word, 1)
    }

    /// Parses the remaining letters of a word such as `true`; the first `read` letters were parsed before.
    fn rest_of(&mut self, word: &str, read: usize) -> Reading<()> {
        for (at, expected) in word.char_indices().skip(read) {
            if self.byte() != Some(expected as u8) {
                return self.unknown(&word[..at]);
            }
            self.at += 1;
        }
        match self.text[self.at..].chars().next() {
            Some(next) if next >= '0' && is_word(next) => self.unknown(word),
            _ => Ok(()),
        }
    }

    /// Reports a word that JSON does not define. `read` is the part that was already parsed.
    fn unknown<T>(&mut self, read: &str) -> Reading<T> {
        let mut word = String::from(read);
        while let Some(next) = self.text[self.at..].chars().next().filter(|next| is_word(*next)) {
            self.at += next.len_utf8();
            word.push(next);
            if word.chars().count() >= WORD {
                word.push_str("...");
                break;
            }
        }
        self.fail(&format!("Unrecognized token '{word}': was expecting {EXPECTED}"))
    }

    /// Reports a character with which no JSON value can begin.
    fn odd<T>(&mut self, found: char) -> Reading<T> {
        match found {
            'N' => {
                self.word("NaN")?;
                self.fail(&non_standard("NaN"))
            }
            'I' => {
                self.word("Infinity")?;
                self.fail(&non_standard("Infinity"))
            }
            '+' => match self.take() {
                None => self.fail("Unexpected end-of-input in a Number value"),
                Some(_) => self.no_number(
                    '+',
                    "JSON spec does not allow numbers to have plus signs: enable \
                     `JsonReadFeature.ALLOW_LEADING_PLUS_SIGN_FOR_NUMBERS` to allow",
                ),
            },
            _ if is_word(found) && !found.is_numeric() && !found.is_control() => {
                self.unknown(found.encode_utf8(&mut [0; 4]))
            }
            _ => self.unexpected(found, &format!("expected a valid value {EXPECTED}")),
        }
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while self.byte().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        self.at - start
    }

    /// Reports `-I` with the following characters: JSON has no infinity.
    fn infinity<T>(&mut self) -> Reading<T> {
        let token = match self.take() {
            Some('N') => "-INF",
            Some('n') => "-Infinity",
            Some(other) => return self.no_number(other, NO_DIGIT),
            None => return self.fail("Unexpected end-of-input in a Number value"),
        };
        self.rest_of(token, 3)?;
        self.fail(&non_standard(token))
    }

    fn number(&mut self, first: char) -> Reading<Value> {
        let start = self.at - 1;
        let leading = if first == '-' { self.digit_behind_minus()? } else { first };
        if leading == '0' && self.byte().is_some_and(|byte| byte.is_ascii_digit()) {
            return self.fail("Invalid numeric value: Leading zeroes not allowed");
        }
        let whole = 1 + self.digits();
        // Position that Jackson's error messages about an incomplete fraction or exponent show; `None` for a number
        // that starts with a zero.
        let believed = (leading != '0').then_some(self.at + 1);
        let fraction = self.fraction(believed)?;
        let exponent = self.exponent(believed)?;
        let token = &self.text[start..self.at];
        if let (Container::Root, Some(next)) = (self.around, self.text[self.at..].chars().next())
            && !matches!(next, ' ' | '\t' | '\r' | '\n')
        {
            self.take();
            return self.unexpected(next, "Expected space separating root-level values");
        }
        let length = whole + fraction + exponent;
        if length > MAX_NUMBER {
            return Err(Failure(format!(
                "Number value length ({length}) exceeds the maximum allowed ({MAX_NUMBER}, from \
                 `StreamReadConstraints.getMaxNumberLength()`)"
            )));
        }
        let is_whole = fraction == 0 && exponent == 0;
        Ok(if !is_whole {
            Value::Double(token.parse().unwrap_or(0.0))
        } else if let Ok(value) = token.parse::<i32>() {
            Value::Int(value)
        } else if let Ok(value) = token.parse::<i64>() {
            Value::Long(value)
        } else {
            Value::Big(token.into())
        })
    }

    fn digit_behind_minus(&mut self) -> Reading<char> {
        match self.take() {
            Some(digit @ '0'..='9') => Ok(digit),
            Some('.') => self.odd('.'),
            Some('I') => self.infinity(),
            Some(other) => self.no_number(other, NO_DIGIT),
            None => self.fail("Unexpected end-of-inputNo digit following minus sign"),
        }
    }

    /// Parses the decimals after a point. Returns the number of decimals, or 0 without a point.
    fn fraction(&mut self, believed: Option<usize>) -> Reading<usize> {
        if self.byte() != Some(b'.') {
            return Ok(0);
        }
        self.at += 1;
        match self.digits() {
            0 => self.number_ends("Decimal point not followed by a digit", '.', believed),
            digits => Ok(digits),
        }
    }

    /// Parses an exponent. Returns the number of its digits, or 0 without an exponent.
    fn exponent(&mut self, believed: Option<usize>) -> Reading<usize> {
        if !matches!(self.byte(), Some(b'e' | b'E')) {
            return Ok(0);
        }
        self.at += 1;
        if matches!(self.byte(), Some(b'+' | b'-')) {
            self.at += 1;
        }
        match (self.digits(), self.byte()) {
            (0, None) => self.fail("Unexpected end-of-inputexpected a digit for number exponent"),
            (0, Some(_)) => {
                self.number_ends("Exponent indicator not followed by a digit", 'e', believed)
            }
            (digits, _) => Ok(digits),
        }
    }

    /// Reports a number that ends too early. At the end of the text, the message names `last` as the last character.
    fn number_ends<T>(&mut self, why: &str, last: char, believed: Option<usize>) -> Reading<T> {
        match (self.take(), believed) {
            (None, _) => self.no_number(last, why),
            (Some(found), believed) => {
                self.at = believed.unwrap_or(self.at);
                self.no_number(found, why)
            }
        }
    }
}

fn non_standard(token: &str) -> String {
    format!(
        "Non-standard token '{token}': enable `JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS` to allow"
    )
}

/// Describes a character as Jackson's messages do.
fn described(found: char) -> String {
    let code = u32::from(found);
    match found {
        _ if found.is_control() => format!("(CTRL-CHAR, code {code})"),
        _ if code > 255 => format!("'{found}' (code {code} / 0x{code:x})"),
        _ => format!("'{found}' (code {code})"),
    }
}

/// Returns true for a character that Java's `isJavaIdentifierPart` accepts.
fn is_word(found: char) -> bool {
    found.is_alphanumeric()
        || matches!(found, '_' | '$' | '¢'..='¥' | '€' | '\0'..='\u{8}' | '\u{E}'..='\u{1B}' | '\u{7F}'..='\u{9F}')
}
