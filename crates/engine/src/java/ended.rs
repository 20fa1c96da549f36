//! Transactions with a parent sample whose assertions are checked in Java: the transaction has ended, and its user waits before its sample is reported.

use plan::hosted::Job;
use plan::plan::ControllerKind;

use super::{Act, Then};
use crate::core::Core;
use crate::ids::UserId;
use crate::time::timing::Timing;
use crate::users::Transaction;

/// A transaction that has come to its end; its result is the core's, or goes with its user.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) open: Box<Transaction>,
    pub(crate) timing: Timing,
}

impl Core<'_> {
    /// Checks a transaction's sample, from an assertion on, and reports it.
    pub(crate) fn check_in_turn(&mut self, index: UserId, ended: Ended, from: usize) {
        let plan = self.cx.plan;
        let ControllerKind::Transaction(settings) =
            &plan.controllers[ended.open.controller.0 as usize].kind
        else {
            return;
        };
        for (at, check) in settings.checks.iter().enumerate().skip(from) {
            match check.job() {
                None => {
                    let mut result = self.cx.lend_result();
                    check.run(&mut result, &mut self.cx.env(index, ""));
                    self.cx.return_result(result);
                }
                Some(Job::Evaluate(range)) => {
                    return self.hand_over_texts(index, Then::Ended(ended, at + 1), range);
                }
                Some(job) => {
                    let then = Then::Ended(ended, at + 1);
                    let runs = std::iter::once(job);
                    return self.hand_over_run(index, then, Act::Assertion, runs);
                }
            }
        }
        self.report_complete(index, &ended);
    }
}
