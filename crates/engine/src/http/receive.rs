//! An HTTP response on its way in: taken off the socket, decoded in the receive buffer, concluded. Hot.
//!
//! A response that nobody reads is counted and dropped, large ones in the kernel; what is read is kept in a stash,
//! given back to the core's pool afterwards.

use plan::plan::SamplerId;
use stats::{ClassId, Counter, Outcome, Recorder};
use wire::http1::{Event, Memo};

use crate::context::Context;
use crate::http::conn::{Conn, ConnId, Exchange, Stash, Stashes, State};
use crate::http::fill::push_reason;
use crate::http::requests::Requests;
use crate::http::{cache, redirect, side_cookies};
use crate::ids::UserId;
use crate::net::driver;
use crate::net::outcome::Failure;
use crate::settings::Settings;
use crate::time::clock::{MS, Nanos, SECOND, TURN, thread_cpu};
use crate::time::milestones::Milestones;
use crate::time::timing::Timing;
use crate::users::Wait;

/// Bytes taken where a head is expected and the body behind it will not be read.
const HEAD_ONLY: usize = 2048;
/// The rest of a body, in bytes, for which another call is cheaper than copying it.
const LARGE: u64 = 16 * 1024;

/// The fate of a connection whose response is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Closing {
    /// It may be used again.
    No,
    /// The peer has closed it.
    ByPeer,
    /// Further bytes on it are no answer of ours, or its end was the end of the response.
    Broken,
}

impl Closing {
    fn of(rest: bool, hangup: bool) -> Self {
        match (rest, hangup) {
            (true, _) => Self::Broken,
            (false, true) => Self::ByPeer,
            (false, false) => Self::No,
        }
    }
}

/// The result of feeding bytes to a response's decoder.
enum Fed {
    /// More is needed; so many bytes are used up.
    More(usize),
    /// The response is complete; so many bytes are used up.
    Done(usize),
}

/// Bytes of a header's value by which exchanges are told apart.
const LONGEST_CLASS: usize = 100;

impl Requests {
    /// Takes what a socket has. False: it has nothing.
    pub(crate) fn read(&mut self, cx: &mut Context<'_>, conn: ConnId, hangup: bool) -> bool {
        let mut any = false;
        let mut until = Nanos::MAX;
        let generation = self.conns[conn].transport.generation;
        let mut scratch = std::mem::take(&mut cx.net.scratch);
        loop {
            let entry = &mut self.conns[conn];
            let kept = entry.tail.len();
            if kept + 32 * 1024 > scratch.len() {
                scratch.resize(kept + driver::SCRATCH, 0);
            }
            scratch[..kept].copy_from_slice(&entry.tail);
            let unread = entry.unread_left().min(scratch.len() as u64) as usize;
            let room = match unread {
                // Little is taken where the head of a large body that nobody reads comes next.
                0 if kept == 0 && cx.net.routes[entry.route].large_unread => HEAD_ONLY,
                0 => scratch.len() - kept,
                unread => unread,
            };
            let Some(fd) = entry.transport.fd.as_ref() else { break };
            let received = match unread {
                0 => cx.net.driver.receive(fd, &mut scratch[kept..kept + room]),
                _ => cx.net.driver.discard(fd, &mut scratch[..room]),
            };
            let received = match received {
                Ok(Some(received)) => received,
                Ok(None) => break,
                Err(error) => {
                    any = true;
                    self.fail(cx, conn, &Failure::Socket(error));
                    break;
                }
            };
            any = true;
            let now = cx.clock.now();
            if received.bytes == 0 {
                self.on_eof(cx, conn, now);
                break;
            }
            cx.recorder.add(Counter::BytesIn, received.bytes as u64);
            let entry = &mut self.conns[conn];
            let arrival = received.arrival.map_or(now, |wall| cx.clock.of_wall(wall));
            entry.exchange.arrival = arrival.clamp(entry.exchange.sent_at.min(now), now);
            if entry.exchange.awaits_first() && kept == 0 {
                let limit = cx.users[entry.user].limit;
                if entry.exchange.arrival > limit.saturating_add(MS) {
                    // Only a stall of this process made it look as if it had come in time.
                    self.fail(cx, conn, &Failure::ResponseTimeout);
                    break;
                }
            }
            let all = kept + received.bytes;
            let full = received.bytes == room;
            if unread > 0 {
                self.pass_over(cx, conn, received.bytes as u64, now, hangup);
            } else if entry.transport.tls().is_some() {
                self.take_sealed(cx, conn, &mut scratch[..all], now, hangup);
            } else {
                self.take(cx, conn, &scratch[..all], now, hangup);
            }
            let entry = &self.conns[conn];
            let over = entry.transport.generation != generation
                || !matches!(entry.state, State::Busy | State::Handshaking | State::Tunnelling);
            if over || !(full || hangup) {
                break;
            }
            if now >= until {
                // A peer may send faster than it is read; others have their turns.
                cx.net.unfinished.push_back((self.conns.token(conn), hangup));
                break;
            }
            until = until.min(now + TURN);
        }
        cx.net.scratch = scratch;
        any
    }

    /// Part of a body that nobody reads is gone.
    fn pass_over(
        &mut self,
        cx: &mut Context<'_>,
        conn: ConnId,
        bytes: u64,
        now: Nanos,
        hangup: bool,
    ) {
        let entry = &mut self.conns[conn];
        entry.exchange.received += bytes;
        // The head may have come alone: then these are the first bytes of the body.
        if entry.exchange.latency == 0 {
            entry.exchange.latency = now - entry.exchange.start;
        }
        if entry.decoder.skip(bytes) {
            self.finish(cx, conn, now, Closing::of(false, hangup));
        } else {
            self.progress(cx, conn, now);
        }
    }

    /// Takes plain bytes.
    fn take(&mut self, cx: &mut Context<'_>, conn: ConnId, bytes: &[u8], now: Nanos, hangup: bool) {
        let entry = &mut self.conns.all[conn.0 as usize];
        if entry.state == State::Tunnelling {
            return self.take_way(cx, conn, bytes, now);
        }
        let stashes = &mut self.conns.stashes;
        match feed(entry, stashes, &mut self.memo, &cx.run.settings, &mut cx.recorder, bytes, now) {
            Ok(Fed::More(used)) => {
                keep(&mut entry.tail, &bytes[used..]);
                let route = &mut cx.net.routes[entry.route];
                route.large_unread = entry.unread_left() >= LARGE;
                self.progress(cx, conn, now);
            }
            Ok(Fed::Done(used)) => {
                let rest = used < bytes.len();
                entry.tail = Vec::new();
                self.finish(cx, conn, now, Closing::of(rest, hangup));
            }
            Err(error) => self.fail(cx, conn, &broken(error, bytes)),
        }
    }

    /// Takes TLS records.
    fn take_sealed(
        &mut self,
        cx: &mut Context<'_>,
        conn: ConnId,
        bytes: &mut [u8],
        now: Nanos,
        hangup: bool,
    ) {
        if self.conns[conn].state == State::Handshaking {
            let generation = self.conns[conn].transport.generation;
            let used = self.handshake(cx, conn, bytes, thread_cpu());
            let entry = &mut self.conns[conn];
            if entry.transport.generation == generation {
                keep(&mut entry.tail, &bytes[used..]);
            }
            return;
        }
        let mut plain = std::mem::take(&mut cx.net.plain);
        plain.clear();
        let mut out = std::mem::take(&mut cx.net.out);
        out.clear();
        let entry = &mut self.conns[conn];
        let mut progress = None;
        if let Some(tls) = entry.transport.tls_mut() {
            plain.extend_from_slice(&tls.plain);
            progress = Some(
                tls.client.advance(bytes, &mut out, &mut |data| plain.extend_from_slice(data)),
            );
        }
        match progress {
            Some(Ok(progress)) => {
                keep(&mut entry.tail, &bytes[progress.used..]);
                let sent = self.send_raw(cx, conn, &out);
                // The answer may be whole, and the next request made from these buffers.
                cx.net.out = out;
                if sent {
                    self.take_plain(cx, conn, &plain, now, hangup || progress.peer_closed);
                    if progress.peer_closed && self.conns[conn].state == State::Busy {
                        self.on_eof(cx, conn, now);
                    }
                }
            }
            Some(Err(error)) => {
                cx.net.out = out;
                self.fail(cx, conn, &Failure::Tls(error));
            }
            None => cx.net.out = out,
        }
        cx.net.plain = plain;
    }

    fn take_plain(
        &mut self,
        cx: &mut Context<'_>,
        conn: ConnId,
        plain: &[u8],
        now: Nanos,
        hangup: bool,
    ) {
        let entry = &mut self.conns.all[conn.0 as usize];
        let stashes = &mut self.conns.stashes;
        match feed(entry, stashes, &mut self.memo, &cx.run.settings, &mut cx.recorder, plain, now) {
            Ok(Fed::More(used)) => {
                if let Some(tls) = entry.transport.tls_mut() {
                    keep(&mut tls.plain, &plain[used..]);
                }
                self.progress(cx, conn, now);
            }
            Ok(Fed::Done(used)) => {
                if let Some(tls) = entry.transport.tls_mut() {
                    tls.plain = Vec::new();
                }
                self.finish(cx, conn, now, Closing::of(used < plain.len(), hangup));
            }
            Err(error) => self.fail(cx, conn, &broken(error, plain)),
        }
    }

    /// Part of a response arrived: its time limit starts anew, as a socket timeout does.
    pub(crate) fn progress(&mut self, cx: &mut Context<'_>, conn: ConnId, now: Nanos) {
        let entry = &self.conns[conn];
        if entry.exchange.limit > 0 {
            let (index, limit) = (entry.user, entry.exchange.limit);
            cx.users[index].limit = now + limit;
        }
    }

    /// The peer closed.
    fn on_eof(&mut self, cx: &mut Context<'_>, conn: ConnId, now: Nanos) {
        let entry = &mut self.conns[conn];
        if entry.state == State::Handshaking {
            if let Some(tls) = entry.transport.tls() {
                tls.effort.count(None, now, &mut cx.recorder);
            }
            return self.fail(cx, conn, &Failure::TlsClosed);
        }
        let unread = match entry.transport.tls() {
            Some(tls) => &tls.plain,
            None => &entry.tail,
        };
        match entry.decoder.eof(unread) {
            Ok(()) if entry.state == State::Tunnelling => self.no_way(cx, conn, now, true),
            Ok(()) => self.finish(cx, conn, now, Closing::Broken),
            // Java's own client does not mind that a body is too short.
            Err(wire::http1::Error::TruncatedBody { .. }) if entry.exchange.java => {
                self.finish(cx, conn, now, Closing::Broken);
            }
            Err(error) => self.fail(cx, conn, &Failure::Http(error)),
        }
    }

    /// A response is complete.
    pub(crate) fn finish(
        &mut self,
        cx: &mut Context<'_>,
        conn: ConnId,
        now: Nanos,
        closing: Closing,
    ) {
        let entry = &mut self.conns[conn];
        if let Some(stash) = &mut entry.stash
            && !stash.connection_fault.is_empty()
        {
            let fault = std::mem::take(&mut stash.connection_fault);
            return self.fail(cx, conn, &Failure::Connection(fault));
        }
        let mut exchange = entry.exchange;
        let (index, own, class) = (entry.user, entry.opening.own(), entry.class);
        let stash = entry.stash.take();
        if exchange.has_body && exchange.latency == 0 {
            exchange.latency = now - exchange.start;
        }
        // Java's own client goes on after a redirect by another connection.
        let moves = exchange.java
            && exchange.auto_follow
            && matches!(exchange.status, 301..=303 | 305 | 307)
            && stash.as_ref().is_some_and(|stash| crate::http::redirect::java_follows(stash));
        if exchange.keep_alive && exchange.want_keep_alive && !moves && closing != Closing::Broken {
            entry.state = State::Idle;
            entry.idle_since = now;
            let rest = match exchange.keep_alive_s {
                Some(told @ 1..) => Nanos::from(told) * SECOND,
                _ => cx.run.settings.http.idle_timeout,
            };
            entry.expires = entry.end.min(now.saturating_add(rest));
            self.conns.give_back(cx, index, conn);
            if closing == Closing::ByPeer {
                self.conns.peer_gave_up(cx, conn);
            }
        } else {
            let by_us = exchange.keep_alive && closing == Closing::No;
            self.conns.drop_connection(
                cx,
                conn,
                if by_us { Counter::ConnClosedByUs } else { Counter::ConnClosedByPeer },
            );
        }
        let Wait::Exchange(id) = cx.users[index].wait else { return };
        cx.users[index].wait = Wait::Ready;
        // From the intended to the actual start, and from the arrival of the last byte to our reading it; what opening cost here.
        let wait = (exchange.start - exchange.intended).max(0) as u64;
        let lag = (now - exchange.arrival).max(0) as u64 + wait + own;
        let timing = Timing {
            start: exchange.start,
            end: now,
            idle: 0,
            latency: exchange.latency as u64,
            connect: exchange.connect as u64,
            lag,
            wait,
            // JMeter does not know how much Java's own client sends.
            sent: if exchange.java { 0 } else { exchange.sent },
            received: exchange.received,
            phases: exchange.phases(now),
            classes: [class, exchange.header],
        };
        self.answered(cx, index, id, &exchange, timing, stash);
    }

    /// A response was read whole: cookies, redirects, the result; then the sample is concluded.
    fn answered(
        &mut self,
        cx: &mut Context<'_>,
        index: UserId,
        id: SamplerId,
        exchange: &Exchange,
        mut timing: Timing,
        mut stash: Option<Box<Stash>>,
    ) {
        if let Some(variable) = cx.run.user_token.filter(|_| !exchange.java) {
            let env = cx.env(index, "");
            if env.vars.get(variable).is_none() {
                let mut name = String::new();
                env.who.thread_name(&mut name);
                env.vars.set(variable, &name);
            }
        }
        if exchange.challenges && self.answers_challenge(cx, index, id, exchange, &mut stash) {
            return;
        }
        if let Some(stash) = &stash
            && exchange.cookies
            && stash.set_cookie
        {
            side_cookies::take_cookies(cx, index, id, stash);
        }
        let success = (200..400).contains(&exchange.status);
        let redirect = matches!(exchange.status, 301 | 302 | 303 | 307 | 308);
        let chain = cx.users[index].extra.as_ref().is_some_and(|extra| extra.redirect.is_some());
        let mut thrown = false;
        if let Some(mut stash) = stash {
            if chain || (redirect && (exchange.follow || exchange.auto_follow)) || cx.observes(id) {
                self.fill(cx, index, id, exchange, &timing, &mut stash);
            }
            thrown = exchange.caches && !cache::note_answer(cx, index, id, exchange, &stash);
            let follows = exchange.follow || exchange.auto_follow;
            let goes_on = (chain || redirect && follows)
                && self.follow(cx, index, id, &timing, exchange, &stash);
            if redirect && !chain && !follows && self.leads_nowhere(cx, id, exchange, &stash, None)
            {
                timing.sent = 0;
                thrown = true;
            }
            if !success && !cx.observes(id) {
                cx.result.clear();
                push_reason(&mut cx.result.message, &stash.head, exchange.java);
                let head = std::str::from_utf8(&stash.head).unwrap_or_default();
                cx.result.response_headers.push_str(head);
                cx.result.url.push_str(&stash.url);
                cx.result.method.push_str(&stash.method);
            }
            self.conns.stashes.give(stash);
            if goes_on {
                return;
            }
            if cx.users[index].extra.as_ref().is_some_and(|extra| extra.redirect.is_some()) {
                return redirect::conclude_chain(cx, index, id);
            }
        }
        if thrown {
            return cx.conclude(index, id, timing, Outcome::Protocol);
        }
        if !success && !cx.observes(id) {
            let mut digits = itoa::Buffer::new();
            cx.result.code.clear();
            cx.result.code.push_str(digits.format(exchange.status));
            cx.result.success = false;
        }
        let outcome = if !success {
            Outcome::Status
        } else if cx.observes(id) && !cx.result.success {
            timing.sent = 0;
            Outcome::Protocol
        } else {
            Outcome::Ok
        };
        cx.conclude(index, id, timing, outcome);
    }
}

/// A response that breaks the protocol at a place in the input.
pub(crate) fn broken((at, error): (usize, wire::http1::Error), bytes: &[u8]) -> Failure {
    if error != wire::http1::Error::BadChunkSize {
        return Failure::Http(error);
    }
    let line = bytes[at..].split(|byte| *byte == b'\n').next().unwrap_or_default();
    Failure::ChunkSize(line.trim_ascii().iter().map(|byte| *byte as char).collect())
}

/// Keeps unfinished input; frees the buffer when there is none.
pub(crate) fn keep(tail: &mut Vec<u8>, rest: &[u8]) {
    if rest.is_empty() {
        *tail = Vec::new();
    } else {
        tail.clear();
        tail.extend_from_slice(rest);
    }
}

/// Whether a type of content may be one that is read for links: no picture, sound or video.
fn may_be_page(content_type: &[u8]) -> bool {
    const OTHERS: [&[u8]; 4] = [b"image/", b"audio/", b"video/", b"font/"];
    let is = |kind: &&[u8]| {
        content_type.get(..kind.len()).is_some_and(|start| start.eq_ignore_ascii_case(kind))
    };
    content_type.len() >= 13 && content_type[..13].eq_ignore_ascii_case(b"image/svg+xml")
        || !OTHERS.iter().any(is)
}

/// The class of an answer by its value of a header; none without that header.
fn class_of(head: &[u8], name: &str, recorder: &mut Recorder) -> ClassId {
    let mut lines = head.split(|byte| *byte == b'\n').skip(1);
    let value = lines.find_map(|line| {
        let (start, rest) = line.split_at_checked(name.len())?;
        start.eq_ignore_ascii_case(name.as_bytes()).then(|| rest.strip_prefix(b":"))?
    });
    let value = value.and_then(|value| std::str::from_utf8(value.trim_ascii()).ok());
    value.map_or(ClassId::NONE, |value| {
        recorder.class(name, &value[..value.floor_char_boundary(LONGEST_CLASS)])
    })
}

/// Feeds bytes to the response under way.
fn feed(
    conn: &mut Conn,
    stashes: &mut Stashes,
    memo: &mut Memo,
    settings: &Settings,
    recorder: &mut Recorder,
    bytes: &[u8],
    now: Nanos,
) -> Result<Fed, (usize, wire::http1::Error)> {
    let mut at = 0;
    loop {
        let (used, event) =
            conn.decoder.next_with(&bytes[at..], memo).map_err(|error| (at, error))?;
        at += used;
        let exchange = &mut conn.exchange;
        exchange.received += match &event {
            // JMeter counts what Java's own client gives it, which is without the frames of chunks.
            Event::Body(body) if exchange.java => body.len() as u64,
            Event::NeedMore | Event::End if exchange.java && exchange.head_seen => 0,
            _ => used as u64,
        };
        match event {
            Event::NeedMore => return Ok(Fed::More(at)),
            Event::Head(head) => {
                exchange.status = head.status;
                exchange.keep_alive = head.keep_alive;
                exchange.keep_alive_s = head.keep_alive_timeout_s;
                exchange.has_body = head.has_body;
                exchange.head_seen = true;
                exchange.milestones.first = Milestones::micros(now - exchange.start);
                if let Some(name) = &settings.http.record_header {
                    exchange.header = class_of(head.raw, name, recorder);
                }
                if exchange.interim_uncounted {
                    exchange.received = head.raw.len() as u64;
                }
                // JMeter counts a status line without reason with the blank that its own form of it has.
                exchange.received += u64::from(head.reason.is_empty() && !exchange.java);
                exchange.keep_body |= exchange.parse && head.content_type.is_some_and(may_be_page);
                let redirects = (exchange.follow || exchange.auto_follow)
                    && (300..400).contains(&head.status)
                    || !exchange.java && matches!(head.status, 301..=303 | 307 | 308);
                let asked = exchange.challenges && matches!(head.status, 401 | 407);
                let noted = exchange.caches && crate::http::cache::is_cacheable(head.status);
                let cookies = exchange.cookies && head.set_cookie;
                // Whoever looks at the result or not: a cause of errors has the server's words.
                let failed = !(200..400).contains(&head.status)
                    // A redirect to nowhere is a failure, too, whether it would be followed or not.
                    || head.location.is_none() && matches!(head.status, 301..=303 | 307 | 308);
                if exchange.keep_head || redirects || cookies || noted || asked || failed {
                    let stash = conn.stash.get_or_insert_with(|| stashes.take());
                    stash.keep_head(&head);
                }
            }
            Event::Body(body) => {
                if exchange.latency == 0 {
                    exchange.latency = now - exchange.start;
                }
                if exchange.keep_body
                    && let Some(stash) = conn.stash.as_mut()
                {
                    stash.keep_body(body, settings.bodies.most_of_body(exchange.digest).1);
                }
            }
            Event::End => return Ok(Fed::Done(at)),
        }
    }
}
