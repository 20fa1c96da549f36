//! Simple Controller: runs its children once. Module, Include and Recording Controllers act the same, because the
//! compiled plan already holds their children. Other kinds use this behaviour at stages where they define none.

use crate::flow::search::Pull;
use crate::flow::visit::Visit;
use crate::users::controllers::ControllerState;

/// Returns true if the controller reads its expressions now: before the first child.
pub(crate) fn reads_texts(visit: &mut Visit<'_, '_>, at_end: bool) -> bool {
    !at_end && visit.is_first()
}

/// Moves on to the next child.
#[inline]
pub(crate) fn move_on(visit: &mut Visit<'_, '_>) {
    let mut state = visit.state();
    let next = state.current().saturating_add(1);
    state.set_current(next);
}

/// Ends the iteration after all children have been asked.
pub(crate) fn after_children(visit: &mut Visit<'_, '_>) -> Option<Pull> {
    visit.end_iteration();
    Some(Pull::Nothing)
}

/// Ends the iteration: the next iteration begins with the first child.
pub(crate) fn end_iteration(state: &mut ControllerState<'_>) {
    state.set_current(0);
}

/// Restarts the controller, because its parent begins an iteration.
pub(crate) fn parent_begins(visit: &mut Visit<'_, '_>) {
    visit.end_iteration();
    visit.forget_count();
}
