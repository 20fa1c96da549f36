//! Opening connections: the name's addresses, the turn of the loop, addresses and local ones in order, the TLS handshake.
//!
//! Every protocol opens its connections by these methods. They return what came of a step and call nobody: who opens acts upon it, arms the
//! time limits, and calls again when the resolver has answered, the turn has come, the socket is writable or bytes have arrived.
//!
//! | returned | what comes next |
//! |---|---|
//! | [`Opened::Resolving`] | the resolver's answer: [`Net::learn`], then [`Net::connect`]; no time limit runs |
//! | [`Opened::Queued`] | the turn, by [`Net::next_queued`]: [`Net::connect`]; no time limit runs |
//! | [`Opened::Connecting`] | the socket is writable: [`Net::connected`]; the time limit is over: [`Net::connect_is_late`] |
//! | [`Opened::Established`] | TCP stands: bytes, or [`Net::start_tls`] and then [`Net::shake_hands`] until it stands as well |
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

/// Connections opened in one turn of the loop, at most: 2 ms, after which answers are read again.
const CONNECTS: u32 = 64;

/// How far the opening of a connection has come. Whoever opens holds it beside the transport.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opening {
    /// The route whose addresses are tried; a pinned one for users that look names up for themselves.
    pub(crate) route: RouteId,
    /// The user's place in its core, as far as it tells local addresses apart.
    user: u16,
    /// Local addresses that have been tried for this address.
    sources_tried: u8,
    /// Which of the route's addresses is being tried; with [`FIRST_ONLY`], no other one will be.
    attempt: u8,
    /// Time spent in this process; while queued, less the time since when.
    own: Nanos,
}

const _: () = assert!(size_of::<Opening>() == 16);

/// The bit of `attempt` with which only the first address of a name is tried.
const FIRST_ONLY: u8 = 0x80;

/// The result of a step of an opening.
#[derive(Debug)]
#[must_use]
pub(crate) enum Opened {
    /// The resolver has been asked for the name.
    Resolving,
    /// As many connections as a turn of the loop may open have been opened.
    Queued,
    /// The kernel is connecting; the time limit for that begins now.
    Connecting,
    /// The TCP connection stands.
    Established,
    /// There is no connection; its transport has been closed or is yet to be.
    Failed(Failure),
}

/// The result of a step of a TLS handshake.
#[derive(Debug)]
#[must_use]
pub(crate) struct Shaken {
    /// Bytes of the input that are used up.
    pub(crate) used: usize,
    /// Bytes of the answer that have gone to the kernel.
    pub(crate) sent: io::Result<usize>,
    /// Whether it is over; an error is one of TLS. Worth nothing if the answer could not be sent.
    pub(crate) over: Result<bool, Failure>,
}

impl Opening {
    /// No connection is being opened.
    pub(crate) const NONE: Self = Self::of(RouteId(0), UserId::NONE);

    /// The opening of a user's connection to a route that has yet to begin.
    pub(crate) const fn of(route: RouteId, user: UserId) -> Self {
        Self { route, user: user.at() as u16, sources_tried: 0, attempt: 0, own: 0 }
    }

    /// Only the first address of a name is to be tried.
    pub(crate) const fn first_only(self) -> Self {
        Self { attempt: self.attempt | FIRST_ONLY, ..self }
    }

    /// Which of the route's addresses is being tried.
    const fn attempt(&self) -> usize {
        (self.attempt & !FIRST_ONLY) as usize
    }

    /// Whether neither another address nor another local one has been tried.
    pub(crate) const fn is_first_try(&self) -> bool {
        self.attempt() == 0 && self.sources_tried == 0
    }

    /// Time of the opening that was spent in this process, nanoseconds.
    #[inline]
    pub(crate) fn own(&self) -> u64 {
        self.own.max(0) as u64
    }

    /// Begins to count the time spent in this process at so many nanoseconds.
    #[inline]
    pub(crate) fn set_own(&mut self, own: u64) {
        self.own = own as Nanos;
    }
}

impl Net {
    /// Begins to open a connection to the opening's route.
    #[allow(clippy::too_many_arguments)] // One call, whose parts its caller has at hand.
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

    /// Whether the addresses of the opening's route are known; if not, the resolver has been asked for them.
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

    /// Tells the recorder of the addresses of a name that has several of a kind: it is worth knowing which are used.
    pub(crate) fn tell_addresses(&self, route: RouteId, recorder: &mut Recorder) {
        let addresses = &self.routes[route].addresses;
        let Some(first) = addresses.first() else { return };
        let alike = || addresses.iter().filter(|one| one.is_ipv4() == first.is_ipv4());
        if alike().nth(1).is_some() {
            alike().for_each(|address| recorder.tell_address(*address));
        }
    }

    /// Keeps what the resolver has found for a route. An error: there is no address.
    pub(crate) fn learn(
        &mut self,
        route: RouteId,
        host: &str,
        found: Found,
        now: Nanos,
    ) -> Result<(), Failure> {
        let still = found == Found::StillUnknown;
        let route = &mut self.routes[route];
        // The number may be another route's by now.
        if let Found::Addresses(addresses) = found
            && route.host == host
        {
            route.addresses = addresses;
            route.fresh_until = now.saturating_add(self.address_life);
        }
        if route.addresses.is_empty() { Err(Failure::UnknownHost { still }) } else { Ok(()) }
    }

    /// Tries the addresses from the one at hand on, until one does not fail at once.
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
            if !self.goes_on(opening, transport, &error) {
                return Opened::Failed(Failure::Connect(error));
            }
        }
    }

    /// Opens a socket for datagrams to and from the address at hand alone, of the local address `from` if given: it is established at once.
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

    /// The socket has become writable: the TCP connection stands, or the next address is tried. `start` is when the sample began.
    #[allow(clippy::too_many_arguments)] // One call, whose parts its caller has at hand.
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
            if self.goes_on(opening, transport, &error) {
                return self.connect(opening, transport, slot, clock);
            }
            return Opened::Failed(Failure::Connect(error));
        }
        recorder.add(Counter::ConnOpened, 1);
        if self.stalled_since < self.woke {
            // It may have stood since sockets were polled before.
            opening.own += (self.woke - self.stalled_since.max(start)).max(0);
        }
        Opened::Established
    }

    /// The time limit for connecting is over: the next address is tried, if there is one.
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

    /// Begins a TLS handshake on a connection that stands since `since`, to the server of the route or the one behind its proxy.
    /// [`Net::shake_hands`] makes its first step.
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

    /// Continues a handshake with what arrived at `arrival`, and counts it when it is over. `cpu` is the thread's processor time when this began.
    pub(crate) fn shake_hands(
        &mut self,
        opening: &mut Opening,
        transport: &mut Transport,
        incoming: &mut [u8],
        (arrival, cpu): (Nanos, u64),
        clock: &Clock,
        recorder: &mut Recorder,
    ) -> Shaken {
        let Some(step) = transport.handshake(incoming, &mut self.out, cpu) else {
            return Shaken { used: 0, sent: Ok(0), over: Ok(false) };
        };
        let now = clock.now();
        // All since the bytes arrived was spent here.
        opening.own += (now - arrival).max(0);
        let sent = step.sent;
        match step.progress {
            Ok(progress) => {
                let over = !progress.handshaking;
                if over && sent.is_ok() {
                    step.effort.count(Some(step.kind), now, recorder);
                }
                Shaken { used: progress.used, sent, over: Ok(over) }
            }
            Err(error) => {
                if sent.is_ok() {
                    step.effort.count(None, now, recorder);
                }
                Shaken { used: 0, sent, over: Err(Failure::Tls(error)) }
            }
        }
    }

    /// A turn of the loop begins: as many connections may be opened again.
    #[inline]
    pub(crate) fn begin_turn(&mut self) {
        self.connects = CONNECTS;
    }

    /// The token of the connection that has waited longest for its turn, as long as more may be opened. It may be gone.
    #[inline]
    pub(crate) fn next_queued(&mut self) -> Option<u64> {
        if self.connects == 0 {
            return None;
        }
        self.to_connect.pop_front()
    }

    /// Whether the connection may be opened in this turn of the loop; if not, it is queued.
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

    /// The address at hand.
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
            let words = "this machine does not permit that target (throng.targets.allowed)";
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

    /// Goes to the next local address if the one tried has no port left, or else to the next address. False: there is neither.
    fn goes_on(
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
