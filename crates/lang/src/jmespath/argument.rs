//! Types of JMESPath function arguments, and jmespath-core's messages about wrong types.

use super::node::Node;
use super::value::{Type, Value};

/// An argument of a JMESPath function call.
pub(super) enum Argument<'n> {
    /// The value of the argument, already evaluated.
    Value(Value),
    /// An expression that the function evaluates itself.
    Expression(&'n Node),
}

impl Argument<'_> {
    /// Returns the argument's value. An expression returns null; functions that require a value never get one.
    pub(super) fn value(&self) -> &Value {
        match self {
            Self::Value(value) => value,
            Self::Expression(_) => &Value::Null,
        }
    }
}

/// The type that a function requires of an argument.
#[derive(Debug)]
pub(super) enum Constraint {
    /// The argument may be any value.
    Any,
    /// The argument must be an expression.
    Expression,
    /// The argument must be a value of one of these types.
    Is(&'static [Type]),
    /// The argument must be a list whose elements all have the same type, and this type must be in the slice. An empty
    /// slice allows any type.
    ListOf(&'static [Type]),
}

impl Constraint {
    /// Checks an argument. The error contains the expected and the actual type.
    pub(super) fn check(&self, argument: &Argument<'_>) -> Result<(), (String, String)> {
        let wrong = |actual: String| Err((self.expected(), actual));
        let value = match argument {
            Argument::Expression(_) if matches!(self, Self::Expression) => return Ok(()),
            Argument::Expression(_) => return wrong("expression".into()),
            Argument::Value(value) => value,
        };
        let actual = value.is_a();
        match self {
            Self::Any => Ok(()),
            Self::Is(types) if types.contains(&actual) => Ok(()),
            Self::Is(_) | Self::Expression => wrong(actual.name().into()),
            Self::ListOf(types) => {
                let Value::Array(values) = value else { return wrong(actual.name().into()) };
                let mut found: Vec<Type> = Vec::new();
                for value in values.iter() {
                    if !found.contains(&value.is_a()) {
                        found.push(value.is_a());
                    }
                }
                match found[..] {
                    [] => Ok(()),
                    [one] if types.is_empty() || types.contains(&one) => Ok(()),
                    _ => wrong(format!("array containing {}", listed(&found, " and "))),
                }
            }
        }
    }

    fn expected(&self) -> String {
        match self {
            Self::Any => "any value".into(),
            Self::Expression => "expression".into(),
            Self::Is(types) => listed(types, " or "),
            Self::ListOf([]) => "array of any value".into(),
            Self::ListOf(types) => format!("array of {}", listed(types, " or ")),
        }
    }
}

/// Joins the type names with commas, and with `last` before the last name.
fn listed(types: &[Type], last: &str) -> String {
    let mut out = String::new();
    for (at, one) in types.iter().enumerate() {
        if at > 0 {
            out.push_str(if at + 1 == types.len() { last } else { ", " });
        }
        out.push_str(one.name());
    }
    out
}
