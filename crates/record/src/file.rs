//! The file format of a record: frames that contain entries.
//!
//! A file consists of the eight bytes `throngR1` and a sequence of frames. A frame begins with three little-endian
//! numbers of four bytes each: length of the content, length of the decompressed content, checksum (CRC-32 of the
//! content). The content follows, compressed as raw deflate. The decompressed content is a list of entries. An entry is
//! its kind (one byte), its length and its body. Readers skip entries of unknown kinds, and unknown fields at the end
//! of a body. `docs/record.md` describes the entries.

pub(crate) mod bytes;
pub(crate) mod columns;
pub(crate) mod entries;
pub(crate) mod parts;

use std::io::{self, Read, Write};

use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};

/// The first bytes of a file. The last byte is the format version. It changes only if older programs cannot read the
/// new format.
pub(crate) const MAGIC: &[u8; 8] = b"throngR1";

/// Longest decompressed content of a frame in bytes. The largest possible second has less than a tenth of it.
const MOST: u32 = 64 << 20;
/// Length of the head of a frame in bytes: three numbers of four bytes each.
const HEAD: usize = 12;

/// Appends a frame with these entries to the file.
pub(crate) fn push_frame(out: &mut Vec<u8>, entries: &[u8]) {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::new(6));
    // Writing to memory does not fail.
    let content = encoder.write_all(entries).and_then(|()| encoder.finish()).unwrap_or_default();
    for number in [content.len() as u32, entries.len() as u32, checksum(&content)] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    out.extend_from_slice(&content);
}

fn checksum(content: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(content);
    crc.sum()
}

/// The result of a search for the next frame.
pub(crate) enum Found {
    /// A valid frame: its decompressed entries.
    Frame(Vec<u8>),
    /// Bytes that are not a frame, and their number. The bytes after them may be damaged, too.
    Damaged(u64),
    /// The beginning of an incomplete frame, and the number of its bytes up to the end of the file.
    Torn(u64),
}

/// Largest number of damaged bytes that are searched for a frame before they are returned. This bounds the memory.
const MOST_DAMAGED: usize = 1 << 20;
/// Number of bytes of a frame's content that are inflated first, to check that they are deflated data.
const SAMPLE: usize = 4096;

/// A reader of the frames of a file. After damaged bytes, it resumes with the next valid frame at any position.
pub(crate) struct Frames<R> {
    from: R,
    /// Bytes read from the file. Those before `end` have been returned; the last result is `begin..end`.
    bytes: Vec<u8>,
    begin: usize,
    end: usize,
}

impl<R: Read> Frames<R> {
    pub(crate) fn new(from: R) -> Self {
        Self { from, bytes: Vec::new(), begin: 0, end: 0 }
    }

    /// Reads the next frame; `None` at the end of the file.
    pub(crate) fn next(&mut self) -> io::Result<Option<Found>> {
        // In an undamaged file, all bytes of the buffer have been returned by now.
        if self.end > self.bytes.len() / 2 {
            self.bytes.drain(..self.end);
            self.end = 0;
        }
        self.begin = self.end;
        if !self.has(HEAD)? {
            let rest = self.rest();
            return Ok((rest > 0).then(|| self.found(rest, Found::Torn(rest as u64))));
        }
        if let Some((length, entries)) = self.frame(0)? {
            return Ok(Some(self.found(length, Found::Frame(entries))));
        }
        let is_torn = match head(&self.bytes[self.begin..]) {
            Some([length, ..]) if length <= MOST => !self.has(HEAD + length as usize)?,
            _ => false,
        };
        let mut skipped = 1;
        while self.has(skipped + HEAD)? {
            // Bytes that may be a torn frame have been read to the end of the file already, so that no bound is needed.
            if !is_torn && skipped == MOST_DAMAGED || self.frame(skipped)?.is_some() {
                return Ok(Some(self.found(skipped, Found::Damaged(skipped as u64))));
            }
            skipped += 1;
        }
        let rest = self.rest();
        let what = if is_torn { Found::Torn } else { Found::Damaged };
        Ok(Some(self.found(rest, what(rest as u64))))
    }

    /// Returns the bytes of the frame, or of the damaged part, that was returned last.
    pub(crate) fn last(&self) -> &[u8] {
        &self.bytes[self.begin..self.end]
    }

    /// Copies all bytes of the file that have not been returned yet.
    pub(crate) fn copy_rest(&mut self, to: &mut impl Write) -> io::Result<()> {
        to.write_all(&self.bytes[self.end..])?;
        (self.bytes, self.begin, self.end) = (Vec::new(), 0, 0);
        io::copy(&mut self.from, to).map(drop)
    }

    fn found(&mut self, length: usize, found: Found) -> Found {
        self.end = self.begin + length;
        found
    }

    /// Returns the number of bytes in the buffer that were read but not returned yet.
    fn rest(&self) -> usize {
        self.bytes.len() - self.begin
    }

    /// Reads from the file until `bytes` unreturned bytes are available. Returns false if the file has fewer.
    fn has(&mut self, bytes: usize) -> io::Result<bool> {
        let missing = bytes.saturating_sub(self.rest());
        if missing > 0 {
            self.from.by_ref().take(missing as u64).read_to_end(&mut self.bytes)?;
        }
        Ok(self.rest() >= bytes)
    }

    /// Reads the frame that begins after `skipped` bytes: its length and its entries. Returns `None` if no valid frame
    /// begins there.
    fn frame(&mut self, skipped: usize) -> io::Result<Option<(usize, Vec<u8>)>> {
        let Some([length, inflated, sum]) = head(&self.bytes[self.begin + skipped..]) else {
            return Ok(None);
        };
        let length = length as usize;
        if !is_plausible(length, inflated) {
            return Ok(None);
        }
        // Inflating the beginning first avoids reading millions of bytes for an invalid length.
        let sample = length.min(SAMPLE);
        if !self.has(skipped + HEAD + sample)?
            || skipped > 0 && inflate(self.content(skipped, sample), inflated).is_none()
            || !self.has(skipped + HEAD + length)?
        {
            return Ok(None);
        }
        let content = self.content(skipped, length);
        if checksum(content) != sum {
            return Ok(None);
        }
        let entries = inflate(content, inflated).filter(|read| read.len() == inflated as usize);
        Ok(entries.map(|entries| (HEAD + length, entries)))
    }

    fn content(&self, skipped: usize, length: usize) -> &[u8] {
        &self.bytes[self.begin + skipped + HEAD..][..length]
    }
}

/// Reads the three numbers at the beginning of a frame.
fn head(bytes: &[u8]) -> Option<[u32; 3]> {
    let (numbers, _) = bytes.get(..HEAD)?.as_chunks::<4>();
    Some([0, 1, 2].map(|at| u32::from_le_bytes(numbers[at])))
}

/// Largest compression ratio of deflate.
const MOST_OF_BYTE: usize = 1032;

/// Returns true if a frame can have these lengths: it is not empty, and deflate hardly lengthens incompressible data.
fn is_plausible(length: usize, inflated: u32) -> bool {
    let most = inflated as usize + inflated as usize / 1000 + 64;
    (1..=MOST).contains(&inflated) && length <= most && inflated as usize <= MOST_OF_BYTE * length
}

/// Inflates as much of a frame's content as is present. Returns `None` if the content is damaged.
fn inflate(content: &[u8], inflated: u32) -> Option<Vec<u8>> {
    let mut entries = Vec::with_capacity((inflated as usize).min(MOST_OF_BYTE * content.len()));
    let mut from = DeflateDecoder::new(content).take(u64::from(inflated) + 1);
    from.read_to_end(&mut entries).ok().map(|_| entries)
}
