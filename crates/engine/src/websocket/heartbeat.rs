//! Heartbeats of connections: their settings, when they are due, and what is answered by itself ([`session`](wire::websocket::session)).

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use plan::websocket::{HeartbeatId, HeartbeatSettings};
use stats::{Counter, Span};
use wire::session::Session;
use wire::websocket::session::Heartbeat;

use super::{Ending, State, WebSockets};
use crate::context::Context;
use crate::time::clock::{MS, Nanos};

impl WebSockets {
    /// Arms the heartbeat of a connection that has just been opened.
    pub(super) fn start_heartbeat(
        &mut self,
        cx: &mut Context<'_>,
        at: u32,
        id: HeartbeatId,
        now: Nanos,
    ) {
        let known = self.heartbeats[id.0 as usize].clone();
        let heartbeat = known.unwrap_or_else(|| {
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
            let heartbeat = Arc::new(Heartbeat {
                interval: Nanos::from(settings.interval_ms) * MS,
                jitter: Nanos::from(settings.jitter_ms) * MS,
                payload: settings.payload,
                missed: settings.missed,
                reply_to_ping: settings.reply_to_ping,
                seed: AtomicU64::new(cx.random.bits()),
            });
            self.heartbeats[id.0 as usize] = Some(Arc::clone(&heartbeat));
            heartbeat
        });
        self.sockets[at].session.keep_alive(heartbeat, now);
        self.arm_heartbeat(at);
    }

    fn arm_heartbeat(&mut self, at: u32) {
        if let Some(due) = self.sockets[at].session.due() {
            self.beats.insert(at, due, &mut self.sockets);
        }
    }

    /// Whether heartbeats are sent on a connection.
    fn beats(&self, at: u32) -> bool {
        let socket = &self.sockets[at];
        socket.state == State::Open && socket.session.due().is_some()
    }

    /// A heartbeat is due.
    pub(crate) fn on_beat(&mut self, cx: &mut Context<'_>, at: u32, now: Nanos) {
        if !self.beats(at) {
            return;
        }
        if self.sockets[at].session.unanswered() > 0 && !self.sockets[at].stopped {
            // The answer may lie there: timers fire before sockets are polled.
            let generation = self.sockets[at].transport.generation;
            self.read_socket(cx, at, false);
            self.settle(cx, at);
            if self.sockets[at].transport.generation != generation || !self.beats(at) {
                return;
            }
        }
        if self.sockets[at].session.unanswered() > 0 {
            cx.recorder.add(Counter::HeartbeatsMissed, 1);
        }
        let mut out = std::mem::take(&mut cx.net.out);
        out.clear();
        match self.sockets[at].session.beat(now, &mut out) {
            Ok(None) => {}
            Ok(Some(size)) => {
                self.sockets[at].last_io = cx.clock.now();
                // A connection that breaks here is settled below.
                let _ = self.send_bytes(cx, at, &out);
                if self.sockets[at].session.heartbeat().is_some_and(|one| one.payload.is_some()) {
                    cx.recorder.add(Counter::MessagesOut, 1);
                    cx.recorder.add(Counter::MessageBytesOut, size as u64);
                }
                cx.recorder.add(Counter::HeartbeatsSent, 1);
                if self.sockets[at].state == State::Open {
                    self.arm_heartbeat(at);
                }
            }
            Err(_) => self.socket_ended(cx, at, Ending::MissedHeartbeat),
        }
        cx.net.out = out;
        self.settle(cx, at);
    }

    /// A frame came on a connection that is kept alive: it may answer a heartbeat, or have been answered itself.
    pub(super) fn keep_up(
        &mut self,
        cx: &mut Context<'_>,
        at: u32,
        answers: Option<Nanos>,
        now: Nanos,
    ) {
        if let Some(sent_at) = answers {
            cx.recorder.add(Counter::HeartbeatsAnswered, 1);
            cx.recorder.span(Span::Heartbeat, (now - sent_at).max(0) as u64);
        }
        if cx.net.out.is_empty() {
            return;
        }
        let out = std::mem::take(&mut cx.net.out);
        self.sockets[at].last_io = cx.clock.now();
        let _ = self.send_bytes(cx, at, &out);
        cx.net.out = out;
        if self.sockets[at].session.is_over() {
            self.socket_ended(cx, at, Ending::CloseFrame);
        }
    }
}
