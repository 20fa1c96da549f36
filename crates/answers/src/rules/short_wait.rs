//! Failures behind a short wait of one length, as a pool makes them that fails fast: who gets no connection for so long is
//! given up.
//!
//! Two signs. Failures take one time, which most answers do not: longer than the fastest answers, and far more alike than
//! answers are (a timer never fires early). And they are more where more requests are in flight; or, under one load, in the
//! seconds in which answers take longer. Failures that merely take as long as their work would be as many under any load, and
//! in any second. Only the time from the first failure to the last counts: before, the target may have been another one.

use record::{Record, Second};
use stats::Outcome;
use stats::grouped::{count, percent};

use super::figures::{by_label, causes, deviation, in_flight, mean, ms, span, whole};
use super::places::{piece, times};
use super::say::{found, time, words};
use crate::distribution::student_quantile;
use crate::verdict::{About, Confidence, Said, Words};

/// Failures, at least, share of all failures that such causes make, and of the requests of a label, at most.
const FAILURES: u64 = 30;
const MOST: f64 = 0.95;
const PART: f64 = 0.9;
/// Answers, at least.
const ANSWERS: u64 = 100;
/// The shortest and the longest wait before a failure that is reported as one, ms. A longer wait is taken for a
/// time limit.
const LENGTH: (f64, f64) = (2.0, 1000.0);
/// Nine of ten failures lie within this share of their time, or this many ms; answers spread by this factor more.
const WITHIN: f64 = 0.25;
const WITHIN_MS: f64 = 1.5;
const WIDER: f64 = 2.0;
/// The fastest answers take less than this part of the time of failures, which is then no way to the target and back.
const FASTER: f64 = 0.7;
const FASTEST: f64 = 0.001;
/// The length of a wait in a result file, whose times are whole ms, is told as one number where it is known to this part.
const KNOWN: f64 = 0.1;
/// Seconds in each third by load, and the factor by which a greater share fails in the third with the most in flight.
const THIRD: usize = 5;
const MORE: f64 = 3.0;
/// Seconds whose share of failures follows the time of their answers; how sure that must be (Student's t), and the part of the
/// correlation that is there from one second to the next, too: a trend of both is none.
const FOLLOWING: usize = 10;
const SURE: f64 = 0.9975;
const ALSO_NEXT: f64 = 0.5;

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

/// Correlation of two series.
fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let (of_a, of_b) = (mean(a), mean(b));
    let both: f64 = a.iter().zip(b).map(|(x, y)| (x - of_a) * (y - of_b)).sum();
    both / (a.len() as f64 - 1.0) / (deviation(a) * deviation(b)).max(1e-12)
}

/// Whether more of the requests fail in seconds in which answers take longer: beyond chance, and from one second to the next.
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

/// The seconds from the first with a failure to the last.
fn failing(seconds: &[Second]) -> &[Second] {
    let has = |second: &Second| second.all.errors > 0;
    let ends = (seconds.iter().position(has), seconds.iter().rposition(has));
    let (Some(first), Some(last)) = ends else { return &[] };
    &seconds[first..=last]
}

/// Words on a wait, ms, between two lengths: the roundest number, or both where times are too coarse for one.
fn length(record: &Record, low: f64, high: f64) -> (f64, String) {
    let rounded = if record.has.generator { 0.0 } else { 1.0 };
    let least = low - rounded;
    let wait = roundest(least.max(0.5 * high), high);
    if record.has.generator || high - least <= KNOWN * high {
        return (wait, time(wait));
    }
    (f64::midpoint(low, high), format!("{low:.0} to {high:.0} ms"))
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
    let (good, failed) = times(seconds, &labels);
    let n = failed.total();
    if (n as f64) < MOST * all as f64 || good.total() < ANSWERS {
        return None;
    }
    let (from, middle, to) = (ms(&failed, 0.05), ms(&failed, 0.5), ms(&failed, 0.95));
    let (fastest, spread) = (ms(&good, FASTEST), ms(&good, 0.95) - ms(&good, 0.05));
    let is_one_length = to - from <= (WITHIN * middle).max(WITHIN_MS);
    let is_wait = fastest <= FASTER * from && spread >= WIDER * (to - from);
    if !(LENGTH.0..LENGTH.1).contains(&from) || !is_one_length || !is_wait {
        return None;
    }
    let grows = growth(failing(seconds), &labels)?;
    // What comes before the wait takes no longer than the fastest answers.
    let (wait, wait_words) = length(record, from - fastest, from);
    let (takes, n_words, answer) = (time(middle), count(n), time(fastest));
    let (more, more_zh) = (grows.en, grows.zh);
    Some(
        found(
            "fixed_timeout",
            About::Target,
            Confidence::Statistical,
            words!(
                "A wait of about {wait_words} precedes the failures: {n_words} requests failed after {takes}, all nearly alike, where the fastest answers take {answer}. {more}: a pool or a queue that gives up after so long.",
                "失败之前有约 {wait_words} 的等待：{n_words} 个请求在 {takes} 后失败，时间几乎相同，而最快的响应为 {answer}。{more_zh}：连接池或队列等待这么久后放弃。"
            ),
        )
        .between("wait", wait, "ms", Some(((from - fastest).max(0.0), from)), span(seconds))
        .with("failed", n as f64, "requests", span(seconds))
        .advise(words!(
            "Look for a wait of that length for a connection (max-wait of a Jedis or DBCP pool, connectionTimeout, pool_timeout) in the target or what it calls: the pool is too small for this load, or its connections are held for too long.",
            "在被测系统或其调用的服务中查找该时长的连接等待（Jedis 或 DBCP 连接池的 max-wait、connectionTimeout、pool_timeout）：连接池对该负载太小，或连接被占用太久。"
        ))
        .explaining(&["errors_named", "bimodal", "fails_above"])
        .said(),
    )
}

/// Words on the way in which failures become more, if they do.
fn growth(failing: &[Second], labels: &[u32]) -> Option<Words> {
    if let Some((few, many)) = by_load(failing, labels).filter(|(few, many)| *many >= MORE * few) {
        let (few, many) = (percent(few), percent(many));
        return Some(words!(
            "They are {many} of the requests where most are in flight, and {few} where few are",
            "在途最多时失败占 {many}，在途少时占 {few}"
        ));
    }
    follows(failing, labels).then(|| {
        words!(
            "More requests fail in the seconds in which answers take longer",
            "响应较慢的那些秒内失败更多"
        )
    })
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
