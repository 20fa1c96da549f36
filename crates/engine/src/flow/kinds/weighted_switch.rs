//! Weighted Switch Controllers: one child a pass, which its weight chooses.
//!
//! The plug-in sees the end of a pass only by asking the child behind the chosen one, whose sampler is not run then; so all controllers in it are told
//! that their pass is over, and transactions that the question began are forgotten. What the question does besides, conditions and counts, is
//! as with the plug-in.

use plan::plan::{Child, Controller, ControllerId, ControllerKind, WeightedSwitch};

use crate::core::Core;
use crate::flow::search::{Pull, Search};
use crate::ids::UserId;
use crate::users::controllers as state;

impl<'p> Core<'p> {
    pub(crate) fn pull_weighted(
        &mut self,
        index: UserId,
        id: ControllerId,
        controller: &'p Controller,
        switch: &'p WeightedSwitch,
        search: &mut Search,
    ) -> Pull {
        // The plug-in looks at what comes for each time that it asks itself, but for the one that chose.
        let mut looks = 0;
        loop {
            if !self.may_go_on(search) {
                return Pull::Later;
            }
            if self.cx.controller_state(index, id).is(state::CHOSEN) {
                looks += 1;
            } else if !self.choose_weighted(index, id, controller, switch) {
                self.end_user(index);
                return Pull::Later;
            }
            match self.advance(index, id, controller, search) {
                None => {}
                Some(Pull::Later) => return Pull::Later,
                Some(mut given) => {
                    for _ in 0..looks {
                        if given == Pull::Nothing || !self.is_at_chosen(index, id, controller) {
                            self.reset_weighted(index, id, controller);
                            given = Pull::Nothing;
                        }
                    }
                    return given;
                }
            }
        }
    }

    /// Goes to the child of a new pass. False: there is none to choose.
    fn choose_weighted(
        &mut self,
        index: UserId,
        id: ControllerId,
        controller: &Controller,
        switch: &WeightedSwitch,
    ) -> bool {
        // From 0 up to 1, as Java draws it: 53 bits.
        let chance = (self.cx.random.bits() >> 11) as f64 / (1_u64 << 53) as f64;
        let mut place = self.cx.controller_state(index, id);
        place.set(state::CHOSEN);
        let mut counted = place.more()[1..].to_vec();
        let [total, counts @ ..] = &mut counted[..] else { return false };
        let chosen = switch.choose(total, counts, chance, &mut self.cx.env(index, ""));
        let Some(chosen) = chosen else { return false };
        let at = self.nth_left(index, controller, chosen);
        let mut place = self.cx.controller_state(index, id);
        place.more()[0] = chosen as u32;
        place.more()[1..].copy_from_slice(&counted);
        place.set_current(at);
        true
    }

    /// Whether the current child is the one that was chosen, by their numbers among those still there.
    fn is_at_chosen(&mut self, index: UserId, id: ControllerId, controller: &Controller) -> bool {
        let current = self.cx.controller_state(index, id).current() as usize;
        let before = controller.children.iter().take(current);
        let before = before.filter(|child| !self.is_dropped(index, **child)).count();
        before == self.cx.controller_state(index, id).more()[0] as usize
    }

    fn reset_weighted(&mut self, index: UserId, id: ControllerId, controller: &Controller) {
        self.choose_anew(index, id, controller);
        for inner in self.inner(index, controller) {
            self.forget_pass(index, inner);
        }
    }

    /// The next pass of it, and of those directly in it, begins with a choice.
    fn choose_anew(&mut self, index: UserId, id: ControllerId, controller: &Controller) {
        self.cx.controller_state(index, id).clear(state::CHOSEN);
        for inner in self.inner(index, controller) {
            let inside = self.cx.controller(inner);
            if matches!(inside.kind, ControllerKind::WeightedSwitch(_)) {
                self.choose_anew(index, inner, inside);
            }
        }
    }

    fn forget_pass(&mut self, index: UserId, id: ControllerId) {
        let controller = self.cx.controller(id);
        match &controller.kind {
            ControllerKind::Transaction(settings) => {
                self.drop_transaction(index, id);
                if settings.parent {
                    return self.re_initialize(index, id);
                }
            }
            _ => {
                for inner in self.inner(index, controller) {
                    self.forget_pass(index, inner);
                }
            }
        }
        self.trigger_end_of_loop(index, id);
    }

    /// Controllers directly in one, without those that were dropped.
    fn inner(&self, index: UserId, controller: &Controller) -> Vec<ControllerId> {
        let left = controller.children.iter().filter(|child| !self.is_dropped(index, **child));
        left.filter_map(|child| match child {
            Child::Controller(inner) => Some(*inner),
            Child::Sampler(_) => None,
        })
        .collect()
    }
}
