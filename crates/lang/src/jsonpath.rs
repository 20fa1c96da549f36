//! JSONPath in the dialect of Jayway 2.8, over documents that json-smart 2.5 reads.
//!
//! JMeter 5.6.3 uses both libraries. Their tolerance and their oddities are kept, because plans rely on them. A path is
//! parsed once; evaluating it borrows from the document. No input causes a panic, and nesting is limited.

mod cursor;
mod failure;
mod filter;
mod function;
mod number;
mod path;
mod projection;
mod read;
mod relation;
#[cfg(test)]
mod tests;
mod value;
mod walk;

use std::borrow::Cow;

pub use failure::Failure;
pub use projection::Projection;
pub use read::{Unreadable, read, read_for};
pub use value::{Object, Value};

use path::Path;

/// A parsed JSONPath.
#[derive(Clone, Debug)]
pub struct JsonPath(Path);

impl JsonPath {
    /// Parses a JSONPath.
    pub fn new(source: &str) -> Result<Self, Failure> {
        if source.is_empty() {
            return Err(Failure::Other("path can not be null or empty".into()));
        }
        path::read(source, 0).map(Self)
    }

    /// Returns true if the JSONPath leads to one node at most.
    pub fn is_definite(&self) -> bool {
        self.0.is_definite()
    }

    /// Adds to a projection those parts of a document that this path can read.
    pub fn project(&self, projection: &mut Projection) {
        projection.add(&self.0);
    }

    /// Returns the value of the path: one value if the path is definite, otherwise a list.
    pub fn value<'m, 't>(&self, document: &'m Value<'t>) -> Result<Cow<'m, Value<'t>>, Failure> {
        if *document == Value::Null {
            return Err(Failure::Other("json can not be null".into()));
        }
        walk::value(&self.0, document, document, false)
    }

    /// Returns everything to which the path leads as a list, even if it is one value. Jayway allows no functions here.
    pub fn list<'m, 't>(
        &self,
        document: &'m Value<'t>,
    ) -> Result<Vec<Cow<'m, Value<'t>>>, Failure> {
        if self.0.is_function() {
            return Err(Failure::Other(
                "Options AS_PATH_LIST and ALWAYS_RETURN_LIST are not allowed when using path functions!".into(),
            ));
        }
        if *document == Value::Null {
            return Err(Failure::Other("root can not be null".into()));
        }
        let mut found = walk::walk(&self.0, document, document, false)?;
        if self.is_definite() {
            let Some(last) = found.pop() else {
                return Err(Failure::NotFound(format!("No results for path: {}", self.0.text())));
            };
            found = vec![last];
        }
        Ok(found)
    }
}
