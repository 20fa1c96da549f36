//! TCP sockets of the machine: how many, and in which states.
//!
//! Sums come from /proc/net/sockstat, which the kernel keeps. The state of each is in a table with
//! a line per socket; it is read now and then while there are few, and `states_from` says whether it was.
use serde::Serialize;

use super::text;

/// With more sockets than this, those in TIME_WAIT included, the table is not read: a thousand lines cost
/// about 3 ms.
pub const TABLE_LIMIT: u64 = 2000;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sockets {
    /// TCP sockets in use, IPv4 and IPv6.
    pub in_use: u64,
    /// Established ones, those the peer has half closed included.
    pub established: u64,
    pub time_wait: u64,
    /// No longer held by any process.
    pub orphans: u64,
    /// With a structure in the kernel, in whatever state.
    pub allocated: u64,
    /// Bytes of unread and unsent data in the kernel.
    pub memory: u64,
    /// `table` in the seconds in which the table was read, else `sums`: then there are no `states`.
    pub states_from: &'static str,
    /// Sockets by state, those there are.
    pub states: Vec<StateCount>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StateCount {
    pub state: &'static str,
    pub count: u64,
}

/// Names in the order of the kernel's numbers (include/net/tcp_states.h), from 1.
const STATES: [&str; 12] = [
    "ESTABLISHED",
    "SYN_SENT",
    "SYN_RECV",
    "FIN_WAIT1",
    "FIN_WAIT2",
    "TIME_WAIT",
    "CLOSE",
    "CLOSE_WAIT",
    "LAST_ACK",
    "LISTEN",
    "CLOSING",
    "NEW_SYN_RECV",
];

impl Sockets {
    /// From the texts of sockstat and sockstat6; orphans, TIME_WAIT, structures and memory are
    /// counted for both in the first.
    pub(super) fn of(sockstat: &str, sockstat6: &str, page: u64) -> Self {
        let of = |word| text::word(sockstat, "TCP:", word);
        Self {
            in_use: of("inuse").saturating_add(text::word(sockstat6, "TCP6:", "inuse")),
            established: 0,
            time_wait: of("tw"),
            orphans: of("orphan"),
            allocated: of("alloc"),
            memory: of("mem").saturating_mul(page),
            states_from: "sums",
            states: Vec::new(),
        }
    }

    /// Adds the states of all sockets, if there are few.
    pub(super) fn look_into_the_table(&mut self) {
        if self.in_use.saturating_add(self.time_wait) > TABLE_LIMIT {
            return;
        }
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        self.count_states(&[&read("/proc/net/tcp"), &read("/proc/net/tcp6")]);
    }

    pub(super) fn count_states(&mut self, tables: &[&str]) {
        let mut counts = [0; STATES.len()];
        for line in tables.iter().flat_map(|table| table.lines().skip(1)) {
            let state = line.split_ascii_whitespace().nth(3);
            let number = state.and_then(|state| usize::from_str_radix(state, 16).ok());
            let count = number.and_then(|n| counts.get_mut(n.wrapping_sub(1)));
            if let Some(count) = count {
                *count += 1;
            }
        }
        self.states_from = "table";
        let named = STATES.iter().zip(counts).filter(|(_, count)| *count > 0);
        self.states = named.map(|(state, count)| StateCount { state, count }).collect();
    }
}
