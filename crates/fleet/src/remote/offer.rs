//! The resources that an agent offers, by which shares are distributed.

use super::wire::Offer;
use crate::size::raise_descriptors;

/// Returns the resources of this process and its machine.
pub(crate) fn offered() -> Offer {
    Offer {
        pid: std::process::id(),
        processors: std::thread::available_parallelism().map_or(1, |n| n.get() as u32),
        descriptors: raise_descriptors(),
        memory: free_memory().unwrap_or(0),
    }
}

/// Returns the free memory of the machine in bytes.
fn free_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib << 10)
}
