//! A visit of a user at a controller: the user's state there, the plan's controller, and the core's context.
//!
//! JMeter removes children that are permanently done from its list, and its numbers count only the remaining children.
//! Throng skips such children instead.

use plan::env::Env;
use plan::plan::{Child, Controller, ControllerId};

use crate::context::Context;
use crate::flow::Flow;
use crate::ids::UserId;
use crate::users::controllers::{BEGUN, BROKEN, ControllerState, DONE, DROPPED, NOWHERE};

/// A visit of a user at a controller.
pub(crate) struct Visit<'c, 'p> {
    pub(crate) cx: &'c mut Context<'p>,
    pub(crate) flow: &'c mut Flow,
    pub(crate) index: UserId,
    /// The virtual user, or the user of the current branch. This user holds the controller state.
    root: UserId,
    pub(crate) id: ControllerId,
    pub(crate) controller: &'p Controller,
}

impl<'c, 'p> Visit<'c, 'p> {
    #[inline]
    pub(crate) fn new(
        cx: &'c mut Context<'p>,
        flow: &'c mut Flow,
        index: UserId,
        root: UserId,
        id: ControllerId,
    ) -> Self {
        let controller = cx.controller(id);
        Self { cx, flow, index, root, id, controller }
    }

    /// Returns the number of iterations of the group, if the settings of the run override the plan's number.
    #[inline]
    pub(crate) fn given_loops(&self) -> Option<i32> {
        if self.controller.parent.is_some() {
            return None;
        }
        self.cx.run.groups[self.cx.users[self.index].group.at()].loops
    }

    /// Returns a visit of the same user at another controller.
    pub(crate) fn at(&mut self, id: ControllerId) -> Visit<'_, 'p> {
        Visit::new(self.cx, self.flow, self.index, self.root, id)
    }

    #[inline]
    pub(crate) fn state(&mut self) -> ControllerState<'_> {
        ControllerState::of(&mut self.cx.users[self.root], self.controller)
    }

    pub(crate) fn env(&mut self) -> Env<'_> {
        self.cx.env(self.index, "")
    }

    /// Returns true if no child has been asked in this iteration.
    #[inline]
    pub(crate) fn is_first(&mut self) -> bool {
        !self.state().is(BEGUN)
    }

    pub(crate) fn is_broken(&mut self) -> bool {
        self.state().is(BROKEN)
    }

    /// Returns the current child, or the next remaining child, with its position in the order.
    #[inline]
    pub(crate) fn child(&mut self) -> Option<(u32, Child)> {
        let from = self.state().current();
        for at in from..self.controller.children.len() as u32 {
            let child = self.child_at(at);
            if !self.is_dropped(child) {
                return Some((at, child));
            }
        }
        None
    }

    #[inline]
    pub(crate) fn is_dropped(&self, child: Child) -> bool {
        match child {
            Child::Sampler(_) => false,
            Child::Controller(id) => {
                let flags =
                    self.cx.users[self.root].state[self.cx.controller(id).slot as usize + 1];
                flags & DROPPED != 0
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.controller.children.iter().all(|child| self.is_dropped(*child))
    }

    /// Returns the position, among all children, of the `n`th remaining child; [`NOWHERE`] if fewer remain.
    pub(crate) fn nth_left(&self, n: usize) -> u32 {
        let left = self.controller.children.iter().enumerate();
        let mut left = left.filter(|(_, child)| !self.is_dropped(**child));
        left.nth(n).map_or(NOWHERE, |(at, _)| at as u32)
    }

    pub(crate) fn count_left(&self) -> usize {
        self.controller.children.iter().filter(|child| !self.is_dropped(**child)).count()
    }

    /// Initialises all child controllers as JMeter's threads do. Returns false if the user must end.
    pub(crate) fn begin_children(&mut self) -> bool {
        self.controller.children.iter().all(|child| match child {
            Child::Sampler(_) => true,
            Child::Controller(inner) => self.is_dropped(*child) || self.at(*inner).begin(),
        })
    }

    /// Initialises a controller and everything inside it as JMeter's threads do. Returns false if the user must
    /// end.
    pub(crate) fn begin(&mut self) -> bool {
        if self.begins_itself() {
            return true;
        }
        let keeps_count = self.counting().is_kept;
        let mut state = self.state();
        state.set_current(0);
        state.clear(DONE | BEGUN);
        if !keeps_count {
            state.set_count(0);
        }
        self.begin_children() && self.has_begun()
    }

    /// Drops a controller from its parent if it will never return a sampler again. Returns true if it was dropped.
    pub(crate) fn drop_if_done(&mut self) -> bool {
        let done = self.is_done();
        if done {
            self.state().set(DROPPED);
        }
        done
    }
}
