//! The comparison of two runs, or of two sets of repeated runs: significant differences and their size.
//!
//! For two single runs, the interval of a difference comes from a stationary block bootstrap of their seconds: it
//! covers the random variation within these two runs. With three and more runs on each side, each run is one unit.
//! A difference counts if it is significant among all compared metrics (at most 5 % false discoveries) *and* above
//! a floor. Where there is no difference, the comparison names the smallest change that would have shown. Error
//! shares, and shares of responses as expected, are judged by the counts of the whole runs instead ([`failures`]).
//! Table, sentence and criterion use that judgement.

mod changes;
mod doubts;
mod failures;
mod named;
mod numbers;
#[cfg(test)]
mod tests;
mod unread;
mod whole;
mod work;

use std::borrow::Cow;

use record::{Part, Record, Second};
use serde::Serialize;
use stats::hist::Bins;

pub use changes::{Changed, changes};
pub use doubts::{Doubt, careful, doubted, doubts, limited, partial};
pub use failures::Failures;
pub use unread::{FEW_LOST, Lost};

use crate::bootstrap::{Metric, Refusal, Resampled, Unit, resample};
use crate::criterion::Times;
use crate::discovery::adjusted;
use crate::distribution::student_two_sided;
use crate::interval::least_samples;
use crate::repeats::{ratio, welch};
use crate::series::{mean, quantile, variance};
use crate::steady::{LEAST_MS, Steady, steady};
use crate::verdict::Words;
use whole::Whole;
use work::Work;

/// Largest rate of false discoveries that a comparison accepts.
const FALSE: f64 = 0.05;
/// Largest number of compared labels: those with the most samples.
const MOST_LABELS: usize = 100;
/// Shortest duration of steady load in seconds for which intervals are computed.
const LEAST_STEADY: f64 = 60.0;
/// Smallest number of samples of a label on each side, for the label to be compared.
const LEAST_SAMPLES: u64 = 100;

/// Settings of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub resamples: usize,
    /// Smallest relative change that counts as a difference.
    pub floor: f64,
    /// Smallest absolute change of the error ratio that counts as a difference.
    pub error_floor: f64,
    /// Kind of times to compare. Response times are compared only if both sides have them.
    pub times: Times,
}

impl Default for Settings {
    fn default() -> Self {
        Self { resamples: 2000, floor: 0.02, error_floor: 0.001, times: Times::default() }
    }
}

/// The result of comparing two sides.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// Kind of times that were compared.
    pub times: Times,
    pub all: Row,
    /// Rows of the labels that both sides have, the most samples first.
    pub labels: Vec<Row>,
    /// Rows of the series (numbers from responses) that both sides have, matched by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<Row>,
    /// Labels that only side A has.
    pub only_a: Vec<String>,
    /// Labels that only side B has.
    pub only_b: Vec<String>,
    /// Number of labels that are not compared, because they have too few samples or exceed the largest number of
    /// compared labels.
    pub left_out: usize,
    /// Number of runs on each side.
    pub runs: (usize, usize),
    /// Sides whose records do not say which samples failed; errors are then not compared.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors_unknown: Vec<&'static str>,
    /// Sides whose times are known only in whole milliseconds, because they are result files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub whole_ms: Vec<&'static str>,
    /// Message about labels that a side does not have: metrics of all requests then describe different work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing_labels: Option<Words>,
    /// Message about a label whose share of the requests differs between the sides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shifted_label: Option<Words>,
    /// Sentences about JVMs of watched hosts that had equal settings in all runs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub same_java: Vec<Words>,
    /// Message about the samples that could not be read, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unread: Option<Words>,
}

/// A row of the comparison: one label, or all requests.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Name of the label; empty for all requests.
    pub label: String,
    pub transaction: bool,
    /// Compared samples of both sides: those under steady load.
    pub samples: (u64, u64),
    /// Numbers of all recorded samples of both sides.
    pub recorded: (u64, u64),
    /// Numbers of failed samples among the recorded ones.
    pub failed: (u64, u64),
    /// Difference of the failed shares of both sides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failures: Option<Failures>,
    /// Numbers of checked responses of both sides.
    pub checked: (u64, u64),
    /// Difference of the shares of checked responses that were not as expected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unexpected: Option<Failures>,
    pub differences: Vec<Difference>,
    /// Reason why there are no intervals.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
}

/// A metric of both sides, with its difference.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    pub metric: &'static str,
    /// Value of side A: requests per second, a share, ms, or the mean number of a series.
    pub a: f64,
    /// Value of side B, in the unit of `a`.
    pub b: f64,
    /// B/A - 1; for shares, B - A.
    pub change: f64,
    /// 95 % interval of the change.
    pub interval: Option<(f64, f64)>,
    /// Probability (p) of a difference at least as large between equal sides.
    pub p: Option<f64>,
    /// p adjusted for the number of compared metrics.
    pub q: Option<f64>,
    pub result: Outcome,
    /// The smallest change that the comparison would have shown: half the width of the interval, at least the
    /// floor.
    pub visible: Option<f64>,
    /// Values of both sides including their warm-up; equal to `a` and `b` if no warm-up was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub with_warm_up: Option<(f64, f64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Different,
    /// The difference is significant, but too small to be reported.
    BelowFloor,
    /// The interval excludes 0, but the difference may be chance, because many metrics are compared or there are
    /// few events.
    MayBeChance,
    /// The compared runs show no difference in this metric.
    None,
    /// The sides did different work.
    OtherWork,
    /// Most samples of a side failed, so its times and rate are those of failures.
    MostlyFailed,
    /// Samples that could not be read could change the result of this metric.
    Unread,
    /// The difference has no interval.
    Unknown,
}

/// Name of the metric "share of failed samples".
pub const ERRORS: &str = "error%";
/// Name of the metric "share of checked responses that were as expected".
pub const CHECKS: &str = "checks%";
/// Name of the metric "mean of the numbers of a series in responses".
pub const SERIES: &str = "series";

/// Returns true if a metric is a share: its changes are percentage points, and the counts of whole runs decide.
pub fn is_share(metric: &str) -> bool {
    matches!(metric, ERRORS | CHECKS)
}

impl Comparison {
    /// Adds the differences between the work of the sides, and the JVMs with unchanged settings. Removes error
    /// metrics if a side does not record errors, and marks metrics that are distorted by different work or many
    /// failures.
    fn knowing(mut self, a: &[Record], b: &[Record]) -> Self {
        let Work { missing, shifted } = Work::of(a, b);
        (self.missing_labels, self.shifted_label) = (missing, shifted);
        self.same_java = crate::machines::unchanged(a, b);
        let sides = [("A", a), ("B", b)];
        let sides_where = |is: fn(&Record) -> bool| -> Vec<&'static str> {
            let of = sides.into_iter().filter(|(_, runs)| runs.iter().any(is));
            of.map(|(name, _)| name).collect()
        };
        self.errors_unknown = sides_where(|run| !run.knows_errors());
        self.whole_ms = sides_where(|run| !run.has.phases);
        if !self.errors_unknown.is_empty() {
            for row in std::iter::once(&mut self.all).chain(&mut self.labels) {
                (row.failures, row.unexpected) = (None, None);
                row.differences.retain(|difference| !is_share(difference.metric));
            }
        }
        if self.missing_labels.is_some() {
            // Shares of errors are comparable even if the work differs.
            self.all.be_open(Outcome::OtherWork);
        }
        for row in std::iter::once(&mut self.all).chain(&mut self.labels) {
            if 2 * row.failed.0 > row.recorded.0 || 2 * row.failed.1 > row.recorded.1 {
                row.be_open(Outcome::MostlyFailed);
            }
            if !self.whole_ms.is_empty() {
                row.without_small_times();
            }
        }
        self
    }

    /// Iterates over all differences that are reported, those of all requests first.
    pub fn different(&self) -> impl Iterator<Item = (&Row, &Difference)> {
        let rows = std::iter::once(&self.all).chain(&self.labels).chain(&self.series);
        rows.flat_map(|row| row.differences.iter().map(move |difference| (row, difference)))
            .filter(|(_, difference)| difference.result == Outcome::Different)
    }
}

/// One side of a row: the bootstrap of its units, and its metrics including the warm-up.
struct Side {
    resampled: Resampled,
    whole: [f64; 8],
    /// Reason why there are no intervals.
    refusal: Option<String>,
}

/// Returns the kind of times to compare: service times, unless all records have response times.
fn times_of<'r>(records: impl IntoIterator<Item = &'r Record>, settings: &Settings) -> Times {
    let have = records.into_iter().all(|record| Times::judged(record) == Times::Response);
    if have { settings.times } else { Times::Service }
}

/// Compares two runs.
pub fn compare(a: &Record, b: &Record, settings: &Settings) -> Comparison {
    let settings = &Settings { times: times_of([a, b], settings), ..*settings };
    let (steady_a, steady_b) = (steady(a), steady(b));
    let common = Common::of(a, b);
    let pairs: Vec<_> = common.rows().collect();
    let (of_a, of_b): (Vec<_>, Vec<_>) = pairs.iter().copied().unzip();
    let whole = Whole::of(&[(a, of_a)], &[(b, of_b)]);
    let row = |at: usize, label: String, transaction| {
        let (of_a, of_b) = pairs[at];
        let side = |record, steady, label, seed| side(record, steady, label, settings, seed);
        let sides = (side(a, &steady_a, of_a, 1), side(b, &steady_b, of_b, 2));
        let row = single(label, transaction, &sides.0, &sides.1, settings);
        row.counting(&whole, at, settings)
    };
    let all = row(0, String::new(), false);
    let labels = (1..pairs.len())
        .map(|at| {
            let label = &a.labels[common.both[at - 1].0 as usize];
            row(at, label.name.to_string(), label.transaction)
        })
        .collect();
    let series = numbers::compared(a, &steady_a, b, &steady_b);
    finished(all, labels, series, common, (1, 1), settings)
        .knowing(std::slice::from_ref(a), std::slice::from_ref(b))
}

/// Compares repeated runs; each side needs two runs, and three for a useful interval.
pub fn compare_runs(a: &[Record], b: &[Record], settings: &Settings) -> Comparison {
    let settings = &Settings { times: times_of(a.iter().chain(b), settings), ..*settings };
    let common = match (a.first(), b.first()) {
        (Some(first), Some(other)) => Common::of(first, other),
        _ => Common::default(),
    };
    // Returns the number of a label in a record. If the record does not have the label, returns a number that no
    // label has.
    let number = |record: &Record, label: Option<&(String, bool)>| {
        let (name, transaction) = label?;
        let is_it = |l: &record::Label| *l.name == **name && l.transaction == *transaction;
        Some(record.labels.iter().position(is_it).map_or(u32::MAX, |at| at as u32))
    };
    let figures = |runs: &[Record], label: Option<&(String, bool)>| -> Vec<(Resampled, [f64; 8])> {
        let none = Settings { resamples: 0, ..*settings };
        let of = |record: &Record| side(record, &steady(record), number(record, label), &none, 0);
        runs.iter().map(of).map(|side| (side.resampled, side.whole)).collect()
    };
    let name = |at: &(Option<u32>, Option<u32>)| {
        let label = a[0].labels.get(at.0? as usize)?;
        Some((label.name.to_string(), label.transaction))
    };
    let names: Vec<Option<(String, bool)>> = common.rows().map(|at| name(&at)).collect();
    let labels_of =
        |run| names.iter().map(|name| number(run, name.as_ref())).collect::<Vec<Option<u32>>>();
    let of_a: Vec<_> = a.iter().map(|run| (run, labels_of(run))).collect();
    let of_b: Vec<_> = b.iter().map(|run| (run, labels_of(run))).collect();
    let whole = Whole::of(&of_a, &of_b);
    let row = |at: usize| {
        let label = names[at].clone();
        let (of_a, of_b) = (figures(a, label.as_ref()), figures(b, label.as_ref()));
        let (label, transaction) = label.unwrap_or_default();
        repeated(label, transaction, &of_a, &of_b).counting(&whole, at, settings)
    };
    let (all, labels) = (row(0), (1..names.len()).map(row).collect());
    let series = numbers::repeated(a, b);
    finished(all, labels, series, common, (a.len(), b.len()), settings).knowing(a, b)
}

/// Samples and failed samples of a whole record, by label.
struct Counts {
    labels: Vec<(u64, u64)>,
}

impl Counts {
    fn of(record: &Record) -> Self {
        let mut labels = vec![(0, 0); record.labels.len()];
        for second in &record.seconds {
            for (label, count, errors) in second.labels.counts() {
                let sum: &mut (u64, u64) = &mut labels[label as usize];
                *sum = (sum.0 + count, sum.1 + errors);
            }
        }
        Self { labels }
    }
}

impl Row {
    /// Builds a row in which all recorded samples count as compared.
    fn of(
        label: String,
        transaction: bool,
        samples: (u64, u64),
        differences: Vec<Difference>,
        refusal: Option<String>,
    ) -> Self {
        Self {
            label,
            transaction,
            samples,
            recorded: samples,
            failed: (0, 0),
            failures: None,
            checked: (0, 0),
            unexpected: None,
            differences,
            refusal,
        }
    }
}

impl Row {
    /// Sets the result of all metrics except shares to the reason why they are not comparable.
    fn be_open(&mut self, why: Outcome) {
        let others = self.differences.iter_mut().filter(|one| !is_share(one.metric));
        others.for_each(|one| one.result = why);
    }

    /// Removes the intervals of percentiles that round to 0 ms, because relative changes of whole milliseconds need
    /// a value above 0.
    fn without_small_times(&mut self) {
        let is_small =
            |one: &&mut Difference| one.metric.starts_with('p') && one.a.min(one.b) < 0.5;
        for one in self.differences.iter_mut().filter(is_small) {
            (one.interval, one.p, one.q, one.visible) = (None, None, None, None);
            one.result = Outcome::Unknown;
        }
    }
}

/// Labels of two records, matched by name.
#[derive(Default)]
struct Common {
    /// Numbers of each common label in record A and in record B.
    both: Vec<(u32, u32)>,
    only_a: Vec<String>,
    only_b: Vec<String>,
    left_out: usize,
}

impl Common {
    /// Returns the label numbers of each row: `None` for all requests first, then the labels that both sides have.
    fn rows(&self) -> impl Iterator<Item = (Option<u32>, Option<u32>)> + '_ {
        let labels = self.both.iter().map(|(in_a, in_b)| (Some(*in_a), Some(*in_b)));
        std::iter::once((None, None)).chain(labels)
    }

    fn of(a: &Record, b: &Record) -> Self {
        let (of_a, of_b) = (Counts::of(a).labels, Counts::of(b).labels);
        let find = |record: &Record, label: &record::Label| {
            record
                .labels
                .iter()
                .position(|l| l.name == label.name && l.transaction == label.transaction)
        };
        let only = |one: &Record, other: &Record| -> Vec<String> {
            one.labels
                .iter()
                .filter(|l| find(other, l).is_none())
                .map(|l| l.name.to_string())
                .collect()
        };
        let pairs =
            a.labels.iter().enumerate().filter_map(|(in_a, label)| Some((in_a, find(b, label)?)));
        let mut both: Vec<(usize, usize)> = pairs.collect();
        let all = both.len();
        both.retain(|(in_a, in_b)| of_a[*in_a].0.min(of_b[*in_b].0) >= LEAST_SAMPLES);
        both.sort_by_key(|(in_a, in_b)| std::cmp::Reverse(of_a[*in_a].0 + of_b[*in_b].0));
        both.truncate(MOST_LABELS);
        let left_out = all - both.len();
        // A single label has the same metrics as all requests.
        let single = a.labels.len() == 1 && b.labels.len() == 1;
        Self {
            both: if single {
                Vec::new()
            } else {
                both.into_iter().map(|(a, b)| (a as u32, b as u32)).collect()
            },
            only_a: only(a, b),
            only_b: only(b, a),
            left_out: if single { 0 } else { left_out },
        }
    }
}

/// Returns the part of a second that belongs to a label, or to all requests.
fn part(second: &Second, label: Option<u32>) -> Option<Cow<'_, Part>> {
    match label {
        None => Some(Cow::Borrowed(&second.all)),
        Some(label) => second.labels.get(label),
    }
}

/// Builds a resampling unit of the bootstrap from each second. `label` is `None` for all requests; `of` chooses response
/// or service times.
pub fn units(seconds: &[Second], label: Option<u32>, of: Times) -> Vec<Unit<'_>> {
    let units = seconds.iter().map(|second| {
        let part = part(second, label);
        Unit {
            seconds: f64::from(second.ms) / 1000.0,
            count: part.as_ref().map_or(0, |part| part.count),
            errors: part.as_ref().map_or(0, |part| part.errors),
            elapsed: part.as_ref().map_or(0, |part| sum(part, of)),
            times: part.map(|part| times(part, of)),
        }
    });
    let mut units: Vec<_> = units.collect();
    // The rate of a partial second at the end is not comparable with those of whole seconds.
    let is_piece = |unit: &Unit<'_>| unit.seconds * 1000.0 < f64::from(LEAST_MS);
    if units.len() > 1
        && let Some(piece) = units.pop_if(|last| is_piece(last))
        && let Some(before) = units.last_mut()
    {
        before.add(piece);
    }
    units
}

/// Returns the sum of response times or of service times in a part, in ns.
fn sum(part: &Part, of: Times) -> u64 {
    match of {
        Times::Response => part.elapsed.saturating_add(part.phases.late),
        Times::Service => part.elapsed,
    }
}

fn times(part: Cow<'_, Part>, of: Times) -> Cow<'_, Bins> {
    match part {
        Cow::Borrowed(part) => Cow::Borrowed(of.of(part)),
        Cow::Owned(part) => {
            let is_response = of == Times::Response && !part.response.is_empty();
            let mut bins = if is_response { part.response } else { part.service };
            bins.shrink();
            Cow::Owned(bins)
        }
    }
}

fn side(
    record: &Record,
    steady: &Steady,
    label: Option<u32>,
    settings: &Settings,
    seed: u64,
) -> Side {
    let of = settings.times;
    let mut under_load = units(steady.seconds(record), label, of);
    if let Some(last) = under_load.last_mut() {
        last.seconds += longer_s(record, steady, last.seconds);
    }
    let resampled = resample(&under_load, settings.resamples, seed);
    let whole = if steady.warm_up.seconds == 0 {
        resampled.figures
    } else {
        resample(&units(steady.with_warm_up(record), label, of), 0, 0).figures
    };
    let refusal = resampled.refusal.map(|refusal| words(refusal, record, steady));
    Side { resampled, whole, refusal }
}

/// Returns the correction for the length of a result file's last second in s, zero or negative. A partial second is
/// recorded with a minimum length, which would make the rate of a short file too low.
fn longer_s(record: &Record, steady: &Steady, last_s: f64) -> f64 {
    if record.has.generator || steady.end < record.seconds.len() {
        return 0.0;
    }
    let ms: i64 = record.seconds.iter().map(|second| i64::from(second.ms)).sum();
    let longer = (record.frame.length_ms - ms) as f64 / 1000.0;
    if longer < 0.0 && last_s + longer > 0.0 { longer } else { 0.0 }
}

/// Returns the metrics that are shown for `samples` samples: a percentile only if its interval can have an upper end.
fn shown(samples: u64) -> impl Iterator<Item = Metric> {
    let all = Metric::ALL.into_iter().filter(move |_| samples > 0);
    all.filter(move |metric| metric.percentile().is_none_or(|p| samples >= least_samples(p)))
}

fn single(label: String, transaction: bool, a: &Side, b: &Side, settings: &Settings) -> Row {
    let (of_a, of_b) = (&a.resampled, &b.resampled);
    let refused =
        |name: &str, side: &Side| side.refusal.as_ref().map(|why| format!("{name}: {why}"));
    let refusal = refused("A", a).or_else(|| refused("B", b));
    let differences = shown(of_a.count.min(of_b.count)).map(|metric| {
        let at = metric as usize;
        let mut difference = plain(metric, of_a.figures[at], of_b.figures[at]);
        difference.with_warm_up = Some((a.whole[at], b.whole[at]));
        if refusal.is_none() && settings.resamples > 0 {
            let pairs = |a: Vec<f64>, b: Vec<f64>| -> Vec<f64> {
                let pairs = a.into_iter().zip(b).map(|(a, b)| changed(metric, a, b));
                pairs.filter(|change| change.is_finite()).collect()
            };
            let changes = pairs(of_a.spread(metric), of_b.spread(metric));
            let (errors_a, errors_b) = (of_a.errors(metric), of_b.errors(metric));
            let df = welch_df(
                Spread { variance: relative(&errors_a), df: of_a.df(metric) },
                Spread { variance: relative(&errors_b), df: of_b.df(metric) },
            );
            let error = variance(&pairs(errors_a, errors_b)).sqrt();
            let p = if error > 0.0 {
                student_two_sided(difference.change / error, df)
            } else if difference.change.abs() < 1e-9 {
                1.0
            } else {
                0.0
            };
            if !changes.is_empty() && difference.change.is_finite() {
                // With coarse times, all resamples can lie on one side of the metric.
                let (low, high) = (quantile(&changes, 0.025), quantile(&changes, 0.975));
                let change = difference.change;
                difference.interval = Some((low.min(change), high.max(change)));
                difference.p = Some(p);
            }
        }
        difference
    });
    let differences = differences.collect();
    Row::of(label, transaction, (of_a.count, of_b.count), differences, refusal)
}

/// Returns the variance of values relative to the square of their mean.
fn relative(values: &[f64]) -> f64 {
    variance(values) / mean(values).powi(2).max(f64::MIN_POSITIVE)
}

/// Uncertainty of a metric on one side.
struct Spread {
    /// Variance relative to the square of the metric.
    variance: f64,
    /// Degrees of freedom of the variance.
    df: f64,
}

/// Returns the degrees of freedom of a difference of two sides (B. L. Welch, 1947).
fn welch_df(a: Spread, b: Spread) -> f64 {
    let each = a.variance * a.variance / a.df + b.variance * b.variance / b.df;
    if each > 0.0 { ((a.variance + b.variance).powi(2) / each).max(1.0) } else { a.df.min(b.df) }
}

fn repeated(
    label: String,
    transaction: bool,
    a: &[(Resampled, [f64; 8])],
    b: &[(Resampled, [f64; 8])],
) -> Row {
    let samples = |runs: &[(Resampled, [f64; 8])]| runs.iter().map(|run| run.0.count).sum::<u64>();
    let least = a.iter().chain(b).map(|run| run.0.count).min().unwrap_or(0);
    let few = a.len() < 2 || b.len() < 2;
    let refusal = few
        .then(|| "an interval between runs needs two runs on each side, better three".to_owned());
    let differences = shown(least).map(|metric| {
        let at = metric as usize;
        let of = |runs: &[(Resampled, [f64; 8])]| -> Vec<f64> {
            runs.iter().map(|run| run.0.figures[at]).collect()
        };
        let (of_a, of_b) = (of(a), of(b));
        let whole = |runs: &[(Resampled, [f64; 8])]| {
            mean(&runs.iter().map(|run| run.1[at]).collect::<Vec<_>>())
        };
        let mut difference = plain(metric, mean(&of_a), mean(&of_b));
        difference.with_warm_up = Some((whole(a), whole(b)));
        if !few {
            let test = welch(&of_a, &of_b);
            difference.p = Some(test.p);
            difference.interval = match metric {
                Metric::Errors => Some((test.low.max(-1.0), test.high.min(1.0))),
                _ => ratio(&of_a, &of_b).map(|(low, high)| (low.max(0.0) - 1.0, high - 1.0)),
            };
        }
        difference
    });
    let differences = differences.collect();
    Row::of(label, transaction, (samples(a), samples(b)), differences, refusal)
}

fn plain(metric: Metric, a: f64, b: f64) -> Difference {
    unjudged(metric.name(), a, b, changed(metric, a, b))
}

/// Returns a difference that no method has judged yet.
fn unjudged(metric: &'static str, a: f64, b: f64, change: f64) -> Difference {
    Difference {
        metric,
        a,
        b,
        change,
        interval: None,
        p: None,
        q: None,
        result: Outcome::Unknown,
        visible: None,
        with_warm_up: None,
    }
}

/// Resolution of times in ms: a time below it counts as 0.
const NOTHING_MS: f64 = 0.002;

/// Returns B/A - 1; for errors, B - A. A change from 0 to another value has no relative size.
fn changed(metric: Metric, a: f64, b: f64) -> f64 {
    match metric {
        Metric::Errors => b - a,
        _ if a == b => 0.0,
        Metric::Rate => b / a - 1.0,
        _ if a < NOTHING_MS => f64::NAN,
        _ => b / a - 1.0,
    }
}

/// Adjusts the p values and judges the differences, in three sets: all requests, the labels, and the series.
fn finished(
    mut all: Row,
    mut labels: Vec<Row>,
    mut series: Vec<Row>,
    common: Common,
    runs: (usize, usize),
    settings: &Settings,
) -> Comparison {
    // The rate of false discoveries is divided among the sets.
    let sets = 1 + usize::from(!labels.is_empty()) + usize::from(!series.is_empty());
    let each = FALSE / sets as f64;
    judge(std::slice::from_mut(&mut all), each, settings);
    judge(&mut labels, each, settings);
    judge(&mut series, each, settings);
    let Common { only_a, only_b, left_out, .. } = common;
    let (times, errors_unknown, whole_ms) = (settings.times, Vec::new(), Vec::new());
    Comparison {
        times,
        all,
        labels,
        series,
        only_a,
        only_b,
        left_out,
        runs,
        errors_unknown,
        whole_ms,
        missing_labels: None,
        shifted_label: None,
        same_java: Vec::new(),
        unread: None,
    }
}

fn judge(rows: &mut [Row], chance: f64, settings: &Settings) {
    let differences = rows.iter_mut().flat_map(|row| &mut row.differences);
    // Shares are already judged by their counts.
    let mut asked: Vec<&mut Difference> = differences
        .filter(|difference| difference.p.is_some() && !is_share(difference.metric))
        .collect();
    let chances: Vec<f64> = asked.iter().filter_map(|difference| difference.p).collect();
    for (difference, q) in asked.iter_mut().zip(adjusted(&chances)) {
        difference.q = Some(q);
        difference.judge(q <= chance, settings.floor);
    }
}

impl Difference {
    /// Sets the result of a difference. `is_beyond`: the difference is significant.
    fn judge(&mut self, is_beyond: bool, floor: f64) {
        let Some((low, high)) = self.interval else { return };
        let excludes = low > 0.0 || high < 0.0;
        self.result = match (is_beyond && excludes, self.change.abs() >= floor) {
            (true, true) => Outcome::Different,
            (true, false) => Outcome::BelowFloor,
            (false, _) if excludes => Outcome::MayBeChance,
            _ => Outcome::None,
        };
        self.visible = Some(((high - low) / 2.0).max(floor));
    }
}

fn words(refusal: Refusal, record: &Record, steady: &Steady) -> String {
    match refusal {
        Refusal::Short { seconds } => {
            // The sum of no seconds is -0; adding 0 removes the sign.
            let seconds = seconds.max(0.0) + 0.0;
            let digits = usize::from(seconds > 0.0 && seconds < 9.95);
            format!(
                "only {seconds:.digits$} s under steady load; 60 s are needed for intervals{}",
                left_out(seconds, record, steady)
            )
        }
        Refusal::FewBlocks { blocks } => {
            // Rounded down: 4.96 must not be printed as the 5 that are needed.
            let blocks = (blocks * 10.0).floor() / 10.0;
            format!(
                "{}seconds depend on each other for so long that the run is worth {blocks:.1} of them; 5 are needed for intervals",
                if steady.warm_up.unsteady { "the run did not become steady: " } else { "" }
            )
        }
    }
}

/// Returns the part of a sentence about the seconds of a run that are not steady, and about a sufficient length: `;
/// 17 s were ramp; run 90 s`.
fn left_out(seconds: f64, record: &Record, steady: &Steady) -> String {
    let length = |of: &[Second]| of.iter().map(|second| f64::from(second.ms)).sum::<f64>() / 1000.0;
    let all = &record.seconds;
    let parts = [
        ("ramp", &all[..steady.loaded]),
        ("warm-up", &all[steady.loaded..steady.start().min(steady.end)]),
        ("the end", &all[steady.end..]),
    ];
    let parts = parts.into_iter().map(|(name, of)| (name, length(of)));
    let mut out = String::new();
    for (name, seconds) in parts.filter(|(_, seconds)| *seconds >= 0.95) {
        out.push_str(&format!("; {seconds:.0} s were {name}"));
    }
    // The length is rounded up to half a minute, so that a second more or less does not matter.
    let enough = ((length(all) - seconds + LEAST_STEADY + 1.0) / 30.0).ceil() * 30.0;
    format!("{out}; run {enough:.0} s")
}
