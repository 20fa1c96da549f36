//! A JSON value with the differences between Jackson's classes: the number `1` of a document is not equal to a length
//! of 1.
//!
//! Values share their strings, lists and members, so that a copy only increments reference counts. Objects keep the
//! order of their keys.

use std::cmp::Ordering;
use std::fmt::Write;
use std::sync::Arc;

use crate::java::write_double;

/// A JSON value, as JMESPath expressions use it.
#[derive(Clone, Debug)]
pub enum Value {
    /// JSON's `null`.
    Null,
    /// JSON's `true` or `false`.
    Bool(bool),
    /// A number of the document that fits into 32 bits.
    Int(i32),
    /// A number of the document that fits into 64 bits but not into 32, or any number that a function has counted.
    Long(i64),
    /// A whole number beyond 64 bits, as its digits.
    Big(Arc<str>),
    /// A number with a fraction or an exponent, or any number that a function has calculated.
    Double(f64),
    /// A JSON string.
    Text(Arc<str>),
    /// A JSON array.
    Array(Arc<Vec<Value>>),
    /// A JSON object.
    Object(Arc<Members>),
}

/// Members of an object, in the order in which their keys first appeared.
pub(super) type Members = Vec<(Arc<str>, Value)>;

/// The types of JMESPath values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Number,
    String,
    Boolean,
    Array,
    Object,
    Null,
}

impl Type {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Number => "number",
            Self::String => "string",
            Self::Boolean => "boolean",
            Self::Array => "array",
            Self::Object => "object",
            Self::Null => "null",
        }
    }
}

impl Value {
    pub(super) fn text(text: &str) -> Self {
        Self::Text(text.into())
    }

    pub(super) fn list(values: Vec<Self>) -> Self {
        Self::Array(Arc::new(values))
    }

    pub(super) fn is_a(&self) -> Type {
        match self {
            Self::Null => Type::Null,
            Self::Bool(_) => Type::Boolean,
            Self::Int(_) | Self::Long(_) | Self::Big(_) | Self::Double(_) => Type::Number,
            Self::Text(_) => Type::String,
            Self::Array(_) => Type::Array,
            Self::Object(_) => Type::Object,
        }
    }

    /// Returns a member of a JSON object; for any other value, null.
    pub(super) fn member(&self, key: &str) -> Self {
        let Self::Object(members) = self else { return Self::Null };
        let found = members.iter().find(|(name, _)| **name == *key);
        found.map_or(Self::Null, |(_, value)| value.clone())
    }

    /// Returns true if the value counts as true in JMESPath; every number does.
    pub(super) fn is_truthy(&self) -> bool {
        match self {
            Self::Null => false,
            Self::Bool(value) => *value,
            Self::Int(_) | Self::Long(_) | Self::Big(_) | Self::Double(_) => true,
            Self::Text(text) => !text.is_empty(),
            Self::Array(values) => !values.is_empty(),
            Self::Object(members) => !members.is_empty(),
        }
    }

    /// Returns the number as a `double`; 0 if the value is not a number.
    pub(super) fn number(&self) -> f64 {
        match self {
            Self::Int(value) => f64::from(*value),
            Self::Long(value) => *value as f64,
            Self::Big(digits) => digits.parse().unwrap_or(0.0),
            Self::Double(value) => *value,
            _ => 0.0,
        }
    }

    /// Compares two values as comparison operators do. Values of different types, and values that differ but have no
    /// order, yield `Less`.
    pub(super) fn compare(&self, other: &Self) -> Ordering {
        let equal = |equal| if equal { Ordering::Equal } else { Ordering::Less };
        match (self, other) {
            (Self::Null, Self::Null) => Ordering::Equal,
            (Self::Bool(one), Self::Bool(two)) => equal(one == two),
            (Self::Text(one), Self::Text(two)) => one.encode_utf16().cmp(two.encode_utf16()),
            (Self::Array(one), Self::Array(two)) => equal(
                one.len() == two.len()
                    && one.iter().zip(two.iter()).all(|(one, two)| one.compare(two).is_eq()),
            ),
            (Self::Object(one), Self::Object(two)) => equal(
                one.len() == two.len()
                    && one.iter().all(|(key, value)| {
                        two.iter().any(|(name, other)| name == key && value.compare(other).is_eq())
                    }),
            ),
            _ if (self.is_a(), other.is_a()) == (Type::Number, Type::Number) => {
                compare_doubles(self.number(), other.number())
            }
            _ => Ordering::Less,
        }
    }

    /// Returns the text that variables and patterns get: a string's text, or the JSON of any other value.
    pub fn shown(&self) -> String {
        let mut out = String::new();
        match self {
            Self::Text(text) => out.push_str(text),
            other => other.write(&mut out),
        }
        out
    }

    /// Appends the value as JSON, as Jackson writes it.
    pub fn write(&self, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Self::Int(value) => _ = write!(out, "{value}"),
            Self::Long(value) => _ = write!(out, "{value}"),
            Self::Big(digits) => out.push_str(digits),
            Self::Double(value) if value.is_finite() => write_double(*value, out),
            Self::Double(value) => {
                out.push('"');
                write_double(*value, out);
                out.push('"');
            }
            Self::Text(text) => write_text(text, out),
            Self::Array(values) => {
                out.push('[');
                for (n, value) in values.iter().enumerate() {
                    if n > 0 {
                        out.push(',');
                    }
                    value.write(out);
                }
                out.push(']');
            }
            Self::Object(members) => {
                out.push('{');
                for (n, (key, value)) in members.iter().enumerate() {
                    if n > 0 {
                        out.push(',');
                    }
                    write_text(key, out);
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
        }
    }
}

/// Compares like Jackson's `equals`: numbers of different classes are not equal.
impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(one), Self::Bool(two)) => one == two,
            (Self::Int(one), Self::Int(two)) => one == two,
            (Self::Long(one), Self::Long(two)) => one == two,
            (Self::Double(one), Self::Double(two)) => compare_doubles(*one, *two).is_eq(),
            (Self::Big(one), Self::Big(two)) | (Self::Text(one), Self::Text(two)) => one == two,
            (Self::Array(one), Self::Array(two)) => one == two,
            (Self::Object(one), Self::Object(two)) => {
                one.len() == two.len()
                    && one.iter().all(|(key, value)| {
                        two.iter().any(|(name, other)| name == key && value == other)
                    })
            }
            _ => false,
        }
    }
}

/// Compares like Java's `Double.compare`: -0 is less than 0, and NaN is greater than any number.
fn compare_doubles(one: f64, two: f64) -> Ordering {
    match one.partial_cmp(&two) {
        Some(Ordering::Equal) => two.is_sign_negative().cmp(&one.is_sign_negative()),
        Some(order) => order,
        None => one.is_nan().cmp(&two.is_nan()),
    }
}

fn write_text(text: &str, out: &mut String) {
    out.push('"');
    let mut from = 0;
    for (at, byte) in text.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            8 => "\\b",
            12 => "\\f",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0..=31 => "",
            _ => continue,
        };
        out.push_str(&text[from..at]);
        if escape.is_empty() {
            let _ = write!(out, "\\u{byte:04X}");
        } else {
            out.push_str(escape);
        }
        from = at + 1;
    }
    out.push_str(&text[from..]);
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_compare_as_in_java() {
        let ascending = [f64::NEG_INFINITY, -1.0, -0.0, 0.0, 1.0, f64::INFINITY, f64::NAN];
        for (at, one) in ascending.iter().enumerate() {
            for (other, two) in ascending.iter().enumerate() {
                assert_eq!(compare_doubles(*one, *two), at.cmp(&other), "{one} {two}");
            }
        }
    }

    #[test]
    fn equality_is_by_class_and_comparison_by_value() {
        assert_ne!(Value::Int(1), Value::Long(1));
        assert_ne!(Value::Int(1), Value::Double(1.0));
        assert!(Value::Int(1).compare(&Value::Double(1.0)).is_eq());
        assert!(Value::text("a").compare(&Value::Int(1)).is_lt());
    }
}
