//! A stream of bytes in each direction, over messages that may be lost, repeated, delayed and reordered.
//!
//! The bytes of a direction are cut into packets, numbered from 1. The receiver accepts only the next number, stores
//! packets that arrive early, and acknowledges the number up to which it has all packets. Unacknowledged packets are
//! resent after a timeout, and immediately after a reconnect. The link has no I/O and no clock: the caller passes
//! packets and the time. Unacknowledged and stored packets are limited.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Maximum number of sent bytes that are not acknowledged.
const WINDOW: usize = 2 << 20;
/// Maximum number of stored packets that arrived early.
const EARLY: usize = 512;
/// Time without an acknowledgement after which a packet is first resent.
const RESEND: Duration = Duration::from_secs(1);
/// Maximum time between two resends of a packet.
const RESEND_MOST: Duration = Duration::from_secs(8);

/// A packet of a stream. A packet may carry bytes, and acknowledges packets of the other side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Packet {
    /// Number of the packet, counting from 1 only packets that carry bytes; 0 for a packet without bytes.
    pub(crate) number: u64,
    /// Number up to which the sender of this packet has received all packets of the other side.
    pub(crate) has: u64,
    #[serde(with = "crate::bytes")]
    pub(crate) bytes: Vec<u8>,
}

/// A packet that was sent but not acknowledged.
#[derive(Debug)]
struct Sent {
    number: u64,
    bytes: Vec<u8>,
    /// Time of the next resend.
    resend_at: Duration,
}

/// One end of a stream in both directions.
#[derive(Debug)]
pub(crate) struct Link {
    /// Maximum number of the stream's bytes per packet.
    chunk: usize,
    waiting: VecDeque<u8>,
    sent: VecDeque<Sent>,
    in_flight: usize,
    next: u64,
    patience: Duration,
    /// Number up to which all packets of the other side were received.
    has: u64,
    early: BTreeMap<u64, Vec<u8>>,
    /// True if a packet was received that is not acknowledged yet.
    owes: bool,
}

impl Link {
    /// Creates a link whose packets have at most `chunk` bytes.
    pub(crate) fn new(chunk: usize) -> Self {
        Self {
            chunk: chunk.max(1),
            waiting: VecDeque::new(),
            sent: VecDeque::new(),
            in_flight: 0,
            next: 1,
            patience: RESEND,
            has: 0,
            early: BTreeMap::new(),
            owes: false,
        }
    }

    /// Appends bytes to the outgoing stream.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.waiting.extend(bytes);
    }

    /// Returns the number of outgoing bytes that the other side has not acknowledged.
    pub(crate) fn queued(&self) -> usize {
        self.waiting.len() + self.in_flight
    }

    /// Handles a received packet. Returns the bytes with which the incoming stream continues without gaps.
    pub(crate) fn receive(&mut self, packet: Packet) -> Vec<u8> {
        // An acknowledgement of a packet that was never sent is ignored.
        if packet.has < self.next {
            while self.sent.front().is_some_and(|first| first.number <= packet.has) {
                let gone = self.sent.pop_front();
                self.in_flight -= gone.map_or(0, |gone| gone.bytes.len());
                self.patience = RESEND;
            }
        }
        let mut bytes = Vec::new();
        if packet.number == 0 {
            return bytes;
        }
        self.owes = true;
        if packet.number == self.has + 1 {
            self.has += 1;
            bytes = packet.bytes;
            while let Some(more) = self.early.remove(&(self.has + 1)) {
                self.has += 1;
                bytes.extend(more);
            }
        } else if packet.number > self.has && self.early.len() < EARLY {
            self.early.insert(packet.number, packet.bytes);
        }
        bytes
    }

    /// Returns the packets that are to be sent or resent at `now`.
    pub(crate) fn due(&mut self, now: Duration) -> Vec<Packet> {
        let mut packets = Vec::new();
        let has = self.has;
        let mut repeats = false;
        for sent in self.sent.iter_mut().filter(|sent| sent.resend_at <= now) {
            sent.resend_at = now + self.patience;
            repeats = true;
            packets.push(Packet { number: sent.number, has, bytes: sent.bytes.clone() });
        }
        if repeats {
            self.patience = (self.patience * 2).min(RESEND_MOST);
        }
        while !self.waiting.is_empty()
            && (self.in_flight == 0 || self.in_flight + self.chunk <= WINDOW)
        {
            let bytes: Vec<u8> = self.waiting.drain(..self.chunk.min(self.waiting.len())).collect();
            let number = self.next;
            self.next += 1;
            self.in_flight += bytes.len();
            packets.push(Packet { number, has, bytes: bytes.clone() });
            self.sent.push_back(Sent { number, bytes, resend_at: now + self.patience });
        }
        if self.waiting.is_empty() {
            self.waiting.shrink_to(64 << 10);
        }
        if std::mem::take(&mut self.owes) && packets.is_empty() {
            packets.push(Packet { number: 0, has, bytes: Vec::new() });
        }
        packets
    }

    /// Makes all unacknowledged packets due immediately: after a reconnect they may be lost.
    pub(crate) fn resend(&mut self) {
        (self.patience, self.owes) = (RESEND, true);
        for sent in &mut self.sent {
            sent.resend_at = Duration::ZERO;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pseudo-random numbers that depend only on a seed.
    struct Draws(u64);

    impl Draws {
        fn below(&mut self, bound: u64) -> u64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            self.0 % bound
        }
    }

    /// Checks that both streams arrive unchanged, although packets are lost, repeated and delayed up to a certain step.
    fn exchange(seed: u64) {
        let mut draws = Draws(seed * 2 + 1);
        let mut links = [Link::new(7), Link::new(5)];
        let mut sent = [Vec::new(), Vec::new()];
        let mut came = [Vec::new(), Vec::new()];
        let mut air: Vec<(u64, usize, Packet)> = Vec::new();
        let (lossy, end) = (600, 2_000);
        for step in 0..end {
            let now = Duration::from_millis(step * 100);
            for side in 0..2 {
                if step < lossy && draws.below(3) == 0 {
                    let length = draws.below(20) as usize;
                    let bytes: Vec<u8> = (0..length).map(|_| draws.below(256) as u8).collect();
                    links[side].push(&bytes);
                    sent[side].extend(bytes);
                }
                if draws.below(50) == 0 {
                    links[side].resend();
                }
                for packet in links[side].due(now) {
                    let copies = if step >= lossy { 1 } else { draws.below(4).saturating_sub(1) };
                    for _ in 0..copies {
                        air.push((step + draws.below(30), 1 - side, packet.clone()));
                    }
                }
            }
            let (due, later) = air.into_iter().partition(|(at, ..)| *at <= step);
            air = later;
            for (_, side, packet) in due {
                let bytes = links[side].receive(packet);
                came[1 - side].extend(bytes);
            }
        }
        assert!(sent == came, "seed {seed}: {} of {}", came[0].len(), sent[0].len());
        assert!(
            links.iter().all(|link| link.queued() == 0 && link.early.is_empty()),
            "seed {seed}"
        );
    }

    #[test]
    fn streams_arrive_whole_over_any_messages() {
        (0..200).for_each(exchange);
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut link = Link::new(100 << 10);
        link.push(&vec![1; 8 << 20]);
        let first = link.due(Duration::ZERO);
        assert!(first.len() == WINDOW / (100 << 10), "{}", first.len());
        assert!(link.due(Duration::from_millis(10)).is_empty(), "nothing more without a word");
        assert_eq!(link.due(RESEND).len(), first.len(), "all again");
        let mut other = Link::new(1);
        for number in 2..2_000 {
            assert!(other.receive(Packet { number, has: 0, bytes: vec![0] }).is_empty());
        }
        assert_eq!(other.early.len(), EARLY);
        assert_eq!(
            other.receive(Packet { number: 1, has: u64::MAX, bytes: vec![9] }).len(),
            EARLY + 1
        );
        assert_eq!(other.receive(Packet { number: 1, has: 0, bytes: vec![9] }).len(), 0, "once");
    }

    #[test]
    fn an_idle_side_acknowledges_once() {
        let mut link = Link::new(10);
        assert!(link.due(Duration::ZERO).is_empty());
        link.receive(Packet { number: 1, has: 0, bytes: vec![1] });
        let packets = link.due(Duration::ZERO);
        assert_eq!(packets, [Packet { number: 0, has: 1, bytes: vec![] }]);
        assert!(link.due(Duration::ZERO).is_empty());
    }
}
