//! Transactions with a parent sample whose assertions are checked in Java: the transaction has ended, and its user waits before its sample is reported.

use plan::java_backed::Job;
use plan::plan::ControllerKind;

use super::{Act, Jobs, Then};
use crate::context::Context;
use crate::ids::UserId;
use crate::time::timing::Timing;
use crate::users::Transaction;

/// A transaction that has come to its end; its result is the core's, or goes with its user.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) open: Box<Transaction>,
    pub(crate) timing: Timing,
}

impl Jobs {
    /// Checks a transaction's sample, the core's result, from an assertion on. Gives the transaction back once all have checked it; else its user waits.
    pub(crate) fn check_in_turn(
        &mut self,
        cx: &mut Context<'_>,
        index: UserId,
        ended: Ended,
        from: usize,
    ) -> Option<Ended> {
        let plan = cx.plan;
        let ControllerKind::Transaction(settings) =
            &plan.controllers[ended.open.controller.0 as usize].kind
        else {
            return None;
        };
        for (at, check) in settings.checks.iter().enumerate().skip(from) {
            match check.job() {
                None => {
                    let mut result = cx.lend_result();
                    check.run(&mut result, &mut cx.env(index, ""));
                    cx.return_result(result);
                }
                Some(Job::Evaluate(range)) => {
                    self.hand_over_texts(cx, index, Then::Ended(ended, at + 1), range);
                    return None;
                }
                Some(job) => {
                    let then = Then::Ended(ended, at + 1);
                    let runs = std::iter::once(job);
                    self.hand_over_run(cx, index, then, Act::Assertion, runs);
                    return None;
                }
            }
        }
        Some(ended)
    }
}
