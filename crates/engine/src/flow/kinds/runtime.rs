//! Runtime Controller: runs its children for a number of seconds after it is first asked for a sampler.

use plan::template::Template;

use crate::flow::kinds::Counting;
use crate::flow::search::Pull;
use crate::flow::visit::Visit;
use crate::time::clock::{Nanos, SECOND};
use crate::users::controllers::{BROKEN, ControllerState};

pub(crate) const COUNTING: Counting = Counting { from_one: true, is_loop: false, is_kept: true };

/// Returns true: the controller evaluates its duration each time.
pub(crate) fn reads_texts() -> bool {
    true
}

/// Ends the controller before a child if its time is over.
pub(crate) fn before(visit: &mut Visit<'_, '_>, seconds: &Template) -> Option<Pull> {
    if !is_over(visit, seconds) {
        return None;
    }
    visit.end_iteration();
    visit.forget_count();
    Some(Pull::Nothing)
}

/// Ends an iteration, and the controller if its time is over.
pub(crate) fn after_children(visit: &mut Visit<'_, '_>, seconds: &Template) -> Option<Pull> {
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

/// Returns true if the controller's time is over. The time starts at the first call of this function.
fn is_over(visit: &mut Visit<'_, '_>, seconds: &Template) -> bool {
    let now = visit.cx.clock.now();
    let run = seconds_run(&mut visit.state(), now);
    run >= most(visit, seconds)
}

/// Returns the duration of the controller in seconds.
fn most(visit: &mut Visit<'_, '_>, text: &Template) -> i64 {
    let seconds = text.parsed(&mut visit.env(), |text| text.parse().unwrap_or(0));
    visit.cx.clear_number_error();
    seconds
}

/// Returns the whole seconds for which the controller has run. The time starts at the first call of this function.
fn seconds_run(state: &mut ControllerState<'_>, now: Nanos) -> i64 {
    // The value 0 means that the time has not started.
    let now = now.max(1);
    let slots = state.more();
    let mut start = i64::from(slots[0]) | i64::from(slots[1]) << 32;
    if start == 0 {
        start = now;
        (slots[0], slots[1]) = (now as u32, (now >> 32) as u32);
    }
    (now - start) / SECOND
}

/// Resets the controller's time. The time starts again at the next call of [`seconds_run`].
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
