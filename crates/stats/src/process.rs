//! CPU time and resident memory of this process and of its helper process, read from /proc.
//!
//! A reading costs a few tens of µs; call it once a second. Without /proc, all metrics are zero.
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use serde::{Deserialize, Serialize};

use crate::control_group::Throttling;

/// Process ID of the helper process whose usage is included; 0 for none.
static HAND: AtomicU32 = AtomicU32::new(0);

/// Includes the usage of the helper process with the ID `process` in the usage of this process from now on.
pub fn count_in(process: u32) {
    HAND.store(process, Relaxed);
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Seconds of CPU time in user mode since the process began.
    pub user_s: f64,
    /// Seconds of CPU time in the kernel since the process began.
    pub system_s: f64,
    /// Resident memory in bytes.
    pub rss: u64,
    /// Maximum resident memory since the process began, in bytes.
    pub rss_peak: u64,
    /// File-backed part of `rss` in bytes: pages of the program file, which processes of the same program share.
    pub rss_file: u64,
    /// Seconds since the start for which the threads that run users were runnable but had no processor.
    pub run_queue_s: f64,
    /// Number of result rows that wait for the writer thread.
    pub rows_waiting: u64,
    /// Seconds that the writer thread has spent writing.
    pub write_s: f64,
    /// The CPU quota of the process's control groups, and how often it throttled the process.
    pub throttling: Throttling,
    /// Heap and garbage collections of the JVM, if there is one.
    pub java: Option<Java>,
}

/// The JVM of a process, or the sum for several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Java {
    /// Bytes of the heap in use.
    pub heap: u64,
    /// Maximum size of the heap in bytes.
    pub heap_most: u64,
    /// Number of garbage collections since the start that stopped Java's threads.
    pub collections: u64,
    /// Seconds for which garbage collections have stopped Java's threads.
    pub paused_s: f64,
}

impl Java {
    /// Adds the JVM of another process. `lives` is false if that process has ended: then only its collections count,
    /// not its heap.
    pub fn add(&mut self, other: &Self, lives: bool) {
        if lives {
            self.heap += other.heap;
            self.heap_most += other.heap_most;
        }
        self.collections += other.collections;
        self.paused_s += other.paused_s;
    }

    /// Returns the collections between two readings, with this reading's heap.
    pub fn since(&self, before: Option<&Self>) -> Self {
        let before = before.copied().unwrap_or_default();
        Self {
            collections: self.collections.saturating_sub(before.collections),
            paused_s: (self.paused_s - before.paused_s).max(0.0),
            ..*self
        }
    }
}

impl Usage {
    pub fn now() -> Self {
        let throttling = Throttling::now();
        Self { run_queue_s: waited_s(), throttling, ..Self::without_threads() }
    }

    /// Returns the current usage of a process without users. A process without users may have many threads, which are
    /// not read individually.
    pub fn without_threads() -> Self {
        let mut usage = Self::default();
        usage.add("self");
        let hand = HAND.load(Relaxed);
        if hand != 0 {
            usage.add(&hand.to_string());
        }
        usage
    }

    fn add(&mut self, process: &str) {
        let read = |file| std::fs::read_to_string(format!("/proc/{process}/{file}"));
        if let Ok(stat) = read("stat") {
            let (user_s, system_s) = cpu(&stat);
            self.user_s += user_s;
            self.system_s += system_s;
        }
        if let Ok(status) = read("status") {
            self.rss += kib(&status, "VmRSS:") * 1024;
            self.rss_peak += kib(&status, "VmHWM:") * 1024;
            self.rss_file += kib(&status, "RssFile:") * 1024;
        }
    }

    pub fn cpu_s(&self) -> f64 {
        self.user_s + self.system_s
    }
}

/// Returns the seconds for which the threads named `core-…` waited for a processor.
fn waited_s() -> f64 {
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else { return 0.0 };
    let waited = threads.flatten().filter_map(|thread| {
        let name = std::fs::read(thread.path().join("comm")).ok()?;
        let text = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        let waited = text.split_ascii_whitespace().nth(1)?.parse::<f64>().ok()?;
        name.starts_with(b"core-").then_some(waited)
    });
    waited.sum::<f64>() / 1e9
}

/// Parses user and system seconds from /proc/PID/stat. The unit there is 1/100 s on every Linux (USER_HZ). The process
/// name in parentheses may contain spaces, so the fields are counted after it.
fn cpu(stat: &str) -> (f64, f64) {
    let rest = stat.rsplit_once(')').map_or("", |parts| parts.1);
    let mut ticks = rest.split_ascii_whitespace().skip(11).map(|t| t.parse().unwrap_or(0.0));
    (ticks.next().unwrap_or(0.0) / 100.0, ticks.next().unwrap_or(0.0) / 100.0)
}

fn kib(status: &str, key: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix(key));
    line.and_then(|l| l.split_ascii_whitespace().next()?.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_ticks_behind_a_name_with_spaces() {
        let stat = "7 (a b) c) S 1 2 3 4 5 6 7 8 9 10 250 50 0 0 20";
        assert_eq!(cpu(stat), (2.5, 0.5));
    }

    #[test]
    fn who_works_for_this_process_is_counted_in() {
        let own = Usage::now().rss_peak;
        count_in(std::process::id());
        let twice = Usage::now().rss_peak;
        count_in(0);
        assert!(twice >= 2 * own, "{own} {twice}");
    }

    #[test]
    fn reads_memory_in_kib() {
        assert_eq!(kib("Name:\tx\nVmHWM:\t  2048 kB\nVmRSS:\t 1024 kB\n", "VmRSS:"), 1024);
    }
}
