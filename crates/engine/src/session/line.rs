//! Lines: connections with the session that speaks on them, and which of them a user has.

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

/// The place of a line in its core's slab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LineId(u32);

impl LineId {
    /// No line.
    pub(crate) const NONE: Self = Self(u32::MAX);

    /// The place as an index.
    pub(super) fn at(self) -> usize {
        self.0 as usize
    }
}

/// The number of this slab in tokens.
pub(crate) const SLAB: u8 = 1;

/// On what connection an exchange goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A kept one of the user to the same peer, or a new one.
    Own,
    /// A new one, whatever there is.
    Fresh,
    /// The one that the sampler has, whatever the peer, or a new one.
    Held(SamplerId),
    /// One that this client of HTTP has kept for the user, and that no other may use, or a new one. The user that a line counts for
    /// among the branches of a Parallel Controller is the `owner`.
    Client { java: bool, owner: u16 },
    /// One of the core's pool of that number, which all its users share.
    Named(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// The slot is free.
    Closed,
    /// The address of the peer is being asked for.
    Naming,
    Connecting,
    /// TCP stands to a proxy, whose protocol is to ask it for a tunnel.
    Proxied,
    /// The proxy has been asked for a tunnel.
    Tunnelling,
    /// TCP stands; the settings of TLS are asked for.
    Unsecured,
    Handshaking,
    /// It stands.
    Open,
    /// It is kept for the user's next request, and watched.
    Idle,
    /// As idle, but the peer has closed it; JMeter would find out by using it.
    Dead,
    /// The peer sends no more; what can still be written is found out by writing.
    Ended,
}

/// The session that speaks on a line.
#[derive(Debug)]
pub(crate) enum Speaker {
    Stream(Stream),
    /// Each datagram is a call or an answer.
    Datagram,
    Redis(Box<Redis>),
    Sse(Box<Sse>),
    Http(Connection),
}

/// A connection.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) transport: Transport,
    pub(crate) state: State,
    pub(crate) speaker: Speaker,
    pub(crate) user: UserId,
    pub(crate) route: RouteId,
    pub(crate) place: Place,
    /// The exchange on it.
    pub(crate) ticket: Option<Ticket>,
    pub(crate) opening: Opening,
    /// Input that is not used up; under TLS decrypted.
    pub(crate) tail: Lazy<Vec<u8>>,
    /// Since when it is idle.
    pub(crate) idle_since: Nanos,
    /// After this it is not used again; never later than its end.
    pub(crate) expires: Nanos,
    /// However much it is used, not after this.
    pub(crate) end: Nanos,
    /// Its address, as the recorder has it, if it is one of HTTP's.
    pub(crate) class: ClassId,
    /// It is closed when its peer has closed it while it was idle.
    pub(crate) closes: bool,
    /// The user's next line.
    next: LineId,
}

const _: () = assert!(size_of::<Line>() <= 152);

/// Lines of a core.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    all: Vec<Line>,
    free: Vec<LineId>,
    /// The first line of each user that has had one.
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
    /// Whether nothing has come that is not used up, be it part of a record.
    pub(crate) fn is_drained(&self) -> bool {
        self.tail.is_empty() && self.transport.tls().is_none_or(|tls| tls.sealed.is_empty())
    }
}

impl Lines {
    /// A line for a user, without a socket yet.
    pub(crate) fn open(
        &mut self,
        (user, route, place): (UserId, RouteId, Place),
        opening: Opening,
        speaker: Speaker,
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
        // Lines of pools are found by these.
        if matches!(place, Place::Named(_)) {
            return id;
        }
        if self.first.len() <= user.at() {
            self.first.resize(user.at() + 1, LineId::NONE);
        }
        self[id].next = std::mem::replace(&mut self.first[user.at()], id);
        id
    }

    /// Makes a line the first of its user's.
    #[inline]
    pub(crate) fn bring_to_front(&mut self, id: LineId) {
        let user = self[id].user;
        if self.first[user.at()] != id {
            self.unlink(id);
            self[id].next = std::mem::replace(&mut self.first[user.at()], id);
        }
    }

    /// Drops the socket of a line and what belongs to it, but keeps the line.
    pub(crate) fn drop_socket(&mut self, id: LineId) {
        let line = &mut self[id];
        line.transport.close();
        line.tail = Lazy::default();
    }

    /// The first of a user's lines that fits.
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

    /// Closes a line and frees its slot.
    pub(crate) fn close(&mut self, id: LineId) {
        if !matches!(self[id].place, Place::Named(_)) {
            self.unlink(id);
        }
        self.drop_socket(id);
        let line = &mut self[id];
        (line.state, line.ticket) = (State::Closed, None);
        self.free.push(id);
    }

    /// Takes a line from its user.
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

    /// A place in the slab.
    #[cfg(test)]
    pub(crate) fn id(index: u32) -> LineId {
        LineId(index)
    }

    /// Routes of the lines there are.
    pub(crate) fn routes(&self) -> impl Iterator<Item = RouteId> {
        let open = self.all.iter().filter(|line| line.state != State::Closed);
        open.flat_map(|line| [line.route, line.opening.route])
    }

    /// Where a line is.
    pub(crate) fn slot(id: LineId) -> Slot {
        Slot { slab: SLAB, index: id.0 }
    }

    /// The token under which the slot's present socket is registered.
    pub(crate) fn token(&self, id: LineId) -> u64 {
        Self::slot(id).token(&self[id].transport)
    }

    /// The slot of a token, unless its socket is gone.
    pub(crate) fn by_token(&self, token: u64) -> Option<LineId> {
        let id = LineId(token as u32);
        let line = self.all.get(id.0 as usize)?;
        (slot::is_present(token, &line.transport) && line.state != State::Closed).then_some(id)
    }
}
