//! Heartbeats: frames that a connection sends by itself at an interval, and automatic replies.
//!
//! A heartbeat is a ping or a text frame. Jitter in the interval keeps connections from sending heartbeats at the same
//! time. The connection is given up after a set number of heartbeats without any frame from the peer. A connection with
//! a heartbeat also answers pings and the close frame; on other connections, the virtual user must do that.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Closing, Open, Wanted, WebSocket};
use crate::session::Nanos;
use crate::websocket::{Opcode, push_frame};

/// Heartbeat settings, shared by many connections.
#[derive(Debug)]
pub struct Heartbeat {
    /// Time from the opening to the first heartbeat, and between heartbeats, in nanoseconds; 0 disables heartbeats.
    pub interval: Nanos,
    /// Maximum random addition to each heartbeat interval, in nanoseconds.
    pub jitter: Nanos,
    /// Payload of a heartbeat that is a text frame; `None` for a ping without payload.
    pub payload: Option<Vec<u8>>,
    /// Number of heartbeats without any data from the peer after which the connection is given up; 0 for no limit.
    pub missed: u32,
    /// True if pings of the peer are answered with pongs.
    pub reply_to_ping: bool,
    /// State of the random number generator for masking keys.
    pub seed: AtomicU64,
}

/// Error: the maximum number of heartbeats was sent since data last arrived from the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeartbeatsMissed;

impl Heartbeat {
    /// Returns a random masking key for an automatic frame.
    fn mask(&self) -> [u8; 4] {
        let next = self.seed.load(Ordering::Relaxed).wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.seed.store(next, Ordering::Relaxed);
        ((mixed(next) >> 32) as u32).to_ne_bytes()
    }
}

/// Mixes the bits of a number, so that neighbouring numbers get unrelated results: the output function of the random
/// number generator splitmix64.
fn mixed(number: u64) -> u64 {
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

impl WebSocket {
    /// Starts heartbeats and automatic replies with these settings.
    pub fn keep_alive(&mut self, heartbeat: Arc<Heartbeat>, now: Nanos) {
        if let Some(open) = self.open_mut() {
            (open.heartbeat, open.beat_at) = (Some(heartbeat), now);
            (open.awaits, open.unanswered) = (false, 0);
        }
    }

    /// Returns the heartbeat settings of the connection; `None` without a heartbeat.
    #[must_use]
    pub fn heartbeat(&self) -> Option<&Heartbeat> {
        self.open().and_then(|open| open.heartbeat.as_deref())
    }

    /// Returns the number of heartbeats sent since data last arrived from the peer.
    #[must_use]
    pub fn unanswered(&self) -> u8 {
        self.open().map_or(0, |open| open.unanswered)
    }

    /// True if the last heartbeat is not answered yet.
    #[must_use]
    pub fn awaits_answer(&self) -> bool {
        self.open().is_some_and(|open| open.awaits)
    }

    /// Appends a heartbeat to `out` and returns its payload length in bytes. `None`: the connection is closing or has
    /// no heartbeat.
    ///
    /// # Errors
    ///
    /// The maximum number of heartbeats is unanswered, so the peer counts as gone.
    pub fn beat(
        &mut self,
        now: Nanos,
        out: &mut Vec<u8>,
    ) -> Result<Option<usize>, HeartbeatsMissed> {
        let Some(open) = self.open_mut() else { return Ok(None) };
        let Some(heartbeat) = &open.heartbeat else { return Ok(None) };
        if open.closing != Closing::No {
            return Ok(None);
        }
        if heartbeat.missed > 0 && u32::from(open.unanswered) >= heartbeat.missed {
            return Err(HeartbeatsMissed);
        }
        let (opcode, payload) = match &heartbeat.payload {
            Some(text) => (Opcode::TEXT, &text[..]),
            None => (Opcode::PING, &b""[..]),
        };
        push_frame(out, opcode, payload, Some(heartbeat.mask()));
        let size = payload.len();
        open.unanswered = open.unanswered.saturating_add(1);
        (open.beat_at, open.awaits) = (now, true);
        Ok(Some(size))
    }
}

impl Open {
    /// Returns the time at which the next heartbeat is due. The jitter is computed from the time of the last heartbeat,
    /// so it is not stored.
    pub(super) fn due(&self) -> Option<Nanos> {
        let heartbeat = self.heartbeat.as_deref()?;
        if heartbeat.interval <= 0 || self.closing != Closing::No {
            return None;
        }
        let jitter = match u64::try_from(heartbeat.jitter) {
            Ok(jitter @ 1..) => mixed(self.beat_at as u64) % jitter.saturating_add(1),
            _ => 0,
        };
        Some(self.beat_at.saturating_add(heartbeat.interval).saturating_add(jitter as Nanos))
    }

    /// Handles a frame of the peer, for heartbeats and automatic replies. Returns the send time of the heartbeat that
    /// the frame answers, and whether the frame was handled here, so that readers ignore it.
    pub(super) fn keep_up(
        &mut self,
        opcode: Opcode,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> (Option<Nanos>, bool) {
        let Some(heartbeat) = &self.heartbeat else { return (None, false) };
        let by_ping = heartbeat.payload.is_none();
        let answers = (self.awaits && (!by_ping || opcode == Opcode::PONG)).then_some(self.beat_at);
        self.awaits &= answers.is_none();
        let kept = match opcode {
            Opcode::PONG => by_ping && self.wanted != Wanted::Pongs,
            Opcode::PING if heartbeat.reply_to_ping => {
                push_frame(out, Opcode::PONG, payload, Some(heartbeat.mask()));
                true
            }
            Opcode::CLOSE if self.wanted == Wanted::Nothing && self.closing == Closing::No => {
                let code = payload.get(..2).unwrap_or_default();
                push_frame(out, Opcode::CLOSE, code, Some(heartbeat.mask()));
                self.closing = Closing::Over;
                true
            }
            _ => false,
        };
        (answers, kept)
    }
}
