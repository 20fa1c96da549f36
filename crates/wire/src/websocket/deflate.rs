//! Compression of messages (RFC 7692): whole messages in, whole messages out, bounded in output.
//!
//! One [`Inflater`] and one [`Deflater`] serve all connections of a core, because between messages a deflate stream is nothing but
//! its window. That is in a connection's [`Window`], at most 32 KiB and only as much as was sent; where the peers agreed to
//! forget, a connection keeps nothing. The price is one copy of the window for each message.

use std::fmt;

use flate2::{Compress, Compression, FlushCompress, FlushDecompress, Status};

pub use super::extension::Deflate;
pub use crate::coding::Inflater;

/// The last bytes of every compressed message, which the sender removes (RFC 7692, section 7.2.1).
const TAIL: [u8; 4] = [0, 0, 0xff, 0xff];
/// Final blocks that a message may have. Each costs a copy of the window, and a sender needs none.
const FINAL_BLOCKS: u32 = 1000;
/// Room made for output at a time, in bytes.
const STEP: usize = 4096;

/// The end of what one direction of a connection has carried.
#[derive(Clone, Debug, Default)]
pub struct Window {
    bytes: Vec<u8>,
}

impl Window {
    /// The most that deflate can refer back to.
    pub const SIZE: usize = 32 * 1024;

    /// Bytes on the heap.
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
    /// Not deflate.
    Invalid,
    /// More than `max` bytes come out of it.
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
    /// Appends the message to `out`, at most `max` bytes. `payload` is that of all its frames; `window` is what the sender
    /// remembers, `None` if it forgets. After an error the window is as it was, and `out` has what came before it.
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
                    // A final block ends a stream, not the message.
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
                    // Room that is left says that everything so far is out.
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

    /// A fresh stream that may refer to what came before.
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

/// Compresses messages; one per core and window size.
pub struct Deflater {
    deflate: Compress,
}

impl fmt::Debug for Deflater {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deflater").finish_non_exhaustive()
    }
}

impl Deflater {
    /// `level` is 0 to 9, `window_bits` 9 to 15; others are taken for the nearest. zlib has no window of 8 bits.
    pub fn new(level: u32, window_bits: u8) -> Self {
        let level = Compression::new(level.min(9));
        Self { deflate: Compress::new_with_window_bits(level, false, window_bits.clamp(9, 15)) }
    }

    /// Appends the compressed message to `out`, ready to be the payload of a frame with RSV1. `window` is what the receiver
    /// remembers of what was sent, `None` if nothing.
    pub fn message(&mut self, window: Option<&mut Window>, message: &[u8], out: &mut Vec<u8>) {
        self.deflate.reset();
        if let Some(window) = &window
            && !window.bytes.is_empty()
            && self.deflate.set_dictionary(&window.bytes).is_err()
        {
            // Only a stream with a header refuses one, and then the message is compressed on its own.
            self.deflate.reset();
        }
        let mut input = message;
        loop {
            out.reserve(STEP);
            let read = self.deflate.total_in();
            // With room to write to, compressing has no error.
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
