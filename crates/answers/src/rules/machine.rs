//! Detects that the generator's machine had too few file descriptors, worker processes or memory, and detects
//! pauses of the generator.

use record::wordings::System;
use record::{Change, Record};
use stats::grouped::{bytes, count};
use stats::{CloseCause, Counter, Outcome};

use super::down;
use super::figures::{causes, span, sum};
use super::say::{clock, counted_things, found, lacks, time, words};
use super::stalled::{Effect, effect};
use super::systems;
use crate::verdict::{About, Confidence, Said, Words};

/// Share of free memory below which memory is short.
const LITTLE_LEFT: f64 = 0.05;
/// Approximate ratio of the machine's memory to the largest total of TCP buffers that the kernel allows.
const TCP_MEMORY: f64 = 16.0;
/// Largest ratio of buffer memory to the bytes that a run sent and received: the kernel counts whole buffers, and both
/// ends if the target runs on the same machine.
const OWN: f64 = 16.0;
/// Shortest pause of the process in ns that is reported. The engine counts pauses from the same length.
const STALL: u64 = 200_000_000;

/// True if the whole generator process paused in a second.
pub(super) fn is_stall(second: &record::Second) -> bool {
    second.generator.stall >= STALL
}

/// Returns the number of errors with the given outcome, and the message of the most frequent one.
pub(super) fn failed(record: &Record, outcome: Outcome) -> (u64, String) {
    let mut sum = (0, String::new());
    for (cause, n) in causes(&record.seconds) {
        let Some(cause) = record.causes.get(cause).filter(|cause| cause.outcome == outcome) else {
            continue;
        };
        if sum.0 == 0 {
            let text = cause.message.strip_prefix("Non HTTP response message: ");
            text.unwrap_or(&cause.message).clone_into(&mut sum.1);
        }
        sum.0 += n;
    }
    sum
}

pub(super) fn files_exhausted(record: &Record) -> Said {
    let (n, example) = failed(record, Outcome::FilesExhausted);
    if n == 0 {
        return Said::Nothing;
    }
    let samples = counted_things(n, "sample");
    found(
        "files_exhausted",
        About::Generator,
        Confidence::Certain,
        words!(files_exhausted_found(samples)),
    )
    .with("files_exhausted", n as f64, "samples", span(&record.seconds))
    .advise(systems::files(System::of(&example).or_else(|| systems::system(record))))
    .explaining(&["errors_named", "plan_fault", "reset_under_load"])
    .said()
}

pub(super) fn workers_lost(record: &Record) -> Said {
    let closes = record.seconds.iter().flat_map(|s| &s.closes);
    let lost: u64 = closes
        .filter(|close| close.cause == CloseCause::WorkerLost)
        .map(|close| close.idle_ms.total())
        .sum();
    let is_lost = |change: &Change| matches!(change, Change::Lost(_));
    let workers = record.marks.iter().filter(|mark| is_lost(&mark.change)).count();
    if lost == 0 && workers == 0 {
        if record.has.generator {
            return Said::Nothing;
        }
        return lacks!(run: figures_of_generator);
    }
    // Only WebSockets are counted until they close; the log and the summary have all connections of each worker.
    let connections = count(lost);
    let connections = match lost {
        0 => Words::default(),
        _ => words!(connections_lost_with_workers(connections)),
    };
    let verb = if workers == 1 { "was" } else { "were" };
    found(
        "workers_lost",
        About::Generator,
        Confidence::Certain,
        words!(workers_lost_found(workers, verb, connections)),
    )
    .with("workers_lost", workers as f64, "processes", span(&record.seconds))
    .with("connections_lost", lost as f64, "connections", span(&record.seconds))
    .advise(words!(workers_lost_advice))
    .explaining(&["errors_named", "step_change"])
    .said()
}

pub(super) fn generator_stalled(record: &Record) -> Said {
    if !record.has.generator {
        return lacks!(run: figures_of_generator);
    }
    let stalled: Vec<_> = down::seconds_there(record).into_iter().filter(|s| is_stall(s)).collect();
    let Some(worst) = stalled.iter().max_by_key(|s| s.generator.stall) else {
        return Said::Nothing;
    };
    let (times, longest) = (stalled.len(), worst.generator.stall as f64 / 1e6);
    let (length, at) = (time(longest), clock(worst.at_ms - record.frame.start_ms));
    let effect = effect(record);
    let did = did(effect.as_ref(), stalled.iter().map(|s| s.all.count).sum());
    let of_seconds = match (record.step_ms(), times) {
        (Some(step), 1) => words!(one_interval(step = time(step.into()))),
        (Some(step), n) => words!(several_intervals(n, step = time(step.into()))),
        (None, 1) => words!(one_second),
        (None, n) => words!(several_seconds(n)),
    };
    let mut finding = found(
        "generator_stalled",
        About::Generator,
        Confidence::Certain,
        words!(generator_stalled_found(length, at, of_seconds, effect = did)),
    )
    .with("stall", longest, "ms", (worst.at_ms - longest as i64, worst.at_ms))
    .advise(words!(generator_stalled_advice))
    .explaining(&["late_starts"]);
    if let Some(Effect { count, with, without }) = effect {
        let span = span(&record.seconds);
        finding = finding
            .with("stalled_samples", count as f64, "requests", span)
            .with("response_mean", with.0, "ms", span)
            .with("response_p95", with.1, "ms", span);
        if let Some((mean, p95)) = without {
            finding = finding.with("response_mean_without", mean, "ms", span).with(
                "response_p95_without",
                p95,
                "ms",
                span,
            );
        }
    }
    finding.said()
}

/// Returns the sentence about the effect of pauses; `ended`: number of samples that ended in the seconds with pauses.
fn did(effect: Option<&Effect>, ended: u64) -> Words {
    let samples = effect.map_or(ended, |effect| effect.count);
    let (n, one) = (count(samples), samples == 1);
    let were = if one {
        "sample was in flight over it, or was"
    } else {
        "samples were in flight over it, or were"
    };
    let them = if one { "it" } else { "them" };
    let of = |(mean, p95): (f64, f64)| (time(mean), time(p95));
    match effect {
        Some(Effect { with, without: Some(without), .. }) => {
            let ((mean, p95), (mean_less, p95_less)) = (of(*with), of(*without));
            words!(some_samples_in_stall(n, were, them, mean, p95, mean_less, p95_less))
        }
        Some(_) if one => words!(only_sample_in_stall),
        Some(_) => words!(all_samples_in_stall(n)),
        None if ended == 0 => words!(no_sample_in_stall),
        None if one => words!(one_sample_ended_in_stall),
        None => words!(samples_ended_in_stall(n)),
    }
}

pub(super) fn generator_memory(record: &Record) -> Said {
    let machines = || record.seconds.iter().filter_map(|s| s.machine.as_ref());
    if machines().next().is_none() {
        return lacks!(run: figures_of_generator_machine);
    }
    let machine = |of: fn(&stats::machine::Machine) -> u64| {
        sum(&record.seconds, |s| s.machine.as_ref().map_or(0, of))
    };
    let (pressures, aborted) = (machine(|m| m.memory_pressures), machine(|m| m.aborted_memory));
    let least = machines()
        .filter(|m| m.memory_total > 0)
        .min_by(|a, b| a.memory_available.cmp(&b.memory_available));
    let little =
        least.filter(|m| (m.memory_available as f64) < LITTLE_LEFT * m.memory_total as f64);
    let span = span(&record.seconds);
    if pressures + aborted > 0 {
        let memory = machines().map(|m| m.memory_total).max().unwrap_or(0);
        return tcp_memory(record, memory, pressures, aborted);
    }
    let Some(machine) = little else { return Said::Nothing };
    let (left, all) = (bytes(machine.memory_available), bytes(machine.memory_total));
    found(
        "generator_memory",
        About::Generator,
        Confidence::Certain,
        words!(machine_memory_found(left, all)),
    )
    .with("memory_available", machine.memory_available as f64, "bytes", span)
    .advise(words!(machine_memory_advice))
    .said()
}

/// Returns the number of bytes that the run sent and received.
fn moved(record: &Record) -> u64 {
    sum(&record.seconds, |s| {
        let counted = s.counters.get(Counter::BytesIn) + s.counters.get(Counter::BytesOut);
        counted.max(s.all.sent + s.all.received)
    })
}

/// Returns the finding about the memory of all sockets of the machine, which the kernel counts for all programs
/// together. `memory`: memory of the machine in bytes.
fn tcp_memory(record: &Record, memory: u64, pressures: u64, aborted: u64) -> Said {
    let times = counted_things(pressures, "time");
    let dropped = counted_things(aborted, "connection");
    let were = if aborted == 1 { "was" } else { "were" };
    let moved = moved(record);
    let is_own = (moved as f64) >= memory as f64 / TCP_MEMORY / OWN;
    let whose = if is_own {
        Words::default()
    } else {
        let moved = bytes(moved);
        words!(tcp_memory_of_all_programs(moved))
    };
    let (about, confidence) = if is_own {
        (About::Generator, Confidence::Certain)
    } else {
        (About::Run, Confidence::Hint)
    };
    let advice =
        if is_own { words!(tcp_memory_advice) } else { words!(tcp_memory_of_others_advice) };
    let span = span(&record.seconds);
    found(
        "generator_memory",
        about,
        confidence,
        words!(tcp_memory_found(times, dropped, were, whose)),
    )
    .with("tcp_memory_pressures", pressures as f64, "times", span)
    .with("aborted_for_memory", aborted as f64, "connections", span)
    .advise(advice)
    .said()
}
