//! Weighted Switch Controller: runs one child per iteration, chosen by weight.
//!
//! The plug-in detects the end of an iteration only when it asks the child after the chosen one, and then does not
//! run that child's sampler. Therefore all controllers inside end their iteration, and transactions that this call
//! began are dropped. The other effects of this call, on conditions and counts, are the same as with the plug-in.

use plan::plan::{Child, ControllerId, ControllerKind, WeightedSwitch};

use crate::flow::search::{Pull, Walk};
use crate::flow::visit::Visit;
use crate::users::controllers::CHOSEN;

impl Walk<'_, '_> {
    pub(crate) fn pull_weighted(&mut self, id: ControllerId, switch: &WeightedSwitch) -> Pull {
        // The plug-in asks the next child each time it calls itself, except when it chooses a child.
        let mut asked = 0;
        loop {
            if !self.may_go_on() {
                return Pull::Later;
            }
            let mut visit = self.visit(id);
            if visit.state().is(CHOSEN) {
                asked += 1;
            } else if !choose(&mut visit, switch) {
                return Pull::Ends;
            }
            match self.advance(id) {
                None => {}
                Some(given @ (Pull::Later | Pull::Ends)) => return given,
                Some(mut given) => {
                    for _ in 0..asked {
                        if given == Pull::Nothing || !is_chosen_child(&mut self.visit(id)) {
                            self.reset_weighted(id);
                            given = Pull::Nothing;
                        }
                    }
                    return given;
                }
            }
        }
    }

    fn reset_weighted(&mut self, id: ControllerId) {
        let mut visit = self.visit(id);
        restart_choice(&mut visit);
        for inner in inner(&visit) {
            self.forget_iteration(inner);
        }
    }

    fn forget_iteration(&mut self, id: ControllerId) {
        if let ControllerKind::Transaction(settings) = &self.cx.controller(id).kind {
            return self.forget_transaction(id, settings);
        }
        let visit = self.visit(id);
        for inner in inner(&visit) {
            self.forget_iteration(inner);
        }
        self.visit(id).is_left();
    }
}

/// Chooses the child of a new iteration. Returns false if there is no child that can be chosen.
fn choose(visit: &mut Visit<'_, '_>, switch: &WeightedSwitch) -> bool {
    // A random number from 0 up to 1 with 53 bits, as Java draws it.
    let chance = (visit.cx.random.bits() >> 11) as f64 / (1_u64 << 53) as f64;
    let mut state = visit.state();
    state.set(CHOSEN);
    let mut counted = state.more()[1..].to_vec();
    let [total, counts @ ..] = &mut counted[..] else { return false };
    let chosen = switch.choose(total, counts, chance, &mut visit.env());
    let Some(chosen) = chosen else { return false };
    let at = visit.nth_left(chosen);
    let mut state = visit.state();
    state.more()[0] = chosen as u32;
    state.more()[1..].copy_from_slice(&counted);
    state.set_current(at);
    true
}

/// Returns true if the current child is the chosen child. Both are compared by their numbers among the remaining
/// children.
fn is_chosen_child(visit: &mut Visit<'_, '_>) -> bool {
    let current = visit.state().current() as usize;
    let before = visit.controller.children.iter().take(current);
    let before = before.filter(|child| !visit.is_dropped(**child)).count();
    before == visit.state().more()[0] as usize
}

/// Makes the next iteration of this controller, and of the controllers directly inside, begin with a choice.
fn restart_choice(visit: &mut Visit<'_, '_>) {
    visit.state().clear(CHOSEN);
    for inner in inner(visit) {
        let mut inside = visit.at(inner);
        if matches!(inside.controller.kind, ControllerKind::WeightedSwitch(_)) {
            restart_choice(&mut inside);
        }
    }
}

/// Returns the controllers directly inside this controller, without the dropped controllers.
fn inner(visit: &Visit<'_, '_>) -> Vec<ControllerId> {
    let left = visit.controller.children.iter().filter(|child| !visit.is_dropped(**child));
    left.filter_map(|child| match child {
        Child::Controller(inner) => Some(*inner),
        Child::Sampler(_) => None,
    })
    .collect()
}
