//! Connections of a core, and what they need: sockets, addresses, local ports, TLS, buffers.

pub(crate) mod allowed;
pub(crate) mod driver;
pub(crate) mod nameserver;
pub(crate) mod opening;
pub(crate) mod outcome;
pub(crate) mod pace;
pub(crate) mod ports;
pub(crate) mod resolve;
pub(crate) mod routes;
pub(crate) mod slot;
pub(crate) mod source;
pub(crate) mod tls;
pub(crate) mod transport;

use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use crate::inbox::Inbox;
use crate::net::allowed::Targets;
use crate::net::driver::{Driver, SCRATCH};
use crate::net::pace::{Backoff, ConnectPace};
use crate::net::ports::Ports;
use crate::net::resolve::Question;
use crate::net::routes::Routes;
use crate::net::source::Sources;
use crate::time::clock::Nanos;
use crate::time::timing::Timing;

/// The parts that connections of a core are made from.
pub(crate) struct Parts<'a> {
    /// Local addresses of the run.
    pub(crate) sources: &'a [IpAddr],
    /// Targets that connections may lead to.
    pub(crate) allowed: Targets,
    /// Local ports of this core.
    pub(crate) ports: Ports,
    /// Number of this core among those of all processes, and how many those are.
    pub(crate) rank: u32,
    pub(crate) ranks: u32,
    /// Connections opened per second by the whole run at most; 0 is no limit.
    pub(crate) connect_rate: f64,
    pub(crate) backoff: Backoff,
    /// How long an address may be used without asking again.
    pub(crate) address_life: Nanos,
    pub(crate) resolver: Sender<Question>,
    pub(crate) inbox: Inbox,
}

/// Connections of a core.
pub(crate) struct Net {
    pub(crate) driver: Driver,
    pub(crate) routes: Routes,
    /// Local addresses to connect from.
    pub(crate) sources: Sources,
    /// Targets that connections may lead to.
    allowed: Targets,
    /// Local ports to connect from.
    pub(crate) ports: Ports,
    /// The resolver, and where it answers.
    resolver: Sender<Question>,
    inbox: Inbox,
    /// How long an address may be used.
    address_life: Nanos,
    /// Connections that may yet be opened in this turn of the loop.
    connects: u32,
    /// Tokens of connections that wait to be opened.
    pub(crate) to_connect: VecDeque<u64>,
    pub(crate) connect_pace: ConnectPace,
    pub(crate) backoff: Backoff,
    /// TLS configuration; users have it with a session cache of their own, or share this one.
    pub(crate) tls_config: Option<Arc<wire::tls::rustls::ClientConfig>>,
    /// Further addresses that were tried since the last hand-over of measurements.
    pub(crate) retries: u64,
    /// Receive buffer.
    pub(crate) scratch: Vec<u8>,
    /// Decrypted input. It is lent while what is read from it is acted upon: what that needs has buffers of its own.
    pub(crate) plain: Vec<u8>,
    /// Output being put together.
    pub(crate) out: Vec<u8>,
    /// Output under TLS.
    pub(crate) sealed: Vec<u8>,
    /// Connections that had more to say than one turn has time for, by token, and whether the peer has said all.
    pub(crate) unfinished: VecDeque<(u64, bool)>,
    /// When the events being handled were taken from the kernel.
    pub(crate) woke: Nanos,
    /// When sockets were polled the last time before a stall that has just ended; without one, as `woke`.
    pub(crate) stalled_since: Nanos,
    /// The last stall, from and to; before the first, no time.
    pub(crate) stall: (Nanos, Nanos),
}

impl Net {
    pub(crate) fn new(parts: Parts<'_>, driver: Driver, now: Nanos) -> Self {
        Self {
            driver,
            routes: Routes::default(),
            sources: Sources::new(parts.sources, parts.rank as usize),
            allowed: parts.allowed,
            ports: parts.ports,
            resolver: parts.resolver,
            inbox: parts.inbox,
            address_life: parts.address_life,
            connects: 0,
            to_connect: VecDeque::new(),
            retries: 0,
            connect_pace: ConnectPace::new(parts.connect_rate, parts.ranks),
            backoff: parts.backoff,
            tls_config: None,
            scratch: vec![0; SCRATCH],
            plain: Vec::new(),
            out: Vec::new(),
            sealed: Vec::new(),
            unfinished: VecDeque::new(),
            woke: now,
            stalled_since: now,
            stall: (Nanos::MIN, Nanos::MIN),
        }
    }

    /// Whether a sample was in flight in the last stall, or was meant to start in it.
    #[inline]
    pub(crate) fn was_stalled(&self, timing: &Timing) -> bool {
        let (from, to) = self.stall;
        timing.start - (timing.wait as Nanos) < to && timing.end > from
    }
}
