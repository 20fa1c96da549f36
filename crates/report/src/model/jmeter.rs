//! The tables of JMeter's dashboard in the structure that the page reads: all digits, and the labels that JMeter's
//! page shows.

use std::collections::HashSet;

use serde::Serialize;

use super::Words;
use crate::jmeter::{Apdex, ErrorRow, Figures, Note, StatisticsRow, TOTAL, Top};

/// Largest number of rows for labels, and of rows for types of errors. Labels with the most total time and the most
/// frequent types are chosen.
const MOST_ROWS: usize = 1000;

#[derive(Debug, Serialize)]
pub struct JMeter {
    /// Number of a label's last rows that percentiles use; `None` for all rows.
    pub window: Option<usize>,
    /// The percentages of the properties `pct1ResTime` to `pct3ResTime`, as the user wrote them.
    pub percentages: [String; 3],
    /// Number of requests and number of failed requests. Transactions are not counted.
    pub requests: (u64, u64),
    /// Row of `statistics.json` for all labels.
    pub total: StatisticsRow,
    /// Rows of `statistics.json`, one per label.
    pub statistics: Vec<StatisticsRow>,
    /// Rows of the APDEX table. The row for all labels is first.
    pub apdex: Vec<Apdex>,
    /// Rows of the table of the five most frequent errors. The row for all labels is first.
    pub top5: Vec<Top>,
    pub errors: Vec<ErrorRow>,
    /// Number of all labels. Labels beyond [`MOST_ROWS`] have no row.
    pub labels: usize,
    /// Number of all types of errors. Types beyond [`MOST_ROWS`] have no row.
    pub types: usize,
    pub notes: Vec<Words>,
}

impl JMeter {
    pub fn new(figures: &Figures) -> Self {
        let all = &figures.statistics;
        let shown = all.labels.iter().zip(&all.shown).filter(|(_, shown)| **shown);
        let shown: Vec<&StatisticsRow> = shown.map(|(row, _)| row).collect();
        let labels = shown.len();
        let statistics = with_most_time(&shown);
        let names: HashSet<&str> = statistics.iter().map(|row| &*row.transaction).collect();
        let has = |label: &str| labels <= MOST_ROWS || label == TOTAL || names.contains(label);
        Self {
            window: figures.window,
            percentages: figures.percentages.clone(),
            requests: figures.requests,
            total: all.total.clone(),
            apdex: figures.apdex.iter().filter(|row| has(&row.label)).cloned().collect(),
            errors: figures.errors.iter().take(MOST_ROWS).cloned().collect(),
            top5: figures.top5.iter().filter(|top| has(&top.label)).cloned().collect(),
            labels,
            types: figures.errors.len(),
            notes: figures.notes.iter().map(Note::words).collect(),
            statistics: statistics.into_iter().cloned().collect(),
        }
    }
}

/// Returns the rows with the most total time, in their original order.
fn with_most_time<'r>(rows: &[&'r StatisticsRow]) -> Vec<&'r StatisticsRow> {
    // A label without samples has no mean.
    let time = |at: &usize| (rows[*at].samples as f64 * rows[*at].mean).max(0.0);
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|a, b| time(b).total_cmp(&time(a)));
    order.truncate(MOST_ROWS);
    order.sort_unstable();
    order.into_iter().map(|at| rows[at]).collect()
}
