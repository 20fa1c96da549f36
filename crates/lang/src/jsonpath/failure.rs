//! Errors of reading or evaluating a path, in the words of Jayway's exceptions.

use std::fmt;

/// A failure. The kinds are those that callers distinguish.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The path leads nowhere (`PathNotFoundException`).
    NotFound(String),
    /// The path cannot be read, or not be applied (`InvalidPathException`).
    InvalidPath(String),
    /// An index outside a list (`IndexOutOfBoundsException`).
    Index(String),
    /// Anything else.
    Other(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::NotFound(text)
        | Self::InvalidPath(text)
        | Self::Index(text)
        | Self::Other(text)) = self;
        f.write_str(text)
    }
}

impl std::error::Error for Failure {}

/// Reading a character behind the end of a text.
pub(super) fn index_out_of_range(at: usize) -> Failure {
    // Java's index before the start is -1.
    let at = at as isize;
    Failure::Other(format!(
        "java.lang.StringIndexOutOfBoundsException: String index out of range: {at}"
    ))
}
