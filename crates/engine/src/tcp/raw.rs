//! Raw requests (jp@gc HTTP Raw Request): bytes and a file out, and in all that comes until the server closes.
//!
//! An answer ends with its connection, so that a connection that is kept is one the server has closed: what the plug-in then
//! makes of it (writing once more, finding it at its end, and failing from then on) is done here without waiting.

use std::os::fd::OwnedFd;

use plan::element::{HttpRaw, RawCall, take_apart};
use plan::http::Source;
use plan::plan::SamplerId;
use stats::{Counter, Outcome};

use crate::core::Core;
use crate::http::conn::{ConnId, Exchange, State};
use crate::ids::UserId;
use crate::net::driver;
use crate::net::outcome::{Failure, io_words, kind};
use crate::net::transport::keep_part;
use crate::tcp::stream::{Stream, Talk};
use crate::time::clock::{MS, Nanos};

/// An exchange under way.
#[derive(Debug)]
pub(crate) struct Raw {
    call: RawCall,
    received: Vec<u8>,
    /// Bytes that came, kept or not.
    total: u64,
    /// How many are kept whatever the plug-in's property says, and how many were not because of it.
    most: usize,
    dropped: usize,
}

/// All that samplers of a user have kept.
#[derive(Debug, Default)]
struct AllSaved(Vec<(SamplerId, Saved)>);

/// What a sampler has of a connection that it asked to be kept.
#[derive(Debug)]
pub(crate) enum Saved {
    /// The server sends no more on it.
    Ended(OwnedFd),
    Closed,
    /// It never stood.
    Unconnected,
}

/// Java's exception, and what kind of failure it is.
#[derive(Debug)]
pub(crate) struct Thrown {
    pub(crate) text: String,
    pub(crate) outcome: Outcome,
}

impl Thrown {
    pub(crate) fn other(text: String) -> Self {
        Self { text, outcome: Outcome::Other }
    }
}

impl Raw {
    /// Takes what came.
    pub(crate) fn read(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        for piece in bytes.chunks(self.call.buffer) {
            if self.received.len().saturating_add(self.dropped) <= self.call.limit {
                self.dropped += keep_part(&mut self.received, piece, self.most);
            }
        }
    }
}

impl Core<'_> {
    pub(crate) fn begin_raw(&mut self, index: UserId, id: SamplerId, sampler: &HttpRaw) {
        let call = self.with_env(index, id, |env, _| sampler.call(env));
        if self.loses_sample(index, id) {
            return;
        }
        let start = self.clock.now();
        let exchange = Exchange {
            intended: self.users[index].intended,
            start,
            limit: Nanos::from(call.timeout_ms) * MS,
            connect_limit: Nanos::from(call.timeout_ms) * MS,
            keep_body: true,
            ..Exchange::NONE
        };
        let most = self.run.settings.max_response;
        let raw = Raw { call, received: Vec::new(), total: 0, most, dropped: 0 };
        if raw.call.keep
            && let Some(saved) = self.saved(index, id)
        {
            let ended = self.use_saved(saved, &raw.call);
            return self.close_raw(index, id, &exchange, raw, ended);
        }
        let port = match &raw.call.port {
            Ok(port) => *port,
            Err(text) => {
                let thrown = Thrown::other(text.clone());
                return self.close_raw(index, id, &exchange, raw, Err(thrown));
            }
        };
        // Java takes no name for this machine.
        let host = if raw.call.host.is_empty() { "127.0.0.1" } else { &raw.call.host };
        let route = self.net.routes.to(false, host, port, &Source::default());
        let mut stash = self.http.stashes.pop().unwrap_or_default();
        stash.clear();
        stash.request.extend_from_slice(raw.call.data.as_bytes());
        if let Some(Ok(content)) = &raw.call.file {
            stash.request.extend_from_slice(content);
        }
        let ticket = self.next_ticket();
        let stream = Box::new(Stream { ticket, talk: Talk::Raw(raw) });
        self.open_stream(index, id, route, exchange, (stash, stream));
    }

    /// The connection stands.
    pub(crate) fn start_raw(&mut self, conn: ConnId, bytes: &[u8]) {
        let Some(Stream { ticket, talk: Talk::Raw(raw) }) = self.http.conns[conn].stream.as_deref()
        else {
            return;
        };
        let ticket = *ticket;
        let missing = match &raw.call.file {
            Some(Err(text)) => Some(text.clone()),
            _ => None,
        };
        self.transmit(conn, bytes);
        if let Some(text) = missing
            && self.has_stream(conn, ticket)
        {
            let left = Saved::Closed;
            self.leave_raw(conn, self.clock.now(), left, Err(Thrown::other(text)));
        }
    }

    pub(crate) fn fail_raw(&mut self, conn: ConnId, failure: &Failure) {
        let entry = &self.http.conns[conn];
        let route = &self.net.routes[entry.opening.route];
        let unwritten = entry.exchange.sent_at == 0;
        let text = match failure {
            Failure::UnknownHost { .. } => "java.nio.channels.UnresolvedAddressException".into(),
            Failure::ConnectTimeout => {
                let own = if crate::net::resolve::literal(&route.host).is_some() {
                    ""
                } else {
                    &*route.host
                };
                let address = route.addresses.first().map(ToString::to_string).unwrap_or_default();
                format!("java.net.SocketTimeoutException: Failed to connect to {own}/{address}")
            }
            // With a time limit, the plug-in sees an interruption as its end.
            Failure::Interrupted(_) if entry.exchange.limit == 0 => {
                "java.nio.channels.AsynchronousCloseException".into()
            }
            Failure::ResponseTimeout | Failure::Interrupted(_) => {
                "java.net.SocketTimeoutException: Timeout exceeded while reading from socket".into()
            }
            Failure::Connect(error) => {
                format!("{}: {}", connect_exception(error), io_words(error))
            }
            Failure::Socket(error) if unwritten => {
                format!("java.io.IOException: {}", io_words(error))
            }
            Failure::Socket(error) if error.kind() == std::io::ErrorKind::ConnectionReset => {
                "java.net.SocketException: Connection reset".into()
            }
            Failure::Socket(error) => format!("java.io.IOException: {}", io_words(error)),
            _ => "java.nio.channels.AsynchronousCloseException".into(),
        };
        let outcome = kind(failure, route);
        let unconnected = matches!(failure, Failure::UnknownHost { .. } | Failure::ConnectTimeout);
        let left = if unconnected { Saved::Unconnected } else { Saved::Closed };
        self.leave_raw(conn, self.clock.now(), left, Err(Thrown { text, outcome }));
    }

    /// The server sends no more.
    pub(crate) fn end_raw(&mut self, conn: ConnId, now: Nanos) {
        let raw = self.http.conns[conn].stream.as_deref().map(|stream| &stream.talk);
        let left = match raw {
            Some(Talk::Raw(raw)) if raw.call.keep && raw.total > 0 => {
                self.http.conns[conn].transport.fd.take()
            }
            _ => None,
        };
        self.leave_raw(conn, now, left.map_or(Saved::Closed, Saved::Ended), Ok(()));
    }

    /// The exchange is over; `left` is what the sampler has of its connection.
    fn leave_raw(&mut self, conn: ConnId, now: Nanos, left: Saved, ended: Result<(), Thrown>) {
        let Some((stream, mut exchange, index, id)) = self.stream_of(conn) else { return };
        let Talk::Raw(raw) = stream.talk else { return };
        let connecting = self.http.conns[conn].state == State::Connecting;
        if raw.call.keep {
            self.save(index, id, left);
        }
        let counter = match &ended {
            Ok(()) => Counter::ConnClosedByPeer,
            Err(_) if connecting => Counter::ConnFailed,
            Err(_) => Counter::ConnClosedByUs,
        };
        self.drop_connection(conn, counter);
        // The plug-in does not say when the connection stood.
        exchange.connect = 0;
        self.close_raw_at(index, id, &exchange, raw, now, ended);
    }

    fn close_raw(
        &mut self,
        index: UserId,
        id: SamplerId,
        exchange: &Exchange,
        raw: Raw,
        ended: Result<(), Thrown>,
    ) {
        let now = self.clock.now();
        self.close_raw_at(index, id, exchange, raw, now, ended);
    }

    fn close_raw_at(
        &mut self,
        index: UserId,
        id: SamplerId,
        exchange: &Exchange,
        raw: Raw,
        now: Nanos,
        ended: Result<(), Thrown>,
    ) {
        let mut timing = Self::stream_timing(exchange, now);
        let outcome = self.show_bytes(index, id, &raw.call.data, &raw.received, ended);
        let result = &mut *self.samples.result;
        if raw.call.parse && outcome == Outcome::Ok && take_apart(result) {
            result.body.clear();
            result.body.extend_from_slice(result.text.as_bytes());
        }
        // Only an answer of which nothing is left counts as it came.
        timing.received = match result.body.len() {
            0 => raw.total,
            bytes => (bytes + raw.dropped) as u64,
        };
        self.close_stream(index, id, timing, outcome);
    }

    /// Fills the core's result with an answer, or with the exception that there is instead.
    pub(crate) fn show_bytes(
        &mut self,
        index: UserId,
        id: SamplerId,
        data: &str,
        body: &[u8],
        ended: Result<(), Thrown>,
    ) -> Outcome {
        let mut result = self.lend_result();
        result.clear();
        result.label.push_str(self.sampler_name(index, id));
        result.sampler_data.push_str(data);
        result.data_type = "text";
        let outcome = match ended {
            Ok(()) => {
                result.code.push_str("200");
                result.body.extend_from_slice(body);
                Outcome::Ok
            }
            Err(thrown) => {
                result.success = false;
                result.code.push_str("500");
                result.body.extend_from_slice(thrown.text.as_bytes());
                result.body.extend_from_slice(b"\r\n");
                result.message = thrown.text;
                thrown.outcome
            }
        };
        let charset = Some(&*self.run.settings.default_encoding);
        wire::charset::decode_into(charset, &result.body, &mut result.text);
        self.return_result(result);
        outcome
    }

    /// Takes what the sampler has kept.
    fn saved(&mut self, index: UserId, id: SamplerId) -> Option<(UserId, SamplerId, Saved)> {
        let owner = self.users.owner(index);
        let kept = &mut self.users[owner].extra.as_mut()?.parts.get_mut::<AllSaved>()?.0;
        let at = kept.iter().position(|(of, _)| *of == id)?;
        Some((owner, id, kept.swap_remove(at).1))
    }

    fn save(&mut self, index: UserId, id: SamplerId, saved: Saved) {
        let owner = self.users.owner(index);
        let kept = &mut self.users[owner].extra().parts.or_default::<AllSaved>().0;
        kept.retain(|(of, _)| *of != id);
        kept.push((id, saved));
    }

    /// A request on what was kept: its bytes go out, if they can, and the end of the stream is the answer.
    fn use_saved(
        &mut self,
        (owner, id, saved): (UserId, SamplerId, Saved),
        call: &RawCall,
    ) -> Result<(), Thrown> {
        let thrown = |text: String, outcome| Err(Thrown { text, outcome });
        let (left, ended) = match saved {
            Saved::Closed => {
                let writes = !call.data.is_empty() || call.file.is_some();
                let what = if writes || call.timeout_ms == 0 { "Channel" } else { "Selector" };
                let text = format!("java.nio.channels.Closed{what}Exception");
                (Saved::Closed, thrown(text, Outcome::Closed))
            }
            Saved::Unconnected => {
                let text = "java.nio.channels.NotYetConnectedException".into();
                (Saved::Unconnected, thrown(text, Outcome::Closed))
            }
            Saved::Ended(fd) => {
                let mut pieces = vec![call.data.as_bytes()];
                pieces.extend(call.file.iter().flatten().map(|content| &content[..]));
                let sent =
                    pieces.into_iter().filter(|piece| !piece.is_empty()).try_for_each(|piece| {
                        driver::send(&fd, piece).map(|sent| {
                            self.recorder.add(Counter::BytesOut, sent as u64);
                        })
                    });
                match (sent, &call.file) {
                    (Err(error), _) => {
                        let text = format!("java.io.IOException: {}", io_words(&error));
                        (Saved::Ended(fd), thrown(text, Outcome::Reset))
                    }
                    (Ok(()), Some(Err(text))) => {
                        (Saved::Ended(fd), thrown(text.clone(), Outcome::Other))
                    }
                    (Ok(()), _) => (Saved::Closed, Ok(())),
                }
            }
        };
        self.save(owner, id, left);
        ended
    }
}

/// The class of Java's exception for a connection that did not come to be.
fn connect_exception(error: &std::io::Error) -> &'static str {
    use nix::libc;
    match error.raw_os_error() {
        Some(libc::ECONNREFUSED | libc::ETIMEDOUT) => "java.net.ConnectException",
        Some(libc::EHOSTUNREACH) => "java.net.NoRouteToHostException",
        Some(libc::EADDRINUSE | libc::EADDRNOTAVAIL | libc::EACCES) => "java.net.BindException",
        _ => "java.net.SocketException",
    }
}
