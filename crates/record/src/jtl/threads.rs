//! Counts requests and failures of each thread and label of a result file, by the thread names in its rows.

use std::collections::HashMap;
use std::sync::Arc;

use crate::ThreadSum;

/// Largest number of counters in a file, 16 bytes each: one for each thread and label. Above it, the sums are unknown.
const MOST: usize = 200_000;

/// Sums per thread and label. A row costs one search for its thread.
#[derive(Debug, Default)]
pub(super) struct Threads {
    /// Numbers of requests and failures of each thread, at the index of the label.
    sums: HashMap<Box<str>, Vec<(u64, u64)>>,
    /// Number of counters of all threads.
    counters: usize,
    /// True if a row has no thread name, or if there are too many counters.
    is_unknown: bool,
}

impl Threads {
    pub(super) fn add(&mut self, thread: Option<&str>, label: u32, requests: u64, failed: u64) {
        if self.is_unknown {
            return;
        }
        let Some(thread) = thread.filter(|name| !name.is_empty()) else { return self.give_up() };
        let label = label as usize;
        if let Some(sum) = self.sums.get_mut(thread).and_then(|sums| sums.get_mut(label)) {
            *sum = (sum.0 + requests, sum.1 + failed);
            return;
        }
        let sums = self.sums.entry(thread.into()).or_default();
        self.counters += label + 1 - sums.len();
        if self.counters > MOST {
            return self.give_up();
        }
        sums.resize(label + 1, (0, 0));
        sums[label] = (requests, failed);
    }

    fn give_up(&mut self) {
        *self = Self { is_unknown: true, ..Self::default() };
    }

    /// Returns the sums of threads and labels that have requests, sorted by thread name, then by label.
    pub(super) fn sums(self) -> Vec<ThreadSum> {
        let mut all = Vec::new();
        for (name, sums) in self.sums {
            let thread: Arc<str> = name.into();
            for (label, (requests, failed)) in (0..).zip(sums) {
                if requests > 0 {
                    all.push(ThreadSum { thread: Arc::clone(&thread), label, requests, failed });
                }
            }
        }
        all.sort_by(|a, b| (&a.thread, a.label).cmp(&(&b.thread, b.label)));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_and_failures_are_counted_by_thread_and_label() {
        let mut threads = Threads::default();
        for (name, label, failed) in [("b", 2, 1), ("a", 0, 0), ("b", 0, 0), ("b", 2, 0)] {
            threads.add(Some(name), label, 1, failed);
        }
        let sums = threads.sums();
        let sums: Vec<_> =
            sums.iter().map(|sum| (&*sum.thread, sum.label, sum.requests, sum.failed)).collect();
        assert_eq!(sums, [("a", 0, 1, 0), ("b", 0, 1, 0), ("b", 2, 2, 1)]);
    }

    #[test]
    fn nothing_is_known_of_rows_without_a_name_or_of_too_many_threads() {
        for without in [None, Some("")] {
            let mut threads = Threads::default();
            threads.add(Some("a"), 0, 1, 0);
            threads.add(without, 0, 1, 0);
            threads.add(Some("a"), 0, 1, 0);
            assert!(threads.sums().is_empty());
        }
        let mut threads = Threads::default();
        threads.add(Some("a"), MOST as u32, 1, 0);
        threads.add(Some("b"), 0, 1, 0);
        assert!(threads.sums().is_empty());
    }
}
