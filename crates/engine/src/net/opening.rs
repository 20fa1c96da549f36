//! Opening connections: name resolution, the limit per turn, the choice of remote and local addresses, the TLS
//! handshake.
//!
//! Every protocol opens its connections with these methods. They return the result of a step and call no protocol
//! code. The caller acts on the result and sets the time limits. It calls the next method when the resolver has
//! answered, the queued connection may be opened, the socket is writable, or bytes have arrived.
//!
//! | returned | next step |
//! |---|---|
//! | [`Opened::Resolving`] | the resolver's answer: [`Net::learn`], then [`Net::connect`]; no time limit runs |
//! | [`Opened::Queued`] | a later turn, by [`Net::next_queued`]: [`Net::connect`]; no time limit runs |
//! | [`Opened::Connecting`] | the socket is writable: [`Net::connected`]; the time limit is over: [`Net::connect_is_late`] |
//! | [`Opened::Established`] | TCP is connected: send data, or call [`Net::start_tls`] and then [`Net::shake_hands`] until the handshake is complete |
//! | [`Opened::Failed`] | nothing |

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use stats::{Counter, Recorder};
use wire::tls::rustls::ClientConfig;

use crate::ids::UserId;
use crate::net::Net;
use crate::net::driver;
use crate::net::outcome::Failure;
use crate::net::resolve::{self, Found, Question};
use crate::net::routes::RouteId;
use crate::net::slot::Slot;
use crate::net::source;
use crate::net::transport::Transport;
use crate::time::clock::{Clock, Nanos};

/// Maximum number of connections opened in one iteration of the loop. Opening them takes about 2 ms; then responses
/// are read.
const CONNECTS: u32 = 64;

/// The state of a connection that is being opened. The caller stores it together with the transport.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opening {
    /// The route whose addresses are tried. For users with a DNS cache of their own, it is a copy with the
    /// addresses that the user has resolved.
    pub(crate) route: RouteId,
    /// The user's index in its core, truncated; it selects a local address.
    user: u16,
    /// Number of local addresses tried for the current address.
    sources_tried: u8,
    /// Index of the route's address that is being tried. With [`FIRST_ONLY`], no other address will be tried.
    attempt: u8,
    /// Time that this process spent on opening, in nanoseconds. While the connection is queued: that time minus the
    /// time at which it was queued.
    own: Nanos,
}

const _: () = assert!(size_of::<Opening>() == 16);

/// Bit of `attempt`: of a name's addresses, only the first address is tried.
const FIRST_ONLY: u8 = 0x80;

/// The result of a step of opening a connection.
#[derive(Debug)]
#[must_use]
pub(crate) enum Opened {
    /// The name is being resolved.
    Resolving,
    /// The limit of new connections per iteration of the loop is reached, so the connection is queued.
    Queued,
    /// The kernel is connecting. The time limit for connecting starts now.
    Connecting,
    /// The TCP connection is established.
    Established,
    /// Opening failed. The transport has been closed, or the caller must close it.
    Failed(Failure),
}

/// Times before a step of a TLS handshake.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HandshakeStart {
    /// Time at which the bytes arrived.
    pub(crate) arrival: Nanos,
    /// The thread's processor time before the step, in nanoseconds.
    pub(crate) cpu: u64,
}

/// The result of a step of a TLS handshake.
#[derive(Debug)]
#[must_use]
pub(crate) struct HandshakeStep {
    /// Number of input bytes that were used.
    pub(crate) used: usize,
    /// Number of output bytes that were passed to the kernel, or the error of sending.
    pub(crate) sent: io::Result<usize>,
    /// True if the handshake is complete; an error is a TLS failure. Undefined if the output could not be sent.
    pub(crate) over: Result<bool, Failure>,
}

impl Opening {
    /// Stands for "no connection is being opened".
    pub(crate) const NONE: Self = Self::of(RouteId(0), UserId::NONE);

    /// Returns the state of a user's connection to a route, before the first step of its opening.
    pub(crate) const fn of(route: RouteId, user: UserId) -> Self {
        Self { route, user: user.at() as u16, sources_tried: 0, attempt: 0, own: 0 }
    }

    /// Limits the opening to the first address of the host name.
    pub(crate) const fn first_only(self) -> Self {
        Self { attempt: self.attempt | FIRST_ONLY, ..self }
    }

    /// Returns the index of the route's address that is being tried.
    const fn attempt(&self) -> usize {
        (self.attempt & !FIRST_ONLY) as usize
    }

    /// Returns true if this is the first remote address and the first local address that are tried.
    pub(crate) const fn is_first_try(&self) -> bool {
        self.attempt() == 0 && self.sources_tried == 0
    }

    /// Returns the time that this process spent on the opening, in nanoseconds.
    #[inline]
    pub(crate) fn own(&self) -> u64 {
        self.own.max(0) as u64
    }

    /// Sets the time that this process already spent on the opening, in nanoseconds.
    #[inline]
    pub(crate) fn set_own(&mut self, own: u64) {
        self.own = own as Nanos;
    }
}

impl Net {
    /// Starts to open a connection to the route of this opening.
    #[allow(clippy::too_many_arguments)] // The caller has all of these arguments at hand.
    pub(crate) fn open(
        &mut self,
        opening: &mut Opening,
        transport: &mut Transport,
        slot: Slot,
        user: UserId,
        clock: &Clock,
        recorder: &mut Recorder,
    ) -> Opened {
        if self.resolve(opening, user, clock.now(), recorder) {
            self.connect(opening, transport, slot, clock)
        } else {
            Opened::Resolving
        }
    }

    /// Returns true if the addresses of the route are known. If not, sends the name to the resolver.
    pub(crate) fn resolve(
        &mut self,
        opening: &Opening,
        user: UserId,
        now: Nanos,
        recorder: &mut Recorder,
    ) -> bool {
        let route = &mut self.routes[opening.route];
        if !route.addresses.is_empty() && route.fresh_until >= now {
            return true;
        }
        if let Some(ip) = resolve::literal(&route.host) {
            route.addresses = vec![SocketAddr::new(ip, route.port)];
            route.fresh_until = Nanos::MAX;
            return true;
        }
        recorder.add(Counter::DnsLookups, 1);
        let question = Question {
            host: route.host.clone(),
            port: route.port,
            user,
            route: opening.route,
            aliases: Vec::new(),
            reply_to: self.inbox.clone(),
        };
        let _ = self.resolver.send(question);
        false
    }

    /// Lists the addresses of a name in the statistics if it has several of the same family, because users want to see
    /// the addresses in use.
    pub(crate) fn record_addresses(&self, route: RouteId, recorder: &mut Recorder) {
        let addresses = &self.routes[route].addresses;
        let Some(first) = addresses.first() else { return };
        let alike = || addresses.iter().filter(|one| one.is_ipv4() == first.is_ipv4());
        if alike().nth(1).is_some() {
            alike().for_each(|address| recorder.tell_address(*address));
        }
    }

    /// Stores the resolver's answer for a route. `Err`: the route has no address.
    pub(crate) fn learn(
        &mut self,
        route: RouteId,
        host: &str,
        found: Found,
        now: Nanos,
    ) -> Result<(), Failure> {
        let still = found == Found::StillUnknown;
        let route = &mut self.routes[route];
        // The route's number may have been reassigned to another route by now.
        if let Found::Addresses(addresses) = found
            && route.host == host
        {
            route.addresses = addresses;
            route.fresh_until = now.saturating_add(self.address_life);
        }
        if route.addresses.is_empty() { Err(Failure::UnknownHost { still }) } else { Ok(()) }
    }

    /// Tries the addresses, starting with the current one, until a connection attempt does not fail at once.
    pub(crate) fn connect(
        &mut self,
        opening: &mut Opening,
        transport: &mut Transport,
        slot: Slot,
        clock: &Clock,
    ) -> Opened {
        if !self.has_turn(opening, slot.token(transport), clock) {
            return Opened::Queued;
        }
        loop {
            let error = match self.try_address(opening, transport, slot) {
                Ok(()) => return Opened::Connecting,
                Err(Failure::Connect(error)) => error,
                Err(failure) => return Opened::Failed(failure),
            };
            if !self.try_next_address(opening, transport, &error) {
                return Opened::Failed(Failure::Connect(error));
            }
        }
    }

    /// Opens a UDP socket that is connected to the current address, from the local address `from` if given. The socket
    /// needs no further step.
    pub(crate) fn connect_datagram(
        &mut self,
        opening: &mut Opening,
        transport: &mut Transport,
        slot: Slot,
        from: Option<SocketAddr>,
        clock: &Clock,
        recorder: &mut Recorder,
    ) -> Opened {
        let token = slot.token(transport);
        if !self.has_turn(opening, token, clock) {
            return Opened::Queued;
        }
        let to = match self.address(opening) {
            Ok(to) => to,
            Err(failure) => return Opened::Failed(failure),
        };
        match self.driver.connect_datagram(to, from, token) {
            Ok(fd) => {
                transport.fd = Some(fd);
                recorder.add(Counter::ConnOpened, 1);
                Opened::Established
            }
            Err(error) => Opened::Failed(Failure::Connect(error)),
        }
    }

    /// Handles a writable socket: the TCP connection is established, or the next address is tried. `start` is the start
    /// of the sample.
    #[allow(clippy::too_many_arguments)] // The caller has all of these arguments at hand.
    pub(crate) fn connected(
        &mut self,
        opening: &mut Opening,
        transport: &mut Transport,
        slot: Slot,
        start: Nanos,
        clock: &Clock,
        recorder: &mut Recorder,
    ) -> Opened {
        let Some(fd) = transport.fd.as_ref() else { return Opened::Connecting };
        if let Err(error) = driver::connect_result(fd) {
            if self.try_next_address(opening, transport, &error) {
                return self.connect(opening, transport, slot, clock);
            }
            return Opened::Failed(Failure::Connect(error));
        }
        recorder.add(Counter::ConnOpened, 1);
        if self.stalled_since < self.woke {
            // This process noticed the connection only after a stall. The connection may have been established at
            // any time in the stall.
            opening.own += (self.woke - self.stalled_since.max(start)).max(0);
        }
        Opened::Established
    }

    /// After the time limit for connecting, tries the next address if there is one.
    pub(crate) fn connect_is_late(
        &mut self,
        opening: &mut Opening,
        transport: &mut Transport,
        slot: Slot,
        clock: &Clock,
    ) -> Opened {
        if self.next_address(opening, transport) {
            return self.connect(opening, transport, slot, clock);
        }
        Opened::Failed(Failure::ConnectTimeout)
    }

    /// Starts a TLS handshake with the server of the route, or with the server behind its proxy. The connection has
    /// been established since `since`. [`Net::shake_hands`] runs the first step.
    pub(crate) fn start_tls(
        &mut self,
        opening: &mut Opening,
        transport: &mut Transport,
        config: &Arc<ClientConfig>,
        since: Nanos,
        now: Nanos,
    ) -> Result<(), Failure> {
        opening.own += (now - since).max(0);
        let route = &self.routes[opening.route];
        let host = route.tunnel.as_ref().map_or(&route.host, |tunnel| &tunnel.host);
        let client = wire::tls::Client::new(config, host).map_err(Failure::Tls)?;
        transport.start_tls(client, now);
        Ok(())
    }

    /// Continues a handshake with received bytes, and counts the handshake when it is complete.
    pub(crate) fn shake_hands(
        &mut self,
        opening: &mut Opening,
        transport: &mut Transport,
        incoming: &mut [u8],
        since: HandshakeStart,
        clock: &Clock,
        recorder: &mut Recorder,
    ) -> HandshakeStep {
        let Some(step) = transport.handshake(incoming, &mut self.out, since.cpu) else {
            return HandshakeStep { used: 0, sent: Ok(0), over: Ok(false) };
        };
        let now = clock.now();
        // All time since the arrival of the bytes was spent in this process.
        opening.own += (now - since.arrival).max(0);
        let sent = step.sent;
        match step.progress {
            Ok(progress) => {
                let over = !progress.handshaking;
                if over && sent.is_ok() {
                    step.effort.count(Some(step.kind), now, recorder);
                }
                HandshakeStep { used: progress.used, sent, over: Ok(over) }
            }
            Err(error) => {
                if sent.is_ok() {
                    step.effort.count(None, now, recorder);
                }
                HandshakeStep { used: 0, sent, over: Err(Failure::Tls(error)) }
            }
        }
    }

    /// Resets the count of connections that may be opened, at the start of an iteration of the loop.
    #[inline]
    pub(crate) fn begin_turn(&mut self) {
        self.connects = CONNECTS;
    }

    /// Takes the token of the connection that has been queued longest, if another connection may be opened. The
    /// returned connection may have been closed meanwhile.
    #[inline]
    pub(crate) fn next_queued(&mut self) -> Option<u64> {
        if self.connects == 0 {
            return None;
        }
        self.to_connect.pop_front()
    }

    /// Returns true if the connection may be opened in this iteration of the loop. If not, it is queued.
    fn has_turn(&mut self, opening: &mut Opening, token: u64, clock: &Clock) -> bool {
        if opening.own < 0 {
            opening.own += clock.now();
        }
        if self.connects > 0 {
            self.connects -= 1;
            return true;
        }
        self.to_connect.push_back(token);
        opening.own -= clock.now();
        false
    }

    /// Returns the address that is being tried.
    pub(crate) fn address(&self, opening: &Opening) -> Result<SocketAddr, Failure> {
        let route = &self.routes[opening.route];
        let address = route.addresses.get(opening.attempt()).copied();
        address.ok_or(if route.pinned {
            Failure::NoAddress
        } else {
            Failure::UnknownHost { still: false }
        })
    }

    fn try_address(
        &mut self,
        opening: &Opening,
        transport: &mut Transport,
        slot: Slot,
    ) -> Result<(), Failure> {
        let to = self.address(opening)?;
        let route = &self.routes[opening.route];
        let behind = route.tunnel.as_ref();
        if !self.allowed.permit(&route.host, to, !route.pinned)
            || behind.is_some_and(|tunnel| !self.allowed.permit_behind(&tunnel.host, tunnel.port))
        {
            let words = "this machine does not allow the target (throng.targets.allowed)";
            let error = io::Error::new(io::ErrorKind::PermissionDenied, words);
            return Err(Failure::Connect(error));
        }
        let wanted = &route.source;
        let from = if wanted.is_any() {
            self.sources.of(opening.user.into(), opening.sources_tried.into(), to)
        } else {
            Some(source::address(wanted).map_err(Failure::UnknownSource)?)
        };
        let token = slot.token(transport);
        let fd = self.driver.connect(to, from, &mut self.ports, token);
        if let (Err(error), Some(from)) = (&fd, from)
            && source::is_exhausted(error)
        {
            self.sources.pass_over(from);
        }
        transport.fd = Some(fd.map_err(Failure::Connect)?);
        Ok(())
    }

    /// Moves on to the next local address if the current local address has no free port, or else to the next remote
    /// address. Returns false if there is neither.
    fn try_next_address(
        &mut self,
        opening: &mut Opening,
        transport: &mut Transport,
        error: &io::Error,
    ) -> bool {
        self.next_source(opening, transport, error) || self.next_address(opening, transport)
    }

    fn next_source(
        &mut self,
        opening: &mut Opening,
        transport: &mut Transport,
        error: &io::Error,
    ) -> bool {
        let tried = opening.sources_tried;
        if !source::is_exhausted(error)
            || !self.routes[opening.route].source.is_any()
            || usize::from(tried) + 1 >= self.sources.len()
            || tried == u8::MAX
        {
            return false;
        }
        opening.sources_tried = tried + 1;
        self.retries += 1;
        transport.close();
        true
    }

    fn next_address(&mut self, opening: &mut Opening, transport: &mut Transport) -> bool {
        let next = opening.attempt() + 1;
        if opening.attempt & FIRST_ONLY != 0
            || next >= self.routes[opening.route].addresses.len()
            || next >= usize::from(FIRST_ONLY)
        {
            return false;
        }
        (opening.attempt, opening.sources_tried) = (next as u8, 0);
        self.retries += 1;
        transport.close();
        true
    }
}
