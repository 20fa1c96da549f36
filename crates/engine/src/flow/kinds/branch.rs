//! The controller around one child of a bzm Parallel Controller. It runs the child once. [`parallel`](super::parallel)
//! runs the branch itself.

use crate::flow::search::Pull;
use crate::flow::visit::Visit;
use crate::users::LoopControl;

/// Ends the branch after its child has run.
pub(crate) fn after_children(visit: &mut Visit<'_, '_>) -> Option<Pull> {
    visit.end_for_good();
    Some(Pull::Nothing)
}

/// Ends the branch because a sampler inside has made the user leave it. The user may then have to continue with its
/// next iteration.
pub(crate) fn leaves(visit: &mut Visit<'_, '_>, how: LoopControl) {
    visit.end_for_good();
    let parent = visit.cx.users[visit.index].branch_of;
    if how == LoopControl::NextIteration
        && let Some(branches) = visit.cx.branches_mut(parent)
    {
        branches.ends_iteration = true;
    }
}
