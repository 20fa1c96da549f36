//! Values of a running script: how Java prints them, compares them and calculates with them.

use std::cmp::Ordering;
use std::fmt::Write;

use lang::java::write_double;

use super::tree::Binary;
use crate::Thrown;
use lang::buffers::Buffers;

/// A value of a running script. Text from the script's source is borrowed; text created at run time is in a reusable
/// buffer.
#[derive(Debug, Default)]
pub(super) enum Value<'s> {
    #[default]
    Null,
    Bool(bool),
    Int(i32),
    Long(i64),
    Double(f64),
    Fixed(&'s str),
    Text(String),
}

impl Value<'_> {
    /// Returns the text, if the value is a string.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Fixed(text) => Some(text),
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns true if the value is `null`.
    pub(super) fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Copies the value; its text goes into a reusable buffer.
    pub(super) fn copy(&self, buffers: &mut Buffers) -> Self {
        match self {
            Self::Null => Self::Null,
            Self::Bool(value) => Self::Bool(*value),
            Self::Int(value) => Self::Int(*value),
            Self::Long(value) => Self::Long(*value),
            Self::Double(value) => Self::Double(*value),
            Self::Fixed(text) => Self::Fixed(text),
            Self::Text(text) => {
                let mut copy = buffers.take();
                copy.push_str(text);
                Self::Text(copy)
            }
        }
    }

    /// Drops the value, and returns its buffer for reuse.
    pub(super) fn drop(self, buffers: &mut Buffers) {
        if let Self::Text(text) = self {
            buffers.give(text);
        }
    }

    /// Appends the value as Java's `String.valueOf` writes it.
    pub(super) fn write(&self, out: &mut String) {
        let _ = match self {
            Self::Null => out.write_str("null"),
            Self::Bool(value) => write!(out, "{value}"),
            Self::Int(value) => write!(out, "{value}"),
            Self::Long(value) => write!(out, "{value}"),
            Self::Double(value) => {
                write_double(*value, out);
                Ok(())
            }
            Self::Fixed(text) => out.write_str(text),
            Self::Text(text) => out.write_str(text),
        };
    }

    /// Converts the value to a string in a reusable buffer.
    pub(super) fn into_text(self, buffers: &mut Buffers) -> Self {
        match self {
            Self::Fixed(_) | Self::Text(_) => self,
            other => {
                let mut text = buffers.take();
                other.write(&mut text);
                Self::Text(text)
            }
        }
    }

    /// Returns true if a condition in Groovy takes the value for true. Conditions in BeanShell are booleans.
    pub(super) fn truth(&self) -> bool {
        match self {
            Self::Null => false,
            Self::Bool(value) => *value,
            Self::Int(value) => *value != 0,
            Self::Long(value) => *value != 0,
            Self::Double(value) => *value != 0.0,
            Self::Fixed(text) => !text.is_empty(),
            Self::Text(text) => !text.is_empty(),
        }
    }

    /// Returns the value as a whole number, truncated as in Java.
    pub(super) fn long(&self) -> i64 {
        match self {
            Self::Int(value) => i64::from(*value),
            Self::Long(value) => *value,
            // Java's casts saturate, like Rust's.
            Self::Double(value) => *value as i64,
            _ => 0,
        }
    }

    /// Returns the value as a 32-bit number, like a cast in Java.
    pub(super) fn int(&self) -> i32 {
        match self {
            Self::Double(value) => *value as i32,
            other => other.long() as i32,
        }
    }

    /// Returns the value as a floating-point number.
    pub(super) fn double(&self) -> f64 {
        match self {
            Self::Double(value) => *value,
            other => other.long() as f64,
        }
    }
}

/// Calculates with two numbers by Java's rules.
pub(super) fn calculate<'s>(
    operator: Binary,
    left: &Value<'_>,
    right: &Value<'_>,
) -> Result<Value<'s>, Thrown> {
    use Value::{Double, Int, Long};
    let by_zero = || Thrown::new("java.lang.ArithmeticException", "/ by zero");
    Ok(match (left, right) {
        (Double(_), _) | (_, Double(_)) => {
            let (left, right) = (left.double(), right.double());
            Double(match operator {
                Binary::Plus => left + right,
                Binary::Minus => left - right,
                Binary::Times => left * right,
                Binary::Over => left / right,
                _ => left % right,
            })
        }
        (Int(left), Int(right)) => Int(match operator {
            Binary::Plus => left.wrapping_add(*right),
            Binary::Minus => left.wrapping_sub(*right),
            Binary::Times => left.wrapping_mul(*right),
            _ if *right == 0 => return Err(by_zero()),
            Binary::Over => left.wrapping_div(*right),
            _ => left.wrapping_rem(*right),
        }),
        _ => {
            let (left, right) = (left.long(), right.long());
            Long(match operator {
                Binary::Plus => left.wrapping_add(right),
                Binary::Minus => left.wrapping_sub(right),
                Binary::Times => left.wrapping_mul(right),
                _ if right == 0 => return Err(by_zero()),
                Binary::Over => left.wrapping_div(right),
                _ => left.wrapping_rem(right),
            })
        }
    })
}

/// Compares two values of comparable kinds: numbers, strings, booleans. `null` is less than everything else.
pub(super) fn compare(left: &Value<'_>, right: &Value<'_>) -> Option<Ordering> {
    match (left, right) {
        (Value::Null, Value::Null) => Some(Ordering::Equal),
        (Value::Null, _) => Some(Ordering::Less),
        (_, Value::Null) => Some(Ordering::Greater),
        (Value::Bool(left), Value::Bool(right)) => Some(left.cmp(right)),
        (Value::Double(_), _) | (_, Value::Double(_)) => left.double().partial_cmp(&right.double()),
        _ => match (left.text(), right.text()) {
            (Some(left), Some(right)) => Some(left.encode_utf16().cmp(right.encode_utf16())),
            _ => Some(left.long().cmp(&right.long())),
        },
    }
}

/// Returns true if two values are equal in Groovy. In BeanShell the same holds, as long as neither operand is an object
/// other than `null`.
pub(super) fn equal(left: &Value<'_>, right: &Value<'_>) -> bool {
    match (left.text(), right.text()) {
        (Some(left), Some(right)) => left == right,
        // A string is never equal to a value of another kind.
        (Some(_), None) | (None, Some(_)) => false,
        (None, None) => match (left, right) {
            (Value::Bool(left), Value::Bool(right)) => left == right,
            (Value::Bool(_), _) | (_, Value::Bool(_)) => false,
            _ => compare(left, right) == Some(Ordering::Equal),
        },
    }
}
