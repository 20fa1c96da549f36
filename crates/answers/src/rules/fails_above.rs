//! Errors that begin above some number of requests in flight: a limit that turns away what is beyond it (a semaphore, a pool
//! without a queue, a full queue).
//!
//! Two signs. No request fails below that number, and many do above. And the good answers in flight (Little's law) fit a
//! system of K places that loses whoever finds none, at loads that differ: of offered work A it loses the share B(K, A)
//! (A. K. Erlang, 1917; true for all distributions of the service time). Users that try again at once make A large, and K is
//! then what is in flight. A target that merely fails more under load, or a part of which died, gives another K at each load;
//! under a limit of the rate, that does not depend on how long answers take.

use std::cmp::Reverse;

use record::{Record, Second};
use stats::Outcome;
use stats::grouped::count;
use stats::hist::{Hist, layout};

use super::figures::{
    Span, Z, by_label, causes, deviation, mean, ms, span, variation, whole, without,
};
use super::light::missing_light_load;
use super::run::Run;
use super::say::{found, lacks, number, words};
use super::{defaults, errors::per_second};
use crate::verdict::{About, Confidence, Finding, Said, Words};

const ID: &str = "fails_above";

/// Failures that make a threshold; the share of requests that fails from it on; quiet pieces and samples below it.
const FAILURES: u64 = 100;
const FEW: f64 = 0.01;
/// The load of pieces with failures, as a multiple of that of quiet ones.
const GROWN: f64 = 1.15;
const QUIET: usize = 8;
const QUIET_SAMPLES: u64 = 300;
/// Share of the pieces above the threshold in which requests fail, pieces that tell K, and failures in each.
const ABOVE: f64 = 0.9;
const PIECES: usize = 8;
const IN_PIECE: u64 = 10;
/// Share of all failures that causes of a limit make.
const MOST: f64 = 0.95;
/// K varies by so much at most; load must vary by this factor, and K be the same to this part in both halves of it.
const FLAT: f64 = 0.1;
const RANGE: f64 = 1.2;
const SAME: f64 = 0.1;
/// The threshold lies so many standard deviations of a Poisson number below K, and above it by this factor, at most.
const BELOW: f64 = 4.0;
const BEYOND: f64 = 1.2;
/// Numbers that are limits.
const LEAST: f64 = 1.5;
const LARGEST: f64 = 20_000.0;
/// A piece is as long as so many answers one after the other, s at least and at most.
const ANSWERS: f64 = 4.0;
const LENGTH: (f64, f64) = (1.0, 10.0);
/// Share of K by which what is in flight at the ends of a piece makes it uncertain.
const EDGE: f64 = 0.02;
/// Pieces in which so many fail tell what is fixed: by the correlation of the rate with the time of an answer, and by the
/// factor by which that time varies more than the rate.
const MUCH: f64 = 0.2;
const OPPOSED: f64 = -0.5;
const UNRELATED: f64 = -0.25;
const STEADIER: f64 = 1.3;

/// The quantity that a limit holds fixed while the load varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fixed {
    AtOnce,
    Rate,
    /// The figures do not tell.
    Either,
}

pub(super) struct Limit {
    /// Requests at once, and its interval.
    k: f64,
    low: f64,
    high: f64,
    /// Good answers per second under it.
    rate: f64,
    pub(super) fixed: Fixed,
    /// Requests without a failure below it, and failures.
    calm: u64,
    failed: u64,
    labels: usize,
}

/// Some seconds of the labels that fail.
struct Piece {
    /// Requests in flight, and those of them that are answered.
    flying: f64,
    good: f64,
    rate: f64,
    count: u64,
    failed: u64,
    /// Users, or starts per second that a rate asks for.
    load: f64,
}

impl Piece {
    fn lost(&self) -> f64 {
        self.failed as f64 / self.count.max(1) as f64
    }

    /// Requests that would be in flight if there were a place for each.
    fn offered(&self) -> f64 {
        self.good / (1.0 - self.lost()).max(1e-6)
    }

    /// The number of places that loses this share of the work.
    fn places(&self) -> Option<f64> {
        erlang(self.offered(), self.lost())
    }
}

/// The number of places at which the share `lost` of `offered` finds none; fractions by a line between whole numbers.
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

/// Failures that a limit of the target may be: its own errors, and connections that it breaks or refuses.
fn is_of_limit(record: &Record, cause: usize) -> bool {
    let Some(cause) = record.causes.get(cause) else { return false };
    match cause.outcome {
        Outcome::Status => cause.code.starts_with('5') && &*cause.code != "504",
        Outcome::Reset | Outcome::Closed | Outcome::Refused => true,
        _ => false,
    }
}

/// The labels that have the failures, without those that fail now and then.
fn failing_labels(record: &Record, seconds: &[Second]) -> Vec<u32> {
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

fn piece(seconds: &[Second], labels: &[u32]) -> Piece {
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
        count,
        failed,
    }
}

/// Times of good answers and of failures under these labels.
fn times(seconds: &[Second], labels: &[u32]) -> (Hist, Hist) {
    let (mut all, mut failed) = (Hist::new(), Hist::new());
    for part in seconds.iter().flat_map(|s| labels.iter().filter_map(|label| s.labels.get(*label)))
    {
        all.add(&part.service);
        failed.add(&part.failed);
    }
    (without(&all, &failed), failed)
}

/// The limit, if the figures have one.
pub(super) fn limit(record: &Record) -> Option<Limit> {
    let seconds = whole(record);
    let sums = causes(seconds);
    let ours: u64 = sums.iter().filter(|sum| is_of_limit(record, sum.0)).map(|sum| sum.1).sum();
    let all: u64 = sums.iter().map(|sum| sum.1).sum();
    if ours < FAILURES || (ours as f64) < MOST * all as f64 {
        return None;
    }
    let labels = failing_labels(record, seconds);
    let (good, failed) = times(seconds, &labels);
    // The target refuses a request at once when all places are taken; failures after a wait have another cause.
    let (alone, at_once) = (ms(&good, 0.5), ms(&failed, 0.5));
    if good.total() == 0 || at_once > alone {
        return None;
    }
    let length = (ANSWERS * alone / 1000.0).clamp(LENGTH.0, LENGTH.1).ceil() as usize;
    let in_time: Vec<Piece> =
        seconds.chunks_exact(length).map(|seconds| piece(seconds, &labels)).collect();
    let mut pieces: Vec<&Piece> = in_time.iter().collect();
    pieces.sort_by(|a, b| a.offered().total_cmp(&b.offered()));
    let first = pieces.iter().position(|piece| piece.lost() >= FEW)?;
    let (below, above) = pieces.split_at(first);
    let calm: u64 = below.iter().map(|piece| piece.count).sum();
    let few: u64 = below.iter().map(|piece| piece.failed).sum();
    let hit = above.iter().filter(|piece| piece.failed > 0).count();
    let telling: Vec<&Piece> =
        above.iter().copied().filter(|piece| piece.failed >= IN_PIECE).collect();
    let enough = below.len() * length >= QUIET && calm >= QUIET_SAMPLES;
    let is_threshold = hit as f64 >= ABOVE * above.len() as f64 && few as f64 <= FEW * calm as f64;
    if !enough || !is_threshold || telling.len() < PIECES {
        return None;
    }
    // Failures that begin at some moment under the same load are of that moment: the load must have grown.
    let load = |pieces: &[&Piece]| mean(&pieces.iter().map(|piece| piece.load).collect::<Vec<_>>());
    if load(&telling) < GROWN * load(below) {
        return None;
    }
    let Fit { k, half } = fit(&telling)?;
    let threshold = above[0].flying;
    if threshold < k - BELOW * k.sqrt() || threshold > BEYOND * k + 1.0 {
        return None;
    }
    // The way to the target and back is no time in which a place is held: a failure takes about as long.
    let low = k * (1.0 - (at_once / mean_ms(&good)).min(0.9)) - half;
    Some(Limit {
        k,
        low: low.max(1.0),
        high: k + half,
        rate: mean(&telling.iter().map(|piece| piece.rate).collect::<Vec<_>>()),
        fixed: fixed(&in_time),
        calm,
        failed: above.iter().map(|piece| piece.failed).sum(),
        labels: labels.len(),
    })
}

fn mean_ms(hist: &Hist) -> f64 {
    let sum: f64 = hist.iter().map(|(bin, n)| layout::middle_of(bin) as f64 * n as f64).sum();
    sum / hist.total().max(1) as f64 / 1000.0
}

struct Fit {
    k: f64,
    half: f64,
}

/// The number of places, if it is the same at loads that differ; pieces are in order of the load.
fn fit(telling: &[&Piece]) -> Option<Fit> {
    let places: Vec<f64> = telling.iter().filter_map(|piece| piece.places()).collect();
    let (least, most) = (telling.first()?.offered(), telling.last()?.offered());
    if places.len() < telling.len() || most < RANGE * least {
        return None;
    }
    let middle = (least * most).sqrt();
    let (few, many) = places.split_at(telling.partition_point(|piece| piece.offered() < middle));
    let k = mean(&places);
    let differ = (mean(few) - mean(many)).abs() > SAME * k;
    if few.len() < 3 || many.len() < 3 || differ || variation(&places) > FLAT {
        return None;
    }
    // The number of requests in flight in a piece has an error of 2 %: requests cross its beginning and its end.
    let half = (Z * deviation(&places) / (places.len() as f64).sqrt()).max(EDGE * k);
    (LEAST..=LARGEST).contains(&k).then_some(Fit { k, half })
}

/// The quantity that the limit holds fixed. With places, there are fewer answers per second while they take longer; a limit of the rate
/// does not care.
fn fixed(in_time: &[Piece]) -> Fixed {
    let full = in_time.iter().filter(|piece| piece.lost() >= MUCH && piece.rate > 0.0);
    let (times, rates): (Vec<f64>, Vec<f64>) =
        full.map(|piece| ((piece.good / piece.rate).ln(), piece.rate.ln())).unzip();
    if times.len() < PIECES {
        return Fixed::Either;
    }
    let (of_times, of_rates) = (deviation(&times), deviation(&rates));
    let (time, rate) = (mean(&times), mean(&rates));
    let both: f64 = times.iter().zip(&rates).map(|(a, b)| (a - time) * (b - rate)).sum();
    let alike = both / (times.len() as f64 - 1.0) / (of_times * of_rates).max(1e-12);
    match () {
        () if alike <= OPPOSED => Fixed::AtOnce,
        () if alike >= UNRELATED && of_times >= STEADIER * of_rates => Fixed::Rate,
        () => Fixed::Either,
    }
}

impl Limit {
    /// The number as people set limits: a default in the interval, else a power of two, else the roundest number.
    fn named(&self) -> f64 {
        let powers = (1..16).map(|n| f64::from(1_u32 << n));
        let within = |n: &f64| (self.low..=self.high).contains(n);
        let steps = [1000.0, 500.0, 100.0, 50.0, 10.0, 5.0, 1.0];
        let rounded = steps.map(|step| (f64::midpoint(self.low, self.high) / step).round() * step);
        defaults::between(self.low, self.high)
            .map(f64::from)
            .or_else(|| powers.rev().find(within))
            .or_else(|| rounded.into_iter().find(within))
            .unwrap_or_else(|| self.k.round())
    }

    /// The limit as another explanation of a rate that is fixed.
    pub(super) fn or(&self) -> Words {
        let k = count(self.named() as u64);
        words!(
            " A limit of about {k} requests at once (semaphore, pool, queue) would look the same.",
            "同时约 {k} 个请求的限制（信号量、连接池、队列）也会如此。"
        )
    }

    fn finding(&self, at: Span) -> Finding {
        let named = self.named();
        let (k, low, high) = (count(named as u64), number(self.low), number(self.high));
        let (calm, failed, rate) = (count(self.calm), count(self.failed), per_second(self.rate));
        let (of, of_zh) = match self.labels {
            1 => Default::default(),
            n => (format!(" of {n} labels together"), format!("（{n} 个标签合计）")),
        };
        let (or, or_zh) = if self.fixed == Fixed::Either {
            (
                format!(" The same figures fit a limit of the rate, {rate} answers/s."),
                format!("同样的数据也符合 {rate}/s 的限流。"),
            )
        } else {
            Default::default()
        };
        let finding = found(
            ID,
            About::Target,
            Confidence::Statistical,
            words!(
                "Errors begin above about {k} requests in flight{of} ({low}–{high}): a limit of {k} (semaphore, pool, queue). {failed} requests failed above it, hardly any of {calm} below it, and no more than that were in flight of those that were answered.{or}",
                "在途请求{of_zh}超过约 {k} 个（{low}–{high}）后开始出错：存在数值为 {k} 的限制（信号量、连接池、队列）。超过后有 {failed} 个请求失败，低于该值时 {calm} 个请求几乎没有失败；得到响应的请求在途也不超过该数。{or_zh}"
            ),
        );
        finding
            .between("limit", self.k, "requests", Some((self.low, self.high)), at)
            .with("rate", self.rate, "1/s", at)
            .with("failed", self.failed as f64, "requests", at)
            .rules_out(words!(
                "a target that gets slower: who is not turned away is answered as before",
                "被测系统变慢：未被拒绝的请求响应如常"
            ))
            .advise(defaults::beside(
                words!(
                    "Look for a limit of {k} that turns away what is beyond it (a semaphore, a bulkhead, a pool without a queue, a bounded queue), in the target or what it calls; raise it, or let requests wait.",
                    "在被测系统或其调用的服务中查找数值为 {k}、会拒绝超出部分的限制（信号量、舱壁、无队列的连接池、有界队列）；提高它，或让请求等待。"
                ),
                named,
            ))
            .explaining(&["errors_named", "reset_under_load", "circuit_breaker", "bimodal", "plateau", "step_change"])
    }
}

pub(super) fn fails_above(run: &Run<'_>) -> Said {
    let record = run.record();
    if !record.knows_errors() {
        return lacks!("the column success", "success 列");
    }
    if run.finds("rate_limit") || run.finds("target_down") {
        return Said::Nothing;
    }
    match limit(record).filter(|limit| limit.fixed != Fixed::Rate) {
        Some(limit) => limit.finding(span(whole(record))).said(),
        None if causes(whole(record)).iter().any(|sum| is_of_limit(record, sum.0)) => {
            missing_light_load(record).map_or(Said::Nothing, Said::Lacks)
        }
        None => Said::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// B(10, 10) = 0.2146, B(100, 500) = 0.8004: tables of the formula.
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
