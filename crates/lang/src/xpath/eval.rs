//! Evaluates an expression on a node of a tree.
//!
//! Sets are kept in document order; predicates see nodes in the order of their axis. Visited nodes are counted, and an
//! evaluation that visits too many gives up.

use super::axis;
use super::compare::{cast, compare};
use super::expr::{Axis, Expr, From, Operator, Path, Predicate, Step};
use super::value::Value;
use crate::work;
use crate::xml::{NodeId, Tree};

/// The evaluation of one expression on a tree.
pub(super) struct Evaluation<'t> {
    pub(super) tree: &'t Tree,
    /// Namespaces of the prefixes in the expression, by the prefix's index.
    pub(super) uris: Vec<String>,
    /// True for XPath 2.0. Then a comparison with a value that is not a number is an error, and so is a function
    /// argument of several nodes where only one node is allowed.
    pub(super) is_second: bool,
}

/// The context of an evaluation: node, position and size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Context {
    pub(super) node: NodeId,
    /// Position of the node from 1; has no meaning for a whole expression.
    pub(super) position: i64,
    pub(super) size: usize,
}

impl Evaluation<'_> {
    pub(super) fn value(&self, expr: &Expr, context: Context) -> Result<Value, String> {
        Ok(match expr {
            Expr::Or(parts) => {
                for part in parts {
                    if self.value(part, context)?.boolean() {
                        return Ok(Value::Boolean(true));
                    }
                }
                Value::Boolean(false)
            }
            Expr::And(parts) => {
                for part in parts {
                    if !self.value(part, context)?.boolean() {
                        return Ok(Value::Boolean(false));
                    }
                }
                Value::Boolean(true)
            }
            Expr::Chain(first, rest) => {
                let mut left = self.value(first, context)?;
                for (operator, right) in rest {
                    let right = self.value(right, context)?;
                    left = self.operate(*operator, &left, &right)?;
                }
                left
            }
            Expr::Negative(inner) => Value::Number(-self.value(inner, context)?.number(self.tree)),
            Expr::Union(parts) => {
                let mut all = Vec::new();
                for part in parts {
                    all.extend(Self::nodes(self.value(part, context)?)?);
                }
                all.sort_unstable();
                all.dedup();
                Value::Nodes(all)
            }
            Expr::Path(path) => Value::Nodes(self.path(path, context)?),
            Expr::Literal(text) => Value::Text(text.to_string()),
            Expr::Number(number) => Value::Number(*number),
            Expr::Variable(name) => {
                return Err(format!("Variable not resolvable: {name}"));
            }
            Expr::Call(function, arguments) => self.call(*function, arguments, context)?,
        })
    }

    /// Returns the nodes of a value; an error if the value is not a set of nodes.
    pub(super) fn nodes(value: Value) -> Result<Vec<NodeId>, String> {
        match value {
            Value::Nodes(nodes) => Ok(nodes),
            other => Err(format!("Can not convert {} to a NodeList!", other.kind())),
        }
    }

    /// Counts `count` visited nodes as steps of work; fails if the [work limit](work) is reached.
    pub(super) fn look(count: u64) -> Result<(), String> {
        if work::spend(count) { Ok(()) } else { Err("The evaluation takes too long.".into()) }
    }

    fn operate(&self, operator: Operator, left: &Value, right: &Value) -> Result<Value, String> {
        let tree = self.tree;
        let numbers = || (left.number(tree), right.number(tree));
        let number = match operator {
            Operator::Add => {
                let (left, right) = numbers();
                left + right
            }
            Operator::Subtract => {
                let (left, right) = numbers();
                left - right
            }
            Operator::Multiply => {
                let (left, right) = numbers();
                left * right
            }
            Operator::Divide => {
                let (left, right) = numbers();
                left / right
            }
            Operator::Modulo => {
                let (left, right) = numbers();
                left % right
            }
            _ => {
                let size = |value: &Value| match value {
                    Value::Nodes(nodes) => nodes.len() as u64,
                    _ => 1,
                };
                Self::look(size(left).saturating_mul(size(right)))?;
                if self.is_second {
                    match (left, right) {
                        (Value::Nodes(nodes), Value::Number(number)) => {
                            return cast(operator, nodes, *number, tree).map(Value::Boolean);
                        }
                        (Value::Number(number), Value::Nodes(nodes)) => {
                            let operator = operator.turned();
                            return cast(operator, nodes, *number, tree).map(Value::Boolean);
                        }
                        _ => {}
                    }
                }
                return Ok(Value::Boolean(compare(operator, left, right, tree)));
            }
        };
        Ok(Value::Number(number))
    }

    fn path(&self, path: &Path, context: Context) -> Result<Vec<NodeId>, String> {
        let mut nodes = match &path.from {
            From::Context => vec![context.node],
            From::Root => vec![NodeId::DOCUMENT],
            From::Expr(expr, predicates) => {
                let mut nodes = Self::nodes(self.value(expr, context)?)?;
                for predicate in predicates {
                    self.filter(&mut nodes, predicate)?;
                }
                nodes
            }
        };
        for step in &path.steps {
            nodes = self.step(step, &nodes)?;
        }
        Ok(nodes)
    }

    fn step(&self, step: &Step, from: &[NodeId]) -> Result<Vec<NodeId>, String> {
        let mut found = Vec::new();
        let mut along = Vec::new();
        for node in from {
            along.clear();
            axis::each(self.tree, step.axis, *node, |id| {
                if axis::fits(self.tree, step, &self.uris, id) {
                    along.push(id);
                }
                work::spend(1)
            });
            Self::look(1)?;
            for predicate in &step.predicates {
                self.filter(&mut along, predicate)?;
            }
            found.append(&mut along);
        }
        let is_ordered = match step.axis {
            Axis::Attribute | Axis::Self_ => true,
            Axis::Child | Axis::Descendant | Axis::DescendantOrSelf | Axis::Following => {
                from.len() <= 1
            }
            Axis::FollowingSibling | Axis::Parent => from.len() <= 1,
            _ => false,
        };
        if !is_ordered {
            found.sort_unstable();
            found.dedup();
        }
        Ok(found)
    }

    /// Removes the nodes for which a predicate is false.
    fn filter(&self, nodes: &mut Vec<NodeId>, predicate: &Predicate) -> Result<(), String> {
        if let Expr::Number(place) = predicate.expr {
            let kept = (place as usize).checked_sub(1).and_then(|at| nodes.get(at)).copied();
            nodes.clear();
            nodes.extend(kept);
            return Ok(());
        }
        let size = nodes.len();
        let mut kept = 0;
        for at in 0..size {
            let context = Context { node: nodes[at], position: at as i64 + 1, size };
            let is_kept = match self.value(&predicate.expr, context)? {
                // A number in a predicate is truncated before it is compared with the position.
                Value::Number(number) => number as i64 == context.position,
                other => other.boolean(),
            };
            if is_kept {
                nodes[kept] = nodes[at];
                kept += 1;
            }
        }
        nodes.truncate(kept);
        Ok(())
    }
}
