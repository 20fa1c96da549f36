//! Short bursts of failures. Each burst counts as one event, however many samples were in flight during it.
//!
//! A burst is a sequence of seconds with far more failures than the average share of the run predicts. Adjacent
//! seconds without any success belong to it. A sequence of [`LASTING`] seconds or more is not a short burst but a
//! state of the target. Cost: a few passes over the seconds.

use super::{Course, Unit};

/// Length in seconds from which failures count as lasting.
pub(super) const LASTING: usize = 5;
/// Length in ms from which failures count as lasting.
const LASTING_MS: f64 = 1000.0 * LASTING as f64;
/// Smallest excess of failures over the expected number, in standard deviations, at which seconds count as a burst.
/// `MORE` must hold, too.
const DEVIATIONS: f64 = 4.0;
/// Smallest excess of failures over the expected number, as a number of failures, at which seconds count as a burst.
/// `DEVIATIONS` must hold, too.
const MORE: f64 = 3.0;

/// A short burst: indexes of its first and last second, and its failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Burst {
    pub(super) first: usize,
    pub(super) last: usize,
    pub(super) failed: u64,
}

impl Course {
    /// Returns the course with each short burst reduced to one failure, and the bursts.
    pub(super) fn by_events(&self) -> (Self, Vec<Burst>) {
        let bursts = short(&self.0);
        let mut course = self.clone();
        for burst in &bursts {
            course.0[burst.first..=burst.last].iter_mut().for_each(|unit| unit.failed = 0);
            course.0[burst.first].failed = 1;
        }
        (course, bursts)
    }
}

/// Finds the short bursts of a run.
fn short(units: &[Unit]) -> Vec<Burst> {
    let is_in = marked(units);
    let mut found = Vec::new();
    let mut at = 0;
    while at < units.len() {
        if !is_in[at] {
            at += 1;
            continue;
        }
        let (first, last) = (at, stretch(units, &is_in, at));
        at = last + 1;
        let (from, to) = (with_silence(units[..first].iter().rev()), with_silence(&units[at..]));
        // A long run stores intervals instead of old seconds. Failures can take a shorter time than their interval.
        let ms: f64 = units[first..=last].iter().map(Unit::least_ms).sum();
        if ms.max(from).max(to) < LASTING_MS {
            let failed = units[first..=last].iter().map(|unit| unit.failed).sum();
            found.push(Burst { first, last, failed });
        }
    }
    found
}

/// Returns the last second of the sequence that starts at `first`. Gaps without any success belong to the sequence.
fn stretch(units: &[Unit], is_in: &[bool], first: usize) -> usize {
    let mut last = first;
    for at in first + 1..units.len() {
        if is_in[at] {
            last = at;
        } else if units[at].succeeds() {
            break;
        }
    }
    last
}

/// Returns the time, in ms, directly before or after a sequence in which no request succeeds.
fn with_silence<'u>(beside: impl IntoIterator<Item = &'u Unit>) -> f64 {
    beside.into_iter().take_while(|unit| !unit.succeeds()).map(|unit| f64::from(unit.ms)).sum()
}

/// Returns for each second true if it belongs to a burst. Windows of one second are tested first, longer windows only
/// if those show nothing.
fn marked(units: &[Unit]) -> Vec<bool> {
    let mut is_in = vec![false; units.len()];
    let (all, failed) = sums(units);
    if failed == 0 {
        return is_in;
    }
    let share = failed as f64 / all as f64;
    let is_beyond = |window: &[Unit], deviations: f64, more: f64| {
        let (all, failed) = sums(window);
        let expected = share * all as f64;
        failed as f64 > expected + deviations * expected.sqrt() + more
    };
    for length in 1..LASTING {
        for (at, window) in units.windows(length).enumerate() {
            let within = at..at + length;
            let is_new = is_in[within.clone()].iter().all(|is_in| !is_in);
            if is_new && is_beyond(window, DEVIATIONS, MORE) {
                within.for_each(|at| is_in[at] = units[at].failed > 0);
            }
        }
    }
    // A burst that begins or ends within a second leaves some failures in the adjacent second.
    let whole = is_in.clone();
    for at in 0..units.len() {
        let is_beside = at > 0 && whole[at - 1] || whole.get(at + 1) == Some(&true);
        is_in[at] |= is_beside && is_beyond(&units[at..=at], DEVIATIONS / 2.0, 1.0);
    }
    is_in
}

fn sums(units: &[Unit]) -> (u64, u64) {
    units.iter().fold((0, 0), |sum, unit| (sum.0 + unit.all, sum.1 + unit.failed))
}

impl Unit {
    fn succeeds(&self) -> bool {
        self.all > self.failed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a run of 50 samples per second; `failed` returns the failures of each second.
    fn course(failed: impl Fn(usize) -> u64) -> Course {
        let unit = |at| Unit {
            end_ms: (at as i64 + 1) * 1000,
            ms: 1000,
            all: 50,
            failed: failed(at),
            ..Unit::default()
        };
        Course((0..100).map(unit).collect())
    }

    #[test]
    fn a_short_outage_is_one_event_and_a_long_one_is_none() {
        for (seconds, count) in [(1, 1), (2, 1), (4, 1), (5, 0), (20, 0), (100, 0)] {
            let is_down = |at: usize| (30..30 + seconds).contains(&at) || seconds == 100;
            let (by_events, found) = course(|at| if is_down(at) { 50 } else { 0 }).by_events();
            assert_eq!(found.len(), count, "{seconds} s: {found:?}");
            let failed = if count == 1 { 1 } else { 50 * seconds as u64 };
            assert_eq!(sums(&by_events.0).1, failed, "{seconds} s");
        }
    }

    #[test]
    fn an_outage_between_two_seconds_beside_other_failures_is_one_event() {
        let (by_events, found) = course(|at| match at {
            40 => 12,
            41 => 38,
            at => u64::from(at % 7 == 0),
        })
        .by_events();
        assert_eq!(found, [Burst { first: 40, last: 41, failed: 50 }]);
        assert_eq!(sums(&by_events.0).1, 16);
        assert!(course(|at| u64::from(at % 7 == 0)).by_events().1.is_empty());
    }

    #[test]
    fn an_outage_within_an_interval_of_a_long_run_is_as_long_as_its_failures_take_at_least() {
        // Intervals of ten minutes. One of them contains an outage in which up to 50 requests per second fail.
        for (failed, most, count) in
            [(3000, 50.0, 0), (300, 50.0, 0), (200, 50.0, 1), (50, 50.0, 1)]
        {
            let unit = |at: i64| Unit {
                end_ms: (at + 1) * 600_000,
                ms: 600_000,
                all: 30_000,
                failed: if at == 20 { failed } else { 0 },
                most_per_s: if at == 20 { most } else { 0.0 },
            };
            let found = Course((0..100).map(unit).collect()).by_events().1;
            assert_eq!(found.len(), count, "{failed}: {found:?}");
        }
    }

    #[test]
    fn time_limits_that_end_together_are_no_short_burst() {
        // From 0:40 on nothing is answered, and all requests end by timeout every 10 s.
        let mut hanging = course(|_| 0);
        for (at, unit) in hanging.0.iter_mut().enumerate().skip(40) {
            (unit.all, unit.failed) = if at % 10 == 9 { (10, 10) } else { (0, 0) };
        }
        assert!(hanging.by_events().1.is_empty());
    }
}
