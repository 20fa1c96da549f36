//! Models intervals of a run as an Erlang loss system with K places: a request that finds all places taken is lost
//! (A. K. Erlang's loss formula, 1917).

use std::cmp::Reverse;

use record::{Record, Second};
use stats::Outcome;
use stats::hist::{Hist, layout};

use super::figures::{by_label, without};

/// Smallest share of all failures that must have a cause which a limit can produce, and smallest share of all
/// failures that the examined labels must have.
pub(super) const MOST: f64 = 0.95;
/// Largest number of places that counts as a limit.
pub(super) const LARGEST: f64 = 20_000.0;

/// A time slice of a run: some consecutive seconds, restricted to the labels that fail.
pub(super) struct Piece {
    /// Mean number of requests in flight.
    pub(super) flying: f64,
    /// Mean number of requests in flight that later succeeded.
    pub(super) good: f64,
    /// Successful responses per second.
    pub(super) rate: f64,
    pub(super) count: u64,
    pub(super) failed: u64,
    /// Mean number of users. If a rate requires the starts, mean number of starts per second.
    pub(super) load: f64,
    /// True if a rate requires the starts.
    pub(super) due: bool,
    /// Length in seconds.
    pub(super) length: f64,
}

impl Piece {
    pub(super) fn lost(&self) -> f64 {
        self.failed as f64 / self.count.max(1) as f64
    }

    /// Returns the mean number of requests that would be in flight if each request found a place.
    pub(super) fn offered(&self) -> f64 {
        self.good / (1.0 - self.lost()).max(1e-6)
    }

    /// Returns the number of places at which the observed share of the work is lost.
    pub(super) fn places(&self) -> Option<f64> {
        erlang(self.offered(), self.lost())
    }
}

/// Returns the number of places at which the share `lost` of `offered` finds no place; interpolates between whole
/// numbers.
fn erlang(offered: f64, lost: f64) -> Option<f64> {
    if !offered.is_finite() || offered <= 0.0 || lost <= 0.0 {
        return None;
    }
    let (mut blocked, mut places) = (1.0, 0.0);
    while places < 2.0 * LARGEST {
        let next = offered * blocked / (places + 1.0 + offered * blocked);
        if next <= lost {
            return Some(places + (blocked - lost) / (blocked - next).max(1e-12));
        }
        (blocked, places) = (next, places + 1.0);
    }
    None
}

/// True for failures that a limit of the target can cause: its own errors, and connections that it breaks or refuses.
pub(super) fn is_of_limit(record: &Record, cause: usize) -> bool {
    let Some(cause) = record.causes.get(cause) else { return false };
    match cause.outcome {
        Outcome::Status => cause.code.starts_with('5') && &*cause.code != "504",
        Outcome::Reset | Outcome::Closed | Outcome::Refused => true,
        _ => false,
    }
}

/// Returns the labels with the failures, except labels that fail only occasionally.
pub(super) fn failing_labels(record: &Record, seconds: &[Second]) -> Vec<u32> {
    let mut sums: Vec<(u32, u64)> =
        by_label(record, seconds).into_iter().map(|(label, sum)| (label, sum.1)).collect();
    sums.sort_by_key(|sum| Reverse(sum.1));
    let all: u64 = sums.iter().map(|sum| sum.1).sum();
    let mut seen = 0;
    let is_needed = |sum: &&(u32, u64)| {
        let is = (seen as f64) < MOST * all as f64;
        seen += sum.1;
        is
    };
    sums.iter().take_while(is_needed).map(|sum| sum.0).collect()
}

pub(super) fn piece(seconds: &[Second], labels: &[u32]) -> Piece {
    let (mut count, mut failed, mut elapsed, mut lost) = (0, 0, 0.0, 0.0);
    for part in seconds.iter().flat_map(|s| labels.iter().filter_map(|label| s.labels.get(*label)))
    {
        count += part.count;
        failed += part.errors;
        elapsed += part.elapsed as f64;
        let of_bin = |(bin, n): (u32, u64)| layout::middle_of(bin) as f64 * 1000.0 * n as f64;
        lost += part.failed.iter().map(of_bin).sum::<f64>();
    }
    let length = super::figures::length_s(seconds).max(1e-3);
    let due: u64 = seconds.iter().map(|second| second.due).sum();
    let users = seconds.iter().map(|second| second.users as f64).sum::<f64>();
    let load = if due > 0 { due as f64 / length } else { users / seconds.len().max(1) as f64 };
    Piece {
        flying: elapsed / 1e9 / length,
        good: (elapsed - lost).max(0.0) / 1e9 / length,
        rate: (count - failed.min(count)) as f64 / length,
        load,
        due: due > 0,
        length,
        count,
        failed,
    }
}

/// Returns the times of successful and of failed requests of the given labels.
pub(super) fn times(seconds: &[Second], labels: &[u32]) -> (Hist, Hist) {
    let (mut all, mut failed) = (Hist::new(), Hist::new());
    for part in seconds.iter().flat_map(|s| labels.iter().filter_map(|label| s.labels.get(*label)))
    {
        all.add(&part.service);
        failed.add(&part.failed);
    }
    (without(&all, &failed), failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with the values B(10, 10) = 0.2146 and B(100, 500) = 0.8004 from published tables of the formula.
    #[test]
    fn places_are_those_of_the_tables() {
        for (offered, lost, places) in [(10.0, 0.2146, 10.0), (5.0, 0.0184, 10.0), (1.0, 0.5, 1.0)]
        {
            let found = erlang(offered, lost).expect("a number");
            assert!((found - places).abs() < 0.02, "{offered} {lost}: {found}");
        }
        assert_eq!(erlang(5.0, 0.0), None);
    }
}
