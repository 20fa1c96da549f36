//! The methods that scripts may call: methods of strings, of the user's variables, of the properties, and of the log.
//!
//! A call throws if the receiver has no method of this name for these parameters. A method call on null returns null.

use super::World;
use super::value::{Fault, Value};
use crate::log::Level;
use crate::regexp::Regexp;

/// Operators that test a string: `=~` by a pattern, `=^` by its start, `=$` by its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Matching {
    Pattern,
    Start,
    End,
}

/// Supported methods of JEXL scripts, with their minimum and maximum number of parameters.
const KNOWN: [(&str, usize, usize); 30] = [
    ("length", 0, 0),
    ("isEmpty", 0, 0),
    ("isBlank", 0, 0),
    ("trim", 0, 0),
    ("strip", 0, 0),
    ("toUpperCase", 0, 0),
    ("toLowerCase", 0, 0),
    ("toString", 0, 0),
    ("intValue", 0, 0),
    ("longValue", 0, 0),
    ("doubleValue", 0, 0),
    ("contains", 1, 1),
    ("startsWith", 1, 1),
    ("endsWith", 1, 1),
    ("equals", 1, 1),
    ("equalsIgnoreCase", 1, 1),
    ("compareTo", 1, 1),
    ("concat", 1, 1),
    ("indexOf", 1, 2),
    ("lastIndexOf", 1, 1),
    ("substring", 1, 2),
    ("replace", 2, 2),
    ("repeat", 1, 1),
    ("get", 1, 1),
    ("getProperty", 1, 2),
    ("put", 2, 2),
    ("remove", 1, 1),
    ("info", 1, 1),
    ("warn", 1, 1),
    ("error", 1, 1),
];

/// Maximum length in bytes of a string that a JEXL script creates.
const LONGEST: usize = 1 << 24;

pub(super) fn is_known(name: &str, count: usize) -> bool {
    KNOWN.iter().any(|(known, min, max)| *known == name && (*min..=*max).contains(&count))
}

/// Returns true if a pattern contains no construct whose meaning differs between Java and Perl.
pub(super) fn is_common_pattern(pattern: &str) -> bool {
    ![
        "(?", "\\p", "\\P", "\\Q", "\\h", "\\R", "\\G", "\\z", "\\Z", "\\b", "&&", "++", "*+",
        "?+", "}+",
    ]
    .iter()
    .any(|piece| pattern.contains(piece))
        && !pattern.contains("[[")
}

/// Evaluates `left =~ right`, `left =^ right` or `left =$ right`.
pub(super) fn matches(how: Matching, left: &Value<'_>, right: &Value<'_>) -> Result<bool, Fault> {
    match (left, right) {
        (Value::Undefined, _) | (_, Value::Undefined) => return Err(Fault::Throws),
        (Value::Null, Value::Null) => return Ok(true),
        (Value::Null, _) | (_, Value::Null) => return Ok(false),
        _ => {}
    }
    match (how, left, right) {
        (Matching::Pattern, _, Value::Text(pattern)) => {
            // Java's `matches` tries all ways to match the whole text. ORO takes the first match only, so the pattern
            // is anchored.
            let whole = format!("\\A(?:{pattern})(?![\\s\\S])");
            let regexp = Regexp::remembered(&whole).map_err(|_| Fault::Throws)?;
            Ok(regexp.is_found_in(&left.shown()))
        }
        (Matching::Pattern, ..) => left.equals(right),
        (Matching::Start, Value::Text(text), _) => Ok(text.starts_with(&*right.shown())),
        (Matching::End, Value::Text(text), _) => Ok(text.ends_with(&*right.shown())),
        _ => Ok(false),
    }
}

/// Calls a method of a JEXL value.
pub(super) fn call<'a>(
    receiver: &Value<'a>,
    name: &str,
    values: &[Value<'a>],
    world: &mut dyn World,
) -> Result<Value<'a>, Fault> {
    if values.iter().any(|value| matches!(value, Value::Undefined)) {
        return Err(Fault::Throws);
    }
    match receiver {
        Value::Undefined => Err(Fault::Throws),
        Value::Null => Ok(Value::Null),
        Value::Text(text) => of_text(text, name, values),
        Value::Variables => of_variables(name, values, world),
        Value::Properties => of_properties(name, values, world),
        Value::Log => of_log(name, values, world),
        number => match (name, values) {
            ("toString", []) => Ok(Value::text(number.shown().into_owned())),
            ("equals", [other]) => Ok(Value::Bool(number == other)),
            ("intValue", []) if !matches!(number, Value::Bool(_)) => {
                Ok(Value::Int(number.long()? as i32))
            }
            ("longValue", []) if !matches!(number, Value::Bool(_)) => {
                Ok(Value::Long(number.long()?))
            }
            _ => Err(Fault::Throws),
        },
    }
}

fn of_text<'a>(text: &str, name: &str, values: &[Value<'a>]) -> Result<Value<'a>, Fault> {
    let units = |text: &str| text.encode_utf16().count() as i32;
    Ok(match (name, values) {
        ("length", []) => Value::Int(units(text)),
        ("isEmpty", []) => Value::Bool(text.is_empty()),
        ("isBlank", []) => Value::Bool(text.chars().all(char::is_whitespace)),
        ("trim", []) => Value::text(text.trim_matches(|c| c <= ' ').to_owned()),
        ("strip", []) => Value::text(text.trim().to_owned()),
        ("toUpperCase", []) => Value::text(text.to_uppercase()),
        ("toLowerCase", []) => Value::text(text.to_lowercase()),
        ("toString", []) => Value::text(text.to_owned()),
        ("equals", [other]) => Value::Bool(matches!(other, Value::Text(other) if other == text)),
        ("equalsIgnoreCase", [Value::Null]) => Value::Bool(false),
        ("contains", [Value::Text(part)]) => Value::Bool(text.contains(&**part)),
        ("startsWith", [Value::Text(part)]) => Value::Bool(text.starts_with(&**part)),
        ("endsWith", [Value::Text(part)]) => Value::Bool(text.ends_with(&**part)),
        ("equalsIgnoreCase", [Value::Text(other)]) => {
            // Compares letter by letter, so that one letter never equals two letters: `ß` does not equal `SS`.
            let equal = |(one, two): (char, char)| {
                one == two
                    || one.to_uppercase().eq(two.to_uppercase())
                    || one.to_lowercase().eq(two.to_lowercase())
            };
            Value::Bool(
                text.chars().count() == other.chars().count()
                    && text.chars().zip(other.chars()).all(equal),
            )
        }
        ("compareTo", [Value::Text(other)]) => Value::Int(compare(text, other)),
        ("concat", [Value::Text(other)]) => Value::text([text, other].concat()),
        ("indexOf", [Value::Text(part)]) => {
            Value::Int(text.find(&**part).map_or(-1, |at| units(&text[..at])))
        }
        ("indexOf", [Value::Text(part), from]) => {
            let from = index(from)?.max(0);
            let start = byte_at(text, from).unwrap_or(text.len());
            let found = text[start..].find(&**part);
            Value::Int(found.map_or(-1, |at| units(&text[..start + at])))
        }
        ("lastIndexOf", [Value::Text(part)]) => {
            Value::Int(text.rfind(&**part).map_or(-1, |at| units(&text[..at])))
        }
        ("substring", [begin]) => part(text, index(begin)?, units(text))?,
        ("substring", [begin, end]) => part(text, index(begin)?, index(end)?)?,
        ("replace", [Value::Text(old), Value::Text(new)]) => {
            if text.len().saturating_mul(new.len().max(1)) > LONGEST {
                return Err(Fault::Throws);
            }
            Value::text(text.replace(&**old, new))
        }
        ("repeat", [count]) => {
            let count = usize::try_from(index(count)?).map_err(|_| Fault::Throws)?;
            if text.len().saturating_mul(count) > LONGEST {
                return Err(Fault::Throws);
            }
            Value::text(text.repeat(count))
        }
        _ => return Err(Fault::Throws),
    })
}

/// Converts a value to a position or length that Java accepts as an `int`.
fn index(value: &Value<'_>) -> Result<i32, Fault> {
    match value {
        Value::Int(value) => Ok(*value),
        Value::Long(value) => i32::try_from(*value).map_err(|_| Fault::Throws),
        _ => Err(Fault::Throws),
    }
}

/// Returns the byte offset of the UTF-16 unit with number `unit` in a string; `None` if the string is shorter.
fn byte_at(text: &str, unit: i32) -> Option<usize> {
    let mut left = usize::try_from(unit).ok()?;
    for (at, c) in text.char_indices() {
        if left == 0 {
            return Some(at);
        }
        left = left.checked_sub(c.len_utf16())?;
    }
    (left == 0).then_some(text.len())
}

fn part<'a>(text: &str, begin: i32, end: i32) -> Result<Value<'a>, Fault> {
    let range = byte_at(text, begin).zip(byte_at(text, end)).filter(|(begin, end)| begin <= end);
    range.map(|(begin, end)| Value::text(text[begin..end].to_owned())).ok_or(Fault::Throws)
}

/// Compares two strings like Java's `compareTo`: the result is the difference of the first UTF-16 units that differ, or
/// of the lengths.
fn compare(one: &str, two: &str) -> i32 {
    let differ = one.encode_utf16().zip(two.encode_utf16()).find(|(one, two)| one != two);
    match differ {
        Some((one, two)) => i32::from(one) - i32::from(two),
        None => one.encode_utf16().count() as i32 - two.encode_utf16().count() as i32,
    }
}

fn of_variables<'a>(
    name: &str,
    values: &[Value<'a>],
    world: &mut dyn World,
) -> Result<Value<'a>, Fault> {
    match (name, values) {
        ("get", [Value::Text(key)]) => {
            let value = world.variable(key);
            Ok(value.map_or(Value::Null, |value| Value::text(value.to_owned())))
        }
        ("put", [Value::Text(key), Value::Text(value)]) => {
            world.set_variable(key, value);
            Ok(Value::Null)
        }
        ("remove", [Value::Text(key)]) => {
            let value = world.variable(key).map(str::to_owned);
            world.remove_variable(key);
            Ok(value.map_or(Value::Null, Value::text))
        }
        _ => Err(Fault::Throws),
    }
}

fn of_properties<'a>(
    name: &str,
    values: &[Value<'a>],
    world: &mut dyn World,
) -> Result<Value<'a>, Fault> {
    let mut read = |key: &str| {
        let value = world.property(key);
        value.map_or(Value::Null, |value| Value::text(value.to_owned()))
    };
    match (name, values) {
        ("get" | "getProperty", [Value::Text(key)]) => Ok(read(key)),
        ("getProperty", [Value::Text(key), default]) => Ok(match read(key) {
            Value::Null => default.clone(),
            value => value,
        }),
        ("put", [Value::Text(key), Value::Text(value)]) => {
            let before = world.set_property(key, value);
            Ok(before.map_or(Value::Null, Value::text))
        }
        _ => Err(Fault::Throws),
    }
}

fn of_log<'a>(name: &str, values: &[Value<'a>], world: &mut dyn World) -> Result<Value<'a>, Fault> {
    let level = match name {
        "info" => Level::Info,
        "warn" => Level::Warn,
        "error" => Level::Error,
        _ => return Err(Fault::Throws),
    };
    match values {
        [Value::Text(text)] => {
            world.log(level, text);
            Ok(Value::Null)
        }
        _ => Err(Fault::Throws),
    }
}
