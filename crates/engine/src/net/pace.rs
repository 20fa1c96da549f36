//! When connections may begin: no faster than the connect rate asked for, apart from the ramp-up, and not at once
//! where the one before failed.

use plan::random::Random;

use crate::time::clock::{Nanos, SECOND};

/// The share of one core in the run's connect rate.
#[derive(Clone, Debug)]
pub(crate) struct ConnectPace {
    /// Between two connections; 0 is no limit.
    interval: Nanos,
    next: Nanos,
}

impl ConnectPace {
    /// `rate`: connections per second of the whole run, which has so many cores; 0 is no limit.
    pub(crate) fn new(rate: f64, cores: u32) -> Self {
        let interval =
            if rate > 0.0 { (SECOND as f64 * f64::from(cores) / rate).ceil() as Nanos } else { 0 };
        Self { interval, next: 0 }
    }

    /// Takes the next place in the line from `now` on, and says when it is.
    pub(crate) fn place(&mut self, now: Nanos) -> Nanos {
        if self.interval == 0 {
            return now;
        }
        let at = self.next.max(now);
        self.next = at + self.interval;
        at
    }
}

/// How long a user waits before it opens the next connection after one that failed or was lost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Backoff {
    /// After the first failure; 0 is never.
    pub(crate) first: Nanos,
    /// The most.
    pub(crate) most: Nanos,
}

impl Backoff {
    /// Doubles with each setback; half of it is drawn, so that those who failed together do not return together.
    pub(crate) fn after(self, setbacks: u8, random: &mut Random) -> Nanos {
        if setbacks == 0 || self.first == 0 {
            return 0;
        }
        let whole = self.first.saturating_mul(1 << (setbacks - 1).min(30)).min(self.most);
        whole / 2 + random.below(whole as u64 / 2 + 1) as Nanos
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_the_line_are_an_interval_apart() {
        let mut pace = ConnectPace::new(100.0, 2);
        assert_eq!(pace.place(1_000), 1_000);
        assert_eq!(pace.place(1_000), 1_000 + SECOND / 50);
        assert_eq!(pace.place(2_000), 1_000 + 2 * SECOND / 50);
        assert_eq!(pace.place(SECOND), SECOND, "a place not used is not saved up");
        assert_eq!(ConnectPace::new(0.0, 2).place(5), 5);
    }

    #[test]
    fn who_fails_again_waits_longer_up_to_the_most() {
        let backoff = Backoff { first: 100, most: 1_000 };
        let mut random = Random::new(7);
        assert_eq!(backoff.after(0, &mut random), 0);
        for (setbacks, whole) in [(1, 100), (2, 200), (4, 800), (5, 1_000), (255, 1_000)] {
            for _ in 0..50 {
                let wait = backoff.after(setbacks, &mut random);
                assert!((whole / 2..=whole).contains(&wait), "{wait} after {setbacks}");
            }
        }
        assert_eq!(Backoff { first: 0, most: 1_000 }.after(9, &mut random), 0);
    }
}
