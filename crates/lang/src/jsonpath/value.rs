//! A JSON document in memory, with the differences between Java's types and their text forms.
//!
//! Strings without escapes borrow from the text. Objects keep the order of their keys. Only where JMeter copies an
//! object into a `HashMap` is it written in a `HashMap`'s order.

use std::borrow::Cow;

use super::number::Decimal;
use crate::java::write_double;

/// A JSON value, as JSONPath evaluates it.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'t> {
    /// JSON's `null`.
    Null,
    /// JSON's `true` or `false`.
    Bool(bool),
    /// A number of Java's class `Integer` or `Long`.
    Int(i64),
    /// A number of Java's class `BigInteger`, as its digits.
    BigInt(String),
    /// A number of Java's class `Double`.
    Double(f64),
    /// A number of Java's class `BigDecimal`, as it is written in the text.
    BigDecimal(Cow<'t, str>),
    /// A JSON string.
    String(Cow<'t, str>),
    /// A JSON array.
    Array(Vec<Value<'t>>),
    /// A JSON object.
    Object(Object<'t>),
    /// A set of keys, which Java treats neither as an array nor as an object.
    Keys(Vec<Cow<'t, str>>),
}

/// Members of an object in the order in which their keys first appeared.
#[derive(Clone, Debug, Default)]
pub struct Object<'t>(pub(super) Vec<(Cow<'t, str>, Value<'t>)>);

impl<'t> Object<'t> {
    /// Returns the value of the object's member with that name.
    pub fn get(&self, key: &str) -> Option<&Value<'t>> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }
}

impl PartialEq for Object<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.0.len() == other.0.len()
            && self.0.iter().all(|(key, value)| other.get(key) == Some(value))
    }
}

impl<'t> Value<'t> {
    /// Copies the value, so that it no longer borrows from the text.
    pub(super) fn into_owned(self) -> Value<'static> {
        let owned = |text: Cow<'t, str>| Cow::Owned(text.into_owned());
        match self {
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(value),
            Self::Int(value) => Value::Int(value),
            Self::BigInt(value) => Value::BigInt(value),
            Self::Double(value) => Value::Double(value),
            Self::BigDecimal(value) => Value::BigDecimal(owned(value)),
            Self::String(value) => Value::String(owned(value)),
            Self::Array(values) => {
                Value::Array(values.into_iter().map(Value::into_owned).collect())
            }
            Self::Object(Object(members)) => Value::Object(Object(
                members.into_iter().map(|(key, value)| (owned(key), value.into_owned())).collect(),
            )),
            Self::Keys(keys) => Value::Keys(keys.into_iter().map(owned).collect()),
        }
    }

    /// Returns the name of the value's Java class.
    pub(super) fn class(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "java.lang.Boolean",
            Self::Int(value) if i32::try_from(*value).is_ok() => "java.lang.Integer",
            Self::Int(_) => "java.lang.Long",
            Self::BigInt(_) => "java.math.BigInteger",
            Self::Double(_) => "java.lang.Double",
            Self::BigDecimal(_) => "java.math.BigDecimal",
            Self::String(_) => "java.lang.String",
            Self::Array(_) => "net.minidev.json.JSONArray",
            Self::Object(_) => "java.util.LinkedHashMap",
            Self::Keys(_) => "java.util.LinkedHashMap$LinkedKeySet",
        }
    }

    /// Returns the value as a `double`; `None` if it is not a number.
    pub(super) fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Int(value) => Some(*value as f64),
            Self::Double(value) => Some(*value),
            Self::BigInt(text) => text.parse().ok(),
            Self::BigDecimal(text) => text.parse().ok(),
            _ => None,
        }
    }

    /// Appends the value as Java's `toString` does: objects as `{a=1}`, arrays as JSON.
    pub fn write_java(&self, out: &mut String) {
        match self {
            Self::String(text) => out.push_str(text),
            Self::Double(value) => write_double(*value, out),
            Self::Object(Object(members)) => {
                out.push('{');
                for (n, (key, value)) in members.iter().enumerate() {
                    if n > 0 {
                        out.push_str(", ");
                    }
                    out.push_str(key);
                    out.push('=');
                    value.write_java(out);
                }
                out.push('}');
            }
            Self::Keys(keys) => {
                out.push('[');
                out.push_str(&keys.join(", "));
                out.push(']');
            }
            other => other.write_json(out),
        }
    }

    /// Appends the value as compact JSON, with `/` escaped.
    pub fn write_json(&self, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Self::Int(value) => {
                out.push_str(itoa::Buffer::new().format(*value));
            }
            Self::BigInt(digits) => out.push_str(digits),
            Self::Double(value) if !value.is_finite() => out.push_str("null"),
            Self::Double(value) => write_double(*value, out),
            Self::BigDecimal(text) => match Decimal::parse(text) {
                Some(decimal) => decimal.write(out),
                None => out.push_str(text),
            },
            Self::String(text) => write_string(text, out),
            Self::Array(values) => {
                out.push('[');
                for (n, value) in values.iter().enumerate() {
                    if n > 0 {
                        out.push(',');
                    }
                    value.write_json(out);
                }
                out.push(']');
            }
            Self::Object(Object(members)) => write_members(members.iter(), out),
            Self::Keys(keys) => {
                out.push('[');
                for (n, key) in keys.iter().enumerate() {
                    if n > 0 {
                        out.push(',');
                    }
                    write_string(key, out);
                }
                out.push(']');
            }
        }
    }

    /// Appends the value like [`Value::write_json`], with the members of the outermost object in the order of a Java
    /// `HashMap`.
    pub fn write_json_hashed(&self, out: &mut String) {
        let Self::Object(Object(members)) = self else { return self.write_json(out) };
        // JMeter sizes the `HashMap` for at least 4/3 of the members, plus one.
        let table = ((members.len() as f32 / 0.75 + 1.0) as u32).next_power_of_two();
        let slot = |key: &str| {
            let hash = key
                .encode_utf16()
                .fold(0_u32, |hash, unit| hash.wrapping_mul(31).wrapping_add(u32::from(unit)));
            (hash ^ (hash >> 16)) & (table - 1)
        };
        let mut order: Vec<_> = members.iter().map(|member| (slot(&member.0), member)).collect();
        order.sort_by_key(|(slot, _)| *slot);
        write_members(order.into_iter().map(|(_, member)| member), out);
    }
}

fn write_members<'a, 't: 'a>(
    members: impl Iterator<Item = &'a (Cow<'t, str>, Value<'t>)>,
    out: &mut String,
) {
    out.push('{');
    for (n, (key, value)) in members.enumerate() {
        if n > 0 {
            out.push(',');
        }
        write_string(key, out);
        out.push(':');
        value.write_json(out);
    }
    out.push('}');
}

fn write_string(text: &str, out: &mut String) {
    out.push('"');
    let mut from = 0;
    for (at, value) in text.char_indices() {
        let escape = match value {
            '"' => "\\\"",
            '\\' => "\\\\",
            '/' => "\\/",
            '\u{8}' => "\\b",
            '\u{C}' => "\\f",
            '\n' => "\\n",
            '\r' => "\\r",
            '\t' => "\\t",
            '\0'..='\u{1F}' | '\u{7F}'..='\u{9F}' | '\u{2000}'..='\u{20FF}' => "",
            _ => continue,
        };
        out.push_str(&text[from..at]);
        if escape.is_empty() {
            use std::fmt::Write;
            let _ = write!(out, "\\u{:04X}", u32::from(value));
        } else {
            out.push_str(escape);
        }
        from = at + value.len_utf8();
    }
    out.push_str(&text[from..]);
    out.push('"');
}
