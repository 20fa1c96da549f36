//! Interleave and Random Controllers: run one child per iteration, in sequence or at random.
//!
//! The controller state keeps the child with which the iteration began.

use plan::plan::Interleave;

use crate::flow::kinds::simple;
use crate::flow::search::Pull;
use crate::flow::visit::Visit;
use crate::users::controllers::{ControllerState, GAVE, MOVED, SKIP};

/// Number of consecutive searches without a sampler after which the controller ends its user, because the search would
/// be endless. In JMeter, the thread ends with a stack overflow.
const IN_VAIN: u32 = 500;

/// Ends the iteration if the last returned sampler was the last of the iteration.
pub(crate) fn before(visit: &mut Visit<'_, '_>) -> Option<Pull> {
    if !visit.state().is(SKIP) {
        return None;
    }
    visit.end_iteration();
    Some(Pull::Nothing)
}

/// Ends the iteration when the controller returns to the child with which it began.
pub(crate) fn before_child(visit: &mut Visit<'_, '_>, at: u32) -> Option<Pull> {
    let mut state = visit.state();
    let begun_with = &mut state.more()[0];
    if *begun_with == 0 {
        *begun_with = at + 1;
    } else if *begun_with == at + 1 && state.is(MOVED) {
        visit.end_iteration();
        return Some(Pull::Nothing);
    }
    None
}

/// Moves on from the child of this iteration, a sampler. The iteration ends after this sampler.
pub(crate) fn gives_sampler(visit: &mut Visit<'_, '_>, settings: &Interleave) {
    visit.state().set(SKIP);
    move_on(visit, settings);
}

/// Stores that the child of this iteration, a controller, has returned a sampler. Unless child controllers run as a
/// whole, moves on, and the iteration ends after this sampler.
pub(crate) fn child_gave(visit: &mut Visit<'_, '_>, settings: &Interleave) {
    let mut state = visit.state();
    state.set(GAVE);
    if settings.whole_controllers {
        state.more()[0] = 0;
    } else {
        move_on(visit, settings);
        visit.state().set(SKIP);
    }
}

/// Moves on from the child of this iteration, a controller that has no further sampler, if child controllers run as a
/// whole.
pub(crate) fn child_ended(visit: &mut Visit<'_, '_>, settings: &Interleave) {
    if settings.whole_controllers {
        move_on(visit, settings);
    }
}

/// Continues with the first child, or with a random child.
pub(crate) fn after_children(visit: &mut Visit<'_, '_>, settings: &Interleave) -> Option<Pull> {
    choose_first(visit, settings);
    None
}

pub(crate) fn is_stuck(turn: u32) -> bool {
    turn > IN_VAIN
}

/// Chooses the first child by the user's number, if each user begins with a different child. Returns false if the
/// user must end.
pub(crate) fn has_begun(visit: &mut Visit<'_, '_>, settings: &Interleave) -> bool {
    if settings.random {
        choose_first(visit, settings);
    }
    if settings.across_users {
        let number = visit.cx.users[visit.index].number as usize;
        // JMeter divides by zero here, and its thread ends with the exception.
        let Some(first) = number.checked_rem(visit.count_left()) else { return false };
        let at = visit.nth_left(first);
        visit.state().set_current(at);
    }
    true
}

/// Ends the iteration. The next iteration continues with the current child.
pub(crate) fn end_iteration(state: &mut ControllerState<'_>) {
    state.clear(GAVE | MOVED | SKIP);
    state.more()[0] = 0;
}

fn move_on(visit: &mut Visit<'_, '_>, settings: &Interleave) {
    let mut state = visit.state();
    let gave = state.is(GAVE);
    state.set(if gave { MOVED | SKIP } else { MOVED });
    simple::move_on(visit);
    if settings.random {
        choose_first(visit, settings);
    }
}

/// Moves to the first child; in a Random Controller, to a random child.
fn choose_first(visit: &mut Visit<'_, '_>, settings: &Interleave) {
    let mut at = 0;
    if settings.random {
        let left = visit.count_left();
        let drawn = if left == 0 { 0 } else { visit.cx.random.below(left as u64) };
        at = visit.nth_left(drawn as usize);
    }
    visit.state().set_current(at);
}
