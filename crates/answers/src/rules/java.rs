//! The Java machine of the generator: its garbage collections stop every element that runs in it.

use record::{Record, Second};
use stats::grouped::{bytes, count, percent};

use super::figures::span;
use super::say::{found, lacks, time, words};
use crate::verdict::{About, Confidence, Said};

const ID: &str = "java_pauses";

/// Share of the time with a Java machine that its collections take.
const SHARE: f64 = 0.05;
/// Collections of a second that are worth a word, s: as long as a stall of the generator.
const LONG: f64 = 0.2;
/// Fewer seconds than this have no share.
const LEAST_SECONDS: usize = 10;
/// Share of the heap that is in use where a larger one would help.
const NEARLY_FULL: f64 = 0.9;

/// Time in collections of a machine in a second. Those of several processes stand still each for itself.
fn paused(second: &Second) -> f64 {
    second.generator.collection_s / f64::from(second.generator.workers.max(1))
}

pub(super) fn java_pauses(record: &Record) -> Said {
    if !record.has.generator {
        return lacks!("figures of the generator", "负载机自身的数据");
    }
    let seconds: Vec<&Second> =
        record.seconds.iter().filter(|s| s.generator.heap.is_some()).collect();
    let busy = seconds.iter().filter(|second| second.users > 0);
    let Some(worst) = busy.max_by(|a, b| paused(a).total_cmp(&paused(b))) else {
        return Said::Nothing;
    };
    let length: f64 = seconds.iter().map(|s| f64::from(s.ms) / 1000.0).sum();
    let all: f64 = seconds.iter().map(|s| paused(s)).sum();
    let share = all / length.max(1e-3);
    let often = seconds.len() >= LEAST_SECONDS && share >= SHARE;
    let long = paused(worst) >= LONG;
    if !often && !long {
        return Said::Nothing;
    }
    let collections: u64 = seconds.iter().map(|s| s.generator.collections).sum();
    let (used, most) = seconds
        .iter()
        .filter_map(|s| s.generator.heap)
        .max_by_key(|heap| heap.0)
        .unwrap_or_default();
    let full = used as f64 >= NEARLY_FULL * most as f64;
    let (n, in_all, part) = (count(collections), time(all * 1000.0), percent(share));
    let (longest, heap, of) = (time(paused(worst) * 1000.0), bytes(used), bytes(most));
    let advice = if full {
        words!(
            "The Java heap was nearly full ({heap} of {of}): give it more (--jvm-heap), or run fewer users in Java.",
            "Java 堆几乎已满（{of} 中已用 {heap}）：增大堆（--jvm-heap），或减少在 Java 中运行的用户。"
        )
    } else {
        words!(
            "Let scripts and plug-ins make less garbage, or choose a collector with short pauses (--jvm-option -XX:+UseParallelGC, or -XX:+UseZGC); at most {heap} of {of} were in use.",
            "让脚本和插件产生更少的垃圾，或选择停顿更短的收集器（--jvm-option -XX:+UseParallelGC 或 -XX:+UseZGC）；堆最多使用 {of} 中的 {heap}。"
        )
    };
    let run = span(&record.seconds);
    let of_worst = (worst.at_ms - i64::from(worst.ms), worst.at_ms);
    found(
        ID,
        About::Generator,
        Confidence::Arithmetic,
        words!(
            "Java stood still to collect its garbage: {n} collections took {in_all} ({part} of the run), up to {longest} in one second. Samples, scripts and plug-ins in Java waited meanwhile, so response times of such samples are too long.",
            "Java 因垃圾回收而停顿：{n} 次回收共 {in_all}（占运行时间的 {part}），一秒内最多 {longest}。其间在 Java 中运行的样本、脚本和插件都在等待，因此这些样本的响应时间偏大。"
        ),
    )
    .with("java_paused", share, "share", run)
    .with("java_paused_longest", paused(worst) * 1000.0, "ms", of_worst)
    .with("java_collections", collections as f64, "collections", run)
    .with("java_heap", used as f64, "bytes", run)
    .advise(advice)
    .explaining(&["late_starts"])
    .said()
}
