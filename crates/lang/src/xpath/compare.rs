//! Comparisons. A set of nodes compares true if one of its nodes does.

use super::expr::Operator;
use super::number;
use super::value::Value;
use crate::java;
use crate::xml::{NodeId, Tree};

/// Compares two XPath values with an operator.
pub(super) fn compare(operator: Operator, left: &Value, right: &Value, tree: &Tree) -> bool {
    let is_ordered = !matches!(operator, Operator::Equal | Operator::NotEqual);
    match (left, right) {
        // Compared with a boolean, a set is converted to a boolean.
        (Value::Boolean(_), _) | (_, Value::Boolean(_)) if !is_ordered => {
            holds(operator, left.boolean(), right.boolean())
        }
        (Value::Nodes(nodes), Value::Boolean(truth)) => {
            holds(operator, truth_of(!nodes.is_empty()), truth_of(*truth))
        }
        (Value::Boolean(truth), Value::Nodes(nodes)) => {
            holds(operator, truth_of(*truth), truth_of(!nodes.is_empty()))
        }
        (Value::Nodes(left), Value::Nodes(right)) => {
            let right: Vec<String> = right.iter().map(|node| text(*node, tree)).collect();
            let numbers: Vec<f64> = if is_ordered {
                right.iter().map(|text| number::read(text)).collect()
            } else {
                Vec::new()
            };
            left.iter().any(|node| {
                let left = text(*node, tree);
                if is_ordered {
                    let left = number::read(&left);
                    numbers.iter().any(|right| holds(operator, left, *right))
                } else {
                    right.iter().any(|right| holds(operator, &left, right))
                }
            })
        }
        (Value::Nodes(nodes), other) => {
            nodes.iter().any(|node| one(operator, &Value::Text(text(*node, tree)), other, tree))
        }
        (other, Value::Nodes(nodes)) => {
            nodes.iter().any(|node| one(operator, other, &Value::Text(text(*node, tree)), tree))
        }
        _ => one(operator, left, right, tree),
    }
}

/// Compares nodes with a number by the rules of XPath 2.0: returns true at the first node for which the comparison is
/// true. An earlier node that is not a number is an error.
pub(super) fn cast(
    operator: Operator,
    nodes: &[NodeId],
    number: f64,
    tree: &Tree,
) -> Result<bool, String> {
    for node in nodes {
        let text = text(*node, tree);
        let value = match text.trim_matches([' ', '\t', '\n', '\r']) {
            "INF" | "+INF" => f64::INFINITY,
            "-INF" => f64::NEG_INFINITY,
            "NaN" => f64::NAN,
            digits => {
                let is_number = digits.ends_with(|c: char| c.is_ascii_digit() || c == '.')
                    && !digits.ends_with("Infinity");
                let value = java::parse_double(digits).filter(|_| is_number);
                value.ok_or_else(|| format!("Cannot convert string \"{text}\" to double"))?
            }
        };
        if holds(operator, value, number) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn one(operator: Operator, left: &Value, right: &Value, tree: &Tree) -> bool {
    let is_ordered = !matches!(operator, Operator::Equal | Operator::NotEqual);
    if let (Value::Text(left), Value::Text(right), false) = (left, right, is_ordered) {
        return holds(operator, left, right);
    }
    holds(operator, left.number(tree), right.number(tree))
}

fn holds<T: PartialOrd>(operator: Operator, left: T, right: T) -> bool {
    match operator {
        Operator::Equal => left == right,
        Operator::NotEqual => left != right,
        Operator::Less => left < right,
        Operator::LessOrEqual => left <= right,
        Operator::Greater => left > right,
        Operator::GreaterOrEqual => left >= right,
        _ => false,
    }
}

fn truth_of(truth: bool) -> f64 {
    f64::from(u8::from(truth))
}

fn text(node: NodeId, tree: &Tree) -> String {
    let mut out = String::new();
    tree.write_string(node, &mut out);
    out
}
