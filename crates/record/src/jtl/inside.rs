//! Nested rows: embedded resources and redirects of a sampler, and the samples of a transaction.
//!
//! Samples of one thread do not overlap. A row that starts before the end of the previous row of its thread is a part
//! of that row. JMeter writes the redirects and embedded resources of `go` below it as `go-0`, `go-1` …, and counts
//! them in `go`. A transaction that never contains a row stands for requests that are not in the file.
//!
//! Memory is bounded: only the last rows of recently seen threads are stored.

use std::collections::{HashMap, HashSet};

/// Number of recently seen threads whose last rows are stored, at least.
const THREADS: usize = 16_384;
/// Largest error, in ms, of time stamps of a sample relative to those of its embedded resources.
const CLOCK_MS: i64 = 2;

/// Start and end of a row, ms.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    pub(super) start: i64,
    pub(super) end: i64,
}

impl Times {
    /// Returns true if a row that starts at `start` begins within this row. The end does not belong to a row, because
    /// the next sample may start then.
    fn has_start(self, start: i64) -> bool {
        (self.start..self.end).contains(&start)
    }
}

/// The last rows of a thread.
#[derive(Debug, Default)]
struct Thread {
    /// The thread's last request.
    request: Option<Request>,
    /// Label and times of the thread's last transaction.
    transaction: Option<(u32, Times)>,
}

/// The last request of a thread.
#[derive(Debug)]
struct Request {
    name: String,
    times: Times,
    /// Expected number of its next embedded resource or redirect.
    next: u64,
}

/// Facts about the transactions of a label.
#[derive(Clone, Copy, Debug, Default)]
struct Transaction {
    /// True if a row says that its transaction had samples.
    had_samples: bool,
    /// True if a transaction with samples is longer than a millisecond and its thread is known. Rows of its samples
    /// would then have been found.
    is_checked: bool,
    /// True if a row was found within one of the transactions.
    has_rows: bool,
}

/// Finds nested rows while the rows of a file are read in order.
#[derive(Debug, Default)]
pub(super) struct Inside {
    threads: HashMap<Box<str>, Thread>,
    older: HashMap<Box<str>, Thread>,
    /// Labels under which embedded resources and redirects have been found.
    downloads: HashSet<Box<str>>,
    transactions: HashMap<u32, Transaction>,
}

impl Inside {
    /// Adds a request. Returns true if it is an embedded resource or redirect of the previous request, which includes
    /// it already.
    pub(super) fn is_download(&mut self, thread: &str, name: &str, times: Times) -> bool {
        let Self { threads, older, downloads, transactions } = self;
        let last = known(threads, older, thread);
        if let Some(Request { name: parent, times: of, next }) = &mut last.request
            && let Some((own, number)) = numbered(name)
            && (own == parent || *next > 0 && own.contains("://"))
            && times.start >= of.start.saturating_sub(CLOCK_MS)
            && times.end <= of.end.saturating_add(CLOCK_MS)
        {
            // Within a millisecond, times do not show nesting. Then it is assumed if other rows of the label were
            // embedded resources.
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
            Some(request) => {
                request.name.clear();
                request.name.push_str(name);
                (request.times, request.next) = (times, 0);
            }
            none => *none = Some(Request { name: name.to_owned(), times, next: 0 }),
        }
        false
    }

    /// Adds a transaction with its message. `thread` is `None` if the thread is unknown.
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
        // Times are whole milliseconds, so that a sample within a shorter transaction may start at its end.
        about.is_checked |= times.end - times.start > 1;
        let last = known(&mut self.threads, &mut self.older, thread);
        let request = last.request.as_ref().map(|request| request.times);
        // Times are whole milliseconds, so that the last sample may start when the transaction ends.
        let has_last =
            |of: Times| of.start >= times.start && of.end <= times.end.saturating_add(CLOCK_MS);
        about.has_rows |= times.end > times.start && request.is_some_and(has_last);
        find_around(last, &mut self.transactions, times, Some(label));
        last.transaction = Some((label, times));
    }

    /// Returns true if a row was found within a transaction of this label.
    pub(super) fn has_rows(&self, label: u32) -> bool {
        self.transactions.get(&label).is_some_and(|about| about.has_rows)
    }

    /// Returns a function that is true for a label whose transactions stand for requests that are not in the file.
    /// `alone` is true if the file has no requests at all. `folded` are pairs of a folded label and the label it is
    /// counted under.
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

/// Returns the last rows of a thread, and makes it one of the recently seen threads.
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

/// Marks the last transaction of a thread as one that contains rows, if the times of a row are within it. `own` is the
/// label if the row itself is a transaction: a transaction never contains another one of its label.
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

/// Splits a name such as `go-1` into the name of the request and the number of the embedded resource or redirect.
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
        // Transactions with rows after them, with rows before them, without rows, and without samples.
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
        // In whole milliseconds, the last sample of the transaction starts at the transaction's end.
        inside.is_download("c", "x", times(100, 101));
        inside.is_download("c", "y", times(101, 102));
        inside.add_transaction(Some("c"), 6, message, times(100, 101));
        assert!(!inside.stand_alone(false, &[])(6));
        // The previous request ended before the transaction.
        inside.is_download("d", "x", times(99, 100));
        inside.add_transaction(Some("d"), 7, message, times(100, 102));
        assert!(inside.stand_alone(false, &[])(7));
        // In whole milliseconds, the samples of the transaction start when it ends.
        inside.add_transaction(Some("e"), 8, message, times(100, 101));
        inside.is_download("e", "x", times(101, 101));
        assert!(!inside.stand_alone(false, &[])(8));
        // Due to rounding, the next transaction of the label starts before the last one ends.
        inside.add_transaction(Some("b"), 5, message, times(0, 50));
        inside.add_transaction(Some("b"), 5, message, times(49, 51));
        assert!(inside.stand_alone(true, &[])(5));
    }
}
