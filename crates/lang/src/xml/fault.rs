//! Errors in documents, with Xerces's messages.

/// The reason why a document cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Xerces's message about the fault.
    pub message: String,
    /// True if the error is about invalid bytes instead of XML; in Java this is an `IOException`.
    pub is_io: bool,
}

impl Fault {
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), is_io: false }
    }

    pub fn io(message: impl Into<String>) -> Self {
        Self { message: message.into(), is_io: true }
    }

    /// Returns the error for a document or entity that ends inside a structure.
    pub(super) fn cut() -> Self {
        Self::new("XML document structures must start and end within the same entity.")
    }
}
