//! Connections that users keep: which of them a request goes out on, and how they end.
//!
//! A user keeps its connections to itself, as a JMeter thread does: one that is idle to the wanted route is used
//! again; else a new one is opened. When the peer closed an idle one, the next request opens anew.

use stats::Counter;

use crate::core::Core;
use crate::http::conn::{ConnId, Conns, NO_CONN, State};
use crate::ids::UserId;
use crate::net::routes::RouteId;
use crate::time::clock::Nanos;

impl Core<'_> {
    /// An idle connection of the user to a route; Java's own client and HttpClient each have their own.
    pub(crate) fn idle_connection(
        &mut self,
        index: UserId,
        route: RouteId,
        java: bool,
        now: Nanos,
    ) -> Option<ConnId> {
        let owner = self.cx.users.owner(index);
        let holder = self.holder(index);
        let user = &self.cx.users[owner];
        let fits = |conns: &Conns, c: ConnId| {
            c != NO_CONN
                && conns[c].route == route
                && matches!(conns[c].state, State::Idle | State::Dead)
                && conns[c].user == owner
                && conns[c].holder == holder
                && conns[c].exchange.java == java
        };
        let found = if fits(&self.http.conns, user.conn) {
            user.conn
        } else {
            let others = user.extra.as_ref().map_or(&[][..], |extra| &extra.conns);
            *others.iter().find(|c| fits(&self.http.conns, **c))?
        };
        let entry = &self.http.conns[found];
        if entry.expires <= now {
            self.drop_connection(found, Counter::ConnClosedByUs);
            return None;
        }
        let rested = now - entry.idle_since;
        if entry.state == State::Dead
            && (rested < 0 || rested >= self.cx.run.settings.validate_after)
        {
            self.drop_connection(found, Counter::ConnClosedByPeer);
            return None;
        }
        if owner != index {
            self.forget(owner, found);
            self.http.conns[found].user = index;
        }
        Some(found)
    }

    /// Gives a connection that a branch used back to its user.
    pub(crate) fn give_back(&mut self, index: UserId, conn: ConnId) {
        let owner = self.cx.users.owner(index);
        if owner == index {
            return;
        }
        self.forget(index, conn);
        self.http.conns[conn].user = owner;
        let user = &mut self.cx.users[owner];
        if user.conn == NO_CONN {
            user.conn = conn;
        } else {
            user.extra().conns.push(conn);
        }
    }

    /// Makes a connection one of the user's, the one used last.
    pub(crate) fn remember(&mut self, index: UserId, conn: ConnId) {
        let old = self.cx.users[index].conn;
        if old != NO_CONN
            && old != conn
            && self.http.conns[old].user == index
            && self.http.conns[old].state != State::Closed
        {
            self.cx.users[index].extra().conns.push(old);
        }
        let user = &mut self.cx.users[index];
        user.conn = conn;
        if let Some(extra) = user.extra.as_mut() {
            extra.conns.retain(|c| *c != conn);
        }
    }

    /// An idle connection became readable: the peer closed it, or broke the protocol.
    pub(crate) fn read_idle(&mut self, conn: ConnId) {
        let mut scratch = std::mem::take(&mut self.cx.net.scratch);
        let received = match self.http.conns[conn].transport.fd.as_ref() {
            Some(fd) => self.cx.net.driver.receive(fd, &mut scratch),
            None => Ok(None),
        };
        let gone = match received {
            Ok(None) => false,
            Ok(Some(received))
                if received.bytes > 0 && self.http.conns[conn].transport.tls().is_some() =>
            {
                // Under TLS, session tickets arrive after the handshake or the first answer.
                !self.take_late_records(conn, &mut scratch[..received.bytes])
            }
            Ok(Some(_)) | Err(_) => true,
        };
        self.cx.net.scratch = scratch;
        if gone {
            self.peer_gave_up(conn);
        }
    }

    /// The peer closed a connection that the user would have used again.
    pub(crate) fn peer_gave_up(&mut self, conn: ConnId) {
        if self.cx.run.settings.retry_stale {
            return self.drop_connection(conn, Counter::ConnClosedByPeer);
        }
        self.http.conns.drop_socket(conn);
        self.http.conns[conn].state = State::Dead;
    }

    fn take_late_records(&mut self, conn: ConnId, incoming: &mut [u8]) -> bool {
        let entry = &mut self.http.conns[conn];
        let Some(tls) = entry.transport.tls_mut() else { return false };
        let mut data = std::mem::take(&mut entry.tail);
        data.extend_from_slice(incoming);
        let mut surprise = false;
        self.cx.net.out.clear();
        let progress = tls
            .client
            .advance(&mut data, &mut self.cx.net.out, &mut |bytes| surprise |= !bytes.is_empty());
        match progress {
            Ok(progress) if !progress.peer_closed && !surprise => {
                data.drain(..progress.used);
                if !data.is_empty() {
                    entry.tail = data;
                }
                true
            }
            _ => false,
        }
    }

    /// Closes one of the user's connections and forgets it.
    pub(crate) fn drop_connection(&mut self, conn: ConnId, counter: Counter) {
        let index = self.http.conns[conn].user;
        self.cx.recorder.add(counter, 1);
        if let Some(stash) = self.http.conns[conn].stash.take() {
            self.http.stashes.push(stash);
        }
        self.http.conns.close(conn);
        self.forget(index, conn);
    }

    /// A connection is none of the user's any more.
    fn forget(&mut self, index: UserId, conn: ConnId) {
        let user = &mut self.cx.users[index];
        if user.conn == conn {
            user.conn = NO_CONN;
        }
        if let Some(extra) = user.extra.as_mut() {
            extra.conns.retain(|c| *c != conn);
            if user.conn == NO_CONN
                && let Some(other) = extra.conns.pop()
            {
                user.conn = other;
            }
        }
    }

    /// Closes all of a user's connections of HTTP; returns how many were closed from here.
    pub(crate) fn close_connections(&mut self, index: UserId) -> u64 {
        let mut closed = 0;
        loop {
            let user = &self.cx.users[index];
            let others = user.extra.iter().flat_map(|extra| extra.conns.iter().copied());
            let mut own = std::iter::once(user.conn).chain(others).filter(|conn| *conn != NO_CONN);
            let Some(conn) = own.next() else { break };
            let entry = &mut self.http.conns[conn];
            entry.transport.say_goodbye(&mut self.cx.net.out);
            let dead = entry.state == State::Dead;
            closed += u64::from(!dead);
            self.drop_connection(
                conn,
                if dead { Counter::ConnClosedByPeer } else { Counter::ConnClosedByUs },
            );
        }
        closed
    }
}
