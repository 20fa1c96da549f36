//! Loop Controller, and the main loop of a group: runs its children a number of times.
//!
//! The controller state keeps the evaluated number of iterations.

use plan::plan::LoopCount;
use plan::template::Template;

use crate::flow::kinds::Counting;
use crate::flow::search::Pull;
use crate::flow::visit::Visit;
use crate::users::controllers::{BROKEN, ControllerState};

pub(crate) const COUNTING: Counting = Counting { from_one: true, is_loop: true, is_kept: true };

/// Returns true if the loop evaluates its count now: once for all iterations, but before each iteration if the
/// count is 0 or infinite.
pub(crate) fn reads_texts(state: &mut ControllerState<'_>) -> bool {
    matches!(state.more()[0] as i32, -1 | 0)
}

/// Ends the loop if it has completed its number of iterations.
pub(crate) fn before(visit: &mut Visit<'_, '_>, count: &LoopCount, once: bool) -> Option<Pull> {
    if !is_over(visit, count) {
        return None;
    }
    if once {
        visit.end_for_good();
    }
    visit.state().clear(BROKEN);
    Some(Pull::Nothing)
}

/// Ends an iteration, and the loop if that was its last iteration.
pub(crate) fn after_children(
    visit: &mut Visit<'_, '_>,
    count: &LoopCount,
    once: bool,
) -> Option<Pull> {
    visit.end_iteration();
    if !is_over(visit, count) {
        return None;
    }
    if once {
        visit.end_for_good();
    } else {
        visit.forget_count();
    }
    Some(Pull::Nothing)
}

pub(crate) fn forget_count(state: &mut ControllerState<'_>) {
    state.set_count(0);
    state.more()[0] = 0;
}

pub(crate) fn end_for_good(state: &mut ControllerState<'_>) {
    state.clear(BROKEN);
    state.more()[0] = 0;
}

/// Returns true if the loop has completed its number of iterations. The number is evaluated once, but before each
/// iteration if it is 0 or infinite.
#[inline]
fn is_over(visit: &mut Visit<'_, '_>, count: &LoopCount) -> bool {
    if visit.state().is(BROKEN) {
        return true;
    }
    if let Some(given) = visit.given_loops() {
        return given > -1 && visit.state().count() >= given;
    }
    let (LoopCount::Count(text) | LoopCount::Limit(text)) = count else { return false };
    let most = most(visit, count, text);
    most > -1 && visit.state().count() >= most
}

/// Returns true if the current iteration is not the last.
pub(crate) fn has_next(visit: &mut Visit<'_, '_>) -> bool {
    let given = visit.given_loops();
    let mut state = visit.state();
    // The count was evaluated at the start of the iteration.
    let most = given.unwrap_or(state.more()[0] as i32);
    !state.is(BROKEN) && (most < 0 || state.count().saturating_add(1) < most)
}

/// Returns the number of iterations; a negative number means infinite.
fn most(visit: &mut Visit<'_, '_>, count: &LoopCount, text: &Template) -> i32 {
    let mut most = visit.state().more()[0] as i32;
    if matches!(most, -1 | 0) {
        most = match count {
            LoopCount::Limit(_) => {
                let most = i32::try_from(visit.cx.number(visit.index, text, 0)).unwrap_or(0);
                if most < 1 { -1 } else { most }
            }
            _ => text.int(&mut visit.env()),
        };
        visit.cx.clear_number_error();
        visit.state().more()[0] = most as u32;
    }
    most
}
