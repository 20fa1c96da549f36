//! The clock of a core: nanoseconds of the monotonic clock since the run's zero, and the wall-clock time at that zero.
//!
//! Kernel receive timestamps are wall-clock times; [`Clock::of_wall`] converts them to the same scale. The offset
//! is updated once a second, and at once if a timestamp is far from the current time, so that a change of the wall
//! clock distorts few samples. Time stamps of rows follow the wall clock; those of measurements ([`Clock::run_ms`])
//! do not.
//!
//! The clock is read for every sample, so it requests nanoseconds directly from the system. Reading an [`Instant`]
//! takes about fifty instructions more.

use std::cell::Cell;

use nix::time::{ClockId, clock_gettime};
use plan::state::Shard;
use std::time::Instant;

/// A point in time or a duration, in nanoseconds of the core's clock.
pub(crate) type Nanos = i64;

/// One millisecond in nanoseconds.
pub(crate) const MS: Nanos = 1_000_000;
/// Maximum length of a user's turn in nanoseconds.
pub(crate) const TURN: Nanos = 2 * MS;
/// Difference between a wall-clock time and the current time from which a change of the wall clock is assumed, in
/// nanoseconds.
const FAR: Nanos = 100 * MS;
/// One second in nanoseconds.
pub(crate) const SECOND: Nanos = 1_000_000_000;

/// Returns the processor time of the calling thread in nanoseconds.
pub(crate) fn thread_cpu() -> u64 {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)
        .map_or(0, |time| time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64)
}

/// Reads the monotonic clock, in nanoseconds.
#[inline]
fn monotonic() -> Nanos {
    clock_gettime(ClockId::CLOCK_MONOTONIC)
        .map_or(0, |time| time.tv_sec() * SECOND + time.tv_nsec())
}

/// Returns the time of the monotonic clock at an `Instant`. The function reads both clocks several times and uses the
/// fastest pair, because the thread may be interrupted between the two readings.
fn monotonic_at(moment: Instant) -> Nanos {
    let read = || {
        let before = monotonic();
        let now = Instant::now();
        let after = monotonic();
        let since = now.saturating_duration_since(moment).as_nanos() as Nanos;
        let until = moment.saturating_duration_since(now).as_nanos() as Nanos;
        (after - before, after - since + until)
    };
    let readings = [read(), read(), read()];
    readings.into_iter().min().map_or(0, |(_, at)| at)
}

/// Returns the time of a core's next snapshot. Processes of a run use different times within the second, so that they
/// do not all need a processor at the same time.
pub(crate) fn second_after(now: Nanos, shard: Shard) -> Nanos {
    let phase = SECOND * Nanos::from(shard.index) / Nanos::from(shard.count);
    ((now - phase).div_euclid(SECOND) + 1) * SECOND + phase
}

/// Zero of the clock of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Zero {
    pub(crate) at: Instant,
    /// Wall-clock time at the zero, in nanoseconds since 1970.
    pub(crate) wall_ns: i64,
}

impl Zero {
    pub(crate) fn now() -> Self {
        Self { at: Instant::now(), wall_ns: stats::clock::now_ns() }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Clock {
    zero: Instant,
    /// The monotonic clock at the run's zero.
    monotonic_at_zero: Nanos,
    wall_at_zero: Cell<i64>,
    /// The wall clock at the run's zero. Later changes of the wall clock do not affect it.
    run_at_zero: i64,
    /// The most recent reading of the clock.
    latest: Cell<Nanos>,
    /// Time by which a test has advanced the clock; otherwise 0.
    skipped: Nanos,
}

impl Clock {
    /// Creates a clock with zero `zero`, which is the same for all cores of a run.
    pub(crate) fn new(zero: Zero) -> Self {
        let clock = Self {
            zero: zero.at,
            monotonic_at_zero: monotonic_at(zero.at),
            wall_at_zero: Cell::new(0),
            run_at_zero: zero.wall_ns,
            latest: Cell::new(0),
            skipped: 0,
        };
        clock.sync();
        clock
    }

    /// Updates the offset between this clock and the wall clock.
    pub(crate) fn sync(&self) {
        self.wall_at_zero.set(stats::clock::system_ns() - self.elapsed());
    }

    #[inline]
    pub(crate) fn now(&self) -> Nanos {
        let now = self.elapsed() + self.skipped;
        self.latest.set(now);
        now
    }

    /// Returns the last reading of the clock, for uses that need no precision. The reading may be as old as the core's
    /// current step.
    #[inline]
    pub(crate) fn latest(&self) -> Nanos {
        self.latest.get()
    }

    #[inline]
    fn elapsed(&self) -> Nanos {
        // The zero of a run in several processes may be in the future.
        (monotonic() - self.monotonic_at_zero).max(0)
    }

    /// Advances the clock, together with the wall clock.
    pub(crate) fn skip(&mut self, by: Nanos) {
        self.skipped += by;
        self.latest.set(self.latest.get() + by);
    }

    /// Converts an `Instant` to this clock's scale.
    pub(crate) fn of_instant(&self, moment: Instant) -> Nanos {
        moment.saturating_duration_since(self.zero).as_nanos() as i64 + self.skipped
    }

    /// Returns the wall-clock time at `at`, in milliseconds since 1970.
    pub(crate) fn wall_ms(&self, at: Nanos) -> i64 {
        (self.wall_at_zero.get() + at).div_euclid(MS)
    }

    /// Returns the time at `at` by the clock of the run, in milliseconds since 1970: changes of the wall clock since
    /// the run's start do not affect it.
    pub(crate) fn run_ms(&self, at: Nanos) -> i64 {
        (self.run_at_zero + at).div_euclid(MS)
    }

    /// Converts a wall-clock time in nanoseconds since 1970 to this clock's scale.
    pub(crate) fn of_wall(&self, wall: i64) -> Nanos {
        let at = || wall - self.wall_at_zero.get() + self.skipped;
        if (at() - self.latest()).abs() > FAR {
            self.sync();
        }
        at()
    }
}
impl plan::env::WallClock for Clock {
    fn now_ms(&self) -> i64 {
        self.wall_ms(self.now())
    }

    fn run_ms(&self) -> i64 {
        Self::run_ms(self, self.now())
    }
}
