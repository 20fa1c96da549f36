//! The difference of two clocks, measured by question and answer (Cristian's method).
//!
//! An answer was made somewhere between the question and its arrival, whatever the ways there and back are. So each gives
//! an interval in which the difference is, as long as the round trip; it is in all of them, and where they meet is less
//! than the shortest: one had the fastest way there, another one the fastest way back. Older ones are widened by what
//! clocks drift. Monotonic clocks are compared, which nobody sets; the wall clock of the other side is known by its
//! distance from its monotonic one, as last heard.

use std::collections::VecDeque;

/// Answers that are kept: clocks drift, so an old short round trip must not count for ever.
const KEPT: usize = 60;
/// Drift of a clock against another one, at most: nanoseconds in a second.
const DRIFT: i64 = 50_000;
const SECOND: i64 = 1_000_000_000;

/// An answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer {
    /// The asker's monotonic clock at the question and at the arrival of the answer, nanoseconds.
    pub(crate) asked: i64,
    pub(crate) came: i64,
    /// The clocks of the other side.
    pub(crate) monotonic: i64,
    pub(crate) wall: i64,
}

/// An answer, measured.
#[derive(Clone, Copy, Debug)]
struct Measured {
    came: i64,
    /// The round trip.
    trip: i64,
    /// The other monotonic clock less one's own, if the answer was made in the middle.
    middle: i64,
}

/// The clocks of another machine.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clocks {
    /// The answers.
    answers: VecDeque<Measured>,
    /// The other wall clock less its monotonic one.
    wall: i64,
}

impl Clocks {
    pub(crate) fn hear(&mut self, answer: &Answer) {
        let trip = (answer.came - answer.asked).max(0);
        if self.answers.len() == KEPT {
            self.answers.pop_front();
        }
        let middle = answer.monotonic - (answer.asked + trip / 2);
        self.answers.push_back(Measured { came: answer.came, trip, middle });
        self.wall = answer.wall - answer.monotonic;
    }

    /// The bound of the error, and the difference.
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
        // A clock that runs otherwise than clocks do: the shortest round trip alone.
        let shortest = self.answers.iter().min_by_key(|answer| answer.trip)?;
        Some((shortest.trip / 2 + shortest.trip % 2, shortest.middle))
    }

    /// Number of answers so far, as far as they are kept.
    pub(crate) fn answers(&self) -> usize {
        self.answers.len()
    }

    /// The bound of the error, nanoseconds; `None` before the first answer.
    pub(crate) fn bound(&self) -> Option<i64> {
        self.best().map(|(bound, _)| bound)
    }

    /// The longest round trip, nanoseconds.
    pub(crate) fn longest(&self) -> i64 {
        self.answers.iter().map(|answer| answer.trip).max().unwrap_or(0)
    }

    /// The other wall clock at a time of one's own monotonic clock.
    pub(crate) fn wall_at(&self, monotonic: i64) -> i64 {
        monotonic + self.best().map_or(0, |(_, difference)| difference) + self.wall
    }

    /// One's own wall clock less the other one, ms, by a pair of readings of one's own; 0 if that may be an error of measuring.
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
        // The difference is 70 ms; ways take 20 ms and up to 10 ms more, and never both the least at once.
        for (there, back) in [(20, 30), (30, 20), (24, 26), (29, 29)] {
            let asked = 1_000 * MS;
            let monotonic = asked + (there + 70) * MS;
            let came = asked + (there + back) * MS;
            clocks.hear(&Answer { asked, came, monotonic, wall: monotonic });
        }
        assert_eq!(clocks.best(), Some((20 * MS, 70 * MS)), "each answer alone is 25 ms at best");
    }

    #[test]
    fn a_clock_that_jumps_is_known_by_the_shortest_round_trip() {
        let mut clocks = Clocks::default();
        for (trip, difference) in [(2, 0), (4, 500), (3, 500)] {
            let (asked, monotonic) = (0, trip / 2 * MS + difference * MS);
            clocks.hear(&Answer { asked, came: trip * MS, monotonic, wall: monotonic });
        }
        assert_eq!(clocks.best(), Some((MS, 0)));
    }

    #[test]
    fn the_shortest_round_trip_counts_and_bounds_the_error() {
        let mut clocks = Clocks::default();
        assert_eq!(clocks.bound(), None);
        // The other clock is 5 s behind; its wall clock reads 1000 s more than its monotonic one.
        let answer = |asked: i64, there: i64, back: i64| {
            let monotonic = asked + there - 5_000 * MS;
            let (came, wall) = (asked + there + back, monotonic + 1_000_000 * MS);
            Answer { asked, came, monotonic, wall }
        };
        clocks.hear(&answer(10_000 * MS, 30 * MS, 2 * MS));
        clocks.hear(&answer(11_000 * MS, 3 * MS, MS));
        clocks.hear(&answer(12_000 * MS, 5 * MS, 45 * MS));
        let drift = 2 * DRIFT;
        assert!(clocks.bound().is_some_and(|bound| (2 * MS..2 * MS + drift).contains(&bound)));
        assert_eq!(clocks.longest(), 50 * MS);
        let true_wall = 20_000 * MS - 5_000 * MS + 1_000_000 * MS;
        assert!((clocks.wall_at(20_000 * MS) - true_wall).abs() <= 2 * MS + drift);
        // Within the bound nothing is known to differ.
        assert_eq!(clocks.offset_ms(20_000 * MS, true_wall), 0);
        assert!((clocks.offset_ms(20_000 * MS, true_wall + 700 * MS) - 700).abs() <= 2);
        assert!((clocks.offset_ms(20_000 * MS, true_wall - 700 * MS) + 700).abs() <= 2);
    }

    #[test]
    fn a_wall_clock_that_is_set_is_followed() {
        let mut clocks = Clocks::default();
        clocks.hear(&Answer { asked: 0, came: 2, monotonic: 101, wall: 1_101 });
        assert_eq!(clocks.wall_at(50), 1_150);
        clocks.hear(&Answer { asked: 100, came: 110, monotonic: 205, wall: 9_205 });
        assert_eq!(clocks.wall_at(50), 9_150, "the difference is the first answer's");
    }
}
