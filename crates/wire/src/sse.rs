//! Server-sent events: an HTTP/1.1 response that stays open, and the events in its body.
//!
//! A request is sent as it was rendered. The head of the response is reported with its HTTP status. In a body of type
//! `text/event-stream`, each event is a [`SessionEvent::Push`] with the event's name (may be empty), the current event
//! id, and the event's data. Any other body, such as an error page or a compressed one, is reported as
//! [`SessionEvent::Data`].

mod events;

#[cfg(test)]
mod tests;

pub use events::{Events, Limits};

use crate::http1::{self, Decoder, Event, Head};
use crate::session::{BeginResult, Broken, Capacity, Session, SessionEvent, Status, Ticket};

/// Media type of event streams.
pub const MEDIA_TYPE: &str = "text/event-stream";

/// A connection that carries one request at a time and receives events.
#[derive(Debug)]
pub struct Sse {
    in_flight: Option<Ticket>,
    decoder: Decoder,
    events: Events,
    /// True if the body of the current or the last response is an event stream.
    streams: bool,
    /// True if the connection can be reused after the current response.
    keeps: bool,
}

impl Sse {
    /// Creates a connection for server-sent events, with limits on its events.
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

    /// Returns the id of the last server-sent event that had an id; empty if no event had one.
    #[must_use]
    pub fn last_event_id(&self) -> &[u8] {
        self.events.last_id()
    }

    /// Returns the delay before a reconnect in milliseconds, if an event stream set a delay.
    #[must_use]
    pub fn retry_ms(&self) -> Option<u64> {
        self.events.retry_ms()
    }

    /// True if the body of the current or the last response is an event stream.
    #[must_use]
    pub fn streams(&self) -> bool {
        self.streams
    }

    fn body(
        &mut self,
        to: Ticket,
        piece: &[u8],
        emit: &mut impl FnMut(SessionEvent<'_>),
    ) -> Result<(), Broken> {
        if !self.streams {
            emit(SessionEvent::Data { to, bytes: piece });
            return Ok(());
        }
        self.events.feed(piece, &mut |kind, id, bytes| emit(SessionEvent::Push { kind, id, bytes }))
    }
}

/// True if a response's body is an event stream without a content coding.
fn streams(head: &Head<'_>) -> bool {
    let encoded = head
        .content_encoding
        .is_some_and(|coding| !coding.is_empty() && !coding.eq_ignore_ascii_case(b"identity"));
    let kind = head.content_type.unwrap_or_default();
    let essence = kind.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
    !encoded && essence.eq_ignore_ascii_case(MEDIA_TYPE.as_bytes())
}

impl Session for Sse {
    /// A rendered HTTP request.
    type Call<'a> = &'a [u8];
    type Head<'b> = Status<'b>;
    type Shared = ();
    type Broken = Broken;

    fn room(&self) -> Capacity {
        if self.in_flight.is_some() { Capacity::Full } else { Capacity::Free(1) }
    }

    fn begin(&mut self, to: Ticket, call: &[u8], out: &mut Vec<u8>) -> BeginResult {
        out.extend_from_slice(call);
        self.in_flight = Some(to);
        self.decoder = Decoder::new(false, http1::Limits::default());
        self.events.restart();
        (self.streams, self.keeps) = (false, false);
        BeginResult::Sent
    }

    fn feed(
        &mut self,
        input: &[u8],
        (): &mut (),
        _out: &mut Vec<u8>,
        emit: &mut impl FnMut(SessionEvent<'_>),
    ) -> Result<usize, Broken> {
        let mut used = 0;
        loop {
            let rest = &input[used..];
            let Some(to) = self.in_flight else {
                return match rest {
                    [] => Ok(used),
                    _ => Err(Broken("the server sent bytes that belong to no response".to_owned())),
                };
            };
            let (taken, event) = self.decoder.next(rest).map_err(in_words)?;
            used += taken;
            match event {
                Event::NeedMore => return Ok(used),
                Event::Head(head) => {
                    (self.streams, self.keeps) = (streams(&head), head.keep_alive);
                    emit(SessionEvent::Head {
                        to,
                        head: Status { status: head.status, bytes: head.raw },
                    });
                }
                Event::Body(piece) => self.body(to, piece, emit)?,
                Event::End => {
                    self.in_flight = None;
                    emit(SessionEvent::Done { to, kept: self.keeps });
                }
            }
        }
    }

    fn end(&mut self, rest: &[u8], emit: &mut impl FnMut(SessionEvent<'_>)) -> Result<(), Broken> {
        let Some(to) = self.in_flight else { return Ok(()) };
        self.decoder.eof(rest).map_err(in_words)?;
        self.in_flight = None;
        emit(SessionEvent::Done { to, kept: false });
        Ok(())
    }
}

fn in_words(error: http1::Error) -> Broken {
    Broken(error.to_string())
}
