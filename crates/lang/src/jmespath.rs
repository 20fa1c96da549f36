//! JMESPath as JMeter 5.6.3 has it: jmespath-jackson 0.6 over documents that Jackson 2.16 reads.
//!
//! That library departs from the specification here and there (sums are floating-point numbers, a slice of nothing is an empty
//! list, `*` keeps nulls), and its departures are kept. An expression is read once and shared by all cores; searching
//! allocates for lists and objects that it makes and otherwise shares what it found. Nothing here panics on any text.

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

/// An expression that was read.
#[derive(Debug)]
pub struct JmesPath(Node);

/// Why an expression or a document is not read, or a search ends without a value: JMeter's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure(pub String);

impl JmesPath {
    /// Reads an expression.
    pub fn new(source: &str) -> Result<Self, Failure> {
        parse::parse(source).map(Self)
    }

    /// The value that the expression leads to.
    pub fn search(&self, document: &Value) -> Result<Value, Failure> {
        self.0.search(document)
    }
}
