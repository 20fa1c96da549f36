//! Held connections: each belongs to its user until the user closes it, and its peer may send without a request.
//!
//! A silent connection needs only its entry in the table. State for opening and for unfinished input is in boxes
//! from a pool, which are returned when no longer needed. Every connection is read as soon as data arrives,
//! whatever its user is doing, so that no TCP window closes because a plan pauses.
//!
//! A push of the peer goes to the [`Listener`] if there is one, otherwise into the connection's bounded inbox. A
//! completion, [`Done::Held`], notifies the listener, which takes the push with [`Held::take_push`]. The listener
//! declares the awaited event, so that one push ends a sample that waits for one push; further pushes stay in the
//! inbox.
//!
//! | module | holds |
//! |---|---|
//! | `open` | connecting, TLS, proxy, upgrade |
//! | `receive` | bytes to frames |
//! | `push` | frames to the listener, or into the inbox |
//! | `inbox` | pushes that wait for their user, bounded |
//! | `send` | sending frames |
//! | `heartbeat` | messages that are sent and answered without the user |
//! | `close` | how connections end, and how that is counted |
//! | `unread` | how many unread bytes the kernel holds |

#![allow(clippy::vec_box)] // Boxes move between pools and connections without copying.

pub(crate) mod close;
mod heartbeat;
pub(crate) mod inbox;
pub(crate) mod open;
pub(crate) mod push;
mod receive;
mod send;
mod unread;

use std::collections::VecDeque;

use wire::websocket::deflate::Window;
use wire::websocket::session::WebSocket;

use crate::completions::{Done, HeldEvent};
use crate::ids::{RouteId, UserId};
use crate::net::slot::{self, Slot};
use crate::net::transport::Transport;
use crate::session::Around;
use crate::session::held::close::Ending;
use crate::session::held::inbox::Inbox;
use crate::session::held::open::Opening;
use crate::session::held::push::Push;
use crate::settings::websocket::WhenFull;
use crate::time::clock::Nanos;
use crate::time::wheel::{Links, Waiting, Wheel};

/// Number of the slab of held connections, as used in tokens.
pub(crate) const SLAB: u8 = 2;

/// Maximum number of unused boxes in a pool, so that their memory is freed after a burst.
pub(crate) const POOLED: usize = 256;

/// Limits on the stored data of held connections.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Maximum size of a push in bytes.
    pub(crate) push: usize,
    /// Maximum size of an inbox in bytes, and the action on overflow.
    pub(crate) inbox: usize,
    pub(crate) when_full: WhenFull,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// The slot has no connection.
    Free,
    /// The address of the peer is being resolved.
    Naming,
    Connecting,
    Handshaking,
    /// The proxy was asked for a tunnel.
    Tunnelling,
    /// The upgrade to WebSocket was requested.
    Upgrading,
    Open,
    /// The peer has closed its side. Received data may still wait in the inbox.
    Ended(Ending),
}

/// The event for which a connection's user waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Listener {
    /// No event: pushes go into the inbox.
    #[default]
    None,
    /// The end of the opening, whether it succeeds or fails.
    Opening,
    /// The end of sending: all output was passed to the kernel.
    Sending,
    /// One push; further pushes go into the inbox.
    One,
    /// All pushes of the peer.
    All,
}

/// A held connection.
#[derive(Debug)]
pub(crate) struct HeldLine {
    pub(crate) transport: Transport,
    pub(crate) state: State,
    pub(crate) listener: Listener,
    /// True if the connection is not read because its inbox is full.
    pub(crate) stopped: bool,
    /// True if the end of the connection was counted.
    pub(crate) counted: bool,
    pub(crate) user: UserId,
    pub(crate) route: RouteId,
    /// The state of the protocol: upgrade, frames and heartbeats.
    pub(crate) session: WebSocket,
    /// The heartbeat's entry in the timer wheel.
    links: Links,
    /// Time of the last byte sent or received.
    pub(crate) last_io: Nanos,
    rest: Option<Box<Rest>>,
}

const _: () = assert!(size_of::<HeldLine>() <= 96);

/// Decompression of the server's messages.
#[derive(Debug, Default)]
pub(crate) struct Deflate {
    /// The decompression window that is kept between messages; `None` if each message starts with an empty window.
    pub(crate) window: Option<Window>,
    /// Payload of the fragments received so far.
    pub(crate) parts: Vec<u8>,
}

/// State of a connection with unfinished input or output.
#[derive(Debug, Default)]
pub(crate) struct Rest {
    /// Input after the last complete frame (under TLS: after the last complete record).
    tail: Vec<u8>,
    /// Decrypted input after the last complete frame.
    plain: Vec<u8>,
    /// Input length in bytes from which decoding is tried once more.
    need: usize,
    pub(crate) inbox: Inbox,
    pub(crate) deflate: Option<Deflate>,
    opening: Option<Box<Opening>>,
}

impl Rest {
    fn is_idle(&self) -> bool {
        self.tail.is_empty()
            && self.plain.is_empty()
            && self.inbox.is_empty()
            && self.deflate.is_none()
            && self.opening.is_none()
    }
}

/// Held connections of a core.
#[derive(Debug)]
pub(crate) struct Held {
    all: Vec<HeldLine>,
    free: Vec<u32>,
    bounds: Bounds,
    /// Free boxes, reused with their buffers.
    rests: Vec<Box<Rest>>,
    openings: Vec<Box<Opening>>,
    /// Pushes whose listeners were notified, in order of arrival.
    pushes: VecDeque<Push>,
    /// Payloads of `pushes`, one after the other.
    payloads: Vec<u8>,
    /// Timer wheel of the heartbeats.
    beats: Wheel,
    /// Connections with a due heartbeat; a buffer of the loop.
    pub(crate) due: Vec<u32>,
    /// Tokens of connections whose inbox has room after it was full.
    resumed: Vec<u64>,
    /// True if the inbox-full warning was sent.
    told_stopped: bool,
    /// The next connection to be checked for unread bytes.
    probe: u32,
}

impl std::ops::Index<u32> for Held {
    type Output = HeldLine;
    fn index(&self, index: u32) -> &HeldLine {
        &self.all[index as usize]
    }
}

impl std::ops::IndexMut<u32> for Held {
    fn index_mut(&mut self, index: u32) -> &mut HeldLine {
        &mut self.all[index as usize]
    }
}

/// Connections by their entries in the timer wheel.
struct Timed<'a>(&'a mut Vec<HeldLine>);

impl Waiting for Timed<'_> {
    type Id = u32;

    fn links(&mut self, index: u32) -> &mut Links {
        &mut self.0[index as usize].links
    }
}

impl Held {
    pub(crate) fn new(bounds: Bounds, now: Nanos) -> Self {
        Self {
            all: Vec::new(),
            free: Vec::new(),
            bounds,
            rests: Vec::new(),
            openings: Vec::new(),
            pushes: VecDeque::new(),
            payloads: Vec::new(),
            beats: Wheel::new(now),
            due: Vec::new(),
            resumed: Vec::new(),
            told_stopped: false,
            probe: 0,
        }
    }

    /// Returns a slot for a connection of `user`, without a socket yet.
    pub(crate) fn add(&mut self, user: UserId, route: RouteId, session: WebSocket) -> u32 {
        let fresh = |transport| HeldLine {
            transport,
            state: State::Connecting,
            listener: Listener::None,
            stopped: false,
            counted: false,
            user,
            route,
            session,
            links: Links::default(),
            last_io: 0,
            rest: None,
        };
        if let Some(index) = self.free.pop() {
            let transport = std::mem::take(&mut self[index].transport);
            self[index] = fresh(transport);
            return index;
        }
        self.all.push(fresh(Transport::default()));
        (self.all.len() - 1) as u32
    }

    /// Returns the slot of a connection.
    fn slot(index: u32) -> Slot {
        Slot { slab: SLAB, index }
    }

    /// Returns the token under which the slot's current socket is registered.
    pub(crate) fn token(&self, index: u32) -> u64 {
        Self::slot(index).token(&self[index].transport)
    }

    /// Returns the slot of a token, unless its socket was closed.
    #[inline]
    pub(crate) fn by_token(&self, token: u64) -> Option<u32> {
        let index = token as u32;
        let line = self.all.get(index as usize)?;
        let same = slot::is_present(token, &line.transport);
        (same && line.state != State::Free).then_some(index)
    }

    /// Returns the routes of all connections.
    pub(crate) fn routes(&self) -> impl Iterator<Item = RouteId> {
        self.all.iter().filter(|line| line.state != State::Free).map(|line| line.route)
    }

    /// Returns true if a heartbeat of any connection waits for its answer.
    pub(crate) fn awaits_answers(&self) -> bool {
        self.all.iter().any(|one| one.state == State::Open && one.session.awaits_answer())
    }

    /// Returns true if connections whose inbox was full must be read.
    pub(crate) fn has_resumed(&self) -> bool {
        !self.resumed.is_empty()
    }

    /// Returns the time at which the next heartbeat is due.
    pub(crate) fn next_due(&self) -> Option<Nanos> {
        self.beats.next_due()
    }

    /// Sends an event of a connection to its user.
    #[inline]
    fn notify(&self, around: &mut Around<'_>, index: u32, heard: HeldEvent) {
        around.done.now.push(Done::Held(self[index].user, heard));
    }

    /// Returns the unfinished state of a connection, if it has any.
    pub(crate) fn unfinished(&mut self, index: u32) -> Option<&mut Rest> {
        self[index].rest.as_deref_mut()
    }

    /// Returns the unfinished state of a connection, creating it if needed.
    fn rest(&mut self, index: u32) -> &mut Rest {
        let line = &mut self.all[index as usize];
        if line.rest.is_none() {
            line.rest = Some(self.rests.pop().unwrap_or_default());
        }
        line.rest.get_or_insert_default()
    }

    /// Frees the box of a connection without unfinished work.
    #[inline]
    fn tidy(&mut self, index: u32) {
        let line = &mut self[index];
        if line.rest.as_ref().is_some_and(|rest| rest.is_idle()) {
            let rest = line.rest.take();
            self.give_rest(rest);
        }
    }

    fn give_rest(&mut self, rest: Option<Box<Rest>>) {
        let Some(mut rest) = rest else { return };
        if self.rests.len() >= POOLED {
            return;
        }
        rest.tail.clear();
        rest.plain.clear();
        rest.tail.shrink_to(4096);
        rest.plain.shrink_to(4096);
        rest.need = 0;
        rest.inbox.clear();
        rest.deflate = None;
        rest.opening = None;
        self.rests.push(rest);
    }
}
