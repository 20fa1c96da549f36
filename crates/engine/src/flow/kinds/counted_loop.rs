//! Loop Controller, and the main loop of a group: its children so many times.
//!
//! Its state has how often it is to run, once that was asked.

use plan::plan::LoopCount;
use plan::template::Template;

use crate::flow::kinds::Counting;
use crate::flow::search::Pull;
use crate::flow::visit::Visit;
use crate::users::controllers::{BROKEN, ControllerState};

pub(crate) const COUNTING: Counting = Counting { from_one: true, is_loop: true, is_kept: true };

/// It asks once for all iterations, but anew where that is 0 or without end.
pub(crate) fn reads_texts(state: &mut ControllerState<'_>) -> bool {
    matches!(state.more()[0] as i32, -1 | 0)
}

/// Looks whether it has run as often as it should.
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

/// An iteration has ended: is there another?
pub(crate) fn behind(visit: &mut Visit<'_, '_>, count: &LoopCount, once: bool) -> Option<Pull> {
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

/// Whether it has run as often as it should. How often is asked once for all of its iterations, but anew where that is 0 or
/// without end.
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

/// Whether the iteration under way is not the last.
pub(crate) fn has_next(visit: &mut Visit<'_, '_>) -> bool {
    let given = visit.given_loops();
    let mut state = visit.state();
    // How often was asked when the iteration began.
    let most = given.unwrap_or(state.more()[0] as i32);
    !state.is(BROKEN) && (most < 0 || state.count().saturating_add(1) < most)
}

/// How often it is to run; without end below 0.
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
        visit.cx.forgive_number();
        visit.state().more()[0] = most as u32;
    }
    most
}
