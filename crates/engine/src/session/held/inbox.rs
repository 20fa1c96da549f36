//! The inbox of a held connection: frames that arrived while no sampler was reading, in order and with their time
//! of arrival, up to a size limit.

use std::collections::VecDeque;

use wire::websocket::session::order::FrameFields;
use wire::websocket::{Head, Opcode};

use crate::time::clock::Nanos;

/// The header of a frame, without the parts that only its decoder needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrameHead {
    pub(crate) opcode: Opcode,
    pub(crate) fin: bool,
    pub(crate) rsv: u8,
    /// Size of the frame on the wire in bytes.
    pub(crate) size: u64,
}

impl FrameHead {
    pub(crate) fn of(head: &Head) -> Self {
        let size = head.size as u64 + head.length;
        Self { opcode: head.opcode, fin: head.fin, rsv: head.rsv, size }
    }

    /// Returns the properties that the frame's header states.
    pub(crate) fn frame_fields(self) -> FrameFields {
        FrameFields { opcode: self.opcode, fin: self.fin, rsv: self.rsv }
    }
}

/// A frame in the inbox.
#[derive(Debug)]
pub(crate) struct Queued {
    pub(crate) head: FrameHead,
    pub(crate) arrival: Nanos,
    pub(crate) payload: Box<[u8]>,
}

/// Memory for a frame in the inbox, without its payload, in bytes.
const OVERHEAD: usize = size_of::<Queued>();

#[derive(Debug, Default)]
pub(crate) struct Inbox {
    frames: VecDeque<Queued>,
    bytes: usize,
}

impl Queued {
    /// Returns the memory that the frame occupies in the inbox, in bytes.
    pub(crate) fn weight(&self) -> usize {
        self.payload.len() + OVERHEAD
    }
}

impl Inbox {
    pub(crate) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Returns the memory of all frames in the inbox, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn push(&mut self, frame: Queued) {
        self.bytes += frame.weight();
        self.frames.push_back(frame);
    }

    /// Puts a frame in front of all other frames.
    pub(crate) fn push_first(&mut self, frame: Queued) {
        self.bytes += frame.weight();
        self.frames.push_front(frame);
    }

    /// Takes the oldest frame.
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
