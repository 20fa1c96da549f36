//! The chance that users who wait, or pause, each on their own leave a gap between answers.
//!
//! A user who waits gives no answer for a time if the rest of the wait is longer. Of waits that took x, the rest is longer
//! than a length L in a share (x - L) / x of their time; so that at any moment, of the users' whole time, the sum of all
//! x - L is the share of users who stay silent for L. Pauses are taken as those of an exponential distribution. Where such
//! waits are most of what users do, they fall in step, and the chance is not known.

use std::ops::Range;

use record::second::SLOTS;
use record::{Record, Second};
use stats::hist::layout;

use super::figures::{ms, service, sum};

/// Share of the users' time in waits that are longer than the gap, from which on users who wait for the same time fall in step:
/// then each end of such waits is a gap.
const IN_WAITS: f64 = 0.3;
/// Such a wait takes this multiple of the median at least.
const LONGER: f64 = 1.5;
/// Gaps that chance makes in a run, at most, so that one is beyond chance.
pub(super) const SURE: f64 = 0.01;

/// Gaps like this one, in slots of 100 ms, that chance would make in these seconds. An open load has none: there answers
/// follow the starts.
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
    // Those that waited for this gap say nothing about others.
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
    // Answers within the gap are those of users who went on, each as often as usual.
    let inner = slots.get(gap.start + 1..gap.end.saturating_sub(1)).unwrap_or_default();
    let inner: f64 = inner.iter().map(|n| f64::from(*n)).sum();
    let each_ms = (users_ms / requests).min(length_ms);
    let went_on = (inner * each_ms / length_ms).ceil() as u64;
    slots.len() as f64 * at_most(went_on, users, 1.0 - silent)
}

/// The chance of at most `k` of `n`, each with the chance `p`.
fn at_most(k: u64, n: u64, p: f64) -> f64 {
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
