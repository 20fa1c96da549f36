//! Run-time behaviour of each kind of controller, one file per kind: what the kind does at each stage of an iteration.
//!
//! The walk through the controllers is in [`search`](crate::flow::search). It calls one function of this module for
//! each stage, which dispatches on the kind. A kind without behaviour of its own at a stage acts as a [`simple`]
//! controller.

pub(crate) mod branch;
pub(crate) mod counted_loop;
pub(crate) mod critical_section;
pub(crate) mod for_each;
pub(crate) mod if_controller;
pub(crate) mod interleave;
pub(crate) mod java_backed;
pub(crate) mod once_only;
pub(crate) mod parallel;
pub(crate) mod parameterized;
pub(crate) mod random_order;
pub(crate) mod runtime;
pub(crate) mod simple;
pub(crate) mod switch;
pub(crate) mod throughput;
pub(crate) mod transaction;
pub(crate) mod weighted_switch;
pub(crate) mod while_loop;

use plan::plan::{Child, ControllerKind as Kind};

use crate::flow::search::Pull;
use crate::flow::visit::Visit;
use crate::users::controllers::{ARRIVED, BEGUN, DONE};

/// Rules by which a kind of controller counts its iterations.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counting {
    /// True if listeners get number 1 for the first iteration; false if they get 0.
    pub(crate) from_one: bool,
    /// True if listeners treat the controller as a loop.
    pub(crate) is_loop: bool,
    /// True if the count is kept when the controller is initialised a second time.
    pub(crate) is_kept: bool,
}

impl Visit<'_, '_> {
    /// Runs the checks of a controller's kind before it asks a child for a sampler. Returns `Some` if no child is
    /// asked.
    #[inline]
    pub(crate) fn before(&mut self) -> Option<Pull> {
        match &self.controller.kind {
            Kind::Loop { count, once } => counted_loop::before(self, count, *once),
            Kind::While(condition) => while_loop::before(self, condition),
            Kind::ForEach(each) => for_each::before(self, each),
            Kind::If { condition, evaluate_all } => {
                if_controller::before(self, condition, *evaluate_all)
            }
            Kind::Switch(value) => switch::before(self, value),
            Kind::Interleave(_) => interleave::before(self),
            Kind::Runtime(seconds) => runtime::before(self, seconds),
            Kind::Parameterized(parameters) => parameterized::before(self, parameters),
            Kind::Critical(lock) => critical_section::before(self, lock),
            Kind::Throughput(_) => throughput::before(self),
            _ => None,
        }
    }

    /// Returns true if the controller is about to read expressions that Java evaluates. `at_end` is true after its last
    /// child.
    pub(crate) fn reads_texts(&mut self, at_end: bool) -> bool {
        !self.controller.evaluates.is_empty() && !self.is_broken() && self.kind_reads_texts(at_end)
    }

    fn kind_reads_texts(&mut self, at_end: bool) -> bool {
        match &self.controller.kind {
            Kind::Loop { .. } => counted_loop::reads_texts(&mut self.state()),
            Kind::ForEach(_) => for_each::reads_texts(),
            Kind::Runtime(_) => runtime::reads_texts(),
            Kind::While(_) => while_loop::reads_texts(self, at_end),
            Kind::If { evaluate_all, .. } => {
                if_controller::reads_texts(self, *evaluate_all, at_end)
            }
            Kind::Throughput(_) => throughput::reads_texts(at_end),
            _ => simple::reads_texts(self, at_end),
        }
    }

    /// Prepares to ask the child at position `at`. Returns `Some` if the child is not asked.
    #[inline]
    pub(crate) fn before_child(&mut self, at: u32) -> Option<Pull> {
        self.state().set_current(at);
        match &self.controller.kind {
            Kind::Interleave(_) => interleave::before_child(self, at),
            _ => None,
        }
    }

    /// Moves on from the current child, a sampler, which runs next.
    #[inline]
    pub(crate) fn gives_sampler(&mut self) {
        match &self.controller.kind {
            Kind::Interleave(settings) => interleave::gives_sampler(self, settings),
            _ => self.move_on(),
        }
    }

    /// Stores that the current child, a controller, has returned a sampler. Has an effect in Interleave and Random
    /// Controllers only.
    pub(crate) fn child_gave(&mut self) {
        if let Kind::Interleave(settings) = &self.controller.kind {
            interleave::child_gave(self, settings);
        }
    }

    /// Moves on from the current child, a controller that has no further sampler in its iteration. Does nothing if the
    /// child was dropped, because dropped children are skipped.
    pub(crate) fn child_ended(&mut self, is_dropped: bool) {
        if is_dropped {
            return;
        }
        match &self.controller.kind {
            Kind::Interleave(settings) => interleave::child_ended(self, settings),
            _ => self.move_on(),
        }
    }

    /// Moves on to the next child.
    #[inline]
    fn move_on(&mut self) {
        match &self.controller.kind {
            Kind::Switch(_) => switch::move_on(self),
            _ => simple::move_on(self),
        }
    }

    /// Returns the child at a position of the execution order.
    #[inline]
    pub(crate) fn child_at(&mut self, at: u32) -> Child {
        let at = match self.controller.kind {
            Kind::RandomOrder => random_order::child_at(&mut self.state(), at),
            _ => at,
        };
        self.controller.children[at as usize]
    }

    /// Decides whether the iteration ends, after the last child was asked. Returns `None` if the controller must be
    /// asked once more.
    pub(crate) fn after_children(&mut self) -> Option<Pull> {
        match &self.controller.kind {
            Kind::Loop { count, once } => counted_loop::after_children(self, count, *once),
            Kind::While(condition) => while_loop::after_children(self, condition),
            Kind::ForEach(each) => for_each::after_children(self, each),
            Kind::Runtime(seconds) => runtime::after_children(self, seconds),
            Kind::Interleave(settings) => interleave::after_children(self, settings),
            Kind::OnceOnly => once_only::after_children(),
            Kind::Branch => branch::after_children(self),
            _ => simple::after_children(self),
        }
    }

    /// Returns true if a controller ends its user because it has asked itself for a sampler `turn` times without
    /// result.
    pub(crate) fn is_stuck(&self, turn: u32) -> bool {
        matches!(self.controller.kind, Kind::Interleave(_)) && interleave::is_stuck(turn)
    }

    /// Returns true if the controller will never return a sampler again, so that its parent drops it.
    #[inline]
    pub(crate) fn is_done(&mut self) -> bool {
        let done = self.state().is(DONE);
        match &self.controller.kind {
            Kind::If { .. } => if_controller::is_done(),
            Kind::ForEach(each) => for_each::is_done(self, each, done),
            Kind::Runtime(seconds) => runtime::is_done(self, seconds, done),
            Kind::Throughput(throughput) => throughput::is_done(self, throughput),
            _ => done,
        }
    }

    /// Returns true if the Java class of the controller initialises the children, instead of the user.
    pub(crate) fn begins_itself(&mut self) -> bool {
        match &self.controller.kind {
            Kind::JavaBacked(element) => java_backed::begins(self, *element),
            _ => false,
        }
    }

    /// Finishes the initialisation of the controller and its children. Returns false if the user must end.
    pub(crate) fn has_begun(&mut self) -> bool {
        match &self.controller.kind {
            Kind::ForEach(_) => self.forget_count(),
            Kind::RandomOrder => random_order::has_begun(self),
            Kind::Interleave(settings) => return interleave::has_begun(self, settings),
            _ => {}
        }
        true
    }

    /// Ends an iteration: the next iteration begins with the first child.
    pub(crate) fn end_iteration(&mut self) {
        crate::java::forget_texts(self.cx, self.index, self.id);
        let kind = &self.controller.kind;
        let mut state = self.state();
        state.set_count(state.count().wrapping_add(1));
        state.clear(BEGUN | ARRIVED);
        match kind {
            Kind::Interleave(_) => interleave::end_iteration(&mut state),
            Kind::RandomOrder => random_order::end_iteration(self),
            Kind::Critical(_) => critical_section::end_iteration(self),
            _ => simple::end_iteration(&mut state),
        }
    }

    /// Returns the rules by which the controller counts its iterations.
    pub(crate) fn counting(&self) -> Counting {
        match &self.controller.kind {
            Kind::Loop { .. } => counted_loop::COUNTING,
            Kind::ForEach(_) => for_each::COUNTING,
            Kind::Runtime(_) => runtime::COUNTING,
            _ => Counting::default(),
        }
    }

    /// Returns true if a loop has another iteration after the current one.
    pub(crate) fn has_next_iteration(&mut self) -> bool {
        matches!(self.controller.kind, Kind::Loop { .. }) && counted_loop::has_next(self)
    }

    /// Resets the number of completed iterations.
    pub(crate) fn forget_count(&mut self) {
        match &self.controller.kind {
            Kind::Loop { .. } => counted_loop::forget_count(&mut self.state()),
            Kind::ForEach(each) => for_each::forget_count(self, each),
            Kind::Runtime(_) => runtime::forget_count(&mut self.state()),
            _ => self.state().set_count(0),
        }
    }

    /// Ends the controller permanently: it returns no sampler from now on.
    pub(crate) fn end_for_good(&mut self) {
        let mut state = self.state();
        state.set(DONE);
        if let Kind::Loop { .. } = &self.controller.kind {
            counted_loop::end_for_good(&mut self.state());
        }
    }

    /// Prepares the controller for the iteration with this number that its parent begins. Iterations of a loop count
    /// from 1.
    pub(crate) fn parent_begins(&mut self, iteration: i32, is_loop: bool) {
        match &self.controller.kind {
            Kind::JavaBacked(element) => {
                java_backed::parent_begins(self, *element, iteration, is_loop);
            }
            Kind::OnceOnly => once_only::parent_begins(self, iteration, is_loop),
            Kind::Throughput(throughput) => throughput::parent_begins(self, throughput),
            _ => simple::parent_begins(self),
        }
    }

    /// Ends the iteration because a sampler inside has made the user leave the controller.
    pub(crate) fn is_left(&mut self) {
        match &self.controller.kind {
            Kind::JavaBacked(element) => java_backed::is_left(self, *element),
            Kind::If { .. } => if_controller::is_left(self),
            Kind::While(condition) => while_loop::is_left(self, condition),
            Kind::Loop { .. } | Kind::ForEach(_) | Kind::Runtime(_) => {
                self.end_iteration();
                self.forget_count();
            }
            _ => self.end_iteration(),
        }
    }
}
