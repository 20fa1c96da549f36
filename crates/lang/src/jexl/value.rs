//! JEXL values and JEXL's strict arithmetic. Numbers have the smallest Java type that can hold the result. In
//! arithmetic with a number, a string that parses as a number counts as a number. Arithmetic with null throws.

use std::borrow::Cow;
use std::cmp::Ordering;

use crate::java::{parse_double, write_double};

/// Reason why a JEXL script has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// JEXL throws during the evaluation; JMeter's engine is silent about it.
    Throws,
    /// Java throws an exception because a string that must be a number is none. JMeter logs this exception.
    NoNumber,
    /// JEXL cannot parse the script, or this crate does not support it.
    Unreadable,
}

/// A value of a JEXL script.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value<'a> {
    /// The value of a variable that is not defined.
    Undefined,
    Null,
    Bool(bool),
    /// A number of Java's class `Integer`.
    Int(i32),
    /// A number of Java's class `Long`.
    Long(i64),
    /// A number of Java's class `BigInteger`, limited to 128 bits.
    Big(i128),
    /// A number of Java's class `Double`.
    Double(f64),
    Text(Cow<'a, str>),
    /// The object `vars`: the user's variables.
    Variables,
    /// The object `props`: the properties of the run.
    Properties,
    /// The object `log`, which writes log lines.
    Log,
}

/// Arithmetic operators on two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
}

impl<'a> Value<'a> {
    /// Creates a JEXL text value.
    pub(super) fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self::Text(text.into())
    }

    /// Creates a number of the smallest type that holds the value.
    fn narrow(value: i128, keeps_long: bool) -> Self {
        match (i32::try_from(value), i64::try_from(value)) {
            (Ok(value), _) if !keeps_long => Self::Int(value),
            (_, Ok(value)) => Self::Long(value),
            _ => Self::Big(value),
        }
    }

    /// Appends the value as text; null appends nothing.
    pub(super) fn write(&self, out: &mut String) {
        use std::fmt::Write;
        let _ = match self {
            Self::Undefined | Self::Null | Self::Variables | Self::Properties | Self::Log => Ok(()),
            Self::Bool(value) => write!(out, "{value}"),
            Self::Int(value) => write!(out, "{value}"),
            Self::Long(value) => write!(out, "{value}"),
            Self::Big(value) => write!(out, "{value}"),
            Self::Double(value) => {
                write_double(*value, out);
                Ok(())
            }
            Self::Text(text) => {
                out.push_str(text);
                Ok(())
            }
        };
    }

    /// Returns the text of an operand in JEXL.
    pub(super) fn shown(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            other => {
                let mut out = String::new();
                other.write(&mut out);
                Cow::Owned(out)
            }
        }
    }

    fn is_null(&self) -> bool {
        matches!(self, Self::Null | Self::Undefined)
    }

    fn whole(&self) -> Option<i64> {
        match self {
            Self::Int(value) => Some(i64::from(*value)),
            Self::Long(value) => Some(*value),
            _ => None,
        }
    }

    /// Converts the value to a boolean. A string is false if it is empty or `false`; a number is false if it is 0.
    pub(super) fn truth(&self) -> Result<bool, Fault> {
        Ok(match self {
            Self::Undefined | Self::Null => return Err(Fault::Throws),
            Self::Bool(value) => *value,
            Self::Int(value) => *value != 0,
            Self::Long(value) => *value != 0,
            Self::Big(value) => *value != 0,
            Self::Double(value) => !value.is_nan() && *value != 0.0,
            Self::Text(text) => !text.is_empty() && text != "false",
            Self::Variables | Self::Properties | Self::Log => true,
        })
    }

    /// Returns true if a ternary takes its first branch; null is false here, and no error.
    pub(super) fn holds(&self) -> Result<bool, Fault> {
        if self.is_null() { Ok(false) } else { self.truth() }
    }

    fn double(&self) -> Result<f64, Fault> {
        Ok(match self {
            Self::Bool(value) => f64::from(u8::from(*value)),
            Self::Int(value) => f64::from(*value),
            Self::Long(value) => *value as f64,
            Self::Big(value) => *value as f64,
            Self::Double(value) => *value,
            Self::Text(text) if text.is_empty() => f64::NAN,
            Self::Text(text) => parse_double(text).ok_or(Fault::NoNumber)?,
            _ => return Err(Fault::Throws),
        })
    }

    /// Converts the value to a whole number. A string must be a whole number; decimals of other numbers are truncated.
    pub(super) fn long(&self) -> Result<i64, Fault> {
        Ok(match self {
            Self::Bool(value) => i64::from(*value),
            Self::Int(value) => i64::from(*value),
            Self::Long(value) => *value,
            Self::Big(value) => *value as i64,
            Self::Double(value) => *value as i64,
            Self::Text(text) if text.is_empty() => 0,
            Self::Text(text) => text.parse().map_err(|_| Fault::NoNumber)?,
            _ => return Err(Fault::Throws),
        })
    }

    fn big(&self) -> Result<i128, Fault> {
        match self {
            Self::Big(value) => Ok(*value),
            Self::Text(text) if text.is_empty() => Ok(0),
            Self::Text(text) => text.parse().map_err(|_| Fault::NoNumber),
            other => other.long().map(i128::from),
        }
    }

    /// Returns true if arithmetic treats the value as a decimal: a `Double`, or a string with a point or an exponent.
    fn is_decimal(&self) -> bool {
        match self {
            Self::Double(_) => true,
            Self::Text(text) => {
                let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
                let (mantissa, exponent) = match digits.split_once(['e', 'E']) {
                    Some((mantissa, exponent)) => (mantissa, Some(exponent)),
                    None => (digits, None),
                };
                let (whole, fraction) = match mantissa.split_once('.') {
                    Some((whole, fraction)) => (whole, Some(fraction)),
                    None => (mantissa, None),
                };
                let plain = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
                let counts = |digits: &str| {
                    let bare = digits.strip_prefix(['+', '-']).unwrap_or(digits);
                    !bare.is_empty() && plain(bare)
                };
                plain(whole)
                    && fraction.is_none_or(plain)
                    && exponent.is_none_or(counts)
                    && (fraction.is_some() || exponent.is_some())
            }
            _ => false,
        }
    }

    /// Evaluates `left == right` in JEXL.
    pub(super) fn equals(&self, other: &Self) -> Result<bool, Fault> {
        if matches!(self, Self::Undefined) || matches!(other, Self::Undefined) {
            return Err(Fault::Throws);
        }
        match (self.is_null(), other.is_null()) {
            (true, true) => return Ok(true),
            (false, false) => {}
            _ => return Ok(false),
        }
        if matches!(self, Self::Bool(_)) || matches!(other, Self::Bool(_)) {
            return Ok(self.truth()? == other.truth()?);
        }
        Ok(self.order(other)? == Ordering::Equal)
    }

    /// Compares two values for `<`, `<=`, `>` and `>=`. Returns `None` if exactly one is null; then no comparison is
    /// true.
    pub(super) fn compare(&self, other: &Self) -> Result<Option<Ordering>, Fault> {
        if matches!(self, Self::Undefined) || matches!(other, Self::Undefined) {
            return Err(Fault::Throws);
        }
        if self.is_null() || other.is_null() {
            return Ok((self.is_null() && other.is_null()).then_some(Ordering::Equal));
        }
        self.order(other).map(Some)
    }

    fn order(&self, other: &Self) -> Result<Ordering, Fault> {
        let either = |is: fn(&Self) -> bool| is(self) || is(other);
        if either(|value| matches!(value, Self::Big(_))) {
            return Ok(self.big()?.cmp(&other.big()?));
        }
        if either(|value| matches!(value, Self::Double(_))) {
            let (one, two) = (self.double()?, other.double()?);
            return Ok(match (one.is_nan(), two.is_nan()) {
                (true, true) => Ordering::Equal,
                (true, false) => Ordering::Less,
                (false, true) => Ordering::Greater,
                (false, false) => one.total_cmp(&two),
            });
        }
        if either(|value| matches!(value, Self::Int(_) | Self::Long(_))) {
            return Ok(self.long()?.cmp(&other.long()?));
        }
        if either(|value| matches!(value, Self::Text(_))) {
            return Ok(self.shown().encode_utf16().cmp(other.shown().encode_utf16()));
        }
        match (self, other) {
            (Self::Bool(one), Self::Bool(two)) => Ok(one.cmp(two)),
            _ => Err(Fault::Throws),
        }
    }

    /// Evaluates `self`, an arithmetic operator, and `other`. The operator `+` concatenates strings.
    pub(super) fn compute(&self, how: Arithmetic, other: &Self) -> Result<Value<'a>, Fault> {
        if matches!(self, Self::Undefined) || matches!(other, Self::Undefined) {
            return Err(Fault::Throws);
        }
        if self.is_null() || other.is_null() {
            return Err(Fault::Throws);
        }
        if how == Arithmetic::Add
            && (matches!(self, Self::Text(_)) || matches!(other, Self::Text(_)))
        {
            return Ok(Value::text([self.shown(), other.shown()].concat()));
        }
        let keeps_long = matches!(self, Self::Long(_)) || matches!(other, Self::Long(_));
        let (one, two) = if let (Some(one), Some(two)) = (self.whole(), other.whole()) {
            (i128::from(one), i128::from(two))
        } else if self.is_decimal() || other.is_decimal() {
            let (one, two) = (self.double()?, other.double()?);
            return Ok(Value::Double(match how {
                Arithmetic::Add => one + two,
                Arithmetic::Subtract => one - two,
                Arithmetic::Multiply => one * two,
                Arithmetic::Divide | Arithmetic::Modulo if two == 0.0 => return Err(Fault::Throws),
                Arithmetic::Divide => one / two,
                Arithmetic::Modulo => one % two,
            }));
        } else {
            (self.big()?, other.big()?)
        };
        let value = match how {
            Arithmetic::Add => one.checked_add(two),
            Arithmetic::Subtract => one.checked_sub(two),
            Arithmetic::Multiply => one.checked_mul(two),
            Arithmetic::Divide => one.checked_div(two),
            Arithmetic::Modulo => one.checked_rem(two),
        };
        value.map(|value| Value::narrow(value, keeps_long)).ok_or(Fault::Throws)
    }

    /// Evaluates the negation `-value` in JEXL.
    pub(super) fn negated(self) -> Result<Value<'a>, Fault> {
        Ok(match self {
            Self::Int(value) => Self::Int(value.wrapping_neg()),
            Self::Long(value) => Self::Long(value.wrapping_neg()),
            Self::Big(value) => Self::Big(value.checked_neg().ok_or(Fault::Throws)?),
            Self::Double(value) => Self::Double(-value),
            Self::Bool(value) => Self::Bool(!value),
            _ => return Err(Fault::Throws),
        })
    }

    /// Evaluates `empty value` in JEXL.
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Undefined | Self::Null => true,
            Self::Text(text) => text.is_empty(),
            Self::Int(value) => *value == 0,
            Self::Long(value) => *value == 0,
            Self::Big(value) => *value == 0,
            Self::Double(value) => *value == 0.0 || value.is_nan(),
            _ => false,
        }
    }

    /// Evaluates `size value` in JEXL.
    pub(super) fn size(&self) -> i32 {
        match self {
            Self::Text(text) => text.encode_utf16().count() as i32,
            _ => 0,
        }
    }
}
