//! One frame: parsing of its head, and writing of whole frames (RFC 6455, section 5.2).
//!
//! Parsing is lenient: it reports reserved bits, unknown opcodes and overlong lengths as they are. Judging them is left
//! to the caller, because a load generator must report what a server sent. Heads have 2 to 14 bytes. Heads are parsed
//! without copying, and written without allocating if the output has capacity.

use std::fmt;

use super::mask::push_masked;

/// Maximum length of a head in bytes: two bytes, a length field of eight bytes, and a masking key of four bytes.
pub const LONGEST_HEAD: usize = 14;

/// Value of the length bits in a head's second byte after which a length field of 2 bytes follows.
const TWO_BYTES: u8 = 126;
/// Value of the length bits in a head's second byte after which a length field of 8 bytes follows.
const EIGHT_BYTES: u8 = 127;

/// Opcode: the type of a frame, a 4-bit value. Undefined values may occur on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Opcode(pub u8);

impl Opcode {
    pub const CONTINUATION: Self = Self(0);
    pub const TEXT: Self = Self(1);
    pub const BINARY: Self = Self(2);
    pub const CLOSE: Self = Self(8);
    pub const PING: Self = Self(9);
    pub const PONG: Self = Self(10);

    /// True for control frames, which may be sent between the fragments of a message.
    pub const fn is_control(self) -> bool {
        self.0 & 8 != 0
    }

    /// True if RFC 6455 defines this opcode.
    pub const fn is_known(self) -> bool {
        matches!(self.0, 0..=2 | 8..=10)
    }
}

/// The head of a WebSocket frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// True if the frame is the last or only fragment of its message.
    pub fin: bool,
    /// The reserved bits of the frame: 4 is RSV1, 2 is RSV2, 1 is RSV3.
    pub rsv: u8,
    pub opcode: Opcode,
    /// Masking key; `None` for an unmasked frame.
    pub mask: Option<[u8; 4]>,
    /// Length of the frame's payload in bytes.
    pub length: u64,
    /// Length of the frame's head in bytes; the payload follows it.
    pub size: usize,
}

impl Head {
    /// True if the frame's length is written in the fewest possible bytes, as RFC 6455 demands.
    pub fn is_minimal(&self) -> bool {
        let own = if self.mask.is_some() { self.size - 4 } else { self.size };
        own == 2 + length_bytes(self.length)
    }
}

/// The reason why a frame's head cannot be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The length of the frame has its top bit set, which RFC 6455 forbids.
    Length,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length => f.write_str("the length of a frame has its top bit set"),
        }
    }
}

impl std::error::Error for Error {}

/// Parses the head of the frame at the start of `bytes`; `None` if it is incomplete.
#[inline]
pub fn head(bytes: &[u8]) -> Result<Option<Head>, Error> {
    let [first, second, rest @ ..] = bytes else { return Ok(None) };
    let (length, extra) = match second & 0x7f {
        TWO_BYTES => match rest.first_chunk::<2>() {
            Some(&length) => (u64::from(u16::from_be_bytes(length)), 2),
            None => return Ok(None),
        },
        EIGHT_BYTES => match rest.first_chunk::<8>() {
            Some(&length) => (u64::from_be_bytes(length), 8),
            // The first of the eight length bytes already contains the top bit.
            None if rest.first().is_some_and(|top| top & 0x80 != 0) => return Err(Error::Length),
            None => return Ok(None),
        },
        short => (u64::from(short), 0),
    };
    if length >> 63 != 0 {
        return Err(Error::Length);
    }
    let mut size = 2 + extra;
    let mask = if second & 0x80 != 0 {
        let Some(&key) = rest[extra..].first_chunk::<4>() else { return Ok(None) };
        size += 4;
        Some(key)
    } else {
        None
    };
    Ok(Some(Head {
        fin: first & 0x80 != 0,
        rsv: first >> 4 & 7,
        opcode: Opcode(first & 0x0f),
        mask,
        length,
        size,
    }))
}

/// Returns the number of bytes of the length field after the second byte of a frame's head.
const fn length_bytes(length: u64) -> usize {
    match length {
        0..126 => 0,
        126..0x1_0000 => 2,
        _ => 8,
    }
}

/// Returns the size of a frame on the wire in bytes.
pub const fn size(length: usize, masked: bool) -> usize {
    2 + length_bytes(length as u64) + if masked { 4 } else { 0 } + length
}

/// Appends the head of a frame with `length` bytes of payload.
#[inline]
pub fn push_head(
    out: &mut Vec<u8>,
    fin: bool,
    rsv1: bool,
    opcode: Opcode,
    length: usize,
    mask: Option<[u8; 4]>,
) {
    let mut head = [0; LONGEST_HEAD];
    head[0] = u8::from(fin) << 7 | u8::from(rsv1) << 6 | opcode.0 & 0x0f;
    let masked = u8::from(mask.is_some()) << 7;
    let mut end = 2 + length_bytes(length as u64);
    match end {
        2 => head[1] = masked | length as u8,
        4 => {
            head[1] = masked | TWO_BYTES;
            head[2..4].copy_from_slice(&(length as u16).to_be_bytes());
        }
        _ => {
            head[1] = masked | EIGHT_BYTES;
            head[2..10].copy_from_slice(&(length as u64).to_be_bytes());
        }
    }
    if let Some(key) = mask {
        head[end..end + 4].copy_from_slice(&key);
        end += 4;
    }
    out.extend_from_slice(&head[..end]);
}

/// Appends a whole frame that is an unfragmented message. The payload is masked while it is copied.
#[inline]
pub fn push_frame(out: &mut Vec<u8>, opcode: Opcode, payload: &[u8], mask: Option<[u8; 4]>) {
    out.reserve(LONGEST_HEAD + payload.len());
    push_head(out, true, false, opcode, payload.len(), mask);
    match mask {
        Some(key) => push_masked(out, payload, key),
        None => out.extend_from_slice(payload),
    }
}

#[cfg(test)]
mod tests;
