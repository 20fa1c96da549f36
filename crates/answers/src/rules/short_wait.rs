//! Failures behind a short wait of one length, as a pool makes them that fails fast: who gets no connection for so long is
//! given up.
//!
//! Two signs. Failures take one time, which most answers do not: longer than the fastest answers, and far more alike than
//! answers are (a timer never fires early). And they are more where more requests are in flight. Failures that merely take
//! as long as their work would be as many under any load.

use record::{Record, Second};
use stats::Outcome;
use stats::grouped::count;
use stats::hist::Hist;

use super::figures::{by_label, causes, in_flight, ms, span, whole, without};
use super::say::{found, time, words};
use crate::verdict::{About, Confidence, Said};

/// Failures, at least, share of all failures that such causes make, and of the requests of a label, at most.
const FAILURES: u64 = 30;
const MOST: f64 = 0.95;
const PART: f64 = 0.5;
/// The shortest and the longest wait before a failure that is reported as one, ms. A longer wait is taken for a
/// time limit.
const LENGTH: (f64, f64) = (2.0, 1000.0);
/// Nine of ten failures lie within this share of their time, or this many ms; answers spread by this factor more.
const WITHIN: f64 = 0.25;
const WITHIN_MS: f64 = 1.5;
const WIDER: f64 = 2.0;
/// The fastest answers take less than this part of the time of failures.
const FASTER: f64 = 0.6;
/// Seconds in each third by load, and the factor by which a greater share fails in the third with the most in flight.
const THIRD: usize = 5;
const MORE: f64 = 3.0;

/// The target's own errors: what a client gave up is its time limit, and refused connections wait for nothing.
fn is_own(record: &Record, cause: usize) -> bool {
    let Some(cause) = record.causes.get(cause) else { return false };
    cause.outcome == Outcome::Status && cause.code.starts_with('5')
}

/// Shares of requests that fail in the third of the seconds with the fewest in flight, and in that with the most.
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

pub(super) fn short_wait(record: &Record) -> Option<Said> {
    let seconds = whole(record);
    let sums = causes(seconds);
    let all: u64 = sums.iter().map(|sum| sum.1).sum();
    let own: u64 = sums.iter().filter(|sum| is_own(record, sum.0)).map(|sum| sum.1).sum();
    if own < FAILURES || (own as f64) < MOST * all as f64 {
        return None;
    }
    let labels = by_label(record, seconds);
    let labels: Vec<u32> = labels
        .iter()
        .filter(|(_, (good, bad))| *bad > 0 && (*bad as f64) < PART * (good + bad) as f64)
        .map(|(label, _)| *label)
        .collect();
    let (mut taken, mut failed) = (Hist::new(), Hist::new());
    for part in seconds.iter().flat_map(|s| labels.iter().filter_map(|label| s.labels.get(*label)))
    {
        taken.add(&part.service);
        failed.add(&part.failed);
    }
    let good = without(&taken, &failed);
    let n = failed.total();
    if (n as f64) < MOST * all as f64 || good.total() < n {
        return None;
    }
    let (from, middle, to) = (ms(&failed, 0.05), ms(&failed, 0.5), ms(&failed, 0.95));
    let (fastest, spread) = (ms(&good, 0.05), ms(&good, 0.95) - ms(&good, 0.05));
    let is_one_length = to - from <= (WITHIN * middle).max(WITHIN_MS);
    let is_wait = fastest <= FASTER * from && spread >= WIDER * (to - from);
    let (few, many) = by_load(seconds, &labels)?;
    if !(LENGTH.0..LENGTH.1).contains(&from) || !is_one_length || !is_wait || many < MORE * few {
        return None;
    }
    // What comes before the wait takes no longer than the fastest answers.
    let wait = roundest((from - fastest).max(0.5 * from), from);
    let (wait_words, takes, n_words, answer) = (time(wait), time(middle), count(n), time(fastest));
    let (few_words, many_words) = (share(few), share(many));
    Some(
        found(
            "fixed_timeout",
            About::Target,
            Confidence::Statistical,
            words!(
                "A wait of about {wait_words} precedes the failures: {n_words} requests failed after {takes}, all nearly alike, where the fastest answers take {answer}. They are {many_words} of the requests where most are in flight, and {few_words} where few are: a pool or a queue that gives up after so long.",
                "失败之前有约 {wait_words} 的等待：{n_words} 个请求在 {takes} 后失败，时间几乎相同，而最快的响应为 {answer}。在途最多时失败占 {many_words}，在途少时占 {few_words}：连接池或队列等待这么久后放弃。"
            ),
        )
        .between("wait", wait, "ms", Some(((from - fastest).max(0.0), from)), span(seconds))
        .with("failed", n as f64, "requests", span(seconds))
        .with("failed_share", many, "share", span(seconds))
        .advise(words!(
            "Look for a wait of that length for a connection (max-wait of a Jedis or DBCP pool, connectionTimeout, pool_timeout) in the target or what it calls: the pool is too small for this load, or its connections are held for too long.",
            "在被测系统或其调用的服务中查找该时长的连接等待（Jedis 或 DBCP 连接池的 max-wait、connectionTimeout、pool_timeout）：连接池对该负载太小，或连接被占用太久。"
        ))
        .explaining(&["errors_named", "bimodal", "fails_above"])
        .said(),
    )
}

fn share(value: f64) -> String {
    stats::grouped::percent(value)
}

/// The greatest number between two that has the fewest digits.
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
