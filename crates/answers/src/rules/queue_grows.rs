//! Starts that come faster than a target answers: the requests in flight grow as long as the run lasts.
//!
//! An open load starts work whatever the answers do. Where more starts than the target finishes, users in the run grow by the
//! difference, second by second, and each waits behind all that came before. Long sessions grow, too, until the first ones
//! end; but their users pause, and these wait for answers.

use record::{Record, Second};
use stats::grouped::count;

use super::errors::per_second;
use super::figures::{in_flight, length_s, mean, requests, span, sum, whole};
use super::say::{found, lacks, time, words};
use crate::verdict::{About, Confidence, Finding, Said};

const ID: &str = "queue_grows";

/// Seconds at the same rate of starts, and how much the starts of one may differ from those of the last ones.
const SECONDS: usize = 8;
const SAME_RATE: f64 = 0.1;
/// Parts of that time, in each of which users must grow, and the share of an even growth that each must have.
const PARTS: usize = 4;
const EVEN: f64 = 0.4;
/// Growth in users: at least so many, and this share of the starts.
const GROWTH: f64 = 20.0;
const GROWTH_SHARE: f64 = 0.05;
/// Share of the users at the end that wait for answers.
const WAITING: f64 = 0.5;
/// Answers take so many times as long at the end as at the beginning.
const SLOWER: f64 = 1.5;
/// Share of failures from which on the rule is silent.
const FAILED: f64 = 0.05;

pub(super) fn queue_grows(record: &Record) -> Said {
    let seconds = whole(record);
    if !record.has.users || sum(seconds, |s| s.due) == 0 {
        return lacks!(
            "starts that come whatever the answers do (--rps)",
            "不受响应影响的启动（--rps）"
        );
    }
    let seconds = at_last_rate(seconds);
    if seconds.len() < SECONDS {
        return lacks!("8 s at the same rate of starts", "8 秒不变的启动速率");
    }
    let failed = sum(seconds, |s| s.all.errors) as f64 / requests(seconds).max(1) as f64;
    let (first, last) = (&seconds[0], &seconds[seconds.len() - 1]);
    let made = sum(&seconds[1..], |s| s.due - s.missed.min(s.due)) as f64;
    let grown = last.users as f64 - first.users as f64;
    if failed > FAILED || grown < GROWTH.max(GROWTH_SHARE * made) || !is_even(seconds, grown) {
        return Said::Nothing;
    }
    let part = seconds.len() / PARTS;
    let took = |part: &[Second]| sum(part, |s| s.all.elapsed) as f64 / 1e6 / requests(part) as f64;
    let (before, after) = (&seconds[..part], &seconds[seconds.len() - part..]);
    let waiting = mean(&after.iter().map(in_flight).collect::<Vec<_>>());
    let users = mean(&after.iter().map(|s| s.users as f64).collect::<Vec<_>>());
    if requests(before) == 0 || requests(after) == 0 || waiting < WAITING * users {
        return Said::Nothing;
    }
    let (fast, slow) = (took(before), took(after));
    if slow < SLOWER * fast {
        return Said::Nothing;
    }
    let length = length_s(&seconds[1..]);
    finding(seconds, (made / length, (made - grown) / length), (fast, slow)).said()
}

/// The finding on starts made and finished per second, and the mean times at first and at last, ms.
fn finding(seconds: &[Second], (each, ended): (f64, f64), (fast, slow): (f64, f64)) -> Finding {
    let (first, last) = (&seconds[0], &seconds[seconds.len() - 1]);
    let (asked, reached) = (per_second(each), per_second(ended));
    let (from, to) = (count(first.users), count(last.users));
    let (fast, slow) = (time(fast), time(slow));
    found(
        ID,
        About::Target,
        Confidence::Arithmetic,
        words!(
            "The target does not keep up: of {asked} starts/s it finishes about {reached}/s, which is its limit under this load. The others wait: users in the run grew from {from} to {to}, and the mean response time to {slow}.",
            "被测系统跟不上：每秒 {asked} 次启动中约完成 {reached} 次，这就是它在此负载下的极限。其余都在等待：运行中的用户从 {from} 增长到 {to}，平均响应时间增长到 {slow}。"
        ),
    )
    .with("starts", each, "1/s", span(seconds))
    .with("finished", ended, "1/s", span(seconds))
    .with("users_from", first.users as f64, "users", span(seconds))
    .with("users_to", last.users as f64, "users", span(seconds))
    .rules_out(words!("a test that is too short: the growth does not end", "测试过短：增长不会停止"))
    .advise(words!(
        "Ask for less than {reached}/s, or let throng capacity --rps find the highest rate at which answers still come in time (here they took {fast} at first).",
        "要求低于 {reached}/s 的速率，或用 throng capacity --rps 找出仍能按时响应的最高速率（此处最初为 {fast}）。"
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

/// The last seconds, as far as as many starts were due in each.
fn at_last_rate(seconds: &[Second]) -> &[Second] {
    let per_s = |s: &Second| s.due as f64 * 1000.0 / f64::from(s.ms.max(1));
    let last = &seconds[seconds.len().saturating_sub(SECONDS)..];
    let rate = mean(&last.iter().map(per_s).collect::<Vec<_>>());
    // Starts come by chance, or evenly.
    let near = |s: &Second| (per_s(s) - rate).abs() <= SAME_RATE * rate + 3.0 * rate.sqrt();
    let same = seconds.iter().rev().take_while(|s| near(s)).count();
    &seconds[seconds.len() - same..]
}

/// Whether users grow in each part of the time.
fn is_even(seconds: &[Second], grown: f64) -> bool {
    let step = (seconds.len() - 1) / PARTS;
    (0..PARTS).all(|part| {
        let (from, to) = (&seconds[part * step], &seconds[(part + 1) * step]);
        to.users as f64 - from.users as f64 >= EVEN * grown / PARTS as f64
    })
}
