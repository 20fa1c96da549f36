//! Failures of two sides over their whole runs. The number of failures that happened is a fact; whether the sides
//! fail at different rates is a statistical question.
//!
//! Shares count all seconds, including ramp-up and warm-up. The difference is tested by counts: if both sides fail
//! equally often, the side with the larger share has a binomial number of all failures, in proportion to its samples.
//!
//! Failures in clusters are not independent. A short burst ([`bursts`]) counts as one event: an outage of a second is
//! one outage, whether it has 20 failed samples or 2 000, and equal sides show one event against none in half of all
//! pairs. Failures in longer clusters count for less by the design effect: the variance of sums over seconds relative
//! to that of independent failures (L. Kish, "Survey Sampling", 1965); for repeated runs, sums over runs count as well.
//! If nearly all failures of the side that fails more belong to one lasting event, the design effect is that of the
//! other side: an outage on one side only did happen, and the dependence of its seconds does not make it chance.
//! Otherwise the geometric mean of both sides' design effects counts.
//!
//! With three and more runs on each side, Welch's test also compares the shares of the runs: failures that occur in
//! each run of one side and in no run of the other are a difference, however short they are.
//!
//! Responses that were not as expected are counted in the same way, among the checked responses.

mod bursts;
#[cfg(test)]
mod tests;
mod words;

use record::Record;
use serde::Serialize;

use crate::distribution::incomplete_beta;
use crate::repeats::welch;
use crate::series::mean;
use bursts::Burst;

/// Probability with which equal sides are called different.
const CHANCE: f64 = 0.001;
/// Probability with which equal sides of repeated runs are called different by the shares of their runs.
const CHANCE_OF_RUNS: f64 = 0.05;
/// Smallest number of runs on each side for a comparison of their shares.
const LEAST_RUNS: usize = 3;
/// Lengths in seconds of the intervals in which failures are summed to find short clusters.
const LENGTHS: [usize; 3] = [1, 3, 10];
/// Number of equal parts of a run in which failures are summed to find long clusters.
const PARTS: usize = 10;
/// Smallest share of a side's failures that an event must contain.
const NEARLY_ALL: f64 = 0.95;
/// Largest share of the run that an event may take.
const LONGEST: f64 = 0.5;
/// 97.5 % quantile of the standard normal distribution.
const Z: f64 = 1.96;

/// The kind of samples that are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Counted {
    /// Failed samples among all samples.
    #[default]
    Failed,
    /// Responses that were not as expected, among the checked responses.
    Unexpected,
}

/// Failures of two sides, and their difference.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Failures {
    /// Share of B minus share of A.
    pub change: f64,
    /// 95 % interval of the change (R. Newcombe, Statistics in Medicine 17, 1998). It uses the number of independent
    /// samples that remain after accounting for clusters.
    pub interval: (f64, f64),
    /// Interval of the change if each failure were independent, which describes the variation within the compared runs.
    pub by_counts: (f64, f64),
    /// Probability of a difference at least as large between sides that fail equally often.
    pub p: f64,
    /// True if the difference is significant.
    pub is_beyond: bool,
    /// Start and end, in ms, of the event: the part of the run that holds nearly all failures of the side with the
    /// larger share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_ms: Option<(i64, i64)>,
    /// Number of short bursts, if the bursts contain nearly all failures of the side with the larger share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub short_events: Option<usize>,
    /// True if the event consists of intervals of a long run, so that the exact times of its failures are unknown.
    #[serde(skip)]
    is_coarse: bool,
    /// True if the event, or the short bursts, contain all failures of the side with the larger share.
    #[serde(skip)]
    is_all: bool,
    /// True if the event lasts until the end of the run.
    #[serde(skip)]
    is_until_end: bool,
    /// Samples and failures of both sides.
    #[serde(skip)]
    sides: [(u64, u64); 2],
    /// True if each side has a single run.
    #[serde(skip)]
    is_single: bool,
    #[serde(skip)]
    counted: Counted,
}

/// Samples and failures of one second, or of one interval of a long run.
#[derive(Clone, Copy, Debug, Default)]
struct Unit {
    end_ms: i64,
    ms: u32,
    all: u64,
    failed: u64,
    /// Largest number of failures per second in an interval of a long run; 0 if this is a single second.
    most_per_s: f64,
}

impl Unit {
    /// Returns the shortest time, in ms, in which the failures can have occurred: no second of an interval has more
    /// than `most_per_s` of them.
    fn least_ms(&self) -> f64 {
        let ms = f64::from(self.ms);
        if self.most_per_s > 0.0 {
            (self.failed as f64 * 1000.0 / self.most_per_s).min(ms)
        } else {
            ms
        }
    }
}

/// Seconds of a run, with the samples of a label or of all requests.
#[derive(Clone, Debug, Default)]
pub(super) struct Course(Vec<Unit>);

/// Returns the courses of the given labels in a run, in the same order; `None` stands for all requests.
pub(super) fn courses(record: &Record, labels: &[Option<u32>], counted: Counted) -> Vec<Course> {
    let start = record.seconds.first().map_or(0, |first| first.at_ms - i64::from(first.ms));
    let empty = |second: &record::Second| Unit {
        end_ms: second.at_ms - start,
        ms: second.ms,
        most_per_s: second.coarse.as_ref().map_or(0.0, |coarse| match counted {
            Counted::Failed => coarse.errors,
            Counted::Unexpected => coarse.rates.map_or(0.0, |(_, most)| most),
        }),
        ..Unit::default()
    };
    let each: Vec<Unit> = record.seconds.iter().map(empty).collect();
    let mut courses = vec![Course(each); labels.len()];
    let mut place = vec![None; record.labels.len()];
    for (at, label) in labels.iter().enumerate() {
        if let Some(place) = label.and_then(|label| place.get_mut(label as usize)) {
            *place = Some(at);
        }
    }
    let all = labels.iter().position(Option::is_none);
    let place = |label: u32| *place.get(label as usize)?;
    for (n, second) in record.seconds.iter().enumerate() {
        let mut set = |at: usize, of: (u64, u64)| {
            let unit = &mut courses[at].0[n];
            (unit.all, unit.failed) = of;
        };
        match counted {
            Counted::Failed => {
                if let Some(at) = all {
                    set(at, (second.all.count, second.all.errors));
                }
                let of_labels = second.labels.counts();
                of_labels.for_each(|(label, count, errors)| {
                    if let Some(at) = place(label) {
                        set(at, (count, errors));
                    }
                });
            }
            Counted::Unexpected => {
                if let Some(at) = all.filter(|_| !second.checks.is_empty()) {
                    let of = second.checks_of(None, &record.labels);
                    set(at, (of.checked, of.unexpected));
                }
                for (label, of) in &second.checks {
                    if let Some(at) = place(*label) {
                        set(at, (of.checked, of.unexpected));
                    }
                }
            }
        }
    }
    courses
}

/// Returns the number of samples in the given runs, and the number of failed samples.
pub(super) fn counted(runs: &[&Course]) -> (u64, u64) {
    let units = runs.iter().flat_map(|run| &run.0);
    units.fold((0, 0), |sum, unit| (sum.0 + unit.all, sum.1 + unit.failed))
}

/// The runs of one side, with each short burst reduced to one failure.
struct Side {
    runs: Vec<Course>,
    /// Short bursts of each run.
    bursts: Vec<Vec<Burst>>,
    all: u64,
    failed: u64,
    /// Number of failures if each short burst counts as one.
    events: u64,
    /// Design effect: factor by which clusters increase the variance over that of independent failures.
    effect: f64,
}

impl Side {
    fn of(runs: &[&Course]) -> Self {
        let (all, failed) = counted(runs);
        let (runs, bursts): (Vec<_>, Vec<_>) = runs.iter().map(|run| run.by_events()).unzip();
        let each: Vec<&Course> = runs.iter().collect();
        let (events, effect) = (counted(&each).1, design_effect(&each));
        Self { runs, bursts, all, failed, events, effect }
    }

    fn share(&self) -> f64 {
        self.failed as f64 / self.all as f64
    }

    /// Returns the mean number of failures per event.
    fn in_each(&self) -> f64 {
        if self.events == 0 { 1.0 } else { self.failed as f64 / self.events as f64 }
    }

    /// Returns the number of short bursts if they hold nearly all failures, and true if they hold all.
    fn short_events(&self) -> Option<(usize, bool)> {
        let bursts: Vec<&Burst> = self.bursts.iter().flatten().collect();
        let within: u64 = bursts.iter().map(|burst| burst.failed).sum();
        let is_nearly_all = within as f64 >= NEARLY_ALL * self.failed as f64;
        (!bursts.is_empty() && is_nearly_all).then_some((bursts.len(), within == self.failed))
    }

    /// Returns start and end in ms of the only burst, if there is exactly one.
    fn burst_ms(&self) -> Option<(i64, i64)> {
        let [run] = &self.runs[..] else { return None };
        let [burst] = self.bursts[0][..] else { return None };
        let (first, last) = (run.0[burst.first], run.0[burst.last]);
        Some((first.end_ms - i64::from(first.ms), last.end_ms))
    }
}

impl Failures {
    /// Compares the failures of two sides; `None` if a side has no samples.
    pub(super) fn of(a: &[&Course], b: &[&Course], counted: Counted) -> Option<Self> {
        let sides = [Side::of(a), Side::of(b)];
        if sides.iter().any(|side| side.all == 0) {
            return None;
        }
        let change = sides[1].share() - sides[0].share();
        let (more, less) = if change >= 0.0 { (1, 0) } else { (0, 1) };
        let (of_more, of_less) = (&sides[more], &sides[less]);
        let event = event(&of_more.runs);
        let short = of_more.short_events().filter(|_| event.is_none());
        let effect = match event {
            Some(_) => of_less.effect,
            None => (of_less.effect * of_more.effect.max(of_less.effect)).sqrt(),
        };
        let count = |side: &Side| Counts { all: side.all, failed: side.events };
        let p = chance(count(of_more), count(of_less), effect);
        let mut found = Self {
            change,
            interval: widened(&sides, effect),
            by_counts: interval(sides.each_ref().map(|side| (side.all as f64, side.share()))),
            p,
            is_beyond: false,
            event_ms: event.map(|(span, _)| span),
            short_events: short.map(|(count, _)| count),
            is_coarse: of_more.runs.iter().flat_map(|run| &run.0).any(|unit| unit.most_per_s > 0.0),
            is_all: event.map_or(short.is_some_and(|(_, is_all)| is_all), |(_, part)| part >= 1.0),
            is_until_end: false,
            sides: sides.each_ref().map(|side| (side.all, side.failed)),
            is_single: a.len() == 1 && b.len() == 1,
            counted,
        };
        found.is_beyond = p < CHANCE && found.excludes(0.0);
        if short.is_some_and(|(count, _)| count == 1) {
            found.event_ms = of_more.burst_ms();
        }
        let end = of_more.runs.last().and_then(|run| run.0.iter().rfind(|unit| unit.all > 0));
        let is_last = |(_, to): (i64, i64)| end.is_some_and(|end| end.end_ms <= to);
        found.is_until_end = found.event_ms.is_some_and(is_last);
        found.by_runs(a, b);
        Some(found)
    }

    /// Returns the shares of failed samples of both sides.
    pub(super) fn shares(&self) -> [f64; 2] {
        self.sides.map(|(all, failed)| failed as f64 / all.max(1) as f64)
    }

    pub(super) fn counted(&self) -> Counted {
        self.counted
    }

    /// True if the interval of the difference does not contain `change`.
    pub fn excludes(&self, change: f64) -> bool {
        let (low, high) = self.interval;
        change < low || high < change
    }

    /// True if the difference is compatible with chance and its interval is narrow: at most `least` to each side.
    pub fn is_within_chance(&self, least: f64) -> bool {
        let (low, high) = self.interval;
        self.short_events.is_none() && !self.excludes(0.0) && (high - low) / 2.0 <= least
    }

    /// Replaces the interval and the p value by those of Welch's test on the shares of single runs, if that test is
    /// significant and both tests find the same side worse. Does nothing if the difference is significant already, or
    /// if a side has fewer than [`LEAST_RUNS`] runs.
    fn by_runs(&mut self, a: &[&Course], b: &[&Course]) {
        if self.is_beyond || a.len().min(b.len()) < LEAST_RUNS {
            return;
        }
        let shares = |runs: &[&Course]| -> Vec<f64> {
            let share = |run: &&Course| {
                let (all, failed) = counted(&[*run]);
                failed as f64 / all.max(1) as f64
            };
            runs.iter().map(share).collect()
        };
        let (of_a, of_b) = (shares(a), shares(b));
        let test = welch(&of_a, &of_b);
        let is_same_way = (mean(&of_b) - mean(&of_a)) * self.change > 0.0;
        if test.p < CHANCE_OF_RUNS && is_same_way {
            // If runs have different lengths, the mean of their shares differs from the share of all samples.
            let (low, high) = (test.low.max(-1.0), test.high.min(1.0));
            self.interval = (low.min(self.change), high.max(self.change));
            (self.p, self.is_beyond) = (test.p, self.excludes(0.0));
        }
    }
}

/// Returns the interval by the samples that remain after bursts and clusters. A side without failures is assumed to
/// have bursts like the other side's.
fn widened(sides: &[Side; 2], effect: f64) -> (f64, f64) {
    let worth = |at: usize| {
        let of = if sides[at].failed > 0 { &sides[at] } else { &sides[1 - at] };
        (sides[at].all as f64 / (of.in_each() * effect), sides[at].share())
    };
    interval([worth(0), worth(1)])
}

/// Numbers of samples and of failed samples on one side.
#[derive(Clone, Copy)]
struct Counts {
    all: u64,
    failed: u64,
}

/// Returns the probability that the side with the larger share (`more`) has at least as many failures as observed if
/// both sides fail equally often.
fn chance(more: Counts, less: Counts, effect: f64) -> f64 {
    let Counts { all, failed } = more;
    let (n, k) = ((all + less.all) as f64, (failed + less.failed) as f64);
    if failed == 0 || less.failed == less.all {
        return 1.0;
    }
    // If shares are not small, the number of failures varies less than a Poisson count.
    let worth = 1.0 / (effect * (1.0 - k / n).max(1.0 / n));
    let (k, failed) = (k * worth, failed as f64 * worth);
    (2.0 * incomplete_beta(all as f64 / n, failed, k - failed + 1.0)).min(1.0)
}

/// Returns the variance of the failures in sums over neighbouring seconds, and over runs, relative to that of
/// independent failures; at least 1.
fn design_effect(runs: &[&Course]) -> f64 {
    let (all, failed) = counted(runs);
    let share = failed as f64 / all.max(1) as f64;
    let independent = share * (1.0 - share) * all as f64;
    if independent <= 0.0 {
        return 1.0;
    }
    let by_sums = |parts: usize, of: Option<usize>| {
        let sums = runs.iter().flat_map(|run| {
            let length = of.unwrap_or(run.0.len().div_ceil(parts)).max(1);
            run.0.chunks(length).map(|units| {
                units.iter().map(|unit| unit.failed as f64 - share * unit.all as f64).sum::<f64>()
            })
        });
        sums.map(|sum| sum * sum).sum::<f64>() / independent
    };
    let effects = LENGTHS.into_iter().map(Some).chain([None]).map(|of| by_sums(PARTS, of));
    // The failed share is estimated from the compared runs themselves, so their shares lie closer to the estimate
    // than to the true share.
    let runs = runs.len() as f64;
    let by_runs = if runs > 1.0 { by_sums(1, None) * runs / (runs - 1.0) } else { 1.0 };
    effects.fold(by_runs.max(1.0), f64::max)
}

/// Returns the shortest part of a run that holds nearly all failures, in ms, and its share of them; `None` if that part
/// is not short, or if there are several runs.
fn event(runs: &[Course]) -> Option<((i64, i64), f64)> {
    let [run] = runs else { return None };
    let units = &run.0;
    let failed: u64 = units.iter().map(|unit| unit.failed).sum();
    let least = (failed as f64 * NEARLY_ALL).ceil() as u64;
    let most = (units.len() as f64 * LONGEST) as usize;
    let (mut first, mut within) = (0, 0);
    let mut shortest: Option<(usize, usize)> = None;
    for (last, unit) in units.iter().enumerate() {
        within += unit.failed;
        while within - units[first].failed >= least && first < last {
            within -= units[first].failed;
            first += 1;
        }
        let is_shorter = shortest.is_none_or(|(from, to)| last - first < to - from);
        if within >= least && is_shorter {
            shortest = Some((first, last));
        }
    }
    let (mut first, mut last) = shortest.filter(|(first, last)| last + 1 - first <= most)?;
    // Failures in adjacent seconds belong to the event.
    let fails = |at: &usize| units.get(*at).is_some_and(|unit| unit.failed > 0);
    while first.checked_sub(1).is_some_and(|at| fails(&at)) {
        first -= 1;
    }
    while fails(&(last + 1)) {
        last += 1;
    }
    let within: u64 = units[first..=last].iter().map(|unit| unit.failed).sum();
    let length = last + 1 - first;
    // Single failures close to each other are not an event.
    let is_dense = 2 * units[first..=last].iter().filter(|unit| unit.failed > 0).count() > length;
    let span = (units[first].end_ms - i64::from(units[first].ms), units[last].end_ms);
    (failed > 1 && is_dense && length <= most).then_some((span, within as f64 / failed as f64))
}

/// Returns the interval of the difference of two shares. `sides`: samples and share of A and of B.
fn interval(sides: [(f64, f64); 2]) -> (f64, f64) {
    let [(a_low, a_high), (b_low, b_high)] = sides.map(|(n, share)| wilson(n, share));
    let [a, b] = sides.map(|(_, share)| share);
    let low = (b - a) - ((b - b_low).powi(2) + (a_high - a).powi(2)).sqrt();
    let high = (b - a) + ((b_high - b).powi(2) + (a - a_low).powi(2)).sqrt();
    (low, high)
}

/// Returns the lower and the upper end of the 95 % interval of a share of `n` samples, by the score test (E. Wilson,
/// 1927).
fn wilson(n: f64, share: f64) -> (f64, f64) {
    let square = Z * Z;
    let middle = share + square / (2.0 * n);
    let half = Z * (share * (1.0 - share) / n + square / (4.0 * n * n)).sqrt();
    let whole = 1.0 + square / n;
    ((middle - half) / whole, (middle + half) / whole)
}
