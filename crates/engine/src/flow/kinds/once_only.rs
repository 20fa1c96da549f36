//! Once Only Controller: runs its children in the first iteration of its parent controller.

use crate::flow::search::Pull;
use crate::flow::visit::Visit;

/// Returns no further sampler: the controller stays ended until its parent begins a first iteration.
pub(crate) fn after_children() -> Option<Pull> {
    Some(Pull::Nothing)
}

/// Restarts if the parent controller begins its first iteration.
pub(crate) fn parent_begins(visit: &mut Visit<'_, '_>, iteration: i32, is_loop: bool) {
    if iteration == i32::from(is_loop) {
        visit.end_iteration();
    }
}
