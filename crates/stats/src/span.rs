//! Spans: the parts of a connection's life that have a distribution of their own.
//!
//! Beside the samples, because a held connection has many of them within one sample. A recorder
//! keeps one tray per span; snapshots carry bins of whole microseconds.
use serde::{Deserialize, Serialize};

use crate::hist::Bins;

/// The phase of a connection that a duration belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Span {
    /// From the first attempt to connect until TCP (and TLS, if any) is connected.
    Connect,
    /// From the upgrade request's sending to its answer.
    Upgrade,
    /// From the moment a message carries, or was asked for, to its arrival here.
    Message,
    /// From a heartbeat's sending to its answer.
    Heartbeat,
    /// From the end of the TCP handshake to that of the TLS handshake.
    Tls,
    /// From asking for a connection of a pool until one was free, or was waited for no more; 0 where one was free.
    Room,
    /// From the address being known to the TCP connection, of those that were opened.
    Tcp,
}

impl Span {
    pub const ALL: [Self; 7] = [
        Self::Connect,
        Self::Upgrade,
        Self::Message,
        Self::Heartbeat,
        Self::Tls,
        Self::Room,
        Self::Tcp,
    ];
    pub const COUNT: usize = Self::ALL.len();

    /// The name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Upgrade => "upgrade",
            Self::Message => "message",
            Self::Heartbeat => "heartbeat",
            Self::Tls => "tls",
            Self::Room => "room",
            Self::Tcp => "tcp",
        }
    }
}

/// The bins of all spans of an interval, µs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpanBins([Bins; Span::COUNT]);

impl SpanBins {
    pub fn get(&self, span: Span) -> &Bins {
        &self.0[span as usize]
    }

    pub(crate) fn get_mut(&mut self, span: Span) -> &mut Bins {
        &mut self.0[span as usize]
    }

    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            mine.merge(theirs);
        }
    }

    pub fn clear(&mut self) {
        self.0.iter_mut().for_each(Bins::clear);
    }
}
