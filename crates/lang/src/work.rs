//! A bound on the work of one evaluation: an extractor, an assertion, a function, a condition.
//!
//! Whatever loops over data of a server or of a plan counts its steps with [`spend`]: a node looked at, an instruction of a regular expression. An
//! evaluation that has used its steps up finds nothing more and returns; [`bounded`], which encloses each evaluation, tells the caller, who says so in
//! words. The same happens as soon as the run is to stop at once. The bound is in steps, not in time, so that a run on a slow machine decides as one on a
//! fast machine does. Spending costs a decrement of a number of the thread.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Steps of one evaluation unless the plan's user says otherwise: about half a second of a processor. Fewer in tests of this crate, which are not optimized.
pub const DEFAULT_STEPS: u64 = if cfg!(test) { 2_000_000 } else { 50_000_000 };
/// Bytes of text that one step makes or finds: results can have more text than fits into memory, above all with nested elements.
const BYTES_PER_STEP: u64 = 4;
/// Steps after which an evaluation looks whether the run is to stop.
const SLICE: u64 = 1 << 16;

/// Limits of the evaluations of a thread.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Steps of one evaluation.
    pub steps: u64,
    /// Raised when the run is to stop at once.
    pub stop: Arc<AtomicBool>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { steps: DEFAULT_STEPS, stop: Arc::default() }
    }
}

/// Why an evaluation ended before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GaveUp {
    /// It used up its steps: so many.
    Steps(u64),
    /// It would have needed more memory than so many bytes.
    Memory(usize),
    /// A pattern of a JSONPath would have gone back more often than so.
    Pattern(usize),
    /// The run is to stop at once.
    Stopped,
}

impl std::fmt::Display for GaveUp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Steps(steps) => write!(
                f,
                "given up after {steps} steps, the most that one evaluation may take (throng.evaluation.steps)"
            ),
            Self::Memory(bytes) => {
                write!(f, "given up, as one evaluation may take no more than {} MiB", bytes >> 20)
            }
            Self::Pattern(times) => write!(
                f,
                "given up, as a pattern of a JSONPath may go back no more than {times} times in a text"
            ),
            Self::Stopped => f.write_str("given up as the run is stopped"),
        }
    }
}

/// The current evaluation.
#[derive(Clone, Copy)]
struct Meter {
    is_open: bool,
    /// Steps until the next look at the limits.
    slice: u64,
    /// Steps behind this slice.
    left: u64,
    gave_up: Option<GaveUp>,
}

thread_local! {
    static METER: Cell<Meter> =
        const { Cell::new(Meter { is_open: false, slice: 0, left: 0, gave_up: None }) };
    static LIMITS: RefCell<Limits> = RefCell::default();
}

/// Sets the limits of this thread.
pub fn limit(limits: Limits) {
    LIMITS.set(limits);
}

/// Runs an evaluation under the limits of this thread; with its result, why it gave up, if it did. An evaluation within another has no steps of its own, and tells
/// nobody: the outer one does.
#[inline]
pub fn bounded<R>(evaluation: impl FnOnce() -> R) -> (R, Option<GaveUp>) {
    if METER.get().is_open {
        return (evaluation(), None);
    }
    let steps = LIMITS.with_borrow(|limits| limits.steps);
    let slice = steps.min(SLICE);
    METER.set(Meter { is_open: true, slice, left: steps - slice, gave_up: None });
    let result = evaluation();
    let meter = METER.get();
    METER.set(Meter { is_open: false, ..meter });
    (result, meter.gave_up)
}

/// Steps that the current evaluation has taken.
#[cfg(test)]
fn taken() -> u64 {
    let meter = METER.get();
    LIMITS.with_borrow(|limits| limits.steps) - meter.left - meter.slice
}

/// Steps that an evaluation takes, however many they are.
#[cfg(test)]
pub(crate) fn steps_of(evaluation: impl FnOnce()) -> u64 {
    METER.set(Meter { is_open: true, slice: 0, left: u64::MAX, gave_up: None });
    evaluation();
    let meter = METER.get();
    METER.set(Meter { is_open: false, ..meter });
    u64::MAX - meter.left - meter.slice
}

/// Counts steps; false if the evaluation must end. Outside of evaluations nothing is counted.
#[inline]
pub fn spend(steps: u64) -> bool {
    let mut meter = METER.get();
    if steps < meter.slice {
        meter.slice -= steps;
        METER.set(meter);
        return true;
    }
    spend_slowly(steps)
}

/// Counts bytes of text that are made or found; false if the evaluation must end.
#[inline]
pub fn spend_bytes(bytes: usize) -> bool {
    spend(bytes as u64 / BYTES_PER_STEP)
}

#[cold]
fn spend_slowly(steps: u64) -> bool {
    let mut meter = METER.get();
    if !meter.is_open {
        return true;
    }
    if meter.gave_up.is_some() {
        return false;
    }
    LIMITS.with_borrow(|limits| {
        let available = meter.slice + meter.left;
        if limits.stop.load(Ordering::Relaxed) {
            meter.gave_up = Some(GaveUp::Stopped);
        } else if steps >= available {
            meter.gave_up = Some(GaveUp::Steps(limits.steps));
        }
        let available = if meter.gave_up.is_some() { 0 } else { available - steps };
        meter.slice = available.min(SLICE);
        meter.left = available - meter.slice;
    });
    METER.set(meter);
    meter.gave_up.is_none()
}

/// Ends the current evaluation.
pub fn give_up(why: GaveUp) {
    let meter = METER.get();
    let gave_up = meter.gave_up.or(Some(why));
    METER.set(Meter { slice: 0, left: 0, gave_up, ..meter });
}

/// The reason why the current evaluation must end, if it must.
#[inline]
pub fn gave_up() -> Option<GaveUp> {
    let meter = METER.get();
    meter.gave_up.filter(|_| meter.is_open)
}

#[cfg(test)]
mod hostile;

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(steps: u64) -> Arc<AtomicBool> {
        let stop = Arc::new(AtomicBool::new(false));
        limit(Limits { steps, stop: Arc::clone(&stop) });
        stop
    }

    #[test]
    fn an_evaluation_ends_with_its_steps() {
        limits(200_000);
        let count = || (0..).take_while(|_| spend(1)).take(1_000_000).count() as u64;
        assert_eq!(bounded(count), (199_999, Some(GaveUp::Steps(200_000))));
        assert_eq!(bounded(|| spend(u64::MAX)), (false, Some(GaveUp::Steps(200_000))));
        assert_eq!(bounded(|| spend(199_999)), (true, None), "each has its own");
        assert_eq!(gave_up(), None);
    }

    #[test]
    fn an_evaluation_within_another_has_no_steps_of_its_own() {
        limits(100);
        let within = || {
            assert!(spend(60));
            assert_eq!(bounded(|| spend(60)), (false, None));
            gave_up()
        };
        let gave_up = Some(GaveUp::Steps(100));
        assert_eq!(bounded(within), (gave_up, gave_up));
    }

    #[test]
    fn an_evaluation_ends_with_the_run() {
        let stop = limits(u64::MAX);
        let stopped = bounded(|| {
            assert!(spend(SLICE * 3));
            stop.store(true, Ordering::Relaxed);
            (0..SLICE + 2).take_while(|_| spend(1)).count() as u64
        });
        assert!(stopped.0 <= SLICE + 1);
        assert_eq!(stopped.1, Some(GaveUp::Stopped));
    }
}
