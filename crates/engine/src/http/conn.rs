//! Connections of one core: a slab of sockets with the state of the exchange under way.
//!
//! An idle connection holds no buffer: unfinished input and unsent output live in vectors that are empty, without
//! heap, except while something is unfinished; what a response's readers need is kept in a stash from the core's pool.

use std::ops::Range;

use stats::{ClassId, Phases};
use wire::http1::Decoder;

use crate::ids::UserId;
pub(crate) use crate::ids::{ConnId, NO_CONN};
use crate::net::opening::Opening;
use crate::net::routes::RouteId;
use crate::net::slot::{self, Slot};
use crate::net::transport::{Transport, keep_part};
use crate::time::clock::Nanos;
use crate::time::milestones::{Milestones, Times};

/// The number of this slab in tokens.
pub(crate) const SLAB: u8 = 0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// The slot is free.
    Closed,
    Connecting,
    /// The proxy has been asked for a tunnel.
    Tunnelling,
    Handshaking,
    /// An exchange is under way.
    Busy,
    /// Kept for the user's next request.
    Idle,
    /// As idle, but the peer has closed it; JMeter would find out by using it.
    Dead,
}

#[derive(Debug)]
pub(crate) struct Conn {
    pub(crate) transport: Transport,
    pub(crate) state: State,
    pub(crate) user: UserId,
    pub(crate) route: RouteId,
    /// Its opening; the addresses tried are those of the route, but for users that look names up for themselves.
    pub(crate) opening: Opening,
    /// The owner to HttpClient, where branches are about (a user's own `holder`).
    pub(crate) holder: u16,
    /// Its address, as the recorder has it.
    pub(crate) class: ClassId,
    pub(crate) decoder: Decoder,
    /// Input that is not used up (raw bytes, or ciphertext under TLS).
    pub(crate) tail: Vec<u8>,
    pub(crate) exchange: Exchange,
    pub(crate) stash: Option<Box<Stash>>,
    /// Since when it is idle.
    pub(crate) idle_since: Nanos,
    /// After this it is not used again; never later than its end.
    pub(crate) expires: Nanos,
    /// However much it is used, not after this.
    pub(crate) end: Nanos,
}

/// The exchange under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exchange {
    /// When the sample should have started.
    pub(crate) intended: Nanos,
    /// When it started.
    pub(crate) start: Nanos,
    /// When the request was handed to the kernel, all of it.
    pub(crate) sent_at: Nanos,
    /// Time to an established connection; 0 if reused.
    pub(crate) connect: Nanos,
    /// Time to the first byte of the body; 0 until seen.
    pub(crate) latency: Nanos,
    pub(crate) sent: u64,
    pub(crate) received: u64,
    /// Answers before the answer proper (`100 Continue`) do not count as received.
    pub(crate) interim_uncounted: bool,
    /// When the last bytes arrived at this host.
    pub(crate) arrival: Nanos,
    pub(crate) status: u16,
    pub(crate) keep_alive: bool,
    pub(crate) has_body: bool,
    pub(crate) head_seen: bool,
    /// The kernel has taken all of the request.
    pub(crate) all_sent: bool,
    /// The connection had served a request before.
    pub(crate) reused: bool,
    /// How often the request was sent again after its connection turned out dead.
    pub(crate) retries: u8,
    pub(crate) keep_alive_s: Option<u32>,
    /// Response time limit, nanoseconds; 0 is none.
    pub(crate) limit: Nanos,
    /// Connect time limit, nanoseconds; 0 is none.
    pub(crate) connect_limit: Nanos,
    pub(crate) is_head: bool,
    /// As by Java's own client.
    pub(crate) java: bool,
    /// The request asks for the connection to be kept.
    pub(crate) want_keep_alive: bool,
    /// Somebody reads the head, the body.
    pub(crate) keep_head: bool,
    pub(crate) keep_body: bool,
    /// The body is kept if it may be a page, for its links.
    pub(crate) parse: bool,
    /// Only the digest of the body is read.
    pub(crate) digest: bool,
    /// Redirects become sub-samples; are followed silently.
    pub(crate) follow: bool,
    pub(crate) auto_follow: bool,
    /// Cookies of the answer are stored.
    pub(crate) cookies: bool,
    /// The answer may go to the user's cache.
    pub(crate) caches: bool,
    /// An answer that asks for credentials is answered.
    pub(crate) challenges: bool,
    /// A request of the same sample went before.
    pub(crate) again: bool,
    pub(crate) milestones: Milestones,
    /// The value of the header that exchanges are told apart by.
    pub(crate) header: ClassId,
}

impl Exchange {
    pub(crate) const NONE: Self = Self {
        intended: 0,
        start: 0,
        sent_at: 0,
        connect: 0,
        latency: 0,
        sent: 0,
        received: 0,
        interim_uncounted: false,
        arrival: 0,
        status: 0,
        keep_alive: false,
        has_body: false,
        head_seen: false,
        all_sent: false,
        reused: false,
        retries: 0,
        keep_alive_s: None,
        limit: 0,
        connect_limit: 0,
        is_head: false,
        java: false,
        want_keep_alive: true,
        keep_head: false,
        keep_body: false,
        parse: false,
        digest: false,
        follow: false,
        auto_follow: false,
        cookies: false,
        caches: false,
        challenges: false,
        again: false,
        milestones: Milestones::NONE,
        header: ClassId::NONE,
    };
}

impl Exchange {
    /// Nothing of its answer has come yet, which may take so long and no longer.
    pub(crate) fn awaits_first(&self) -> bool {
        self.limit > 0 && self.sent_at > 0 && self.latency == 0 && !self.head_seen
    }

    /// The phases of its sample, which ends now.
    #[inline]
    pub(crate) fn phases(&self, end: Nanos) -> Phases {
        let Self { start, connect, reused, .. } = *self;
        // The answer to a request of the same sample that went before was waited for, too.
        let sent_at = if self.again { start + connect } else { self.sent_at };
        self.milestones.phases(&Times { start, end, connect, sent_at, reused })
    }

    /// The next exchange of the same sample, yet to be sent.
    pub(crate) fn again(&self) -> Self {
        Self {
            intended: self.intended,
            start: self.start,
            connect: self.connect,
            limit: self.limit,
            connect_limit: self.connect_limit,
            is_head: self.is_head,
            want_keep_alive: self.want_keep_alive,
            keep_head: self.keep_head,
            keep_body: self.keep_body,
            parse: self.parse,
            digest: self.digest,
            follow: self.follow,
            auto_follow: self.auto_follow,
            cookies: self.cookies,
            caches: self.caches,
            challenges: self.challenges,
            again: true,
            milestones: Milestones { first: 0, ..self.milestones },
            ..Self::NONE
        }
    }
}

impl Conn {
    /// Bytes of the response under way that may be dropped unseen.
    pub(crate) fn unread_left(&self) -> u64 {
        let dropped =
            self.state == State::Busy && self.transport.tls().is_none() && !self.exchange.keep_body;
        if dropped { self.decoder.body_left() } else { 0 }
    }
}

/// The parts of a request and its response that are kept for those who read them.
#[derive(Debug, Default)]
pub(crate) struct Stash {
    /// Head of the response as on the wire.
    pub(crate) head: Vec<u8>,
    /// Where in it the content type and the content encoding stand.
    pub(crate) content_type: Option<Range<usize>>,
    pub(crate) content_encoding: Option<Range<usize>>,
    /// It sets cookies.
    pub(crate) set_cookie: bool,
    /// Body of the response as on the wire, framing removed.
    pub(crate) body: Vec<u8>,
    /// URL of the request.
    pub(crate) url: String,
    /// Method of the request.
    pub(crate) method: String,
    /// Header lines of the request, as JMeter shows them.
    pub(crate) request_headers: String,
    /// Request line, body and cookies, as JMeter shows them.
    pub(crate) sampler_data: String,
    /// Cookies and body alone.
    pub(crate) cookies: String,
    pub(crate) query_string: String,
    /// The fault that HttpClient finds in the request when there is an answer; else empty.
    pub(crate) connection_fault: String,
    /// The whole request, kept while it may have to be sent again or is yet to be sent.
    pub(crate) request: Vec<u8>,
}

impl Stash {
    /// Keeps a response's head.
    pub(crate) fn keep_head(&mut self, head: &wire::http1::Head<'_>) {
        self.head.clear();
        self.head.extend_from_slice(head.raw);
        let start = head.raw.as_ptr() as usize;
        // Values are slices of the head: their distance from its start is their place in it.
        let place = |value: &[u8]| {
            let from = value.as_ptr() as usize - start;
            from..from + value.len()
        };
        self.content_type = head.content_type.map(place);
        self.content_encoding = head.content_encoding.map(place);
        self.set_cookie = head.set_cookie;
    }

    /// Keeps a part of a body, as far as all that is kept is at most `most` bytes. So is the buffer.
    pub(crate) fn keep_body(&mut self, part: &[u8], most: usize) {
        keep_part(&mut self.body, part, most);
    }

    /// Forgets the answer, but not the request.
    pub(crate) fn clear_answer(&mut self) {
        self.content_type = None;
        self.content_encoding = None;
        self.set_cookie = false;
        self.head.clear();
        self.body.clear();
    }

    pub(crate) fn clear(&mut self) {
        self.clear_answer();
        self.url.clear();
        self.method.clear();
        self.request_headers.clear();
        self.sampler_data.clear();
        self.cookies.clear();
        self.query_string.clear();
        self.connection_fault.clear();
        self.request.clear();
    }
}

/// Stashes that no exchange has, for the next ones.
#[derive(Debug, Default)]
#[allow(clippy::vec_box)] // They move between here and the connections by their pointer.
pub(crate) struct Stashes(Vec<Box<Stash>>);

impl Stashes {
    /// An empty stash.
    pub(crate) fn take(&mut self) -> Box<Stash> {
        let mut stash = self.0.pop().unwrap_or_default();
        stash.clear();
        stash
    }

    pub(crate) fn give(&mut self, stash: Box<Stash>) {
        self.0.push(stash);
    }

    /// The stash that was given back last.
    pub(crate) fn last_mut(&mut self) -> Option<&mut Box<Stash>> {
        self.0.last_mut()
    }
}

/// Connections of a core.
#[derive(Debug)]
pub(crate) struct Conns {
    pub(crate) all: Vec<Conn>,
    free: Vec<ConnId>,
    pub(crate) stashes: Stashes,
    /// The plan has Parallel Controllers, whose branches have connections of their own.
    pub(crate) has_branches: bool,
}

impl std::ops::Index<ConnId> for Conns {
    type Output = Conn;
    fn index(&self, id: ConnId) -> &Conn {
        &self.all[id.0 as usize]
    }
}

impl std::ops::IndexMut<ConnId> for Conns {
    fn index_mut(&mut self, id: ConnId) -> &mut Conn {
        &mut self.all[id.0 as usize]
    }
}

impl Conns {
    pub(crate) fn new(has_branches: bool) -> Self {
        Self { all: Vec::new(), free: Vec::new(), stashes: Stashes::default(), has_branches }
    }

    /// A free slot for `user`, in state `Connecting`, without a socket yet.
    pub(crate) fn open(&mut self, user: UserId, route: RouteId) -> ConnId {
        let id = self.free.pop().unwrap_or_else(|| {
            self.all.push(Conn {
                transport: Transport::default(),
                state: State::Closed,
                user,
                route,
                opening: Opening::of(route),
                class: ClassId::NONE,
                decoder: Decoder::new(false, wire::http1::Limits::default()),
                tail: Vec::new(),
                exchange: Exchange::NONE,
                stash: None,
                holder: 0,
                idle_since: 0,
                expires: Nanos::MAX,
                end: Nanos::MAX,
            });
            ConnId((self.all.len() - 1) as u32)
        });
        let conn = &mut self[id];
        (conn.state, conn.user, conn.route) = (State::Connecting, user, route);
        conn.opening = Opening::of(route);
        (conn.expires, conn.end) = (Nanos::MAX, Nanos::MAX);
        conn.holder = 0;
        id
    }

    /// Where a connection is.
    #[inline]
    pub(crate) fn slot(id: ConnId) -> Slot {
        Slot { slab: SLAB, index: id.0 }
    }

    /// The token under which the slot's present socket is registered.
    pub(crate) fn token(&self, id: ConnId) -> u64 {
        Self::slot(id).token(&self[id].transport)
    }

    /// The slot of a token, unless its socket is gone.
    #[inline]
    pub(crate) fn by_token(&self, token: u64) -> Option<ConnId> {
        let id = ConnId(token as u32);
        let conn = self.all.get(id.0 as usize)?;
        (slot::is_present(token, &conn.transport) && conn.state != State::Closed).then_some(id)
    }

    /// Drops the socket and what belongs to it, but keeps the slot (for another attempt).
    pub(crate) fn drop_socket(&mut self, id: ConnId) {
        let conn = &mut self[id];
        conn.transport.close();
        conn.tail = Vec::new();
    }

    /// Frees the slot; the stash must have been taken.
    pub(crate) fn close(&mut self, id: ConnId) {
        self.drop_socket(id);
        self[id].state = State::Closed;
        self.free.push(id);
    }
}
