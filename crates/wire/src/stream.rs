//! Streams without a protocol of their own: bytes out, and in what stands before an end that the caller names.
//!
//! JMeter's TCP clients are such: they read pieces of 4096 bytes and look at the last byte of each, or they read a length
//! first; raw requests read until the peer closes.

use crate::session::{Begun, Broken, Room, Session, Ticket, Told};

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
    under_way: Option<(Ticket, End)>,
    /// The length that was read, and how much of it has come.
    expected: Option<u64>,
    come: u64,
}

impl Stream {
    /// The length that stood before the answer under way, or before the last one.
    #[must_use]
    pub fn expected(&self) -> Option<u64> {
        self.expected
    }

    fn done(&mut self, to: Ticket, tell: &mut impl FnMut(Told<'_>)) {
        self.under_way = None;
        tell(Told::Done { to, kept: true });
    }
}

impl Session for Stream {
    type Call<'a> = Call<'a>;

    fn room(&self) -> Room {
        if self.under_way.is_some() { Room::Full } else { Room::Free(1) }
    }

    fn begin(&mut self, to: Ticket, call: Call<'_>, out: &mut Vec<u8>) -> Begun {
        out.extend_from_slice(call.bytes);
        self.under_way = Some((to, call.end));
        (self.expected, self.come) = (None, 0);
        Begun::Sent
    }

    fn feed(
        &mut self,
        input: &[u8],
        _out: &mut Vec<u8>,
        tell: &mut impl FnMut(Told<'_>),
    ) -> Result<usize, Broken> {
        let Some((to, end)) = self.under_way else { return Ok(0) };
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
        if let Some((to, _)) = self.under_way.take() {
            tell(Told::Done { to, kept: false });
        }
        Ok(())
    }
}
