//! Random Order Controller: runs all children in a random order, which is drawn for each iteration. The
//! controller state keeps the order.

use plan::random::Random;

use crate::flow::visit::Visit;
use crate::users::controllers::ControllerState;

/// Draws the order of the first iteration.
pub(crate) fn has_begun(visit: &mut Visit<'_, '_>) {
    let controller = visit.controller;
    let mut state = ControllerState::of(visit.cx.users.of(visit.index), controller);
    shuffle(&mut state, controller.children.len(), &mut visit.cx.random);
}

/// Ends the iteration, and draws the order of the next iteration.
pub(crate) fn end_iteration(visit: &mut Visit<'_, '_>) {
    visit.state().set_current(0);
    has_begun(visit);
}

/// Draws a random order of the children.
fn shuffle(state: &mut ControllerState<'_>, children: usize, random: &mut Random) {
    let order = state.more();
    for at in 0..children {
        let other = random.below(at as u64 + 1) as usize;
        order[at] = order[other];
        order[other] = at as u32;
    }
}

/// Returns the child at a position of the order.
pub(crate) fn child_at(state: &mut ControllerState<'_>, at: u32) -> u32 {
    state.more()[at as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_child_comes_once() {
        let mut slots = [0; 3 + 5];
        let mut state = ControllerState(&mut slots);
        shuffle(&mut state, 5, &mut Random::new(7));
        let mut order: Vec<_> = (0..5).map(|at| child_at(&mut state, at)).collect();
        order.sort_unstable();
        assert_eq!(order, [0, 1, 2, 3, 4]);
    }
}
