//! Reassembly of messages from frames, with every rule of RFC 6455 enforced: the reader of a strict endpoint.
//!
//! A frame that is complete in the input is unmasked in place and returned without a copy. Only incomplete frames and
//! messages are buffered. Text is checked on arrival, so that invalid UTF-8 is found before its frame is complete.
//! Control frames between fragments are reported immediately. The result does not depend on how the input was split.

use std::fmt;

use super::frame::{self, Head, Opcode};
use super::mask::apply_mask;
use super::utf8::Utf8;
use super::{close, deflate};

/// The role of this endpoint of a WebSocket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A client: incoming frames must be unmasked.
    Client,
    /// A server: incoming frames must be masked.
    Server,
}

/// The rules by which frames of the peer are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    pub role: Role,
    /// True if compression was agreed on, so that the first frame of a message may have RSV1.
    pub deflate: bool,
    /// Maximum payload of a message on the wire, in bytes.
    pub limit: u32,
}

/// A violation of the WebSocket protocol by the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Violation {
    ReservedBits(u8),
    ReservedOpcode(u8),
    /// A server sent a masked frame.
    Masked,
    /// A client sent an unmasked frame.
    Unmasked,
    /// The length of a frame has its top bit set, or is written in more bytes than needed.
    Length,
    FragmentedControl,
    /// A control frame has more than 125 bytes.
    LongControl,
    /// A continuation frame arrived, but no message has begun.
    UnexpectedContinuation,
    /// A new message began before the previous message was complete.
    MissingContinuation,
    TooLarge,
    Utf8,
    Deflate,
    /// A close frame has a payload of one byte.
    CloseLength,
    CloseCode(u16),
    /// The reason in a close frame is not valid UTF-8.
    CloseReason,
}

impl Violation {
    /// Returns the close code that answers this violation (RFC 6455, section 7.4.1).
    pub const fn code(self) -> u16 {
        match self {
            Self::TooLarge => 1009,
            Self::Utf8 | Self::CloseReason | Self::Deflate => 1007,
            _ => 1002,
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ReservedBits(bits) => write!(f, "reserved bits {bits:03b} are set"),
            Self::ReservedOpcode(opcode) => write!(f, "opcode {opcode} is reserved"),
            Self::Masked => f.write_str("a frame from a server is masked"),
            Self::Unmasked => f.write_str("a frame from a client is not masked"),
            Self::Length => f.write_str("invalid length of a frame"),
            Self::FragmentedControl => f.write_str("a control frame is fragmented"),
            Self::LongControl => f.write_str("a control frame exceeds 125 bytes"),
            Self::UnexpectedContinuation => f.write_str("a continuation frame without a message"),
            Self::MissingContinuation => f.write_str("a new message before the end of the last"),
            Self::TooLarge => f.write_str("message too large"),
            Self::Utf8 => f.write_str("text is not UTF-8"),
            Self::Deflate => f.write_str("compressed message is not valid"),
            Self::CloseLength => f.write_str("a close frame has one byte"),
            Self::CloseCode(code) => write!(f, "close code {code} must not be sent"),
            Self::CloseReason => f.write_str("the reason of a close frame is not UTF-8"),
        }
    }
}

impl std::error::Error for Violation {}

/// The result of [`Assembler::next`].
#[derive(Debug, PartialEq, Eq)]
pub enum Event<'b> {
    /// The input has no further event. Bytes may have been consumed.
    NeedMore,
    /// A whole message. The payload of a compressed message is as received; [`inflate`] decompresses it.
    Message {
        text: bool,
        compressed: bool,
        payload: &'b [u8],
    },
    Ping(&'b [u8]),
    Pong(&'b [u8]),
    /// A close frame. All input after it is discarded.
    Close {
        code: Option<u16>,
        reason: &'b str,
    },
}

/// State of reassembling messages in one direction of a connection.
#[derive(Debug)]
pub struct Assembler {
    rules: Rules,
    closed: bool,
    partial: Option<Box<Partial>>,
}

/// State of an incomplete frame or message.
#[derive(Debug, Default)]
struct Partial {
    /// The frame whose payload is incomplete.
    frame: Option<Frame>,
    message: Option<Kind>,
    bytes: Vec<u8>,
    utf8: Utf8,
    /// Payload of a control frame received so far.
    control: Vec<u8>,
    /// True if the buffered message, or the control frame outside a message, was returned, so that this state can be
    /// dropped.
    is_over: bool,
}

#[derive(Clone, Copy, Debug)]
struct Frame {
    opcode: Opcode,
    fin: bool,
    mask: Option<[u8; 4]>,
    left: u64,
    /// Number of payload bytes received of the frame.
    taken: usize,
}

#[derive(Clone, Copy, Debug)]
struct Kind {
    text: bool,
    compressed: bool,
}

impl Assembler {
    pub fn new(rules: Rules) -> Self {
        Self { rules, closed: false, partial: None }
    }

    /// True if a message or a frame was received in part. An incomplete head stays in the input and does not count.
    pub fn is_within(&self) -> bool {
        self.partial.as_ref().is_some_and(|partial| !partial.is_over)
    }

    /// Parses contiguous unread bytes, which may be unmasked in place; returns the number of bytes consumed and one
    /// event. Call until `NeedMore`. The caller must keep the unconsumed bytes, at most 13, in front of further bytes.
    /// After a violation the connection must be closed.
    pub fn next<'b>(&'b mut self, input: &'b mut [u8]) -> Result<(usize, Event<'b>), Violation> {
        if self.closed {
            return Ok((input.len(), Event::NeedMore));
        }
        if self.partial.as_ref().is_some_and(|partial| partial.is_over) {
            self.partial = None;
        }
        let mut used = 0;
        loop {
            if let Some(partial) = &mut self.partial
                && let Some(frame) = &mut partial.frame
            {
                let here = &mut input[used..];
                let most = usize::try_from(frame.left).unwrap_or(usize::MAX);
                let end = here.len().min(most);
                let piece = &mut here[..end];
                if let Some(key) = frame.mask {
                    apply_mask(piece, key, frame.taken);
                }
                frame.taken += end;
                frame.left -= end as u64;
                let frame = *frame;
                used += end;
                if frame.opcode.is_control() {
                    partial.control.extend_from_slice(piece);
                } else {
                    partial.add(piece, frame.fin && frame.left == 0)?;
                }
                if frame.left > 0 {
                    return Ok((used, Event::NeedMore));
                }
                partial.frame = None;
                if frame.opcode.is_control() || frame.fin {
                    return Ok((used, self.unfinished_is_complete(frame.opcode)?));
                }
                continue;
            }
            let head = match frame::head(&input[used..]) {
                Ok(Some(head)) => head,
                Ok(None) => return Ok((used, Event::NeedMore)),
                Err(frame::Error::Length) => return Err(Violation::Length),
            };
            self.check(&head)?;
            let start = used + head.size;
            let is_whole = head.length <= (input.len() - start) as u64;
            let is_alone = head.fin && self.message().is_none();
            if is_whole && (head.opcode.is_control() || is_alone) {
                let end = start + head.length as usize;
                if let Some(key) = head.mask {
                    apply_mask(&mut input[start..end], key, 0);
                }
                return Ok((end, self.whole(&head, &input[start..end])?));
            }
            used = start;
            self.begin(&head);
        }
    }

    /// Stores the head of a frame whose payload arrives in pieces.
    fn begin(&mut self, head: &Head) {
        let partial = self.partial.get_or_insert_default();
        if !head.opcode.is_control() && head.opcode != Opcode::CONTINUATION {
            partial.message =
                Some(Kind { text: head.opcode == Opcode::TEXT, compressed: head.rsv == 4 });
        }
        partial.control.clear();
        partial.frame = Some(Frame {
            opcode: head.opcode,
            fin: head.fin,
            mask: head.mask,
            left: head.length,
            taken: 0,
        });
    }

    fn message(&self) -> Option<Kind> {
        self.partial.as_ref().and_then(|partial| partial.message)
    }

    fn check(&self, head: &Head) -> Result<(), Violation> {
        let opcode = head.opcode;
        let starts = opcode == Opcode::TEXT || opcode == Opcode::BINARY;
        if head.rsv != 0 && !(head.rsv == 4 && self.rules.deflate && starts) {
            return Err(Violation::ReservedBits(head.rsv));
        }
        if !opcode.is_known() {
            return Err(Violation::ReservedOpcode(opcode.0));
        }
        match (self.rules.role, head.mask) {
            (Role::Client, Some(_)) => return Err(Violation::Masked),
            (Role::Server, None) => return Err(Violation::Unmasked),
            _ => {}
        }
        if opcode.is_control() {
            if !head.fin {
                return Err(Violation::FragmentedControl);
            }
            if head.length > 125 {
                return Err(Violation::LongControl);
            }
        }
        if !head.is_minimal() {
            return Err(Violation::Length);
        }
        if opcode.is_control() {
            return Ok(());
        }
        match (self.message(), starts) {
            (Some(_), true) => return Err(Violation::MissingContinuation),
            (None, false) => return Err(Violation::UnexpectedContinuation),
            _ => {}
        }
        let so_far = self.partial.as_ref().map_or(0, |partial| partial.bytes.len() as u64);
        if so_far + head.length > u64::from(self.rules.limit) {
            return Err(Violation::TooLarge);
        }
        Ok(())
    }

    /// Returns the event of a frame that is complete in the input.
    fn whole<'b>(&mut self, head: &Head, payload: &'b [u8]) -> Result<Event<'b>, Violation> {
        if head.opcode.is_control() {
            return control(head.opcode, payload, &mut self.closed);
        }
        let text = head.opcode == Opcode::TEXT;
        let compressed = head.rsv == 4;
        if text && !compressed && std::str::from_utf8(payload).is_err() {
            return Err(Violation::Utf8);
        }
        Ok(Event::Message { text, compressed, payload })
    }

    /// Returns the event of a buffered frame, or message, that has just become complete.
    fn unfinished_is_complete(&mut self, opcode: Opcode) -> Result<Event<'_>, Violation> {
        let Some(partial) = &mut self.partial else { return Ok(Event::NeedMore) };
        if opcode.is_control() {
            // A control frame outside a message leaves no state.
            partial.is_over = partial.message.is_none();
            return control(opcode, &partial.control, &mut self.closed);
        }
        partial.is_over = true;
        let Some(Kind { text, compressed }) = partial.message else { return Ok(Event::NeedMore) };
        Ok(Event::Message { text, compressed, payload: &partial.bytes })
    }
}

impl Partial {
    /// Adds a piece to the buffered message. `is_last` is true if the piece completes the message.
    fn add(&mut self, piece: &[u8], is_last: bool) -> Result<(), Violation> {
        self.bytes.extend_from_slice(piece);
        if let Some(Kind { text: true, compressed: false }) = self.message {
            let is_valid = self.utf8.accept(piece);
            if !is_valid || is_last && !self.utf8.is_complete() {
                return Err(Violation::Utf8);
            }
        }
        Ok(())
    }
}

fn control<'b>(
    opcode: Opcode,
    payload: &'b [u8],
    closed: &mut bool,
) -> Result<Event<'b>, Violation> {
    match opcode {
        Opcode::PING => Ok(Event::Ping(payload)),
        Opcode::PONG => Ok(Event::Pong(payload)),
        _ => {
            let (code, reason) = close::read(payload)?;
            *closed = true;
            Ok(Event::Close { code, reason })
        }
    }
}

/// Decompresses the payload of a compressed message and appends the message to `out`, at most `max` bytes.
pub fn inflate(
    inflater: &mut deflate::Inflater,
    window: Option<&mut deflate::Window>,
    text: bool,
    payload: &[u8],
    out: &mut Vec<u8>,
    max: usize,
) -> Result<(), Violation> {
    let start = out.len();
    inflater.message(window, payload, out, max).map_err(|error| match error {
        deflate::Error::Invalid => Violation::Deflate,
        deflate::Error::TooLarge { .. } => Violation::TooLarge,
    })?;
    if text && std::str::from_utf8(&out[start..]).is_err() {
        return Err(Violation::Utf8);
    }
    Ok(())
}
