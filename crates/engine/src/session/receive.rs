//! Input of connections: received from the socket, passed to the session, stored in the exchange. Hot.
//!
//! If the session knows the length of content that no element reads, the kernel drops that content.

use std::io;
use std::os::fd::OwnedFd;

use stats::Counter;
use wire::http1::Error;
use wire::redis;
use wire::session::{Broken, Session, SessionEvent, Status};

use crate::net::driver::{self, Driver, Ready, Received};
use crate::net::opening::HandshakeStart;
use crate::net::outcome::Failure;
use crate::session::decode::{self, FeedResult};
use crate::session::drive::complete;
use crate::session::exchange::{Answer, Call, Ending, Exchange, ExchangeStage, Limit, Trouble};
use crate::session::http1::HttpCall;
use crate::session::lazy::Lazy;
use crate::session::line::{Line, LineId, LineSession, State};
use crate::session::{Around, Sessions};
use crate::time::clock::{MS, Nanos, TURN, thread_cpu};

/// Number of bytes to receive when a response head is expected whose content is not read.
const HEAD_ONLY: usize = 2048;
/// Remaining content size in bytes above which another system call is cheaper than copying.
const LARGE: u64 = 16 * 1024;

/// The bytes to receive from a connection in one call.
struct Wanted {
    /// Number of kept bytes in front of the bytes to receive.
    kept: usize,
    room: usize,
    /// True if the kernel drops the bytes without copying them to this process.
    unseen: bool,
}

impl Sessions {
    /// Handles a connection that is readable or writable: continues its opening, sends unsent bytes, and reads.
    pub(crate) fn on_ready(&mut self, around: &mut Around<'_>, id: LineId, ready: Ready) {
        match self.lines[id].state {
            State::Open | State::Handshaking | State::Tunnelling => {
                if ready.writable && !self.lines[id].transport.all_sent() && !self.flush(around, id)
                {
                    return;
                }
                if ready.writable {
                    self.note_sent(around, id);
                }
                // Datagrams stay in the socket until an exchange reads them.
                let held = matches!(self.lines[id].speaker, LineSession::Datagram);
                if ready.readable && (self.lines[id].ticket.is_some() || !held) {
                    self.read(around, id, ready.hangup);
                }
            }
            State::Idle if ready.readable => self.read_idle(around, id),
            State::Connecting if ready.writable => self.on_connected(around, id),
            State::Connecting
            | State::Idle
            | State::Naming
            | State::Proxied
            | State::Unsecured
            | State::Dead
            | State::Ended
            | State::Closed => {}
        }
    }

    /// Continues with a speed-limited connection after its pause: sends its request, or continues to read its response.
    pub(crate) fn resume_line(&mut self, around: &mut Around<'_>, token: u64) {
        let id = self.lines.by_token(token);
        let Some(id) = id.filter(|id| self.lines[*id].state == State::Open) else { return };
        match self.take_held_back(id) {
            Ok((ticket, bytes)) if self.is_on(id, ticket) => {
                self.send_now(around, id, ticket, &bytes);
                if self.is_on(id, ticket) {
                    self.after_sending(around, id);
                }
            }
            Ok(_) => {}
            Err(hangup) => {
                self.read(around, id, hangup);
            }
        }
    }

    /// Sends unsent output. Returns false if that failed.
    fn flush(&mut self, around: &mut Around<'_>, id: LineId) -> bool {
        let sent = self.lines[id].transport.flush();
        sent.map_err(|error| self.fail_line(around, id, Failure::Socket(error))).is_ok()
    }

    /// Stores the send time of a request that did not fit the socket's buffer, once all of it was sent.
    fn note_sent(&mut self, around: &Around<'_>, id: LineId) {
        let line = &self.lines[id];
        let Some(ticket) = line.ticket else { return };
        let exchange = &mut self.exchanges[ticket];
        let open = line.state == State::Open && !exchange.began && !exchange.all_sent;
        if open && line.transport.all_sent() {
            (exchange.sent_at, exchange.all_sent) = (around.clock.now(), true);
        }
    }

    /// Fails the exchange on a connection that has become unusable.
    fn fail_line(&mut self, around: &mut Around<'_>, id: LineId, failure: Failure) {
        match self.lines[id].ticket {
            Some(ticket) => self.fail(around, ticket, failure),
            None => self.lines[id].state = State::Ended,
        }
    }

    /// Reads a connection. Returns false if it has no data.
    pub(super) fn read(&mut self, around: &mut Around<'_>, id: LineId, hangup: bool) -> bool {
        let waits = self.slow.is_some() && self.is_paused(around, id, hangup);
        waits || self.read_now(around, id, hangup)
    }

    /// Reads a connection at once, even if it is speed-limited.
    fn read_now(&mut self, around: &mut Around<'_>, id: LineId, hangup: bool) -> bool {
        let mut any = false;
        let mut until = Nanos::MAX;
        let generation = self.lines[id].transport.generation;
        let mut scratch = std::mem::take(&mut around.net.scratch);
        loop {
            let mut wanted = self.wanted(around, id, &mut scratch);
            let slow_room = self.slow_room(around, id);
            if slow_room.is_some() && self.read_kept(around, id, hangup) {
                any = true;
                break;
            }
            wanted.room = wanted.room.min(slow_room.unwrap_or(usize::MAX));
            let Some(fd) = self.lines[id].transport.fd.as_ref() else { break };
            let part = &mut scratch[wanted.kept..wanted.kept + wanted.room];
            let received = match take(&mut around.net.driver, fd, part, wanted.unseen) {
                Ok(Some(received)) => received,
                Ok(None) => break,
                Err(error) => {
                    any = true;
                    self.fail_line(around, id, Failure::Socket(error));
                    break;
                }
            };
            any = true;
            let now = around.clock.now();
            if received.bytes == 0 {
                self.on_eof(around, id, now);
                break;
            }
            around.recorder.add(Counter::BytesIn, received.bytes as u64);
            // On a speed-limited connection, the delay before reading is intended, so the kernel's arrival time is
            // not used.
            let arrival = received.arrival.filter(|_| slow_room.is_none());
            if !self.note_arrival(around, id, arrival, wanted.kept, now) {
                break;
            }
            let all = wanted.kept + received.bytes;
            if wanted.unseen {
                self.pass_over(around, id, received.bytes as u64, now, hangup);
            } else if self.lines[id].transport.tls().is_some() {
                self.unseal(around, id, &mut scratch[..all], now, hangup);
            } else {
                self.feed(around, id, &scratch[..all], now, hangup);
            }
            let line = &self.lines[id];
            let over = line.transport.generation != generation
                || line.ticket.is_none()
                || !matches!(line.state, State::Open | State::Handshaking | State::Tunnelling);
            if over || slow_room.is_some() && self.after_reading(around, id) {
                break;
            }
            if !(received.bytes == wanted.room || hangup) {
                break;
            }
            if now >= until {
                // A peer may send faster than this process reads. Other users must be able to run, so reading
                // continues later.
                around.net.unfinished.push_back((self.lines.token(id), hangup));
                break;
            }
            until = until.min(now + TURN);
        }
        around.net.scratch = scratch;
        any
    }

    /// Returns the bytes to receive from a connection. The connection's kept bytes are copied to the start of the
    /// buffer.
    #[inline]
    fn wanted(&self, around: &Around<'_>, id: LineId, scratch: &mut Vec<u8>) -> Wanted {
        let line = &self.lines[id];
        let kept_from = line.transport.tls().map_or(&*line.tail, |tls| &tls.sealed);
        let kept = kept_from.len();
        if kept + 32 * 1024 > scratch.len() {
            scratch.resize(kept + driver::SCRATCH, 0);
        }
        scratch[..kept].copy_from_slice(kept_from);
        let all = scratch.len();
        let unread = match (&line.speaker, line.ticket) {
            (LineSession::Http(connection), Some(ticket)) if connection.droppable() > 0 => {
                unread_left(line, &self.exchanges[ticket])
            }
            _ => 0,
        };
        match unread {
            // A small read is used, because the next head is probably followed by large content that no element
            // reads.
            0 if kept == 0 && around.net.routes[line.route].large_unread => {
                Wanted { kept, room: HEAD_ONLY, unseen: false }
            }
            0 => Wanted { kept, room: all - kept, unseen: false },
            unread => Wanted { kept: 0, room: unread.min(all as u64) as usize, unseen: true },
        }
    }

    /// Stores the arrival time of received bytes, after `kept` earlier bytes. Returns false if they arrived after
    /// the time limit.
    #[inline]
    fn note_arrival(
        &mut self,
        around: &mut Around<'_>,
        id: LineId,
        arrival: Option<i64>,
        kept: usize,
        now: Nanos,
    ) -> bool {
        let Some(ticket) = self.lines[id].ticket else { return true };
        let exchange = &mut self.exchanges[ticket];
        let arrival = arrival.map_or(now, |wall| around.clock.of_wall(wall));
        // An arrival before the send time means that the system clock was changed.
        let arrival = if arrival < exchange.sent_at.saturating_sub(MS) { now } else { arrival };
        exchange.arrival = arrival.clamp(exchange.sent_at.min(now), now);
        if exchange.awaits_first() && kept == 0 {
            let limit = around.users[exchange.user].limit;
            if exchange.arrival > limit.saturating_add(MS) {
                // The response arrived after the limit. The exchange has only survived so long because this process
                // was stalled.
                self.fail(around, ticket, Failure::ResponseTimeout);
                return false;
            }
        }
        true
    }

    /// Counts content that the kernel has dropped.
    fn pass_over(
        &mut self,
        around: &mut Around<'_>,
        id: LineId,
        bytes: u64,
        now: Nanos,
        hangup: bool,
    ) {
        let line = &mut self.lines[id];
        let (Some(ticket), LineSession::Http(connection)) = (line.ticket, &mut line.speaker) else {
            return;
        };
        let exchange = &mut self.exchanges[ticket];
        if let Call::Http(http) = &mut exchange.call {
            http.facts.received += http.facts.counted(bytes, exchange.latency == 0);
        }
        // If the head arrived alone, these are the first bytes of the content.
        if exchange.latency == 0 {
            exchange.latency = now - exchange.start;
        }
        if connection.drop_content(bytes) {
            complete(line, exchange, ticket, around, hangup, now);
        } else {
            exchange.renew_limit(around, now);
        }
    }

    /// Decrypts TLS records and passes on the plaintext.
    fn unseal(
        &mut self,
        around: &mut Around<'_>,
        id: LineId,
        bytes: &mut [u8],
        now: Nanos,
        hangup: bool,
    ) {
        if self.lines[id].state == State::Handshaking {
            let generation = self.lines[id].transport.generation;
            let used = {
                let arrival =
                    self.lines[id].ticket.map_or(now, |ticket| self.exchanges[ticket].arrival);
                let since = HandshakeStart { arrival, cpu: thread_cpu() };
                self.shake_hands(around, id, bytes, since)
            };
            let line = &mut self.lines[id];
            if line.transport.generation == generation
                && let Some(tls) = line.transport.tls_mut()
            {
                keep(&mut tls.sealed, &bytes[used..]);
            }
            return;
        }
        let line = &mut self.lines[id];
        let mut plain = std::mem::take(&mut around.net.plain);
        plain.clear();
        plain.extend_from_slice(&line.tail);
        around.net.out.clear();
        let Some(tls) = line.transport.tls_mut() else { return };
        let progress = tls
            .client
            .advance(bytes, &mut around.net.out, &mut |data| plain.extend_from_slice(data));
        match progress {
            Ok(progress) => {
                keep(&mut tls.sealed, &bytes[progress.used..]);
                match line.transport.send_raw(&around.net.out) {
                    Err(error) => self.fail_line(around, id, Failure::Socket(error)),
                    Ok(_) => {
                        let (closed, kept) = (progress.peer_closed, line.tail.len());
                        let some = plain.len() > kept;
                        if some && self.slow.is_some() && self.slow_room(around, id).is_some() {
                            self.keep_plain(id, &plain[kept..], closed);
                            around.net.plain = plain;
                            self.read_plain(around, id, hangup);
                            return;
                        }
                        if some {
                            self.feed(around, id, &plain, now, hangup || closed);
                        }
                        let line = &self.lines[id];
                        if closed && line.state == State::Open && line.ticket.is_some() {
                            self.on_eof(around, id, now);
                        }
                    }
                }
            }
            Err(error) => self.fail_line(around, id, Failure::Tls(error)),
        }
        around.net.plain = plain;
    }

    /// Passes on plaintext that a speed-limited connection has kept, and then pauses. Returns false if there is no such
    /// plaintext.
    fn read_kept(&mut self, around: &mut Around<'_>, id: LineId, hangup: bool) -> bool {
        let generation = self.lines[id].transport.generation;
        let read = self.read_plain(around, id, hangup);
        if read && self.lines[id].transport.generation == generation {
            self.after_reading(around, id);
        }
        read
    }

    /// Passes as much kept plaintext to the session of a speed-limited connection as one read takes. Returns false if
    /// there is no such plaintext.
    fn read_plain(&mut self, around: &mut Around<'_>, id: LineId, hangup: bool) -> bool {
        let Some(plain) = self.take_plain(id) else { return false };
        let (now, bytes) = (around.clock.now(), [&self.lines[id].tail[..], &plain.bytes].concat());
        self.feed(around, id, &bytes, now, plain.closed || hangup && plain.is_last);
        let line = &self.lines[id];
        if plain.closed && line.state == State::Open && line.ticket.is_some() {
            self.on_eof(around, id, now);
        }
        true
    }

    /// Passes received bytes to the session of a connection. Unused bytes are kept.
    #[inline]
    pub(super) fn feed(
        &mut self,
        around: &mut Around<'_>,
        id: LineId,
        bytes: &[u8],
        now: Nanos,
        hangup: bool,
    ) {
        let line = &mut self.lines[id];
        let Some(ticket) = line.ticket else { return keep_tail(&mut line.tail, bytes) };
        let exchange = &mut self.exchanges[ticket];
        let fed = if let LineSession::Http(connection) = &mut line.speaker {
            let (memo, stashes) = (&mut self.memo, &mut self.stashes);
            match decode::feed(connection, exchange, memo, stashes, bytes, now) {
                Ok(fed) => {
                    if !fed.done && line.transport.tls().is_none() {
                        let route = &mut around.net.routes[line.route];
                        route.large_unread = unread_left(line, exchange) >= LARGE;
                    }
                    fed
                }
                Err(broken) => {
                    return self.fail(around, ticket, decode::failure_of(broken, bytes));
                }
            }
        } else {
            if !bytes.is_empty() {
                exchange.note_first(now);
            }
            match feed_other(&mut line.speaker, &mut exchange.answer, bytes, around) {
                Ok(Other::FeedResult(fed)) => fed,
                Ok(Other::Ready(used)) => {
                    keep_tail(&mut line.tail, &bytes[used..]);
                    return self.begin(around, id, ticket);
                }
                Err(ending) => return self.end(around, ticket, ending, now),
            }
        };
        keep_tail(&mut line.tail, &bytes[fed.used..]);
        if fed.done {
            let closed = hangup && fed.used == bytes.len();
            return complete(line, exchange, ticket, around, closed, now);
        }
        exchange.renew_limit(around, now);
    }

    /// Handles the end of the stream: completes or fails the exchange that is in flight on the connection.
    pub(super) fn on_eof(&mut self, around: &mut Around<'_>, id: LineId, now: Nanos) {
        let line = &mut self.lines[id];
        let Some(ticket) = line.ticket else {
            line.state = State::Ended;
            return;
        };
        if line.state == State::Handshaking {
            if let Some(effort) = line.transport.tls().map(|tls| tls.effort) {
                effort.count(None, now, around.recorder);
            }
            return self.fail(around, ticket, Failure::TlsClosed);
        }
        let exchange = &mut self.exchanges[ticket];
        let ending = match &mut line.speaker {
            LineSession::Stream(session) => {
                let _ = session.end(&line.tail, &mut |_| {});
                Ending::Eof
            }
            LineSession::Redis(session) => match session.end(&line.tail, &mut |_| {}) {
                Ok(()) => Ending::Eof,
                Err(broken) => Ending::thrown(broken.0),
            },
            // The received datagram was empty.
            LineSession::Datagram => Ending::Complete { closed: false },
            LineSession::Sse(session) => {
                let mut done = false;
                let answer = &mut exchange.answer;
                let mut tell = |told: SessionEvent<'_>| handle_sse_event(answer, &mut done, told);
                match session.end(&line.tail, &mut tell) {
                    Ok(()) => Ending::Complete { closed: true },
                    Err(_) => Ending::Eof,
                }
            }
            LineSession::Http(session) => {
                let java = matches!(&exchange.call, Call::Http(http) if http.facts.java);
                match session.end(&line.tail, &mut |_| {}) {
                    // Java's own client accepts content that is too short.
                    Err(broken) if !(java && is_too_short(broken.error)) => {
                        Ending::failed(Failure::Http(broken.error), ExchangeStage::Sent)
                    }
                    _ => {
                        line.state = State::Ended;
                        Ending::Eof
                    }
                }
            }
        };
        self.end(around, ticket, ending, now);
    }
}

impl Exchange {
    /// Returns true if the exchange waits for the first bytes of its response. Only these are subject to the time
    /// limit.
    #[inline]
    fn awaits_first(&self) -> bool {
        self.limit != Limit::NONE && self.sent_at > 0 && self.latency == 0 && !self.began
    }

    /// Stores the latency when the first bytes of the response have arrived.
    fn note_first(&mut self, now: Nanos) {
        if self.latency == 0 {
            self.latency = now - self.start;
        }
    }

    /// Restarts the time limit, as a socket timeout does with each read.
    #[inline]
    fn renew_limit(&self, around: &mut Around<'_>, now: Nanos) {
        if self.limit != Limit::NONE {
            around.users[self.user].limit = now + self.limit.nanos();
        }
    }
}

/// Returns the number of bytes of the current response that may be dropped unread.
#[inline]
fn unread_left(line: &Line, exchange: &Exchange) -> u64 {
    match (&line.speaker, &exchange.call) {
        (LineSession::Http(connection), Call::Http(HttpCall { facts, .. }))
            if line.state == State::Open && !facts.keep_body && line.transport.tls().is_none() =>
        {
            connection.droppable()
        }
        _ => 0,
    }
}

fn is_too_short(error: Error) -> bool {
    matches!(error, Error::TruncatedBody { .. })
}

/// The result of passing bytes to a session of a protocol other than HTTP.
enum Other {
    FeedResult(FeedResult),
    /// The greeting is complete; with the number of used bytes.
    Ready(usize),
}

/// Passes bytes to a session whose responses consist of bytes. `Err`: the exchange ends with this reason.
fn feed_other(
    speaker: &mut LineSession,
    answer: &mut Answer,
    bytes: &[u8],
    around: &mut Around<'_>,
) -> Result<Other, Ending> {
    let out = &mut around.net.sealed;
    let mut done = false;
    let used = match speaker {
        LineSession::Stream(session) => {
            let used =
                session.feed(bytes, &mut (), out, &mut |told: SessionEvent<'_>| match told {
                    SessionEvent::Data { bytes, .. } => answer.take(bytes),
                    SessionEvent::Done { .. } => done = true,
                    _ => {}
                });
            answer.expected = session.expected();
            // A plain stream has no protocol that a peer could violate.
            used.unwrap_or(bytes.len())
        }
        LineSession::Datagram => {
            answer.take(bytes);
            done = true;
            bytes.len()
        }
        LineSession::Redis(session) => {
            let mut ready = false;
            let mut tell =
                |told: SessionEvent<'_>| handle_redis_event(answer, &mut done, &mut ready, told);
            let used = session.feed(bytes, &mut (), out, &mut tell);
            let used = used.map_err(|broken| Ending::thrown(broken.0))?;
            if ready {
                return Ok(Other::Ready(used));
            }
            used
        }
        LineSession::Sse(session) => {
            let mut tell = |told: SessionEvent<'_>| handle_sse_event(answer, &mut done, told);
            let fed = session.feed(bytes, &mut (), out, &mut tell);
            answer.streams = session.streams();
            // All responses except event streams end with their head.
            done |= answer.head != 0 && !answer.streams;
            fed.map_err(|Broken(words)| Ending::Bad(Box::new(Trouble::Broken(words))))?
        }
        LineSession::Http(_) => bytes.len(),
    };
    Ok(Other::FeedResult(FeedResult { used, done }))
}

/// Stores what an event of a Redis session reports in the response.
fn handle_redis_event(
    answer: &mut Answer,
    done: &mut bool,
    ready: &mut bool,
    told: SessionEvent<'_>,
) {
    match told {
        SessionEvent::Ready => *ready = true,
        SessionEvent::Head { head: Status { status, bytes }, .. } => {
            answer.head = status;
            match status {
                redis::kind::BULK | redis::kind::ARRAY => answer.nil = bytes == redis::NIL,
                _ => answer.take(bytes),
            }
        }
        SessionEvent::Data { bytes, .. } => answer.take(bytes),
        SessionEvent::Done { .. } => *done = true,
        _ => {}
    }
}

/// Stores what an event of a server-sent-events session reports in the response.
fn handle_sse_event(answer: &mut Answer, done: &mut bool, told: SessionEvent<'_>) {
    match told {
        SessionEvent::Head { head: Status { status, bytes }, .. } => {
            answer.head = status;
            bytes.clone_into(&mut answer.head_bytes);
        }
        SessionEvent::Push { kind, id, bytes } => answer.take_event(kind, id, bytes),
        SessionEvent::Done { .. } => *done = true,
        _ => {}
    }
}

/// Receives bytes from a socket, or drops them unread; `None` if there are none.
#[inline]
fn take(
    driver: &mut Driver,
    fd: &OwnedFd,
    part: &mut [u8],
    unseen: bool,
) -> io::Result<Option<Received>> {
    if unseen { driver.discard(fd, part) } else { driver.receive(fd, part) }
}

/// Stores unused input of a connection, as [`keep`] does.
#[inline]
fn keep_tail(tail: &mut Lazy<Vec<u8>>, rest: &[u8]) {
    if rest.is_empty() {
        *tail = Lazy::default();
    } else {
        keep(tail, rest);
    }
}

/// Stores unused input; frees the buffer if there is none.
#[inline]
fn keep(tail: &mut Vec<u8>, rest: &[u8]) {
    if rest.is_empty() {
        *tail = Vec::new();
    } else {
        tail.clear();
        tail.extend_from_slice(rest);
    }
}
