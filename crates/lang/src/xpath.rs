//! XPath 1.0 as Xalan 2.7 evaluates it for JMeter's XPath elements, and the part of XPath 2.0 that agrees with it.
//!
//! An expression is parsed once and evaluated on the tree of a document. All of XPath 1.0 is supported except
//! variables, which JMeter never sets. Functions of XSLT and extensions are not supported. The nesting of expressions
//! and the number of visited nodes are limited, so that no document and no expression can occupy a core for more than
//! some seconds.

mod agreement;
mod axis;
mod compare;
mod eval;
mod expr;
mod function;
mod lex;
mod number;
mod query;
mod read;
#[cfg(test)]
mod tests;
mod value;

pub use query::{Selected, Unusable, XPath};
pub use value::Value;

use crate::{tidy, xml};

/// Returns the values that JMeter's XPath Extractor finds: strings, `None` for a node without a value, or the
/// reason why nothing is found.
pub fn extract(
    document: &[u8],
    query: &str,
    namespaces: bool,
    fragment: bool,
    tolerant: bool,
) -> Result<Vec<Option<String>>, String> {
    let query = XPath::parse(query).map_err(|unusable| unusable.message().to_owned())?;
    let tree = if tolerant {
        tidy::read(&String::from_utf8_lossy(document))
    } else {
        let options = xml::Options { namespaces, ..xml::Options::default() };
        xml::read(document, options).map_err(|fault| fault.message)?
    };
    let mut found = Vec::new();
    let mut push = |text: Option<&str>| found.push(text.map(str::to_owned));
    query.extract(&tree, fragment, |_| None, &mut push)?;
    Ok(found)
}
