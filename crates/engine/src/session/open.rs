//! Finds a kept connection for a [`ConnectionScope`] and a route, or opens one with `net`, with TLS if the route
//! requires it.

use std::sync::Arc;

use stats::{Counter, Span};
use wire::http1::{Connection, Kind};
use wire::redis::{Limits, Login, Redis};
use wire::session::{Session, Ticket};
use wire::sse::{self, Sse};
use wire::stream::Stream;
use wire::tls::rustls::ClientConfig;

use crate::completions::Done;
use crate::ids::{RouteId, UserId};
use crate::net::opening::{HandshakeStart, Opened, Opening};
use crate::net::outcome::Failure;
use crate::net::source;
use crate::session::drive::unwritten;
use crate::session::exchange::Call;
use crate::session::lazy::Lazy;
use crate::session::line::{ConnectionScope, LineId, LineSession, Lines, State};
use crate::session::{Around, Sessions};
use crate::time::clock::{Nanos, thread_cpu};
use crate::time::milestones::Milestones;

impl Sessions {
    /// Returns a kept connection of the user for an exchange. The peer may have closed its side.
    pub(crate) fn kept(
        &self,
        user: UserId,
        place: ConnectionScope,
        route: RouteId,
    ) -> Option<LineId> {
        self.lines.find(user, |line| {
            let fits = match place {
                ConnectionScope::Own => line.place == ConnectionScope::Own && line.route == route,
                ConnectionScope::Fresh => false,
                held @ ConnectionScope::Held(_) => line.place == held,
                // The modules `idle` and `pools` find these connections.
                ConnectionScope::Client { .. } | ConnectionScope::Named(_) => false,
            };
            fits && line.ticket.is_none() && matches!(line.state, State::Open | State::Ended)
        })
    }

    /// Opens a connection for an exchange.
    pub(super) fn open(&mut self, around: &mut Around<'_>, ticket: Ticket) {
        let id = self.add_line(ticket, self.exchanges[ticket].user);
        if self.resolve(around, ticket) {
            self.connect(around, id);
        }
    }

    /// Adds a connection of a user for an exchange. [`Self::connect`] or [`Self::connect_to`] opens it when the
    /// addresses are known.
    pub(crate) fn add_line(&mut self, ticket: Ticket, owner: UserId) -> LineId {
        let exchange = &self.exchanges[ticket];
        let (route, place) = (exchange.route, exchange.place);
        let speaker = match &exchange.call {
            Call::Http(_) => LineSession::Http(Connection::default()),
            Call::Udp(_) => LineSession::Datagram,
            Call::Redis(call) => {
                let (password, database) = (call.password.as_str(), call.database);
                let login = Login { user: "", password, database };
                LineSession::Redis(Box::new(Redis::new(login, 1, Limits::default())))
            }
            Call::Sse(_) => LineSession::Sse(Box::new(Sse::new(sse::Limits::default()))),
            _ => LineSession::Stream(Stream::default()),
        };
        // The clients of these protocols try no second address.
        let opening = match speaker {
            LineSession::Redis(_) | LineSession::Http(_) => Opening::of(route, owner),
            _ => Opening::of(route, owner).first_only(),
        };
        let id = self.lines.open(owner, route, place, opening, speaker);
        (self.lines[id].ticket, self.lines[id].state) = (Some(ticket), State::Naming);
        self.exchanges[ticket].line = id;
        id
    }

    /// Returns true if the addresses for an exchange's connection are known. If not, the exchange waits for the
    /// resolver.
    pub(crate) fn resolve(&mut self, around: &mut Around<'_>, ticket: Ticket) -> bool {
        let exchange = &self.exchanges[ticket];
        let (id, user, now) = (exchange.line, exchange.user, exchange.start);
        // The time limit for connecting starts when the address is known.
        around.limit(user, exchange.limit_of(0, now), now);
        around.net.resolve(&self.lines[id].opening, user, now, around.recorder)
    }

    /// Connects an exchange to the addresses that its user has resolved.
    pub(crate) fn connect_to(&mut self, around: &mut Around<'_>, ticket: Ticket, via: RouteId) {
        let id = self.exchanges[ticket].line;
        self.lines[id].opening.route = via;
        self.connect(around, id);
    }

    /// Stores the time until the addresses for an exchange's connection were known.
    pub(crate) fn note_name(&mut self, around: &Around<'_>, ticket: Ticket) {
        let exchange = &mut self.exchanges[ticket];
        exchange.milestones.dns = Milestones::micros(around.clock.now() - exchange.start);
    }

    /// Returns the connection of an exchange that waits for an address of this route.
    pub(crate) fn naming(&self, ticket: Ticket, route: RouteId) -> Option<LineId> {
        let id = self.exchanges.has(ticket).then(|| self.exchanges[ticket].line)?;
        // The exchange for which the answer was requested may no longer wait.
        let waits = |id: &LineId| {
            let line = &self.lines[*id];
            line.state == State::Naming && line.route == route
        };
        Some(id).filter(|id| *id != LineId::NONE).filter(waits)
    }

    /// Handles the resolver's answer for an exchange: connects, or fails the exchange. Addresses that were found are
    /// already in the route.
    pub(crate) fn on_resolved(
        &mut self,
        around: &mut Around<'_>,
        ticket: Ticket,
        route: RouteId,
        known: Result<(), Failure>,
    ) {
        let Some(id) = self.naming(ticket, route) else { return };
        self.note_name(around, ticket);
        match known {
            Ok(()) => self.connect(around, id),
            Err(failure) => self.fail(around, ticket, failure),
        }
    }

    /// Connects now, or in a later iteration of the loop if the limit of new connections per iteration is reached.
    pub(crate) fn connect(&mut self, around: &mut Around<'_>, id: LineId) {
        let line = &mut self.lines[id];
        let Some(ticket) = line.ticket else { return };
        line.state = State::Connecting;
        let slot = Lines::slot(id);
        let (opening, transport) = (&mut line.opening, &mut line.transport);
        let (net, clock) = (&mut *around.net, around.clock);
        let opened = match (&line.speaker, &self.exchanges[ticket].call) {
            (LineSession::Datagram, Call::Udp(call)) => {
                let from = source::bound(call).ok().flatten();
                net.connect_datagram(opening, transport, slot, from, clock, around.recorder)
            }
            _ => net.connect(opening, transport, slot, clock),
        };
        self.on_opened(around, id, opened);
    }

    /// Handles the result of a TCP connection attempt: continues the opening, or tries the next address.
    pub(super) fn on_connected(&mut self, around: &mut Around<'_>, id: LineId) {
        let Some(ticket) = self.lines[id].ticket else { return };
        let line = &mut self.lines[id];
        let start = self.exchanges[ticket].start;
        let (opening, transport) = (&mut line.opening, &mut line.transport);
        let slot = Lines::slot(id);
        let opened =
            around.net.connected(opening, transport, slot, start, around.clock, around.recorder);
        self.on_opened(around, id, opened);
    }

    /// Acts on the result of a step of a connection's opening: sets the time limit, starts the next step, or fails the
    /// exchange.
    pub(super) fn on_opened(&mut self, around: &mut Around<'_>, id: LineId, opened: Opened) {
        let Some(ticket) = self.lines[id].ticket else { return };
        let exchange = &self.exchanges[ticket];
        let (user, now) = (exchange.user, around.clock.now());
        match opened {
            Opened::Resolving | Opened::Queued => {
                around.limit(user, exchange.limit_of(0, now), now);
            }
            Opened::Connecting => {
                around.limit(user, exchange.limit_of(exchange.connect_limit.nanos(), now), now);
            }
            Opened::Established => {
                self.note_opened(around, id);
                let route = &around.net.routes[self.lines[id].route];
                if route.tunnel.as_ref().is_some_and(|tunnel| !tunnel.forwarded) {
                    self.lines[id].state = State::Proxied;
                    around.done.now.push(Done::Proxied(ticket));
                } else if route.secure {
                    self.lines[id].state = State::Unsecured;
                    around.done.now.push(Done::Unsecured(ticket));
                } else {
                    self.established(around, id, ticket);
                }
            }
            Opened::Failed(failure) => self.fail(around, ticket, failure),
        }
    }

    /// Counts an established connection for its address.
    fn note_opened(&mut self, around: &mut Around<'_>, id: LineId) {
        self.classify(around, id);
        let Some(ticket) = self.lines[id].ticket else { return };
        around.recorder.opened(self.lines[id].class);
        // If another address was tried before, the time would include two connection attempts.
        if !self.lines[id].opening.is_first_try() {
            return;
        }
        let exchange = &self.exchanges[ticket];
        let named = Nanos::from(exchange.milestones.dns) * 1000;
        let took = (around.clock.now() - exchange.start - named).max(0);
        around.recorder.span(Span::Tcp, took as u64);
    }

    /// Sets the class under which the statistics count the exchanges on a connection: the class of its server address.
    pub(crate) fn classify(&mut self, around: &mut Around<'_>, id: LineId) {
        let line = &mut self.lines[id];
        let Ok(address) = around.net.address(&line.opening) else { return };
        line.class = around.recorder.class_of(address);
    }

    /// Sends a `CONNECT` request to the proxy of an exchange's connection. The proxy's response completes the exchange.
    /// If the proxy opens the tunnel, the exchange then begins anew.
    pub(crate) fn ask_proxy(&mut self, around: &mut Around<'_>, ticket: Ticket, request: &[u8]) {
        let now = around.clock.now();
        let exchange = &mut self.exchanges[ticket];
        let line = &mut self.lines[exchange.line];
        (line.state, line.tail) = (State::Tunnelling, Lazy::default());
        (exchange.connect, exchange.sent_at) = (now - exchange.start, now);
        if let (Call::Http(http), LineSession::Http(session)) =
            (&mut exchange.call, &mut line.speaker)
        {
            session.begin_rendered(ticket, Kind::Connect);
            (http.facts.sent, http.facts.received) = (request.len() as u64, 0);
            (http.facts.tunnels, http.facts.has_body) = (true, false);
        }
        match line.transport.send_raw(request) {
            Ok(_) => around.limit(exchange.user, exchange.limit.nanos(), now),
            Err(error) => self.fail(around, ticket, Failure::Socket(error)),
        }
    }

    /// Continues with TLS after the proxy has created the tunnel.
    pub(crate) fn leave_proxy(&mut self, around: &mut Around<'_>, ticket: Ticket) {
        self.renew(around, ticket);
        let exchange = &mut self.exchanges[ticket];
        if let Call::Http(http) = &mut exchange.call {
            (http.facts.tunnels, http.facts.received) = (false, 0);
        }
        let line = &mut self.lines[exchange.line];
        (line.state, line.tail) = (State::Unsecured, Lazy::default());
    }

    /// Closes the socket of an exchange's connection and connects once more.
    pub(crate) fn reconnect(&mut self, around: &mut Around<'_>, ticket: Ticket) {
        self.renew(around, ticket);
        let id = self.exchanges[ticket].line;
        self.lines.drop_socket(id);
        self.connect(around, id);
    }

    /// Starts TLS on a connection that waits for its TLS settings. The connection has been established since
    /// `since`.
    pub(crate) fn secure(
        &mut self,
        around: &mut Around<'_>,
        ticket: Ticket,
        settings: Result<Arc<ClientConfig>, wire::tls::Error>,
        since: Nanos,
    ) {
        let cpu = thread_cpu();
        let now = around.clock.now();
        let id = self.exchanges[ticket].line;
        if id == LineId::NONE || self.lines[id].state != State::Unsecured {
            return;
        }
        let config = match settings {
            Ok(config) => config,
            Err(error) => return self.fail(around, ticket, Failure::Tls(error)),
        };
        let line = &mut self.lines[id];
        let (opening, transport) = (&mut line.opening, &mut line.transport);
        if let Err(failure) = around.net.start_tls(opening, transport, &config, since, now) {
            return self.fail(around, ticket, failure);
        }
        line.state = State::Handshaking;
        let exchange = &mut self.exchanges[ticket];
        exchange.milestones.tcp = Milestones::micros(now - exchange.start);
        around.limit(exchange.user, exchange.limit_of(exchange.limit.nanos(), now), now);
        self.shake_hands(around, id, &mut [], HandshakeStart { arrival: now, cpu });
    }

    /// Continues a handshake with received bytes. Returns how many were used.
    pub(super) fn shake_hands(
        &mut self,
        around: &mut Around<'_>,
        id: LineId,
        incoming: &mut [u8],
        since: HandshakeStart,
    ) -> usize {
        let Some(ticket) = self.lines[id].ticket else { return 0 };
        let line = &mut self.lines[id];
        let (opening, transport) = (&mut line.opening, &mut line.transport);
        let (clock, recorder) = (around.clock, &mut *around.recorder);
        let shaken = around.net.shake_hands(opening, transport, incoming, since, clock, recorder);
        match (shaken.sent, shaken.over) {
            (Err(error), _) => self.fail(around, ticket, Failure::Socket(error)),
            (Ok(_), Err(failure)) => self.fail(around, ticket, failure),
            (Ok(_), Ok(true)) if line.state == State::Handshaking => {
                self.established(around, id, ticket);
            }
            (Ok(_), Ok(_)) => {}
        }
        shaken.used
    }

    /// Starts the exchange on its established connection.
    fn established(&mut self, around: &mut Around<'_>, id: LineId, ticket: Ticket) {
        let exchange = &mut self.exchanges[ticket];
        let line = &mut self.lines[id];
        // With a proxy, the connect time ends when the connection to the proxy is established.
        let connect = around.clock.now() - exchange.start;
        if exchange.connect == 0 || around.net.routes[line.route].tunnel.is_none() {
            exchange.connect = connect;
        }
        let steps = &mut exchange.milestones;
        if steps.tcp > 0 {
            steps.tls = Milestones::micros(connect).saturating_sub(steps.tcp);
        }
        line.state = State::Open;
        if !self.greets(around, id, ticket) {
            self.begin(around, id, ticket);
        }
    }

    /// Sends a greeting if the protocol requires one before the first exchange. Returns true if a greeting is required.
    fn greets(&mut self, around: &mut Around<'_>, id: LineId, ticket: Ticket) -> bool {
        let line = &mut self.lines[id];
        let LineSession::Redis(session) = &mut line.speaker else { return false };
        let out = &mut around.net.out;
        out.clear();
        session.greet(out);
        if out.is_empty() {
            return false;
        }
        around.recorder.add(Counter::BytesOut, out.len() as u64);
        let exchange = &self.exchanges[ticket];
        match line.transport.send(out, &mut around.net.sealed) {
            Ok(_) => around.limit(exchange.user, exchange.limit.nanos(), around.clock.now()),
            Err(error) => self.fail(around, ticket, unwritten(error)),
        }
        true
    }

    /// Closes the connection that a user has kept for a [`ConnectionScope`].
    pub(crate) fn close_kept(
        &mut self,
        around: &mut Around<'_>,
        user: UserId,
        place: ConnectionScope,
        route: RouteId,
    ) {
        if let Some(id) = self.kept(user, place, route) {
            around.recorder.add(Counter::ConnClosedByUs, 1);
            self.lines.close(id);
        }
    }
}
