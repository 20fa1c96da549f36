//! A WebSocket of a client as a session: the upgrade, then frames, with heartbeats and what is answered to the peer by itself.
//!
//! Frames are told one by one as they are on the wire, for a load generator reports what a server sends; [`order`] says
//! what a frame means behind those before it. [`WebSocket::next`] reads one event at a time, so that a caller may stop
//! between two frames. A held connection costs 24 bytes here and no buffer: input that is not used up is the caller's.
//!
//! Times are arguments. Jitter and masking keys of what is sent by itself come from the settings that connections share
//! ([`Heartbeat`]), which the caller seeds.

mod heartbeat;
pub mod order;

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

pub use heartbeat::Heartbeat;
use order::Order;

use super::handshake::{self, Refusal};
use super::{Head, Opcode, frame, push_frame};
use crate::session::{Begun, Broken, Nanos, Room, Session, Status, Ticket, Told};

/// A WebSocket on one connection.
#[derive(Debug)]
pub struct WebSocket {
    state: State,
}

const _: () = assert!(size_of::<WebSocket>() == 24);

#[derive(Debug)]
enum State {
    /// The upgrade is yet to be asked for, or to be answered. The bytes are those of the key.
    Opening {
        random: [u8; 16],
        asked: bool,
    },
    Open(Open),
}

/// A connection that exchanges frames.
#[derive(Debug, Default)]
struct Open {
    heartbeat: Option<Arc<Heartbeat>>,
    /// When the last heartbeat was sent; before the first, when the connection was opened.
    beat_at: Nanos,
    /// That heartbeat is not answered yet.
    awaits: bool,
    /// Heartbeats sent since the peer was last heard.
    unanswered: u8,
    wanted: Wanted,
    closing: Closing,
    order: Order,
}

/// Frames that a reader asks for: the session leaves these to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wanted {
    /// Nobody reads: control frames are answered and passed over, as far as the heartbeat says.
    #[default]
    Nothing,
    /// Any frame but the answer to a heartbeat.
    Frames,
    /// Pongs as well.
    Pongs,
}

/// Progress of the close handshake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Closing {
    #[default]
    No,
    /// A close frame has been sent, which was not an answer.
    Begun,
    /// The peer's close frame has been answered: nothing that follows counts.
    Over,
}

/// An operation of a client.
#[derive(Clone, Copy, Debug)]
pub enum Call<'a> {
    /// A rendered upgrade request, with the key of the bytes that the session was made with.
    Upgrade(&'a [u8]),
    /// A frame, which nobody answers by rule.
    Frame { opcode: Opcode, payload: &'a [u8], mask: [u8; 4] },
}

/// The result of [`WebSocket::next`].
#[derive(Debug, PartialEq, Eq)]
pub enum Event<'b> {
    /// The input has no whole event. It is worth another look when it has `need` bytes.
    NeedMore { need: usize },
    /// The upgrade was accepted by this head.
    Opened(&'b [u8]),
    /// A frame. `answers`: when the heartbeat was sent that it answers. `kept`: it is for nobody else, for it was answered here or is
    /// such an answer.
    Frame { head: Head, payload: &'b [u8], answers: Option<Nanos>, kept: bool },
}

/// The reason why nothing more can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    Refused(Refusal),
    /// A length that no frame may have, or more than the caller takes, or a masked frame.
    Frame,
    /// The stream ended within a frame.
    Cut(Cut),
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refusal) => refusal.fmt(f),
            Self::Frame => f.write_str("a frame that no server may send"),
            Self::Cut(_) => f.write_str("the stream ends within a frame"),
        }
    }
}

impl std::error::Error for Problem {}

/// The place in a frame where a stream ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Between two frames, or within the first bytes of one.
    Between,
    /// Within a length of eight bytes, of which so many came.
    Length { got: usize },
    /// Within a payload.
    Payload { expected: u64, got: usize },
}

/// The place where a stream ended that has these bytes behind its last frame.
pub fn cut(rest: &[u8]) -> Cut {
    match frame::head(rest) {
        Ok(Some(head)) => Cut::Payload { expected: head.length, got: rest.len() - head.size },
        Ok(None) if rest.get(1).is_some_and(|length| length & 0x7f == 127) => {
            Cut::Length { got: rest.len() - 2 }
        }
        _ => Cut::Between,
    }
}

impl WebSocket {
    /// A connection on which nothing was said. The upgrade request must have the [key](handshake::key) of these bytes.
    #[must_use]
    pub const fn new(random: [u8; 16]) -> Self {
        Self { state: State::Opening { random, asked: false } }
    }

    /// A connection whose upgrade was accepted.
    #[must_use]
    pub fn opened() -> Self {
        Self { state: State::Open(Open::default()) }
    }

    /// Whether frames can be exchanged.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.open().is_some_and(|open| open.closing != Closing::Over)
    }

    /// Whether a close frame was sent that was no answer.
    #[must_use]
    pub fn is_closing(&self) -> bool {
        self.open().is_some_and(|open| open.closing == Closing::Begun)
    }

    /// Whether the close frame of the peer was answered.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.open().is_some_and(|open| open.closing == Closing::Over)
    }

    fn open(&self) -> Option<&Open> {
        match &self.state {
            State::Open(open) => Some(open),
            State::Opening { .. } => None,
        }
    }

    fn open_mut(&mut self) -> Option<&mut Open> {
        match &mut self.state {
            State::Open(open) => Some(open),
            State::Opening { .. } => None,
        }
    }

    /// Puts a frame into `out`; how many bytes it has there.
    #[inline]
    pub fn send(
        &mut self,
        opcode: Opcode,
        payload: &[u8],
        mask: [u8; 4],
        out: &mut Vec<u8>,
    ) -> usize {
        if opcode == Opcode::CLOSE
            && let Some(open) = self.open_mut()
            && open.closing == Closing::No
        {
            open.closing = Closing::Begun;
        }
        let before = out.len();
        push_frame(out, opcode, payload, Some(mask));
        out.len() - before
    }

    /// Says which frames a reader asks for from now on.
    #[inline]
    pub fn want(&mut self, wanted: Wanted) {
        if let Some(open) = self.open_mut() {
            open.wanted = wanted;
        }
    }

    /// The order of frames so far, for the reader of what was told.
    #[inline]
    pub fn order(&mut self) -> Option<&mut Order> {
        self.open_mut().map(|open| &mut open.order)
    }

    /// Reads the next event of contiguous bytes that are not used up; how many of them it used. Frames have at most `largest` bytes of
    /// payload. An answer to a frame is put into `out`.
    ///
    /// # Errors
    ///
    /// The upgrade was refused, or a frame cannot be one of a server.
    #[inline]
    pub fn next<'b>(
        &mut self,
        input: &'b [u8],
        largest: u64,
        out: &mut Vec<u8>,
    ) -> Result<(usize, Event<'b>), Problem> {
        match &mut self.state {
            State::Open(open) => open.next(input, largest, out),
            State::Opening { random, .. } => {
                let key = handshake::key(*random);
                let answer = handshake::answer(input, &key).map_err(Problem::Refused)?;
                let Some(answer) = answer else {
                    return Ok((0, Event::NeedMore { need: 0 }));
                };
                self.state = State::Open(Open::default());
                Ok((answer.size, Event::Opened(&input[..answer.size])))
            }
        }
    }

    /// The peer was heard, whatever it said.
    #[inline]
    pub fn heard(&mut self) {
        if let Some(open) = self.open_mut() {
            open.unanswered = 0;
        }
    }

    /// The refusal that the end of the stream stands for: it ends a head as well. `None`: the upgrade had not been asked for, or was
    /// accepted.
    #[must_use]
    pub fn refused_at_end(&self, rest: &[u8]) -> Option<Refusal> {
        match self.state {
            State::Opening { random, asked: true } => {
                handshake::answer_at_end(rest, &handshake::key(random)).err()
            }
            _ => None,
        }
    }

    /// Puts the upgrade request out.
    pub fn ask(&mut self, request: &[u8], out: &mut Vec<u8>) {
        if let State::Opening { asked, .. } = &mut self.state {
            *asked = true;
        }
        out.extend_from_slice(request);
    }
}

impl Open {
    #[inline]
    fn next<'b>(
        &mut self,
        input: &'b [u8],
        largest: u64,
        out: &mut Vec<u8>,
    ) -> Result<(usize, Event<'b>), Problem> {
        if self.closing == Closing::Over {
            return Ok((input.len(), Event::NeedMore { need: 0 }));
        }
        let head = match frame::head(input) {
            Ok(Some(head)) if head.length <= largest && head.mask.is_none() => head,
            Ok(None) => return Ok((0, Event::NeedMore { need: 0 })),
            Ok(Some(_)) | Err(_) => return Err(Problem::Frame),
        };
        let whole = head.size.saturating_add(usize::try_from(head.length).unwrap_or(usize::MAX));
        let Some(payload) = input.get(head.size..whole) else {
            return Ok((0, Event::NeedMore { need: whole }));
        };
        let (answers, kept) = match self.heartbeat {
            Some(_) => self.keep_up(head.opcode, payload, out),
            None => (None, false),
        };
        Ok((whole, Event::Frame { head, payload, answers, kept }))
    }
}

impl Session for WebSocket {
    type Call<'a> = Call<'a>;
    type Head<'b> = Status<'b>;
    type Shared = ();
    type Broken = Problem;

    fn room(&self) -> Room {
        match &self.state {
            State::Opening { asked: false, .. } => Room::Free(1),
            State::Opening { .. } => Room::Greeting,
            State::Open(open) if open.closing == Closing::No => Room::Free(u32::MAX),
            State::Open(_) => Room::Draining,
        }
    }

    fn begin(&mut self, _to: Ticket, call: Call<'_>, out: &mut Vec<u8>) -> Begun {
        match (call, self.is_open()) {
            (Call::Upgrade(request), false) => self.ask(request, out),
            (Call::Frame { opcode, payload, mask }, true) => {
                self.send(opcode, payload, mask, out);
            }
            (Call::Upgrade(_), true) => return Begun::Refused("the connection is open".to_owned()),
            (Call::Frame { .. }, false) => {
                return Begun::Refused("the connection is not open".to_owned());
            }
        }
        Begun::Sent
    }

    /// The upgrade is told as [`Told::Ready`]; each frame as a push whose kind is its head.
    fn feed(
        &mut self,
        input: &[u8],
        (): &mut (),
        out: &mut Vec<u8>,
        tell: &mut impl FnMut(Told<'_>),
    ) -> Result<usize, Problem> {
        if !input.is_empty() {
            self.heard();
        }
        let mut used = 0;
        loop {
            let rest = &input[used..];
            let (taken, event) = self.next(rest, u64::MAX >> 1, out)?;
            used += taken;
            match event {
                Event::NeedMore { .. } => return Ok(used),
                Event::Opened(_) => tell(Told::Ready),
                Event::Frame { head, payload, kept: false, .. } => {
                    tell(Told::Push { kind: &rest[..head.size], id: b"", bytes: payload });
                }
                Event::Frame { .. } => {}
            }
        }
    }

    fn end(&mut self, rest: &[u8], _tell: &mut impl FnMut(Told<'_>)) -> Result<(), Problem> {
        match self.refused_at_end(rest) {
            Some(refusal) => Err(Problem::Refused(refusal)),
            None if rest.is_empty() => Ok(()),
            None => Err(Problem::Cut(cut(rest))),
        }
    }

    fn due(&self) -> Option<Nanos> {
        self.open().and_then(Open::due)
    }

    fn tick(&mut self, now: Nanos, out: &mut Vec<u8>) -> Result<(), Broken> {
        match self.beat(now, out) {
            Ok(_) => Ok(()),
            Err(heartbeat::Missed) => Err(Broken("heartbeats went unanswered".to_owned())),
        }
    }

    fn leave(&mut self, out: &mut Vec<u8>) {
        if self.open().is_some_and(|open| open.closing == Closing::No) {
            self.send(Opcode::CLOSE, &1000_u16.to_be_bytes(), [0; 4], out);
        }
    }
}
