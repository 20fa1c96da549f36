//! A time of slower answers under the same load: at first, or in the middle of the run.
//!
//! Caches that are empty, connections that are opened and code that is not compiled yet make a target slow at first; a cache
//! that is emptied, or a job, makes it slow for a while. Each label is compared with itself, by the mean of the logarithms of
//! its times, which a few long answers do not move.

use std::ops::Range;

use record::{Record, Second};

use super::errors::per_second;
use super::figures::{
    is_one_load, length_s, mean, median, ms, rate, requests, seconds_in, service, span, steady, sum,
};
use super::say::{clock, found, lacks, time, words};
use super::{down, stalls};
use crate::verdict::{About, Confidence, Finding, Said, Words};
use stats::hist::{Hist, layout::middle_of};

const ID: &str = "slow_phase";

/// Seconds under the same load, and requests in them.
const SECONDS: usize = 12;
const SAMPLES: u64 = 200;
/// Share of failures from which on the rule is silent: failures have times of their own.
const FAILED: f64 = 0.05;
/// A slower time: how much slower, in seconds and as a share of the run at least, as a share of it at most, and requests in it.
const SLOWER: f64 = 1.5;
const LEAST_S: f64 = 3.0;
const LEAST: f64 = 0.03;
const MOST: f64 = 0.7;
const PHASE_SAMPLES: u64 = 30;
/// Seconds behind it, and before it, that are as fast as usual.
const AROUND_S: f64 = 4.0;
/// Share of the other seconds that may be slow, too.
const STRAY: f64 = 0.05;
/// The usual seconds must vary by this much less than the slower ones are away from them.
const CLEAR: f64 = 3.0;
/// Both sides of a slower time are alike up to this factor.
const ALIKE: f64 = 1.25;
/// Answers that get faster by this from the first to the last third of the slower time get faster little by little.
const FASTER: f64 = 1.5;
/// Both sides of a step are flat up to this factor from their first half to their second.
const FLAT: f64 = 1.2;
/// The slower times must be longer by this, ms: below are costs of system calls.
const LONGER_MS: f64 = 5.0;
/// A pause of the generator makes answers look slow from this length on, ns.
const OWN: u64 = 50_000_000;
/// Seconds over which values are averaged, on each side.
const SMOOTH: usize = 1;

/// Labels of requests: a script of the plan takes its time in the generator, and sends nothing.
fn requesting<'s>(
    record: &Record,
    seconds: impl Iterator<Item = &'s Second> + Clone,
) -> Vec<usize> {
    let sent = |label: usize| -> u64 {
        seconds.clone().filter_map(|s| s.labels.get(label as u32)).map(|part| part.sent).sum()
    };
    let real: Vec<(usize, u64)> = (0..record.labels.len())
        .filter(|at| !record.labels[*at].transaction)
        .map(|at| (at, sent(at)))
        .collect();
    let is_known = real.iter().any(|(_, sent)| *sent > 0);
    real.into_iter().filter(|(_, sent)| *sent > 0 || !is_known).map(|(at, _)| at).collect()
}

/// The times of one label in a second: their number, the sum of their logarithms, and their sum in ms.
#[derive(Clone, Copy, Default)]
struct Times {
    count: f64,
    logarithms: f64,
    ms: f64,
}

impl Times {
    fn add(&mut self, other: Self) {
        self.count += other.count;
        self.logarithms += other.logarithms;
        self.ms += other.ms;
    }
}

/// The times of the samples of a label in a second that did not fail.
fn times(second: &Second, label: usize) -> Times {
    let Some(part) = second.labels.get(label as u32) else { return Times::default() };
    let (mut all, mut failed) = (Hist::new(), Hist::new());
    all.add(&part.service);
    failed.add(&part.failed);
    let mut times = Times::default();
    for (bin, n) in super::bimodal::without(&all, &failed).iter() {
        let (us, n) = (middle_of(bin) as f64, n as f64);
        times.add(Times { count: n, logarithms: n * us.max(1.0).ln(), ms: n * us / 1000.0 });
    }
    times
}

/// A second's times against those of the same labels in the whole part, as a logarithm; `None` of a second without any.
fn courses(record: &Record, seconds: &[Second]) -> Vec<Option<f64>> {
    let (mut sums, mut weights) = (vec![0.0; seconds.len()], vec![0.0; seconds.len()]);
    for label in requesting(record, seconds.iter()) {
        let times: Vec<Times> = seconds.iter().map(|second| times(second, label)).collect();
        let mut all = Times::default();
        for one in &times {
            all.add(*one);
        }
        let usual = all.logarithms / all.count.max(1.0);
        for (at, one) in times.iter().enumerate() {
            sums[at] += one.logarithms - one.count * usual;
            weights[at] += one.count;
        }
    }
    sums.iter().zip(weights).map(|(sum, weight)| (weight > 0.0).then(|| sum / weight)).collect()
}

/// Averages over the neighbours; a second without a value has that of its neighbours.
fn smooth(values: &[Option<f64>]) -> Vec<f64> {
    let around = |at: usize| {
        let near = &values[at.saturating_sub(SMOOTH)..(at + SMOOTH + 1).min(values.len())];
        let near: Vec<f64> = near.iter().flatten().copied().collect();
        if near.is_empty() { f64::INFINITY } else { mean(&near) }
    };
    (0..values.len()).map(around).collect()
}

/// The times of slower answers, as the places of their seconds: one or two, where all other seconds are alike.
fn slower(seconds: &[Second], values: &[f64]) -> Vec<Range<usize>> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    // Where little more than a quarter of the run is fast, this is still one of the fast seconds.
    let Some(usual) = sorted.get(sorted.len() / 5) else { return Vec::new() };
    let limit = usual + SLOWER.ln();
    let all = length_s(seconds);
    let (mut found, mut from) = (Vec::new(), 0);
    for run in values.chunk_by(|a, b| (*a >= limit) == (*b >= limit)) {
        let range = from..from + run.len();
        from = range.end;
        if run[0] >= limit && length_s(&seconds[range.clone()]) >= LEAST_S.max(LEAST * all) {
            found.push(range);
        }
    }
    let is_in = |at: &usize| found.iter().any(|range| range.contains(at));
    let (inside, others): (Vec<usize>, Vec<usize>) = (0..values.len()).partition(is_in);
    let of = |places: &[usize]| places.iter().map(|at| values[*at]).collect::<Vec<_>>();
    let (inside, others) = (of(&inside), of(&others));
    let stray = others.iter().filter(|value| **value >= limit).count();
    let middle = median(&others);
    // As robust as a median: the end of a slower time fades.
    let off: Vec<f64> = others.iter().map(|value| (value - middle).abs()).collect();
    let is_clear = mean(&inside) - middle >= SLOWER.ln().max(CLEAR * 1.48 * median(&off));
    let is_part = inside.len() as f64 <= MOST * values.len() as f64;
    let is_sound = is_part && is_clear && stray as f64 <= STRAY * others.len() as f64;
    if is_sound && (1..=2).contains(&found.len()) { found } else { Vec::new() }
}

/// The label with the most of these requests.
fn heaviest(record: &Record, seconds: &[Second]) -> Option<usize> {
    let count = |label: &usize| -> u64 {
        seconds.iter().filter_map(|s| s.labels.get(*label as u32)).map(|part| part.count).sum()
    };
    requesting(record, seconds.iter()).into_iter().max_by_key(count)
}

/// Whether a mean time, ms, is longer than the usual one as far as it matters.
fn is_longer(slow: f64, usual: f64) -> bool {
    slow >= SLOWER * usual && slow - usual >= LONGER_MS
}

/// Mean time of a label, ms.
fn mean_of(seconds: &[Second], label: usize) -> f64 {
    let mut all = Times::default();
    for second in seconds {
        all.add(times(second, label));
    }
    all.ms / all.count.max(1.0)
}

/// Seconds whose times can be compared with each other.
fn comparable(record: &Record) -> Option<&[Second]> {
    let seconds = steady(record);
    let failed = sum(seconds, |s| s.all.errors) as f64 / requests(seconds).max(1) as f64;
    // They say more about the same time.
    let other = stalls::stalls(record).is_found() || down::target_down(record).is_found();
    let enough = seconds_in(seconds) >= SECONDS && requests(seconds) >= SAMPLES;
    (enough && knows_load(record) && failed <= FAILED && !other && is_one_load(seconds))
        .then_some(seconds)
}

fn knows_load(record: &Record) -> bool {
    record.has.users || record.seconds.iter().any(|second| second.due > 0)
}

pub(super) fn slow_phase(record: &Record) -> Said {
    if !knows_load(record) {
        return lacks!("the number of users", "用户数");
    }
    let all = steady(record);
    if seconds_in(all) < SECONDS || requests(all) < SAMPLES {
        return lacks!("12 s and 200 requests under the same load", "12 秒不变的负载和 200 个请求");
    }
    comparable(record)
        .and_then(|seconds| phase(record, seconds))
        .map_or(Said::Nothing, Finding::said)
}

fn phase(record: &Record, seconds: &[Second]) -> Option<Finding> {
    let values = smooth(&courses(record, seconds));
    let phases = slower(seconds, &values);
    let first = phases.first()?.clone();
    let second = phases.get(1).cloned();
    let end = second.as_ref().map_or(seconds.len(), |range| range.start);
    let last = second.as_ref().unwrap_or(&first).end;
    let behind = &values[first.end..end];
    // The slow phase has not ended while response times still fall.
    let (early, late) = behind.split_at(behind.len() / 2);
    if median(early) - median(late) > ALIKE.ln() || length_s(&seconds[last..]) < AROUND_S {
        return None;
    }
    let parts = Parts {
        before: &seconds[..first.start],
        during: &seconds[first.clone()],
        behind: &seconds[first.end..end],
        again: second.map_or(&[], |range| &seconds[range]),
        label: heaviest(record, &seconds[first])?,
        several: record.labels.iter().filter(|label| !label.transaction).count() > 1,
    };
    if requests(parts.during) < PHASE_SAMPLES
        || [parts.during, parts.again].map(paused) != [false; 2]
    {
        return None;
    }
    let begin = record.seconds.iter().find(|second| second.all.count > 0)?;
    if span(parts.during).0 - (begin.at_ms - i64::from(begin.ms)) <= 2000 {
        parts.at_first(record)
    } else {
        parts.in_the_middle(record)
    }
}

/// Whether the generator itself stood still in these seconds.
fn paused(seconds: &[Second]) -> bool {
    seconds.iter().any(|second| second.generator.stall >= OWN)
}

/// The place from which on answers are slower until the end, where they are even before and behind it, with the seconds that
/// were looked at.
pub(super) fn step(record: &Record) -> Option<(&[Second], usize)> {
    let seconds = comparable(record)?;
    let values = smooth(&courses(record, seconds));
    let mut sorted: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let middle = f64::midpoint(*sorted.get(sorted.len() / 20)?, sorted[sorted.len() * 19 / 20]);
    let at = values.iter().position(|value| *value >= middle)?;
    let (before, behind) = values.split_at(at);
    let is_long =
        |seconds: &[Second]| length_s(seconds) >= AROUND_S && requests(seconds) >= PHASE_SAMPLES;
    let stray = behind.iter().filter(|value| **value < middle).count();
    // A queue that builds up grows little by little, and so do failures of the target.
    let flat = |values: &[f64]| {
        let (a, b) = values.split_at(values.len() / 2);
        (median(b) - median(a)).abs() <= FLAT.ln()
    };
    // Averages over neighbours are between both sides at the step itself.
    let (before, behind) =
        (&before[..at.saturating_sub(SMOOTH)], &behind[SMOOTH.min(behind.len())..]);
    let is_clear = median(behind) - median(before) >= SLOWER.ln();
    let of = |seconds: &[Second]| ms(&service(seconds), 0.5);
    let is_step = is_longer(of(&seconds[at..]), of(&seconds[..at]))
        && !paused(&seconds[at..(at + 3).min(seconds.len())])
        && is_long(&seconds[..at])
        && is_long(&seconds[at..])
        && stray as f64 <= STRAY * behind.len() as f64
        && flat(before)
        && flat(behind)
        && is_clear
        && sudden(&values, at);
    is_step.then_some((seconds, at))
}

/// Whether most of the change lies around that place.
fn sudden(values: &[f64], at: usize) -> bool {
    let near = 2 * SMOOTH + 1;
    let (Some(from), Some(to)) = (at.checked_sub(near), values.get(at + near)) else {
        return false;
    };
    to - values[from] >= SLOWER.ln()
}

/// The slower time, with what was before and behind it.
struct Parts<'s> {
    before: &'s [Second],
    during: &'s [Second],
    behind: &'s [Second],
    /// A second slower time.
    again: &'s [Second],
    /// The label whose response times the sentence names, and whether the plan has other labels.
    label: usize,
    several: bool,
}

impl Parts<'_> {
    fn of(&self, record: &Record) -> (String, String) {
        let name = &record.labels[self.label].name;
        if self.several {
            (format!(" of \"{name}\""), format!("“{name}”的"))
        } else {
            Default::default()
        }
    }

    /// Words on times that become shorter within the slower time.
    fn fading(&self) -> (&'static str, &'static str) {
        let third = self.during.len() / 3;
        let (first, rest) = self.during.split_at(third);
        let (middle, last) = rest.split_at(rest.len() - third);
        let falls = |from: &[Second], to: &[Second]| {
            mean_of(from, self.label) >= FASTER.sqrt() * mean_of(to, self.label)
        };
        // Its last second may be half of the faster time.
        let fades = third > 0 && falls(first, middle) && falls(middle, last);
        if fades {
            (", and they got faster little by little", "，并逐渐变快")
        } else {
            ("", "")
        }
    }

    /// Words on a second slower time.
    fn again(&self, record: &Record) -> (String, String) {
        if self.again.is_empty() {
            return Default::default();
        }
        let slow = time(mean_of(self.again, self.label));
        let n = length_s(self.again).round();
        let at = clock(span(self.again).0 - record.frame.start_ms);
        (
            format!(" It was slower again for {n} s from about {at} on ({slow} on average)."),
            format!("从约 {at} 起又有 {n} 秒较慢（平均 {slow}）。"),
        )
    }

    fn at_first(&self, record: &Record) -> Option<Finding> {
        let (slow, fast) = (mean_of(self.during, self.label), mean_of(self.behind, self.label));
        let is_sound = length_s(self.before) <= 1.5 && is_longer(slow, fast);
        let (again, again_zh) = self.again(record);
        let ((of, of_zh), (fading, fading_zh)) = (self.of(record), self.fading());
        let n = length_s(self.during).round();
        let (a, b) = (time(slow), time(fast));
        let (r, q) = (per_second(rate(self.during)), per_second(rate(self.behind)));
        let said = words!(
            "The target was slower at first, under the same load: answers{of} took {a} on average in the first {n} s ({r}/s), and {b} from then on ({q}/s){fading}.{again} Figures of the whole run mix both.",
            "在相同负载下，被测系统开始时较慢：前 {n} 秒{of_zh}响应平均 {a}（{r}/s），之后为 {b}（{q}/s）{fading_zh}。{again_zh}整个运行的数据混合了两者。"
        );
        let advice = words!(
            "Warm the target up before (caches, pools of connections, compiled code), or judge the run without these seconds.",
            "事先预热被测系统（缓存、连接池、编译后的代码），或在评价时去掉这些秒。"
        );
        is_sound.then(|| self.finding((slow, fast), said, advice))
    }

    fn in_the_middle(&self, record: &Record) -> Option<Finding> {
        let [before, slow, behind] =
            [self.before, self.during, self.behind].map(|part| mean_of(part, self.label));
        let alike = before.max(behind) <= ALIKE * before.min(behind).max(1e-3)
            && length_s(self.before) >= AROUND_S;
        let (again, again_zh) = self.again(record);
        let is_sound = alike && is_longer(slow, before.max(behind));
        let ((of, of_zh), (fading, fading_zh)) = (self.of(record), self.fading());
        let (n, at) =
            (length_s(self.during).round(), clock(span(self.during).0 - record.frame.start_ms));
        let (a, b) = (time(slow), time(before));
        let (r, q) = (per_second(rate(self.during)), per_second(rate(self.before)));
        let said = words!(
            "The target was slower for {n} s from about {at} on, under the same load: answers{of} took {a} on average instead of {b} ({r}/s instead of {q}/s){fading}. Then it was as fast as before.{again}",
            "在相同负载下，被测系统从约 {at} 起有 {n} 秒较慢：{of_zh}响应平均 {a}，而非 {b}（{r}/s 而非 {q}/s）{fading_zh}。之后与之前一样快。{again_zh}"
        );
        let advice = words!(
            "Look at the target at that time: a cache that was emptied, a job, a failover, a collection of garbage, other programs on its machine.",
            "查看被测系统在该时刻的情况：缓存被清空、某个任务、故障切换、垃圾回收、其机器上的其他程序。"
        );
        is_sound.then(|| self.finding((slow, before), said, advice))
    }

    fn finding(&self, (slow, usual): (f64, f64), said: Words, advice: Words) -> Finding {
        let at = span(self.during);
        found(ID, About::Target, Confidence::Statistical, said)
            .with("slower", slow, "ms", at)
            .with("usual", usual, "ms", span(self.behind))
            .with("length", length_s(self.during), "s", at)
            .rules_out(words!(
                "the load: as many users sent the same requests",
                "负载：同样数量的用户发送同样的请求"
            ))
            .advise(advice)
            .explaining(&["bimodal", "warmup_unfinished", "drift", "step_change"])
    }
}
