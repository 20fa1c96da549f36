//! State of the machine that the generator runs on: sockets, TCP errors, processors, memory.
//!
//! The metrics are read from /proc once a second. The kernel maintains them as sums, so a reading costs about a
//! millisecond for any number of sockets. The table of sockets by state costs a walk over the kernel's hash table,
//! some ms even if it is empty, and a line per socket. So it is read only every tenth second, and only up to
//! [`TABLE_LIMIT`] sockets. The metrics cover the whole network namespace, including a target on the same machine.
//! Unreadable metrics are 0.
mod reading;
mod sockets;
#[cfg(test)]
mod tests;
mod text;

use serde::Serialize;

pub use reading::{Reading, page_bytes};
pub use sockets::{Sockets, StateCount, TABLE_LIMIT};

/// Number of readings of the machine per reading of the table of sockets.
const TABLE_LOOKS: u32 = 10;

/// The machine in one second: counts of events during the second, and the state at its end.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Machine {
    pub sockets: Sockets,
    /// Number of ports that the system can assign to connections from one source to one destination.
    pub local_ports: u64,
    /// Number of TCP segments sent.
    pub segments_out: u64,
    /// Number of TCP segments sent again.
    pub retransmitted: u64,
    /// Number of SYN segments sent again, which open a connection.
    pub syn_retransmitted: u64,
    /// Number of times that a socket of this machine advertised a zero window, because its data was not read.
    pub zero_windows_offered: u64,
    /// Number of times that a socket wanted to advertise a zero window, but could not without shrinking the window.
    pub zero_windows_wanted: u64,
    /// Number of times that a socket opened its window again after a zero window.
    pub zero_windows_left: u64,
    /// Number of incoming connections dropped because an accept queue of this machine was full.
    pub listen_overflows: u64,
    /// Number of incoming connections dropped by listening sockets for any reason.
    pub listen_drops: u64,
    /// Number of connections that the kernel aborted for lack of memory.
    pub aborted_memory: u64,
    /// Number of connections that the kernel aborted because of its own timeouts.
    pub aborted_timeout: u64,
    /// Number of connections that were closed with unread data, and therefore reset.
    pub aborted_unread: u64,
    /// Number of times that TCP memory came near the limit of `tcp_mem`.
    pub memory_pressures: u64,
    /// Number of sockets that skipped TIME_WAIT because `tcp_max_tw_buckets` was reached.
    pub time_wait_overflows: u64,
    /// Number of RST segments sent.
    pub resets_sent: u64,
    /// Load average over one minute: mean number of running and runnable processes.
    pub load: f64,
    pub processors: u32,
    /// Share of all processors' time that was used, 0 to 1.
    pub cpu: f64,
    /// Share of all processors' time that the hypervisor took from this guest, 0 to 1.
    pub stolen: f64,
    /// Total memory in bytes; within a control group, at most its limit.
    pub memory_total: u64,
    /// Available memory in bytes.
    pub memory_available: u64,
}

impl Machine {
    /// Returns what happened between two readings, and the state at the later one.
    pub fn between(before: &Reading, now: &Reading) -> Self {
        let since = |count: fn(&Reading) -> u64| count(now).saturating_sub(count(before));
        let ticks = since(|r| r.ticks.all).max(1) as f64;
        Self {
            sockets: now.sockets.clone(),
            local_ports: now.local_ports,
            segments_out: since(|r| r.tcp.segments_out),
            retransmitted: since(|r| r.tcp.retransmitted),
            syn_retransmitted: since(|r| r.tcp.syn_retransmitted),
            zero_windows_offered: since(|r| r.tcp.zero_windows_offered),
            zero_windows_wanted: since(|r| r.tcp.zero_windows_wanted),
            zero_windows_left: since(|r| r.tcp.zero_windows_left),
            listen_overflows: since(|r| r.tcp.listen_overflows),
            listen_drops: since(|r| r.tcp.listen_drops),
            aborted_memory: since(|r| r.tcp.aborted_memory),
            aborted_timeout: since(|r| r.tcp.aborted_timeout),
            aborted_unread: since(|r| r.tcp.aborted_unread),
            memory_pressures: since(|r| r.tcp.memory_pressures),
            time_wait_overflows: since(|r| r.tcp.time_wait_overflows),
            resets_sent: since(|r| r.tcp.resets_sent),
            load: now.load,
            processors: now.processors,
            cpu: since(|r| r.ticks.busy) as f64 / ticks,
            stolen: since(|r| r.ticks.stolen) as f64 / ticks,
            memory_total: now.memory_total,
            memory_available: now.memory_available,
        }
    }
}

/// Reads the machine repeatedly and returns what happened since the previous reading.
#[derive(Debug, Default)]
pub struct Watch {
    last: Reading,
    looks: u32,
}

impl Watch {
    pub fn start() -> Self {
        Self { last: Reading::now(), looks: 0 }
    }

    /// Returns what happened since the last call, and the current state.
    pub fn look(&mut self) -> Machine {
        let mut now = Reading::now();
        if self.looks.is_multiple_of(TABLE_LOOKS) {
            now.sockets.read_states();
        }
        self.looks = self.looks.wrapping_add(1);
        let machine = Machine::between(&self.last, &now);
        self.last = now;
        machine
    }
}
