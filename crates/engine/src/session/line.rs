//! Lines: connections of sessions, and the list of each user's connections.

use plan::plan::SamplerId;
use stats::ClassId;
use wire::http1::Connection;
use wire::redis::Redis;
use wire::session::Ticket;
use wire::sse::Sse;
use wire::stream::Stream;

use crate::ids::{RouteId, UserId};
use crate::net::opening::Opening;
use crate::net::slot::{self, Slot};
use crate::net::transport::Transport;
use crate::session::lazy::Lazy;
use crate::time::clock::Nanos;

/// Index of a connection in its core's slab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LineId(u32);

impl LineId {
    /// Stands for "no connection".
    pub(crate) const NONE: Self = Self(u32::MAX);

    /// Returns the index of the connection in the slab.
    pub(super) fn at(self) -> usize {
        self.0 as usize
    }
}

/// Number of the slab of lines, as used in tokens.
pub(crate) const SLAB: u8 = 1;

/// The connections that an exchange may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConnectionScope {
    /// A kept connection of the user to the same peer, or a new one.
    Own,
    /// Always a new connection.
    Fresh,
    /// The connection that this sampler has kept, whatever its peer, or a new one.
    Held(SamplerId),
    /// A connection that this HTTP client has kept for the user, or a new one. Other clients do not use it. `owner` is
    /// the connection owner among the branches of a Parallel Controller.
    Client { java: bool, owner: u16 },
    /// A connection of the core's pool with this number, which all users of the core share.
    Named(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// The slot has no connection.
    Closed,
    /// The address of the peer is being resolved.
    Naming,
    Connecting,
    /// The TCP connection to a proxy is established, and the proxy must be asked for a tunnel.
    Proxied,
    /// The proxy was asked for a tunnel.
    Tunnelling,
    /// The TCP connection is established; the TLS settings are missing.
    Unsecured,
    Handshaking,
    /// The connection is established and usable.
    Open,
    /// The connection is kept for the user's next request, and polled.
    Idle,
    /// An idle connection that the peer has closed. JMeter notices this at the next use.
    Dead,
    /// The peer has closed its side. Only a write shows whether data can still be sent.
    Ended,
}

/// The session of a connection.
#[derive(Debug)]
pub(crate) enum LineSession {
    Stream(Stream),
    /// A datagram socket: each datagram is a request or a response.
    Datagram,
    Redis(Box<Redis>),
    Sse(Box<Sse>),
    Http(Connection),
}

/// A connection of a session.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) transport: Transport,
    pub(crate) state: State,
    pub(crate) speaker: LineSession,
    pub(crate) user: UserId,
    pub(crate) route: RouteId,
    pub(crate) place: ConnectionScope,
    /// The exchange that uses this connection.
    pub(crate) ticket: Option<Ticket>,
    pub(crate) opening: Opening,
    /// Input that no exchange has used yet, decrypted under TLS.
    pub(crate) tail: Lazy<Vec<u8>>,
    /// Time since which the connection has been idle.
    pub(crate) idle_since: Nanos,
    /// The connection is not reused after this time, which is never later than `end`.
    pub(crate) expires: Nanos,
    /// The connection is not used after this time, however active it is.
    pub(crate) end: Nanos,
    /// Class under which the statistics count the exchanges on the connection: the class of its server address.
    pub(crate) class: ClassId,
    /// True if Throng closes the connection when the peer closes it while it is idle.
    pub(crate) closes: bool,
    /// The next connection of the same user.
    next: LineId,
}

const _: () = assert!(size_of::<Line>() <= 152);

/// Connections of a core.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    all: Vec<Line>,
    free: Vec<LineId>,
    /// The first connection in the list of each user that has had one.
    first: Vec<LineId>,
}

impl std::ops::Index<LineId> for Lines {
    type Output = Line;
    fn index(&self, id: LineId) -> &Line {
        &self.all[id.0 as usize]
    }
}

impl std::ops::IndexMut<LineId> for Lines {
    fn index_mut(&mut self, id: LineId) -> &mut Line {
        &mut self.all[id.0 as usize]
    }
}

impl Line {
    /// Returns true if no received bytes are left, not even part of a TLS record.
    pub(crate) fn is_drained(&self) -> bool {
        self.tail.is_empty() && self.transport.tls().is_none_or(|tls| tls.sealed.is_empty())
    }
}

impl Lines {
    /// Adds a connection for a user, without a socket yet.
    pub(crate) fn open(
        &mut self,
        user: UserId,
        route: RouteId,
        place: ConnectionScope,
        opening: Opening,
        speaker: LineSession,
    ) -> LineId {
        let line = Line {
            transport: Transport::default(),
            state: State::Connecting,
            speaker,
            user,
            route,
            place,
            ticket: None,
            opening,
            tail: Lazy::default(),
            idle_since: 0,
            expires: Nanos::MAX,
            end: Nanos::MAX,
            class: ClassId::NONE,
            closes: false,
            next: LineId::NONE,
        };
        let id = match self.free.pop() {
            Some(id) => {
                let transport = std::mem::take(&mut self[id].transport);
                self[id] = Line { transport, ..line };
                id
            }
            None => {
                self.all.push(line);
                LineId((self.all.len() - 1) as u32)
            }
        };
        // Connections of pools are found through their pools.
        if matches!(place, ConnectionScope::Named(_)) {
            return id;
        }
        if self.first.len() <= user.at() {
            self.first.resize(user.at() + 1, LineId::NONE);
        }
        self[id].next = std::mem::replace(&mut self.first[user.at()], id);
        id
    }

    /// Moves a connection to the front of its user's list.
    #[inline]
    pub(crate) fn move_to_front(&mut self, id: LineId) {
        let user = self[id].user;
        if self.first[user.at()] != id {
            self.unlink(id);
            self[id].next = std::mem::replace(&mut self.first[user.at()], id);
        }
    }

    /// Closes the socket of a connection and drops its input, but keeps the connection's slot.
    pub(crate) fn drop_socket(&mut self, id: LineId) {
        let line = &mut self[id];
        line.transport.close();
        line.tail = Lazy::default();
    }

    /// Returns the first matching connection of a user.
    #[inline]
    pub(crate) fn find(&self, user: UserId, fits: impl Fn(&Line) -> bool) -> Option<LineId> {
        let mut id = self.first.get(user.at()).copied().unwrap_or(LineId::NONE);
        while id != LineId::NONE {
            if fits(&self[id]) {
                return Some(id);
            }
            id = self[id].next;
        }
        None
    }

    /// Closes a connection and frees its slot.
    pub(crate) fn close(&mut self, id: LineId) {
        if !matches!(self[id].place, ConnectionScope::Named(_)) {
            self.unlink(id);
        }
        self.drop_socket(id);
        let line = &mut self[id];
        (line.state, line.ticket) = (State::Closed, None);
        self.free.push(id);
    }

    /// Removes a connection from its user's list.
    fn unlink(&mut self, id: LineId) {
        let (user, next) = (self[id].user, self[id].next);
        let mut before = LineId::NONE;
        let mut at = self.first[user.at()];
        while at != id {
            (before, at) = (at, self[at].next);
        }
        match before {
            LineId::NONE => self.first[user.at()] = next,
            before => self[before].next = next,
        }
    }

    /// Returns the connection with this index, for tests.
    #[cfg(test)]
    pub(crate) fn id(index: u32) -> LineId {
        LineId(index)
    }

    /// Returns the routes of all connections.
    pub(crate) fn routes(&self) -> impl Iterator<Item = RouteId> {
        let open = self.all.iter().filter(|line| line.state != State::Closed);
        open.flat_map(|line| [line.route, line.opening.route])
    }

    /// Returns the slot of a connection.
    pub(crate) fn slot(id: LineId) -> Slot {
        Slot { slab: SLAB, index: id.0 }
    }

    /// Returns the token under which the slot's current socket is registered.
    pub(crate) fn token(&self, id: LineId) -> u64 {
        Self::slot(id).token(&self[id].transport)
    }

    /// Returns the connection of a token, unless its socket was closed.
    pub(crate) fn by_token(&self, token: u64) -> Option<LineId> {
        let id = LineId(token as u32);
        let line = self.all.get(id.0 as usize)?;
        (slot::is_present(token, &line.transport) && line.state != State::Closed).then_some(id)
    }
}
