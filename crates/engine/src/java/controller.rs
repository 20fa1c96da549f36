//! Controllers that their own classes are: which sampler is next is asked in Java.
//!
//! The children of such a controller stay native. Java has the controller's own object, with a stand-in for each child: a sampler's is what the controller gives, and
//! a controller's asks back, so that a question may be open while the native tree is asked inside of it, down to another such controller. The user waits for
//! each answer as for any job, and the next look for a sampler finds the same way down ([`pending_calls`]) and goes on with it. What JMeter only tells a
//! controller (it begins, its pass is over, its loop is left) is told with the next question. Plans without such a controller pay two comparisons for
//! each controller that is asked.

use plan::hosted::HostedId;
use plan::plan::{ControllerId, ControllerKind};

use super::message::{Answer, Need, Notice, Question, SaidKind, Tell, Turn};
use super::reader::{Malformed, Reader};
use super::reply::{Failed, Out};
use super::{Act, Jobs, Next, Reply, Then, UnderWay, arrive};
use crate::context::Context;
use crate::ids::UserId;
use crate::reports::line::{Line, LogLevel};
use crate::users::controllers as state;

/// Notices that are kept for a controller which is not asked for long; the first are forgotten.
const MOST_UNTOLD: usize = 1000;

/// The answer of a controller.
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

/// The question of a controller before it can say which sampler is next.
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

/// A user's open questions to such controllers.
#[derive(Debug, Default)]
pub(super) struct Questions {
    /// Each was asked inside of the one before.
    open: Vec<Open>,
    /// Notices that are to be told.
    untold: Vec<Notice>,
}

impl Questions {
    /// A look for a sampler has come to its end.
    pub(super) fn close(&mut self) {
        self.open.clear();
    }

    fn tell(&mut self, element: HostedId, what: Tell, number: u32) {
        let one = Notice { element: element.0, what, number };
        // To be initialised twice is to be initialised.
        let mut last = self.untold.iter().rev().filter(|told| told.element == element.0);
        if what == Tell::Initialize && last.next().is_some_and(|told| told.words() == one.words()) {
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
        Ok(match SaidKind::read(reader)? {
            SaidKind::Nothing => Self::Nothing(reader.byte()? != 0),
            SaidKind::Sampler => Self::Sampler(reader.int()?),
            SaidKind::Transaction => Self::Transaction(reader.int()?),
            SaidKind::Asks => {
                let need = Need::read(reader)?;
                let number = reader.int()?;
                Self::Asks(match need {
                    Need::Next => Ask::Next(number),
                    Need::Initialize => Ask::Initialize(number),
                    Need::EndOfLoop => Ask::EndOfLoop(number),
                    Need::IsDone => Ask::IsDone(number),
                    Need::Begins => Ask::Begins(number as i32, false),
                    Need::BeginsFromOne => Ask::Begins(number as i32, true),
                })
            }
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

/// Pending calls to a user's controllers in Java, which its next search replays.
pub(crate) fn pending_calls(cx: &Context<'_>, index: UserId) -> usize {
    let java = cx.users[index].extra.as_ref().and_then(|extra| extra.parts.get::<super::Java>());
    java.map_or(0, |java| java.questions.open.len())
}

/// How a controller stands that its own class is, at a place among the pending calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It is not asked.
    Free,
    /// It was asked, and has not answered yet.
    Asked,
    Said(Said),
}

/// How a controller stands at a place among the pending calls.
pub(crate) fn standing(
    cx: &mut Context<'_>,
    index: UserId,
    id: ControllerId,
    at: usize,
) -> Standing {
    let open = cx.users[index].java().questions.open.get(at).filter(|open| open.controller == id);
    match open.map(|open| open.said) {
        None => Standing::Free,
        Some(None) => Standing::Asked,
        Some(Some(said)) => Standing::Said(said),
    }
}

/// The calls from a place on are over.
pub(crate) fn close_calls(cx: &mut Context<'_>, index: UserId, at: usize) {
    cx.users[index].java().questions.open.truncate(at);
}

/// Has a controller told of something with the next question to any.
pub(crate) fn tell_controller(
    cx: &mut Context<'_>,
    index: UserId,
    element: HostedId,
    what: Tell,
    number: u32,
) {
    cx.users[index].java().questions.tell(element, what, number);
}

impl Jobs {
    /// Puts a new question to a controller: the pending call at a place, with none behind it.
    pub(crate) fn ask_controller(
        &mut self,
        cx: &mut Context<'_>,
        index: UserId,
        (id, element): (ControllerId, HostedId),
        at: usize,
    ) {
        let java = cx.users[index].java();
        let known = java.fresh.len();
        let questions = &mut java.questions;
        questions.open.truncate(at);
        questions.open.push(Open { controller: id, said: None, known });
        let (turn, answer) = (Turn::Next, Answer::Nothing);
        let question = Question { element: element.0, depth: at as u32, turn, answer, number: 0 };
        let mut words = question.words().to_vec();
        words.extend(questions.untold.drain(..).flat_map(Notice::words));
        self.hand_over_words(cx, index, Then::Controller(id), Act::Controller, &words);
    }

    /// Answers what a controller has asked for, at a place among the pending calls.
    pub(crate) fn answer_controller(
        &mut self,
        cx: &mut Context<'_>,
        index: UserId,
        (id, element): (ControllerId, HostedId),
        at: usize,
        (answer, number): (Answer, u32),
    ) {
        let java = cx.users[index].java();
        java.questions.open.truncate(at + 1);
        let Some(open) = java.questions.open.get_mut(at) else { return };
        open.said = None;
        // Its children may be asked once more in this look, and then anew.
        java.fresh.truncate(open.known);
        let turn = Turn::GoOn;
        let question = Question { element: element.0, depth: at as u32, turn, answer, number };
        let then = Then::Controller(id);
        self.hand_over_words(cx, index, then, Act::Controller, &question.words());
    }
}

/// A controller has said something, or its job has failed.
pub(super) fn hear_controller(
    cx: &mut Context<'_>,
    index: UserId,
    id: ControllerId,
    read: Result<Reply<'_>, Failed>,
    job: &UnderWay,
) -> Next {
    let said = match read {
        Ok(Reply { gives_up: false, out: Out::Said(said), .. }) => {
            Some(said).filter(|said| said.fits(cx.plan))
        }
        // Java has told of it.
        Ok(Reply { gives_up: true, .. }) => return Next::EndOfPlan,
        Ok(_) => None,
        Err(failed) => {
            let text = format!("{}: {failed}; the user ends", job.what);
            cx.log(Line::log(LogLevel::Error, None, text));
            return Next::EndOfPlan;
        }
    };
    let Some(said) = said else {
        let what = "it gave what it does not hold; the user ends";
        cx.log(Line::log(LogLevel::Error, None, format!("{}: {what}", job.what)));
        return Next::EndOfPlan;
    };
    // One that must end does so when it has its next sampler.
    arrive::must_end(cx, index);
    if let Said::Nothing(done) = said {
        let mut place = cx.controller_state(index, id);
        place.clear(state::DONE);
        if done {
            place.set(state::DONE);
        }
    }
    if let Some(open) = cx.users[index].java().questions.open.last_mut() {
        open.said = Some(said);
    }
    Next::GoOn
}
