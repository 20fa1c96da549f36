//! Compression of messages (RFC 7692): whole messages in, whole messages out, bounded in output.
//!
//! One [`Inflater`] and one [`Deflater`] serve all connections of a core, because between messages a deflate stream
//! consists only of its window. The connection stores this window in a [`Window`]: at most 32 KiB, and never more than
//! was sent. If the peers agreed on no context takeover, a connection keeps nothing. Sharing costs one copy of the
//! window for each message.

use std::fmt;

use flate2::{Compress, Compression, FlushCompress, FlushDecompress, Status};

pub use super::extension::Deflate;
pub use crate::coding::Inflater;

/// The bytes at the end of every compressed message that the sender removes and the receiver appends (RFC 7692, section
/// 7.2.1).
const TAIL: [u8; 4] = [0, 0, 0xff, 0xff];
/// Maximum number of deflate blocks marked as final in a message. Each costs the receiver a copy of the window, and no
/// sender needs one.
const FINAL_BLOCKS: u32 = 1000;
/// Number of bytes by which the output buffer grows during compression.
const STEP: usize = 4096;

/// The last bytes of earlier messages in one direction of a connection, to which later messages may refer.
#[derive(Clone, Debug, Default)]
pub struct Window {
    bytes: Vec<u8>,
}

impl Window {
    /// Maximum distance of a back reference in deflate, in bytes.
    pub const SIZE: usize = 32 * 1024;

    /// Returns the heap memory of a compression window in bytes.
    pub fn heap(&self) -> usize {
        self.bytes.capacity()
    }

    fn add(&mut self, message: &[u8]) {
        let kept = message.len().min(Self::SIZE);
        let too_many = (self.bytes.len() + kept).saturating_sub(Self::SIZE);
        self.bytes.drain(..too_many);
        self.bytes.extend_from_slice(&message[message.len() - kept..]);
    }
}

/// The reason why a message cannot be decompressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The payload of the message is not valid deflate data.
    Invalid,
    /// The decompressed message is larger than `max` bytes.
    TooLarge { max: usize },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid => f.write_str("compressed message is not valid deflate"),
            Self::TooLarge { max } => write!(f, "message exceeds {max} bytes when decompressed"),
        }
    }
}

impl std::error::Error for Error {}

impl Inflater {
    /// Appends the decompressed message to `out`, at most `max` bytes. `payload` is the joined payload of all frames.
    /// `window` is the sender's context; `None` without context takeover. After an error the window is unchanged, and
    /// `out` has the part decompressed before the error.
    pub fn message(
        &mut self,
        window: Option<&mut Window>,
        payload: &[u8],
        out: &mut Vec<u8>,
        max: usize,
    ) -> Result<(), Error> {
        let start = out.len();
        let mut finals = 0;
        self.begin(window.as_deref(), &out[start..])?;
        for mut input in [payload, &TAIL] {
            loop {
                if out.capacity() == out.len() {
                    out.reserve((max - (out.len() - start)).saturating_add(1).min(STEP));
                }
                let (read, written) = (self.inflate.total_in(), out.len());
                let status = self.inflate.decompress_vec(input, out, FlushDecompress::Sync);
                let read = (self.inflate.total_in() - read) as usize;
                input = &input[read..];
                if out.len() - start > max {
                    out.truncate(start + max);
                    return Err(Error::TooLarge { max });
                }
                match status.map_err(|_| Error::Invalid)? {
                    // A final block ends a deflate stream, but not the message.
                    Status::StreamEnd => {
                        finals += 1;
                        if finals > FINAL_BLOCKS {
                            return Err(Error::Invalid);
                        }
                        self.begin(window.as_deref(), &out[start..])?;
                        if input.is_empty() {
                            break;
                        }
                    }
                    // Unused capacity of `out` means that all input so far was decompressed.
                    _ if input.is_empty() && out.len() < out.capacity() => break,
                    _ if read == 0 && out.len() == written && out.len() < out.capacity() => {
                        return Err(Error::Invalid);
                    }
                    _ => {}
                }
            }
        }
        if let Some(window) = window {
            window.add(&out[start..]);
        }
        Ok(())
    }

    /// Begins decompressing a deflate stream that may refer to earlier messages in `window`, and to the part `message`
    /// of the current message.
    fn begin(&mut self, window: Option<&Window>, message: &[u8]) -> Result<(), Error> {
        self.inflate.reset(false);
        let message = &message[message.len().saturating_sub(Window::SIZE)..];
        for known in [window.map_or(&[][..], |window| &window.bytes), message] {
            if !known.is_empty() {
                self.inflate.set_dictionary(known).map_err(|_| Error::Invalid)?;
            }
        }
        Ok(())
    }
}

/// Compressor of WebSocket messages; one per core and window size.
pub struct Deflater {
    deflate: Compress,
}

impl fmt::Debug for Deflater {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deflater").finish_non_exhaustive()
    }
}

impl Deflater {
    /// Creates a compressor. `level` is 0 to 9, `window_bits` 9 to 15; other values are clamped. zlib has no 8-bit
    /// window.
    pub fn new(level: u32, window_bits: u8) -> Self {
        let level = Compression::new(level.min(9));
        Self { deflate: Compress::new_with_window_bits(level, false, window_bits.clamp(9, 15)) }
    }

    /// Appends the compressed message to `out`, ready as the payload of a frame with RSV1. `window` is the receiver's
    /// context; `None` without context takeover.
    pub fn message(&mut self, window: Option<&mut Window>, message: &[u8], out: &mut Vec<u8>) {
        self.deflate.reset();
        if let Some(window) = &window
            && !window.bytes.is_empty()
            && self.deflate.set_dictionary(&window.bytes).is_err()
        {
            // Only a stream with a header rejects a dictionary. The message is then compressed without the window.
            self.deflate.reset();
        }
        let mut input = message;
        loop {
            out.reserve(STEP);
            let read = self.deflate.total_in();
            // Compression cannot fail while the output has capacity.
            let _ = self.deflate.compress_vec(input, out, FlushCompress::Sync);
            input = &input[(self.deflate.total_in() - read) as usize..];
            if input.is_empty() && out.len() < out.capacity() {
                break;
            }
        }
        if out.ends_with(&TAIL) {
            out.truncate(out.len() - TAIL.len());
        }
        if let Some(window) = window {
            window.add(message);
        }
    }
}

#[cfg(test)]
mod tests;
