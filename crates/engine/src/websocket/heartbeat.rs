//! Heartbeats: what the engine sends on a held connection by itself, and what it answers.
//!
//! A heartbeat is a ping, or a text of the plan's, sent at an interval with some jitter so that connections do not
//! beat together. A peer that is not heard between so many heartbeats counts as gone. With a heartbeat the engine
//! also answers pings and the close frame, which otherwise are the plan's business.

use plan::websocket::{Act, HeartbeatId, HeartbeatSettings};
use stats::{Counter, Span};
use wire::websocket::Opcode;

use super::{Ending, State, Step, Task, WebSockets};
use crate::context::Context;
use crate::time::clock::{MS, Nanos};

impl WebSockets {
    /// Arms the heartbeat of a connection that has just been opened.
    pub(super) fn start_heartbeat(&mut self, cx: &mut Context<'_>, at: u32, now: Nanos) {
        let Some(id) = self.sockets[at].heartbeat else { return };
        if self.heartbeats[id.0 as usize].is_none() {
            let index = self.sockets[at].user;
            let settings = cx.plan.heartbeats[id.0 as usize].settings(&mut cx.env(index, ""));
            let settings = settings.unwrap_or_else(|problem| {
                cx.log(problem);
                HeartbeatSettings {
                    interval_ms: 0,
                    jitter_ms: 0,
                    payload: None,
                    missed: 0,
                    reply_to_ping: true,
                }
            });
            self.heartbeats[id.0 as usize] = Some(Box::new(settings));
        }
        self.arm_heartbeat(cx, at, id, now);
    }

    fn beat(&self, id: HeartbeatId) -> Option<&HeartbeatSettings> {
        self.heartbeats[id.0 as usize].as_deref()
    }

    fn arm_heartbeat(&mut self, cx: &mut Context<'_>, at: u32, id: HeartbeatId, now: Nanos) {
        let Some(settings) = self.beat(id) else { return };
        let (interval, jitter) = (settings.interval_ms, settings.jitter_ms);
        if interval == 0 {
            return;
        }
        let shift = match jitter {
            0 => 0,
            jitter => cx.random.below(u64::from(jitter) + 1) as i64,
        };
        let until = now + (i64::from(interval) + shift) * MS;
        self.beats.insert(at, until, &mut self.sockets);
    }

    /// A heartbeat is due.
    pub(crate) fn on_beat(&mut self, cx: &mut Context<'_>, at: u32, now: Nanos) {
        let Some(id) = self.sockets[at].heartbeat else { return };
        if self.sockets[at].state != State::Open || self.sockets[at].closing {
            return;
        }
        if self.sockets[at].unanswered > 0 && !self.sockets[at].stopped {
            // The answer may lie there: timers fire before sockets are polled.
            let generation = self.sockets[at].transport.generation;
            self.read_socket(cx, at, false);
            self.settle(cx, at);
            let same = self.sockets[at].transport.generation == generation;
            if !same || self.sockets[at].transport.generation != generation {
                return;
            }
            if self.sockets[at].state != State::Open || self.sockets[at].closing {
                return;
            }
        }
        let Some(settings) = self.heartbeats[id.0 as usize].take() else { return };
        let silent = self.sockets[at].unanswered;
        if silent > 0 {
            cx.recorder.add(Counter::HeartbeatsMissed, 1);
        }
        if settings.missed > 0 && u32::from(silent) >= settings.missed {
            self.heartbeats[id.0 as usize] = Some(settings);
            self.socket_ended(cx, at, Ending::MissedHeartbeat);
            self.settle(cx, at);
            return;
        }
        // A connection that breaks here is settled below.
        let _ = match &settings.payload {
            Some(text) => self.send_frame(cx, at, Opcode::TEXT, text),
            None => self.send_frame(cx, at, Opcode::PING, b""),
        };
        self.heartbeats[id.0 as usize] = Some(settings);
        cx.recorder.add(Counter::HeartbeatsSent, 1);
        let socket = &mut self.sockets[at];
        socket.unanswered = socket.unanswered.saturating_add(1);
        socket.beat_at = now;
        if socket.state == State::Open {
            self.arm_heartbeat(cx, at, id, now);
        }
        self.settle(cx, at);
    }

    /// Shows a frame to the heartbeat. True: nobody else gets it.
    pub(super) fn kept_alive(
        &mut self,
        cx: &mut Context<'_>,
        at: u32,
        opcode: Opcode,
        payload: &[u8],
        now: Nanos,
    ) -> bool {
        let Some(settings) = self.sockets[at].heartbeat.and_then(|id| self.beat(id)) else {
            return false;
        };
        let (by_ping, replies) = (settings.payload.is_none(), settings.reply_to_ping);
        let reading = match &self.sockets[at].task {
            Task::Work(work) if work.step == Step::Reading => {
                self.socket_sampler(cx, at, work.sampler)
            }
            _ => None,
        };
        let wanted = match opcode {
            Opcode::PONG => reading.is_some_and(|sampler| matches!(sampler.act, Act::PingPong)),
            Opcode::CLOSE => reading.is_some(),
            _ => false,
        };
        let sent_at = self.sockets[at].beat_at;
        if sent_at > 0 && (!by_ping || opcode == Opcode::PONG) {
            self.sockets[at].beat_at = 0;
            cx.recorder.add(Counter::HeartbeatsAnswered, 1);
            cx.recorder.span(Span::Heartbeat, (now - sent_at).max(0) as u64);
        }
        match opcode {
            Opcode::PONG => !wanted && by_ping,
            Opcode::PING if replies => {
                let _ = self.send_frame(cx, at, Opcode::PONG, payload);
                true
            }
            Opcode::CLOSE if !wanted && !self.sockets[at].closing => {
                let code = payload.get(..2).unwrap_or_default();
                let _ = self.send_frame(cx, at, Opcode::CLOSE, code);
                self.socket_ended(cx, at, Ending::CloseFrame);
                true
            }
            _ => false,
        }
    }
}
