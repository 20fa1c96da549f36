//! The time that the remaining probes of a search take.
//!
//! Three things make a probe longer than its own time: percentiles that need more samples, a target that works off the
//! last probe, and answers that come late. The first is known from the first probe between the bounds, the second from
//! the first probe behind one that failed.

use std::time::Duration;

use answers::search::Purpose;

use super::{LEAST, Search, judge};
use crate::questions::child::Remaining;

/// Samples that are worth an independent one near the limit, as long as no probe there was made: as many as are assumed at
/// most.
const WORTH: f64 = 10.0;

/// A probe that was made, as far as its time is concerned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Took {
    pub(super) purpose: Purpose,
    pub(super) holds: bool,
    /// With the wait for the target before it.
    pub(super) time: Duration,
}

impl Search<'_> {
    /// The time of that many further probes.
    pub(super) fn remaining(&self, probes: u32) -> Remaining {
        let rate = self.done.iter().map(|done| done.probe.rate).fold(0.0, f64::max);
        let wanted = judge::needed(self.criteria, rate, WORTH).min(self.longest.as_secs_f64());
        let lengthened = self.length.max(Duration::from_secs_f64(wanted));
        remaining(&self.took, probes, self.settle, (self.length, lengthened))
    }
}

/// `lengths`: of the next probe, and of one whose percentiles need as many samples as can be.
fn remaining(
    took: &[Took],
    probes: u32,
    settle: Duration,
    (length, lengthened): (Duration, Duration),
) -> Remaining {
    let is_near = |took: &Took| matches!(took.purpose, Purpose::Narrow | Purpose::Confirm);
    let longest = took.iter().map(|took| took.time).max().unwrap_or_default();
    if took.windows(2).any(|pair| !pair[0].holds && is_near(&pair[1])) {
        return Remaining::AtMost(longest.max(settle + length) * probes);
    }
    let least = settle + length.min(LEAST);
    let most = longest.max(settle + lengthened.max(length));
    Remaining::Usually(least * probes, most * probes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn took(purpose: Purpose, holds: bool, seconds: u64) -> Took {
        Took { purpose, holds, time: s(seconds) }
    }

    #[test]
    fn before_the_limit_is_near_the_range_allows_for_longer_probes() {
        let begins = remaining(&[], 9, s(3), (s(10), s(10)));
        assert_eq!(begins, Remaining::Usually(s(117), s(117)));
        // A percentile needs 50 s near the limit, which no probe has shown yet.
        let seen = [took(Purpose::Light, true, 13), took(Purpose::Overload, false, 14)];
        assert_eq!(remaining(&seen, 7, s(3), (s(10), s(50))), Remaining::Usually(s(91), s(371)));
    }

    #[test]
    fn the_wait_for_the_target_behind_a_probe_that_failed_is_in_the_bound() {
        let seen = [
            took(Purpose::Light, true, 13),
            took(Purpose::Overload, false, 14),
            took(Purpose::Narrow, false, 45),
            took(Purpose::Narrow, true, 20),
        ];
        assert_eq!(remaining(&seen, 3, s(3), (s(10), s(50))), Remaining::AtMost(s(135)));
        // A probe that was lengthened since is longer than all that were made.
        assert_eq!(remaining(&seen, 3, s(3), (s(50), s(50))), Remaining::AtMost(s(159)));
    }
}
