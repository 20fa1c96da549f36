//! A work limit for each evaluation of an extractor, an assertion, a function or a condition.
//!
//! Code that loops over data of a server or a plan counts its steps with [`spend`]: a visited node, an instruction of a
//! regular expression. An evaluation that has used up its steps finds nothing more and returns. [`bounded`] wraps each
//! evaluation and returns the reason, which the caller reports. Evaluations also end early as soon as the run must stop
//! immediately. The limit is in steps, not in time, so that a run on a slow machine has the same results as on a fast
//! one. Counting costs one decrement of a thread-local number.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Default maximum number of steps per evaluation: about half a second of processor time. Lower in tests of this crate,
/// because their code is not optimized.
pub const DEFAULT_STEPS: u64 = if cfg!(test) { 2_000_000 } else { 50_000_000 };
/// Number of bytes of created or found strings that count as one step. Results can contain more text than fits into
/// memory, especially with nested elements.
const BYTES_PER_STEP: u64 = 4;
/// Number of steps between two checks whether the run must stop.
const SLICE: u64 = 1 << 16;

/// Limits for the evaluations of a thread: a number of steps, and the flag that stops the run.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Maximum number of steps of one evaluation.
    pub steps: u64,
    /// Flag that is set to true when the run must stop immediately; evaluations then give up.
    pub stop: Arc<AtomicBool>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { steps: DEFAULT_STEPS, stop: Arc::default() }
    }
}

/// The reason why an evaluation ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GaveUp {
    /// The evaluation used up this number of steps.
    Steps(u64),
    /// The evaluation would have needed more than this number of bytes.
    Memory(usize),
    /// A pattern in a JSONPath would have exceeded this number of backtracking steps.
    Pattern(usize),
    /// The run must stop immediately.
    Stopped,
}

impl std::fmt::Display for GaveUp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Steps(steps) => write!(
                f,
                "stopped after {steps} steps, the limit for one evaluation (throng.evaluation.steps)"
            ),
            Self::Memory(bytes) => {
                write!(f, "stopped: one evaluation may use at most {} MiB", bytes >> 20)
            }
            Self::Pattern(times) => write!(
                f,
                "stopped: a regular expression in a JSONPath may backtrack at most {times} times per string"
            ),
            Self::Stopped => f.write_str("stopped at the end of the run"),
        }
    }
}

/// Step counter of the current evaluation.
#[derive(Clone, Copy)]
struct Meter {
    is_open: bool,
    /// Number of steps until the limits are checked next.
    slice: u64,
    /// Steps that remain after the current slice.
    left: u64,
    gave_up: Option<GaveUp>,
}

thread_local! {
    static METER: Cell<Meter> =
        const { Cell::new(Meter { is_open: false, slice: 0, left: 0, gave_up: None }) };
    static LIMITS: RefCell<Limits> = RefCell::default();
}

/// Sets the work limits for evaluations on this thread.
pub fn limit(limits: Limits) {
    LIMITS.set(limits);
}

/// Runs an evaluation under the limits of this thread. Returns its result, and the reason if it gave up. A nested
/// evaluation shares the steps of the outer evaluation, and only the outer evaluation returns the reason.
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

/// Returns the number of steps that the current evaluation has taken.
#[cfg(test)]
fn taken() -> u64 {
    let meter = METER.get();
    LIMITS.with_borrow(|limits| limits.steps) - meter.left - meter.slice
}

/// Returns the number of steps that an evaluation takes without a limit.
#[cfg(test)]
pub(crate) fn steps_of(evaluation: impl FnOnce()) -> u64 {
    METER.set(Meter { is_open: true, slice: 0, left: u64::MAX, gave_up: None });
    evaluation();
    let meter = METER.get();
    METER.set(Meter { is_open: false, ..meter });
    u64::MAX - meter.left - meter.slice
}

/// Counts steps; returns false if the evaluation must end. Outside of evaluations nothing is counted.
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

/// Counts bytes of created or found text as steps, four bytes per step; returns false if the evaluation must end.
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

/// Ends the current evaluation early, with its reason.
pub fn give_up(why: GaveUp) {
    let meter = METER.get();
    let gave_up = meter.gave_up.or(Some(why));
    METER.set(Meter { slice: 0, left: 0, gave_up, ..meter });
}

/// Returns the reason why the current evaluation must end, if there is one.
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
