//! Lines: connections with the session that speaks on them, and which of them a user has.

use plan::plan::SamplerId;
use wire::redis::Redis;
use wire::session::Ticket;
use wire::sse::Sse;
use wire::stream::Stream;

use crate::ids::{RouteId, UserId};
use crate::net::opening::Opening;
use crate::net::slot::{self, Slot};
use crate::net::transport::Transport;

/// The place of a line in its core's slab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LineId(u32);

impl LineId {
    /// No line.
    pub(crate) const NONE: Self = Self(u32::MAX);
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
    /// One of the core's pool of that number, which has so many at most (0 is no bound) and which all its users share.
    Named { pool: u32, most: u32 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// The slot is free.
    Closed,
    /// The address of the peer is being asked for.
    Naming,
    Connecting,
    /// TCP stands; the settings of TLS are asked for.
    Unsecured,
    Handshaking,
    /// It stands.
    Open,
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
    pub(crate) tail: Vec<u8>,
    /// Unfinished records, under TLS.
    pub(crate) sealed: Vec<u8>,
    /// The user's next line.
    next: LineId,
}

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
            tail: Vec::new(),
            sealed: Vec::new(),
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
        if matches!(place, Place::Named { .. }) {
            return id;
        }
        if self.first.len() <= user.at() {
            self.first.resize(user.at() + 1, LineId::NONE);
        }
        self[id].next = std::mem::replace(&mut self.first[user.at()], id);
        id
    }

    /// The first of a user's lines that fits.
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
        if !matches!(self[id].place, Place::Named { .. }) {
            self.unlink(id);
        }
        let line = &mut self[id];
        line.transport.close();
        (line.state, line.ticket) = (State::Closed, None);
        (line.tail, line.sealed) = (Vec::new(), Vec::new());
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
        self.all.iter().filter(|line| line.state != State::Closed).map(|line| line.route)
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
