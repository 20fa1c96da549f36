//! The trait of a protocol on one connection, a state machine: its caller feeds it received bytes, collects bytes to
//! send, and gets events. This code is hot.
//!
//! A session does not know sockets, users or the clock. Its caller owns the connection and passes the time as an
//! argument. A session never calls another session, opens no connection and resends nothing; its caller does that. An
//! exchange is named by a [`Ticket`] of the caller, so one session may carry one exchange at a time or many.
//!
//! Each protocol implements [`Session`] in a separate module; the engine dispatches with an enum.

use std::fmt;
use std::num::NonZeroU32;

/// Identifier of an exchange, created by the caller: an index and a generation. Because of the generation, a late
/// answer to an earlier exchange with the same index is recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ticket {
    /// Index of the exchange in the caller's table.
    pub index: u32,
    /// Number that distinguishes this exchange from earlier exchanges with the same index.
    pub generation: NonZeroU32,
}

impl Ticket {
    /// Returns the first ticket for an index of the caller's table.
    pub const fn first(index: u32) -> Self {
        Self { index, generation: NonZeroU32::MIN }
    }
}

/// Time in nanoseconds on the caller's clock.
pub type Nanos = i64;

/// Capacity of a session for further exchanges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capacity {
    /// The session's greeting is not finished, so no exchange can begin yet.
    Greeting,
    /// Number of further exchanges that can begin now on the session.
    Free(u32),
    /// The maximum number of exchanges of the session is in flight.
    Full,
    /// No further exchange can begin on the session; exchanges in flight continue.
    Draining,
}

/// The result of [`Session::begin`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BeginResult {
    /// The whole request was written to the output.
    Sent,
    /// Only a part of the request was written to the output. The session writes the rest when the peer grants more
    /// space.
    Partly,
    /// Nothing was written, because the protocol cannot express this request. The text is the reason.
    Refused(String),
}

/// The effect on the connection of cancelling an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cancelled {
    /// The session wrote a message that cancels the exchange to the output; other exchanges on the connection continue.
    SessionEvent,
    /// The connection cannot be used any more and must be closed.
    MustClose,
}

/// Certainty about whether the peer processed a request that it abandoned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The peer certainly did not process the request, so it may be resent on another connection.
    Unprocessed,
    /// The peer may or may not have processed the request.
    Unknown,
}

/// Head of an answer in protocols whose answers consist only of a status and bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status<'b> {
    /// Type of the answer, in the numbers that its protocol defines.
    pub status: u16,
    pub bytes: &'b [u8],
}

/// An event that a session reports; `H` is the protocol's type for the head of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionEvent<'b, H = Status<'b>> {
    /// The session's greeting is finished.
    Ready,
    /// Another exchange can begin on the session.
    Capacity,
    /// The head of an answer was received.
    Head { to: Ticket, head: H },
    /// A part of an answer's content was received.
    Data { to: Ticket, bytes: &'b [u8] },
    /// Number of received bytes that were neither head nor content of an answer, such as chunk framing or interim
    /// responses.
    Framing { to: Ticket, bytes: u64 },
    /// An answer is complete. `kept` is true if the connection can carry another exchange.
    Done { to: Ticket, kept: bool },
    /// A message that belongs to no exchange, or to an exchange that stays open, such as a server-sent event. `kind` is
    /// the protocol's name for the message and `id` the peer's identifier; either may be empty.
    Push { kind: &'b [u8], id: &'b [u8], bytes: &'b [u8] },
    /// The peer abandoned an exchange without a complete answer.
    Lost { to: Ticket, fate: Fate },
}

/// A violation of the protocol by the peer: nothing more can be read from the connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken(pub String);

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Broken {}

/// A protocol on one connection, as a state machine.
pub trait Session {
    /// Type of a rendered request of the protocol.
    type Call<'a>;
    /// Type of an answer's head in the protocol.
    type Head<'b>;
    /// State that the sessions of a thread share, such as the last parsed head; `()` if there is none.
    type Shared;
    /// Type of the error for a violation of the protocol by the peer.
    type Broken;

    /// Writes the protocol's greeting, before the first exchange.
    fn greet(&mut self, out: &mut Vec<u8>) {
        let _ = out;
    }

    /// Returns the session's capacity for further exchanges.
    fn room(&self) -> Capacity;

    /// Begins an exchange. Only allowed while the session has capacity.
    fn begin(&mut self, to: Ticket, call: Self::Call<'_>, out: &mut Vec<u8>) -> BeginResult;

    /// Parses received bytes and reports events to `emit`; returns the number of bytes consumed. The caller must put
    /// unconsumed bytes in front of the next input. Bytes to send in reply are appended to `out`.
    ///
    /// # Errors
    ///
    /// The peer violates the protocol. Events reported before the error remain valid.
    fn feed(
        &mut self,
        input: &[u8],
        shared: &mut Self::Shared,
        out: &mut Vec<u8>,
        emit: &mut impl for<'b> FnMut(SessionEvent<'b, Self::Head<'b>>),
    ) -> Result<usize, Self::Broken>;

    /// Returns the number of content bytes that come next on the connection and that the caller may discard without
    /// passing them to the session, if nobody reads the content of the current answer.
    fn droppable(&self) -> u64 {
        0
    }

    /// Notes that the caller discarded `bytes` of the current answer's content. Returns true if the answer is complete.
    fn drop_content(&mut self, bytes: u64) -> bool {
        let _ = bytes;
        false
    }

    /// Handles the end of the peer's stream; `rest` are the bytes that were not consumed. Exchanges in flight that this
    /// call does not report as done are lost.
    ///
    /// # Errors
    ///
    /// The stream ended at a point where the protocol does not allow it.
    fn end(
        &mut self,
        rest: &[u8],
        emit: &mut impl for<'b> FnMut(SessionEvent<'b, Self::Head<'b>>),
    ) -> Result<(), Self::Broken>;

    /// Cancels an exchange in flight.
    fn cancel(&mut self, to: Ticket, out: &mut Vec<u8>) -> Cancelled {
        let _ = (to, out);
        Cancelled::MustClose
    }

    /// Returns the time at which [`tick`](Self::tick) must be called; `None` if no call is needed. Another call of the
    /// session may change the time.
    fn due(&self) -> Option<Nanos> {
        None
    }

    /// Runs the actions that are due at `now`, such as timeouts.
    ///
    /// # Errors
    ///
    /// The peer did not answer in time: nothing more can be read from the connection.
    fn tick(&mut self, now: Nanos, out: &mut Vec<u8>) -> Result<(), Broken> {
        let _ = (now, out);
        Ok(())
    }

    /// Writes the protocol's closing message. The caller then closes the connection.
    fn leave(&mut self, out: &mut Vec<u8>) {
        let _ = out;
    }
}
