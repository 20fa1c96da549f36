//! Which sampler a user runs next. Hot.
//!
//! The tree of controllers is asked from its root, as JMeter's threads ask theirs: each controller asks its current child, moves on when
//! that has nothing, and remembers where it is in the user's slots ([`Place`]). What happens at the start, between, and at the end of a pass is all
//! that kinds differ in; [`before`](Core::before), [`behind`](Core::behind) and [`move_on`](Core::move_on) have it. Where a controller asks itself
//! again, JMeter recurs, and dies of it when nothing comes; here it is a loop, which gives way to other users.
//!
//! To be asked again must do no harm: a pull that cannot go on (the user waits, or has used up its turn) changes nothing on its way out, and
//! the next one finds the way back.

use plan::plan::{
    Child, Controller, ControllerId, ControllerKind, ForEach, LoopCount, OnIteration, SamplerId,
    WhileCondition,
};
use plan::text::Text;

use crate::core::{Core, env};
use crate::place::{self, NOWHERE, Place};
use crate::wheel::Index;

/// An Interleave Controller that has asked this often in vain will do so for ever; JMeter's thread ends with a stack overflow.
const IN_VAIN: u32 = 500;

/// What a controller gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pull {
    /// Nothing (more) in this pass.
    Nothing,
    /// A sampler to run.
    Sampler(SamplerId),
    /// A transaction with a parent sample is complete.
    Ended(ControllerId),
    /// Not now: the user waits, has ended, or has used up its turn.
    Later,
}

/// What became of a user's turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// It can go on.
    On,
    /// It waits or has ended.
    Waits,
    /// It has looked for a sampler for long; others are next.
    Over,
}

impl<'p> Core<'p> {
    /// Finds a user's next sampler and begins it.
    pub(crate) fn operate(&mut self, index: Index) -> Turn {
        let main = self.plan.groups[self.users[index].group as usize].main;
        match self.pull(index, main) {
            Pull::Sampler(sampler) => {
                return if self.sample(index, sampler) { Turn::On } else { Turn::Waits };
            }
            Pull::Ended(transaction) => {
                self.finish_transaction(index, transaction);
                if self.time_is_up(index) {
                    self.end_user(index);
                }
            }
            Pull::Nothing => {
                if self.is_done(index, main) {
                    // What was left in the middle has no end.
                    if let Some(extra) = &mut self.users[index].extra {
                        extra.transactions.clear();
                    }
                    self.end_user(index);
                }
            }
            Pull::Later => return Turn::Over,
        }
        if self.users[index].alive { Turn::On } else { Turn::Waits }
    }

    /// Asks a controller for the next sampler.
    pub(crate) fn pull(&mut self, index: Index, id: ControllerId) -> Pull {
        let controller = self.controller(id);
        match &controller.kind {
            ControllerKind::Transaction(settings) if settings.parent => {
                return self.pull_parent(index, id, controller);
            }
            ControllerKind::Transaction(_) => return self.pull_sum(index, id, controller),
            _ => {}
        }
        for turn in 0.. {
            if !self.has_fuel() {
                return Pull::Later;
            }
            let given = self.before(index, id, controller);
            match given.or_else(|| self.advance(index, id, controller)) {
                Some(Pull::Later) => return Pull::Later,
                Some(given) => {
                    self.write_index(index, id);
                    return given;
                }
                None if turn > IN_VAIN
                    && matches!(controller.kind, ControllerKind::Interleave(_)) =>
                {
                    self.end_user(index);
                    return Pull::Later;
                }
                None => {}
            }
        }
        Pull::Later
    }

    /// A transaction whose children are its sub-results.
    fn pull_parent(&mut self, index: Index, id: ControllerId, controller: &'p Controller) -> Pull {
        if self.place(index, id).is(place::TOLD) {
            self.place(index, id).clear(place::TOLD);
            return Pull::Nothing;
        }
        self.begin_transaction_if_first(index, id, controller);
        loop {
            if !self.has_fuel() {
                return Pull::Later;
            }
            match self.advance(index, id, controller) {
                Some(Pull::Nothing) => {
                    self.place(index, id).set(place::TOLD);
                    return Pull::Ended(id);
                }
                Some(given) => return given,
                None => {}
            }
        }
    }

    /// A transaction that sums up its children.
    fn pull_sum(&mut self, index: Index, id: ControllerId, controller: &'p Controller) -> Pull {
        // JMeter counts a sample for each time that it asks itself, and so once more for each child that has nothing.
        let mut asked_again = 0;
        loop {
            if !self.has_fuel() {
                self.count_calls(index, id, asked_again);
                return Pull::Later;
            }
            self.begin_transaction_if_first(index, id, controller);
            let is_last = self.child(index, id).is_none();
            match self.advance(index, id, controller) {
                None => asked_again += 1,
                Some(Pull::Later) => {
                    if self.users[index].alive {
                        self.count_calls(index, id, asked_again);
                    }
                    return Pull::Later;
                }
                Some(given) => {
                    if given == Pull::Nothing && is_last {
                        self.finish_transaction(index, id);
                    } else {
                        self.count_calls(index, id, 1);
                    }
                    self.count_calls(index, id, asked_again);
                    return given;
                }
            }
        }
    }

    fn begin_transaction_if_first(
        &mut self,
        index: Index,
        id: ControllerId,
        controller: &'p Controller,
    ) {
        if let ControllerKind::Transaction(settings) = &controller.kind
            && !self.place(index, id).is(place::BEGUN)
        {
            self.begin_transaction(index, id, settings);
        }
    }

    /// What a kind looks at before it asks a child. `Some`: no child is asked.
    fn before(
        &mut self,
        index: Index,
        id: ControllerId,
        controller: &'p Controller,
    ) -> Option<Pull> {
        self.write_index(index, id);
        let is_first = !self.place(index, id).is(place::BEGUN);
        match &controller.kind {
            ControllerKind::Loop { count, once } => {
                if self.loop_is_over(index, id, count) {
                    self.end_loop(index, id, *once);
                    return Some(Pull::Nothing);
                }
            }
            ControllerKind::While(condition) => {
                if is_first && self.while_is_over(index, id, condition, false) {
                    self.place(index, id).clear(place::BROKEN);
                    self.place(index, id).set_count(0);
                    return Some(Pull::Nothing);
                }
            }
            ControllerKind::ForEach(each) => {
                if self.place(index, id).is(place::BROKEN) || !self.has_value(index, id, each) {
                    self.place(index, id).clear(place::BROKEN);
                    self.re_initialize(index, id);
                    self.reset_count(index, id);
                    return Some(Pull::Nothing);
                }
            }
            ControllerKind::If { condition, evaluate_all } => {
                let user = &mut self.users[index];
                if (is_first || *evaluate_all) && !condition.holds(&mut env!(self, user, "")) {
                    self.initialize_children(index, controller);
                    self.re_initialize(index, id);
                    return Some(Pull::Nothing);
                }
            }
            ControllerKind::Switch(value) => {
                if is_first {
                    let chosen = self.switch(index, controller, value);
                    self.place(index, id).set_current(chosen);
                }
            }
            ControllerKind::Interleave(_) => {
                if self.place(index, id).is(place::SKIP) {
                    self.re_initialize(index, id);
                    return Some(Pull::Nothing);
                }
            }
            ControllerKind::Runtime(seconds) => {
                if self.runtime_is_over(index, id, seconds) {
                    self.re_initialize(index, id);
                    self.reset_count(index, id);
                    return Some(Pull::Nothing);
                }
            }
            ControllerKind::Critical(_) => {
                if !self.may_enter(index, id) {
                    return Some(Pull::Later);
                }
            }
            ControllerKind::Throughput(_) => {
                if !self.place(index, id).is(place::RUNS) {
                    return Some(Pull::Nothing);
                }
            }
            _ => {}
        }
        None
    }

    /// Asks the current child. `None`: the controller is to be asked again.
    fn advance(
        &mut self,
        index: Index,
        id: ControllerId,
        controller: &'p Controller,
    ) -> Option<Pull> {
        if !self.begin_pass(index, id, controller) {
            return Some(Pull::Later);
        }
        if self.is_done(index, id) {
            return Some(Pull::Nothing);
        }
        let Some((at, child)) = self.child(index, id) else {
            if self.is_empty(index, controller) {
                self.end_for_good(index, id);
                return Some(Pull::Nothing);
            }
            return self.behind(index, id, controller);
        };
        self.place(index, id).set_current(at);
        let ControllerKind::Interleave(settings) = &controller.kind else {
            return match child {
                Child::Sampler(sampler) => {
                    self.move_on(index, id);
                    Some(Pull::Sampler(sampler))
                }
                Child::Controller(inner) => match self.pull(index, inner) {
                    Pull::Nothing => {
                        if !self.drop_if_done(index, inner) {
                            self.move_on(index, id);
                        }
                        None
                    }
                    given => Some(given),
                },
            };
        };
        let mut place = self.place(index, id);
        let begun_with = &mut place.more()[0];
        if *begun_with == 0 {
            *begun_with = at + 1;
        } else if *begun_with == at + 1 && place.is(place::MOVED) {
            self.re_initialize(index, id);
            return Some(Pull::Nothing);
        }
        match child {
            Child::Sampler(sampler) => {
                self.place(index, id).set(place::SKIP);
                self.move_on(index, id);
                Some(Pull::Sampler(sampler))
            }
            Child::Controller(inner) => match self.pull(index, inner) {
                Pull::Later => Some(Pull::Later),
                Pull::Nothing => {
                    if !self.drop_if_done(index, inner) && settings.whole_controllers {
                        self.move_on(index, id);
                    }
                    None
                }
                given => {
                    self.place(index, id).set(place::GAVE);
                    if settings.whole_controllers {
                        self.place(index, id).more()[0] = 0;
                    } else {
                        self.move_on(index, id);
                        self.place(index, id).set(place::SKIP);
                    }
                    Some(given)
                }
            },
        }
    }

    /// All children have been asked. `None`: the controller is to be asked again.
    fn behind(
        &mut self,
        index: Index,
        id: ControllerId,
        controller: &'p Controller,
    ) -> Option<Pull> {
        let over = match &controller.kind {
            // It stays behind its last child until it is told to begin anew.
            ControllerKind::OnceOnly => return Some(Pull::Nothing),
            ControllerKind::Interleave(_) => {
                self.reset_current(index, id);
                return None;
            }
            ControllerKind::Loop { count, once } => {
                self.re_initialize(index, id);
                if !self.loop_is_over(index, id, count) {
                    return None;
                }
                if *once {
                    self.end_for_good(index, id);
                } else {
                    self.reset_count(index, id);
                }
                return Some(Pull::Nothing);
            }
            ControllerKind::While(condition) => {
                self.re_initialize(index, id);
                // The condition sees the number of the iteration it decides on.
                self.while_is_over(index, id, condition, true)
            }
            ControllerKind::ForEach(each) => {
                self.re_initialize(index, id);
                let (_, end) = self.bounds(index, each);
                self.place(index, id).is(place::BROKEN)
                    || !self.has_value(index, id, each)
                    || self.place(index, id).count() >= end
            }
            ControllerKind::Runtime(seconds) => {
                self.re_initialize(index, id);
                self.runtime_is_over(index, id, seconds)
            }
            _ => {
                self.re_initialize(index, id);
                return Some(Pull::Nothing);
            }
        };
        if !over {
            return None;
        }
        self.place(index, id).clear(place::BROKEN);
        self.reset_count(index, id);
        Some(Pull::Nothing)
    }

    /// Goes to the child behind the current one.
    fn move_on(&mut self, index: Index, id: ControllerId) {
        let controller = self.controller(id);
        let mut place = self.place(index, id);
        let next = place.current().saturating_add(1);
        match &controller.kind {
            ControllerKind::Switch(_) => place.set_current(NOWHERE),
            ControllerKind::Interleave(settings) => {
                let gave = place.is(place::GAVE);
                place.set(if gave { place::MOVED | place::SKIP } else { place::MOVED });
                place.set_current(next);
                if settings.random {
                    self.reset_current(index, id);
                }
            }
            _ => place.set_current(next),
        }
    }

    /// Begins a pass, unless it has begun: tells who wants to know. False: the user has ended.
    fn begin_pass(&mut self, index: Index, id: ControllerId, controller: &'p Controller) -> bool {
        let place = self.place(index, id);
        if place.is(place::BEGUN) {
            return true;
        }
        let is_loop = matches!(controller.kind, ControllerKind::Loop { .. });
        let counts_from_one = is_loop
            || matches!(controller.kind, ControllerKind::ForEach(_) | ControllerKind::Runtime(_));
        let iteration = place.count().wrapping_add(i32::from(counts_from_one));
        if controller.parent.is_none() {
            self.begin_iteration(index);
        }
        for event in &controller.on_iteration {
            match event {
                OnIteration::Controller(inner) => {
                    self.around_begins(index, *inner, iteration == i32::from(is_loop));
                }
                event => {
                    if !self.fire(index, *event) {
                        return false;
                    }
                }
            }
        }
        self.place(index, id).set(place::BEGUN);
        true
    }

    /// The controller around this one begins an iteration.
    fn around_begins(&mut self, index: Index, id: ControllerId, is_its_first: bool) {
        match &self.controller(id).kind {
            ControllerKind::OnceOnly => {
                if is_its_first {
                    self.re_initialize(index, id);
                }
            }
            ControllerKind::Throughput(throughput) => {
                let mut ran = self.ran(index, id);
                let user = &mut self.users[index];
                let runs = throughput.decide(&mut ran, &mut env!(self, user, ""));
                let mut place = self.place(index, id);
                place.more()[..2].copy_from_slice(&[ran.executions, ran.iterations]);
                place.clear(place::RUNS);
                if runs {
                    place.set(place::RUNS);
                }
            }
            _ => {
                self.re_initialize(index, id);
                self.reset_count(index, id);
            }
        }
    }

    /// Carries out what an iteration's start brings. False: the user has ended.
    fn fire(&mut self, index: Index, event: OnIteration) -> bool {
        let plan = self.plan;
        let user = &mut self.users[index];
        let stop = plan::element::iterate(event, plan, &mut env!(self, user, ""));
        match stop {
            Ok(()) => true,
            Err(stop) => {
                self.on_stop(index, &stop);
                false
            }
        }
    }

    /// Whether a controller gives nothing any more, so that the one around it drops it.
    pub(crate) fn is_done(&mut self, index: Index, id: ControllerId) -> bool {
        let controller = self.controller(id);
        let done = self.place(index, id).is(place::DONE);
        match &controller.kind {
            ControllerKind::If { .. } => false,
            ControllerKind::ForEach(each) => {
                let (_, end) = self.bounds(index, each);
                let at = self.place(index, id).count();
                // JMeter sets the output when it looks whether there is more to do.
                at >= end || (!self.bind(index, each, at) && done)
            }
            ControllerKind::Runtime(seconds) => {
                done || self.seconds(index, seconds) <= 0 || self.is_empty(index, controller)
            }
            ControllerKind::Throughput(throughput) => {
                if self.is_empty(index, controller) {
                    return true;
                }
                let (ran, at_end) = (self.ran(index, id), self.child(index, id).is_none());
                let user = &mut self.users[index];
                throughput.is_done(ran, at_end, &mut env!(self, user, ""))
            }
            _ => done,
        }
    }

    /// Drops a controller from the one around it if it gives nothing any more.
    fn drop_if_done(&mut self, index: Index, id: ControllerId) -> bool {
        let done = self.is_done(index, id);
        if done {
            self.place(index, id).set(place::DROPPED);
        }
        done
    }

    /// The current child, or the first behind it that is still there, with its place in the order.
    fn child(&mut self, index: Index, id: ControllerId) -> Option<(u32, Child)> {
        let controller = self.controller(id);
        let from = self.place(index, id).current();
        for at in from..controller.children.len() as u32 {
            let child = self.child_at(index, id, controller, at);
            if !self.is_dropped(index, child) {
                return Some((at, child));
            }
        }
        None
    }

    fn child_at(&mut self, index: Index, id: ControllerId, of: &Controller, at: u32) -> Child {
        let at = match of.kind {
            ControllerKind::RandomOrder => self.place(index, id).more()[at as usize],
            _ => at,
        };
        of.children[at as usize]
    }

    fn is_dropped(&self, index: Index, child: Child) -> bool {
        match child {
            Child::Sampler(_) => false,
            Child::Controller(id) => {
                let flags = self.users[index].state[self.controller(id).slot as usize + 1];
                flags & place::DROPPED != 0
            }
        }
    }

    fn is_empty(&self, index: Index, controller: &Controller) -> bool {
        controller.children.iter().all(|child| self.is_dropped(index, *child))
    }

    /// Where among all children the one is that is number `n` of those still there; behind the last if there are not so many.
    fn nth_left(&self, index: Index, controller: &Controller, n: usize) -> u32 {
        let left = controller.children.iter().enumerate();
        let mut left = left.filter(|(_, child)| !self.is_dropped(index, **child));
        left.nth(n).map_or(NOWHERE, |(at, _)| at as u32)
    }

    fn count_left(&self, index: Index, controller: &Controller) -> usize {
        controller.children.iter().filter(|child| !self.is_dropped(index, **child)).count()
    }

    /// Begins a user: all controllers are as JMeter's threads initialise them. False: the user has ended.
    pub(crate) fn initialize(&mut self, index: Index, id: ControllerId) -> bool {
        let controller = self.controller(id);
        let mut place = self.place(index, id);
        place.set_current(0);
        place.clear(place::DONE | place::BEGUN);
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
                    let Some(first) = (self.users[index].number as usize).checked_rem(left) else {
                        self.end_user(index);
                        return false;
                    };
                    let at = self.nth_left(index, controller, first);
                    self.place(index, id).set_current(at);
                }
            }
            _ => {}
        }
        true
    }

    pub(crate) fn initialize_children(&mut self, index: Index, controller: &Controller) -> bool {
        controller.children.iter().all(|child| match child {
            Child::Sampler(_) => true,
            Child::Controller(inner) => {
                self.is_dropped(index, *child) || self.initialize(index, *inner)
            }
        })
    }

    /// Ends a pass: the next one begins with the first child.
    pub(crate) fn re_initialize(&mut self, index: Index, id: ControllerId) {
        let kind = &self.controller(id).kind;
        if matches!(kind, ControllerKind::Critical(_)) {
            self.leave_section(index, id);
        }
        let mut place = self.place(index, id);
        place.set_count(place.count().wrapping_add(1));
        place.clear(place::BEGUN);
        match kind {
            ControllerKind::Interleave(_) => {
                place.clear(place::GAVE | place::MOVED | place::SKIP);
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
    pub(crate) fn reset_count(&mut self, index: Index, id: ControllerId) {
        let start = match &self.controller(id).kind {
            ControllerKind::ForEach(each) => self.bounds(index, each).0,
            _ => 0,
        };
        let kind = &self.controller(id).kind;
        let mut place = self.place(index, id);
        place.set_count(start);
        match kind {
            ControllerKind::Loop { .. } => place.more()[0] = 0,
            ControllerKind::Runtime(_) => place.more()[..2].fill(0),
            _ => {}
        }
    }

    /// Goes to the first child; in a Random Controller, to any.
    fn reset_current(&mut self, index: Index, id: ControllerId) {
        let controller = self.controller(id);
        let mut at = 0;
        if let ControllerKind::Interleave(settings) = &controller.kind
            && settings.random
        {
            let left = self.count_left(index, controller);
            let drawn = if left == 0 { 0 } else { self.random.below(left as u64) };
            at = self.nth_left(index, controller, drawn as usize);
        }
        self.place(index, id).set_current(at);
    }

    fn shuffle(&mut self, index: Index, id: ControllerId) {
        let count = self.controller(id).children.len();
        for at in 0..count {
            let other = self.random.below(at as u64 + 1) as usize;
            let mut place = self.place(index, id);
            let order = place.more();
            order[at] = order[other];
            order[other] = at as u32;
        }
    }

    /// The child that a Switch Controller's value names: by number, else by name, else the one named `default`.
    fn switch(&mut self, index: Index, controller: &Controller, value: &Text) -> u32 {
        let user = &mut self.users[index];
        let mut chosen = self.texts.take();
        value.eval(&mut env!(self, user, ""), &mut chosen);
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
        self.texts.give(chosen);
        at
    }

    fn switch_by_name(&mut self, index: Index, controller: &Controller, sought: &str) -> u32 {
        let plan = self.plan;
        let mut default = NOWHERE;
        let mut name = self.texts.take();
        for (at, child) in controller.children.iter().enumerate() {
            if self.is_dropped(index, *child) {
                continue;
            }
            let text = match child {
                Child::Sampler(id) => &plan.samplers[id.0 as usize].name,
                Child::Controller(id) => &plan.controllers[id.0 as usize].name,
            };
            name.clear();
            let user = &mut self.users[index];
            text.eval(&mut env!(self, user, ""), &mut name);
            if name == sought {
                default = at as u32;
                break;
            }
            if name.eq_ignore_ascii_case("default") {
                default = at as u32;
            }
        }
        self.texts.give(name);
        default
    }

    /// Whether a loop has run as often as it should. How often is asked once for all of its iterations, but anew where that is 0 or
    /// without end.
    fn loop_is_over(&mut self, index: Index, id: ControllerId, count: &LoopCount) -> bool {
        let mut place = self.place(index, id);
        if place.is(place::BROKEN) {
            return true;
        }
        let LoopCount::Count(text) = count else { return false };
        let mut most = place.more()[0] as i32;
        if matches!(most, -1 | 0) {
            most = i32::try_from(self.number(index, text, 0)).unwrap_or(0);
            self.place(index, id).more()[0] = most as u32;
        }
        most > -1 && self.place(index, id).count() >= most
    }

    fn end_loop(&mut self, index: Index, id: ControllerId, once: bool) {
        if once {
            self.end_for_good(index, id);
        }
        self.place(index, id).clear(place::BROKEN);
    }

    fn end_for_good(&mut self, index: Index, id: ControllerId) {
        let is_loop = matches!(self.controller(id).kind, ControllerKind::Loop { .. });
        let mut place = self.place(index, id);
        place.set(place::DONE);
        if is_loop {
            place.clear(place::BROKEN);
            place.more()[0] = 0;
        }
    }

    pub(crate) fn while_is_over(
        &mut self,
        index: Index,
        id: ControllerId,
        condition: &WhileCondition,
        at_end: bool,
    ) -> bool {
        if self.place(index, id).is(place::BROKEN) {
            return true;
        }
        let last_ok = self.users[index].last_ok;
        match condition {
            WhileCondition::Blank => at_end && !last_ok,
            WhileCondition::Last => !last_ok,
            WhileCondition::Expression(text) => {
                let user = &mut self.users[index];
                let mut value = self.texts.take();
                text.eval(&mut env!(self, user, ""), &mut value);
                let trimmed = value.trim();
                let over = if (at_end && trimmed.is_empty()) || trimmed.eq_ignore_ascii_case("LAST")
                {
                    !last_ok
                } else {
                    trimmed.eq_ignore_ascii_case("false")
                };
                self.texts.give(value);
                over
            }
        }
    }

    /// Whether a Runtime Controller's time is over; it begins with the first look.
    fn runtime_is_over(&mut self, index: Index, id: ControllerId, seconds: &Text) -> bool {
        let now = self.clock.now().max(1);
        let mut place = self.place(index, id);
        let slots = place.more();
        let mut start = i64::from(slots[0]) | i64::from(slots[1]) << 32;
        if start == 0 {
            start = now;
            (slots[0], slots[1]) = (now as u32, (now >> 32) as u32);
        }
        (now - start) / crate::clock::SECOND >= self.seconds(index, seconds)
    }

    fn seconds(&mut self, index: Index, text: &Text) -> i64 {
        let user = &mut self.users[index];
        text.parsed(&mut env!(self, user, ""), |text| text.parse().unwrap_or(0))
    }

    /// Whether a ForEach controller's next value is there.
    fn has_value(&mut self, index: Index, id: ControllerId, each: &ForEach) -> bool {
        let at = self.place(index, id).count();
        self.with_value(index, each, at, |_, _, value| value.is_some())
    }

    /// Sets a ForEach controller's output to its value number `at` + 1. False: there is none.
    fn bind(&mut self, index: Index, each: &ForEach, at: i32) -> bool {
        self.with_value(index, each, at, |core, index, value| {
            let Some(value) = value else { return false };
            let mut name = core.texts.take();
            let user = &mut core.users[index];
            each.output.eval(&mut env!(core, user, ""), &mut name);
            user.vars.set_named(&core.plan.names, &name, value);
            core.texts.give(name);
            true
        })
    }

    fn with_value(
        &mut self,
        index: Index,
        each: &ForEach,
        at: i32,
        work: impl FnOnce(&mut Self, Index, Option<&str>) -> bool,
    ) -> bool {
        use std::fmt::Write;
        let user = &mut self.users[index];
        let mut name = self.texts.take();
        each.input.eval(&mut env!(self, user, ""), &mut name);
        let separator = if each.separator { "_" } else { "" };
        let _ = write!(name, "{separator}{}", at.wrapping_add(1));
        let mut value = self.texts.take();
        let found =
            user.vars.get_named(&self.plan.names, &name).map(|text| value.push_str(text)).is_some();
        self.texts.give(name);
        let done = work(self, index, found.then_some(value.as_str()));
        self.texts.give(value);
        done
    }

    /// Index before the first value and of the last one; what is no number is 0.
    fn bounds(&mut self, index: Index, each: &ForEach) -> (i32, i32) {
        let start = self.number(index, &each.start, 0);
        let end = match each.end.fixed() {
            Some("") => i64::from(i32::MAX),
            _ => self.number(index, &each.end, 0),
        };
        let narrow = |n: i64| i32::try_from(n).unwrap_or(0);
        (narrow(start), narrow(end))
    }

    /// Evaluates a text that should be a number.
    pub(crate) fn number(&mut self, index: Index, text: &Text, default: i64) -> i64 {
        let user = &mut self.users[index];
        let mut value = self.texts.take();
        text.eval(&mut env!(self, user, ""), &mut value);
        let trimmed = value.trim();
        let number = if trimmed.is_empty() { default } else { trimmed.parse().unwrap_or(default) };
        self.texts.give(value);
        number
    }

    /// What a Throughput Controller has counted for the user.
    fn ran(&mut self, index: Index, id: ControllerId) -> plan::element::Ran {
        let mut place = self.place(index, id);
        let slots = place.more();
        plan::element::Ran { executions: slots[0], iterations: slots[1] }
    }

    /// Sets a loop's index variable, if the plan mentions it.
    fn write_index(&mut self, index: Index, id: ControllerId) {
        let controller = self.controller(id);
        let Some(variable) = controller.index.filter(|_| controller.kind.iterates()) else {
            return;
        };
        let count = self.place(index, id).count();
        let text = self.users[index].vars.write(variable);
        text.clear();
        text.push_str(itoa::Buffer::new().format(count));
    }

    fn has_fuel(&mut self) -> bool {
        self.fuel = self.fuel.saturating_sub(1);
        self.fuel > 0
    }

    pub(crate) fn controller(&self, id: ControllerId) -> &'p Controller {
        &self.plan.controllers[id.0 as usize]
    }

    pub(crate) fn place(&mut self, index: Index, id: ControllerId) -> Place<'_> {
        let controller = self.controller(id);
        let from = controller.slot as usize;
        Place(&mut self.users[index].state[from..from + controller.slots as usize])
    }
}
