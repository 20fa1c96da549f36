//! Seconds of a run, joined into as many instants as a picture has room for.

use std::ops::Range;

use record::Second;

/// Seconds joined into one instant.
#[derive(Clone, Debug)]
pub(super) struct Instant {
    /// Start, epoch ms, and length.
    pub at_ms: i64,
    pub ms: i64,
    pub seconds: Range<usize>,
}

impl Instant {
    /// Length in seconds, never 0.
    pub(super) fn length(&self) -> f64 {
        self.ms.max(1) as f64 / 1000.0
    }
}

/// At most so many instants of the same number of seconds each; the last may be shorter.
pub(super) fn instants(seconds: &[Second], most: usize) -> Vec<Instant> {
    let size = seconds.len().div_ceil(most.max(1)).max(1);
    let chunk = |(n, part): (usize, &[Second])| {
        let (first, last) = (&part[0], &part[part.len() - 1]);
        let at_ms = first.at_ms - i64::from(first.ms);
        Instant { at_ms, ms: last.at_ms - at_ms, seconds: n * size..n * size + part.len() }
    };
    seconds.chunks(size).enumerate().map(chunk).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_joined_until_they_have_room() {
        let second = |i: i64| Second { at_ms: i * 1000, ms: 1000, ..Second::default() };
        let seconds: Vec<Second> = (1..=1441).map(second).collect();
        let found = instants(&seconds, 720);
        assert_eq!((found.len(), found[0].seconds.clone(), found[0].ms), (481, 0..3, 3000));
        assert_eq!((found[480].seconds.clone(), found[480].ms), (1440..1441, 1000));
        assert!(instants(&[], 720).is_empty());
    }
}
