//! The file of a record: its frames, and what is in them.
//!
//! A file is the eight bytes `throngR1` and frames behind each other. A frame is three numbers of four bytes, the lowest
//! first (length of its content, length once inflated, checksum: CRC-32 of the content), and the content: raw deflate. It has
//! entries; an entry is its kind (a byte), its length and its body. Kinds that are not known are passed over, and so is what
//! stands behind the fields of a body that are known. `docs/record.md` describes the entries.

pub(crate) mod bytes;
pub(crate) mod columns;
pub(crate) mod entries;
pub(crate) mod parts;

use std::io::{self, Read, Write};

use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};

/// The first bytes of a file. The last one is the version: it changes when an older program could not read the file.
pub(crate) const MAGIC: &[u8; 8] = b"throngR1";

/// Longest content of a frame once inflated, bytes: a second with the most that can be in it has less than a tenth.
const MOST: u32 = 64 << 20;
const HEAD: usize = 12;

/// Appends a frame.
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

/// The result of looking for a frame.
pub(crate) enum Found {
    /// Its entries.
    Frame(Vec<u8>),
    /// A frame whose content is not what was written.
    Damaged,
    /// The beginning of a frame; so many bytes are the last ones of the file.
    Torn(u64),
}

/// Reads the next frame; `None` at the end of the file. The bytes are room for it, which the next one uses again.
pub(crate) fn next_frame(from: &mut impl Read, bytes: &mut Vec<u8>) -> io::Result<Option<Found>> {
    bytes.clear();
    from.by_ref().take(HEAD as u64).read_to_end(bytes)?;
    if bytes.is_empty() {
        return Ok(None);
    }
    if let Some([length, ..]) = head(bytes) {
        from.by_ref().take(u64::from(length)).read_to_end(bytes)?;
    }
    Ok(Some(frame(bytes)))
}

/// The three numbers at the beginning of a frame.
fn head(bytes: &[u8]) -> Option<[u32; 3]> {
    let (numbers, _) = bytes.get(..HEAD)?.as_chunks::<4>();
    Some([0, 1, 2].map(|at| u32::from_le_bytes(numbers[at])))
}

/// The frame that the bytes are.
fn frame(bytes: &[u8]) -> Found {
    let torn = Found::Torn(bytes.len() as u64);
    let Some([length, inflated, sum]) = head(bytes) else { return torn };
    let content = &bytes[HEAD..];
    if content.len() < length as usize {
        return torn;
    }
    if inflated > MOST || checksum(content) != sum {
        return Found::Damaged;
    }
    let mut entries = Vec::new();
    let read = DeflateDecoder::new(content).take(u64::from(inflated) + 1).read_to_end(&mut entries);
    if read.is_err() || entries.len() != inflated as usize {
        return Found::Damaged;
    }
    Found::Frame(entries)
}
