//! Detects a step: responses that are slower from some second on until the end of the run.

use record::Second;

use super::courses::{Course, Of, PHASE_SAMPLES, SLOWER, SMOOTH, STRAY, is_longer, paused};
use super::figures::{is_of_load, length_s, median, ms};
use super::run::Run;

/// Smallest length in seconds of each side of a step.
const AROUND_S: f64 = 2.9;
/// Largest ratio between the median times of the two halves of a side of a step at which that side has no trend.
const FLAT: f64 = 1.2;

/// A step: the second from which responses are slower until the end, with constant times before and after it.
pub(super) struct Step<'r> {
    /// Seconds of the run that were searched for a step.
    pub(super) seconds: &'r [Second],
    /// Index of the first second after the step.
    pub(super) at: usize,
    /// The only label that became slower; `None` if all requests did.
    pub(super) label: Option<u32>,
    /// Median in ms before the step.
    pub(super) before: f64,
    /// Median in ms after the step.
    pub(super) after: f64,
}

impl Step<'_> {
    /// Returns the change relative to the time before the step.
    pub(super) fn size(&self) -> f64 {
        self.after / self.before.max(1e-6) - 1.0
    }
}

pub(super) fn step<'r>(run: &Run<'r>) -> Option<Step<'r>> {
    let courses = run.courses()?;
    let seconds = courses.seconds;
    courses.each.iter().find_map(|course| {
        let (at, of) = (step_at(seconds, course)?, course.of);
        let median = |seconds| ms(&of.times(seconds), 0.5);
        let (before, after) = (median(&seconds[..at]), median(&seconds[at..]));
        let label = if let Of::Label(label) = of { Some(label as u32) } else { None };
        is_longer(after, before).then_some(Step { seconds, at, label, before, after })
    })
}

fn step_at(seconds: &[Second], course: &Course) -> Option<usize> {
    let (values, of) = (course.smooth(), course.of);
    let mut sorted: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let middle = f64::midpoint(*sorted.get(sorted.len() / 20)?, sorted[sorted.len() * 19 / 20]);
    let at = values.iter().position(|value| *value >= middle)?;
    let (before, behind) = values.split_at(at);
    let is_long =
        |seconds: &[Second]| length_s(seconds) >= AROUND_S && of.count(seconds) >= PHASE_SAMPLES;
    let stray = behind.iter().filter(|value| **value < middle).count();
    // A queue that builds up grows gradually, and so do times of a failing target.
    let flat = |values: &[f64]| {
        let (a, b) = values.split_at(values.len() / 2);
        (median(b) - median(a)).abs() <= FLAT.ln()
    };
    // Near the step, averages over neighbours mix values of both sides, so those seconds are left out.
    let (before, behind) =
        (&before[..at.saturating_sub(SMOOTH)], &behind[SMOOTH.min(behind.len())..]);
    let apart = median(behind) - median(before);
    let is_clear = apart >= SLOWER.ln() && is_beyond(apart, of, [before, behind]);
    // Counting the requests of a label takes longest, so it is the last condition.
    let is_step = is_clear
        && stray as f64 <= STRAY * behind.len() as f64
        && flat(before)
        && flat(behind)
        && sudden(&values, at)
        && !is_of_load(&seconds[..at], &seconds[at..])
        && !paused(&seconds[at..(at + 3).min(seconds.len())])
        && is_long(&seconds[..at])
        && is_long(&seconds[at..]);
    is_step.then_some(at)
}

/// True if a label's change exceeds the variation of its seconds.
fn is_beyond(apart: f64, of: Of, sides: [&[f64]; 2]) -> bool {
    let vary = |values: &[f64]| {
        let middle = median(values);
        1.48 * median(&values.iter().map(|value| (value - middle).abs()).collect::<Vec<_>>())
    };
    matches!(of, Of::All) || sides.into_iter().all(|side| apart >= of.clear() * vary(side))
}

/// True if most of the change lies around index `at`.
fn sudden(values: &[f64], at: usize) -> bool {
    let near = 2 * SMOOTH + 1;
    let (from, to) = (at.saturating_sub(near), (at + near).min(values.len() - 1));
    values[to] - values[from] >= SLOWER.ln()
}
