//! Counts of transactions, and of those that failed by their own assertions.
//!
//! A transaction with a parent sample can have assertions of its own. If one of them fails, the transaction fails,
//! although all of its requests may have succeeded. Such a failure is in no figure of requests. A transaction with a
//! failed request is not counted as a failure of its own, because the request is counted already.

use crate::checks::Checks;
use crate::tally::Tally;

/// Counts for a set of transactions. Merging is commutative and associative; the empty set is its neutral element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Transactions {
    pub count: u64,
    /// Number of transactions that failed although no request inside failed: their own assertions failed, or those of
    /// a transaction inside.
    pub own_failures: u64,
    /// Results of the transactions' own assertions, whatever the results of their requests.
    pub checks: Checks,
}

impl Transactions {
    /// Returns the counts of the transactions of one label.
    pub fn of(tally: &Tally) -> Self {
        Self::with(tally.count, tally.errors, tally.checks)
    }

    /// Returns the counts of `count` transactions, of which `errors` failed. `checks.failed` of them had a failed
    /// request inside.
    pub fn with(count: u64, errors: u64, checks: Checks) -> Self {
        Self { count, own_failures: errors.saturating_sub(checks.failed), checks }
    }

    pub fn merge(&mut self, other: &Self) {
        self.count = self.count.saturating_add(other.count);
        self.own_failures = self.own_failures.saturating_add(other.own_failures);
        self.checks.merge(&other.checks);
    }

    /// Subtracts a part of the set.
    pub fn subtract(&mut self, part: &Self) {
        self.count -= part.count;
        self.own_failures -= part.own_failures;
        self.checks.subtract(&part.checks);
    }

    /// Returns the percentage of transactions that failed by their own assertions; `None` without transactions.
    pub fn percent(&self) -> Option<f64> {
        (self.count > 0).then(|| self.own_failures as f64 * 100.0 / self.count as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Check, Outcome, Recorder, Sample, Snapshot, Totals};

    #[test]
    fn a_transaction_with_a_failed_request_is_no_failure_of_its_own() {
        let mut recorder = Recorder::new();
        let label = recorder.intern("Order");
        let mut add = |outcome, check| {
            let errors = u32::from(outcome != Outcome::Ok);
            let sample = Sample { outcome, check, errors, ..Sample::new(label, 0) };
            recorder.record(&Sample { success: errors == 0, transaction: true, ..sample });
        };
        add(Outcome::Ok, Check::Expected);
        add(Outcome::Assertion, Check::Unexpected);
        add(Outcome::Assertion, Check::Unexpected);
        // The assertion failed because of the failed request.
        add(Outcome::Status, Check::Unexpected);
        add(Outcome::CutByEnd, Check::Unexpected);
        recorder.record(&Sample { errors: 1, ..Sample::new(label, 0) });
        let (mut snapshot, mut totals) = (Snapshot::new(), Totals::new());
        recorder.drain(&mut snapshot);
        totals.add(&snapshot);
        let mut all = totals.transactions();
        let checks = Checks { checked: 4, unexpected: 3, failed: 1 };
        assert_eq!(all, Transactions { count: 4, own_failures: 2, checks });
        assert_eq!(all.percent(), Some(50.0));
        let part = all;
        all.merge(&part);
        all.subtract(&part);
        assert_eq!(all, part);
        assert_eq!(Transactions::default().percent(), None);
    }
}
