//! An HTTP exchange: the request goes out, the response comes in, the sample is concluded. The hottest path.
//!
//! A request that cannot vary is rendered once per core. A response that nobody reads is parsed in the receive
//! buffer and counted; what is read is kept in a stash, given back to the core's pool afterwards.

use plan::http::{Http, Request};
use plan::plan::{Needs, SamplerId};
use stats::{Counter, Outcome};
use wire::cookie::Origin;
use wire::http1::{Decoder, Event, Limits, Memo};

use crate::clock::{MS, Nanos, SECOND};
use crate::conn::{Conn, Exchange, Stash, State};
use crate::core::Core;
use crate::driver;
use crate::outcome::Failure;
use crate::sample::Timing;
use crate::user::Wait;
use crate::wheel::Index;

/// Bytes taken where a head is expected and the body behind it will not be read.
const HEAD_ONLY: usize = 2048;
/// What is left of a body, in bytes, for which another call is cheaper than copying it.
const LARGE: u64 = 16 * 1024;

/// A request that never changes.
#[derive(Debug)]
pub(crate) struct Fixed {
    pub(crate) request: Request,
    /// As sent, without cookies.
    pub(crate) bytes: Vec<u8>,
    pub(crate) route: u32,
}

/// What becomes of a connection whose response is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Closing {
    /// It may be used again.
    No,
    /// The peer has closed it.
    ByPeer,
    /// What follows on it is no answer of ours, or its end was the end of the response.
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

/// What feeding bytes to a response's decoder led to.
enum Fed {
    /// More is needed; so many bytes are used up.
    More(usize),
    /// The response is complete; so many bytes are used up.
    Done(usize),
}

impl<'p> Core<'p> {
    pub(crate) fn begin_http(&mut self, index: Index, id: SamplerId, http: &'p Http) {
        self.refresh_user(index);
        let slot = id.0 as usize;
        if self.fixed[slot].is_none() && http.is_fixed() {
            let mut request = Request::default();
            if self.with_env(index, id, |env, _| http.render(env, &mut request)).is_ok() {
                let route =
                    self.route(request.secure, &request.host, request.port, &request.source);
                let mut bytes = Vec::new();
                assemble(&request, None, &mut bytes);
                self.fixed[slot] = Some(Box::new(Fixed { request, bytes, route }));
            }
        }
        if let Some(fixed) = self.fixed[slot].take() {
            if self.cookie_line(index, http, &fixed.request) {
                let mut out = std::mem::take(&mut self.out);
                let cookies = std::mem::take(&mut self.plain);
                assemble(&fixed.request, Some(&cookies), &mut out);
                self.dispatch(
                    index,
                    id,
                    http,
                    &fixed.request,
                    (&out, &cookies),
                    fixed.route,
                    false,
                );
                self.plain = cookies;
                self.out = out;
            } else {
                self.dispatch(
                    index,
                    id,
                    http,
                    &fixed.request,
                    (&fixed.bytes, b""),
                    fixed.route,
                    true,
                );
            }
            self.fixed[slot] = Some(fixed);
            return;
        }
        let mut request = std::mem::take(&mut self.request);
        let rendered = self.with_env(index, id, |env, _| http.render(env, &mut request));
        if let Some(thrown) = self.texts.thrown.take() {
            self.result.clear();
            self.result.url.push_str(&request.url);
            self.request = request;
            return self.thrown(index, id, &thrown);
        }
        match rendered {
            Ok(()) => self.send_rendered(index, id, http, &request),
            Err(problem) => {
                self.result.clear();
                if !problem.no_url {
                    self.result.url.push_str(&request.url);
                }
                self.unsendable(index, id, &problem.code, &problem.message, !problem.no_url);
            }
        }
        self.request = request;
    }

    /// Sends a request that was just rendered.
    pub(crate) fn send_rendered(
        &mut self,
        index: Index,
        id: SamplerId,
        http: &'p Http,
        request: &Request,
    ) {
        let with_cookies = self.cookie_line(index, http, request);
        let cookies = std::mem::take(&mut self.plain);
        let mut out = std::mem::take(&mut self.out);
        let cookie_line = with_cookies.then_some(&cookies[..]);
        assemble(request, cookie_line, &mut out);
        let route = self.route(request.secure, &request.host, request.port, &request.source);
        self.dispatch(
            index,
            id,
            http,
            request,
            (&out, cookie_line.unwrap_or_default()),
            route,
            false,
        );
        self.plain = cookies;
        self.out = out;
    }

    /// Sends `bytes` on a connection of the user, or opens one for them.
    #[allow(clippy::too_many_arguments)] // One call, told apart by one flag.
    fn dispatch(
        &mut self,
        index: Index,
        id: SamplerId,
        http: &Http,
        request: &Request,
        (bytes, cookies): (&[u8], &[u8]),
        route: u32,
        repeatable: bool,
    ) {
        let needs = self.plan.samplers[id.0 as usize].needs;
        let observed = self.observes(id);
        let user = &self.users[index];
        let start = self.clock.now();
        let intended = user.intended;
        let redirected = user.extra.as_ref().is_some_and(|extra| extra.redirect.is_some());
        let exchange = Exchange {
            intended,
            start,
            limit: Nanos::from(request.response_timeout_ms) * MS,
            connect_limit: Nanos::from(request.connect_timeout_ms) * MS,
            is_head: request.method == "HEAD",
            want_keep_alive: request.keep_alive,
            keep_head: observed,
            keep_body: needs.intersects(Needs::BODY | Needs::TEXT),
            // Followed by HttpClient itself, redirects never reach the sampler.
            follow: request.follow_redirects && !request.auto_redirects,
            auto_follow: request.auto_redirects,
            cookies: http.cookies.is_some(),
            ..Exchange::NONE
        };
        let connection = self.idle_connection(index, route, start);
        let needs_stash = observed
            || redirected
            || connection.is_none()
            || !repeatable
            || request.follow_redirects
            || request.auto_redirects;
        let stash = needs_stash.then(|| {
            let mut stash = self.stashes.pop().unwrap_or_default();
            stash.clear();
            stash.url.push_str(&request.url);
            stash.method.push_str(&request.method);
            if needs.contains(Needs::REQUEST_HEADERS) {
                request.write_headers(&mut stash.request_headers);
            }
            if needs.contains(Needs::SAMPLER_DATA) {
                request
                    .write_sampler_data(&String::from_utf8_lossy(cookies), &mut stash.sampler_data);
            }
            if connection.is_none() || !repeatable {
                stash.request.extend_from_slice(bytes);
            }
            stash
        });
        let Some(conn) = connection else {
            return self.open(index, id, route, exchange, stash.unwrap_or_default());
        };
        self.recorder.add(Counter::ConnReused, 1);
        let entry = &mut self.conns[conn];
        entry.exchange = Exchange { reused: true, ..exchange };
        entry.stash = stash;
        entry.state = State::Busy;
        self.users[index].conn = conn;
        self.users[index].wait = Wait::Exchange(id);
        if self.conns[conn].fd.is_none() {
            return self.fail(conn, &Failure::Http(wire::http1::Error::NoResponse));
        }
        self.transmit(conn, bytes);
    }

    /// Sends a request on an established connection.
    pub(crate) fn transmit(&mut self, conn: u32, bytes: &[u8]) {
        let limits = Limits::default();
        let entry = &mut self.conns[conn];
        entry.decoder = Decoder::new(entry.exchange.is_head, limits);
        entry.exchange.sent = bytes.len() as u64;
        self.recorder.add(Counter::BytesOut, bytes.len() as u64);
        let sent = if self.conns[conn].tls.is_some() {
            let mut sealed = std::mem::take(&mut self.plain);
            sealed.clear();
            let written = match self.conns[conn].tls.as_mut() {
                Some(tls) => tls.client.write(bytes, &mut sealed),
                None => Ok(()),
            };
            let sent = match written {
                Ok(()) => self.send_raw(conn, &sealed),
                Err(error) => {
                    self.fail(conn, &Failure::Tls(error.to_string()));
                    false
                }
            };
            self.plain = sealed;
            sent
        } else {
            self.send_raw(conn, bytes)
        };
        if !sent {
            return;
        }
        let entry = &mut self.conns[conn];
        // Of a reused connection the start is the sending; another look at the clock would only measure itself.
        let now = if entry.exchange.reused { entry.exchange.start } else { self.clock.now() };
        let entry = &mut self.conns[conn];
        entry.exchange.sent_at = now;
        let (index, limit) = (entry.user, entry.exchange.limit);
        if limit == 0 {
            self.users[index].limit = Nanos::MAX;
        } else {
            self.arm(index, now + limit);
        }
    }

    /// Hands bytes to the kernel; keeps what does not fit. False: the exchange has failed.
    pub(crate) fn send_raw(&mut self, conn: u32, bytes: &[u8]) -> bool {
        let entry = &mut self.conns[conn];
        if bytes.is_empty() {
            return true;
        }
        if !entry.unsent.is_empty() {
            entry.unsent.extend_from_slice(bytes);
            return true;
        }
        let Some(fd) = entry.fd.as_ref() else { return false };
        match driver::send(fd, bytes) {
            Ok(n) if n == bytes.len() => true,
            Ok(n) => {
                entry.unsent.extend_from_slice(&bytes[n..]);
                entry.unsent_at = 0;
                // What the socket had no room for may already fit again: an edge could otherwise be missed.
                n == 0 || self.flush(conn)
            }
            Err(error) => {
                self.fail(conn, &Failure::Socket(error));
                false
            }
        }
    }

    /// Sends what is left over. False: the exchange has failed.
    pub(crate) fn flush(&mut self, conn: u32) -> bool {
        loop {
            let entry = &mut self.conns[conn];
            let Some(fd) = entry.fd.as_ref() else { return false };
            match driver::send(fd, &entry.unsent[entry.unsent_at..]) {
                Ok(0) => return true,
                Ok(n) => {
                    entry.unsent_at += n;
                    if entry.unsent_at == entry.unsent.len() {
                        (entry.unsent, entry.unsent_at) = (Vec::new(), 0);
                        return true;
                    }
                }
                Err(error) => {
                    self.fail(conn, &Failure::Socket(error));
                    return false;
                }
            }
        }
    }

    /// Takes what a socket has.
    pub(crate) fn read(&mut self, conn: u32, hangup: bool) {
        let generation = self.conns[conn].generation;
        let mut scratch = std::mem::take(&mut self.scratch);
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
                0 if kept == 0 && self.routes[entry.route as usize].large_unread => HEAD_ONLY,
                0 => scratch.len() - kept,
                unread => unread,
            };
            let Some(fd) = entry.fd.as_ref() else { break };
            let received = match unread {
                0 => self.driver.receive(fd, &mut scratch[kept..kept + room]),
                _ => self.driver.discard(fd, &mut scratch[..room]),
            };
            let received = match received {
                Ok(Some(received)) => received,
                Ok(None) => break,
                Err(error) => {
                    self.fail(conn, &Failure::Socket(error));
                    break;
                }
            };
            let now = self.clock.now();
            if received.bytes == 0 {
                self.on_eof(conn, now);
                break;
            }
            self.recorder.add(Counter::BytesIn, received.bytes as u64);
            let entry = &mut self.conns[conn];
            let arrival = received.arrival.map_or(now, |wall| self.clock.from_wall(wall));
            entry.exchange.arrival = arrival.clamp(entry.exchange.sent_at.min(now), now);
            let all = kept + received.bytes;
            let full = received.bytes == room;
            if unread > 0 {
                self.pass_over(conn, received.bytes as u64, now, hangup);
            } else if entry.tls.is_some() {
                self.take_sealed(conn, &mut scratch[..all], now, hangup);
            } else {
                self.take(conn, &scratch[..all], now, hangup);
            }
            let entry = &self.conns[conn];
            let over = entry.generation != generation
                || !matches!(entry.state, State::Busy | State::Handshaking);
            if over || !(full || hangup) {
                break;
            }
        }
        self.scratch = scratch;
    }

    /// Part of a body that nobody reads is gone.
    fn pass_over(&mut self, conn: u32, bytes: u64, now: Nanos, hangup: bool) {
        let entry = &mut self.conns[conn];
        entry.exchange.received += bytes;
        if entry.decoder.skip(bytes) {
            self.finish(conn, now, Closing::of(false, hangup));
        } else {
            self.progress(conn, now);
        }
    }

    /// Takes plain bytes.
    fn take(&mut self, conn: u32, bytes: &[u8], now: Nanos, hangup: bool) {
        let entry = &mut self.conns[conn];
        match feed(entry, &mut self.stashes, &mut self.memo, bytes, now) {
            Ok(Fed::More(used)) => {
                keep(&mut entry.tail, &bytes[used..]);
                let route = &mut self.routes[entry.route as usize];
                route.large_unread = entry.unread_left() >= LARGE;
                self.progress(conn, now);
            }
            Ok(Fed::Done(used)) => {
                let rest = used < bytes.len();
                entry.tail = Vec::new();
                self.finish(conn, now, Closing::of(rest, hangup));
            }
            Err(error) => self.fail(conn, &broken(error, bytes)),
        }
    }

    /// Takes TLS records.
    fn take_sealed(&mut self, conn: u32, bytes: &mut [u8], now: Nanos, hangup: bool) {
        if self.conns[conn].state == State::Handshaking {
            let generation = self.conns[conn].generation;
            let used = self.handshake(conn, bytes);
            let entry = &mut self.conns[conn];
            if entry.generation == generation {
                keep(&mut entry.tail, &bytes[used..]);
            }
            return;
        }
        let mut plain = std::mem::take(&mut self.plain);
        plain.clear();
        let mut out = std::mem::take(&mut self.out);
        out.clear();
        let entry = &mut self.conns[conn];
        let mut progress = None;
        if let Some(tls) = entry.tls.as_mut() {
            plain.extend_from_slice(&tls.plain);
            progress = Some(
                tls.client.advance(bytes, &mut out, &mut |data| plain.extend_from_slice(data)),
            );
        }
        match progress {
            Some(Ok(progress)) => {
                keep(&mut entry.tail, &bytes[progress.used..]);
                if self.send_raw(conn, &out) {
                    self.take_plain(conn, &plain, now, hangup || progress.peer_closed);
                    if progress.peer_closed && self.conns[conn].state == State::Busy {
                        self.on_eof(conn, now);
                    }
                }
            }
            Some(Err(error)) => self.fail(conn, &Failure::Tls(error.to_string())),
            None => {}
        }
        self.plain = plain;
        self.out = out;
    }

    fn take_plain(&mut self, conn: u32, plain: &[u8], now: Nanos, hangup: bool) {
        let entry = &mut self.conns[conn];
        match feed(entry, &mut self.stashes, &mut self.memo, plain, now) {
            Ok(Fed::More(used)) => {
                if let Some(tls) = entry.tls.as_mut() {
                    keep(&mut tls.plain, &plain[used..]);
                }
                self.progress(conn, now);
            }
            Ok(Fed::Done(used)) => {
                if let Some(tls) = entry.tls.as_mut() {
                    tls.plain = Vec::new();
                }
                self.finish(conn, now, Closing::of(used < plain.len(), hangup));
            }
            Err(error) => self.fail(conn, &broken(error, plain)),
        }
    }

    /// Part of a response arrived: its time limit starts anew, as a socket timeout does.
    fn progress(&mut self, conn: u32, now: Nanos) {
        let entry = &self.conns[conn];
        if entry.exchange.limit > 0 {
            let (index, limit) = (entry.user, entry.exchange.limit);
            self.users[index].limit = now + limit;
        }
    }

    /// The peer closed.
    fn on_eof(&mut self, conn: u32, now: Nanos) {
        let entry = &mut self.conns[conn];
        if entry.state == State::Handshaking {
            self.recorder.add(Counter::TlsFailed, 1);
            return self.fail(conn, &Failure::TlsClosed);
        }
        let unread = match &entry.tls {
            Some(tls) => &tls.plain,
            None => &entry.tail,
        };
        match entry.decoder.eof(unread) {
            Ok(()) => self.finish(conn, now, Closing::Broken),
            Err(error) => self.fail(conn, &Failure::Http(error)),
        }
    }

    /// A response is complete.
    fn finish(&mut self, conn: u32, now: Nanos, closing: Closing) {
        let entry = &mut self.conns[conn];
        let mut exchange = entry.exchange;
        let index = entry.user;
        let stash = entry.stash.take();
        if exchange.has_body && exchange.latency == 0 {
            exchange.latency = now - exchange.start;
        }
        if exchange.keep_alive && exchange.want_keep_alive && closing != Closing::Broken {
            entry.state = State::Idle;
            entry.idle_since = now;
            let life = self.run.settings.time_to_live;
            let told = exchange.keep_alive_s.map_or(Nanos::MAX, |s| Nanos::from(s) * SECOND);
            entry.expires = now.saturating_add(told.min(life));
            if closing == Closing::ByPeer {
                self.peer_gave_up(conn);
            }
        } else {
            let by_us = exchange.keep_alive && closing == Closing::No;
            self.drop_connection(
                conn,
                if by_us { Counter::ConnClosedByUs } else { Counter::ConnClosedByPeer },
            );
        }
        let Wait::Exchange(id) = self.users[index].wait else { return };
        self.users[index].wait = Wait::Ready;
        // From the intended to the actual start, and from the arrival of the last byte to our reading it.
        let wait = (exchange.start - exchange.intended).max(0) as u64;
        let lag = (now - exchange.arrival).max(0) as u64 + wait;
        let timing = Timing {
            start: exchange.start,
            end: now,
            idle: 0,
            latency: exchange.latency as u64,
            connect: exchange.connect as u64,
            lag,
            wait,
            sent: exchange.sent,
            received: exchange.received,
        };
        self.answered(index, id, &exchange, timing, stash);
        self.step(index);
    }

    /// A response was read whole: cookies, redirects, the result; then the sample is concluded.
    fn answered(
        &mut self,
        index: Index,
        id: SamplerId,
        exchange: &Exchange,
        mut timing: Timing,
        stash: Option<Box<Stash>>,
    ) {
        if let Some(stash) = &stash
            && exchange.cookies
            && stash.set_cookie
        {
            self.store_cookies(index, id, stash);
        }
        let success = (200..400).contains(&exchange.status);
        let redirect = matches!(exchange.status, 301 | 302 | 303 | 307 | 308);
        let chain = self.users[index].extra.as_ref().is_some_and(|extra| extra.redirect.is_some());
        if let Some(stash) = stash {
            if chain || (redirect && (exchange.follow || exchange.auto_follow)) || self.observes(id)
            {
                self.fill(index, id, exchange, &timing, &stash);
            }
            let goes_on = (chain || redirect && (exchange.follow || exchange.auto_follow))
                && self.follow(index, id, &timing, exchange, &stash);
            self.stashes.push(stash);
            if goes_on {
                return;
            }
            if self.users[index].extra.as_ref().is_some_and(|extra| extra.redirect.is_some()) {
                return self.conclude_chain(index, id);
            }
        }
        if !success && !self.observes(id) {
            self.result.clear();
            let mut digits = itoa::Buffer::new();
            self.result.code.push_str(digits.format(exchange.status));
            self.result.success = false;
        }
        let outcome = if !success {
            Outcome::Status
        } else if self.observes(id) && !self.result.success {
            timing.sent = 0;
            Outcome::Protocol
        } else {
            Outcome::Ok
        };
        self.conclude(index, id, timing, outcome);
    }

    /// An exchange failed: the connection is closed and the sample concluded, unless the request may be sent again.
    pub(crate) fn fail(&mut self, conn: u32, failure: &Failure) {
        let now = self.clock.now();
        let entry = &mut self.conns[conn];
        let (exchange, index, route) = (entry.exchange, entry.user, entry.route);
        let stash = entry.stash.take();
        let dead =
            matches!(failure, Failure::Socket(_) | Failure::Http(wire::http1::Error::NoResponse));
        let untouched = !exchange.head_seen && entry.tail.is_empty();
        let by_peer = matches!(failure, Failure::Socket(_) | Failure::Http(_) | Failure::TlsClosed);
        if self.conns[conn].state == State::Connecting {
            self.drop_connection(conn, Counter::ConnFailed);
        } else {
            if !by_peer && let Some(fd) = self.conns[conn].fd.as_ref() {
                driver::reset(fd);
            }
            self.drop_connection(
                conn,
                if by_peer { Counter::ConnClosedByPeer } else { Counter::ConnClosedByUs },
            );
        }
        let id = match self.users[index].wait {
            Wait::Exchange(id) | Wait::Resolve(id) => id,
            _ => return,
        };
        if dead
            && untouched
            && exchange.reused
            && !exchange.retried
            && self.run.settings.retry_stale
        {
            return self.send_again(index, id, route, exchange, stash);
        }
        self.users[index].wait = Wait::Ready;
        let timing = Timing {
            start: exchange.start,
            end: now,
            connect: exchange.connect as u64,
            latency: exchange.latency as u64,
            wait: (exchange.start - exchange.intended).max(0) as u64,
            ..Timing::default()
        };
        self.result.clear();
        if let Some(stash) = stash {
            self.result.url.push_str(&stash.url);
            self.stashes.push(stash);
        }
        let route = &self.routes[route as usize];
        let result = &mut *self.result;
        let outcome =
            crate::outcome::describe(failure, route, &mut result.code, &mut result.message);
        self.fail_result(index, id, timing, outcome, true);
        self.step(index);
    }

    /// The connection was kept too long by our side: the peer had given it up. The request goes out anew, once.
    fn send_again(
        &mut self,
        index: Index,
        id: SamplerId,
        route: u32,
        exchange: Exchange,
        stash: Option<Box<Stash>>,
    ) {
        self.recorder.add(Counter::StaleRetried, 1);
        let mut stash = stash.unwrap_or_else(|| {
            let mut stash = self.stashes.pop().unwrap_or_default();
            stash.clear();
            stash
        });
        if stash.request.is_empty()
            && let Some(fixed) = &self.fixed[id.0 as usize]
        {
            stash.request.extend_from_slice(&fixed.bytes);
        }
        let again = Exchange { retried: true, reused: false, received: 0, ..exchange };
        self.open(index, id, route, again, stash);
    }

    /// Evaluating the sampler's texts threw: the sample fails with it.
    fn thrown(&mut self, index: Index, id: SamplerId, thrown: &plan::text::Thrown) {
        let code = format!("Non HTTP response code: {}", thrown.class);
        let message = format!("Non HTTP response message: {}", thrown.message);
        self.unsendable(index, id, &code, &message, true);
    }

    /// A request that could not even be made.
    fn unsendable(&mut self, index: Index, id: SamplerId, code: &str, message: &str, named: bool) {
        let now = self.clock.now();
        self.result.code.push_str(code);
        self.result.message.push_str(message);
        let timing = Timing { start: now, end: now, ..Timing::default() };
        self.fail_result(index, id, timing, Outcome::Other, named);
    }

    /// Concludes a sample that failed before it had an answer; code, message and URL stand in the result.
    pub(crate) fn fail_result(
        &mut self,
        index: Index,
        id: SamplerId,
        timing: Timing,
        outcome: Outcome,
        named: bool,
    ) {
        let mut label = std::mem::take(&mut self.result.label);
        // JMeter labels a sample only after its URL is put together.
        if named {
            label.push_str(self.sampler_name(index, id));
        }
        self.result.label = label;
        self.result.start_ms = self.clock.wall_ms(timing.start);
        self.result.success = false;
        self.result.data_type = "text";
        self.put_exception_text(id);
        let chain = self.users[index].extra.as_ref().is_some_and(|extra| extra.redirect.is_some());
        if chain {
            return self.fail_chain(index, id, timing, outcome);
        }
        self.conclude(index, id, timing, outcome);
    }

    /// Where JMeter has the stack trace of the exception, its first line stands as the body.
    fn put_exception_text(&mut self, id: SamplerId) {
        if !self.plan.samplers[id.0 as usize].needs.intersects(Needs::BODY | Needs::TEXT) {
            return;
        }
        let result = &mut *self.result;
        let class = result.code.strip_prefix("Non HTTP response code: ").unwrap_or(&result.code);
        let message =
            result.message.strip_prefix("Non HTTP response message: ").unwrap_or(&result.message);
        result.text.push_str(class);
        if message != "null" {
            result.text.push_str(": ");
            result.text.push_str(message);
        }
        result.text.push('\n');
        result.body.extend_from_slice(result.text.as_bytes());
    }

    /// The run ends at once while an exchange is under way.
    pub(crate) fn cut(&mut self, index: Index, _id: SamplerId) {
        let conn = self.users[index].conn;
        if conn == crate::user::NO_CONN {
            self.end_user(index);
        } else {
            self.fail(conn, &Failure::Cut);
        }
    }

    /// Writes the user's cookies for a request into `self.plain`. False: there are none.
    fn cookie_line(&mut self, index: Index, http: &Http, request: &Request) -> bool {
        let Some(manager) = http.cookies else { return false };
        let now_ms = self.clock.wall_ms(self.clock.now());
        self.plain.clear();
        let Some(jar) = self.jar(index, manager) else { return false };
        let mut line = std::mem::take(&mut self.plain);
        let path = &request.target[..request.path_len.min(request.target.len())];
        let origin = Origin { host: &request.host, path, secure: request.secure };
        let jar = match self.users[index].extra.as_mut() {
            Some(extra) => extra.jars[jar].as_mut(),
            None => None,
        };
        let any = jar.is_some_and(|jar| jar.header(&origin, now_ms, &mut line));
        self.plain = line;
        any
    }
}

/// Puts a request together as it goes on the wire.
fn assemble(request: &Request, cookies: Option<&[u8]>, out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(request.method.as_bytes());
    out.push(b' ');
    out.extend_from_slice(request.target.as_bytes());
    out.extend_from_slice(b" HTTP/1.1\r\n");
    match cookies {
        Some(cookies) => {
            // A cookie line of the plan's own gives way to the user's cookies.
            let own = &request.own_cookie;
            let (before, after) = if own.is_empty() {
                (request.cookie_at, request.cookie_at)
            } else {
                (own.start, own.end)
            };
            out.extend_from_slice(&request.headers[..before]);
            out.extend_from_slice(b"Cookie: ");
            out.extend_from_slice(cookies);
            out.extend_from_slice(b"\r\n");
            out.extend_from_slice(&request.headers[after..]);
        }
        None => out.extend_from_slice(&request.headers),
    }
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(&request.body);
}

/// A response that breaks the protocol at a place in the input.
fn broken((at, error): (usize, wire::http1::Error), bytes: &[u8]) -> Failure {
    if error != wire::http1::Error::BadChunkSize {
        return Failure::Http(error);
    }
    let line = bytes[at..].split(|byte| *byte == b'\n').next().unwrap_or_default();
    Failure::ChunkSize(line.trim_ascii().iter().map(|byte| *byte as char).collect())
}

/// Keeps unfinished input; frees the buffer when there is none.
fn keep(tail: &mut Vec<u8>, rest: &[u8]) {
    if rest.is_empty() {
        *tail = Vec::new();
    } else {
        tail.clear();
        tail.extend_from_slice(rest);
    }
}

/// Feeds bytes to the response under way.
fn feed(
    conn: &mut Conn,
    stashes: &mut Vec<Box<Stash>>,
    memo: &mut Memo,
    bytes: &[u8],
    now: Nanos,
) -> Result<Fed, (usize, wire::http1::Error)> {
    let mut at = 0;
    loop {
        let (used, event) =
            conn.decoder.next_with(&bytes[at..], memo).map_err(|error| (at, error))?;
        at += used;
        let exchange = &mut conn.exchange;
        exchange.received += used as u64;
        match event {
            Event::NeedMore => return Ok(Fed::More(at)),
            Event::Head(head) => {
                exchange.status = head.status;
                exchange.keep_alive = head.keep_alive;
                exchange.keep_alive_s = head.keep_alive_timeout_s;
                exchange.has_body = head.has_body;
                exchange.head_seen = true;
                // JMeter counts a status line without reason with the blank that its own form of it has.
                exchange.received += u64::from(head.reason.is_empty());
                let redirects =
                    (exchange.follow || exchange.auto_follow) && (300..400).contains(&head.status);
                if exchange.keep_head || redirects || (exchange.cookies && head.set_cookie) {
                    let stash = conn.stash.get_or_insert_with(|| {
                        let mut stash = stashes.pop().unwrap_or_default();
                        stash.clear();
                        stash
                    });
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
                    stash.body.extend_from_slice(body);
                }
            }
            Event::End => return Ok(Fed::Done(at)),
        }
    }
}
