//! Transaction controllers: several samples measured as one.
//!
//! Two modes, as in JMeter. Without a parent sample, children are reported as they come and the transaction's own
//! sample follows with their sums. With one, children become its sub-results and only it is reported.

use plan::plan::{ControllerId, ControllerKind, SamplerId, Transaction as Settings};
use stats::{Outcome, Sample};
use std::fmt::Write;

use crate::core::{Core, env};
use crate::sample::Timing;
use crate::user::Transaction;
use crate::wheel::Index;

impl Core<'_> {
    pub(crate) fn begin_transaction(
        &mut self,
        index: Index,
        id: ControllerId,
        settings: &Settings,
    ) {
        let start = self.clock.now();
        let parent = settings.parent.then(|| {
            let mut result = self.results.pop().unwrap_or_default();
            result.clear();
            result.start_ms = self.clock.wall_ms(start);
            result
        });
        let transaction = Transaction {
            controller: id,
            start,
            start_ms: self.clock.wall_ms(start),
            previous_end: start,
            pause: 0,
            calls: 0,
            ended_controllers: 0,
            failing: 0,
            success: true,
            bytes: 0,
            sent: 0,
            latency: 0,
            connect: 0,
            lag: 0,
            seen: false,
            total: 0,
            parent,
        };
        self.users[index].extra().transactions.push(transaction);
    }

    /// Counts a sampler's start as JMeter's transaction message does: once per pass through the controller, and once
    /// more for each child controller that ended on the way to it.
    pub(crate) fn count_transaction_call(&mut self, index: Index) {
        for open in self.users[index].transactions() {
            if open.parent.is_none() {
                open.calls += 1 + std::mem::take(&mut open.ended_controllers);
            }
        }
    }

    pub(crate) fn inside_parent_transaction(&mut self, index: Index) -> bool {
        self.users[index].transactions().iter().any(|open| open.parent.is_some())
    }

    /// Adds a reported sample to the sums of the open transactions.
    pub(crate) fn add_to_transactions(&mut self, index: Index, timing: &Timing, success: bool) {
        let plan = self.plan;
        for open in self.users[index].transactions() {
            let ControllerKind::Transaction(settings) =
                &plan.controllers[open.controller.0 as usize].kind
            else {
                continue;
            };
            open.seen = true;
            open.bytes += timing.received;
            open.sent += timing.sent;
            open.latency += timing.latency;
            open.connect += timing.connect;
            open.lag += timing.lag;
            if !settings.include_timers {
                open.pause += (timing.end - timing.elapsed() as i64 - open.previous_end).max(0);
                open.previous_end = timing.end;
            }
            if !success {
                open.success = false;
                open.failing += 1;
            }
        }
    }

    /// Makes the core's result a sub-result of the innermost transaction with a parent sample.
    pub(crate) fn add_to_parent(
        &mut self,
        index: Index,
        id: SamplerId,
        timing: Timing,
        outcome: Outcome,
        success: bool,
    ) {
        if !self.observes(id) {
            // Nobody keeps the parts, but the whole needs the code and the times.
            self.result.clear();
            self.result.start_ms = self.clock.wall_ms(timing.start);
            (self.result.elapsed, self.result.success) = (timing.elapsed(), success);
        }
        let _ = outcome;
        self.nest(index, &timing, success);
    }

    /// Moves the core's result into the innermost open parent transaction.
    fn nest(&mut self, index: Index, timing: &Timing, success: bool) {
        let fresh = self.results.pop().unwrap_or_default();
        let mut child = std::mem::replace(&mut self.result, fresh);
        if !self.rows.with_bodies() {
            // Bodies are of no use to a sub-result; their buffers are, to the next sample.
            std::mem::swap(&mut child.body, &mut self.result.body);
            std::mem::swap(&mut child.text, &mut self.result.text);
        }
        let open =
            self.users[index].transactions().iter_mut().rev().find(|open| open.parent.is_some());
        let Some(open) = open else { return };
        let Some(parent) = open.parent.as_mut() else { return };
        if open.failing == 0 {
            parent.code.clone_from(&child.code);
        }
        if !success {
            open.success = false;
            open.failing += 1;
        }
        parent.headers_size += child.headers_size;
        open.calls += 1;
        open.total += timing.elapsed();
        open.connect += timing.connect;
        open.bytes += timing.received;
        open.sent += timing.sent;
        open.lag += timing.lag;
        open.previous_end = timing.end;
        let slot = parent.add_sub();
        std::mem::swap(slot, &mut child);
        self.results.push(child);
        // What the outcome asks of the user is read from the core's result afterwards.
        let slot = &self.users[index].extra().transactions;
        let request =
            slot.iter().rev().find_map(|open| open.parent.as_ref()).and_then(|p| p.subs().last());
        self.result.request = request.map_or_else(Default::default, |sub| sub.request);
        self.result.success = success;
        self.result.ignore = false;
    }

    /// The normal end of a transaction.
    pub(crate) fn finish_transaction(&mut self, index: Index, id: ControllerId) {
        if let Some(open) = self.pop(index, id) {
            let now = self.clock.now();
            if open.parent.is_some() {
                self.report_parent(index, open, now, true);
                // Its end is one more pass through the transactions around it.
                self.count_transaction_call(index);
            } else {
                self.report(index, open, now, true);
            }
        }
    }

    /// The end of a transaction whose body was left.
    pub(crate) fn abort_transaction(&mut self, index: Index, id: ControllerId) {
        if let Some(mut open) = self.pop(index, id) {
            let now = self.clock.now();
            if open.parent.is_some() {
                self.report_parent(index, open, now, true);
            } else {
                open.success = self.users[index].last_ok;
                self.report(index, open, now, false);
            }
        }
    }

    /// A loop inside a transaction with a parent sample was left: JMeter reports the transaction as it is and goes on
    /// behind it. Returns the outermost such transaction.
    pub(crate) fn cut_parent_transactions(&mut self, index: Index) -> Option<ControllerId> {
        let outermost =
            self.users[index].transactions().iter().find(|open| open.parent.is_some())?.controller;
        while let Some(open) =
            self.users[index].extra.as_mut().and_then(|extra| extra.transactions.pop())
        {
            let last = open.controller == outermost;
            if open.parent.is_some() {
                let now = self.clock.now();
                self.report_parent(index, open, now, false);
            }
            if last {
                break;
            }
        }
        Some(outermost)
    }

    /// A user ends within transactions: those with a parent sample are still reported, as in JMeter.
    pub(crate) fn end_transactions(&mut self, index: Index) {
        while let Some(open) =
            self.users[index].extra.as_mut().and_then(|extra| extra.transactions.pop())
        {
            if open.parent.is_some() {
                let now = self.clock.now();
                self.report_parent(index, open, now, false);
            }
        }
    }

    fn pop(&mut self, index: Index, id: ControllerId) -> Option<Transaction> {
        self.users[index].extra.as_mut()?.transactions.pop_if(|open| open.controller == id)
    }

    /// Reports a transaction without a parent sample.
    fn report(&mut self, index: Index, open: Transaction, now: i64, complete: bool) {
        let plan = self.plan;
        let controller = &plan.controllers[open.controller.0 as usize];
        let ControllerKind::Transaction(settings) = &controller.kind else { return };
        let mut pause = open.pause;
        if !settings.include_timers && complete {
            pause += (now - open.previous_end).max(0);
        }
        let timing = Timing {
            start: open.start,
            end: now,
            idle: pause.max(0) as u64,
            latency: open.latency,
            connect: open.connect,
            lag: open.lag,
            wait: 0,
            sent: open.sent,
            received: open.bytes,
        };
        let saved = self.lend_result();
        self.result.clear();
        self.fill_transaction(
            index,
            open.controller,
            &timing,
            open.calls,
            open.failing,
            open.success,
        );
        if open.success && complete {
            self.result.code.push_str("200");
        }
        self.result.start_ms = open.start_ms;
        let listeners =
            self.users[index].last_sampler.map(|id| &plan.samplers[id.0 as usize].listeners);
        self.publish(
            index,
            &timing,
            open.success,
            listeners.unwrap_or(&settings.listeners),
            open.seen,
        );
        let used = std::mem::replace(&mut self.result, saved);
        self.results.push(used);
    }

    /// Reports a transaction that its children are sub-results of.
    fn report_parent(&mut self, index: Index, mut open: Transaction, now: i64, complete: bool) {
        let plan = self.plan;
        let controller = &plan.controllers[open.controller.0 as usize];
        let ControllerKind::Transaction(settings) = &controller.kind else { return };
        let Some(parent) = open.parent.take() else { return };
        // JMeter ends such a transaction with its last child when timers count, else when it is left.
        let end = if settings.include_timers { open.previous_end.max(open.start) } else { now };
        let idle = if settings.include_timers {
            0
        } else {
            ((now - open.start).max(0) as u64).saturating_sub(open.total)
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
        };
        let saved = std::mem::replace(&mut self.result, parent);
        self.result.start_ms = open.start_ms;
        self.fill_transaction(
            index,
            open.controller,
            &timing,
            open.calls,
            open.failing,
            open.success,
        );
        if !complete {
            // A user that ends within leaves the transaction without a verdict of its own.
            self.result.message.clear();
        } else if open.success {
            self.result.code.clear();
            self.result.code.push_str("200");
        }
        let mut success = open.success;
        if !settings.checks.is_empty() {
            let mut result = self.lend_result();
            let user = &mut self.users[index];
            let mut env = env!(self, user, "");
            for check in &settings.checks {
                check.run(&mut result, &mut env);
            }
            success = result.success;
            self.return_result(result);
        }
        self.set_last_ok(index, success);
        if self.inside_parent_transaction(index) {
            self.nest(index, &timing, success);
        } else {
            self.publish(index, &timing, success, &settings.listeners, true);
        }
        let used = std::mem::replace(&mut self.result, saved);
        self.results.push(used);
    }

    fn fill_transaction(
        &mut self,
        index: Index,
        id: ControllerId,
        timing: &Timing,
        calls: u32,
        failing: u32,
        success: bool,
    ) {
        let plan = self.plan;
        let mut result = self.lend_result();
        result.label.clear();
        let user = &mut self.users[index];
        plan.controllers[id.0 as usize].name.eval(&mut env!(self, user, ""), &mut result.label);
        result.message.clear();
        let _ = write!(
            result.message,
            "Number of samples in transaction : {calls}, number of failing samples : {failing}"
        );
        result.success = success;
        result.count = 1;
        result.errors = u32::from(!success);
        (result.elapsed, result.latency, result.connect) =
            (timing.elapsed(), timing.latency, timing.connect);
        (result.idle, result.bytes, result.sent) = (timing.idle, timing.received, timing.sent);
        self.return_result(result);
    }

    fn publish(
        &mut self,
        index: Index,
        timing: &Timing,
        success: bool,
        listeners: &[plan::plan::ListenerId],
        named: bool,
    ) {
        let label = {
            let label = std::mem::take(&mut self.result.label);
            let id = self.recorder.intern(&label);
            self.result.label = label;
            id
        };
        let sample = Sample {
            outcome: if success { Outcome::Ok } else { Outcome::Status },
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
            ..Sample::new(label, self.clock.wall_ms(timing.start))
        };
        self.recorder.record(&sample);
        self.write_rows(index, listeners, named);
    }
}
