//! Finds the threads to which the failures of a run belong.
//!
//! Some threads may always fail, because of their accounts, permissions, data or addresses. If they start later
//! than the others, all totals look as if there were a limit: the rate of successful requests and their number in
//! flight stay constant, however many requests are sent. A result file names the thread of each request. A run of
//! Throng does not record threads, so its findings about limits mention this other explanation.

use std::collections::BTreeMap;

use record::Record;
use stats::grouped::{count, percent};

use super::places::failing_labels;
use super::say::{joined, listed, words};
use crate::verdict::Words;

/// Smallest number of requests of a thread, all failed, from which the thread counts as always failing.
const LEAST: u64 = 5;
/// Smallest share of all failures that always failing threads must have.
const MOST: f64 = 0.95;
/// Largest share of the other threads' requests that may fail, if some threads always fail.
const FEW: f64 = 0.01;
/// Largest number of list entries in a sentence. An entry is a thread, or several threads with consecutive numbers.
const NAMED: usize = 3;

/// Threads that always fail, while requests of other threads hardly ever fail.
pub(super) struct Always {
    /// Names of the failing threads; threads with consecutive numbers form one entry.
    names: Vec<Words>,
    /// Number of the failing threads.
    failing: usize,
    /// Number of all threads that sent requests under failing labels.
    all: usize,
    /// Share of all failures that the failing threads have.
    share: f64,
    /// True if there are requests under other labels, which do not count.
    of_labels: bool,
    /// Name of the thread group, if the failing threads are several and are all threads of that group.
    group: Option<String>,
}

/// Returns the threads that always fail under the failing labels, if they have nearly all failures of the run.
pub(super) fn always(record: &Record) -> Option<Always> {
    let labels = failing_labels(record, &record.seconds);
    let is_request = |label: u32| record.labels.get(label as usize).is_some_and(|l| !l.transaction);
    let mut threads: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    let mut of_labels = false;
    for sum in record.threads.iter().filter(|sum| is_request(sum.label)) {
        if labels.contains(&sum.label) {
            let of = threads.entry(&sum.thread).or_default();
            *of = (of.0 + sum.requests, of.1 + sum.failed);
        } else {
            of_labels = true;
        }
    }
    let is_always = |of: &(u64, u64)| of.1 >= LEAST && of.1 == of.0;
    let requests = record.threads.iter().filter(|sum| is_request(sum.label));
    let failed: u64 = requests.map(|sum| sum.failed).sum();
    let (always, others): (Vec<_>, Vec<_>) = threads.iter().partition(|(_, of)| is_always(of));
    let own: u64 = always.iter().map(|(_, of)| of.1).sum();
    let (sent, lost) = others.iter().fold((0, 0), |sum, (_, of)| (sum.0 + of.0, sum.1 + of.1));
    let is_theirs = own as f64 >= MOST * failed as f64 && lost as f64 <= FEW * sent as f64;
    if always.is_empty() || sent < LEAST || !is_theirs {
        return None;
    }
    let names: Vec<&str> = always.iter().map(|(name, _)| **name).collect();
    let group = |name: &str| name.rsplit_once('-').map(|(group, _)| group.to_owned());
    let only = group(names[0]).filter(|only| {
        let is_of = |name: &&str| group(name).as_ref() == Some(only);
        names.iter().all(is_of) && !others.iter().any(|(name, _)| is_of(name))
    });
    Some(Always {
        names: rows(&names),
        failing: names.len(),
        all: threads.len(),
        share: own as f64 / failed.max(1) as f64,
        of_labels,
        group: only.filter(|_| names.len() > 1),
    })
}

impl Always {
    /// Returns a sentence about the threads that always fail.
    pub(super) fn words(&self) -> Words {
        let (n, all) = (count(self.failing as u64), count(self.all as u64));
        let share = if self.share < 1.0 {
            let share = percent(self.share);
            words!(share_of_these_failures(share))
        } else {
            words!(all_of_these_failures)
        };
        let who = match &self.group {
            Some(group) => words!(threads_of_group(group)),
            None => {
                let shown = &self.names[..self.names.len().min(NAMED)];
                let names = joined(shown);
                let more = if self.names.len() > NAMED { " …" } else { "" };
                words!(threads_and_more(names, more))
            }
        };
        let of = if self.of_labels { words!(under_labels_concerned) } else { Words::default() };
        let have = if self.failing == 1 { "has" } else { "have" };
        words!(threads_that_fail(n, all, who, have, share, of))
    }

    pub(super) fn advice() -> Words {
        words!(threads_that_fail_advice)
    }
}

/// Returns the sentence that always failing users would look like a limit; empty if the record names the threads.
pub(super) fn or_threads(record: &Record) -> Words {
    if record.threads.is_empty() {
        return words!(or_failing_users);
    }
    Words::default()
}

/// True if always failing threads explain the failures.
pub(super) fn are_of_threads(record: &Record) -> bool {
    always(record).is_some()
}

/// Formats thread names as list entries. Threads with consecutive numbers form one entry, as in
/// "Users 1-9 to Users 1-12".
fn rows(names: &[&str]) -> Vec<Words> {
    let of = |name: &str| -> Option<(String, u64)> {
        let (group, number) = name.rsplit_once('-')?;
        Some((group.to_owned(), number.parse().ok()?))
    };
    let mut names: Vec<(Option<(String, u64)>, &str)> =
        names.iter().map(|name| (of(name), *name)).collect();
    names.sort();
    let follows = |a: &(Option<(String, u64)>, &str), b: &(Option<(String, u64)>, &str)| matches!((&a.0, &b.0), (Some(a), Some(b)) if a.0 == b.0 && a.1 + 1 == b.1);
    let rows = names.chunk_by(follows).map(|row| match row {
        [(_, first), .., (_, last)] if row.len() > 2 => {
            words!(range_of_threads(first, last))
        }
        _ => {
            let names: Vec<&str> = row.iter().map(|name| name.1).collect();
            listed(&names)
        }
    });
    rows.collect()
}
