//! The charts of the generator and its machine.

use super::draft::draft;
use super::source::Source;
use crate::model::timeline::Timeline;

/// Adds the charts of the generator to the timeline.
pub(super) fn generator(source: &Source<'_>, timeline: &mut Timeline) {
    processors(source, timeline);
    overhead(source, timeline);
    waits(source, timeline);
    network(source, timeline);
}

pub(super) fn processors(source: &Source<'_>, timeline: &mut Timeline) {
    let record = source.record;
    let processors = f64::from(record.frame.processors.max(1));
    let cpu = source.each(|instant, seconds| {
        let used: f64 = seconds.iter().map(|second| second.generator.cpu_s).sum();
        Some(used / instant.length() / processors)
    });
    let machine = |figure: fn(&stats::machine::Machine) -> f64| {
        source.last(move |second| second.machine.as_ref().map(figure))
    };
    let queue = source.each(|instant, seconds| {
        let waited: f64 = seconds.iter().map(|second| second.generator.run_queue_s).sum();
        Some(waited / instant.length() / processors)
    });
    draft("cpu", "generator", "Processors", "处理器")
        .with("cpu", "Generator, share of all processors", "负载机占全部处理器", "share", &cpu)
        .with("machine_cpu", "Whole machine", "整机", "share", &machine(|m| m.cpu))
        .maybe("queue", "Waiting for a CPU", "等待 CPU", "share", &queue)
        .maybe("stolen", "Steal", "被虚拟机宿主占用", "share", &machine(|m| m.stolen))
        .into(timeline);
}

fn overhead(source: &Source<'_>, timeline: &mut Timeline) {
    let share = source.each(|_, seconds| {
        let of = seconds.iter().map(|second| second.all.overhead());
        let (lag, time) = of.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        (time > 0).then(|| lag as f64 / time as f64)
    });
    draft("own", "generator", "Generator overhead", "负载机开销")
        .with("own_share", "Share of all response time", "占全部响应时间", "share", &share)
        .with(
            "lag_p99",
            "p99 of a sample",
            "单样本 p99",
            "us",
            &source.quantile(0.99, |second, hist| hist.add(&second.lag)),
        )
        .into(timeline);
    draft("memory", "generator", "Memory", "内存")
        .with(
            "memory",
            "Generator",
            "负载机",
            "bytes",
            &source.most(|second| Some(second.generator.memory as f64)),
        )
        .maybe(
            "heap",
            "Java heap in use",
            "Java 堆",
            "bytes",
            &source.most(|second| second.generator.heap.map(|(used, _)| used as f64)),
        )
        .saying(1)
        .into(timeline);
}

fn waits(source: &Source<'_>, timeline: &mut Timeline) {
    let stall = source.most(|second| Some(second.generator.stall as f64 / 1000.0));
    let write = source.most(|second| Some(second.generator.write_s * 1e6));
    draft("waiting", "generator", "Pauses", "停顿")
        .maybe("stall", "Longest pause of the process", "进程最长停顿", "us", &stall)
        .maybe("write", "Blocked in writing", "写盘阻塞", "us", &write)
        .maybe(
            "rows",
            "Rows waiting for the disk",
            "等待写盘的行",
            "count",
            &source.most(|second| Some(second.generator.rows_waiting as f64)),
        )
        .maybe(
            "collection",
            "Java garbage collection",
            "Java 垃圾回收",
            "us",
            &source.most(|second| Some(second.generator.collection_s * 1e6)),
        )
        .into(timeline);
}

fn network(source: &Source<'_>, timeline: &mut Timeline) {
    draft("ports", "generator", "Local ports", "本地端口")
        .maybe(
            "ports_left",
            "Left",
            "剩余",
            "count",
            &source.last(|second| second.generator.ports_left.map(|n| n as f64)),
        )
        .maybe(
            "time_wait",
            "In TIME_WAIT",
            "TIME_WAIT",
            "count",
            &source.last(|second| Some(second.generator.time_wait as f64)),
        )
        .into(timeline);
    let of_machine = |figure: fn(&stats::machine::Machine) -> u64| {
        source.per_second(move |second| second.machine.as_ref().map_or(0, figure))
    };
    draft("segments", "generator", "TCP of the machine", "本机 TCP")
        .maybe(
            "retransmitted",
            "Segments sent again",
            "重传段",
            "/s",
            &of_machine(|m| m.retransmitted),
        )
        .maybe(
            "zero_windows",
            "Windows closed",
            "零窗口",
            "/s",
            &of_machine(|m| m.zero_windows_offered),
        )
        .maybe(
            "overflows",
            "Accept queue overflows",
            "全连接队列溢出",
            "/s",
            &of_machine(|m| m.listen_overflows),
        )
        .into(timeline);
}
