//! Controllers that their own Java class runs: Java decides which sampler is next.
//!
//! The children of such a controller stay native. Java has the controller's own object, with a stand-in for each
//! child. A controller chooses a sampler by returning its stand-in. The stand-in of a controller calls back into
//! the native tree. So a call may be open while the native tree is searched inside it, down to another Java-backed
//! controller. The user waits for each reply as for any job. The next search for a sampler takes the same path down
//! ([`pending_calls`]) and continues the call. JMeter's notices to a controller (start, end of iteration, loop
//! left) are sent along with the next question. Plans without such a controller pay two comparisons for each
//! controller that a search visits.

use plan::java_backed::JavaBackedId;
use plan::plan::ControllerId;

use super::controller_reply::ControllerReply;
use super::message::{Answer, Notice, Question, Tell, Turn};
use super::reply::{Failed, Out};
use super::{Act, InFlight, Jobs, Next, Reply, Then, next};
use crate::context::Context;
use crate::ids::UserId;
use crate::reports::line::{Line, LogLevel};
use crate::users::controllers as state;

/// Maximum number of notices that are kept for Java controllers until the next question. Above this number, the oldest
/// notices are dropped.
const MOST_UNTOLD: usize = 1000;

/// A call to a Java-backed controller that has not returned its choice yet.
#[derive(Debug)]
struct Open {
    controller: ControllerId,
    said: Option<ControllerReply>,
    /// Number of controllers whose expressions were evaluated when the call began.
    known: usize,
}

/// A user's open calls and unsent notices to Java-backed controllers.
#[derive(Debug, Default)]
pub(super) struct Questions {
    /// Open calls to controllers, from the outermost to the innermost.
    open: Vec<Open>,
    /// Notices to controllers that are sent with the next question.
    untold: Vec<Notice>,
}

impl Questions {
    /// Drops all open calls at the end of a search for a sampler.
    pub(super) fn close(&mut self) {
        self.open.clear();
    }

    fn notify(&mut self, element: JavaBackedId, what: Tell, number: u32) {
        let one = Notice { element: element.0, what, number };
        // A second initialization of a controller directly after the first has no effect.
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

/// Returns the number of the user's pending calls to controllers in Java, which its next search replays.
pub(crate) fn pending_calls(cx: &Context<'_>, index: UserId) -> usize {
    let java = cx.users[index].extra.as_ref().and_then(|extra| extra.parts.get::<super::Java>());
    java.map_or(0, |java| java.questions.open.len())
}

/// State of a Java-backed controller's call at a given depth of the pending calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallState {
    /// No call to the controller is in progress.
    Free,
    /// The controller was called and has not replied yet.
    Asked,
    Replied(ControllerReply),
}

/// Returns the state of a controller's call at a given depth of the pending calls.
pub(crate) fn call_state(
    cx: &mut Context<'_>,
    index: UserId,
    id: ControllerId,
    at: usize,
) -> CallState {
    let open = cx.users[index].java().questions.open.get(at).filter(|open| open.controller == id);
    match open.map(|open| open.said) {
        None => CallState::Free,
        Some(None) => CallState::Asked,
        Some(Some(said)) => CallState::Replied(said),
    }
}

/// Drops the pending calls to controllers from a given depth on.
pub(crate) fn close_calls(cx: &mut Context<'_>, index: UserId, at: usize) {
    cx.users[index].java().questions.open.truncate(at);
}

/// Queues a notice for a Java-backed controller. The notice is sent with the next question to any such controller.
pub(crate) fn queue_controller_notice(
    cx: &mut Context<'_>,
    index: UserId,
    element: JavaBackedId,
    what: Tell,
    number: u32,
) {
    cx.users[index].java().questions.notify(element, what, number);
}

/// A controller that its Java class runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JavaController {
    pub(crate) id: ControllerId,
    /// Java's object of the controller.
    pub(crate) element: JavaBackedId,
}

impl Jobs {
    /// Starts a call to a Java-backed controller at a given depth, which is the end of the list of pending calls.
    pub(crate) fn ask_controller(
        &mut self,
        cx: &mut Context<'_>,
        index: UserId,
        controller: JavaController,
        at: usize,
    ) {
        let JavaController { id, element } = controller;
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

    /// Answers the request that a controller has made, at a given depth of the pending calls.
    pub(crate) fn answer_controller(
        &mut self,
        cx: &mut Context<'_>,
        index: UserId,
        controller: JavaController,
        at: usize,
        answer: Answer,
        number: u32,
    ) {
        let JavaController { id, element } = controller;
        let java = cx.users[index].java();
        java.questions.open.truncate(at + 1);
        let Some(open) = java.questions.open.get_mut(at) else { return };
        open.said = None;
        // The controller's children may be searched once more in this search, with expressions that are evaluated anew.
        java.fresh.truncate(open.known);
        let turn = Turn::GoOn;
        let question = Question { element: element.0, depth: at as u32, turn, answer, number };
        let then = Then::Controller(id);
        self.hand_over_words(cx, index, then, Act::Controller, &question.words());
    }
}

/// Handles the reply of a Java-backed controller, or the failure of its job.
pub(super) fn on_controller_reply(
    cx: &mut Context<'_>,
    index: UserId,
    id: ControllerId,
    read: Result<Reply<'_>, Failed>,
    job: &InFlight,
) -> Next {
    let said = match read {
        Ok(Reply { gives_up: false, out: Out::Controller(said), .. }) => {
            Some(said).filter(|said| said.fits(cx.plan))
        }
        // Java has already logged the cause.
        Ok(Reply { gives_up: true, .. }) => return Next::EndOfPlan,
        Ok(_) => None,
        Err(failed) => {
            let text = format!("{}: {failed}; the user ends", job.what);
            cx.log(Line::log(LogLevel::Error, None, text));
            return Next::EndOfPlan;
        }
    };
    let Some(said) = said else {
        let what = "Java returned a child that the controller does not have; the user ends";
        cx.log(Line::log(LogLevel::Error, None, format!("{}: {what}", job.what)));
        return Next::EndOfPlan;
    };
    // A user that must end does so at its next sampler.
    next::must_end(cx, index);
    if let ControllerReply::Nothing(done) = said {
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
