//! Exchanges: the user that waits for what, since when, and what has come of it.
//!
//! A place in the table is used again with its buffers, so that a sample allocates nothing once warm.

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
use crate::session::line::{LineId, Place};
use crate::time::clock::{MS, Nanos};
use crate::time::milestones::{Milestones, Times};
use crate::time::timing::{Timing, TraceId};

/// Bytes of a buffer that a free place keeps.
const SPARE: usize = 64 * 1024;

/// A call, kept by its protocol's room until the end.
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
    /// Makes it a request of HTTP, if it is none.
    #[inline]
    pub(crate) fn make_http(&mut self) {
        if !matches!(self, Self::Http(_)) {
            *self = Self::Http(HttpCall { facts: HttpExchange::NONE, stash: None });
        }
    }
}

/// The step behind the sending.
#[derive(Debug, Default)]
pub(crate) enum After {
    /// The answer is waited for.
    #[default]
    Answer,
    /// Nothing: the exchange is over.
    Nothing,
    /// The call turns out to be an exception, in words.
    Thrown(String),
}

/// How far an exchange was when it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reached {
    /// Its connection did not stand.
    Opening,
    /// Its connection stood, and nothing was sent.
    Connected,
    Sent,
}

/// How an exchange ended.
#[derive(Debug, Default)]
pub(crate) enum Ending {
    /// It has not.
    #[default]
    None,
    /// With its answer, and perhaps with the end of the connection.
    Complete { closed: bool },
    /// The peer sends no more.
    Eof,
    /// By trouble.
    Bad(Box<Trouble>),
}

/// The end of an exchange that has no answer.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The call was an exception, in words; before or behind what was sent.
    Thrown(String),
    /// The peer does not keep to the protocol, in words.
    Broken(String),
    Failed {
        failure: Failure,
        reached: Reached,
    },
}

impl Ending {
    pub(crate) fn thrown(words: impl Into<String>) -> Self {
        Self::Bad(Box::new(Trouble::Thrown(words.into())))
    }

    pub(crate) fn failed(failure: Failure, reached: Reached) -> Self {
        Self::Bad(Box::new(Trouble::Failed { failure, reached }))
    }
}

/// An exchange. A user that waits has one beside its line: of what only some exchanges have, there are boxes.
#[derive(Debug)]
pub(crate) struct Exchange {
    generation: NonZeroU32,
    pub(crate) user: UserId,
    /// The number of its sampler and 1.
    sampler: Option<NonZeroU32>,
    pub(crate) route: RouteId,
    pub(crate) place: Place,
    /// Its connection, once there is one.
    pub(crate) line: LineId,
    pub(crate) call: Call,
    /// Bytes to send, where they are not those of a request that never changes.
    pub(crate) request: Lazy<Vec<u8>>,
    /// Bytes of a request that never changes, until it has gone out on a new connection.
    pub(crate) fixed: Option<Arc<Rendered>>,
    pub(crate) terms: Lazy<Terms>,
    /// When the sample started.
    pub(crate) start: Nanos,
    pub(crate) sent_at: Nanos,
    /// Time to an established connection; 0 if it was there.
    pub(crate) connect: Nanos,
    /// Time to the first byte of the answer; 0 until seen.
    pub(crate) latency: Nanos,
    /// Some of the answer has come, where that is not said by the latency.
    pub(crate) began: bool,
    /// When the last bytes arrived at this host.
    pub(crate) arrival: Nanos,
    pub(crate) ended: Nanos,
    /// Between two reads, and for connecting.
    pub(crate) limit: Limit,
    pub(crate) connect_limit: Limit,
    /// The connection had served another exchange before.
    pub(crate) reused: bool,
    /// The kernel has taken all of the request, if it is one of HTTP.
    pub(crate) all_sent: bool,
    pub(crate) milestones: Milestones,
    /// The class of its address, where it is not one of HTTP; set when it leaves its line.
    pub(crate) class: ClassId,
    pub(crate) answer: Lazy<Answer>,
    pub(crate) ending: Ending,
}

const _: () = assert!(size_of::<Exchange>() <= 216);

/// Bytes of a request that never changes, as sent.
#[derive(Debug)]
pub(crate) struct Rendered(pub(crate) Box<[u8]>);

/// A time limit in milliseconds, as plans have them; 0 is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Limit(u32);

impl Limit {
    pub(crate) const NONE: Self = Self(0);

    pub(crate) const fn of_ms(ms: u32) -> Self {
        Self(ms)
    }

    /// In nanoseconds; 0 is none.
    #[inline]
    pub(crate) fn nanos(self) -> Nanos {
        Nanos::from(self.0) * MS
    }
}

/// Terms of a call that is bytes.
#[derive(Debug)]
pub(crate) struct Terms {
    /// Where the answer ends.
    pub(crate) end: End,
    /// The exception that the request is instead; the connection stands by then.
    pub(crate) unwritable: Option<String>,
    pub(crate) after: After,
    /// When the exchange ends with what has come by then, which is its answer; 0 is never.
    pub(crate) until: Nanos,
    /// Lines that its pool has at most; 0 is no bound.
    pub(crate) most_lines: u32,
    /// Nanoseconds that a line of a pool is waited for, where all are in use.
    pub(crate) room_limit: Option<Nanos>,
    /// The trace of the sample.
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

/// The part of an answer that has come.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) bytes: Vec<u8>,
    /// Bytes that came, kept or not.
    pub(crate) total: u64,
    /// Bytes that are kept at most, and how many were not because of it.
    pub(crate) most: usize,
    pub(crate) dropped: usize,
    /// It is taken in pieces of so many bytes, and none of them after so many.
    pub(crate) piece: usize,
    pub(crate) enough: usize,
    /// The length that stood before it.
    pub(crate) expected: Option<u64>,
    /// Its kind, where the protocol tells answers apart, and whether it stands for nothing.
    pub(crate) head: u16,
    pub(crate) nil: bool,
    /// The bytes of its head, where they are asked for.
    pub(crate) head_bytes: Vec<u8>,
    /// It is a stream of events, of which so many have come.
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

    /// Takes a part.
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        for piece in bytes.chunks(self.piece) {
            if self.bytes.len().saturating_add(self.dropped) <= self.enough {
                self.dropped += keep_part(&mut self.bytes, piece, self.most);
            }
        }
    }

    /// Takes an event, as a line; what it does not have is `null`, as Java shows it.
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
    /// Returns the sampler of an exchange; none where the start of an iteration asks for values.
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
            place: Place::Own,
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

    /// The phases of its sample.
    #[inline]
    pub(crate) fn phases(&self) -> Phases {
        let Self { start, ended, connect, reused, latency, .. } = *self;
        let (mut steps, mut sent_at) = (self.milestones, self.sent_at);
        match &self.call {
            // The answer to a request of the same sample that went before was waited for, too.
            Call::Http(http) if http.facts.again => sent_at = start + connect,
            Call::Http(_) => {}
            _ => steps.first = if latency > 0 { Milestones::micros(latency) } else { 0 },
        }
        steps.phases(&Times { start, end: ended, connect, sent_at, reused })
    }

    /// The times of the sample, which should have started when it was `intended`; its sizes are its room's.
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
    /// A new exchange; the call of a former one is left for its buffers.
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

    /// Whether an exchange is in flight.
    #[inline]
    pub(crate) fn has(&self, ticket: Ticket) -> bool {
        self.all.get(ticket.index as usize).is_some_and(|one| one.generation == ticket.generation)
    }

    /// Ends an exchange: its ticket names nothing any more.
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
