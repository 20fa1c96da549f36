//! Exchanges from their start to their end: the choice of a connection, sending, completion and failure.

use plan::plan::SamplerId;
use stats::{ClassId, Counter};
use wire::http1::Kind;
use wire::session::{Session, Ticket};
use wire::stream;

use crate::ids::UserId;
use crate::net::driver;
use crate::net::outcome::Failure;
use crate::net::transport::Unwritten;
use crate::session::exchange::{After, Call, Ending, Exchange, ExchangeStage};
use crate::session::line::{ConnectionScope, Line, LineId, LineSession, State};
use crate::session::{Around, Sessions};
use crate::time::clock::Nanos;
use crate::users::Wait;

impl Sessions {
    /// Creates an exchange for a user's sampler, or for a value that an iteration needs at its start.
    #[inline]
    pub(crate) fn exchange(
        &mut self,
        user: UserId,
        sampler: impl Into<Option<SamplerId>>,
    ) -> Ticket {
        self.exchanges.begin(user, sampler.into())
    }

    /// Starts an exchange whose call is built: its user waits until it has ended.
    pub(crate) fn start(&mut self, around: &mut Around<'_>, ticket: Ticket) {
        let exchange = &mut self.exchanges[ticket];
        let (user, place, route) = (exchange.user, exchange.place, exchange.route);
        around.users[user].wait = Wait::Session(ticket);
        if let ConnectionScope::Named(pool) = place {
            return self.join(around, ticket, pool);
        }
        let Some(id) = self.kept(user, place, route) else { return self.open(around, ticket) };
        let exchange = &mut self.exchanges[ticket];
        (exchange.line, exchange.reused) = (id, true);
        let line = &mut self.lines[id];
        line.ticket = Some(ticket);
        if matches!(line.speaker, LineSession::Stream(_)) {
            around.recorder.add(Counter::ConnReused, 1);
        }
        let ended = line.state == State::Ended;
        let waiting = std::mem::take(&mut line.tail);
        self.begin(around, id, ticket);
        // Bytes that were received after the last exchange belong to this exchange, unless it has ended by now.
        if !waiting.is_empty() && self.is_on(id, ticket) {
            let now = self.exchanges[ticket].start;
            self.feed(around, id, &waiting, now, ended);
        }
        // The peer has closed its side: the end of the stream answers this exchange.
        if ended && self.is_on(id, ticket) {
            return self.on_eof(around, id, around.clock.now());
        }
        if matches!(place, ConnectionScope::Held(_)) && self.is_on(id, ticket) {
            // Data that arrived meanwhile causes no event, so the socket is checked.
            match self.lines[id].transport.fd.as_ref().map_or(Ok(false), driver::has_input) {
                Ok(true) => {
                    self.read(around, id, false);
                }
                Ok(false) => {}
                Err(error) => self.fail(around, ticket, Failure::Socket(error)),
            }
        }
    }

    /// Starts an HTTP request that is already built, on an idle connection. The request's bytes are sent without
    /// copying.
    pub(crate) fn start_on(
        &mut self,
        around: &mut Around<'_>,
        ticket: Ticket,
        id: LineId,
        bytes: &[u8],
    ) {
        around.recorder.add(Counter::ConnReused, 1);
        let exchange = &mut self.exchanges[ticket];
        (exchange.line, exchange.reused) = (id, true);
        around.users[exchange.user].wait = Wait::Session(ticket);
        let line = &mut self.lines[id];
        (line.ticket, line.state) = (Some(ticket), State::Open);
        line.opening.set_own(0);
        if line.transport.fd.is_none() {
            let failure = Failure::Http(wire::http1::Error::NoResponse);
            return self.fail(around, ticket, failure);
        }
        self.send_request(around, id, ticket, bytes);
    }

    /// Returns true if this exchange is in flight on the connection.
    #[inline]
    pub(crate) fn is_on(&self, id: LineId, ticket: Ticket) -> bool {
        self.lines[id].ticket == Some(ticket)
    }

    /// Sends the call on an established connection.
    pub(super) fn begin(&mut self, around: &mut Around<'_>, id: LineId, ticket: Ticket) {
        let exchange = &mut self.exchanges[ticket];
        if let Some(words) = exchange.terms.unwritable.clone() {
            return self.end(around, ticket, Ending::thrown(words), around.clock.now());
        }
        let line = &mut self.lines[id];
        let out = &mut around.net.out;
        out.clear();
        match &mut line.speaker {
            LineSession::Stream(session) => {
                let call = stream::Call { bytes: &exchange.request, end: exchange.terms.end };
                session.begin(ticket, call, out);
            }
            LineSession::Datagram => out.extend_from_slice(&exchange.request),
            LineSession::Redis(session) => {
                session.begin_rendered(ticket, &exchange.request, out);
            }
            LineSession::Sse(session) => {
                session.begin(ticket, &exchange.request, out);
            }
            LineSession::Http(_) => {
                if let Some(fixed) = exchange.fixed.take() {
                    return self.send_request(around, id, ticket, &fixed.0);
                }
                let request = std::mem::take(&mut exchange.request);
                self.send_request(around, id, ticket, &request);
                // The request may have to be resent.
                self.exchanges[ticket].request = request;
                return;
            }
        }
        around.recorder.add(Counter::BytesOut, out.len() as u64);
        if let Err(error) = line.transport.send(out, &mut around.net.sealed) {
            return self.fail(around, ticket, unwritten(error));
        }
        // On a reused connection, the start time is used as the send time. Another reading of the clock would
        // only measure itself.
        exchange.sent_at = if exchange.reused { exchange.start } else { around.clock.now() };
        let user = exchange.user;
        let limit = exchange.limit_of(exchange.limit.nanos(), exchange.sent_at);
        let ending = match &exchange.terms.after {
            After::Answer => return around.limit(user, limit, exchange.sent_at),
            After::Nothing => Ending::Complete { closed: false },
            After::Thrown(words) => Ending::thrown(words.clone()),
        };
        self.end(around, ticket, ending, around.clock.now());
    }

    /// Sends an HTTP request on an established connection.
    #[inline]
    fn send_request(&mut self, around: &mut Around<'_>, id: LineId, ticket: Ticket, bytes: &[u8]) {
        if self.slow.is_some() && self.hold_back(around, id, ticket, bytes) {
            return;
        }
        self.send_now(around, id, ticket, bytes);
    }

    /// Sends an HTTP request at once, even on a speed-limited connection.
    #[inline]
    pub(super) fn send_now(
        &mut self,
        around: &mut Around<'_>,
        id: LineId,
        ticket: Ticket,
        bytes: &[u8],
    ) {
        let (exchange, line) = (&mut self.exchanges[ticket], &mut self.lines[id]);
        let (Call::Http(http), LineSession::Http(session)) =
            (&mut exchange.call, &mut line.speaker)
        else {
            return;
        };
        let kind = if http.facts.is_head { Kind::Head } else { Kind::Plain };
        session.begin_rendered(ticket, kind);
        http.facts.sent = bytes.len() as u64;
        around.recorder.add(Counter::BytesOut, bytes.len() as u64);
        if let Err(error) = line.transport.send(bytes, &mut around.net.sealed) {
            return self.fail(around, ticket, unwritten(error));
        }
        // On a reused connection, the start time is used as the send time. Another reading of the clock would
        // only measure itself.
        let first = exchange.reused && !http.facts.again && self.slow.is_none();
        exchange.sent_at = if first { exchange.start } else { around.clock.now() };
        exchange.all_sent = line.transport.all_sent();
        around.limit(exchange.user, exchange.limit.nanos(), exchange.sent_at);
    }

    /// Fails an exchange: its module builds a failed result.
    pub(crate) fn fail(&mut self, around: &mut Around<'_>, ticket: Ticket, failure: Failure) {
        let exchange = &self.exchanges[ticket];
        let stands = exchange.line != LineId::NONE
            && matches!(self.lines[exchange.line].state, State::Open | State::Ended);
        let reached = match (stands, exchange.sent_at) {
            (false, _) => ExchangeStage::Opening,
            (true, 0) => ExchangeStage::Connected,
            (true, _) => ExchangeStage::Sent,
        };
        self.end(around, ticket, Ending::failed(failure, reached), around.clock.now());
    }

    /// Ends an exchange. The protocol's module then builds the result and decides whether the connection is kept.
    pub(super) fn end(
        &mut self,
        around: &mut Around<'_>,
        ticket: Ticket,
        ending: Ending,
        now: Nanos,
    ) {
        let exchange = &mut self.exchanges[ticket];
        (exchange.ending, exchange.ended) = (ending, now);
        around.users[exchange.user].wait = Wait::Done;
        around.done.push_exchange(ticket);
        match exchange.line {
            LineId::NONE => self.stop_waiting(ticket),
            line => self.lines[line].ticket = None,
        }
    }

    /// Keeps the connection of an ended exchange for the user's next exchange. `ended` is true if the peer has
    /// closed its side.
    pub(crate) fn keep(&mut self, ticket: Ticket, ended: bool) {
        let line = &mut self.lines[self.exchanges[ticket].line];
        line.state = if ended { State::Ended } else { State::Open };
    }

    /// Closes the connection of an ended exchange.
    pub(crate) fn close(&mut self, around: &mut Around<'_>, ticket: Ticket, counter: Counter) {
        let id = std::mem::replace(&mut self.exchanges[ticket].line, LineId::NONE);
        if id != LineId::NONE {
            // The class of a connection that was never established may not have been set yet.
            if self.lines[id].state == State::Connecting && self.lines[id].class == ClassId::NONE {
                self.classify(around, id);
            }
            self.exchanges[ticket].class = self.lines[id].class;
            around.recorder.add(counter, 1);
            self.lines.close(id);
        }
    }

    /// Resets an ended exchange, so that it can be sent once more; its user waits for it.
    pub(crate) fn renew(&mut self, around: &mut Around<'_>, ticket: Ticket) {
        let exchange = &mut self.exchanges[ticket];
        (exchange.began, exchange.reused, exchange.milestones.first) = (false, false, 0);
        (exchange.sent_at, exchange.latency, exchange.arrival) = (0, 0, 0);
        around.users[exchange.user].wait = Wait::Session(ticket);
        if exchange.line != LineId::NONE {
            self.lines[exchange.line].ticket = Some(ticket);
        }
    }

    /// Closes all connections of a user, and ends its exchange.
    pub(crate) fn close_all(&mut self, around: &mut Around<'_>, user: UserId) {
        if let Wait::Session(ticket) = around.users[user].wait
            && self.exchanges.has(ticket)
            && matches!(self.exchanges[ticket].place, ConnectionScope::Named(_))
        {
            self.stop_waiting(ticket);
            self.leave_pool(around, ticket, false);
            self.exchanges.end(ticket);
        }
        while let Some(id) = self.lines.find(user, |_| true) {
            self.close_line(around, id);
        }
    }
}

/// Completes the exchange on a connection with its response.
#[inline]
pub(super) fn complete(
    line: &mut Line,
    exchange: &mut Exchange,
    ticket: Ticket,
    around: &mut Around<'_>,
    closed: bool,
    now: Nanos,
) {
    (exchange.ending, exchange.ended) = (Ending::Complete { closed }, now);
    around.users[exchange.user].wait = Wait::Done;
    around.done.push_exchange(ticket);
    line.ticket = None;
}

/// Returns the failure of an exchange whose bytes could not be sent.
pub(super) fn unwritten(error: Unwritten) -> Failure {
    match error {
        Unwritten::Socket(error) => Failure::Socket(error),
        Unwritten::Tls(error) => Failure::Tls(error),
    }
}
