//! Parser of one HTTP/1 response in contiguous bytes: 40 bytes of state, no heap, no copies.
//!
//! The parser accepts and rejects what Apache HttpClient 4.5 does. Bare LF, garbage before the status line, folded
//! headers, unreadable lengths and odd white space pass; a header without a colon or a bad chunk size is an error. An
//! incomplete head is not consumed: the caller must keep the bytes of the head and append further bytes. The decoder
//! remembers how far it searched, so a head in many pieces costs linear time.

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

/// Limits on the head of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum total length of the status line and the headers in bytes. The same limit applies to garbage before the
    /// status line, to a chunk-size line, and to the trailers.
    pub head: usize,
    /// Maximum number of headers of a response, and maximum number of trailers.
    pub headers: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { head: 1 << 20, headers: 4096 }
    }
}

/// State of parsing one HTTP response.
#[derive(Clone, Copy, Debug)]
pub struct Decoder {
    /// Length in bytes of the response's body or of its current chunk.
    expected: u64,
    /// Bytes of the body or chunk (`expected`) that were not received yet.
    left: u64,
    limit_head: u32,
    limit_headers: u32,
    /// Number of unread bytes that were already searched for the end of a line or head without finding it.
    scanned: u32,
    /// Number of consumed bytes of garbage before the head, or of trailers; these bytes count against `limit_head`.
    spent: u32,
    /// Number of trailers read so far.
    lines: u32,
    state: State,
    request_is_head: bool,
    started: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The status line of the response is incomplete.
    StatusLine,
    /// The status line of the response is complete; the headers are not.
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
    /// The input has no further event. Bytes may have been consumed.
    NeedMore,
    Head(Head<'b>),
    /// A piece of the body without chunk framing; never empty.
    Body(&'b [u8]),
    /// The response is complete. Input after it does not belong to the response.
    End,
}

impl Decoder {
    /// Creates a decoder. `request_is_head` is true if the response answers a HEAD request: then it has no body,
    /// whatever its headers say.
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

    /// Parses contiguous unread bytes; returns the number of bytes consumed and one event. Bytes may be consumed with
    /// any event, also with `NeedMore`. Call until `NeedMore` or `End`.
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

    /// Parses bytes like [`Decoder::next`], but reuses the parsed head in `memo` if the new head has the same bytes.
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

    /// Handles the end of the connection; `unread` are the bytes that were not consumed. Returns `Ok` if the response
    /// is complete: a body without a length ends here, and trailers after the last chunk may be cut short.
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

    /// Marks the response as complete.
    fn finish(&mut self) {
        self.state = State::Done;
    }

    /// True if any byte of the response was received. If false when the peer closes, the peer has sent no response at
    /// all.
    pub fn started(&self) -> bool {
        self.started
    }

    /// True if the body of the response ends only when the connection closes.
    pub fn ends_at_close(&self) -> bool {
        self.state == State::UntilClose
    }

    /// Returns the number of bytes not received yet of a body with `Content-Length`; 0 in all other states.
    pub fn body_left(&self) -> u64 {
        if self.state == State::Length { self.left } else { 0 }
    }

    /// Notes that the caller discarded `bytes` of the body, at most [`Decoder::body_left`], unread from the connection.
    /// Returns true if the response is complete.
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

    /// True if the bytes received since the last search may complete the status line or the head.
    fn is_worth_parsing(&self, rest: &[u8]) -> bool {
        let from = (self.scanned as usize).min(rest.len());
        match self.state {
            _ if from == 0 => true,
            State::StatusLine => memchr(b'\n', &rest[from..]).is_some(),
            _ => head::has_end(rest, from),
        }
    }

    /// Returns the framing of the body, directly after [`Decoder::enter`] has set it.
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
