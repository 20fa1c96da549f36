//! The sums of one label: all metrics of a set of samples that need no distribution.
//!
//! Merging is commutative and associative; the empty tally is its neutral element.
use serde::{Deserialize, Serialize};

use crate::checks::Checks;
use crate::phases::Phases;
use crate::sample::{Outcome, Sample};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    pub count: u64,
    pub errors: u64,
    /// Number of samples in flight at the end of the run; included in no other metric.
    pub cut: u64,
    /// Sum of the samples' elapsed times in whole milliseconds.
    pub sum_ms: u64,
    /// Smallest elapsed time in milliseconds; `u64::MAX` without samples.
    pub min_ms: u64,
    /// Largest elapsed time in milliseconds; 0 without samples.
    pub max_ms: u64,
    /// Start of the first sample in ms since 1970; `i64::MAX` without samples.
    pub first_start_ms: i64,
    /// End of the last sample in ms since 1970; 0 without samples.
    pub last_end_ms: i64,
    /// Number of bytes sent.
    pub sent: u64,
    /// Number of bytes received.
    pub received: u64,
    /// Sum of elapsed times in nanoseconds. The sums and maxima after it are in nanoseconds, too.
    pub sum_elapsed: u64,
    pub sum_latency: u64,
    pub sum_connect: u64,
    pub sum_lag: u64,
    pub max_elapsed: u64,
    pub max_response: u64,
    pub max_lag: u64,
    /// Time by phase, summed over all samples.
    pub phases: Phases,
    pub checks: Checks,
}

impl Tally {
    pub const EMPTY: Self = Self {
        count: 0,
        errors: 0,
        cut: 0,
        sum_ms: 0,
        min_ms: u64::MAX,
        max_ms: 0,
        first_start_ms: i64::MAX,
        last_end_ms: 0,
        sent: 0,
        received: 0,
        sum_elapsed: 0,
        sum_latency: 0,
        sum_connect: 0,
        sum_lag: 0,
        max_elapsed: 0,
        max_response: 0,
        max_lag: 0,
        phases: Phases::of_times(0, 0, 0),
        checks: Checks { checked: 0, unexpected: 0, failed: 0 },
    };

    /// Adds a sample that ended at `end_ms`, in ms since 1970. `value_ms` is its elapsed time in ms, or the mean if the
    /// sample stands for several.
    #[inline]
    pub(crate) fn add(&mut self, sample: &Sample, elapsed_ms: u64, value_ms: u64, end_ms: i64) {
        if sample.outcome == Outcome::CutByEnd {
            self.cut += u64::from(sample.count);
            return;
        }
        self.count += u64::from(sample.count);
        self.errors += u64::from(sample.errors);
        self.sum_ms += elapsed_ms;
        self.min_ms = self.min_ms.min(value_ms);
        self.max_ms = self.max_ms.max(value_ms);
        self.first_start_ms = self.first_start_ms.min(sample.start_ms);
        self.last_end_ms = self.last_end_ms.max(end_ms);
        self.sent += sample.sent;
        self.received += sample.received;
        self.sum_elapsed = self.sum_elapsed.saturating_add(sample.elapsed);
        self.sum_latency = self.sum_latency.saturating_add(sample.latency);
        self.sum_connect = self.sum_connect.saturating_add(sample.connect);
        self.sum_lag = self.sum_lag.saturating_add(sample.lag);
        self.max_elapsed = self.max_elapsed.max(sample.elapsed);
        self.max_response = self.max_response.max(sample.elapsed.saturating_add(sample.wait));
        self.max_lag = self.max_lag.max(sample.lag);
        self.phases.add(&sample.phases);
        self.checks.add(sample);
    }

    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.errors += other.errors;
        self.cut += other.cut;
        self.sum_ms += other.sum_ms;
        self.min_ms = self.min_ms.min(other.min_ms);
        self.max_ms = self.max_ms.max(other.max_ms);
        self.first_start_ms = self.first_start_ms.min(other.first_start_ms);
        self.last_end_ms = self.last_end_ms.max(other.last_end_ms);
        self.sent += other.sent;
        self.received += other.received;
        self.sum_elapsed = self.sum_elapsed.saturating_add(other.sum_elapsed);
        self.sum_latency = self.sum_latency.saturating_add(other.sum_latency);
        self.sum_connect = self.sum_connect.saturating_add(other.sum_connect);
        self.sum_lag = self.sum_lag.saturating_add(other.sum_lag);
        self.max_elapsed = self.max_elapsed.max(other.max_elapsed);
        self.max_response = self.max_response.max(other.max_response);
        self.max_lag = self.max_lag.max(other.max_lag);
        self.phases.add(&other.phases);
        self.checks.merge(&other.checks);
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0 && self.cut == 0
    }
}

impl Default for Tally {
    fn default() -> Self {
        Self::EMPTY
    }
}
