//! All measurements of a run: the merged snapshots of all cores.
//!
//! Each label and kind (request, transaction) has a tally, exact milliseconds for JMeter's formulas, and histograms in
//! µs. The time to add a snapshot is proportional to its number of bins. Memory depends on the spread of values and is
//! a few tens of KB per label.
use std::collections::HashMap;
use std::sync::Arc;

use crate::cause::{Cause, Causes};
use crate::close::{self, Closed};
use crate::counter::Counters;
use crate::hist::{Exact, Hist};
use crate::number::{self, Number};
use crate::snapshot::{LabelDelta, Snapshot};
use crate::span::Span;
use crate::tally::Tally;
use crate::transactions::Transactions;

/// The measurements of one label over the run.
#[derive(Clone, Debug)]
pub struct Row {
    pub name: Arc<str>,
    pub transaction: bool,
    pub tally: Tally,
    pub ms: Exact,
    /// Service times, from the actual start, µs.
    pub service: Hist,
    /// Response times, from the intended start, µs.
    pub response: Hist,
    /// Times spent in this process, µs.
    pub lag: Hist,
    /// Times that samples in flight at the end of the run had waited, µs; these samples are in no other metric.
    pub unanswered: Hist,
}

#[derive(Clone, Debug, Default)]
pub struct Totals {
    rows: Vec<Row>,
    index: HashMap<(Arc<str>, bool), usize>,
    pub counters: Counters,
    causes: Causes,
    spans: [Hist; Span::COUNT],
    closed: Vec<Closed>,
    numbers: Vec<Number>,
}

impl Row {
    pub fn new(name: Arc<str>, transaction: bool) -> Self {
        Self {
            name,
            transaction,
            tally: Tally::EMPTY,
            ms: Exact::new(),
            service: Hist::new(),
            response: Hist::new(),
            lag: Hist::new(),
            unanswered: Hist::new(),
        }
    }

    pub fn add(&mut self, delta: &LabelDelta) {
        self.tally.merge(&delta.tally);
        self.ms.add(&delta.ms);
        self.service.add(&delta.service);
        self.response.add(&delta.response);
        self.lag.add(&delta.lag);
        self.unanswered.add(&delta.unanswered);
    }

    pub fn merge(&mut self, other: &Self) {
        self.tally.merge(&other.tally);
        self.ms.merge(&other.ms);
        self.service.merge(&other.service);
        self.response.merge(&other.response);
        self.lag.merge(&other.lag);
        self.unanswered.merge(&other.unanswered);
    }
}

impl Totals {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn add(&mut self, snapshot: &Snapshot) {
        self.counters.merge(&snapshot.counters);
        self.causes.merge(&snapshot.causes);
        for span in Span::ALL {
            self.spans[span as usize].add(snapshot.spans.get(span));
        }
        close::add(&mut self.closed, &snapshot.closes);
        number::merge(&mut self.numbers, &snapshot.numbers);
        for delta in &snapshot.labels {
            let at = *self
                .index
                .entry((Arc::clone(&delta.name), delta.transaction))
                .or_insert_with(|| {
                    self.rows.push(Row::new(Arc::clone(&delta.name), delta.transaction));
                    self.rows.len() - 1
                });
            self.rows[at].add(delta);
        }
    }

    /// Returns the labels in order of first appearance. A name of both a request and a transaction appears twice.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    pub fn causes(&self) -> &[Cause] {
        self.causes.list()
    }

    /// Returns the histogram of a span in µs.
    pub fn span(&self, span: Span) -> &Hist {
        &self.spans[span as usize]
    }

    /// Returns ended connections, one entry per pair of cause and code, in order of first appearance.
    pub fn closed(&self) -> &[Closed] {
        &self.closed
    }

    /// Returns the sums of extracted numbers, indexed by the number of the series. Series without values may be missing
    /// at the end.
    pub fn numbers(&self) -> &[Number] {
        &self.numbers
    }

    /// Returns all samples under one name including transactions, as JMeter's TOTAL row counts them.
    pub fn total(&self, name: &str) -> Row {
        self.sum(name, |_| true)
    }

    /// Returns the start of the first request and the end of the last request, in epoch ms by the run's clock. Rates
    /// refer to the time between them. `None` without requests.
    pub fn span_ms(&self) -> Option<(i64, i64)> {
        let tallies = || self.rows.iter().filter(|row| !row.transaction).map(|row| &row.tally);
        let first = tallies().map(|tally| tally.first_start_ms).min()?;
        let last = tallies().map(|tally| tally.last_end_ms).max()?;
        (last >= first).then_some((first, last))
    }

    /// Returns all requests, without transactions.
    pub fn requests(&self) -> Row {
        self.sum("", |row| !row.transaction)
    }

    /// Returns the counts of all transactions.
    pub fn transactions(&self) -> Transactions {
        let mut sum = Transactions::default();
        for row in self.rows.iter().filter(|row| row.transaction) {
            sum.merge(&Transactions::of(&row.tally));
        }
        sum
    }

    /// Returns all samples of a label: requests and transactions of this name together, which tables also show in one
    /// line.
    pub fn of_name(&self, name: &str) -> Row {
        self.sum(name, |row| *row.name == *name)
    }

    fn sum(&self, name: &str, wanted: impl Fn(&Row) -> bool) -> Row {
        let mut sum = Row::new(name.into(), false);
        for row in self.rows.iter().filter(|row| wanted(row)) {
            sum.merge(row);
        }
        sum
    }
}
