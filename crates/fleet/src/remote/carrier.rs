//! The connection to one agent, independent of its transport: pipes of a process like `ssh`, or a stream over a NATS
//! server.

use std::time::Duration;

use super::line::Piped;
use super::wire::ToAgent;
use crate::nats::{Carried, Found};

/// The connection to an agent.
#[derive(Debug)]
pub(crate) enum Line {
    Piped(Box<Piped>),
    Carried(Carried),
}

impl Line {
    /// Sends a message. Never blocks: bytes that the transport does not accept are queued in memory.
    pub(crate) fn send(&self, message: &ToAgent) -> Result<(), String> {
        match self {
            Self::Piped(line) => line.send(message),
            Self::Carried(line) => line.send(message),
        }
    }

    /// Returns the stream's data for a takeover; `None` for pipes, which end with the coordinator.
    pub(crate) fn found(&self) -> Option<&Found> {
        match self {
            Self::Piped(_) => None,
            Self::Carried(line) => Some(line.found()),
        }
    }

    /// Returns the number of bytes that wait to be sent.
    pub(crate) fn queued(&self) -> usize {
        match self {
            Self::Piped(line) => line.queued(),
            Self::Carried(line) => line.queued(),
        }
    }

    /// Returns the time of the last received bytes.
    pub(crate) fn last(&self) -> i64 {
        match self {
            Self::Piped(line) => line.last(),
            Self::Carried(line) => line.last(),
        }
    }

    /// True if messages of the agent could arrive. The server between may be unreachable for some time.
    pub(crate) fn hears(&self) -> bool {
        match self {
            Self::Piped(_) => true,
            Self::Carried(line) => line.hears(),
        }
    }

    /// True if the other end is gone.
    pub(crate) fn has_ended(&mut self) -> bool {
        match self {
            Self::Piped(line) => line.has_ended(),
            Self::Carried(line) => line.has_ended(),
        }
    }

    /// Ends the connection at once.
    pub(crate) fn cut(&mut self) {
        match self {
            Self::Piped(line) => line.cut(),
            Self::Carried(line) => line.cut(),
        }
    }

    /// Ends the connection and returns how it ended.
    pub(crate) fn end(&mut self, patience: Duration) -> String {
        match self {
            Self::Piped(line) => line.end(patience),
            Self::Carried(line) => line.end(patience),
        }
    }
}
