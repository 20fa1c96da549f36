//! Metrics that the user chose before the runs were compared.
//!
//! Among many intervals some exclude 0 by chance. So a comparison of many metrics requires more of each metric than its
//! own interval shows. A metric that a criterion names was chosen in advance: the criterion judges it by its own 95 %
//! interval, and the row of the table shows the same result.

use super::{Comparison, Difference, Outcome, Row, Settings, is_share};

impl Comparison {
    /// Judges the metric that a criterion names by its own interval. The criterion's limit becomes the floor if it is
    /// smaller. Does nothing if the comparison does not have this metric.
    pub fn name(&mut self, label: &str, metric: &str, limit: f64, settings: &Settings) {
        let Some(row) = self.row_mut(label) else { return };
        let of = match metric {
            super::CHECKS => row.unexpected.as_ref(),
            _ => row.failures.as_ref(),
        };
        let is_beyond = of.is_some_and(|of| of.is_beyond);
        let is_it = |one: &&mut Difference| one.metric == metric;
        let Some(difference) = row.differences.iter_mut().find(is_it) else { return };
        if matches!(difference.result, Outcome::OtherWork | Outcome::MostlyFailed) {
            return;
        }
        if is_share(metric) {
            difference.judge(is_beyond, settings.error_floor.min(limit.abs()));
        } else {
            difference.judge(true, settings.floor.min(limit.abs()));
        }
    }

    /// Returns the row of a label. An empty label stands for all requests. A run with a single label has no rows of
    /// labels: the row of all requests then stands for the label.
    pub(super) fn row_mut(&mut self, label: &str) -> Option<&mut Row> {
        let is_alone = self.labels.is_empty();
        let mut rows = std::iter::once(&mut self.all).chain(&mut self.labels);
        rows.find(|row| row.label == label || is_alone)
    }
}
