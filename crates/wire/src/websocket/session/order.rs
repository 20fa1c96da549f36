//! Order of frames: finds the message that a frame belongs to, and whether it is compressed.
//!
//! The rules are those of JMeter's WebSocket plug-in, which reads frames one by one. A message is a text or binary
//! frame, and the continuation frames after it up to the last one. Control frames may occur between them.

use super::Opcode;

/// The kind of a WebSocket message or control frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Text,
    Binary,
    Close,
    Ping,
    Pong,
}

/// A WebSocket frame that is not allowed at its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misplaced {
    /// A continuation frame, although no message has begun.
    Continuation,
    /// A text or binary frame, although the previous message is incomplete.
    Beginning,
    /// A frame with an undefined opcode.
    Unknown(u8),
}

/// The fields of a frame's head that define its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameFields {
    pub opcode: Opcode,
    pub fin: bool,
    /// Reserved bits of a frame; 4 is RSV1.
    pub rsv: u8,
}

/// State that relates a WebSocket frame to the frames before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Order {
    within: Within,
    /// True if the message whose fragments are arriving is compressed.
    compressed: bool,
}

/// Kind of the message whose fragments are arriving.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Within {
    #[default]
    Nothing,
    Text,
    Binary,
}

impl Order {
    /// Returns the kind of the message that a frame belongs to.
    ///
    /// # Errors
    ///
    /// The frame belongs to no message.
    pub fn kind(self, opcode: Opcode) -> Result<Kind, Misplaced> {
        Ok(match opcode {
            Opcode::TEXT => Kind::Text,
            Opcode::BINARY => Kind::Binary,
            Opcode::CLOSE => Kind::Close,
            Opcode::PING => Kind::Ping,
            Opcode::PONG => Kind::Pong,
            Opcode::CONTINUATION => match self.within {
                Within::Text => Kind::Text,
                Within::Binary => Kind::Binary,
                Within::Nothing => return Err(Misplaced::Continuation),
            },
            Opcode(other) => return Err(Misplaced::Unknown(other)),
        })
    }

    /// True if the payload of a frame is compressed.
    #[must_use]
    pub fn compressed(self, frame: FrameFields) -> bool {
        match frame.opcode {
            Opcode::CONTINUATION => self.compressed,
            opcode => !opcode.is_control() && frame.rsv & 4 != 0,
        }
    }

    /// True if a fragment belongs to a compressed message. Readers of whole messages use this function instead of
    /// [`Order::compressed`].
    #[must_use]
    pub fn within_compressed(self, frame: FrameFields) -> bool {
        frame.rsv & 4 != 0 || self.compressed
    }

    /// Sets whether the next fragments belong to a compressed message.
    pub fn note_compressed(&mut self, goes_on: bool) {
        self.compressed = goes_on;
    }

    /// Updates the state with the next frame.
    ///
    /// # Errors
    ///
    /// The frame begins a message within another message.
    pub fn take(&mut self, frame: FrameFields, kind: Kind) -> Result<(), Misplaced> {
        self.compressed = self.compressed(frame);
        if frame.opcode.is_control() {
            return Ok(());
        }
        match (self.within, frame.opcode == Opcode::CONTINUATION) {
            (Within::Nothing, _) if !frame.fin => {
                self.within = if kind == Kind::Text { Within::Text } else { Within::Binary };
            }
            (Within::Nothing, _) => {}
            (_, true) if frame.fin => self.within = Within::Nothing,
            (_, true) => {}
            (_, false) => return Err(Misplaced::Beginning),
        }
        Ok(())
    }
}
