//! Seconds without rows: those within a run, and the pauses between runs that were appended to one file.
//!
//! Cost and memory follow the seconds that have rows. Short gaps are seconds of their own; of long ones one second stands
//! for all. A pause is no time of the test: no sample was in flight, and it is much longer than all gaps that are none.

use std::collections::BTreeMap;

use super::{Closed, Open};
use crate::second::Second;

/// A pause is at least so many seconds long, and so many times as long as the longest gap that is none.
const LEAST_PAUSE: i64 = 60;
const TIMES_LONGER: i64 = 10;
/// Pauses of a file, at most, and seconds with rows that there are for each run.
const MOST_PAUSES: usize = 20;
const LEAST_RUN: usize = 10;
/// Longest gap that is filled with seconds of their own, and their number beside those with rows.
const SHORT: i64 = 60;
const MOST_FILLED: i64 = 3600;

/// A gap before a second with rows: its first second, the second in which the next sample starts, and the one with rows.
struct Gap {
    from: i64,
    start: i64,
    to: i64,
}

impl Gap {
    /// Seconds in which no sample was in flight.
    fn idle(&self) -> i64 {
        (self.start - self.from).max(0)
    }
}

/// The seconds in order of time, with those without rows, and the lengths of the pauses between runs, ms. Seconds are
/// numbered from the origin.
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
    // The start of the first sample that ends in a second or later.
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

/// Length from which on a gap is a pause, seconds; `None`: none is.
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

/// Adds seconds without rows.
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
