//! Samples that are kept in full as evidence. Their number and size are bounded, and secrets are masked.

use std::sync::Arc;

use stats::Outcome;

use crate::second::Phases;

pub use stats::kept::Why;

#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    pub why: Why,
    /// Number of the label in the record's list; `cause` is a number in the list of causes.
    pub label: u32,
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
    /// Excerpt of the request: the head and the beginning of the body. `response` is an excerpt of the same
    /// structure.
    pub request: Arc<str>,
    pub response: Arc<str>,
}
