//! How long a controller goes on: counts, conditions, time and values, each asked when JMeter asks it.

use plan::plan::{ControllerId, ControllerKind, ForEach, LoopCount, WhileCondition};
use plan::text::Text;

use crate::core::Core;
use crate::flow::kinds::{runtime, throughput, while_loop};
use crate::ids::UserId;
use crate::users::controllers as state;

impl Core<'_> {
    /// Whether a controller gives nothing any more, so that the one around it drops it.
    pub(crate) fn is_done(&mut self, index: UserId, id: ControllerId) -> bool {
        let controller = self.cx.controller(id);
        let done = self.cx.controller_state(index, id).is(state::DONE);
        match &controller.kind {
            ControllerKind::If { .. } => false,
            ControllerKind::ForEach(each) => {
                let end = self.last_value(index, each);
                let at = self.cx.controller_state(index, id).count();
                // JMeter sets the output when it looks whether there is more to do.
                at >= end || (!self.bind(index, each, at) && done)
            }
            ControllerKind::Runtime(seconds) => {
                done || self.seconds(index, seconds) <= 0 || self.is_empty(index, controller)
            }
            ControllerKind::Throughput(throughput) => {
                if self.is_empty(index, controller) {
                    return true;
                }
                let ran = throughput::ran(&mut self.cx.controller_state(index, id));
                let at_end = self.child(index, id).is_none();
                throughput.is_done(ran, at_end, &mut self.cx.env(index, ""))
            }
            _ => done,
        }
    }

    /// Whether a loop has run as often as it should. How often is asked once for all of its iterations, but anew where that is 0 or
    /// without end.
    pub(crate) fn loop_is_over(
        &mut self,
        index: UserId,
        id: ControllerId,
        count: &LoopCount,
    ) -> bool {
        let mut place = self.cx.controller_state(index, id);
        if place.is(state::BROKEN) {
            return true;
        }
        let (LoopCount::Count(text) | LoopCount::Limit(text)) = count else { return false };
        let mut most = place.more()[0] as i32;
        if matches!(most, -1 | 0) {
            most = match count {
                LoopCount::Limit(_) => {
                    let most = i32::try_from(self.cx.number(index, text, 0)).unwrap_or(0);
                    if most < 1 { -1 } else { most }
                }
                _ => text.int(&mut self.cx.env(index, "")),
            };
            self.cx.forgive_number();
            self.cx.controller_state(index, id).more()[0] = most as u32;
        }
        most > -1 && self.cx.controller_state(index, id).count() >= most
    }

    pub(crate) fn while_is_over(
        &mut self,
        index: UserId,
        id: ControllerId,
        condition: &WhileCondition,
        at_end: bool,
    ) -> bool {
        if self.cx.controller_state(index, id).is(state::BROKEN) {
            return true;
        }
        let last_ok = self.cx.users.of(index).last_ok;
        match condition {
            WhileCondition::Blank => at_end && !last_ok,
            WhileCondition::Last => !last_ok,
            WhileCondition::Expression(text) => {
                self.forget_texts(index, id);
                let mut value = self.cx.texts.take();
                text.eval(&mut self.cx.env(index, ""), &mut value);
                let over = while_loop::is_over(&value, at_end, last_ok);
                self.cx.texts.give(value);
                over
            }
        }
    }

    /// Whether a Runtime Controller's time is over; it begins with the first look.
    pub(crate) fn runtime_is_over(
        &mut self,
        index: UserId,
        id: ControllerId,
        seconds: &Text,
    ) -> bool {
        let now = self.cx.clock.now();
        let run = runtime::seconds_run(&mut self.cx.controller_state(index, id), now);
        run >= self.seconds(index, seconds)
    }

    pub(crate) fn seconds(&mut self, index: UserId, text: &Text) -> i64 {
        let seconds = text.parsed(&mut self.cx.env(index, ""), |text| text.parse().unwrap_or(0));
        self.cx.forgive_number();
        seconds
    }

    /// Whether a ForEach controller's next value is there.
    pub(crate) fn has_value(&mut self, index: UserId, id: ControllerId, each: &ForEach) -> bool {
        let at = self.cx.controller_state(index, id).count();
        self.with_value(index, each, at, |_, _, value| value.is_some())
    }

    /// Sets a ForEach controller's output to its value number `at` + 1. False: there is none.
    pub(crate) fn bind(&mut self, index: UserId, each: &ForEach, at: i32) -> bool {
        self.with_value(index, each, at, |core, index, value| {
            let Some(value) = value else { return false };
            let mut name = core.cx.texts.take();
            each.output.eval(&mut core.cx.env(index, ""), &mut name);
            core.cx.users.of(index).vars.set_named(&core.cx.plan.names, &name, value);
            core.cx.texts.give(name);
            true
        })
    }

    pub(crate) fn with_value(
        &mut self,
        index: UserId,
        each: &ForEach,
        at: i32,
        work: impl FnOnce(&mut Self, UserId, Option<&str>) -> bool,
    ) -> bool {
        use std::fmt::Write;
        let mut name = self.cx.texts.take();
        each.input.eval(&mut self.cx.env(index, ""), &mut name);
        let separator = if each.separator { "_" } else { "" };
        let _ = write!(name, "{separator}{}", at.wrapping_add(1));
        let mut value = self.cx.texts.take();
        let found = self
            .cx
            .users
            .of(index)
            .vars
            .get_named(&self.cx.plan.names, &name)
            .map(|text| value.push_str(text))
            .is_some();
        self.cx.texts.give(name);
        let done = work(self, index, found.then_some(value.as_str()));
        self.cx.texts.give(value);
        done
    }

    /// Index before the first value; what is no number is 0.
    pub(crate) fn first_value(&mut self, index: UserId, each: &ForEach) -> i32 {
        i32::try_from(self.cx.number(index, &each.start, 0)).unwrap_or(0)
    }

    /// Index of the last value; what is no number is 0.
    pub(crate) fn last_value(&mut self, index: UserId, each: &ForEach) -> i32 {
        match each.end.fixed() {
            Some("") => i32::MAX,
            _ => i32::try_from(self.cx.number(index, &each.end, 0)).unwrap_or(0),
        }
    }
}
