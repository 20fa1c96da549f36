//! Which sampler a user runs next. Hot.
//!
//! The tree of controllers is asked from its root, as JMeter's threads ask theirs: each controller asks its current child, moves on when
//! that has nothing, and remembers where it is in the user's slots. What kinds differ in (what they do at the start, between and at the end of a
//! iteration) is in [`kinds`](crate::flow::kinds), a file each. Where a controller asks itself again, JMeter recurs, and dies of it when nothing comes;
//! here it is a loop, which gives way to other users.
//!
//! To be asked again must do no harm: a pull that cannot go on (the user waits, or has used up its turn) changes nothing on its way out, and
//! the next one finds the way back.

use plan::plan::{Child, ControllerId, ControllerKind, SamplerId};

use crate::context::Context;
use crate::flow::Flow;
use crate::flow::visit::Visit;
use crate::ids::UserId;
use crate::java::{Jobs, Then, condition};
use crate::results::Sinks;
use crate::sample::reporting::Reporting;

/// How many controllers may be asked for a user's next sampler before others have their turn.
const STEPS: u32 = 4096;

/// The answer of a controller that is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pull {
    /// Nothing (more) in this iteration.
    Nothing,
    /// A sampler to run.
    Sampler(SamplerId),
    /// A transaction with a parent sample is complete.
    Ended(ControllerId),
    /// Not now: the user waits, has ended, or has used up its turn.
    Later,
    /// Nothing any more: the user is to end.
    Ends,
}

/// A user's way through the tree of controllers, to its next sampler.
pub(crate) struct Walk<'c, 'p> {
    pub(crate) cx: &'c mut Context<'p>,
    pub(crate) flow: &'c mut Flow,
    pub(crate) jobs: &'c mut Jobs,
    pub(crate) sinks: &'c mut Sinks,
    pub(crate) index: UserId,
    root: UserId,
    /// How many controllers may yet be asked before others have their turn.
    fuel: u32,
    /// Pending calls to controllers in Java that are still to be replayed: down to them nothing is decided again.
    pub(crate) replays: usize,
    /// The Redis Data Set of which the user needs a value first.
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

    /// Asks a controller, as often as it asks itself again.
    fn pull_children(&mut self, id: ControllerId) -> Pull {
        for turn in 0.. {
            if !self.may_go_on() {
                return Pull::Later;
            }
            if let Some(given) = self.awaits_texts(id, false) {
                return given;
            }
            // On the way to where a user waited nothing is decided again.
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
                    // JMeter's loops that ask themselves again write it on their way out of each.
                    let mut visit = self.visit(id);
                    let times = if visit.controller.name.calls() { turn } else { 0 };
                    (0..=times).for_each(|_| visit.write_index());
                    return given;
                }
                None if self.visit(id).despairs(turn) => return Pull::Ends,
                None => {}
            }
        }
        Pull::Later
    }

    /// Asks the current child. `None`: the controller is to be asked again.
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
            return self.awaits_texts(id, true).or_else(|| self.visit(id).behind());
        };
        if let Some(given) = visit.comes_to(at) {
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
                    self.visit(id).child_is_through(is_dropped);
                    None
                }
                given => {
                    self.visit(id).child_gave();
                    Some(given)
                }
            },
        }
    }

    /// The user at a controller.
    #[inline]
    pub(crate) fn visit(&mut self, id: ControllerId) -> Visit<'_, 'p> {
        Visit::new(self.cx, self.flow, (self.index, self.root), id)
    }

    pub(crate) fn reporting(&mut self) -> Reporting<'_, 'p> {
        Reporting { cx: self.cx, jobs: self.jobs, sinks: self.sinks }
    }

    /// Whether it may ask another controller.
    pub(crate) fn may_go_on(&mut self) -> bool {
        self.fuel = self.fuel.saturating_sub(1);
        self.fuel > 0 && !self.cx.has_thrown()
    }

    /// A controller may be about to look at texts that Java evaluates. `None`: it has none, or they are known.
    #[inline]
    fn awaits_texts(&mut self, id: ControllerId, at_end: bool) -> Option<Pull> {
        if self.cx.controller(id).evaluates.is_empty() || !self.visit(id).reads_texts(at_end) {
            return None;
        }
        self.awaits_known_texts(id)
    }

    /// Has the texts of a controller evaluated, unless they are known.
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
