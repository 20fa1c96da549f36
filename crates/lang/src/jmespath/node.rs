//! The nodes of a compiled expression, and how each node transforms a value.
//!
//! The recursion is as deep as the expression; the depth of the document does not matter.

use std::cmp::Ordering;
use std::sync::Arc;

use super::Failure;
use super::argument::Argument;
use super::function::Function;
use super::value::{Members, Type, Value};
use crate::work;

/// A node of a compiled JMESPath expression.
#[derive(Debug)]
pub(super) enum Node {
    /// The value to which the node is applied (`@`).
    Current,
    /// The member of an object that has this name.
    Property(Box<str>),
    /// A constant value, as written in the expression.
    Value(Value),
    /// The element of a list at this index; negative indexes count from the end.
    Index(i32),
    /// The elements of a list from `start` to before `stop`, every `step`-th.
    Slice { start: i32, stop: i32, step: i32 },
    /// The list of the values of the inner expression for all elements of a list, without nulls.
    Each(Box<Node>),
    /// A list in which each inner list is replaced by its elements.
    Flatten,
    /// The list of the values of all members of an object.
    Values,
    /// The list of the elements for which the inner expression is true.
    Select(Box<Node>),
    /// A new list with the value of each expression.
    List(Vec<Node>),
    /// A new object that maps each key to the value of its expression.
    Hash(Vec<(Arc<str>, Node)>),
    /// The result of comparing the values of two expressions.
    Compare(Order, Box<Node>, Box<Node>),
    /// Logical and of two expressions.
    And(Box<Node>, Box<Node>),
    /// Logical or of two expressions.
    Or(Box<Node>, Box<Node>),
    /// Logical not of an expression.
    Not(Box<Node>),
    /// The result of calling a function. True marks an argument that is passed as an expression instead of its value.
    Call(Function, Vec<(bool, Node)>),
    /// The last value of a sequence of expressions, each of which is applied to the value of the previous expression.
    Sequence(Vec<Node>),
}

/// A comparison operator of JMESPath.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Order {
    pub(super) fn of(sign: &str) -> Self {
        match sign {
            "!=" => Self::NotEqual,
            "<" => Self::Less,
            "<=" => Self::LessOrEqual,
            ">" => Self::Greater,
            ">=" => Self::GreaterOrEqual,
            _ => Self::Equal,
        }
    }

    fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Equal => order.is_eq(),
            Self::NotEqual => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
        }
    }
}

impl Node {
    pub(super) fn slice([start, stop, step]: [Option<i32>; 3]) -> Self {
        let step = step.unwrap_or(1);
        let (first, last) = if step < 0 { (-1, i32::MIN) } else { (0, i32::MAX) };
        Self::Slice { start: start.unwrap_or(first), stop: stop.unwrap_or(last), step }
    }

    /// Returns a node that applies this node, and then `rest` to the result.
    pub(super) fn then(self, rest: Option<Self>) -> Self {
        match rest {
            None => self,
            Some(rest) => Self::Sequence(vec![self, rest]),
        }
    }

    pub(super) fn search(&self, input: &Value) -> Result<Value, Failure> {
        if !work::spend(1) {
            return Err(Failure("The evaluation takes too long.".into()));
        }
        Ok(match self {
            Self::Current => input.clone(),
            Self::Property(name) => input.member(name),
            Self::Value(value) => value.clone(),
            Self::Index(index) => index_of(input, *index),
            Self::Slice { start, stop, step } => slice(input, *start, *stop, *step)?,
            Self::Each(node) => each(node, input)?,
            Self::Flatten => flattened(input),
            Self::Values => match input {
                Value::Object(_) => Value::list(elements(input)),
                _ => Value::Null,
            },
            Self::Select(test) => selected(test, input)?,
            Self::List(_) | Self::Hash(_) if input.is_a() == Type::Null => Value::Null,
            Self::List(nodes) => {
                let made: Result<_, Failure> =
                    nodes.iter().map(|node| node.search(input)).collect();
                Value::list(made?)
            }
            Self::Hash(nodes) => {
                let mut made = Members::with_capacity(nodes.len());
                for (key, node) in nodes {
                    put(&mut made, key.clone(), node.search(input)?);
                }
                Value::Object(Arc::new(made))
            }
            Self::Compare(order, left, right) => {
                compared(*order, &left.search(input)?, &right.search(input)?)
            }
            Self::And(left, right) => {
                let left = left.search(input)?;
                if left.is_truthy() { right.search(input)? } else { left }
            }
            Self::Or(left, right) => {
                let left = left.search(input)?;
                if left.is_truthy() { left } else { right.search(input)? }
            }
            Self::Not(node) => Value::Bool(!node.search(input)?.is_truthy()),
            Self::Call(function, arguments) => call(*function, arguments, input)?,
            Self::Sequence(nodes) => {
                let mut value = input.clone();
                for node in nodes {
                    value = node.search(&value)?;
                }
                value
            }
        })
    }
}

/// Returns the values of a node for all elements of a list, without nulls.
fn each(node: &Node, input: &Value) -> Result<Value, Failure> {
    let Value::Array(values) = input else { return Ok(Value::Null) };
    let mut made = Vec::with_capacity(values.len());
    for value in values.iter() {
        let value = node.search(value)?;
        if value.is_a() != Type::Null {
            made.push(value);
        }
    }
    Ok(Value::list(made))
}

/// Returns a list in which each inner list is replaced by its elements.
fn flattened(input: &Value) -> Value {
    let Value::Array(values) = input else { return Value::Null };
    let mut made = Vec::with_capacity(values.len());
    for value in values.iter() {
        match value {
            Value::Array(inner) => made.extend(inner.iter().cloned()),
            other => made.push(other.clone()),
        }
    }
    Value::list(made)
}

/// Returns the elements of a list for which a node is true.
fn selected(test: &Node, input: &Value) -> Result<Value, Failure> {
    let Value::Array(values) = input else { return Ok(Value::Null) };
    let mut made = Vec::new();
    for value in values.iter() {
        if test.search(value)?.is_truthy() {
            made.push(value.clone());
        }
    }
    Ok(Value::list(made))
}

/// Compares two values. Only numbers can be ordered; other values are equal or not.
fn compared(order: Order, left: &Value, right: &Value) -> Value {
    let has_order = left.is_a() == Type::Number && right.is_a() == Type::Number;
    if has_order || matches!(order, Order::Equal | Order::NotEqual) {
        Value::Bool(order.holds(left.compare(right)))
    } else {
        Value::Null
    }
}

fn call(function: Function, arguments: &[(bool, Node)], input: &Value) -> Result<Value, Failure> {
    let mut made = Vec::with_capacity(arguments.len());
    for (is_expression, node) in arguments {
        made.push(if *is_expression {
            Argument::Expression(node)
        } else {
            Argument::Value(node.search(input)?)
        });
    }
    function.call(&made)
}

/// Returns the elements of a list or the member values of an object. Other values have none.
pub(super) fn elements(value: &Value) -> Vec<Value> {
    match value {
        Value::Array(values) => values.to_vec(),
        Value::Object(members) => members.iter().map(|(_, value)| value.clone()).collect(),
        _ => Vec::new(),
    }
}

/// Adds a member to an object; a repeated key keeps its position and gets the new value.
pub(super) fn put(members: &mut Members, key: Arc<str>, value: Value) {
    match members.iter_mut().find(|(name, _)| *name == key) {
        Some(known) => known.1 = value,
        None => members.push((key, value)),
    }
}

fn index_of(input: &Value, index: i32) -> Value {
    let Value::Array(values) = input else { return Value::Null };
    let at = if index < 0 { values.len() as i64 + i64::from(index) } else { i64::from(index) };
    let found = usize::try_from(at).ok().and_then(|at| values.get(at));
    found.cloned().unwrap_or(Value::Null)
}

/// Returns a slice of a list, computed as in jmespath-core: a negative step yields one null for an empty list.
fn slice(input: &Value, start: i32, stop: i32, step: i32) -> Result<Value, Failure> {
    let values = elements(input);
    let size = i32::try_from(values.len()).unwrap_or(i32::MAX);
    let (limit, rounding) = if step < 0 { (-1, step + 1) } else { (0, step - 1) };
    let begin = if start < 0 { (size + start).max(0) } else { start.min(size + limit) };
    let end = if stop < 0 { size.saturating_add(stop).max(limit) } else { stop.min(size) };
    let count = (end - begin).wrapping_add(rounding).checked_div(step).unwrap_or(0).max(0);
    let mut made = Vec::with_capacity(count as usize);
    let mut at = begin;
    for _ in 0..count {
        let found = usize::try_from(at).ok().and_then(|at| values.get(at));
        made.push(match (found, input) {
            (Some(found), _) => found.clone(),
            (None, Value::Array(_)) => Value::Null,
            (None, Value::Object(_)) => {
                return Err(Failure(format!("Index {at} out of bounds for length {size}")));
            }
            (None, _) => return Err(Failure(format!("Index: {at}"))),
        });
        at = at.wrapping_add(step);
    }
    Ok(Value::list(made))
}
