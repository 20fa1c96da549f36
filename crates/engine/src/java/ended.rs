//! Transactions with a parent sample whose assertions run in Java: the transaction has ended, and its user waits
//! until the assertions have checked its sample.

use plan::java_backed::Job;
use plan::plan::ControllerKind;
use plan::result::SampleResult;

use super::{Act, Jobs, Then};
use crate::context::Context;
use crate::ids::UserId;
use crate::time::timing::Timing;
use crate::users::Transaction;

/// A transaction that has ended, with its sample.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) open: Box<Transaction>,
    pub(crate) timing: Timing,
    pub(crate) result: Box<SampleResult>,
}

impl Jobs {
    /// Runs the assertions of a transaction's sample from the given index on. Returns the transaction when all have run,
    /// or `None` if its user waits for one.
    pub(crate) fn check_in_turn(
        &mut self,
        cx: &mut Context<'_>,
        index: UserId,
        mut ended: Ended,
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
                None => check.run(&mut ended.result, &mut cx.env(index, "")),
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
