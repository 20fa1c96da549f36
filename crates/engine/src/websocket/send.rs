//! Frames on their way out. What does not fit the socket's buffer is kept and sent when there is room.

use std::io;

use stats::Counter;
use wire::websocket::{self, Opcode};

use super::{Ending, State};
use crate::core::Core;
use crate::net::driver;

/// There is no socket any more.
fn gone() -> io::Error {
    io::ErrorKind::NotConnected.into()
}

impl Core<'_> {
    /// Sends a frame of the client: masked with a key of its own. Returns its size on the wire, and an error if the connection broke.
    pub(super) fn send_frame(
        &mut self,
        at: u32,
        opcode: Opcode,
        payload: &[u8],
    ) -> (usize, io::Result<()>) {
        let mut out = std::mem::take(&mut self.net.out);
        out.clear();
        let key = (self.random.bits() as u32).to_ne_bytes();
        websocket::push_frame(&mut out, opcode, payload, Some(key));
        let size = out.len();
        self.websocket.sockets[at].last_io = self.clock.now();
        let sent = self.send_bytes(at, &out);
        self.net.out = out;
        if !opcode.is_control() {
            self.recorder.add(Counter::MessagesOut, 1);
            self.recorder.add(Counter::MessageBytesOut, payload.len() as u64);
        }
        (size, sent)
    }

    /// Sends bytes, under TLS as a record. An error: the connection is broken.
    pub(super) fn send_bytes(&mut self, at: u32, bytes: &[u8]) -> io::Result<()> {
        let Some(tls) = self.websocket.sockets[at].tls.as_mut() else {
            return self.send_raw_bytes(at, bytes);
        };
        let mut sealed = std::mem::take(&mut self.net.sealed);
        sealed.clear();
        let sent = match tls.client.write(bytes, &mut sealed) {
            Ok(()) => self.send_raw_bytes(at, &sealed),
            Err(error) => Err(io::Error::other(error)),
        };
        self.net.sealed = sealed;
        sent
    }

    /// Hands bytes to the kernel. An error: the connection is broken; its task is told when the connection is settled.
    pub(super) fn send_raw_bytes(&mut self, at: u32, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let socket = &mut self.websocket.sockets[at];
        if let Some(rest) = socket.rest.as_mut()
            && !rest.unsent.is_empty()
        {
            rest.unsent.extend_from_slice(bytes);
            return Ok(());
        }
        let Some(fd) = socket.fd.as_ref() else { return Err(gone()) };
        match driver::send(fd, bytes) {
            Ok(n) => {
                self.recorder.add(Counter::BytesOut, n as u64);
                if n < bytes.len() {
                    let rest = self.websocket.sockets.rest(at);
                    rest.unsent.extend_from_slice(&bytes[n..]);
                    rest.unsent_at = 0;
                    // An edge may have come between: what has no room yet is tried once more.
                    if n > 0 {
                        return self.flush_socket(at);
                    }
                }
                Ok(())
            }
            Err(error) => {
                self.socket_ended(at, Ending::of(&error));
                Err(error)
            }
        }
    }

    /// Sends what is left over. An error: the connection is broken.
    pub(super) fn flush_socket(&mut self, at: u32) -> io::Result<()> {
        loop {
            let socket = &mut self.websocket.sockets[at];
            let (Some(fd), Some(rest)) = (socket.fd.as_ref(), socket.rest.as_mut()) else {
                return Err(gone());
            };
            if rest.unsent.is_empty() {
                return Ok(());
            }
            match driver::send(fd, &rest.unsent[rest.unsent_at..]) {
                Ok(0) => return Ok(()),
                Ok(n) => {
                    self.recorder.add(Counter::BytesOut, n as u64);
                    rest.unsent_at += n;
                    if rest.unsent_at == rest.unsent.len() {
                        rest.unsent.clear();
                        rest.unsent_at = 0;
                        return Ok(());
                    }
                }
                Err(error) => {
                    self.socket_ended(at, Ending::of(&error));
                    return Err(error);
                }
            }
        }
    }

    /// Whether everything handed over so far has gone to the kernel.
    pub(super) fn all_sent(&self, at: u32) -> bool {
        self.websocket.sockets[at].rest.as_ref().is_none_or(|rest| rest.unsent.is_empty())
    }

    /// Whether frames can be exchanged.
    pub(super) fn is_open(&self, at: u32) -> bool {
        self.websocket.sockets[at].state == State::Open
    }
}
