//! Criteria as users write them: `p99 < 500ms`, `error% < 0.1 for label Login`, `service mean <= 20ms over 30s`.
//!
//! A criterion is a condition on one figure of a set of samples. Whether it must hold (`--fail`) or must not (`--abort-if`)
//! is not its own business. Grammar, words apart by blanks:
//!
//! ```text
//! criterion := [times] figure [ "(" NAME ")" ] op value { "for" "label" NAME | "over" TIME }
//!            | "series." NAME ("." "mean" | ".min" | ".max") op value [ "over" TIME ]
//! times     := "response" | "service", each also with "time"; without it, response times count
//! figure    := "mean" | "median" | "p50" … "p99.999" | "max" | "rate" | "count" | "errors" | "error%" | "checks%"
//! op        := "<" | "<=" | ">" | ">=" | "=" | "!="
//! ```

mod grammar;

use std::fmt::{self, Display};
use std::time::Duration;

use record::{Part, Record};
use serde::Serialize;
use stats::grouped::cut_percent;
use stats::hist::{Bins, Hist};
use stats::{Checks, Number};

use crate::verdict::Words;

/// A condition on a figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Criterion {
    pub figure: Figure,
    pub op: Op,
    pub limit: Limit,
    /// Of one label; `None` is all requests.
    pub label: Option<String>,
    /// The series that [`Figure::Series`] is of.
    pub series: Option<String>,
    /// Length of a window that rolls with the run; `None` is the whole run.
    pub over: Option<Duration>,
}

/// A figure of a set of samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Figure {
    /// Milliseconds.
    Time(Times, Stat),
    /// Samples per second.
    Rate,
    Count,
    Errors,
    /// Percent of the samples.
    ErrorShare,
    /// Percent of the answers that assertions checked for which all of them held.
    CheckShare,
    /// Of the numbers of a series in answers.
    Series(OfSeries),
}

/// A figure of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfSeries {
    Mean,
    Min,
    Max,
}

/// The begin from which a time counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Times {
    /// From the intended start: with what the generator or a busy user let it wait.
    #[default]
    Response,
    /// From the actual start: JMeter's elapsed time.
    Service,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stat {
    Mean,
    Max,
    /// Percent, above 0 and below 100.
    Percentile(f64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Less,
    AtMost,
    More,
    AtLeast,
    Equal,
    NotEqual,
}

/// The value that a figure is compared with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// In the figure's unit: ms, per second, percent, or a number.
    Absolute(f64),
    /// Percent more (or less) than the same figure of another run.
    Relative(f64),
}

/// Bounds of a figure of times with the samples in flight in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The figure where all of them were answered the moment after the end, ms.
    pub least_ms: f64,
    /// Whether stuck samples leave it open how large the figure is.
    pub is_open: bool,
    /// Samples that were in flight.
    pub samples: u64,
}

/// A set of samples, as far as criteria read it.
pub trait Figures {
    fn count(&self) -> u64;
    /// Failed samples; `None` where the source of the samples does not say which ones failed.
    fn errors(&self) -> Option<u64>;
    /// Answers that assertions checked; `None` where the source of the samples does not say which ones.
    fn checks(&self) -> Option<Checks> {
        None
    }
    /// The numbers of a series; `None` where there are none.
    fn series(&self, _: &str) -> Option<Number> {
        None
    }
    /// Length of the time in which they were taken.
    fn seconds(&self) -> f64;
    /// Milliseconds; `None` where there is no sample.
    fn time_ms(&self, times: Times, stat: Stat) -> Option<f64>;
    /// The bounds of a time with the samples in flight when the run ended; `None` without such samples.
    fn with_unanswered(&self, _: Times, _: Stat) -> Option<Bounds> {
        None
    }
}

/// The outcome of a criterion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Met,
    NotMet,
    /// The samples cannot decide it.
    Undecided,
}

/// A criterion with its value and outcome.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    pub criterion: Criterion,
    /// In the figure's unit; `None` where there was no sample that could have one.
    pub value: Option<f64>,
    pub outcome: Outcome,
    /// The reason where the value alone does not explain the outcome; see [`crate::evidence`].
    pub reason: Option<Words>,
}

impl Criterion {
    /// Reads a criterion with a limit of its own. The error is a sentence for the user.
    pub fn parse(text: &str) -> Result<Self, String> {
        let criterion = Self::parse_any(text)?;
        match criterion.limit {
            Limit::Absolute(_) => Ok(criterion),
            Limit::Relative(_) => Err(format!(
                "{text:?}: {} is a difference between two runs, which throng compare takes; give a value",
                criterion.limit_text()
            )),
        }
    }

    /// The same, where a limit may be a difference to another run: `p95 > +5%`.
    pub fn parse_any(text: &str) -> Result<Self, String> {
        grammar::read(text).map_err(|words| format!("{text:?}: {words}"))
    }

    /// The figure of a set of samples.
    pub fn value(&self, of: &dyn Figures) -> Option<f64> {
        let count = of.count();
        match self.figure {
            Figure::Time(times, stat) => of.time_ms(times, stat),
            Figure::Rate => (of.seconds() > 0.0).then(|| count as f64 / of.seconds()),
            Figure::Count => Some(count as f64),
            Figure::Errors => of.errors().map(|errors| errors as f64),
            Figure::ErrorShare => {
                let errors = of.errors().filter(|_| count > 0)?;
                Some(errors as f64 * 100.0 / count as f64)
            }
            Figure::CheckShare => of.checks()?.percent(),
            Figure::Series(figure) => {
                let number = of.series(self.series.as_deref()?)?;
                let mean = number.mean()?;
                Some(match figure {
                    OfSeries::Mean => mean,
                    OfSeries::Min => number.least,
                    OfSeries::Max => number.most,
                })
            }
        }
    }

    /// Whether a value meets an absolute limit.
    pub fn holds(&self, value: f64) -> bool {
        let Limit::Absolute(limit) = self.limit else { return false };
        self.op.holds(value, limit)
    }

    /// A measure of how far a value is on the wrong side: the more, the worse.
    fn badness(&self, value: f64) -> f64 {
        let Limit::Absolute(limit) = self.limit else { return 0.0 };
        match self.op {
            Op::Less | Op::AtMost => value,
            Op::More | Op::AtLeast => -value,
            Op::Equal => (value - limit).abs(),
            Op::NotEqual => -(value - limit).abs(),
        }
    }

    /// Compares the figure with the limit, whatever it is worth as evidence; without a value the criterion is not met.
    pub fn judge(&self, of: &dyn Figures) -> Judged {
        let value = self.value(of);
        let met = value.is_some_and(|value| self.holds(value));
        let outcome = if met { Outcome::Met } else { Outcome::NotMet };
        Judged { value, outcome, criterion: self.clone(), reason: None }
    }

    /// A value in the figure's unit, for the user.
    pub fn shown(&self, value: Option<f64>) -> String {
        let Some(value) = value else { return self.nothing().into() };
        match self.figure {
            Figure::Time(..) if value >= 10_000.0 => format!("{}s", plain(value / 1000.0, 2)),
            Figure::Time(..) => format!("{}ms", plain(value, 2)),
            Figure::Rate => format!("{}/s", plain(value, 2)),
            Figure::ErrorShare => format!("{}%", plain(value, 3)),
            Figure::CheckShare => cut_percent(value),
            Figure::Series(_) => plain(value, 3),
            Figure::Count | Figure::Errors => plain(value, 0),
        }
    }

    /// The words in place of a value that there is not.
    fn nothing(&self) -> &'static str {
        match self.figure {
            Figure::CheckShare => "no checked answers",
            Figure::Series(_) => "no numbers",
            _ => "no samples",
        }
    }

    fn limit_text(&self) -> String {
        match self.limit {
            Limit::Relative(percent) if percent >= 0.0 => format!("+{}%", plain(percent, 3)),
            Limit::Relative(percent) => format!("{}%", plain(percent, 3)),
            Limit::Absolute(value) if value.fract() != 0.0 && self.figure.is_number() => {
                plain(value, 3)
            }
            Limit::Absolute(value) => self.shown(Some(value)),
        }
    }
}

impl Times {
    /// The times that criteria judge unless they say otherwise: response times, or in records without intended starts
    /// service times.
    pub fn judged(record: &Record) -> Self {
        if record.has.response { Self::Response } else { Self::Service }
    }

    /// The histogram of these times, µs.
    pub fn of(self, part: &Part) -> &Bins {
        match self {
            Self::Response => part.response(),
            Self::Service => &part.service,
        }
    }

    /// The largest of these times, µs: of response times with the precision of their histogram.
    pub fn longest(self, part: &Part) -> f64 {
        match self {
            Self::Response if !part.response.is_empty() => {
                let mut hist = Hist::new();
                hist.add(&part.response);
                hist.quantile(1.0) as f64
            }
            Self::Response | Self::Service => part.longest as f64 / 1000.0,
        }
    }

    /// The first word of a figure of these times, as criteria and headings write it.
    pub fn word(self) -> Words {
        let (en, zh) = match self {
            Self::Response => ("response", "响应"),
            Self::Service => ("service", "服务"),
        };
        Words { en: en.into(), zh: zh.into() }
    }
}

impl Outcome {
    /// The outcome in `summary.json` and on the console.
    pub fn word(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::NotMet => "not met",
            Self::Undecided => "undecided",
        }
    }

    /// `None` where it is undecided.
    pub fn is_met(self) -> Option<bool> {
        match self {
            Self::Met => Some(true),
            Self::NotMet => Some(false),
            Self::Undecided => None,
        }
    }
}

impl Judged {
    pub fn is_met(&self) -> bool {
        self.outcome == Outcome::Met
    }

    /// Whether this outcome of the same criterion is worse than another one: by its outcome, then by its value.
    pub fn is_worse(&self, than: &Self) -> bool {
        let rank = |judged: &Self| match judged.outcome {
            Outcome::Met => 0,
            Outcome::Undecided => 1,
            Outcome::NotMet => 2,
        };
        if rank(self) != rank(than) {
            return rank(self) > rank(than);
        }
        match (self.value, than.value) {
            (Some(value), Some(other)) => {
                self.criterion.badness(value) > self.criterion.badness(other)
            }
            (value, other) => value.is_some() && other.is_none(),
        }
    }

    /// The value in English with the reason behind it; the reason alone where there is no value.
    pub fn shown(&self) -> String {
        // Transactions have errors, too: a share of all samples is one of requests.
        let of = match self.criterion.figure {
            _ if self.value.is_none() => "",
            Figure::ErrorShare if self.criterion.label.is_none() => " of requests",
            Figure::CheckShare => " of checked answers",
            _ => "",
        };
        match (self.value, &self.reason) {
            (None, Some(reason)) => reason.en.clone(),
            (value, Some(reason)) => {
                format!("{}{of} ({})", self.criterion.shown(value), reason.en)
            }
            (value, None) => format!("{}{of}", self.criterion.shown(value)),
        }
    }
}

impl Op {
    pub fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            Self::Less => value < limit,
            Self::AtMost => value <= limit,
            Self::More => value > limit,
            Self::AtLeast => value >= limit,
            Self::Equal => value == limit,
            Self::NotEqual => value != limit,
        }
    }

    fn sign(self) -> &'static str {
        match self {
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::More => ">",
            Self::AtLeast => ">=",
            Self::Equal => "=",
            Self::NotEqual => "!=",
        }
    }
}

impl Figure {
    /// Whether its values are whole numbers.
    fn is_number(self) -> bool {
        matches!(self, Self::Count | Self::Errors)
    }

    /// The figure's name: as it is written, with its times.
    pub fn name(self) -> String {
        match self {
            Self::Time(times, stat) => {
                let times = times.word().en;
                match stat {
                    Stat::Mean => format!("{times} mean"),
                    Stat::Max => format!("{times} max"),
                    Stat::Percentile(percent) => format!("{times} p{}", plain(percent, 3)),
                }
            }
            Self::Rate => "rate".into(),
            Self::Count => "count".into(),
            Self::Errors => "errors".into(),
            Self::ErrorShare => "error%".into(),
            Self::CheckShare => "checks%".into(),
            Self::Series(OfSeries::Mean) => "mean".into(),
            Self::Series(OfSeries::Min) => "min".into(),
            Self::Series(OfSeries::Max) => "max".into(),
        }
    }
}

impl Display for Criterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(series) = &self.series {
            write!(f, "series.{series}.")?;
        }
        write!(f, "{} {} {}", self.figure.name(), self.op.sign(), self.limit_text())?;
        if let Some(label) = &self.label {
            let quoted = label.contains(" over ") || label.contains('"');
            if quoted {
                write!(f, " for label {label:?}")?;
            } else {
                write!(f, " for label {label}")?;
            }
        }
        if let Some(over) = self.over {
            write!(f, " over {}s", plain(over.as_secs_f64(), 3))?;
        }
        Ok(())
    }
}

/// A number with at most so many decimals, without zeros at its end.
fn plain(number: f64, decimals: usize) -> String {
    let text = format!("{number:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    } else {
        text
    }
}

/// The absolute limit of a criterion.
pub(crate) fn of_limit(criterion: &Criterion) -> Option<f64> {
    match criterion.limit {
        Limit::Absolute(limit) => Some(limit),
        Limit::Relative(_) => None,
    }
}

/// A part of a record, with the time in which it was measured.
#[derive(Debug)]
pub struct OfPart<'a> {
    pub part: &'a Part,
    pub checks: Checks,
    pub seconds: f64,
}

impl Figures for OfPart<'_> {
    fn count(&self) -> u64 {
        self.part.count
    }

    fn errors(&self) -> Option<u64> {
        Some(self.part.errors)
    }

    fn checks(&self) -> Option<Checks> {
        Some(self.checks)
    }

    fn seconds(&self) -> f64 {
        self.seconds
    }

    fn time_ms(&self, times: Times, stat: Stat) -> Option<f64> {
        let part = self.part;
        if part.count == 0 {
            return None;
        }
        let of = |bins| {
            let mut hist = Hist::new();
            hist.add(bins);
            of_hist(&hist, stat)
        };
        match (times, stat) {
            (Times::Service, Stat::Mean) => Some(part.elapsed as f64 / part.count as f64 / 1e6),
            (Times::Service, Stat::Max) => Some(part.longest as f64 / 1e6),
            (Times::Service, _) => of(&part.service),
            (Times::Response, _) => of(part.response()),
        }
    }
}

/// A figure of a histogram of µs, in ms.
pub fn of_hist(hist: &Hist, stat: Stat) -> Option<f64> {
    if hist.total() == 0 {
        return None;
    }
    Some(match stat {
        Stat::Mean => hist.mean() / 1e3,
        Stat::Max => hist.quantile(1.0) as f64 / 1e3,
        Stat::Percentile(percent) => hist.quantile(percent / 100.0) as f64 / 1e3,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Set {
        count: u64,
        errors: u64,
        hist: Hist,
    }

    impl Figures for Set {
        fn count(&self) -> u64 {
            self.count
        }
        fn errors(&self) -> Option<u64> {
            Some(self.errors)
        }
        fn checks(&self) -> Option<Checks> {
            Some(Checks { checked: self.count, unexpected: self.errors, failed: 0 })
        }
        fn seconds(&self) -> f64 {
            10.0
        }
        fn time_ms(&self, times: Times, stat: Stat) -> Option<f64> {
            // Whoever has waited 1 ms.
            let wait = if times == Times::Response { 1.0 } else { 0.0 };
            of_hist(&self.hist, stat).map(|ms| ms + wait)
        }
    }

    /// 1 to 1000 ms, once each; 5 of them errors.
    fn set() -> Set {
        let mut hist = Hist::new();
        (1..=1000).for_each(|ms| hist.record(ms * 1000, 1));
        Set { count: 1000, errors: 5, hist }
    }

    fn judge(text: &str) -> bool {
        Criterion::parse(text).expect(text).judge(&set()).is_met()
    }

    #[test]
    fn each_figure_is_compared_with_its_limit() {
        for (text, holds) in [
            ("p99 < 1s", true),
            ("p99 < 900ms", false),
            ("p99.9 > 990ms", true),
            ("p50 <= 510ms", true),
            ("median >= 495 ms", true),
            ("mean < 502ms", true),
            ("service mean < 501ms", true),
            ("response time mean < 501ms", false),
            ("max >= 1s", true),
            ("rate = 100", true),
            ("rate > 100/s", false),
            ("throughput >= 99.5/s", true),
            ("count == 1000", true),
            ("count != 1000", false),
            ("errors <= 5", true),
            ("error% < 0.5", false),
            ("error % <= 0.5%", true),
            ("errors% = 0", false),
            ("checks% > 99", true),
            ("checks% >= 99.5", true),
            ("check % > 99.5%", false),
            ("p(99) < 1s", true),
            ("service p( 99.9 ) < 100ms", false),
        ] {
            assert_eq!(judge(text), holds, "{text}");
        }
    }

    #[test]
    fn differences_are_for_comparisons() {
        let more = Criterion::parse_any("p95 > +5%").expect("a difference");
        assert_eq!(more.limit, Limit::Relative(5.0));
        assert_eq!(
            Criterion::parse_any("rate < -3%").map(|less| less.limit),
            Ok(Limit::Relative(-3.0))
        );
        assert!(Criterion::parse("p95 > +5%").unwrap_err().contains("throng compare"));
        assert!(!more.holds(1e9));
    }

    #[test]
    fn without_samples_nothing_holds_but_what_is_counted() {
        let none = Set { count: 0, errors: 0, hist: Hist::new() };
        let judged = |text: &str| Criterion::parse(text).expect(text).judge(&none);
        assert_eq!((judged("p99 < 1s").is_met(), judged("p99 < 1s").value), (false, None));
        assert!(
            !judged("error% < 1").is_met()
                && judged("count = 0").is_met()
                && judged("rate < 1").is_met()
        );
        let criterion = Criterion::parse("p99 < 1s").expect("a criterion");
        assert_eq!(criterion.shown(None), "no samples");
        let checks = Criterion::parse("checks% > 99").expect("a criterion");
        assert_eq!(checks.shown(None), "no checked answers");
    }

    #[test]
    fn a_part_of_a_record_is_a_set_of_samples() {
        let part = Part {
            count: 2,
            errors: 1,
            elapsed: 30_000_000,
            longest: 20_000_000,
            ..Part::default()
        };
        let of = OfPart { part: &part, checks: Checks::default(), seconds: 2.0 };
        let value = |text: &str| Criterion::parse(text).expect(text).value(&of);
        assert_eq!(value("service mean < 1s"), Some(15.0));
        assert_eq!(value("service max < 1s"), Some(20.0));
        assert_eq!((value("rate > 0"), value("error% < 1")), (Some(1.0), Some(50.0)));
    }
}
