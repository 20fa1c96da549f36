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

use std::io::{Read, Write};

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
    /// Its entries, and its length in the file.
    Frame(Vec<u8>, usize),
    /// A frame of that length whose content is not what was written.
    Damaged(usize),
    /// The beginning of a frame, or nothing of one.
    Torn,
}

/// Looks for a frame at the beginning of `bytes`.
pub(crate) fn frame(bytes: &[u8]) -> Found {
    let Some((head, rest)) = bytes.split_at_checked(HEAD) else { return Found::Torn };
    let number = |at: usize| {
        let four = head[at..at + 4].try_into().unwrap_or_default();
        u32::from_le_bytes(four)
    };
    let (length, inflated, sum) = (number(0) as usize, number(4), number(8));
    let Some(content) = rest.get(..length) else { return Found::Torn };
    if inflated > MOST || checksum(content) != sum {
        return Found::Damaged(HEAD + length);
    }
    let mut entries = Vec::new();
    let read = DeflateDecoder::new(content).take(u64::from(inflated) + 1).read_to_end(&mut entries);
    if read.is_err() || entries.len() != inflated as usize {
        return Found::Damaged(HEAD + length);
    }
    Found::Frame(entries, HEAD + length)
}
