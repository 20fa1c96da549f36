//! Errors of documents, in Xerces' words.

/// The reason why a document could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The message.
    pub message: String,
    /// The error is not about XML but about bytes that are not text, which Java calls an `IOException`.
    pub is_io: bool,
}

impl Fault {
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), is_io: false }
    }

    pub fn io(message: impl Into<String>) -> Self {
        Self { message: message.into(), is_io: true }
    }

    /// The text ends in the middle of something.
    pub(super) fn cut() -> Self {
        Self::new("XML document structures must start and end within the same entity.")
    }
}
