//! Runtime Controller: children for so many seconds, from the first time that it is asked.

use plan::template::Template;

use crate::flow::kinds::Counting;
use crate::flow::search::Pull;
use crate::flow::visit::Visit;
use crate::time::clock::{Nanos, SECOND};
use crate::users::controllers::{BROKEN, ControllerState};

pub(crate) const COUNTING: Counting = Counting { from_one: true, is_loop: false, is_kept: true };

/// It reads them each time.
pub(crate) fn reads_texts() -> bool {
    true
}

/// Compares the time before each child.
pub(crate) fn before(visit: &mut Visit<'_, '_>, seconds: &Template) -> Option<Pull> {
    if !is_over(visit, seconds) {
        return None;
    }
    visit.end_iteration();
    visit.forget_count();
    Some(Pull::Nothing)
}

/// Compares the time behind the last child.
pub(crate) fn behind(visit: &mut Visit<'_, '_>, seconds: &Template) -> Option<Pull> {
    visit.end_iteration();
    if !is_over(visit, seconds) {
        return None;
    }
    visit.state().clear(BROKEN);
    visit.forget_count();
    Some(Pull::Nothing)
}

pub(crate) fn is_done(visit: &mut Visit<'_, '_>, seconds: &Template, done: bool) -> bool {
    done || most(visit, seconds) <= 0 || visit.is_empty()
}

pub(crate) fn forget_count(state: &mut ControllerState<'_>) {
    state.set_count(0);
    forget(state);
}

/// Whether its time is over; it begins with the first question.
fn is_over(visit: &mut Visit<'_, '_>, seconds: &Template) -> bool {
    let now = visit.cx.clock.now();
    let run = seconds_run(&mut visit.state(), now);
    run >= most(visit, seconds)
}

/// How many seconds it is to run.
fn most(visit: &mut Visit<'_, '_>, text: &Template) -> i64 {
    let seconds = text.parsed(&mut visit.env(), |text| text.parse().unwrap_or(0));
    visit.cx.forgive_number();
    seconds
}

/// Whole seconds that it has run; its time begins with the first call.
fn seconds_run(state: &mut ControllerState<'_>, now: Nanos) -> i64 {
    // All zeros is a time that has not begun.
    let now = now.max(1);
    let slots = state.more();
    let mut start = i64::from(slots[0]) | i64::from(slots[1]) << 32;
    if start == 0 {
        start = now;
        (slots[0], slots[1]) = (now as u32, (now >> 32) as u32);
    }
    (now - start) / SECOND
}

/// Its time begins anew with the next question.
fn forget(state: &mut ControllerState<'_>) {
    state.more()[..2].fill(0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_begins_with_the_first_question() {
        let mut slots = [0; 5];
        let mut state = ControllerState(&mut slots);
        assert_eq!(seconds_run(&mut state, 9 * SECOND), 0);
        assert_eq!(seconds_run(&mut state, 11 * SECOND), 2);
        forget(&mut state);
        assert_eq!(seconds_run(&mut state, 12 * SECOND), 0);
    }
}
