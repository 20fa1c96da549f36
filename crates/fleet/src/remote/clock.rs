//! Measures the difference of two clocks by queries and answers (Cristian's method).
//!
//! The other clock was read at some time between the query and the arrival of the answer. So each answer gives an
//! interval that contains the difference and is as long as the round trip. The difference lies in the intersection of
//! all intervals, which is shorter than the shortest interval if one answer had a fast way there and another a fast way
//! back. Older intervals are widened by the maximum drift. The method compares monotonic clocks, which are never set.
//! The other side's system clock is known by its last reported distance from that side's monotonic clock.

use std::collections::VecDeque;

/// Number of latest answers that are kept. Clocks drift, so an old short round trip must not count for ever.
const KEPT: usize = 60;
/// Maximum drift of one clock against another, in nanoseconds per second.
const DRIFT: i64 = 50_000;
const SECOND: i64 = 1_000_000_000;

/// An answer to a clock query.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer {
    /// The querying side's monotonic clock at the query, in nanoseconds.
    pub(crate) asked: i64,
    /// The querying side's monotonic clock at the arrival of the answer, in nanoseconds.
    pub(crate) came: i64,
    /// The answering side's monotonic clock at the query, in nanoseconds.
    pub(crate) monotonic: i64,
    /// The answering side's system clock at the query, in nanoseconds since 1970.
    pub(crate) wall: i64,
}

/// The measurement that one answer gives.
#[derive(Clone, Copy, Debug)]
struct Measured {
    came: i64,
    /// Duration of the round trip in nanoseconds.
    trip: i64,
    /// The other side's monotonic clock minus our own in nanoseconds, assuming that the other clock was read in the
    /// middle of the round trip.
    middle: i64,
}

/// Measured differences between another machine's clocks and our monotonic clock.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clocks {
    /// The latest measurements, the oldest first.
    answers: VecDeque<Measured>,
    /// The other side's system clock minus its monotonic clock, in nanoseconds.
    wall: i64,
}

impl Clocks {
    pub(crate) fn handle(&mut self, answer: &Answer) {
        let trip = (answer.came - answer.asked).max(0);
        if self.answers.len() == KEPT {
            self.answers.pop_front();
        }
        let middle = answer.monotonic - (answer.asked + trip / 2);
        self.answers.push_back(Measured { came: answer.came, trip, middle });
        self.wall = answer.wall - answer.monotonic;
    }

    /// Returns the error bound, and the difference of the monotonic clocks, both in nanoseconds.
    fn best(&self) -> Option<(i64, i64)> {
        let now = self.answers.back()?.came;
        let (mut lower, mut upper) = (i64::MIN, i64::MAX);
        for Measured { came, trip, middle } in &self.answers {
            let half = trip / 2 + trip % 2 + (now - came).max(0) / SECOND * DRIFT;
            (lower, upper) = (lower.max(middle - half), upper.min(middle + half));
        }
        if lower <= upper {
            let bound = (upper - lower) / 2 + (upper - lower) % 2;
            return Some((bound, lower + (upper - lower) / 2));
        }
        // The intervals do not intersect because a clock drifts more than expected: use the shortest round trip alone.
        let shortest = self.answers.iter().min_by_key(|answer| answer.trip)?;
        Some((shortest.trip / 2 + shortest.trip % 2, shortest.middle))
    }

    /// Returns the number of kept measurements.
    pub(crate) fn answers(&self) -> usize {
        self.answers.len()
    }

    /// Returns the error bound of the measured difference in nanoseconds; `None` before the first answer.
    pub(crate) fn bound(&self) -> Option<i64> {
        self.best().map(|(bound, _)| bound)
    }

    /// Returns the longest round trip among the kept measurements, in nanoseconds.
    pub(crate) fn longest(&self) -> i64 {
        self.answers.iter().map(|answer| answer.trip).max().unwrap_or(0)
    }

    /// Returns the other system clock at a time of our monotonic clock.
    pub(crate) fn wall_at(&self, monotonic: i64) -> i64 {
        monotonic + self.best().map_or(0, |(_, difference)| difference) + self.wall
    }

    /// Returns our system clock minus the other one, in ms, from a pair of our own readings; 0 if it is within the
    /// error bound.
    pub(crate) fn offset_ms(&self, monotonic: i64, wall: i64) -> i64 {
        let Some(bound) = self.bound() else { return 0 };
        let offset = wall - self.wall_at(monotonic);
        if offset.abs() <= bound { 0 } else { (offset as f64 / 1e6).round() as i64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    #[test]
    fn the_fastest_ways_of_several_answers_meet() {
        let mut clocks = Clocks::default();
        // The difference is 70 ms. Each way takes at least 20 ms, and no answer is fastest in both directions.
        for (there, back) in [(20, 30), (30, 20), (24, 26), (29, 29)] {
            let asked = 1_000 * MS;
            let monotonic = asked + (there + 70) * MS;
            let came = asked + (there + back) * MS;
            clocks.handle(&Answer { asked, came, monotonic, wall: monotonic });
        }
        assert_eq!(clocks.best(), Some((20 * MS, 70 * MS)), "each answer alone is 25 ms at best");
    }

    #[test]
    fn a_clock_that_jumps_is_known_by_the_shortest_round_trip() {
        let mut clocks = Clocks::default();
        for (trip, difference) in [(2, 0), (4, 500), (3, 500)] {
            let (asked, monotonic) = (0, trip / 2 * MS + difference * MS);
            clocks.handle(&Answer { asked, came: trip * MS, monotonic, wall: monotonic });
        }
        assert_eq!(clocks.best(), Some((MS, 0)));
    }

    #[test]
    fn the_shortest_round_trip_counts_and_bounds_the_error() {
        let mut clocks = Clocks::default();
        assert_eq!(clocks.bound(), None);
        // The other clock is 5 s behind. Its system clock is 1000 s ahead of its monotonic clock.
        let answer = |asked: i64, there: i64, back: i64| {
            let monotonic = asked + there - 5_000 * MS;
            let (came, wall) = (asked + there + back, monotonic + 1_000_000 * MS);
            Answer { asked, came, monotonic, wall }
        };
        clocks.handle(&answer(10_000 * MS, 30 * MS, 2 * MS));
        clocks.handle(&answer(11_000 * MS, 3 * MS, MS));
        clocks.handle(&answer(12_000 * MS, 5 * MS, 45 * MS));
        let drift = 2 * DRIFT;
        assert!(clocks.bound().is_some_and(|bound| (2 * MS..2 * MS + drift).contains(&bound)));
        assert_eq!(clocks.longest(), 50 * MS);
        let true_wall = 20_000 * MS - 5_000 * MS + 1_000_000 * MS;
        assert!((clocks.wall_at(20_000 * MS) - true_wall).abs() <= 2 * MS + drift);
        // Differences within the error bound count as none.
        assert_eq!(clocks.offset_ms(20_000 * MS, true_wall), 0);
        assert!((clocks.offset_ms(20_000 * MS, true_wall + 700 * MS) - 700).abs() <= 2);
        assert!((clocks.offset_ms(20_000 * MS, true_wall - 700 * MS) + 700).abs() <= 2);
    }

    #[test]
    fn a_wall_clock_that_is_set_is_followed() {
        let mut clocks = Clocks::default();
        clocks.handle(&Answer { asked: 0, came: 2, monotonic: 101, wall: 1_101 });
        assert_eq!(clocks.wall_at(50), 1_150);
        clocks.handle(&Answer { asked: 100, came: 110, monotonic: 205, wall: 9_205 });
        assert_eq!(clocks.wall_at(50), 9_150, "the difference is the first answer's");
    }
}
