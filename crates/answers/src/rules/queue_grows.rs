//! Starts that come faster than a target answers: the requests in flight grow as long as the run lasts.
//!
//! An open load starts work whatever the answers do. Where more starts than the target finishes, users in the run grow by the
//! difference, second by second, and each waits behind all that came before. Long sessions grow, too, until the first ones
//! end; but their users pause, and these wait for answers.

use record::{Record, Second};
use stats::grouped::count;

use super::errors::per_second;
use super::figures::{in_all, in_flight, length_s, mean, rate, requests, span, sum, whole};
use super::run::Run;
use super::say::{found, lacks, time, words};
use crate::verdict::{About, Confidence, Finding, Said};

const ID: &str = "queue_grows";

/// Seconds at the same rate of starts, and how much the starts of one may differ from those of the last ones.
const SECONDS: usize = 6;
const SAME_RATE: f64 = 0.1;
/// Answers per second of the second half of that time over those of the first, without its first second, beyond chance. A
/// target that finishes more and more of them is slow, not full.
const NO_MORE: f64 = 1.1;
/// Share of that rate from which on a lower rate before it counts as well: a load that grows may be too high by then.
const RISING: f64 = 0.4;
/// Parts of that time, in each of which users must grow, and the share that each must have of what it would have had if as
/// many had ended in each.
const PARTS: usize = 4;
const EVEN: f64 = 0.4;
/// Growth in users: at least so many, and this share of the starts.
const GROWTH: f64 = 20.0;
const GROWTH_SHARE: f64 = 0.05;
/// Share of the users at the end that wait for answers.
const WAITING: f64 = 0.5;
/// Seconds behind the last start that tell how users leave, and the share of them that are left after half of the time.
const DRAINS: usize = 4;
const LEFT: f64 = 0.25;
/// Requests per second behind the last start over those before it.
const NO_FASTER: f64 = 1.5;
/// Users that end over requests, from which on each user is one request.
const ONE_EACH: f64 = 0.8;
/// Samples that were cut off so soon behind the last start, ms, were in flight then.
const CUT_MS: i64 = 2000;
/// Answers take so many times as long at the end as at the beginning.
const SLOWER: f64 = 1.5;
/// Share of failures from which on the rule is silent.
const FAILED: f64 = 0.05;

/// A second, and the users that were due to start in it.
type Starts<'r> = (&'r Second, u64);

/// Whole seconds with their starts: those of a rate that was asked for, or users as they came.
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

/// The starts of a second that were made.
fn made_in((second, due): &Starts) -> u64 {
    due - second.missed.min(*due)
}

pub(super) fn queue_grows(record: &Run<'_>) -> Said {
    let starts = starts(record);
    let starts = at_last_rate(&starts);
    if !record.has.users || starts.len() < SECONDS {
        return lacks!(
            "6 s in which users start at the same rate (--rps)",
            "6 秒以相同速率启动用户（--rps）"
        );
    }
    let seconds: Vec<Second> = starts.iter().map(|(second, _)| in_all(second)).collect();
    let seconds = &seconds[..];
    let failed = sum(seconds, |s| s.all.errors) as f64 / requests(seconds).max(1) as f64;
    let (first, last) = (&seconds[0], &seconds[seconds.len() - 1]);
    let made = starts[1..].iter().map(made_in).sum::<u64>() as f64;
    let grown = last.users as f64 - first.users as f64;
    let ended = made - grown;
    let is_growth = grown >= GROWTH.max(GROWTH_SHARE * made) && is_even(starts, ended);
    // Users that come and stay are no queue.
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
    finding(seconds, (each, reached), is_one_each, (fast, slow)).said()
}

/// The finding on starts made per second, and on those that ended, or on requests where a user makes several; and the mean
/// times at first and at last, ms.
fn finding(
    seconds: &[Second],
    (each, reached): (f64, f64),
    is_one_each: bool,
    (fast, slow): (f64, f64),
) -> Finding {
    let (first, last) = (&seconds[0], &seconds[seconds.len() - 1]);
    let (asked, done) = (per_second(each), per_second(reached));
    let (from, to) = (count(first.users), count(last.users));
    let (fast, slow) = (time(fast), time(slow));
    let (said, said_zh, less, less_zh) = if is_one_each {
        (
            format!("of {asked} starts/s it finishes about {done}/s"),
            format!("每秒 {asked} 次启动中约完成 {done} 次"),
            format!(" than {done}/s"),
            format!("低于 {done}/s"),
        )
    } else {
        (
            format!("{asked} users start per second, and it answers about {done} requests/s"),
            format!("每秒启动 {asked} 个用户，它每秒约响应 {done} 个请求"),
            String::new(),
            "更低".to_owned(),
        )
    };
    found(
        ID,
        About::Target,
        Confidence::Arithmetic,
        words!(
            "The target does not keep up: {said}, which is its limit under this load. The others wait: users in the run grew from {from} to {to}, and the mean response time to {slow}.",
            "被测系统跟不上：{said_zh}，这就是它在此负载下的极限。其余都在等待：运行中的用户从 {from} 增长到 {to}，平均响应时间增长到 {slow}。"
        ),
    )
    .with("starts", each, "1/s", span(seconds))
    .with("finished", reached, "1/s", span(seconds))
    .with("users_from", first.users as f64, "users", span(seconds))
    .with("users_to", last.users as f64, "users", span(seconds))
    .rules_out(words!("a test that is too short: the growth does not end", "测试过短：增长不会停止"))
    .advise(words!(
        "Ask for less{less}, or let throng capacity --rps find the highest rate at which answers still come in time (here they took {fast} at first).",
        "要求{less_zh}的速率，或用 throng capacity --rps 找出仍能按时响应的最高速率（此处最初为 {fast}）。"
    ))
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

/// Starts of a second, per second.
fn per_s((second, due): &Starts) -> f64 {
    *due as f64 * 1000.0 / f64::from(second.ms.max(1))
}

/// How far starts that come by chance, or evenly, may be from a rate.
fn chance(rate: f64) -> f64 {
    SAME_RATE * rate + 3.0 * rate.sqrt()
}

/// Starts made per second at the end, for as long as the rate was the same.
fn rate_at_end(starts: &[Starts]) -> f64 {
    let last = per_s(&starts[starts.len() - 1]);
    let same = starts.iter().rev().take_while(|start| (per_s(start) - last).abs() <= chance(last));
    let (n, ms) = same.fold((0, 0), |(n, ms), start| (n + made_in(start), ms + start.0.ms));
    n as f64 * 1000.0 / f64::from(ms.max(1))
}

/// The last seconds with starts, as far as as many came in each. Behind them users wait for their last answers: the longer,
/// the more starts there were.
fn at_last_rate<'s, 'r>(starts: &'s [Starts<'r>]) -> &'s [Starts<'r>] {
    let end = starts.iter().rposition(|(_, due)| *due > 0).map_or(0, |last| last + 1);
    let mut starts = &starts[..end];
    let last = &starts[starts.len().saturating_sub(SECONDS / 2)..];
    let rate = mean(&last.iter().map(per_s).collect::<Vec<_>>());
    // In the last of them, starts may have ended.
    if let [rest @ .., ended] = starts
        && (per_s(ended) - rate).abs() > chance(rate)
    {
        starts = rest;
    }
    let counts = |start: &Starts| (RISING * rate..=rate + chance(rate)).contains(&per_s(start));
    let same = starts.iter().rev().take_while(|start| counts(start)).count();
    &starts[starts.len() - same..]
}

/// Whether the target went on at the same rate behind the last start, as far as the run does: half of the time later, about
/// half of the users are still there. Of slow answers that nothing holds up most come soon, or many at once.
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

/// Requests that were in flight at the end of a second, by those that ended later: in a queue that grows fast they are many
/// more than the requests that end in it have waited for.
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

/// Whether the target finishes no more requests per second as the time goes on.
fn is_full(seconds: &[Second]) -> bool {
    let (before, after) = seconds[1..].split_at((seconds.len() - 1) / 2);
    let chance = 2.0 * (requests(before).max(1) as f64).sqrt() / length_s(before).max(1e-3);
    rate(after) <= NO_MORE * rate(before) + chance
}

/// Whether users grow in each part of the time, of which so many end in all.
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

/// The ends of parts of the same length, with the beginning of the first: one of a long run may be an interval of many seconds.
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

/// The mean of a figure over the time of these seconds.
fn over_time(seconds: &[Second], of: impl Fn(&Second) -> f64) -> f64 {
    let sum: f64 = seconds.iter().map(|second| of(second) * f64::from(second.ms)).sum();
    sum / (length_s(seconds) * 1000.0).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Users that grow by 5 of 50 starts per second, in seconds of these lengths, s.
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
