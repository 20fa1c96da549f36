//! The controller around one child of a bzm Parallel Controller: that child once. What runs it is in [`parallel`](super::parallel).

use crate::flow::search::Pull;
use crate::flow::visit::Visit;
use crate::users::LoopControl;

/// Its child has run.
pub(crate) fn behind(visit: &mut Visit<'_, '_>) -> Option<Pull> {
    visit.end_for_good();
    Some(Pull::Nothing)
}

/// A sampler in it asks for what leads out of it: the branch ends, and its user may have to go on elsewhere.
pub(crate) fn leaves(visit: &mut Visit<'_, '_>, how: LoopControl) {
    visit.end_for_good();
    let parent = visit.cx.users[visit.index].branch_of;
    if how == LoopControl::NextIteration
        && let Some(branches) = visit.cx.branches_mut(parent)
    {
        branches.ends_iteration = true;
    }
}
