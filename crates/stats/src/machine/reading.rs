//! One reading of /proc: sums since boot, and current states.
use std::fs::read_to_string;
use std::sync::OnceLock;

use crate::control_group::{Groups, Limit};

use super::sockets::Sockets;
use super::text::{self, Headed};

/// The state of the machine at one time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    pub sockets: Sockets,
    pub local_ports: u64,
    pub tcp: Tcp,
    pub ticks: Ticks,
    pub load: f64,
    pub processors: u32,
    pub memory_total: u64,
    pub memory_available: u64,
}

/// TCP's counts since the network namespace was created; [`super::Machine`] describes them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tcp {
    pub segments_out: u64,
    pub retransmitted: u64,
    pub syn_retransmitted: u64,
    pub zero_windows_offered: u64,
    pub zero_windows_wanted: u64,
    pub zero_windows_left: u64,
    pub listen_overflows: u64,
    pub listen_drops: u64,
    pub aborted_memory: u64,
    pub aborted_timeout: u64,
    pub aborted_unread: u64,
    pub memory_pressures: u64,
    pub time_wait_overflows: u64,
    pub resets_sent: u64,
}

/// Processor time since boot in ticks, summed over all processors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ticks {
    pub all: u64,
    pub busy: u64,
    pub stolen: u64,
}

/// The contents of the files of a reading; unreadable files are empty.
#[derive(Clone, Debug, Default)]
pub(super) struct Texts {
    pub(super) sockstat: String,
    pub(super) sockstat6: String,
    pub(super) snmp: String,
    pub(super) netstat: String,
    pub(super) loadavg: String,
    pub(super) stat: String,
    pub(super) meminfo: String,
    pub(super) port_range: String,
}

impl Reading {
    /// Reads the current state. If the control group's memory limit is below the machine's memory, the memory metrics
    /// are those of the control group.
    pub fn now() -> Self {
        Self::of_machine().within(Groups::known().memory())
    }

    /// Reads the current state of the whole machine, without the limits of a control group.
    pub fn of_machine() -> Self {
        let read = |path: &str| read_to_string(path).unwrap_or_default();
        Self::of(
            &Texts {
                sockstat: read("/proc/net/sockstat"),
                sockstat6: read("/proc/net/sockstat6"),
                snmp: read("/proc/net/snmp"),
                netstat: read("/proc/net/netstat"),
                loadavg: read("/proc/loadavg"),
                stat: read("/proc/stat"),
                meminfo: read("/proc/meminfo"),
                port_range: read("/proc/sys/net/ipv4/ip_local_port_range"),
            },
            page_bytes(),
        )
    }

    /// Reduces total and available memory to the memory limit of a control group, for example of a container.
    #[must_use]
    pub fn within(mut self, limit: Option<Limit>) -> Self {
        if let Some(Limit { most, used }) = limit.filter(|limit| limit.most < self.memory_total) {
            self.memory_total = most;
            self.memory_available = self.memory_available.min(most.saturating_sub(used));
        }
        self
    }

    pub(super) fn of(texts: &Texts, page: u64) -> Self {
        let snmp = Headed::new(&texts.snmp, "Tcp:");
        let more = Headed::new(&texts.netstat, "TcpExt:");
        let mut sockets = Sockets::of(&texts.sockstat, &texts.sockstat6, page);
        sockets.established = snmp.get("CurrEstab");
        let (ticks, processors) = ticks(&texts.stat);
        Self {
            sockets,
            local_ports: text::ports(&texts.port_range),
            tcp: Tcp {
                segments_out: snmp.get("OutSegs"),
                retransmitted: snmp.get("RetransSegs"),
                syn_retransmitted: more.get("TCPSynRetrans"),
                zero_windows_offered: more.get("TCPToZeroWindowAdv"),
                zero_windows_wanted: more.get("TCPWantZeroWindowAdv"),
                zero_windows_left: more.get("TCPFromZeroWindowAdv"),
                listen_overflows: more.get("ListenOverflows"),
                listen_drops: more.get("ListenDrops"),
                aborted_memory: more.get("TCPAbortOnMemory"),
                aborted_timeout: more.get("TCPAbortOnTimeout"),
                aborted_unread: more.get("TCPAbortOnClose"),
                memory_pressures: more.get("TCPMemoryPressures"),
                time_wait_overflows: more.get("TCPTimeWaitOverflow"),
                resets_sent: snmp.get("OutRsts"),
            },
            ticks,
            load: load(&texts.loadavg),
            processors,
            memory_total: text::kib(&texts.meminfo, "MemTotal:"),
            memory_available: text::kib(&texts.meminfo, "MemAvailable:"),
        }
    }
}

/// Returns the first value of /proc/loadavg, or 0 if it is no valid load.
fn load(text: &str) -> f64 {
    let first = text.split_ascii_whitespace().next().and_then(|word| word.parse().ok());
    first.filter(|load: &f64| load.is_finite() && *load >= 0.0).unwrap_or(0.0)
}

/// Parses processor times from the line `cpu` of /proc/stat (user, nice, system, idle, iowait, irq, softirq, steal;
/// time of guests is included in user). Counts the processors from the lines `cpuN` after it.
fn ticks(stat: &str) -> (Ticks, u32) {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu ")).unwrap_or_default();
    let mut figures = [0; 8];
    for (figure, word) in figures.iter_mut().zip(line.split_ascii_whitespace()) {
        *figure = text::number(word);
    }
    let all = figures.iter().fold(0u64, |sum, n| sum.saturating_add(*n));
    let idle = figures[3].saturating_add(figures[4]);
    let one = |line: &str| {
        line.strip_prefix("cpu").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let processors = stat.lines().filter(|line| one(line)).count() as u32;
    (Ticks { all, busy: all.saturating_sub(idle), stolen: figures[7] }, processors)
}

/// Returns the size of a memory page in bytes, the unit in which the kernel counts TCP memory. Source: the entry
/// `AT_PAGESZ` (6) of the auxiliary vector; 4096 if it cannot be read.
pub fn page_bytes() -> u64 {
    static PAGE: OnceLock<u64> = OnceLock::new();
    *PAGE.get_or_init(|| page_of(&std::fs::read("/proc/self/auxv").unwrap_or_default()))
}

pub(super) fn page_of(auxv: &[u8]) -> u64 {
    const SIZE: usize = size_of::<usize>();
    let word = |bytes: &[u8]| bytes.try_into().map_or(0, usize::from_ne_bytes);
    let found = auxv.chunks_exact(2 * SIZE).find(|pair| word(&pair[..SIZE]) == 6);
    match found.map(|pair| word(&pair[SIZE..]) as u64) {
        Some(page) if page.is_power_of_two() && page >= 4096 => page,
        _ => 4096,
    }
}
