//! Samples and failures of whole runs, which decide about the shares in a row.

use record::Record;

use super::failures::{Counted, Course, counted, courses};
use super::{CHECKS, Difference, ERRORS, Failures, Outcome, Row, Settings};

/// A run with the label number of each row.
type Labelled<'r> = (&'r Record, Vec<Option<u32>>);

/// The whole runs of both sides, indexed by side, run and row.
pub(super) struct Whole {
    samples: [Vec<Vec<Course>>; 2],
    checks: [Vec<Vec<Course>>; 2],
}

impl Whole {
    /// Collects the courses of all runs, for the labels of each row.
    pub(super) fn of(a: &[Labelled<'_>], b: &[Labelled<'_>]) -> Self {
        let of = |runs: &[Labelled<'_>], what: Counted| -> Vec<Vec<Course>> {
            runs.iter().map(|(run, labels)| courses(run, labels, what)).collect()
        };
        let both = |what| [of(a, what), of(b, what)];
        Self { samples: both(Counted::Failed), checks: both(Counted::Unexpected) }
    }
}

/// Returns the courses of one row in all runs of a side.
fn row_of(runs: &[Vec<Course>], at: usize) -> Vec<&Course> {
    runs.iter().map(|run| &run[at]).collect()
}

impl Row {
    /// Stores the numbers of samples and failures of both sides in the row, and replaces the differences of its shares
    /// by those of the whole runs.
    pub(super) fn counting(mut self, whole: &Whole, at: usize, settings: &Settings) -> Self {
        let (a, b) = (row_of(&whole.samples[0], at), row_of(&whole.samples[1], at));
        let (all_a, all_b) = (counted(&a), counted(&b));
        (self.recorded, self.failed) = ((all_a.0, all_b.0), (all_a.1, all_b.1));
        self.failures = Failures::of(&a, &b, Counted::Failed);
        let (a, b) = (row_of(&whole.checks[0], at), row_of(&whole.checks[1], at));
        self.checked = (counted(&a).0, counted(&b).0);
        self.unexpected = Failures::of(&a, &b, Counted::Unexpected);
        let of_errors = |one: &Difference| one.metric == ERRORS;
        if let Some(place) = self.differences.iter().position(of_errors) {
            if let Some(failures) = &self.failures {
                self.differences[place] = failures.difference(settings.error_floor);
            }
            if let Some(unexpected) = &self.unexpected {
                self.differences.insert(place + 1, unexpected.difference(settings.error_floor));
            }
        }
        self
    }
}

impl Failures {
    /// Returns the difference of the failed shares, or of the shares of responses as expected. More failures are worse,
    /// more responses as expected are better.
    fn difference(&self, floor: f64) -> Difference {
        let [of_a, of_b] = self.shares();
        let (low, high) = self.interval;
        let (metric, [a, b], change, (low, high)) = match self.counted() {
            Counted::Failed => (ERRORS, [of_a, of_b], self.change, (low, high)),
            Counted::Unexpected => {
                (CHECKS, [1.0 - of_a, 1.0 - of_b], 0.0 - self.change, (0.0 - high, 0.0 - low))
            }
        };
        let mut difference = Difference {
            metric,
            a,
            b,
            change,
            interval: Some((low, high)),
            p: Some(self.p),
            q: None,
            result: Outcome::Unknown,
            visible: None,
            with_warm_up: None,
        };
        difference.judge(self.is_beyond, floor);
        difference
    }
}
