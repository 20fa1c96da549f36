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
    /// Bytes that are no frame; the next ones may be, too.
    Damaged(u64),
    /// The beginning of a frame; so many bytes are the last ones of the file.
    Torn(u64),
}

/// Bytes without a frame that are looked through before they are given back: memory has a bound.
const MOST_DAMAGED: usize = 1 << 20;
/// Bytes of a frame that show whether it is deflated data.
const SAMPLE: usize = 4096;

/// The frames of a file. Where bytes are damaged, it goes on with the next whole frame, wherever that begins.
pub(crate) struct Frames<R> {
    from: R,
    /// Bytes that were read; those before `end` have been given back, from `begin` on at the last time.
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
        // Of a sound file, that is all of them.
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
            // What may be torn has been read to its end already.
            if !is_torn && skipped == MOST_DAMAGED || self.frame(skipped)?.is_some() {
                return Ok(Some(self.found(skipped, Found::Damaged(skipped as u64))));
            }
            skipped += 1;
        }
        let rest = self.rest();
        let what = if is_torn { Found::Torn } else { Found::Damaged };
        Ok(Some(self.found(rest, what(rest as u64))))
    }

    /// The bytes of what was found last.
    pub(crate) fn last(&self) -> &[u8] {
        &self.bytes[self.begin..self.end]
    }

    /// Copies all that has not been given back.
    pub(crate) fn copy_rest(&mut self, to: &mut impl Write) -> io::Result<()> {
        to.write_all(&self.bytes[self.end..])?;
        (self.bytes, self.begin, self.end) = (Vec::new(), 0, 0);
        io::copy(&mut self.from, to).map(drop)
    }

    fn found(&mut self, length: usize, found: Found) -> Found {
        self.end = self.begin + length;
        found
    }

    /// Bytes that were read and not given back.
    fn rest(&self) -> usize {
        self.bytes.len() - self.begin
    }

    /// Reads until so many bytes are there. `false`: the file has fewer.
    fn has(&mut self, bytes: usize) -> io::Result<bool> {
        let missing = bytes.saturating_sub(self.rest());
        if missing > 0 {
            self.from.by_ref().take(missing as u64).read_to_end(&mut self.bytes)?;
        }
        Ok(self.rest() >= bytes)
    }

    /// The frame that begins there: its length and entries.
    fn frame(&mut self, skipped: usize) -> io::Result<Option<(usize, Vec<u8>)>> {
        let Some([length, inflated, sum]) = head(&self.bytes[self.begin + skipped..]) else {
            return Ok(None);
        };
        let length = length as usize;
        if !is_plausible(length, inflated) {
            return Ok(None);
        }
        // A look at its beginning spares reading millions of bytes for a length that is none.
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

/// The three numbers at the beginning of a frame.
fn head(bytes: &[u8]) -> Option<[u32; 3]> {
    let (numbers, _) = bytes.get(..HEAD)?.as_chunks::<4>();
    Some([0, 1, 2].map(|at| u32::from_le_bytes(numbers[at])))
}

/// Bytes that deflate makes of one at most.
const MOST_OF_BYTE: usize = 1032;

/// Whether a frame can have these lengths: it is not empty, and deflate adds hardly anything to what it cannot make shorter.
fn is_plausible(length: usize, inflated: u32) -> bool {
    let most = inflated as usize + inflated as usize / 1000 + 64;
    (1..=MOST).contains(&inflated) && length <= most && inflated as usize <= MOST_OF_BYTE * length
}

/// Inflates as much as there is of a frame's content. `None`: it is damaged.
fn inflate(content: &[u8], inflated: u32) -> Option<Vec<u8>> {
    let mut entries = Vec::with_capacity((inflated as usize).min(MOST_OF_BYTE * content.len()));
    let mut from = DeflateDecoder::new(content).take(u64::from(inflated) + 1);
    from.read_to_end(&mut entries).ok().map(|_| entries)
}
