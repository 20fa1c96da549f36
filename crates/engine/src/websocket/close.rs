//! How WebSocket connections end, and how that is counted: once per connection, with who ended it and how long it
//! had been silent.

use stats::{CloseCause, Counter, Outcome};
use wire::websocket::Opcode;
use wire::websocket::session::{self, Cut};

use super::{NO_SOCKET, State, Task, WebSockets};
use crate::context::Context;
use crate::ids::UserId;
use crate::settings::websocket::AtUserEnd;
use crate::time::clock::{MS, Nanos};
use crate::websocket::sample::Fault;

/// How a connection ended that the plan had not closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The peer closed its side.
    Fin,
    /// The peer reset it.
    Reset,
    /// The peer's host no longer answers.
    Silence,
    /// The peer broke the protocol.
    Protocol,
    /// Heartbeats went unanswered.
    MissedHeartbeat,
    /// More came than the inbox may hold.
    InboxFull,
    /// The peer sent a close frame, and got its answer.
    CloseFrame,
}

impl Ending {
    /// The ending that an error of the socket stands for.
    pub(super) fn of(error: &std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::TimedOut => Self::Silence,
            _ => Self::Reset,
        }
    }

    fn cause(self) -> CloseCause {
        match self {
            Self::Fin => CloseCause::PeerFin,
            Self::Reset => CloseCause::PeerReset,
            Self::Silence => CloseCause::IdleTimeout,
            Self::Protocol => CloseCause::Protocol,
            Self::MissedHeartbeat => CloseCause::MissedHeartbeat,
            Self::InboxFull => CloseCause::InboxFull,
            Self::CloseFrame => CloseCause::PeerFrame,
        }
    }

    pub(super) fn outcome(self) -> Outcome {
        match self {
            Self::Fin | Self::CloseFrame => Outcome::Closed,
            Self::Reset => Outcome::Reset,
            Self::Silence => Outcome::Timeout(stats::Phase::Response),
            Self::Protocol => Outcome::Protocol,
            Self::MissedHeartbeat | Self::InboxFull => Outcome::Other,
        }
    }
}

/// A connection that was lost counts as so many that failed.
const LOST: u8 = 5;

impl WebSockets {
    /// A connection ended that the plan had not closed. Who waits on it is told by `settle`.
    pub(super) fn socket_ended(&mut self, cx: &mut Context<'_>, at: u32, ending: Ending) {
        let now = cx.clock.now();
        let unopened = !matches!(self.sockets[at].state, State::Open | State::Ended(_));
        if matches!(self.sockets[at].state, State::Ended(_)) {
            return;
        }
        self.beats.remove(at, &mut self.sockets);
        let shaken = self.sockets[at].transport.tls().filter(|tls| tls.client.handshaking());
        // However a peer ends a handshake, it is the same to the plug-in.
        let ending = match shaken.map(|tls| tls.effort) {
            Some(effort) => {
                effort.count(None, now, &mut cx.recorder);
                Ending::Fin
            }
            None => ending,
        };
        self.sockets[at].state = State::Ended(ending);
        if !unopened {
            // Where very many lose their connection at once, they must not all come back at once.
            let index = self.sockets[at].user;
            set_back(cx, index, LOST);
            self.count_close(cx, at, ending.cause(), 0, now);
        }
        // A peer that only stopped sending can still be written to, as the plug-in would.
        if ending != Ending::Fin || self.sockets[at].session.heartbeat().is_some() {
            self.sockets.drop_socket(at);
        }
    }

    /// Counts the end of an open connection, the first time.
    pub(super) fn count_close(
        &mut self,
        cx: &mut Context<'_>,
        at: u32,
        cause: CloseCause,
        code: u16,
        now: Nanos,
    ) {
        let socket = &mut self.sockets[at];
        if std::mem::replace(&mut socket.counted, true) {
            return;
        }
        let idle = (now - socket.last_io).max(0) / MS;
        cx.recorder.closed(cause, code, idle as u64);
        cx.recorder.add(Counter::WsClosed, 1);
        let counter = match cause {
            CloseCause::PeerFrame | CloseCause::PeerFin | CloseCause::PeerReset => {
                Counter::ConnClosedByPeer
            }
            _ => Counter::ConnClosedByUs,
        };
        cx.recorder.add(counter, 1);
    }

    /// Closes a connection from our side and frees its slot; its user has none afterwards.
    pub(super) fn close_socket(&mut self, cx: &mut Context<'_>, at: u32, cause: CloseCause) {
        let now = cx.clock.now();
        if matches!(self.sockets[at].state, State::Open | State::Ended(_)) {
            self.count_close(cx, at, cause, 0, now);
        }
        self.free_socket(cx, at);
    }

    /// A connection that could not be opened.
    pub(super) fn drop_unopened(&mut self, cx: &mut Context<'_>, at: u32) {
        cx.recorder.add(Counter::ConnFailed, 1);
        cx.recorder.add(Counter::WsFailed, 1);
        let index = self.sockets[at].user;
        set_back(cx, index, 1);
        if !std::mem::replace(&mut self.sockets[at].counted, true) {
            cx.recorder.closed(CloseCause::ConnectFailed, 0, 0);
        }
        self.free_socket(cx, at);
    }

    fn free_socket(&mut self, cx: &mut Context<'_>, at: u32) {
        self.beats.remove(at, &mut self.sockets);
        let socket = &mut self.sockets[at];
        socket.transport.say_goodbye(&mut cx.net.out);
        let queued = socket.rest.as_ref().map_or(0, |rest| rest.inbox.bytes());
        cx.recorder.add(Counter::InboxOut, queued as u64);
        let index = socket.user;
        if let Task::Work(work) = std::mem::take(&mut socket.task) {
            self.sockets.give_work(work);
        }
        self.sockets.free(at);
        if cx.users[index].socket == at {
            cx.users[index].socket = NO_SOCKET;
        }
    }

    /// The user ends: so does its connection, politely if the plan's properties say so.
    pub(crate) fn end_user(&mut self, cx: &mut Context<'_>, index: UserId) {
        let at = cx.users[index].socket;
        if at == NO_SOCKET {
            return;
        }
        let talks = self.sockets[at].rest.as_ref().is_some_and(|rest| rest.talking.is_some());
        if talks && self.sockets[at].state == State::Open {
            let _ = self.send_frame(cx, at, Opcode::CLOSE, plan::websocket::GOODBYE);
        }
        let polite = cx.run.settings.websocket.at_user_end == AtUserEnd::CloseFrame;
        if polite && self.sockets[at].state == State::Open && !self.sockets[at].session.is_closing()
        {
            let mut payload = [0; 64];
            let text = b"test thread finished";
            payload[..2].copy_from_slice(&1000u16.to_be_bytes());
            payload[2..2 + text.len()].copy_from_slice(text);
            let _ = self.send_frame(cx, at, Opcode::CLOSE, &payload[..2 + text.len()]);
        }
        let cause = if cx.stop.asked { CloseCause::Stopped } else { CloseCause::UserEnded };
        self.close_socket(cx, at, cause);
    }

    /// The run ends at once: so does the user's sample. False: it has none on a connection.
    pub(crate) fn cut(&mut self, cx: &mut Context<'_>, index: UserId) -> bool {
        let at = cx.users[index].socket;
        if at == NO_SOCKET {
            return false;
        }
        match &self.sockets[at].task {
            Task::Work(_) => self.fault(cx, at, Fault::Cut),
            Task::Hold(_) => self.finish_hold(cx, at),
            Task::None => return false,
        }
        true
    }

    /// How the plug-in words the end of a connection for who reads on it.
    pub(super) fn ending_text(&self, at: u32, ending: Ending) -> String {
        match ending {
            Ending::Fin => self.end_of_stream(at),
            Ending::Reset => "Connection reset".into(),
            Ending::Silence => "Connection timed out".into(),
            Ending::Protocol => "protocol error".into(),
            Ending::MissedHeartbeat => "heartbeats went unanswered".into(),
            Ending::InboxFull => "the inbox is full".into(),
            Ending::CloseFrame => "the server closed the connection".into(),
        }
    }

    /// The end of the stream within a frame has a wording of its own.
    fn end_of_stream(&self, at: u32) -> String {
        let rest = self.sockets.all.get(at as usize).and_then(|socket| socket.rest.as_ref());
        let tail = rest
            .map_or(&[][..], |rest| if rest.plain.is_empty() { &rest.tail } else { &rest.plain });
        match session::cut(tail) {
            Cut::Payload { expected, got } => format!(
                "WebSocket protocol error: expected payload of length {expected}, but can only read {got} bytes"
            ),
            // A length of eight bytes is read as one piece, shorter ones byte by byte.
            Cut::Length { got } => format!(
                "WebSocket protocol error: expected 8 length bytes, but can only read {got} bytes"
            ),
            Cut::Between => "end of stream".into(),
        }
    }
}

/// Something went wrong with a user's connection that an immediate new one would not mend.
pub(super) fn set_back(cx: &mut Context<'_>, index: UserId, by: u8) {
    let user = &mut cx.users[index];
    user.setbacks = user.setbacks.max(by - 1).saturating_add(1);
}
