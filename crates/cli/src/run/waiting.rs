//! Users that still wait for an answer after the end of the test, as JMeter lets them: the run says so once, and how to end it.

use stats::grouped::things;

use crate::progress::Progress;

/// Time without a finished sample, after the end, from which on users are said to wait, ms.
const QUIET_MS: i64 = 5000;

/// Samples after the end of the test.
#[derive(Debug)]
pub(super) struct Waiting {
    /// Length of the test, ms, where it has one.
    pub(super) length_ms: Option<i64>,
    /// Finished samples, and the time from which on there were no more, epoch ms. `None`: the test has not ended.
    last: Option<(u64, i64)>,
    was_said: bool,
}

impl Waiting {
    pub(super) fn new(length_ms: Option<i64>) -> Self {
        Self { length_ms, last: None, was_said: false }
    }

    /// The words on users that wait, when it is time for them. `stopping`: the run was asked to end before.
    pub(super) fn words(
        &mut self,
        stopping: bool,
        now_ms: i64,
        progress: &Progress,
    ) -> Option<String> {
        let is_over = self.length_ms.is_some_and(|length| now_ms >= progress.start_ms + length);
        if self.was_said || !(stopping || is_over) {
            return None;
        }
        let done = progress.totals().requests().tally.count;
        let active = progress.users().active;
        self.of(done, active, now_ms, stopping)
    }

    fn of(&mut self, done: u64, active: u64, now_ms: i64, stopping: bool) -> Option<String> {
        let (before, since_ms) = *self.last.get_or_insert((done, now_ms));
        if before != done {
            self.last = Some((done, now_ms));
        }
        if before != done || active == 0 || now_ms - since_ms < QUIET_MS {
            return None;
        }
        self.was_said = true;
        let verb = if active == 1 { "waits" } else { "wait" };
        let keys = if stopping { "Ctrl-C again" } else { "Ctrl-C twice" };
        Some(format!(
            "the test is over, but {} still {verb} for an answer: {keys} ends the run without",
            things(active, "user")
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_that_wait_after_the_end_are_said_once_when_no_sample_ends_any_more() {
        let mut waiting = Waiting::new(Some(10_000));
        let mut at = |done, active, now_ms| waiting.of(done, active, now_ms, false);
        assert_eq!(at(7, 4, 10_000), None);
        assert_eq!(at(8, 3, 14_900), None, "a sample ended");
        assert_eq!(at(8, 0, 20_000), None, "nobody waits");
        let words = "the test is over, but 3 users still wait for an answer: Ctrl-C twice ends the run without";
        assert_eq!(at(8, 3, 20_000).as_deref(), Some(words));
        let mut stopped = Waiting::new(None);
        assert_eq!(stopped.of(0, 1, 0, true), None);
        let words = stopped.of(0, 1, 5000, true).expect("words");
        assert!(words.contains("1 user still waits for an answer: Ctrl-C again ends"), "{words}");
    }
}
