//! Estimates the probability that users which wait or pause independently leave a gap between responses.
//!
//! A waiting user gets no response for a time L if the rest of the wait is longer than L. For a wait of length x, this
//! holds for a share (x - L) / x of its time. So at any moment, the share of users who stay silent for L is the sum of
//! all x - L, divided by the total time of the users. Pauses are assumed to be exponential. Where waits longer than the
//! gap are a large part of the users' time, the users synchronise, and the probability is unknown.

use std::ops::Range;

use record::second::SLOTS;
use record::{Record, Second};
use stats::hist::layout;

use super::figures::{ms, service, sum};

/// Largest share of the users' time in waits longer than the gap. With a larger share, users with equal waits
/// synchronise, and each end of such a wait leaves a gap.
const IN_WAITS: f64 = 0.3;
/// Smallest length of a wait that synchronises users, as a multiple of the median time.
const LONGER: f64 = 1.5;
/// Largest expected number of gaps by chance in a run at which a gap counts as significant.
pub(super) const SURE: f64 = 0.01;

/// Returns the expected number of gaps as long as `gap` that chance makes in the given seconds; `gap` is a range of
/// slots of 100 ms. An open load has none: its responses follow the starts.
pub(super) fn by_chance(
    record: &Record,
    seconds: &[Second],
    gap: &Range<usize>,
    slots: &[u32],
) -> f64 {
    if record.frame.load.open {
        return 0.0;
    }
    let length_ms = 100.0 * gap.len() as f64;
    let busy_ms = sum(seconds, |s| s.all.elapsed) as f64 / 1e6;
    let (users_ms, users) = if record.has.users {
        let at = &seconds[gap.end.min(slots.len() - 1) / SLOTS];
        (sum(seconds, |s| s.users * u64::from(s.ms)) as f64, at.users)
    } else {
        let length_ms = sum(seconds, |s| u64::from(s.ms)) as f64;
        (busy_ms, (busy_ms / length_ms.max(1.0)).ceil() as u64)
    };
    let requests = sum(seconds, |s| s.all.count).max(1) as f64;
    let users_ms = users_ms.max(busy_ms).max(1.0);
    let times = |seconds: &[Second], of: &dyn Fn(f64) -> f64| -> f64 {
        let bins = seconds.iter().flat_map(|s| s.all.service.iter());
        bins.map(|(bin, n)| of(layout::middle_of(bin) as f64 / 1000.0) * n as f64).sum()
    };
    // Requests that waited during the gap itself are no evidence of other waits.
    let end = (gap.end / SLOTS).min(seconds.len());
    let usual_ms = ms(&service(seconds), 0.5);
    let wait = |x: f64| if x > length_ms && x > LONGER * usual_ms { x } else { 0.0 };
    let waits_ms =
        times(&seconds[..end], &wait) + times(seconds.get(end + 2..).unwrap_or_default(), &wait);
    if waits_ms > IN_WAITS * users_ms {
        return slots.len() as f64;
    }
    let over_ms = times(seconds, &|x| (x - length_ms).max(0.0));
    let pauses_ms = users_ms - busy_ms;
    let pause_ms = (pauses_ms / requests).max(1e-3);
    let silent = ((over_ms + pauses_ms * (-length_ms / pause_ms).exp()) / users_ms).clamp(0.0, 1.0);
    // Responses within the gap come from users who continued, each at the usual rate.
    let inner = slots.get(gap.start + 1..gap.end.saturating_sub(1)).unwrap_or_default();
    let inner: f64 = inner.iter().map(|n| f64::from(*n)).sum();
    let each_ms = (users_ms / requests).min(length_ms);
    let went_on = (inner * each_ms / length_ms).ceil() as u64;
    slots.len() as f64 * at_most(went_on, users, 1.0 - silent)
}

/// Returns the probability of at most `k` successes in `n` trials with probability `p` each.
pub(super) fn at_most(k: u64, n: u64, p: f64) -> f64 {
    if k >= n {
        return 1.0;
    }
    let (yes, no) = (p.max(1e-300).ln(), (1.0 - p).max(1e-300).ln());
    let (mut choose, mut chance) = (0.0, 0.0);
    for i in 0..=k {
        if i > 0 {
            choose += ((n - i + 1) as f64 / i as f64).ln();
        }
        chance += (choose + i as f64 * yes + (n - i) as f64 * no).exp();
    }
    chance.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_are_those_of_the_binomial_distribution() {
        let is = |chance: f64, right: f64| assert!((chance - right).abs() < 1e-9, "{chance}");
        is(at_most(0, 3, 0.5), 0.125);
        is(at_most(1, 3, 0.5), 0.5);
        is(at_most(3, 3, 0.5), 1.0);
        is(at_most(0, 20, 1.0), 0.0);
        is(at_most(1, 10, 0.1), 0.9_f64.powi(10) + 0.9_f64.powi(9));
    }
}
