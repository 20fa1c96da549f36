//! Samples that a stall of the generator made longer: they were in flight, or were due to start, during the stall.
use serde::{Deserialize, Serialize};

use crate::hist::{Bins, Tray};
use crate::sample::{Outcome, Sample};

/// The stalled samples of an interval.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stalled {
    pub count: u64,
    /// Sum of the samples' response times from the intended start, in nanoseconds.
    pub sum: u64,
    /// Histogram of the samples' response times in µs.
    pub response: Bins,
}

impl Stalled {
    /// Adds the stalled samples of another interval or process.
    pub fn merge(&mut self, other: &Self) {
        self.count = self.count.wrapping_add(other.count);
        self.sum = self.sum.wrapping_add(other.sum);
        self.response.merge(&other.response);
    }

    pub(crate) fn clear(&mut self) {
        (self.count, self.sum) = (0, 0);
        self.response.clear();
    }
}

/// Collects the stalled samples of a core until the next drain.
#[derive(Debug, Default)]
pub(crate) struct Counted {
    count: u64,
    sum: u64,
    response: Tray,
}

impl Counted {
    pub(crate) fn add(&mut self, sample: &Sample) {
        if sample.outcome == Outcome::CutByEnd || sample.transaction {
            return;
        }
        let response = sample.elapsed.saturating_add(sample.wait);
        self.count += 1;
        self.sum = self.sum.saturating_add(response);
        self.response.record(response / 1000);
    }

    pub(crate) fn drain_into(&mut self, into: &mut Stalled) {
        if self.count > 0 {
            (into.count, into.sum) = (self.count, self.sum);
            (self.count, self.sum) = (0, 0);
            self.response.drain(&mut into.response);
        }
    }
}
