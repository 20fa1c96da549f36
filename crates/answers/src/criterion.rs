//! Criteria in the notation of users: `p99 < 500ms`, `error% < 0.1 for label Login`, `service mean <= 20ms over
//! 30s`.
//!
//! A criterion is a condition on one metric of a set of samples. The criterion does not decide whether it must hold
//! (`--fail`) or must not hold (`--abort-if`). Without a label, a criterion on errors or checks is also judged by the
//! transactions that failed by their own assertions ([`Source`]). The grammar, with words separated by blanks:
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
use stats::grouped::{count, cut_percent, things};
use stats::hist::{Bins, Hist};
use stats::{Checks, Number, Transactions};

use crate::verdict::Words;

/// A condition on one metric of a set of samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Criterion {
    pub figure: Figure,
    pub op: Op,
    pub limit: Limit,
    /// Label of the samples to which the criterion applies; `None` for all requests.
    pub label: Option<String>,
    /// Name of the series; only for [`Figure::Series`].
    pub series: Option<String>,
    /// Length of a rolling window; `None` for the whole run.
    pub over: Option<Duration>,
}

/// A metric of a set of samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Figure {
    /// A time in milliseconds.
    Time(Times, Stat),
    /// Samples per second.
    Rate,
    Count,
    /// Number of failed samples. Without a label: of failed requests, and of transactions that failed by their own
    /// assertions.
    Errors,
    /// Share of failed samples in percent. Without a label: the larger share of failed requests among all requests and
    /// of transactions that failed by their own assertions among all transactions.
    ErrorShare,
    /// Percentage of the checked responses for which all assertions held. Without a label: the smaller share of checked
    /// responses to requests and of transactions with assertions of their own.
    CheckShare,
    /// A metric of the values that responses contain for a series.
    Series(OfSeries),
}

/// A metric of the values of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfSeries {
    Mean,
    Min,
    Max,
}

/// The moment from which a time is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Times {
    /// From the intended start, which includes the wait for the generator or for a busy user.
    #[default]
    Response,
    /// From the actual start: JMeter's elapsed time.
    Service,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stat {
    Mean,
    Max,
    /// Percentile in percent, above 0 and below 100.
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

/// The value with which a metric is compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// A value in the metric's unit: ms, per second, percent, or a number.
    Absolute(f64),
    /// A difference in percent to the same metric of another run; negative for a decrease.
    Relative(f64),
}

/// Bounds of a metric of times if the samples in flight at the end are included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Value of the metric in ms if all samples in flight had been answered right after the end.
    pub least_ms: f64,
    /// True if the value has no upper bound because some samples never finished.
    pub is_open: bool,
    /// Number of samples in flight at the end.
    pub samples: u64,
}

/// Metrics of a set of samples, for criteria.
pub trait Figures {
    fn count(&self) -> u64;
    /// Returns the number of failed samples; `None` if the source of the samples does not say which ones failed.
    fn errors(&self) -> Option<u64>;
    /// Returns the counts of responses that assertions checked; `None` if the source of the samples does not have
    /// them.
    fn checks(&self) -> Option<Checks> {
        None
    }
    /// Returns the counts of transactions for a criterion without a label. A criterion with a label covers the
    /// transactions of its label by [`Self::errors`] and [`Self::checks`].
    fn transactions(&self) -> Transactions {
        Transactions::default()
    }
    /// Returns the values of a series; `None` if there are none.
    fn series(&self, _: &str) -> Option<Number> {
        None
    }
    /// Returns the duration in seconds in which the samples were taken.
    fn seconds(&self) -> f64;
    /// Returns a metric of times in ms; `None` if there is no sample.
    fn time_ms(&self, times: Times, stat: Stat) -> Option<f64>;
    /// Returns the bounds of a metric of times with the samples in flight at the end; `None` without such samples.
    fn with_unanswered(&self, _: Times, _: Stat) -> Option<Bounds> {
        None
    }
}

/// The outcome of judging a criterion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Met,
    NotMet,
    /// The samples do not decide the criterion.
    Undecided,
}

/// Samples from which the value of a criterion on errors or checks comes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Source {
    /// Requests, or all samples of the criterion's label.
    #[default]
    Requests,
    /// Transactions by their own assertions, because their value is worse than that of requests.
    Transactions,
    /// Number of failed requests, and number of transactions that failed by their own assertions.
    Both { requests: u64, transactions: u64 },
}

/// A criterion with its value and outcome.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    pub criterion: Criterion,
    /// Value in the metric's unit; `None` if no sample has such a value.
    pub value: Option<f64>,
    pub source: Source,
    pub outcome: Outcome,
    /// Reason, if the value alone does not explain the outcome; see [`crate::evidence`].
    pub reason: Option<Words>,
}

impl Criterion {
    /// Parses a criterion with an absolute limit. The error is a message for the user.
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

    /// Parses a criterion whose limit may also be a difference to another run: `p95 > +5%`.
    pub fn parse_any(text: &str) -> Result<Self, String> {
        grammar::read(text).map_err(|words| format!("{text:?}: {words}"))
    }

    /// Returns the criterion's metric for a set of samples.
    pub fn value(&self, of: &dyn Figures) -> Option<f64> {
        self.sourced(of).map(|(value, _)| value)
    }

    /// Returns the criterion's metric for a set of samples, and the samples from which it comes.
    fn sourced(&self, of: &dyn Figures) -> Option<(f64, Source)> {
        let transactions = of.transactions();
        let of_requests = self.of_requests(of);
        let of_transactions = match self.figure {
            Figure::Errors if transactions.own_failures > 0 => {
                let (requests, transactions) = (of.errors()?, transactions.own_failures);
                let sum = requests.saturating_add(transactions);
                return Some((sum as f64, Source::Both { requests, transactions }));
            }
            Figure::ErrorShare => transactions.percent().filter(|_| of_requests.is_some()),
            Figure::CheckShare => transactions.checks.percent(),
            _ => None,
        };
        let is_worse = |share: f64| {
            of_requests.is_none_or(|of_requests| match self.figure {
                Figure::CheckShare => share < of_requests,
                _ => share > of_requests,
            })
        };
        match of_transactions.filter(|share| is_worse(*share)) {
            Some(share) => Some((share, Source::Transactions)),
            None => of_requests.map(|value| (value, Source::Requests)),
        }
    }

    /// Returns the criterion's metric for requests, or for all samples of its label.
    fn of_requests(&self, of: &dyn Figures) -> Option<f64> {
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

    /// True if a value meets the criterion's absolute limit.
    pub fn holds(&self, value: f64) -> bool {
        let Limit::Absolute(limit) = self.limit else { return false };
        self.op.holds(value, limit)
    }

    /// Returns a number by which values are ordered: the larger it is, the worse the value.
    fn badness(&self, value: f64) -> f64 {
        let Limit::Absolute(limit) = self.limit else { return 0.0 };
        match self.op {
            Op::Less | Op::AtMost => value,
            Op::More | Op::AtLeast => -value,
            Op::Equal => (value - limit).abs(),
            Op::NotEqual => -(value - limit).abs(),
        }
    }

    /// Compares the metric with the limit, without judging the evidence. Without a value the criterion is not met.
    pub fn judge(&self, of: &dyn Figures) -> Judged {
        let (value, source) = self.sourced(of).unzip();
        let met = value.is_some_and(|value| self.holds(value));
        let outcome = if met { Outcome::Met } else { Outcome::NotMet };
        let source = source.unwrap_or_default();
        Judged { value, source, outcome, criterion: self.clone(), reason: None }
    }

    /// Formats a value in the metric's unit, in both languages.
    pub fn shown_words(&self, value: Option<f64>) -> Words {
        let en = self.shown(value);
        let zh = match (value, self.figure) {
            (Some(_), _) => en.clone(),
            (None, Figure::CheckShare) => "没有经检查的响应".to_owned(),
            (None, Figure::Series(_)) => "没有数值".to_owned(),
            (None, _) => "没有样本".to_owned(),
        };
        Words { en, zh }
    }

    /// Formats a value in the metric's unit, in English; names the missing data if there is no value.
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

    /// Returns the words that are shown if there is no value.
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
    /// Returns the kind of times that criteria judge by default: response times, or service times in records without
    /// intended starts.
    pub fn judged(record: &Record) -> Self {
        if record.has.response { Self::Response } else { Self::Service }
    }

    /// Returns the histogram of response times or of service times in µs.
    pub fn of(self, part: &Part) -> &Bins {
        match self {
            Self::Response => part.response(),
            Self::Service => &part.service,
        }
    }

    /// Returns the largest response time or service time in µs; a response time has the precision of its histogram.
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

    /// Returns the first word of a metric of times, "response" or "service", as used in criteria and headings.
    pub fn word(self) -> Words {
        let (en, zh) = match self {
            Self::Response => ("response", "响应"),
            Self::Service => ("service", "服务"),
        };
        Words { en: en.into(), zh: zh.into() }
    }
}

impl Outcome {
    /// Returns the word for the outcome in `summary.json` and on the console.
    pub fn word(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::NotMet => "not met",
            Self::Undecided => "undecided",
        }
    }

    /// Returns true for met, false for not met, `None` for undecided.
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

    /// True if this outcome of a criterion is worse than another outcome of the same criterion; equal outcomes are
    /// ordered by value.
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

    /// Returns the value in English, followed by the reason; only the reason if there is no value.
    pub fn shown(&self) -> String {
        self.shown_words().en
    }

    /// Returns the value in both languages, followed by the reason; only the reason if there is no value.
    pub fn shown_words(&self) -> Words {
        let Words { en: of, zh: of_zh } = match self.criterion.figure {
            _ if self.value.is_none() => words("", ""),
            Figure::ErrorShare | Figure::CheckShare | Figure::Errors
                if self.source != Source::Requests =>
            {
                self.of_transactions()
            }
            Figure::ErrorShare if self.criterion.label.is_none() => {
                words(" of requests", "（占请求）")
            }
            Figure::CheckShare => words(" of checked answers", "（占经检查的响应）"),
            _ => words("", ""),
        };
        let Words { en, zh } = self.criterion.shown_words(self.value);
        match (self.value, &self.reason) {
            (None, Some(reason)) => reason.clone(),
            (_, Some(reason)) => Words {
                en: format!("{en}{of} ({})", reason.en),
                zh: format!("{zh}{of_zh}（{}）", reason.zh),
            },
            (_, None) => Words { en: format!("{en}{of}"), zh: format!("{zh}{of_zh}") },
        }
    }
}

impl Judged {
    /// Returns the words after a value that comes from transactions; empty for a value of requests.
    pub fn of_transactions(&self) -> Words {
        match (self.source, self.criterion.figure) {
            (Source::Requests, _) => words("", ""),
            (Source::Transactions, Figure::CheckShare) => {
                words(" of checked transactions", "（占经检查的事务）")
            }
            (Source::Transactions, _) => {
                words(" of transactions, by their own assertions", "（占事务，因其自身的断言）")
            }
            (Source::Both { requests, transactions }, _) => words(
                format!(
                    " ({} and {} by their own assertions)",
                    things(requests, "request"),
                    things(transactions, "transaction")
                ),
                format!(
                    "（{} 个请求，{} 个事务因其自身的断言）",
                    count(requests),
                    count(transactions)
                ),
            ),
        }
    }
}

fn words(en: impl Into<String>, zh: impl Into<String>) -> Words {
    Words { en: en.into(), zh: zh.into() }
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
    /// True if the metric's values are whole numbers.
    fn is_number(self) -> bool {
        matches!(self, Self::Count | Self::Errors)
    }

    /// Returns the metric's name in the notation of users, with the kind of time.
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
            let label = record::mask::urls(label);
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

/// Formats a number with at most `decimals` decimals, without trailing zeros.
fn plain(number: f64, decimals: usize) -> String {
    let text = format!("{number:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    } else {
        text
    }
}

/// Returns the absolute limit of a criterion; `None` for a relative limit.
pub(crate) fn of_limit(criterion: &Criterion) -> Option<f64> {
    match criterion.limit {
        Limit::Absolute(limit) => Some(limit),
        Limit::Relative(_) => None,
    }
}

/// A part of a record with the length of time in which its samples were measured.
#[derive(Debug)]
pub struct OfPart<'a> {
    pub part: &'a Part,
    pub checks: Checks,
    /// Counts of all transactions; empty for the samples of a label.
    pub transactions: Transactions,
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

    fn transactions(&self) -> Transactions {
        self.transactions
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

/// Returns a metric in ms of a histogram in µs; `None` for an empty histogram.
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
            // Each sample of this test set waited 1 ms before its start.
            let wait = if times == Times::Response { 1.0 } else { 0.0 };
            of_hist(&self.hist, stat).map(|ms| ms + wait)
        }
    }

    /// Returns 1000 samples that took 1 to 1000 ms, of which 5 failed.
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
        let (checks, transactions) = (Checks::default(), Transactions::default());
        let of = OfPart { part: &part, checks, transactions, seconds: 2.0 };
        let value = |text: &str| Criterion::parse(text).expect(text).value(&of);
        assert_eq!(value("service mean < 1s"), Some(15.0));
        assert_eq!(value("service max < 1s"), Some(20.0));
        assert_eq!((value("rate > 0"), value("error% < 1")), (Some(1.0), Some(50.0)));
    }

    #[test]
    fn transactions_that_failed_by_their_own_assertions_are_errors() {
        let part = Part { count: 200, errors: 4, ..Part::default() };
        let shown = |own: u64, text: &str| {
            let of_own = Checks { checked: 50, unexpected: own, failed: 0 };
            let transactions = Transactions::with(50, own, of_own);
            let checks = Checks { checked: 100, unexpected: 4, failed: 0 };
            let of = OfPart { part: &part, checks, transactions, seconds: 2.0 };
            Criterion::parse(text).expect(text).judge(&of).shown()
        };
        assert_eq!(shown(0, "error% < 1"), "2% of requests");
        assert_eq!(shown(1, "error% < 1"), "2% of requests", "both shares are equal");
        assert_eq!(shown(50, "error% < 1"), "100% of transactions, by their own assertions");
        assert_eq!(shown(0, "errors < 1"), "4");
        let both = "5 (4 requests and 1 transaction by their own assertions)";
        assert_eq!(shown(1, "errors < 1"), both);
        assert_eq!(shown(1, "checks% > 99"), "96% of checked answers");
        assert_eq!(shown(5, "checks% > 99"), "90% of checked transactions");
    }
}
