//! Detects failures after a wait of fixed length, as in a connection pool that gives up: a request that gets no
//! connection within that time fails. Jedis and DBCP often wait for some ms, HikariCP for 1, 3 or 30 s
//! (`connectionTimeout`).
//!
//! There are two signs. First, failures take the same time, while most responses do not: longer than the fastest
//! responses, and with a much smaller spread (a timer never fires early). Second, failures are more frequent with more
//! requests in flight or, under constant load, in seconds with slower responses. Failures that merely take as long
//! as their work would be equally frequent under any load and in any second. A time limit of the target or of a proxy
//! looks the same, but no response takes longer than such a limit. So a long wait needs responses that took
//! longer: those that waited nearly as long and then did their work; without them, the sentence on a short wait names a
//! time limit as well. Or the failures name the pool. Then they may also be faster than all responses: the pool hardly
//! waits, or not at all. Only the period from the first failure to the last counts: before, the target may have been a
//! different one.

use record::{Record, Second};
use stats::Outcome;
use stats::grouped::{count, percent};
use stats::hist::{Hist, layout};

use super::figures::{by_label, causes, deviation, in_flight, mean, ms, span, whole};
use super::places::{piece, times};
use super::say::{found, time, words};
use super::whose::are_of_threads;
use crate::distribution::student_quantile;
use crate::verdict::{About, Confidence, Said, Words};

/// Smallest number of errors of the target itself, for a finding.
const FAILURES: u64 = 30;
/// Smallest share of the target's own errors among all errors, for a finding.
const MOST: f64 = 0.95;
/// Failed share of a label's requests from which the label is left out.
const PART: f64 = 0.97;
/// Smallest number of successful responses of the labels with errors, for a finding.
const ANSWERS: u64 = 100;
/// Range in ms of the time of failures, measured at their 5th percentile, for a finding.
const LENGTH: (f64, f64) = (2.0, 120_000.0);
/// Shortest time of the failures in ms at which failures without slower responses are left to the rule on time limits.
const LONG: f64 = 900.0;
/// Rules whose findings follow from failures after a short wait.
const EXPLAINED: &[&str] =
    &["errors_named", "bimodal", "fails_above", "plateau", "slow_phase", "concurrency_limit"];
/// Number of responses longer than the failures from which failures after a long wait are not ended by a time limit.
/// `LONGER_SHARE` must hold, too.
const LONGER: u64 = 10;
/// Number of responses longer than the failures, as a share of the failures, from which failures after a long wait are
/// not ended by a time limit. `LONGER` must hold, too.
const LONGER_SHARE: f64 = 0.05;
/// Parts of the messages of pools without a free connection: HikariCP, DBCP and Commons Pool, Tomcat, Jedis,
/// SQLAlchemy, Hibernate.
const POOLS: [&str; 7] = [
    "Connection is not available, request timed out",
    "Timeout waiting for idle object",
    "Pool empty. Unable to fetch a connection",
    "Could not get a resource from the pool",
    "QueuePool limit of size",
    "Unable to acquire JDBC Connection",
    "SQLTransientConnectionException",
];
/// Words before the wait in ms that a pool states in its message: HikariCP.
const STATED: &str = "timed out after ";
/// Largest distance, as a share of the failures' time, of a stated wait from it, and of the fastest responses from it:
/// such responses also waited, or a wait was stated.
const NEAR: f64 = 0.1;
/// Range in which nine of ten failures lie if they take equally long, as a share of their median time.
const WITHIN: f64 = 0.25;
/// Range in ms in which nine of ten failures lie if they take equally long; the larger of `WITHIN` and this range
/// counts.
const WITHIN_MS: f64 = 1.5;
/// Smallest ratio of two spreads (p5 to p95), of the times of successful responses and of failed requests, at which
/// failed requests count as ended by a timer.
const WIDER: f64 = 2.0;
/// Largest ratio of the fastest responses' time to the time of failures at which the time of failures is a wait and not
/// network time.
const FASTER: f64 = 0.7;
/// Quantile of the response times that represents the fastest responses.
const FASTEST: f64 = 0.001;
/// Largest relative uncertainty with which a wait from a result file is reported as one number; times in result files
/// are whole ms.
const KNOWN: f64 = 0.1;
/// Smallest number of seconds in a third of the seconds. The seconds are divided into thirds in order of requests in
/// flight.
const THIRD: usize = 5;
/// Smallest ratio of the failed share with the most requests in flight to the failed share with the fewest, each in a
/// third of the seconds, at which failures grow with the load.
const MORE: f64 = 3.0;
/// Smallest number of seconds for a correlation of failures with response times.
const FOLLOWING: usize = 10;
/// Quantile of Student's t that the correlation of failures with response times must exceed to be significant.
const SURE: f64 = 0.9975;
/// Smallest ratio of two correlations of failures with response times: of their changes from second to second, and
/// of their values. A trend that both have in common correlates the values, but not the changes.
const ALSO_NEXT: f64 = 0.5;

/// Returns true for errors of the target itself. The time limit of a client is not an error of the target. Refused
/// connections are left out, because they do not wait.
fn is_own(record: &Record, cause: usize) -> bool {
    let name = record.causes.get(cause);
    name.is_some_and(|name| name.outcome == Outcome::Status && name.code.starts_with('5'))
}

/// True if the responses of a cause name a pool without a free connection. Failures without a status, as of a JDBC
/// Request, name the plan's own pool.
fn names_pool(record: &Record, cause: usize) -> bool {
    let has = |text: &str| POOLS.iter().any(|words| text.contains(words));
    let kept = || record.kept.iter().filter(|kept| kept.cause == Some(cause as u32));
    let naming = kept().filter(|kept| has(&kept.response)).count();
    is_own(record, cause) && (has(&record.causes[cause].message) || 2 * naming > kept().count())
}

/// Returns the wait in ms that the failures themselves state, if they took about as long.
fn stated_wait(record: &Record, causes: &[(usize, u64)], takes: f64) -> Option<f64> {
    let stated = |text: &str| {
        let (_, rest) = text.split_once(STATED)?;
        rest[..rest.find("ms")?].trim().parse::<f64>().ok()
    };
    let mut naming = causes.iter().map(|sum| sum.0).filter(|cause| names_pool(record, *cause));
    let wait = naming.find_map(|cause| {
        let kept = record.kept.iter().filter(|kept| kept.cause == Some(cause as u32));
        stated(&record.causes[cause].message)
            .or_else(|| kept.into_iter().find_map(|kept| stated(&kept.response)))
    })?;
    ((wait - takes).abs() <= NEAR * takes).then_some(wait)
}

/// Returns the number of responses that took longer than a time in ms.
fn longer_than(good: &Hist, ms: f64) -> u64 {
    let is_longer = |bin: u32| layout::middle_of(bin) as f64 / 1000.0 > ms;
    good.iter().filter(|(bin, _)| is_longer(*bin)).map(|(_, n)| n).sum()
}

/// Returns the failed shares in the third of the seconds with the fewest requests in flight, and in the third with the
/// most.
fn by_load(seconds: &[Second], labels: &[u32]) -> Option<(f64, f64)> {
    let mut sorted: Vec<&Second> = seconds.iter().filter(|s| s.all.count > 0).collect();
    sorted.sort_by(|a, b| in_flight(a).total_cmp(&in_flight(b)));
    let third = sorted.len() / 3;
    let share = |of: &[&Second]| {
        let counts =
            of.iter().flat_map(|s| s.labels.counts()).filter(|one| labels.contains(&one.0));
        let (all, bad) = counts.fold((0, 0), |sum, one| (sum.0 + one.1, sum.1 + one.2));
        bad as f64 / all.max(1) as f64
    };
    (third >= THIRD).then(|| (share(&sorted[..third]), share(&sorted[sorted.len() - third..])))
}

/// Returns the correlation of two series.
fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let (of_a, of_b) = (mean(a), mean(b));
    let both: f64 = a.iter().zip(b).map(|(x, y)| (x - of_a) * (y - of_b)).sum();
    both / (a.len() as f64 - 1.0) / (deviation(a) * deviation(b)).max(1e-12)
}

/// True if requests fail more often in seconds with slower responses. The correlation must be significant, and the
/// changes from each second to the next must be correlated, too.
fn follows(seconds: &[Second], labels: &[u32]) -> bool {
    let piece = |second| piece(std::slice::from_ref(second), labels);
    let pieces = seconds.iter().map(piece).filter(|piece| piece.rate > 0.0);
    let (lost, takes): (Vec<f64>, Vec<f64>) =
        pieces.map(|piece| (piece.lost(), piece.good / piece.rate)).unzip();
    let n = lost.len();
    if n < FOLLOWING {
        return false;
    }
    let steps = |of: &[f64]| of.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<_>>();
    let together = correlation(&lost, &takes);
    let t = together * (n as f64 - 2.0).sqrt() / (1.0 - together.powi(2)).max(1e-12).sqrt();
    t >= student_quantile(SURE, n as f64 - 2.0)
        && correlation(&steps(&lost), &steps(&takes)) >= ALSO_NEXT * together
}

/// Returns the seconds from the first failure to the last.
fn failing(seconds: &[Second]) -> &[Second] {
    let has = |second: &Second| second.all.errors > 0;
    let ends = (seconds.iter().position(has), seconds.iter().rposition(has));
    let (Some(first), Some(last)) = ends else { return &[] };
    &seconds[first..=last]
}

/// Returns a wait in ms between two bounds, and its text: the roundest number, or both bounds if times are too coarse.
/// Long waits are configured in whole seconds.
fn length(record: &Record, low: f64, high: f64) -> (f64, Words) {
    let rounded = if record.has.generator { 0.0 } else { 1.0 };
    let least = low - rounded;
    let wait = roundest(least.max(0.5 * high), high);
    if record.has.generator || high - least <= KNOWN * high || high >= LONG {
        let wait_words = time(wait);
        return (wait, words!(one_wait(wait_words)));
    }
    (f64::midpoint(low, high), words!(range_of_waits(low, high)))
}

/// Returns the labels of which some requests failed, and fewer than [`PART`] of all.
fn partly_failing(record: &Record, seconds: &[Second]) -> Vec<u32> {
    let labels = by_label(record, seconds);
    let some = labels
        .iter()
        .filter(|(_, (good, bad))| *bad > 0 && (*bad as f64) < PART * (good + bad) as f64);
    some.map(|(label, _)| *label).collect()
}

pub(super) fn short_wait(record: &Record) -> Option<Said> {
    let seconds = whole(record);
    let sums = causes(seconds);
    let all: u64 = sums.iter().map(|sum| sum.1).sum();
    let own: u64 = sums.iter().filter(|sum| is_own(record, sum.0)).map(|sum| sum.1).sum();
    if own < FAILURES || (own as f64) < MOST * all as f64 {
        return None;
    }
    let labels = partly_failing(record, seconds);
    let (good, failed) = times(seconds, &labels);
    let n = failed.total();
    if (n as f64) < MOST * all as f64 || good.total() < ANSWERS {
        return None;
    }
    let (from, middle, to) = (ms(&failed, 0.05), ms(&failed, 0.5), ms(&failed, 0.95));
    let (fastest, spread) = (ms(&good, FASTEST), ms(&good, 0.95) - ms(&good, 0.05));
    let is_one_length = to - from <= (WITHIN * middle).max(WITHIN_MS);
    let is_longer = fastest <= FASTER * from;
    let is_wait = is_longer && spread >= WIDER * (to - from);
    let most = |is: &dyn Fn(usize) -> bool| {
        2 * sums.iter().filter(|sum| is(sum.0)).map(|sum| sum.1).sum::<u64>() > all
    };
    let is_named = most(&|cause| names_pool(record, cause));
    if !(LENGTH.0..LENGTH.1).contains(&from) || !is_one_length || !(is_wait || is_named) {
        return None;
    }
    let is_cut = !is_named && may_be_limit(record, longer_than(&good, to), n);
    // Responses of other threads do not show that failures of threads that always fail had been faster.
    if is_cut && from >= LONG || !is_named && are_of_threads(record) {
        return None;
    }
    if !is_longer {
        let stated = stated_wait(record, &sums, middle);
        return Some(no_connection(seconds, (from, middle), fastest, n, stated));
    }
    let grows = match growth(failing(seconds), &labels) {
        None if is_named => words!(failures_name_a_pool),
        grows => grows?,
    };
    // The work before the wait takes at most as long as the fastest responses.
    let (wait, wait_words) = length(record, from - fastest, from);
    let (takes, n_words, answer) = (time(middle), count(n), time(fastest));
    let or = if is_cut { words!(or_time_limit) } else { words!(or_nothing_else) };
    Some(
        found(
            "fixed_timeout",
            About::Target,
            Confidence::Statistical,
            words!(short_wait_found(wait = wait_words, n_words, takes, answer, more = grows, or)),
        )
        .between("wait", wait, "ms", Some(((from - fastest).max(0.0), from)), span(seconds))
        .with("failed", n as f64, "requests", span(seconds))
        .advise(if is_cut { advice_on_limit() } else { advice() })
        .explaining(EXPLAINED)
        .said(),
    )
}

/// Returns the finding about failures that name a pool without a free connection and are about as fast as the fastest
/// responses, or faster: nothing shows that they waited, unless they state their wait. `from` and `takes` are the 5th
/// percentile and the median of their times in ms.
fn no_connection(
    seconds: &[Second],
    (from, takes): (f64, f64),
    fastest: f64,
    n: u64,
    stated: Option<f64>,
) -> Said {
    let may_refuse = fastest > (1.0 + NEAR) * takes || fastest < (1.0 - NEAR) * takes;
    let (takes, answer, n_words) = (time(takes), time(fastest), count(n));
    let wait = match stated.map(|stated| count(stated as u64)) {
        Some(stated) => words!(pool_gave_up_after(stated)),
        None if may_refuse => words!(pool_waits_or_refuses(takes)),
        None => words!(pool_waits(takes)),
    };
    let low = stated.map_or(0.0, |stated| stated.min(from));
    found(
        "fixed_timeout",
        About::Target,
        Confidence::Statistical,
        words!(no_free_connection_found(n_words, takes, answer, wait)),
    )
    .between(
        "wait",
        stated.unwrap_or(from),
        "ms",
        Some((low, from.max(stated.unwrap_or(from)))),
        span(seconds),
    )
    .with("failed", n as f64, "requests", span(seconds))
    .advise(if stated.is_some() { advice() } else { advice_on_refusal() })
    .explaining(EXPLAINED)
    .said()
}

/// Returns the advice on a pool that may not wait for a connection.
fn advice_on_refusal() -> Words {
    words!(no_free_connection_advice)
}

fn advice() -> Words {
    words!(short_wait_advice)
}

fn advice_on_limit() -> Words {
    words!(short_wait_advice_on_limit)
}

/// True if failures may be cut by a time limit: only `longer` responses took longer than the `failed` ones, or a
/// gateway reports that it gave up.
fn may_be_limit(record: &Record, longer: u64, failed: u64) -> bool {
    let is_few = longer < LONGER || (longer as f64) < LONGER_SHARE * failed as f64;
    // A gateway that gave up (504) names a time limit.
    let sums = causes(whole(record));
    let is_504 = |cause: usize| record.causes.get(cause).is_some_and(|name| &*name.code == "504");
    let of_gateway = sums.iter().filter(|sum| is_504(sum.0)).map(|sum| sum.1).sum::<u64>();
    let is_of_gateway = 2 * of_gateway > sums.iter().map(|sum| sum.1).sum::<u64>();
    is_few || is_of_gateway
}

/// Returns a phrase about how failures become more frequent, if they do.
fn growth(failing: &[Second], labels: &[u32]) -> Option<Words> {
    let grows = |(few, many): &(f64, f64)| *many > 0.0 && *many >= MORE * few;
    if let Some((few, many)) = by_load(failing, labels).filter(grows) {
        let (few, many) = (percent(few), percent(many));
        return Some(words!(fail_more_with_requests_in_flight(many, few)));
    }
    follows(failing, labels).then(|| words!(fail_more_when_slow))
}

/// Returns the number with the fewest digits between two bounds; the largest one if there are several.
fn roundest(low: f64, high: f64) -> f64 {
    let unit = 10_f64.powf(high.log10().floor());
    let below = [unit, unit / 2.0, unit / 10.0].map(|step| (high / step).floor() * step);
    below.into_iter().find(|n| *n >= low).unwrap_or(f64::midpoint(low, high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_a_round_number() {
        for (low, high, wait) in [
            (6.6, 8.6, 8.0),
            (4.7, 8.3, 8.0),
            (48.0, 52.0, 50.0),
            (2.2, 2.8, 2.5),
            (95.0, 101.0, 100.0),
        ] {
            assert!((roundest(low, high) - wait).abs() < 1e-9, "{low} {high}");
        }
    }
}
