//! From a place and a route to a connection that stands: a kept one, or a new one that `net` opens, with TLS where the
//! route wants it.

use std::sync::Arc;

use stats::Counter;
use wire::redis::{Limits, Login, Redis};
use wire::session::{Session, Ticket};
use wire::sse::{self, Sse};
use wire::stream::Stream;
use wire::tls::rustls::ClientConfig;

use crate::completions::Done;
use crate::ids::{RouteId, UserId};
use crate::net::opening::{Opened, Opening};
use crate::net::outcome::Failure;
use crate::net::source;
use crate::net::transport::Unwritten;
use crate::session::exchange::Call;
use crate::session::line::{LineId, Lines, Place, Speaker, State};
use crate::session::{Around, Sessions};
use crate::time::clock::{Nanos, thread_cpu};
use crate::time::milestones::Milestones;

impl Sessions {
    /// A user's line that an exchange of this place may go on, be it ended by the peer.
    pub(crate) fn kept(&self, user: UserId, place: Place, route: RouteId) -> Option<LineId> {
        self.lines.find(user, |line| {
            let fits = match place {
                Place::Own => line.place == Place::Own && line.route == route,
                Place::Fresh => false,
                held @ Place::Held(_) => line.place == held,
                Place::Named { .. } => false,
            };
            fits && line.ticket.is_none() && matches!(line.state, State::Open | State::Ended)
        })
    }

    /// Opens a line for an exchange.
    pub(super) fn open(&mut self, around: &mut Around<'_>, ticket: Ticket) {
        let exchange = &self.exchanges[ticket];
        let (user, route, place) = (exchange.user, exchange.route, exchange.place);
        let speaker = match &exchange.call {
            Call::Udp(_) => Speaker::Datagram,
            Call::Redis(call) => {
                let (password, database) = (call.password.as_str(), call.database);
                let login = Login { user: "", password, database };
                Speaker::Redis(Box::new(Redis::new(login, 1, Limits::default())))
            }
            Call::Sse(_) => Speaker::Sse(Box::new(Sse::new(sse::Limits::default()))),
            _ => Speaker::Stream(Stream::default()),
        };
        // The clients of these protocols try no other address.
        let mut opening = Opening::of(route);
        opening.first_only = !matches!(speaker, Speaker::Redis(_));
        let id = self.lines.open((user, route, place), opening, speaker);
        self.lines[id].ticket = Some(ticket);
        self.exchanges[ticket].line = id;
        let now = self.exchanges[ticket].start;
        let opening = &self.lines[id].opening;
        if around.net.resolve(opening, user, now, around.recorder) {
            self.connect(around, id);
        } else {
            self.lines[id].state = State::Naming;
            // Limits of connecting begin with the address.
            around.limit(user, self.exchanges[ticket].limit_of(0, now), now);
        }
    }

    /// An answer of the resolver; the address stands in the route by now, if there is one.
    pub(crate) fn on_resolved(
        &mut self,
        around: &mut Around<'_>,
        ticket: Ticket,
        (route, known): (RouteId, Result<(), Failure>),
    ) {
        if !self.exchanges.has(ticket) {
            return;
        }
        let id = self.exchanges[ticket].line;
        let exchange = &mut self.exchanges[ticket];
        exchange.milestones.dns = Milestones::micros(around.clock.now() - exchange.start);
        let waits = id != LineId::NONE && self.lines[id].state == State::Naming;
        // It may be the answer to a question of somebody who waits no more.
        if !waits || self.lines[id].route != route {
            return;
        }
        if let Err(failure) = known {
            return self.fail(around, ticket, failure);
        }
        self.lines[id].state = State::Connecting;
        self.connect(around, id);
    }

    /// Connects, in this turn of the loop or when its turn comes.
    pub(crate) fn connect(&mut self, around: &mut Around<'_>, id: LineId) {
        let Some(ticket) = self.lines[id].ticket else { return };
        let line = &mut self.lines[id];
        let slot = Lines::slot(id);
        let (opening, transport) = (&mut line.opening, &mut line.transport);
        let (net, clock) = (&mut *around.net, around.clock);
        let opened = match (&line.speaker, &self.exchanges[ticket].call) {
            (Speaker::Datagram, Call::Udp(call)) => {
                let from = source::bound(call).ok().flatten();
                net.connect_datagram(opening, transport, slot, from, clock, around.recorder)
            }
            _ => net.connect(opening, transport, slot, clock),
        };
        self.on_opened(around, id, opened);
    }

    /// The attempt to connect has come to its end, good or bad.
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

    fn on_opened(&mut self, around: &mut Around<'_>, id: LineId, opened: Opened) {
        let Some(ticket) = self.lines[id].ticket else { return };
        let exchange = &self.exchanges[ticket];
        let (user, now) = (exchange.user, around.clock.now());
        match opened {
            Opened::Resolving | Opened::Queued => {
                around.limit(user, exchange.limit_of(0, now), now);
            }
            Opened::Connecting => {
                around.limit(user, exchange.limit_of(exchange.connect_limit, now), now);
            }
            Opened::Established if around.net.routes[self.lines[id].route].secure => {
                self.lines[id].state = State::Unsecured;
                around.done.now.push(Done::Unsecured(ticket));
            }
            Opened::Established => self.established(around, id, ticket),
            Opened::Failed(failure) => self.fail(around, ticket, failure),
        }
    }

    /// Begins TLS on a connection that waits for its settings.
    pub(crate) fn secure(
        &mut self,
        around: &mut Around<'_>,
        ticket: Ticket,
        settings: Result<Arc<ClientConfig>, wire::tls::Error>,
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
        // It has stood at least since the kernel said so; others' turn came first.
        let since = around.net.woke;
        let (opening, transport) = (&mut line.opening, &mut line.transport);
        if let Err(failure) = around.net.start_tls(opening, transport, &config, since, now) {
            return self.fail(around, ticket, failure);
        }
        line.state = State::Handshaking;
        let exchange = &mut self.exchanges[ticket];
        exchange.milestones.tcp = Milestones::micros(now - exchange.start);
        around.limit(exchange.user, exchange.limit_of(exchange.limit, now), now);
        self.shake_hands(around, id, &mut [], (now, cpu));
    }

    /// Continues a handshake with what arrived; how much of it is used up.
    pub(super) fn shake_hands(
        &mut self,
        around: &mut Around<'_>,
        id: LineId,
        incoming: &mut [u8],
        since: (Nanos, u64),
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

    /// The connection stands: the exchange may begin.
    fn established(&mut self, around: &mut Around<'_>, id: LineId, ticket: Ticket) {
        let exchange = &mut self.exchanges[ticket];
        exchange.connect = around.clock.now() - exchange.start;
        let steps = &mut exchange.milestones;
        if steps.tcp > 0 {
            steps.tls = Milestones::micros(exchange.connect).saturating_sub(steps.tcp);
        }
        self.lines[id].state = State::Open;
        if !self.greets(around, id, ticket) {
            self.begin(around, id, ticket);
        }
    }

    /// Whether a greeting comes before the first exchange, which is then sent.
    fn greets(&mut self, around: &mut Around<'_>, id: LineId, ticket: Ticket) -> bool {
        let line = &mut self.lines[id];
        let Speaker::Redis(session) = &mut line.speaker else { return false };
        let out = &mut around.net.out;
        out.clear();
        session.greet(out);
        if out.is_empty() {
            return false;
        }
        around.recorder.add(Counter::BytesOut, out.len() as u64);
        let exchange = &self.exchanges[ticket];
        match line.transport.send(out, &mut around.net.sealed) {
            Ok(_) => around.limit(exchange.user, exchange.limit, around.clock.now()),
            Err(Unwritten::Socket(error)) => self.fail(around, ticket, Failure::Socket(error)),
            Err(Unwritten::Tls(error)) => self.fail(around, ticket, Failure::Tls(error)),
        }
        true
    }

    /// Closes the line that a user has kept for this place.
    pub(crate) fn close_kept(
        &mut self,
        around: &mut Around<'_>,
        user: UserId,
        (place, route): (Place, RouteId),
    ) {
        if let Some(id) = self.kept(user, place, route) {
            around.recorder.add(Counter::ConnClosedByUs, 1);
            self.lines.close(id);
        }
    }
}
