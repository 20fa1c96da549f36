//! Pacing of new connections: the connect rate set by the user (independent of the ramp-up), and the backoff after
//! failures.

use plan::random::Random;

use crate::time::clock::{Nanos, SECOND};

/// One core's share of the run's connect rate.
#[derive(Clone, Debug)]
pub(crate) struct ConnectPace {
    /// Time between two connections in nanoseconds; 0 is unlimited.
    interval: Nanos,
    next: Nanos,
}

impl ConnectPace {
    /// Creates the connect pace of one core. `rate`: connections per second of the whole run, which has `cores` cores;
    /// 0 is unlimited.
    pub(crate) fn new(rate: f64, cores: u32) -> Self {
        let interval =
            if rate > 0.0 { (SECOND as f64 * f64::from(cores) / rate).ceil() as Nanos } else { 0 };
        Self { interval, next: 0 }
    }

    /// Reserves the next time slot at or after `now`, and returns its time.
    pub(crate) fn place(&mut self, now: Nanos) -> Nanos {
        if self.interval == 0 {
            return now;
        }
        let at = self.next.max(now);
        self.next = at + self.interval;
        at
    }
}

/// Settings of the delay before a user opens its next connection after a failed or lost connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Backoff {
    /// Delay after the first failure in nanoseconds; 0 disables the backoff.
    pub(crate) first: Nanos,
    /// Maximum delay in nanoseconds.
    pub(crate) most: Nanos,
}

impl Backoff {
    /// Returns the delay, which doubles with each setback. Half of the delay is random, so that users that failed
    /// together do not retry together.
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
