//! Frames that came while nobody was reading: kept in order, with their time of arrival, up to a bound.

use std::collections::VecDeque;

use wire::websocket::session::order::Said;
use wire::websocket::{Head, Opcode};

use crate::time::clock::Nanos;

/// The head of a frame, without what only its decoder needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrameHead {
    pub(crate) opcode: Opcode,
    pub(crate) fin: bool,
    pub(crate) rsv: u8,
    /// Size of the frame on the wire, bytes.
    pub(crate) size: u64,
}

impl FrameHead {
    pub(crate) fn of(head: &Head) -> Self {
        let size = head.size as u64 + head.length;
        Self { opcode: head.opcode, fin: head.fin, rsv: head.rsv, size }
    }

    /// The properties that a frame states itself.
    pub(crate) fn said(self) -> Said {
        Said { opcode: self.opcode, fin: self.fin, rsv: self.rsv }
    }
}

/// A frame that waits.
#[derive(Debug)]
pub(crate) struct Queued {
    pub(crate) head: FrameHead,
    pub(crate) arrival: Nanos,
    pub(crate) payload: Box<[u8]>,
}

/// The cost of a waiting frame beside its payload, bytes.
const OVERHEAD: usize = size_of::<Queued>();

#[derive(Debug, Default)]
pub(crate) struct Inbox {
    frames: VecDeque<Queued>,
    bytes: usize,
}

impl Queued {
    /// Memory it is counted with, bytes.
    pub(crate) fn weight(&self) -> usize {
        self.payload.len() + OVERHEAD
    }
}

impl Inbox {
    pub(crate) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Memory of all frames that wait, bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn push(&mut self, frame: Queued) {
        self.bytes += frame.weight();
        self.frames.push_back(frame);
    }

    /// Puts a frame before all others.
    pub(crate) fn push_first(&mut self, frame: Queued) {
        self.bytes += frame.weight();
        self.frames.push_front(frame);
    }

    /// The oldest frame.
    pub(crate) fn pop(&mut self) -> Option<Queued> {
        let frame = self.frames.pop_front()?;
        self.bytes -= frame.weight();
        if self.frames.is_empty() && self.frames.capacity() > 16 {
            self.frames = VecDeque::new();
        }
        Some(frame)
    }

    pub(crate) fn clear(&mut self) {
        self.frames.clear();
        self.bytes = 0;
    }
}
