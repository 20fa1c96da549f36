//! Errors of reading a response: small and `Copy`, so that a failed response allocates nothing.

use std::fmt;

/// The reason why a response cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// Head, garbage before it, chunk-size line or trailers exceed [`Limits::head`](super::Limits::head).
    HeadTooLarge { limit: usize },
    /// More headers or trailers than [`Limits::headers`](super::Limits::headers).
    TooManyHeaders { limit: usize },
    /// A line begins as a status line but is none, or the status is below 100.
    BadStatusLine,
    /// A header has no colon or no name.
    BadHeader,
    /// A chunk size is not a hexadecimal number below 2^63.
    BadChunkSize,
    /// Something other than an end of line follows the data of a chunk.
    BadChunkEnd,
    /// A trailer has no colon or no name.
    BadTrailer,
    /// The peer closed without having sent anything.
    NoResponse,
    /// The peer closed within the head.
    TruncatedHead,
    /// The peer closed within a body of known length.
    TruncatedBody { expected: u64, got: u64 },
    /// The peer closed within the data of a chunk.
    TruncatedChunk { expected: u64, got: u64 },
    /// The peer closed between chunks, before the last one.
    NoLastChunk,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HeadTooLarge { limit } => write!(f, "response head exceeds {limit} bytes"),
            Self::TooManyHeaders { limit } => write!(f, "response has more than {limit} headers"),
            Self::BadStatusLine => f.write_str("not a valid HTTP status line"),
            Self::BadHeader => f.write_str("header without a colon or without a name"),
            Self::BadChunkSize => f.write_str("bad chunk size"),
            Self::BadChunkEnd => f.write_str("unexpected content at the end of a chunk"),
            Self::BadTrailer => f.write_str("trailer without a colon or without a name"),
            Self::NoResponse => f.write_str("connection closed without a response"),
            Self::TruncatedHead => f.write_str("connection closed within the response head"),
            Self::TruncatedBody { expected, got } => {
                write!(f, "connection closed within the body: expected {expected} bytes, got {got}")
            }
            Self::TruncatedChunk { expected, got } => {
                write!(f, "connection closed within a chunk: expected {expected} bytes, got {got}")
            }
            Self::NoLastChunk => f.write_str("connection closed before the last chunk"),
        }
    }
}

impl std::error::Error for Error {}
