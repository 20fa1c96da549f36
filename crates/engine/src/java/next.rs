//! The next step of a user whose job is done, as a value that the loop carries out. Costs nothing but its size.

use plan::plan::SamplerId;
use plan::result::Request;

use super::{Closing, Ended};
use crate::context::Context;
use crate::ids::UserId;
use crate::time::timing::Timing;

/// The next thing to be done for a user whose job is done, or is broken off.
#[derive(Debug)]
pub(crate) enum Next {
    /// It goes on, unless it waits again.
    GoOn,
    /// Its sampler has given no result.
    NoResult(SamplerId),
    /// Its sample, the core's result, is closed further.
    Close(Closing),
    /// The run's end has cut its sampler; the core's result says so.
    Cut(SamplerId, Timing),
    /// A transaction has ended, whose sample, the core's result, has been checked.
    Checked(Ended),
    /// It begins a sampler.
    Start(SamplerId),
    /// It goes on with the pre-processors from a place on.
    Before(SamplerId, usize),
    /// It goes on with the timers from a place on, those before having taken so long.
    Timers(SamplerId, usize, u64),
    /// It starts its sampler, whose texts are known.
    Begin(SamplerId),
    /// It stops before its sampler.
    Stop,
    /// It has run all that there is for it.
    EndOfPlan,
    /// It ends.
    EndUser,
}

/// A script asked the user to end, or everybody was told to: it is stopping.
pub(crate) fn must_end(cx: &mut Context<'_>, index: UserId) -> bool {
    let asked = cx.users[index].java().asked;
    let user = &mut cx.users[index];
    user.stopping |= asked >= Request::StopUser;
    user.stopping
}
