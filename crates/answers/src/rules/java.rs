//! Detects JVMs that pause for garbage collection: the generator's JVM, in which elements of the plan run, and
//! those of watched hosts.

use std::sync::Arc;

use record::{Record, Second};
use stats::grouped::{bytes, count, percent};

use super::figures::{span, whole};
use super::say::{found, lacks, time, words};
use crate::verdict::{About, Confidence, Finding, Said, Words};

const ID: &str = "java_pauses";
const ID_OF_HOSTS: &str = "host_java";

/// Smallest share of the run's time in garbage collection, for a finding.
const SHARE: f64 = 0.05;
/// Smallest time in garbage collection within a second, in s, that is reported. A stall of the generator is reported
/// from the same length on.
const LONG: f64 = 0.2;
/// Smallest number of seconds, or of readings of a host, for a finding about the share of the run's time.
const LEAST_SECONDS: usize = 10;
/// Share of the heap in use from which a larger heap would help.
const NEARLY_FULL: f64 = 0.9;

/// Returns the time that a JVM spends in garbage collection per second; for an interval, the mean. Several processes
/// pause independently, so their sum is divided by their number.
fn paused(second: &Second) -> f64 {
    let seconds = second.coarse.as_ref().map_or(1.0, |_| f64::from(second.ms.max(1000)) / 1000.0);
    second.generator.collection_s / f64::from(second.generator.workers.max(1)) / seconds
}

/// Returns a phrase about the longest time in garbage collection within a second. An interval has only a mean.
fn up_to(worst: &Second, longest: &str) -> Words {
    match worst.coarse {
        None => words!(longest_collection_in_second(longest)),
        Some(_) => words!(longest_collection_on_average(longest)),
    }
}

pub(super) fn java_pauses(record: &Record) -> Said {
    if !record.has.generator {
        return lacks!(run: figures_of_generator);
    }
    let seconds: Vec<&Second> =
        record.seconds.iter().filter(|s| s.generator.heap.is_some()).collect();
    let busy = seconds.iter().filter(|second| second.users > 0);
    let Some(worst) = busy.max_by(|a, b| paused(a).total_cmp(&paused(b))) else {
        return Said::Nothing;
    };
    let length: f64 = seconds.iter().map(|s| f64::from(s.ms) / 1000.0).sum();
    let of = |s: &&Second| s.generator.collection_s / f64::from(s.generator.workers.max(1));
    let all: f64 = seconds.iter().map(of).sum();
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
    let up_to = up_to(worst, &longest);
    let advice = if full {
        words!(generator_java_heap_advice(heap, of))
    } else {
        words!(generator_java_collector_advice(heap, of))
    };
    let run = span(&record.seconds);
    let of_worst = (worst.at_ms - i64::from(worst.ms), worst.at_ms);
    found(
        ID,
        About::Generator,
        Confidence::Arithmetic,
        words!(generator_java_pauses_found(n, in_all, part, up_to)),
    )
    .with("java_paused", share, "share", run)
    .with("java_paused_longest", paused(worst) * 1000.0, "ms", of_worst)
    .with("java_collections", collections as f64, "collections", run)
    .with("java_heap", used as f64, "bytes", run)
    .advise(advice)
    .explaining(&["late_starts"])
    .said()
}

/// Pauses of a watched host in one second, or in an interval of many seconds.
struct Reading {
    /// Length of the reading in s.
    length: f64,
    /// Share of the reading's length that pauses took.
    share: f64,
    /// Longest pause time within one second, in s.
    most_s: f64,
    /// End of the measured interval, epoch ms.
    at_ms: i64,
}

/// A watched host with its readings under load.
struct Host {
    name: Arc<str>,
    readings: Vec<Reading>,
    /// Heap in use, and largest heap, in bytes.
    heap: Option<(f64, f64)>,
}

fn hosts(record: &Record) -> Vec<Host> {
    let seconds = whole(record);
    let pauses = record.series.iter().filter(|series| &*series.metric == "gc_pause");
    pauses
        .map(|series| {
            let number = |metric: &str| {
                let same = |one: &record::Series| one.host == series.host && &*one.metric == metric;
                record.series.iter().position(same).map(|at| at as u32)
            };
            let [pause, heap, most] = ["gc_pause", "heap", "heap_max"].map(number);
            let value = |second: &Second, series: Option<u32>| {
                second.watched.iter().find(|one| Some(one.0) == series).map(|one| one.1)
            };
            let reading = |s: &Second| {
                let (length, share) = (f64::from(s.ms) / 1000.0, value(s, pause)?);
                let ranges = s.coarse.as_ref().map(|coarse| &coarse.watched);
                let range = ranges.and_then(|all| all.iter().find(|one| Some(one.series) == pause));
                let most_s = range.map_or(length * share, |range| range.most);
                Some(Reading { length, share, most_s, at_ms: s.at_ms })
            };
            let filled = |s: &Second| Some((value(s, heap)?, value(s, most)?));
            Host {
                name: Arc::clone(&series.host),
                readings: seconds.iter().filter_map(reading).collect(),
                heap: seconds.iter().filter_map(filled).max_by(|a, b| a.0.total_cmp(&b.0)),
            }
        })
        .collect()
}

pub(super) fn host_java(record: &Record) -> Said {
    let hosts = hosts(record);
    if hosts.iter().all(|host| host.readings.is_empty()) {
        return lacks!(hosts: pauses_of_watched_java);
    }
    hosts.iter().find_map(|host| stood_still(record, host)).map_or(Said::Nothing, Finding::said)
}

fn stood_still(record: &Record, host: &Host) -> Option<Finding> {
    let longest = host.readings.iter().max_by(|a, b| a.most_s.total_cmp(&b.most_s))?;
    let length: f64 = host.readings.iter().map(|reading| reading.length).sum();
    let all: f64 = host.readings.iter().map(|reading| reading.length * reading.share).sum();
    let share = all / length.max(1e-3);
    let most_s = longest.most_s;
    let often = host.readings.len() >= LEAST_SECONDS && share >= SHARE;
    if !often && most_s < LONG {
        return None;
    }
    let name = &host.name;
    let (in_all, part, most) = (time(all * 1000.0), percent(share), time(most_s * 1000.0));
    let heap = host.heap.filter(|heap| heap.0 >= NEARLY_FULL * heap.1);
    let advice = if let Some((used, most)) = heap {
        let (used, most) = (bytes(used as u64), bytes(most as u64));
        words!(host_java_heap_advice(name, used, most))
    } else {
        words!(host_java_collector_advice(name))
    };
    let run = span(whole(record));
    let finding = found(
        ID_OF_HOSTS,
        About::Run,
        Confidence::Arithmetic,
        words!(host_java_pauses_found(name, in_all, part, most)),
    )
    .on_hosts([&**name])
    .with("java_paused", share, "share", run)
    .with(
        "java_paused_longest",
        most_s * 1000.0,
        "ms",
        (longest.at_ms - (longest.length * 1000.0) as i64, longest.at_ms),
    );
    let finding = match host.heap {
        Some((used, _)) => finding.with("java_heap", used, "bytes", run),
        None => finding,
    };
    Some(finding.advise(advice).explaining(&["stalls", "bimodal"]))
}
