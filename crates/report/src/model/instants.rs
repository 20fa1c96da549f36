//! Joining the seconds of a run into the number of instants that fits into a chart.

use std::ops::Range;

use record::Second;

/// A point on the time axis of charts: one second, or several joined seconds.
#[derive(Clone, Debug)]
pub(super) struct Instant {
    /// Start of the instant, epoch ms.
    pub at_ms: i64,
    /// Length of the instant, ms.
    pub ms: i64,
    pub seconds: Range<usize>,
}

impl Instant {
    /// Returns the length of the instant in seconds, which is never 0.
    pub(super) fn length(&self) -> f64 {
        self.ms.max(1) as f64 / 1000.0
    }
}

/// Joins seconds into at most `most` instants with the same number of seconds each. The last instant may be shorter. If
/// it is shorter than half of the others, it is joined to the one before, because its rate could show a false peak.
pub(super) fn instants(seconds: &[Second], most: usize) -> Vec<Instant> {
    let size = seconds.len().div_ceil(most.max(1)).max(1);
    let chunk = |(n, part): (usize, &[Second])| {
        let (first, last) = (&part[0], &part[part.len() - 1]);
        let at_ms = first.at_ms - i64::from(first.ms);
        Instant { at_ms, ms: last.at_ms - at_ms, seconds: n * size..n * size + part.len() }
    };
    let mut instants: Vec<Instant> = seconds.chunks(size).enumerate().map(chunk).collect();
    if let [.., before, last] = &mut instants[..]
        && last.ms * 2 < before.ms
    {
        before.ms += last.ms;
        before.seconds.end = last.seconds.end;
        instants.pop();
    }
    instants
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_joined_until_they_have_room() {
        let second = |i: i64| Second { at_ms: i * 1000, ms: 1000, ..Second::default() };
        let seconds: Vec<Second> = (1..=1441).map(second).collect();
        let found = instants(&seconds[..1440], 720);
        assert_eq!((found.len(), found[0].seconds.clone(), found[0].ms), (720, 0..2, 2000));
        let found = instants(&seconds, 720);
        assert_eq!((found.len(), found[0].seconds.clone(), found[0].ms), (480, 0..3, 3000));
        assert_eq!((found[479].seconds.clone(), found[479].ms), (1437..1441, 4000));
        assert!(instants(&[], 720).is_empty());
    }

    #[test]
    fn the_end_of_a_run_is_no_peak() {
        let mut seconds: Vec<Second> =
            (1..=3).map(|i| Second { at_ms: i * 1000, ms: 1000, ..Second::default() }).collect();
        seconds.push(Second { at_ms: 3040, ms: 40, ..Second::default() });
        let found = instants(&seconds, 720);
        assert_eq!((found.len(), found[2].seconds.clone(), found[2].ms), (3, 2..4, 1040));
        seconds[3] = Second { at_ms: 3600, ms: 600, ..Second::default() };
        assert_eq!(instants(&seconds, 720).len(), 4);
    }
}
