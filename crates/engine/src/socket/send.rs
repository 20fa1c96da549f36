//! Frames on their way out. What does not fit the socket's buffer is kept and sent when there is room.

use stats::Counter;
use wire::websocket::{self, Opcode};

use super::{Ending, State};
use crate::core::Core;
use crate::driver;

impl Core<'_> {
    /// Sends a frame of the client: masked with a key of its own. Returns its size on the wire.
    pub(super) fn send_frame(&mut self, at: u32, opcode: Opcode, payload: &[u8]) -> usize {
        let mut out = std::mem::take(&mut self.out);
        out.clear();
        let key = (self.random.bits() as u32).to_ne_bytes();
        websocket::push_frame(&mut out, opcode, payload, Some(key));
        let size = out.len();
        self.sockets[at].last_io = self.clock.now();
        self.send_bytes(at, &out);
        self.out = out;
        if !opcode.is_control() {
            self.recorder.add(Counter::MessagesOut, 1);
            self.recorder.add(Counter::MessageBytesOut, payload.len() as u64);
        }
        size
    }

    /// Sends bytes, under TLS as a record. False: the connection is broken.
    pub(super) fn send_bytes(&mut self, at: u32, bytes: &[u8]) -> bool {
        let Some(tls) = self.sockets[at].tls.as_mut() else {
            return self.send_raw_bytes(at, bytes);
        };
        let mut sealed = std::mem::take(&mut self.sealed);
        sealed.clear();
        let written = tls.client.write(bytes, &mut sealed).is_ok();
        let sent = written && self.send_raw_bytes(at, &sealed);
        self.sealed = sealed;
        sent
    }

    /// Hands bytes to the kernel. False: the connection is broken; who waits on it will find out.
    pub(super) fn send_raw_bytes(&mut self, at: u32, bytes: &[u8]) -> bool {
        if bytes.is_empty() {
            return true;
        }
        let socket = &mut self.sockets[at];
        if let Some(rest) = socket.rest.as_mut()
            && !rest.unsent.is_empty()
        {
            rest.unsent.extend_from_slice(bytes);
            return true;
        }
        let Some(fd) = socket.fd.as_ref() else { return false };
        match driver::send(fd, bytes) {
            Ok(n) => {
                self.recorder.add(Counter::BytesOut, n as u64);
                if n < bytes.len() {
                    let rest = self.sockets.rest(at);
                    rest.unsent.extend_from_slice(&bytes[n..]);
                    rest.unsent_at = 0;
                    // An edge may have come between: what has no room yet is tried once more.
                    return n == 0 || self.flush_socket(at);
                }
                true
            }
            Err(error) => {
                self.socket_ended(at, Ending::of(&error));
                self.send_error = Some(error);
                false
            }
        }
    }

    /// Sends what is left over. False: the connection is broken.
    pub(super) fn flush_socket(&mut self, at: u32) -> bool {
        loop {
            let socket = &mut self.sockets[at];
            let (Some(fd), Some(rest)) = (socket.fd.as_ref(), socket.rest.as_mut()) else {
                return false;
            };
            if rest.unsent.is_empty() {
                return true;
            }
            match driver::send(fd, &rest.unsent[rest.unsent_at..]) {
                Ok(0) => return true,
                Ok(n) => {
                    self.recorder.add(Counter::BytesOut, n as u64);
                    rest.unsent_at += n;
                    if rest.unsent_at == rest.unsent.len() {
                        rest.unsent.clear();
                        rest.unsent_at = 0;
                        return true;
                    }
                }
                Err(error) => {
                    self.socket_ended(at, Ending::of(&error));
                    self.send_error = Some(error);
                    return false;
                }
            }
        }
    }

    /// Whether everything handed over so far has gone to the kernel.
    pub(super) fn all_sent(&self, at: u32) -> bool {
        self.sockets[at].rest.as_ref().is_none_or(|rest| rest.unsent.is_empty())
    }

    /// Whether frames can be exchanged.
    pub(super) fn is_open(&self, at: u32) -> bool {
        self.sockets[at].state == State::Open
    }
}
