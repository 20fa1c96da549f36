//! Which child of a controller is the current one, and which one a Switch Controller means.
//!
//! JMeter takes children that are done for good out of its list, so that numbers are of those still there. Here they are passed over.

use plan::plan::{Child, Controller, ControllerId, ControllerKind};
use plan::text::Text;

use crate::core::Core;
use crate::flow::kinds::random_order;
use crate::ids::UserId;
use crate::users::controllers::{self as state, NOWHERE};

impl Core<'_> {
    /// The current child, or the first behind it that is still there, with its place in the order.
    pub(crate) fn child(&mut self, index: UserId, id: ControllerId) -> Option<(u32, Child)> {
        let controller = self.cx.controller(id);
        let from = self.cx.controller_state(index, id).current();
        for at in from..controller.children.len() as u32 {
            let child = self.child_at(index, id, controller, at);
            if !self.is_dropped(index, child) {
                return Some((at, child));
            }
        }
        None
    }

    pub(crate) fn child_at(
        &mut self,
        index: UserId,
        id: ControllerId,
        of: &Controller,
        at: u32,
    ) -> Child {
        let at = match of.kind {
            ControllerKind::RandomOrder => {
                random_order::child_at(&mut self.cx.controller_state(index, id), at)
            }
            _ => at,
        };
        of.children[at as usize]
    }

    pub(crate) fn is_dropped(&self, index: UserId, child: Child) -> bool {
        match child {
            Child::Sampler(_) => false,
            Child::Controller(id) => {
                let root = self.cx.users.root(index);
                let flags = self.cx.users[root].state[self.cx.controller(id).slot as usize + 1];
                flags & state::DROPPED != 0
            }
        }
    }

    pub(crate) fn is_empty(&self, index: UserId, controller: &Controller) -> bool {
        controller.children.iter().all(|child| self.is_dropped(index, *child))
    }

    /// Where among all children the one is that is number `n` of those still there; behind the last if there are not so many.
    pub(crate) fn nth_left(&self, index: UserId, controller: &Controller, n: usize) -> u32 {
        let left = controller.children.iter().enumerate();
        let mut left = left.filter(|(_, child)| !self.is_dropped(index, **child));
        left.nth(n).map_or(NOWHERE, |(at, _)| at as u32)
    }

    pub(crate) fn count_left(&self, index: UserId, controller: &Controller) -> usize {
        controller.children.iter().filter(|child| !self.is_dropped(index, **child)).count()
    }

    /// The child that a Switch Controller's value names: by number, else by name, else the one named `default`.
    pub(crate) fn switch(&mut self, index: UserId, controller: &Controller, value: &Text) -> u32 {
        let mut chosen = self.cx.texts.take();
        value.eval(&mut self.cx.env(index, ""), &mut chosen);
        let sought = chosen.trim();
        let is_number = sought.bytes().all(|byte| byte.is_ascii_digit());
        let at = match sought.parse::<i32>() {
            _ if sought.is_empty() => self.nth_left(index, controller, 0),
            Ok(number) if is_number => {
                match self.nth_left(index, controller, number.unsigned_abs() as usize) {
                    NOWHERE => self.nth_left(index, controller, 0),
                    at => at,
                }
            }
            _ => self.switch_by_name(index, controller, sought),
        };
        self.cx.texts.give(chosen);
        at
    }

    pub(crate) fn switch_by_name(
        &mut self,
        index: UserId,
        controller: &Controller,
        sought: &str,
    ) -> u32 {
        let plan = self.cx.plan;
        let mut default = NOWHERE;
        let mut name = self.cx.texts.take();
        for (at, child) in controller.children.iter().enumerate() {
            if self.is_dropped(index, *child) {
                continue;
            }
            let text = match child {
                Child::Sampler(id) => &plan.samplers[id.0 as usize].name,
                Child::Controller(id) => &plan.controllers[id.0 as usize].name,
            };
            name.clear();
            text.eval(&mut self.cx.env(index, ""), &mut name);
            if name == sought {
                default = at as u32;
                break;
            }
            if name.eq_ignore_ascii_case("default") {
                default = at as u32;
            }
        }
        self.cx.texts.give(name);
        default
    }
}
