//! Client side of a WebSocket as a session: the upgrade, then frames, with heartbeats and automatic replies to the
//! peer.
//!
//! Frames are reported one by one, as they are on the wire, because a load generator reports what a server sends.
//! [`order`] finds the message to which a frame belongs. [`WebSocket::next`] reads one event at a time, so a caller may
//! stop between two frames. A held connection costs 24 bytes and no buffer: the caller keeps unread input.
//!
//! Times are arguments. Jitter and masking keys of automatic frames come from the settings that connections share
//! ([`Heartbeat`]); the caller provides the random seed.

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
use crate::session::{BeginResult, Broken, Capacity, Nanos, Session, SessionEvent, Status, Ticket};

/// A WebSocket on one connection.
#[derive(Debug)]
pub struct WebSocket {
    state: State,
}

const _: () = assert!(size_of::<WebSocket>() == 24);

#[derive(Debug)]
enum State {
    /// The upgrade is not accepted yet. `asked` is true if the upgrade request was sent; its key encodes `random`.
    Opening {
        random: [u8; 16],
        asked: bool,
    },
    Open(Open),
}

/// State of a WebSocket connection after the upgrade.
#[derive(Debug, Default)]
struct Open {
    heartbeat: Option<Arc<Heartbeat>>,
    /// Time of the last heartbeat; before the first heartbeat, time of the connection's opening.
    beat_at: Nanos,
    /// True if no answer to the last heartbeat has arrived yet. A pong answers a ping; any frame answers a text frame.
    awaits: bool,
    /// Number of heartbeats sent since data last arrived from the peer.
    unanswered: u8,
    wanted: Wanted,
    closing: Closing,
    order: Order,
}

/// Frames of the peer that a reader handles itself instead of the session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wanted {
    /// There is no reader: the session handles control frames itself, as far as the heartbeat's settings say.
    #[default]
    Nothing,
    /// The reader handles the peer's close frame; the session handles pongs that answer heartbeats.
    Frames,
    /// The reader handles the peer's close frame, and all pongs, including those that answer heartbeats.
    Pongs,
}

/// Progress of the WebSocket's close handshake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Closing {
    #[default]
    No,
    /// This side of the WebSocket sent a close frame before the peer did.
    BeginResult,
    /// The close frame of the peer was answered. All later input is ignored.
    Over,
}

/// An operation of a WebSocket client.
#[derive(Clone, Copy, Debug)]
pub enum Call<'a> {
    /// A rendered upgrade request. Its key must encode the random bytes that the session was created with.
    Upgrade(&'a [u8]),
    /// Sends a WebSocket frame. The protocol defines no answer to it.
    Frame { opcode: Opcode, payload: &'a [u8], mask: [u8; 4] },
}

/// The result of [`WebSocket::next`].
#[derive(Debug, PartialEq, Eq)]
pub enum Event<'b> {
    /// The input has no complete event. The caller should call again with at least `need` bytes.
    NeedMore { need: usize },
    /// The upgrade was accepted. The bytes are the head of the response.
    Opened(&'b [u8]),
    /// A frame. `answers` is the send time of the heartbeat that this frame answers. `kept` is true if the session
    /// handled the frame, so that a reader must ignore it.
    Frame { head: Head, payload: &'b [u8], answers: Option<Nanos>, kept: bool },
}

/// The reason why nothing more can be read from the WebSocket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    Refused(Refusal),
    /// A frame is masked, has an invalid length, or is larger than the caller's limit.
    Frame,
    /// The stream ended between two frames or within a frame.
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

/// The position, relative to WebSocket frames, at which a stream ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The stream ended between two frames, or within the first bytes of a head.
    Between,
    /// The stream ended within a frame's length field of eight bytes, of which `got` bytes arrived.
    Length { got: usize },
    /// The stream ended within a frame's payload.
    Payload { expected: u64, got: usize },
}

/// Returns the position at which a stream ended, given the bytes after its last complete frame.
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
    /// Creates a session before its upgrade. The upgrade request must have the [key](handshake::key) of these bytes.
    #[must_use]
    pub const fn new(random: [u8; 16]) -> Self {
        Self { state: State::Opening { random, asked: false } }
    }

    /// Creates a WebSocket session whose upgrade was accepted.
    #[must_use]
    pub fn opened() -> Self {
        Self { state: State::Open(Open::default()) }
    }

    /// True if frames can be sent and received on the WebSocket.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.open().is_some_and(|open| open.closing != Closing::Over)
    }

    /// True if this side of the WebSocket sent a close frame before the peer did.
    #[must_use]
    pub fn is_closing(&self) -> bool {
        self.open().is_some_and(|open| open.closing == Closing::BeginResult)
    }

    /// True if the peer's close frame was answered.
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

    /// Appends a frame to `out`; returns the frame's length in bytes.
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
            open.closing = Closing::BeginResult;
        }
        let before = out.len();
        push_frame(out, opcode, payload, Some(mask));
        out.len() - before
    }

    /// Sets the frames that the WebSocket's reader handles itself from now on.
    #[inline]
    pub fn want(&mut self, wanted: Wanted) {
        if let Some(open) = self.open_mut() {
            open.wanted = wanted;
        }
    }

    /// Returns the state with which the reader of frames finds the message that each frame belongs to.
    #[inline]
    pub fn order(&mut self) -> Option<&mut Order> {
        self.open_mut().map(|open| &mut open.order)
    }

    /// Reads the next event from contiguous unread bytes; returns the number of bytes consumed. A frame with more than
    /// `largest` bytes of payload is an error. A reply to a frame is appended to `out`.
    ///
    /// # Errors
    ///
    /// The upgrade was refused, or a frame violates the rules for servers.
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

    /// Notes that data arrived from the peer, which resets the count of unanswered heartbeats.
    #[inline]
    pub fn note_activity(&mut self) {
        if let Some(open) = self.open_mut() {
            open.unanswered = 0;
        }
    }

    /// Returns the reason for which the upgrade failed if the stream ends within the response head: the end of the
    /// stream also ends the head. `None` if the upgrade was not requested, or was accepted.
    #[must_use]
    pub fn refused_at_end(&self, rest: &[u8]) -> Option<Refusal> {
        match self.state {
            State::Opening { random, asked: true } => {
                handshake::answer_at_end(rest, &handshake::key(random)).err()
            }
            _ => None,
        }
    }

    /// Appends the WebSocket's upgrade request to `out`, and notes that it was sent.
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

    fn room(&self) -> Capacity {
        match &self.state {
            State::Opening { asked: false, .. } => Capacity::Free(1),
            State::Opening { .. } => Capacity::Greeting,
            State::Open(open) if open.closing == Closing::No => Capacity::Free(u32::MAX),
            State::Open(_) => Capacity::Draining,
        }
    }

    fn begin(&mut self, _to: Ticket, call: Call<'_>, out: &mut Vec<u8>) -> BeginResult {
        match (call, self.is_open()) {
            (Call::Upgrade(request), false) => self.ask(request, out),
            (Call::Frame { opcode, payload, mask }, true) => {
                self.send(opcode, payload, mask, out);
            }
            (Call::Upgrade(_), true) => {
                return BeginResult::Refused("the connection is open".to_owned());
            }
            (Call::Frame { .. }, false) => {
                return BeginResult::Refused("the connection is not open".to_owned());
            }
        }
        BeginResult::Sent
    }

    /// Reports the upgrade as [`SessionEvent::Ready`], and each frame as a push with its head as `kind`.
    fn feed(
        &mut self,
        input: &[u8],
        (): &mut (),
        out: &mut Vec<u8>,
        emit: &mut impl FnMut(SessionEvent<'_>),
    ) -> Result<usize, Problem> {
        if !input.is_empty() {
            self.note_activity();
        }
        let mut used = 0;
        loop {
            let rest = &input[used..];
            let (taken, event) = self.next(rest, u64::MAX >> 1, out)?;
            used += taken;
            match event {
                Event::NeedMore { .. } => return Ok(used),
                Event::Opened(_) => emit(SessionEvent::Ready),
                Event::Frame { head, payload, kept: false, .. } => {
                    emit(SessionEvent::Push { kind: &rest[..head.size], id: b"", bytes: payload });
                }
                Event::Frame { .. } => {}
            }
        }
    }

    fn end(
        &mut self,
        rest: &[u8],
        _tell: &mut impl FnMut(SessionEvent<'_>),
    ) -> Result<(), Problem> {
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
            Err(heartbeat::HeartbeatsMissed) => {
                Err(Broken("heartbeats were not answered".to_owned()))
            }
        }
    }

    fn leave(&mut self, out: &mut Vec<u8>) {
        if self.open().is_some_and(|open| open.closing == Closing::No) {
            self.send(Opcode::CLOSE, &1000_u16.to_be_bytes(), [0; 4], out);
        }
    }
}
