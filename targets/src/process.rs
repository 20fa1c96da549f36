//! Metrics of this process and machine from `/proc`, for answers that contain them like those of a JVM service.
//! Also burns processor time.

use std::fs;

use rustix::time::{ClockId, clock_gettime};

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Figures {
    /// Load average of this machine over one minute.
    pub(crate) load: f64,
    pub(crate) threads: u64,
    /// Processor time of all threads of this process so far, in milliseconds.
    pub(crate) cpu_ms: u64,
    /// Part of `cpu_ms` in user mode.
    pub(crate) user_ms: u64,
}

/// Reads processor time and load of this process. Unreadable metrics are zero.
pub(crate) fn figures() -> Figures {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // Fields are counted after the command, which may contain blanks and brackets: proc(5), fields 14, 15 and 20.
    let fields: Vec<&str> =
        stat.rsplit(')').next().unwrap_or_default().split_ascii_whitespace().collect();
    let field = |number: usize| {
        fields.get(number - 3).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0)
    };
    // The kernel reports hundredths of a second, independent of its own tick (USER_HZ).
    let user_ms = field(14) * 10;
    Figures {
        load: load.split(' ').next().and_then(|text| text.parse().ok()).unwrap_or(0.0),
        threads: field(20),
        cpu_ms: user_ms + field(15) * 10,
        user_ms,
    }
}

/// Processor time used by the calling thread so far, in nanoseconds.
pub(crate) fn thread_time() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Computes until the calling thread has used `nanos` nanoseconds of processor time.
pub(crate) fn burn(nanos: u64) {
    let end = thread_time() + nanos;
    while thread_time() < end {
        std::hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_threads() {
        assert!(figures().threads >= 1);
    }
}
