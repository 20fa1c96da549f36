//! Decodes content codings (gzip, deflate, Brotli) of a whole body, with a bound on the output.
//!
//! The decoder accepts what Java's streams accept behind HttpClient: several gzip members, ignored bytes after the last
//! one, and deflate with or without the zlib wrapper. One state serves all bodies of a core; only Brotli allocates for
//! each body.

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};
use flate2::{Crc, Decompress, FlushDecompress, Status};
use std::fmt;

#[cfg(test)]
mod tests;

/// A content coding of HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    Identity,
    Gzip,
    Deflate,
    Brotli,
}

impl Coding {
    /// Parses a `Content-Encoding` value, which may be a list. Unknown codings next to a known one are ignored. Returns
    /// `None` if the list has only unknown codings, or more than one known coding.
    pub fn parse(header: &[u8]) -> Option<Coding> {
        let mut found = None;
        let mut unknown = false;
        for element in header.split(|&b| b == b',') {
            let end =
                element.iter().position(|b| matches!(b, b';' | b'=')).unwrap_or(element.len());
            let name = element[..end].trim_ascii();
            let is = |other: &str| name.eq_ignore_ascii_case(other.as_bytes());
            let coding = if is("gzip") || is("x-gzip") {
                Coding::Gzip
            } else if is("deflate") {
                Coding::Deflate
            } else if is("br") {
                Coding::Brotli
            } else {
                unknown |= !name.is_empty() && !is("identity");
                continue;
            };
            if found.replace(coding).is_some() {
                return None;
            }
        }
        found.or(if unknown { None } else { Some(Coding::Identity) })
    }
}

/// Reusable decompression state for bodies and WebSocket messages; one per core.
pub struct Inflater {
    pub(crate) inflate: Decompress,
}

impl Default for Inflater {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Inflater {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inflater").finish_non_exhaustive()
    }
}

impl Inflater {
    pub fn new() -> Self {
        Self { inflate: Decompress::new(false) }
    }

    /// Appends the decoded body to `out`, at most `max` bytes. After an error, `out` has the part decoded before the
    /// error.
    pub fn decode(
        &mut self,
        coding: Coding,
        input: &[u8],
        out: &mut Vec<u8>,
        max: usize,
    ) -> Result<(), CodingError> {
        let limit = out.len().saturating_add(max);
        let done = match coding {
            Coding::Identity => {
                let enough = input.len().min(max.saturating_add(1));
                out.extend_from_slice(&input[..enough]);
                Ok(())
            }
            Coding::Gzip => self.gzip(input, out, limit),
            Coding::Deflate => self.deflate(input, out, limit),
            Coding::Brotli => brotli(input, out, limit),
        };
        if out.len() > limit {
            out.truncate(limit);
            return Err(CodingError::TooLarge { max });
        }
        done
    }

    /// Decodes a gzip body (RFC 1952).
    fn gzip(
        &mut self,
        mut input: &[u8],
        out: &mut Vec<u8>,
        limit: usize,
    ) -> Result<(), CodingError> {
        let mut header = gzip_header(input)?;
        loop {
            input = &input[header..];
            let start = out.len();
            self.inflate.reset(false);
            let used = self.inflate(input, out, limit)?;
            if out.len() > limit {
                return Ok(());
            }
            let Some((trailer, rest)) = input[used..].split_first_chunk::<8>() else {
                return Err(CodingError::TruncatedTrailer);
            };
            let mut crc = Crc::new();
            crc.update(&out[start..]);
            let expected = u64::from(crc.sum()) | u64::from(crc.amount()) << 32;
            if u64::from_le_bytes(*trailer) != expected {
                return Err(CodingError::BadTrailer);
            }
            input = rest;
            // The next bytes are another gzip member or trailing garbage, which is ignored.
            match gzip_header(input) {
                Ok(len) => header = len,
                Err(_) => return Ok(()),
            }
        }
    }

    /// Decodes zlib (RFC 1950) or raw deflate (RFC 1951). Servers use the name "deflate" for both; the first two bytes
    /// decide.
    fn deflate(
        &mut self,
        input: &[u8],
        out: &mut Vec<u8>,
        limit: usize,
    ) -> Result<(), CodingError> {
        let [first, second, ..] = *input else { return Err(CodingError::Truncated) };
        let zlib = first & 0x8f == 8 && u16::from_be_bytes([first, second]) % 31 == 0;
        self.inflate.reset(zlib);
        self.inflate(input, out, limit).map(|_| ())
    }

    /// Inflates one deflate stream; returns the number of input bytes up to its end. Stops when `out` exceeds the
    /// limit.
    fn inflate(
        &mut self,
        input: &[u8],
        out: &mut Vec<u8>,
        limit: usize,
    ) -> Result<usize, CodingError> {
        loop {
            if out.len() > limit {
                return Ok(0);
            }
            room(input.len(), out, limit);
            let (used, grown) = (self.inflate.total_in() as usize, out.len());
            match self.inflate.decompress_vec(&input[used..], out, FlushDecompress::None) {
                Ok(Status::StreamEnd) => return Ok(self.inflate.total_in() as usize),
                Ok(_)
                    if out.len() < out.capacity()
                        && self.inflate.total_in() as usize == input.len() =>
                {
                    return Err(CodingError::Truncated);
                }
                Ok(_) if out.len() == grown && self.inflate.total_in() as usize == used => {
                    return Err(CodingError::Corrupt);
                }
                Ok(_) => {}
                Err(_) => return Err(CodingError::Corrupt),
            }
        }
    }
}

/// Decodes a Brotli body (RFC 7932).
fn brotli(input: &[u8], out: &mut Vec<u8>, limit: usize) -> Result<(), CodingError> {
    let mut state = BrotliState::new(
        StandardAlloc::default(),
        StandardAlloc::default(),
        StandardAlloc::default(),
    );
    let (mut left, mut read, mut total) = (input.len(), 0, 0);
    while out.len() <= limit {
        room(input.len(), out, limit);
        let start = out.len();
        // The Brotli decoder can write only to initialised memory.
        out.resize(out.capacity(), 0);
        let (mut space, mut written) = (out.len() - start, 0);
        let result = BrotliDecompressStream(
            &mut left,
            &mut read,
            input,
            &mut space,
            &mut written,
            &mut out[start..],
            &mut total,
            &mut state,
        );
        out.truncate(start + written);
        match result {
            BrotliResult::ResultSuccess => return Ok(()),
            BrotliResult::NeedsMoreOutput => {}
            BrotliResult::NeedsMoreInput => return Err(CodingError::Truncated),
            BrotliResult::ResultFailure => return Err(CodingError::Corrupt),
        }
    }
    Ok(())
}

/// Reserves room for more output, up to one byte above the limit, so that a body above the limit is noticed.
fn room(input: usize, out: &mut Vec<u8>, limit: usize) {
    if out.len() == out.capacity() {
        let wanted = (input * 3).clamp(1 << 10, 1 << 18);
        out.reserve(wanted.min(limit - out.len() + 1));
    }
}

/// Returns the length of the header of a gzip member in bytes.
fn gzip_header(input: &[u8]) -> Result<usize, CodingError> {
    let Some((head, _)) = input.split_first_chunk::<10>() else {
        let magic = [0x1f, 0x8b, 8];
        let fits = input.iter().zip(magic).all(|(a, b)| *a == b);
        return Err(if fits { CodingError::TruncatedFrame } else { CodingError::NotGzip });
    };
    let [0x1f, 0x8b, 8, flags, ..] = *head else { return Err(CodingError::NotGzip) };
    let mut at = 10;
    if flags & 4 != 0 {
        let len = input.get(at..at + 2).ok_or(CodingError::TruncatedFrame)?;
        at += 2 + usize::from(u16::from_le_bytes([len[0], len[1]]));
    }
    for text in [8, 16] {
        if flags & text != 0 {
            let rest = input.get(at..).ok_or(CodingError::TruncatedFrame)?;
            at += 1 + memchr::memchr(0, rest).ok_or(CodingError::TruncatedFrame)?;
        }
    }
    if flags & 2 != 0 {
        let sum = input.get(at..at + 2).ok_or(CodingError::TruncatedFrame)?;
        let mut crc = Crc::new();
        crc.update(&input[..at]);
        if crc.sum() as u16 != u16::from_le_bytes([sum[0], sum[1]]) {
            return Err(CodingError::NotGzip);
        }
        at += 2;
    }
    if at <= input.len() { Ok(at) } else { Err(CodingError::TruncatedFrame) }
}

/// The reason why a body could not be decoded. The output keeps the part decoded before the error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodingError {
    /// The compressed body ended too early.
    Truncated,
    /// The compressed body ended within the header of a gzip member.
    TruncatedFrame,
    /// The compressed body ended within the trailer of a gzip member.
    TruncatedTrailer,
    /// The compressed body has no gzip header.
    NotGzip,
    /// The length or checksum in the trailer of a gzip member is wrong.
    BadTrailer,
    /// The compressed body is not valid data of its content coding.
    Corrupt,
    /// The decoded body is larger than `max` bytes.
    TooLarge { max: usize },
}

impl fmt::Display for CodingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated | Self::TruncatedFrame | Self::TruncatedTrailer => {
                f.write_str("the compressed body is truncated")
            }
            Self::NotGzip => f.write_str("not a gzip body"),
            Self::BadTrailer => f.write_str("wrong checksum or length in a gzip body"),
            Self::Corrupt => f.write_str("invalid compressed body"),
            Self::TooLarge { max } => write!(f, "decompressed body exceeds {max} bytes"),
        }
    }
}

impl std::error::Error for CodingError {}
