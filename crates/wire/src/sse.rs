//! Server-sent events: an HTTP/1.1 response that stays open, and the events in it.
//!
//! A request goes out as it was rendered. The head of its answer is told with HTTP's status. Of a body that is
//! `text/event-stream`, each event is a [`Told::Push`]: its name, empty where it has none, the id that stands by then, and its
//! data. Any other body, an error page or an encoded one, is told as [`Told::Data`].

mod events;

#[cfg(test)]
mod tests;

pub use events::{Events, Limits};

use crate::http1::{self, Decoder, Event, Head};
use crate::session::{Begun, Broken, Room, Session, Status, Ticket, Told};

/// The media type of event streams.
pub const MEDIA_TYPE: &str = "text/event-stream";

/// A connection that carries one request at a time, answered with events.
#[derive(Debug)]
pub struct Sse {
    in_flight: Option<Ticket>,
    decoder: Decoder,
    events: Events,
    /// The body is a stream of events.
    streams: bool,
    keeps: bool,
}

impl Sse {
    /// A connection whose events have these bounds.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self {
            in_flight: None,
            decoder: Decoder::new(false, http1::Limits::default()),
            events: Events::new(limits),
            streams: false,
            keeps: false,
        }
    }

    /// The id of the last event that had one. Empty: none.
    #[must_use]
    pub fn last_event_id(&self) -> &[u8] {
        self.events.last_id()
    }

    /// Milliseconds before a new request, if a stream named them.
    #[must_use]
    pub fn retry_ms(&self) -> Option<u64> {
        self.events.retry_ms()
    }

    /// Whether the body of the answer that is being read, or was read last, is a stream of events.
    #[must_use]
    pub fn streams(&self) -> bool {
        self.streams
    }

    fn body(
        &mut self,
        to: Ticket,
        piece: &[u8],
        tell: &mut impl FnMut(Told<'_>),
    ) -> Result<(), Broken> {
        if !self.streams {
            tell(Told::Data { to, bytes: piece });
            return Ok(());
        }
        self.events.feed(piece, &mut |kind, id, bytes| tell(Told::Push { kind, id, bytes }))
    }
}

/// Whether a body is a stream of events that can be read as it comes.
fn streams(head: &Head<'_>) -> bool {
    let encoded = head
        .content_encoding
        .is_some_and(|coding| !coding.is_empty() && !coding.eq_ignore_ascii_case(b"identity"));
    let kind = head.content_type.unwrap_or_default();
    let essence = kind.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
    !encoded && essence.eq_ignore_ascii_case(MEDIA_TYPE.as_bytes())
}

impl Session for Sse {
    /// A rendered request.
    type Call<'a> = &'a [u8];
    type Head<'b> = Status<'b>;
    type Shared = ();
    type Broken = Broken;

    fn room(&self) -> Room {
        if self.in_flight.is_some() { Room::Full } else { Room::Free(1) }
    }

    fn begin(&mut self, to: Ticket, call: &[u8], out: &mut Vec<u8>) -> Begun {
        out.extend_from_slice(call);
        self.in_flight = Some(to);
        self.decoder = Decoder::new(false, http1::Limits::default());
        self.events.restart();
        (self.streams, self.keeps) = (false, false);
        Begun::Sent
    }

    fn feed(
        &mut self,
        input: &[u8],
        (): &mut (),
        _out: &mut Vec<u8>,
        tell: &mut impl FnMut(Told<'_>),
    ) -> Result<usize, Broken> {
        let mut used = 0;
        loop {
            let rest = &input[used..];
            let Some(to) = self.in_flight else {
                return match rest {
                    [] => Ok(used),
                    _ => Err(Broken("bytes came that belong to no response".to_owned())),
                };
            };
            let (taken, event) = self.decoder.next(rest).map_err(in_words)?;
            used += taken;
            match event {
                Event::NeedMore => return Ok(used),
                Event::Head(head) => {
                    (self.streams, self.keeps) = (streams(&head), head.keep_alive);
                    tell(Told::Head { to, head: Status { status: head.status, bytes: head.raw } });
                }
                Event::Body(piece) => self.body(to, piece, tell)?,
                Event::End => {
                    self.in_flight = None;
                    tell(Told::Done { to, kept: self.keeps });
                }
            }
        }
    }

    fn end(&mut self, rest: &[u8], tell: &mut impl FnMut(Told<'_>)) -> Result<(), Broken> {
        let Some(to) = self.in_flight else { return Ok(()) };
        self.decoder.eof(rest).map_err(in_words)?;
        self.in_flight = None;
        tell(Told::Done { to, kept: false });
        Ok(())
    }
}

fn in_words(error: http1::Error) -> Broken {
    Broken(error.to_string())
}
