//! Undoes content codings of a whole body.

use std::fmt;

/// A content coding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    Identity,
    Gzip,
    Deflate,
    Brotli,
}

impl Coding {
    /// Reads a `Content-Encoding` value. `None`: not known here.
    pub fn parse(_header: &[u8]) -> Option<Coding> {
        None
    }
}

/// Reusable decoding state; one per core.
#[derive(Debug, Default)]
pub struct Inflater {}

impl Inflater {
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends the decoded body to `out`, at most `max` bytes.
    pub fn decode(
        &mut self,
        _coding: Coding,
        input: &[u8],
        out: &mut Vec<u8>,
        _max: usize,
    ) -> Result<(), CodingError> {
        out.extend_from_slice(input);
        Ok(())
    }
}

/// Why a body could not be decoded; what was decoded before stays in the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodingError {
    /// The input ended too early.
    Truncated,
    /// The input is not of that coding.
    Corrupt,
    /// More than `max` bytes came out.
    TooLarge { max: usize },
}

impl fmt::Display for CodingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl std::error::Error for CodingError {}
