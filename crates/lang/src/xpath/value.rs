//! The four kinds of XPath values, and their conversions.

use super::number;
use crate::xml::{NodeId, Tree};

/// The value of an XPath expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A set of nodes in document order, without duplicates.
    Nodes(Vec<NodeId>),
    Text(String),
    Number(f64),
    Boolean(bool),
}

impl Value {
    pub(super) fn boolean(&self) -> bool {
        match self {
            Self::Nodes(nodes) => !nodes.is_empty(),
            Self::Text(text) => !text.is_empty(),
            Self::Number(number) => *number != 0.0 && !number.is_nan(),
            Self::Boolean(boolean) => *boolean,
        }
    }

    pub(super) fn number(&self, tree: &Tree) -> f64 {
        match self {
            Self::Number(number) => *number,
            Self::Boolean(boolean) => f64::from(u8::from(*boolean)),
            Self::Text(text) => number::read(text),
            Self::Nodes(_) => number::read(&self.text(tree)),
        }
    }

    /// Converts the value to text; a set of nodes becomes the text of its first node.
    pub fn text(&self, tree: &Tree) -> String {
        let mut out = String::new();
        match self {
            Self::Nodes(nodes) => {
                if let Some(first) = nodes.first() {
                    tree.write_string(*first, &mut out);
                }
            }
            Self::Text(text) => out.push_str(text),
            Self::Number(number) => number::write(*number, &mut out),
            Self::Boolean(boolean) => out.push_str(if *boolean { "true" } else { "false" }),
        }
        out
    }

    /// Returns Xalan's name for the kind of an XPath value.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Nodes(_) => "#NODESET",
            Self::Text(_) => "#STRING",
            Self::Number(_) => "#NUMBER",
            Self::Boolean(_) => "#BOOLEAN",
        }
    }
}
