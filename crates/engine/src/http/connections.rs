//! Connections that users keep: which of them a request goes out on, and how they end.
//!
//! A user keeps its connections to itself, as a JMeter thread does: one that is idle to the wanted route is used
//! again; else a new one is opened. When the peer closed an idle one, the next request opens anew.

use stats::Counter;

use crate::context::Context;
use crate::http::conn::{ConnId, Conns, NO_CONN, State};
use crate::ids::UserId;
use crate::net::routes::RouteId;
use crate::time::clock::Nanos;

impl Conns {
    /// An idle connection of the user to a route; Java's own client and HttpClient each have their own.
    pub(crate) fn idle_connection(
        &mut self,
        cx: &mut Context<'_>,
        index: UserId,
        route: RouteId,
        java: bool,
        now: Nanos,
    ) -> Option<ConnId> {
        let owner = cx.users.owner(index);
        let holder = self.holder(cx, index);
        let user = &cx.users[owner];
        let fits = |conns: &Conns, c: ConnId| {
            c != NO_CONN
                && conns[c].route == route
                && matches!(conns[c].state, State::Idle | State::Dead)
                && conns[c].user == owner
                && conns[c].holder == holder
                && conns[c].exchange.java == java
        };
        let found = if fits(self, user.conn) {
            user.conn
        } else {
            let others = user.extra.as_ref().map_or(&[][..], |extra| &extra.conns);
            *others.iter().find(|c| fits(self, **c))?
        };
        let entry = &self[found];
        if entry.expires <= now {
            self.drop_connection(cx, found, Counter::ConnClosedByUs);
            return None;
        }
        let rested = now - entry.idle_since;
        if entry.state == State::Dead
            && (rested < 0 || rested >= cx.run.settings.http.validate_after)
        {
            self.drop_connection(cx, found, Counter::ConnClosedByPeer);
            return None;
        }
        if owner != index {
            forget(cx, owner, found);
            self[found].user = index;
        }
        Some(found)
    }

    /// To whom HttpClient counts what a user opens now.
    pub(crate) fn holder(&self, cx: &Context<'_>, index: UserId) -> u16 {
        if !self.has_branches {
            return 0;
        }
        let root = &cx.users[cx.users.root(index)];
        root.extra.as_ref().map_or(0, |extra| extra.holder)
    }

    /// Gives a connection that a branch used back to its user.
    pub(crate) fn give_back(&mut self, cx: &mut Context<'_>, index: UserId, conn: ConnId) {
        let owner = cx.users.owner(index);
        if owner == index {
            return;
        }
        forget(cx, index, conn);
        self[conn].user = owner;
        let user = &mut cx.users[owner];
        if user.conn == NO_CONN {
            user.conn = conn;
        } else {
            user.extra().conns.push(conn);
        }
    }

    /// Makes a connection one of the user's, the one used last.
    pub(crate) fn remember(&mut self, cx: &mut Context<'_>, index: UserId, conn: ConnId) {
        let old = cx.users[index].conn;
        if old != NO_CONN
            && old != conn
            && self[old].user == index
            && self[old].state != State::Closed
        {
            cx.users[index].extra().conns.push(old);
        }
        let user = &mut cx.users[index];
        user.conn = conn;
        if let Some(extra) = user.extra.as_mut() {
            extra.conns.retain(|c| *c != conn);
        }
    }

    /// An idle connection became readable: the peer closed it, or broke the protocol.
    pub(crate) fn read_idle(&mut self, cx: &mut Context<'_>, conn: ConnId) {
        let mut scratch = std::mem::take(&mut cx.net.scratch);
        let received = match self[conn].transport.fd.as_ref() {
            Some(fd) => cx.net.driver.receive(fd, &mut scratch),
            None => Ok(None),
        };
        let gone = match received {
            Ok(None) => false,
            Ok(Some(received)) if received.bytes > 0 && self[conn].transport.tls().is_some() => {
                // Under TLS, session tickets arrive after the handshake or the first answer.
                !self.take_late_records(cx, conn, &mut scratch[..received.bytes])
            }
            Ok(Some(_)) | Err(_) => true,
        };
        cx.net.scratch = scratch;
        if gone {
            self.peer_gave_up(cx, conn);
        }
    }

    /// The peer closed a connection that the user would have used again.
    pub(crate) fn peer_gave_up(&mut self, cx: &mut Context<'_>, conn: ConnId) {
        if cx.run.settings.http.retry_stale {
            return self.drop_connection(cx, conn, Counter::ConnClosedByPeer);
        }
        self.drop_socket(conn);
        self[conn].state = State::Dead;
    }

    fn take_late_records(
        &mut self,
        cx: &mut Context<'_>,
        conn: ConnId,
        incoming: &mut [u8],
    ) -> bool {
        let entry = &mut self[conn];
        let Some(tls) = entry.transport.tls_mut() else { return false };
        let mut data = std::mem::take(&mut entry.tail);
        data.extend_from_slice(incoming);
        let mut surprise = false;
        cx.net.out.clear();
        let progress = tls
            .client
            .advance(&mut data, &mut cx.net.out, &mut |bytes| surprise |= !bytes.is_empty());
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
    pub(crate) fn drop_connection(&mut self, cx: &mut Context<'_>, conn: ConnId, counter: Counter) {
        let index = self[conn].user;
        cx.recorder.add(counter, 1);
        if let Some(stash) = self[conn].stash.take() {
            self.stashes.give(stash);
        }
        self.close(conn);
        forget(cx, index, conn);
    }

    /// Closes all of a user's connections of HTTP; returns how many were closed from here.
    pub(crate) fn close_connections(&mut self, cx: &mut Context<'_>, index: UserId) -> u64 {
        let mut closed = 0;
        loop {
            let user = &cx.users[index];
            let others = user.extra.iter().flat_map(|extra| extra.conns.iter().copied());
            let mut own = std::iter::once(user.conn).chain(others).filter(|conn| *conn != NO_CONN);
            let Some(conn) = own.next() else { break };
            let entry = &mut self[conn];
            entry.transport.say_goodbye(&mut cx.net.out);
            let dead = entry.state == State::Dead;
            closed += u64::from(!dead);
            self.drop_connection(
                cx,
                conn,
                if dead { Counter::ConnClosedByPeer } else { Counter::ConnClosedByUs },
            );
        }
        closed
    }
}

/// A connection is none of the user's any more.
fn forget(cx: &mut Context<'_>, index: UserId, conn: ConnId) {
    let user = &mut cx.users[index];
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
