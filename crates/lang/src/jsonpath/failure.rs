//! Errors of parsing or evaluating a path, with the messages of Jayway's exceptions.

use std::fmt;

/// An error of a JSONPath, by the kinds that callers treat differently. Each contains Jayway's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The path leads nowhere (`PathNotFoundException`).
    NotFound(String),
    /// The path cannot be parsed or not be applied (`InvalidPathException`).
    InvalidPath(String),
    /// An index outside a list (`IndexOutOfBoundsException`).
    Index(String),
    /// Any other exception of Jayway.
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

/// Returns the error of reading a character beyond the end of a string.
pub(super) fn index_out_of_range(at: usize) -> Failure {
    // An index before the start of the text is -1, as in Java.
    let at = at as isize;
    Failure::Other(format!(
        "java.lang.StringIndexOutOfBoundsException: String index out of range: {at}"
    ))
}
