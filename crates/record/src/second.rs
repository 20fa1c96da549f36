//! One second of a run. Every part merges: over cores, processes, machines and time.

use stats::Counters;
use stats::close::Close;
use stats::hist::Bins;
use stats::machine::Machine;

/// Slots of a second, of 100 ms each.
pub const SLOTS: usize = 10;

#[derive(Clone, Debug, Default)]
pub struct Second {
    /// Its end, epoch ms, and its length.
    pub at_ms: i64,
    pub ms: u32,
    /// Users active at its end; started in the run so far.
    pub users: u64,
    pub started: u64,
    /// Starts that a rate asked for in this second, and of those the ones that were not made.
    pub due: u64,
    pub missed: u64,
    /// Requests, without transactions.
    pub all: Part,
    /// By number of the label, ascending: those with samples in this second.
    pub labels: Vec<(u32, Part)>,
    pub counters: Counters,
    /// Errors by number of the cause.
    pub causes: Vec<(u32, u64)>,
    /// Times of TCP connects that succeeded, µs.
    pub connect: Bins,
    /// Times of TLS handshakes, µs.
    pub tls: Bins,
    /// Waits for room in a pool, µs.
    pub room: Bins,
    /// Time of requests spent in this process, µs.
    pub lag: Bins,
    /// Connections of sessions that ended, by cause and code, with the silence before.
    pub closes: Vec<Close>,
    pub classes: Vec<(u32, Class)>,
    pub generator: Generator,
    /// The generator's machine as a whole.
    pub machine: Option<Machine>,
    /// Figures of hosts that were watched, by number of the series.
    pub watched: Vec<(u32, f64)>,
}

/// A set of samples.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    pub count: u64,
    pub errors: u64,
    /// Cut by the end of the run: in nothing else here.
    pub cut: u64,
    /// Bytes.
    pub sent: u64,
    pub received: u64,
    /// Sum and most of elapsed, ns.
    pub elapsed: u64,
    pub longest: u64,
    /// Elapsed of all, µs.
    pub service: Bins,
    /// From the intended start, µs.
    pub response: Bins,
    /// Elapsed of those that failed, µs.
    pub failed: Bins,
    pub phases: Phases,
    /// Samples by the slot of 100 ms in which they ended.
    pub slots: [u32; SLOTS],
}

/// Time by what it was spent on: sums, ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phases {
    /// From the intended start to the actual one.
    pub late: u64,
    /// For a connection of a pool.
    pub room: u64,
    pub dns: u64,
    /// TCP, without DNS and TLS.
    pub connect: u64,
    pub tls: u64,
    pub send: u64,
    /// From the last byte sent to the first byte of the answer.
    pub wait: u64,
    pub receive: u64,
    /// Within the phases above: spent in this process while an answer lay ready.
    pub lag: u64,
}

/// Exchanges of one class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Class {
    pub count: u64,
    pub errors: u64,
    /// Connections opened to it (addresses only).
    pub opened: u64,
    /// TCP segments that had to be sent again, and of those the ones that open connections (addresses only).
    pub retransmitted: u64,
    pub syn_retransmitted: u64,
    /// Elapsed, µs.
    pub service: Bins,
}

/// The generator in a second: all its processes together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Generator {
    /// Seconds of CPU.
    pub cpu_s: f64,
    /// Bytes resident.
    pub memory: u64,
    /// Threads that run users; worker processes, 0 where all is one process.
    pub threads: u32,
    pub workers: u32,
    /// Time that its threads were ready to run and were not let, seconds; and what the host took from the machine, share.
    pub run_queue_s: f64,
    pub stolen: f64,
    /// Longest time in which no core ran although it had to, ns: a stopped process, a frozen machine.
    pub stall: u64,
    /// Connects that were tried again.
    pub connect_retries: u64,
    /// Ports that can still be had for the run's destinations, and those in TIME_WAIT.
    pub ports_left: Option<u64>,
    pub time_wait: u64,
    /// Rows that wait for the disk, and time in which writing blocked, seconds.
    pub rows_waiting: u64,
    pub write_s: f64,
    /// The Java machine, where there is one: heap in use and at most, bytes; time in collections, seconds.
    pub heap: Option<(u64, u64)>,
    pub collection_s: f64,
}
