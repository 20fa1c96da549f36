//! Evaluates filters: compares nodes of a document with each other and with the operands in a filter.
//!
//! Values have the types that Jayway gives them in filters. A string that looks like a number equals that number. A
//! string in a list that looks like JSON is JSON, and one that looks like a path equals nothing.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::failure::Failure;
use super::filter::{Filter, MAX_BACKTRACKS, Operand, Operator};
use super::number::Decimal;
use super::path;
use super::read::read as read_json;
use super::value::Value;
use super::walk;
use crate::work::{self, GaveUp};

type Deciding<T> = Result<T, Failure>;

/// Returns true if a node passes a filter. A node to which the filter cannot be applied does not pass.
pub(super) fn accepts(filter: &Filter, item: &Value<'_>, root: &Value<'_>) -> Deciding<bool> {
    match holds(filter, item, root) {
        Err(Failure::InvalidPath(_) | Failure::NotFound(_)) => Ok(false),
        decided => decided,
    }
}

fn holds<'a>(filter: &'a Filter, item: &'a Value<'a>, root: &'a Value<'a>) -> Deciding<bool> {
    match filter {
        Filter::Any(filters) => {
            for filter in filters {
                if holds(filter, item, root)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        Filter::All(filters) => {
            for filter in filters {
                if !holds(filter, item, root)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        Filter::Not(filter) => Ok(!holds(filter, item, root)?),
        Filter::Exists { path, expected } => match walk::value(path, item, root, true) {
            Ok(_) => Ok(*expected),
            Err(Failure::NotFound(_)) => Ok(!expected),
            Err(other) => Err(other),
        },
        Filter::Relation { left, operator, right } => {
            let left = node(left, item, root)?;
            let right = node(right, item, root)?;
            relate(&left, *operator, &right)
        }
    }
}

/// A value that is borrowed from the document, or created during the evaluation.
#[derive(Debug)]
enum Held<'a> {
    Borrowed(&'a Value<'a>),
    Owned(Value<'a>),
}

impl<'a> Held<'a> {
    fn value(&self) -> &Value<'a> {
        match self {
            Self::Borrowed(value) => value,
            Self::Owned(value) => value,
        }
    }
}

/// An operand of a comparison, after its evaluation.
#[derive(Debug)]
enum Node<'a> {
    Null,
    Undefined,
    Bool(bool),
    Number(Decimal),
    String(Cow<'a, str>),
    /// A list or object that is part of the document.
    Json(Held<'a>),
    /// A list or object written in the filter: its text and, if that can be parsed, its value.
    JsonText(&'a str, Option<Held<'a>>),
    Pattern(&'a fancy_regex::Regex),
    Path,
}

fn node<'a>(operand: &'a Operand, item: &'a Value<'a>, root: &'a Value<'a>) -> Deciding<Node<'a>> {
    Ok(match operand {
        Operand::Path { path, .. } => {
            let start = if path.from_root { root } else { item };
            match walk::value(path, start, root, false) {
                Ok(value) => of_value(value)?,
                Err(Failure::NotFound(_)) => Node::Undefined,
                Err(other) => return Err(other),
            }
        }
        Operand::String(text) => Node::String(Cow::Borrowed(text)),
        Operand::Number(number) => Node::Number(number.clone()),
        Operand::Bool(value) => Node::Bool(*value),
        Operand::Null => Node::Null,
        Operand::Json { text, value } => Node::JsonText(text, value.as_ref().map(Held::Borrowed)),
        Operand::Pattern(pattern) => Node::Pattern(pattern),
    })
}

fn of_value<'a>(value: Cow<'a, Value<'a>>) -> Deciding<Node<'a>> {
    Ok(match value.as_ref() {
        Value::Null => Node::Null,
        Value::Bool(value) => Node::Bool(*value),
        Value::String(_) => Node::String(match value {
            Cow::Borrowed(Value::String(text)) => Cow::Borrowed(text),
            Cow::Owned(Value::String(text)) => text,
            _ => return Ok(Node::Undefined),
        }),
        Value::Array(_) | Value::Object(_) => Node::Json(match value {
            Cow::Borrowed(value) => Held::Borrowed(value),
            Cow::Owned(value) => Held::Owned(value),
        }),
        Value::Keys(_) => {
            let mut text = format!("Could not convert class {}:", value.class());
            value.write_java(&mut text);
            return Err(Failure::Other(text + " to a ValueNode"));
        }
        number => Node::Number(decimal(number)?),
    })
}

fn decimal(number: &Value<'_>) -> Deciding<Decimal> {
    let mut text = String::new();
    number.write_java(&mut text);
    Decimal::parse(&text).ok_or_else(|| Failure::Other("java.lang.NumberFormatException".into()))
}

/// Converts an element of a JSON list to an operand, with the type that Jayway gives it.
fn of_element<'v>(value: &'v Value<'_>) -> Deciding<Node<'v>> {
    Ok(match value {
        Value::Null => Node::Null,
        Value::Bool(value) => Node::Bool(*value),
        Value::String(text) => {
            let trimmed = text.trim();
            let (first, last) = (trimmed.chars().next(), trimmed.chars().next_back());
            match (first, last) {
                (Some('$' | '@'), _) if path::read(trimmed, 0).is_ok() => Node::Path,
                (Some('['), Some(']')) | (Some('{'), Some('}')) if trimmed.len() > 1 => {
                    match read_json(trimmed) {
                        Ok(value) => Node::JsonText(text, Some(Held::Owned(value))),
                        Err(_) => unquoted(text)?,
                    }
                }
                _ => unquoted(text)?,
            }
        }
        Value::Array(_) | Value::Object(_) | Value::Keys(_) => {
            return Err(Failure::Other("Could not determine value type".into()));
        }
        number => Node::Number(decimal(number)?),
    })
}

/// Removes quotes and escapes of a string in a list, as if the text were written in a filter.
fn unquoted(text: &str) -> Deciding<Node<'_>> {
    if text.len() <= 1 {
        return Ok(Node::String(Cow::Borrowed(text)));
    }
    let inner =
        ['\'', '"'].into_iter().find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote));
    Ok(Node::String(Cow::Owned(path::unescape(inner.unwrap_or(text))?)))
}

fn number_text(number: &Decimal) -> String {
    let mut out = String::new();
    number.write(&mut out);
    out
}

/// Compares two operands like Java's `left.equals(right)`.
fn equal(left: &Node<'_>, right: &Node<'_>) -> bool {
    if !work::spend(1) {
        return false;
    }
    match (left, right) {
        (Node::Null, Node::Null) => true,
        (Node::Bool(a), Node::Bool(b)) => a == b,
        (Node::String(a), Node::String(b)) => a == b,
        (Node::String(a), Node::Number(b)) => **a == number_text(b),
        (Node::Number(a), Node::Number(b)) => a.compare(b) == Ordering::Equal,
        (Node::Number(a), Node::String(b)) => {
            Decimal::parse(b).is_some_and(|b| a.compare(&b) == Ordering::Equal)
        }
        (Node::Json(a), Node::Json(b)) => a.value() == b.value(),
        (Node::JsonText(a, _), Node::JsonText(b, _)) => a == b,
        _ => false,
    }
}

fn same_type(left: &Node<'_>, right: &Node<'_>) -> bool {
    let is_json = |node: &Node<'_>| matches!(node, Node::Json(_) | Node::JsonText(..));
    std::mem::discriminant(left) == std::mem::discriminant(right) || is_json(left) && is_json(right)
}

fn equals(left: &Node<'_>, right: &Node<'_>) -> Deciding<bool> {
    Ok(match (left, right) {
        (Node::Json(a), Node::JsonText(_, b)) => a.value() == json(b.as_ref())?,
        (Node::JsonText(..), Node::Json(_) | Node::JsonText(..)) => false,
        _ => equal(left, right),
    })
}

fn json<'v, 'a>(value: Option<&'v Held<'a>>) -> Deciding<&'v Value<'a>> {
    value
        .map(Held::value)
        .ok_or_else(|| Failure::Other("net.minidev.json.parser.ParseException".into()))
}

/// Returns the elements of a JSON list; `None` if the JSON value is not a list. Any other operand is an error.
fn list<'v>(node: &'v Node<'_>) -> Deciding<Option<Vec<Node<'v>>>> {
    let value = match node {
        Node::Json(value) => value.value(),
        Node::JsonText(_, value) => json(value.as_ref())?,
        _ => return Err(Failure::InvalidPath("Expected value list node".into())),
    };
    match value {
        Value::Array(values) => {
            values.iter().map(of_element).collect::<Deciding<Vec<_>>>().map(Some)
        }
        _ => Ok(None),
    }
}

fn is_json(node: &Node<'_>) -> bool {
    matches!(node, Node::Json(_) | Node::JsonText(..))
}

fn json_value<'v, 'a>(node: &'v Node<'a>) -> Deciding<Option<&'v Value<'a>>> {
    match node {
        Node::Json(value) => Ok(Some(value.value())),
        Node::JsonText(_, value) => json(value.as_ref()).map(Some),
        _ => Ok(None),
    }
}

fn order(left: &Node<'_>, right: &Node<'_>) -> Option<Ordering> {
    match (left, right) {
        (Node::Number(a), Node::Number(b)) => Some(a.compare(b)),
        (Node::String(a), Node::String(b)) => Some(a.encode_utf16().cmp(b.encode_utf16())),
        _ => None,
    }
}

fn relate(left: &Node<'_>, operator: Operator, right: &Node<'_>) -> Deciding<bool> {
    Ok(match operator {
        Operator::Equal => equals(left, right)?,
        Operator::NotEqual => !equals(left, right)?,
        Operator::SameTypeEqual => same_type(left, right) && equals(left, right)?,
        Operator::SameTypeNotEqual => !(same_type(left, right) && equals(left, right)?),
        Operator::Less => order(left, right).is_some_and(Ordering::is_lt),
        Operator::LessOrEqual => order(left, right).is_some_and(Ordering::is_le),
        Operator::Greater => order(left, right).is_some_and(Ordering::is_gt),
        Operator::GreaterOrEqual => order(left, right).is_some_and(Ordering::is_ge),
        Operator::Matches => matches_pattern(left, right)?,
        Operator::In => is_in(left, right)?,
        Operator::NotIn => !is_in(left, right)?,
        Operator::Contains => match (left, right) {
            (Node::String(a), Node::String(b)) => a.contains(&**b),
            (left, right) if is_json(left) => is_in(right, left)?,
            _ => false,
        },
        Operator::Size => {
            let Node::Number(size) = right else { return Ok(false) };
            let size = i64::from(size.to_int());
            match (left, json_value(left)?) {
                (Node::String(text), _) => text.encode_utf16().count() as i64 == size,
                (_, Some(Value::Array(values))) => values.len() as i64 == size,
                (_, Some(_)) => size == -1,
                _ => false,
            }
        }
        Operator::Empty => {
            let empty = match (left, json_value(left)?) {
                (Node::String(text), _) => text.is_empty(),
                (_, Some(Value::Array(values))) => values.is_empty(),
                (_, Some(Value::Object(_))) => {
                    return Err(Failure::Other(
                        "class java.util.LinkedHashMap cannot be cast to class java.util.Collection \
                         (java.util.LinkedHashMap and java.util.Collection are in module java.base of loader \
                         'bootstrap')"
                            .into(),
                    ));
                }
                _ => return Ok(false),
            };
            let Node::Bool(expected) = right else {
                return Err(Failure::InvalidPath("Expected boolean node".into()));
            };
            empty == *expected
        }
        Operator::SubsetOf | Operator::AnyOf | Operator::NoneOf => {
            let Some(right) = list(right)? else { return Ok(false) };
            let Some(left) = list(left)? else { return Ok(false) };
            let known = |node: &Node<'_>| right.iter().any(|other| equal(node, other));
            match operator {
                Operator::SubsetOf => left.iter().all(known),
                Operator::AnyOf => left.iter().any(known),
                _ => !left.iter().any(known),
            }
        }
        Operator::Unusable => {
            return Err(Failure::InvalidPath("Expected another kind of node".into()));
        }
    })
}

fn is_in(node: &Node<'_>, among: &Node<'_>) -> Deciding<bool> {
    Ok(list(among)?.is_some_and(|all| all.iter().any(|other| equal(node, other))))
}

fn matches_pattern(left: &Node<'_>, right: &Node<'_>) -> Deciding<bool> {
    let (pattern, other) = match (left, right) {
        (Node::Pattern(_), Node::Pattern(_)) => return Ok(false),
        (Node::Pattern(pattern), other) | (other, Node::Pattern(pattern)) => (pattern, other),
        _ => return Ok(false),
    };
    let is_match = |text: &str| {
        if work::spend(text.len() as u64) {
            match pattern.is_match(text) {
                Ok(matches) => return Ok(matches),
                // The pattern exceeded its backtracking limit, so the result is unknown.
                Err(_) => work::give_up(GaveUp::Pattern(MAX_BACKTRACKS)),
            }
        }
        Err(walk::too_long())
    };
    if matches!(json_value(other)?, Some(Value::Array(_))) {
        for node in list(other)?.unwrap_or_default() {
            if is_match(&input(&node))? {
                return Ok(true);
            }
        }
        return Ok(false);
    }
    is_match(&input(other))
}

/// Returns the text of an operand that is compared with a pattern.
fn input<'v>(node: &'v Node<'_>) -> Cow<'v, str> {
    match node {
        Node::String(text) => Cow::Borrowed(text),
        Node::Number(number) => Cow::Owned(number_text(number)),
        Node::Bool(value) => Cow::Borrowed(if *value { "true" } else { "false" }),
        _ => Cow::Borrowed(""),
    }
}
