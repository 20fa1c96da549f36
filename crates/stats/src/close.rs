//! Ends of connections: the side that closed, the cause, and the idle time before.
//!
//! Closed connections are counted by cause and close code, each with a histogram of idle times in milliseconds. The
//! number of codes is limited by [`MAX_CLOSES`], so a peer that invents codes cannot fill memory. Counting a known pair
//! costs a short search and no allocation.
pub mod words;

use serde::{Deserialize, Serialize};

use crate::hist::{Bins, Hist, Tray};

/// Maximum number of pairs of cause and code; later codes count as [`OTHER_CODES`].
pub const MAX_CLOSES: usize = 128;
/// The code for all codes of a cause beyond [`MAX_CLOSES`].
pub const OTHER_CODES: u16 = u16::MAX;

/// The cause of a connection's end, and the side that ended it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CloseCause {
    /// The peer sent a close frame with a code.
    PeerFrame,
    /// The peer ended the TCP connection (FIN) without a close frame.
    PeerFin,
    /// The peer or a device on the path sent RST.
    PeerReset,
    /// No data was received within our own idle timeout.
    IdleTimeout,
    /// The peer did not answer heartbeats.
    MissedHeartbeat,
    /// The server answered the WebSocket upgrade with another HTTP status; the code is that status.
    Refused,
    /// The peer violated the protocol; the code is the matching close code.
    Protocol,
    /// Unread messages reached the limit of the user's inbox, and the plan lets a full inbox fail.
    InboxFull,
    /// The user opened a new connection that replaces the closed connection.
    Replaced,
    /// A Close sampler of the plan closed the connection.
    ByPlan,
    /// The user ended.
    UserEnded,
    /// The run was stopped.
    Stopped,
    /// The worker process that held the connection is gone.
    WorkerLost,
    /// The connection never opened: TCP, TLS or the upgrade failed. The errors by cause contain the reason.
    ConnectFailed,
}

impl CloseCause {
    pub const ALL: [Self; 14] = [
        Self::PeerFrame,
        Self::PeerFin,
        Self::PeerReset,
        Self::IdleTimeout,
        Self::MissedHeartbeat,
        Self::Refused,
        Self::Protocol,
        Self::InboxFull,
        Self::Replaced,
        Self::ByPlan,
        Self::UserEnded,
        Self::Stopped,
        Self::WorkerLost,
        Self::ConnectFailed,
    ];

    /// Returns the name of the cause in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::PeerFrame => "peer_frame",
            Self::PeerFin => "peer_fin",
            Self::PeerReset => "peer_reset",
            Self::IdleTimeout => "idle_timeout",
            Self::MissedHeartbeat => "missed_heartbeat",
            Self::Refused => "refused",
            Self::Protocol => "protocol",
            Self::InboxFull => "inbox_full",
            Self::Replaced => "replaced",
            Self::ByPlan => "by_plan",
            Self::UserEnded => "user_ended",
            Self::Stopped => "stopped",
            Self::WorkerLost => "worker_lost",
            Self::ConnectFailed => "connect_failed",
        }
    }

    /// True if a connection that ended by this cause had been open before.
    pub const fn had_opened(self) -> bool {
        !matches!(self, Self::Refused | Self::ConnectFailed)
    }

    /// True if the plan, the user's end or the run's end caused the close: it was no failure.
    pub const fn was_wanted(self) -> bool {
        matches!(self, Self::Replaced | Self::ByPlan | Self::UserEnded | Self::Stopped)
    }
}

/// The connections of an interval that ended with the same cause and code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Close {
    pub cause: CloseCause,
    /// Close code; 0 for none, [`OTHER_CODES`] for various codes.
    pub code: u16,
    /// Milliseconds since the last byte in either direction, binned by `hist::layout`. Its total is the number of
    /// connections.
    pub idle_ms: Bins,
}

/// The connections of a run that ended with the same cause and code.
#[derive(Clone, Debug)]
pub struct Closed {
    pub cause: CloseCause,
    pub code: u16,
    pub idle_ms: Hist,
}

/// Returns the position of a pair of cause and code in a list of `len` pairs. If the list does not contain the pair,
/// returns as an error the code for a new entry: [`OTHER_CODES`] if the list is full.
fn key_in(
    cause: CloseCause,
    code: u16,
    len: usize,
    known: impl Fn(CloseCause, u16) -> Option<usize>,
) -> Result<usize, u16> {
    if let Some(at) = known(cause, code) {
        return Ok(at);
    }
    let code = if len >= MAX_CLOSES { OTHER_CODES } else { code };
    known(cause, code).ok_or(code)
}

/// Merges the closes of one interval into the closes of another interval. New entries reuse the memory in `spare`.
/// Lists are short, so a linear search takes a few comparisons.
pub fn merge(into: &mut Vec<Close>, others: &[Close], spare: &mut Vec<Bins>) {
    for other in others {
        let known = |cause, code| into.iter().position(|c| (c.cause, c.code) == (cause, code));
        match key_in(other.cause, other.code, into.len(), known) {
            Ok(at) => into[at].idle_ms.merge(&other.idle_ms),
            Err(code) => {
                let mut idle_ms = spare.pop().unwrap_or_default();
                idle_ms.merge(&other.idle_ms);
                into.push(Close { cause: other.cause, code, idle_ms });
            }
        }
    }
}

/// Adds the closes of an interval to the closes of the run.
pub(crate) fn add(into: &mut Vec<Closed>, others: &[Close]) {
    for other in others {
        let known = |cause, code| into.iter().position(|c| (c.cause, c.code) == (cause, code));
        match key_in(other.cause, other.code, into.len(), known) {
            Ok(at) => into[at].idle_ms.add(&other.idle_ms),
            Err(code) => {
                let mut idle_ms = Hist::new();
                idle_ms.add(&other.idle_ms);
                into.push(Closed { cause: other.cause, code, idle_ms });
            }
        }
    }
}

/// The closes of a recorder since the last drain. Drained pairs stay in the list, so that their trays are allocated
/// once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Closes {
    list: Vec<Open>,
}

#[derive(Clone, Debug)]
struct Open {
    cause: CloseCause,
    code: u16,
    touched: bool,
    tray: Tray,
}

impl Closes {
    pub(crate) fn add(&mut self, cause: CloseCause, code: u16, idle_ms: u64) {
        let list = &self.list;
        let known = |cause, code| list.iter().position(|c| (c.cause, c.code) == (cause, code));
        let at = key_in(cause, code, list.len(), known).unwrap_or_else(|code| {
            self.list.push(Open { cause, code, touched: false, tray: Tray::default() });
            self.list.len() - 1
        });
        let open = &mut self.list[at];
        open.touched = true;
        open.tray.record(idle_ms);
    }

    /// Appends the counts to `into` and resets them. Reuses the memory in `spare`.
    pub(crate) fn drain_into(&mut self, into: &mut Vec<Close>, spare: &mut Vec<Bins>) {
        for open in self.list.iter_mut().filter(|open| open.touched) {
            open.touched = false;
            let mut idle_ms = spare.pop().unwrap_or_default();
            open.tray.drain(&mut idle_ms);
            into.push(Close { cause: open.cause, code: open.code, idle_ms });
        }
    }
}
