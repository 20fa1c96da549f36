//! Idle HTTP connections of a user: chooses one for a request, and handles their ends.
//!
//! Connections belong to one user, as in a JMeter thread. An idle connection to the wanted route is reused,
//! otherwise a new one is opened. Idle connections are polled. When the peer closes one, Throng closes it too, or
//! keeps it as dead; then its next use fails as in JMeter.

use stats::Counter;
use wire::session::Ticket;

use crate::ids::{RouteId, UserId};
use crate::session::line::{ConnectionScope, LineId, State};
use crate::session::{Around, Sessions};
use crate::time::clock::Nanos;

/// The state of a kept connection that was found.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Found {
    /// The connection can be reused.
    Sound(LineId),
    /// The peer has closed the connection. The next request is nevertheless sent on it, as in JMeter.
    Stale(LineId),
    /// The connection must be closed, and counted with this counter.
    Over(LineId, Counter),
}

impl Sessions {
    /// Finds a kept connection of the user at the time `now`. A connection that the peer has closed is still used,
    /// unless its last use was more than `validate_after` ago.
    #[inline]
    pub(crate) fn idle(
        &mut self,
        owner: UserId,
        place: ConnectionScope,
        route: RouteId,
        now: Nanos,
        validate_after: Nanos,
    ) -> Option<Found> {
        let id = self.lines.find(owner, |line| {
            line.route == route
                && matches!(line.state, State::Idle | State::Dead)
                && line.place == place
        })?;
        let line = &self.lines[id];
        if line.expires <= now {
            return Some(Found::Over(id, Counter::ConnClosedByUs));
        }
        let rested = now - line.idle_since;
        if line.state == State::Dead && (rested < 0 || rested >= validate_after) {
            return Some(Found::Over(id, Counter::ConnClosedByPeer));
        }
        let is_dead = line.state == State::Dead;
        self.lines.move_to_front(id);
        Some(if is_dead { Found::Stale(id) } else { Found::Sound(id) })
    }

    /// Keeps the connection of an ended exchange for its user's next request, for the time `rest`. If the peer closes
    /// the connection meanwhile, Throng closes it too (`closes`) or keeps it as dead.
    #[inline]
    pub(crate) fn rest(&mut self, ticket: Ticket, rest: Nanos, closes: bool) -> LineId {
        let exchange = &mut self.exchanges[ticket];
        let (id, now) = (exchange.line, exchange.ended);
        exchange.line = LineId::NONE;
        let line = &mut self.lines[id];
        (line.state, line.closes, line.idle_since) = (State::Idle, closes, now);
        line.expires = line.end.min(now.saturating_add(rest));
        id
    }

    /// Reads an idle connection that has become readable. Unless only TLS session tickets have arrived, the peer has
    /// closed the connection or violated the protocol.
    pub(super) fn read_idle(&mut self, around: &mut Around<'_>, id: LineId) {
        let mut scratch = std::mem::take(&mut around.net.scratch);
        let line = &mut self.lines[id];
        let received = match line.transport.fd.as_ref() {
            Some(fd) => around.net.driver.receive(fd, &mut scratch),
            None => Ok(None),
        };
        let gone = match received {
            Ok(None) => false,
            Ok(Some(received)) if received.bytes > 0 && line.transport.tls().is_some() => {
                // Under TLS, session tickets arrive after the handshake or after the first response.
                !self.take_late_records(around, id, &mut scratch[..received.bytes])
            }
            Ok(Some(_)) | Err(_) => true,
        };
        around.net.scratch = scratch;
        if gone {
            self.peer_gave_up(around, id);
        }
    }

    /// Handles the peer's close of a connection that the user would have reused: closes it too, or keeps it as dead.
    pub(crate) fn peer_gave_up(&mut self, around: &mut Around<'_>, id: LineId) {
        if self.lines[id].closes {
            return self.drop_line(around, id, Counter::ConnClosedByPeer);
        }
        self.lines.drop_socket(id);
        self.lines[id].state = State::Dead;
    }

    fn take_late_records(
        &mut self,
        around: &mut Around<'_>,
        id: LineId,
        incoming: &mut [u8],
    ) -> bool {
        let line = &mut self.lines[id];
        let Some(tls) = line.transport.tls_mut() else { return false };
        let mut data = std::mem::take(&mut tls.sealed);
        data.extend_from_slice(incoming);
        let mut surprise = false;
        around.net.out.clear();
        let out = &mut around.net.out;
        let progress =
            tls.client.advance(&mut data, out, &mut |bytes| surprise |= !bytes.is_empty());
        match progress {
            Ok(progress) if !progress.peer_closed && !surprise => {
                data.drain(..progress.used);
                if !data.is_empty() {
                    tls.sealed = data;
                }
                true
            }
            _ => false,
        }
    }

    /// Closes all HTTP connections of a user. Returns how many were not closed by their peer before.
    pub(crate) fn close_clients(&mut self, around: &mut Around<'_>, user: UserId) -> u64 {
        let mut closed = 0;
        let is_client = |place| matches!(place, ConnectionScope::Client { .. });
        while let Some(id) = self.lines.find(user, |line| is_client(line.place)) {
            closed += u64::from(self.close_line(around, id));
        }
        closed
    }
}
