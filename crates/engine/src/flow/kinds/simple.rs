//! Simple Controller: its children once. So do Module, Include and Recording Controllers, whose children the plan has in place, and all kinds
//! where they have nothing else to say.

use crate::flow::search::Pull;
use crate::flow::visit::Visit;
use crate::users::controllers::ControllerState;

/// Texts are looked at with the first child.
pub(crate) fn reads_texts(visit: &mut Visit<'_, '_>, at_end: bool) -> bool {
    !at_end && visit.is_first()
}

/// Goes to the child behind the current one.
#[inline]
pub(crate) fn move_on(visit: &mut Visit<'_, '_>) {
    let mut state = visit.state();
    let next = state.current().saturating_add(1);
    state.set_current(next);
}

/// All children have been asked: the iteration is over.
pub(crate) fn behind(visit: &mut Visit<'_, '_>) -> Option<Pull> {
    visit.end_iteration();
    Some(Pull::Nothing)
}

/// The next iteration begins with the first child.
pub(crate) fn end_iteration(state: &mut ControllerState<'_>) {
    state.set_current(0);
}

/// The controller around it begins an iteration: it begins anew.
pub(crate) fn around_begins(visit: &mut Visit<'_, '_>) {
    visit.end_iteration();
    visit.forget_count();
}
