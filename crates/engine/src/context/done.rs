//! Functions that report finished work: a part of a core pushes a completion, and the loop steps the user. Hot.

use plan::plan::SamplerId;
use plan::result::SampleResult;
use plan::template::Thrown;
use stats::Outcome;

use crate::completions::{Done, Sampled};
use crate::context::Context;
use crate::ids::UserId;
use crate::time::timing::Timing;
use crate::users::Wait;

impl Context<'_> {
    /// Pushes the completion of a sampler's work. The result may be absent if nothing reads it.
    pub(crate) fn conclude(
        &mut self,
        index: UserId,
        id: SamplerId,
        timing: Timing,
        outcome: Outcome,
        result: Option<Box<SampleResult>>,
    ) {
        self.complete(index, id, timing, outcome, result, false);
    }

    /// Pushes the completion of a sampler's work with a result that the caller has filled in, except for the start
    /// time. If the result is not successful, the outcome `Ok` becomes `Status`.
    pub(crate) fn conclude_shown(
        &mut self,
        index: UserId,
        id: SamplerId,
        timing: Timing,
        outcome: Outcome,
        mut result: Box<SampleResult>,
    ) {
        result.start_ms = self.clock.wall_ms(timing.start);
        let passed = result.success || outcome != Outcome::Ok;
        let outcome = if passed { outcome } else { Outcome::Status };
        self.conclude(index, id, timing, outcome, Some(result));
    }

    /// Pushes the completion of a page after all its embedded resources are loaded.
    pub(crate) fn complete_page(
        &mut self,
        index: UserId,
        id: SamplerId,
        timing: Timing,
        outcome: Outcome,
        result: Box<SampleResult>,
    ) {
        self.complete(index, id, timing, outcome, Some(result), true);
    }

    #[inline]
    fn complete(
        &mut self,
        user: UserId,
        sampler: SamplerId,
        timing: Timing,
        outcome: Outcome,
        result: Option<Box<SampleResult>>,
        whole: bool,
    ) {
        self.users[user].wait = Wait::Done;
        self.queue.now.push(Done::Sample(Sampled {
            user,
            sampler,
            timing,
            outcome,
            result,
            whole,
        }));
    }

    /// Pushes an exception that no sampler catches.
    pub(crate) fn push_thrown(&mut self, index: UserId, thrown: Thrown) {
        self.users[index].wait = Wait::Done;
        self.queue.now.push(Done::Thrown(index, thrown));
    }

    /// Queues a user that waits for nothing.
    pub(crate) fn make_ready(&mut self, index: UserId) {
        let user = &mut self.users[index];
        if user.alive && user.wait == Wait::Ready {
            user.wait = Wait::Queued;
            self.queue.now.push_user(index);
        }
    }
}
