//! Reads sockets of held connections, and parses the frames in their data. Hot.
//!
//! A connection is read whenever it has data, unless its inbox is full. An incomplete frame at the end of the input is
//! kept and parsed when it is complete. All other input is parsed in the receive buffer.

use stats::Counter;
use wire::websocket::session::Event;

use super::close::Ending;
use super::push::Arrived;
use super::{Held, Listener, State};
use crate::completions::HeldEvent;
use crate::ids::{NO_SOCKET, UserId};
use crate::net::driver::{self, Ready};
use crate::net::opening::HandshakeStart;
use crate::session::Around;
use crate::time::clock::{Nanos, thread_cpu};

/// The result of parsing a socket's input.
enum Taken {
    /// Number of used bytes.
    Used(usize),
    /// The connection was closed, or its input cannot be parsed any further.
    Over,
}

impl Held {
    /// Handles a connection that is readable or writable: continues its opening, sends unsent bytes, and reads.
    pub(crate) fn on_ready(&mut self, around: &mut Around<'_>, at: u32, ready: Ready) {
        match self[at].state {
            State::Connecting => {
                if ready.writable {
                    self.on_connected(around, at);
                }
            }
            State::Free | State::Naming | State::Ended(_) => {}
            State::Handshaking | State::Tunnelling | State::Upgrading | State::Open => {
                let generation = self[at].transport.generation;
                if ready.writable && !self.all_sent(at) {
                    let _ = self.flush(around, at);
                    self.notify_sent(around, at);
                }
                let same = self[at].transport.generation == generation;
                if ready.readable && same && !self[at].stopped {
                    self.read(around, at, ready.hangup);
                }
            }
        }
        self.settle(around, at);
    }

    /// Notifies a listener that waits for the end of sending, when all output was passed to the kernel.
    fn notify_sent(&mut self, around: &mut Around<'_>, at: u32) {
        let line = &self[at];
        if line.listener == Listener::Sending && line.state == State::Open && self.all_sent(at) {
            self[at].listener = Listener::None;
            self.notify(around, at, HeldEvent::Sent);
        }
    }

    /// Notifies the listener that the awaited event will not occur.
    pub(super) fn notify_over(&mut self, around: &mut Around<'_>, at: u32) {
        self[at].listener = Listener::None;
        self.notify(around, at, HeldEvent::Over);
    }

    /// Handles the timer of a user that waits on its connection. Returns true if the time limit has passed and
    /// everything that arrived in time was read.
    pub(crate) fn is_late(&mut self, around: &mut Around<'_>, index: UserId, now: Nanos) -> bool {
        let user = &around.users[index];
        if user.limit == Nanos::MAX {
            return false;
        }
        if now < user.limit {
            let limit = user.limit;
            around.timers.wheel.insert(index, limit, &mut *around.users);
            return false;
        }
        let at = user.socket;
        if at == NO_SOCKET {
            return false;
        }
        match (self[at].listener, self[at].state) {
            (Listener::All, _) => true,
            (_, State::Connecting) => {
                if self[at].transport.fd.as_ref().is_some_and(driver::has_settled) {
                    self.on_connected(around, at);
                    self.settle(around, at);
                } else {
                    self.connect_is_late(around, at);
                }
                false
            }
            _ => self.is_read_late(around, at),
        }
    }

    /// Handles the end of the time limit for reading. Timers fire before sockets are polled. After a stall of this
    /// process, data that arrived in time may still be unread, so it is read first.
    fn is_read_late(&mut self, around: &mut Around<'_>, at: u32) -> bool {
        if self[at].stopped {
            return true;
        }
        let generation = self[at].transport.generation;
        let shakes_hands = self[at].state == State::Handshaking;
        let any = self.read(around, at, false);
        self.settle(around, at);
        let same = self[at].transport.generation == generation;
        if any && shakes_hands && same && self[at].state == State::Handshaking {
            // The bytes arrived in time, and this process handled them late.
            self.restart_read_limit(around, at);
            return false;
        }
        true
    }

    /// Continues reading the connections whose inbox has room.
    pub(crate) fn read_resumed(&mut self, around: &mut Around<'_>) {
        while let Some(token) = self.resumed.pop() {
            let Some(at) = self.by_token(token) else { continue };
            self.read_kept(around, at);
            if self.by_token(token).is_some() && !self[at].stopped {
                // Data that arrived meanwhile causes no new edge-triggered event.
                self.read(around, at, true);
            }
            self.settle(around, at);
        }
    }

    /// Parses the frames that remained in the input when reading stopped.
    fn read_kept(&mut self, around: &mut Around<'_>, at: u32) {
        let secure = self[at].transport.tls().is_some();
        let Some(rest) = self[at].rest.as_mut() else { return };
        let kept = if secure { &mut rest.plain } else { &mut rest.tail };
        let mut bytes = std::mem::take(kept);
        rest.need = 0;
        let generation = self[at].transport.generation;
        let now = around.clock.now();
        let taken = self.take_plain_input(around, at, &bytes, now, now);
        if self[at].transport.generation != generation {
            return;
        }
        if let Taken::Used(used) = taken {
            bytes.drain(..used);
            let rest = self.rest(at);
            if secure {
                rest.plain = bytes;
            } else {
                rest.tail = bytes;
            }
        }
    }

    /// Reads a socket. Returns false if it has no data.
    pub(super) fn read(&mut self, around: &mut Around<'_>, at: u32, hangup: bool) -> bool {
        let mut any = false;
        let mut until = Nanos::MAX;
        let generation = self[at].transport.generation;
        let mut scratch = std::mem::take(&mut around.net.scratch);
        while let Some(fd) = self[at].transport.fd.as_ref() {
            let received = match around.net.driver.receive(fd, &mut scratch) {
                Ok(Some(received)) => received,
                Ok(None) => break,
                Err(error) => {
                    any = true;
                    self.on_ended(around, at, Ending::of(&error));
                    break;
                }
            };
            any = true;
            let now = around.clock.now();
            if received.bytes == 0 {
                self.on_ended(around, at, Ending::Fin);
                break;
            }
            around.recorder.add(Counter::BytesIn, received.bytes as u64);
            self[at].session.note_activity();
            let arrival = received.arrival.map_or(now, |wall| around.clock.of_wall(wall)).min(now);
            let full = received.bytes == scratch.len();
            self.take_input(around, at, &mut scratch[..received.bytes], arrival, now);
            let socket = &mut self[at];
            // Set only now, because the report of a close frame includes the silent time before it.
            socket.last_io = now;
            let over = socket.transport.generation != generation
                || socket.stopped
                || matches!(socket.state, State::Free | State::Ended(_));
            if over || !(full || hangup) {
                break;
            }
            // Other users and the listener run before reading continues.
            if now >= until || !self.pushes.is_empty() {
                around.net.unfinished.push_back((self.token(at), hangup));
                break;
            }
            until = until.min(now + crate::time::clock::TURN);
        }
        around.net.scratch = scratch;
        any
    }

    /// Parses bytes received from the socket, or keeps them until the frame or TLS record is complete.
    fn take_input(
        &mut self,
        around: &mut Around<'_>,
        at: u32,
        bytes: &mut [u8],
        arrival: Nanos,
        now: Nanos,
    ) {
        if self[at].transport.tls().is_some() {
            return self.take_records(around, at, bytes, arrival, now);
        }
        let generation = self[at].transport.generation;
        let kept = self[at].rest.as_ref().is_some_and(|rest| !rest.tail.is_empty());
        if kept {
            let rest = self.rest(at);
            rest.tail.extend_from_slice(bytes);
            if rest.tail.len() < rest.need {
                return self.input_kept(around, at);
            }
            let mut tail = std::mem::take(&mut rest.tail);
            rest.need = 0;
            let taken = self.take_plain_input(around, at, &tail, arrival, now);
            if self[at].transport.generation != generation {
                return;
            }
            if let Taken::Used(used) = taken {
                tail.drain(..used);
            } else {
                tail.clear();
            }
            if tail.capacity() > 64 * 1024 && tail.is_empty() {
                tail = Vec::new();
            }
            self.rest(at).tail = tail;
            self.input_kept(around, at);
        } else if let Taken::Used(used) = self.take_plain_input(around, at, bytes, arrival, now)
            && used < bytes.len()
            && self[at].transport.generation == generation
        {
            self.rest(at).tail.extend_from_slice(&bytes[used..]);
            self.input_kept(around, at);
        }
    }

    /// Decrypts TLS records and parses the plaintext. During a handshake, continues the handshake.
    fn take_records(
        &mut self,
        around: &mut Around<'_>,
        at: u32,
        bytes: &mut [u8],
        arrival: Nanos,
        now: Nanos,
    ) {
        let generation = self[at].transport.generation;
        let kept = self[at].rest.as_mut().map(|rest| std::mem::take(&mut rest.tail));
        let mut joined = kept.unwrap_or_default();
        let bytes = if joined.is_empty() {
            bytes
        } else {
            joined.extend_from_slice(bytes);
            &mut joined[..]
        };
        let mut at_byte = 0;
        if self[at].state == State::Handshaking {
            let since = HandshakeStart { arrival, cpu: thread_cpu() };
            at_byte = self.shake_hands(around, at, bytes, since);
            if self[at].transport.generation != generation {
                return;
            }
        }
        let mut plain = std::mem::take(&mut around.net.plain);
        plain.clear();
        let mut closed = false;
        let socket = &mut self[at];
        if let Some(tls) = socket.transport.tls_mut() {
            plain.append(&mut tls.plain);
        }
        if self[at].state != State::Handshaking && at_byte < bytes.len() {
            let mut out = std::mem::take(&mut around.net.out);
            out.clear();
            if let Some(tls) = self[at].transport.tls_mut() {
                let progress = tls.client.advance(&mut bytes[at_byte..], &mut out, &mut |data| {
                    plain.extend_from_slice(data);
                });
                match progress {
                    Ok(progress) => {
                        at_byte += progress.used;
                        closed = progress.peer_closed;
                    }
                    Err(_) => self.on_ended(around, at, Ending::Protocol),
                }
            }
            let _ = self.send_raw_bytes(around, at, &out);
            around.net.out = out;
        }
        if at_byte < bytes.len() {
            let left = bytes[at_byte..].to_vec();
            self.rest(at).tail = left;
        }
        if self[at].rest.as_ref().is_some_and(|rest| !rest.plain.is_empty()) {
            self.take_with_kept(around, at, &plain, arrival, now);
        } else if !plain.is_empty()
            && let Taken::Used(used) = self.take_plain_input(around, at, &plain, arrival, now)
            && used < plain.len()
            && self[at].transport.generation == generation
        {
            self.rest(at).plain.extend_from_slice(&plain[used..]);
        }
        around.net.plain = plain;
        if closed && self[at].transport.generation == generation {
            self.on_ended(around, at, Ending::Fin);
        }
    }

    /// Appends decrypted bytes to an incomplete frame. The frame is parsed when it is complete, not after each record.
    fn take_with_kept(
        &mut self,
        around: &mut Around<'_>,
        at: u32,
        plain: &[u8],
        arrival: Nanos,
        now: Nanos,
    ) {
        let generation = self[at].transport.generation;
        let rest = self.rest(at);
        rest.plain.extend_from_slice(plain);
        if rest.plain.len() < rest.need {
            return;
        }
        let mut whole = std::mem::take(&mut rest.plain);
        rest.need = 0;
        let taken = self.take_plain_input(around, at, &whole, arrival, now);
        if self[at].transport.generation != generation {
            return;
        }
        match taken {
            Taken::Used(used) => drop(whole.drain(..used)),
            Taken::Over => whole.clear(),
        }
        if whole.capacity() > 64 * 1024 && whole.is_empty() {
            whole = Vec::new();
        }
        self.rest(at).plain = whole;
    }

    /// Handles input after decryption: responses while the connection is opened, then frames.
    fn take_plain_input(
        &mut self,
        around: &mut Around<'_>,
        at: u32,
        bytes: &[u8],
        arrival: Nanos,
        now: Nanos,
    ) -> Taken {
        let generation = self[at].transport.generation;
        let mut used = 0;
        while used < bytes.len() {
            let took = match self[at].state {
                State::Tunnelling => self.on_tunnel_answer(around, at, &bytes[used..]),
                State::Upgrading => {
                    self.on_upgrade_answer(around, at, &bytes[used..], arrival, now)
                }
                State::Open => return self.take_frames(around, at, bytes, used, arrival, now),
                _ => break,
            };
            if self[at].transport.generation != generation {
                return Taken::Over;
            }
            if took == 0 {
                break;
            }
            used += took;
        }
        Taken::Used(used)
    }

    fn take_frames(
        &mut self,
        around: &mut Around<'_>,
        at: u32,
        bytes: &[u8],
        mut used: usize,
        arrival: Nanos,
        now: Nanos,
    ) -> Taken {
        let generation = self[at].transport.generation;
        let largest = self.bounds.push as u64;
        while used < bytes.len() {
            let out = &mut around.net.out;
            out.clear();
            match self[at].session.next(&bytes[used..], largest, out) {
                Ok((_, Event::NeedMore { need: 0 })) => break,
                Ok((_, Event::NeedMore { need })) => {
                    self.rest(at).need = need;
                    break;
                }
                Ok((taken, Event::Frame { head, payload, answers, kept })) => {
                    used += taken;
                    let arrived = Arrived { head, payload, arrival, now };
                    self.on_frame(around, at, &arrived, answers, kept);
                }
                Ok((_, Event::Opened(_))) => {}
                Err(_) => {
                    self.on_ended(around, at, Ending::Protocol);
                    return Taken::Over;
                }
            }
            let socket = &self[at];
            if socket.transport.generation != generation || matches!(socket.state, State::Ended(_))
            {
                return Taken::Over;
            }
            if socket.stopped {
                break;
            }
        }
        Taken::Used(used)
    }

    /// Treats the inbox as full if its frames and an incomplete frame together exceed the inbox limit, and no listener
    /// waits.
    fn input_kept(&mut self, around: &mut Around<'_>, at: u32) {
        let socket = &self[at];
        let waiting = socket.rest.as_ref().map_or(0, |rest| rest.tail.len() + rest.inbox.bytes());
        if waiting > self.bounds.inbox && socket.listener == Listener::None {
            self.inbox_is_full(around, at);
        }
    }
}
