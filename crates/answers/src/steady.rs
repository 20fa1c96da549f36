//! The part of a run whose metrics are compared: warmed up, and under full load.
//!
//! Seconds in which users still start or already end do not belong to it. Neither does a partial second at the end
//! of a run, in which its users end. All rows of a result file belong to it. [`crate::warmup`] finds the warm-up
//! within it. [`Steady`] records what was left out, and metrics of the whole run remain available.

use crate::warmup::{Course, WarmUp, warm_up};
use record::{Change, Record, Second};

/// Share of the largest number of users from which a second counts as under full load.
const FULL: f64 = 0.95;
/// Smallest share of the run under full load at which only this part counts as steady. With a smaller share, the load
/// is assumed to change on purpose, and the whole run counts, unless the full load follows a ramp (`HOLD`).
const LEAST_SHARE: f64 = 0.4;
/// Smallest ratio of the longest time with a constant number of users under full load to the longest such time before
/// the full load. From this ratio on, the full load follows a ramp, and only the full load counts.
const HOLD: f64 = 1.5;
/// Smallest length of the longest time with a constant number of users under full load, as a share of the run, for a
/// full load that follows a ramp.
const HOLD_SHARE: f64 = 0.2;
/// Shortest partial second in ms that has a meaningful rate.
pub(crate) const LEAST_MS: u32 = 900;

/// The steady part of a run, as indexes of its seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Steady {
    /// Index of the first second under full load.
    pub loaded: usize,
    /// Index after the last second under full load.
    pub end: usize,
    pub warm_up: WarmUp,
}

impl Steady {
    /// Returns the index of the first second of the steady part.
    pub fn start(&self) -> usize {
        self.loaded + self.warm_up.seconds
    }

    pub fn seconds<'r>(&self, record: &'r Record) -> &'r [Second] {
        &record.seconds[self.start().min(self.end)..self.end]
    }

    /// Returns the seconds under full load, including the warm-up.
    pub fn with_warm_up<'r>(&self, record: &'r Record) -> &'r [Second] {
        &record.seconds[self.loaded..self.end]
    }
}

/// Finds the steady part of a run.
pub fn steady(record: &Record) -> Steady {
    let (loaded, end) = under_load(record);
    let seconds = &record.seconds[loaded..end];
    let pieces = seconds.iter().rev().take_while(|second| second.ms < LEAST_MS).count();
    let seconds = &seconds[..seconds.len() - pieces];
    let rates: Vec<f64> = seconds.iter().map(rate).collect();
    let mut last = 0.0;
    let p95: Vec<f64> = seconds
        .iter()
        .map(|second| {
            if second.all.count > 0 {
                last = second.all.service.quantile(0.95) as f64;
            }
            last
        })
        .collect();
    let failed = |second: &Second| second.all.errors as f64 / second.all.count.max(1) as f64;
    let errors: Vec<f64> = seconds.iter().map(failed).collect();
    let course = Course { rates: &rates, p95: &p95, errors: &errors, slots: &slots(seconds) };
    Steady { loaded, end, warm_up: warm_up(&course) }
}

/// Returns the completions in each tenth of a second; empty if they were not counted, or if a second is partial.
fn slots(seconds: &[Second]) -> Vec<f64> {
    let counted: u64 = seconds.iter().flat_map(|s| s.all.slots).map(u64::from).sum();
    let is_whole = seconds.iter().all(|second| second.ms >= LEAST_MS);
    if counted == 0 || !is_whole {
        return Vec::new();
    }
    seconds.iter().flat_map(|second| second.all.slots).map(f64::from).collect()
}

/// Returns the samples per second of a recorded second.
pub fn rate(second: &Second) -> f64 {
    if second.ms == 0 { 0.0 } else { second.all.count as f64 * 1000.0 / f64::from(second.ms) }
}

/// Returns the seconds under full load: index of the first one, and the index after the last one.
fn under_load(record: &Record) -> (usize, usize) {
    let stop = record
        .marks
        .iter()
        .find(|mark| matches!(mark.change, Change::Stop { .. }))
        .map(|mark| mark.at_ms);
    let last = |least_ms: u32| {
        record.seconds.iter().rposition(|second| {
            second.ms >= least_ms && stop.is_none_or(|stop| second.at_ms <= stop)
        })
    };
    // Rows do not show when users ended. A run shorter than a second consists of a partial second only.
    let least_ms = if record.has.generator { LEAST_MS } else { 0 };
    let end = last(least_ms).or_else(|| last(0)).map_or(0, |last| last + 1);
    let seconds = &record.seconds[..end];
    let most = seconds.iter().map(|second| second.users).max().unwrap_or(0);
    // Under a load given as a rate, the number of users follows demand.
    if most == 0 || record.frame.load.open || !record.has.users {
        return (0, end);
    }
    let full = |second: &Second| second.users as f64 >= FULL * most as f64;
    // The second in which the last user started belongs to the ramp-up, unless the run began with full load.
    let first = seconds.iter().position(full).map_or(0, |first| first + usize::from(first > 0));
    let last = seconds.iter().rposition(full).map_or(end, |last| last + 1);
    let is_long = last.saturating_sub(first) as f64 >= LEAST_SHARE * end as f64;
    let is_hold = || {
        let (before, full) = seconds.split_at(first.min(last));
        let full = longest_step(&full[..last - first.min(last)]);
        let least = (HOLD * longest_step(before) as f64).max(HOLD_SHARE * end as f64);
        first > 0 && full as f64 >= least
    };
    if is_long || is_hold() { (first, last) } else { (0, end) }
}

/// Returns the largest number of consecutive seconds with the same number of users; at least 1.
fn longest_step(seconds: &[Second]) -> usize {
    seconds.chunk_by(|a, b| a.users == b.users).map(<[_]>::len).max().unwrap_or(0).max(1)
}

#[cfg(test)]
mod tests {
    use record::{Has, Mark};

    use super::*;

    fn record(users: impl Fn(usize) -> u64, n: usize) -> Record {
        let second = |i: usize| Second {
            at_ms: (i as i64 + 1) * 1000,
            ms: 1000,
            users: users(i),
            ..Second::default()
        };
        Record {
            seconds: (0..n).map(second).collect(),
            has: Has { users: true, ..Has::default() },
            ..Record::default()
        }
    }

    #[test]
    fn ramp_and_end_are_no_part() {
        let found = steady(&record(
            |i| {
                if i < 10 {
                    i as u64 * 10
                } else if i < 80 {
                    100
                } else {
                    40
                }
            },
            90,
        ));
        assert_eq!((found.loaded, found.end), (11, 80));
        let short = steady(&record(|i| (i as u64 * 5).min(100), 28));
        assert_eq!((short.loaded, short.end), (20, 28), "a ramp of 20 s");
        let few = steady(&record(|i| (i as u64 / 4 + 1).min(6), 28));
        assert_eq!((few.loaded, few.end), (21, 28), "a ramp of 6 users");
        let steps = steady(&record(|i| i as u64 / 10, 90));
        assert_eq!((steps.loaded, steps.end), (0, 90));
        assert_eq!(steady(&Record::default()).end, 0);
    }

    #[test]
    fn a_run_of_half_a_minute_has_a_steady_part_behind_its_warm_up() {
        let mut run = record(|_| 5, 30);
        for (at, second) in run.seconds.iter_mut().enumerate() {
            // The speed is halved in the first five seconds.
            let each = if at < 5 { 10 } else { 20 };
            second.all.slots = [each; 10];
            second.all.slots[at % 10] += 1;
            second.all.count = second.all.slots.iter().copied().map(u64::from).sum();
        }
        let found = steady(&run);
        assert!((5..=6).contains(&found.warm_up.seconds), "{found:?}");
        assert_eq!(found.seconds(&run).len(), 30 - found.warm_up.seconds);
        assert_eq!(found.with_warm_up(&run).len(), 30);
        assert!(!found.warm_up.too_short && !found.warm_up.unsteady);
    }

    #[test]
    fn a_stop_and_pieces_of_seconds_end_it() {
        let mut stopped = record(|_| 5, 30);
        stopped.seconds[29].ms = 200;
        assert_eq!(steady(&stopped).end, 30, "each row of a result file counts");
        stopped.has.generator = true;
        assert_eq!(steady(&stopped).end, 29);
        stopped.marks.push(Mark { at_ms: 20_000, change: Change::Stop { at_once: false } });
        assert_eq!(steady(&stopped).end, 20);
        let mut short = record(|_| 5, 1);
        (short.seconds[0].ms, short.has.generator) = (500, true);
        assert_eq!(steady(&short).end, 1, "there is nothing else");
    }
}
