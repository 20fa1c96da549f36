//! Estimates the duration of the remaining probes of a search.
//!
//! Three things make a probe longer than planned: percentiles that need more samples, a target that is still busy
//! with requests of the previous probe, and late answers. The first effect is known after the first probe between the
//! bounds, the second after the first probe that follows a failed one.

use std::time::Duration;

use answers::search::Purpose;

use super::{LEAST, Search, judge};
use crate::questions::child::Remaining;

/// Assumed number of samples per independent sample near the limit, until a probe has run there. No larger number is
/// ever assumed.
const WORTH: f64 = 10.0;

/// Purpose, result and duration of a finished probe.
#[derive(Clone, Copy, Debug)]
pub(super) struct Took {
    pub(super) purpose: Purpose,
    pub(super) holds: bool,
    /// Duration of the probe, including the wait for the target before it.
    pub(super) time: Duration,
}

impl Search<'_> {
    /// Estimates the duration of further probes.
    pub(super) fn remaining(&self, probes: u32) -> Remaining {
        let rate = self.done.iter().map(|done| done.probe.rate).fold(0.0, f64::max);
        let wanted = judge::needed(self.criteria, rate, WORTH).min(self.longest.as_secs_f64());
        let lengthened = self.length.max(Duration::from_secs_f64(wanted));
        remaining(&self.took, probes, self.settle, (self.length, lengthened))
    }
}

/// Estimates the duration of further probes. `lengths` are the lengths of the next probe, and of a probe whose
/// percentiles need the largest number of samples.
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
        // A percentile needs 50 s near the limit, and no probe has been made there yet.
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
        // A probe that was lengthened later is longer than all finished probes.
        assert_eq!(remaining(&seen, 3, s(3), (s(50), s(50))), Remaining::AtMost(s(159)));
    }
}
