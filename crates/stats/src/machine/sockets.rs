//! Number and states of the machine's TCP sockets.
//!
//! Sums come from /proc/net/sockstat, which the kernel maintains. The states are in a table with a line per socket. The
//! table is read every tenth second, and only while there are few sockets. `states_from` says whether it was read.
use serde::Serialize;

use super::text;

/// Number of sockets, with those in TIME_WAIT, above which the table is not read. A thousand lines cost about 3 ms.
pub const TABLE_LIMIT: u64 = 2000;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sockets {
    /// Number of TCP sockets in use, IPv4 and IPv6.
    pub in_use: u64,
    /// Number of sockets in the states ESTABLISHED and CLOSE_WAIT.
    pub established: u64,
    /// Number of sockets in the state TIME_WAIT.
    pub time_wait: u64,
    /// Number of sockets that the kernel still serves although their process has closed them.
    pub orphans: u64,
    /// Number of sockets for which the kernel has allocated memory, in any state.
    pub allocated: u64,
    /// Memory of all TCP buffers in the kernel, with unread and unsent data, in bytes.
    pub memory: u64,
    /// Source of the states: `table` in seconds in which the table was read; otherwise `sums`, and `states` is empty.
    pub states_from: &'static str,
    /// Number of sockets by state, without states that do not occur.
    pub states: Vec<StateCount>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StateCount {
    pub state: &'static str,
    pub count: u64,
}

/// Names of socket states, in the order of the kernel's numbers from 1 (include/net/tcp_states.h).
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
    /// Parses the contents of sockstat and sockstat6. In sockstat, the values for orphans, TIME_WAIT, structures
    /// and memory include IPv6.
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

    /// Counts all sockets by state from the kernel's table, unless there are more than [`TABLE_LIMIT`].
    pub(super) fn read_states(&mut self) {
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
