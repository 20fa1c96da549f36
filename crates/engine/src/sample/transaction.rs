//! Transaction Controllers: several samples are measured as one.
//!
//! There are two modes, as in JMeter. Without a parent sample, children are reported as they end, and the transaction's
//! own sample follows with their sums. With a parent sample, children become its sub-results, and only the parent
//! sample is reported.

mod ending;

use plan::plan::{
    ControllerId, ControllerKind, Needs, Plan, Sampler, SamplerId, Transaction as Settings,
};
use plan::result::SampleResult;
use stats::Phases;

use crate::ids::UserId;
use crate::sample::branches::move_into;
use crate::sample::record::Part;
use crate::sample::reporting::Reporting;
use crate::time::timing::Timing;
use crate::users::Transaction;

/// Result of a sample that becomes a sub-result of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChildResult {
    Success,
    /// A request failed, or a transaction with a failed request.
    Failure,
    /// A transaction failed by its own assertions. As a sub-result it is in no statistics itself.
    OwnFailure,
}

impl ChildResult {
    /// Returns the result of a request.
    pub(crate) fn of_request(success: bool) -> Self {
        if success { Self::Success } else { Self::Failure }
    }

    /// Returns the result of a transaction after its assertions. `counted` is true if a failure inside is counted by
    /// itself.
    fn of_transaction(success: bool, counted: bool) -> Self {
        match success {
            true => Self::Success,
            false if counted => Self::Failure,
            false => Self::OwnFailure,
        }
    }
}

/// Returns true if a transaction counts the samples of the controller `inside`. Like a listener, a transaction counts
/// samples inside its own controller and samples of that controller's siblings.
fn is_around(plan: &Plan, transaction: ControllerId, inside: ControllerId) -> bool {
    let around = plan.controllers[transaction.0 as usize].parent;
    let mut at = Some(inside);
    while at.is_some() && at != around {
        at = at.and_then(|id| plan.controllers[id.0 as usize].parent);
    }
    at == around
}

impl<'p> Reporting<'_, 'p> {
    pub(crate) fn begin_transaction(
        &mut self,
        index: UserId,
        id: ControllerId,
        settings: &Settings,
    ) {
        let start = self.cx.clock.now();
        let plan = self.cx.plan;
        let name = &plan.controllers[id.0 as usize].name;
        // JMeter evaluates the transaction's name at its start.
        let label = name.fixed().is_none().then(|| {
            let mut label = self.cx.texts.take();
            name.eval(&mut self.cx.env(index, ""), &mut label);
            label
        });
        let parent = settings.parent.then(|| {
            let mut result = self.cx.take_result();
            result.start_ms = self.cx.clock.wall_ms(start);
            result
        });
        let transaction = Transaction {
            controller: id,
            label,
            start,
            start_ms: self.cx.clock.wall_ms(start),
            previous_end: start,
            pause: 0,
            calls: 0,
            failing: 0,
            success: true,
            failure_counted: false,
            bytes: 0,
            sent: 0,
            latency: 0,
            connect: 0,
            lag: 0,
            phases: Phases::default(),
            seen: false,
            cut: false,
            reported: false,
            total: 0,
            thread: None,
            parent,
        };
        let open = &mut self.cx.users[index].extra().transactions;
        open.retain(|open| open.controller != id);
        open.push(transaction);
    }

    /// Marks the open transactions as cut by the end of the run or of the group. Cut transactions have no regular end,
    /// and are in no statistics.
    pub(crate) fn cut_transactions(&mut self, index: UserId) {
        for open in self.cx.users[index].transactions() {
            open.cut = true;
        }
        if self.cx.users[index].parallel {
            self.cut_transactions(self.cx.users[index].branch_of);
        }
    }

    /// Adds to the number of samples that a transaction's message states.
    pub(crate) fn count_calls(&mut self, index: UserId, id: ControllerId, calls: u32) {
        let open = self.cx.users[index].transactions().iter_mut();
        open.filter(|open| open.controller == id).for_each(|open| open.calls += calls);
    }

    /// Returns the innermost transaction with a parent sample around a controller, as its index among the open
    /// transactions.
    pub(crate) fn parent_around(&self, index: UserId, inside: ControllerId) -> Option<usize> {
        let open = &self.cx.users[index].extra.as_ref()?.transactions;
        if open.iter().all(|open| open.parent.is_none()) {
            return None;
        }
        let mut at = Some(inside);
        while let Some(id) = at {
            let found = open.iter().position(|open| open.controller == id && open.parent.is_some());
            if found.is_some() {
                return found;
            }
            at = self.cx.plan.controllers[id.0 as usize].parent;
        }
        None
    }

    /// Returns the listeners of the transaction with a parent sample around a controller. These listeners receive the
    /// parent sample instead of the sub-results.
    pub(crate) fn transaction_listeners(
        &self,
        index: UserId,
        inside: ControllerId,
    ) -> Option<&'p [plan::plan::ListenerId]> {
        let at = self.parent_around(index, inside)?;
        let open = self.cx.users[index].extra.as_ref()?.transactions.get(at)?.controller;
        let plan = self.cx.plan;
        match &plan.controllers[open.0 as usize].kind {
            ControllerKind::Transaction(settings) => Some(&settings.listeners),
            _ => None,
        }
    }

    /// Adds a reported sample to the sums of open transactions that count it: transactions around it, and
    /// transactions that are siblings of its controllers.
    pub(crate) fn add_to_transactions(
        &mut self,
        index: UserId,
        id: SamplerId,
        timing: &Timing,
        success: bool,
        result: Option<&SampleResult>,
    ) {
        let user = &self.cx.users[index];
        // The transactions of a branch may belong to other branches too.
        if user.extra.is_some() || user.parallel {
            let inside = self.cx.plan.samplers[id.0 as usize].controller;
            self.add_below(index, inside, timing, success, None, result);
        }
    }

    /// Adds a sub-result of a parent sample to the sums of other open transactions. JMeter's parent sample excludes
    /// transactions that are directly inside it. Transactions further inside count the sample.
    pub(crate) fn add_inside_parent(
        &mut self,
        index: UserId,
        id: SamplerId,
        around: usize,
        timing: &Timing,
        success: bool,
        result: Option<&SampleResult>,
    ) {
        let open = &self.cx.users[index].extra().transactions;
        if open.len() > 1 {
            let parent = open[around].controller;
            let inside = self.cx.plan.samplers[id.0 as usize].controller;
            self.add_below(index, inside, timing, success, Some(parent), result);
        }
    }

    pub(super) fn add_below(
        &mut self,
        index: UserId,
        inside: ControllerId,
        timing: &Timing,
        success: bool,
        parent: Option<ControllerId>,
        result: Option<&SampleResult>,
    ) {
        let plan = self.cx.plan;
        let around = |id: ControllerId| plan.controllers[id.0 as usize].parent;
        // Transactions around a Parallel Controller count the samples of its branches too.
        if self.cx.users[index].parallel {
            let around = self.cx.users[index].branch_of;
            self.add_below(around, inside, timing, success, parent, result);
        }
        for open in self.cx.users[index].transactions() {
            let ControllerKind::Transaction(settings) =
                &plan.controllers[open.controller.0 as usize].kind
            else {
                continue;
            };
            if open.parent.is_some() || !is_around(plan, open.controller, inside) {
                continue;
            }
            let mut above = around(open.controller).and_then(around);
            while parent.is_some() && above.is_some() && above != parent {
                above = above.and_then(around);
            }
            // This transaction is directly inside the parent, or outside of it.
            if parent.is_some() && (around(open.controller) == parent || above.is_none()) {
                continue;
            }
            open.seen = true;
            open.bytes += timing.received;
            open.sent += timing.sent;
            open.latency += timing.latency;
            open.connect += timing.connect;
            open.lag += timing.lag;
            open.phases.add(&timing.all_phases());
            match result {
                Some(result) => open.thread.clone_from(&result.thread),
                None => open.thread = None,
            }
            if !settings.include_timers {
                open.pause += timing.end - timing.elapsed() as i64 - open.previous_end;
                open.previous_end = timing.end;
            }
            if !success {
                (open.success, open.failure_counted) = (false, true);
                open.failing += 1;
            }
        }
    }

    /// Writes a sub-result of a transaction for listeners that do not receive the transaction's sample.
    pub(crate) fn write_part(
        &mut self,
        index: UserId,
        sampler: &Sampler,
        result: &mut SampleResult,
    ) {
        let heard = self.transaction_listeners(index, sampler.controller).unwrap_or_default();
        if !sampler.listeners.iter().all(|id| heard.contains(id)) {
            let rest = sampler.listeners.iter().filter(|id| !heard.contains(id));
            let rest: Vec<_> = rest.copied().collect();
            self.write_rows(index, &rest, Part::Listeners, true, result);
        }
    }

    /// Moves a result into a transaction with a parent sample.
    pub(crate) fn nest(
        &mut self,
        index: UserId,
        around: usize,
        timing: &Timing,
        passed: ChildResult,
        child: &mut SampleResult,
    ) {
        let bodies = self.sinks.rows.with_bodies() || self.reads_parts(index, around);
        let Some(open) = self.cx.users[index].transactions().get_mut(around) else { return };
        let Some(parent) = open.parent.as_mut() else { return };
        if open.failing == 0 {
            parent.code.clone_from(&child.code);
        }
        if passed != ChildResult::Success {
            open.success = false;
            open.failing += 1;
        }
        open.failure_counted |= passed == ChildResult::Failure;
        parent.headers_size += child.headers_size;
        open.calls += 1;
        open.total += timing.elapsed();
        open.connect += timing.connect;
        open.bytes += timing.received;
        open.sent += timing.sent;
        open.lag += timing.lag;
        open.phases.add(&timing.all_phases());
        open.previous_end = timing.end.max(open.previous_end);
        move_into(child, parent.add_sub(), bodies);
    }

    /// Returns true if assertions of a transaction, or of an enclosing transaction, read the bodies of its
    /// sub-results.
    fn reads_parts(&self, index: UserId, around: usize) -> bool {
        let open =
            self.cx.users[index].extra.as_ref().map(|extra| extra.transactions[around].controller);
        std::iter::successors(open, |id| self.cx.plan.controllers[id.0 as usize].parent).any(|id| {
            matches!(&self.cx.plan.controllers[id.0 as usize].kind, ControllerKind::Transaction(settings)
                if settings.parent && settings.needs.intersects(Needs::BODY | Needs::TEXT))
        })
    }
}
