//! The actions that a sample's outcome requests of its user: to stop, or to leave controllers. Hot.

use plan::plan::{ControllerId, OnError, SamplerId};
use plan::result::Request;
use stats::Counter;

use crate::ids::UserId;
use crate::reports::Report;
use crate::sample::reporting::Reporting;
use crate::sample::step::Step;
use crate::users::LoopControl;

/// The actions that a sample requests of its user: to end, and to leave controllers. If both are requested, JMeter
/// does both.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RequestedActions {
    stop: Request,
    leave: Request,
}

impl RequestedActions {
    pub(crate) fn add(&mut self, request: Request) {
        let of = if request >= Request::StopUser { &mut self.stop } else { &mut self.leave };
        *of = request.max(*of);
    }

    /// Returns the loop control that the user carries out.
    fn leaves(self) -> Option<LoopControl> {
        match self.leave {
            Request::BreakLoop => Some(LoopControl::BreakLoop),
            Request::NextLoopIteration => Some(LoopControl::NextLoopIteration),
            Request::NextIteration => Some(LoopControl::NextIteration),
            _ => None,
        }
    }
}

/// Carries out the actions that a sample's outcome requests of its user.
pub(crate) fn after_sample(
    on: &mut Reporting<'_, '_>,
    index: UserId,
    id: SamplerId,
    ok: bool,
    mut asked: RequestedActions,
) -> Step {
    let sampler = &on.cx.plan.samplers[id.0 as usize];
    let user = &on.cx.users[index];
    // In JMeter, the group's action on errors does not apply to parallel branches.
    if !ok && !user.parallel {
        asked.add(match on.cx.run.groups[user.group.at()].on_error {
            OnError::Continue => Request::Nothing,
            OnError::NextLoop => Request::NextIteration,
            OnError::StopUser => Request::StopUser,
            OnError::StopTest => Request::StopTest,
            OnError::StopTestNow => Request::StopTestNow,
        });
    }
    if !ok && !on.cx.users[index].stopping {
        match asked.stop {
            Request::StopUser => on.cx.recorder.add(Counter::UsersStoppedByError, 1),
            Request::StopTest | Request::StopTestNow => {
                on.cx.recorder.add(Counter::RunStoppedByError, 1);
            }
            _ => {}
        }
    }
    match asked.stop {
        Request::StopUser => on.cx.users[index].stopping = true,
        Request::StopTest | Request::StopTestNow => {
            on.cx.users[index].stopping = true;
            let now = asked.stop == Request::StopTestNow;
            let _ = on.cx.reports.send(Report::StopTest { now });
        }
        _ => {}
    }
    continue_or_stop(on, index, asked.leaves().map(|how| (sampler.controller, how)))
}

/// Returns the step after a sample or an action: the user continues, leaves controllers, or ends. A user that must
/// end still searches for its next sampler, as a JMeter thread does, unless it leaves controllers.
pub(crate) fn continue_or_stop(
    on: &mut Reporting<'_, '_>,
    index: UserId,
    leave: Option<(ControllerId, LoopControl)>,
) -> Step {
    // The clock was read at the end of the sample.
    let time_is_up = on.cx.ends_at(index).is_some_and(|end| on.cx.clock.latest() >= end);
    let group = &on.cx.run.groups[on.cx.users[index].group.at()];
    let ends_here = time_is_up && group.ends_with_samples();
    if time_is_up && !ends_here {
        on.cx.users[index].stopping = true;
    }
    let stopping = on.cx.users[index].stopping;
    if stopping {
        on.end_transactions(index);
    }
    match leave {
        Some((from, how)) => Step::LoopControl { from, how, ends: ends_here || stopping },
        None if ends_here => Step::EndOfPlan,
        None => Step::Done,
    }
}

/// Stops a user before its next sampler; `cut` is true if the run or the group ends.
pub(crate) fn stop_before(on: &mut Reporting<'_, '_>, index: UserId, cut: bool) -> Step {
    on.cx.users[index].stopping = true;
    on.cx.recorder.add(Counter::SamplersNotBegun, 1);
    if cut {
        on.cut_transactions(index);
    }
    continue_or_stop(on, index, None)
}
