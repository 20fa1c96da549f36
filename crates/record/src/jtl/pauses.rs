//! Seconds without rows: gaps within a run, and pauses between runs that were appended to one file.
//!
//! Cost and memory grow with the number of seconds that have rows. A short gap is filled with seconds; a long gap
//! becomes one long second. A pause does not count as time of the test: no sample was in flight, and the pause is much
//! longer than all ordinary gaps.

use std::collections::BTreeMap;

use super::{Closed, Open};
use crate::second::Second;

/// Shortest gap, in seconds, that counts as a pause between runs.
const LEAST_PAUSE: i64 = 60;
/// Smallest ratio of the shortest pause to the longest other gap at which the long gaps count as pauses.
const TIMES_LONGER: i64 = 10;
/// Largest number of gaps of a file that count as pauses.
const MOST_PAUSES: usize = 20;
/// Smallest average number of seconds with rows in the runs between pauses. Limits the number of gaps that count as
/// pauses.
const LEAST_RUN: usize = 10;
/// Longest gap, in seconds, that is filled with seconds without rows.
const SHORT: i64 = 60;
/// Largest number of seconds that fill gaps, or the number of seconds with rows if that number is larger.
const MOST_FILLED: i64 = 3600;

/// A gap before a second with rows: the first second of the gap, the second in which the next sample starts, and
/// the second with rows.
struct Gap {
    from: i64,
    start: i64,
    to: i64,
}

impl Gap {
    /// Returns the number of seconds in which no sample was in flight.
    fn idle(&self) -> i64 {
        (self.start - self.from).max(0)
    }
}

/// Returns all seconds in chronological order, including those without rows, and the lengths in ms of the pauses
/// between runs. Seconds are numbered from the origin.
pub(super) fn seconds(closed: BTreeMap<i64, Closed>, origin_ms: i64) -> (Vec<Second>, Vec<i64>) {
    let gaps = gaps(&closed, origin_ms);
    let nothing = |number| Closed::from(Open::default()).second(number, origin_ms);
    let least = least_pause(&gaps, closed.len());
    let mut room = MOST_FILLED.max(closed.len() as i64);
    let (mut seconds, mut pauses) = (Vec::with_capacity(closed.len()), Vec::new());
    let mut gaps = gaps.into_iter().peekable();
    for (number, closed) in closed {
        if let Some(gap) = gaps.next_if(|gap| gap.to == number) {
            let mut from = gap.from;
            if least.is_some_and(|least| gap.idle() >= least) {
                pauses.push(gap.idle() * 1000);
                from = gap.start;
            }
            fill(&mut seconds, from..number, &mut room, nothing);
        }
        seconds.push(closed.second(number, origin_ms));
    }
    (seconds, pauses)
}

fn gaps(closed: &BTreeMap<i64, Closed>, origin_ms: i64) -> Vec<Gap> {
    let mut gaps = Vec::new();
    // Earliest start of the samples that end in this second or later.
    let (mut start, mut next) = (i64::MAX, None);
    for (number, closed) in closed.iter().rev() {
        if let Some(to) = next
            && number + 1 < to
        {
            let start = start.saturating_sub(origin_ms).div_euclid(1000).clamp(number + 1, to);
            gaps.push(Gap { from: number + 1, start, to });
        }
        start = start.min(closed.start_ms);
        next = Some(*number);
    }
    gaps.reverse();
    gaps
}

/// Returns the length in seconds from which a gap counts as a pause; `None` if no gap is a pause.
fn least_pause(gaps: &[Gap], with_rows: usize) -> Option<i64> {
    let mut idle: Vec<i64> = gaps.iter().map(Gap::idle).collect();
    idle.sort_unstable_by_key(|idle| std::cmp::Reverse(*idle));
    let most = MOST_PAUSES.min(idle.len()).min((with_rows / LEAST_RUN).saturating_sub(1));
    let is_least = |n: &usize| {
        let other = idle.get(*n).copied().unwrap_or(0).max(1);
        idle[n - 1] >= LEAST_PAUSE && idle[n - 1] >= TIMES_LONGER * other
    };
    (1..=most).rev().find(is_least).map(|n| idle[n - 1])
}

/// Fills the gap `of` with seconds without rows, or with one long second if the gap is longer than [`SHORT`] or `room`.
fn fill(
    seconds: &mut Vec<Second>,
    of: std::ops::Range<i64>,
    room: &mut i64,
    nothing: impl Fn(i64) -> Second,
) {
    let (from, to) = (of.start, of.end);
    if to - from <= SHORT.min(*room) {
        *room -= to - from;
        seconds.extend((from..to).map(&nothing));
        return;
    }
    let mut from = from;
    while from < to {
        let length = (to - from).min(i64::from(u32::MAX) / 1000);
        from += length;
        seconds.push(Second { ms: (length * 1000) as u32, ..nothing(from - 1) });
    }
}
