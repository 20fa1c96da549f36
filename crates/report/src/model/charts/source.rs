//! Metrics at each instant, computed from the seconds of a record.

use record::{Record, Second};
use stats::Counter;
use stats::hist::Hist;

use crate::model::instants::Instant;

/// The data that columns are computed from.
pub(super) struct Source<'a> {
    pub(super) record: &'a Record,
    pub(super) instants: &'a [Instant],
}

impl Source<'_> {
    pub(super) fn seconds(&self, instant: &Instant) -> &[Second] {
        &self.record.seconds[instant.seconds.clone()]
    }

    /// Computes a metric for each instant.
    pub(super) fn each(
        &self,
        figure: impl Fn(&Instant, &[Second]) -> Option<f64>,
    ) -> Vec<Option<f64>> {
        self.instants.iter().map(|instant| figure(instant, self.seconds(instant))).collect()
    }

    /// Computes the rate per second of a count.
    pub(super) fn per_second(&self, count: impl Fn(&Second) -> u64) -> Vec<Option<f64>> {
        self.each(|instant, seconds| {
            Some(seconds.iter().map(&count).sum::<u64>() as f64 / instant.length())
        })
    }

    pub(super) fn counter(&self, counter: Counter) -> Vec<Option<f64>> {
        self.per_second(|second| second.counters.get(counter))
    }

    /// Returns the last known value of a gauge within each instant.
    pub(super) fn last(&self, value: impl Fn(&Second) -> Option<f64>) -> Vec<Option<f64>> {
        self.each(|_, seconds| seconds.iter().rev().find_map(&value))
    }

    pub(super) fn most(&self, value: impl Fn(&Second) -> Option<f64>) -> Vec<Option<f64>> {
        self.each(|_, seconds| seconds.iter().filter_map(&value).reduce(f64::max))
    }

    pub(super) fn least(&self, value: impl Fn(&Second) -> Option<f64>) -> Vec<Option<f64>> {
        self.each(|_, seconds| seconds.iter().filter_map(&value).reduce(f64::min))
    }

    /// Computes a percentile of the merged histograms of each instant.
    pub(super) fn quantile(&self, p: f64, fill: impl Fn(&Second, &mut Hist)) -> Vec<Option<f64>> {
        self.each(|_, seconds| {
            let mut hist = Hist::new();
            for second in seconds {
                fill(second, &mut hist);
            }
            (hist.total() > 0).then(|| hist.quantile(p) as f64)
        })
    }
}
