//! Finds expressions on which XPath 1.0 and 2.0 agree: the value is the same in both, or 2.0 has a known error.
//!
//! XPath2 elements run natively if their expression agrees. Comparisons of strings with numbers, arithmetic on nodes,
//! and everything that only 2.0 has need Saxon.

use super::expr::{Axis, Expr, From, Function, Operator, Predicate};
use super::query::Unusable;

/// The type of an XPath expression's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Nodes,
    Text,
    Number,
    Boolean,
}

/// Fails if the expression's value may differ between XPath 1.0 and 2.0.
pub(super) fn check(expr: &Expr) -> Result<(), Unusable> {
    kind(expr).map(|_| ())
}

fn beyond<T>(what: &str) -> Result<T, Unusable> {
    Err(Unusable::beyond(format!("only Saxon evaluates {what}")))
}

fn kind(expr: &Expr) -> Result<Kind, Unusable> {
    Ok(match expr {
        Expr::Or(parts) | Expr::And(parts) => {
            parts.iter().try_for_each(check)?;
            Kind::Boolean
        }
        Expr::Chain(first, rest) => return chain(kind(first)?, rest),
        Expr::Negative(inner) => expect(inner, Kind::Number)?,
        Expr::Union(parts) => {
            for part in parts {
                expect(part, Kind::Nodes)?;
            }
            Kind::Nodes
        }
        Expr::Path(path) => {
            if let From::Expr(inner, predicates) = &path.from {
                expect(inner, Kind::Nodes)?;
                check_all(predicates)?;
            }
            for step in &path.steps {
                if step.axis == Axis::Namespace {
                    return beyond("namespace nodes");
                }
                check_all(&step.predicates)?;
            }
            Kind::Nodes
        }
        Expr::Literal(_) => Kind::Text,
        Expr::Number(_) => Kind::Number,
        Expr::Variable(_) => return beyond("variables"),
        Expr::Call(function, arguments) => return call(*function, arguments),
    })
}

fn check_all(predicates: &[Predicate]) -> Result<(), Unusable> {
    predicates.iter().try_for_each(|predicate| match predicate.expr {
        Expr::Number(place) if place.fract() != 0.0 => {
            beyond("positions that are not whole numbers")
        }
        _ => check(&predicate.expr),
    })
}

fn expect(expr: &Expr, wanted: Kind) -> Result<Kind, Unusable> {
    if kind(expr)? == wanted { Ok(wanted) } else { beyond("implicit conversions between types") }
}

fn chain(first: Kind, rest: &[(Operator, Expr)]) -> Result<Kind, Unusable> {
    if rest.iter().all(|(operator, _)| {
        matches!(operator, Operator::Add | Operator::Subtract | Operator::Multiply)
    }) {
        for (_, part) in rest {
            expect(part, Kind::Number)?;
        }
        return if first == Kind::Number { Ok(first) } else { beyond("arithmetic with node sets") };
    }
    let [(operator, second)] = rest else { return beyond("chained comparisons") };
    let is_equality = matches!(operator, Operator::Equal | Operator::NotEqual);
    match (first, kind(second)?) {
        (Kind::Number, Kind::Number | Kind::Nodes) | (Kind::Nodes, Kind::Number)
            if is_equality || is_ordering(*operator) =>
        {
            Ok(Kind::Boolean)
        }
        (Kind::Nodes | Kind::Text, Kind::Nodes | Kind::Text) | (Kind::Boolean, Kind::Boolean)
            if is_equality =>
        {
            Ok(Kind::Boolean)
        }
        _ => beyond("comparisons and divisions of these types"),
    }
}

fn is_ordering(operator: Operator) -> bool {
    matches!(
        operator,
        Operator::Less | Operator::LessOrEqual | Operator::Greater | Operator::GreaterOrEqual
    )
}

fn call(function: Function, arguments: &[Expr]) -> Result<Kind, Unusable> {
    let kinds = arguments.iter().map(kind).collect::<Result<Vec<_>, _>>()?;
    let are_texts = kinds.iter().all(|kind| matches!(kind, Kind::Nodes | Kind::Text));
    let are_nodes = kinds.iter().all(|kind| *kind == Kind::Nodes);
    let (is_right, result) = match function {
        Function::Last | Function::Position => (true, Kind::Number),
        Function::Count => (are_nodes, Kind::Number),
        Function::LocalName | Function::NamespaceUri | Function::Name => (are_nodes, Kind::Text),
        Function::String | Function::Concat => (true, Kind::Text),
        Function::StartsWith | Function::Contains => (are_texts, Kind::Boolean),
        Function::SubstringBefore
        | Function::SubstringAfter
        | Function::NormalizeSpace
        | Function::Translate => (are_texts, Kind::Text),
        Function::StringLength => (are_texts, Kind::Number),
        Function::Boolean | Function::Not | Function::True | Function::False => {
            (true, Kind::Boolean)
        }
        _ => (false, Kind::Number),
    };
    if is_right { Ok(result) } else { beyond("such calls") }
}
