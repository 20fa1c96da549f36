//! Methods of strings and numbers, with the behaviour of Java 17 and Groovy.

use lang::java::parse_double;
use lang::work;

use super::method::Method;
use super::value::Value;
use crate::Thrown;
use lang::buffers::Buffers;

/// Calls a method on a value that is not `null`.
pub(super) fn method<'s>(
    method: Method,
    on: &Value<'_>,
    one: &Value<'_>,
    two: &Value<'_>,
    buffers: &mut Buffers,
) -> Result<Value<'s>, Thrown> {
    let text = on.text().unwrap_or_default();
    let other = one.text().unwrap_or_default();
    let mut made = |write: &mut dyn FnMut(&mut String)| {
        let mut out = buffers.take();
        write(&mut out);
        Ok(Value::Text(out))
    };
    match method {
        Method::Equals => Ok(Value::Bool(one.text() == Some(text))),
        Method::EqualsIgnoreCase => {
            Ok(Value::Bool(one.text().is_some_and(|other| same_letters(text, other))))
        }
        Method::Contains => given(one).map(|()| Value::Bool(text.contains(other))),
        Method::StartsWith => given(one).map(|()| Value::Bool(text.starts_with(other))),
        Method::EndsWith => given(one).map(|()| Value::Bool(text.ends_with(other))),
        Method::Length => Ok(Value::Int(length(text))),
        Method::IsEmpty => Ok(Value::Bool(text.is_empty())),
        Method::IsBlank => Ok(Value::Bool(text.trim().is_empty())),
        Method::Substring => {
            let length = length(text);
            made_part(text, one.int(), length, length, buffers)
        }
        Method::SubstringTo => made_part(text, one.int(), two.int(), length(text), buffers),
        Method::IndexOf => given(one).map(|()| Value::Int(place(text, text.find(other)))),
        Method::IndexOfFrom => given(one).map(|()| Value::Int(find_from(text, other, two.int()))),
        Method::LastIndexOf => given(one).map(|()| Value::Int(place(text, text.rfind(other)))),
        Method::Trim => made(&mut |out| out.push_str(trim(on))),
        Method::Lower => made(&mut |out| out.push_str(&text.to_lowercase())),
        Method::Upper => made(&mut |out| out.push_str(&text.to_uppercase())),
        Method::Replace => {
            given(one)?;
            given(two)?;
            let replaced = replaced(text, other, two.text().unwrap_or_default())?;
            made(&mut |out| out.push_str(&replaced))
        }
        Method::Concat => {
            given(one)?;
            made(&mut |out| out.extend([text, other]))
        }
        Method::CompareTo => given(one).map(|()| Value::Int(distance(text, other))),
        Method::ToText => made(&mut |out| on.write(out)),
        Method::ToInt => int(trim(on)).map(Value::Int),
        Method::ToLong => long(trim(on)).map(Value::Long),
        Method::ToDouble => double(trim(on)).map(Value::Double),
        Method::Take => made(&mut |out| units(text, 0, one.int().clamp(0, length(text)), out)),
        Method::Drop => {
            made(&mut |out| units(text, one.int().clamp(0, length(text)), length(text), out))
        }
        Method::Reverse => made(&mut |out| out.extend(text.chars().rev())),
        Method::Int => Ok(Value::Int(on.int())),
        Method::Long => Ok(Value::Long(on.long())),
        Method::Double => Ok(Value::Double(on.double())),
        Method::Round => Ok(Value::Long((on.double() + 0.5).floor() as i64)),
        Method::Abs => Ok(absolute(on)),
        Method::IntDiv => match one.int() {
            0 => Err(Thrown::new("java.lang.ArithmeticException", "/ by zero")),
            by => Ok(Value::Int(on.int().wrapping_div(by))),
        },
    }
}

/// Parses an `int` like Java's `Integer.parseInt`.
pub(super) fn int(text: &str) -> Result<i32, Thrown> {
    text.parse().map_err(|_| Thrown::not_a_number(text))
}

/// Parses a `long` like Java's `Long.parseLong`.
pub(super) fn long(text: &str) -> Result<i64, Thrown> {
    text.parse().map_err(|_| Thrown::not_a_number(text))
}

/// Parses a `double` like Java's `Double.parseDouble`.
pub(super) fn double(text: &str) -> Result<f64, Thrown> {
    parse_double(text).ok_or_else(|| match text.trim_matches(|c| c <= ' ') {
        "" => Thrown::new("java.lang.NumberFormatException", "empty String"),
        _ => Thrown::not_a_number(text),
    })
}

/// Trims like Java's `String.trim`.
pub(super) fn trim<'v>(value: &'v Value<'_>) -> &'v str {
    value.text().unwrap_or_default().trim_matches(|c| c <= ' ')
}

/// Throws for `null`, with an empty message. Java's message names lines of its library; the compiler has made sure that
/// no result shows it.
fn given(value: &Value<'_>) -> Result<(), Thrown> {
    if value.is_null() { Err(Thrown::new("java.lang.NullPointerException", "")) } else { Ok(()) }
}

/// Returns a byte offset in a string as an index of UTF-16 units; `None` becomes -1.
fn place(text: &str, found: Option<usize>) -> i32 {
    found.map_or(-1, |at| length(&text[..at]))
}

/// Returns the index of a part in a string, in UTF-16 units, like Java's `String.indexOf` with a start index.
fn find_from(text: &str, part: &str, from: i32) -> i32 {
    let mut rest = String::new();
    let from = from.clamp(0, length(text));
    units(text, from, length(text), &mut rest);
    rest.find(part).map_or(-1, |at| from + length(&rest[..at]))
}

/// Replaces like Java's `String.replace`. The size of the result counts against the work limit beforehand.
fn replaced(text: &str, old: &str, new: &str) -> Result<String, Thrown> {
    let times = if new.len() > old.len() { text.matches(old).count() } else { 0 };
    if !work::spend_bytes(text.len() + times.saturating_mul(new.len())) {
        return Err(Thrown::too_much());
    }
    Ok(text.replace(old, new))
}

/// Computes Java's `Math.abs`.
fn absolute<'s>(number: &Value<'_>) -> Value<'s> {
    match number {
        Value::Int(value) => Value::Int(value.wrapping_abs()),
        Value::Long(value) => Value::Long(value.wrapping_abs()),
        other => Value::Double(other.double().abs()),
    }
}

/// Returns a part of a string like Java's `String.substring`.
fn made_part<'s>(
    text: &str,
    from: i32,
    to: i32,
    length: i32,
    buffers: &mut Buffers,
) -> Result<Value<'s>, Thrown> {
    if from < 0 || from > to || to > length {
        let message = format!("begin {from}, end {to}, length {length}");
        return Err(Thrown::new("java.lang.StringIndexOutOfBoundsException", message));
    }
    let mut out = buffers.take();
    units(text, from, to, &mut out);
    Ok(Value::Text(out))
}

fn length(text: &str) -> i32 {
    if text.is_ascii() { text.len() as i32 } else { text.encode_utf16().count() as i32 }
}

/// Appends the UTF-16 units of a string between two positions.
fn units(text: &str, from: i32, to: i32, out: &mut String) {
    let (from, to) = (from as usize, to as usize);
    if text.is_ascii() {
        return out.push_str(&text[from..to]);
    }
    let units: Vec<u16> = text.encode_utf16().skip(from).take(to - from).collect();
    out.push_str(&String::from_utf16_lossy(&units));
}

/// Returns true if two strings are equal without regard to case, like Java's `String.equalsIgnoreCase`.
fn same_letters(one: &str, other: &str) -> bool {
    let upper = |c: char| {
        let mut upper = c.to_uppercase();
        match (upper.next(), upper.next()) {
            (Some(upper), None) => upper,
            _ => c,
        }
    };
    let lower = |c: char| {
        let mut lower = upper(c).to_lowercase();
        lower.next().unwrap_or(c)
    };
    let mut pairs = one.chars().zip(other.chars());
    one.chars().count() == other.chars().count()
        && pairs.all(|(a, b)| a == b || upper(a) == upper(b) || lower(a) == lower(b))
}

/// Compares two strings like Java's `String.compareTo`.
fn distance(one: &str, other: &str) -> i32 {
    let mut pairs = one.encode_utf16().zip(other.encode_utf16());
    match pairs.find(|(a, b)| a != b) {
        Some((a, b)) => i32::from(a) - i32::from(b),
        None => length(one) - length(other),
    }
}
