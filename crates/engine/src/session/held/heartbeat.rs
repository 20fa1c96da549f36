//! Heartbeats of held connections: sends them when due, and answers control frames without the user.

use stats::{Counter, Span};
use wire::session::Session;

use super::close::Ending;
use super::{Held, State, Timed};
use crate::session::Around;
use crate::time::clock::Nanos;

impl Held {
    pub(super) fn arm_heartbeat(&mut self, at: u32) {
        if let Some(due) = self[at].session.due() {
            self.beats.insert(at, due, &mut Timed(&mut self.all));
        }
    }

    /// Returns true if Throng sends heartbeats on the connection.
    fn beats(&self, at: u32) -> bool {
        let line = &self[at];
        line.state == State::Open && line.session.due().is_some()
    }

    /// Moves the connections whose heartbeat is due to `due`.
    pub(crate) fn take_due(&mut self, now: Nanos, due: &mut Vec<u32>) {
        self.beats.expire(now, &mut Timed(&mut self.all), due);
    }

    /// Sends a due heartbeat, or ends the connection if heartbeats were not answered.
    pub(crate) fn on_beat(&mut self, around: &mut Around<'_>, at: u32, now: Nanos) {
        if !self.beats(at) {
            return;
        }
        if self[at].session.unanswered() > 0 && !self[at].stopped {
            // The answer may still be unread in the socket, because timers fire before sockets are polled.
            let generation = self[at].transport.generation;
            self.read(around, at, false);
            self.settle(around, at);
            if self[at].transport.generation != generation || !self.beats(at) {
                return;
            }
        }
        if self[at].session.unanswered() > 0 {
            around.recorder.add(Counter::HeartbeatsMissed, 1);
        }
        let mut out = std::mem::take(&mut around.net.out);
        out.clear();
        match self[at].session.beat(now, &mut out) {
            Ok(None) => {}
            Ok(Some(size)) => {
                self[at].last_io = around.clock.now();
                // If the connection breaks here, its listener is notified below.
                let _ = self.send_bytes(around, at, &out);
                if self[at].session.heartbeat().is_some_and(|one| one.payload.is_some()) {
                    around.recorder.add(Counter::MessagesOut, 1);
                    around.recorder.add(Counter::MessageBytesOut, size as u64);
                }
                around.recorder.add(Counter::HeartbeatsSent, 1);
                if self[at].state == State::Open {
                    self.arm_heartbeat(at);
                }
            }
            Err(_) => self.on_ended(around, at, Ending::MissedHeartbeat),
        }
        around.net.out = out;
        self.settle(around, at);
    }

    /// Handles a frame on a connection with heartbeats: counts the answer to a heartbeat, and answers the peer's
    /// control frame.
    pub(super) fn keep_up(
        &mut self,
        around: &mut Around<'_>,
        at: u32,
        answers: Option<Nanos>,
        now: Nanos,
    ) {
        if let Some(sent_at) = answers {
            around.recorder.add(Counter::HeartbeatsAnswered, 1);
            around.recorder.span(Span::Heartbeat, (now - sent_at).max(0) as u64);
        }
        if around.net.out.is_empty() {
            return;
        }
        let out = std::mem::take(&mut around.net.out);
        self[at].last_io = around.clock.now();
        let _ = self.send_bytes(around, at, &out);
        around.net.out = out;
        if self[at].session.is_over() {
            self.on_ended(around, at, Ending::CloseFrame);
        }
    }
}
