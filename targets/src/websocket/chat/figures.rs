//! Statistics of a chat: counters that processes send to their parent, which adds them up.

use std::fs;

use serde_json::{Map, Value, json};

use super::super::core::Core;
use super::super::socket::CAUSES;

/// The counters of one chat process, or the sum of several.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Figures {
    pub(super) open: u64,
    pub(super) opened: u64,
    pub(super) closed: [u64; CAUSES.len()],
    /// Number of times that a connection entered a room.
    pub(super) joined: u64,
    /// Number of messages received from clients.
    pub(super) messages_in: u64,
    /// Number of messages sent; a broadcast counts once for each receiver.
    pub(super) messages_out: u64,
    /// Number of broadcasts requested by members.
    pub(super) said: u64,
    /// Number of receivers, summed over all broadcasts.
    pub(super) receivers: u64,
    /// Number of bytes queued for slow readers.
    pub(super) unsent: u64,
    /// Resident memory in bytes that this process shares with no other.
    pub(super) private: u64,
}

const COUNT: usize = 9 + CAUSES.len();

impl Figures {
    /// Returns the chat's counters together with the current counters of the event loop.
    pub(super) fn with(mut self, core: &Core) -> Self {
        let known = &core.figures;
        self.open = known.open;
        self.opened = known.opened;
        self.closed = known.closed;
        self.messages_in = known.messages_in;
        self.messages_out = known.messages_out;
        self.unsent = core.unsent() as u64;
        self.private = private_bytes();
        self
    }

    fn numbers(&mut self) -> [&mut u64; COUNT] {
        let [a, b, c, d, e, f] = &mut self.closed;
        [
            &mut self.open,
            &mut self.opened,
            &mut self.joined,
            &mut self.messages_in,
            &mut self.messages_out,
            &mut self.said,
            &mut self.receivers,
            &mut self.unsent,
            &mut self.private,
            a,
            b,
            c,
            d,
            e,
            f,
        ]
    }

    pub(super) fn add(&mut self, mut other: Self) {
        for (own, other) in self.numbers().into_iter().zip(other.numbers()) {
            *own += *other;
        }
    }

    pub(super) fn to_bytes(mut self) -> Vec<u8> {
        self.numbers().into_iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Self {
        let mut figures = Self::default();
        for (own, bytes) in figures.numbers().into_iter().zip(bytes.as_chunks::<8>().0) {
            *own = u64::from_le_bytes(*bytes);
        }
        figures
    }

    /// Formats the chat's counters as JSON. `open` is the number of open WebSockets in each process.
    pub(super) fn to_json(self, open: &[u64]) -> String {
        let closed: Map<String, Value> = CAUSES
            .iter()
            .zip(self.closed)
            .map(|(name, count)| ((*name).to_owned(), json!(count)))
            .collect();
        json!({
            "open": self.open,
            "opened": self.opened,
            "closed": closed,
            "joined": self.joined,
            "messages_in": self.messages_in,
            "messages_out": self.messages_out,
            "said": self.said,
            "receivers": self.receivers,
            "unsent": self.unsent,
            "private_bytes": self.private,
            "processes": open.len(),
            "open_by_process": open,
            // The JSON has the same names as in the echo target.
            "ws": self.open,
            "ws_total": self.opened,
            "ws_msgs": self.messages_in,
        })
        .to_string()
    }
}

/// Resident memory in bytes that is not shared with other processes, from /proc/self/statm (proc(5)). Zero if it cannot
/// be read.
fn private_bytes() -> u64 {
    let statm = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let mut fields = statm.split(' ').skip(1).map(|field| field.parse::<u64>().unwrap_or(0));
    let (resident, shared) = (fields.next().unwrap_or(0), fields.next().unwrap_or(0));
    resident.saturating_sub(shared) * rustix::param::page_size() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_travel_and_add_up() {
        let one = Figures { open: 3, closed: [1, 2, 3, 4, 5, 6], private: 9, ..Figures::default() };
        assert_eq!(Figures::from_bytes(&one.to_bytes()), one);
        let mut sum = one;
        sum.add(one);
        assert_eq!((sum.open, sum.closed, sum.private), (6, [2, 4, 6, 8, 10, 12], 18));
        let json: Value = serde_json::from_str(&sum.to_json(&[3, 3])).unwrap();
        assert_eq!((&json["closed"]["silent"], &json["processes"]), (&json!(8), &json!(2)));
        assert!(private_bytes() > 0);
    }
}
