//! The ends of transactions (complete, left by a sampler, or ended with their user), and the reports of their
//! samples.

use std::fmt::Write;

use plan::plan::{ControllerId, ControllerKind, Plan};
use plan::result::SampleResult;
use stats::{Check, Outcome, Sample};

use crate::ids::UserId;
use crate::java::Ended;
use crate::sample::reporting::Reporting;
use crate::sample::transaction::ChildResult;
use crate::time::timing::Timing;
use crate::users::Transaction;

/// The way in which a transaction with a parent sample ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// All children have run, or the transaction was left.
    Complete,
    /// The transaction was left together with the enclosing transaction, and becomes its sub-result.
    Inside,
    /// The transaction is cut because its user ends.
    Cut,
    /// The transaction does not end, because only a loop inside of it was left.
    GoesOn,
}

impl Reporting<'_, '_> {
    /// Ends a transaction after its last child.
    pub(crate) fn finish_transaction(&mut self, index: UserId, id: ControllerId) {
        if let Some(open) = self.take_open(index, id) {
            let now = self.cx.clock.now();
            if open.parent.is_some() {
                self.report_parent(index, open, now, End::Complete);
            } else {
                self.report(index, open, now, true);
            }
        }
    }

    /// Ends a transaction without a parent sample, because a sampler inside has made its user leave the transaction.
    pub(crate) fn abort_transaction(&mut self, index: UserId, id: ControllerId) {
        if let Some(mut open) = self.take_open(index, id) {
            open.success = self.cx.users.of(index).last_ok;
            open.failure_counted |= !open.success;
            self.report(index, open, self.cx.clock.now(), false);
        }
    }

    /// Ends the transactions in `ended`, innermost first, after a sampler in the controller `from` has made its user
    /// leave them. If a transaction with a parent sample around them stays open, the outermost of these is reported in
    /// its current state. Otherwise the last transaction of `ended` is reported, as in JMeter. Inner transactions
    /// become sub-results.
    pub(crate) fn report_left(
        &mut self,
        index: UserId,
        from: ControllerId,
        ended: &[ControllerId],
    ) {
        let mut outermost = None;
        let mut at = Some(from);
        while let Some(id) = at {
            let open = self.cx.users[index].transactions().iter();
            if open.into_iter().any(|open| open.controller == id && open.parent.is_some()) {
                outermost = Some(id);
            }
            at = self.cx.plan.controllers[id.0 as usize].parent;
        }
        let now = self.cx.clock.now();
        for id in ended {
            let Some(open) = self.take_open(index, *id) else { continue };
            if ended.last() != Some(id) {
                self.report_parent(index, open, now, End::Inside);
            } else if outermost == Some(*id) {
                self.report_parent(index, open, now, End::Complete);
            } else if let Some(unused) = open.parent {
                self.cx.spare_results.push(unused);
            }
        }
        if let Some(id) = outermost
            && let Some(open) = self.take_open(index, id)
        {
            self.report_parent(index, open, now, End::GoesOn);
        }
    }

    /// Ends the transactions with a parent sample around a user's last sampler when the user stops. These transactions
    /// are still reported, as in JMeter.
    pub(crate) fn end_transactions(&mut self, index: UserId) {
        let mut at = self.cx.users[index]
            .last_sampler
            .map(|id| self.cx.plan.samplers[id.0 as usize].controller);
        while let Some(id) = at {
            let open = self.cx.users[index].transactions().iter();
            if open.into_iter().any(|open| open.controller == id && open.parent.is_some())
                && let Some(open) = self.take_open(index, id)
            {
                self.report_parent(index, open, self.cx.clock.now(), End::Cut);
            }
            at = self.cx.plan.controllers[id.0 as usize].parent;
        }
    }

    /// Drops a transaction as if it had never begun.
    pub(crate) fn drop_transaction(&mut self, index: UserId, id: ControllerId) {
        if let Some(unused) = self.take_open(index, id).and_then(|open| open.parent) {
            self.cx.spare_results.push(unused);
        }
    }

    fn take_open(&mut self, index: UserId, id: ControllerId) -> Option<Transaction> {
        let open = &mut self.cx.users[index].extra.as_mut()?.transactions;
        let at = open.iter().position(|open| open.controller == id)?;
        Some(open.remove(at))
    }

    /// Reports a transaction without a parent sample.
    fn report(&mut self, index: UserId, mut open: Transaction, now: i64, complete: bool) {
        let plan = self.cx.plan;
        let controller = &plan.controllers[open.controller.0 as usize];
        let ControllerKind::Transaction(settings) = &controller.kind else { return };
        // Before the first sampler has begun, JMeter has no listeners to report to.
        let Some(last) = self.cx.users[index].last_sampler else { return };
        let mut pause = open.pause;
        if !settings.include_timers && complete {
            pause += now - open.previous_end;
        }
        let timing = Timing {
            start: open.start,
            end: now,
            idle: pause,
            latency: open.latency,
            connect: open.connect,
            lag: open.lag,
            wait: 0,
            sent: open.sent,
            received: open.bytes,
            phases: open.phases,
            classes: Default::default(),
            ..Timing::default()
        };
        let mut result = self.cx.take_result();
        fill_transaction(plan, &open, &timing, &mut result);
        if open.success && complete {
            result.code.push_str("200");
        }
        let passed = ChildResult::of_transaction(open.success, open.failure_counted);
        (result.start_ms, result.thread) = (open.start_ms, open.thread);
        if !self.cx.is_silent(index) {
            let listeners = &plan.samplers[last.0 as usize].listeners;
            self.record_transaction(&timing, passed, open.cut, &result);
            self.deliver_transaction(index, listeners, open.seen, &mut result);
        }
        self.cx.give_result(result);
        if let Some(label) = open.label.take() {
            self.cx.texts.give(label);
        }
    }

    /// Reports a transaction with a parent sample.
    fn report_parent(&mut self, index: UserId, mut open: Transaction, now: i64, how: End) {
        let plan = self.cx.plan;
        let controller = &plan.controllers[open.controller.0 as usize];
        let ControllerKind::Transaction(settings) = &controller.kind else { return };
        let Some(mut result) = open.parent.take() else { return };
        // If timers count, JMeter ends such a transaction with its last child, otherwise when the user leaves it.
        let end = if settings.include_timers { open.previous_end.max(open.start) } else { now };
        let idle = if settings.include_timers {
            0
        } else {
            (now - open.start).max(0).saturating_sub_unsigned(open.total)
        };
        let timing = Timing {
            start: open.start,
            end,
            idle,
            latency: 0,
            connect: open.connect,
            lag: open.lag,
            wait: 0,
            sent: open.sent,
            received: open.bytes,
            phases: open.phases,
            classes: Default::default(),
            ..Timing::default()
        };
        result.start_ms = open.start_ms;
        fill_transaction(plan, &open, &timing, &mut result);
        if matches!(how, End::Cut | End::GoesOn) {
            // A transaction that has not ended has no verdict.
            result.message.clear();
        } else if open.success {
            result.code.clear();
            result.code.push_str("200");
        }
        if how == End::Complete && settings.checks.iter().any(|check| check.job().is_some()) {
            return self.check_in_turn(index, Ended { open: Box::new(open), timing, result }, 0);
        }
        let mut success = open.success;
        if !settings.checks.is_empty() && how != End::Inside {
            let mut env = self.cx.env(index, "");
            // Assertions in Java run only on complete transactions.
            for check in settings.checks.iter().filter(|check| check.job().is_none()) {
                check.run(&mut result, &mut env);
            }
            success = result.success;
        }
        result.deep = how == End::Inside;
        self.report_checked(index, &open, how, &timing, success, &mut result);
        if how == End::GoesOn {
            (open.parent, open.reported) = (Some(result), true);
            self.cx.users[index].extra().transactions.push(open);
        } else {
            self.cx.give_result(result);
            if let Some(label) = open.label.take() {
                self.cx.texts.give(label);
            }
        }
    }

    /// Runs the assertions on a transaction's sample from an index on, and then reports the sample. The user waits for
    /// assertions in Java.
    pub(crate) fn check_in_turn(&mut self, index: UserId, mut ended: Ended, from: usize) {
        let plan = self.cx.plan;
        let controller = &plan.controllers[ended.open.controller.0 as usize];
        let ControllerKind::Transaction(settings) = &controller.kind else { return };
        for (at, check) in settings.checks.iter().enumerate().skip(from) {
            match check.job() {
                None => check.run(&mut ended.result, &mut self.cx.env(index, "")),
                Some(job) => {
                    return self.jobs.check_transaction(self.cx, index, ended, job, at + 1);
                }
            }
        }
        self.report_complete(index, ended);
    }

    /// Reports a complete transaction after its assertions.
    pub(crate) fn report_complete(&mut self, index: UserId, ended: Ended) {
        let Ended { open, timing, mut result } = ended;
        let success = result.success;
        self.report_checked(index, &open, End::Complete, &timing, success, &mut result);
        self.cx.give_result(result);
    }

    /// Reports the sample of a transaction after its assertions.
    fn report_checked(
        &mut self,
        index: UserId,
        open: &Transaction,
        how: End,
        timing: &Timing,
        success: bool,
        result: &mut SampleResult,
    ) {
        let plan = self.cx.plan;
        let controller = &plan.controllers[open.controller.0 as usize];
        let ControllerKind::Transaction(settings) = &controller.kind else { return };
        self.cx.set_last_ok(index, success);
        let around = controller.parent.and_then(|around| self.parent_around(index, around));
        let passed = ChildResult::of_transaction(success, open.failure_counted);
        if let Some(around) = around.filter(|_| how != End::GoesOn) {
            self.nest(index, around, timing, passed, result);
        } else if self.cx.is_silent(index) {
            self.show_to_branches(index, timing, success, result);
        } else if !open.reported {
            self.record_transaction(timing, passed, open.cut, result);
            self.deliver_transaction(index, &settings.listeners, true, result);
            // Transactions directly inside count this sample, as listeners would. They are still open when their
            // user stops.
            self.add_below(index, open.controller, timing, success, None, Some(result));
        }
    }

    /// Counts the sample of a transaction in the statistics. A transaction with a failed request inside has the outcome
    /// [`Outcome::Status`]; one that failed by its own assertions alone has [`Outcome::Assertion`]. `cut` is true if
    /// the end of the run has cut it.
    fn record_transaction(
        &mut self,
        timing: &Timing,
        passed: ChildResult,
        cut: bool,
        result: &SampleResult,
    ) {
        let success = passed == ChildResult::Success;
        let label = self.cx.recorder.intern(&result.label);
        let sample = Sample {
            outcome: match passed {
                _ if cut => Outcome::CutByEnd,
                ChildResult::Success => Outcome::Ok,
                ChildResult::Failure => Outcome::Status,
                ChildResult::OwnFailure => Outcome::Assertion,
            },
            check: own_check(result),
            success,
            elapsed: timing.elapsed(),
            latency: timing.latency,
            connect: timing.connect,
            lag: timing.lag.min(timing.elapsed()),
            idle: timing.idle,
            sent: timing.sent,
            received: timing.received,
            errors: u32::from(!success),
            transaction: true,
            phases: timing.phases,
            ..Sample::new(label, self.cx.clock.run_ms(timing.start))
        };
        self.cx.recorder.record(&sample);
    }
}

/// Returns the result of the assertions on a transaction itself. Assertions on the transaction's requests are
/// counted with the requests.
fn own_check(result: &SampleResult) -> Check {
    match result.assertions() {
        [] => Check::Unchecked,
        found if found.iter().any(|one| one.failure || one.error) => Check::Unexpected,
        _ => Check::Expected,
    }
}

/// Fills the sample of a transaction: its name, message, status, and measurements.
fn fill_transaction(plan: &Plan, open: &Transaction, timing: &Timing, result: &mut SampleResult) {
    let name = &plan.controllers[open.controller.0 as usize].name;
    result.label.clear();
    result.label.push_str(open.label.as_deref().or(name.fixed()).unwrap_or_default());
    result.message.clear();
    let _ = write!(
        result.message,
        "Number of samples in transaction : {}, number of failing samples : {}",
        open.calls, open.failing
    );
    result.success = open.success;
    result.count = 1;
    result.errors = u32::from(!open.success);
    (result.elapsed, result.latency, result.connect) =
        (timing.elapsed(), timing.latency, timing.connect);
    (result.idle, result.bytes, result.sent) = (timing.idle, timing.received, timing.sent);
}
