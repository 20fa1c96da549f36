//! The metrics of the whole run, with their intervals.

use answers::autocorrelation::memory;
use answers::bootstrap::Unit;
use answers::criterion::Times;
use answers::distribution::student_quantile;
use answers::{interval, precision, steady};
use record::{Part, Record};
use serde::Serialize;
use stats::hist::Hist;

use super::{Answers, Gateway};

/// The percentiles that pages show.
pub(super) const SHOWN: [f64; 5] = [0.5, 0.9, 0.95, 0.99, 0.999];

/// A percentile with its 95 % interval. `enough` is false if there are too few samples above it for a reliable value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Quantile {
    pub p: f64,
    pub us: f64,
    pub low: Option<f64>,
    pub high: Option<f64>,
    pub enough: bool,
}

#[derive(Debug, Serialize)]
pub struct Totals {
    pub samples: u64,
    /// Number of failed samples; `None` if the record does not say which samples failed.
    pub failed: Option<u64>,
    /// Rate of the requests in the whole run, per second.
    pub rate_per_s: f64,
    /// Half the width of the 95 % interval of the rate, per second.
    pub rate_margin: Option<f64>,
    pub sent_bytes: u64,
    pub received_bytes: u64,
    /// The kind of times in the metrics; criteria judge the same kind.
    pub times: Times,
    pub mean_us: f64,
    pub min_us: f64,
    pub max_us: f64,
    pub quantiles: Vec<Quantile>,
    /// The service times of the run, if the other times are response times.
    pub service: Option<Service>,
    /// Metrics of checked responses, in runs with assertions.
    pub answers: Option<Answers>,
    /// Share of the mean response time that the generator caused.
    pub own_share: Option<f64>,
    /// The generator's part of the mean time, and that mean time, both in µs.
    pub own_us: Option<(f64, f64)>,
    /// Number of transactions and of failed transactions, in plans with transactions. No other metric counts them.
    pub transactions: Option<Transactions>,
    /// Number of samples in flight that were cut when the run ended.
    pub under_way_at_end: Option<u64>,
    /// Metrics of requests for a mobile gateway. The page's script does not read them.
    #[serde(skip)]
    pub gateway: Option<Gateway>,
}

/// Service times, if the other metrics are response times.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Service {
    pub mean_us: f64,
    pub max_us: f64,
    pub quantiles: Vec<Quantile>,
}

/// Transactions of the whole run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Transactions {
    pub samples: u64,
    /// Number of failed transactions; `None` if the record does not say which samples failed.
    pub failed: Option<u64>,
    /// Number of transactions that failed by their own assertions, without a failed request inside.
    pub own_failures: u64,
}

impl Totals {
    /// Returns the share of the run's samples that failed.
    pub fn error_share(&self) -> Option<f64> {
        self.failed.map(|failed| failed as f64 / self.samples.max(1) as f64)
    }

    pub fn new(record: &Record) -> Self {
        let mut all = Part::default();
        for second in &record.seconds {
            all.merge(&second.all);
        }
        let times = Times::judged(record);
        let hist = hist([&all], times);
        let length = record.frame.rate_s();
        let units = answers::compare::units(
            steady::steady(record).seconds(record),
            None,
            Times::judged(record),
        );
        let independent = independent(&units, all.count);
        let (own, of) = all.overhead();
        let known = record.has.phases && of > 0;
        let each = |ns: u64| ns as f64 / 1000.0 / all.count.max(1) as f64;
        Self {
            samples: all.count,
            failed: record.knows_errors().then_some(all.errors),
            rate_per_s: all.count as f64 / length,
            rate_margin: rate_margin(&units),
            sent_bytes: all.sent,
            received_bytes: all.received,
            times,
            mean_us: mean(&all, times),
            min_us: least(&hist),
            max_us: times.longest(&all),
            quantiles: quantiles(&hist, times.longest(&all), independent),
            service: (times == Times::Response).then(|| Service::new(&all, independent)),
            answers: Answers::of_run(record, all.count),
            own_share: known.then(|| own as f64 / of as f64),
            own_us: known.then(|| (each(own), each(of))),
            transactions: Transactions::new(record),
            under_way_at_end: (all.cut > 0).then_some(all.cut),
            gateway: Gateway::new(&record.seconds),
        }
    }
}

impl Service {
    pub(super) fn new(part: &Part, independent: f64) -> Self {
        let (times, hist) = (Times::Service, hist([part], Times::Service));
        let max_us = times.longest(part);
        Self {
            mean_us: mean(part, times),
            max_us,
            quantiles: quantiles(&hist, max_us, independent),
        }
    }
}

impl Transactions {
    fn new(record: &Record) -> Option<Self> {
        let is_one =
            |label: u32| record.labels.get(label as usize).is_some_and(|label| label.transaction);
        let parts = record.seconds.iter().flat_map(|second| second.labels.counts());
        let (samples, failed) = parts
            .filter(|(label, ..)| is_one(*label))
            .fold((0, 0), |sum, (_, count, errors)| (sum.0 + count, sum.1 + errors));
        let failed = record.knows_errors().then_some(failed);
        let own = record.seconds.iter().map(|second| second.transactions(&record.labels));
        let own_failures = own.map(|of| of.own_failures).sum();
        let has_some = record.labels.iter().any(|label| label.transaction);
        has_some.then_some(Self { samples, failed, own_failures })
    }
}

/// Merges the times of several parts.
pub(super) fn hist<'p>(parts: impl IntoIterator<Item = &'p Part>, times: Times) -> Hist {
    let mut hist = Hist::new();
    for part in parts {
        hist.add(times.of(part));
    }
    hist
}

/// Returns the mean time in µs. The mean of response times comes from their histogram, as criteria judge it.
pub(super) fn mean(part: &Part, times: Times) -> f64 {
    if part.count == 0 {
        0.0
    } else if times == Times::Response && !part.response.is_empty() {
        hist([part], times).mean()
    } else {
        part.elapsed as f64 / 1000.0 / part.count as f64
    }
}

pub(super) fn least(hist: &Hist) -> f64 {
    if hist.total() == 0 { 0.0 } else { hist.quantile(0.0) as f64 }
}

/// Returns the number of independent samples to which these samples are equivalent: samples of the same second and
/// of neighbouring seconds are correlated. The share of independent samples in the steady seconds is applied to all
/// samples.
pub(super) fn independent(steady: &[Unit<'_>], samples: u64) -> f64 {
    let counted: u64 = steady.iter().map(|unit| unit.count).sum();
    let share =
        precision::precision(steady).map_or(1.0, |found| found.effective / counted.max(1) as f64);
    samples as f64 * share.clamp(0.0, 1.0)
}

/// Returns half the width of the 95 % interval of the mean rate in these seconds, per second.
fn rate_margin(steady: &[Unit<'_>]) -> Option<f64> {
    let rates: Vec<f64> =
        steady.iter().map(|unit| unit.count as f64 / unit.seconds.max(0.001)).collect();
    if rates.len() < precision::LEAST_SECONDS {
        return None;
    }
    let found = memory(&rates);
    let df = (rates.len() as f64 / found.block - 1.0).max(1.0);
    let error = (found.long_run_variance / rates.len() as f64).sqrt();
    let margin = student_quantile(f64::midpoint(1.0, interval::CONFIDENCE), df) * error;
    margin.is_finite().then_some(margin)
}

/// Returns the shown percentiles of a histogram. `most` is the largest value in µs, because a bin may extend beyond it.
pub(super) fn quantiles(hist: &Hist, most: f64, independent: f64) -> Vec<Quantile> {
    if hist.total() == 0 {
        return Vec::new();
    }
    let one = |p: f64| {
        let found = interval::percentile(hist, p, independent);
        let enough = found.low.is_some() && found.high.is_some();
        let [low, high] = [found.low, found.high].map(|bound| bound.map(|us: f64| us.min(most)));
        Quantile { p, us: found.value.min(most), low, high, enough }
    };
    SHOWN.map(one).to_vec()
}
