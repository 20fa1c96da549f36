//! The branches of a user: the state of a Parallel Controller while its children run concurrently.

use plan::plan::SamplerId;
use plan::result::SampleResult;

use crate::time::timing::Timing;

/// The branches of a user's Parallel Controller.
#[derive(Debug)]
pub(crate) struct Branches {
    pub(crate) id: SamplerId,
    pub(crate) timing: Timing,
    /// The parent sample, if there is one.
    pub(crate) whole: Option<Box<SampleResult>>,
    /// Summed lag of all samples in the branches, in nanoseconds.
    pub(crate) lag: u64,
    /// Index of the branch that starts next.
    pub(crate) next: usize,
    pub(crate) in_flight: usize,
    pub(crate) at_a_time: usize,
    /// True if the user is queued to check its branches.
    pub(crate) called: bool,
    /// True if the user ends after its branches.
    pub(crate) stops: bool,
    /// True if the user continues with the next iteration of its group.
    pub(crate) ends_iteration: bool,
    /// True if the end of the run has cut a branch.
    pub(crate) cut: bool,
}

impl super::Part for Branches {}
