//! The search for the sampler that a user runs next. Hot.
//!
//! As in JMeter's threads, the search begins at the root of the controller tree. Each controller asks its current
//! child, moves on when the child has no sampler, and keeps its position in the user's slots. The differences
//! between kinds (what they do at the start, between children and at the end of an iteration) are in
//! [`kinds`](crate::flow::kinds), one file per kind. Where a controller calls itself once more, JMeter recurses,
//! and overflows its stack if no sampler is ever found. Throng uses a loop that yields to other users.
//!
//! A repeated search must have no side effects. If a search cannot continue (the user waits, or has used up its
//! turn), it leaves the state unchanged, and the next search reaches the same position.

use plan::plan::{Child, ControllerId, ControllerKind, SamplerId};

use crate::context::Context;
use crate::flow::Flow;
use crate::flow::visit::Visit;
use crate::ids::UserId;
use crate::java::{Jobs, Then, condition};
use crate::results::Sinks;
use crate::sample::reporting::Reporting;

/// Maximum number of controllers that are asked for a user's next sampler before other users have their turn.
const STEPS: u32 = 4096;

/// A controller's answer to the request for the next sampler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pull {
    /// The controller has no further sampler in this iteration.
    Nothing,
    /// The sampler that the user runs next.
    Sampler(SamplerId),
    /// A transaction with a parent sample has ended.
    Ended(ControllerId),
    /// No answer now: the user waits, has ended, or has used up its turn.
    Later,
    /// The user must end: there is nothing left to run.
    Ends,
}

/// A user's walk through the tree of controllers to its next sampler.
pub(crate) struct Walk<'c, 'p> {
    pub(crate) cx: &'c mut Context<'p>,
    pub(crate) flow: &'c mut Flow,
    pub(crate) jobs: &'c mut Jobs,
    pub(crate) sinks: &'c mut Sinks,
    pub(crate) index: UserId,
    root: UserId,
    /// Number of controllers that the walk may still visit before other users run.
    fuel: u32,
    /// Number of pending calls to Java-backed controllers that the walk must still replay. During the replay,
    /// controllers make no decisions.
    pub(crate) replays: usize,
    /// The Redis Data Set that must first be read for the user.
    pub(crate) lacks: Option<u32>,
}

impl<'c, 'p> Walk<'c, 'p> {
    pub(crate) fn new(
        reporting: Reporting<'c, 'p>,
        flow: &'c mut Flow,
        index: UserId,
        replays: usize,
    ) -> Self {
        let Reporting { cx, jobs, sinks } = reporting;
        let root = cx.users.root(index);
        Self { cx, flow, jobs, sinks, index, root, fuel: STEPS, replays, lacks: None }
    }

    /// Asks a controller for the next sampler.
    pub(crate) fn pull(&mut self, id: ControllerId) -> Pull {
        if let Some(given) = self.awaits_texts(id, false) {
            return given;
        }
        match &self.cx.controller(id).kind {
            ControllerKind::Transaction(settings) => self.pull_transaction(id, settings),
            ControllerKind::WeightedSwitch(switch) => self.pull_weighted(id, switch),
            ControllerKind::JavaBacked(element) => self.pull_java_backed(id, *element),
            _ => self.pull_children(id),
        }
    }

    /// Asks a controller for the next sampler, repeatedly if the controller must be asked once more.
    fn pull_children(&mut self, id: ControllerId) -> Pull {
        for turn in 0.. {
            if !self.may_go_on() {
                return Pull::Later;
            }
            if let Some(given) = self.awaits_texts(id, false) {
                return given;
            }
            // During a replay, the decisions were already made.
            let decides = self.replays == 0;
            let mut visit = self.visit(id);
            let given = if decides {
                visit.write_index();
                visit.before()
            } else {
                None
            };
            match given.or_else(|| self.advance(id)) {
                Some(given @ (Pull::Later | Pull::Ends)) => return given,
                Some(given) => {
                    // JMeter's loops call themselves, and write the index once for each level of recursion that
                    // they leave.
                    let mut visit = self.visit(id);
                    let times = if visit.controller.name.calls() { turn } else { 0 };
                    (0..=times).for_each(|_| visit.write_index());
                    return given;
                }
                None if self.visit(id).is_stuck(turn) => return Pull::Ends,
                None => {}
            }
        }
        Pull::Later
    }

    /// Asks the current child for the next sampler. Returns `None` if the controller must be asked once more.
    pub(crate) fn advance(&mut self, id: ControllerId) -> Option<Pull> {
        if let Some(given) = self.begin_iteration(id) {
            return Some(given);
        }
        let decides = self.replays == 0;
        let mut visit = self.visit(id);
        if decides && visit.is_done() {
            return Some(Pull::Nothing);
        }
        let Some((at, child)) = visit.child() else {
            if visit.is_empty() {
                visit.end_for_good();
                return Some(Pull::Nothing);
            }
            return self.awaits_texts(id, true).or_else(|| self.visit(id).after_children());
        };
        if let Some(given) = visit.before_child(at) {
            return Some(given);
        }
        match child {
            Child::Sampler(sampler) => {
                visit.gives_sampler();
                Some(Pull::Sampler(sampler))
            }
            Child::Controller(inner) => match self.pull(inner) {
                given @ (Pull::Later | Pull::Ends) => Some(given),
                Pull::Nothing => {
                    let is_dropped = self.visit(inner).drop_if_done();
                    self.visit(id).child_ended(is_dropped);
                    None
                }
                given => {
                    self.visit(id).child_gave();
                    Some(given)
                }
            },
        }
    }

    /// Returns the visit of the user at a controller.
    #[inline]
    pub(crate) fn visit(&mut self, id: ControllerId) -> Visit<'_, 'p> {
        Visit::new(self.cx, self.flow, self.index, self.root, id)
    }

    pub(crate) fn reporting(&mut self) -> Reporting<'_, 'p> {
        Reporting { cx: self.cx, jobs: self.jobs, sinks: self.sinks }
    }

    /// Uses up one step. Returns true if the walk may ask another controller.
    pub(crate) fn may_go_on(&mut self) -> bool {
        self.fuel = self.fuel.saturating_sub(1);
        self.fuel > 0 && !self.cx.has_thrown()
    }

    /// Makes the user wait for expressions that Java evaluates, if the controller is about to read any. Returns
    /// `None` if no evaluation is needed.
    #[inline]
    fn awaits_texts(&mut self, id: ControllerId, at_end: bool) -> Option<Pull> {
        if self.cx.controller(id).evaluates.is_empty() || !self.visit(id).reads_texts(at_end) {
            return None;
        }
        self.awaits_known_texts(id)
    }

    /// Sends the expressions of a controller to Java for evaluation, unless they are evaluated already.
    pub(crate) fn awaits_known_texts(&mut self, id: ControllerId) -> Option<Pull> {
        let index = self.index;
        if condition::are_known(self.cx, index, id) {
            return None;
        }
        if self.cx.gives_up(index) {
            return Some(Pull::Ends);
        }
        if !self.reporting().catch_up(index, Then::Pull(None)) {
            let range = self.cx.controller(id).evaluates;
            self.jobs.hand_over_texts(self.cx, index, Then::Pull(Some(id)), range);
        }
        Some(Pull::Later)
    }
}
