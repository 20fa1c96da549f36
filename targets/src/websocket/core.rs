//! The connections of a hub, and the operations of a service on them: answer, send, close.
//!
//! Answers to the connection being read are collected and leave in one write. A connection that fails during sending is
//! only marked and removed later, so that a service can iterate over its lists undisturbed.

use std::os::fd::OwnedFd;
use std::time::Instant;

use rustix::event::epoll::{self, EventData, EventFlags};
use slab::Slab;
use wire::websocket::deflate::{Deflate, Deflater, Inflater};
use wire::websocket::{Opcode, push_frame, push_head};

use super::settings::{Settings, Slow};
use super::socket::{CAUSES, Cause, Socket, State};

/// Counters that the hub keeps for every WebSocket service.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Figures {
    /// Number of WebSockets that are open.
    pub(crate) open: u64,
    /// Number of WebSockets opened since the start of the hub.
    pub(crate) opened: u64,
    /// Number of closed WebSockets by cause, in the order of [`Cause`].
    pub(crate) closed: [u64; CAUSES.len()],
    /// Number of messages received, without control frames.
    pub(crate) messages_in: u64,
    pub(crate) messages_out: u64,
}

pub(crate) struct Core {
    pub(crate) epoll: OwnedFd,
    pub(crate) settings: Settings,
    pub(crate) sockets: Slab<Socket>,
    pub(crate) figures: Figures,
    /// Answers, as frames, that will be sent to the connection being read.
    pub(crate) out: Vec<u8>,
    /// Connections that failed during sending and will be removed: slot, and cause.
    pub(crate) doomed: Vec<(usize, Cause)>,
    pub(crate) inflater: Inflater,
    /// A compressor for each window size from 9 bits, created on first use.
    deflaters: [Option<Deflater>; 7],
    packed: Vec<u8>,
    pub(crate) start: Instant,
    /// Milliseconds since the start of the hub, updated after each wait.
    pub(crate) now: u32,
}

/// The epoll token of a connection: its slot and generation. The generation distinguishes it from an earlier connection
/// in the same slot.
pub(crate) fn token(slot: usize, generation: u32) -> u64 {
    u64::from(generation & 0x3fff_ffff) << 32 | slot as u64
}

impl Core {
    pub(crate) fn new(epoll: OwnedFd, settings: Settings) -> Self {
        Self {
            epoll,
            settings,
            sockets: Slab::new(),
            figures: Figures::default(),
            out: Vec::new(),
            doomed: Vec::new(),
            inflater: Inflater::new(),
            deflaters: Default::default(),
            packed: Vec::new(),
            start: Instant::now(),
            now: 0,
        }
    }

    /// Adds a message to the answers for the connection being read.
    pub(crate) fn answer(&mut self, slot: usize, text: bool, payload: &[u8]) {
        self.figures.messages_out += 1;
        let opcode = if text { Opcode::TEXT } else { Opcode::BINARY };
        let compression =
            self.sockets.get_mut(slot).and_then(|socket| socket.compression.as_deref_mut());
        let Some(compression) = compression else {
            push_message(&mut self.out, opcode, false, payload, self.settings.fragment);
            return;
        };
        let Deflate { server_max_window_bits: bits, server_no_context_takeover, .. } =
            compression.terms;
        let bits = bits.clamp(9, 15);
        let deflater = &mut self.deflaters[usize::from(bits - 9)];
        // Compression level 1, because a target must be fast.
        let deflater = deflater.get_or_insert_with(|| Deflater::new(1, bits));
        let window = (!server_no_context_takeover).then_some(&mut compression.sent);
        self.packed.clear();
        deflater.message(window, payload, &mut self.packed);
        push_message(&mut self.out, opcode, true, &self.packed, self.settings.fragment);
    }

    /// Sends the collected answers to the connection that was read.
    pub(crate) fn flush_answers(&mut self, slot: usize) {
        if !self.out.is_empty() {
            let out = std::mem::take(&mut self.out);
            self.send(slot, &out);
            self.out = out;
            self.out.clear();
            self.out.shrink_to(1 << 20);
        }
    }

    /// Sends bytes to a connection; unsent bytes are queued.
    pub(crate) fn send(&mut self, slot: usize, bytes: &[u8]) {
        let Some(socket) = self.sockets.get_mut(slot) else { return };
        if socket.state == State::Closing {
            return;
        }
        if socket.send(bytes).is_err() {
            self.doomed.push((slot, Cause::PeerReset));
            return;
        }
        let unsent = socket.unsent();
        if unsent > self.settings.unsent && self.settings.slow == Slow::Drop {
            self.doomed.push((slot, Cause::Slow));
        } else if unsent > 0 {
            self.watch(slot);
        }
    }

    /// Makes the event loop wait for the socket to become writable if it has unsent bytes, or no longer wait.
    pub(crate) fn watch(&mut self, slot: usize) {
        let Some(socket) = self.sockets.get_mut(slot) else { return };
        let wanted = socket.unsent() > 0;
        if wanted != socket.waits_to_write {
            socket.waits_to_write = wanted;
            let flags = if wanted { EventFlags::IN | EventFlags::OUT } else { EventFlags::IN };
            let data = EventData::new_u64(token(slot, socket.generation));
            if epoll::modify(&self.epoll, socket.stream(), data, flags).is_err() {
                self.doomed.push((slot, Cause::PeerReset));
            }
        }
    }

    /// Number of bytes queued for all connections because peers have not read enough.
    pub(crate) fn unsent(&self) -> usize {
        self.sockets.iter().map(|(_, socket)| socket.unsent()).sum()
    }
}

/// Appends a message in one frame, or in fragments of at most `size` bytes.
fn push_message(out: &mut Vec<u8>, opcode: Opcode, rsv1: bool, payload: &[u8], size: usize) {
    if size == 0 || payload.len() <= size {
        if !rsv1 {
            return push_frame(out, opcode, payload, None);
        }
        push_head(out, true, true, opcode, payload.len(), None);
        return out.extend_from_slice(payload);
    }
    let count = payload.len().div_ceil(size);
    for (number, piece) in payload.chunks(size).enumerate() {
        let first = number == 0;
        let opcode = if first { opcode } else { Opcode::CONTINUATION };
        push_head(out, number + 1 == count, rsv1 && first, opcode, piece.len(), None);
        out.extend_from_slice(piece);
    }
}
