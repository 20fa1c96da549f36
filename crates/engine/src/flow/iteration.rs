//! How a controller's pass begins and ends, and how a user finds all of them when it starts.

use plan::plan::{Child, Controller, ControllerId, ControllerKind, OnIteration};

use crate::core::Core;
use crate::flow::kinds::{random_order, runtime, throughput};
use crate::http::cookies;
use crate::ids::UserId;
use crate::java::Tell;
use crate::users::controllers::{self as state, ControllerState};

impl<'p> Core<'p> {
    /// Begins a pass, unless it has begun: tells who wants to know. False: the user has ended, or waits.
    pub(crate) fn begin_pass(
        &mut self,
        index: UserId,
        id: ControllerId,
        controller: &'p Controller,
    ) -> bool {
        let place = self.cx.controller_state(index, id);
        if place.is(state::BEGUN) {
            return true;
        }
        if controller.parent.is_none() && !self.has_arrived(index)
            || !self.knows_shares(index, controller)
            || !self.has_data(index, controller)
        {
            return false;
        }
        // In a group of arrivals JMeter's thread takes one more arrival before it looks whether it is to stop.
        if controller.parent.is_none()
            && self.cx.users[index].stopping
            && self.arrival_bounds(self.cx.users[index].group).is_some()
        {
            self.end_user(index);
            return false;
        }
        let place = self.cx.controller_state(index, id);
        let is_loop = matches!(controller.kind, ControllerKind::Loop { .. });
        let counts_from_one = is_loop
            || matches!(controller.kind, ControllerKind::ForEach(_) | ControllerKind::Runtime(_));
        let iteration = place.count().wrapping_add(i32::from(counts_from_one));
        if controller.parent.is_none() {
            cookies::begin_iteration(&mut self.cx, index);
        }
        if !self.fire_iteration(index, controller, iteration, is_loop) {
            return false;
        }
        self.cx.controller_state(index, id).set(state::BEGUN);
        controller.parent.is_some() || self.tell_iteration(index)
    }

    /// Tells who listens that a controller begins an iteration; loops count theirs from 1. False: the user has ended, or waits.
    pub(crate) fn tell_of_iteration(
        &mut self,
        index: UserId,
        controller: &'p Controller,
        iteration: i32,
        is_loop: bool,
    ) -> bool {
        self.knows_shares(index, controller)
            && self.has_data(index, controller)
            && self.fire_iteration(index, controller, iteration, is_loop)
    }

    /// As `tell_of_iteration`, after `knows_shares`.
    fn fire_iteration(
        &mut self,
        index: UserId,
        controller: &'p Controller,
        iteration: i32,
        is_loop: bool,
    ) -> bool {
        for event in &controller.on_iteration {
            match event {
                OnIteration::Controller(inner) => {
                    self.around_begins(index, *inner, iteration, is_loop);
                }
                OnIteration::Redis(at) => {
                    if !self.set_data(index, *at) {
                        return false;
                    }
                }
                event => {
                    if !self.fire(index, *event) {
                        return false;
                    }
                }
            }
        }
        true
    }

    /// Whether the Throughput Controllers that decide now can. False: the user waits for what they need.
    fn knows_shares(&mut self, index: UserId, controller: &Controller) -> bool {
        controller.on_iteration.iter().all(|event| match event {
            OnIteration::Controller(inner) => {
                !matches!(self.cx.controller(*inner).kind, ControllerKind::Throughput(_))
                    || self.knows_texts(index, *inner)
            }
            _ => true,
        })
    }

    /// The controller around this one begins an iteration.
    fn around_begins(&mut self, index: UserId, id: ControllerId, iteration: i32, is_loop: bool) {
        match &self.cx.controller(id).kind {
            ControllerKind::Hosted(_) => {
                let number = (iteration as u32) << 1 | u32::from(is_loop);
                self.tell_controller(index, id, Tell::Iteration, number);
            }
            ControllerKind::OnceOnly => {
                if iteration == i32::from(is_loop) {
                    self.re_initialize(index, id);
                }
            }
            ControllerKind::Throughput(throughput) => {
                let mut ran = throughput::ran(&mut self.cx.controller_state(index, id));
                let runs = throughput.decide(&mut ran, &mut self.cx.env(index, ""));
                throughput::decided(&mut self.cx.controller_state(index, id), ran, runs);
            }
            _ => {
                self.re_initialize(index, id);
                self.reset_count(index, id);
            }
        }
    }

    /// Carries out what an iteration's start brings. False: the user has ended.
    pub(crate) fn fire(&mut self, index: UserId, event: OnIteration) -> bool {
        let plan = self.cx.plan;
        let stop = plan::element::iterate(event, plan, &mut self.cx.env(index, ""));
        match stop {
            Ok(()) => true,
            Err(stop) => {
                self.on_stop(index, &stop);
                false
            }
        }
    }

    /// Begins a user: all controllers are as JMeter's threads initialise them. False: the user has ended.
    pub(crate) fn initialize(&mut self, index: UserId, id: ControllerId) -> bool {
        let controller = self.cx.controller(id);
        if matches!(controller.kind, ControllerKind::Hosted(_)) {
            self.tell_controller(index, id, Tell::Initialize, 0);
            return true;
        }
        let mut place = self.cx.controller_state(index, id);
        place.set_current(0);
        place.clear(state::DONE | state::BEGUN);
        if !matches!(controller.kind, ControllerKind::Loop { .. } | ControllerKind::Runtime(_)) {
            place.set_count(0);
        }
        if !self.initialize_children(index, controller) {
            return false;
        }
        match &controller.kind {
            ControllerKind::ForEach(_) => self.reset_count(index, id),
            ControllerKind::RandomOrder => self.shuffle(index, id),
            ControllerKind::Interleave(settings) => {
                if settings.random {
                    self.reset_current(index, id);
                }
                if settings.across_users {
                    let left = self.count_left(index, controller);
                    // JMeter divides by zero, which ends its thread.
                    let Some(first) = (self.cx.users[index].number as usize).checked_rem(left)
                    else {
                        self.end_user(index);
                        return false;
                    };
                    let at = self.nth_left(index, controller, first);
                    self.cx.controller_state(index, id).set_current(at);
                }
            }
            _ => {}
        }
        true
    }

    pub(crate) fn initialize_children(&mut self, index: UserId, controller: &Controller) -> bool {
        controller.children.iter().all(|child| match child {
            Child::Sampler(_) => true,
            Child::Controller(inner) => {
                self.is_dropped(index, *child) || self.initialize(index, *inner)
            }
        })
    }

    /// Ends a pass: the next one begins with the first child.
    pub(crate) fn re_initialize(&mut self, index: UserId, id: ControllerId) {
        let kind = &self.cx.controller(id).kind;
        if matches!(kind, ControllerKind::Critical(_)) {
            self.leave_section(index, id);
        }
        self.forget_texts(index, id);
        let mut place = self.cx.controller_state(index, id);
        place.set_count(place.count().wrapping_add(1));
        place.clear(state::BEGUN | state::ARRIVED);
        match kind {
            ControllerKind::Interleave(_) => {
                place.clear(state::GAVE | state::MOVED | state::SKIP);
                place.more()[0] = 0;
            }
            ControllerKind::RandomOrder => {
                place.set_current(0);
                self.shuffle(index, id);
            }
            _ => place.set_current(0),
        }
    }

    /// Forgets how many iterations there were.
    pub(crate) fn reset_count(&mut self, index: UserId, id: ControllerId) {
        let start = match &self.cx.controller(id).kind {
            ControllerKind::ForEach(each) => self.first_value(index, each),
            _ => 0,
        };
        let kind = &self.cx.controller(id).kind;
        let mut place = self.cx.controller_state(index, id);
        place.set_count(start);
        match kind {
            ControllerKind::Loop { .. } => place.more()[0] = 0,
            ControllerKind::Runtime(_) => runtime::forget(&mut place),
            _ => {}
        }
    }

    /// Goes to the first child; in a Random Controller, to any.
    pub(crate) fn reset_current(&mut self, index: UserId, id: ControllerId) {
        let controller = self.cx.controller(id);
        let mut at = 0;
        if let ControllerKind::Interleave(settings) = &controller.kind
            && settings.random
        {
            let left = self.count_left(index, controller);
            let drawn = if left == 0 { 0 } else { self.cx.random.below(left as u64) };
            at = self.nth_left(index, controller, drawn as usize);
        }
        self.cx.controller_state(index, id).set_current(at);
    }

    pub(crate) fn shuffle(&mut self, index: UserId, id: ControllerId) {
        let controller = self.cx.controller(id);
        let mut state = ControllerState::of(self.cx.users.of(index), controller);
        random_order::shuffle(&mut state, controller.children.len(), &mut self.cx.random);
    }

    pub(crate) fn end_for_good(&mut self, index: UserId, id: ControllerId) {
        let is_loop = matches!(self.cx.controller(id).kind, ControllerKind::Loop { .. });
        let mut place = self.cx.controller_state(index, id);
        place.set(state::DONE);
        if is_loop {
            place.clear(state::BROKEN);
            place.more()[0] = 0;
        }
    }
}
