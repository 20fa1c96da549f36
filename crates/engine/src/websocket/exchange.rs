//! The sampler of Zaleski's plug-in: sends a message and listens until a message matches, the time is over, or the
//! connection ends.
//!
//! Its connection is closed after the sample, unless it is a streaming connection. Then the next sampler with the
//! same connection id continues with the connection, and can still read the earlier messages.

use plan::websocket::{Act, Call, ConnectionState, Frame, FrameKind, Verdict, Zaleski};
use stats::{CloseCause, Outcome};
use wire::websocket::Opcode;

use super::result::start_result;
use super::sample::{Fault, sampler_on, timing};
use super::{On, Task, WebSockets};
use crate::ids::{NO_SOCKET, UserId};
use crate::net::outcome;
use crate::session::held::State;
use crate::session::held::close::Ending;
use crate::session::held::open::Failed;
use crate::time::clock::Nanos;

/// The state of a connection that a sampler of Zaleski's plug-in uses.
#[derive(Debug)]
pub(crate) struct Conversation {
    state: ConnectionState,
    connection: String,
    keeps: bool,
}

impl WebSockets {
    /// Returns true if the sampler of this call continues with the user's open connection instead of opening one.
    pub(super) fn reuses_connection(&self, on: &On<'_, '_>, at: u32, call: &Call) -> bool {
        call.keeps
            && at != NO_SOCKET
            && on.held[at].state == State::Open
            && self.conversations.get(at as usize).and_then(Option::as_ref).is_some_and(
                |conversation| conversation.keeps && conversation.connection == call.connection,
            )
    }

    /// Begins a sample of Zaleski's plug-in on a new or kept connection.
    pub(super) fn begin_conversation(
        &mut self,
        on: &mut On<'_, '_>,
        index: UserId,
        exchange: &Zaleski,
        call: &Call,
        kept: bool,
    ) {
        let at = on.cx.users[index].socket;
        let conversation = self.take_conversation(at);
        let env = &mut on.cx.env(index, "");
        let mut conversation = conversation.unwrap_or_else(|| {
            let state = exchange.open(call, env);
            Box::new(Conversation { state, connection: call.connection.clone(), keeps: call.keeps })
        });
        conversation.keeps = call.keeps;
        if kept {
            exchange.start_reused(&mut conversation.state, call);
            // All messages that arrived between samples are kept, whatever their content.
            while let Some(frame) = on.held.take_from_inbox(&mut on.cx.around(), at) {
                if frame.head.opcode == Opcode::TEXT {
                    conversation.state.process_text(&String::from_utf8_lossy(&frame.payload));
                }
            }
        }
        self.keep_conversation(at, conversation);
    }

    /// Removes and returns the state of a connection; `None` if no sampler of Zaleski's plug-in uses the connection.
    fn take_conversation(&mut self, at: u32) -> Option<Box<Conversation>> {
        self.conversations.get_mut(at as usize).and_then(Option::take)
    }

    fn keep_conversation(&mut self, at: u32, conversation: Box<Conversation>) {
        if self.conversations.len() <= at as usize {
            self.conversations.resize_with(at as usize + 1, || None);
        }
        self.conversations[at as usize] = Some(conversation);
    }

    /// Returns true if a sampler of Zaleski's plug-in uses the connection.
    pub(super) fn has_conversation(&self, at: u32) -> bool {
        self.conversations.get(at as usize).is_some_and(Option::is_some)
    }

    /// Writes to the log in the result that the connection is established, if a sampler of Zaleski's plug-in uses the
    /// connection.
    pub(super) fn conversation_opened(&mut self, at: u32) {
        if let Some(conversation) = self.conversation(at) {
            conversation.state.opened(true);
        }
    }

    fn conversation(&mut self, at: u32) -> Option<&mut Conversation> {
        self.conversations.get_mut(at as usize).and_then(|state| state.as_deref_mut())
    }

    /// Handles a frame that arrives while a sample of Zaleski's plug-in listens.
    pub(super) fn on_message(
        &mut self,
        on: &mut On<'_, '_>,
        at: u32,
        frame: &Frame<'_>,
        now: Nanos,
    ) {
        match frame.kind {
            FrameKind::Text => {}
            FrameKind::Ping => {
                let _ = on.held.send_frame(&mut on.cx.around(), at, Opcode::PONG, frame.payload);
                return;
            }
            FrameKind::Close => {
                let status = frame.close_status().unwrap_or(1005);
                let reason = frame.close_reason().map(String::from_utf8_lossy).unwrap_or_default();
                if let Some(conversation) = self.conversation(at) {
                    conversation.state.closed(status, &reason);
                }
                return self.finish_conversation(on, at, None, now, true);
            }
            FrameKind::Binary | FrameKind::Pong => return,
        }
        if let Task::Work(work) = &mut self.tasks[at as usize] {
            work.sizes.read(frame);
        }
        let message = String::from_utf8_lossy(frame.shown());
        let verdict = self
            .conversation(at)
            .map_or(Verdict::Done, |conversation| conversation.state.process_text(&message));
        match verdict {
            Verdict::Wait => {}
            Verdict::Done => self.finish_conversation(on, at, None, now, false),
            Verdict::DoneAndClose => self.finish_conversation(on, at, None, now, true),
        }
    }

    /// Returns true if the sample in flight on the connection belongs to a sampler of Zaleski's plug-in.
    pub(super) fn conversations(&self, on: &On<'_, '_>, at: u32) -> bool {
        match &self.tasks[at as usize] {
            Task::Work(work) => sampler_on(on, at, work.sampler)
                .is_some_and(|sampler| matches!(sampler.act, Act::Exchange(_))),
            _ => false,
        }
    }

    /// Completes a sample of Zaleski's plug-in: after a matching message, at its time limit, or with a failure.
    pub(super) fn finish_conversation(
        &mut self,
        on: &mut On<'_, '_>,
        at: u32,
        fault: Option<&Fault>,
        now: Nanos,
        close: bool,
    ) {
        let route = on.held[at].route;
        let Some((index, mut work)) = self.take_finished(on, at) else { return };
        let id = work.sampler;
        let mut result = start_result(on.cx, index, &mut work);
        let opened = work.opened || work.existing;
        let over = on.held[at].counted;
        let conversation = self.take_conversation(at);
        let (mut keeps, mut goodbye) = (false, Vec::new());
        if let Some(mut conversation) = conversation {
            keeps = conversation.keeps && opened && !close;
            if !opened {
                conversation.state.opened(false);
            }
            match fault {
                Some(Fault::Failed(Failed::Failure(failure))) => {
                    let text = outcome::socket_text(failure, &on.cx.net.routes[route]);
                    conversation.state.fail(&text, &mut result);
                }
                _ => conversation.state.finish(
                    conversation.keeps,
                    opened,
                    close && !over,
                    &mut result,
                ),
            }
            goodbye.extend_from_slice(conversation.state.goodbye());
            if keeps {
                self.keep_conversation(at, conversation);
            }
        }
        let outcome = match (&result.success, fault) {
            (true, _) => Outcome::Ok,
            (false, Some(Fault::Failed(Failed::Failure(failure)))) => {
                outcome::kind(failure, &on.cx.net.routes[route])
            }
            (false, Some(Fault::Cut)) => Outcome::CutByEnd,
            (false, _) => Outcome::Other,
        };
        let mut timing = timing(&work, 0, now);
        // This plug-in counts the bytes of its response data, and no sent bytes.
        (timing.sent, timing.received) = (0, result.body.len() as u64);
        self.give_work(work);
        if !opened {
            on.held.drop_unopened(&mut on.cx.around(), at);
        } else if !keeps {
            if on.held[at].state == State::Open {
                let _ = on.held.send_frame(&mut on.cx.around(), at, Opcode::CLOSE, &goodbye);
            }
            let ended = matches!(on.held[at].state, State::Ended(Ending::CloseFrame));
            let cause = if ended { CloseCause::PeerFrame } else { CloseCause::ByPlan };
            on.held.close(&mut on.cx.around(), at, cause);
        }
        on.cx.conclude(index, id, timing, outcome, Some(result));
    }
}
