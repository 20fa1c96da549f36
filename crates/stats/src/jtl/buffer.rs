//! A window on the text of a file, for readers that need a whole row or tag at once.
//!
//! The window grows while a row needs more, up to [`MOST_ROW`]; consumed bytes make room for others. Cost: each byte is
//! copied once, and once more where a row crosses the end of the window.
use std::io::{ErrorKind, Read, Result};

/// Longest row or tag, bytes.
pub(super) const MOST_ROW: usize = 16 << 20;
const FIRST: usize = 128 << 10;

#[derive(Debug)]
pub(super) struct Buffer<R> {
    from: R,
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    /// The file has no more bytes.
    pub(super) ended: bool,
    /// Bytes consumed.
    pub(super) offset: u64,
    /// Line of the first byte, from 1.
    pub(super) line: u64,
}

impl<R: Read> Buffer<R> {
    pub(super) fn new(from: R) -> Self {
        let bytes = vec![0; FIRST];
        Self { from, bytes, start: 0, end: 0, ended: false, offset: 0, line: 1 }
    }

    /// Bytes that were read and not consumed.
    pub(super) fn text(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Whether the window holds as much as a row may have.
    pub(super) fn is_full(&self) -> bool {
        self.end - self.start >= MOST_ROW
    }

    /// Reads more bytes; sets `ended` where there are none.
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

    /// Gives back bytes that were consumed last, in which so many lines end.
    pub(super) fn give_back(&mut self, bytes: usize, lines: u64) {
        self.start -= bytes;
        self.offset -= bytes as u64;
        self.line -= lines;
    }

    /// The bytes that were consumed last.
    pub(super) fn before(&self, bytes: usize) -> &[u8] {
        &self.bytes[self.start - bytes..self.start]
    }

    /// Takes bytes from the front, in which so many lines end.
    pub(super) fn consume(&mut self, bytes: usize, lines: u64) {
        self.start += bytes;
        self.offset += bytes as u64;
        self.line += lines;
    }
}
