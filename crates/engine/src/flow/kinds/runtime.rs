//! Runtime Controller: children for so many seconds, from the first look at its time.

use crate::time::clock::{Nanos, SECOND};
use crate::users::controllers::ControllerState;

/// Whole seconds that it has run; its time begins with the first call.
pub(crate) fn seconds_run(state: &mut ControllerState<'_>, now: Nanos) -> i64 {
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

/// Its time begins anew with the next look.
pub(crate) fn forget(state: &mut ControllerState<'_>) {
    state.more()[..2].fill(0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_begins_with_the_first_look() {
        let mut slots = [0; 5];
        let mut state = ControllerState(&mut slots);
        assert_eq!(seconds_run(&mut state, 9 * SECOND), 0);
        assert_eq!(seconds_run(&mut state, 11 * SECOND), 2);
        forget(&mut state);
        assert_eq!(seconds_run(&mut state, 12 * SECOND), 0);
    }
}
