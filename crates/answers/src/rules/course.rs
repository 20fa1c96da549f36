//! The course of a run under the same load: unfinished warm-up, drift, steps.

use record::{Record, Second};
use stats::grouped::percent;

use super::figures::{Window, held_change, mix_differs, requests, span, steady, windows};
use super::say::{clock, found, lacks, time, words};
use super::{concurrency, errors, realism, stalls};
use crate::change::{Step, lasting, steps};
use crate::trend::trend;
use crate::verdict::{About, Confidence, Said};
use crate::warmup::{LONG_SECONDS, warm_up};

/// Requests and seconds under the same load that such a rule needs.
const SAMPLES: u64 = 1000;
const SECONDS: usize = 60;
/// Seconds of a window for steps and for drift.
const STEP_WINDOW: usize = 5;
const DRIFT_WINDOW: usize = 5;
/// A step: size, windows on each side (30 s would be 6; one less for the two that a step cuts), and chance.
const SIZE: f64 = 0.1;
const LASTS: usize = 5;
const CHANCE: f64 = 0.001;
/// A drift: share of the median in ten minutes, share over the run, and chance.
const DRIFT: f64 = 0.1;
const DRIFT_RUN: f64 = 0.1;
const DRIFT_CHANCE: f64 = 0.01;
/// A line explains a series better than a step if it leaves this much less.
const BETTER: f64 = 0.8;

/// The steady part of the run without its first seconds, which the last users still fill.
fn part(record: &Record) -> &[Second] {
    let seconds = steady(record);
    &seconds[seconds.len().min(STEP_WINDOW)..]
}

/// Residues of the best single step and of the best line, as sums of squares.
fn residues(values: &[f64]) -> (f64, f64) {
    let squares = |part: &[f64]| {
        let mean = super::figures::mean(part);
        part.iter().map(|v| (v - mean).powi(2)).sum::<f64>()
    };
    let step = (3..values.len().saturating_sub(3))
        .map(|at| squares(&values[..at]) + squares(&values[at..]))
        .fold(f64::MAX, f64::min);
    let n = values.len() as f64;
    let (t, v) = ((n - 1.0) / 2.0, super::figures::mean(values));
    let (mut above, mut below) = (0.0, 0.0);
    for (at, value) in values.iter().enumerate() {
        above += (at as f64 - t) * (value - v);
        below += (at as f64 - t).powi(2);
    }
    let slope = above / f64::max(below, 1e-9);
    let line =
        values.iter().enumerate().map(|(at, y)| (y - v - slope * (at as f64 - t)).powi(2)).sum();
    (step, line)
}

fn medians(windows: &[Window]) -> Vec<f64> {
    windows.iter().map(|w| w.p50).collect()
}

/// Whether the times of two parts can be compared: of the same labels; or they have changed by the factor's size and in its
/// direction for each label by itself, too.
fn is_of_same_work(record: &Record, a: &[Second], b: &[Second], size: f64) -> bool {
    if !mix_differs(record, a, b) {
        return true;
    }
    let held = held_change(record, a, b).map(|(factor, _)| factor - 1.0);
    held.is_some_and(|held| held.abs() >= SIZE && held.signum() == size.signum())
}

/// The first third of the seconds, and the last.
fn thirds(seconds: &[Second]) -> (&[Second], &[Second]) {
    let third = seconds.len() / 3;
    (&seconds[..third], &seconds[seconds.len() - third..])
}

pub(super) fn warmup_unfinished(record: &Record) -> Said {
    let seconds = part(record);
    if seconds.len() < LONG_SECONDS - STEP_WINDOW {
        return lacks!("100 s under the same load", "100 秒不变的负载");
    }
    if requests(seconds) < SAMPLES {
        return Said::Nothing;
    }
    let all = windows(seconds, 1);
    let rates: Vec<f64> = all.iter().map(|w| w.rate).collect();
    let p95: Vec<f64> = all.iter().map(|w| w.p95).collect();
    let found_at = warm_up(&rates, &p95, &[]);
    let values = medians(&windows(seconds, STEP_WINDOW));
    let third = values.len() / 3;
    let (first, last) =
        (super::figures::median(&values[..third]), super::figures::median(&values[2 * third..]));
    // A warm-up ends with better figures; what gets worse is drift, and what changes at once a step.
    let better = last < first * (1.0 - SIZE);
    let still =
        trend(&values[values.len() / 2..]).is_some_and(|t| t.p < DRIFT_CHANCE && t.slope < 0.0);
    let other = realism::cached(record).is_some()
        || concurrency::concurrency_limit(record).is_found()
        || step_change(record).is_found();
    if !found_at.unsteady || !better || !still || other {
        return Said::Nothing;
    }
    let (early, late) = thirds(seconds);
    if !is_of_same_work(record, early, late, -1.0) {
        return Said::Nothing;
    }
    let (before, after) = (time(first), time(last));
    found(
        "warmup_unfinished",
        About::Test,
        Confidence::Statistical,
        words!(
            "The run ended before the target was warm: the median still fell, from {before} in the first third to {after} in the last.",
            "运行在被测系统预热完成前就结束了：中位数仍在下降，从前三分之一的 {before} 到最后三分之一的 {after}。"
        ),
    )
    .with("median_first", first, "ms", span(seconds))
    .with("median_last", last, "ms", span(seconds))
    .advise(words!(
        "Run longer, and judge only the part that is steady; or warm the target up before.",
        "延长运行时间，并只评价稳定的部分；或事先预热被测系统。"
    ))
    .said()
}

pub(super) fn drift(record: &Record) -> Said {
    let seconds = part(record);
    if seconds.len() < SECONDS - STEP_WINDOW {
        return lacks!("60 s under the same load", "60 秒不变的负载");
    }
    if requests(seconds) < SAMPLES {
        return Said::Nothing;
    }
    let values = medians(&windows(seconds, DRIFT_WINDOW));
    let Some(slope) = trend(&values) else { return Said::Nothing };
    let per_window = slope.slope / slope.start.max(1e-6);
    let ten_minutes = per_window * 600.0 / DRIFT_WINDOW as f64;
    let over_run = per_window * values.len() as f64;
    let (step, line) = residues(&values);
    let is_drift = slope.p < DRIFT_CHANCE && ten_minutes > DRIFT && over_run > DRIFT_RUN;
    let (early, late) = thirds(seconds);
    if !is_drift || line > BETTER * step || !is_of_same_work(record, early, late, 1.0) {
        return Said::Nothing;
    }
    let end = slope.start + slope.slope * values.len() as f64;
    let (from, to, pace) = (time(slope.start), time(end), percent(ten_minutes));
    let share = |slope_of: f64| slope_of / slope.start.max(1e-6) * 600.0 / DRIFT_WINDOW as f64;
    found(
        "drift",
        About::Target,
        Confidence::Statistical,
        words!(
            "The target gets slower under the same load: the median grew from {from} to {to}, {pace} in ten minutes at this pace.",
            "在相同负载下被测系统越来越慢：中位数从 {from} 增长到 {to}，照此速度十分钟增长 {pace}。"
        ),
    )
    .between(
        "growth",
        ten_minutes,
        "share in 10 min",
        Some((share(slope.low), share(slope.high))),
        span(seconds),
    )
    .rules_out(words!("the load: it did not change", "负载：没有变化"))
    .advise(words!(
        "Look for what grows in the target: memory and time in garbage collection, a table without an index, a log, open connections; the data that the test itself makes counts, too.",
        "查找被测系统中不断增长的东西：内存与垃圾回收时间、缺少索引的表、日志、打开的连接；测试自身产生的数据也算。"
    ))
    .explaining(&["warmup_unfinished", "bimodal", "plateau", "step_change"])
    .said()
}

/// The times before and after a step as they read, and whose they are.
struct Compared {
    of: String,
    of_zh: String,
    before: String,
    after: String,
}

/// Compares two times: where their labels differ, those of the label with the most requests.
fn compared(record: &Record, (early, late): (&[Second], &[Second]), step: &Step) -> Compared {
    let held = held_change(record, early, late).filter(|_| mix_differs(record, early, late));
    match held {
        None => {
            let (before, after) = (time(step.before), time(step.after));
            Compared { of: String::new(), of_zh: String::new(), before, after }
        }
        Some((_, held)) => {
            let name = &record.labels[held.label as usize].name;
            let (before, after) = (time(held.before), time(held.after));
            Compared {
                of: format!(" of \"{name}\""), of_zh: format!("“{name}”的"), before, after
            }
        }
    }
}

/// The end of the sentence on a change: the shares of failures before and after it.
fn failures(before: &[Window], after: &[Window]) -> (String, String) {
    let share = |part: &[Window]| {
        let sum = |of: fn(&Window) -> u64| part.iter().map(of).sum::<u64>();
        percent(sum(|window| window.errors) as f64 / sum(|window| window.count).max(1) as f64)
    };
    let (before, after) = (share(before), share(after));
    (format!(", failures from {before} to {after}"), format!("，失败率从 {before} 变为 {after}"))
}

pub(super) fn step_change(record: &Record) -> Said {
    let seconds = part(record);
    if seconds.len() < SECONDS - STEP_WINDOW {
        return lacks!("60 s under the same load", "60 秒不变的负载");
    }
    // Stops of the whole service move windows, and failures that come and go move times.
    if requests(seconds) < SAMPLES || stalls::stalls(record).is_found() {
        return Said::Nothing;
    }
    let all = windows(seconds, STEP_WINDOW);
    let values = medians(&all);
    let found_steps = steps(&values, CHANCE);
    let (step_left, line_left) = residues(&values);
    let Some(step) = lasting(&found_steps, SIZE, LASTS)
        .max_by(|a, b| a.size().abs().total_cmp(&b.size().abs()))
        .filter(|_| step_left < BETTER * line_left)
    else {
        return Said::Nothing;
    };
    // Answers of a cache come faster and faster; that is no step of the service.
    if step.size() < 0.0 && realism::cached(record).is_some() {
        return Said::Nothing;
    }
    let at_ms = all[step.at.min(all.len() - 1)].at_ms - 1000 * STEP_WINDOW as i64;
    let rate =
        |part: &[Window]| super::figures::mean(&part.iter().map(|w| w.rate).collect::<Vec<_>>());
    let (rate_before, rate_after) = (rate(&all[..step.at]), rate(&all[step.at..]));
    let (failures, failures_zh) = if record.knows_errors() {
        failures(&all[..step.at], &all[step.at..])
    } else {
        Default::default()
    };
    let place = (step.at * STEP_WINDOW).min(seconds.len());
    let (early, late) = seconds.split_at(place);
    if !is_of_same_work(record, early, late, step.size()) {
        return Said::Nothing;
    }
    let Compared { of, of_zh, before, after } = compared(record, (early, late), step);
    let when = clock(at_ms - record.frame.start_ms);
    let (slow, fast) = (errors::per_second(rate_before), errors::per_second(rate_after));
    found(
        "step_change",
        About::Target,
        Confidence::Statistical,
        words!(
            "The target changed at about {when}, under the same load: the median{of} went from {before} to {after}, the rate from {slow}/s to {fast}/s{failures}.",
            "在相同负载下，被测系统在约 {when} 发生了变化：{of_zh}中位数从 {before} 变为 {after}，速率从 {slow}/s 变为 {fast}/s{failures_zh}。"
        ),
    )
    .with("change", step.size(), "share", (at_ms, at_ms))
    .with("before", step.before, "ms", (span(seconds).0, at_ms))
    .with("after", step.after, "ms", (at_ms, span(seconds).1))
    .rules_out(words!(
        "the load: as many users sent the same requests",
        "负载：同样数量的用户发送同样的请求"
    ))
    .advise(words!(
        "Look at the target at that time: a deployment, a failover, scaling, a job that began, an instance that came or went.",
        "查看被测系统在该时刻的情况：部署、故障切换、扩缩容、开始的任务、加入或退出的实例。"
    ))
    .explaining(&["warmup_unfinished", "drift", "bimodal", "plateau"])
    .said()
}
