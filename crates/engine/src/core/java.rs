//! Between jobs of Java and the rooms above: a user goes on where its job belongs, and listeners hear in turn, native ones and Java's.

use std::time::Instant;

use plan::hosted::{Job, TextRange};
use plan::plan::{ControllerId, ListenerId, SamplerId};
use stats::Outcome;

use crate::core::Core;
use crate::ids::{Addressee, UserId};
use crate::java::{Act, Closing, Ended, Java, Next, Then, arrive, condition, listeners};
use crate::sample::Asked;
use crate::sample::record::Part;
use crate::users::Wait;

impl Core<'_> {
    /// A job is done, or why it is not: its user goes on.
    pub(crate) fn on_job(&mut self, to: Addressee, reply: Result<Vec<u8>, String>, done: Instant) {
        if let Some(next) = self.jobs.on_job(&mut self.cx, to, reply, done) {
            self.go_on_with(to.index, next);
        }
    }

    /// The run ends at once: what Java does for a user is broken off.
    pub(crate) fn cut_java(&mut self, index: UserId) {
        let next = self.jobs.cut(&mut self.cx, index);
        self.go_on_with(index, next);
    }

    fn go_on_with(&mut self, index: UserId, next: Next) {
        match next {
            Next::GoOn => {}
            Next::NoResult(id) => self.had_no_result(index, id),
            Next::Close(closing) => self.close_on(index, closing),
            Next::Cut(id, timing) => self.close_sample(index, id, timing, Outcome::CutByEnd),
            Next::Checked(ended) => {
                self.report_complete(index, &ended);
                if self.cx.users[index].wait == Wait::Ready {
                    arrive::must_end(&mut self.cx, index);
                    self.after_transaction(index);
                }
            }
            Next::Start(id) => {
                self.sample(index, id);
            }
            Next::Before(id, next) => self.run_before(index, id, next),
            Next::Timers(id, next, delay) => self.run_timers(index, id, next, delay),
            Next::Begin(id) => self.begin_now(index, id),
            Next::Stop => self.stop_before(index, true),
            Next::EndOfPlan => self.end_of_plan(index),
            Next::EndUser => self.end_user(index),
        }
        self.cx.go_on(index);
    }

    /// The sampler gave nothing, which nobody is told of.
    fn had_no_result(&mut self, index: UserId, id: SamplerId) {
        if !self.cx.plan.samplers[id.0 as usize].timeouts.is_empty() {
            self.unwatch(index);
        }
        let mut asked = Asked::default();
        asked.add(self.cx.users[index].java().end_sample());
        self.after_sample(index, id, true, asked);
    }

    /// Goes on with a sample's end.
    pub(crate) fn close_on(&mut self, index: UserId, mut closing: Closing) {
        if let Some(at) = closing.at {
            if !self.jobs.process(&mut self.cx, index, &mut closing, at) {
                return;
            }
            closing.at = None;
            // Sub-results that processors add count as JMeter counts them.
            closing.timing.received = self.cx.result.bytes;
            if !self.cx.result.success && closing.outcome == Outcome::Ok {
                closing.outcome = Outcome::Assertion;
            }
            self.cx.set_last_ok(index, self.cx.result.success);
            self.jobs.keep_previous(&mut self.cx, index);
        }
        if closing.observed && self.tell_java(index, &mut closing) {
            return;
        }
        if closing.told > 0 {
            self.jobs.keep_previous(&mut self.cx, index);
        }
        self.finish_sample(index, closing);
    }

    /// Tells Java's listeners of a sample, and others as far as they stand before them. True: the user waits for one.
    fn tell_java(&mut self, index: UserId, closing: &mut Closing) -> bool {
        if !self.jobs.tells_of(&self.cx, closing) {
            return false;
        }
        let sampler = &self.cx.plan.samplers[closing.id.0 as usize];
        // Those that hear of a transaction with a parent sample do not hear of its parts.
        let heard = self.heard_around(index, sampler.controller);
        let plan = self.cx.plan;
        let Some(places) = listeners::next_told(plan, closing, heard) else { return false };
        if heard.is_none() && !self.cx.is_silent(index) {
            let part = Part::Between(closing.told, places.start);
            self.write_rows(index, &sampler.listeners, part, true);
        }
        self.jobs.tell_of_sample(&mut self.cx, index, closing, places, heard);
        true
    }

    /// Checks a transaction's sample, the core's result, and reports it.
    pub(crate) fn check_in_turn(&mut self, index: UserId, ended: Ended, from: usize) {
        if let Some(ended) = self.jobs.check_in_turn(&mut self.cx, index, ended, from) {
            self.report_complete(index, &ended);
        }
    }

    /// Gives a transaction's sample, the core's result, to its listeners: at once, or if there are some in Java before the user's next sampler.
    pub(crate) fn tell_of_transaction(
        &mut self,
        index: UserId,
        listeners: &[ListenerId],
        named: bool,
    ) {
        if !self.jobs.keeps_for_listeners(&mut self.cx, index, listeners, named) {
            self.write_rows(index, listeners, Part::From(0), named);
        }
    }

    /// Tells listeners of what they have not been told of yet. True: the user waits for them.
    pub(crate) fn catch_up(&mut self, index: UserId, then: Then) -> bool {
        while let Some(untold) = listeners::next_untold(&mut self.cx, index) {
            let (next, named) = (untold.next(), untold.is_named());
            let Some(places) = untold.hosted(self.cx.plan) else {
                self.write_rows(index, untold.listeners(), Part::From(next), named);
                continue;
            };
            self.write_rows(index, untold.listeners(), Part::Between(next, places.start), named);
            self.jobs.tell_of_untold(&mut self.cx, index, then, untold, places);
            return true;
        }
        false
    }

    /// A user ends: listeners are told of all that is left, and Java of its end.
    pub(crate) fn end_java(&mut self, index: UserId) {
        self.tell_the_rest(index);
        self.jobs.end_user(&mut self.cx, index);
    }

    /// Tells listeners of all that is left; the user ends, and does not wait.
    fn tell_the_rest(&mut self, index: UserId) {
        let extra = self.cx.users[index].extra.as_ref();
        if extra.is_none_or(|extra| extra.parts.get::<Java>().is_none()) {
            return;
        }
        let fresh = self.cx.spare_results.pop().unwrap_or_default();
        let kept = std::mem::replace(&mut self.cx.result, fresh);
        while let Some(untold) = listeners::next_untold(&mut self.cx, index) {
            let part = Part::From(untold.next());
            self.write_rows(index, untold.listeners(), part, untold.is_named());
            self.jobs.tell_in_passing(&mut self.cx, index, &untold);
        }
        let used = std::mem::replace(&mut self.cx.result, kept);
        self.cx.spare_results.push(used);
    }

    /// Whether a controller's texts are known now. False: the user waits for them.
    pub(crate) fn knows_texts(&mut self, index: UserId, id: ControllerId) -> bool {
        if condition::are_known(&mut self.cx, index, id) {
            return true;
        }
        if self.cx.gives_up(index) {
            self.end_user(index);
        } else if !self.catch_up(index, Then::Pull(None)) {
            let range = self.cx.controller(id).evaluates;
            self.hand_over_texts(index, Then::Pull(Some(id)), range);
        }
        false
    }

    /// The user waits while Java runs elements, or evaluates texts.
    pub(crate) fn hand_over_run(
        &mut self,
        index: UserId,
        then: Then,
        act: Act,
        jobs: impl Iterator<Item = Job>,
    ) {
        self.jobs.hand_over_run(&mut self.cx, index, then, act, jobs);
    }

    /// The user waits while Java evaluates texts.
    pub(crate) fn hand_over_texts(&mut self, index: UserId, then: Then, range: TextRange) {
        self.jobs.hand_over_texts(&mut self.cx, index, then, range);
    }

    /// Whether Java is to be asked what a sampler sends, because scripts have changed headers that others share.
    pub(crate) fn asks_for_headers(&self, index: UserId, id: SamplerId) -> bool {
        self.jobs.asks_for_headers(&self.cx, index, id)
    }

    /// A sample takes longer than its Sample Timeout allows.
    pub(crate) fn interrupt_hosted(&mut self, index: UserId) {
        self.jobs.interrupt_sample(&mut self.cx, index);
    }

    /// Tells config elements in Java of an iteration of the group. False: the user waits for them.
    pub(crate) fn tell_iteration(&mut self, index: UserId) -> bool {
        self.jobs.tell_iteration(&mut self.cx, index)
    }

    /// Whether a controller is about to look at its texts, or does so `at_end` of a pass.
    pub(crate) fn needs_texts(&mut self, index: UserId, id: ControllerId, at_end: bool) -> bool {
        condition::needs_texts(&mut self.cx, index, id, at_end)
    }

    /// The next question to a controller needs its texts evaluated anew.
    pub(crate) fn forget_texts(&mut self, index: UserId, id: ControllerId) {
        condition::forget_texts(&mut self.cx, index, id);
    }
}
