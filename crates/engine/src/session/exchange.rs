//! Exchanges: the waiting user, the times, the call, and the response so far.
//!
//! A slot of the table is reused with its buffers, so that a sample needs no allocation after the first samples.

use std::num::NonZeroU32;
use std::sync::Arc;

use plan::element::{RawCall, RedisCall, SseCall, TcpCall, UdpCall};
use plan::plan::SamplerId;
use stats::{ClassId, Phases};
use wire::session::Ticket;
use wire::stream::End;

use crate::ids::{RouteId, UserId};
use crate::net::outcome::Failure;
use crate::net::transport::keep_part;
use crate::session::http1::{HttpCall, HttpExchange};
use crate::session::lazy::{Lazy, Unused};
use crate::session::line::{ConnectionScope, LineId};
use crate::time::clock::{MS, Nanos};
use crate::time::milestones::{Milestones, Times};
use crate::time::timing::{Timing, TraceId};

/// Maximum size in bytes of a buffer that a free slot keeps.
const SPARE: usize = 64 * 1024;

/// The request of an exchange, as evaluated by its protocol's module. The module reads it at the end of the exchange.
#[derive(Debug, Default)]
pub(crate) enum Call {
    #[default]
    None,
    Tcp(Box<TcpCall>),
    Raw(Box<RawCall>),
    Udp(Box<UdpCall>),
    Redis(Box<RedisCall>),
    Sse(Box<SseCall>),
    Http(HttpCall),
}

impl Call {
    /// Turns the call into an HTTP call, unless it already is an HTTP call.
    #[inline]
    pub(crate) fn make_http(&mut self) {
        if !matches!(self, Self::Http(_)) {
            *self = Self::Http(HttpCall { facts: HttpExchange::NONE, stash: None });
        }
    }
}

/// The step that follows the sending of a request.
#[derive(Debug, Default)]
pub(crate) enum After {
    /// The exchange waits for a response.
    #[default]
    Answer,
    /// The exchange is over.
    Nothing,
    /// The exchange fails with this exception message.
    Thrown(String),
}

/// The progress of an exchange when it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExchangeStage {
    /// The connection was not established.
    Opening,
    /// The connection was established, and nothing was sent.
    Connected,
    Sent,
}

/// The way in which an exchange ended.
#[derive(Debug, Default)]
pub(crate) enum Ending {
    /// The exchange has not ended.
    #[default]
    None,
    /// The response is complete; the connection may have ended too.
    Complete { closed: bool },
    /// The peer has closed its side.
    Eof,
    /// The exchange has no usable response.
    Bad(Box<Trouble>),
}

/// The reason why an exchange has no response.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The call failed before or after sending; with the exception message.
    Thrown(String),
    /// The peer violates the protocol; with the error message.
    Broken(String),
    Failed {
        failure: Failure,
        reached: ExchangeStage,
    },
}

impl Ending {
    pub(crate) fn thrown(words: impl Into<String>) -> Self {
        Self::Bad(Box::new(Trouble::Thrown(words.into())))
    }

    pub(crate) fn failed(failure: Failure, reached: ExchangeStage) -> Self {
        Self::Bad(Box::new(Trouble::Failed { failure, reached }))
    }
}

/// A request in progress and its response. There is one per waiting user, so rarely used fields are boxed to keep it
/// small.
#[derive(Debug)]
pub(crate) struct Exchange {
    generation: NonZeroU32,
    pub(crate) user: UserId,
    /// Number of the sampler plus 1; `None` if the exchange has no sampler.
    sampler: Option<NonZeroU32>,
    pub(crate) route: RouteId,
    pub(crate) place: ConnectionScope,
    /// The connection of the exchange, once there is one.
    pub(crate) line: LineId,
    pub(crate) call: Call,
    /// Bytes to send, unless the request is constant.
    pub(crate) request: Lazy<Vec<u8>>,
    /// Bytes of a constant request that waits to be sent on a new connection.
    pub(crate) fixed: Option<Arc<Rendered>>,
    pub(crate) terms: Lazy<Terms>,
    /// Start time of the sample.
    pub(crate) start: Nanos,
    pub(crate) sent_at: Nanos,
    /// Time from the start until the connection was established; 0 if it was open before.
    pub(crate) connect: Nanos,
    /// Time from the start until the first byte of the response (for HTTP: of its body); 0 until it arrives.
    pub(crate) latency: Nanos,
    /// True if the head of an HTTP response has arrived.
    pub(crate) began: bool,
    /// Time at which the last bytes arrived at this host.
    pub(crate) arrival: Nanos,
    pub(crate) ended: Nanos,
    /// Time limits: for each read, and for connecting.
    pub(crate) limit: Limit,
    pub(crate) connect_limit: Limit,
    /// True if the connection had served another exchange before.
    pub(crate) reused: bool,
    /// True if the kernel has accepted the whole request. For HTTP only.
    pub(crate) all_sent: bool,
    pub(crate) milestones: Milestones,
    /// Class under which the statistics count the exchange: the class of the connection's server address, set when the
    /// exchange leaves its connection. HTTP samples read the class from the connection instead.
    pub(crate) class: ClassId,
    pub(crate) answer: Lazy<Answer>,
    pub(crate) ending: Ending,
}

const _: () = assert!(size_of::<Exchange>() <= 216);

/// Bytes of a constant request, as sent.
#[derive(Debug)]
pub(crate) struct Rendered(pub(crate) Box<[u8]>);

/// A time limit in milliseconds, as plans set it; 0 is unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Limit(u32);

impl Limit {
    pub(crate) const NONE: Self = Self(0);

    pub(crate) const fn of_ms(ms: u32) -> Self {
        Self(ms)
    }

    /// Returns the limit in nanoseconds; 0 is unlimited.
    #[inline]
    pub(crate) fn nanos(self) -> Nanos {
        Nanos::from(self.0) * MS
    }
}

/// Settings of an exchange that most exchanges do not need.
#[derive(Debug)]
pub(crate) struct Terms {
    /// The rule by which the response ends.
    pub(crate) end: End,
    /// The exception message with which the exchange fails after connecting, instead of sending a request.
    pub(crate) unwritable: Option<String>,
    pub(crate) after: After,
    /// Time at which the exchange ends with the bytes received so far as its response; 0 is never.
    pub(crate) until: Nanos,
    /// Maximum number of connections in the pool of the exchange; 0 is unlimited.
    pub(crate) most_lines: u32,
    /// Maximum time to wait for a connection of the pool if all are in use, in nanoseconds.
    pub(crate) room_limit: Option<Nanos>,
    /// The trace of the exchange's sample.
    pub(crate) trace: TraceId,
}

impl Terms {
    const NONE: Self = Self {
        end: End::Stream,
        unwritable: None,
        after: After::Answer,
        until: 0,
        most_lines: 0,
        room_limit: None,
        trace: TraceId::NONE,
    };
}

impl Default for Terms {
    fn default() -> Self {
        Self::NONE
    }
}

impl Unused for Terms {
    fn unused() -> &'static Self {
        static NONE: Terms = Terms::NONE;
        &NONE
    }
}

/// The received part of a response.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) bytes: Vec<u8>,
    /// Number of received bytes, kept or not.
    pub(crate) total: u64,
    /// Maximum number of kept bytes, and (`dropped`) the number of bytes that were received beyond it.
    pub(crate) most: usize,
    pub(crate) dropped: usize,
    /// Size in bytes of the pieces in which JMeter reads the response. Pieces after the first `enough` bytes are not
    /// kept.
    pub(crate) piece: usize,
    pub(crate) enough: usize,
    /// The length of the response in bytes, if the peer has sent the length in front of the response.
    pub(crate) expected: Option<u64>,
    /// The type of a Redis reply, or the HTTP status of an event stream; `nil` is true for Redis' null value.
    pub(crate) head: u16,
    pub(crate) nil: bool,
    /// The bytes of the response's head, if they are needed.
    pub(crate) head_bytes: Vec<u8>,
    /// True if the response is a stream of events, and the number of events so far.
    pub(crate) streams: bool,
    pub(crate) events: u64,
}

impl Default for Answer {
    fn default() -> Self {
        Self::NONE
    }
}

impl Unused for Answer {
    fn unused() -> &'static Self {
        static NONE: Answer = Answer::NONE;
        &NONE
    }
}

impl Answer {
    const NONE: Self = Self {
        bytes: Vec::new(),
        total: 0,
        most: usize::MAX,
        dropped: 0,
        piece: usize::MAX,
        enough: usize::MAX,
        expected: None,
        head: 0,
        nil: false,
        head_bytes: Vec::new(),
        streams: false,
        events: 0,
    };

    /// Adds received bytes to the response, within its limits.
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        for piece in bytes.chunks(self.piece) {
            if self.bytes.len().saturating_add(self.dropped) <= self.enough {
                self.dropped += keep_part(&mut self.bytes, piece, self.most);
            }
        }
    }

    /// Adds a server-sent event as a line. A missing part is shown as `null`, as in Java.
    pub(crate) fn take_event(&mut self, kind: &[u8], id: &[u8], data: &[u8]) {
        self.events += 1;
        let or_null = |part| if part == b"" { &b"null"[..] } else { part };
        let (kind, id) = (or_null(kind), or_null(id));
        for part in [b"ID: ", id, b" | Type: ", kind, b" | Data: ", data, b"\n"] {
            self.take(part);
        }
    }

    fn clear(&mut self) {
        self.head_bytes.clear();
        (self.streams, self.events) = (false, 0);
        self.bytes.clear();
        if self.bytes.capacity() > SPARE {
            self.bytes = Vec::new();
        }
        (self.total, self.most, self.dropped) = (0, usize::MAX, 0);
        (self.piece, self.enough, self.expected) = (usize::MAX, usize::MAX, None);
        (self.head, self.nil) = (0, false);
    }
}

impl Exchange {
    /// Returns the sampler of an exchange; `None` if it fetches a value for the start of an iteration.
    #[inline]
    pub(crate) fn sampler(&self) -> Option<SamplerId> {
        self.sampler.map(|number| SamplerId(number.get() - 1))
    }

    fn new() -> Self {
        Self {
            generation: NonZeroU32::MIN,
            user: UserId::NONE,
            sampler: None,
            route: RouteId::NONE,
            place: ConnectionScope::Own,
            line: LineId::NONE,
            call: Call::None,
            request: Lazy(None),
            fixed: None,
            terms: Lazy(None),
            start: 0,
            sent_at: 0,
            connect: 0,
            latency: 0,
            began: false,
            arrival: 0,
            ended: 0,
            limit: Limit::NONE,
            connect_limit: Limit::NONE,
            reused: false,
            all_sent: true,
            milestones: Milestones::NONE,
            class: ClassId::NONE,
            answer: Lazy(None),
            ending: Ending::None,
        }
    }

    /// Returns the phases of the exchange's sample.
    #[inline]
    pub(crate) fn phases(&self) -> Phases {
        let Self { start, ended, connect, reused, latency, .. } = *self;
        let (mut steps, mut sent_at) = (self.milestones, self.sent_at);
        match &self.call {
            // The sample has also waited for the response to its earlier request.
            Call::Http(http) if http.facts.again => sent_at = start + connect,
            Call::Http(_) => {}
            _ => steps.first = if latency > 0 { Milestones::micros(latency) } else { 0 },
        }
        steps.phases(&Times { start, end: ended, connect, sent_at, reused })
    }

    /// Returns the times of the sample, whose intended start was `intended`. The protocol's module adds the sizes.
    pub(crate) fn timing(&self, intended: Nanos) -> Timing {
        let wait = (self.start - intended).max(0) as u64;
        Timing {
            start: self.start,
            end: self.ended,
            latency: self.latency as u64,
            connect: self.connect as u64,
            lag: (self.ended - self.arrival.max(self.start)).max(0) as u64 + wait,
            wait,
            phases: self.phases(),
            classes: [self.class, ClassId::NONE],
            ..Timing::default()
        }
    }
}

/// Exchanges of a core.
#[derive(Debug, Default)]
pub(crate) struct Exchanges {
    all: Vec<Exchange>,
    free: Vec<u32>,
}

impl std::ops::Index<Ticket> for Exchanges {
    type Output = Exchange;
    fn index(&self, ticket: Ticket) -> &Exchange {
        &self.all[ticket.index as usize]
    }
}

impl std::ops::IndexMut<Ticket> for Exchanges {
    fn index_mut(&mut self, ticket: Ticket) -> &mut Exchange {
        &mut self.all[ticket.index as usize]
    }
}

impl Exchanges {
    /// Creates an exchange. The call of the slot's earlier exchange is kept, so that its buffers can be reused.
    pub(crate) fn begin(&mut self, user: UserId, sampler: Option<SamplerId>) -> Ticket {
        let index = self.free.pop().unwrap_or_else(|| {
            self.all.push(Exchange::new());
            (self.all.len() - 1) as u32
        });
        let entry = &mut self.all[index as usize];
        entry.user = user;
        entry.sampler = sampler.and_then(|id| NonZeroU32::new(id.0 + 1));
        Ticket { index, generation: entry.generation }
    }

    /// Returns true if the exchange of a ticket exists.
    #[inline]
    pub(crate) fn has(&self, ticket: Ticket) -> bool {
        self.all.get(ticket.index as usize).is_some_and(|one| one.generation == ticket.generation)
    }

    /// Ends an exchange: its ticket becomes invalid.
    #[inline]
    pub(crate) fn end(&mut self, ticket: Ticket) {
        self.free.push(ticket.index);
        let entry = &mut self[ticket];
        entry.generation = entry.generation.checked_add(1).unwrap_or(NonZeroU32::MIN);
        entry.line = LineId::NONE;
        entry.ending = Ending::None;
        (entry.sent_at, entry.connect, entry.latency) = (0, 0, 0);
        (entry.arrival, entry.ended) = (0, 0);
        (entry.limit, entry.connect_limit) = (Limit::NONE, Limit::NONE);
        (entry.reused, entry.began, entry.all_sent) = (false, false, true);
        entry.milestones = Milestones::NONE;
        entry.class = ClassId::NONE;
        if let Some(answer) = &mut entry.answer.0 {
            answer.clear();
        }
        if let Some(terms) = &mut entry.terms.0 {
            **terms = Terms::NONE;
        }
        entry.fixed = None;
        if let Some(request) = &mut entry.request.0 {
            request.clear();
            if request.capacity() > SPARE {
                (entry.request, entry.call) = (Lazy(None), Call::None);
            }
        }
    }
}
