//! Ends of connections: the side that closed, the cause, and the silence before.
//!
//! Counted per cause and close code, each with a histogram of idle ages in milliseconds. The
//! number of codes told apart is bounded ([`MAX_CLOSES`]): a peer that invents codes cannot fill
//! memory. A pair seen before costs a short search and no allocation.
pub mod words;

use serde::{Deserialize, Serialize};

use crate::hist::{Bins, Hist, Tray};

/// Limit of pairs of cause and code; later ones count as [`OTHER_CODES`].
pub const MAX_CLOSES: usize = 128;
/// The code under which a cause's codes beyond [`MAX_CLOSES`] are counted.
pub const OTHER_CODES: u16 = u16::MAX;

/// The cause of a connection's end, and the side that ended it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CloseCause {
    /// A close frame of the peer's, with its code.
    PeerFrame,
    /// The peer ended the TCP connection (FIN) without a close frame.
    PeerFin,
    /// The peer, or something between, sent RST.
    PeerReset,
    /// Nothing came for as long as our own limit allows.
    IdleTimeout,
    /// Heartbeats stayed without an answer.
    MissedHeartbeat,
    /// The upgrade was answered, but not with a WebSocket; the code is the HTTP status.
    Refused,
    /// The peer broke the protocol; the code is the close code this deserves.
    Protocol,
    /// Unread messages reached the bound of the user's inbox, whose rule is to fail.
    InboxFull,
    /// The user opened a new connection in its place.
    Replaced,
    /// A Close sampler of the plan.
    ByPlan,
    /// The user came to its end.
    UserEnded,
    /// The run was stopped.
    Stopped,
    /// The worker process that held it is gone.
    WorkerLost,
    /// It never opened: TCP, TLS or the upgrade failed; the errors by cause say how.
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

    /// The name in files.
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

    /// Whether such a connection had been open before.
    pub const fn had_opened(self) -> bool {
        !matches!(self, Self::Refused | Self::ConnectFailed)
    }

    /// Whether the plan, the user's end or the run's end asked for it: nothing went wrong.
    pub const fn was_wanted(self) -> bool {
        matches!(self, Self::Replaced | Self::ByPlan | Self::UserEnded | Self::Stopped)
    }
}

/// The connections of an interval that ended in one way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Close {
    pub cause: CloseCause,
    /// Close status; 0 for none, [`OTHER_CODES`] for many.
    pub code: u16,
    /// Milliseconds since the last byte either way, binned by `hist::layout`; its total is how
    /// many connections there were.
    pub idle_ms: Bins,
}

/// The connections of a run that ended in one way.
#[derive(Clone, Debug)]
pub struct Closed {
    pub cause: CloseCause,
    pub code: u16,
    pub idle_ms: Hist,
}

/// Position of this pair in the list; the error is the code to add it under: [`OTHER_CODES`] once the list is full.
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

/// Adds an interval's closes to those of another; new ones take the memory of `spare`. Lists are short: a search is a few
/// compares.
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

/// Adds an interval's closes to a run's.
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

/// A recorder's closes since the last drain. Pairs stay known, so that a tray is made once.
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

    /// Moves what was counted into `into`, taking the memory of `spare`.
    pub(crate) fn drain_into(&mut self, into: &mut Vec<Close>, spare: &mut Vec<Bins>) {
        for open in self.list.iter_mut().filter(|open| open.touched) {
            open.touched = false;
            let mut idle_ms = spare.pop().unwrap_or_default();
            open.tray.drain(&mut idle_ms);
            into.push(Close { cause: open.cause, code: open.code, idle_ms });
        }
    }
}
