//! Bytes off the socket, and the frames in them. Hot.
//!
//! A socket is read whenever it has something, unless its inbox is full. Input that ends within a frame is kept and
//! looked at again when the frame is whole; everything else is parsed where it was received.

use stats::Counter;
use wire::websocket::session::Event;

use super::deliver::Arrived;
use super::{Ending, State, Task, WebSockets};
use crate::context::Context;
use crate::ids::UserId;
use crate::net::driver::{self, Ready};
use crate::time::clock::{Nanos, thread_cpu};
use crate::users::Wait;
use crate::websocket::sample::Fault;

/// Where one look at a socket's input ended.
enum Look {
    /// So many bytes are used up.
    Used(usize),
    /// The connection is gone, or nothing more can be understood on it.
    Over,
}

impl WebSockets {
    /// A WebSocket connection has something to say.
    pub(crate) fn on_ready(&mut self, cx: &mut Context<'_>, at: u32, ready: Ready) {
        match self.sockets[at].state {
            State::Connecting => {
                if ready.writable {
                    self.on_connected(cx, at);
                }
            }
            State::Free | State::Ended(_) => {}
            State::Handshaking | State::Tunnelling | State::Upgrading | State::Open => {
                let generation = self.sockets[at].transport.generation;
                if ready.writable && !self.all_sent(at) {
                    let _ = self.flush(cx, at);
                    self.sent_or_not(cx, at);
                }
                let same = self.sockets[at].transport.generation == generation;
                if ready.readable && same && !self.sockets[at].stopped {
                    self.read_socket(cx, at, ready.hangup);
                }
            }
        }
        self.settle(cx, at);
    }

    /// A sample that waited for room in the socket's buffer is over when everything has gone.
    fn sent_or_not(&mut self, cx: &mut Context<'_>, at: u32) {
        if let Task::Work(work) = &self.sockets[at].task
            && work.step == super::Step::Sending
            && self.all_sent(at)
            && self.is_open(at)
        {
            let now = cx.clock.now();
            self.succeed(cx, at, None, now);
        }
    }

    /// Tells who waits on a connection that has ended.
    pub(super) fn settle(&mut self, cx: &mut Context<'_>, at: u32) {
        let State::Ended(ending) = self.sockets[at].state else {
            return self.sockets.tidy(at);
        };
        match &self.sockets[at].task {
            Task::Work(work) if !work.existing && !work.opened => {
                self.opening_ended(cx, at, ending);
            }
            Task::Work(_) => self.fault(cx, at, Fault::Ended(ending)),
            Task::Hold(_) => self.hold_ended(cx, at, ending),
            Task::None => {}
        }
    }

    /// The timer of a user that waits on its connection fired.
    pub(crate) fn check_limit(&mut self, cx: &mut Context<'_>, index: UserId, now: Nanos) {
        let user = &cx.users[index];
        if user.limit == Nanos::MAX {
            return;
        }
        if now < user.limit {
            let limit = user.limit;
            return cx.timers.wheel.insert(index, limit, &mut cx.users);
        }
        let at = user.socket;
        if at == super::NO_SOCKET {
            return;
        }
        match (&self.sockets[at].task, self.sockets[at].state) {
            (Task::Hold(_), _) => self.finish_hold(cx, at),
            (Task::Work(_), State::Connecting) => {
                if self.sockets[at].transport.fd.as_ref().is_some_and(driver::has_settled) {
                    self.on_connected(cx, at);
                    self.settle(cx, at);
                } else {
                    self.connect_is_late(cx, at);
                }
            }
            (Task::Work(_), _) => self.read_is_late(cx, index, at, now),
            (Task::None, _) => {}
        }
    }

    /// The time for reading is over. Timers fire before sockets are polled: after a stall of this process, what came in
    /// time may lie there unread, and is taken first.
    fn read_is_late(&mut self, cx: &mut Context<'_>, index: UserId, at: u32, now: Nanos) {
        let generation = self.sockets[at].transport.generation;
        let shakes_hands = self.sockets[at].state == State::Handshaking;
        if !self.sockets[at].stopped {
            let any = self.read_socket(cx, at, false);
            self.settle(cx, at);
            let same = self.sockets[at].transport.generation == generation;
            if any && shakes_hands && same && self.sockets[at].state == State::Handshaking {
                // What it answers to was here in time, and went unanswered because of this process.
                return self.read_limit(cx, at);
            }
        }
        let waits = cx.users[index].alive
            && waits_for_socket(cx, index)
            && self.sockets[at].transport.generation == generation;
        if !waits {
            return;
        }
        let limit = cx.users[index].limit;
        if limit <= now {
            self.fault(cx, at, Fault::ReadTimeout);
        } else if limit != Nanos::MAX {
            cx.arm(index, limit);
        }
    }

    /// Reads on where an inbox has room again.
    pub(crate) fn read_resumed(&mut self, cx: &mut Context<'_>) {
        while let Some(token) = self.resumed.pop() {
            let Some(at) = self.sockets.by_token(token) else { continue };
            self.read_kept(cx, at);
            if self.sockets.by_token(token).is_some() && !self.sockets[at].stopped {
                // What else arrived meanwhile made no new edge.
                self.read_socket(cx, at, true);
            }
            self.settle(cx, at);
        }
    }

    /// Looks at the frames that stayed in the input when reading stopped.
    fn read_kept(&mut self, cx: &mut Context<'_>, at: u32) {
        let secure = self.sockets[at].transport.tls().is_some();
        let Some(rest) = self.sockets[at].rest.as_mut() else { return };
        let kept = if secure { &mut rest.plain } else { &mut rest.tail };
        let mut bytes = std::mem::take(kept);
        rest.need = 0;
        let generation = self.sockets[at].transport.generation;
        let now = cx.clock.now();
        let look = self.take_plain_input(cx, at, &bytes, now, now);
        if self.sockets[at].transport.generation != generation {
            return;
        }
        if let Look::Used(used) = look {
            bytes.drain(..used);
            let rest = self.sockets.rest(at);
            if secure {
                rest.plain = bytes;
            } else {
                rest.tail = bytes;
            }
        }
    }

    /// Takes what a socket has. False: it has nothing.
    pub(super) fn read_socket(&mut self, cx: &mut Context<'_>, at: u32, hangup: bool) -> bool {
        let mut any = false;
        let mut until = Nanos::MAX;
        let generation = self.sockets[at].transport.generation;
        let mut scratch = std::mem::take(&mut cx.net.scratch);
        while let Some(fd) = self.sockets[at].transport.fd.as_ref() {
            let received = match cx.net.driver.receive(fd, &mut scratch) {
                Ok(Some(received)) => received,
                Ok(None) => break,
                Err(error) => {
                    any = true;
                    self.socket_ended(cx, at, Ending::of(&error));
                    break;
                }
            };
            any = true;
            let now = cx.clock.now();
            if received.bytes == 0 {
                self.socket_ended(cx, at, Ending::Fin);
                break;
            }
            cx.recorder.add(Counter::BytesIn, received.bytes as u64);
            self.sockets[at].session.heard();
            let arrival = received.arrival.map_or(now, |wall| cx.clock.of_wall(wall)).min(now);
            let full = received.bytes == scratch.len();
            self.take_input(cx, at, &mut scratch[..received.bytes], arrival, now);
            let socket = &mut self.sockets[at];
            // Only now: a close frame is told with how long it had been silent before.
            socket.last_io = now;
            let over = socket.transport.generation != generation
                || socket.stopped
                || matches!(socket.state, State::Free | State::Ended(_));
            if over || !(full || hangup) {
                break;
            }
            if now >= until {
                cx.net.unfinished.push_back((self.sockets.token(at), hangup));
                break;
            }
            until = until.min(now + crate::time::clock::TURN);
        }
        cx.net.scratch = scratch;
        any
    }

    /// Takes bytes as they came from the socket.
    fn take_input(
        &mut self,
        cx: &mut Context<'_>,
        at: u32,
        bytes: &mut [u8],
        arrival: Nanos,
        now: Nanos,
    ) {
        if self.sockets[at].transport.tls().is_some() {
            return self.take_records(cx, at, bytes, arrival, now);
        }
        let generation = self.sockets[at].transport.generation;
        let kept = self.sockets[at].rest.as_ref().is_some_and(|rest| !rest.tail.is_empty());
        if kept {
            let rest = self.sockets.rest(at);
            rest.tail.extend_from_slice(bytes);
            if rest.tail.len() < rest.need {
                return self.input_kept(cx, at);
            }
            let mut tail = std::mem::take(&mut rest.tail);
            rest.need = 0;
            let look = self.take_plain_input(cx, at, &tail, arrival, now);
            if self.sockets[at].transport.generation != generation {
                return;
            }
            if let Look::Used(used) = look {
                tail.drain(..used);
            } else {
                tail.clear();
            }
            if tail.capacity() > 64 * 1024 && tail.is_empty() {
                tail = Vec::new();
            }
            self.sockets.rest(at).tail = tail;
            self.input_kept(cx, at);
        } else if let Look::Used(used) = self.take_plain_input(cx, at, bytes, arrival, now)
            && used < bytes.len()
            && self.sockets[at].transport.generation == generation
        {
            self.sockets.rest(at).tail.extend_from_slice(&bytes[used..]);
            self.input_kept(cx, at);
        }
    }

    /// Takes TLS records.
    fn take_records(
        &mut self,
        cx: &mut Context<'_>,
        at: u32,
        bytes: &mut [u8],
        arrival: Nanos,
        now: Nanos,
    ) {
        let generation = self.sockets[at].transport.generation;
        let kept = self.sockets[at].rest.as_mut().map(|rest| std::mem::take(&mut rest.tail));
        let mut joined = kept.unwrap_or_default();
        let bytes = if joined.is_empty() {
            bytes
        } else {
            joined.extend_from_slice(bytes);
            &mut joined[..]
        };
        let mut at_byte = 0;
        if self.sockets[at].state == State::Handshaking {
            at_byte = self.shake_hands(cx, at, bytes, (arrival, thread_cpu()));
            if self.sockets[at].transport.generation != generation {
                return;
            }
        }
        let mut plain = std::mem::take(&mut cx.net.plain);
        plain.clear();
        let mut closed = false;
        let socket = &mut self.sockets[at];
        if let Some(tls) = socket.transport.tls_mut() {
            plain.append(&mut tls.plain);
        }
        if self.sockets[at].state != State::Handshaking && at_byte < bytes.len() {
            let mut out = std::mem::take(&mut cx.net.out);
            out.clear();
            if let Some(tls) = self.sockets[at].transport.tls_mut() {
                let progress = tls.client.advance(&mut bytes[at_byte..], &mut out, &mut |data| {
                    plain.extend_from_slice(data);
                });
                match progress {
                    Ok(progress) => {
                        at_byte += progress.used;
                        closed = progress.peer_closed;
                    }
                    Err(_) => self.socket_ended(cx, at, Ending::Protocol),
                }
            }
            let _ = self.send_raw_bytes(cx, at, &out);
            cx.net.out = out;
        }
        if at_byte < bytes.len() {
            let left = bytes[at_byte..].to_vec();
            self.sockets.rest(at).tail = left;
        }
        if self.sockets[at].rest.as_ref().is_some_and(|rest| !rest.plain.is_empty()) {
            self.take_with_kept(cx, at, &plain, arrival, now);
        } else if !plain.is_empty()
            && let Look::Used(used) = self.take_plain_input(cx, at, &plain, arrival, now)
            && used < plain.len()
            && self.sockets[at].transport.generation == generation
        {
            self.sockets.rest(at).plain.extend_from_slice(&plain[used..]);
        }
        cx.net.plain = plain;
        if closed && self.sockets[at].transport.generation == generation {
            self.socket_ended(cx, at, Ending::Fin);
        }
    }

    /// Takes decrypted bytes behind those that wait for the rest of their frame. They are looked at when it is whole, not
    /// with each record.
    fn take_with_kept(
        &mut self,
        cx: &mut Context<'_>,
        at: u32,
        plain: &[u8],
        arrival: Nanos,
        now: Nanos,
    ) {
        let generation = self.sockets[at].transport.generation;
        let rest = self.sockets.rest(at);
        rest.plain.extend_from_slice(plain);
        if rest.plain.len() < rest.need {
            return;
        }
        let mut whole = std::mem::take(&mut rest.plain);
        rest.need = 0;
        let look = self.take_plain_input(cx, at, &whole, arrival, now);
        if self.sockets[at].transport.generation != generation {
            return;
        }
        match look {
            Look::Used(used) => drop(whole.drain(..used)),
            Look::Over => whole.clear(),
        }
        if whole.capacity() > 64 * 1024 && whole.is_empty() {
            whole = Vec::new();
        }
        self.sockets.rest(at).plain = whole;
    }

    /// Takes bytes of the connection itself: the answers of its opening, then frames.
    fn take_plain_input(
        &mut self,
        cx: &mut Context<'_>,
        at: u32,
        bytes: &[u8],
        arrival: Nanos,
        now: Nanos,
    ) -> Look {
        let generation = self.sockets[at].transport.generation;
        let mut used = 0;
        while used < bytes.len() {
            let took = match self.sockets[at].state {
                State::Tunnelling => self.on_tunnel_answer(cx, at, &bytes[used..]),
                State::Upgrading => {
                    if let Task::Work(work) = &mut self.sockets[at].task {
                        work.arrival = arrival;
                    }
                    self.on_upgrade_answer(cx, at, &bytes[used..], now)
                }
                State::Open => return self.take_frames(cx, at, bytes, used, arrival, now),
                _ => break,
            };
            if self.sockets[at].transport.generation != generation {
                return Look::Over;
            }
            if took == 0 {
                break;
            }
            used += took;
        }
        Look::Used(used)
    }

    fn take_frames(
        &mut self,
        cx: &mut Context<'_>,
        at: u32,
        bytes: &[u8],
        mut used: usize,
        arrival: Nanos,
        now: Nanos,
    ) -> Look {
        let generation = self.sockets[at].transport.generation;
        let largest = cx.run.settings.bodies.max_response as u64;
        while used < bytes.len() {
            let out = &mut cx.net.out;
            out.clear();
            match self.sockets[at].session.next(&bytes[used..], largest, out) {
                Ok((_, Event::NeedMore { need: 0 })) => break,
                Ok((_, Event::NeedMore { need })) => {
                    self.sockets.rest(at).need = need;
                    break;
                }
                Ok((taken, Event::Frame { head, payload, answers, kept })) => {
                    used += taken;
                    let arrived = Arrived { head, payload, arrival, now };
                    self.on_frame(cx, at, &arrived, answers, kept);
                }
                Ok((_, Event::Opened(_))) => {}
                Err(_) => {
                    self.socket_ended(cx, at, Ending::Protocol);
                    return Look::Over;
                }
            }
            let socket = &self.sockets[at];
            if socket.transport.generation != generation || matches!(socket.state, State::Ended(_))
            {
                return Look::Over;
            }
            if socket.stopped {
                break;
            }
        }
        Look::Used(used)
    }

    /// Input waits for the rest of its frame: where nobody is to get it, it counts against the inbox.
    fn input_kept(&mut self, cx: &mut Context<'_>, at: u32) {
        let socket = &self.sockets[at];
        let waiting = socket.rest.as_ref().map_or(0, |rest| rest.tail.len() + rest.inbox.bytes());
        if waiting > cx.run.settings.websocket.inbox_bytes && matches!(socket.task, Task::None) {
            self.inbox_is_full(cx, at);
        }
    }
}

/// Whether a user's sample waits for its WebSocket connection.
pub(super) fn waits_for_socket(cx: &Context<'_>, index: UserId) -> bool {
    matches!(cx.users[index].wait, Wait::Socket(_))
}
