//! Controllers that their own classes are: which sampler is next is asked in Java.
//!
//! The children of such a controller stay native. Java has the controller's own object, with a stand-in for each child: a sampler's is what the controller gives, and
//! a controller's asks back, so that a question may be open while the native tree is asked inside of it, down to another such controller. The user waits for
//! each answer as for any job, and the next search for a sampler finds the same way down ([`pending_calls`]) and goes on with it. What JMeter only tells a
//! controller (it begins, its iteration is over, its loop is left) is told with the next question. Plans without such a controller pay two comparisons for
//! each controller that is asked.

use plan::java_backed::JavaBackedId;
use plan::plan::ControllerId;

use super::message::{Answer, Notice, Question, Tell, Turn};
use super::reply::{Failed, Out};
use super::said::Said;
use super::{Act, InFlight, Jobs, Next, Reply, Then, next};
use crate::context::Context;
use crate::ids::UserId;
use crate::reports::line::{Line, LogLevel};
use crate::users::controllers as state;

/// Notices that are kept for a controller which is not asked for long; the first are forgotten.
const MOST_UNTOLD: usize = 1000;

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
    /// A search for a sampler has come to its end.
    pub(super) fn close(&mut self) {
        self.open.clear();
    }

    fn tell(&mut self, element: JavaBackedId, what: Tell, number: u32) {
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
    element: JavaBackedId,
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
        (id, element): (ControllerId, JavaBackedId),
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
        (id, element): (ControllerId, JavaBackedId),
        at: usize,
        (answer, number): (Answer, u32),
    ) {
        let java = cx.users[index].java();
        java.questions.open.truncate(at + 1);
        let Some(open) = java.questions.open.get_mut(at) else { return };
        open.said = None;
        // Its children may be asked once more in this search, and then anew.
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
    job: &InFlight,
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
    next::must_end(cx, index);
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
