//! The error of reading or editing a plan: a sentence for the user.

use std::fmt;

/// The reason for which a plan could not be read or an edit was not made. The plan is unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Sentence for the user: the failed action, its place, and the remedy if there is one.
    pub message: String,
}

impl Refusal {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refusal {}
