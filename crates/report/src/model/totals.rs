//! The numbers of a run as a whole, with their intervals.

use answers::autocorrelation::memory;
use answers::bootstrap::Unit;
use answers::distribution::student_quantile;
use answers::{interval, precision, steady};
use record::{Part, Record};
use serde::Serialize;
use stats::hist::Hist;

use super::Gateway;

/// The percentiles that are shown.
pub(super) const SHOWN: [f64; 5] = [0.5, 0.9, 0.95, 0.99, 0.999];

/// A percentile with its 95 % interval. Without enough samples above it, it is one in name only.
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
    /// `None`: the record does not say which samples failed.
    pub failed: Option<u64>,
    /// Of the whole run, with half the width of its 95 % interval.
    pub rate_per_s: f64,
    pub rate_margin: Option<f64>,
    pub sent_bytes: u64,
    pub received_bytes: u64,
    pub mean_us: f64,
    pub min_us: f64,
    pub max_us: f64,
    pub quantiles: Vec<Quantile>,
    /// Share of all time that was the generator's own.
    pub own_share: Option<f64>,
    /// Samples in flight when the run ended, which were cut.
    pub under_way_at_end: Option<u64>,
    /// In runs with requests for a mobile gateway. The page's script does not read it.
    #[serde(skip)]
    pub gateway: Option<Gateway>,
}

impl Totals {
    /// Share of the samples that failed.
    pub fn error_share(&self) -> Option<f64> {
        self.failed.map(|failed| failed as f64 / self.samples.max(1) as f64)
    }

    pub fn new(record: &Record) -> Self {
        let mut all = Part::default();
        for second in &record.seconds {
            all.merge(&second.all);
        }
        let hist = hist([&all]);
        let length = record.frame.rate_s();
        let units = answers::compare::units(steady::steady(record).seconds(record), None);
        let own = record.has.phases.then(|| all.phases.lag as f64 / all.elapsed.max(1) as f64);
        Self {
            samples: all.count,
            failed: record.knows_errors().then_some(all.errors),
            rate_per_s: all.count as f64 / length,
            rate_margin: rate_margin(&units),
            sent_bytes: all.sent,
            received_bytes: all.received,
            mean_us: mean(&all),
            min_us: least(&hist),
            max_us: all.longest as f64 / 1000.0,
            quantiles: quantiles(&hist, all.longest, independent(&units, all.count)),
            own_share: own,
            under_way_at_end: (all.cut > 0).then_some(all.cut),
            gateway: Gateway::new(&record.seconds),
        }
    }
}

/// Service times of parts together.
pub(super) fn hist<'p>(parts: impl IntoIterator<Item = &'p Part>) -> Hist {
    let mut hist = Hist::new();
    for part in parts {
        hist.add(&part.service);
    }
    hist
}

/// Mean service time, µs.
pub(super) fn mean(part: &Part) -> f64 {
    if part.count == 0 { 0.0 } else { part.elapsed as f64 / 1000.0 / part.count as f64 }
}

pub(super) fn least(hist: &Hist) -> f64 {
    if hist.total() == 0 { 0.0 } else { hist.quantile(0.0) as f64 }
}

/// As many independent samples as these are worth: those of one second resemble each other, and those of the next. The
/// steady seconds say how many of their samples count; the same share of all does.
pub(super) fn independent(steady: &[Unit<'_>], samples: u64) -> f64 {
    let counted: u64 = steady.iter().map(|unit| unit.count).sum();
    let share =
        precision::precision(steady).map_or(1.0, |found| found.effective / counted.max(1) as f64);
    samples as f64 * share.clamp(0.0, 1.0)
}

/// Half the width of the 95 % interval of the mean rate of these seconds, per second.
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

/// The shown percentiles of a histogram, whose largest value is `longest` nanoseconds: a bin may reach beyond it.
pub(super) fn quantiles(hist: &Hist, longest: u64, independent: f64) -> Vec<Quantile> {
    if hist.total() == 0 {
        return Vec::new();
    }
    let most = longest as f64 / 1000.0;
    let one = |p: f64| {
        let found = interval::percentile(hist, p, independent);
        let enough = found.low.is_some() && found.high.is_some();
        let [low, high] = [found.low, found.high].map(|bound| bound.map(|us: f64| us.min(most)));
        Quantile { p, us: found.value.min(most), low, high, enough }
    };
    SHOWN.map(one).to_vec()
}
