//! Reads one HTTP/1 response from contiguous bytes.

use std::fmt;

/// Bounds on a response head.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of status line and headers.
    pub head: usize,
    /// Number of headers.
    pub headers: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { head: 1 << 20, headers: 4096 }
    }
}

/// State of one response being read.
#[derive(Clone, Copy, Debug)]
pub struct Decoder {
    started: bool,
    _limits: Limits,
    _head: bool,
}

impl Decoder {
    pub fn new(request_is_head: bool, limits: Limits) -> Self {
        Self { started: false, _limits: limits, _head: request_is_head }
    }

    /// Looks at contiguous unread bytes; returns one event and the bytes that it covers. Call until `NeedMore` or `End`.
    pub fn next<'b>(&mut self, input: &'b [u8]) -> Result<(usize, Event<'b>), Error> {
        self.started |= !input.is_empty();
        Ok((0, Event::NeedMore))
    }

    /// The peer closed. `Ok` means that a close-delimited body ended properly.
    pub fn eof(&mut self, _unread: &[u8]) -> Result<(), Error> {
        Err(Error::NoResponse)
    }

    /// Whether any byte of the head was seen.
    pub fn started(&self) -> bool {
        self.started
    }
}

/// What [`Decoder::next`] found.
#[derive(Debug)]
pub enum Event<'b> {
    NeedMore,
    Head(Head<'b>),
    Body(&'b [u8]),
    End,
}

/// A response head; borrows the input.
#[derive(Clone, Copy, Debug)]
pub struct Head<'b> {
    /// Status line, headers and blank line as on the wire.
    pub raw: &'b [u8],
    pub status: u16,
    pub reason: &'b [u8],
    pub version_minor: u8,
    pub keep_alive: bool,
    pub content_length: Option<u64>,
    pub chunked: bool,
    pub has_body: bool,
    pub content_encoding: Option<&'b [u8]>,
    pub content_type: Option<&'b [u8]>,
    pub location: Option<&'b [u8]>,
    pub keep_alive_timeout_s: Option<u32>,
    pub set_cookie: bool,
}

impl<'b> Head<'b> {
    /// First header of that name, whatever its case.
    pub fn header(&self, _name: &str) -> Option<&'b [u8]> {
        None
    }

    /// All headers in order, values trimmed.
    pub fn headers(&self) -> impl Iterator<Item = (&'b [u8], &'b [u8])> + use<'b> {
        std::iter::empty()
    }
}

/// Why a response cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    HeadTooLarge { limit: usize },
    TooManyHeaders { limit: usize },
    BadStatusLine,
    BadHeader,
    BadChunk,
    BadLength,
    BadTransferEncoding,
    NoResponse,
    TruncatedHead,
    TruncatedBody { expected: u64, got: u64 },
    TruncatedChunk { expected: u64, got: u64 },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl std::error::Error for Error {}
