//! Local ports of the generator: gone, nearly gone, or going.

use record::Record;
use stats::Outcome;
use stats::grouped::count;

use super::figures::{mean, span, stop_ms};
use super::machine::failed;
use super::say::{clock, found, lacks, number, words};
use crate::verdict::{About, Confidence, Said, Words};

const ID: &str = "ports";

/// Share of ports below which little is left.
const LITTLE_LEFT: f64 = 0.05;
/// Share in use from which on the time is predicted at which they run out.
const MUCH_USED: f64 = 0.7;
/// Seconds that a closed connection keeps its port. Source: Linux, include/net/tcp.h, TCP_TIMEWAIT_LEN.
const TIME_WAIT_S: f64 = 60.0;
/// Seconds from whose trend that time is taken, and how many at least.
const TREND: usize = 30;
const TREND_LEAST: usize = 10;

fn advice() -> Words {
    words!(
        "Widen net.ipv4.ip_local_port_range, add source addresses, or keep connections open; throng preflight computes the need.",
        "扩大 net.ipv4.ip_local_port_range、增加源地址，或保持连接；throng preflight 会计算需求。"
    )
}

pub(super) fn ports(record: &Record) -> Said {
    let all_span = span(&record.seconds);
    let (n, example) = failed(record, Outcome::PortsExhausted);
    if n > 0 {
        let samples = count(n);
        return found(
            ID,
            About::Generator,
            Confidence::Certain,
            words!(
                "Local ports ran out on the generator: {samples} samples failed because none was free: {example}",
                "负载机的本地端口用尽：{samples} 个样本因没有空闲端口而失败：{example}"
            ),
        )
        .with("ports_exhausted", n as f64, "samples", all_span)
        .advise(advice())
        .explaining(&["errors_named", "plan_fault", "reset_under_load"])
        .said();
    }
    let left: Vec<(i64, f64)> = record
        .seconds
        .iter()
        .filter_map(|s| Some((s.at_ms, s.generator.ports_left? as f64)))
        .collect();
    let all = record.frame.ports as f64;
    let Some((_, least)) = left.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1)) else {
        return lacks!("the number of free ports", "空闲端口数");
    };
    if all <= 0.0 {
        return lacks!("the number of free ports", "空闲端口数");
    }
    let (least_words, all_words) = (count(least as u64), count(all as u64));
    if least < LITTLE_LEFT * all {
        return found(
            ID,
            About::Generator,
            Confidence::Arithmetic,
            words!(
                "Nearly all local ports of the generator were taken: at least once only {least_words} of {all_words} were left.",
                "负载机的本地端口几乎用尽：至少有一次 {all_words} 个中只剩 {least_words} 个。"
            ),
        )
        .with("ports_left", least, "ports", all_span)
        .advise(advice())
        .said();
    }
    predicted(record, &left, all).unwrap_or(Said::Nothing)
}

/// Ports that run out before the run ends, if they go on like this.
fn predicted(record: &Record, left: &[(i64, f64)], all: f64) -> Option<Said> {
    // Users that leave give theirs back.
    let stop = stop_ms(record).unwrap_or(i64::MAX);
    let before = left.iter().filter(|(at, _)| *at <= stop).copied().collect::<Vec<_>>();
    let (now, per_s) = trend(&before)?;
    let end_ms = record
        .frame
        .load
        .length_ms
        .map_or(record.frame.start_ms + record.frame.length_ms, |l| record.frame.start_ms + l);
    let (at_ms, left_now) = now;
    // Connections in TIME_WAIT come back: their number grows for that long and no longer.
    let last = record.seconds.iter().rfind(|s| s.at_ms <= stop);
    let waiting = last.map_or(0, |s| s.generator.time_wait) as f64;
    if waiting >= 0.5 * (all - left_now) && per_s * TIME_WAIT_S < all {
        return None;
    }
    let gone_ms = at_ms + (left_now / per_s * 1000.0) as i64;
    if left_now > (1.0 - MUCH_USED) * all || gone_ms > end_ms {
        return None;
    }
    let (least_words, all_words) = (count(left_now as u64), count(all as u64));
    let (when, pace) = (clock(gone_ms - record.frame.start_ms), number(per_s));
    Some(found(
        ID,
        About::Run,
        Confidence::Arithmetic,
        words!(
            "Local ports of the generator run out at about {when} if it goes on like this: {least_words} of {all_words} are left, {pace} fewer each second.",
            "照此下去，负载机的本地端口将在约 {when} 用尽：{all_words} 个中还剩 {least_words} 个，每秒减少 {pace} 个。"
        ),
    )
    .with("ports_left", left_now, "ports", (at_ms, at_ms))
    .with("ports_run_out_at", gone_ms as f64, "epoch ms", (at_ms, gone_ms))
    .advise(advice())
    .said())
}

/// The last reading, and the ports lost each second; `None` where they do not fall.
fn trend(left: &[(i64, f64)]) -> Option<((i64, f64), f64)> {
    let last = &left[left.len().saturating_sub(TREND)..];
    if last.len() < TREND_LEAST {
        return None;
    }
    let (times, values): (Vec<f64>, Vec<f64>) =
        last.iter().map(|(at, left)| ((at - last[0].0) as f64 / 1000.0, *left)).unzip();
    let (t, v) = (mean(&times), mean(&values));
    let above: f64 = times.iter().zip(&values).map(|(a, b)| (a - t) * (b - v)).sum();
    let below: f64 = times.iter().map(|a| (a - t).powi(2)).sum();
    let slope = above / below.max(1e-9);
    (slope < 0.0).then(|| (*last.last().expect("not empty"), -slope))
}
