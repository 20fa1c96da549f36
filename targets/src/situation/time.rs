//! The service time of a request, by the options of the target.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use crate::config::{Config, bad};
use crate::error::Error;
use crate::random::Seeded;
use crate::service::Nanos;

const SECOND: Nanos = 1_000_000_000;
/// Maximum number of URLs in the simulated cache; further URLs are never hits.
const REMEMBERED: usize = 1 << 20;

/// Clock that starts with the first request to the target.
#[derive(Debug, Default)]
pub(super) struct Clock(Option<Nanos>);

impl Clock {
    pub(super) fn since_first(&mut self, now: Nanos) -> Nanos {
        now.saturating_sub(*self.0.get_or_insert(now))
    }
}

/// Reads an option of the target that is a number from 0 to a million.
pub(super) fn number(config: &Config, key: &str, default: f64) -> Result<f64, Error> {
    let value: f64 = config.read(key, default)?;
    if (0.0..=1e6).contains(&value) {
        return Ok(value);
    }
    Err(bad(key, &value.to_string(), "must lie between 0 and 1000000"))
}

pub(super) fn share(config: &Config, key: &str, default: f64) -> Result<f64, Error> {
    let value: f64 = config.read(key, default)?;
    if (0.0..=1.0).contains(&value) {
        return Ok(value);
    }
    Err(bad(key, &value.to_string(), "must lie between 0 and 1"))
}

/// Reads an option of the target in milliseconds; returns nanoseconds.
pub(super) fn ms(config: &Config, key: &str, default: f64) -> Result<Nanos, Error> {
    Ok((number(config, key, default)? * 1e6) as Nanos)
}

/// Periodic time windows: the first begins at `at`, each is `length` long, and one begins every `every`. If `length` is
/// 0, the first window never ends; if `every` is 0, there is only one window.
#[derive(Debug, Clone, Copy)]
pub(super) struct Windows {
    at: Nanos,
    length: Nanos,
    every: Nanos,
}

impl Windows {
    pub(super) fn new(config: &Config, at: &str, length: &str, every: &str) -> Result<Self, Error> {
        Ok(Self {
            at: ms(config, at, 0.0)?,
            length: ms(config, length, 0.0)?,
            every: ms(config, every, 0.0)?,
        })
    }

    pub(super) fn holds(&self, time: Nanos) -> bool {
        self.number_and_end(time).is_some()
    }

    /// Returns the number of the window that contains this time, and the window's end.
    pub(super) fn number_and_end(&self, time: Nanos) -> Option<(u64, Nanos)> {
        let since = time.checked_sub(self.at)?;
        if self.length == 0 {
            return Some((0, Nanos::MAX));
        }
        let number = since.checked_div(self.every).unwrap_or(0);
        let begin = number * self.every;
        (since - begin < self.length).then_some((number, self.at + begin + self.length))
    }
}

pub(super) struct Time {
    usual: Nanos,
    slow: Nanos,
    slow_share: f64,
    /// Relative standard deviation of the service time from request to request.
    noise: f64,
    /// Relative standard deviation of a factor on the service time that all requests of a second share.
    noise_of_seconds: f64,
    second: (u64, f64),
    seconds: Seeded,
    step_at: Nanos,
    step: f64,
    /// Growth of the service time per minute, as a share of its initial value.
    leak: f64,
    /// Factor on the service time at the start.
    cold: f64,
    /// Time in which the factor `cold` falls to 1.
    cold_for: Nanos,
    cached: Option<Nanos>,
    /// Time at which the simulated cache is cleared; 0 for never.
    forget_at: Nanos,
    seen: HashSet<u64>,
    hasher: RandomState,
}

impl Time {
    pub(super) fn new(config: &Config) -> Result<Self, Error> {
        let cached = match config.text("cached") {
            None | Some("") => None,
            Some(_) => Some(ms(config, "cached", 0.0)?),
        };
        Ok(Self {
            usual: ms(config, "ms", 10.0)?,
            slow: ms(config, "slow", 100.0)?,
            slow_share: share(config, "slow_share", 0.0)?,
            noise: share(config, "noise", 0.0)?,
            noise_of_seconds: share(config, "noise_of_seconds", 0.0)?,
            second: (u64::MAX, 1.0),
            // A separate generator, so that the factor of a second does not depend on the number of requests before it.
            seconds: Seeded::new(config.read("seed", 1u64)? ^ 0x5eed),
            step_at: ms(config, "step_at", 0.0)?,
            step: number(config, "step", 1.0)?,
            leak: number(config, "leak", 0.0)?,
            cold: number(config, "cold", 1.0)?,
            cold_for: ms(config, "cold_for", 60_000.0)?.max(1),
            cached,
            forget_at: ms(config, "forget_at", 0.0)?,
            seen: HashSet::new(),
            hasher: RandomState::new(),
        })
    }

    /// Returns the service time of the next request, and whether it hits the simulated cache; `None` without a cache.
    pub(super) fn next(
        &mut self,
        target: &[u8],
        at: Nanos,
        random: &mut Seeded,
    ) -> (Nanos, Option<bool>) {
        if self.forget_at > 0 && at >= self.forget_at {
            self.seen.clear();
            self.forget_at = 0;
        }
        let hit = self.cached.map(|_| self.seen_before(target));
        let base = match (self.cached, hit) {
            (Some(cached), Some(true)) => cached,
            _ if self.slow_share > 0.0 && random.unit() < self.slow_share => self.slow,
            _ => self.usual,
        };
        let mut factor = self.factor_of_second(at / SECOND);
        if self.noise > 0.0 {
            factor *= 1.0 + self.noise * random.normal();
        }
        if at >= self.step_at {
            factor *= self.step;
        }
        factor *= 1.0 + self.leak * at as f64 / (60 * SECOND) as f64;
        let left = (1.0 - at as f64 / self.cold_for as f64).max(0.0);
        factor *= 1.0 + (self.cold - 1.0) * left;
        ((base as f64 * factor.max(0.0)) as Nanos, hit)
    }

    fn seen_before(&mut self, target: &[u8]) -> bool {
        let hash = self.hasher.hash_one(target);
        if self.seen.len() >= REMEMBERED {
            return self.seen.contains(&hash);
        }
        !self.seen.insert(hash)
    }

    fn factor_of_second(&mut self, second: u64) -> f64 {
        if self.noise_of_seconds == 0.0 {
            return 1.0;
        }
        // Seconds without requests draw a number too, so that the sequence depends only on the clock.
        while self.second.0 != second {
            let next = self.second.0.wrapping_add(1);
            self.second = (next, (1.0 + self.noise_of_seconds * self.seconds.normal()).max(0.05));
            if next > second {
                break;
            }
        }
        self.second.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(options: &[(&str, &str)]) -> Time {
        let config = options
            .iter()
            .fold(Config::new("service"), |config, (key, value)| config.option(*key, value));
        Time::new(&config).unwrap()
    }

    fn ms_at(time: &mut Time, second: f64) -> f64 {
        time.next(b"/", (second * 1e9) as Nanos, &mut Seeded::new(1)).0 as f64 / 1e6
    }

    #[test]
    fn steps_and_leaks_follow_the_clock() {
        let mut step = time(&[("ms", "10"), ("step_at", "3000"), ("step", "4")]);
        assert_eq!([0.0, 2.9, 3.0, 9.0].map(|at| ms_at(&mut step, at)), [10.0, 10.0, 40.0, 40.0]);
        let mut leak = time(&[("ms", "10"), ("leak", "2")]);
        assert_eq!([0.0, 30.0, 60.0].map(|at| ms_at(&mut leak, at)), [10.0, 20.0, 30.0]);
        let mut cold = time(&[("ms", "10"), ("cold", "3"), ("cold_for", "20000")]);
        assert_eq!(
            [0.0, 10.0, 20.0, 60.0].map(|at| ms_at(&mut cold, at)),
            [30.0, 20.0, 10.0, 10.0]
        );
    }

    #[test]
    fn a_cache_is_quick_from_the_second_time_of_a_url() {
        let mut cache = time(&[("ms", "50"), ("cached", "1"), ("forget_at", "3000")]);
        let mut random = Seeded::new(1);
        let mut next = |url: &[u8], at| cache.next(url, at, &mut random);
        assert_eq!(next(b"/a", 0), (50_000_000, Some(false)));
        assert_eq!(next(b"/b", 0), (50_000_000, Some(false)));
        assert_eq!(next(b"/a", 0), (1_000_000, Some(true)));
        assert_eq!(next(b"/a", 3_000_000_000), (50_000_000, Some(false)));
        assert_eq!(next(b"/a", 3_000_000_000), (1_000_000, Some(true)));
    }

    #[test]
    fn a_second_has_one_factor_whatever_was_drawn_before() {
        let options = [("ms", "10"), ("noise_of_seconds", "0.1"), ("seed", "4")];
        let (mut one, mut other) = (time(&options), time(&options));
        let all: Vec<f64> = (0..20).map(|second| ms_at(&mut one, f64::from(second))).collect();
        assert_eq!(ms_at(&mut other, 19.9), all[19]);
        assert!(all.windows(2).any(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn windows_repeat_or_have_no_end() {
        let seconds = |at, length, every| Windows { at, length, every };
        let every = seconds(5, 2, 10);
        let holding: Vec<u64> = (0..30).filter(|time| every.holds(*time)).collect();
        assert_eq!(holding, [5, 6, 15, 16, 25, 26]);
        assert_eq!(every.number_and_end(16), Some((1, 17)));
        let once: Vec<u64> = (0..30).filter(|time| seconds(5, 2, 0).holds(*time)).collect();
        assert_eq!(once, [5, 6]);
        assert!(!seconds(5, 0, 0).holds(4) && seconds(5, 0, 0).holds(1000));
    }
}
