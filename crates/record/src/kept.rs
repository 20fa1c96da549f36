//! Samples kept whole, as evidence: bounded in number and size, secrets masked.

use std::sync::Arc;

use stats::Outcome;

use crate::second::Phases;

pub use stats::kept::Why;

#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    pub why: Why,
    /// Numbers in the record's lists.
    pub label: u32,
    pub cause: Option<u32>,
    pub outcome: Outcome,
    /// Epoch ms.
    pub start_ms: i64,
    /// Nanoseconds.
    pub elapsed: u64,
    pub phases: Phases,
    pub code: Arc<str>,
    pub message: Arc<str>,
    pub address: Arc<str>,
    /// Whether the connection was there before.
    pub reused: bool,
    pub sent: u64,
    pub received: u64,
    /// The number of its trace, by which a tracing system finds it; 0 is none.
    pub trace: u128,
    /// Excerpts: head and the first part of the body.
    pub request: Arc<str>,
    pub response: Arc<str>,
}
