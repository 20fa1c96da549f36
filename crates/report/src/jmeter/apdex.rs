//! APDEX: the share of satisfied users. A user with a tolerated time counts as half a satisfied user.

use serde::Serialize;

use super::settings::Settings;
use super::statistics::Figure;

/// A row of the APDEX table. Failed samples count as neither satisfied nor tolerated.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Apdex {
    pub label: String,
    pub apdex: f64,
    pub satisfied: u64,
    pub tolerated: u64,
    /// Longest time in ms that satisfies a user.
    pub satisfied_ms: i64,
    /// Longest time in ms that a user tolerates.
    pub tolerated_ms: i64,
}

/// APDEX counts of a label, or of all labels.
#[derive(Clone, Debug)]
pub(super) struct Count {
    satisfied_ms: i64,
    tolerated_ms: i64,
    satisfied: u64,
    tolerated: u64,
    total: u64,
}

impl Count {
    /// Starts counting with the APDEX thresholds of a label, or with the general ones if `label` is `None`.
    pub(super) fn new(label: Option<&str>, settings: &Settings) -> Self {
        let own = label
            .and_then(|label| settings.apdex.iter().find(|(pattern, ..)| pattern.matches(label)));
        let (satisfied_ms, tolerated_ms) = own
            .map_or((settings.satisfied_ms, settings.tolerated_ms), |(_, satisfied, tolerated)| {
                (*satisfied, *tolerated)
            });
        Self { satisfied_ms, tolerated_ms, satisfied: 0, tolerated: 0, total: 0 }
    }

    pub(super) fn add(&mut self, row: &Figure) {
        self.total += 1;
        if !row.success {
            return;
        }
        let elapsed = i64::from(row.elapsed_ms);
        if elapsed <= self.satisfied_ms {
            self.satisfied += 1;
        } else if elapsed <= self.tolerated_ms {
            self.tolerated += 1;
        }
    }

    /// Returns the APDEX row; `None` without samples, because such a label has no row.
    pub(super) fn row(&self, label: &str) -> Option<Apdex> {
        (self.total > 0).then(|| Apdex {
            label: label.to_owned(),
            apdex: (self.satisfied as f64 + self.tolerated as f64 / 2.0) / self.total as f64,
            satisfied: self.satisfied,
            tolerated: self.tolerated,
            satisfied_ms: self.satisfied_ms,
            tolerated_ms: self.tolerated_ms,
        })
    }
}
