//! The next step of a sample.

use plan::plan::{BarrierId, ControllerId, SamplerId};

use crate::users::LoopControl;

/// The next step of a user's sample, which the core takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// No step: the user waits, or is ready for its next operation.
    Done,
    /// The user waits at the barrier of a Synchronizing Timer.
    Arrive(Arrival),
    /// The sampler itself begins.
    Begin(SamplerId),
    /// A function has thrown: the sample is lost.
    Lose(SamplerId),
    /// The user stops before its next sampler; `cut` is true if the run or the group ends.
    Stop { cut: bool },
    /// The user leaves controllers, starting with `from`. If `ends` is true, it ends afterwards.
    LoopControl { from: ControllerId, how: LoopControl, ends: bool },
    /// The user has run its whole plan.
    EndOfPlan,
}

/// A user's arrival at a Synchronizing Timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrival {
    pub(crate) sampler: SamplerId,
    pub(crate) barrier: BarrierId,
    /// Number of users of all processes that the barrier waits for.
    pub(crate) size: u32,
    /// Timeout in milliseconds; 0 is unlimited.
    pub(crate) timeout: i64,
    /// Index of the next timer, and the summed delay of the earlier timers in nanoseconds.
    pub(crate) timer: usize,
    pub(crate) delay: u64,
}
