//! One point of a sweep: the metrics of a run at one load with confidence intervals, and the decision whether the
//! point is used for the model.

use std::path::{Path, PathBuf};

use answers::bootstrap::{self, Metric};
use answers::compare::units;
use answers::criterion::Times;
use answers::interval::{Percentile, least_samples, percentile};
use answers::precision::precision;
use answers::scaling;
use answers::shared::{Shared, shared};
use answers::steady::steady;
use answers::verdict::{Verdict, Words};
use record::{Record, Second};
use report::model::sweep::{self as page, StoppedBy};
use report::model::words;
use serde::Serialize;
use stats::hist::Hist;

use super::super::child::Made;
use super::super::figures::{english, number};
use super::super::results;

/// Share of errors above which a point is excluded from the model.
const MOST_ERRORS: f64 = 0.01;
/// Length of a window in seconds, for the confidence intervals of the model.
const WINDOW: usize = 5;

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Point {
    /// Number of users, or rate per second.
    pub(crate) load: f64,
    /// Duration of the measured part in seconds.
    pub(crate) seconds: f64,
    /// Duration of the whole run in seconds.
    pub(crate) run_seconds: f64,
    /// True if the mean reached the requested precision. False if the time limit was reached first.
    pub(crate) precise: bool,
    /// Half-width of the mean's confidence interval, as a share of the mean.
    pub(crate) precision: Option<f64>,
    /// Metrics of the point without ramp and warm-up.
    pub(crate) figures: Figures,
    /// Metrics of the point, including the warm-up.
    pub(crate) with_warm_up: Figures,
    pub(crate) warm_up: WarmUp,
    /// Mean number of requests in flight, by Little's law.
    pub(crate) in_flight: f64,
    /// Mean number of requests in flight, and rate per second, for each window of 5 s.
    pub(crate) windows: Vec<(f64, f64)>,
    /// Reason for excluding the point from the model.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "english")]
    pub(crate) excluded: Option<Words>,
    /// Set if the target and the generator share a machine that was fully loaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) shared: Option<Shared>,
    /// Verdict on the point's run.
    pub(crate) verdict: Verdict,
    pub(crate) folder: PathBuf,
}

#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Figures {
    pub(crate) samples: u64,
    pub(crate) effective_samples: f64,
    pub(crate) errors: f64,
    /// Requests per second.
    pub(crate) rate: f64,
    /// Confidence interval of the rate.
    pub(crate) rate_interval: Option<(f64, f64)>,
    /// Mean response time in milliseconds.
    pub(crate) mean: f64,
    /// Confidence interval of the mean in milliseconds.
    pub(crate) mean_interval: Option<(f64, f64)>,
    pub(crate) p50: Quantile,
    pub(crate) p95: Quantile,
    pub(crate) p99: Quantile,
    /// KiB received per second.
    pub(crate) received: f64,
    /// KiB sent per second.
    pub(crate) sent: f64,
}

/// A percentile in milliseconds. An end of its confidence interval is absent if there are too few samples.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Quantile {
    pub(crate) value: f64,
    pub(crate) low: Option<f64>,
    pub(crate) high: Option<f64>,
    /// True if the value is unreliable because there are too few samples.
    pub(crate) few: bool,
}

/// The beginning of a run, which is excluded from the metrics.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct WarmUp {
    /// Number of seconds of the ramp in which users were started.
    pub(crate) ramp: usize,
    /// Number of seconds of the warm-up after the ramp.
    pub(crate) seconds: usize,
    /// True if the run did not reach a steady state.
    pub(crate) unsteady: bool,
    /// True if the run was too short to search for a warm-up.
    pub(crate) not_looked_for: bool,
}

/// Returns true if a running test has measured its mean with the required precision, after at least `least`
/// seconds.
pub(crate) fn is_known(record: &Record, least: f64, wanted: f64) -> bool {
    let steady = steady(record);
    let seconds = steady.seconds(record);
    let long_enough = seconds.len() as f64 >= least && !steady.warm_up.unsteady;
    long_enough
        && precision(&units(seconds, None, Times::Service))
            .is_some_and(|found| found.relative() <= wanted)
}

impl Point {
    pub(crate) fn of(load: f64, made: &Made, wanted: f64) -> Self {
        let record = &made.record;
        let steady = steady(record);
        let seconds = steady.seconds(record);
        let found = precision(&units(seconds, None, Times::Service)).map(|found| found.relative());
        let figures = Figures::of(seconds);
        let with_warm_up = if steady.warm_up.seconds > 0 {
            Figures::of(steady.with_warm_up(record))
        } else {
            figures.clone()
        };
        let mut verdict = answers::rules::verdict(record);
        // The sweep itself interrupts a run that is precise enough. A run that the user interrupts makes no point.
        verdict.undecided =
            verdict.undecided.filter(|reason| *reason != answers::rules::interrupted());
        let excluded = if figures.samples == 0 {
            Some(words("no samples", "没有样本"))
        } else if figures.errors > MOST_ERRORS {
            let percent = figures.errors * 100.0;
            Some(words(format!("{percent:.1} % errors"), format!("错误 {percent:.1} %")))
        } else {
            let of = |doubt: Words| {
                words(format!("generator: {}", doubt.en), format!("负载机：{}", doubt.zh))
            };
            results::doubt(&verdict).map(of)
        };
        Self {
            load,
            seconds: length(seconds),
            run_seconds: made.seconds,
            precise: found.is_some_and(|found| found <= wanted),
            precision: found,
            in_flight: in_flight(seconds),
            windows: seconds
                .chunks_exact(WINDOW)
                .map(|window| (in_flight(window), rate(window)))
                .collect(),
            figures,
            with_warm_up,
            warm_up: WarmUp {
                ramp: steady.loaded,
                seconds: steady.warm_up.seconds,
                unsteady: steady.warm_up.unsteady,
                not_looked_for: steady.warm_up.too_short,
            },
            excluded,
            shared: shared(record, seconds),
            verdict,
            folder: made.folder.clone(),
        }
    }

    /// Returns the point in the form in which the report page shows it.
    pub(crate) fn on_page(&self) -> page::Point {
        let Self { figures, warm_up, .. } = self;
        let us = |ms: f64| ms * 1000.0;
        let quantile = |p: f64, of: &Quantile| report::model::Quantile {
            p,
            us: us(of.value),
            low: of.low.map(us),
            high: of.high.map(us),
            enough: !of.few,
        };
        page::Point {
            load: self.load,
            in_flight: self.in_flight,
            rate_per_s: figures.rate,
            rate_low: figures.rate_interval.map(|(low, _)| low),
            rate_high: figures.rate_interval.map(|(_, high)| high),
            mean_us: us(figures.mean),
            mean_low: figures.mean_interval.map(|(low, _)| us(low)),
            mean_high: figures.mean_interval.map(|(_, high)| us(high)),
            quantiles: vec![
                quantile(0.5, &figures.p50),
                quantile(0.95, &figures.p95),
                quantile(0.99, &figures.p99),
            ],
            error_share: figures.errors,
            length_s: self.seconds,
            ramp_s: warm_up.ramp as f64,
            warmup_s: warm_up.seconds as f64,
            steady: (!warm_up.not_looked_for).then_some(!warm_up.unsteady),
            stopped_by: if self.precise { StoppedBy::Precision } else { StoppedBy::Time },
            excluded: self.excluded.clone(),
            notes: self.notes(),
            run: parent(&self.folder),
            is_generator: results::doubt(&self.verdict).is_some(),
        }
    }

    /// Returns notes about the point that are not metrics.
    fn notes(&self) -> Vec<Words> {
        let mut notes = Vec::new();
        if let Some(shared) = &self.shared {
            notes.push(words(
                format!("{}: on a machine of its own the target may do more", shared.words()),
                format!("{}：被测系统若独占机器，可能更快", shared.words_zh()),
            ));
        }
        let seconds = self.warm_up.seconds;
        if seconds > 0 {
            let shown = |of: &Figures| {
                let [rate, mean, p99] = [of.rate, of.mean, of.p99.value].map(number);
                (
                    format!("{rate}/s, response mean {mean} ms, response p99 {p99} ms"),
                    format!("{rate}/s，平均响应时间 {mean} ms，响应时间 p99 {p99} ms"),
                )
            };
            let (with, without) = (shown(&self.with_warm_up), shown(&self.figures));
            notes.push(words(
                format!(
                    "the first {seconds} s are warm-up and not in the table: with them {}; without {}",
                    with.0, without.0
                ),
                format!("前 {seconds} 秒为预热，不在表中：含预热 {}；不含 {}", with.1, without.1),
            ));
        }
        notes
    }

    pub(crate) fn for_model(&self) -> scaling::Point {
        scaling::Point {
            load: self.in_flight,
            rate: self.figures.rate,
            windows: self.windows.clone(),
        }
    }
}

/// Returns the name of the folder of the point or probe to which a run's folder belongs.
pub(crate) fn parent(run: &Path) -> String {
    run.parent().map(name).unwrap_or_default()
}

/// Returns the last component of a folder's path.
pub(crate) fn name(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn length(seconds: &[Second]) -> f64 {
    seconds.iter().map(|second| second.ms).sum::<u32>() as f64 / 1000.0
}

fn rate(seconds: &[Second]) -> f64 {
    let count: u64 = seconds.iter().map(|second| second.all.count).sum();
    count as f64 / length(seconds).max(1e-9)
}

/// Returns the mean number of requests in flight by Little's law: the sum of the response times divided by the measured
/// time.
pub(crate) fn in_flight(seconds: &[Second]) -> f64 {
    let elapsed_ns: u64 = seconds.iter().map(|second| second.all.elapsed).sum();
    elapsed_ns as f64 / 1e9 / length(seconds).max(1e-9)
}

impl Figures {
    pub(crate) fn of(seconds: &[Second]) -> Self {
        let of = units(seconds, None, Times::Response);
        let drawn = bootstrap::resample(&of, 500, 1);
        let known = precision(&of);
        let mut hist = Hist::new();
        for second in seconds {
            hist.add(second.all.response());
        }
        let effective = known.map_or(0.0, |known| known.effective);
        let of =
            |p: f64| quantile(percentile(&hist, p, effective), effective < least_samples(p) as f64);
        let kib = |bytes: u64| bytes as f64 / 1024.0 / length(seconds).max(1e-9);
        let [rate, errors, mean] = [Metric::Rate, Metric::Errors, Metric::Mean]
            .map(|metric| drawn.figures[metric as usize]);
        Self {
            samples: drawn.count,
            effective_samples: effective,
            errors,
            rate,
            rate_interval: drawn.figure(Metric::Rate).1,
            mean,
            mean_interval: known.map(|known| (known.mean - known.half, known.mean + known.half)),
            p50: of(0.5),
            p95: of(0.95),
            p99: of(0.99),
            received: kib(seconds.iter().map(|second| second.all.received).sum()),
            sent: kib(seconds.iter().map(|second| second.all.sent).sum()),
        }
    }
}

fn quantile(found: Percentile, few: bool) -> Quantile {
    let ms = |us: f64| us / 1000.0;
    Quantile { value: ms(found.value), low: found.low.map(ms), high: found.high.map(ms), few }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_seconds_no_request_is_in_flight() {
        assert!(in_flight(&[]).is_sign_positive(), "shown as 0, not as -0");
    }
}
