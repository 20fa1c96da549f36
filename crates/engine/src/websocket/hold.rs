//! The sampler that holds a WebSocket connection open for a set time. It counts, matches and times the messages
//! that arrive.

use plan::plan::SamplerId;
use plan::websocket::{Act, Hold, HoldSettings, wording};
use stats::{Outcome, Span};
use wire::websocket::Opcode;

use super::close::ending_text;
use super::{On, Task, WebSockets};
use crate::context::Context;
use crate::ids::{NO_SOCKET, UserId};
use crate::session::held::close::Ending;
use crate::session::held::inbox::FrameHead;
use crate::session::held::{Listener, State};
use crate::time::clock::{MS, Nanos};
use crate::time::timing::Timing;
use crate::users::Wait;
use crate::websocket::sample::{refuse, sampler_on};

/// Maximum number of bytes that are kept while the fragments of a message are joined. In a longer message, only the
/// last bytes are compared with the pattern.
const MESSAGE: usize = 1 << 20;

/// State of a running hold sampler.
#[derive(Debug)]
pub(crate) struct Holding {
    sampler: SamplerId,
    intended: Nanos,
    start: Nanos,
    messages: u64,
    matched: u64,
    bytes: u64,
    settings: HoldSettings,
    /// Payload received so far of the current, still incomplete message.
    message: Vec<u8>,
}

impl WebSockets {
    pub(super) fn begin_hold(
        &mut self,
        on: &mut On<'_, '_>,
        index: UserId,
        id: SamplerId,
        hold: &Hold,
    ) {
        let at = on.cx.users[index].socket;
        if at == NO_SOCKET {
            return refuse(on.cx, index, id, |result| wording::no_connection(&Act::Pong, result));
        }
        let settings = match hold.settings(&mut on.cx.env(index, "")) {
            Ok(settings) => settings,
            Err(problem) => {
                return refuse(on.cx, index, id, |result| wording::error(&problem, result));
            }
        };
        let now = on.cx.clock.now();
        let user = &mut on.cx.users[index];
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
        self.tasks[at as usize] = Task::Hold(Box::new(holding));
        user.wait = Wait::WebSocket(id);
        let mut end = now + (settings.duration_ms as i64).saturating_mul(MS);
        if let Some(last) = on.cx.ends_at(index) {
            end = end.min(last.max(now));
        }
        on.cx.arm(index, end);
        while let Some(frame) = on.held.take_from_inbox(&mut on.cx.around(), at) {
            // Messages that arrived before the hold are counted in it, so that no message is lost between samplers.
            self.hold_frame(on, at, frame.head, &frame.payload, frame.arrival, now);
            if !matches!(self.tasks[at as usize], Task::Hold(_)) {
                return;
            }
        }
        if let State::Ended(ending) = on.held[at].state {
            return self.hold_ended(on, at, ending);
        }
        on.held[at].listener = Listener::All;
        on.held.resume_reading(&mut on.cx.around(), at);
    }

    /// Handles a frame on a connection on which a hold sampler runs.
    pub(super) fn hold_frame(
        &mut self,
        on: &mut On<'_, '_>,
        at: u32,
        head: FrameHead,
        payload: &[u8],
        arrival: Nanos,
        now: Nanos,
    ) {
        let Task::Hold(holding) = &mut self.tasks[at as usize] else { return };
        if head.opcode == Opcode::CLOSE {
            on.held.on_ended(&mut on.cx.around(), at, Ending::CloseFrame);
            return self.hold_ended(on, at, Ending::CloseFrame);
        }
        if head.opcode.is_control() {
            return;
        }
        holding.bytes += head.size;
        let id = holding.sampler;
        let Some(sampler) = sampler_on(on, at, id) else { return };
        let Act::Hold(hold) = &sampler.act else { return };
        let mut inflated = std::mem::take(&mut self.inflated);
        inflated.clear();
        let order = on.held[at].session.order().copied().unwrap_or_default();
        let compressed = order.within_compressed(head.frame_fields());
        if compressed {
            match self.inflate(on, at, payload, head.fin, &mut inflated) {
                Ok(()) => {
                    if let Some(order) = on.held[at].session.order() {
                        order.note_compressed(!head.fin);
                    }
                }
                Err(_) => {
                    self.inflated = inflated;
                    on.held.on_ended(&mut on.cx.around(), at, Ending::Protocol);
                    return self.hold_ended(on, at, Ending::Protocol);
                }
            }
        }
        let Task::Hold(holding) = &mut self.tasks[at as usize] else { return };
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
            let index = on.held[at].user;
            let heard = hold.check(whole, &settings, &mut on.cx.env(index, ""));
            if let Some(sent) = heard.sent_ns {
                let sent = on.cx.clock.of_wall(sent);
                on.cx.recorder.span(Span::Message, (arrival - sent).max(0) as u64);
            }
            if let Task::Hold(holding) = &mut self.tasks[at as usize] {
                holding.matched += u64::from(heard.counts);
            }
        }
        self.inflated = inflated;
        let Task::Hold(holding) = &self.tasks[at as usize] else { return };
        let until = holding.settings.until_messages;
        if until > 0 && holding.matched >= until {
            self.finish_hold_at(on, at, now);
        }
    }

    /// Returns true if a hold sampler runs on the user's connection.
    pub(crate) fn holds(&self, cx: &Context<'_>, index: UserId) -> bool {
        let at = cx.users[index].socket;
        at != NO_SOCKET && matches!(self.tasks[at as usize], Task::Hold(_))
    }

    /// Completes a hold sampler whose duration has passed.
    pub(crate) fn finish_hold(&mut self, on: &mut On<'_, '_>, at: u32) {
        let now = on.cx.clock.now();
        self.finish_hold_at(on, at, now);
    }

    fn finish_hold_at(&mut self, on: &mut On<'_, '_>, at: u32, now: Nanos) {
        self.conclude_hold(on, at, now, None);
    }

    /// Completes a hold sampler whose connection has ended.
    pub(super) fn hold_ended(&mut self, on: &mut On<'_, '_>, at: u32, ending: Ending) {
        let now = on.cx.clock.now();
        self.conclude_hold(on, at, now, Some(ending));
    }

    fn conclude_hold(&mut self, on: &mut On<'_, '_>, at: u32, now: Nanos, ending: Option<Ending>) {
        let index = on.held[at].user;
        let Task::Hold(holding) = std::mem::take(&mut self.tasks[at as usize]) else {
            return;
        };
        on.held[at].listener = Listener::None;
        let id = holding.sampler;
        on.cx.users[index].wait = Wait::Ready;
        on.cx.users[index].limit = Nanos::MAX;
        let wait = (holding.start - holding.intended).max(0) as u64;
        let timing = Timing {
            start: holding.start,
            end: now,
            lag: wait,
            wait,
            received: holding.bytes,
            ..Timing::default()
        };
        let mut result = on.cx.begin_result(index, id, &timing);
        let outcome = match ending {
            Some(ending) => {
                let reason = ending_text(on.held, at, ending);
                wording::hold_broken(holding.messages, &reason, &mut result);
                ending.outcome()
            }
            None => {
                wording::held(holding.matched, holding.settings.least_messages, &mut result);
                if result.success { Outcome::Ok } else { Outcome::Assertion }
            }
        };
        on.cx.conclude(index, id, timing, outcome, Some(result));
    }
}
