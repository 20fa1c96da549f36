//! Byte streams without a protocol: the request is sent unchanged, and the caller defines the end of the answer.
//!
//! JMeter has two kinds of TCP clients. One client reads at most 4096 bytes per call; the answer ends when the last
//! byte of a read is the configured end byte. Another client first reads the length of the answer. Raw requests read
//! until the peer closes the connection.

use crate::session::{BeginResult, Broken, Capacity, Session, SessionEvent, Status, Ticket};

/// Maximum number of bytes that JMeter's TCP client reads per call.
const PIECE: usize = 4096;

/// The condition that ends an answer on a raw stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The answer ends when the peer ends the stream.
    Stream,
    /// The answer ends with a read of at most 4096 bytes whose last byte is this byte.
    Byte(u8),
    /// A length prefix of this many bytes, in big-endian order, gives the length of the answer.
    Length(usize),
}

/// A request of raw bytes.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// Bytes of the request, sent unchanged.
    pub bytes: &'a [u8],
    /// The condition that ends the answer to the request.
    pub end: End,
}

/// A raw byte stream that carries at most one exchange.
#[derive(Debug, Default)]
pub struct Stream {
    in_flight: Option<(Ticket, End)>,
    /// Length of the answer's content by its length prefix, if the prefix was read.
    expected: Option<u64>,
    /// Number of content bytes received of the answer.
    come: u64,
}

impl Stream {
    /// Returns the content length of the current or the last answer according to its length prefix; `None` before the
    /// prefix was read.
    #[must_use]
    pub fn expected(&self) -> Option<u64> {
        self.expected
    }

    fn done(&mut self, to: Ticket, emit: &mut impl FnMut(SessionEvent<'_>)) {
        self.in_flight = None;
        emit(SessionEvent::Done { to, kept: true });
    }
}

impl Session for Stream {
    type Call<'a> = Call<'a>;
    type Head<'b> = Status<'b>;
    type Shared = ();
    type Broken = Broken;

    fn room(&self) -> Capacity {
        if self.in_flight.is_some() { Capacity::Full } else { Capacity::Free(1) }
    }

    fn begin(&mut self, to: Ticket, call: Call<'_>, out: &mut Vec<u8>) -> BeginResult {
        out.extend_from_slice(call.bytes);
        self.in_flight = Some((to, call.end));
        (self.expected, self.come) = (None, 0);
        BeginResult::Sent
    }

    fn feed(
        &mut self,
        input: &[u8],
        (): &mut (),
        _out: &mut Vec<u8>,
        emit: &mut impl FnMut(SessionEvent<'_>),
    ) -> Result<usize, Broken> {
        let Some((to, end)) = self.in_flight else { return Ok(0) };
        match end {
            End::Stream => {
                emit(SessionEvent::Data { to, bytes: input });
                Ok(input.len())
            }
            End::Byte(last) => {
                let mut used = 0;
                for piece in input.chunks(PIECE) {
                    used += piece.len();
                    emit(SessionEvent::Data { to, bytes: piece });
                    if piece.last() == Some(&last) {
                        self.done(to, emit);
                        break;
                    }
                }
                Ok(used)
            }
            End::Length(size) => {
                let mut used = 0;
                let expected = match self.expected {
                    Some(expected) => expected,
                    None if input.len() < size => return Ok(0),
                    None => {
                        used = size;
                        let length = input[..size]
                            .iter()
                            .fold(0u64, |length, byte| length << 8 | u64::from(*byte));
                        *self.expected.insert(length)
                    }
                };
                let missing = usize::try_from(expected - self.come).unwrap_or(usize::MAX);
                let part = &input[used..input.len().min(used.saturating_add(missing))];
                self.come += part.len() as u64;
                emit(SessionEvent::Data { to, bytes: part });
                if part.len() == missing {
                    self.done(to, emit);
                }
                Ok(used + part.len())
            }
        }
    }

    fn end(&mut self, _rest: &[u8], emit: &mut impl FnMut(SessionEvent<'_>)) -> Result<(), Broken> {
        // The end of the stream also ends an answer, as in JMeter's TCP clients.
        if let Some((to, _)) = self.in_flight.take() {
            emit(SessionEvent::Done { to, kept: false });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICKET: Ticket = Ticket::first(3);

    /// Returns the events of an answer that arrives in two pieces, split at `at`: data, number of completions, and the
    /// bytes that were not consumed. Unconsumed bytes of the first piece are put in front of the second.
    fn told(end: End, answer: &[u8], at: usize) -> (Vec<u8>, u32, Vec<u8>) {
        let mut stream = Stream::default();
        let mut out = Vec::new();
        assert_eq!(stream.begin(TICKET, Call { bytes: b"ask", end }, &mut out), BeginResult::Sent);
        assert_eq!((&*out, stream.room()), (&b"ask"[..], Capacity::Full));
        let (mut data, mut done, mut rest) = (Vec::new(), 0, Vec::new());
        for piece in [&answer[..at], &answer[at..]] {
            rest.extend_from_slice(piece);
            let used = stream.feed(&rest, &mut (), &mut out, &mut |told| match told {
                SessionEvent::Data { to, bytes } => {
                    assert_eq!(to, TICKET);
                    data.extend_from_slice(bytes);
                }
                SessionEvent::Done { to, kept } => {
                    assert_eq!((to, kept), (TICKET, true));
                    done += 1;
                }
                other => panic!("{other:?}"),
            });
            rest.drain(..used.expect("a stream has no rules"));
        }
        (data, done, rest)
    }

    #[test]
    fn a_length_says_where_an_answer_ends_however_it_comes() {
        let answer = b"\0\x05hello\0\x01x";
        for at in 0..=answer.len() {
            let expected = (b"hello".to_vec(), 1, b"\0\x01x".to_vec());
            assert_eq!(told(End::Length(2), answer, at), expected, "divided at {at}");
        }
    }

    #[test]
    fn an_answer_without_content_is_done_by_its_length() {
        for at in 0..=4 {
            assert_eq!(told(End::Length(4), b"\0\0\0\0", at), (Vec::new(), 1, Vec::new()));
        }
    }

    #[test]
    fn only_the_last_byte_of_a_piece_ends_an_answer() {
        let answer = b"one;two;";
        for at in 0..=answer.len() {
            let (data, done, rest) = told(End::Byte(b';'), answer, at);
            // If the first piece ends with the end byte, the answer ends there. The second piece belongs to the next
            // answer.
            let first = if at == 4 { 4 } else { answer.len() };
            assert_eq!((&*data, done, &*rest), (&answer[..first], 1, &answer[first..]));
        }
    }

    #[test]
    fn a_piece_is_read_of_4096_bytes_at_most() {
        let mut answer = vec![b'a'; 2 * PIECE];
        answer[PIECE - 1] = b';';
        let (data, done, rest) = told(End::Byte(b';'), &answer, answer.len());
        assert_eq!((data.len(), done, rest.len()), (PIECE, 1, PIECE));
    }

    #[test]
    fn the_end_of_the_stream_ends_every_answer() {
        for end in [End::Stream, End::Byte(b';'), End::Length(4)] {
            let mut stream = Stream::default();
            let mut out = Vec::new();
            stream.begin(TICKET, Call { bytes: b"", end }, &mut out);
            let _ = stream.feed(b"ab", &mut (), &mut out, &mut |_| {});
            let mut done = Vec::new();
            let mut emit = |told: SessionEvent<'_>| match told {
                SessionEvent::Done { to, kept } => done.push((to, kept)),
                other => panic!("{other:?}"),
            };
            assert_eq!(stream.end(b"", &mut emit), Ok(()));
            assert_eq!(stream.end(b"", &mut emit), Ok(()), "nothing is in flight any more");
            assert_eq!(done, [(TICKET, false)]);
        }
    }

    #[test]
    fn what_comes_before_anything_is_asked_for_stays() {
        let used = Stream::default()
            .feed(b"hello", &mut (), &mut Vec::new(), &mut |_| panic!("nobody asked"));
        assert_eq!(used, Ok(0));
    }
}
