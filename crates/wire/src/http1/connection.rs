//! A connection that carries one HTTP/1 request at a time, as a [`Session`].
//!
//! A request is sent as it was rendered. The response is reported as events: the parsed head, the content, and the byte
//! counts of framing and interim responses. A caller that needs more speed drives the decoder itself, without events
//! ([`Connection::decoder`]).

use super::{Decoder, Error, Event, Head, Limits, Memo};
use crate::session::{BeginResult, Capacity, Session, SessionEvent, Ticket};

/// The kind of a request, which decides how the response is parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Plain,
    /// A HEAD request: the response has no body, whatever its headers say.
    Head,
    /// CONNECT to a proxy: a successful response has no body, and the bytes after it belong to the tunnel.
    Connect,
}

/// A rendered HTTP request.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    pub bytes: &'a [u8],
    pub kind: Kind,
}

/// A response that breaks the protocol, with the error's position in the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken {
    pub at: usize,
    pub error: Error,
}

/// An HTTP/1 connection with at most one request in flight.
#[derive(Clone, Debug)]
pub struct Connection {
    in_flight: Option<Ticket>,
    /// Decoder of the current response. Callers that drive the decoder themselves must call [`Connection::note_head`]
    /// after the head and [`Connection::note_end`] after the end.
    pub decoder: Decoder,
    kind: Kind,
    /// True if the connection can be reused after the current response.
    keeps: bool,
}

impl Default for Connection {
    fn default() -> Self {
        Self {
            in_flight: None,
            decoder: Decoder::new(false, Limits::default()),
            kind: Kind::Plain,
            keeps: false,
        }
    }
}

impl Connection {
    /// Begins an exchange. The caller sends the rendered request from its own buffer.
    #[inline]
    pub fn begin_rendered(&mut self, to: Ticket, kind: Kind) {
        self.in_flight = Some(to);
        self.decoder = Decoder::new(kind == Kind::Head, Limits::default());
        (self.kind, self.keeps) = (kind, false);
    }

    /// Notes that the head of the response was parsed.
    #[inline]
    pub fn note_head(&mut self, status: u16, keep_alive: bool) {
        self.keeps = keep_alive;
        if self.kind == Kind::Connect && (200..300).contains(&status) {
            // After a successful CONNECT, bytes after the head belong to the tunnel.
            self.decoder.finish();
            self.keeps = true;
        }
    }

    /// Notes that the response was read to its end.
    #[inline]
    pub fn note_end(&mut self) {
        self.in_flight = None;
    }
}

impl Session for Connection {
    type Call<'a> = Call<'a>;
    type Head<'b> = Head<'b>;
    type Shared = Memo;
    type Broken = Broken;

    fn room(&self) -> Capacity {
        if self.in_flight.is_some() { Capacity::Full } else { Capacity::Free(1) }
    }

    fn begin(&mut self, to: Ticket, call: Call<'_>, out: &mut Vec<u8>) -> BeginResult {
        out.extend_from_slice(call.bytes);
        self.begin_rendered(to, call.kind);
        BeginResult::Sent
    }

    #[inline]
    fn feed(
        &mut self,
        input: &[u8],
        memo: &mut Memo,
        _out: &mut Vec<u8>,
        emit: &mut impl for<'b> FnMut(SessionEvent<'b, Head<'b>>),
    ) -> Result<usize, Broken> {
        let Some(to) = self.in_flight else { return Ok(0) };
        let mut at = 0;
        loop {
            let (used, event) =
                self.decoder.next_with(&input[at..], memo).map_err(|error| Broken { at, error })?;
            at += used;
            let own = match &event {
                Event::Head(head) => head.raw.len(),
                Event::Body(piece) => piece.len(),
                Event::NeedMore | Event::End => 0,
            };
            if used > own {
                emit(SessionEvent::Framing { to, bytes: (used - own) as u64 });
            }
            match event {
                Event::NeedMore => return Ok(at),
                Event::Head(head) => {
                    self.note_head(head.status, head.keep_alive);
                    emit(SessionEvent::Head { to, head });
                }
                Event::Body(bytes) => emit(SessionEvent::Data { to, bytes }),
                Event::End => {
                    self.note_end();
                    emit(SessionEvent::Done { to, kept: self.keeps });
                    return Ok(at);
                }
            }
        }
    }

    #[inline]
    fn droppable(&self) -> u64 {
        self.decoder.body_left()
    }

    fn drop_content(&mut self, bytes: u64) -> bool {
        let over = self.decoder.skip(bytes);
        if over {
            self.in_flight = None;
        }
        over
    }

    fn end(
        &mut self,
        rest: &[u8],
        emit: &mut impl for<'b> FnMut(SessionEvent<'b, Head<'b>>),
    ) -> Result<(), Broken> {
        let Some(to) = self.in_flight else { return Ok(()) };
        self.decoder.eof(rest).map_err(|error| Broken { at: 0, error })?;
        self.in_flight = None;
        emit(SessionEvent::Done { to, kept: false });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICKET: Ticket = Ticket::first(3);

    /// Returns the events of a response that arrives in pieces of `size` bytes, and the bytes that were not consumed.
    fn told(kind: Kind, answer: &[u8], size: usize) -> (Vec<String>, Vec<u8>) {
        let (mut connection, mut memo) = (Connection::default(), Memo::default());
        let mut out = Vec::new();
        connection.begin(TICKET, Call { bytes: b"GET / HTTP/1.1\r\n\r\n", kind }, &mut out);
        assert_eq!(connection.room(), Capacity::Full);
        let (mut all, mut rest) = (Vec::new(), Vec::new());
        let (mut framing, mut content) = (0, Vec::new());
        for piece in answer.chunks(size) {
            rest.extend_from_slice(piece);
            let used = connection.feed(&rest, &mut memo, &mut out, &mut |told| match told {
                SessionEvent::Head { to: TICKET, head } => {
                    all.push(format!("{} {}", head.status, head.raw.len()));
                }
                SessionEvent::Data { to: TICKET, bytes } => content.extend_from_slice(bytes),
                SessionEvent::Framing { to: TICKET, bytes } => framing += bytes,
                SessionEvent::Done { to: TICKET, kept } => all.push(format!("done {kept}")),
                other => panic!("{other:?}"),
            });
            rest.drain(..used.expect("an answer"));
        }
        all.push(format!("{} +{framing}", String::from_utf8(content).expect("text")));
        (all, rest)
    }

    #[test]
    fn an_answer_is_told_the_same_however_it_comes() {
        let plain: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
        let chunked: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
        for size in [1, 2, 7, 1000] {
            let (all, rest) = told(Kind::Plain, plain, size);
            assert_eq!(all, ["200 38", "done true", "hello +0"]);
            assert_eq!(rest, b"");
            let (all, _) = told(Kind::Plain, chunked, size);
            assert_eq!(all, ["200 47", "done true", "abc +35"]);
        }
    }

    #[test]
    fn what_follows_a_tunnel_is_not_of_the_answer() {
        let (all, rest) =
            told(Kind::Connect, b"HTTP/1.1 200 Made\r\nContent-Length: 5\r\n\r\nhello", 99);
        assert_eq!(all, ["200 40", "done true", " +0"]);
        assert_eq!(rest, b"hello");
        let (all, _) = told(Kind::Connect, b"HTTP/1.1 407 No\r\nContent-Length: 2\r\n\r\nno", 99);
        assert_eq!(all, ["407 38", "done true", "no +0"]);
    }

    #[test]
    fn content_may_be_dropped_unseen() {
        let (mut connection, mut memo) = (Connection::default(), Memo::default());
        connection.begin_rendered(TICKET, Kind::Plain);
        let head = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe";
        let used = connection.feed(head, &mut memo, &mut Vec::new(), &mut |_| {});
        assert_eq!(used, Ok(head.len()));
        assert_eq!(connection.droppable(), 3);
        assert!(!connection.drop_content(2));
        assert!(connection.drop_content(1));
        assert_eq!(connection.room(), Capacity::Free(1));
    }

    #[test]
    fn the_end_of_the_stream_ends_what_has_no_length() {
        let (mut connection, mut memo) = (Connection::default(), Memo::default());
        connection.begin_rendered(TICKET, Kind::Plain);
        assert_eq!(
            connection.end(b"", &mut |_| {}),
            Err(Broken { at: 0, error: Error::NoResponse })
        );
        connection
            .feed(b"HTTP/1.1 200 OK\r\n\r\nab", &mut memo, &mut Vec::new(), &mut |_| {})
            .expect("head");
        let mut done = false;
        connection
            .end(b"", &mut |told| {
                done |= matches!(told, SessionEvent::Done { to: TICKET, kept: false });
            })
            .expect("whole");
        assert!(done);
    }
}
