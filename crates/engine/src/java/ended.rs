//! Transactions with a parent sample whose assertions run in Java: the transaction has ended, and its user waits
//! until the assertions have checked its sample.

use plan::java_backed::Job;
use plan::result::SampleResult;

use super::{Act, Jobs, Then};
use crate::context::Context;
use crate::ids::UserId;
use crate::time::timing::Timing;
use crate::users::Transaction;

/// A transaction that has ended, with its sample, while its assertions run.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) open: Box<Transaction>,
    pub(crate) timing: Timing,
    pub(crate) result: Box<SampleResult>,
}

impl Jobs {
    /// Sends a job for an assertion of a transaction's sample; the user waits for it. `next` is the index of the next
    /// assertion.
    pub(crate) fn check_transaction(
        &mut self,
        cx: &mut Context<'_>,
        index: UserId,
        ended: Ended,
        job: Job,
        next: usize,
    ) {
        let then = Then::Ended(ended, next);
        match job {
            Job::Evaluate(range) => self.hand_over_texts(cx, index, then, range),
            Job::Run(_) => {
                self.hand_over_run(cx, index, then, Act::Assertion, std::iter::once(job));
            }
        }
    }
}
