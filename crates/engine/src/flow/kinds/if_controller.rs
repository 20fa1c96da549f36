//! If Controller: runs its children if a condition is true.

use plan::condition::Condition;

use crate::flow::search::Pull;
use crate::flow::visit::Visit;

pub(crate) fn reads_texts(visit: &mut Visit<'_, '_>, evaluate_all: bool, at_end: bool) -> bool {
    !at_end && (visit.is_first() || evaluate_all)
}

/// Evaluates the condition before the first child, or before each child.
pub(crate) fn before(
    visit: &mut Visit<'_, '_>,
    condition: &Condition,
    evaluate_all: bool,
) -> Option<Pull> {
    let asks = visit.is_first() || evaluate_all;
    if !asks || condition.holds(&mut visit.env()) {
        return None;
    }
    if !visit.begin_children() {
        return Some(Pull::Ends);
    }
    visit.end_iteration();
    Some(Pull::Nothing)
}

/// Returns false: the controller is never done permanently, because its condition may be true later.
pub(crate) fn is_done() -> bool {
    false
}

/// Restarts the controller's children after a sampler inside has left it.
pub(crate) fn is_left(visit: &mut Visit<'_, '_>) {
    visit.begin_children();
    visit.end_iteration();
}
