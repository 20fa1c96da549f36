//! Detects that the generator's machine had too few file descriptors, worker processes or memory, and detects
//! pauses of the generator.

use record::wordings::System;
use record::{Change, Record};
use stats::grouped::{bytes, count, things};
use stats::{CloseCause, Counter, Outcome};

use super::down;
use super::figures::{causes, span, sum};
use super::say::{clock, found, lacks, time, words};
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
    let (samples, samples_zh) = (things(n, "sample"), count(n));
    found(
        "files_exhausted",
        About::Generator,
        Confidence::Certain,
        words!(
            "Descriptors ran out on the generator: {samples} failed because none was free.",
            "负载机的文件描述符用尽：{samples_zh} 个样本因此失败。"
        ),
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
        return lacks!(run: "figures of the generator", "负载机自身的数据");
    }
    // Only WebSockets are counted until they close; the log and the summary have all connections of each worker.
    let connections = count(lost);
    let with_them = match lost {
        0 => words!("", ""),
        _ => words!(
            ", and {connections} WebSocket connections with them",
            "，{connections} 个 WebSocket 连接随之丢失"
        ),
    };
    let (en, zh) = (with_them.en, with_them.zh);
    let verb = if workers == 1 { "was" } else { "were" };
    found(
        "workers_lost",
        About::Generator,
        Confidence::Certain,
        words!(
            "Worker processes of the generator died ({workers} {verb} noticed){en}.",
            "负载机的工作进程异常退出（发现 {workers} 个）{zh}。"
        ),
    )
    .with("workers_lost", workers as f64, "processes", span(&record.seconds))
    .with("connections_lost", lost as f64, "connections", span(&record.seconds))
    .advise(words!(
        "See the run's log for the reason; most often the system ran out of memory.",
        "原因见运行日志；最常见的是系统内存不足。"
    ))
    .explaining(&["errors_named", "step_change"])
    .said()
}

pub(super) fn generator_stalled(record: &Record) -> Said {
    if !record.has.generator {
        return lacks!(run: "figures of the generator", "负载机自身的数据");
    }
    let stalled: Vec<_> = down::seconds_there(record).into_iter().filter(|s| is_stall(s)).collect();
    let Some(worst) = stalled.iter().max_by_key(|s| s.generator.stall) else {
        return Said::Nothing;
    };
    let (times, longest) = (stalled.len(), worst.generator.stall as f64 / 1e6);
    let (length, at) = (time(longest), clock(worst.at_ms - record.frame.start_ms));
    let effect = effect(record);
    let did = did(effect.as_ref(), stalled.iter().map(|s| s.all.count).sum());
    let (en, zh) = (did.en, did.zh);
    let (of_seconds, of_seconds_zh) = match (record.step_ms(), times) {
        (Some(step), 1) => (
            format!("one interval of {}", time(step.into())),
            format!("1 个 {} 的时段", time(step.into())),
        ),
        (Some(step), n) => (
            format!("{n} intervals of {}", time(step.into())),
            format!("{n} 个 {} 的时段", time(step.into())),
        ),
        (None, 1) => ("one second".to_owned(), "1 秒".to_owned()),
        (None, n) => (format!("{n} seconds"), format!("{n} 秒")),
    };
    let mut finding = found(
        "generator_stalled",
        About::Generator,
        Confidence::Certain,
        words!(
            "The generator stood still: no answer was read for {length}, until about {at} after the start; in all in {of_seconds} of the run. {en}",
            "负载机曾停顿：{length} 内没有读取任何响应，直到开始后约 {at}；全程共有 {of_seconds_zh}出现停顿。{zh}"
        ),
    )
    .with("stall", longest, "ms", (worst.at_ms - longest as i64, worst.at_ms))
    .advise(words!(
        "Make sure that nothing stops or slows this process (SIGSTOP, swapping, a paused virtual machine, a quota of processor time) and that no sample computes for long.",
        "确保没有什么会暂停或拖慢该进程（SIGSTOP、换页、被暂停的虚拟机、处理器配额），并且没有样本长时间占用计算。"
    ))
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
            words!(
                "{n} {were} to start in it: with {them} the mean of the response time is {mean} and p95 {p95}, without {them} {mean_less} and {p95_less}.",
                "停顿期间有 {n} 个样本正在进行或本应开始：计入它们时响应时间均值为 {mean}、p95 为 {p95}，不计入时为 {mean_less} 和 {p95_less}。"
            )
        }
        Some(_) if one => words!(
            "The one sample was in flight over it, or was to start in it.",
            "唯一的样本在停顿期间进行或本应开始。"
        ),
        Some(_) => words!(
            "All {n} samples were in flight over it, or were to start in it.",
            "全部 {n} 个样本都在停顿期间进行或本应开始。"
        ),
        None if ended == 0 => words!("No sample was in flight.", "停顿期间没有样本正在进行。"),
        None if one => words!(
            "A sample ended in these seconds and may show a time longer than the server's.",
            "这些秒内结束的 1 个样本的时间可能比服务器的实际时间长。"
        ),
        None => words!(
            "{n} samples ended in these seconds and may show times longer than the server's.",
            "这些秒内结束的 {n} 个样本的时间可能比服务器的实际时间长。"
        ),
    }
}

pub(super) fn generator_memory(record: &Record) -> Said {
    let machines = || record.seconds.iter().filter_map(|s| s.machine.as_ref());
    if machines().next().is_none() {
        return lacks!(run: "figures of the generator's machine", "负载机所在机器的数据");
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
        words!(
            "The generator's machine was short of memory: at least once only {left} of {all} were available.",
            "负载机内存不足：至少有一次 {all} 中只剩 {left} 可用。"
        ),
    )
    .with("memory_available", machine.memory_available as f64, "bytes", span)
    .advise(words!(
        "Run fewer users on this machine, or add memory; throng preflight estimates the need.",
        "在这台机器上运行更少的用户，或增加内存；throng preflight 会估算需求。"
    ))
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
    let (times, dropped) = (things(pressures, "time"), things(aborted, "connection"));
    let (times_zh, dropped_zh) = (count(pressures), count(aborted));
    let were = if aborted == 1 { "was" } else { "were" };
    let moved = moved(record);
    let is_own = (moved as f64) >= memory as f64 / TCP_MEMORY / OWN;
    let (whose, whose_zh) = if is_own {
        Default::default()
    } else {
        let moved = bytes(moved);
        (
            format!(
                " The kernel counts all programs together, and this run sent and received only {moved}: probably another program fills it."
            ),
            format!(
                "内核统计的是所有程序，而本次运行一共只收发了 {moved}：很可能是其他程序占用的。"
            ),
        )
    };
    let (about, confidence) = if is_own {
        (About::Generator, Confidence::Certain)
    } else {
        (About::Run, Confidence::Hint)
    };
    let advice = if is_own {
        words!(
            "Raise net.ipv4.tcp_mem, or read faster; throng preflight names the value.",
            "提高 net.ipv4.tcp_mem，或更快地读取；throng preflight 会给出数值。"
        )
    } else {
        words!(
            "Look for the program whose sockets hold the most (ss -tm), or raise net.ipv4.tcp_mem; throng preflight names the value.",
            "查找套接字占用最多的程序（ss -tm），或提高 net.ipv4.tcp_mem；throng preflight 会给出数值。"
        )
    };
    let span = span(&record.seconds);
    found(
        "generator_memory",
        about,
        confidence,
        words!(
            "TCP reached its memory limit on the generator's machine: {times} under pressure, {dropped} {were} dropped because of it.{whose}",
            "负载机上 TCP 达到内存上限：{times_zh} 次处于压力状态，{dropped_zh} 个连接因此被丢弃。{whose_zh}"
        ),
    )
    .with("tcp_memory_pressures", pressures as f64, "times", span)
    .with("aborted_for_memory", aborted as f64, "connections", span)
    .advise(advice)
    .said()
}
