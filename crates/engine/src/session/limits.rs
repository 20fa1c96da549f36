//! Time limits of exchanges, stalls of this process that hide a response, and interruption.

use stats::Phase;
use wire::session::Ticket;

use crate::net::driver;
use crate::net::outcome::Failure;
use crate::session::exchange::{Ending, Exchange};
use crate::session::line::{ConnectionScope, LineId, Lines, State};
use crate::session::{Around, Sessions};
use crate::time::clock::Nanos;

impl Sessions {
    /// Handles the timer of a user with an exchange: if the time limit has passed, the exchange ends or fails.
    pub(crate) fn check_limit(&mut self, around: &mut Around<'_>, ticket: Ticket, now: Nanos) {
        let index = self.exchanges[ticket].user;
        let limit = around.users[index].limit;
        if limit == Nanos::MAX {
            return;
        }
        if now < limit {
            return around.timers.wheel.insert(index, limit, &mut *around.users);
        }
        let (id, until) = (self.exchanges[ticket].line, self.exchanges[ticket].terms.until);
        let over = until > 0 && now >= until;
        if self.read_pending(around, ticket) && !(over && self.is_on(id, ticket)) {
            return;
        }
        if self.exchanges[ticket].line == LineId::NONE {
            return self.fail_pool_wait(around, ticket);
        }
        // The exchange ends even if its peer has more to send.
        if over {
            return self.end(around, ticket, Ending::Complete { closed: false }, now);
        }
        let id = self.exchanges[ticket].line;
        let failure = match self.lines[id].state {
            State::Connecting => {
                let line = &mut self.lines[id];
                let (opening, transport) = (&mut line.opening, &mut line.transport);
                let slot = Lines::slot(id);
                let opened = around.net.connect_is_late(opening, transport, slot, around.clock);
                return self.on_opened(around, id, opened);
            }
            State::Naming => Failure::ConnectTimeout,
            State::Unsecured | State::Handshaking => Failure::TlsTimeout,
            _ => Failure::ResponseTimeout,
        };
        self.fail(around, ticket, failure);
    }

    /// Reads the connection of an exchange whose time limit has passed. Timers fire before sockets are polled. After a
    /// stall of this process, data that arrived in time may still be unread. Returns false if there was no data.
    fn read_pending(&mut self, around: &mut Around<'_>, ticket: Ticket) -> bool {
        let id = self.exchanges[ticket].line;
        if id == LineId::NONE {
            return false;
        }
        match self.lines[id].state {
            State::Connecting => {
                let settled = driver::has_settled;
                if !self.lines[id].transport.fd.as_ref().is_some_and(settled) {
                    return false;
                }
                self.on_connected(around, id);
            }
            State::Open | State::Handshaking | State::Tunnelling => {
                if !self.read(around, id, false) {
                    return false;
                }
            }
            _ => return false,
        }
        // The exchange continues; its time limit starts now.
        if self.exchanges.has(ticket) && self.is_on(id, ticket) {
            let (index, limit) =
                (self.exchanges[ticket].user, self.exchanges[ticket].limit.nanos());
            let user = &around.users[index];
            if user.limit != Nanos::MAX && !user.links.armed() {
                let until = user.limit.max(around.clock.now() + limit);
                around.users[index].limit = until;
                around.timers.wheel.insert(index, until, &mut *around.users);
            }
        }
        true
    }

    /// Interrupts an exchange because of a Sample Timeout. Before a connection is established, only HTTP samplers
    /// can be interrupted.
    pub(crate) fn interrupt(&mut self, around: &mut Around<'_>, ticket: Ticket) {
        let (id, place) = (self.exchanges[ticket].line, self.exchanges[ticket].place);
        if id == LineId::NONE || !self.is_on(id, ticket) {
            return;
        }
        let phase = match self.lines[id].state {
            State::Open => Phase::Response,
            State::Naming | State::Connecting => Phase::Connect,
            State::Proxied | State::Tunnelling | State::Unsecured | State::Handshaking => {
                Phase::Tls
            }
            State::Idle | State::Dead | State::Ended | State::Closed => return,
        };
        if phase != Phase::Response && !matches!(place, ConnectionScope::Client { .. }) {
            return;
        }
        if phase != Phase::Connect && self.read_pending(around, ticket) && !self.is_on(id, ticket) {
            return;
        }
        self.fail(around, ticket, Failure::Interrupted(phase));
    }
}

impl Exchange {
    /// Returns a time limit in nanoseconds from now that is no later than the exchange's own end; 0 is unlimited.
    pub(super) fn limit_of(&self, limit: Nanos, now: Nanos) -> Nanos {
        match (self.terms.until, limit) {
            (0, limit) => limit,
            (until, 0) => (until - now).max(1),
            (until, limit) => (until - now).clamp(1, limit),
        }
    }
}
