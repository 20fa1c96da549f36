//! Decoder of chunked bodies: size lines, data, trailers.
//!
//! A size line is parsed once its LF was received. Extensions are skipped; trailers are checked and dropped.

use super::{Decoder, Error, Event, State, head};
use memchr::memchr;

impl Decoder {
    pub(super) fn chunked<'b>(&mut self, input: &'b [u8]) -> Result<(usize, Event<'b>), Error> {
        let mut at = 0;
        loop {
            let rest = &input[at..];
            match self.state {
                State::ChunkData => {
                    let n = rest.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
                    if n == 0 {
                        return Ok((at, Event::NeedMore));
                    }
                    self.left -= n as u64;
                    if self.left == 0 {
                        self.state = State::ChunkEnd;
                    }
                    return Ok((at + n, Event::Body(&rest[..n])));
                }
                State::ChunkEnd => match rest {
                    [b'\n', ..] => {
                        at += 1;
                        self.state = State::ChunkSize;
                    }
                    [b'\r', b'\n', ..] => {
                        at += 2;
                        self.state = State::ChunkSize;
                    }
                    [] | [b'\r'] => return Ok((at, Event::NeedMore)),
                    _ => return Err(Error::BadChunkEnd),
                },
                State::ChunkSize => {
                    let Some(len) = self.line(rest)? else { return Ok((at, Event::NeedMore)) };
                    at += len;
                    self.begin(&rest[..len])?;
                }
                State::Trailers => {
                    let Some(len) = self.line(rest)? else { return Ok((at, Event::NeedMore)) };
                    at += len;
                    if self.trailer(&rest[..len], len)? {
                        self.state = State::Done;
                        return Ok((at, Event::End));
                    }
                }
                _ => return Ok((at, Event::End)),
            }
        }
    }

    /// Handles a close of the connection within a chunked body. An incomplete line before the close counts as a line,
    /// as in HttpClient.
    pub(super) fn chunked_eof(&mut self, unread: &[u8]) -> Result<(), Error> {
        match self.state {
            State::ChunkData => Err(Error::TruncatedChunk {
                expected: self.expected,
                got: self.expected - self.left + self.left.min(unread.len() as u64),
            }),
            State::ChunkEnd if unread == b"\r" => Err(Error::NoLastChunk),
            State::ChunkEnd => Err(Error::BadChunkEnd),
            State::ChunkSize if unread.is_empty() => Err(Error::NoLastChunk),
            State::ChunkSize => {
                self.begin(unread)?;
                match self.state {
                    State::ChunkData => {
                        Err(Error::TruncatedChunk { expected: self.expected, got: 0 })
                    }
                    _ => {
                        self.state = State::Done;
                        Ok(())
                    }
                }
            }
            _ => {
                if !unread.is_empty() {
                    self.trailer(unread, unread.len())?;
                }
                self.state = State::Done;
                Ok(())
            }
        }
    }

    /// Returns the length of the first line of `rest`, including its LF; `None` if the line is incomplete.
    fn line(&mut self, rest: &[u8]) -> Result<Option<usize>, Error> {
        let from = (self.scanned as usize).min(rest.len());
        let found = memchr(b'\n', &rest[from..]).map(|i| from + i + 1);
        let seen = found.unwrap_or(rest.len()) + self.spent as usize;
        if seen > self.limit_head as usize {
            return Err(Error::HeadTooLarge { limit: self.limit_head as usize });
        }
        self.scanned = if found.is_some() { 0 } else { rest.len() as u32 };
        Ok(found)
    }

    fn begin(&mut self, line: &[u8]) -> Result<(), Error> {
        let size = chunk_size(line).ok_or(Error::BadChunkSize)?;
        self.expected = size;
        self.left = size;
        self.state = if size == 0 { State::Trailers } else { State::ChunkData };
        Ok(())
    }

    /// Checks a trailer line after the last chunk. Returns true for the blank line that ends the trailers.
    fn trailer(&mut self, line: &[u8], len: usize) -> Result<bool, Error> {
        let text = head::without_end_of_line(line);
        if text.is_empty() {
            return Ok(true);
        }
        self.spent += len as u32;
        let folded = self.lines > 0 && matches!(text[0], b' ' | b'\t');
        if !folded {
            self.lines += 1;
            if self.lines > self.limit_headers {
                return Err(Error::TooManyHeaders { limit: self.limit_headers as usize });
            }
            head::name_and_value(text).ok_or(Error::BadTrailer)?;
        }
        Ok(false)
    }
}

/// Parses the size in a chunk-size line before its extension: hexadecimal digits in either case, below 2^63.
fn chunk_size(line: &[u8]) -> Option<u64> {
    let end = memchr(b';', line).unwrap_or(line.len());
    let text = head::trim(&line[..end]);
    // Java's number parser, and so HttpClient, accepts a sign in a chunk size; "-0" is zero.
    let (digits, negative) = match text {
        [b'+', digits @ ..] => (digits, false),
        [b'-', digits @ ..] => (digits, true),
        digits => (digits, false),
    };
    if digits.is_empty() {
        return None;
    }
    let mut size = 0u64;
    for &b in digits {
        let digit = (b as char).to_digit(16)?;
        if size >> 59 != 0 {
            return None;
        }
        size = size << 4 | u64::from(digit);
    }
    (!negative || size == 0).then_some(size)
}
