//! The charts of the run itself: load, times, errors, traffic, phases.

use answers::criterion::Times;
use record::Second;
use stats::hist::Hist;

use super::draft::{Draft, draft};
use super::source::Source;
use crate::model::timeline::Timeline;

/// Length of an instant in ms above which its rate is a mean of several seconds.
const MEAN_MS: i64 = 1500;
/// Largest number of causes of errors with separate lines.
const CAUSES: usize = 5;

pub(super) fn load(source: &Source<'_>, timeline: &mut Timeline) {
    let mut draft = draft("load", "overview", "Load and rate", "负载与速率").with(
        "rate",
        "Rate",
        "速率",
        "/s",
        &source.per_second(|second| second.all.count),
    );
    if source.record.has.users {
        let users = source.last(|second| Some(second.users as f64));
        draft = draft.with("users", "Users", "用户数", "count", &users);
    }
    draft = draft
        .maybe(
            "due",
            "Starts asked for",
            "要求的启动",
            "/s",
            &source.per_second(|second| second.due),
        )
        .maybe(
            "missed",
            "Starts not made",
            "未能启动",
            "/s",
            &source.per_second(|second| second.missed),
        );
    // An instant of a long run shows a mean rate. The lowest and highest rates of single seconds are added.
    if source.instants.iter().any(|instant| instant.ms > MEAN_MS) {
        let rates = |of: fn((f64, f64)) -> f64| move |second: &Second| second.rates().map(of);
        draft = draft
            .with(
                "rate_least",
                "Least in a second",
                "单秒最低",
                "/s",
                &source.least(rates(|r| r.0)),
            )
            .with("rate_most", "Most in a second", "单秒最高", "/s", &source.most(rates(|r| r.1)))
            .band("rate_least", "rate_most");
    }
    draft.into(timeline);
}

pub(super) fn response(source: &Source<'_>, timeline: &mut Timeline) {
    let times = Times::judged(source.record);
    let judged = |second: &Second, hist: &mut Hist| hist.add(times.of(&second.all));
    let most = source.most(|second| (second.all.count > 0).then(|| times.longest(&second.all)));
    let (en, zh) = match times {
        Times::Response => ("Response time", "响应时间"),
        Times::Service => ("Service time", "服务时间"),
    };
    draft("response", "overview", en, zh)
        .with("p50", "p50", "p50", "us", &source.quantile(0.5, judged))
        .with("p95", "p95", "p95", "us", &source.quantile(0.95, judged))
        .with("p99", "p99", "p99", "us", &source.quantile(0.99, judged))
        .with("max", "Max", "最大", "us", &most)
        .band("p50", "p99")
        .log()
        .about("p95")
        .into(timeline);
    let service = |second: &Second, hist: &mut Hist| hist.add(&second.all.service);
    let late = |second: &Second| second.all.phases.late > 0;
    if times == Times::Response && source.record.seconds.iter().any(late) {
        draft("service", "time", "Service time from the actual start", "自实际启动起的服务时间")
            .with("service_p95", "p95", "p95", "us", &source.quantile(0.95, service))
            .with("service_p99", "p99", "p99", "us", &source.quantile(0.99, service))
            .log()
            .saying(1)
            .into(timeline);
    }
}

/// Builds the chart of errors with the line for all causes together.
pub(super) fn all_errors(source: &Source<'_>) -> Draft {
    let all = source.per_second(|second| second.all.errors);
    let has_transactions = source.record.labels.iter().any(|label| label.transaction);
    let (en, zh) = if has_transactions {
        ("Failed requests", "失败的请求")
    } else {
        ("All errors", "全部错误")
    };
    draft("errors", "overview", "Errors by cause", "按原因统计的错误")
        .with("errors", en, zh, "/s", &all)
        .saying(1)
}

pub(super) fn errors(source: &Source<'_>, timeline: &mut Timeline) {
    if !source.record.knows_errors() {
        return;
    }
    let mut sums: Vec<(u32, u64)> = Vec::new();
    for (cause, n) in source.record.seconds.iter().flat_map(|second| &second.causes) {
        match sums.iter_mut().find(|(known, _)| known == cause) {
            Some((_, sum)) => *sum += n,
            None => sums.push((*cause, *n)),
        }
    }
    sums.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    let mut draft = all_errors(source);
    for (n, (cause, _)) in sums.iter().take(CAUSES).enumerate() {
        let Some(name) = source.record.causes.get(*cause as usize) else { continue };
        let text = match (&*name.code, &*name.message) {
            ("", "") => name.outcome.as_str().to_owned(),
            (code, message) => format!("{code} {message}").trim().to_owned(),
        };
        let short: String = text.chars().take(60).collect();
        let values = source.per_second(|second| {
            second.causes.iter().find(|(of, _)| of == cause).map_or(0, |(_, n)| *n)
        });
        draft = draft.with(&format!("cause.{n}"), &short, &short, "/s", &values);
    }
    draft.into(timeline);
}

pub(super) fn traffic(source: &Source<'_>, timeline: &mut Timeline) {
    let flight = source.each(|instant, seconds| {
        let elapsed: u64 = seconds.iter().map(|second| second.all.elapsed).sum();
        Some(elapsed as f64 / 1e9 / instant.length())
    });
    draft("flight", "time", "Requests in flight", "在途请求")
        .with("flight", "In flight (mean)", "在途（平均）", "count", &flight)
        .into(timeline);
    draft("bytes", "time", "Bytes", "流量")
        .with(
            "received",
            "Received",
            "接收",
            "bytes/s",
            &source.per_second(|second| second.all.received),
        )
        .with("sent", "Sent", "发送", "bytes/s", &source.per_second(|second| second.all.sent))
        .into(timeline);
}

/// Adds the chart of the mean time of each phase to the timeline.
pub(super) fn phases(source: &Source<'_>, timeline: &mut Timeline) {
    if !source.record.has.phases {
        return;
    }
    let names = [
        ("room", "Pool wait", "等待连接池"),
        ("dns", "DNS", "DNS"),
        ("connect", "Connect", "建立连接"),
        ("tls", "TLS", "TLS"),
        ("send", "Send", "发送"),
        ("wait", "Wait for first byte", "等待首字节"),
        ("receive", "Receive", "接收"),
    ];
    let mut draft = draft("phases", "time", "Mean time by phase", "各阶段平均耗时").saying(1);
    // The phase with the most time comes first, so that the caption describes it.
    let mut order: Vec<usize> = (0..names.len()).collect();
    let total = |n: usize| -> u64 {
        source.record.seconds.iter().map(|second| second.all.phases.to_array()[n + 1]).sum()
    };
    order.sort_by_key(|n| std::cmp::Reverse(total(*n)));
    for n in order {
        let (id, en, zh) = names[n];
        let mean = source.each(|_, seconds| {
            let count: u64 = seconds.iter().map(|second| second.all.count).sum();
            let ns: u64 = seconds.iter().map(|second| second.all.phases.to_array()[n + 1]).sum();
            (count > 0).then(|| ns as f64 / 1000.0 / count as f64)
        });
        draft = draft.maybe(&format!("phase.{id}"), en, zh, "us", &mean);
    }
    draft.into(timeline);
}
