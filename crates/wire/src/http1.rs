//! Reads one HTTP/1 response from contiguous bytes: a state of 40 bytes, no heap, no copies.
//!
//! Errors are those of Apache HttpClient 4.5: bare LF, garbage before the status line, folded
//! headers, unreadable lengths and odd white space pass; a header without a colon or a bad chunk size does not. A head that
//! is not complete is not consumed: the caller keeps it and offers it again with more bytes. The decoder remembers how far
//! it looked, so a head that comes in many pieces costs time linear in its size.

mod chunk;
mod connection;
mod error;
mod head;
mod memo;
mod seen;

#[cfg(test)]
mod tests;

pub use connection::{Broken, Call, Connection, Kind};
pub use error::Error;
pub use head::Head;
pub use memo::Memo;

use memchr::memchr;

/// Bounds on a response head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of status line and headers; also of garbage before the status line, of one chunk-size line and of trailers.
    pub head: usize,
    /// Number of headers; also of trailers.
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
    /// Length of the body or of the chunk, in bytes.
    expected: u64,
    /// Bytes of `expected` that are yet to come.
    left: u64,
    limit_head: u32,
    limit_headers: u32,
    /// Unread bytes that were already searched in vain.
    scanned: u32,
    /// Bytes of garbage before the head, or of trailers, that are gone.
    spent: u32,
    /// Trailers read.
    lines: u32,
    state: State,
    request_is_head: bool,
    started: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Before the end of the status line.
    StatusLine,
    /// The status line is there; the end of the headers is not.
    Headers,
    Length,
    ChunkSize,
    ChunkData,
    ChunkEnd,
    Trailers,
    UntilClose,
    Done,
}

/// The result of [`Decoder::next`].
#[derive(Debug)]
pub enum Event<'b> {
    /// Nothing to report from the input so far. Bytes may have been consumed.
    NeedMore,
    Head(Head<'b>),
    /// A piece of the body, chunk framing removed; never empty.
    Body(&'b [u8]),
    /// The response is complete. What follows in the input is not part of it.
    End,
}

impl Decoder {
    /// `request_is_head`: the response answers a HEAD request and has no body whatever its headers say.
    pub fn new(request_is_head: bool, limits: Limits) -> Self {
        let bound = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Self {
            expected: 0,
            left: 0,
            limit_head: bound(limits.head),
            limit_headers: bound(limits.headers),
            scanned: 0,
            spent: 0,
            lines: 0,
            state: State::StatusLine,
            request_is_head,
            started: false,
        }
    }

    /// Looks at contiguous unread bytes; returns the number of bytes used up and one event. The bytes are used up whatever
    /// the event is, `NeedMore` included. Call until `NeedMore` or `End`.
    #[inline]
    pub fn next<'b>(&mut self, input: &'b [u8]) -> Result<(usize, Event<'b>), Error> {
        match self.state {
            State::StatusLine | State::Headers => self.head(input),
            State::Length => Ok(self.length(input)),
            State::ChunkSize | State::ChunkData | State::ChunkEnd | State::Trailers => {
                self.chunked(input)
            }
            State::UntilClose if input.is_empty() => Ok((0, Event::NeedMore)),
            State::UntilClose => Ok((input.len(), Event::Body(input))),
            State::Done => Ok((0, Event::End)),
        }
    }

    /// As [`Decoder::next`], with a memory of the last head.
    #[inline]
    pub fn next_with<'b>(
        &mut self,
        input: &'b [u8],
        memo: &mut Memo,
    ) -> Result<(usize, Event<'b>), Error> {
        if self.state != State::StatusLine || self.scanned > 0 || self.spent > 0 {
            return self.next(input);
        }
        if let Some((head, framing)) = memo.recall(input, self.request_is_head)
            && head.raw.len() <= self.limit_head as usize
        {
            self.started = true;
            self.enter(framing);
            return Ok((head.raw.len(), Event::Head(head)));
        }
        let (used, event) = self.next(input)?;
        if let Event::Head(head) = &event
            && used == head.raw.len()
        {
            memo.remember(head, self.framing(), self.request_is_head);
        }
        Ok((used, event))
    }

    /// The peer closed; `unread` is what was not used up. `Ok`: the response is complete, which includes a body that only
    /// the close ends, and last chunks whose trailers are cut short.
    pub fn eof(&mut self, unread: &[u8]) -> Result<(), Error> {
        let more = unread.len() as u64;
        match self.state {
            State::StatusLine if unread.is_empty() && self.spent == 0 => Err(Error::NoResponse),
            State::StatusLine => match head::status_line(unread) {
                None => Err(Error::BadStatusLine),
                Some(_) => Err(Error::TruncatedHead),
            },
            State::Headers => Err(Error::TruncatedHead),
            State::Length if more < self.left => Err(Error::TruncatedBody {
                expected: self.expected,
                got: self.expected - self.left + more,
            }),
            State::ChunkSize | State::ChunkData | State::ChunkEnd | State::Trailers => {
                self.chunked_eof(unread)
            }
            State::Length | State::UntilClose | State::Done => {
                self.state = State::Done;
                Ok(())
            }
        }
    }

    /// The response is complete with what has come of it.
    fn finish(&mut self) {
        self.state = State::Done;
    }

    /// Whether any byte was seen. A peer that closes before has not answered at all.
    pub fn started(&self) -> bool {
        self.started
    }

    /// Whether only the close of the connection will end the body.
    pub fn ends_at_close(&self) -> bool {
        self.state == State::UntilClose
    }

    /// Bytes of a body of known length that are yet to come; 0 outside of one.
    pub fn body_left(&self) -> u64 {
        if self.state == State::Length { self.left } else { 0 }
    }

    /// So many bytes of the body, [`Decoder::body_left`] at most, were taken off the connection unseen. True: the response
    /// is complete.
    pub fn skip(&mut self, bytes: u64) -> bool {
        debug_assert!(bytes <= self.body_left());
        self.left = self.left.saturating_sub(bytes);
        if self.state == State::Length && self.left == 0 {
            self.state = State::Done;
        }
        self.state == State::Done
    }

    fn head<'b>(&mut self, input: &'b [u8]) -> Result<(usize, Event<'b>), Error> {
        self.started |= !input.is_empty();
        let mut at = 0;
        loop {
            let rest = &input[at..];
            if !self.is_worth_parsing(rest) {
                return self.wait(at, rest.len());
            }
            match head::parse(rest, self.request_is_head, self.limits(), self.spent as usize)? {
                head::Parsed::NoLine => return self.wait(at, rest.len()),
                head::Parsed::Garbage(len) => {
                    self.scanned = 0;
                    self.spent += len as u32;
                    at += len;
                }
                head::Parsed::Partial => {
                    self.state = State::Headers;
                    return self.wait(at, rest.len());
                }
                head::Parsed::Whole(head, _) if head.status < 200 && head.status != 101 => {
                    self.scanned = 0;
                    self.spent = 0;
                    self.state = State::StatusLine;
                    at += head.raw.len();
                }
                head::Parsed::Whole(head, framing) => {
                    self.scanned = 0;
                    self.spent = 0;
                    self.enter(framing);
                    return Ok((at + head.raw.len(), Event::Head(head)));
                }
            }
        }
    }

    fn limits(&self) -> Limits {
        Limits { head: self.limit_head as usize, headers: self.limit_headers as usize }
    }

    fn wait<'b>(&mut self, used: usize, unread: usize) -> Result<(usize, Event<'b>), Error> {
        if unread + self.spent as usize > self.limit_head as usize {
            return Err(Error::HeadTooLarge { limit: self.limit_head as usize });
        }
        self.scanned = unread as u32;
        Ok((used, Event::NeedMore))
    }

    /// Whether the bytes that came since the last look can have completed what was missing.
    fn is_worth_parsing(&self, rest: &[u8]) -> bool {
        let from = (self.scanned as usize).min(rest.len());
        match self.state {
            _ if from == 0 => true,
            State::StatusLine => memchr(b'\n', &rest[from..]).is_some(),
            _ => head::has_end(rest, from),
        }
    }

    /// The framing that [`Decoder::enter`] was just given.
    fn framing(&self) -> head::Framing {
        match self.state {
            State::Length => head::Framing::Length(self.expected),
            State::ChunkSize => head::Framing::Chunked,
            State::UntilClose => head::Framing::UntilClose,
            _ => head::Framing::None,
        }
    }

    fn enter(&mut self, framing: head::Framing) {
        self.state = match framing {
            head::Framing::None | head::Framing::Length(0) => State::Done,
            head::Framing::Length(n) => {
                self.expected = n;
                self.left = n;
                State::Length
            }
            head::Framing::Chunked => State::ChunkSize,
            head::Framing::UntilClose => State::UntilClose,
        };
    }

    fn length<'b>(&mut self, input: &'b [u8]) -> (usize, Event<'b>) {
        let n = input.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        if n == 0 {
            return (0, Event::NeedMore);
        }
        self.left -= n as u64;
        if self.left == 0 {
            self.state = State::Done;
        }
        (n, Event::Body(&input[..n]))
    }
}
