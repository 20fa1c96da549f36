//! Describes the times at which requests fail: periods in which all requests fail, and failures that recur at equal
//! intervals.

use record::{Record, Second};

use super::figures::{deviation, mean, median, sum, whole};
use super::say::{clock, time, words};
use crate::verdict::Words;

/// Smallest number of seconds in a stretch in which all requests fail.
const SECONDS: usize = 3;
/// Smallest number of requests in a stretch in which all requests fail.
const REQUESTS: u64 = 20;
/// Smallest number of stretches of failures that count as periodic.
const TIMES: usize = 4;
/// Shortest time in seconds from the beginning of a stretch of failures to the beginning of the next one, for
/// stretches that count as periodic.
const EVERY_S: f64 = 4.0;
/// Smallest number of failures in each stretch, for stretches that count as periodic.
const EACH: u64 = 5;
/// Largest standard deviation in seconds of the intervals between stretches of failures, and of their lengths, for
/// stretches that count as periodic.
const EVEN_S: f64 = 0.75;
/// Largest standard deviation of the intervals between stretches of failures, and of their lengths, as a share of the
/// interval, for stretches that count as periodic. The smaller of `EVEN_S` and this limit counts.
const EVEN: f64 = 0.1;
/// Standard deviation, as a share of the interval between stretches, that is always allowed for stretches that count as
/// periodic. For long intervals, this limit is larger than `EVEN_S` and `EVEN`.
const EVEN_LONG: f64 = 0.03;
/// Largest length of a stretch, as a share of the interval, for stretches that count as periodic.
const PART: f64 = 0.5;
/// Smallest ratio of a second's failed share to the highest failed share at which the second belongs to a stretch.
const FAILING: f64 = 0.2;

/// Returns the index and the length of each run of consecutive true values.
pub(super) fn runs(values: &[bool]) -> Vec<(usize, usize)> {
    let (mut found, mut at) = (Vec::new(), 0);
    for part in values.chunk_by(|a, b| a == b) {
        if part[0] {
            found.push((at, part.len()));
        }
        at += part.len();
    }
    found
}

/// True if every request of these seconds fails. Successes in the first and in the last second are ignored, since
/// failures may begin and end within them. `of`: returns requests and failures of a second.
fn all_fail(seconds: &[Second], of: impl Fn(&Second) -> (u64, u64)) -> bool {
    let [_, within @ .., _] = seconds else { return false };
    let (all, failed) = within.iter().map(of).fold((0, 0), |sum, of| (sum.0 + of.0, sum.1 + of.1));
    let with_requests = within.iter().filter(|second| second.all.count > 0).count();
    with_requests >= SECONDS && all >= REQUESTS && failed == all
}

/// Stretches of failures that recur at equal intervals.
pub(super) struct Period {
    /// Number of stretches.
    pub(super) times: usize,
    /// Seconds from the beginning of a stretch to the beginning of the next one.
    pub(super) every_s: f64,
    /// Length of a stretch in seconds.
    pub(super) for_s: f64,
}

/// Returns the period of failures that recur at equal intervals; `None` if they do not. `failed`: returns the failures
/// of a second that count.
pub(super) fn period(seconds: &[Second], failed: impl Fn(&Second) -> u64) -> Option<Period> {
    let shares: Vec<f64> =
        seconds.iter().map(|s| failed(s) as f64 / s.all.count.max(1) as f64).collect();
    let most = shares.iter().copied().fold(0.0, f64::max);
    let is_failing: Vec<bool> =
        shares.iter().map(|share| *share > 0.0 && *share >= FAILING * most).collect();
    let runs = runs(&is_failing);
    if runs.len() < TIMES {
        return None;
    }
    let second_s = sum(seconds, |s| u64::from(s.ms)) as f64 / 1000.0 / seconds.len() as f64;
    // The failed share of the first second of a stretch shows when within that second the failures begin.
    let begins: Vec<f64> =
        runs.iter().map(|(at, _)| (*at as f64 + 1.0 - shares[*at] / most) * second_s).collect();
    let lengths: Vec<f64> = runs
        .iter()
        .map(|(at, length)| shares[*at..at + length].iter().sum::<f64>() / most * second_s)
        .collect();
    let every: Vec<f64> = begins.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let (every_s, for_s) = (mean(&every), median(&lengths));
    let most_uneven = EVEN_S.min(EVEN * every_s).max(EVEN_LONG * every_s);
    let even = |values: &[f64]| deviation(values) <= most_uneven;
    // The end of the run may cut the last stretch short, so the length of that stretch does not have to match.
    let uncut = &lengths[..lengths.len() - 1];
    let failures = |(at, length): &(usize, usize)| sum(&seconds[*at..at + length], &failed);
    let within: u64 = runs.iter().map(failures).sum();
    let is_period = even(&every)
        && even(uncut)
        && every_s >= EVERY_S
        && lengths.iter().all(|length| *length <= for_s + 2.0 * most_uneven)
        && for_s <= PART * every_s
        && runs.iter().all(|run| failures(run) >= EACH)
        && 20 * within >= 19 * sum(seconds, &failed);
    is_period.then_some(Period { times: runs.len(), every_s, for_s })
}

/// Returns a phrase about the times of a cause that recurs at equal intervals; `None` for other causes.
pub(super) fn at_intervals(record: &Record, cause: usize, from_ms: i64) -> Option<Words> {
    let of = |second: &Second| {
        let own = second.causes.iter().filter(|(at, _)| *at as usize == cause);
        own.map(|(_, n)| n).sum()
    };
    let period = period(whole(record), of)?;
    let (every, long) = (time(period.every_s * 1000.0), time(period.for_s * 1000.0));
    let (times, from) = (period.times, clock(from_ms - record.frame.start_ms));
    Some(words!(when_at_intervals(every, long, times, from)))
}

/// Returns a phrase about a stretch in which every request fails; empty if there is none. `only`: the only label
/// with failures, if there are several labels; then only its requests count. `during`: the seconds from the first
/// failure to the last one, or to the end of the run if the failures continue.
pub(super) fn each_fails(
    record: &Record,
    during: &[Second],
    only: Option<(u32, u64)>,
    from_ms: i64,
    is_over: bool,
) -> Words {
    let of = |second: &Second| match only {
        None => (second.all.count, second.all.errors),
        Some((label, _)) => {
            let part = second.labels.counts().find(|(number, ..)| *number == label);
            part.map_or((0, 0), |(_, all, bad)| (all, bad))
        }
    };
    let has_good = |second: &Second| second.all.count > second.all.errors;
    let is_whole_run = !record.seconds.iter().any(has_good);
    let Some(last) = during.last().filter(|_| !is_whole_run && all_fail(during, of)) else {
        return Words::default();
    };
    let shown = |ms: i64| clock(ms - record.frame.start_ms);
    let (from, every) = (shown(from_ms), if only.is_some() { "each one" } else { "every request" });
    if !is_over {
        return words!(every_request_fails_from(every, from));
    }
    let (all, bad) = of(last);
    let to = shown(if bad < all { last.at_ms - i64::from(last.ms) } else { last.at_ms });
    words!(every_request_fails_between(every, from, to))
}
