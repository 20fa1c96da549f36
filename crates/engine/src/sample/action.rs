//! Flow Control Actions: pause a user, end it, or make it leave controllers.

use plan::action::Action;
use plan::plan::SamplerId;
use plan::template::Template;

use crate::ids::UserId;
use crate::reports::Report;
use crate::sample::outcome::continue_or_stop;
use crate::sample::reporting::Reporting;
use crate::sample::samples::Samples;
use crate::sample::step::Step;
use crate::time::clock::MS;
use crate::users::{LoopControl, Wait};

impl Samples {
    /// Carries out a Flow Control Action.
    pub(crate) fn act(
        &mut self,
        on: &mut Reporting<'_, '_>,
        index: UserId,
        id: SamplerId,
        action: &Action,
    ) -> Step {
        match action {
            Action::Pause(text) => return pause(on, index, id, text),
            Action::StopUser => {
                on.cx.users[index].stopping = true;
                on.cx.stop_around(index);
            }
            Action::StopTest | Action::StopTestNow => {
                on.cx.users[index].stopping = true;
                let now = matches!(action, Action::StopTestNow);
                let _ = on.cx.reports.send(Report::StopTest { now });
            }
            Action::NextIteration => return leave(on, index, id, LoopControl::NextIteration),
            Action::NextLoopIteration => {
                return leave(on, index, id, LoopControl::NextLoopIteration);
            }
            Action::BreakLoop => return leave(on, index, id, LoopControl::BreakLoop),
        }
        self.after_action(on, index, id)
    }

    /// Continues a user after its Flow Control Action, which has no result.
    pub(crate) fn after_action(
        &mut self,
        on: &mut Reporting<'_, '_>,
        index: UserId,
        id: SamplerId,
    ) -> Step {
        self.unwatch(on.cx, index, id);
        let now = on.cx.clock.now();
        let user = &mut on.cx.users[index];
        if user.links.deadline <= now {
            user.intended = user.links.deadline.max(user.intended);
        }
        continue_or_stop(on, index, None)
    }
}

fn pause(on: &mut Reporting<'_, '_>, index: UserId, id: SamplerId, text: &Template) -> Step {
    let pause = on.cx.number(index, text, 0);
    if on.cx.has_thrown() {
        return Step::Lose(id);
    }
    let now = on.cx.clock.now();
    let mut until = now + pause.max(0) * MS;
    let user = &on.cx.users[index];
    if let Some(end) = on.cx.run.wait_deadline(user.group, user.number)
        && until > end
        && !user.parallel
    {
        until = end.max(now);
        on.cut_transactions(index);
    }
    on.cx.users[index].wait = Wait::Pause(id);
    on.cx.timers.wheel.insert(index, until, &mut on.cx.users);
    Step::Done
}

fn leave(on: &mut Reporting<'_, '_>, index: UserId, id: SamplerId, how: LoopControl) -> Step {
    let from = on.cx.plan.samplers[id.0 as usize].controller;
    continue_or_stop(on, index, Some((from, how)))
}
