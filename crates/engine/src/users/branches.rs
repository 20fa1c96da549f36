//! The branches of a user: what it keeps of a Parallel Controller while its children run side by side.

use plan::plan::SamplerId;
use plan::result::SampleResult;

use crate::time::timing::Timing;

/// The branches of a user's Parallel Controller.
#[derive(Debug)]
pub(crate) struct Branches {
    pub(crate) id: SamplerId,
    pub(crate) timing: Timing,
    /// The sample that all becomes part of.
    pub(crate) whole: Option<Box<SampleResult>>,
    /// Time in this process, of all parts together.
    pub(crate) lag: u64,
    /// The branch that starts next.
    pub(crate) next: usize,
    pub(crate) in_flight: usize,
    pub(crate) at_a_time: usize,
    /// The user is in line to look after them.
    pub(crate) called: bool,
    /// The user ends with them.
    pub(crate) stops: bool,
    /// The user goes on with the next iteration of its group.
    pub(crate) ends_iteration: bool,
    /// The run ends at once.
    pub(crate) cut: bool,
}

impl super::Part for Branches {}
