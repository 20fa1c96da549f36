//! Limits and state of this machine as plain numbers, read once.
//!
//! Tests set the fields directly. 0 means that a value could not be read; such a limit counts as unknown, not as zero.

use std::collections::HashMap;
use std::fs::read_to_string;
use std::path::Path;

use stats::control_group::Groups;
use stats::machine::Reading;

use super::place::Surroundings;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Host {
    /// Number of descriptors that a process may open, after raising the soft limit.
    pub(crate) descriptors: u64,
    /// Number of open files on the whole machine.
    pub(crate) files_open: u64,
    /// Largest number of open files on the whole machine.
    pub(crate) file_max: u64,
    /// Range of local ports, including both ends.
    pub(crate) ports: (u64, u64),
    /// Number of reserved ports in the range of local ports.
    pub(crate) ports_reserved: u64,
    /// Number of connections in TIME_WAIT.
    pub(crate) time_wait: u64,
    /// `net.ipv4.tcp_tw_reuse`, the reuse of ports in TIME_WAIT: 1 for all destinations, 2 for destinations on this
    /// machine.
    pub(crate) time_wait_reuse: u64,
    /// `net.core.somaxconn`: largest backlog of a listener.
    pub(crate) somaxconn: u64,
    /// `net.ipv4.tcp_max_syn_backlog`: largest number of unfinished handshakes of a listener.
    pub(crate) syn_backlog: u64,
    /// `net.ipv4.tcp_mem` in pages: memory of TCP below which there is no pressure, from which there is pressure,
    /// and the limit.
    pub(crate) tcp_mem: [u64; 3],
    /// Smallest, initial and largest size of a socket's receive buffer in bytes.
    pub(crate) tcp_rmem: [u64; 3],
    /// Smallest, initial and largest size of a socket's send buffer in bytes.
    pub(crate) tcp_wmem: [u64; 3],
    /// Size of a memory page in bytes.
    pub(crate) page: u64,
    /// Number of tracked connections and its limit. `None` if connections are not tracked.
    pub(crate) conntrack: Option<(u64, u64)>,
    /// `net.ipv4.tcp_max_orphans`: largest number of TCP sockets that no process holds.
    pub(crate) orphans_max: u64,
    /// `net.ipv4.tcp_max_tw_buckets`: largest number of connections in TIME_WAIT.
    pub(crate) time_wait_max: u64,
    /// Number of threads on the machine, or in the control group if it has the lower limit.
    pub(crate) threads: u64,
    /// Largest number of threads on the machine, or in the control group if it has the lower limit.
    pub(crate) threads_max: u64,
    /// Value of `kernel.threads-max`.
    pub(crate) threads_kernel: u64,
    /// Value of `fs.nr_open`: upper limit of the descriptors of a process.
    pub(crate) nr_open: u64,
    /// Memory of the machine in bytes.
    pub(crate) machine_memory: u64,
    /// Memory in bytes that the control group allows, at most that of the machine.
    pub(crate) memory_total: u64,
    /// Memory in bytes that is currently available.
    pub(crate) memory_available: u64,
    /// Number of processors that the system allows this process to use.
    pub(crate) processors: u64,
    /// CPU quota of the control group in thousandths of a processor. 0 without a quota.
    pub(crate) quota: u64,
    /// Largest size of a file in bytes (`ulimit -f`). 0 without a limit.
    pub(crate) file_size: u64,
    /// True in a Kubernetes pod.
    pub(crate) is_pod: bool,
    pub(crate) surroundings: Surroundings,
}

/// Environment variable that Kubernetes sets in each container.
const POD: &str = "KUBERNETES_SERVICE_HOST";

impl Host {
    pub(crate) fn now() -> Self {
        Self::with(&HashMap::new())
    }

    /// Reads the limits of this machine as if these settings were applied. Keys are file names relative to /proc.
    /// Raises the soft limit of open files, because only that shows whether the system permits it.
    pub(crate) fn with(settings: &HashMap<String, String>) -> Self {
        let (groups, machine) = (Groups::own(), Reading::of_machine());
        let machine_memory = machine.memory_total;
        let reading = machine.within(groups.memory());
        let host = Self {
            descriptors: fleet::raise_descriptors().min(u32::MAX.into()),
            time_wait: reading.sockets.time_wait,
            machine_memory,
            memory_total: reading.memory_total,
            memory_available: reading.memory_available,
            processors: std::thread::available_parallelism().map_or(0, |n| n.get() as u64),
            page: stats::machine::page_bytes(),
            file_size: rustix::process::getrlimit(rustix::process::Resource::Fsize)
                .current
                .unwrap_or(0),
            is_pod: std::env::var_os(POD).is_some_and(|host| !host.is_empty()),
            surroundings: Surroundings::now(),
            ..Self::default()
        };
        host.with_files(Path::new("/proc"), settings).with_groups(&groups)
    }

    /// Adds the values of files below `proc`. `settings` override the files.
    fn with_files(mut self, proc: &Path, settings: &HashMap<String, String>) -> Self {
        let text = |file: &str| match settings.get(file) {
            Some(value) => value.clone(),
            None => read_to_string(proc.join(file)).unwrap_or_default(),
        };
        let numbers = |file: &str| numbers(&text(file));
        let first = |file: &str| numbers(file).first().copied().unwrap_or(0);
        let files = numbers("sys/fs/file-nr");
        self.files_open = files.first().copied().unwrap_or(0);
        self.file_max = first("sys/fs/file-max");
        if let [low, high] = numbers("sys/net/ipv4/ip_local_port_range")[..]
            && (1..=high).contains(&low)
            && high <= 65_535
        {
            self.ports = (low, high);
        }
        self.ports_reserved = reserved(&text("sys/net/ipv4/ip_local_reserved_ports"), self.ports);
        self.time_wait_reuse = first("sys/net/ipv4/tcp_tw_reuse");
        self.somaxconn = first("sys/net/core/somaxconn");
        self.syn_backlog = first("sys/net/ipv4/tcp_max_syn_backlog");
        let three = |file: &str| numbers(file).try_into().unwrap_or_default();
        self.tcp_mem = three("sys/net/ipv4/tcp_mem");
        self.tcp_rmem = three("sys/net/ipv4/tcp_rmem");
        self.tcp_wmem = three("sys/net/ipv4/tcp_wmem");
        self.conntrack = numbers("sys/net/netfilter/nf_conntrack_max")
            .first()
            .map(|max| (first("sys/net/netfilter/nf_conntrack_count"), *max));
        self.orphans_max = first("sys/net/ipv4/tcp_max_orphans");
        self.time_wait_max = first("sys/net/ipv4/tcp_max_tw_buckets");
        // Upper limit on the descriptors of a process, whatever the process's own limit is.
        self.nr_open = first("sys/fs/nr_open");
        if self.nr_open > 0 {
            self.descriptors = self.descriptors.min(self.nr_open);
        }
        self.threads_kernel = first("sys/kernel/threads-max");
        let least = [self.threads_kernel, first("sys/kernel/pid_max")];
        self.threads_max = least.into_iter().filter(|n| *n > 0).min().unwrap_or(0);
        // The fourth word of loadavg is: runnable threads / all threads.
        let all = text("loadavg")
            .split_ascii_whitespace()
            .nth(3)
            .and_then(|word| word.split_once('/').and_then(|(_, all)| all.parse().ok()));
        self.threads = all.unwrap_or(0);
        self
    }

    /// Applies the limits of the control group on threads and processors, such as a container's, if they are lower than
    /// the machine's.
    fn with_groups(mut self, groups: &Groups) -> Self {
        if let Some(limit) = groups.pids().filter(|limit| limit.most < self.threads_max) {
            (self.threads_max, self.threads) = (limit.most, limit.used);
        }
        self.quota = groups.processors().map_or(0, |processors| (processors * 1000.0) as u64);
        self
    }

    /// Returns the number of ports that the system can use for connections.
    pub(crate) fn local_ports(&self) -> u64 {
        match self.ports {
            (0, _) => 0,
            // If the number of ports is odd, the kernel does not use one of them.
            (low, high) => ((high - low + 1) & !1).saturating_sub(self.ports_reserved),
        }
    }
}

/// Parses the numbers of a string. Returns an empty list if a word is not a number. A number that is too large is
/// replaced by the largest value.
fn numbers(text: &str) -> Vec<u64> {
    let number = |word: &str| match word.parse() {
        Ok(n) => Some(n),
        Err(_) if !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit()) => Some(u64::MAX),
        Err(_) => None,
    };
    text.split_ascii_whitespace().map(number).collect::<Option<_>>().unwrap_or_default()
}

/// Returns the number of ports in a list such as `8080,9000-9010` that lie in the range.
fn reserved(list: &str, (low, high): (u64, u64)) -> u64 {
    let part = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u64, u64) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        Some((last.min(high) + 1).saturating_sub(first.max(low)))
    };
    list.trim().split(',').filter_map(part).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, files: &[(&str, &str)]) {
        for (file, text) in files {
            let path = root.join(file);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            std::fs::write(path, text).expect("written");
        }
    }

    const FILES: [(&str, &str); 20] = [
        ("sys/fs/file-nr", "449\t0\t2466186\n"),
        ("sys/fs/file-max", "2466186\n"),
        ("sys/net/ipv4/ip_local_port_range", "32768\t60999\n"),
        ("sys/net/ipv4/ip_local_reserved_ports", "8080,40000-40009,60999\n"),
        ("sys/net/ipv4/tcp_tw_reuse", "2\n"),
        ("sys/net/core/somaxconn", "4096\n"),
        ("sys/net/ipv4/tcp_max_syn_backlog", "2048\n"),
        ("sys/net/ipv4/tcp_mem", "287901\t383868\t575802\n"),
        ("sys/net/netfilter/nf_conntrack_max", "262144\n"),
        ("sys/net/netfilter/nf_conntrack_count", "17\n"),
        ("sys/net/ipv4/tcp_max_orphans", "131072\n"),
        ("sys/net/ipv4/tcp_max_tw_buckets", "131073\n"),
        ("sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456\n"),
        ("sys/net/ipv4/tcp_wmem", "4096\t16384\n"),
        ("sys/fs/nr_open", "1048576\n"),
        ("sys/kernel/threads-max", "192730\n"),
        ("sys/kernel/pid_max", "32768\n"),
        ("loadavg", "1.01 0.59 0.73 2/88 18976\n"),
        ("group/pids.max", "max\n"),
        ("group/cpu.max", "150000 100000\n"),
    ];

    #[test]
    fn everything_is_read_from_its_file() {
        let folder = tempfile::tempdir().expect("a folder");
        write(folder.path(), &FILES);
        let host = Host { descriptors: 2_000_000, ..Host::default() };
        let groups = Groups::of("0::/\n", &folder.path().join("group"));
        let given = [("sys/net/core/somaxconn".to_owned(), "128".to_owned())].into();
        let host = host.with_files(folder.path(), &given).with_groups(&groups);
        assert_eq!(
            host,
            Host {
                files_open: 449,
                file_max: 2_466_186,
                ports: (32_768, 60_999),
                ports_reserved: 11,
                time_wait_reuse: 2,
                somaxconn: 128,
                syn_backlog: 2048,
                tcp_mem: [287_901, 383_868, 575_802],
                tcp_rmem: [4096, 131_072, 6_291_456],
                nr_open: 1 << 20,
                descriptors: 1 << 20,
                threads_kernel: 192_730,
                conntrack: Some((17, 262_144)),
                orphans_max: 131_072,
                time_wait_max: 131_073,
                threads: 88,
                threads_max: 32_768,
                quota: 1500,
                ..Host::default()
            }
        );
        assert_eq!(host.local_ports(), 28_221);
    }

    #[test]
    fn missing_files_and_odd_numbers_are_unknown() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(Host::default().with_files(folder.path(), &HashMap::new()), Host::default());
        write(
            folder.path(),
            &[
                ("sys/fs/file-max", "99999999999999999999999\n"),
                ("sys/net/ipv4/ip_local_port_range", "60999 32768"),
                ("sys/net/ipv4/ip_local_reserved_ports", "x,9-,-3,70000-1"),
                ("sys/net/ipv4/tcp_mem", "1 2"),
                ("sys/net/netfilter/nf_conntrack_max", "-5"),
                ("loadavg", "1.0 2"),
            ],
        );
        let host = Host::default().with_files(folder.path(), &HashMap::new());
        assert_eq!(host, Host { file_max: u64::MAX, ..Host::default() });
        assert_eq!(host.local_ports(), 0);
    }

    #[test]
    fn this_machine_is_read() {
        let host = Host::now();
        assert!(host.descriptors > 0 && host.processors > 0 && host.page > 0, "{host:?}");
        assert_eq!(host.machine_memory, Reading::of_machine().memory_total);
        assert!(host.memory_total <= host.machine_memory, "{host:?}");
    }
}
