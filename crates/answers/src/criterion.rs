//! Criteria as users write them: `p99 < 500ms`, `error% < 0.1 for label Login`, `service mean <= 20ms over 30s`.
//!
//! A criterion is a condition on one figure of a set of samples. Whether it must hold (`--fail`) or must not (`--abort-if`)
//! is not its own business. Grammar, words apart by blanks:
//!
//! ```text
//! criterion := [times] figure [ "(" NAME ")" ] op value { "for" "label" NAME | "over" TIME }
//! times     := "response" | "service", each also with "time"; without it, response times count
//! figure    := "mean" | "median" | "p50" … "p99.999" | "max" | "rate" | "count" | "errors" | "error%" | "checks%"
//! op        := "<" | "<=" | ">" | ">=" | "=" | "!="
//! ```

use std::borrow::Cow;
use std::fmt::{self, Display};
use std::time::Duration;

use record::{Part, Record};
use serde::Serialize;
use stats::Checks;
use stats::grouped::cut_percent;
use stats::hist::{Bins, Hist};

use crate::time;
use crate::verdict::Words;

/// A condition on a figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Criterion {
    pub figure: Figure,
    pub op: Op,
    pub limit: Limit,
    /// Of one label; `None` is all requests.
    pub label: Option<String>,
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
        read(text).map_err(|words| format!("{text:?}: {words}"))
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
        let Some(value) = value else { return "no samples".into() };
        match self.figure {
            Figure::Time(..) if value >= 10_000.0 => format!("{}s", plain(value / 1000.0, 2)),
            Figure::Time(..) => format!("{}ms", plain(value, 2)),
            Figure::Rate => format!("{}/s", plain(value, 2)),
            Figure::ErrorShare => format!("{}%", plain(value, 3)),
            Figure::CheckShare => cut_percent(value),
            Figure::Count | Figure::Errors => plain(value, 0),
        }
    }

    fn limit_text(&self) -> String {
        match self.limit {
            Limit::Relative(percent) if percent >= 0.0 => format!("+{}%", plain(percent, 3)),
            Limit::Relative(percent) => format!("{}%", plain(percent, 3)),
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
        }
    }
}

impl Display for Criterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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

const FIGURES: &str = "figures are mean, median, p50 to p99.999, max (of response or service times), rate, count, errors, error%, checks%";

fn read(text: &str) -> Result<Criterion, String> {
    let (text, label_inside) = in_parentheses(text);
    let text = text.as_ref();
    let at = text.find(['<', '>', '=', '!']).ok_or_else(|| {
        "there is no comparison: write it like 'p99 < 500ms' or 'error% < 0.1 for label Login'"
            .to_string()
    })?;
    let (name, rest) = text.split_at(at);
    let end = rest.find(|c| !matches!(c, '<' | '>' | '=' | '!')).unwrap_or(rest.len());
    let (sign, rest) = rest.split_at(end);
    let op = match sign {
        "<" => Op::Less,
        "<=" => Op::AtMost,
        ">" => Op::More,
        ">=" => Op::AtLeast,
        "=" | "==" => Op::Equal,
        "!=" => Op::NotEqual,
        _ => return Err(format!("{sign} is no comparison: take <, <=, >, >=, = or !=")),
    };
    let figure = figure(name)?;
    let (value, mut rest) = word(rest);
    // A unit may stand apart: 500 ms.
    let (unit, behind) = word(rest);
    let apart = format!("{value}{unit}");
    let limit = if matches!(unit, "" | "for" | "over") || limit(figure, &apart).is_err() {
        limit(figure, value)?
    } else {
        rest = behind;
        limit(figure, &apart)?
    };
    let mut criterion = Criterion { figure, op, limit, label: label_inside, over: None };
    loop {
        let (key, behind) = word(rest);
        match key {
            "" => return Ok(criterion),
            "over" if criterion.over.is_none() => {
                let (value, behind) = word(behind);
                let over = time::parse(value)?;
                if over < Duration::from_secs(1) {
                    return Err("a window takes a second at least".into());
                }
                (criterion.over, rest) = (Some(over), behind);
            }
            "for" if criterion.label.is_none() => {
                let (key, behind) = word(behind);
                if key != "label" {
                    return Err("write for label NAME".into());
                }
                let (label, behind) = label(behind)?;
                (criterion.label, rest) = (Some(label), behind);
            }
            _ => {
                return Err(format!(
                    "{key:?} is not understood: for label NAME and over TIME may stand there"
                ));
            }
        }
    }
}

/// The text without a label in parentheses behind the figure, and that label: `checks%(Login) > 99`.
fn in_parentheses(text: &str) -> (Cow<'_, str>, Option<String>) {
    let is_operator = |rest: &str| rest.trim_start().starts_with(['<', '>', '=', '!']);
    let before = text.find(['<', '>', '=', '!']).unwrap_or(text.len());
    let open = text.find('(').filter(|open| *open < before);
    let found = open.and_then(|open| {
        let mut ends = text[open..].match_indices(')').map(|(at, _)| open + at);
        let close = ends.rfind(|close| is_operator(&text[close + 1..]))?;
        Some((open, close)).filter(|_| !text[open + 1..close].trim().is_empty())
    });
    let Some((open, close)) = found else { return (Cow::Borrowed(text), None) };
    let label = text[open + 1..close].trim().trim_matches('"');
    (Cow::Owned(format!("{}{}", &text[..open], &text[close + 1..])), Some(label.to_owned()))
}

/// The next word, and what is behind it.
fn word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()))
}

/// The name of a label: in quotes, or up to the end or a window.
fn label(text: &str) -> Result<(String, &str), String> {
    let text = text.trim();
    if let Some(quoted) = text.strip_prefix('"') {
        let end = quoted.find('"').ok_or("the label's closing quote is missing")?;
        return Ok((quoted[..end].to_string(), &quoted[end + 1..]));
    }
    let end = text.rfind(" over ").filter(|at| time::parse(text[at + 6..].trim()).is_ok());
    let (label, rest) = text.split_at(end.unwrap_or(text.len()));
    if label.is_empty() {
        Err("there is no name behind label".into())
    } else {
        Ok((label.trim().into(), rest))
    }
}

fn figure(text: &str) -> Result<Figure, String> {
    let lower = text.trim().to_lowercase();
    let mut words: Vec<&str> = lower.split_whitespace().collect();
    let times = match words.first() {
        Some(&"service") => Some(Times::Service),
        Some(&"response") => Some(Times::Response),
        _ => None,
    };
    if times.is_some() {
        words.remove(0);
        if matches!(words.first(), Some(&("time" | "times"))) {
            words.remove(0);
        }
    }
    let name = words.concat();
    let time = |stat| Ok(Figure::Time(times.unwrap_or_default(), stat));
    let other = |figure| match times {
        None => Ok(figure),
        Some(_) => Err(format!("{name} is not of times")),
    };
    match name.as_str() {
        "mean" | "avg" | "average" => time(Stat::Mean),
        "max" | "maximum" => time(Stat::Max),
        "median" => time(Stat::Percentile(50.0)),
        "rate" | "rps" | "throughput" => other(Figure::Rate),
        "count" | "samples" => other(Figure::Count),
        "errors" => other(Figure::Errors),
        "error%" | "errors%" => other(Figure::ErrorShare),
        "check%" | "checks%" => other(Figure::CheckShare),
        "" => Err(format!("there is no figure before the comparison: {FIGURES}")),
        _ => match name.strip_prefix('p').and_then(|percent| percent.parse::<f64>().ok()) {
            Some(percent) if percent > 0.0 && percent < 100.0 => time(Stat::Percentile(percent)),
            _ => Err(format!("{:?} is no figure: {FIGURES}", text.trim())),
        },
    }
}

fn limit(figure: Figure, text: &str) -> Result<Limit, String> {
    if text.is_empty() {
        return Err("there is no value behind the comparison".into());
    }
    if text.starts_with(['+', '-'])
        && let Some(percent) = text.strip_suffix('%')
    {
        let percent = percent.parse().map_err(|_| format!("{text:?} is no number of percent"))?;
        return Ok(Limit::Relative(percent));
    }
    let number = |text: &str| match text.parse::<f64>() {
        Ok(number) if number.is_finite() && number >= 0.0 => Ok(Limit::Absolute(number)),
        _ => Err(format!("{text:?} is no number")),
    };
    match figure {
        Figure::Time(..) => Ok(Limit::Absolute(time::parse(text)?.as_secs_f64() * 1000.0)),
        Figure::Rate => number(text.strip_suffix("/s").unwrap_or(text)),
        Figure::ErrorShare | Figure::CheckShare => number(text.strip_suffix('%').unwrap_or(text)),
        Figure::Count | Figure::Errors => number(text),
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
        ] {
            assert_eq!(judge(text), holds, "{text}");
        }
    }

    #[test]
    fn labels_and_windows_are_read_in_any_order() {
        let of = |text: &str| Criterion::parse(text).expect(text);
        let login = of("error% < 0.1 for label Login");
        assert_eq!((login.label.as_deref(), login.over), (Some("Login"), None));
        let both = of("p95 < 2s over 1m30s for label Log in over night");
        assert_eq!(both.label.as_deref(), Some("Log in over night"));
        assert_eq!(both.over, Some(Duration::from_secs(90)));
        let both = of("p95<2s for label Log in over 30s");
        assert_eq!(
            (both.label.as_deref(), both.over),
            (Some("Log in"), Some(Duration::from_secs(30)))
        );
        let quoted = of("p95 < 2s for label \"work over 9s\" over 5s");
        assert_eq!(quoted.label.as_deref(), Some("work over 9s"));
        assert_eq!(quoted.over, Some(Duration::from_secs(5)));
        for (text, label) in [
            ("checks%(Login) > 99", "Login"),
            ("p95 ( a (1) > b ) <2s over 5s", "a (1) > b"),
            ("error%(\"x\") < 1", "x"),
        ] {
            assert_eq!(of(text).label.as_deref(), Some(label), "{text}");
        }
    }

    #[test]
    fn what_is_shown_is_read_as_the_same() {
        for text in [
            "response p99 < 500ms",
            "service p99.9 <= 12s",
            "error% < 0.1% for label Login",
            "rate >= 99.5/s over 30s",
            "count = 3",
            "response max > 1.5ms for label \"a over b\"",
            "checks% > 99.9% for label Login",
        ] {
            let criterion = Criterion::parse(text).expect(text);
            assert_eq!(criterion.to_string(), text);
            assert_eq!(Criterion::parse(&criterion.to_string()), Ok(criterion));
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
    }

    #[test]
    fn mistakes_are_sentences() {
        for (text, words) in [
            ("p99", "there is no comparison"),
            ("p99 < ", "there is no value"),
            ("p99 < 500", "has no unit"),
            ("p100 < 5s", "is no figure"),
            ("p99 <> 5s", "is no comparison"),
            ("speed > 5", "figures are mean"),
            ("< 5", "there is no figure"),
            ("rate > many", "is no number"),
            ("service rate > 5", "is not of times"),
            ("cheks% > 99", "error%, checks%"),
            ("checks%() > 99", "is no figure"),
            ("checks%(A) > 99 for label B", "is not understood"),
            ("p99 < 5s for Login", "write for label NAME"),
            ("p99 < 5s for label", "there is no name"),
            ("p99 < 5s over 10ms", "a second at least"),
            ("p99 < 5s please", "\"please\" is not understood"),
            ("p99 < 5s over 1s over 2s", "\"over\" is not understood"),
        ] {
            let error = Criterion::parse(text).unwrap_err();
            assert!(error.contains(words) && error.contains(text), "{text}: {error}");
        }
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
