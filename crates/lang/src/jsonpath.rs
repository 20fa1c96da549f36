//! JSONPath in the dialect of Jayway 2.8, over documents as json-smart 2.5 reads them.
//!
//! Both are what JMeter 5.6.3 uses; their tolerance and their oddities are kept, as plans rely on them. A path is
//! read once; evaluating it borrows from the document. Nothing here panics on any text, and nesting is limited.

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

/// A path that was read.
#[derive(Clone, Debug)]
pub struct JsonPath(Path);

impl JsonPath {
    /// Reads a path.
    pub fn new(source: &str) -> Result<Self, Failure> {
        if source.is_empty() {
            return Err(Failure::Other("path can not be null or empty".into()));
        }
        path::read(source, 0).map(Self)
    }

    /// Whether it leads to one node at most.
    pub fn is_definite(&self) -> bool {
        self.0.is_definite()
    }

    /// Adds to a projection what the path can see.
    pub fn project(&self, projection: &mut Projection) {
        projection.add(&self.0);
    }

    /// The value of the path: one value if the path is definite, a list otherwise.
    pub fn value<'m, 't>(&self, document: &'m Value<'t>) -> Result<Cow<'m, Value<'t>>, Failure> {
        if *document == Value::Null {
            return Err(Failure::Other("json can not be null".into()));
        }
        walk::value(&self.0, document, document, false)
    }

    /// All it leads to, also if that is one value. Jayway allows no functions here.
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
