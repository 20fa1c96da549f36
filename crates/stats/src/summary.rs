//! The summary at the end of a run, as data and as text.
//!
//! Computed once from `Totals` and the timeline; the JSON is this struct. Response times, connections and the
//! generator's own share are shown together, so that a slow generator is not mistaken for a slow server. Samples cut by
//! the end of the run are counted separately.
mod answers;
mod connections;
mod gateway;
mod handshakes;
mod pools;
mod series;

use lang::decimal_format::percent;
use serde::Serialize;
use unicode_width::UnicodeWidthStr;

use crate::aggregate::{Percentages, Report};
use crate::counter::{Counter, Counters};
use crate::grouped::{count, things};
use crate::hist::Hist;
use crate::laws;
use crate::process::Usage;
use crate::tally::Tally;
use crate::timeline::Timeline;
use crate::totals::{Row, Totals};

pub use answers::Answers;
pub use connections::{ClosedLine, Connections};
pub use gateway::Gateway;
pub use handshakes::Handshakes;
pub use pools::PoolWaits;
pub use series::SeriesLine;

/// Maximum number of error causes in the text; the JSON contains all.
const CAUSES_SHOWN: usize = 20;

/// Facts about a run that its samples do not contain.
#[derive(Clone, Copy, Debug, Default)]
pub struct Frame {
    /// Start of the run in ms since 1970.
    pub start_ms: i64,
    /// End of the run in ms since 1970.
    pub end_ms: i64,
    /// CPU time of this process during the run; the memory peak is that of the whole process.
    pub usage: Usage,
}

#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    pub start_ms: i64,
    pub duration_ms: i64,
    /// Number of requests, without transactions.
    pub requests: u64,
    pub failed: u64,
    /// Number of transactions; they do not count as requests.
    #[serde(skip_serializing_if = "is_none")]
    pub transactions: u64,
    /// Number of failed transactions.
    #[serde(skip_serializing_if = "is_none")]
    pub failed_transactions: u64,
    /// Number of transactions that failed by their own assertions, without a failed request inside.
    #[serde(skip_serializing_if = "is_none")]
    pub transactions_failed_by_own_assertions: u64,
    /// Number of requests in flight at the end of the run; they do not count as requests.
    pub cut_by_end: u64,
    pub requests_per_s: f64,
    /// Mean number of requests in flight, by Little's law.
    pub concurrency: f64,
    pub sent_bytes: u64,
    pub received_bytes: u64,
    /// Service time in ms, from the actual start to the end.
    pub service: Spread,
    /// Response time in ms, from the intended start to the end.
    pub response: Spread,
    /// Part of the service time that was spent in this process, in ms.
    pub lag: Spread,
    pub aggregate: Report,
    pub errors: Vec<ErrorLine>,
    /// Numbers of requests by their own result, and of responses by the result of their assertions; only in runs with
    /// assertions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checks: Option<Answers>,
    /// Metrics of WebSocket connections; only in runs with such connections.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connections: Option<Connections>,
    /// Numbers, times and costs of TLS handshakes; only in runs with TLS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls: Option<Handshakes>,
    /// Cost of signing and encryption; only in runs with requests for a mobile gateway.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gateway: Option<Gateway>,
    /// Waits for pooled connections; only in runs with connection pools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pools: Option<PoolWaits>,
    /// Statistics of each series of numbers that the plan extracts from responses.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<SeriesLine>,
    pub generator: Generator,
    /// Peaks and sums over the seconds of the run, such as stalls and full processors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub course: Option<Timeline>,
    pub counters: Counters,
}

/// Mean, percentiles and maximum of times in ms, to three significant digits; `max` is exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spread {
    pub mean: f64,
    pub p50: f64,
    pub p90: f64,
    pub p95: f64,
    pub p99: f64,
    pub p999: f64,
    pub max: f64,
}

#[derive(Clone, Debug, Serialize)]
pub struct ErrorLine {
    pub count: u64,
    /// Number of errors with this cause divided by the number of all errors, 0 to 1.
    pub share: f64,
    pub kind: &'static str,
    pub code: String,
    pub message: String,
    pub first_label: String,
    /// Start of the first sample with this error, in ms since 1970.
    pub first_ms: i64,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub struct Generator {
    pub user_s: f64,
    pub system_s: f64,
    /// Processor time of the generator per request in microseconds.
    pub cpu_us_per_request: f64,
    /// Peak of resident memory in bytes.
    pub rss_peak: u64,
}

impl Summary {
    /// Applies a function to all strings that come from samples: labels, and messages of errors.
    pub fn with_texts(mut self, of: impl Fn(&str) -> String) -> Self {
        let labels = self.aggregate.lines.iter_mut().map(|line| &mut line.label);
        let checked = self.checks.iter_mut().flat_map(|checks| &mut checks.labels);
        let errors = self
            .errors
            .iter_mut()
            .flat_map(|error| [&mut error.code, &mut error.message, &mut error.first_label]);
        for text in labels.chain(checked.map(|of| &mut of.label)).chain(errors) {
            *text = of(text);
        }
        self
    }
}

impl Spread {
    /// Computes the statistics of a histogram of µs. `max` is the exact maximum in nanoseconds and limits percentiles.
    pub fn new(hist: &Hist, max: u64) -> Self {
        let max = max as f64 / 1e6;
        let at = |q: f64| (hist.quantile(q) as f64 / 1000.0).min(max);
        Self {
            mean: hist.mean() / 1000.0,
            p50: at(0.5),
            p90: at(0.9),
            p95: at(0.95),
            p99: at(0.99),
            p999: at(0.999),
            max,
        }
    }
}

impl Spread {
    /// Returns the percentiles in one line, with their unit.
    fn text(&self) -> String {
        let [p50, p90, p95, p99, max] =
            [self.p50, self.p90, self.p95, self.p99, self.max].map(digits);
        format!("p50 {p50}  p90 {p90}  p95 {p95}  p99 {p99}  max {max} ms")
    }
}

impl Summary {
    pub fn new(totals: &Totals, frame: &Frame, percentages: &Percentages) -> Self {
        let requests = totals.requests();
        let t = requests.tally;
        let span_s = (t.last_end_ms.saturating_sub(t.first_start_ms)) as f64 / 1000.0;
        let per_s = if t.count > 0 && span_s > 0.0 { t.count as f64 / span_s } else { 0.0 };
        let mean_s = t.sum_elapsed as f64 / 1e9 / t.count.max(1) as f64;
        Self {
            start_ms: frame.start_ms,
            duration_ms: frame.end_ms - frame.start_ms,
            requests: t.count,
            failed: t.errors,
            transactions: of_transactions(totals, |tally| tally.count),
            failed_transactions: of_transactions(totals, |tally| tally.errors),
            transactions_failed_by_own_assertions: totals.transactions().own_failures,
            cut_by_end: t.cut,
            requests_per_s: per_s,
            concurrency: laws::concurrency(per_s, mean_s),
            sent_bytes: t.sent,
            received_bytes: t.received,
            service: Spread::new(&requests.service, t.max_elapsed),
            response: Spread::new(&requests.response, t.max_response),
            lag: Spread::new(&requests.lag, t.max_lag),
            aggregate: Report::new(totals, percentages),
            errors: error_lines(totals),
            checks: Answers::new(totals, &requests, false),
            connections: None,
            tls: Handshakes::new(totals, &Timeline::default(), frame.usage.cpu_s()),
            gateway: Gateway::new(totals, frame.usage.cpu_s()),
            pools: PoolWaits::new(totals),
            series: Vec::new(),
            generator: Generator::new(frame, &requests),
            course: None,
            counters: totals.counters,
        }
    }

    /// Adds what the run's seconds show: connections, rates of TLS handshakes, and the timeline itself.
    pub fn over_time(mut self, totals: &Totals, timeline: &Timeline) -> Self {
        self.connections = Connections::new(totals, timeline, self.duration_ms);
        self.tls =
            Handshakes::new(totals, timeline, self.generator.user_s + self.generator.system_s);
        self.course = Some(timeline.clone());
        self
    }

    /// Adds the results of assertions. If the plan has assertions, they are added even if none ran.
    pub fn of_assertions(mut self, totals: &Totals, has_assertions: bool) -> Self {
        self.checks = Answers::new(totals, &totals.requests(), has_assertions);
        self
    }

    /// Adds the statistics of each series. `names` are the series' names and sources, in the order of their index.
    pub fn with_series<'n>(
        mut self,
        totals: &Totals,
        names: impl Iterator<Item = (&'n str, &'n str)>,
    ) -> Self {
        let number = |at: usize| totals.numbers().get(at).copied().unwrap_or_default();
        let lines = names
            .enumerate()
            .map(|(at, (name, source))| SeriesLine::new(name, source, &number(at)));
        self.series = lines.collect();
        self
    }

    /// Returns the summary as short blocks, separated by empty lines.
    pub fn text(&self) -> String {
        self.text_within(None)
    }

    /// Returns the text for a terminal with `width` columns; tables omit columns that do not fit.
    pub fn text_within(&self, width: Option<usize>) -> String {
        let mut out = self.aggregate.text(width);
        if self.transactions > 0 {
            out.push_str(&format!(
                "TOTAL includes {} and {}; {} failed.\n",
                things(self.requests, "request"),
                things(self.transactions, "transaction"),
                things(self.failed, "request")
            ));
            out.push_str(&self.own_failures());
        }
        if let Some(checks) = &self.checks {
            out.push('\n');
            out.push_str(&checks.text());
        }
        self.push_errors(&mut out, width);
        if let Some(connections) = &self.connections {
            out.push_str(&connections.text());
        }
        let (judged, service) = (self.response.text(), self.service.text());
        out.push_str(&format!("\nResponse time   {judged}\n"));
        if service != judged {
            out.push_str(&format!(
                "                service time, as in the table above: {service}\n"
            ));
        }
        out.push_str(&format!("                generator overhead {}\n", self.lag.text()));
        out.push_str(&format!(
            "In flight       {} requests on average (Little's law)\n",
            digits(self.concurrency)
        ));
        self.push_connections(&mut out);
        if let Some(tls) = &self.tls {
            out.push_str(&tls.text());
        }
        if let Some(gateway) = &self.gateway {
            out.push_str(&gateway.text());
        }
        if let Some(pools) = &self.pools {
            out.push_str(&pools.text());
        }
        out.extend(self.series.iter().map(SeriesLine::text));
        let g = &self.generator;
        out.push_str(&format!(
            "Generator       CPU {:.2} s user + {:.2} s system, {} µs per request; memory {} MiB\n",
            g.user_s,
            g.system_s,
            digits(g.cpu_us_per_request),
            g.rss_peak.div_ceil(1 << 20)
        ));
        if self.cut_by_end > 0 {
            let cut = things(self.cut_by_end, "sample");
            out.push_str(&format!(
                "Cut by the end  {cut} in flight when the run ended, not included above\n"
            ));
        }
        out
    }

    /// Returns the line about transactions that failed by their own assertions; empty without such transactions.
    fn own_failures(&self) -> String {
        let own = self.transactions_failed_by_own_assertions;
        if own == 0 {
            return String::new();
        }
        format!(
            "{} of {} failed; {} of {} failed by their own assertions.\n",
            count(self.failed),
            things(self.requests, "request"),
            count(own),
            things(self.transactions, "transaction")
        )
    }

    fn push_connections(&self, out: &mut String) {
        let n = |counter| self.counters.get(counter);
        out.push_str(&format!(
            "Connections     {} opened, {} reused, {} closed by peer, {} closed by Throng, {} failed\n",
            n(Counter::ConnOpened),
            n(Counter::ConnReused),
            n(Counter::ConnClosedByPeer),
            n(Counter::ConnClosedByUs),
            n(Counter::ConnFailed)
        ));
        if n(Counter::ConnClosedForNewUser) > 0 {
            out.push_str(&format!(
                "                {} of those closed by Throng: the next iteration was a new user\n",
                n(Counter::ConnClosedForNewUser)
            ));
        }
        if n(Counter::StaleRetried) > 0 {
            let retried = things(n(Counter::StaleRetried), "request");
            out.push_str(&format!(
                "                {retried} resent, because the server had closed the connection\n"
            ));
        }
    }

    fn push_errors(&self, out: &mut String, width: Option<usize>) {
        if self.errors.is_empty() {
            return;
        }
        out.push_str("\nErrors by cause\n");
        for e in self.errors.iter().take(CAUSES_SHOWN) {
            let separator = if e.code.is_empty() || e.message.is_empty() { "" } else { ": " };
            let line = format!(
                "{:>10}  {:>7}  {}{separator}{}  (first in {})",
                e.count,
                percent(e.share, 2),
                e.code,
                e.message,
                e.first_label
            );
            let line = line.replace(['\r', '\n'], " ");
            // Addresses and causes stand at the end of JMeter's messages, so lines are wrapped, not cut.
            out.push_str(&folded(&line, 21, width.unwrap_or(usize::MAX)));
        }
        if let Some(more) = self.errors.len().checked_sub(CAUSES_SHOWN).filter(|more| *more > 0) {
            out.push_str(&format!("            and {}\n", things(more as u64, "more cause")));
        }
    }
}

impl Generator {
    fn new(frame: &Frame, requests: &Row) -> Self {
        let usage = frame.usage;
        let per_request = match requests.tally.count {
            0 => 0.0,
            n => usage.cpu_s() * 1e6 / n as f64,
        };
        Self {
            user_s: usage.user_s,
            system_s: usage.system_s,
            cpu_us_per_request: per_request,
            rss_peak: usage.rss_peak,
        }
    }
}

/// Returns the sum of one metric over all transactions.
fn of_transactions(totals: &Totals, figure: impl Fn(&Tally) -> u64) -> u64 {
    totals.rows().iter().filter(|row| row.transaction).map(|row| figure(&row.tally)).sum()
}

#[allow(clippy::trivially_copy_pass_by_ref)] // As serde calls it.
fn is_none(count: &u64) -> bool {
    *count == 0
}

/// Breaks a line between words so that it fits into `width` columns, unless a word is longer. Lines after the first are
/// indented.
fn folded(line: &str, indent: usize, width: usize) -> String {
    let (mut out, mut column) = (String::new(), 0);
    for word in line.split_inclusive(' ') {
        let wide = word.trim_end().width();
        if column > indent && column + wide > width {
            out.truncate(out.trim_end().len());
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            column = indent;
        }
        out.push_str(word);
        column += word.width();
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

/// Returns the errors by cause, the most frequent first.
fn error_lines(totals: &Totals) -> Vec<ErrorLine> {
    let all: u64 = totals.causes().iter().map(|cause| cause.count).sum();
    let mut lines: Vec<ErrorLine> = totals
        .causes()
        .iter()
        .map(|cause| ErrorLine {
            count: cause.count,
            share: cause.count as f64 / all as f64,
            kind: cause.outcome.as_str(),
            code: cause.code.to_string(),
            message: cause.message.to_string(),
            first_label: cause.first_label.to_string(),
            first_ms: cause.first_ms,
        })
        .collect();
    lines.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.first_ms.cmp(&b.first_ms)));
    lines
}

/// Formats a value with three significant digits.
fn digits(value: f64) -> String {
    match value {
        v if v >= 100.0 => format!("{v:.0}"),
        v if v >= 10.0 => format!("{v:.1}"),
        v if v >= 1.0 => format!("{v:.2}"),
        v => format!("{v:.3}"),
    }
}
