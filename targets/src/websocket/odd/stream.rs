//! Floods: messages or pings at a rate, without end or up to a count.
//!
//! The remaining part of a flood is packed into the tag of its next step, so a client that closes leaves no state. A
//! client that does not read slows its flood down, and missed messages are not sent later.

use std::time::{SystemTime, UNIX_EPOCH};

use wire::websocket::{Opcode, push_frame};

use super::Asked;
use crate::answer::Answer;
use crate::service::Nanos;

pub(super) const PATHS: &[(&str, &str)] = &[
    (
        "flood?rate=1000&size=64&count=0",
        "texts per second of this size, with t=MICROSECONDS; 0: no end",
    ),
    ("pings?rate=1&size=0&count=0", "pings, the same way"),
];

/// Minimum time between two steps of a flood, in nanoseconds.
const STEP: Nanos = 2_000_000;
const SECOND: Nanos = 1_000_000_000;

/// The remaining part of a flood, which is packed into the tag of the flood's next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Flood {
    pings: bool,
    /// Messages per second of the flood, below 2^20.
    rate: u64,
    /// Payload length of each message in bytes, below 2^17.
    size: u64,
    /// Number of messages left in the flood, below 2^26; 0 for no end.
    left: u64,
}

impl Flood {
    fn pack(self) -> u64 {
        self.left << 38 | self.size << 21 | self.rate << 1 | u64::from(self.pings)
    }

    fn unpack(tag: u64) -> Self {
        Self {
            pings: tag & 1 == 1,
            rate: tag >> 1 & 0xf_ffff,
            size: tag >> 21 & 0x1_ffff,
            left: tag >> 38,
        }
    }
}

/// Answers a path that starts a flood; returns false for any other path.
pub(super) fn answer(asked: &Asked<'_>, now: Nanos, answer: &mut Answer) -> bool {
    let pings = match asked.name.as_str() {
        "flood" => false,
        "pings" => true,
        _ => return false,
    };
    let (rate, size) = if pings { (1, 0) } else { (1000, 64) };
    let longest = if pings { 125 } else { 100_000 };
    let flood = Flood {
        pings,
        rate: asked.value("rate", rate).clamp(1, 0xf_ffff),
        size: asked.value("size", size).min(longest),
        left: asked.value("count", 0).min((1 << 26) - 1),
    };
    asked.upgrade(answer);
    answer.until(now);
    answer.ask(flood.pack());
    true
}

/// Sends the messages of a flood that are due, and schedules the next step.
pub(super) fn due(tag: u64, now: Nanos, answer: &mut Answer) {
    let flood = Flood::unpack(tag);
    let due = (flood.rate * STEP).div_ceil(SECOND).max(1);
    let count = if flood.left == 0 { due } else { due.min(flood.left) };
    let opcode = if flood.pings { Opcode::PING } else { Opcode::TEXT };
    // A clock before 1970 yields zero, which cannot be mistaken for a real time.
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros();
    let mut payload = format!("t={time} ").into_bytes();
    payload.resize(flood.size as usize, b'x');
    let mut out = Vec::new();
    for _ in 0..count {
        push_frame(&mut out, opcode, &payload, None);
    }
    answer.send(&out);
    let left = flood.left.saturating_sub(count);
    if flood.left > 0 && left == 0 {
        return answer.stall();
    }
    answer.until(now + due * SECOND / flood.rate);
    answer.ask(Flood { left, ..flood }.pack());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_fits_into_its_tag() {
        for flood in [
            Flood { pings: true, rate: 1, size: 0, left: 0 },
            Flood { pings: false, rate: 0xf_ffff, size: 100_000, left: (1 << 26) - 1 },
        ] {
            assert_eq!(Flood::unpack(flood.pack()), flood);
        }
    }
}
