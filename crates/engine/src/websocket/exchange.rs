//! Zaleski's sampler: sends a message and listens until one matches, the time is up, or the connection ends.
//!
//! Its connection is closed after the sample unless it is a streaming one; then the next sampler with the same
//! connection id goes on with it, and remembers what was said before.

use plan::websocket::{Act, Call, Frame, FrameKind, Talk, Verdict, Zaleski};
use stats::{CloseCause, Outcome};
use wire::websocket::Opcode;

use super::result::start_result;
use super::sample::{Fault, timing};
use super::{Ending, NO_SOCKET, State, Task, WebSockets};
use crate::context::Context;
use crate::ids::UserId;
use crate::net::outcome;
use crate::time::clock::Nanos;

/// The memory of a connection of this sampler.
#[derive(Debug)]
pub(crate) struct Talking {
    talk: Talk,
    connection: String,
    keeps: bool,
}

impl WebSockets {
    /// Whether a sampler goes on with the connection of the user.
    pub(super) fn goes_on_talking(&self, at: u32, call: &Call) -> bool {
        call.keeps
            && at != NO_SOCKET
            && self.sockets[at].state == State::Open
            && self.sockets[at]
                .rest
                .as_ref()
                .and_then(|rest| rest.talking.as_ref())
                .is_some_and(|talking| talking.keeps && talking.connection == call.connection)
    }

    /// Begins a sample on a connection, new or kept.
    pub(super) fn begin_talk(
        &mut self,
        cx: &mut Context<'_>,
        index: UserId,
        at: u32,
        exchange: &Zaleski,
        call: &Call,
        kept: bool,
    ) {
        let talking = self.sockets.rest(at).talking.take();
        let env = &mut cx.env(index, "");
        let mut talking = talking.unwrap_or_else(|| {
            let talk = exchange.open(call, env);
            Box::new(Talking { talk, connection: call.connection.clone(), keeps: call.keeps })
        });
        talking.keeps = call.keeps;
        if kept {
            exchange.go_on(&mut talking.talk, call);
            // What came while nobody listened is remembered, whatever it says.
            while let Some(frame) = self.take_from_inbox(cx, at) {
                if frame.head.opcode == Opcode::TEXT {
                    talking.talk.hear(&String::from_utf8_lossy(&frame.payload));
                }
            }
        }
        self.sockets.rest(at).talking = Some(talking);
    }

    /// The connection of a talk stands.
    pub(super) fn talk_opened(&mut self, at: u32) {
        if let Some(talking) = self.talking(at) {
            talking.talk.opened(true);
        }
    }

    fn talking(&mut self, at: u32) -> Option<&mut Talking> {
        self.sockets[at].rest.as_mut().and_then(|rest| rest.talking.as_deref_mut())
    }

    /// A frame came while a sample listens.
    pub(super) fn hear_message(
        &mut self,
        cx: &mut Context<'_>,
        at: u32,
        frame: &Frame<'_>,
        now: Nanos,
    ) {
        match frame.kind {
            FrameKind::Text => {}
            FrameKind::Ping => {
                let _ = self.send_frame(cx, at, Opcode::PONG, frame.payload);
                return;
            }
            FrameKind::Close => {
                let status = frame.close_status().unwrap_or(1005);
                let reason = frame.close_reason().map(String::from_utf8_lossy).unwrap_or_default();
                if let Some(talking) = self.talking(at) {
                    talking.talk.closed(status, &reason);
                }
                return self.finish_talk(cx, at, None, now, true);
            }
            FrameKind::Binary | FrameKind::Pong => return,
        }
        if let Task::Work(work) = &mut self.sockets[at].task {
            work.sizes.read(frame);
        }
        let message = String::from_utf8_lossy(frame.shown());
        let verdict = self.talking(at).map_or(Verdict::Done, |talking| talking.talk.hear(&message));
        match verdict {
            Verdict::Wait => {}
            Verdict::Done => self.finish_talk(cx, at, None, now, false),
            Verdict::DoneAndClose => self.finish_talk(cx, at, None, now, true),
        }
    }

    /// Whether the sample under way is a talk.
    pub(super) fn talks(&self, cx: &Context<'_>, at: u32) -> bool {
        match &self.sockets[at].task {
            Task::Work(work) => self
                .socket_sampler(cx, at, work.sampler)
                .is_some_and(|sampler| matches!(sampler.act, Act::Exchange(_))),
            _ => false,
        }
    }

    /// The sample is over: with a message, at the end of its time, or by a failure.
    pub(super) fn finish_talk(
        &mut self,
        cx: &mut Context<'_>,
        at: u32,
        fault: Option<&Fault>,
        now: Nanos,
        close: bool,
    ) {
        let route = self.sockets[at].route;
        let Some((index, mut work)) = self.take_finished(cx, at) else { return };
        let id = work.sampler;
        let mut result = start_result(cx, index, &mut work);
        let opened = work.opened || work.existing;
        let over = self.sockets[at].counted;
        let talking = self.sockets[at].rest.as_mut().and_then(|rest| rest.talking.take());
        let (mut keeps, mut goodbye) = (false, Vec::new());
        if let Some(mut talking) = talking {
            keeps = talking.keeps && opened && !close;
            if !opened {
                talking.talk.opened(false);
            }
            match fault {
                Some(Fault::Failure(failure)) => {
                    let text = outcome::socket_text(failure, &cx.net.routes[route]);
                    talking.talk.fail(&text, &mut result);
                }
                _ => talking.talk.finish(talking.keeps, opened, close && !over, &mut result),
            }
            goodbye.extend_from_slice(talking.talk.goodbye());
            if keeps {
                self.sockets.rest(at).talking = Some(talking);
            }
        }
        let outcome = match (&result.success, fault) {
            (true, _) => Outcome::Ok,
            (false, Some(Fault::Failure(failure))) => outcome::kind(failure, &cx.net.routes[route]),
            (false, Some(Fault::Cut)) => Outcome::CutByEnd,
            (false, _) => Outcome::Other,
        };
        let mut timing = timing(&work, 0, now);
        // This plug-in counts the bytes of its response data, and none that it sends.
        (timing.sent, timing.received) = (0, result.body.len() as u64);
        cx.return_result(result);
        self.sockets.give_work(work);
        if !opened {
            self.drop_unopened(cx, at);
        } else if !keeps {
            if self.sockets[at].state == State::Open {
                let _ = self.send_frame(cx, at, Opcode::CLOSE, &goodbye);
            }
            let ended = matches!(self.sockets[at].state, State::Ended(Ending::CloseFrame));
            self.close_socket(
                cx,
                at,
                if ended { CloseCause::PeerFrame } else { CloseCause::ByPlan },
            );
        }
        cx.conclude(index, id, timing, outcome);
    }
}
