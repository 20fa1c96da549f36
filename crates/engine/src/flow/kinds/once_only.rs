//! Once Only Controller: its children in the first iteration of the controller around it.

use crate::flow::search::Pull;
use crate::flow::visit::Visit;

/// It stays behind its last child until it is told to begin anew.
pub(crate) fn behind() -> Option<Pull> {
    Some(Pull::Nothing)
}

/// The controller around it begins an iteration: with the first, so does it.
pub(crate) fn around_begins(visit: &mut Visit<'_, '_>, iteration: i32, is_loop: bool) {
    if iteration == i32::from(is_loop) {
        visit.end_iteration();
    }
}
