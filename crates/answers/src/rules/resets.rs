//! Detects connections that the target resets or refuses above some load.
//!
//! Time and load grow together while users start. The load is the cause if the share of resets keeps growing with it,
//! or if a lighter load after the first reset has none. Otherwise the cause may be an event at that time, and the rule
//! does not decide.

use record::{Record, Second};
use stats::Outcome;
use stats::grouped::count;

use super::defaults;
use super::figures::{in_flight, requests, span, sum, whole, with_users};
use super::say::{counted, found, lacks, words};
use super::whose::{are_of_threads, or_threads};
use crate::verdict::{About, Confidence, Said, Words};

/// Smallest number of resets and refusals for a finding.
const RESETS: u64 = 10;
/// Smallest number of seconds with fewer users than the threshold, for a finding. The threshold is the number of users
/// from which resets occur, apart from a few (`FEW`).
const QUIET_SECONDS: usize = 10;
/// Smallest number of samples in the seconds with fewer users than the threshold, for a finding.
const QUIET_SAMPLES: u64 = 300;
/// Smallest share of seconds with resets among the seconds with at least as many users as the threshold, for a finding.
const ABOVE: f64 = 0.5;
/// Largest share of all resets that may occur with fewer users than the threshold.
const FEW: f64 = 0.02;
/// Smallest ratio of two shares of resets at which the share grows with the load: with many users and with few users.
/// Only seconds with at least as many users as the threshold are compared.
const GROWS: f64 = 1.4;
/// Smallest excess of the resets with many users over the number expected from the share with few users, in standard
/// deviations of chance, at which the share of resets grows with the load.
const BEYOND: f64 = 3.0;
/// Smallest number of seconds with fewer users than the threshold after the first reset, for the load to count as the
/// cause without a growing share of resets.
const LATER_SECONDS: usize = 5;
/// Smallest number of requests with fewer users than the threshold after the first reset, for the load to count as the
/// cause without a growing share of resets.
const LATER_SAMPLES: u64 = 100;

/// Returns a phrase about the number of resets (`rare`) among the requests with fewer users than the threshold
/// (`calm`).
fn seldom(rare: u64, calm: &str) -> Words {
    let times = count(rare);
    if rare == 0 {
        words!(never_with_fewer_users(calm))
    } else {
        words!(seldom_with_fewer_users(times, calm))
    }
}

/// True if the share of resets grows with the load. `above`: seconds with at least as many users as the threshold,
/// sorted by number of users.
fn grows(above: &[(u64, &Second)], resets: impl Fn(&Second) -> u64) -> bool {
    let [first, .., last] = above else { return false };
    let middle = (first.0 + last.0).div_ceil(2);
    let (lower, upper) = above.split_at(above.partition_point(|(users, _)| *users < middle));
    let of = |part: &[(u64, &Second)]| {
        let sums = part.iter().map(|(_, s)| (resets(s), s.all.count));
        sums.fold((0, 0), |sum, of| (sum.0 + of.0, sum.1 + of.1))
    };
    let ((few, of_few), (many, of_many)) = (of(lower), of(upper));
    if of_few == 0 || of_many == 0 {
        return false;
    }
    let expected = few as f64 / of_few as f64 * of_many as f64;
    let chance = (expected * (1.0 + of_many as f64 / of_few as f64)).sqrt();
    many as f64 >= GROWS * expected && many as f64 >= expected + BEYOND * chance
}

/// Returns the number of connections that were reset, closed or refused in a second.
fn resets_of(record: &Record, second: &Second) -> u64 {
    let is_reset = |cause: u32| {
        let outcome = record.causes.get(cause as usize).map(|cause| cause.outcome);
        matches!(outcome, Some(Outcome::Reset | Outcome::Closed | Outcome::Refused))
    };
    second.causes.iter().filter(|(cause, _)| is_reset(*cause)).map(|(_, n)| n).sum()
}

/// Returns the load and the second at which the resets begin, apart from a few earlier ones. `by_load`: seconds in the
/// order of their load.
fn first_resets<'s>(
    by_load: &[(u64, &'s Second)],
    all: u64,
    resets: impl Fn(&Second) -> u64,
) -> Option<(u64, &'s Second)> {
    let mut seen = 0;
    let has_begun = |(_, second): &&(u64, &Second)| {
        seen += resets(second);
        seen as f64 > FEW * all as f64
    };
    by_load.iter().find(has_begun).copied()
}

pub(super) fn reset_under_load(record: &Record) -> Said {
    let seconds = whole(record);
    if !record.has.users {
        return lacks!(number_of_users);
    }
    if !record.knows_errors() {
        return lacks!(success_column);
    }
    let resets = |second: &Second| resets_of(record, second);
    let all = sum(seconds, resets);
    let mut by_load: Vec<(u64, &Second)> = with_users(seconds).collect();
    by_load.sort_by_key(|(users, _)| *users);
    let Some((threshold, first)) = first_resets(&by_load, all, resets) else {
        return Said::Nothing;
    };
    let (below, above): (Vec<_>, Vec<_>) =
        by_load.iter().partition(|(users, _)| *users < threshold);
    let quiet: u64 = below.iter().map(|(_, s)| s.all.count).sum();
    let hit = above.iter().filter(|(_, s)| resets(s) > 0).count();
    let enough = all >= RESETS && below.len() >= QUIET_SECONDS && quiet >= QUIET_SAMPLES;
    if !enough || (hit as f64) < ABOVE * above.len() as f64 || are_of_threads(record) {
        return Said::Nothing;
    }
    let begins_ms = seconds.iter().find(|s| resets(s) > 0).map_or(0, |second| second.at_ms);
    let later: Vec<&Second> =
        below.iter().map(|(_, second)| *second).filter(|s| s.at_ms > begins_ms).collect();
    let sent: u64 = later.iter().map(|second| second.all.count).sum();
    let is_back = later.len() >= LATER_SECONDS && sent >= LATER_SAMPLES;
    if !is_back && !grows(&above, resets) {
        return lacks!(lighter_load_after_first_reset);
    }
    let or = or_threads(record);
    let (n, flying, calm) =
        (count(all), counted(in_flight(first).min(threshold as f64)), count(quiet));
    let never = seldom(below.iter().map(|(_, s)| resets(s)).sum(), &calm);
    // The limit lies between the most users without a reset and the fewest users with some.
    let most_quiet = below.last().map_or(0, |(users, _)| *users);
    let interval = Some((most_quiet as f64, threshold as f64));
    let default = defaults::between(most_quiet as f64, threshold as f64 + 1.0);
    found(
        "reset_under_load",
        About::Target,
        Confidence::Statistical,
        words!(resets_found(threshold, most_quiet, flying, n, never, or)),
    )
    .with("resets", all as f64, "connections", span(seconds))
    .between("threshold", threshold as f64, "users", interval, span(seconds))
    .with("reset_share", all as f64 / requests(seconds).max(1) as f64, "share", span(seconds))
    .advise(defaults::beside(words!(resets_advice), default.map_or(0.0, f64::from)))
    .explaining(&["errors_named", "connection_churn"])
    .said()
}
