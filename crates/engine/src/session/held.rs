//! Held connections: each is its user's until that closes it, and its peer speaks unasked.
//!
//! A connection that nobody talks on costs its entry and nothing else: what an opening or unfinished input needs hangs
//! off it in boxes from a pool and goes back when it is no longer needed. Every connection is read as soon as it has
//! something, whatever its user is doing, so that no window closes because a plan pauses.
//!
//! A push of the peer goes to the [`Listener`], if there is one, or else into the connection's bounded inbox. A listener
//! is told by a completion, [`Done::Held`]; what it is told of lies here ([`Held::take_push`]). It says itself what it
//! listens for, so that one push ends a sample that asked for one, and those behind it wait in the inbox.
//!
//! | module | holds |
//! |---|---|
//! | `open` | connecting, TLS, proxy, upgrade |
//! | `receive` | bytes to frames |
//! | `push` | frames to the listener, or into the inbox |
//! | `inbox` | pushes that wait for their user, bounded |
//! | `send` | frames on their way out |
//! | `heartbeat` | what is sent and answered without the user |
//! | `close` | how connections end, and how that is counted |
//! | `unread` | how much the kernel holds that was not read |

#![allow(clippy::vec_box)] // Boxes move between pools and connections by their pointer.

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

use crate::completions::{Done, Heard};
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

/// The number of this slab in tokens.
pub(crate) const SLAB: u8 = 2;

/// Pools keep no more than this: a burst must not stay in memory for ever.
pub(crate) const POOLED: usize = 256;

/// Bounds of what is kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Bytes of a push.
    pub(crate) push: usize,
    /// Bytes of an inbox, and the deed of one that is full.
    pub(crate) inbox: usize,
    pub(crate) when_full: WhenFull,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// The slot is free.
    Free,
    /// The address of the peer is being asked for.
    Naming,
    Connecting,
    Handshaking,
    /// The proxy has been asked for a tunnel.
    Tunnelling,
    /// The upgrade has been asked for.
    Upgrading,
    Open,
    /// The peer sends no more; what it sent may still wait in the inbox.
    Ended(Ending),
}

/// The event that a connection's user waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Listener {
    /// None: pushes go into the inbox.
    #[default]
    None,
    /// The end of the opening, good or bad.
    Opening,
    /// That all output has gone to the kernel.
    Sending,
    /// One push; those behind it go into the inbox.
    One,
    /// All pushes.
    All,
}

/// A held connection.
#[derive(Debug)]
pub(crate) struct HeldLine {
    pub(crate) transport: Transport,
    pub(crate) state: State,
    pub(crate) listener: Listener,
    /// The inbox is full: nothing more is taken off the connection.
    pub(crate) stopped: bool,
    /// The end of the connection has been counted.
    pub(crate) counted: bool,
    pub(crate) user: UserId,
    pub(crate) route: RouteId,
    /// The protocol: its upgrade, frames and heartbeats.
    pub(crate) session: WebSocket,
    /// The timer of the heartbeat.
    links: Links,
    /// When the last byte went either way.
    pub(crate) last_io: Nanos,
    rest: Option<Box<Rest>>,
}

const _: () = assert!(size_of::<HeldLine>() <= 96);

/// Compression of the server's messages.
#[derive(Debug, Default)]
pub(crate) struct Deflate {
    /// The server's memory between messages; `None` if it forgets.
    pub(crate) window: Option<Window>,
    /// Payload of the fragments so far.
    pub(crate) parts: Vec<u8>,
}

/// State that only connections with something unfinished have.
#[derive(Debug, Default)]
pub(crate) struct Rest {
    /// Input that is not a whole frame yet (under TLS: not a whole record).
    tail: Vec<u8>,
    /// Decrypted input that is not a whole frame yet.
    plain: Vec<u8>,
    /// How long the input must be before it is worth another look.
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
    /// Boxes to be used again, with their buffers.
    rests: Vec<Box<Rest>>,
    openings: Vec<Box<Opening>>,
    /// Pushes that listeners have been told of, in order, and their payloads.
    pushes: VecDeque<Push>,
    payloads: Vec<u8>,
    /// Timers of the heartbeats.
    beats: Wheel,
    /// Connections whose heartbeat is due; a buffer of the loop's.
    pub(crate) due: Vec<u32>,
    /// Connections whose inbox has room again, by token.
    resumed: Vec<u64>,
    /// It has been told that reading stopped somewhere.
    told_stopped: bool,
    /// The next one to be asked for unread bytes.
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

/// Connections by their timers.
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

    /// A slot for a connection of `user`, without a socket yet.
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

    /// Where a connection is.
    fn slot(index: u32) -> Slot {
        Slot { slab: SLAB, index }
    }

    /// The token under which the slot's present socket is registered.
    pub(crate) fn token(&self, index: u32) -> u64 {
        Self::slot(index).token(&self[index].transport)
    }

    /// The slot of a token, unless its socket is gone.
    #[inline]
    pub(crate) fn by_token(&self, token: u64) -> Option<u32> {
        let index = token as u32;
        let line = self.all.get(index as usize)?;
        let same = slot::is_present(token, &line.transport);
        (same && line.state != State::Free).then_some(index)
    }

    /// Routes of the connections there are.
    pub(crate) fn routes(&self) -> impl Iterator<Item = RouteId> {
        self.all.iter().filter(|line| line.state != State::Free).map(|line| line.route)
    }

    /// Whether a heartbeat waits for its answer somewhere.
    pub(crate) fn awaits_answers(&self) -> bool {
        self.all.iter().any(|one| one.state == State::Open && one.session.awaits_answer())
    }

    /// Whether connections are to be read again that had stopped.
    pub(crate) fn has_resumed(&self) -> bool {
        !self.resumed.is_empty()
    }

    /// When the heartbeats want to be looked at.
    pub(crate) fn next_due(&self) -> Option<Nanos> {
        self.beats.next_due()
    }

    /// Tells the user of a connection.
    #[inline]
    fn tell(&self, around: &mut Around<'_>, index: u32, heard: Heard) {
        around.done.now.push(Done::Held(self[index].user, heard));
    }

    /// The unfinished things of a connection, if it has any.
    pub(crate) fn unfinished(&mut self, index: u32) -> Option<&mut Rest> {
        self[index].rest.as_deref_mut()
    }

    /// The unfinished things of a connection, made if there are none.
    fn rest(&mut self, index: u32) -> &mut Rest {
        let line = &mut self.all[index as usize];
        if line.rest.is_none() {
            line.rest = Some(self.rests.pop().unwrap_or_default());
        }
        line.rest.get_or_insert_default()
    }

    /// Takes the box off a connection that has nothing unfinished left.
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
