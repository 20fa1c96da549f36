//! A bound on the work of one evaluation: an extractor, an assertion, a function, a condition.
//!
//! Whatever loops over data of a server or of a plan counts its steps with [`spend`]: a node looked at, an instruction of a regular expression. An
//! evaluation that has used its steps up finds nothing more and returns; [`bounded`], which encloses each evaluation, tells the caller, who says so in
//! words. The same happens as soon as the run is to stop at once. The bound is in steps, not in time, so that a run on a slow machine decides as one on a
//! fast machine does. Spending costs a decrement of a number of the thread.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::env::Env;
use crate::function::Level;
use crate::text::Thrown;

/// Steps of one evaluation unless the plan's user says otherwise: about half a second of a processor. Fewer in tests of this crate, which are not optimized.
pub const DEFAULT_STEPS: u64 = if cfg!(test) { 2_000_000 } else { 50_000_000 };
/// Bytes of text that one step makes or finds: what is found can have more text than fits into memory, nested elements above all.
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

/// The evaluation under way.
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
    static SAID: RefCell<HashMap<String, u64>> = RefCell::default();
}

/// Sets the limits of this thread.
pub fn limit(limits: Limits) {
    LIMITS.set(limits);
}

/// Runs an evaluation under the limits of this thread; with its result, why it gave up, if it did. An evaluation within another has no steps of its own, and tells
/// nobody: the outer one does.
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

/// Steps that the evaluation under way took.
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
pub(crate) fn spend(steps: u64) -> bool {
    let mut meter = METER.get();
    if steps < meter.slice {
        meter.slice -= steps;
        METER.set(meter);
        return true;
    }
    spend_slowly(steps)
}

/// Counts bytes of text that are made or found; false if the evaluation must end.
pub(crate) fn spend_bytes(bytes: usize) -> bool {
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

/// Ends the evaluation under way.
pub(crate) fn give_up(why: GaveUp) {
    let meter = METER.get();
    let gave_up = meter.gave_up.or(Some(why));
    METER.set(Meter { slice: 0, left: 0, gave_up, ..meter });
}

/// Why the evaluation under way must end, if it must.
pub(crate) fn gave_up() -> Option<GaveUp> {
    let meter = METER.get();
    meter.gave_up.filter(|_| meter.is_open)
}

/// The exception of a function that had to end before its text was whole.
#[cold]
pub(crate) fn too_much() -> Thrown {
    let why = gave_up().map_or_else(String::new, |why| why.to_string());
    Thrown::new("java.lang.OutOfMemoryError", why)
}

/// Runs an evaluation of the plan's under the limits of this thread. One that gave up is in the log, with what it was and of which sampler.
pub(crate) fn watched<R>(
    what: &str,
    env: &mut Env<'_>,
    evaluation: impl FnOnce(&mut Env<'_>) -> R,
) -> (R, Option<GaveUp>) {
    let (result, gave_up) = bounded(|| evaluation(env));
    if let Some(why) = gave_up.filter(|why| *why != GaveUp::Stopped) {
        report(what, why, env);
    }
    (result, gave_up)
}

/// Says in the log that an evaluation gave up, the first time and then ever more seldom.
#[cold]
fn report(what: &str, why: GaveUp, env: &Env<'_>) {
    let of = match env.who.sampler {
        "" => format!("{what} of group {}", env.who.group),
        sampler => format!("{what} of {sampler}"),
    };
    if let Some(times) = worth_saying(&of) {
        let times = if times > 1 { format!(", {times} times by now") } else { String::new() };
        env.shared.log(Level::Warn, format!("{of}: {why}{times}"));
    }
}

/// Whether this is the first time on this thread that `what` is said, or the 10th, 100th, …; with how often it was.
fn worth_saying(what: &str) -> Option<u64> {
    SAID.with_borrow_mut(|said| {
        // Names made of data do not fill memory.
        if said.len() >= 1000 {
            said.clear();
        }
        let times = said.entry(what.to_owned()).or_default();
        *times += 1;
        let mut power = 1;
        while power < *times {
            power *= 10;
        }
        (power == *times).then_some(*times)
    })
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

    #[test]
    fn what_is_said_often_is_said_seldom() {
        let said: Vec<u64> = (0..1000).filter_map(|_| worth_saying("a")).collect();
        assert_eq!(said, [1, 10, 100, 1000]);
    }
}
