//! Trends in a run under constant load: unfinished warm-up, drift, and steps.

use std::collections::BTreeMap;

use record::{Record, Second};
use stats::grouped::percent;

use super::courses::{Of, knows_load};
use super::figures::{
    answers, held_change, is_of_load, length_s, mix_differs, ms, rate, requests, settled, span,
    sum, times_of, windows,
};
use super::same_work::{self, other_answers};
use super::say::{clock, found, lacks, same_load, time, words};
use super::{errors, realism, run::Run, steps};
use crate::change::{self, lasting, steps as steps_in};
use crate::trend::{Trend, trend};
use crate::verdict::{About, Confidence, Said, Words};
use crate::warmup::{Course, warm_up};

/// Smallest number of requests under the same load, for a finding.
const SAMPLES: u64 = 1000;
/// Smallest number of seconds under the same load, for a finding. The first `STEP_WINDOW` seconds are included,
/// although they are left out of the comparison.
const SECONDS: usize = 60;
/// Length in seconds of a window in which medians are compared to find steps.
const STEP_WINDOW: usize = 5;
/// Length in seconds of a window in which medians are compared to find a drift.
const DRIFT_WINDOW: usize = 5;
/// Smallest relative change of the median response time that counts as a step, or as the effect of a warm-up.
const SIZE: f64 = 0.1;
/// Smallest number of windows on each side of a step: 30 s are 6 windows, minus 1 for the window that the step cuts.
const LASTS: usize = 5;
/// Largest p value of a step that counts as significant.
const CHANCE: f64 = 0.001;
/// Smallest fall of the median response time from the second last sixth of the run to the last sixth, as a share,
/// at which the target still warms up.
const FALLS: f64 = 0.05;
/// Largest difference between the medians of the two halves of each side of a step, as a share of the step's height,
/// at which the side counts as nearly constant. On a smooth curve, the halves of a part differ about as much as
/// neighbouring parts.
const EVEN: f64 = 0.35;
/// Smallest difference between the means of the `AROUND` windows before and after a step, as a share of the step's
/// height, at which the step counts as sudden.
const SUDDEN: f64 = 0.65;
/// Number of windows on each side of a step within which most of the change must lie.
const AROUND: usize = 3;
/// Largest difference between the response times before and after a slow period, as a share of the height of the step,
/// at which the times count as equal.
const BACK: f64 = 1.0 / 3.0;
/// Largest difference between the response times before and after a slow period, as a share of the shorter time,
/// at which the times count as equal. The smaller of `BACK` and this limit counts.
const ALIKE: f64 = 0.5;
/// Smallest growth of the median in ten minutes for a drift, as a share of its value at the start.
const DRIFT: f64 = 0.1;
/// Smallest growth of the median over the run for a drift, as a share of its value at the start.
const DRIFT_RUN: f64 = 0.1;
/// Growth of the median over the run that is enough for a drift even if the growth in ten minutes is smaller, as a
/// share of its value at the start.
const DRIFT_LONG: f64 = 0.25;
/// Largest p value of a drift that counts as significant; divided by the number of tested series.
const DRIFT_CHANCE: f64 = 0.01;
/// Smallest number of requests per window of a label whose trend is tested separately from the other labels.
const LABEL_SAMPLES: u64 = 20;
/// Largest ratio of two residuals, of a line and of a step, at which the explanation with the smaller residual is
/// accepted.
const BETTER: f64 = 0.8;
/// Largest difference between two rates that count as the same, as a share of the higher rate.
const SAME_RATE: f64 = 0.01;
/// Share of failed requests above which the times of a period are mostly times of failures.
const MOST: f64 = 0.5;

/// Returns the steady part without its first seconds, in which the last users still start and their queue builds up.
fn part(record: &Record) -> &[Second] {
    let seconds = settled(record);
    &seconds[seconds.len().min(STEP_WINDOW)..]
}

/// Returns the result of a rule if times of the run cannot be compared: the number of users is unknown, or the time
/// under the same load is too short.
fn no_load(record: &Record, seconds: &[Second]) -> Option<Said> {
    if !knows_load(record) {
        return Some(lacks!(number_of_users));
    }
    let is_short = seconds.len() < SECONDS - STEP_WINDOW;
    is_short.then(|| lacks!(sixty_seconds_of_same_load))
}

/// Returns the residual sums of squares of the best single step and of the best line.
fn residues(values: &[f64]) -> (f64, f64) {
    let squares = |part: &[f64]| {
        let mean = super::figures::mean(part);
        part.iter().map(|v| (v - mean).powi(2)).sum::<f64>()
    };
    let step = (3..values.len().saturating_sub(3))
        .map(|at| squares(&values[..at]) + squares(&values[at..]))
        .fold(f64::MAX, f64::min);
    let n = values.len() as f64;
    let (t, v) = ((n - 1.0) / 2.0, super::figures::mean(values));
    let (mut above, mut below) = (0.0, 0.0);
    for (at, value) in values.iter().enumerate() {
        above += (at as f64 - t) * (value - v);
        below += (at as f64 - t).powi(2);
    }
    let slope = above / f64::max(below, 1e-9);
    let line =
        values.iter().enumerate().map(|(at, y)| (y - v - slope * (at as f64 - t)).powi(2)).sum();
    (step, line)
}

/// Returns the median response times, in ms, of successful requests in windows of `length` seconds. A window without a
/// success repeats the time of the window before.
fn medians(seconds: &[Second], length: usize) -> Vec<f64> {
    let mut before = 0.0;
    let of = |seconds: &[Second]| {
        let answers = answers(seconds);
        if answers.total() > 0 {
            before = ms(&answers, 0.5);
        }
        before
    };
    seconds.chunks_exact(length).map(of).collect()
}

/// True if the times of two parts are comparable: both have the same mix of labels, or the service time changes by at
/// least [`SIZE`] in the direction of `size` also when each label is compared with itself.
fn is_of_same_work(record: &Record, a: &[Second], b: &[Second], size: f64) -> bool {
    if !mix_differs(record, a, b) {
        return true;
    }
    let held = held_change(record, a, b).map(|(factor, _)| factor - 1.0);
    held.is_some_and(|held| held.abs() >= SIZE && held.signum() == size.signum())
}

/// Returns the first and the last third of the seconds.
fn thirds(seconds: &[Second]) -> (&[Second], &[Second]) {
    let third = seconds.len() / 3;
    (&seconds[..third], &seconds[seconds.len() - third..])
}

pub(super) fn warmup_unfinished(run: &Run<'_>) -> Said {
    let (record, seconds) = (run.record(), part(run));
    if let Some(lacks) = no_load(record, seconds) {
        return lacks;
    }
    if requests(seconds) < SAMPLES {
        return Said::Nothing;
    }
    let all = windows(seconds, 1);
    let rates: Vec<f64> = all.iter().map(|w| w.rate).collect();
    let p95: Vec<f64> = all.iter().map(|w| w.p95).collect();
    let found_at = warm_up(&Course { rates: &rates, p95: &p95, ..Course::default() });
    let values = medians(seconds, STEP_WINDOW);
    let third = values.len() / 3;
    let (first, last) =
        (super::figures::median(&values[..third]), super::figures::median(&values[2 * third..]));
    // A warm-up ends with better metrics. If metrics get worse, this is drift; if they change suddenly, a step.
    let better = last < first * (1.0 - SIZE);
    // A median that hardly falls any more is significant as well if there are many requests: then the target is warm.
    let sixth = values.len() / 6;
    let (earlier, end) = values[values.len() - 2 * sixth..].split_at(sixth);
    let falls = super::figures::median(end) < (1.0 - FALLS) * super::figures::median(earlier);
    let still = falls
        && trend(&values[values.len() / 2..]).is_some_and(|t| t.p < DRIFT_CHANCE && t.slope < 0.0);
    let other = || {
        realism::cached(record).is_some()
            || run.finds("concurrency_limit")
            || run.finds("step_change")
    };
    if !found_at.unsteady || !better || !still || other() {
        return Said::Nothing;
    }
    let (early, late) = thirds(seconds);
    if is_of_load(late, early) || !is_of_same_work(record, early, late, -1.0) {
        return Said::Nothing;
    }
    if same_work::asks_for_other_work(record, None, [early, late].map(span)) {
        return Said::Nothing;
    }
    let (before, after) = (time(first), time(last));
    found(
        "warmup_unfinished",
        About::Test,
        Confidence::Statistical,
        words!(warmup_found(before, after)),
    )
    .with("median_first", first, "ms", span(seconds))
    .with("median_last", last, "ms", span(seconds))
    .advise(words!(warmup_advice))
    .said()
}

/// Returns the medians of each of the given labels in all windows; only labels with enough requests in each window are
/// kept.
fn medians_of(seconds: &[Second], labels: &[u32]) -> BTreeMap<u32, Vec<f64>> {
    let mut medians: BTreeMap<u32, Vec<f64>> =
        labels.iter().map(|label| (*label, Vec::new())).collect();
    for window in seconds.chunks_exact(DRIFT_WINDOW) {
        let times = times_of(window, |label| medians.contains_key(label));
        medians.retain(|label, medians| {
            let hist = times.get(label).filter(|hist| hist.total() >= LABEL_SAMPLES);
            medians.extend(hist.map(|hist| ms(hist, 0.5)));
            hist.is_some()
        });
        if medians.is_empty() {
            break;
        }
    }
    medians
}

/// Growth of median times over a run.
struct Growth {
    label: Option<u32>,
    trend: Trend,
    windows: usize,
    /// Length of a window in seconds; in a long run one entry of the record covers many seconds.
    window_s: f64,
}

impl Growth {
    /// Tests medians for growth. `values`: the medians of a label, or of all requests; `tests`: number of tested
    /// series.
    fn of(seconds: &[Second], label: Option<u32>, values: &[f64], tests: usize) -> Option<Self> {
        // Comparing both ends first avoids the slopes of all pairs for most labels.
        let third = values.len() / 3;
        let (first, last) = (
            super::figures::median(&values[..third]),
            super::figures::median(&values[values.len() - third..]),
        );
        if last < first * (1.0 + DRIFT_RUN / 3.0) {
            return None;
        }
        let trend = trend(values)?;
        let window_s = length_s(seconds) * DRIFT_WINDOW as f64 / seconds.len().max(1) as f64;
        let growth = Self { label, trend, windows: values.len(), window_s };
        let over_run = growth.share(growth.trend.slope) * values.len() as f64;
        let (step, line) = residues(values);
        let is_drift = growth.trend.p < DRIFT_CHANCE / tests as f64
            && (growth.in_ten_minutes(growth.trend.slope) > DRIFT || over_run > DRIFT_LONG)
            && over_run > DRIFT_RUN;
        (is_drift && line <= BETTER * step).then_some(growth)
    }

    fn a_minute(&self, slope: f64) -> f64 {
        slope * 60.0 / self.window_s.max(1e-3)
    }

    /// Returns a slope relative to the start of the trend line.
    fn share(&self, slope: f64) -> f64 {
        slope / self.trend.start.max(1e-6)
    }

    fn in_ten_minutes(&self, slope: f64) -> f64 {
        10.0 * self.share(self.a_minute(slope))
    }
}

/// Returns the growth of the median of all requests, or of a single label whose growth the other labels hide.
fn growth(record: &Record, seconds: &[Second]) -> Option<Growth> {
    let (early, late) = thirds(seconds);
    if is_of_load(early, late)
        || same_work::asks_for_other_work(record, None, [early, late].map(span))
    {
        return None;
    }
    let of_all = Growth::of(seconds, None, &medians(seconds, DRIFT_WINDOW), 1);
    if let Some(all) = of_all.filter(|_| is_of_same_work(record, early, late, 1.0)) {
        return Some(all);
    }
    let real = |label: &u32| !record.labels[*label as usize].transaction;
    let labels: Vec<u32> = (0..record.labels.len() as u32).filter(real).collect();
    if labels.len() < 2 {
        return None;
    }
    let of_label =
        |(label, values): (u32, Vec<f64>)| Growth::of(seconds, Some(label), &values, labels.len());
    medians_of(seconds, &labels).into_iter().find_map(of_label)
}

pub(super) fn drift(record: &Record) -> Said {
    let seconds = part(record);
    if let Some(lacks) = no_load(record, seconds) {
        return lacks;
    }
    if requests(seconds) < SAMPLES {
        return Said::Nothing;
    }
    let Some(growth) = growth(record, seconds) else { return Said::Nothing };
    let Trend { start, slope, low, high, .. } = growth.trend;
    let ten_minutes = growth.in_ten_minutes(slope);
    let (from, to) = (time(start), time(start + slope * growth.windows as f64));
    let pace = time(growth.a_minute(slope));
    let name = growth.label.map(|label| &record.labels[label as usize].name);
    let of = name.map_or_else(Default::default, |name| words!(of_label(name)));
    found("drift", About::Target, Confidence::Statistical, words!(drift_found(of, from, to, pace)))
        .between(
            "growth",
            ten_minutes,
            "share in 10 min",
            Some((growth.in_ten_minutes(low), growth.in_ten_minutes(high))),
            span(seconds),
        )
        .rules_out(same_load())
        .advise(words!(drift_advice))
        .explaining(&["warmup_unfinished", "bimodal", "plateau", "step_change"])
        .said()
}

/// A change at one point in time: the examined seconds, the index of the first second after the change, and the medians
/// in ms before and after it. If the change has a label, the medians are those of the label's requests.
type Changed<'r> = steps::Step<'r>;

/// True if the times change suddenly at the step, with nearly constant times before and after it. `window_s`: length of
/// a window in seconds. The windows next to the step are left out: the step may lie within them, and where a queue
/// fills or empties, a sudden change of the target takes as long as a response.
fn is_sudden(values: &[f64], step: &change::Step, window_s: f64) -> bool {
    let response_s = step.before.max(step.after) / 1000.0;
    let gap = 1 + (response_s / 2.0 / window_s) as usize;
    let side = |from: usize, to: usize| values.get(from..to).unwrap_or_default();
    let before = side(step.at - step.values_before, step.at.saturating_sub(gap));
    let after = side(step.at + gap, step.at + step.values_after);
    let height = step.after - step.before;
    let is_even = |side: &[f64]| {
        let (a, b) = side.split_at(side.len() / 2);
        (super::figures::median(b) - super::figures::median(a)).abs() <= EVEN * height.abs()
    };
    if before.len().min(after.len()) < AROUND || !is_even(before) || !is_even(after) {
        return false;
    }
    let (a, b) = (&before[before.len() - AROUND..], &after[..AROUND]);
    (super::figures::mean(b) - super::figures::mean(a)) / height >= SUDDEN
}

/// True if a step begins or ends a slow period: after a later step the times are again as before this step, or before
/// an earlier step they were as after this step. A fast period between slow ones does not count: a target that warms up
/// at first may become slower later.
fn is_part_of_period(steps: &[change::Step], step: &change::Step) -> bool {
    let height = (step.after - step.before).abs();
    let near = |a: f64, b: f64| (a - b).abs() <= (BACK * height).min(ALIKE * a.min(b));
    steps.iter().any(|other| {
        if step.after > step.before {
            other.at > step.at && near(other.after, step.before)
        } else {
            other.at < step.at && near(other.before, step.after)
        }
    })
}

/// Finds a step with half a minute on each side. Its seconds reach to the steps before and after it.
fn long_step(record: &Record) -> Option<Changed<'_>> {
    let seconds = part(record);
    if seconds.len() < SECONDS - STEP_WINDOW || requests(seconds) < SAMPLES {
        return None;
    }
    let values = medians(seconds, STEP_WINDOW);
    let found_steps = steps_in(&values, CHANCE);
    let window_s = length_s(seconds) * STEP_WINDOW as f64 / seconds.len() as f64;
    let (step_left, line_left) = residues(&values);
    let step = lasting(&found_steps, SIZE, LASTS)
        .filter(|step| is_sudden(&values, step, window_s))
        .filter(|step| !is_part_of_period(&found_steps, step))
        .max_by(|a, b| a.size().abs().total_cmp(&b.size().abs()))
        .filter(|_| step_left < BETTER * line_left)?;
    // A cache makes responses faster over time; that is not a step of the service.
    if step.size() < 0.0 && realism::cached(record).is_some() {
        return None;
    }
    let (from, to) = (step.at - step.values_before, step.at + step.values_after);
    let seconds = &seconds[from * STEP_WINDOW..to * STEP_WINDOW];
    let at = step.values_before * STEP_WINDOW;
    let changed = Changed { seconds, at, label: None, before: step.before, after: step.after };
    let (early, late) = seconds.split_at(at);
    let by_load =
        if changed.size() > 0.0 { is_of_load(early, late) } else { is_of_load(late, early) };
    (!by_load && is_of_same_work(record, early, late, changed.size())).then_some(changed)
}

/// Finds a step at which times become so much longer that a comparison of single seconds shows it.
fn short_step<'r>(run: &Run<'r>) -> Option<Changed<'r>> {
    let (record, changed) = (run.record(), steps::step(run)?);
    let (early, late) = changed.seconds.split_at(changed.at);
    let is_same = changed.label.is_some() || is_of_same_work(record, early, late, changed.size());
    is_same.then_some(changed)
}

/// Returns the label that the sentence about a change names, and the label's medians in ms before and after the change.
/// If the mix of labels stayed the same, returns the label and the medians of the change itself.
fn told(record: &Record, changed: &Changed<'_>) -> (Option<u32>, f64, f64) {
    if changed.label.is_some() {
        return (changed.label, changed.before, changed.after);
    }
    let (early, late) = changed.seconds.split_at(changed.at);
    let held = held_change(record, early, late).filter(|_| mix_differs(record, early, late));
    held.map_or((None, changed.before, changed.after), |(_, held)| {
        (Some(held.label), held.before, held.after)
    })
}

/// Returns a phrase about the share of failures before and after a change; empty without failures.
fn failures(early: &[Second], late: &[Second]) -> Words {
    let failed = |part: &[Second]| sum(part, |s| s.all.errors);
    let share = |part: &[Second]| percent(failed(part) as f64 / requests(part).max(1) as f64);
    if failed(early) + failed(late) == 0 {
        return Words::default();
    }
    let (before, after) = (share(early), share(late));
    words!(failures_changed(before, after))
}

/// Returns a phrase about the request rates before and after a change.
fn rates(before: f64, after: f64) -> Words {
    let (a, b) = (errors::per_second(before), errors::per_second(after));
    if a == b || (before - after).abs() <= SAME_RATE * before.max(after) {
        return words!(rate_stayed(b));
    }
    words!(rate_changed(a, b))
}

pub(super) fn step_change(run: &Run<'_>) -> Said {
    // Stops of the whole service shift windows, and intermittent failures change the times.
    let (record, stops) = (run.record(), || run.finds("stalls"));
    let changed = long_step(record).or_else(|| short_step(run)).filter(|_| !stops());
    let changed = changed.filter(|changed| {
        let (early, late) = changed.seconds.split_at(changed.at);
        // Times of failures are not times of the target, and the rules about failures report the moment of the
        // change.
        let fails = |part| sum(part, |s| s.all.errors) as f64 > MOST * requests(part) as f64;
        ![early, late].into_iter().any(fails)
            && !same_work::asks_for_other_work(record, changed.label, [early, late].map(span))
    });
    let no_load = no_load(record, part(record));
    let Some(changed) = changed.filter(|_| knows_load(record)) else {
        return no_load.unwrap_or(Said::Nothing);
    };
    let (early, late) = changed.seconds.split_at(changed.at);
    let at = changed.label.map(|label| label as usize);
    if let Some(sizes) = same_work::other_sizes(at.map_or(Of::All, Of::Label), [early, late]) {
        let times = [changed.before, changed.after];
        return other_answers("step_change", record, at, [early, late], sizes, times).said();
    }
    let at_ms = span(late).0;
    let failures = failures(early, late);
    let (label, before, after) = told(record, &changed);
    let of = label.map_or_else(Default::default, |label| {
        let name = &record.labels[label as usize].name;
        words!(of_label(name))
    });
    let (before, after) = (time(before), time(after));
    let when = clock(at_ms - record.frame.start_ms);
    let rates = rates(rate(early), rate(late));
    found(
        "step_change",
        About::Target,
        Confidence::Statistical,
        words!(step_change_found(when, of, before, after, rates, failures)),
    )
    .with("change", changed.size(), "share", (at_ms, at_ms))
    .with("before", changed.before, "ms", span(early))
    .with("after", changed.after, "ms", span(late))
    .rules_out(same_load())
    .advise(words!(step_change_advice))
    .explaining(&["warmup_unfinished", "drift", "bimodal", "plateau"])
    .said()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_that_differ_only_in_their_digits_are_the_same() {
        assert_eq!(rates(9.98, 10.02).en, "the rate stayed at 10/s");
        assert_eq!(rates(9.98, 10.02).zh, "速率保持 10/s");
        assert_eq!(rates(10.2, 10.4).en, "the rate stayed at 10/s");
        assert_eq!(rates(9.7, 10.02).en, "the rate from 9.7/s to 10/s");
        assert_eq!(rates(1200.0, 1205.0).en, "the rate stayed at 1 205/s");
    }
}
