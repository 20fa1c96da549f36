//! WebSocket connections of one core: a slab of small entries, one per connection.
//!
//! A held connection that nobody talks on costs its entry and nothing else: what an opening, a sample or unfinished
//! input needs hangs off it in boxes from the core's pools and goes back when it is no longer needed. Every socket
//! is drained as soon as it has something, whatever its user is doing, so that no window closes because a plan pauses.
//!
//! | module | holds |
//! |---|---|
//! | `open` | connecting, TLS, proxy, upgrade |
//! | `sample` | the samplers, from the evaluated call to the concluded sample |
//! | `result` | what a sample's result shows, and the words of its failure |
//! | `receive`, `deliver` | bytes to frames; frames to who waits for them, or into the inbox |
//! | `inbox` | frames that wait for their user, bounded |
//! | `send` | frames on their way out |
//! | `heartbeat`, `hold` | what the engine does on held connections by itself |
//! | `exchange` | Zaleski's sampler |
//! | `close` | how connections end, and how that is counted |

#![allow(clippy::vec_box)] // Boxes move between pools and connections by their pointer.

mod close;
mod deliver;
mod exchange;
mod heartbeat;
mod hold;
mod inbox;
mod open;
mod receive;
mod result;
mod sample;
mod send;
mod unread;

use std::sync::Arc;

use plan::plan::{Needs, Plan, Sampler, SamplerId, SamplerKind};
use plan::websocket::HeartbeatId;
use plan::websocket::wording::Sizes;
use wire::websocket::deflate::Window;
use wire::websocket::session::{Heartbeat, WebSocket};

pub(crate) use crate::ids::NO_SOCKET;
use crate::ids::UserId;
use crate::net::opening::Opening;
use crate::net::routes::RouteId;
use crate::net::slot::{self, Slot};
use crate::net::transport::Transport;
use crate::time::clock::Nanos;
use crate::time::wheel::{Links, Waiting, Wheel};

pub(crate) use close::Ending;
pub(crate) use exchange::Talking;
pub(crate) use hold::Holding;
pub(crate) use inbox::Inbox;

/// WebSocket connections of a core, and what its samplers need.
pub(crate) struct WebSockets {
    pub(crate) sockets: Sockets,
    /// Timers of the heartbeats.
    pub(crate) beats: Wheel,
    /// Connections whose heartbeat is due.
    pub(crate) due: Vec<u32>,
    /// Settings of the heartbeats, evaluated at their first use.
    heartbeats: Vec<Option<Arc<Heartbeat>>>,
    /// Connections whose inbox has room again, by token.
    pub(crate) resumed: Vec<u64>,
    /// Somebody reads the URL of WebSocket connections.
    shows_urls: bool,
    /// It has been told that reading stopped somewhere.
    told_stopped: bool,
    /// A message after decompression.
    inflated: Vec<u8>,
    inflater: wire::websocket::deflate::Inflater,
    call: plan::websocket::Call,
    /// The user's cookies for a connection, as a header has them.
    cookie_line: Vec<u8>,
    /// Calls that never change, rendered at their first use.
    calls: Vec<Option<Box<plan::websocket::Call>>>,
}

impl WebSockets {
    pub(crate) fn new(plan: &Plan, now: Nanos) -> Self {
        let shows_url = |sampler: &Sampler| {
            matches!(sampler.kind, SamplerKind::WebSocket(_))
                && sampler.needs.contains(Needs::SAMPLER_DATA)
        };
        Self {
            sockets: Sockets::default(),
            beats: Wheel::new(now),
            due: Vec::new(),
            heartbeats: (0..plan.heartbeats.len()).map(|_| None).collect(),
            resumed: Vec::new(),
            shows_urls: plan.samplers.iter().any(shows_url),
            told_stopped: false,
            inflated: Vec::new(),
            inflater: wire::websocket::deflate::Inflater::new(),
            call: plan::websocket::Call::default(),
            cookie_line: Vec::new(),
            calls: (0..plan.samplers.len()).map(|_| None).collect(),
        }
    }
}

/// The number of this slab in tokens.
pub(crate) const SLAB: u8 = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// The slot is free.
    Free,
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

#[derive(Debug)]
pub(crate) struct Socket {
    pub(crate) transport: Transport,
    pub(crate) state: State,
    /// The protocol: its upgrade, frames and heartbeats.
    pub(crate) session: WebSocket,
    /// The inbox is full: nothing more is taken off the socket.
    pub(crate) stopped: bool,
    /// The end of the connection has been counted.
    pub(crate) counted: bool,
    pub(crate) user: UserId,
    pub(crate) route: RouteId,
    /// The timer of the heartbeat.
    links: Links,
    /// When the last byte went either way.
    pub(crate) last_io: Nanos,
    /// The sample under way.
    pub(crate) task: Task,
    pub(crate) rest: Option<Box<Rest>>,
}

const _: () = assert!(size_of::<Socket>() <= 112);

/// The work that is told of what happens on a connection.
#[derive(Debug, Default)]
pub(crate) enum Task {
    /// Nobody: the user is between samples.
    #[default]
    None,
    Work(Box<Work>),
    Hold(Box<Holding>),
}

/// A sample under way.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) sampler: SamplerId,
    pub(crate) step: Step,
    /// The connection was there before.
    pub(crate) existing: bool,
    /// The sampler's own work on a connection has begun.
    pub(crate) performed: bool,
    /// The connection was opened by this sample.
    pub(crate) opened: bool,
    /// Nothing to read within the limit is no failure.
    pub(crate) optional: bool,
    /// Opcode of the frame to send; 0 if there is none.
    pub(crate) opcode: u8,
    /// Somebody reads the result beyond its measurements.
    pub(crate) observed: bool,
    pub(crate) opening: Opening,
    pub(crate) intended: Nanos,
    pub(crate) start: Nanos,
    /// When the connection stood, TLS included.
    pub(crate) connected_at: Nanos,
    /// Time to the accepted upgrade; 0 if the connection was there.
    pub(crate) connect: Nanos,
    /// When the last bytes arrived at this host.
    pub(crate) arrival: Nanos,
    /// The rest of each filter's level of reading, the outermost first.
    pub(crate) levels: Vec<Level>,
    pub(crate) connect_limit: Nanos,
    /// Nanoseconds; 0 is none.
    pub(crate) read_limit: Nanos,
    /// Bytes as JMeter counts them.
    pub(crate) sizes: Sizes,
    /// The upgrade request, then the frame to send once the connection stands.
    pub(crate) request: Vec<u8>,
    pub(crate) frame: Vec<u8>,
    /// The upgrade's answer as on the wire.
    pub(crate) answer: Vec<u8>,
    /// The request as the result shows it.
    pub(crate) shown: Shown,
    /// The payload could not be made: code and message of the failure.
    pub(crate) problem: Option<(String, String)>,
    pub(crate) deflate: Option<plan::websocket::DeflateOffer>,
    pub(crate) heartbeat: Option<HeartbeatId>,
    /// Results of frames that filters took out.
    pub(crate) discarded: Vec<plan::result::SampleResult>,
}

/// A request as the result shows it.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    pub(crate) url: String,
    pub(crate) data: String,
    pub(crate) headers: String,
}

impl Shown {
    fn clear(&mut self) {
        self.url.clear();
        self.data.clear();
        self.headers.clear();
    }
}

/// A level of reading through filters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Level {
    /// Milliseconds.
    pub(crate) left: i64,
    /// When it began to read the frame it waits for.
    pub(crate) since: Nanos,
}

/// Compression of the server's messages.
#[derive(Debug, Default)]
pub(crate) struct Deflate {
    /// The server's memory between messages; `None` if it forgets.
    pub(crate) window: Option<Window>,
    /// Payload of the fragments so far.
    pub(crate) parts: Vec<u8>,
}

/// The event that a sample waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The connection, up to the accepted upgrade.
    Opening,
    /// Room in the socket's buffer.
    Sending,
    /// A frame.
    Reading,
}

/// State that only connections with something unfinished have.
#[derive(Debug, Default)]
pub(crate) struct Rest {
    /// Input that is not a whole frame yet (under TLS: not a whole record).
    pub(crate) tail: Vec<u8>,
    /// Decrypted input that is not a whole frame yet.
    pub(crate) plain: Vec<u8>,
    /// How long the input must be before it is worth another look.
    pub(crate) need: usize,
    pub(crate) inbox: Inbox,
    pub(crate) deflate: Option<Deflate>,
    pub(crate) talking: Option<Box<Talking>>,
}

impl Rest {
    fn is_idle(&self) -> bool {
        self.tail.is_empty()
            && self.plain.is_empty()
            && self.inbox.is_empty()
            && self.deflate.is_none()
            && self.talking.is_none()
    }
}

#[derive(Debug, Default)]
pub(crate) struct Sockets {
    pub(crate) all: Vec<Socket>,
    free: Vec<u32>,
    /// Their URLs, in plans where somebody reads them.
    urls: Vec<String>,
    /// Boxes to be used again, with their buffers.
    pub(crate) works: Vec<Box<Work>>,
    pub(crate) rests: Vec<Box<Rest>>,
    /// The next one to be asked for unread bytes.
    pub(crate) probe: u32,
}

/// Pools keep no more than this: a burst must not stay in memory for ever.
const POOLED: usize = 256;

impl std::ops::Index<u32> for Sockets {
    type Output = Socket;
    fn index(&self, index: u32) -> &Socket {
        &self.all[index as usize]
    }
}

impl std::ops::IndexMut<u32> for Sockets {
    fn index_mut(&mut self, index: u32) -> &mut Socket {
        &mut self.all[index as usize]
    }
}

impl Waiting for Sockets {
    type Id = u32;

    fn links(&mut self, index: u32) -> &mut Links {
        &mut self.all[index as usize].links
    }
}

impl Sockets {
    /// A slot for a connection of `user`, without a socket yet.
    pub(crate) fn open(&mut self, user: UserId, route: RouteId, session: WebSocket) -> u32 {
        let fresh = |transport| Socket {
            transport,
            state: State::Connecting,
            session,
            stopped: false,
            counted: false,
            user,
            route,
            links: Links::default(),
            last_io: 0,
            task: Task::None,
            rest: None,
        };
        if let Some(index) = self.free.pop() {
            let transport = std::mem::take(&mut self.all[index as usize].transport);
            self.all[index as usize] = fresh(transport);
            return index;
        }
        self.all.push(fresh(Transport::default()));
        (self.all.len() - 1) as u32
    }

    /// Where a connection is.
    pub(crate) fn slot(index: u32) -> Slot {
        Slot { slab: SLAB, index }
    }

    /// The token under which the slot's present socket is registered.
    pub(crate) fn token(&self, index: u32) -> u64 {
        Self::slot(index).token(&self.all[index as usize].transport)
    }

    /// The slot of a token, unless its socket is gone.
    #[inline]
    pub(crate) fn by_token(&self, token: u64) -> Option<u32> {
        let index = token as u32;
        let socket = self.all.get(index as usize)?;
        let same = slot::is_present(token, &socket.transport);
        (same && socket.state != State::Free).then_some(index)
    }

    /// Closes the socket but keeps the slot.
    pub(crate) fn drop_socket(&mut self, index: u32) {
        let socket = &mut self.all[index as usize];
        socket.transport.close();
    }

    /// Frees the slot. Its timer must have been taken out.
    pub(crate) fn free(&mut self, index: u32) {
        self.drop_socket(index);
        let socket = &mut self.all[index as usize];
        socket.state = State::Free;
        if let Some(url) = self.urls.get_mut(index as usize) {
            *url = String::new();
        }
        let socket = &mut self.all[index as usize];
        let rest = socket.rest.take();
        self.give_rest(rest);
        self.free.push(index);
    }

    /// Keeps the URL of a connection.
    fn keep_url(&mut self, index: u32, url: &str) {
        if self.urls.len() <= index as usize {
            self.urls.resize(index as usize + 1, String::new());
        }
        self.urls[index as usize].push_str(url);
    }

    /// The URL of a connection, where it is kept.
    fn url(&self, index: u32) -> Option<&str> {
        self.urls.get(index as usize).map(String::as_str)
    }

    /// The unfinished things of a connection, made if there are none.
    pub(crate) fn rest(&mut self, index: u32) -> &mut Rest {
        let socket = &mut self.all[index as usize];
        if socket.rest.is_none() {
            socket.rest = Some(self.rests.pop().unwrap_or_default());
        }
        socket.rest.get_or_insert_default()
    }

    /// Takes the box off a connection that has nothing unfinished left.
    pub(crate) fn tidy(&mut self, index: u32) {
        let socket = &mut self.all[index as usize];
        if socket.rest.as_ref().is_some_and(|rest| rest.is_idle()) {
            let rest = socket.rest.take();
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
        rest.talking = None;
        self.rests.push(rest);
    }

    /// A work to fill in.
    pub(crate) fn take_work(&mut self) -> Box<Work> {
        self.works.pop().unwrap_or_else(|| Box::new(Work::NEW))
    }

    pub(crate) fn give_work(&mut self, mut work: Box<Work>) {
        if self.works.len() < POOLED {
            work.clear();
            self.works.push(work);
        }
    }
}

impl Work {
    const NEW: Self = Self {
        sampler: SamplerId(0),
        step: Step::Opening,
        existing: false,
        performed: false,
        opened: false,
        optional: false,
        opcode: 0,
        observed: false,
        opening: Opening::NONE,
        intended: 0,
        start: 0,
        connected_at: 0,
        connect: 0,
        arrival: 0,
        levels: Vec::new(),
        connect_limit: 0,
        read_limit: 0,
        sizes: Sizes { headers: 0, body: 0, sent: 0 },
        request: Vec::new(),
        frame: Vec::new(),
        answer: Vec::new(),
        shown: Shown { url: String::new(), data: String::new(), headers: String::new() },
        problem: None,
        deflate: None,
        heartbeat: None,
        discarded: Vec::new(),
    };

    fn clear(&mut self) {
        let (mut request, mut frame, mut answer) = (
            std::mem::take(&mut self.request),
            std::mem::take(&mut self.frame),
            std::mem::take(&mut self.answer),
        );
        let mut shown = std::mem::take(&mut self.shown);
        let mut levels = std::mem::take(&mut self.levels);
        levels.clear();
        request.clear();
        frame.clear();
        frame.shrink_to(4096);
        answer.clear();
        shown.clear();
        *self = Self { levels, request, frame, answer, shown, ..Self::NEW };
    }
}
