//! The step of a sample that comes next.

use plan::plan::{BarrierId, ControllerId, SamplerId};

use crate::users::LoopControl;

/// The next step of a user's sample, which the core takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// None: the user waits, or is ready for its next operation.
    Done,
    /// It waits at the barrier of a Synchronizing Timer.
    Arrive(Arrival),
    /// The sampler itself begins.
    Begin(SamplerId),
    /// A function has thrown: the sample is lost.
    Lose(SamplerId),
    /// The user stops before the sampler that it has; `cut` if that is because the run or the group ends.
    Stop { cut: bool },
    /// The user leaves controllers from one on; it `ends` behind that.
    LoopControl { from: ControllerId, how: LoopControl, ends: bool },
    /// The user has run all that there is for it.
    EndOfPlan,
}

/// A user's arrival at a Synchronizing Timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrival {
    pub(crate) sampler: SamplerId,
    pub(crate) barrier: BarrierId,
    /// The users of all processes that it waits for.
    pub(crate) size: u32,
    /// Milliseconds; 0: for ever.
    pub(crate) timeout: i64,
    /// The timer behind it, and the delay of those before.
    pub(crate) timer: usize,
    pub(crate) delay: u64,
}
