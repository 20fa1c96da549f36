//! Throughput Controller: a share of the iterations around it, or so many.
//! The plan's element decides; the state has the counts.

use plan::element::Ran;

use crate::users::controllers::{ControllerState, RUNS};

/// Counts of the user.
pub(crate) fn ran(state: &mut ControllerState<'_>) -> Ran {
    let slots = state.more();
    Ran { executions: slots[0], iterations: slots[1] }
}

/// Notes a decision for an iteration of the controller around it.
pub(crate) fn decided(state: &mut ControllerState<'_>, ran: Ran, runs: bool) {
    state.more()[..2].copy_from_slice(&[ran.executions, ran.iterations]);
    state.clear(RUNS);
    if runs {
        state.set(RUNS);
    }
}
