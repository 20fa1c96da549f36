//! Exchanges that are not HTTP's: those of TCP Samplers (here), raw requests (`raw.rs`) and datagrams (`datagram.rs`).
//!
//! They use connections as HTTP does (opening, time limits, keeping), with a reader of their own in the decoder's
//! place. A TCP client looks at the end of what each of its reads of at most 4096 bytes brought; what stands behind an
//! answer stays for the next sample.

use plan::element::{Client, TcpCall, TcpSampler, UdpCall};
use plan::http::Source;
use plan::plan::{SamplerId, SamplerKind};
use plan::result::SampleResult;
use stats::{Counter, Outcome};

use crate::core::Core;
use crate::http::conn::{ConnId, Exchange, NO_CONN, State};
use crate::ids::UserId;
use crate::net::driver;
use crate::net::outcome::{Failure, kind, socket_text};
use crate::net::routes::RouteId;
use crate::net::transport::keep_part;
use crate::tcp::raw::Raw;
use crate::time::clock::{MS, Nanos};
use crate::time::timing::Timing;
use crate::users::Wait;

/// Bytes that a client of JMeter reads at once.
const READ: usize = 4096;

/// An exchange under way.
#[derive(Debug)]
pub(crate) struct Stream {
    /// Told apart from those of later samples on the same connection.
    pub(crate) ticket: u64,
    pub(crate) talk: Talk,
}

/// Whose exchange it is.
#[derive(Debug)]
pub(crate) enum Talk {
    Tcp(Tcp),
    Raw(Raw),
    Datagram(UdpCall),
}

/// An exchange of a TCP Sampler.
#[derive(Debug, Default)]
pub(crate) struct Tcp {
    call: TcpCall,
    received: Vec<u8>,
    /// How much of the answer is kept, bytes, and how much was not.
    most: usize,
    dropped: usize,
    /// The length that was read before the message.
    expected: Option<usize>,
}

/// Bytes of an answer's buffer that is kept for the next.
const SPARE: usize = 64 * 1024;

impl Default for Stream {
    fn default() -> Self {
        Self { ticket: 0, talk: Talk::Tcp(Tcp::default()) }
    }
}

impl Core<'_> {
    /// Begins a sample of one of these kinds.
    pub(crate) fn begin_stream(&mut self, index: UserId, id: SamplerId, kind: &SamplerKind) {
        match kind {
            SamplerKind::Tcp(sampler) => self.begin_tcp(index, id, sampler),
            SamplerKind::HttpRaw(sampler) => self.begin_raw(index, id, sampler),
            SamplerKind::Udp(sampler) => self.begin_datagram(index, id, sampler),
            _ => {}
        }
    }

    pub(crate) fn next_ticket(&mut self) -> u64 {
        self.users.tickets += 1;
        self.users.tickets
    }

    fn begin_tcp(&mut self, index: UserId, id: SamplerId, sampler: &TcpSampler) {
        let mut stream = self.samples.spare_streams.pop().unwrap_or_default();
        stream.ticket = self.next_ticket();
        let ticket = stream.ticket;
        let Talk::Tcp(tcp) = &mut stream.talk else { return };
        self.with_env(index, id, |env, _| sampler.call(&mut tcp.call, env));
        if self.loses_sample(index, id) {
            return self.samples.spare_streams.push(stream);
        }
        tcp.received.clear();
        tcp.most = self.run.settings.max_response / shown_as(tcp.call.client);
        (tcp.dropped, tcp.expected) = (0, None);
        let call = &tcp.call;
        let now = self.clock.now();
        let route = self.net.routes.to(false, &call.host, call.port, &Source::default());
        let exchange = Exchange {
            intended: self.users[index].intended,
            start: now,
            limit: Nanos::from(call.timeout_ms) * MS,
            connect_limit: Nanos::from(call.connect_timeout_ms) * MS,
            keep_body: true,
            ..Exchange::NONE
        };
        let mut connection = self.idle_stream(index, route);
        if let Some(conn) = connection.filter(|_| !call.reuse) {
            self.drop_connection(conn, Counter::ConnClosedByUs);
            connection = None;
        }
        let mut stash = self.http.stashes.pop().unwrap_or_default();
        stash.clear();
        if call.unwritable.is_none() {
            stash.request.extend_from_slice(&call.bytes);
        }
        let Some(conn) = connection else {
            return self.open_stream(index, id, route, exchange, (stash, stream));
        };
        self.recorder.add(Counter::ConnReused, 1);
        self.remember(index, conn);
        self.users[index].wait = Wait::Exchange(id);
        let entry = &mut self.http.conns[conn];
        entry.exchange = Exchange { reused: true, ..exchange };
        entry.stream = Some(stream);
        let ended = entry.state == State::Dead;
        entry.state = State::Busy;
        let waiting = std::mem::take(&mut entry.tail);
        self.start_stream(conn, &stash.request);
        self.http.stashes.push(stash);
        // Where the sample has ended by now, the user may be in the middle of its next.
        if !waiting.is_empty() && self.has_stream(conn, ticket) {
            self.take_stream(conn, &waiting, now, ended);
        }
        // The server sends no more on it: what could be written is answered by the end.
        if ended && self.has_stream(conn, ticket) {
            self.end_stream(conn, self.clock.now(), Ending::Eof);
        }
    }

    pub(crate) fn has_stream(&self, conn: ConnId, ticket: u64) -> bool {
        self.http.conns[conn].stream.as_ref().is_some_and(|stream| stream.ticket == ticket)
    }

    /// The user's kept connection to a peer, be it closed by now.
    fn idle_stream(&self, index: UserId, route: RouteId) -> Option<ConnId> {
        let user = &self.users[index];
        let others = user.extra.as_ref().map_or(&[][..], |extra| &extra.conns);
        let fits = |conn: &ConnId| {
            *conn != NO_CONN
                && self.http.conns[*conn].raw
                && self.http.conns[*conn].datagram.is_none()
                && self.http.conns[*conn].route == route
                && matches!(self.http.conns[*conn].state, State::Idle | State::Dead)
        };
        std::iter::once(&user.conn).chain(others).copied().find(fits)
    }

    /// Writes the request on a connection that stands.
    pub(crate) fn start_stream(&mut self, conn: ConnId, bytes: &[u8]) {
        let Some(stream) = self.http.conns[conn].stream.as_deref() else { return };
        match &stream.talk {
            Talk::Tcp(tcp) => match tcp.call.unwritable.clone() {
                Some(exception) => {
                    self.end_stream(conn, self.clock.now(), Ending::Thrown(exception));
                }
                None => self.transmit(conn, bytes),
            },
            Talk::Raw(_) => self.start_raw(conn, bytes),
            Talk::Datagram(_) => self.start_datagram(conn, bytes),
        }
    }

    /// Takes what came on a connection with a stream under way.
    pub(crate) fn take_stream(&mut self, conn: ConnId, bytes: &[u8], now: Nanos, hangup: bool) {
        let entry = &mut self.http.conns[conn];
        let Some(stream) = entry.stream.as_deref_mut() else { return };
        if entry.exchange.latency == 0 && !bytes.is_empty() {
            entry.exchange.latency = now - entry.exchange.start;
        }
        let (used, complete) = match &mut stream.talk {
            Talk::Tcp(tcp) => tcp.read(bytes),
            Talk::Raw(raw) => {
                raw.read(bytes);
                (bytes.len(), false)
            }
            Talk::Datagram(_) => return self.take_datagram(conn, bytes, now),
        };
        entry.tail = bytes[used..].to_vec();
        if complete {
            let closed = hangup && used == bytes.len();
            return self.end_stream(conn, now, Ending::Complete { closed });
        }
        self.progress(conn, now);
    }

    /// A stream's exchange failed, or its time is over.
    pub(crate) fn fail_stream(&mut self, conn: ConnId, failure: &Failure) {
        match self.http.conns[conn].stream.as_deref().map(|stream| &stream.talk) {
            Some(Talk::Tcp(_)) => {}
            Some(Talk::Raw(_)) => return self.fail_raw(conn, failure),
            Some(Talk::Datagram(_)) => return self.fail_datagram(conn, failure),
            None => return,
        }
        let now = self.clock.now();
        let route = &self.net.routes[self.http.conns[conn].route];
        let text = match failure {
            Failure::Connect(_) => {
                format!("java.net.ConnectException: {}", socket_text(failure, route))
            }
            Failure::ConnectTimeout => "java.net.SocketTimeoutException: Connect timed out".into(),
            Failure::UnknownHost { .. } => format!("java.net.UnknownHostException: {}", route.host),
            _ => format!("java.net.SocketException: {}", socket_text(failure, route)),
        };
        let outcome = kind(failure, route);
        let entry = &self.http.conns[conn];
        let unwritten = entry.state == State::Busy && entry.exchange.sent_at == 0;
        let ending = match failure {
            Failure::Socket(error) if unwritten => {
                let reset = error.kind() == std::io::ErrorKind::ConnectionReset;
                let words = if reset { "Connection reset" } else { "Broken pipe" };
                Ending::Thrown(format!("java.net.SocketException: {words}"))
            }
            Failure::ResponseTimeout => Ending::Timeout,
            _ if self.http.conns[conn].state == State::Busy && outcome != Outcome::CutByEnd => {
                Ending::Broken(outcome)
            }
            _ => Ending::Unconnected(text, outcome),
        };
        self.end_stream(conn, now, ending);
    }

    /// Takes the exchange off a connection, with when it was and whose.
    pub(crate) fn stream_of(
        &mut self,
        conn: ConnId,
    ) -> Option<(Box<Stream>, Exchange, UserId, SamplerId)> {
        let entry = &mut self.http.conns[conn];
        let stream = entry.stream.take()?;
        let (exchange, index) = (entry.exchange, entry.user);
        if let Some(stash) = entry.stash.take() {
            self.http.stashes.push(stash);
        }
        let (Wait::Exchange(id) | Wait::Resolve(id)) = self.users[index].wait else { return None };
        self.users[index].wait = Wait::Ready;
        Some((stream, exchange, index, id))
    }

    /// What was measured of an exchange that ends now; nothing was received yet.
    pub(crate) fn stream_timing(exchange: &Exchange, now: Nanos) -> Timing {
        let wait = (exchange.start - exchange.intended).max(0) as u64;
        Timing {
            start: exchange.start,
            end: now,
            latency: exchange.latency as u64,
            connect: exchange.connect as u64,
            lag: (now - exchange.arrival.max(exchange.start)).max(0) as u64 + wait,
            wait,
            ..Timing::default()
        }
    }

    /// Ends a sample, whose result is filled.
    pub(crate) fn close_stream(
        &mut self,
        index: UserId,
        id: SamplerId,
        timing: Timing,
        outcome: Outcome,
    ) {
        self.samples.result.start_ms = self.clock.wall_ms(timing.start);
        let outcome = if self.samples.result.success || outcome != Outcome::Ok {
            outcome
        } else {
            Outcome::Status
        };
        self.conclude(index, id, timing, outcome);
    }

    /// Ends a stream's exchange, and its sample.
    pub(crate) fn end_stream(&mut self, conn: ConnId, now: Nanos, ending: Ending) {
        if let Some(Talk::Raw(_)) =
            self.http.conns[conn].stream.as_deref().map(|stream| &stream.talk)
        {
            return self.end_raw(conn, now);
        }
        if self.http.conns[conn].datagram.is_some() {
            return self.take_datagram(conn, b"", now);
        }
        let Some((mut whole, exchange, index, id)) = self.stream_of(conn) else { return };
        let Talk::Tcp(stream) = &mut whole.talk else { return };
        let (exception, outcome, kept) = stream.came_of(&ending);
        let call = &stream.call;
        if kept && call.reuse && !call.close {
            let entry = &mut self.http.conns[conn];
            let ended = matches!(ending, Ending::Eof | Ending::Complete { closed: true });
            // As JMeter's, it stays until writing to it fails.
            entry.state = if ended { State::Dead } else { State::Idle };
            entry.idle_since = now;
        } else {
            if let (Some(linger), Some(fd)) =
                (call.linger_s, self.http.conns[conn].transport.fd.as_ref())
            {
                driver::linger(fd, linger);
            }
            let opening = self.http.conns[conn].state == State::Connecting;
            let counter = if opening { Counter::ConnFailed } else { Counter::ConnClosedByUs };
            self.drop_connection(conn, counter);
        }
        let mut timing = Self::stream_timing(&exchange, now);
        self.show_stream(index, id, stream, exception.as_deref(), &ending);
        let dropped = stream.dropped * shown_as(stream.call.client);
        timing.received = (self.samples.result.body.len() + dropped) as u64;
        if stream.received.capacity().max(stream.call.request.capacity()) > SPARE {
            *stream = Tcp::default();
        }
        self.samples.spare_streams.push(whole);
        self.close_stream(index, id, timing, outcome);
    }

    fn show_stream(
        &mut self,
        index: UserId,
        id: SamplerId,
        stream: &Tcp,
        exception: Option<&str>,
        ending: &Ending,
    ) {
        let own = self.own_sampler(index).cloned();
        let kind = own.as_deref().unwrap_or(&self.plan.samplers[id.0 as usize].kind);
        let SamplerKind::Tcp(sampler) = kind else { return };
        let mut result = self.lend_result();
        result.clear();
        result.label.push_str(self.sampler_name(index, id));
        if matches!(ending, Ending::Unconnected(..)) {
            result.sampler_data.push_str(&stream.call.unsent());
            result.code.push_str("500");
            result.message.push_str(exception.unwrap_or_default());
            result.success = false;
            return self.return_result(result);
        }
        result.sampler_data.push_str(&stream.call.request);
        result.data_type = "text";
        match stream.call.client {
            Client::Text => {
                result.encoding.push_str(sampler.charset());
                wire::charset::decode_into(
                    Some(sampler.charset()),
                    &stream.received,
                    &mut result.text,
                );
            }
            Client::Binary | Client::Prefixed(_) => {
                result.encoding.push_str("UTF-8");
                for byte in &stream.received {
                    for digit in [byte >> 4, byte & 15] {
                        result.text.extend(char::from_digit(digit.into(), 16));
                    }
                }
            }
        }
        let text = std::mem::take(&mut result.text);
        result.body.extend_from_slice(text.as_bytes());
        let SampleResult { code, message, success, .. } = &mut *result;
        *success = sampler.judge(&text, exception, code, message);
        result.text = text;
        self.return_result(result);
    }
}

/// How an exchange ended.
#[derive(Debug)]
pub(crate) enum Ending {
    /// With its answer, and perhaps with the end of the stream.
    Complete { closed: bool },
    /// The server sends no more.
    Eof,
    /// Nothing came for too long.
    Timeout,
    /// The connection broke.
    Broken(Outcome),
    /// The connection never stood, or the run was ended: JMeter's exception.
    Unconnected(String, Outcome),
    /// What was to be sent is an exception.
    Thrown(String),
}

/// Bytes of the result for a byte of the answer.
fn shown_as(client: Client) -> usize {
    match client {
        Client::Text => 1,
        // Two digits.
        Client::Binary | Client::Prefixed(_) => 2,
    }
}

impl Tcp {
    /// Takes what came; how much of it was used, and whether the answer is complete.
    fn read(&mut self, bytes: &[u8]) -> (usize, bool) {
        let Client::Prefixed(length) = self.call.client else {
            let mut used = 0;
            for piece in bytes.chunks(READ) {
                used += piece.len();
                self.keep(piece);
                if self.call.end.is_some_and(|end| piece.last() == Some(&end)) {
                    return (used, true);
                }
            }
            return (used, false);
        };
        let mut used = 0;
        if self.expected.is_none() {
            if bytes.len() < length {
                return (0, false);
            }
            let size = bytes[..length].iter().fold(0u32, |size, byte| size << 8 | u32::from(*byte));
            self.expected = Some(size as usize);
            used = length;
        }
        let missing = self.expected.unwrap_or(0) - self.received.len() - self.dropped;
        let piece = &bytes[used..bytes.len().min(used.saturating_add(missing))];
        self.keep(piece);
        (used + piece.len(), piece.len() == missing)
    }

    fn keep(&mut self, piece: &[u8]) {
        self.dropped += keep_part(&mut self.received, piece, self.most);
    }

    /// JMeter's exception, the kind, and whether the connection is kept.
    fn came_of(&mut self, ending: &Ending) -> (Option<String>, Outcome, bool) {
        let thrown =
            |text: String| format!("org.apache.jmeter.protocol.tcp.sampler.ReadException: {text}");
        let read = self.received.len() + self.dropped;
        let unread = |call: &TcpCall| match call.client {
            Client::Text => format!("Error reading from server, bytes read: {read}"),
            Client::Binary if matches!(ending, Ending::Timeout) => {
                "Socket timed out while looking for EOM".into()
            }
            Client::Binary => "Problems while trying to read".into(),
            Client::Prefixed(_) => String::new(),
        };
        // A message that is too short is filled up with zeros.
        if let Some(expected) = self.expected {
            self.received.resize(expected.min(self.most), 0);
            self.dropped = expected - self.received.len();
        }
        match ending {
            Ending::Complete { .. } => (None, Outcome::Ok, true),
            Ending::Eof => (None, Outcome::Ok, true),
            Ending::Timeout if self.call.client == Client::Binary && self.call.end.is_none() => {
                (None, Outcome::Ok, true)
            }
            Ending::Timeout => {
                (Some(thrown(unread(&self.call))), Outcome::Timeout(stats::Phase::Response), false)
            }
            Ending::Broken(outcome) => (Some(thrown(unread(&self.call))), *outcome, false),
            Ending::Unconnected(text, outcome) => (Some(text.clone()), *outcome, false),
            Ending::Thrown(text) => (Some(text.clone()), Outcome::Other, false),
        }
    }
}
