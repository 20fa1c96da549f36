//! Number of processes for a number of connections, and the file descriptors of a process.
//!
//! A connection takes one file descriptor; a user holds at least one connection. Some descriptors are reserved for
//! files, the event loop, and connections that are being replaced.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Number of file descriptors that are reserved for other purposes than users' connections.
pub const RESERVE: u64 = 300;

/// Number of file descriptors that a process needs before its first user, including a small reserve.
const LEAST: u64 = 16;

/// Returns the number of connections that a process with `descriptors` descriptors can hold, at least one.
pub fn held_per_process(descriptors: u64) -> u64 {
    // With few descriptors, a quarter is reserved, but never less than a process has open anyway.
    let reserve = RESERVE.min((descriptors / 4).max(LEAST));
    descriptors.saturating_sub(reserve).max(1)
}

/// Returns the number of processes that `connections` connections need.
pub fn workers_for(connections: u64, descriptors: u64) -> u64 {
    connections.div_ceil(held_per_process(descriptors)).max(1)
}

/// Raises the limit of open files of this process as far as the system allows, because each user may hold
/// connections. Returns the limit.
pub fn raise_descriptors() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let nr_open = std::fs::read_to_string("/proc/sys/fs/nr_open");
    let nr_open = nr_open.ok().and_then(|text| text.trim().parse().ok());
    let _ = setrlimit(Resource::Nofile, raised(limit, nr_open));
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// Returns the highest limits that the kernel accepts. It refuses a hard limit above `fs.nr_open`, even if the process
/// already has it. `None` is no limit, and an unknown `nr_open`.
fn raised(limit: Rlimit, nr_open: Option<u64>) -> Rlimit {
    let most = match (limit.maximum, nr_open) {
        (Some(maximum), Some(nr_open)) => Some(maximum.min(nr_open)),
        (maximum, nr_open) => maximum.or(nr_open),
    };
    Rlimit { current: most, maximum: most }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hard_limit_above_that_of_the_kernel_is_lowered_to_it() {
        let most = |maximum, nr_open| {
            let raised = raised(Rlimit { current: Some(1024), maximum }, nr_open);
            assert_eq!(raised.current, raised.maximum);
            raised.current
        };
        assert_eq!(most(Some(20_000), Some(1 << 20)), Some(20_000));
        assert_eq!(most(Some(1 << 20), Some(65_536)), Some(65_536));
        assert_eq!(most(None, Some(1 << 20)), Some(1 << 20));
        assert_eq!(most(Some(20_000), None), Some(20_000));
        assert_eq!(most(None, None), None);
    }

    #[test]
    fn a_process_of_20_000_descriptors_carries_19_700_users() {
        assert_eq!(held_per_process(20_000), 19_700);
        assert_eq!(workers_for(1_000_000, 20_000), 51);
        assert_eq!(workers_for(19_700, 20_000), 1);
        assert_eq!(workers_for(19_701, 20_000), 2);
    }

    #[test]
    fn few_descriptors_still_carry_somebody() {
        assert_eq!(held_per_process(200), 150);
        assert_eq!(workers_for(1_000, 200), 7);
        assert_eq!(held_per_process(32), 16);
        assert_eq!(held_per_process(0), 1);
        assert_eq!(workers_for(0, 200), 1);
    }
}
