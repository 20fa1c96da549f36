//! Spans: phases of a connection's life, each with its own distribution.
//!
//! Spans are separate from samples, because a held connection has many of them within one sample. A recorder has one
//! tray per span; snapshots contain bins of whole microseconds.
use serde::{Deserialize, Serialize};

use crate::hist::Bins;

/// A phase of a connection whose durations are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Span {
    /// From the first connection attempt until TCP (and TLS, if used) is connected.
    Connect,
    /// From sending the upgrade request to receiving its response.
    Upgrade,
    /// From the send time that a message contains, or from the request for the message, to its arrival.
    Message,
    /// From sending a heartbeat to its answer.
    Heartbeat,
    /// From the end of the TCP handshake to the end of the TLS handshake.
    Tls,
    /// From the request for a connection of a pool until one was free or the wait was given up; 0 if one was idle.
    Room,
    /// From the resolved address to the open TCP connection; only connections that were opened.
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

    /// Returns the span's name in files.
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

/// The histograms of all spans of an interval, in µs.
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
