//! Wake batching: decides when a worker wakes a core for its replies.
//!
//! If worker and core share a processor, a core that is woken for a reply runs first, does the little work that
//! follows, and sleeps again. That costs two context switches per job, more than a short script. So a worker with more
//! queued tasks holds its replies back for a moment and wakes the core once for all of them. It does so only while all
//! its jobs are short, because a reply must not wait for another user's script. If a job takes long nevertheless, the
//! core reads its inbox after a millisecond without being woken.

use std::time::{Duration, Instant};

use engine::offload::{Job, Unread};

/// Maximum time for which replies are batched, counted from the last time that the worker woke cores.
const MOMENT: Duration = Duration::from_micros(100);

/// Maximum duration of a short job.
const SHORT: Duration = Duration::from_micros(100);

/// Number of consecutive short jobs after which the next job is assumed to be short.
const PROOF: u32 = 64;

/// State of one worker's wake batching.
#[derive(Debug)]
pub(crate) struct WakeBatch {
    /// Cores that must still be woken for replies of this worker in their inbox.
    unread: Unread,
    /// Time when this worker last woke a core.
    woken: Instant,
    began: Instant,
    ended: Instant,
    /// Number of consecutive short jobs up to now.
    short: u32,
}

impl WakeBatch {
    pub(crate) fn new() -> Self {
        let now = Instant::now();
        Self { unread: Unread::default(), woken: now, began: now, ended: now, short: 0 }
    }

    /// Stores the present time as the start of the worker's job.
    pub(crate) fn begin(&mut self) {
        self.began = Instant::now();
    }

    /// Stores the present time as the end of the worker's job, and counts the job if it was short.
    pub(crate) fn end(&mut self) {
        self.count(self.began, Instant::now());
    }

    fn count(&mut self, began: Instant, ended: Instant) {
        self.ended = ended;
        self.short = if ended - began <= SHORT { self.short.saturating_add(1) } else { 0 };
    }

    fn may_batch(&self) -> bool {
        self.short >= PROOF && self.ended - self.woken < MOMENT
    }

    /// Delivers the reply to a job. If `goes_on` is true, another job follows, so the wake-up of the core may be
    /// delayed.
    pub(crate) fn deliver(&mut self, job: Job, reply: Result<Vec<u8>, String>, goes_on: bool) {
        let batches = goes_on && self.may_batch();
        if self.unread.is_empty() && !batches {
            self.woken = self.ended;
            return job.finish(reply);
        }
        job.leave(reply, &mut self.unread);
        if !batches {
            self.woken = self.ended;
            self.unread.wake();
        }
    }

    /// Wakes all cores that have unread replies, because no further job follows.
    pub(crate) fn wake(&mut self) {
        self.woken = self.ended;
        self.unread.wake();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns true if a worker may batch replies after `shorts` short jobs and then one of duration `last`, which
    /// began `after` the last wake-up.
    fn may_batch(shorts: u32, last: Duration, after: Duration) -> bool {
        let mut batch = WakeBatch::new();
        let began = batch.woken;
        (0..shorts).for_each(|_| batch.count(began, began));
        batch.count(began + after, began + after + last);
        batch.may_batch()
    }

    #[test]
    fn replies_are_left_for_a_moment_while_all_jobs_are_short() {
        let (short, moment) = (SHORT / 4, MOMENT / 2);
        assert!(may_batch(PROOF, short, moment));
        assert!(!may_batch(PROOF - 2, short, moment), "too few are known");
        assert!(!may_batch(2 * PROOF, SHORT * 2, Duration::ZERO), "the last was long");
        assert!(!may_batch(PROOF, short, MOMENT), "it is time");
    }
}
