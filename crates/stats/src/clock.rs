//! The clock of a run: the system time is read once, and then advanced by the monotonic clock.
//!
//! All durations, rates and schedules of a run use this clock. So they do not change if the system clock is set. A
//! reading costs about 50 ns.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// The time origin of this process on the monotonic clock.
static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);
/// System time at `BEGAN` in ns since 1970, as last read by [`begin`].
static EPOCH: LazyLock<AtomicI64> = LazyLock::new(|| AtomicI64::new(system_ns() - elapsed_ns()));

fn elapsed_ns() -> i64 {
    i64::try_from(BEGAN.elapsed().as_nanos()).unwrap_or(i64::MAX)
}

/// Returns the time of the system clock in ns since 1970.
pub fn system_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

/// Reads the system clock. Called at the start of a run.
pub fn begin() {
    EPOCH.store(system_ns() - elapsed_ns(), Relaxed);
}

/// Returns the current time of the run's clock in ns since 1970.
pub fn now_ns() -> i64 {
    EPOCH.load(Relaxed) + elapsed_ns()
}

/// Returns the current time of the run's clock in ms since 1970.
pub fn now_ms() -> i64 {
    now_ns().div_euclid(1_000_000)
}

/// Returns by how much the system clock was set since the run began, in ms; forward is positive.
pub fn set_by_ms() -> i64 {
    (system_ns() - now_ns()).div_euclid(1_000_000)
}

/// Detects changes of the system clock.
#[derive(Debug, Default)]
pub struct Steps {
    known_ms: i64,
}

/// Smallest reported change in ms. Smaller differences result from reading the two clocks one after the other.
const LEAST_MS: i64 = 100;

impl Steps {
    /// Returns the change since the last call in ms, if there was one. `set_by_ms` is [`set_by_ms()`].
    pub fn new_step(&mut self, set_by_ms: i64) -> Option<i64> {
        let step = set_by_ms - self.known_ms;
        if step.abs() < LEAST_MS {
            return None;
        }
        self.known_ms = set_by_ms;
        Some(step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_of_a_run_does_not_go_back() {
        let (first, second) = (now_ns(), now_ns());
        assert!(first <= second);
    }

    #[test]
    fn each_step_is_reported_once() {
        let mut steps = Steps::default();
        let reported: Vec<Option<i64>> =
            [0, 40, 3_600_010, 3_600_050, -20, 30].map(|by| steps.new_step(by)).into();
        assert_eq!(reported, [None, None, Some(3_600_010), None, Some(-3_600_030), None]);
    }
}
