//! Counts requests and failures by thread name and label of a result file.

use std::collections::HashMap;
use std::sync::Arc;

use crate::ThreadSum;

/// Maximum number of pairs of thread and label. If a file has more pairs, all counts are discarded.
const MOST: usize = 50_000;

/// Sums of requests and failures, collected row by row.
#[derive(Debug, Default)]
pub(super) struct Threads {
    numbers: HashMap<Box<str>, u32>,
    /// Requests and failures by thread number (a value of `numbers`) and label.
    sums: HashMap<(u32, u32), (u64, u64)>,
    /// True if a row has no thread name, or if there are more than [`MOST`] pairs. Nothing is counted then.
    is_unknown: bool,
}

impl Threads {
    pub(super) fn add(&mut self, thread: Option<&str>, label: u32, requests: u64, failed: u64) {
        if self.is_unknown {
            return;
        }
        let Some(thread) = thread.filter(|name| !name.is_empty() && self.sums.len() < MOST) else {
            *self = Self { is_unknown: true, ..Self::default() };
            return;
        };
        let number = match self.numbers.get(thread) {
            Some(number) => *number,
            None => {
                let number = self.numbers.len() as u32;
                self.numbers.insert(thread.into(), number);
                number
            }
        };
        let sum = self.sums.entry((number, label)).or_default();
        *sum = (sum.0 + requests, sum.1 + failed);
    }

    /// Returns the sums, sorted by thread name, then by label.
    pub(super) fn sums(self) -> Vec<ThreadSum> {
        let mut names: Vec<Arc<str>> = vec!["".into(); self.numbers.len()];
        for (name, number) in self.numbers {
            names[number as usize] = name.into();
        }
        let sum = |((thread, label), (requests, failed)): ((u32, u32), (u64, u64))| {
            let thread = Arc::clone(&names[thread as usize]);
            ThreadSum { thread, label, requests, failed }
        };
        let mut sums: Vec<ThreadSum> = self.sums.into_iter().map(sum).collect();
        sums.sort_by(|a, b| (&a.thread, a.label).cmp(&(&b.thread, b.label)));
        sums
    }
}
