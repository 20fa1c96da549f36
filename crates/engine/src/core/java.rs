//! Between jobs of Java and the rooms above: a user goes on where its job belongs, and listeners hear in turn, native ones and Java's.

use std::time::Instant;

use plan::hosted::{Job, TextRange};
use plan::plan::SamplerId;
use stats::Outcome;

use crate::core::Core;
use crate::ids::{Addressee, UserId};
use crate::java::{Act, Closing, Next, Then, arrive};
use crate::sample::Asked;
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
                self.reporting().report_complete(index, &ended);
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
            self.samples.watch.remove(index);
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
        if closing.observed && self.reporting().tell_java(index, &mut closing) {
            return;
        }
        if closing.told > 0 {
            self.jobs.keep_previous(&mut self.cx, index);
        }
        self.finish_sample(index, closing);
    }

    /// A user ends: listeners are told of all that is left, and Java of its end.
    pub(crate) fn end_java(&mut self, index: UserId) {
        self.reporting().tell_the_rest(index);
        self.jobs.end_user(&mut self.cx, index);
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
}
