//! Counts of responses that assertions checked, and of the requests that succeeded by themselves.
//!
//! A request succeeds by itself if its transport and its status are good: what JMeter calls a success without its
//! assertions. A response is checked if at least one assertion ran on it, and it is as expected if all of its
//! assertions passed. A request without a response (refused, reset, timed out) is not checked: it lowers the share of
//! successful requests, but not the share of responses as expected.

use serde::{Deserialize, Serialize};

use crate::sample::{Outcome, Sample};

/// The result of a sample's assertions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Check {
    /// No assertion ran, or there was no response.
    #[default]
    Unchecked,
    Expected,
    Unexpected,
}

/// Counts for a set of samples. Merging is commutative and associative; the empty set is its neutral element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checks {
    /// Number of responses on which at least one assertion ran.
    pub checked: u64,
    /// Number of checked responses with a failed assertion.
    pub unexpected: u64,
    /// Number of samples that failed by their transport or status, whatever the result of assertions. Of
    /// transactions: the number of failed ones with a failed request inside.
    pub failed: u64,
}

impl Checks {
    #[inline]
    pub(crate) fn add(&mut self, sample: &Sample) {
        let n = u64::from(sample.count);
        if sample.check != Check::Unchecked {
            self.checked += n;
            self.unexpected += if sample.check == Check::Unexpected { n } else { 0 };
        }
        if !matches!(sample.outcome, Outcome::Ok | Outcome::Assertion) {
            self.failed += if n == 1 { 1 } else { u64::from(sample.errors) };
        }
    }

    pub fn merge(&mut self, other: &Self) {
        self.checked = self.checked.saturating_add(other.checked);
        self.unexpected = self.unexpected.saturating_add(other.unexpected);
        self.failed = self.failed.saturating_add(other.failed);
    }

    /// Subtracts a part of the set.
    pub fn subtract(&mut self, part: &Self) {
        self.checked -= part.checked;
        self.unexpected -= part.unexpected;
        self.failed -= part.failed;
    }

    /// Returns the number of responses whose assertions all passed.
    pub fn expected(&self) -> u64 {
        self.checked.saturating_sub(self.unexpected)
    }

    /// Returns the percentage of checked responses that were as expected; `None` if none was checked.
    pub fn percent(&self) -> Option<f64> {
        (self.checked > 0).then(|| self.expected() as f64 * 100.0 / self.checked as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::LabelId;

    #[test]
    fn a_failed_request_is_no_failed_check_and_a_bad_answer_is_no_failed_request() {
        let mut checks = Checks::default();
        let mut add = |outcome, check| {
            checks.add(&Sample { outcome, check, ..Sample::new(LabelId(0), 0) });
        };
        add(Outcome::Ok, Check::Expected);
        add(Outcome::Ok, Check::Unchecked);
        add(Outcome::Assertion, Check::Unexpected);
        add(Outcome::Refused, Check::Unchecked);
        add(Outcome::Status, Check::Expected);
        assert_eq!(checks, Checks { checked: 3, unexpected: 1, failed: 2 });
        assert_eq!((checks.expected(), Checks::default().percent()), (2, None));
    }
}
