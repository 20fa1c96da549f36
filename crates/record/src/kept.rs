//! Samples that are kept as evidence, with excerpts of their texts. Their number and size are bounded, and secrets are
//! masked.

use std::sync::Arc;

use stats::Outcome;

use crate::second::Phases;

pub use stats::kept::Why;

#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    pub why: Why,
    /// Index of the sample's label in the record's list of labels.
    pub label: u32,
    /// Index of the error's cause in the record's list of causes, if it has one.
    pub cause: Option<u32>,
    pub outcome: Outcome,
    /// Start of the sample, epoch ms.
    pub start_ms: i64,
    /// Service time of the sample, ns.
    pub elapsed: u64,
    pub phases: Phases,
    pub code: Arc<str>,
    pub message: Arc<str>,
    pub address: Arc<str>,
    /// True if the sample reused an open connection.
    pub reused: bool,
    pub sent: u64,
    pub received: u64,
    /// Trace id of the sample, for the search in a tracing system; 0 without a trace.
    pub trace: u128,
    /// Excerpt of the request: its head and the beginning of its body.
    pub request: Arc<str>,
    /// Excerpt of the response: its head and the beginning of its body.
    pub response: Arc<str>,
}
