//! Frames on their way out. What does not fit the socket's buffer is kept and sent when there is room.

use std::io;

use stats::Counter;
use wire::websocket::Opcode;

use super::{Ending, State, WebSockets};
use crate::context::Context;
use crate::net::transport::Unwritten;

impl WebSockets {
    /// Sends a frame of the client: masked with a key of its own. Returns its size on the wire, and an error if the connection broke.
    pub(super) fn send_frame(
        &mut self,
        cx: &mut Context<'_>,
        at: u32,
        opcode: Opcode,
        payload: &[u8],
    ) -> (usize, io::Result<()>) {
        let mut out = std::mem::take(&mut cx.net.out);
        out.clear();
        let mask = (cx.random.bits() as u32).to_ne_bytes();
        let size = self.sockets[at].session.send(opcode, payload, mask, &mut out);
        self.sockets[at].last_io = cx.clock.now();
        let sent = self.send_bytes(cx, at, &out);
        cx.net.out = out;
        if !opcode.is_control() {
            cx.recorder.add(Counter::MessagesOut, 1);
            cx.recorder.add(Counter::MessageBytesOut, payload.len() as u64);
        }
        (size, sent)
    }

    /// Sends bytes, under TLS as records. An error: the connection is broken.
    pub(super) fn send_bytes(
        &mut self,
        cx: &mut Context<'_>,
        at: u32,
        bytes: &[u8],
    ) -> io::Result<()> {
        let transport = &mut self.sockets[at].transport;
        match transport.send(bytes, &mut cx.net.sealed) {
            Ok(sent) => self.note_sent(cx, at, Ok(sent)),
            Err(Unwritten::Socket(error)) => self.note_sent(cx, at, Err(error)),
            Err(Unwritten::Tls(error)) => Err(io::Error::other(error)),
        }
    }

    /// Hands bytes to the kernel as they are. An error: the connection is broken; its task is told when the connection is settled.
    pub(super) fn send_raw_bytes(
        &mut self,
        cx: &mut Context<'_>,
        at: u32,
        bytes: &[u8],
    ) -> io::Result<()> {
        let sent = self.sockets[at].transport.send_raw(bytes);
        self.note_sent(cx, at, sent)
    }

    /// Sends what is left over. An error: the connection is broken.
    pub(super) fn flush(&mut self, cx: &mut Context<'_>, at: u32) -> io::Result<()> {
        let sent = self.sockets[at].transport.flush();
        self.note_sent(cx, at, sent)
    }

    /// Counts what has gone to the kernel, or notes that the connection is broken.
    pub(super) fn note_sent(
        &mut self,
        cx: &mut Context<'_>,
        at: u32,
        sent: io::Result<usize>,
    ) -> io::Result<()> {
        match sent {
            Ok(sent) => {
                cx.recorder.add(Counter::BytesOut, sent as u64);
                Ok(())
            }
            Err(error) => {
                if error.kind() != io::ErrorKind::NotConnected {
                    self.socket_ended(cx, at, Ending::of(&error));
                }
                Err(error)
            }
        }
    }

    /// Whether everything handed over so far has gone to the kernel.
    pub(super) fn all_sent(&self, at: u32) -> bool {
        self.sockets[at].transport.all_sent()
    }

    /// Whether frames can be exchanged.
    pub(super) fn is_open(&self, at: u32) -> bool {
        self.sockets[at].state == State::Open
    }
}
