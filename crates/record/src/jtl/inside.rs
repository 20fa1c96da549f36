//! Rows that are inside of other rows: what a sampler downloads for itself, and the samples of a transaction.
//!
//! Samples of one thread do not overlap. A row that starts before the end of the row above it of the same thread is a
//! part of that one: JMeter writes the redirects and embedded resources of `go` below it as `go-0`, `go-1` …, and counts
//! them in `go`. A transaction that never has a row inside stands for requests that the file does not have.
//!
//! Memory is bounded: the last rows of the threads that were seen last.

use std::collections::{HashMap, HashSet};

/// Threads whose last rows are known, at least.
const THREADS: usize = 16_384;
/// Time stamps of a sample and of what it downloads differ by so much from their true distance, ms.
const CLOCK_MS: i64 = 2;

/// The times of a row, ms.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    pub(super) start: i64,
    pub(super) end: i64,
}

impl Times {
    /// Whether a row that starts then starts within this one. The end is no part of it: the next sample may start there.
    fn has_start(self, start: i64) -> bool {
        (self.start..self.end).contains(&start)
    }
}

/// The last rows of a thread.
#[derive(Debug, Default)]
struct Thread {
    /// Name and times of the last request, and the number of the download that would be its next.
    request: Option<(String, Times, u64)>,
    /// The last transaction: its label and times.
    transaction: Option<(u32, Times)>,
}

/// Facts about the transactions of a label.
#[derive(Clone, Copy, Debug, Default)]
struct Transaction {
    /// Some row says that it had samples.
    had_samples: bool,
    /// Some of these is longer than a millisecond and has a thread: its samples would have been found.
    is_checked: bool,
    /// Some has a row inside.
    has_rows: bool,
}

/// Finds rows inside of others, in the order of a file.
#[derive(Debug, Default)]
pub(super) struct Inside {
    threads: HashMap<Box<str>, Thread>,
    older: HashMap<Box<str>, Thread>,
    /// Labels that downloads have had.
    downloads: HashSet<Box<str>>,
    transactions: HashMap<u32, Transaction>,
}

impl Inside {
    /// Takes a request; true: it is a download of the request above it, which counts it.
    pub(super) fn is_download(&mut self, thread: &str, name: &str, times: Times) -> bool {
        let Self { threads, older, downloads, transactions } = self;
        let last = known(threads, older, thread);
        if let Some((parent, of, next)) = &mut last.request
            && let Some((own, number)) = numbered(name)
            && (own == parent || *next > 0 && own.contains("://"))
            && times.start >= of.start.saturating_sub(CLOCK_MS)
            && times.end <= of.end.saturating_add(CLOCK_MS)
        {
            // Within a millisecond nothing is seen but that other rows of the label are downloads.
            let is_next = times.start <= of.end && number == *next;
            let is_known = *next > 0 || downloads.contains(name);
            if times.start < of.end || is_next && is_known {
                *next = (*next).max(number.saturating_add(1));
                if !downloads.contains(name) && downloads.len() < THREADS {
                    downloads.insert(name.into());
                }
                return true;
            }
        }
        find_around(last, transactions, times, None);
        match &mut last.request {
            Some((known, of, next)) => {
                known.clear();
                known.push_str(name);
                (*of, *next) = (times, 0);
            }
            none => *none = Some((name.to_owned(), times, 0)),
        }
        false
    }

    /// Takes a transaction, with its message. `thread`: `None` where the file does not say it.
    pub(super) fn add_transaction(
        &mut self,
        thread: Option<&str>,
        label: u32,
        message: &str,
        times: Times,
    ) {
        let samples = message.trim_start_matches(|c: char| !c.is_ascii_digit());
        let about = self.transactions.entry(label).or_default();
        if samples.starts_with("0,") || samples == "0" {
            return;
        }
        about.had_samples = true;
        let Some(thread) = thread else { return };
        // In whole milliseconds, samples of a shorter one may start at its end.
        about.is_checked |= times.end - times.start > 1;
        let last = known(&mut self.threads, &mut self.older, thread);
        let request = last.request.as_ref().map(|(_, of, _)| *of);
        // The last of its samples may start, in whole milliseconds, when it ends.
        let has_last =
            |of: Times| of.start >= times.start && of.end <= times.end.saturating_add(CLOCK_MS);
        about.has_rows |= times.end > times.start && request.is_some_and(has_last);
        find_around(last, &mut self.transactions, times, Some(label));
        last.transaction = Some((label, times));
    }

    /// Whether a row of that label has been seen inside of another one of it.
    pub(super) fn has_rows(&self, label: u32) -> bool {
        self.transactions.get(&label).is_some_and(|about| about.has_rows)
    }

    /// Whether the transactions of a label stand for their requests, which the file does not have. `alone`: it has no
    /// requests at all. `folded`: labels that count as others.
    pub(super) fn stand_alone(
        &self,
        alone: bool,
        folded: &[(u32, u32)],
    ) -> impl Fn(u32) -> bool + use<> {
        let mut known = self.transactions.clone();
        for (from, to) in folded {
            let of = known.get(from).copied().unwrap_or_default();
            let into = known.entry(*to).or_default();
            into.had_samples |= of.had_samples;
            into.is_checked |= of.is_checked;
            into.has_rows |= of.has_rows;
        }
        for (from, to) in folded.iter().rev() {
            known.insert(*from, known.get(to).copied().unwrap_or_default());
        }
        move |label| {
            let of = known.get(&label).copied().unwrap_or_default();
            of.had_samples && !of.has_rows && (alone || of.is_checked)
        }
    }
}

/// The last rows of a thread.
fn known<'t>(
    threads: &'t mut HashMap<Box<str>, Thread>,
    older: &mut HashMap<Box<str>, Thread>,
    thread: &str,
) -> &'t mut Thread {
    if !threads.contains_key(thread) {
        let last = older.remove(thread).unwrap_or_default();
        if threads.len() >= THREADS {
            *older = std::mem::take(threads);
        }
        threads.insert(thread.into(), last);
    }
    threads.entry(thread.into()).or_default()
}

/// Notes that the transaction above has rows, if these times are within it. `own`: the label of a row that is a transaction
/// itself; none is inside of another one of its label.
fn find_around(
    last: &Thread,
    transactions: &mut HashMap<u32, Transaction>,
    times: Times,
    own: Option<u32>,
) {
    if let Some((label, of)) = last.transaction
        && own != Some(label)
        && of.has_start(times.start)
        && times.end <= of.end.saturating_add(CLOCK_MS)
        && let Some(about) = transactions.get_mut(&label)
    {
        about.has_rows = true;
    }
}

/// The name of a request, and the number of the download, in `go-1`.
fn numbered(name: &str) -> Option<(&str, u64)> {
    let (own, number) = name.rsplit_once('-')?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    Some((own, number.parse().ok().filter(|_| is_number)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn downloads(rows: &[(&str, &str, i64, i64)]) -> Vec<bool> {
        let mut inside = Inside::default();
        let mut each = |(thread, name, start, end): &(&str, &str, i64, i64)| {
            inside.is_download(thread, name, Times { start: *start, end: *end })
        };
        rows.iter().map(&mut each).collect()
    }

    #[test]
    fn rows_within_the_row_above_are_downloads_of_it() {
        let rows = [
            ("a", "go", 0, 40),
            ("b", "go", 1, 31),
            ("a", "go-0", 0, 12),
            ("a", "go-1", 12, 40),
            ("b", "go-0", 1, 11),
            ("b", "go-1", 31, 31),
            ("a", "http://x/-0", 20, 30),
            ("a", "other-0", 20, 30),
        ];
        assert_eq!(downloads(&rows), [false, false, true, true, true, true, true, false]);
    }

    #[test]
    fn samplers_with_such_names_stay_requests() {
        for rows in [
            [("a", "go", 0, 40), ("a", "go-0", 40, 45), ("a", "go-1", 45, 50)],
            [("a", "go", 5, 5), ("a", "go-0", 5, 5), ("a", "go-1", 5, 6)],
            [("a", "go", 0, 40), ("b", "go-0", 10, 20), ("a", "go-0", 10, 60)],
            [("a", "go-0", 0, 9), ("a", "go", 9, 40), ("a", "go-", 9, 12)],
        ] {
            assert_eq!(downloads(&rows), [false; 3], "{rows:?}");
        }
    }

    #[test]
    fn downloads_within_a_millisecond_are_known_by_their_label() {
        let mut rows = vec![("a", "go", 0, 9), ("a", "go-0", 0, 9)];
        rows.extend([("a", "go", 10, 10), ("a", "go-0", 10, 10)]);
        assert_eq!(downloads(&rows), [false, true, false, true]);
    }

    #[test]
    fn transactions_stand_for_requests_that_are_not_there() {
        let mut inside = Inside::default();
        let times = |start, end| Times { start, end };
        let message = "Number of samples in transaction : 2, number of failing samples : 0";
        // Above its rows, below them, without, and without samples.
        inside.add_transaction(Some("a"), 0, message, times(0, 50));
        inside.is_download("a", "x", times(10, 20));
        inside.is_download("a", "y", times(50, 90));
        inside.add_transaction(Some("a"), 1, message, times(50, 90));
        inside.add_transaction(Some("a"), 2, message, times(90, 99));
        let nothing = "Number of samples in transaction : 0, number of failing samples : 0";
        inside.add_transaction(Some("a"), 3, nothing, times(99, 101));
        inside.add_transaction(None, 4, message, times(90, 99));
        let stands = |alone| (0..5).filter(|n| inside.stand_alone(alone, &[])(*n)).collect();
        assert_eq!((stands(false), stands(true)), (vec![2], vec![2, 4]));
        assert!(!inside.stand_alone(false, &[(2, 0)])(2), "as the label that it counts as");
        // In whole milliseconds its last sample starts at its end.
        inside.is_download("c", "x", times(100, 101));
        inside.is_download("c", "y", times(101, 102));
        inside.add_transaction(Some("c"), 6, message, times(100, 101));
        assert!(!inside.stand_alone(false, &[])(6));
        // The request above ended before it.
        inside.is_download("d", "x", times(99, 100));
        inside.add_transaction(Some("d"), 7, message, times(100, 102));
        assert!(inside.stand_alone(false, &[])(7));
        // Its samples start, in whole milliseconds, when it ends.
        inside.add_transaction(Some("e"), 8, message, times(100, 101));
        inside.is_download("e", "x", times(101, 101));
        assert!(!inside.stand_alone(false, &[])(8));
        // The next of the label starts, by the rounding of its times, before the end of the last.
        inside.add_transaction(Some("b"), 5, message, times(0, 50));
        inside.add_transaction(Some("b"), 5, message, times(49, 51));
        assert!(inside.stand_alone(true, &[])(5));
    }
}
