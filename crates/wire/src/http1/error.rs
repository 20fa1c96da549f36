//! Errors of parsing a response. The errors are small and `Copy`, so that a failed response allocates nothing.

use std::fmt;

/// The reason why a response cannot be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The head, garbage before it, a chunk-size line or the trailers exceed [`Limits::head`](super::Limits::head).
    HeadTooLarge { limit: usize },
    /// There are more headers or trailers than [`Limits::headers`](super::Limits::headers).
    TooManyHeaders { limit: usize },
    /// The status line is malformed, or its status is below 100.
    BadStatusLine,
    /// A header of the response has no colon or no name.
    BadHeader,
    /// A chunk size is not a hexadecimal number below 2^63.
    BadChunkSize,
    /// The data of a chunk is not followed by a line end.
    BadChunkEnd,
    /// A trailer of the response has no colon or no name.
    BadTrailer,
    /// The peer closed the connection without sending anything.
    NoResponse,
    /// The peer closed the connection within the response head.
    TruncatedHead,
    /// The peer closed the connection within a body of known length.
    TruncatedBody { expected: u64, got: u64 },
    /// The peer closed the connection within the data of a chunk.
    TruncatedChunk { expected: u64, got: u64 },
    /// The peer closed the connection between chunks, before the last chunk.
    NoLastChunk,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HeadTooLarge { limit } => write!(f, "response head exceeds {limit} bytes"),
            Self::TooManyHeaders { limit } => write!(f, "response has more than {limit} headers"),
            Self::BadStatusLine => f.write_str("invalid HTTP status line"),
            Self::BadHeader => f.write_str("header without a colon or without a name"),
            Self::BadChunkSize => f.write_str("invalid chunk size"),
            Self::BadChunkEnd => f.write_str("unexpected content at the end of a chunk"),
            Self::BadTrailer => f.write_str("trailer without a colon or without a name"),
            Self::NoResponse => f.write_str("connection closed without a response"),
            Self::TruncatedHead => f.write_str("connection closed within the response header"),
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
