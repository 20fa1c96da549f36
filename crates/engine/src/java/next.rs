//! The next step of a user whose job is done. It is returned as a value, on which the core's loop acts. A step
//! costs only its size in memory.

use plan::plan::SamplerId;
use plan::result::{Request, SampleResult};

use super::{Closing, Ended};
use crate::context::Context;
use crate::ids::UserId;
use crate::time::timing::Timing;

/// The next step of a user whose job is done or has been interrupted.
#[derive(Debug)]
pub(crate) enum Next {
    /// The user continues, unless it waits for another job.
    GoOn,
    /// The user's sampler has returned no result.
    NoResult(SamplerId),
    /// The user continues with the remaining work on its sample's result: post-processors, assertions, listeners.
    Close(Closing),
    /// The end of the run has cut the user's sampler, as the result shows.
    Cut(SamplerId, Timing, Box<SampleResult>),
    /// The assertions of an ended transaction continue from an index on.
    Check(Ended, usize),
    /// The end of the run has cut the assertions of an ended transaction.
    Checked(Ended),
    /// The user starts a sampler with its pre-processors.
    Start(SamplerId),
    /// The user continues with the sampler's pre-processors from an index on.
    Before(SamplerId, usize),
    /// The user continues with the sampler's timers from an index on. The last number is the sum of the delays so far,
    /// in nanoseconds.
    Timers(SamplerId, usize, u64),
    /// The user runs its sampler. The sampler's expressions are already evaluated.
    Begin(SamplerId),
    /// The user stops before its sampler, which does not run.
    Stop,
    /// The user has completed its plan.
    EndOfPlan,
    /// The user ends.
    EndUser,
}

/// Returns true if the user must end, because a script or the whole test has asked for it. Marks the user as
/// stopping.
pub(crate) fn must_end(cx: &mut Context<'_>, index: UserId) -> bool {
    let asked = cx.users[index].java().asked;
    let user = &mut cx.users[index];
    user.stopping |= asked >= Request::StopUser;
    user.stopping
}
