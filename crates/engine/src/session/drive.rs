//! From the call to the end of an exchange: sending, reading, time limits, failures. Hot.

use plan::plan::SamplerId;
use stats::{Counter, Phase};
use wire::redis;
use wire::session::{Broken, Session, Status, Ticket, Told};
use wire::stream;

use crate::ids::UserId;
use crate::net::driver::{self, Ready};
use crate::net::outcome::Failure;
use crate::net::transport::Unwritten;
use crate::session::exchange::{After, Answer, Ending, Exchange, Reached};
use crate::session::line::{LineId, Place, Speaker, State};
use crate::session::{Around, Sessions};
use crate::time::clock::{MS, Nanos, thread_cpu};
use crate::users::Wait;

/// How long a line is read before others have their turn.
const TURN: Nanos = 2 * MS;

/// The outcome of feeding bytes to a session.
struct Fed {
    used: usize,
    done: bool,
}

impl Sessions {
    /// A new exchange of a user's sampler.
    pub(crate) fn exchange(&mut self, user: UserId, sampler: SamplerId) -> Ticket {
        self.exchanges.begin(user, sampler)
    }

    /// Starts an exchange that is made up: its user waits until it has ended.
    pub(crate) fn start(&mut self, around: &mut Around<'_>, ticket: Ticket) {
        let exchange = &mut self.exchanges[ticket];
        let (user, place, route) = (exchange.user, exchange.place, exchange.route);
        around.users[user].wait = Wait::Session(ticket);
        if let Place::Named { pool, most } = place {
            return self.join(around, ticket, (pool, most));
        }
        let Some(id) = self.kept(user, place, route) else { return self.open(around, ticket) };
        let exchange = &mut self.exchanges[ticket];
        (exchange.line, exchange.reused) = (id, true);
        let line = &mut self.lines[id];
        line.ticket = Some(ticket);
        if matches!(line.speaker, Speaker::Stream(_)) {
            around.recorder.add(Counter::ConnReused, 1);
        }
        let ended = line.state == State::Ended;
        let waiting = std::mem::take(&mut line.tail);
        self.begin(around, id, ticket);
        // What came since the last exchange is for this one, unless that has ended by now.
        if !waiting.is_empty() && self.is_on(id, ticket) {
            let now = self.exchanges[ticket].start;
            self.feed(around, id, &waiting, now, ended);
        }
        // The peer sends no more on it: what could be written is answered by the end.
        if ended && self.is_on(id, ticket) {
            return self.on_eof(around, id, around.clock.now());
        }
        if matches!(place, Place::Held(_)) && self.is_on(id, ticket) {
            // Nothing was told of what came meanwhile.
            match self.lines[id].transport.fd.as_ref().map_or(Ok(false), driver::has_input) {
                Ok(true) => {
                    self.read(around, id, false);
                }
                Ok(false) => {}
                Err(error) => self.fail(around, ticket, Failure::Socket(error)),
            }
        }
    }

    fn is_on(&self, id: LineId, ticket: Ticket) -> bool {
        self.lines[id].ticket == Some(ticket)
    }

    /// Sends the call on a line that stands.
    pub(super) fn begin(&mut self, around: &mut Around<'_>, id: LineId, ticket: Ticket) {
        let exchange = &mut self.exchanges[ticket];
        if let Some(words) = exchange.unwritable.take() {
            return self.end(around, ticket, Ending::Thrown(words), around.clock.now());
        }
        let line = &mut self.lines[id];
        let out = &mut around.net.out;
        out.clear();
        match &mut line.speaker {
            Speaker::Stream(session) => {
                let call = stream::Call { bytes: &exchange.request, end: exchange.end };
                session.begin(ticket, call, out);
            }
            Speaker::Datagram => out.extend_from_slice(&exchange.request),
            Speaker::Redis(session) => {
                session.begin_rendered(ticket, &exchange.request, out);
            }
            Speaker::Sse(session) => {
                session.begin(ticket, &exchange.request, out);
            }
        }
        around.recorder.add(Counter::BytesOut, out.len() as u64);
        match line.transport.send(out, &mut around.net.sealed) {
            Ok(_) => {}
            Err(Unwritten::Socket(error)) => {
                return self.fail(around, ticket, Failure::Socket(error));
            }
            Err(Unwritten::Tls(error)) => return self.fail(around, ticket, Failure::Tls(error)),
        }
        // On a reused line the start is the sending; another look at the clock would only measure itself.
        exchange.sent_at = if exchange.reused { exchange.start } else { around.clock.now() };
        let user = exchange.user;
        let limit = exchange.limit_of(exchange.limit, exchange.sent_at);
        let ending = match std::mem::take(&mut exchange.after) {
            After::Answer => return around.limit(user, limit, exchange.sent_at),
            After::Nothing => Ending::Complete { closed: false },
            After::Thrown(words) => Ending::Thrown(words),
        };
        self.end(around, ticket, ending, around.clock.now());
    }

    /// A line has something to say, or room for more.
    pub(crate) fn on_ready(&mut self, around: &mut Around<'_>, id: LineId, ready: Ready) {
        match self.lines[id].state {
            State::Connecting if ready.writable => self.on_connected(around, id),
            State::Handshaking | State::Open => {
                if ready.writable && !self.lines[id].transport.all_sent() && !self.flush(around, id)
                {
                    return;
                }
                // Datagrams wait for who asks for them.
                let held = matches!(self.lines[id].speaker, Speaker::Datagram);
                if ready.readable && (self.lines[id].ticket.is_some() || !held) {
                    self.read(around, id, ready.hangup);
                }
            }
            State::Connecting | State::Naming | State::Unsecured | State::Ended | State::Closed => {
            }
        }
    }

    /// Sends what is left over. False: that failed.
    fn flush(&mut self, around: &mut Around<'_>, id: LineId) -> bool {
        let Err(error) = self.lines[id].transport.flush() else { return true };
        match self.lines[id].ticket {
            Some(ticket) => self.fail(around, ticket, Failure::Socket(error)),
            None => self.lines[id].state = State::Ended,
        }
        false
    }

    /// Takes what a line has. False: it has nothing.
    pub(super) fn read(&mut self, around: &mut Around<'_>, id: LineId, hangup: bool) -> bool {
        let mut any = false;
        let mut until = Nanos::MAX;
        let generation = self.lines[id].transport.generation;
        let mut scratch = std::mem::take(&mut around.net.scratch);
        loop {
            let line = &mut self.lines[id];
            let kept_from = if line.transport.tls().is_some() { &line.sealed } else { &line.tail };
            let kept = kept_from.len();
            if kept + 32 * 1024 > scratch.len() {
                scratch.resize(kept + driver::SCRATCH, 0);
            }
            scratch[..kept].copy_from_slice(kept_from);
            let room = scratch.len() - kept;
            let Some(fd) = line.transport.fd.as_ref() else { break };
            let received = match around.net.driver.receive(fd, &mut scratch[kept..]) {
                Ok(Some(received)) => received,
                Ok(None) => break,
                Err(error) => {
                    any = true;
                    match line.ticket {
                        Some(ticket) => self.fail(around, ticket, Failure::Socket(error)),
                        None => line.state = State::Ended,
                    }
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
            if let Some(ticket) = line.ticket {
                let exchange = &mut self.exchanges[ticket];
                let arrival = received.arrival.map_or(now, |wall| around.clock.of_wall(wall));
                exchange.arrival = arrival.clamp(exchange.sent_at.min(now), now);
                let limit = around.users[exchange.user].limit;
                if exchange.awaits_first()
                    && kept == 0
                    && exchange.arrival > limit.saturating_add(MS)
                {
                    // Only a stall of this process made it look as if it had come in time.
                    self.fail(around, ticket, Failure::ResponseTimeout);
                    break;
                }
            }
            let all = kept + received.bytes;
            if self.lines[id].transport.tls().is_some() {
                self.unseal(around, id, &mut scratch[..all], now, hangup);
            } else {
                self.feed(around, id, &scratch[..all], now, hangup);
            }
            let line = &self.lines[id];
            let over = line.transport.generation != generation
                || line.ticket.is_none()
                || !matches!(line.state, State::Open | State::Handshaking);
            if over || !(received.bytes == room || hangup) {
                break;
            }
            if now >= until {
                // A peer may send faster than it is read; others have their turns.
                around.net.unfinished.push_back((self.lines.token(id), hangup));
                break;
            }
            until = until.min(now + TURN);
        }
        around.net.scratch = scratch;
        any
    }

    /// Takes TLS records.
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
                let since =
                    self.lines[id].ticket.map_or(now, |ticket| self.exchanges[ticket].arrival);
                self.shake_hands(around, id, bytes, (since, thread_cpu()))
            };
            let line = &mut self.lines[id];
            if line.transport.generation == generation {
                keep(&mut line.sealed, &bytes[used..]);
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
                keep(&mut line.sealed, &bytes[progress.used..]);
                match (line.transport.send_raw(&around.net.out), line.ticket) {
                    (Err(error), Some(ticket)) => {
                        self.fail(around, ticket, Failure::Socket(error));
                    }
                    (Err(_), None) => line.state = State::Ended,
                    (Ok(_), _) => {
                        let closed = progress.peer_closed;
                        if plain.len() > line.tail.len() {
                            self.feed(around, id, &plain, now, hangup || closed);
                        }
                        if closed && self.lines[id].state == State::Open {
                            self.on_eof(around, id, now);
                        }
                    }
                }
            }
            Err(error) => match line.ticket {
                Some(ticket) => self.fail(around, ticket, Failure::Tls(error)),
                None => line.state = State::Ended,
            },
        }
        around.net.plain = plain;
    }

    /// Feeds a session with what came, all of which is not used up yet.
    fn feed(
        &mut self,
        around: &mut Around<'_>,
        id: LineId,
        bytes: &[u8],
        now: Nanos,
        hangup: bool,
    ) {
        let line = &mut self.lines[id];
        let Some(ticket) = line.ticket else { return keep(&mut line.tail, bytes) };
        let exchange = &mut self.exchanges[ticket];
        if exchange.latency == 0 && !bytes.is_empty() {
            exchange.latency = now - exchange.start;
        }
        let fed = match &mut line.speaker {
            Speaker::Stream(session) => {
                let mut done = false;
                let mut tell = |told: Told<'_>| match told {
                    Told::Data { bytes, .. } => exchange.answer.take(bytes),
                    Told::Done { .. } => done = true,
                    _ => {}
                };
                let used = session.feed(bytes, &mut (), &mut around.net.sealed, &mut tell);
                exchange.answer.expected = session.expected();
                // A stream has no rules that a peer could break.
                Fed { used: used.unwrap_or(bytes.len()), done }
            }
            Speaker::Datagram => {
                exchange.answer.take(bytes);
                Fed { used: bytes.len(), done: true }
            }
            Speaker::Redis(session) => {
                let (mut done, mut ready) = (false, false);
                let mut tell = |told: Told<'_>| match told {
                    Told::Ready => ready = true,
                    Told::Head { head: Status { status, bytes }, .. } => {
                        exchange.answer.head = status;
                        match status {
                            redis::kind::BULK | redis::kind::ARRAY => {
                                exchange.answer.nil = bytes == redis::NIL;
                            }
                            _ => exchange.answer.take(bytes),
                        }
                    }
                    Told::Data { bytes, .. } => exchange.answer.take(bytes),
                    Told::Done { .. } => done = true,
                    _ => {}
                };
                let used = match session.feed(bytes, &mut (), &mut around.net.sealed, &mut tell) {
                    Ok(used) => used,
                    Err(broken) => {
                        return self.end(around, ticket, Ending::Thrown(broken.0), now);
                    }
                };
                if ready {
                    keep(&mut line.tail, &bytes[used..]);
                    return self.begin(around, id, ticket);
                }
                Fed { used, done }
            }
            Speaker::Sse(session) => {
                let mut done = false;
                let mut tell = |told: Told<'_>| tell_events(&mut exchange.answer, &mut done, told);
                let fed = session.feed(bytes, &mut (), &mut around.net.sealed, &mut tell);
                let answer = &mut exchange.answer;
                answer.streams = session.streams();
                match fed {
                    Ok(used) => {
                        // Of another answer only the head is asked for.
                        Fed { used, done: done || answer.head != 0 && !answer.streams }
                    }
                    Err(Broken(words)) => {
                        return self.end(around, ticket, Ending::Broken(words), now);
                    }
                }
            }
        };
        keep(&mut line.tail, &bytes[fed.used..]);
        if fed.done {
            let closed = hangup && fed.used == bytes.len();
            return self.end(around, ticket, Ending::Complete { closed }, now);
        }
        // Its time limit starts anew, as a socket timeout does.
        if exchange.limit > 0 {
            around.users[exchange.user].limit = now + exchange.limit;
        }
    }

    /// The peer sends no more.
    fn on_eof(&mut self, around: &mut Around<'_>, id: LineId, now: Nanos) {
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
        let ending = match &mut line.speaker {
            Speaker::Stream(session) => {
                let _ = session.end(&line.tail, &mut |_| {});
                Ending::Eof
            }
            Speaker::Redis(session) => match session.end(&line.tail, &mut |_| {}) {
                Ok(()) => Ending::Eof,
                Err(broken) => Ending::Thrown(broken.0),
            },
            // It was empty.
            Speaker::Datagram => Ending::Complete { closed: false },
            Speaker::Sse(session) => {
                let answer = &mut self.exchanges[ticket].answer;
                let mut done = false;
                let mut tell = |told: Told<'_>| tell_events(answer, &mut done, told);
                match session.end(&line.tail, &mut tell) {
                    Ok(()) => Ending::Complete { closed: true },
                    Err(_) => Ending::Eof,
                }
            }
        };
        self.end(around, ticket, ending, now);
    }

    /// An exchange fails.
    pub(crate) fn fail(&mut self, around: &mut Around<'_>, ticket: Ticket, failure: Failure) {
        let exchange = &self.exchanges[ticket];
        let stands = exchange.line != LineId::NONE
            && matches!(self.lines[exchange.line].state, State::Open | State::Ended);
        let reached = match (stands, exchange.sent_at) {
            (false, _) => Reached::Opening,
            (true, 0) => Reached::Connected,
            (true, _) => Reached::Sent,
        };
        self.end(around, ticket, Ending::Failed { failure, reached }, around.clock.now());
    }

    /// An exchange is over: its room makes the result of it, and says what becomes of the line.
    pub(super) fn end(
        &mut self,
        around: &mut Around<'_>,
        ticket: Ticket,
        ending: Ending,
        now: Nanos,
    ) {
        self.stop_waiting(ticket);
        let exchange = &mut self.exchanges[ticket];
        (exchange.ending, exchange.ended) = (ending, now);
        if exchange.line != LineId::NONE {
            self.lines[exchange.line].ticket = None;
        }
        around.users[exchange.user].wait = Wait::Done;
        around.done.now.push_exchange(ticket);
    }

    /// The line of an exchange that is over is kept for the user's next; `ended`: the peer sends no more on it.
    pub(crate) fn keep(&mut self, ticket: Ticket, ended: bool) {
        let line = &mut self.lines[self.exchanges[ticket].line];
        line.state = if ended { State::Ended } else { State::Open };
    }

    /// The line of an exchange that is over is closed.
    pub(crate) fn close(&mut self, around: &mut Around<'_>, ticket: Ticket, counter: Counter) {
        let id = std::mem::replace(&mut self.exchanges[ticket].line, LineId::NONE);
        if id != LineId::NONE {
            around.recorder.add(counter, 1);
            self.lines.close(id);
        }
    }

    /// Closes all lines of a user, and forgets its exchange.
    pub(crate) fn close_all(&mut self, around: &mut Around<'_>, user: UserId) {
        if let Wait::Session(ticket) = around.users[user].wait
            && self.exchanges.has(ticket)
            && matches!(self.exchanges[ticket].place, Place::Named { .. })
        {
            self.stop_waiting(ticket);
            self.leave_pool(around, ticket, false);
            self.exchanges.end(ticket);
        }
        while let Some(id) = self.lines.find(user, |_| true) {
            let line = &mut self.lines[id];
            line.transport.say_goodbye(&mut around.net.out);
            let by_peer = line.state == State::Ended;
            if let Some(ticket) = line.ticket {
                self.exchanges.end(ticket);
            }
            let counter = if by_peer { Counter::ConnClosedByPeer } else { Counter::ConnClosedByUs };
            around.recorder.add(counter, 1);
            self.lines.close(id);
        }
    }

    /// The timer of a user with an exchange fired.
    pub(crate) fn check_limit(&mut self, around: &mut Around<'_>, ticket: Ticket, now: Nanos) {
        let index = self.exchanges[ticket].user;
        let limit = around.users[index].limit;
        if limit == Nanos::MAX {
            return;
        }
        if now < limit {
            return around.timers.wheel.insert(index, limit, &mut *around.users);
        }
        let (id, until) = (self.exchanges[ticket].line, self.exchanges[ticket].until);
        let over = until > 0 && now >= until;
        if self.takes_what_lies_there(around, ticket) && !(over && self.is_on(id, ticket)) {
            return;
        }
        if self.exchanges[ticket].line == LineId::NONE {
            return self.waited(around, ticket);
        }
        // However much its peer still has to say.
        if over {
            return self.end(around, ticket, Ending::Complete { closed: false }, now);
        }
        let failure = match self.lines[self.exchanges[ticket].line].state {
            State::Connecting | State::Naming => Failure::ConnectTimeout,
            State::Unsecured | State::Handshaking => Failure::TlsTimeout,
            _ => Failure::ResponseTimeout,
        };
        self.fail(around, ticket, failure);
    }

    /// Takes what the line of an exchange has whose time is over. Timers fire before sockets are polled: after a stall of
    /// this process, what came in time may lie there unread. False: there was nothing.
    fn takes_what_lies_there(&mut self, around: &mut Around<'_>, ticket: Ticket) -> bool {
        let id = self.exchanges[ticket].line;
        if id == LineId::NONE {
            return false;
        }
        match self.lines[id].state {
            State::Connecting => {
                let settled = driver::has_settled;
                if !self.lines[id].transport.fd.as_ref().is_some_and(settled) {
                    return false;
                }
                self.on_connected(around, id);
            }
            State::Open | State::Handshaking => {
                if !self.read(around, id, false) {
                    return false;
                }
            }
            State::Naming | State::Unsecured | State::Ended | State::Closed => return false,
        }
        // The exchange goes on, with the time that the limit gives from here.
        if self.exchanges.has(ticket) && self.is_on(id, ticket) {
            let (index, limit) = (self.exchanges[ticket].user, self.exchanges[ticket].limit);
            let user = &around.users[index];
            if user.limit != Nanos::MAX && !user.links.armed() {
                let until = user.limit.max(around.clock.now() + limit);
                around.users[index].limit = until;
                around.timers.wheel.insert(index, until, &mut *around.users);
            }
        }
        true
    }

    /// A Sample Timeout interrupts an exchange. These protocols' samplers have nothing to close before a connection stands.
    pub(crate) fn interrupt(&mut self, around: &mut Around<'_>, ticket: Ticket) {
        let id = self.exchanges[ticket].line;
        if id == LineId::NONE || self.lines[id].state != State::Open {
            return;
        }
        if self.takes_what_lies_there(around, ticket) && !self.is_on(id, ticket) {
            return;
        }
        self.fail(around, ticket, Failure::Interrupted(Phase::Response));
    }
}

impl Exchange {
    /// Nothing of its answer has come yet, which may take so long and no longer.
    fn awaits_first(&self) -> bool {
        self.limit > 0 && self.sent_at > 0 && self.latency == 0
    }

    /// A time limit, in nanoseconds from now, no later than the exchange's own end; 0 is none.
    pub(super) fn limit_of(&self, limit: Nanos, now: Nanos) -> Nanos {
        match (self.until, limit) {
            (0, limit) => limit,
            (until, 0) => (until - now).max(1),
            (until, limit) => (until - now).clamp(1, limit),
        }
    }
}

/// Takes what a session of events tells.
fn tell_events(answer: &mut Answer, done: &mut bool, told: Told<'_>) {
    match told {
        Told::Head { head: Status { status, bytes }, .. } => {
            answer.head = status;
            bytes.clone_into(&mut answer.head_bytes);
        }
        Told::Push { kind, id, bytes } => answer.take_event(kind, id, bytes),
        Told::Done { .. } => *done = true,
        _ => {}
    }
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
