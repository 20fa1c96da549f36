//! A sliding window over the text of a file, for readers that need a whole row or tag in memory.
//!
//! The window grows while a row does not fit, up to [`MOST_ROW`]. Consumed bytes make room for new ones. Cost: each
//! byte is copied once, and a second time if its row crosses the end of the window.
use std::io::{ErrorKind, Read, Result};

/// Maximum length of a row or tag in bytes.
pub(super) const MOST_ROW: usize = 16 << 20;
/// Initial size of the window in bytes.
const FIRST: usize = 128 << 10;

#[derive(Debug)]
pub(super) struct Buffer<R> {
    from: R,
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    /// True if the end of the file was reached.
    pub(super) ended: bool,
    /// Number of bytes of the file that have been consumed.
    pub(super) offset: u64,
    /// Line number of the first unconsumed byte, from 1.
    pub(super) line: u64,
}

impl<R: Read> Buffer<R> {
    pub(super) fn new(from: R) -> Self {
        let bytes = vec![0; FIRST];
        Self { from, bytes, start: 0, end: 0, ended: false, offset: 0, line: 1 }
    }

    /// Returns the bytes that were read but not consumed.
    pub(super) fn text(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// True if the window holds as many bytes as the longest row may have.
    pub(super) fn is_full(&self) -> bool {
        self.end - self.start >= MOST_ROW
    }

    /// Reads more bytes. Sets `ended` at the end of the file.
    pub(super) fn more(&mut self) -> Result<()> {
        if self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if self.end == self.bytes.len() {
            self.bytes.resize(2 * self.end, 0);
        }
        loop {
            match self.from.read(&mut self.bytes[self.end..]) {
                Ok(n) => {
                    self.end += n;
                    self.ended = n == 0;
                    return Ok(());
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Puts back the last consumed `bytes`, which contain `lines` line ends.
    pub(super) fn give_back(&mut self, bytes: usize, lines: u64) {
        self.start -= bytes;
        self.offset -= bytes as u64;
        self.line -= lines;
    }

    /// Returns the last consumed `bytes`.
    pub(super) fn before(&self, bytes: usize) -> &[u8] {
        &self.bytes[self.start - bytes..self.start]
    }

    /// Consumes `bytes` from the front, which contain `lines` line ends.
    pub(super) fn consume(&mut self, bytes: usize, lines: u64) {
        self.start += bytes;
        self.offset += bytes as u64;
        self.line += lines;
    }
}
