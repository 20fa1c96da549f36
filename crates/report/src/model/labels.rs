//! Labels of a run. The labels with the largest total service time have separate rows; all other labels share one row.

use answers::compare::units;
use answers::criterion::Times;
use answers::steady::steady;
use record::{Checked, Part, Record};
use serde::Serialize;
use stats::hist::Hist;

use super::checked::{self, Answers};
use super::distribution::{Distribution, Tail, distribution, tail};
use super::totals::{Quantile, Service, hist, independent, least, mean, quantiles};
use super::{MOST_LABELS, MOST_TIMED_LABELS};

#[derive(Debug, Serialize)]
pub struct Label {
    pub name: String,
    pub transaction: bool,
    pub folded: u32,
    pub samples: u64,
    /// Number of failed samples; `None` if the record does not say which samples failed.
    pub failed: Option<u64>,
    pub rate_per_s: f64,
    /// Share of the total service time of all requests; `None` for a transaction, whose time is that of its requests.
    pub share_of_time: Option<f64>,
    pub mean_us: f64,
    pub min_us: f64,
    pub max_us: f64,
    pub quantiles: Vec<Quantile>,
    /// The service times of the label, if the other times are response times.
    pub service: Option<Service>,
    /// Metrics of checked responses, if assertions ran on the label's responses.
    pub answers: Option<Answers>,
    pub received_bytes: u64,
    pub sent_bytes: u64,
    /// Mean time of each phase in µs: late, room, dns, connect, tls, send, wait, receive, lag.
    pub phases: Vec<Option<f64>>,
    pub distribution: Option<Distribution>,
    pub tail: Option<Tail>,
    pub columns: Vec<String>,
}

impl Label {
    /// Returns the share of the label's samples that failed.
    pub fn error_share(&self) -> Option<f64> {
        self.failed.map(|failed| failed as f64 / self.samples.max(1) as f64)
    }
}

/// The labels without separate rows, summed in one row.
#[derive(Debug, Serialize)]
pub struct Rest {
    pub labels: usize,
    pub row: Label,
}

/// The labels of a record in the order of the page, with their sums.
#[derive(Debug)]
pub(super) struct Order {
    /// Numbers of the labels with separate rows, the largest total service time first. With equal times, requests come
    /// before transactions.
    pub shown: Vec<u32>,
    pub rest: Vec<u32>,
    sums: Vec<Part>,
    checks: Vec<Checked>,
    /// Total service time of all requests, without transactions, ns. A sum of times from a file may not fit into a
    /// `u64`.
    time: f64,
}

impl Order {
    /// Returns the index on the page of a label of the record.
    pub(super) fn place(&self, label: u32) -> Option<usize> {
        self.shown.iter().position(|shown| *shown == label)
    }

    /// Returns a service time as a fraction of that of all requests.
    fn share(&self, elapsed: f64) -> f64 {
        elapsed / self.time.max(1.0)
    }

    /// Returns the labels that have columns on the timeline: index on the page and number in the record.
    pub(super) fn timed(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        self.shown.iter().copied().enumerate().take(MOST_TIMED_LABELS)
    }
}

/// Sums the metrics of each label, and sorts the labels.
pub(super) fn order(record: &Record, most: usize) -> Order {
    let mut sums = vec![Part::default(); record.labels.len()];
    for (label, part) in record.seconds.iter().flat_map(|second| &second.labels) {
        if let Some(sum) = sums.get_mut(label as usize) {
            sum.merge(&part);
        }
    }
    let of_requests = record.labels.iter().zip(&sums).filter(|(label, _)| !label.transaction);
    let time = of_requests.map(|(_, sum)| sum.elapsed as f64).sum();
    let mut all: Vec<u32> = (0..sums.len() as u32).collect();
    all.retain(|label| sums[*label as usize].count > 0);
    all.sort_by_key(|label| (std::cmp::Reverse(sums[*label as usize].elapsed), *label));
    let rest = all.split_off(all.len().min(most));
    Order { shown: all, rest, sums, checks: checked::of_labels(record), time }
}

pub(super) fn labels(record: &Record, order: &Order) -> Vec<Label> {
    let steady = steady(record);
    let one = |(place, number): (usize, &u32)| {
        let of = &record.labels[*number as usize];
        let sum = &order.sums[*number as usize];
        let times = Times::judged(record);
        let hist = hist([sum], times);
        // Reading all seconds for each of thousands of labels takes too long. Labels beyond this limit have no
        // intervals.
        let independent = if place < MOST_LABELS {
            independent(&units(steady.seconds(record), Some(*number), times), sum.count)
        } else {
            0.0
        };
        let quantiles = quantiles(&hist, times.longest(sum), independent);
        let service = (times == Times::Response).then(|| Service::new(sum, independent));
        let columns = if place < MOST_TIMED_LABELS { columns(place).to_vec() } else { Vec::new() };
        Label {
            name: of.name.to_string(),
            transaction: of.transaction,
            folded: of.folded,
            share_of_time: (!of.transaction).then(|| order.share(sum.elapsed as f64)),
            quantiles,
            service,
            columns,
            answers: Answers::new(&order.checks[*number as usize].checks(sum.errors), sum.count),
            ..row(record, sum, &hist)
        }
    };
    order.shown.iter().enumerate().map(one).collect()
}

/// Returns the ids of a label's columns: rate, errors, p50, p95.
pub(super) fn columns(place: usize) -> [String; 4] {
    ["rate", "errors", "p50", "p95"].map(|figure| format!("label.{place}.{figure}"))
}

pub(super) fn rest(record: &Record, order: &Order) -> Option<Rest> {
    if order.rest.is_empty() {
        return None;
    }
    let (mut sum, mut checks) = (Part::default(), Checked::default());
    let mut of_requests = 0.0;
    for label in &order.rest {
        let of = &order.sums[*label as usize];
        sum.merge(of);
        if !record.labels[*label as usize].transaction {
            of_requests += of.elapsed as f64;
        }
        checks.merge(&order.checks[*label as usize]);
    }
    let times = Times::judged(record);
    let hist = hist([&sum], times);
    let quantiles = quantiles(&hist, times.longest(&sum), sum.count as f64);
    let service = (times == Times::Response).then(|| Service::new(&sum, sum.count as f64));
    let row = Label {
        share_of_time: Some(order.share(of_requests)),
        quantiles,
        service,
        answers: Answers::new(&checks.checks(sum.errors), sum.count),
        ..row(record, &sum, &hist)
    };
    Some(Rest { labels: order.rest.len(), row })
}

/// Computes the metrics of a row that depend only on the sum of the samples.
fn row(record: &Record, sum: &Part, hist: &Hist) -> Label {
    let length = record.frame.rate_s();
    let times = Times::judged(record);
    let phase = |ns: u64| record.has.phases.then(|| ns as f64 / 1000.0 / sum.count.max(1) as f64);
    Label {
        name: String::new(),
        transaction: false,
        folded: 0,
        samples: sum.count,
        failed: record.knows_errors().then_some(sum.errors),
        rate_per_s: sum.count as f64 / length,
        share_of_time: None,
        mean_us: mean(sum, times),
        min_us: least(hist),
        max_us: times.longest(sum),
        quantiles: Vec::new(),
        service: None,
        answers: None,
        received_bytes: sum.received,
        sent_bytes: sum.sent,
        phases: sum.phases.to_array().map(phase).to_vec(),
        distribution: distribution(hist),
        tail: tail(hist),
        columns: Vec::new(),
    }
}
