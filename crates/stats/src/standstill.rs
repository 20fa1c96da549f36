//! Time for which whole processes were stopped, derived from the stalls of their threads. A process was stopped for the
//! shortest stall of its threads: a single stalled thread may only have been busy.
//!
//! The seconds of threads end at slightly different times. So one stall may count in this second for one thread, and in
//! the next second for another. Therefore the part of a thread's stall beyond the shortest one is also used in the next
//! second.

use std::collections::BTreeMap;

/// Collects the stalls of all threads, second by second.
#[derive(Debug, Default)]
pub struct Standstill {
    /// Stalls in the current second by process and thread, in nanoseconds.
    open: BTreeMap<(u32, u32), u64>,
    /// Stalls of the previous second beyond the shortest stall of their process, by process and thread, in nanoseconds.
    rest: BTreeMap<(u32, u32), u64>,
}

impl Standstill {
    /// Adds a stall of a thread to the current second, in nanoseconds.
    pub fn add(&mut self, process: u32, thread: u32, stall: u64) {
        *self.open.entry((process, thread)).or_default() += stall;
    }

    /// Ends the second. Returns the longest time for which a process was stopped, in nanoseconds.
    pub fn take(&mut self) -> u64 {
        let with_rest = |(key, stall): (&(u32, u32), &u64)| {
            (key.0, stall + self.rest.get(key).copied().unwrap_or(0))
        };
        let mut least: BTreeMap<u32, u64> = BTreeMap::new();
        for (process, stall) in self.open.iter().map(with_rest) {
            let shortest = least.entry(process).or_insert(stall);
            *shortest = stall.min(*shortest);
        }
        let rest = self.open.iter().map(|(key, stall)| {
            let whole = with_rest((key, stall)).1;
            (*key, (*stall).min(whole - least[&key.0]))
        });
        let rest = rest.filter(|(_, rest)| *rest > 0).collect();
        self.rest = rest;
        self.open.clear();
        least.into_values().max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the longest standstill of a process for each second of stalls, each with process, thread and
    /// nanoseconds.
    fn seconds<const N: usize>(stalls: [&[(u32, u32, u64)]; N]) -> [u64; N] {
        let mut standstill = Standstill::default();
        stalls.map(|second| {
            for (process, thread, ns) in second {
                standstill.add(*process, *thread, *ns);
            }
            standstill.take()
        })
    }

    #[test]
    fn a_process_stood_still_for_as_long_as_all_its_threads() {
        let busy = [(0, 0, 90), (0, 1, 0), (1, 2, 40), (1, 3, 50)];
        assert_eq!(seconds([&busy, &[(0, 0, 0), (0, 1, 0), (1, 2, 0), (1, 3, 0)]]), [40, 0]);
        assert_eq!(seconds([&[(0, 0, 7)], &[], &[(0, 0, 3)]]), [7, 0, 3]);
    }

    #[test]
    fn a_stall_between_the_ends_of_two_threads_seconds_is_found() {
        let split: [&[(u32, u32, u64)]; 3] =
            [&[(0, 0, 0), (0, 1, 250)], &[(0, 0, 240), (0, 1, 0)], &[(0, 0, 0), (0, 1, 0)]];
        assert_eq!(seconds(split), [0, 240, 0]);
        // Stalls that are two seconds apart are different stalls.
        let apart: [&[(u32, u32, u64)]; 3] =
            [&[(0, 0, 0), (0, 1, 250)], &[(0, 0, 0), (0, 1, 0)], &[(0, 0, 240), (0, 1, 0)]];
        assert_eq!(seconds(apart), [0; 3]);
    }
}
