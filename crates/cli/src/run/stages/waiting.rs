//! Detects users that wait without an answer: after the end of the test, where JMeter lets them wait, and during a
//! test with a target that hangs. The run reports this once, with advice on how to end the run.

use plan::plan::{Plan, Sampler, SamplerKind};
use plan::websocket::Act;
use stats::grouped::things;

use crate::run::progress::Progress;

/// Time in milliseconds without a finished sample, after the end of the test, after which waiting users are
/// reported.
const QUIET_MS: i64 = 5000;
/// Time in milliseconds without a finished sample, during the test, after which waiting users are reported.
const HANGS_MS: i64 = 10_000;

/// Number of finished samples, and the time since the last one.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    /// Planned length of the test in milliseconds, if it has one.
    pub(super) length_ms: Option<i64>,
    /// Longest time in milliseconds between a sample and the next request of a user. Active users that send nothing
    /// for a longer time must be waiting for an answer. `None` if this time is unknown.
    for_answers_ms: Option<i64>,
    /// Number of finished samples during the test, and the time of the last change in epoch milliseconds.
    running: Option<(u64, i64)>,
    /// True if the message about the current period without a finished sample was printed.
    is_told: bool,
    /// Number of finished samples after the end of the test, and the time of the last change in epoch milliseconds.
    /// `None` before the end.
    last: Option<(u64, i64)>,
    /// True if the message about users that wait after the end of the test was printed.
    was_said: bool,
}

impl Waiting {
    pub(super) fn new(length_ms: Option<i64>) -> Self {
        Self { length_ms, ..Self::default() }
    }

    /// Sets the longest time between requests, for a plan whose users send requests without a pause or after timers
    /// of known length. Plans in which users wait for other things are not checked.
    pub(super) fn for_answers_of(self, plan: &Plan) -> Self {
        let waits = plan.samplers.iter().map(waits_ms);
        let longest = waits.reduce(|one, other| Some(one?.max(other?))).flatten();
        Self { for_answers_ms: longest, ..self }
    }

    /// Returns the message about waiting users when it is due. `stopping` is true if the run was asked to end, and
    /// `paused` if its users were paused.
    pub(super) fn words(
        &mut self,
        (stopping, paused): (bool, bool),
        now_ms: i64,
        progress: &Progress,
    ) -> Option<String> {
        let is_over = self.length_ms.is_some_and(|length| now_ms >= progress.start_ms + length);
        let done = progress.totals().requests().tally.count;
        let active = if paused { 0 } else { progress.users().active };
        if !(stopping || is_over) {
            return self.hanging(done, active, now_ms);
        }
        if self.was_said {
            return None;
        }
        self.of(done, progress.users().active, now_ms, stopping)
    }

    /// Returns the message about a target that answers no user, once for each such period.
    fn hanging(&mut self, done: u64, active: u64, now_ms: i64) -> Option<String> {
        let (before, since_ms) = *self.running.get_or_insert((done, now_ms));
        if before != done || active == 0 {
            (self.running, self.is_told) = (Some((done, now_ms)), false);
            return None;
        }
        let for_answers = self.for_answers_ms.is_some_and(|ms| now_ms - since_ms >= HANGS_MS + ms);
        if !for_answers || self.is_told {
            return None;
        }
        self.is_told = true;
        let verb = if active == 1 { "waits" } else { "wait" };
        Some(format!(
            "no answer has come for {} s: {} {verb}",
            (now_ms - since_ms) / 1000,
            things(active, "user")
        ))
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
            "the test is over, but {} still {verb} for an answer: {keys} ends the run at once",
            things(active, "user")
        ))
    }
}

/// Returns the longest time in milliseconds for which a user may wait before this sampler sends its request.
/// Returns `None` if the user may wait for something other than an answer: a program, an unsolicited message, a
/// pause, or Java.
fn waits_ms(sampler: &Sampler) -> Option<i64> {
    let is_answered = match &sampler.kind {
        SamplerKind::WebSocket(socket) => !matches!(socket.act, Act::Read(_) | Act::Hold(_)),
        kind => matches!(
            kind,
            SamplerKind::Http(_)
                | SamplerKind::HttpRaw(_)
                | SamplerKind::Tcp(_)
                | SamplerKind::Udp(_)
                | SamplerKind::Script(_)
                | SamplerKind::Debug(_)
                | SamplerKind::Parallel(_)
        ),
    };
    let timers = sampler.timers.iter().map(plan::element::Timer::longest_ms);
    let longest = timers.sum::<Option<f64>>()?;
    is_answered.then_some(longest.max(0.0).ceil() as i64)
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
        let words = "the test is over, but 3 users still wait for an answer: Ctrl-C twice ends the run at once";
        assert_eq!(at(8, 3, 20_000).as_deref(), Some(words));
        let mut stopped = Waiting::new(None);
        assert_eq!(stopped.of(0, 1, 0, true), None);
        let words = stopped.of(0, 1, 5000, true).expect("words");
        assert!(words.contains("1 user still waits for an answer: Ctrl-C again ends"), "{words}");
    }

    #[test]
    fn a_target_that_answers_nobody_is_told_once_each_time() {
        let mut waiting = Waiting { for_answers_ms: Some(0), ..Waiting::new(None) };
        assert_eq!(waiting.hanging(7, 4, 0), None);
        assert_eq!(waiting.hanging(8, 4, 9_000), None, "an answer came");
        assert_eq!(waiting.hanging(8, 4, 18_900), None);
        let words = "no answer has come for 10 s: 4 users wait";
        assert_eq!(waiting.hanging(8, 4, 19_000).as_deref(), Some(words));
        assert_eq!(waiting.hanging(8, 4, 40_000), None, "it was told");
        assert_eq!(waiting.hanging(9, 1, 41_000), None);
        let words = "no answer has come for 11 s: 1 user waits";
        assert_eq!(waiting.hanging(9, 1, 52_000).as_deref(), Some(words));
        let mut idle = Waiting { for_answers_ms: Some(0), ..Waiting::new(None) };
        assert_eq!((idle.hanging(0, 0, 0), idle.hanging(0, 0, 20_000)), (None, None));
        let mut pauses = Waiting { for_answers_ms: Some(5_000), ..Waiting::new(None) };
        assert_eq!((pauses.hanging(0, 1, 0), pauses.hanging(0, 1, 14_999)), (None, None));
        let words = "no answer has come for 15 s: 1 user waits";
        assert_eq!(pauses.hanging(0, 1, 15_000).as_deref(), Some(words));
        let mut thinks = Waiting::new(None);
        assert_eq!((thinks.hanging(0, 1, 0), thinks.hanging(0, 1, 20_000)), (None, None));
    }
}
