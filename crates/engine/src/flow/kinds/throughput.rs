//! Throughput Controller: runs in a percentage of its parent's iterations, or in a fixed number of them. The plan's
//! element makes the decision; the controller state keeps the counts.

use plan::element::ExecutionCounts;
use plan::plan::ThroughputController;

use crate::flow::search::Pull;
use crate::flow::visit::Visit;
use crate::users::controllers::{ControllerState, RUNS};

pub(crate) fn reads_texts(at_end: bool) -> bool {
    !at_end
}

/// Skips an iteration in which the controller does not run.
pub(crate) fn before(visit: &mut Visit<'_, '_>) -> Option<Pull> {
    if visit.state().is(RUNS) { None } else { Some(Pull::Nothing) }
}

pub(crate) fn is_done(visit: &mut Visit<'_, '_>, throughput: &ThroughputController) -> bool {
    if visit.is_empty() {
        return true;
    }
    let ran = ran(&mut visit.state());
    let at_end = visit.child().is_none();
    throughput.is_done(ran, at_end, &mut visit.env())
}

/// Decides whether the controller runs in the iteration that its parent begins.
pub(crate) fn parent_begins(visit: &mut Visit<'_, '_>, throughput: &ThroughputController) {
    let mut ran = ran(&mut visit.state());
    let runs = throughput.decide(&mut ran, &mut visit.env());
    decided(&mut visit.state(), ran, runs);
}

/// Reads from the controller state how often the children ran, and how many iterations of the parent have started.
fn ran(state: &mut ControllerState<'_>) -> ExecutionCounts {
    let slots = state.more();
    ExecutionCounts { executions: slots[0], iterations: slots[1] }
}

/// Stores the counts, and the decision for the current iteration of the parent controller.
fn decided(state: &mut ControllerState<'_>, ran: ExecutionCounts, runs: bool) {
    state.more()[..2].copy_from_slice(&[ran.executions, ran.iterations]);
    state.clear(RUNS);
    if runs {
        state.set(RUNS);
    }
}
