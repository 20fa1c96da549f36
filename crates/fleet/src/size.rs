//! Number of processes for a number of connections.
//!
//! A connection takes one file descriptor; a user holds at least one connection. Some descriptors are reserved for
//! files, the event loop, and connections that are being replaced.

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

#[cfg(test)]
mod tests {
    use super::*;

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
