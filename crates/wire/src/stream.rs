//! Streams without a protocol of their own: bytes out, and in what stands before an end that the caller names.
//!
//! JMeter's TCP clients are such: they read pieces of 4096 bytes and look at the last byte of each, or they read a length
//! first; raw requests read until the peer closes.

use crate::session::{Begun, Broken, Room, Session, Status, Ticket, Told};

/// Bytes that a client of JMeter reads at once.
const PIECE: usize = 4096;

/// Where an answer ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// With the stream.
    Stream,
    /// With a piece of at most 4096 bytes whose last byte is this one.
    Byte(u8),
    /// After as many bytes as the number says that stands first, in so many bytes, the highest first.
    Length(usize),
}

/// A request.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// Goes out as it is.
    pub bytes: &'a [u8],
    /// End of the answer.
    pub end: End,
}

/// A stream with at most one exchange.
#[derive(Debug, Default)]
pub struct Stream {
    in_flight: Option<(Ticket, End)>,
    /// The length that was read, and how much of it has come.
    expected: Option<u64>,
    come: u64,
}

impl Stream {
    /// The length that stood before the answer that arrives, or before the last one.
    #[must_use]
    pub fn expected(&self) -> Option<u64> {
        self.expected
    }

    fn done(&mut self, to: Ticket, tell: &mut impl FnMut(Told<'_>)) {
        self.in_flight = None;
        tell(Told::Done { to, kept: true });
    }
}

impl Session for Stream {
    type Call<'a> = Call<'a>;
    type Head<'b> = Status<'b>;
    type Shared = ();
    type Broken = Broken;

    fn room(&self) -> Room {
        if self.in_flight.is_some() { Room::Full } else { Room::Free(1) }
    }

    fn begin(&mut self, to: Ticket, call: Call<'_>, out: &mut Vec<u8>) -> Begun {
        out.extend_from_slice(call.bytes);
        self.in_flight = Some((to, call.end));
        (self.expected, self.come) = (None, 0);
        Begun::Sent
    }

    fn feed(
        &mut self,
        input: &[u8],
        (): &mut (),
        _out: &mut Vec<u8>,
        tell: &mut impl FnMut(Told<'_>),
    ) -> Result<usize, Broken> {
        let Some((to, end)) = self.in_flight else { return Ok(0) };
        match end {
            End::Stream => {
                tell(Told::Data { to, bytes: input });
                Ok(input.len())
            }
            End::Byte(last) => {
                let mut used = 0;
                for piece in input.chunks(PIECE) {
                    used += piece.len();
                    tell(Told::Data { to, bytes: piece });
                    if piece.last() == Some(&last) {
                        self.done(to, tell);
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
                tell(Told::Data { to, bytes: part });
                if part.len() == missing {
                    self.done(to, tell);
                }
                Ok(used + part.len())
            }
        }
    }

    fn end(&mut self, _rest: &[u8], tell: &mut impl FnMut(Told<'_>)) -> Result<(), Broken> {
        // As to JMeter's clients, the end of the stream is an answer's end, too.
        if let Some((to, _)) = self.in_flight.take() {
            tell(Told::Done { to, kept: false });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICKET: Ticket = Ticket::first(3);

    /// Events of an answer that comes in two pieces, with what was not used fed again: data, how often it was
    /// done, and what is left.
    fn told(end: End, answer: &[u8], at: usize) -> (Vec<u8>, u32, Vec<u8>) {
        let mut stream = Stream::default();
        let mut out = Vec::new();
        assert_eq!(stream.begin(TICKET, Call { bytes: b"ask", end }, &mut out), Begun::Sent);
        assert_eq!((&*out, stream.room()), (&b"ask"[..], Room::Full));
        let (mut data, mut done, mut rest) = (Vec::new(), 0, Vec::new());
        for piece in [&answer[..at], &answer[at..]] {
            rest.extend_from_slice(piece);
            let used = stream.feed(&rest, &mut (), &mut out, &mut |told| match told {
                Told::Data { to, bytes } => {
                    assert_eq!(to, TICKET);
                    data.extend_from_slice(bytes);
                }
                Told::Done { to, kept } => {
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
            // Where the first piece ends with the byte, the answer does, and the second piece is for the next.
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
            let mut tell = |told: Told<'_>| match told {
                Told::Done { to, kept } => done.push((to, kept)),
                other => panic!("{other:?}"),
            };
            assert_eq!(stream.end(b"", &mut tell), Ok(()));
            assert_eq!(stream.end(b"", &mut tell), Ok(()), "nothing is in flight any more");
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
