//! Connections of a core, and what they need: sockets, addresses, local ports, TLS, buffers.

pub(crate) mod conn;
pub(crate) mod connect;
pub(crate) mod dns_cache;
pub(crate) mod driver;
pub(crate) mod nameserver;
pub(crate) mod outcome;
pub(crate) mod pace;
pub(crate) mod ports;
pub(crate) mod resolve;
pub(crate) mod routes;
pub(crate) mod source;
pub(crate) mod tls;
pub(crate) mod transport;

use std::collections::VecDeque;
use std::sync::Arc;

use crate::net::conn::{Conns, Stash};
use crate::net::driver::{Driver, SCRATCH};
use crate::net::pace::{Backoff, ConnectPace};
use crate::net::ports::Ports;
use crate::net::routes::Routes;
use crate::net::source::Sources;
use crate::run::RunShared;
use crate::time::clock::Nanos;

/// Connections of a core.
#[allow(clippy::vec_box)] // Stashes move between pool and connections by their pointer.
pub(crate) struct Net {
    pub(crate) driver: Driver,
    pub(crate) conns: Conns,
    pub(crate) stashes: Vec<Box<Stash>>,
    pub(crate) routes: Routes,
    /// Local addresses to connect from.
    pub(crate) sources: Sources,
    /// Local ports to connect from.
    pub(crate) ports: Ports,
    /// Connections that may yet be opened in this turn of the loop.
    pub(crate) connects: u32,
    /// Tokens of connections that wait to be opened.
    pub(crate) to_connect: VecDeque<u64>,
    pub(crate) connect_pace: ConnectPace,
    pub(crate) backoff: Backoff,
    /// TLS configuration; users have it with a session cache of their own, or share this one.
    pub(crate) tls_config: Option<Arc<wire::tls::rustls::ClientConfig>>,
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
}

impl Net {
    pub(crate) fn new(run: &RunShared, core: u32, driver: Driver, now: Nanos) -> Self {
        Self {
            driver,
            conns: Conns::default(),
            stashes: Vec::new(),
            routes: Routes::default(),
            sources: Sources::new(&run.settings.sources, run.rank(core) as usize),
            ports: Ports::of_core(run, core),
            connects: 0,
            to_connect: VecDeque::new(),
            connect_pace: ConnectPace::new(run.settings.connect_rate, run.ranks()),
            backoff: run.settings.backoff,
            tls_config: None,
            scratch: vec![0; SCRATCH],
            plain: Vec::new(),
            out: Vec::new(),
            sealed: Vec::new(),
            unfinished: VecDeque::new(),
            woke: now,
            stalled_since: now,
        }
    }
}
