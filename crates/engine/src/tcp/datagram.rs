//! Datagrams (jp@gc UDP Request): one out, and the next that comes is the answer.
//!
//! Each sampler of a user has a socket of its own, which stays open unless the plan or a failure closes it. What comes while
//! nobody waits stays in the kernel, and is the answer of the next sample, as it is in the plug-in.

use std::net::SocketAddr;

use plan::element::{UdpCall, UdpSampler};
use plan::http::{Source, SourceKind};
use plan::plan::SamplerId;
use stats::Counter;

use crate::core::Core;
use crate::http::conn::{ConnId, Conns, Exchange, NO_CONN, State};
use crate::ids::UserId;
use crate::net::driver;
use crate::net::outcome::{Failure, io_words, kind};
use crate::net::source;
use crate::tcp::raw::Thrown;
use crate::tcp::stream::{Stream, Talk};
use crate::time::clock::{MS, Nanos};
use crate::users::Wait;

/// What becomes of the socket after a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum After {
    /// As the plan says.
    Plan,
    Open,
    Closed,
}

impl Core<'_> {
    pub(crate) fn begin_datagram(&mut self, index: UserId, id: SamplerId, sampler: &UdpSampler) {
        let call = self.with_env(index, id, |env, _| sampler.call(env));
        if self.loses_sample(index, id) {
            return;
        }
        let limit = if call.wait { *call.timeout_ms.as_ref().unwrap_or(&0) } else { 0 };
        let exchange = Exchange {
            intended: self.users[index].intended,
            start: self.clock.now(),
            limit: Nanos::from(limit) * MS,
            keep_body: true,
            ..Exchange::NONE
        };
        let ticket = self.next_ticket();
        let mut stash = self.http.stashes.pop().unwrap_or_default();
        stash.clear();
        if let Ok(bytes) = &call.bytes {
            stash.request.extend_from_slice(bytes);
        }
        let Some(conn) = self.own_socket(index, id) else {
            let port = match bound(&call).and(call.port.clone()) {
                Ok(port) => port,
                Err(text) => {
                    self.http.stashes.push(stash);
                    let thrown = Err(Thrown::other(text));
                    let now = self.clock.now();
                    return self.close_datagram(index, id, &exchange, &call, now, thrown);
                }
            };
            let host = if call.host.is_empty() { "127.0.0.1" } else { &call.host };
            let route = self.net.routes.to(false, host, port, &Source::default());
            let stream = Box::new(Stream { ticket, talk: Talk::Datagram(call) });
            return self.open_stream(index, id, route, exchange, (stash, stream));
        };
        self.remember(index, conn);
        self.users[index].wait = Wait::Exchange(id);
        let entry = &mut self.http.conns[conn];
        entry.exchange = Exchange { reused: true, ..exchange };
        entry.stream = Some(Box::new(Stream { ticket, talk: Talk::Datagram(call) }));
        entry.state = State::Busy;
        self.start_datagram(conn, &stash.request);
        self.http.stashes.push(stash);
        // What came since the last sample told nobody of itself.
        if self.has_stream(conn, ticket) {
            match self.http.conns[conn].transport.fd.as_ref().map_or(Ok(false), driver::has_input) {
                Ok(true) => {
                    self.read(conn, false);
                }
                Ok(false) => {}
                Err(error) => self.fail(conn, &Failure::Socket(error)),
            }
        }
    }

    /// The open socket of a user's sampler.
    fn own_socket(&self, index: UserId, id: SamplerId) -> Option<ConnId> {
        let user = &self.users[index];
        let others = user.extra.as_ref().map_or(&[][..], |extra| &extra.conns);
        let fits = |conn: &ConnId| {
            *conn != NO_CONN
                && self.http.conns[*conn].datagram == Some(id)
                && self.http.conns[*conn].state == State::Idle
        };
        std::iter::once(&user.conn).chain(others).copied().find(fits)
    }

    /// Opens a socket; nothing has to be waited for.
    pub(crate) fn connect_datagram(&mut self, conn: ConnId) {
        let entry = &mut self.http.conns[conn];
        let from = match entry.stream.as_deref().map(|stream| &stream.talk) {
            Some(Talk::Datagram(call)) => bound(call).ok().flatten(),
            _ => None,
        };
        let (opening, transport) = (&mut entry.opening, &mut entry.transport);
        let (slot, clock) = (Conns::slot(conn), &self.clock);
        let recorder = &mut self.recorder;
        let opened = self.net.connect_datagram(opening, transport, slot, from, clock, recorder);
        self.on_opened(conn, opened);
    }

    /// Sends on a socket that is open; without a wait for an answer that is all.
    pub(crate) fn start_datagram(&mut self, conn: ConnId, bytes: &[u8]) {
        let Some(Stream { ticket, talk: Talk::Datagram(call) }) =
            self.http.conns[conn].stream.as_deref()
        else {
            return;
        };
        let (ticket, wait) = (*ticket, call.wait);
        if let Some(text) = call.bytes.as_ref().err().cloned() {
            return self.end_datagram(conn, &[], After::Open, Err(Thrown::other(text)));
        }
        let late = call.timeout_ms.as_ref().err().filter(|_| wait).cloned();
        self.transmit(conn, bytes);
        if !self.has_stream(conn, ticket) {
            return;
        }
        if let Some(text) = late {
            self.end_datagram(conn, &[], After::Open, Err(Thrown::other(text)));
        } else if !wait {
            self.end_datagram(conn, &[], After::Plan, Ok(()));
        }
    }

    /// A datagram came.
    pub(crate) fn take_datagram(&mut self, conn: ConnId, bytes: &[u8], _now: Nanos) {
        self.end_datagram(conn, bytes, After::Plan, Ok(()));
    }

    pub(crate) fn fail_datagram(&mut self, conn: ConnId, failure: &Failure) {
        let entry = &self.http.conns[conn];
        let route = &self.net.routes[entry.opening.route];
        let unwritten = entry.state == State::Busy && entry.exchange.sent_at == 0;
        let text = match failure {
            Failure::UnknownHost { .. } => "java.nio.channels.UnresolvedAddressException".into(),
            // The plug-in writes this into its log, and then to a channel that it does not have.
            Failure::Connect(_) => "java.lang.NullPointerException: Cannot invoke \
                \"java.nio.channels.DatagramChannel.write(java.nio.ByteBuffer)\" because \"this.channel\" is null"
                .into(),
            // The plug-in sees an interruption as the end of its time.
            Failure::ResponseTimeout | Failure::Interrupted(_) => {
                "java.net.SocketTimeoutException: Timeout exceeded while reading from socket".into()
            }
            Failure::Socket(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
                "java.net.PortUnreachableException".into()
            }
            Failure::Socket(error) => format!("java.io.IOException: {}", io_words(error)),
            _ => "java.nio.channels.AsynchronousCloseException".into(),
        };
        let outcome = kind(failure, route);
        // What cannot be sent leaves the socket open.
        let after = if unwritten { After::Open } else { After::Closed };
        self.end_datagram(conn, &[], after, Err(Thrown { text, outcome }));
    }

    fn end_datagram(
        &mut self,
        conn: ConnId,
        received: &[u8],
        after: After,
        ended: Result<(), Thrown>,
    ) {
        let now = self.clock.now();
        let Some((stream, mut exchange, index, id)) = self.stream_of(conn) else { return };
        let Talk::Datagram(call) = stream.talk else { return };
        let closes = match after {
            After::Plan => call.close,
            After::Open => self.http.conns[conn].transport.fd.is_none(),
            After::Closed => true,
        };
        if closes {
            let opening = self.http.conns[conn].state == State::Connecting;
            let counter = if opening { Counter::ConnFailed } else { Counter::ConnClosedByUs };
            self.drop_connection(conn, counter);
        } else {
            self.http.conns[conn].state = State::Idle;
        }
        if ended.is_ok() {
            exchange.latency = now - exchange.start;
        }
        let answer = call.encoder.decode(&received[..received.len().min(call.buffer)]);
        self.close_datagram(index, id, &exchange, &call, now, ended.map(|()| answer));
    }

    fn close_datagram(
        &mut self,
        index: UserId,
        id: SamplerId,
        exchange: &Exchange,
        call: &UdpCall,
        now: Nanos,
        ended: Result<Vec<u8>, Thrown>,
    ) {
        let (answer, ended) = match ended {
            Ok(answer) => (answer, Ok(())),
            Err(thrown) => (Vec::new(), Err(thrown)),
        };
        let mut timing = Self::stream_timing(exchange, now);
        let outcome = self.show_bytes(index, id, &call.data, &answer, ended);
        timing.received = self.samples.result.body.len() as u64;
        self.close_stream(index, id, timing, outcome);
    }
}

/// The local address that a socket is to have, if the plan wants one; or Java's exception.
fn bound(call: &UdpCall) -> Result<Option<SocketAddr>, String> {
    let (name, port) = call.bind.clone()?;
    if name.is_empty() {
        return Ok((port > 0).then(|| SocketAddr::from(([0; 4], port))));
    }
    match source::address(&Source { kind: SourceKind::Host, name }) {
        Ok(ip) => Ok(Some(SocketAddr::new(ip, port))),
        Err(_) => Err("java.nio.channels.UnresolvedAddressException".into()),
    }
}
