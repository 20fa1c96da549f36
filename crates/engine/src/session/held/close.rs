//! The ends of held connections. Each end is counted once, with the side that ended the connection and the time for
//! which it was silent.

use stats::{CloseCause, Counter, Outcome};

use super::{Held, State, Timed};
use crate::ids::{NO_SOCKET, UserId};
use crate::session::Around;
use crate::time::clock::{MS, Nanos};

/// The way in which a connection ended, if the plan did not close it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The peer closed its side.
    Fin,
    /// The peer reset the connection.
    Reset,
    /// The peer's host no longer answers.
    Silence,
    /// The peer violated the protocol.
    Protocol,
    /// Heartbeats went unanswered.
    MissedHeartbeat,
    /// The inbox was full.
    InboxFull,
    /// The peer sent a close frame and got its answer.
    CloseFrame,
}

impl Ending {
    /// Returns the ending for an error of the socket.
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

    pub(crate) fn outcome(self) -> Outcome {
        match self {
            Self::Fin | Self::CloseFrame => Outcome::Closed,
            Self::Reset => Outcome::Reset,
            Self::Silence => Outcome::Timeout(stats::Phase::Response),
            Self::Protocol => Outcome::Protocol,
            Self::MissedHeartbeat | Self::InboxFull => Outcome::Other,
        }
    }
}

/// Number of failed connections that one lost connection counts as. The number determines the delay before the user
/// reconnects.
const LOST: u8 = 5;

impl Held {
    /// Handles the end of a connection that the plan has not closed. `settle` notifies its listener.
    pub(crate) fn on_ended(&mut self, around: &mut Around<'_>, at: u32, ending: Ending) {
        let now = around.clock.now();
        let unopened = !matches!(self[at].state, State::Open | State::Ended(_));
        if matches!(self[at].state, State::Ended(_)) {
            return;
        }
        self.beats.remove(at, &mut Timed(&mut self.all));
        let line = &mut self.all[at as usize];
        let shaken = line.transport.tls().filter(|tls| tls.client.handshaking());
        // The plug-in makes no difference between ways in which the peer ends a handshake.
        let ending = match shaken.map(|tls| tls.effort) {
            Some(effort) => {
                effort.count(None, now, around.recorder);
                Ending::Fin
            }
            None => ending,
        };
        line.state = State::Ended(ending);
        if !unopened {
            // If many users lose their connections at the same time, they must not all reconnect at the same
            // time.
            count_failure(around, line.user, LOST);
            self.count_close(around, at, ending.cause(), 0, now);
        }
        // If the peer has only closed its side, the user can still send, as in the plug-in.
        if ending != Ending::Fin || self[at].session.heartbeat().is_some() {
            self[at].transport.close();
        }
    }

    /// Counts the end of an open connection once, with the code of its close frame, or 0.
    pub(super) fn count_close(
        &mut self,
        around: &mut Around<'_>,
        at: u32,
        cause: CloseCause,
        code: u16,
        now: Nanos,
    ) {
        let line = &mut self[at];
        if std::mem::replace(&mut line.counted, true) {
            return;
        }
        let idle = (now - line.last_io).max(0) / MS;
        around.recorder.closed(cause, code, idle as u64);
        around.recorder.add(Counter::WsClosed, 1);
        let counter = match cause {
            CloseCause::PeerFrame | CloseCause::PeerFin | CloseCause::PeerReset => {
                Counter::ConnClosedByPeer
            }
            _ => Counter::ConnClosedByUs,
        };
        around.recorder.add(counter, 1);
    }

    /// Closes a connection and frees its slot.
    pub(crate) fn close(&mut self, around: &mut Around<'_>, at: u32, cause: CloseCause) {
        let now = around.clock.now();
        if matches!(self[at].state, State::Open | State::Ended(_)) {
            self.count_close(around, at, cause, 0, now);
        }
        self.release(around, at);
    }

    /// Closes a connection that could not be opened.
    pub(crate) fn drop_unopened(&mut self, around: &mut Around<'_>, at: u32) {
        around.recorder.add(Counter::ConnFailed, 1);
        around.recorder.add(Counter::WsFailed, 1);
        count_failure(around, self[at].user, 1);
        if !std::mem::replace(&mut self[at].counted, true) {
            around.recorder.closed(CloseCause::ConnectFailed, 0, 0);
        }
        self.release(around, at);
    }

    /// Closes a connection and frees its slot, without counting its end.
    fn release(&mut self, around: &mut Around<'_>, at: u32) {
        self.beats.remove(at, &mut Timed(&mut self.all));
        let line = &mut self.all[at as usize];
        line.transport.send_close_notify(&mut around.net.out);
        line.transport.close();
        line.state = State::Free;
        let mut rest = line.rest.take();
        let user = &mut around.users[line.user];
        if user.socket == at {
            user.socket = NO_SOCKET;
        }
        if let Some(rest) = &mut rest {
            around.recorder.add(Counter::InboxOut, rest.inbox.bytes() as u64);
            let opening = rest.opening.take();
            self.give_opening(opening);
        }
        self.give_rest(rest);
        self.free.push(at);
    }

    /// Notifies the listener of a connection that has ended.
    pub(super) fn settle(&mut self, around: &mut Around<'_>, at: u32) {
        let State::Ended(ending) = self[at].state else {
            return self.tidy(at);
        };
        match self[at].listener {
            super::Listener::None => {}
            super::Listener::Opening => self.opening_ended(around, at, ending),
            _ => self.notify_over(around, at),
        }
    }

    /// Returns the bytes after the last complete frame of a connection.
    pub(crate) fn unused(&self, at: u32) -> &[u8] {
        match self.all.get(at as usize).and_then(|line| line.rest.as_ref()) {
            Some(rest) if rest.plain.is_empty() => &rest.tail,
            Some(rest) => &rest.plain,
            None => &[],
        }
    }
}

/// Counts a failed or lost connection of a user. Afterwards the user has at least `by` setbacks, which delay its next
/// connection.
fn count_failure(around: &mut Around<'_>, index: UserId, by: u8) {
    let user = &mut around.users[index];
    user.setbacks = user.setbacks.max(by - 1).saturating_add(1);
}
