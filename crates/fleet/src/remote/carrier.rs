//! The connection to one agent, whatever carries it: pipes of a process like `ssh`, or a stream over a NATS server.

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
    /// Never blocks: what is not taken is kept in memory.
    pub(crate) fn send(&self, message: &ToAgent) -> Result<(), String> {
        match self {
            Self::Piped(line) => line.send(message),
            Self::Carried(line) => line.send(message),
        }
    }

    /// The stream, for a coordinator that takes it over. A pipe ends with the coordinator.
    pub(crate) fn found(&self) -> Option<&Found> {
        match self {
            Self::Piped(_) => None,
            Self::Carried(line) => Some(line.found()),
        }
    }

    /// Bytes that wait to be sent.
    pub(crate) fn queued(&self) -> usize {
        match self {
            Self::Piped(line) => line.queued(),
            Self::Carried(line) => line.queued(),
        }
    }

    /// Time when something came last.
    pub(crate) fn last(&self) -> i64 {
        match self {
            Self::Piped(line) => line.last(),
            Self::Carried(line) => line.last(),
        }
    }

    /// Whether something could be heard of the agent: what lies between may be away for a while.
    pub(crate) fn hears(&self) -> bool {
        match self {
            Self::Piped(_) => true,
            Self::Carried(line) => line.hears(),
        }
    }

    /// Whether the other end has gone.
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

    /// Ends the connection, and says how it ended.
    pub(crate) fn end(&mut self, patience: Duration) -> String {
        match self {
            Self::Piped(line) => line.end(patience),
            Self::Carried(line) => line.end(patience),
        }
    }
}
