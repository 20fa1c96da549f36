//! Detects starts that arrive faster than a target responds: the requests in flight grow throughout the run.
//!
//! An open load starts users regardless of responses. If more users start than finish, the number of users in the run
//! grows by the difference each second, and each one waits behind all earlier ones. The number also grows with long
//! sessions until the first sessions end, but their users pause; users in a queue wait for responses.

use record::{Record, Second};
use stats::grouped::count;

use super::errors::per_second;
use super::figures::{in_all, in_flight, length_s, mean, rate, requests, span, sum, whole};
use super::run::Run;
use super::say::{found, lacks, time, words};
use crate::verdict::{About, Confidence, Finding, Said};

const ID: &str = "queue_grows";

/// Smallest number of seconds with the same rate of starts, for a finding.
const SECONDS: usize = 6;
/// Largest relative difference, beyond chance, between the starts of a second and the last rate at which the rate
/// counts as the same.
const SAME_RATE: f64 = 0.1;
/// Largest growth of the response rate at which the target counts as full, as a ratio: from the first half of the
/// period with the same rate of starts to its second half, beyond chance. The first second of the period is left out. A
/// target that finishes more and more requests is slow, but not at its limit.
const NO_MORE: f64 = 1.1;
/// Smallest rate of starts in earlier seconds, as a share of the final rate, at which these seconds count as the same
/// load. A growing load may exceed the limit of the target before it reaches its final rate.
const RISING: f64 = 0.4;
/// Number of parts of equal length into which the period with the same rate of starts is divided.
const PARTS: usize = 4;
/// Smallest growth of users in each part of the period with the same rate of starts, as a share of the growth if users
/// had ended at a constant rate.
const EVEN: f64 = 0.4;
/// Smallest growth of the number of users for a finding.
const GROWTH: f64 = 20.0;
/// Smallest growth of the number of users for a finding, as a share of the starts.
const GROWTH_SHARE: f64 = 0.05;
/// Smallest share of the users at the end that wait for responses, for a finding.
const WAITING: f64 = 0.5;
/// Smallest number of seconds after the last start that show how users leave.
const DRAINS: usize = 4;
/// Smallest share of users left halfway from the last start to the end of the record, for a target that works through a
/// queue.
const LEFT: f64 = 0.25;
/// Largest ratio of the request rate after the last start to the request rate before it, for a target that works
/// through a queue.
const NO_FASTER: f64 = 1.5;
/// Smallest ratio of ended users to requests at which each user is assumed to send one request.
const ONE_EACH: f64 = 0.8;
/// Time in ms after the last start within which cut samples count as in flight at that start.
const CUT_MS: i64 = 2000;
/// Smallest ratio of the response time at the end to that at the beginning, for a finding.
const SLOWER: f64 = 1.5;
/// Largest share of failures for a finding.
const FAILED: f64 = 0.05;

/// A second, with the number of users that were due to start in it.
type Starts<'r> = (&'r Second, u64);

/// Returns each whole second with the number of users due to start in it: the number that the rate required, or, in a
/// run without a rate, the number of users that did start.
fn starts(record: &Record) -> Vec<Starts<'_>> {
    let seconds = whole(record);
    if sum(seconds, |s| s.due) > 0 {
        return seconds.iter().map(|s| (s, s.due)).collect();
    }
    let first_ms = seconds.first().map_or(i64::MAX, |s| s.at_ms);
    let before = record.seconds.iter().take_while(|s| s.at_ms < first_ms).last();
    let before = before.map_or(0, |s| s.started);
    let earlier = std::iter::once(before).chain(seconds.iter().map(|s| s.started));
    seconds.iter().zip(earlier).map(|(s, earlier)| (s, s.started.saturating_sub(earlier))).collect()
}

/// Returns the number of starts that were made in a second, without the missed ones.
fn made_in((second, due): &Starts) -> u64 {
    due - second.missed.min(*due)
}

pub(super) fn queue_grows(record: &Run<'_>) -> Said {
    let starts = starts(record);
    let starts = at_last_rate(&starts);
    if !record.has.users || starts.len() < SECONDS {
        return lacks!(six_seconds_of_same_rate);
    }
    let seconds: Vec<Second> = starts.iter().map(|(second, _)| in_all(second)).collect();
    let seconds = &seconds[..];
    let failed = sum(seconds, |s| s.all.errors) as f64 / requests(seconds).max(1) as f64;
    let (first, last) = (&seconds[0], &seconds[seconds.len() - 1]);
    let made = starts[1..].iter().map(made_in).sum::<u64>() as f64;
    let grown = last.users as f64 - first.users as f64;
    let ended = made - grown;
    let is_growth = grown >= GROWTH.max(GROWTH_SHARE * made) && is_even(starts, ended);
    // Users that arrive and stay do not form a queue.
    if failed > FAILED || !is_growth || ended < GROWTH_SHARE * made {
        return Said::Nothing;
    }
    if !is_full(seconds) || !drains_evenly(record, seconds) {
        return Said::Nothing;
    }
    let took = |part: &[Second]| sum(part, |s| s.all.elapsed) as f64 / 1e6 / requests(part) as f64;
    let ends = parts(seconds);
    let (before, after) = (&seconds[..ends[1].max(1)], &seconds[ends[PARTS - 1]..]);
    let (flying, users) = (over_time(after, in_flight), over_time(after, |s| s.users as f64));
    let is_waiting =
        flying >= WAITING * users || waiting(record, last) >= WAITING * last.users as f64;
    if requests(before) == 0 || requests(after) == 0 || !is_waiting {
        return Said::Nothing;
    }
    let (fast, slow) = (took(before), took(after));
    if slow < SLOWER * fast {
        return Said::Nothing;
    }
    let length = length_s(&seconds[1..]);
    let is_one_each = ended >= ONE_EACH * requests(&seconds[1..]) as f64;
    let reached = if is_one_each { ended / length } else { rate(&seconds[1..]) };
    let each = rate_at_end(starts);
    finding(seconds, each, reached, is_one_each, fast, slow).said()
}

/// Builds the finding. `each`: starts made per second; `reached`: users that ended per second, or requests where a user
/// makes several; `fast`, `slow`: mean times at the beginning and at the end, in ms.
fn finding(
    seconds: &[Second],
    each: f64,
    reached: f64,
    is_one_each: bool,
    fast: f64,
    slow: f64,
) -> Finding {
    let (first, last) = (&seconds[0], &seconds[seconds.len() - 1]);
    let (asked, done) = (per_second(each), per_second(reached));
    let (from, to) = (count(first.users), count(last.users));
    let (fast, slow) = (time(fast), time(slow));
    let (said, less) = if is_one_each {
        (words!(queue_finishes(asked, done)), words!(queue_less_than(done)))
    } else {
        (words!(queue_answers(asked, done)), words!(queue_less))
    };
    found(
        ID,
        About::Target,
        Confidence::Arithmetic,
        words!(queue_grows_found(said, from, to, slow)),
    )
    .with("starts", each, "1/s", span(seconds))
    .with("finished", reached, "1/s", span(seconds))
    .with("users_from", first.users as f64, "users", span(seconds))
    .with("users_to", last.users as f64, "users", span(seconds))
    .rules_out(words!(queue_grows_not_short_test))
    .advise(words!(queue_grows_advice(less, fast)))
    .explaining(&[
        "late_starts",
        "drift",
        "warmup_unfinished",
        "step_change",
        "slow_phase",
        "bimodal",
        "fixed_timeout",
        "too_few_samples",
    ])
}

/// Returns the starts of a second as a rate per second.
fn per_s((second, due): &Starts) -> f64 {
    *due as f64 * 1000.0 / f64::from(second.ms.max(1))
}

/// Returns the tolerated difference from a rate, for starts at random or at even intervals.
fn chance(rate: f64) -> f64 {
    SAME_RATE * rate + 3.0 * rate.sqrt()
}

/// Returns the starts made per second at the end, over the period in which the rate was the same.
fn rate_at_end(starts: &[Starts]) -> f64 {
    let last = per_s(&starts[starts.len() - 1]);
    let same = starts.iter().rev().take_while(|start| (per_s(start) - last).abs() <= chance(last));
    let (n, ms) = same.fold((0, 0), |(n, ms), start| (n + made_in(start), ms + start.0.ms));
    n as f64 * 1000.0 / f64::from(ms.max(1))
}

/// Returns the last seconds with starts, as long as the rate of starts is the same. After these seconds, users wait
/// for their last responses; the more users have started, the longer they wait.
fn at_last_rate<'s, 'r>(starts: &'s [Starts<'r>]) -> &'s [Starts<'r>] {
    let end = starts.iter().rposition(|(_, due)| *due > 0).map_or(0, |last| last + 1);
    let mut starts = &starts[..end];
    let last = &starts[starts.len().saturating_sub(SECONDS / 2)..];
    let rate = mean(&last.iter().map(per_s).collect::<Vec<_>>());
    // Within the last second with starts, the starts may have ended.
    if let [rest @ .., ended] = starts
        && (per_s(ended) - rate).abs() > chance(rate)
    {
        starts = rest;
    }
    let counts = |start: &Starts| (RISING * rate..=rate + chance(rate)).contains(&per_s(start));
    let same = starts.iter().rev().take_while(|start| counts(start)).count();
    &starts[starts.len() - same..]
}

/// True if the target continued at the same rate after the last start, as far as the record shows. In this case about
/// half of the users are left halfway through the rest of the record. With slow responses and no queue, most users
/// leave soon, or many at once.
fn drains_evenly(record: &Record, seconds: &[Second]) -> bool {
    let last = &seconds[seconds.len() - 1];
    let from = record.seconds.partition_point(|s| s.at_ms <= last.at_ms);
    let later = &record.seconds[from..];
    let length_ms = later.last().map_or(0, |end| end.at_ms - last.at_ms);
    let half = later.partition_point(|s| 2 * (s.at_ms - last.at_ms) <= length_ms);
    let Some(half) = later.get(half).filter(|_| later.len() >= DRAINS) else {
        return true;
    };
    half.users as f64 >= LEFT * last.users as f64 && rate(later) <= NO_FASTER * rate(seconds)
}

/// Returns the number of requests in flight at the end of a second, computed from the requests that ended later. In
/// a fast-growing queue there are many more than Little's law gives for the requests that end in that second.
fn waiting(record: &Record, second: &Second) -> f64 {
    let later = record.seconds.iter().filter(|later| later.at_ms > second.at_ms);
    let waited = later.map(|later| {
        let since_ms = later.at_ms - i64::from(later.ms) / 2 - second.at_ms;
        let was_there = |bin: u32| stats::hist::layout::middle_of(bin) as i64 >= since_ms * 1000;
        let bins = later.all.service.iter().filter(|(bin, _)| was_there(*bin));
        let cut = if since_ms <= CUT_MS { later.all.cut } else { 0 };
        bins.map(|(_, n)| n).sum::<u64>() + cut
    });
    waited.sum::<u64>() as f64
}

/// True if the target does not finish more requests per second as time passes.
fn is_full(seconds: &[Second]) -> bool {
    let (before, after) = seconds[1..].split_at((seconds.len() - 1) / 2);
    let chance = 2.0 * (requests(before).max(1) as f64).sqrt() / length_s(before).max(1e-3);
    rate(after) <= NO_MORE * rate(before) + chance
}

/// True if the number of users grows evenly: in each part of the period by at least [`EVEN`] of the growth if the users
/// that `ended` in the whole period had ended at a constant rate.
fn is_even(starts: &[Starts], ended: f64) -> bool {
    let behind = &starts[1..];
    let length = |starts: &[Starts]| starts.iter().map(|(s, _)| f64::from(s.ms)).sum::<f64>();
    let ends = parts(behind.iter().map(|start| start.0));
    ends.windows(2).all(|ends| {
        let part = &behind[ends[0]..ends[1]];
        let made = part.iter().map(made_in).sum::<u64>() as f64;
        let grown = starts[ends[1]].0.users as f64 - starts[ends[0]].0.users as f64;
        grown >= EVEN * (made - ended * length(part) / length(behind).max(1.0))
    })
}

/// Returns the indexes that divide the seconds into parts of equal length. In a long run, one entry may cover many
/// seconds.
fn parts<'s>(seconds: impl IntoIterator<Item = &'s Second>) -> [usize; PARTS + 1] {
    let ends: Vec<u64> = seconds
        .into_iter()
        .scan(0, |ms, second| {
            *ms += u64::from(second.ms);
            Some(*ms)
        })
        .collect();
    let all = ends.last().copied().unwrap_or(0);
    std::array::from_fn(|part| ends.partition_point(|end| PARTS as u64 * end <= part as u64 * all))
}

/// Returns the time-weighted mean of a metric over the given seconds.
fn over_time(seconds: &[Second], of: impl Fn(&Second) -> f64) -> f64 {
    let sum: f64 = seconds.iter().map(|second| of(second) * f64::from(second.ms)).sum();
    sum / (length_s(seconds) * 1000.0).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns seconds of the given lengths in s, in which the users grow by 5 per second at 50 starts per second.
    fn growing(lengths: impl IntoIterator<Item = u32>) -> Vec<Second> {
        let mut at = 0;
        let second = |length: u32| {
            at += u64::from(length);
            let at_ms = at as i64 * 1000;
            Second {
                at_ms,
                ms: length * 1000,
                users: 5 * at,
                due: 50 * u64::from(length),
                ..Second::default()
            }
        };
        lengths.into_iter().map(second).collect()
    }

    #[test]
    fn parts_of_long_runs_have_the_same_length() {
        assert_eq!(parts(&growing([1; 20])), [0, 5, 10, 15, 20]);
        assert_eq!(parts(&growing([1; 6])), [0, 1, 3, 4, 6]);
        let mixed = [1; 10].into_iter().chain([10; 3]);
        assert_eq!(parts(&growing(mixed.clone())), [0, 10, 11, 12, 13]);
        for seconds in
            [growing([1; 40]), growing(mixed), growing([1; 11].into_iter().chain([10, 10]))]
        {
            let starts: Vec<Starts> = seconds.iter().map(|second| (second, second.due)).collect();
            let ended = 45.0 * length_s(&seconds[1..]);
            assert!(is_even(&starts, ended), "{}", seconds.len());
        }
        assert_eq!(over_time(&growing([1, 3]), |second| second.users as f64), 16.25);
    }
}
