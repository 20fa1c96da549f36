//! Sending frames. Bytes that do not fit the socket's buffer are kept and sent later.

use std::io;

use stats::Counter;
use wire::websocket::Opcode;

use super::Held;
use super::close::Ending;
use crate::net::transport::Unwritten;
use crate::session::Around;

impl Held {
    /// Sends a client frame, masked with a random key. Returns its size on the wire, and an error if the connection
    /// broke.
    pub(crate) fn send_frame(
        &mut self,
        around: &mut Around<'_>,
        at: u32,
        opcode: Opcode,
        payload: &[u8],
    ) -> (usize, io::Result<()>) {
        let mut out = std::mem::take(&mut around.net.out);
        out.clear();
        let mask = (around.random.bits() as u32).to_ne_bytes();
        let size = self[at].session.send(opcode, payload, mask, &mut out);
        self[at].last_io = around.clock.now();
        let sent = self.send_bytes(around, at, &out);
        around.net.out = out;
        if !opcode.is_control() {
            around.recorder.add(Counter::MessagesOut, 1);
            around.recorder.add(Counter::MessageBytesOut, payload.len() as u64);
        }
        (size, sent)
    }

    /// Sends bytes, under TLS as records. `Err`: the connection is broken.
    pub(super) fn send_bytes(
        &mut self,
        around: &mut Around<'_>,
        at: u32,
        bytes: &[u8],
    ) -> io::Result<()> {
        let transport = &mut self[at].transport;
        match transport.send(bytes, &mut around.net.sealed) {
            Ok(sent) => self.note_sent(around, at, Ok(sent)),
            Err(Unwritten::Socket(error)) => self.note_sent(around, at, Err(error)),
            Err(Unwritten::Tls(error)) => Err(io::Error::other(error)),
        }
    }

    /// Passes bytes to the kernel without encryption. `Err`: the connection is broken; its listener is notified when
    /// the connection is settled.
    pub(super) fn send_raw_bytes(
        &mut self,
        around: &mut Around<'_>,
        at: u32,
        bytes: &[u8],
    ) -> io::Result<()> {
        let sent = self[at].transport.send_raw(bytes);
        self.note_sent(around, at, sent)
    }

    /// Sends unsent output. `Err`: the connection is broken.
    pub(super) fn flush(&mut self, around: &mut Around<'_>, at: u32) -> io::Result<()> {
        let sent = self[at].transport.flush();
        self.note_sent(around, at, sent)
    }

    /// Counts the bytes passed to the kernel, or marks the connection as broken.
    pub(super) fn note_sent(
        &mut self,
        around: &mut Around<'_>,
        at: u32,
        sent: io::Result<usize>,
    ) -> io::Result<()> {
        match sent {
            Ok(sent) => {
                around.recorder.add(Counter::BytesOut, sent as u64);
                Ok(())
            }
            Err(error) => {
                if error.kind() != io::ErrorKind::NotConnected {
                    self.on_ended(around, at, Ending::of(&error));
                }
                Err(error)
            }
        }
    }

    /// Returns true if all output was passed to the kernel.
    pub(crate) fn all_sent(&self, at: u32) -> bool {
        self[at].transport.all_sent()
    }
}
