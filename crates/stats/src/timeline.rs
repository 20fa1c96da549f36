//! The course of a run in a few numbers: peaks, sums and longest sequences over its seconds.
//!
//! The timeline is updated at the end of each second and stores no list of seconds, so the length of the run does not
//! change its size. Machine metrics cover the whole machine, not only this process.
use std::collections::VecDeque;

use serde::Serialize;

use crate::counter::Counter;
use crate::snapshot_file::{Retransmits, Second};

/// Number of consecutive seconds over which the best rate of opened connections is averaged.
const SUSTAINED: usize = 10;
/// Shortest interval in ms whose processor usage is evaluated. The last interval of a run may be a part of a second.
const LEAST_MS: i64 = 500;
/// Used share of the run's processors from which they count as saturated.
const FULL: f64 = 0.95;
/// Maximum number of destinations whose retransmissions are listed.
const MOST_DESTINATIONS: usize = 64;
/// Number of unread bytes per socket below which growth of the unread bytes is ignored.
const UNREAD_SOME: u64 = 4 << 10;

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Timeline {
    /// Number of processors that this run's threads can use.
    pub processors: f64,
    /// End of the last second in ms since 1970.
    #[serde(skip)]
    pub(crate) at_ms: i64,
    /// Number of seconds whose processor usage was evaluated; a shorter last interval is left out.
    pub seconds: u64,
    /// Number of seconds in which the run's own processes saturated their processors.
    pub full_seconds: u64,
    /// Largest used share of the run's processors in a second, 0 to 1.
    pub cpu_peak: f64,
    /// Number of seconds in which all processors of the machine were full although the run did not saturate its own.
    pub machine_full_seconds: u64,
    /// Maximum number of held connections in a second.
    pub held_peak: u64,
    pub held_last: u64,
    pub opened: u64,
    /// Total length of the seconds in which a connection was opened, in ms.
    pub opening_ms: u64,
    /// Largest rate of opened connections over ten consecutive seconds that all had openings, per second; 0 if there
    /// were none.
    pub opened_best: f64,
    /// Opened connections, and length in ms, of each of the last ten intervals.
    #[serde(skip)]
    pub(crate) recent: VecDeque<(u64, i64)>,
    /// Largest number of TLS handshakes per second in any second; full, resumed and failed handshakes count.
    pub handshakes_best: f64,
    pub inbox_peak: u64,
    pub not_read_peak: u64,
    pub not_read_last: u64,
    /// Maximum number of unread bytes per socket in a second.
    pub unread_peak: u64,
    /// Largest number of consecutive seconds in which the unread bytes per socket grew.
    pub unread_grew: u64,
    /// Unread bytes per socket in the last second, and number of consecutive seconds in which they grew.
    #[serde(skip)]
    pub(crate) unread: (u64, u64),
    pub segments_out: u64,
    pub retransmitted: u64,
    pub zero_windows_offered: u64,
    pub listen_overflows: u64,
    pub aborted_memory: u64,
    pub memory_pressures: u64,
    pub time_wait_peak: u64,
    pub load_peak: f64,
    /// Integral of the resident memory of the run's processes over time, in bytes times seconds.
    #[serde(skip)]
    pub memory_byte_s: f64,
    /// Smallest available memory of the machine in bytes; 0 if unknown.
    pub memory_least: u64,
    /// Total memory of the machine in bytes; 0 if unknown.
    pub memory_total: u64,
    /// Number of stalls of the generator's cores.
    pub stalls: u64,
    /// Length of the longest stall in ms.
    pub stall_longest_ms: u64,
    /// End of the second with the longest stall, in ms after the start of the run.
    pub stall_at_ms: u64,
    /// Number of samples that were in flight, or were due to start, during a stall.
    pub stalled_samples: u64,
    #[serde(skip)]
    pub(crate) start_ms: i64,
    /// Maximum number of result rows that waited for the writer thread.
    pub rows_waiting_peak: u64,
    /// Seconds that the writer thread spent writing rows.
    pub write_s: f64,
    /// Heap and garbage collections of the JVM, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub java: Option<Java>,
    /// Retransmitted segments by destination, in descending order; `None` if the kernel does not provide them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmits: Option<Vec<Retransmits>>,
    /// Number of ports that the run's source addresses have for its destinations; `None` if they were not counted.
    pub ports: Option<u64>,
    /// Smallest number of ports of the run's source addresses that were free in a second; `None` if they were not
    /// counted.
    pub ports_least: Option<u64>,
}

/// The JVM over a run: peak and maximum size of the heap in bytes, number of garbage collections, their total time in
/// ms, and the largest time per second in ms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Java {
    pub heap_peak: u64,
    pub heap_most: u64,
    pub collections: u64,
    pub pause_ms: f64,
    pub pause_most_ms: f64,
}

impl Timeline {
    /// Starts a timeline at `start_ms`, in ms since 1970. `threads` is the number of threads that run users, on a
    /// machine with `processors` processors.
    pub fn new(threads: u32, processors: u32, start_ms: i64) -> Self {
        let processors = f64::from(threads.min(processors.max(1)).max(1));
        Self { processors, at_ms: start_ms, start_ms, ..Self::default() }
    }

    /// Updates the number of threads after workers joined or left.
    pub fn set_threads(&mut self, threads: u32, processors: u32) {
        self.processors = f64::from(threads.min(processors.max(1)).max(1));
    }

    pub fn add(&mut self, second: &Second) {
        let ms = second.at_ms - self.at_ms;
        // A machine can deliver a second late.
        self.at_ms = self.at_ms.max(second.at_ms);
        self.memory_byte_s += second.rss as f64 * ms.max(0) as f64 / 1000.0;
        self.add_load(second, ms);
        self.add_stalls(second);
        self.add_writing(second);
        self.add_retransmits(second);
        if let Some(flow) = &second.connections {
            self.held_peak = self.held_peak.max(flow.held);
            self.held_last = flow.held;
            self.inbox_peak = self.inbox_peak.max(flow.inbox_bytes);
            self.not_read_peak = self.not_read_peak.max(flow.not_read);
            self.not_read_last = flow.not_read;
            self.add_opened(flow.opened, ms.max(0));
            if flow.unread_probed > 0 {
                self.add_unread(flow.unread_each());
            }
        }
        if let Some(machine) = &second.machine {
            self.segments_out += machine.segments_out;
            self.retransmitted += machine.retransmitted;
            self.zero_windows_offered += machine.zero_windows_offered;
            self.listen_overflows += machine.listen_overflows;
            self.aborted_memory += machine.aborted_memory;
            self.memory_pressures += machine.memory_pressures;
            self.time_wait_peak = self.time_wait_peak.max(machine.sockets.time_wait);
            self.load_peak = self.load_peak.max(machine.load);
            if machine.memory_total > 0 {
                let first = self.memory_total == 0;
                self.memory_total = machine.memory_total;
                let least = if first { u64::MAX } else { self.memory_least };
                self.memory_least = least.min(machine.memory_available);
            }
        }
        if let Some(left) = second.ports_left {
            self.ports_least = Some(self.ports_least.unwrap_or(u64::MAX).min(left));
        }
    }

    fn add_load(&mut self, second: &Second, ms: i64) {
        if ms < LEAST_MS {
            return;
        }
        self.seconds += 1;
        let kinds = [Counter::TlsFull, Counter::TlsResumed, Counter::TlsFailed];
        let shaken: u64 = kinds.iter().map(|kind| second.counters.get(*kind)).sum();
        self.handshakes_best = self.handshakes_best.max(shaken as f64 * 1000.0 / ms as f64);
        let used = second.cpu_s * 1000.0 / ms as f64 / self.processors.max(1.0);
        self.cpu_peak = self.cpu_peak.max(used.min(1.0));
        if used >= FULL {
            self.full_seconds += 1;
        } else if second.machine.as_ref().is_some_and(|machine| machine.cpu >= 0.98) {
            self.machine_full_seconds += 1;
        }
    }

    fn add_writing(&mut self, second: &Second) {
        self.stalled_samples += second.stalled;
        self.rows_waiting_peak = self.rows_waiting_peak.max(second.rows_waiting);
        self.write_s += second.write_s;
        if let Some(java) = &second.java {
            let sum = self.java.get_or_insert_default();
            sum.heap_peak = sum.heap_peak.max(java.heap);
            sum.heap_most = java.heap_most;
            sum.collections += java.collections;
            sum.pause_ms += java.pause_ms;
            sum.pause_most_ms = sum.pause_most_ms.max(java.pause_ms);
        }
    }

    fn add_retransmits(&mut self, second: &Second) {
        let Some(list) = &second.retransmits else { return };
        let sums = self.retransmits.get_or_insert_default();
        for one in list {
            if let Some(sum) = sums.iter_mut().find(|sum| sum.to == one.to) {
                (sum.data, sum.syn) = (sum.data + one.data, sum.syn + one.syn);
            } else if sums.len() < MOST_DESTINATIONS {
                sums.push(one.clone());
            }
        }
        sums.sort_by(|a, b| (b.data + b.syn).cmp(&(a.data + a.syn)).then_with(|| a.to.cmp(&b.to)));
    }

    /// Adds the stalls that ended in a second. For several stalls, the mean length is used, because cores usually stall
    /// together.
    fn add_stalls(&mut self, second: &Second) {
        let stalls = second.counters.get(Counter::Stalls);
        let Some(each) = second.counters.get(Counter::StallTime).checked_div(stalls) else {
            return;
        };
        self.stalls += stalls;
        if each / 1_000_000 > self.stall_longest_ms {
            self.stall_longest_ms = each / 1_000_000;
            self.stall_at_ms = (second.at_ms - self.start_ms).max(0) as u64;
        }
    }

    fn add_opened(&mut self, opened: u64, ms: i64) {
        self.opened += opened;
        if ms == 0 {
            // A late second. Its time is counted already, by the seconds of the other machines.
            return;
        }
        if opened > 0 {
            self.opening_ms += ms as u64;
        }
        self.recent.push_back((opened, ms));
        if self.recent.len() > SUSTAINED {
            self.recent.pop_front();
        }
        let (sum, span) = self.recent.iter().fold((0, 0), |(n, t), one| (n + one.0, t + one.1));
        let sustained = self.recent.iter().all(|one| one.0 > 0);
        if self.recent.len() == SUSTAINED && sustained && span > 0 {
            self.opened_best = self.opened_best.max(sum as f64 * 1000.0 / span as f64);
        }
    }

    fn add_unread(&mut self, each: u64) {
        let (last, grew) = self.unread;
        let grew = if each > last && each >= UNREAD_SOME { grew + 1 } else { 0 };
        self.unread = (each, grew);
        self.unread_peak = self.unread_peak.max(each);
        self.unread_grew = self.unread_grew.max(grew);
    }

    /// Returns the number of connections opened per second in the seconds with openings.
    pub fn opened_mean(&self) -> f64 {
        if self.opening_ms == 0 {
            0.0
        } else {
            self.opened as f64 * 1000.0 / self.opening_ms as f64
        }
    }
}
