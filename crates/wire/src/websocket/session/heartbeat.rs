//! Heartbeats: what a connection sends by itself at an interval, and what it answers.
//!
//! A heartbeat is a ping or a text, sent at an interval with some jitter so that connections do not beat together. A peer
//! that is not heard between so many heartbeats counts as gone. With a heartbeat a connection also answers pings and the
//! close frame, which otherwise are its user's business.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Closing, Open, Wanted, WebSocket};
use crate::session::Nanos;
use crate::websocket::{Opcode, push_frame};

/// Settings that many connections share.
#[derive(Debug)]
pub struct Heartbeat {
    /// Nanoseconds from the opening to the first heartbeat, and between two; 0: none is sent.
    pub interval: Nanos,
    /// Up to so many nanoseconds come on top, others for each heartbeat.
    pub jitter: Nanos,
    /// The payload of a text frame; `None`: a ping without payload.
    pub payload: Option<Vec<u8>>,
    /// How many heartbeats in a row without an answer end the connection; 0: none do. A pong answers a ping, any frame
    /// answers a payload.
    pub missed: u32,
    /// Whether pings of the peer are answered.
    pub reply_to_ping: bool,
    /// The state of a generator of numbers.
    pub seed: AtomicU64,
}

/// As many heartbeats as may be went unanswered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missed;

impl Heartbeat {
    /// A masking key.
    fn mask(&self) -> [u8; 4] {
        let next = self.seed.load(Ordering::Relaxed).wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.seed.store(next, Ordering::Relaxed);
        ((mixed(next) >> 32) as u32).to_ne_bytes()
    }
}

/// The output function of splitmix64: neighbours become unlike.
fn mixed(number: u64) -> u64 {
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

impl WebSocket {
    /// Sends heartbeats from now on, and answers what a heartbeat's settings say.
    pub fn keep_alive(&mut self, heartbeat: Arc<Heartbeat>, now: Nanos) {
        if let Some(open) = self.open_mut() {
            (open.heartbeat, open.beat_at) = (Some(heartbeat), now);
            (open.awaits, open.unanswered) = (false, 0);
        }
    }

    /// The settings of its heartbeat.
    #[must_use]
    pub fn heartbeat(&self) -> Option<&Heartbeat> {
        self.open().and_then(|open| open.heartbeat.as_deref())
    }

    /// Heartbeats sent since the peer was last heard.
    #[must_use]
    pub fn unanswered(&self) -> u8 {
        self.open().map_or(0, |open| open.unanswered)
    }

    /// Whether a heartbeat waits for its answer.
    #[must_use]
    pub fn awaits_answer(&self) -> bool {
        self.open().is_some_and(|open| open.awaits)
    }

    /// Puts a heartbeat into `out`, unless the connection is being closed or has none: how many bytes of payload it has.
    ///
    /// # Errors
    ///
    /// As many as may be went unanswered: the peer counts as gone.
    pub fn beat(&mut self, now: Nanos, out: &mut Vec<u8>) -> Result<Option<usize>, Missed> {
        let Some(open) = self.open_mut() else { return Ok(None) };
        let Some(heartbeat) = &open.heartbeat else { return Ok(None) };
        if open.closing != Closing::No {
            return Ok(None);
        }
        if heartbeat.missed > 0 && u32::from(open.unanswered) >= heartbeat.missed {
            return Err(Missed);
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
    /// When the next heartbeat is due. The jitter comes of the last one's time, so that it need not be kept.
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

    /// Shows a frame to the heartbeat: when the heartbeat was sent that it answers, and whether it is for nobody else.
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
