//! Figures by worker: the sums of what each one has reported, without transactions.
//!
//! A worker costs one tally and one histogram, whatever the length of the run. Figures of several workers are merged,
//! histogram by histogram: percentiles are never averaged.

use stats::hist::Hist;
use stats::tally::Tally;

use crate::message::Report;

/// The sums of one worker, or of several.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    pub tally: Tally,
    /// Response times, µs from the intended start.
    pub response: Hist,
    /// Users started.
    pub users: u64,
}

impl Figures {
    pub fn merge(&mut self, other: &Self) {
        self.tally.merge(&other.tally);
        self.response.merge(&other.response);
        self.users += other.users;
    }

    /// Adds a report of the worker that these are of.
    fn add(&mut self, report: &Report) {
        for label in report.snapshot.labels.iter().filter(|label| !label.transaction) {
            self.tally.merge(&label.tally);
            self.response.add(&label.response);
        }
        self.users = report.started.into();
    }
}

/// The figures of all workers, by their numbers.
#[derive(Debug, Default)]
pub(crate) struct ByWorker(Vec<Figures>);

impl ByWorker {
    pub(crate) fn add(&mut self, worker: u32, report: &Report) {
        let at = worker as usize;
        if self.0.len() <= at {
            self.0.resize_with(at + 1, Figures::default);
        }
        self.0[at].add(report);
    }

    /// The figures of so many workers; of those that have reported nothing there are none but zeros.
    pub(crate) fn of(&self, workers: u32) -> Vec<Figures> {
        let mut all = self.0.clone();
        all.resize_with(workers as usize, Figures::default);
        all
    }
}

#[cfg(test)]
mod tests {
    use stats::{Recorder, Sample};

    use super::*;

    /// A second with a sample for each of these response times, ms.
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
    fn figures_of_workers_add_up_and_percentiles_are_those_of_the_merged() {
        let mut all = ByWorker::default();
        all.add(0, &second(1, 3, 1..=90));
        all.add(2, &second(1, 2, 500..=509));
        all.add(0, &second(2, 4, 91..=100));
        let of = all.of(4);
        let counts: Vec<_> = of.iter().map(|one| (one.tally.count, one.users)).collect();
        assert_eq!(counts, [(100, 4), (0, 0), (10, 2), (0, 0)], "the last word counts of users");
        let mut sum = Figures::default();
        for one in &of {
            sum.merge(one);
        }
        assert_eq!((sum.tally.count, sum.response.total(), sum.users), (110, 110, 6));
        // Averaged, the two medians would be 277 ms.
        let median = sum.response.quantile(0.5) as f64;
        assert!((median / 55_000.0 - 1.0).abs() < 0.002, "{median}");
        let tail = sum.response.quantile(0.99) as f64;
        assert!((tail / 508_000.0 - 1.0).abs() < 0.002, "{tail}");
    }
}
