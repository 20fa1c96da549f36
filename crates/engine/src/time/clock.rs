//! The one clock of a core: nanoseconds of the monotonic clock since the run's zero, and what the wall clock
//! read at that zero.
//!
//! Kernel receive timestamps are wall-clock times; [`Clock::of_wall`] brings them to the same scale. The
//! offset is renewed once a second, and at once where a time is far from now, so that a wall clock that is set distorts
//! few samples. Times of day of rows follow the wall clock; those of measurements ([`Clock::run_ms`]) do not.
//!
//! It is read for every sample, so it asks the system for nanoseconds; an [`Instant`] takes about fifty instructions more.

use std::cell::Cell;

use nix::time::{ClockId, clock_gettime};
use plan::state::Shard;
use std::time::Instant;

/// A point in time or a duration, in nanoseconds of the core's clock.
pub(crate) type Nanos = i64;

/// One millisecond.
pub(crate) const MS: Nanos = 1_000_000;
/// How long a turn of a user may take, nanoseconds.
pub(crate) const TURN: Nanos = 2 * MS;
/// A wall-clock time so far from now may be one of a clock that was set.
const FAR: Nanos = 100 * MS;
/// One second.
pub(crate) const SECOND: Nanos = 1_000_000_000;

/// Processor time of the calling thread so far, nanoseconds.
pub(crate) fn thread_cpu() -> u64 {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)
        .map_or(0, |time| time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64)
}

/// The monotonic clock, nanoseconds.
#[inline]
fn monotonic() -> Nanos {
    clock_gettime(ClockId::CLOCK_MONOTONIC)
        .map_or(0, |time| time.tv_sec() * SECOND + time.tv_nsec())
}

/// The reading of the monotonic clock at a moment: the one of several that took least, for a thread may be interrupted
/// between its two clocks.
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

/// When a core hands over next. Processes of a run take turns within the second, so that they do not all want a
/// processor at the same moment.
pub(crate) fn second_after(now: Nanos, shard: Shard) -> Nanos {
    let phase = SECOND * Nanos::from(shard.index) / Nanos::from(shard.count);
    ((now - phase).div_euclid(SECOND) + 1) * SECOND + phase
}

#[derive(Clone, Debug)]
pub(crate) struct Clock {
    zero: Instant,
    /// The monotonic clock at the zero.
    monotonic_at_zero: Nanos,
    wall_at_zero: Cell<i64>,
    /// The wall clock at the zero as it was then, whatever it was set to since.
    run_at_zero: i64,
    /// The last reading.
    latest: Cell<Nanos>,
    /// How far it has been moved on; 0 but in tests.
    skipped: Nanos,
}

impl Clock {
    /// A clock whose zero is `zero`, the same for all cores of a run, nanoseconds since 1970 by the clock of the run.
    pub(crate) fn new((zero, run_at_zero): (Instant, i64)) -> Self {
        let clock = Self {
            zero,
            monotonic_at_zero: monotonic_at(zero),
            wall_at_zero: Cell::new(0),
            run_at_zero,
            latest: Cell::new(0),
            skipped: 0,
        };
        clock.sync();
        clock
    }

    /// Compares with the wall clock anew.
    pub(crate) fn sync(&self) {
        self.wall_at_zero.set(stats::clock::system_ns() - self.elapsed());
    }

    #[inline]
    pub(crate) fn now(&self) -> Nanos {
        let now = self.elapsed() + self.skipped;
        self.latest.set(now);
        now
    }

    /// The last reading, for what need not be exact: it is as old as what the core does just now.
    #[inline]
    pub(crate) fn latest(&self) -> Nanos {
        self.latest.get()
    }

    #[inline]
    fn elapsed(&self) -> Nanos {
        // The zero of a run in several processes may be yet to come.
        (monotonic() - self.monotonic_at_zero).max(0)
    }

    /// Moves the clock on, the wall clock with it.
    pub(crate) fn skip(&mut self, by: Nanos) {
        self.skipped += by;
        self.latest.set(self.latest.get() + by);
    }

    /// A moment on this clock's scale.
    pub(crate) fn of_instant(&self, moment: Instant) -> Nanos {
        moment.saturating_duration_since(self.zero).as_nanos() as i64 + self.skipped
    }

    /// Milliseconds since 1970 at `at`.
    pub(crate) fn wall_ms(&self, at: Nanos) -> i64 {
        (self.wall_at_zero.get() + at).div_euclid(MS)
    }

    /// The same by the clock of the run: no change of the wall clock since its start moves it.
    pub(crate) fn run_ms(&self, at: Nanos) -> i64 {
        (self.run_at_zero + at).div_euclid(MS)
    }

    /// A wall-clock time in nanoseconds since 1970, on this clock's scale.
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
