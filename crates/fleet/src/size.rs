//! Number of processes for a number of connections: pure arithmetic.
//!
//! A connection is one descriptor; a user holds at least one. Some descriptors are kept for everything else: files, the
//! event loop, connections that are being replaced.

/// Descriptors kept for other things than users' connections.
pub const RESERVE: u64 = 300;

/// Descriptors that a process has open before its first user, with a small reserve.
const LEAST: u64 = 16;

/// Connections that a process with so many descriptors can hold, at least one.
pub fn held_per_process(descriptors: u64) -> u64 {
    // Where descriptors are few, the reserve is a quarter of them, but never less than a process has open anyway.
    let reserve = RESERVE.min((descriptors / 4).max(LEAST));
    descriptors.saturating_sub(reserve).max(1)
}

/// Processes that so many connections take.
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
