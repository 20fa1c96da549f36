//! Controllers that their own classes are: which sampler is next is asked in Java.
//!
//! What such a controller holds stays native. Java has the controller's own object, with a stand-in for each child: a sampler's is what the controller gives, and
//! a controller's asks back, so that a question may be open while the native tree is asked inside of it, down to another such controller. The user waits for
//! each answer as for any job, and the next look for a sampler finds the same way down ([`Core::pending_calls`]) and goes on with it. What JMeter only tells a
//! controller (it begins, its pass is over, its loop is left) is told with the next question. Plans without such a controller pay two comparisons for
//! each controller that is asked.

use plan::hosted::HostedId;
use plan::plan::{Controller, ControllerId, ControllerKind, SamplerId};

use super::reader::{Malformed, Reader};
use super::reply::{Failed, Out};
use super::{Act, Reply, Then, UnderWay};
use crate::core::Core;
use crate::flow::search::{Pull, Search};
use crate::ids::UserId;
use crate::users::controllers as state;

/// The controller is asked for a sampler.
const NEXT: u32 = 0;
/// It goes on with the answer to what it asked.
const GO_ON: u32 = 1;

/// What is kept for a controller that is not asked for long; what came first is forgotten.
const MOST_UNTOLD: usize = 1000;

/// What a controller is told. The numbers are those of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Tell {
    Initialize = 1,
    EndOfLoop = 2,
    NextLoop = 3,
    BreakLoop = 4,
    /// The controller around it begins an iteration.
    Iteration = 5,
}

/// What a controller says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// It has nothing (more) in this pass; whether it never has again.
    Nothing(bool),
    Sampler(u32),
    /// The sample of a transaction below it that is complete.
    Transaction(u32),
    /// It asks for something first.
    Asks(Ask),
}

/// What a controller asks for before it can say which sampler is next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    /// A child for its next sampler.
    Next(u32),
    Initialize(u32),
    EndOfLoop(u32),
    IsDone(u32),
    /// That its iteration with this number begins be known; whether it counts from one.
    Begins(i32, bool),
}

/// A question to a controller that is not answered yet.
#[derive(Debug)]
struct Open {
    controller: ControllerId,
    said: Option<Said>,
    /// How many texts of controllers were known when it was asked.
    known: usize,
}

/// What a user has of such controllers.
#[derive(Debug, Default)]
pub(super) struct Questions {
    /// Each was asked inside of the one before.
    open: Vec<Open>,
    /// What is to be told: element, what, number.
    untold: Vec<[u32; 3]>,
}

impl Questions {
    /// A look for a sampler has come to its end.
    pub(super) fn close(&mut self) {
        self.open.clear();
    }

    fn tell(&mut self, element: HostedId, what: Tell, number: u32) {
        let one = [element.0, what as u32, number];
        // To be initialised twice is to be initialised.
        let mut last = self.untold.iter().rev().filter(|told| told[0] == element.0);
        if what == Tell::Initialize && last.next() == Some(&one) {
            return;
        }
        if self.untold.len() == MOST_UNTOLD {
            self.untold.remove(0);
        }
        self.untold.push(one);
    }
}

impl Said {
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(match reader.byte()? {
            0 => Self::Nothing(reader.byte()? != 0),
            1 => Self::Sampler(reader.int()?),
            2 => Self::Transaction(reader.int()?),
            3 => {
                let what = reader.byte()?;
                let number = reader.int()?;
                Self::Asks(match what {
                    0 => Ask::Next(number),
                    1 => Ask::Initialize(number),
                    2 => Ask::EndOfLoop(number),
                    3 => Ask::IsDone(number),
                    4 => Ask::Begins(number as i32, false),
                    5 => Ask::Begins(number as i32, true),
                    _ => return Err(Malformed("a controller asks for what there is not")),
                })
            }
            _ => return Err(Malformed("a controller says what there is not")),
        })
    }

    /// Whether it speaks of what the plan has, and asks for children of such controllers: those that are told something may ask for theirs.
    fn fits(self, plan: &plan::plan::Plan) -> bool {
        let controller = |at: u32| plan.controllers.get(at as usize);
        match self {
            Self::Nothing(_) | Self::Asks(Ask::Begins(..)) => true,
            Self::Sampler(at) => (at as usize) < plan.samplers.len(),
            Self::Transaction(at) => {
                controller(at).is_some_and(|one| matches!(one.kind, ControllerKind::Transaction(_)))
            }
            Self::Asks(
                Ask::Next(at) | Ask::Initialize(at) | Ask::EndOfLoop(at) | Ask::IsDone(at),
            ) => {
                let around = controller(at).and_then(|one| one.parent);
                around
                    .and_then(|around| controller(around.0))
                    .is_some_and(|around| matches!(around.kind, ControllerKind::Hosted(_)))
            }
        }
    }
}

impl<'p> Core<'p> {
    /// Pending calls to a user's controllers in Java, which its next search replays.
    pub(crate) fn pending_calls(&self, index: UserId) -> usize {
        let java =
            self.cx.users[index].extra.as_ref().and_then(|extra| extra.parts.get::<super::Java>());
        java.map_or(0, |java| java.questions.open.len())
    }

    /// Asks a controller of a class of its own for the next sampler.
    pub(crate) fn pull_hosted(
        &mut self,
        index: UserId,
        id: ControllerId,
        controller: &'p Controller,
        element: HostedId,
        search: &mut Search,
    ) -> Pull {
        if self.gives_up(index) {
            self.end_user(index);
            return Pull::Later;
        }
        if self.jobs.listens && self.catch_up(index, Then::Pull(None)) {
            return Pull::Later;
        }
        let questions = &mut self.cx.users[index].java().questions;
        let at = questions.open.len() - search.replays.min(questions.open.len());
        let said = questions.open.get(at).filter(|open| open.controller == id);
        let Some(said) = said.map(|open| open.said) else {
            search.replays = 0;
            return self.ask_controller(index, id, element, at);
        };
        search.replays = search.replays.saturating_sub(1);
        let answer = match said {
            None => return Pull::Later,
            Some(Said::Asks(ask)) => match self.do_for_controller(index, controller, ask, search) {
                Some(answer) => answer,
                None => return Pull::Later,
            },
            Some(said) => {
                self.cx.users[index].java().questions.open.truncate(at);
                return match said {
                    Said::Sampler(sampler) => Pull::Sampler(SamplerId(sampler)),
                    Said::Transaction(transaction) => Pull::Ended(ControllerId(transaction)),
                    _ => Pull::Nothing,
                };
            }
        };
        let java = self.cx.users[index].java();
        java.questions.open.truncate(at + 1);
        let Some(open) = java.questions.open.get_mut(at) else { return Pull::Later };
        open.said = None;
        // Its children may be asked once more in this look, and then anew.
        java.fresh.truncate(open.known);
        let words = [element.0, at as u32, GO_ON, answer[0], answer[1]];
        self.hand_over_words(index, Then::Controller(id), Act::Controller, &words);
        Pull::Later
    }

    /// Puts a new question.
    fn ask_controller(
        &mut self,
        index: UserId,
        id: ControllerId,
        element: HostedId,
        at: usize,
    ) -> Pull {
        let java = self.cx.users[index].java();
        let known = java.fresh.len();
        let questions = &mut java.questions;
        questions.open.truncate(at);
        questions.open.push(Open { controller: id, said: None, known });
        let mut words = vec![element.0, at as u32, NEXT, 0, 0];
        words.extend(questions.untold.drain(..).flatten());
        self.hand_over_words(index, Then::Controller(id), Act::Controller, &words);
        Pull::Later
    }

    /// Does what a controller asks for; kind and number of the answer. `None`: not now.
    fn do_for_controller(
        &mut self,
        index: UserId,
        controller: &'p Controller,
        ask: Ask,
        search: &mut Search,
    ) -> Option<[u32; 2]> {
        match ask {
            Ask::Next(child) => Some(match self.pull(index, ControllerId(child), search) {
                Pull::Later => return None,
                Pull::Nothing => [0, u32::from(self.is_done(index, ControllerId(child)))],
                Pull::Sampler(sampler) => [1, sampler.0],
                Pull::Ended(transaction) => [2, transaction.0],
            }),
            Ask::Initialize(child) => self.initialize(index, ControllerId(child)).then_some([0, 0]),
            Ask::EndOfLoop(child) => {
                self.trigger_end_of_loop(index, ControllerId(child));
                Some([0, 0])
            }
            Ask::IsDone(child) => Some([0, u32::from(self.is_done(index, ControllerId(child)))]),
            Ask::Begins(number, from_one) => {
                self.tell_of_iteration(index, controller, number, from_one).then_some([0, 0])
            }
        }
    }

    /// Has a controller told of something with the next question to any.
    pub(crate) fn tell_controller(
        &mut self,
        index: UserId,
        id: ControllerId,
        what: Tell,
        number: u32,
    ) {
        let ControllerKind::Hosted(element) = self.cx.controller(id).kind else { return };
        if what == Tell::Initialize {
            self.cx.controller_state(index, id).clear(state::DONE);
        }
        if what != Tell::Iteration || self.jobs.shared.hearing.counting.contains(&element) {
            self.cx.users[index].java().questions.tell(element, what, number);
        }
    }

    /// Whether a controller can be broken out of by the class that it is.
    pub(crate) fn is_left_by_class(&self, controller: &Controller) -> bool {
        matches!(controller.kind, ControllerKind::Hosted(element)
            if self.jobs.shared.hearing.breaking.contains(&element))
    }

    /// A controller has said something, or its job has failed.
    pub(super) fn hear_controller(
        &mut self,
        index: UserId,
        id: ControllerId,
        read: Result<Reply<'_>, Failed>,
        job: &UnderWay,
    ) {
        let said = match read {
            Ok(Reply { gives_up: false, out: Out::Said(said), .. }) => {
                Some(said).filter(|said| said.fits(self.cx.plan))
            }
            // Java has told of it.
            Ok(Reply { gives_up: true, .. }) => return self.end_of_plan(index),
            Ok(_) => None,
            Err(failed) => {
                self.cx.log(format!("Error: {}: {failed}; the user ends", job.what));
                return self.end_of_plan(index);
            }
        };
        let Some(said) = said else {
            let what = "it gave what it does not hold; the user ends";
            self.cx.log(format!("Error: {}: {what}", job.what));
            return self.end_of_plan(index);
        };
        // One that must end does so when it has its next sampler.
        self.must_end(index);
        if let Said::Nothing(done) = said {
            let mut place = self.cx.controller_state(index, id);
            place.clear(state::DONE);
            if done {
                place.set(state::DONE);
            }
        }
        if let Some(open) = self.cx.users[index].java().questions.open.last_mut() {
            open.said = Some(said);
        }
    }
}
