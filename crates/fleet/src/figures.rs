//! Metrics by worker: the totals of each worker's reports, without transactions.
//!
//! A worker costs one tally and one histogram, whatever the length of the run. Metrics of several workers are
//! combined by merging their histograms: percentiles are never averaged.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use stats::hist::{Bins, Hist};
use stats::tally::Tally;

use crate::message::Report;

/// The totals of the samples of one worker, or of several workers together.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Figures {
    pub tally: Tally,
    /// Histogram of response times in µs, measured from the intended start.
    pub response: Hist,
    /// Number of started users.
    pub users: u64,
}

impl Figures {
    pub fn merge(&mut self, other: &Self) {
        self.tally.merge(&other.tally);
        self.response.merge(&other.response);
        self.users += other.users;
    }

    /// Adds a further report of the worker. `bins` is a buffer, which is empty afterwards.
    fn add(&mut self, report: &Report, bins: &mut Bins) {
        for label in report.snapshot.labels.iter().filter(|label| !label.transaction) {
            self.tally.merge(&label.tally);
            bins.merge(&label.response);
        }
        // The histograms of hundreds of workers do not fit into processor caches. Sorted bins access each page once.
        bins.settle();
        self.response.add(bins);
        bins.clear();
        self.users = report.started.into();
    }
}

/// The totals of each worker, by worker number.
#[derive(Debug, Default)]
pub(crate) struct ByWorker {
    own: Vec<Figures>,
    /// For each worker that is a relay: the last reported totals of its agents.
    behind: BTreeMap<u32, Vec<Figures>>,
    bins: Bins,
}

impl ByWorker {
    pub(crate) fn add(&mut self, worker: u32, report: &Report) {
        let at = worker as usize;
        if self.own.len() <= at {
            self.own.resize_with(at + 1, Figures::default);
        }
        self.own[at].add(report, &mut self.bins);
    }

    /// Stores the totals that a relay reported for its agents.
    pub(crate) fn behind(&mut self, worker: u32, figures: Vec<Figures>) {
        self.behind.insert(worker, figures);
    }

    /// Returns the totals of all machines. `parts` is the number of machines behind each worker; if there are several,
    /// the totals that the worker reported for them are used. Machines without reports have zeros.
    pub(crate) fn of(&self, parts: impl Iterator<Item = u32>) -> Vec<Figures> {
        let mut all = Vec::new();
        for (worker, parts) in (0..).zip(parts) {
            let end = all.len() + parts as usize;
            if parts == 1 {
                all.extend(self.own.get(worker as usize).cloned());
            } else {
                all.extend(self.behind.get(&worker).into_iter().flatten().cloned());
            }
            all.resize_with(end, Figures::default);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use stats::{Recorder, Sample};

    use super::*;

    /// Returns the report of a second with one sample per response time in ms.
    fn second(seq: u64, started: u32, times: impl Iterator<Item = u64>) -> Report {
        let mut recorder = Recorder::new();
        let label = recorder.intern("Home");
        for ms in times {
            recorder.record(&Sample { elapsed: ms * 1_000_000, ..Sample::new(label, 1_000) });
        }
        let mut report = Report { seq, started, ..Report::default() };
        recorder.drain(&mut report.snapshot);
        report
    }

    #[test]
    fn machines_behind_a_worker_stand_in_its_place() {
        let mut all = ByWorker::default();
        all.add(0, &second(1, 3, 1..=5));
        all.add(1, &second(1, 9, 1..=90));
        let one = |users| Figures { users, ..Figures::default() };
        all.behind(1, vec![one(1), one(2)]);
        all.behind(1, vec![one(4), one(5)]);
        let users = |parts: [u32; 3]| -> Vec<u64> {
            all.of(parts.into_iter()).iter().map(|of| of.users).collect()
        };
        assert_eq!(users([1, 2, 3]), [3, 4, 5, 0, 0, 0], "the third has said nothing");
        let bytes = postcard::to_stdvec(&all.own).expect("bytes");
        let same: Vec<Figures> = postcard::from_bytes(&bytes).expect("figures");
        assert_eq!(same[1].response.quantile(0.5), all.own[1].response.quantile(0.5));
        assert_eq!((same[1].tally.count, same[1].response.total()), (90, 90));
    }

    #[test]
    fn figures_of_workers_add_up_and_percentiles_are_those_of_the_merged() {
        let mut all = ByWorker::default();
        all.add(0, &second(1, 3, 1..=90));
        all.add(2, &second(1, 2, 500..=509));
        all.add(0, &second(2, 4, 91..=100));
        let of = all.of([1; 4].into_iter());
        let counts: Vec<_> = of.iter().map(|one| (one.tally.count, one.users)).collect();
        assert_eq!(counts, [(100, 4), (0, 0), (10, 2), (0, 0)], "the last word counts of users");
        let mut sum = Figures::default();
        for one in &of {
            sum.merge(one);
        }
        assert_eq!((sum.tally.count, sum.response.total(), sum.users), (110, 110, 6));
        // The average of the two medians would be 277 ms.
        let median = sum.response.quantile(0.5) as f64;
        assert!((median / 55_000.0 - 1.0).abs() < 0.002, "{median}");
        let tail = sum.response.quantile(0.99) as f64;
        assert!((tail / 508_000.0 - 1.0).abs() < 0.002, "{tail}");
    }
}
