//! Connects jobs of Java to the modules above: resumes a user after its job, and passes samples to native and Java
//! listeners in the plan's order.

use std::time::Instant;

use stats::Outcome;

use crate::core::Core;
use crate::ids::{JobUser, UserId};
use crate::java::{Next, next};
use crate::sample::step::Step;
use crate::users::Wait;

impl Core<'_> {
    /// Handles a finished or failed job: its user continues.
    pub(crate) fn on_job(&mut self, to: JobUser, reply: Result<Vec<u8>, String>, done: Instant) {
        if let Some(next) = self.jobs.on_job(&mut self.cx, to, reply, done) {
            self.continue_with(to.index, next);
        }
    }

    /// Interrupts a user's job in Java, because all users end immediately.
    pub(crate) fn cut_java(&mut self, index: UserId) {
        let next = self.jobs.cut(&mut self.cx, index);
        self.continue_with(index, next);
    }

    fn continue_with(&mut self, index: UserId, next: Next) {
        match next {
            Next::GoOn => {}
            Next::NoResult(id) => {
                let (samples, mut on) = self.sampling();
                let step = samples.close_without_result(&mut on, index, id);
                self.take(index, step);
            }
            Next::Close(mut closing) => {
                let (samples, mut on) = self.sampling();
                let step = samples.close_on(&mut on, index, &mut closing);
                self.take(index, step);
            }
            Next::Cut(id, timing, result) => {
                self.close_sample(index, id, &timing, Outcome::CutByEnd, Some(result));
            }
            Next::Check(ended, from) => {
                self.reporting().check_in_turn(index, ended, from);
                self.after_check(index);
            }
            Next::Checked(ended) => {
                self.reporting().report_complete(index, ended);
                self.after_check(index);
            }
            Next::Start(id) => self.begin_sample(index, id),
            Next::Before(id, next) => self.run_before(index, id, next),
            Next::Timers(id, next, delay) => self.run_timers(index, id, next, delay),
            Next::Begin(id) => self.take(index, Step::Begin(id)),
            Next::Stop => self.take(index, Step::Stop { cut: true }),
            Next::EndOfPlan => self.end_of_plan(index),
            Next::EndUser => self.end_user(index),
        }
        self.cx.make_ready(index);
    }

    /// Continues a user after the assertions of a transaction, unless the user waits for one of these assertions.
    fn after_check(&mut self, index: UserId) {
        if self.cx.users[index].wait == Wait::Ready {
            next::must_end(&mut self.cx, index);
            self.after_transaction(index);
        }
    }

    /// Handles the end of a user: delivers the samples that listeners have not received yet, and notifies Java.
    pub(crate) fn end_java(&mut self, index: UserId) {
        self.reporting().deliver_rest(index);
        self.jobs.end_user(&mut self.cx, index);
    }

    /// Interrupts a Java-backed sample that takes longer than its Sample Timeout allows.
    pub(crate) fn interrupt_java_backed(&mut self, index: UserId) {
        self.jobs.interrupt_sample(&mut self.cx, index);
    }
}
