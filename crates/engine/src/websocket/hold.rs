//! Holding a connection: messages are counted, matched and timed as they come, until the time is over.

use plan::plan::SamplerId;
use plan::websocket::{Act, Hold, HoldSettings, wording};
use stats::{Outcome, Span};
use wire::websocket::Opcode;

use super::inbox::FrameHead;
use super::{Ending, NO_SOCKET, State, Task, WebSockets};
use crate::context::Context;
use crate::ids::UserId;
use crate::time::clock::{MS, Nanos};
use crate::time::timing::Timing;
use crate::users::Wait;
use crate::websocket::sample::refuse;

/// A message's fragments are put together up to this, bytes; what is longer is matched by its end.
const MESSAGE: usize = 1 << 20;

/// A hold under way.
#[derive(Debug)]
pub(crate) struct Holding {
    sampler: SamplerId,
    intended: Nanos,
    start: Nanos,
    messages: u64,
    matched: u64,
    bytes: u64,
    settings: HoldSettings,
    /// Fragments of the message that is arriving.
    message: Vec<u8>,
}

impl WebSockets {
    pub(super) fn begin_hold(
        &mut self,
        cx: &mut Context<'_>,
        index: UserId,
        id: SamplerId,
        hold: &Hold,
    ) {
        let at = cx.users[index].socket;
        if at == NO_SOCKET {
            return refuse(cx, index, id, |result| wording::no_connection(&Act::Pong, result));
        }
        let settings = match hold.settings(&mut cx.env(index, "")) {
            Ok(settings) => settings,
            Err(problem) => {
                return refuse(cx, index, id, |result| wording::error(&problem, result));
            }
        };
        let now = cx.clock.now();
        let user = &mut cx.users[index];
        let holding = Holding {
            sampler: id,
            intended: user.intended,
            start: now,
            messages: 0,
            matched: 0,
            bytes: 0,
            settings,
            message: Vec::new(),
        };
        self.sockets[at].task = Task::Hold(Box::new(holding));
        user.wait = Wait::Socket(id);
        let mut end = now + (settings.duration_ms as i64).saturating_mul(MS);
        if let Some(last) = cx.ends_at(index) {
            end = end.min(last.max(now));
        }
        cx.arm(index, end);
        let generation = self.sockets[at].transport.generation;
        while let Some(frame) = self.take_from_inbox(cx, at) {
            // What came before the hold is counted in it: no message is lost between samplers.
            self.hold_frame(cx, at, frame.head, &frame.payload, frame.arrival, now);
            let socket = &self.sockets[at];
            if socket.transport.generation != generation || !matches!(socket.task, Task::Hold(_)) {
                return;
            }
        }
        match self.sockets[at].state {
            State::Ended(ending) => self.hold_ended(cx, at, ending),
            _ => self.resume_reading(cx, at),
        }
    }

    /// A frame for a connection that is held.
    pub(super) fn hold_frame(
        &mut self,
        cx: &mut Context<'_>,
        at: u32,
        head: FrameHead,
        payload: &[u8],
        arrival: Nanos,
        now: Nanos,
    ) {
        let Task::Hold(holding) = &mut self.sockets[at].task else { return };
        if head.opcode == Opcode::CLOSE {
            return self.socket_ended(cx, at, Ending::CloseFrame);
        }
        if head.opcode.is_control() {
            return;
        }
        holding.bytes += head.size;
        let id = holding.sampler;
        let Some(sampler) = self.socket_sampler(cx, at, id) else { return };
        let Act::Hold(hold) = &sampler.act else { return };
        let mut inflated = std::mem::take(&mut self.inflated);
        inflated.clear();
        let order = self.sockets[at].session.order().copied().unwrap_or_default();
        let compressed = order.within_compressed(head.said());
        if compressed {
            match self.inflate(cx, at, payload, head.fin, &mut inflated) {
                Ok(()) => {
                    if let Some(order) = self.sockets[at].session.order() {
                        order.note_compressed(!head.fin);
                    }
                }
                Err(_) => {
                    self.inflated = inflated;
                    return self.socket_ended(cx, at, Ending::Protocol);
                }
            }
        }
        let Task::Hold(holding) = &mut self.sockets[at].task else { return };
        if !compressed && (!head.fin || !holding.message.is_empty()) {
            holding.message.extend_from_slice(payload);
            let excess = holding.message.len().saturating_sub(MESSAGE);
            holding.message.drain(..excess);
        }
        if head.fin {
            holding.messages += 1;
            let (message, settings) = (std::mem::take(&mut holding.message), holding.settings);
            let whole = match (compressed, message.is_empty()) {
                (true, _) => &inflated,
                (false, true) => payload,
                (false, false) => &message,
            };
            let index = self.sockets[at].user;
            let heard = hold.hear(whole, &settings, &mut cx.env(index, ""));
            if let Some(sent) = heard.sent_ns {
                let sent = cx.clock.of_wall(sent);
                cx.recorder.span(Span::Message, (arrival - sent).max(0) as u64);
            }
            if let Task::Hold(holding) = &mut self.sockets[at].task {
                holding.matched += u64::from(heard.counts);
            }
        }
        self.inflated = inflated;
        let Task::Hold(holding) = &self.sockets[at].task else { return };
        let until = holding.settings.until_messages;
        if until > 0 && holding.matched >= until {
            self.finish_hold_at(cx, at, now);
        }
    }

    /// Whether a user holds its connection.
    pub(crate) fn holds(&self, cx: &Context<'_>, index: UserId) -> bool {
        let at = cx.users[index].socket;
        at != NO_SOCKET && matches!(self.sockets[at].task, Task::Hold(_))
    }

    /// The time of a hold is over.
    pub(crate) fn finish_hold(&mut self, cx: &mut Context<'_>, at: u32) {
        let now = cx.clock.now();
        self.finish_hold_at(cx, at, now);
    }

    fn finish_hold_at(&mut self, cx: &mut Context<'_>, at: u32, now: Nanos) {
        self.conclude_hold(cx, at, now, None);
    }

    /// The connection ended while it was held.
    pub(super) fn hold_ended(&mut self, cx: &mut Context<'_>, at: u32, ending: Ending) {
        let now = cx.clock.now();
        self.conclude_hold(cx, at, now, Some(ending));
    }

    fn conclude_hold(&mut self, cx: &mut Context<'_>, at: u32, now: Nanos, ending: Option<Ending>) {
        let index = self.sockets[at].user;
        let Task::Hold(holding) = std::mem::take(&mut self.sockets[at].task) else {
            return;
        };
        let id = holding.sampler;
        cx.users[index].wait = Wait::Ready;
        cx.users[index].limit = Nanos::MAX;
        let wait = (holding.start - holding.intended).max(0) as u64;
        let timing = Timing {
            start: holding.start,
            end: now,
            lag: wait,
            wait,
            received: holding.bytes,
            ..Timing::default()
        };
        let mut result = cx.lend_result();
        result.clear();
        result.label.push_str(cx.sampler_name(index, id));
        result.start_ms = cx.clock.wall_ms(holding.start);
        let outcome = match ending {
            Some(ending) => {
                let reason = self.ending_text(at, ending);
                wording::hold_broken(holding.messages, &reason, &mut result);
                ending.outcome()
            }
            None => {
                wording::held(holding.matched, holding.settings.least_messages, &mut result);
                if result.success { Outcome::Ok } else { Outcome::Assertion }
            }
        };
        cx.return_result(result);
        cx.conclude(index, id, timing, outcome);
    }
}
