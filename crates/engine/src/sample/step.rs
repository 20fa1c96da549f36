//! The next step of a sample.

use plan::plan::{BarrierId, ControllerId, SamplerId};

use crate::users::LoopControl;

/// The next step of a user's sample, which the core executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// No step: the user waits, or is ready for its next operation.
    Done,
    /// The user waits at the barrier of a Synchronizing Timer.
    Arrive(Arrival),
    /// The sampler itself begins.
    Begin(SamplerId),
    /// A function has thrown an exception, and the sample is dropped.
    Lose(SamplerId),
    /// The user stops before its next sampler; `cut` is true if the run or the group ends.
    Stop { cut: bool },
    /// The user leaves controllers, starting with `from`. If `ends` is true, the user ends afterwards.
    LoopControl { from: ControllerId, how: LoopControl, ends: bool },
    /// The user has completed its plan.
    EndOfPlan,
}

/// A user's arrival at a Synchronizing Timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrival {
    pub(crate) sampler: SamplerId,
    pub(crate) barrier: BarrierId,
    /// Number of users, of all processes, for which the barrier waits.
    pub(crate) size: u32,
    /// Timeout in milliseconds; 0 is unlimited.
    pub(crate) timeout: i64,
    /// Index of the timer to continue with, and the summed delay of the earlier timers in nanoseconds.
    pub(crate) timer: usize,
    pub(crate) delay: u64,
}
