//! The connection to one agent, independent of its transport: pipes of a process like `ssh`, or a stream over a NATS
//! server.

use std::time::Duration;

use super::line::Piped;
use super::wire::ToAgent;
use crate::nats::{NatsStream, StreamHandover};

/// The connection to an agent.
#[derive(Debug)]
pub(crate) enum Line {
    Piped(Box<Piped>),
    Nats(NatsStream),
}

impl Line {
    /// Sends a message. Never blocks: bytes that the transport does not accept are queued in memory.
    pub(crate) fn send(&self, message: &ToAgent) -> Result<(), String> {
        match self {
            Self::Piped(line) => line.send(message),
            Self::Nats(line) => line.send(message),
        }
    }

    /// Returns the data with which another coordinator can take over the stream; `None` for pipes, which end with the
    /// coordinator.
    pub(crate) fn handover(&self) -> Option<&StreamHandover> {
        match self {
            Self::Piped(_) => None,
            Self::Nats(line) => Some(line.handover()),
        }
    }

    /// Returns the number of bytes that wait to be sent.
    pub(crate) fn queued(&self) -> usize {
        match self {
            Self::Piped(line) => line.queued(),
            Self::Nats(line) => line.queued(),
        }
    }

    /// Returns the time of the last received bytes.
    pub(crate) fn last(&self) -> i64 {
        match self {
            Self::Piped(line) => line.last(),
            Self::Nats(line) => line.last(),
        }
    }

    /// True if messages of the agent can arrive. False while the NATS server between is unreachable.
    pub(crate) fn hears(&self) -> bool {
        match self {
            Self::Piped(_) => true,
            Self::Nats(line) => line.hears(),
        }
    }

    /// True if the agent's end of the connection has ended.
    pub(crate) fn has_ended(&mut self) -> bool {
        match self {
            Self::Piped(line) => line.has_ended(),
            Self::Nats(line) => line.has_ended(),
        }
    }

    /// Ends the connection immediately.
    pub(crate) fn cut(&mut self) {
        match self {
            Self::Piped(line) => line.cut(),
            Self::Nats(line) => line.cut(),
        }
    }

    /// Ends the connection and returns how it ended.
    pub(crate) fn end(&mut self, patience: Duration) -> String {
        match self {
            Self::Piped(line) => line.end(patience),
            Self::Nats(line) => line.end(patience),
        }
    }
}
