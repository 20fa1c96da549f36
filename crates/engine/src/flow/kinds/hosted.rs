//! Controllers of classes of their own: Java is asked which sampler is next, and asks back for what they hold.

use plan::hosted::HostedId;
use plan::plan::{Controller, ControllerId, ControllerKind, SamplerId};

use crate::core::Core;
use crate::flow::search::{Pull, Search};
use crate::ids::UserId;
use crate::java::controller::{self, Ask, Said, Standing};
use crate::java::message::Answer;
use crate::java::{Tell, Then};
use crate::users::controllers as state;

impl<'p> Core<'p> {
    /// Asks a controller of a class of its own for the next sampler.
    pub(crate) fn pull_hosted(
        &mut self,
        index: UserId,
        id: ControllerId,
        controller: &'p Controller,
        element: HostedId,
        search: &mut Search,
    ) -> Pull {
        if self.cx.gives_up(index) {
            self.end_user(index);
            return Pull::Later;
        }
        if self.jobs.listens && self.catch_up(index, Then::Pull(None)) {
            return Pull::Later;
        }
        let at = controller::pending_calls(&self.cx, index).saturating_sub(search.replays);
        let asked = (id, element);
        let said = match controller::standing(&mut self.cx, index, id, at) {
            Standing::Said(said) => said,
            Standing::Asked => {
                search.replays = search.replays.saturating_sub(1);
                return Pull::Later;
            }
            Standing::Free => {
                search.replays = 0;
                self.jobs.ask_controller(&mut self.cx, index, asked, at);
                return Pull::Later;
            }
        };
        search.replays = search.replays.saturating_sub(1);
        let Said::Asks(ask) = said else {
            controller::close_calls(&mut self.cx, index, at);
            return match said {
                Said::Sampler(sampler) => Pull::Sampler(SamplerId(sampler)),
                Said::Transaction(transaction) => Pull::Ended(ControllerId(transaction)),
                _ => Pull::Nothing,
            };
        };
        if let Some(answer) = self.do_for_controller(index, controller, ask, search) {
            self.jobs.answer_controller(&mut self.cx, index, asked, at, answer);
        }
        Pull::Later
    }

    /// Does what a controller asks for; the answer and its number. `None`: not now.
    fn do_for_controller(
        &mut self,
        index: UserId,
        controller: &'p Controller,
        ask: Ask,
        search: &mut Search,
    ) -> Option<(Answer, u32)> {
        let done = Some((Answer::Nothing, 0));
        match ask {
            Ask::Next(child) => Some(match self.pull(index, ControllerId(child), search) {
                Pull::Later => return None,
                Pull::Nothing => {
                    (Answer::Nothing, u32::from(self.is_done(index, ControllerId(child))))
                }
                Pull::Sampler(sampler) => (Answer::Sampler, sampler.0),
                Pull::Ended(transaction) => (Answer::Transaction, transaction.0),
            }),
            Ask::Initialize(child) => {
                self.initialize(index, ControllerId(child)).then_some(())?;
                done
            }
            Ask::EndOfLoop(child) => {
                self.trigger_end_of_loop(index, ControllerId(child));
                done
            }
            Ask::IsDone(child) => {
                Some((Answer::Nothing, u32::from(self.is_done(index, ControllerId(child)))))
            }
            Ask::Begins(number, from_one) => {
                self.tell_of_iteration(index, controller, number, from_one).then_some(())?;
                done
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
        if what != Tell::Iteration || self.jobs.hears_of_iterations(element) {
            controller::tell_controller(&mut self.cx, index, element, what, number);
        }
    }
}
