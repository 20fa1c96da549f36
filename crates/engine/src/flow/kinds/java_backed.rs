//! Controllers that their Java class runs: Java returns the next sampler, and calls back for the children. JMeter's
//! notifications to controllers are sent along with the next call.

use plan::java_backed::JavaBackedId;
use plan::plan::{ControllerId, SamplerId};

use crate::flow::search::{Pull, Walk};
use crate::flow::visit::Visit;
use crate::java::controller::{self, CallState, JavaController};
use crate::java::controller_reply::{ControllerReply, ControllerRequest};
use crate::java::message::Answer;
use crate::java::{Tell, Then};
use crate::users::controllers::DONE;

impl Walk<'_, '_> {
    /// Asks a Java-backed controller for the next sampler.
    pub(crate) fn pull_java_backed(&mut self, id: ControllerId, element: JavaBackedId) -> Pull {
        let index = self.index;
        if self.cx.gives_up(index) {
            return Pull::Ends;
        }
        if self.jobs.listens && self.reporting().catch_up(index, Then::Pull(None)) {
            return Pull::Later;
        }
        let at = controller::pending_calls(self.cx, index).saturating_sub(self.replays);
        let asked = JavaController { id, element };
        let said = match controller::call_state(self.cx, index, id, at) {
            CallState::Replied(said) => said,
            CallState::Asked => {
                self.replays = self.replays.saturating_sub(1);
                return Pull::Later;
            }
            CallState::Free => {
                self.replays = 0;
                self.jobs.ask_controller(self.cx, index, asked, at);
                return Pull::Later;
            }
        };
        self.replays = self.replays.saturating_sub(1);
        let ControllerReply::Asks(ask) = said else {
            controller::close_calls(self.cx, index, at);
            return match said {
                ControllerReply::Sampler(sampler) => Pull::Sampler(SamplerId(sampler)),
                ControllerReply::Transaction(transaction) => Pull::Ended(ControllerId(transaction)),
                _ => Pull::Nothing,
            };
        };
        match self.do_for_controller(id, ask) {
            Ok((answer, number)) => {
                self.jobs.answer_controller(self.cx, index, asked, at, answer, number);
                Pull::Later
            }
            Err(given) => given,
        }
    }

    /// Carries out a request of a controller's class. Returns the kind of answer and its number. `Err`: the user
    /// must wait, or end.
    fn do_for_controller(
        &mut self,
        id: ControllerId,
        ask: ControllerRequest,
    ) -> Result<(Answer, u32), Pull> {
        let number = match ask {
            ControllerRequest::Next(child) => {
                return match self.pull(ControllerId(child)) {
                    Pull::Nothing => {
                        let is_done = self.visit(ControllerId(child)).is_done();
                        Ok((Answer::Nothing, u32::from(is_done)))
                    }
                    Pull::Sampler(sampler) => Ok((Answer::Sampler, sampler.0)),
                    Pull::Ended(transaction) => Ok((Answer::Transaction, transaction.0)),
                    given @ (Pull::Later | Pull::Ends) => Err(given),
                };
            }
            ControllerRequest::Initialize(child) => {
                if !self.visit(ControllerId(child)).begin() {
                    return Err(Pull::Ends);
                }
                0
            }
            ControllerRequest::EndOfLoop(child) => {
                self.visit(ControllerId(child)).is_left();
                0
            }
            ControllerRequest::IsDone(child) => {
                u32::from(self.visit(ControllerId(child)).is_done())
            }
            ControllerRequest::Begins(number, from_one) => {
                let controller = self.cx.controller(id);
                if let Some(given) = self.notify_iteration(controller, number, from_one) {
                    return Err(given);
                }
                0
            }
        };
        Ok((Answer::Nothing, number))
    }
}

/// Makes the class initialise the children. Always returns true.
pub(crate) fn begins(visit: &mut Visit<'_, '_>, element: JavaBackedId) -> bool {
    visit.state().clear(DONE);
    controller::queue_controller_notice(visit.cx, visit.index, element, Tell::Initialize, 0);
    true
}

/// Notifies the class of an iteration of its parent controller, if the class listens to iterations.
pub(crate) fn parent_begins(
    visit: &mut Visit<'_, '_>,
    element: JavaBackedId,
    iteration: i32,
    is_loop: bool,
) {
    if visit.flow.classes.counting.contains(&element) {
        let number = (iteration as u32) << 1 | u32::from(is_loop);
        controller::queue_controller_notice(
            visit.cx,
            visit.index,
            element,
            Tell::Iteration,
            number,
        );
    }
}

/// Notifies the class that a sampler inside has left the controller.
pub(crate) fn is_left(visit: &mut Visit<'_, '_>, element: JavaBackedId) {
    controller::queue_controller_notice(visit.cx, visit.index, element, Tell::EndOfLoop, 0);
}

/// Notifies the class that a sampler inside leaves a loop, if the class is a loop itself. The user then leaves only
/// this controller, and no controller around it. Returns false if the class is not a loop.
pub(crate) fn leaves_loop(visit: &mut Visit<'_, '_>, element: JavaBackedId, breaks: bool) -> bool {
    let is_loop = visit.flow.classes.breaking.contains(&element);
    if is_loop {
        let what = if breaks { Tell::BreakLoop } else { Tell::NextLoop };
        controller::queue_controller_notice(visit.cx, visit.index, element, what, 0);
    }
    is_loop
}
