//! A protocol of connections as a state machine: it is fed bytes, is asked for bytes, and tells of what it read. Hot.
//!
//! A session knows no socket, no user and no clock: its caller owns the connection and gives the time as an argument. It
//! never calls for another session, never asks for a connection, and never sends anything twice: that is its caller's.
//! Exchanges and connections are apart: an exchange is named by a [`Ticket`] that its caller made, so that one session
//! may carry one exchange at a time or many.
//!
//! A protocol implements [`Session`] in a module of its own; the engine dispatches by an enumeration of them.

use std::fmt;
use std::num::NonZeroU32;

/// The name of an exchange, made by who begins it: an index and a generation, so that what comes too late is nobody's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ticket {
    /// Place in its owner's table.
    pub index: u32,
    /// Told apart from former exchanges in the same place.
    pub generation: NonZeroU32,
}

impl Ticket {
    /// The first exchange in a place.
    pub const fn first(index: u32) -> Self {
        Self { index, generation: NonZeroU32::MIN }
    }
}

/// Nanoseconds on its caller's clock.
pub type Nanos = i64;

/// Room of a session for another exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// The greeting is not over: nothing may begin yet.
    Greeting,
    /// So many more exchanges may begin now.
    Free(u32),
    /// As many as may are under way.
    Full,
    /// Exchanges in flight may end; none begins any more.
    Draining,
}

/// The outcome of a beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Begun {
    /// All of it is in the output.
    Sent,
    /// A part is; the rest follows when the peer gives room.
    Partly,
    /// Nothing is: the call cannot be said in this protocol, in words.
    Refused(String),
}

/// The price of giving an exchange up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cancelled {
    /// The output says so to the peer; others on the connection go on.
    Told,
    /// The connection can carry nothing more.
    MustClose,
}

/// Knowledge of an exchange that the peer gave up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Surely not looked at: it may be begun again elsewhere.
    Unprocessed,
    /// It may have been carried out.
    Unknown,
}

/// The beginning of an answer where a status and bytes are all there is to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status<'b> {
    /// Tells a protocol's answers apart.
    pub status: u16,
    pub bytes: &'b [u8],
}

/// An event that a session has read; `H` is what its protocol calls the head of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told<'b, H = Status<'b>> {
    /// The greeting is over.
    Ready,
    /// There is room again.
    Room,
    /// An answer has begun.
    Head { to: Ticket, head: H },
    /// A part of an answer's content.
    Data { to: Ticket, bytes: &'b [u8] },
    /// So many bytes of an answer were neither its head nor content: its framing, answers before the answer proper.
    Framing { to: Ticket, bytes: u64 },
    /// An answer is complete. `kept`: the connection may carry another exchange.
    Done { to: Ticket, kept: bool },
    /// Something that belongs to no exchange, or to one that stays: an event, a message. `kind` is the protocol's name
    /// for it and `id` the peer's, empty where there is none.
    Push { kind: &'b [u8], id: &'b [u8], bytes: &'b [u8] },
    /// The peer gave an exchange up.
    Lost { to: Ticket, fate: Fate },
}

/// A peer that does not keep to the protocol: nothing more can be read from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken(pub String);

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Broken {}

/// A protocol on one connection.
pub trait Session {
    /// A rendered operation.
    type Call<'a>;
    /// The head of an answer.
    type Head<'b>;
    /// Knowledge that sessions of a thread have in common, such as the last head; `()` where there is none.
    type Shared;
    /// A peer that does not keep to the protocol.
    type Broken;

    /// Puts out the greeting, before anything is asked for.
    fn greet(&mut self, out: &mut Vec<u8>) {
        let _ = out;
    }

    /// Whether another exchange may begin.
    fn room(&self) -> Room;

    /// Begins an exchange. Only where there is room.
    fn begin(&mut self, to: Ticket, call: Self::Call<'_>, out: &mut Vec<u8>) -> Begun;

    /// Takes what came, and tells of it; how much is used up: the rest comes again with what follows. What has to go out
    /// in answer to it is put into `out`.
    ///
    /// # Errors
    ///
    /// The peer does not keep to the protocol. What was told before stays told.
    fn feed(
        &mut self,
        input: &[u8],
        shared: &mut Self::Shared,
        out: &mut Vec<u8>,
        tell: &mut impl for<'b> FnMut(Told<'b, Self::Head<'b>>),
    ) -> Result<usize, Self::Broken>;

    /// Bytes to come that may be taken off the connection unseen, if nobody reads the content.
    fn droppable(&self) -> u64 {
        0
    }

    /// So many of them were. True: the answer is complete.
    fn drop_content(&mut self, bytes: u64) -> bool {
        let _ = bytes;
        false
    }

    /// The peer sends no more; `rest` is what was not used up. What is not told as done by now is lost.
    ///
    /// # Errors
    ///
    /// The end stands where the protocol has none.
    fn end(
        &mut self,
        rest: &[u8],
        tell: &mut impl for<'b> FnMut(Told<'b, Self::Head<'b>>),
    ) -> Result<(), Self::Broken>;

    /// Gives an exchange up.
    fn cancel(&mut self, to: Ticket, out: &mut Vec<u8>) -> Cancelled {
        let _ = (to, out);
        Cancelled::MustClose
    }

    /// When [`tick`](Self::tick) wants to be called, if nothing happens before.
    fn due(&self) -> Option<Nanos> {
        None
    }

    /// Does what is due.
    ///
    /// # Errors
    ///
    /// The peer has not answered in time: nothing more can be read from it.
    fn tick(&mut self, now: Nanos, out: &mut Vec<u8>) -> Result<(), Broken> {
        let _ = (now, out);
        Ok(())
    }

    /// Puts out the farewell, before the connection is closed from here.
    fn leave(&mut self, out: &mut Vec<u8>) {
        let _ = out;
    }
}
