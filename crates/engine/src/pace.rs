//! The connect rate: connections begin no faster than asked for, apart from the ramp-up.

use crate::clock::{Nanos, SECOND};

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

    /// Takes the next place in the line. `Some`: when it is; `None`: now.
    pub(crate) fn wait(&mut self, now: Nanos, has_waited: bool) -> Option<Nanos> {
        if self.interval == 0 || has_waited {
            return None;
        }
        let at = self.next.max(now);
        self.next = at + self.interval;
        (at > now).then_some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_the_line_are_an_interval_apart() {
        let mut pace = ConnectPace::new(100.0, 2);
        assert_eq!(pace.wait(1_000, false), None);
        assert_eq!(pace.wait(1_000, false), Some(1_000 + SECOND / 50));
        assert_eq!(pace.wait(2_000, false), Some(1_000 + 2 * SECOND / 50));
        assert_eq!(pace.wait(2_000, true), None, "who has waited goes");
        assert_eq!(pace.wait(SECOND, false), None, "a place not used is not saved up");
        assert_eq!(ConnectPace::new(0.0, 2).wait(5, false), None);
    }
}
