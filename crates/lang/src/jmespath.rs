//! JMESPath as in JMeter 5.6.3: jmespath-jackson 0.6 over documents that Jackson 2.16 reads.
//!
//! That library deviates from the specification: sums are floating-point numbers, a slice of null is an empty list, `*`
//! keeps nulls. This module deviates in the same way. An expression is parsed once and shared by all cores. A search
//! allocates for the lists and objects that it creates; everything else is shared with the document. No input causes a
//! panic.

mod argument;
mod function;
mod node;
mod parse;
mod read;
#[cfg(test)]
mod tests;
mod token;
mod value;

pub use read::read;
pub use value::Value;

use node::Node;

/// A parsed JMESPath expression.
#[derive(Debug)]
pub struct JmesPath(Node);

/// JMeter's message for an expression or a document that cannot be parsed, or for a search that fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure(pub String);

impl JmesPath {
    /// Parses a JMESPath expression.
    pub fn new(source: &str) -> Result<Self, Failure> {
        parse::parse(source).map(Self)
    }

    /// Evaluates the JMESPath expression on a document.
    pub fn search(&self, document: &Value) -> Result<Value, Failure> {
        self.0.search(document)
    }
}
