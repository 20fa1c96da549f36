//! Connections of a core and their parts: sockets, addresses, local ports, TLS, buffers.

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

/// Arguments from which the connections of a core are built.
pub(crate) struct Parts<'a> {
    /// Local addresses of the run.
    pub(crate) sources: &'a [IpAddr],
    /// Targets that connections may lead to.
    pub(crate) allowed: Targets,
    /// Local ports of this core.
    pub(crate) ports: Ports,
    /// Index of this core among the cores of all processes, and (`ranks`) the number of cores of all processes.
    pub(crate) rank: u32,
    pub(crate) ranks: u32,
    /// Maximum number of connections that the whole run opens per second; 0 is unlimited.
    pub(crate) connect_rate: f64,
    pub(crate) backoff: Backoff,
    /// Time for which a resolved address may be used, in nanoseconds.
    pub(crate) address_life: Nanos,
    pub(crate) resolver: Sender<Question>,
    pub(crate) inbox: Inbox,
}

/// State of a core for its connections: event driver, routes, addresses, pacing, and buffers.
pub(crate) struct Net {
    pub(crate) driver: Driver,
    pub(crate) routes: Routes,
    /// Local addresses to connect from.
    pub(crate) sources: Sources,
    /// Targets that connections may lead to.
    allowed: Targets,
    /// Local ports to connect from.
    pub(crate) ports: Ports,
    /// The resolver, and the inbox for its answers.
    resolver: Sender<Question>,
    inbox: Inbox,
    /// Time for which a resolved address may be used, in nanoseconds.
    address_life: Nanos,
    /// Number of connections that may still be opened in this iteration of the loop.
    connects: u32,
    /// Tokens of connections that wait to be opened.
    pub(crate) to_connect: VecDeque<u64>,
    pub(crate) connect_pace: ConnectPace,
    pub(crate) backoff: Backoff,
    /// TLS configuration of the core. Users share it, or copy it and add a separate session cache.
    pub(crate) tls_config: Option<Arc<wire::tls::rustls::ClientConfig>>,
    /// Number of attempts to connect to the next address of a name, since the last snapshot.
    pub(crate) retries: u64,
    /// Buffer for received bytes, shared by all connections.
    pub(crate) scratch: Vec<u8>,
    /// Buffer for decrypted input. The buffer is lent out while its content is handled, so handlers need other buffers.
    pub(crate) plain: Vec<u8>,
    /// Buffer for the current output.
    pub(crate) out: Vec<u8>,
    /// Buffer for output encrypted by TLS.
    pub(crate) sealed: Vec<u8>,
    /// Connections with data that could not be read in the time of one turn: token, and true if the peer has finished
    /// sending.
    pub(crate) unfinished: VecDeque<(u64, bool)>,
    /// Time at which the current events were taken from the kernel.
    pub(crate) woke: Nanos,
    /// Time of the last poll before a stall that has just ended; without a stall the same as `woke`.
    pub(crate) stalled_since: Nanos,
    /// Start and end of the last stall; an empty period before the first stall.
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

    /// Returns true if the sample was in flight during the last stall, or was scheduled to start during the stall.
    #[inline]
    pub(crate) fn was_stalled(&self, timing: &Timing) -> bool {
        let (from, to) = self.stall;
        timing.start - (timing.wait as Nanos) < to && timing.end > from
    }
}
