//! Which sampler a user runs next. Hot.
//!
//! The tree of controllers is asked from its root, as JMeter's threads ask theirs: each controller asks its current child, moves on when
//! that has nothing, and remembers where it is in the user's slots ([`ControllerState`]). What happens at the start, between, and at the end of a pass is all
//! that kinds differ in; [`before`](Core::before), [`behind`](Core::behind) and [`move_on`](Core::move_on) have it. Where a controller asks itself
//! again, JMeter recurs, and dies of it when nothing comes; here it is a loop, which gives way to other users.
//!
//! To be asked again must do no harm: a pull that cannot go on (the user waits, or has used up its turn) changes nothing on its way out, and
//! the next one finds the way back.

use plan::plan::{Child, Controller, ControllerId, ControllerKind, SamplerId};

use crate::core::Core;
use crate::ids::UserId;
use crate::java::{Then, condition, controller};
use crate::users::Wait;
use crate::users::controllers::{self as state, NOWHERE};

/// An Interleave Controller that has asked this often in vain will do so for ever; JMeter's thread ends with a stack overflow.
const IN_VAIN: u32 = 500;

/// How many controllers may be asked for a user's next sampler before others have their turn.
const STEPS: u32 = 4096;

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

/// A search for a user's next sampler.
#[derive(Debug)]
pub(crate) struct Search {
    /// How many controllers may yet be asked before others have their turn.
    fuel: u32,
    /// Pending calls to controllers in Java that are still to be replayed: down to them nothing is decided again.
    pub(crate) replays: usize,
}

impl Search {
    fn new(fuel: u32, replays: usize) -> Self {
        Self { fuel, replays }
    }

    /// Whether it may ask another controller.
    fn takes_step(&mut self) -> bool {
        self.fuel = self.fuel.saturating_sub(1);
        self.fuel > 0
    }
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
    pub(crate) fn operate(&mut self, index: UserId) -> Turn {
        let main = self.main(index);
        let replays = if self.jobs.picks { controller::pending_calls(&self.cx, index) } else { 0 };
        let mut search = Search::new(STEPS, replays);
        // Between two samplers the last one still is the current one.
        if self.cx.plan.asks_for_sampler
            && let Some(last) = self.cx.users[index].last_sampler
        {
            self.cx.texts.sampler = Some(self.cx.plan.samplers[last.0 as usize].name.clone());
        }
        self.cx.forget_thrown();
        let given = self.pull(index, main, &mut search);
        self.cx.texts.sampler = None;
        if self.cx.users[index].alive && self.ends_by_exception(index) {
            return Turn::Waits;
        }
        if given != Pull::Later {
            condition::forget_all_texts(&mut self.cx, index);
            // JMeter's thread looks whether it is to go on when it has its next sampler, and throws that away.
            if self.cx.users[index].stopping {
                self.end_of_plan(index);
                return Turn::Waits;
            }
        }
        match given {
            Pull::Sampler(sampler) => {
                return if self.sample(index, sampler) { Turn::On } else { Turn::Waits };
            }
            Pull::Ended(transaction) => {
                self.finish_transaction(index, transaction);
                if self.cx.users[index].wait != Wait::Ready {
                    return Turn::Waits;
                }
                self.after_transaction(index);
            }
            Pull::Nothing => {
                if self.is_done(index, main) {
                    self.end_of_plan(index);
                }
            }
            Pull::Later => return Turn::Over,
        }
        let user = &self.cx.users[index];
        if user.alive && user.wait == Wait::Ready { Turn::On } else { Turn::Waits }
    }

    /// A user has run all that there is for it.
    pub(crate) fn end_of_plan(&mut self, index: UserId) {
        if self.jobs.listens && !self.cx.gives_up(index) && self.catch_up(index, Then::End) {
            return;
        }
        // What was left in the middle has no end.
        if let Some(extra) = &mut self.cx.users[index].extra {
            extra.transactions.clear();
        }
        self.end_user(index);
    }

    /// The controller that a user asks.
    fn main(&self, index: UserId) -> ControllerId {
        let user = &self.cx.users[index];
        let lane = user.extra.as_ref().filter(|_| user.lane).and_then(|extra| extra.main);
        lane.unwrap_or(self.cx.plan.groups[user.group as usize].main)
    }

    /// Asks a controller for the next sampler.
    pub(crate) fn pull(&mut self, index: UserId, id: ControllerId, search: &mut Search) -> Pull {
        let controller = self.cx.controller(id);
        if self.needs_texts(index, id, false) && !self.knows_texts(index, id) {
            return Pull::Later;
        }
        match &controller.kind {
            ControllerKind::Transaction(settings) if settings.parent => {
                return self.pull_parent(index, id, controller, search);
            }
            ControllerKind::Transaction(_) => return self.pull_sum(index, id, controller, search),
            ControllerKind::WeightedSwitch(switch) => {
                return self.pull_weighted(index, id, controller, switch, search);
            }
            ControllerKind::Hosted(element) => {
                return self.pull_hosted(index, id, controller, *element, search);
            }
            _ => {}
        }
        for turn in 0.. {
            if !self.may_go_on(search) {
                return Pull::Later;
            }
            if self.needs_texts(index, id, false) && !self.knows_texts(index, id) {
                return Pull::Later;
            }
            // On the way to where a user waited nothing is decided again.
            let given = if search.replays > 0 { None } else { self.before(index, id, controller) };
            match given.or_else(|| self.advance(index, id, controller, search)) {
                Some(Pull::Later) => return Pull::Later,
                Some(given) => {
                    // JMeter's loops that ask themselves again write it on their way out of each.
                    let times = if controller.name.calls() { turn } else { 0 };
                    (0..=times).for_each(|_| self.write_index(index, id));
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
    fn pull_parent(
        &mut self,
        index: UserId,
        id: ControllerId,
        controller: &'p Controller,
        search: &mut Search,
    ) -> Pull {
        if self.cx.controller_state(index, id).is(state::TOLD) {
            self.cx.controller_state(index, id).clear(state::TOLD);
            return Pull::Nothing;
        }
        self.begin_transaction_if_first(index, id, controller);
        loop {
            if !self.may_go_on(search) {
                return Pull::Later;
            }
            match self.advance(index, id, controller, search) {
                Some(Pull::Nothing) => {
                    self.cx.controller_state(index, id).set(state::TOLD);
                    return Pull::Ended(id);
                }
                Some(given) => return given,
                None => {}
            }
        }
    }

    /// A transaction that sums up its children.
    fn pull_sum(
        &mut self,
        index: UserId,
        id: ControllerId,
        controller: &'p Controller,
        search: &mut Search,
    ) -> Pull {
        // JMeter counts a sample for each time that it asks itself, and so once more for each child that has nothing.
        let mut asked_again = 0;
        loop {
            if !self.may_go_on(search) {
                self.count_calls(index, id, asked_again);
                return Pull::Later;
            }
            self.begin_transaction_if_first(index, id, controller);
            let is_last = self.child(index, id).is_none();
            match self.advance(index, id, controller, search) {
                None => asked_again += 1,
                Some(Pull::Later) => {
                    if self.cx.users[index].alive {
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
        index: UserId,
        id: ControllerId,
        controller: &'p Controller,
    ) {
        if let ControllerKind::Transaction(settings) = &controller.kind
            && !self.cx.controller_state(index, id).is(state::BEGUN)
        {
            self.begin_transaction(index, id, settings);
        }
    }

    /// What a kind looks at before it asks a child. `Some`: no child is asked.
    fn before(
        &mut self,
        index: UserId,
        id: ControllerId,
        controller: &'p Controller,
    ) -> Option<Pull> {
        self.write_index(index, id);
        let is_first = !self.cx.controller_state(index, id).is(state::BEGUN);
        match &controller.kind {
            ControllerKind::Loop { count, once } if self.loop_is_over(index, id, count) => {
                self.end_loop(index, id, *once);
                return Some(Pull::Nothing);
            }
            ControllerKind::While(condition)
                if is_first && self.while_is_over(index, id, condition, false) =>
            {
                self.cx.controller_state(index, id).clear(state::BROKEN);
                self.cx.controller_state(index, id).set_count(0);
                return Some(Pull::Nothing);
            }
            ControllerKind::ForEach(each)
                if (self.cx.controller_state(index, id).is(state::BROKEN)
                    || !self.has_value(index, id, each)) =>
            {
                self.cx.controller_state(index, id).clear(state::BROKEN);
                self.re_initialize(index, id);
                self.reset_count(index, id);
                return Some(Pull::Nothing);
            }
            ControllerKind::If { condition, evaluate_all }
                if (is_first || *evaluate_all) && !condition.holds(&mut self.cx.env(index, "")) =>
            {
                self.initialize_children(index, controller);
                self.re_initialize(index, id);
                return Some(Pull::Nothing);
            }
            ControllerKind::Switch(value) if is_first => {
                let chosen = self.switch(index, controller, value);
                self.cx.controller_state(index, id).set_current(chosen);
            }
            ControllerKind::Interleave(_)
                if self.cx.controller_state(index, id).is(state::SKIP) =>
            {
                self.re_initialize(index, id);
                return Some(Pull::Nothing);
            }
            ControllerKind::Runtime(seconds) if self.runtime_is_over(index, id, seconds) => {
                self.re_initialize(index, id);
                self.reset_count(index, id);
                return Some(Pull::Nothing);
            }
            ControllerKind::Parameterized(parameters) => {
                parameters.set(&mut self.cx.env(index, ""));
            }
            ControllerKind::Critical(_) if !self.may_enter(index, id) => {
                return Some(Pull::Later);
            }
            ControllerKind::Throughput(_)
                if !self.cx.controller_state(index, id).is(state::RUNS) =>
            {
                return Some(Pull::Nothing);
            }
            _ => {}
        }
        None
    }

    /// Asks the current child. `None`: the controller is to be asked again.
    pub(crate) fn advance(
        &mut self,
        index: UserId,
        id: ControllerId,
        controller: &'p Controller,
        search: &mut Search,
    ) -> Option<Pull> {
        if !self.begin_pass(index, id, controller) {
            return Some(Pull::Later);
        }
        if search.replays == 0 && self.is_done(index, id) {
            return Some(Pull::Nothing);
        }
        let Some((at, child)) = self.child(index, id) else {
            if self.is_empty(index, controller) {
                self.end_for_good(index, id);
                return Some(Pull::Nothing);
            }
            return self.behind(index, id, controller);
        };
        self.cx.controller_state(index, id).set_current(at);
        let ControllerKind::Interleave(settings) = &controller.kind else {
            return match child {
                Child::Sampler(sampler) => {
                    self.move_on(index, id);
                    Some(Pull::Sampler(sampler))
                }
                Child::Controller(inner) => match self.pull(index, inner, search) {
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
        let mut place = self.cx.controller_state(index, id);
        let begun_with = &mut place.more()[0];
        if *begun_with == 0 {
            *begun_with = at + 1;
        } else if *begun_with == at + 1 && place.is(state::MOVED) {
            self.re_initialize(index, id);
            return Some(Pull::Nothing);
        }
        match child {
            Child::Sampler(sampler) => {
                self.cx.controller_state(index, id).set(state::SKIP);
                self.move_on(index, id);
                Some(Pull::Sampler(sampler))
            }
            Child::Controller(inner) => match self.pull(index, inner, search) {
                Pull::Later => Some(Pull::Later),
                Pull::Nothing => {
                    if !self.drop_if_done(index, inner) && settings.whole_controllers {
                        self.move_on(index, id);
                    }
                    None
                }
                given => {
                    self.cx.controller_state(index, id).set(state::GAVE);
                    if settings.whole_controllers {
                        self.cx.controller_state(index, id).more()[0] = 0;
                    } else {
                        self.move_on(index, id);
                        self.cx.controller_state(index, id).set(state::SKIP);
                    }
                    Some(given)
                }
            },
        }
    }

    /// All children have been asked. `None`: the controller is to be asked again.
    fn behind(
        &mut self,
        index: UserId,
        id: ControllerId,
        controller: &'p Controller,
    ) -> Option<Pull> {
        if self.needs_texts(index, id, true) && !self.knows_texts(index, id) {
            return Some(Pull::Later);
        }
        let over = match &controller.kind {
            // It stays behind its last child until it is told to begin anew.
            ControllerKind::OnceOnly => return Some(Pull::Nothing),
            ControllerKind::Lane => {
                self.end_for_good(index, id);
                return Some(Pull::Nothing);
            }
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
                self.cx.controller_state(index, id).is(state::BROKEN)
                    || !self.has_value(index, id, each)
                    || self.cx.controller_state(index, id).count() >= self.last_value(index, each)
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
        self.cx.controller_state(index, id).clear(state::BROKEN);
        self.reset_count(index, id);
        Some(Pull::Nothing)
    }

    /// Goes to the child behind the current one.
    fn move_on(&mut self, index: UserId, id: ControllerId) {
        let controller = self.cx.controller(id);
        let mut place = self.cx.controller_state(index, id);
        let next = place.current().saturating_add(1);
        match &controller.kind {
            ControllerKind::Switch(_) => place.set_current(NOWHERE),
            ControllerKind::Interleave(settings) => {
                let gave = place.is(state::GAVE);
                place.set(if gave { state::MOVED | state::SKIP } else { state::MOVED });
                place.set_current(next);
                if settings.random {
                    self.reset_current(index, id);
                }
            }
            _ => place.set_current(next),
        }
    }

    /// Drops a controller from the one around it if it gives nothing any more.
    fn drop_if_done(&mut self, index: UserId, id: ControllerId) -> bool {
        let done = self.is_done(index, id);
        if done {
            self.cx.controller_state(index, id).set(state::DROPPED);
        }
        done
    }

    fn end_loop(&mut self, index: UserId, id: ControllerId, once: bool) {
        if once {
            self.end_for_good(index, id);
        }
        self.cx.controller_state(index, id).clear(state::BROKEN);
    }

    /// Sets a loop's index variable, if the plan mentions it.
    fn write_index(&mut self, index: UserId, id: ControllerId) {
        let controller = self.cx.controller(id);
        if !controller.kind.iterates() {
            return;
        }
        let count = self.cx.controller_state(index, id).count();
        if controller.name.fixed().is_none() && controller.parent.is_some() {
            return self.write_named_index(index, controller, count);
        }
        let Some(variable) = controller.index else { return };
        let text = self.cx.users.of(index).vars.write(variable);
        text.clear();
        text.push_str(itoa::Buffer::new().format(count));
    }

    /// Sets the index variable of a loop whose name is an expression, which is evaluated for it.
    fn write_named_index(&mut self, index: UserId, controller: &Controller, count: i32) {
        let mut name = self.cx.texts.take();
        name.push_str("__jm__");
        controller.name.eval(&mut self.cx.env(index, ""), &mut name);
        name.push_str("__idx");
        if !self.cx.has_thrown() {
            let value = itoa::Buffer::new().format(count).to_owned();
            self.cx.users.of(index).vars.set_named(&self.cx.plan.names, &name, &value);
        }
        self.cx.texts.give(name);
    }

    /// Whether a search may ask another controller.
    pub(crate) fn may_go_on(&self, search: &mut Search) -> bool {
        search.takes_step() && !self.cx.has_thrown()
    }
}
