//! Frames in their order: which message a frame belongs to, and whether it is compressed.
//!
//! The rules are those of JMeter's WebSocket plug-in, which takes frames one by one: a message is a frame that begins it
//! and continuations up to the last; control frames may stand between them.

use super::Opcode;

/// The meaning of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Text,
    Binary,
    Close,
    Ping,
    Pong,
}

/// A frame that has no meaning where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misplaced {
    /// A continuation where no message has begun.
    Continuation,
    /// A message begins within another.
    Beginning,
    /// An opcode that means nothing.
    Unknown(u8),
}

/// The properties that a frame states itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Said {
    pub opcode: Opcode,
    pub fin: bool,
    /// Reserved bits; 4 is RSV1.
    pub rsv: u8,
}

/// The state between frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Order {
    within: Within,
    /// The message whose fragments are arriving is compressed.
    compressed: bool,
}

/// The message whose fragments are arriving.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Within {
    #[default]
    Nothing,
    Text,
    Binary,
}

impl Order {
    /// The kind of the message that a frame belongs to.
    ///
    /// # Errors
    ///
    /// It belongs to none.
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

    /// Whether the payload of a frame is compressed.
    #[must_use]
    pub fn compressed(self, frame: Said) -> bool {
        match frame.opcode {
            Opcode::CONTINUATION => self.compressed,
            opcode => !opcode.is_control() && frame.rsv & 4 != 0,
        }
    }

    /// Whether a fragment of a message is compressed that nobody looks at frame by frame.
    #[must_use]
    pub fn within_compressed(self, frame: Said) -> bool {
        frame.rsv & 4 != 0 || self.compressed
    }

    /// Notes whether the message goes on compressed.
    pub fn note_compressed(&mut self, goes_on: bool) {
        self.compressed = goes_on;
    }

    /// Takes a frame in its place.
    ///
    /// # Errors
    ///
    /// It begins a message within another.
    pub fn take(&mut self, frame: Said, kind: Kind) -> Result<(), Misplaced> {
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
