//! The functions of JMESPath, with the results of jmespath-core: a calculated number is a floating-point number.

use std::cmp::Ordering;
use std::sync::Arc;

use super::Failure;
use super::argument::{Argument, Constraint};
use super::node::{Node, elements, put};
use super::value::{Members, Type, Value};
use crate::java::parse_double;
use crate::work;

/// A JMESPath function: a reference to its entry in the function table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Function(&'static Entry);

type Answer = Result<Value, Failure>;

#[derive(Debug)]
struct Entry {
    name: &'static str,
    arguments: &'static [Constraint],
    /// True if the last argument may be given several times.
    repeats: bool,
    run: fn(&Entry, &[Argument<'_>]) -> Answer,
}

const NUMBER: &[Type] = &[Type::Number];
const STRING: &[Type] = &[Type::String];
const OBJECT: &[Type] = &[Type::Object];
const ORDERED: &[Type] = &[Type::Number, Type::String];

const fn entry(
    name: &'static str,
    arguments: &'static [Constraint],
    run: fn(&Entry, &[Argument<'_>]) -> Answer,
) -> Entry {
    Entry { name, arguments, repeats: false, run }
}

/// All JMESPath functions, sorted by name.
static TABLE: &[Entry] = &[
    entry("abs", &[Constraint::Is(NUMBER)], |_, of| Ok(Value::Double(number(of).abs()))),
    entry("avg", &[Constraint::ListOf(NUMBER)], avg),
    entry("ceil", &[Constraint::Is(NUMBER)], |_, of| Ok(Value::Double(number(of).ceil()))),
    entry("contains", &[Constraint::Is(&[Type::Array, Type::String]), Constraint::Any], contains),
    entry("ends_with", &[Constraint::Is(STRING), Constraint::Is(STRING)], |_, of| {
        Ok(Value::Bool(of[0].value().shown().ends_with(&of[1].value().shown())))
    }),
    entry("floor", &[Constraint::Is(NUMBER)], |_, of| Ok(Value::Double(number(of).floor()))),
    entry("join", &[Constraint::Is(STRING), Constraint::ListOf(STRING)], join),
    entry("keys", &[Constraint::Is(OBJECT)], keys),
    entry("length", &[Constraint::Is(&[Type::String, Type::Array, Type::Object])], length),
    entry("map", &[Constraint::Expression, Constraint::ListOf(&[])], map),
    entry("max", &[Constraint::ListOf(ORDERED)], |_, of| Ok(best(of, Ordering::Greater))),
    entry("max_by", &[Constraint::ListOf(OBJECT), Constraint::Expression], |entry, of| {
        best_by(entry, of, Ordering::Greater)
    }),
    Entry { name: "merge", arguments: &[Constraint::Is(OBJECT)], repeats: true, run: merge },
    entry("min", &[Constraint::ListOf(ORDERED)], |_, of| Ok(best(of, Ordering::Less))),
    entry("min_by", &[Constraint::ListOf(OBJECT), Constraint::Expression], |entry, of| {
        best_by(entry, of, Ordering::Less)
    }),
    Entry { name: "not_null", arguments: &[Constraint::Any], repeats: true, run: not_null },
    entry("reverse", &[Constraint::Is(&[Type::Array, Type::String])], reverse),
    entry("sort", &[Constraint::ListOf(ORDERED)], |_, of| {
        let mut values = elements(of[0].value());
        values.sort_by(Value::compare);
        Ok(Value::list(values))
    }),
    entry("sort_by", &[Constraint::ListOf(OBJECT), Constraint::Expression], |entry, of| {
        let mut keyed = keyed(entry, of)?;
        keyed.sort_by(|(one, _), (two, _)| one.compare(two));
        Ok(Value::list(keyed.into_iter().map(|(_, value)| value).collect()))
    }),
    entry("starts_with", &[Constraint::Is(STRING), Constraint::Is(STRING)], |_, of| {
        Ok(Value::Bool(of[0].value().shown().starts_with(&of[1].value().shown())))
    }),
    entry("sum", &[Constraint::ListOf(NUMBER)], |_, of| Ok(Value::Double(sum(of)))),
    entry("to_array", &[Constraint::Any], |_, of| {
        Ok(match of[0].value() {
            list @ Value::Array(_) => list.clone(),
            other => Value::list(vec![other.clone()]),
        })
    }),
    entry("to_number", &[Constraint::Any], |_, of| Ok(to_number(of[0].value()))),
    entry("to_string", &[Constraint::Any], |_, of| Ok(Value::text(&of[0].value().shown()))),
    entry("type", &[Constraint::Any], |_, of| Ok(Value::text(of[0].value().is_a().name()))),
    entry("values", &[Constraint::Is(OBJECT)], |_, of| Ok(Value::list(elements(of[0].value())))),
];

impl Function {
    pub(super) fn named(name: &str) -> Option<Self> {
        let at = TABLE.binary_search_by_key(&name, |entry| entry.name).ok()?;
        Some(Self(&TABLE[at]))
    }

    /// Returns the error of a call with `count` arguments, or `None` if the function accepts that number.
    pub(super) fn arity_problem(self, count: usize) -> Option<String> {
        let least = self.0.arguments.len();
        if count == least || self.0.repeats && count > least {
            return None;
        }
        let at_least = if self.0.repeats { "at least " } else { "" };
        Some(format!(
            "invalid arity calling \"{}\" (expected {at_least}{least} but was {count})",
            self.0.name
        ))
    }

    pub(super) fn call(self, arguments: &[Argument<'_>]) -> Answer {
        let last = self.0.arguments.len() - 1;
        for (at, argument) in arguments.iter().enumerate() {
            if let Err((expected, actual)) = self.0.arguments[at.min(last)].check(argument) {
                return wrong_type(self.0, &expected, &actual);
            }
        }
        (self.0.run)(self.0, arguments)
    }
}

fn wrong_type<T>(entry: &Entry, expected: &str, actual: &str) -> Result<T, Failure> {
    let name = entry.name;
    Err(Failure(format!(
        "Invalid argument type calling \"{name}\": expected {expected} but was {actual}"
    )))
}

fn number(of: &[Argument<'_>]) -> f64 {
    of[0].value().number()
}

fn sum(of: &[Argument<'_>]) -> f64 {
    elements(of[0].value()).iter().fold(0.0, |sum, value| sum + value.number())
}

fn avg(_: &Entry, of: &[Argument<'_>]) -> Answer {
    let count = elements(of[0].value()).len();
    Ok(if count == 0 { Value::Null } else { Value::Double(sum(of) / count as f64) })
}

fn contains(_: &Entry, of: &[Argument<'_>]) -> Answer {
    let (within, wanted) = (of[0].value(), of[1].value());
    Ok(Value::Bool(match within {
        Value::Array(values) => values.iter().any(|value| work::spend(1) && value == wanted),
        other => other.shown().contains(&wanted.shown()),
    }))
}

fn join(_: &Entry, of: &[Argument<'_>]) -> Answer {
    let parts: Vec<String> = elements(of[1].value()).iter().map(Value::shown).collect();
    Ok(Value::text(&parts.join(&of[0].value().shown())))
}

fn keys(_: &Entry, of: &[Argument<'_>]) -> Answer {
    let Value::Object(members) = of[0].value() else { return Ok(Value::Null) };
    Ok(Value::list(members.iter().map(|(key, _)| Value::Text(key.clone())).collect()))
}

fn length(_: &Entry, of: &[Argument<'_>]) -> Answer {
    let count = match of[0].value() {
        Value::Text(text) => text.encode_utf16().count(),
        other => elements(other).len(),
    };
    Ok(Value::Long(count as i64))
}

fn map(_: &Entry, of: &[Argument<'_>]) -> Answer {
    let Argument::Expression(node) = &of[0] else { return Ok(Value::Null) };
    let made: Result<_, _> =
        elements(of[1].value()).iter().map(|value| node.search(value)).collect();
    Ok(Value::list(made?))
}

fn best(of: &[Argument<'_>], wanted: Ordering) -> Value {
    let better = |best: Value, next| if next_is(&next, &best, wanted) { next } else { best };
    elements(of[0].value()).into_iter().reduce(better).unwrap_or(Value::Null)
}

fn next_is(next: &Value, best: &Value, wanted: Ordering) -> bool {
    next.compare(best) == wanted
}

fn best_by(entry: &Entry, of: &[Argument<'_>], wanted: Ordering) -> Answer {
    let best = keyed(entry, of)?
        .into_iter()
        .reduce(|best, next| if next_is(&next.0, &best.0, wanted) { next } else { best });
    Ok(best.map_or(Value::Null, |(_, value)| value))
}

/// Returns, for each element of a list, the value of the expression for that element, and the element. The values must
/// be all numbers or all strings.
fn keyed(entry: &Entry, of: &[Argument<'_>]) -> Result<Vec<(Value, Value)>, Failure> {
    let Argument::Expression(node) = of[1] else { return Ok(Vec::new()) };
    let node: &Node = node;
    let mut expected = None;
    let mut made = Vec::new();
    for value in elements(of[0].value()) {
        let key = node.search(&value)?;
        let actual = key.is_a();
        let wanted = *expected.get_or_insert(actual);
        if !ORDERED.contains(&wanted) {
            return wrong_type(entry, "number or string", actual.name());
        }
        if actual != wanted {
            return wrong_type(entry, wanted.name(), actual.name());
        }
        made.push((key, value));
    }
    Ok(made)
}

fn merge(_: &Entry, of: &[Argument<'_>]) -> Answer {
    let mut made = Members::new();
    for argument in of {
        if let Value::Object(members) = argument.value() {
            members.iter().for_each(|(key, value)| put(&mut made, key.clone(), value.clone()));
        }
    }
    Ok(Value::Object(Arc::new(made)))
}

fn not_null(_: &Entry, of: &[Argument<'_>]) -> Answer {
    let found = of.iter().map(Argument::value).find(|value| value.is_a() != Type::Null);
    Ok(found.cloned().unwrap_or(Value::Null))
}

fn reverse(_: &Entry, of: &[Argument<'_>]) -> Answer {
    Ok(match of[0].value() {
        Value::Text(text) => Value::text(&text.chars().rev().collect::<String>()),
        other => Value::list(elements(other).into_iter().rev().collect()),
    })
}

fn to_number(value: &Value) -> Value {
    match value {
        Value::Text(text) => match parse_double(text) {
            Some(number) if number == number.round_ties_even() => Value::Long(number as i64),
            Some(number) => Value::Double(number),
            None => Value::Null,
        },
        number if number.is_a() == Type::Number => number.clone(),
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_order() {
        assert!(TABLE.is_sorted_by_key(|entry| entry.name));
        assert_eq!(TABLE.len(), 26);
    }
}
