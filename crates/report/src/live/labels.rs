//! The table of labels on the live page: metrics of the last seconds, a row per label.
//!
//! Rows keep their order from second to second: labels with the most samples so far come first.

use std::cmp::Reverse;

use answers::criterion::Times;
use record::{Part, Record, Second};
use serde::Serialize;
use stats::hist::Hist;

/// Largest number of rows, which bounds the data that each page receives per second.
const MOST: usize = 20;

/// The table: its rows, and the number of labels with recent samples that have no row.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct Table {
    rows: Vec<Row>,
    more: usize,
    /// Length of the time that the metrics cover, seconds.
    seconds: f64,
}

/// The metrics of a label.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Row {
    name: String,
    transaction: bool,
    folded: u32,
    rate_per_s: f64,
    p95_us: f64,
    error_share: f64,
    /// Share of the service time of all requests; `None` for a transaction, whose time is that of its requests.
    share_of_time: Option<f64>,
}

impl Table {
    /// Computes the rows from the last `seconds` of a record. `counts` are the samples of each label in the run so far.
    pub(super) fn new(record: &Record, seconds: &[Second], counts: &[u64]) -> Self {
        let mut sums = vec![(0, 0); record.labels.len()];
        for (label, count, errors) in seconds.iter().flat_map(|second| second.labels.counts()) {
            if let Some(sum) = sums.get_mut(label as usize) {
                *sum = (sum.0 + count, sum.1 + errors);
            }
        }
        let mut order: Vec<usize> = (0..sums.len()).filter(|label| sums[*label].0 > 0).collect();
        order.sort_by_key(|label| (Reverse(counts.get(*label).copied()), *label));
        let more = order.len().saturating_sub(MOST);
        if more > 0 {
            // The label with the most errors always has a row.
            let worst = (0..order.len()).max_by_key(|at| (sums[order[*at]].1, Reverse(*at)));
            if let Some(at) = worst.filter(|at| *at >= MOST && sums[order[*at]].1 > 0) {
                order.swap(MOST - 1, at);
            }
            order.truncate(MOST);
        }
        let ms: u64 = seconds.iter().map(|second| u64::from(second.ms)).sum();
        let length = ms.max(1) as f64 / 1000.0;
        let all: u64 = seconds.iter().map(|second| second.all.elapsed).sum();
        let row = |label: usize| row(record, seconds, label, length, all);
        Self { rows: order.into_iter().map(row).collect(), more, seconds: length }
    }
}

fn row(record: &Record, seconds: &[Second], number: usize, length: f64, all: u64) -> Row {
    let mut sum = Part::default();
    for part in seconds.iter().filter_map(|second| second.labels.get(number as u32)) {
        sum.merge(&part);
    }
    let times = Times::judged(record);
    let mut hist = Hist::new();
    hist.add(times.of(&sum));
    let label = &record.labels[number];
    Row {
        name: label.name.to_string(),
        transaction: label.transaction,
        folded: label.folded,
        rate_per_s: sum.count as f64 / length,
        p95_us: (hist.quantile(0.95) as f64).min(times.longest(&sum)),
        error_share: sum.errors as f64 / sum.count.max(1) as f64,
        share_of_time: (!label.transaction).then(|| sum.elapsed as f64 / all.max(1) as f64),
    }
}

#[cfg(test)]
mod tests {
    use record::Label;
    use stats::hist::layout;

    use super::*;

    /// Returns a label's samples of one second. All have the same service time.
    fn part(count: u64, errors: u64, us: u64) -> Part {
        let (ns, longest) = (count * us * 1000, us * 1000);
        let mut part = Part { count, errors, elapsed: ns, longest, ..Part::default() };
        part.service.add(layout::index_of(us), count);
        part
    }

    fn record(labels: &[(bool, Part)]) -> Record {
        let label = |(n, (transaction, _)): (usize, &(bool, Part))| Label {
            name: format!("Label {n}").into(),
            transaction: *transaction,
            folded: 0,
        };
        let parts: Vec<(u32, Part)> =
            (0..).zip(labels).map(|(n, (_, part))| (n, part.clone())).collect();
        let mut all = Part::default();
        labels.iter().filter(|(transaction, _)| !transaction).for_each(|(_, p)| all.merge(p));
        let second = |n: i64| Second {
            at_ms: n * 1000,
            ms: 1000,
            all: all.clone(),
            labels: parts.clone().into(),
            ..Second::default()
        };
        let labels = labels.iter().enumerate().map(label).collect();
        Record { labels, seconds: (1..=10).map(second).collect(), ..Record::default() }
    }

    #[test]
    fn shares_of_time_count_no_request_twice() {
        let of = [
            (true, part(10, 1, 40_000)),
            (false, part(10, 1, 30_000)),
            (false, part(20, 0, 5_000)),
        ];
        let record = record(&of);
        let Table { rows, more, seconds } = Table::new(&record, &record.seconds, &[1, 1, 9]);
        assert_eq!((more, seconds), (0, 10.0));
        let names: Vec<&str> = rows.iter().map(|row| &*row.name).collect();
        assert_eq!(names, ["Label 2", "Label 0", "Label 1"], "the most samples first");
        let shares: Vec<Option<f64>> = rows.iter().map(|row| row.share_of_time).collect();
        assert_eq!(shares, [Some(0.25), None, Some(0.75)]);
        let request = &rows[2];
        assert_eq!((request.rate_per_s, request.error_share), (10.0, 0.1));
        assert!((request.p95_us / 30_000.0 - 1.0).abs() < 0.01, "{request:?}");
    }

    #[test]
    fn the_label_with_the_most_errors_has_a_row_among_many() {
        let of: Vec<(bool, Part)> =
            (0..50).map(|n| (false, part(50 - n, u64::from(n == 44), 1000))).collect();
        let record = record(&of);
        let counts: Vec<u64> = (0..50).map(|n| 50 - n).collect();
        let table = Table::new(&record, &record.seconds, &counts);
        assert_eq!((table.rows.len(), table.more), (MOST, 50 - MOST));
        assert_eq!(table.rows[MOST - 1].name, "Label 44");
        assert_eq!(table.rows[0].name, "Label 0");
    }
}
