//! Changes between two runs other than the compared metrics: errors by cause, connections, TLS, addresses, watched
//! hosts, settings.

use std::collections::{BTreeMap, BTreeSet};

use record::frame::{PLAN_TEXT, RECEIVE_BUFFER};
use record::{ClassName, Fact, Record, Second, Series, Unit};
use serde::Serialize;
use stats::Counter;
use stats::grouped::bytes;
use stats::hist::{Bins, Hist};

/// A metric or setting that changed, with a description of its value on both sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Changed {
    pub what: String,
    pub a: String,
    pub b: String,
    /// Name of the metric in Chinese, for pages.
    #[serde(skip)]
    pub zh: String,
}

/// Smallest relative change of a metric of connections or watched hosts that is reported.
const TOLD: f64 = 0.10;
/// Largest number of error causes that are reported.
const MOST_CAUSES: usize = 10;

/// Selects a histogram of times from a second.
type Times = fn(&Second) -> &Bins;

/// Returns all changes between the runs of both sides other than the compared metrics. Metrics are taken from all
/// runs of a side together, settings from its first run.
pub fn changes(all_a: &[Record], all_b: &[Record]) -> Vec<Changed> {
    let (Some(a), Some(b)) = (all_a.first(), all_b.first()) else { return Vec::new() };
    let mut found = Vec::new();
    causes(all_a, all_b, &mut found);
    connections(all_a, all_b, &mut found);
    addresses(all_a, all_b, &mut found);
    found.extend(crate::machines::changed(a, b).into_iter().map(|(name, [a, b])| Changed {
        what: name.en,
        zh: name.zh,
        a,
        b,
    }));
    targets(all_a, all_b, &mut found);
    for (name, value) in a.frame.settings.iter().filter(|setting| setting.0 != PLAN_TEXT) {
        let other =
            b.frame.settings.iter().find(|(other, _)| other == name).map(|(_, value)| value);
        if let Some(other) = other.filter(|other| *other != value) {
            found.push(Changed {
                what: format!("setting {name}"),
                zh: format!("设置 {name}"),
                a: setting(name, value),
                b: setting(name, other),
            });
        }
    }
    found
}

/// Formats the value of a setting: the size of a receive buffer as bytes with a unit, any other value unchanged.
fn setting(name: &str, value: &str) -> String {
    let size = value.parse().ok().filter(|_| name == RECEIVE_BUFFER);
    size.map_or_else(|| value.to_owned(), bytes)
}

fn seconds(runs: &[Record]) -> impl Iterator<Item = &Second> {
    runs.iter().flat_map(|run| &run.seconds)
}

fn samples(runs: &[Record]) -> u64 {
    seconds(runs).map(|second| second.all.count).sum()
}

/// Adds errors by cause if their share changed by at least 0.1 percentage points, or if only one side has the cause.
fn causes(a: &[Record], b: &[Record], found: &mut Vec<Changed>) {
    let by_cause = |runs: &[Record]| {
        let mut counts: BTreeMap<(String, String), u64> = BTreeMap::new();
        for run in runs {
            for (cause, n) in run.seconds.iter().flat_map(|second| &second.causes) {
                let Some(cause) = run.causes.get(*cause as usize) else { continue };
                let key = (cause.code.to_string(), cause.message.to_string());
                *counts.entry(key).or_default() += n;
            }
        }
        counts
    };
    let (of_a, of_b) = (by_cause(a), by_cause(b));
    let (all_a, all_b) = (samples(a).max(1) as f64, samples(b).max(1) as f64);
    let mut moved: Vec<(f64, Changed)> = Vec::new();
    let keys: BTreeSet<_> = of_a.keys().chain(of_b.keys()).collect();
    for key in keys {
        let (n_a, n_b) = (of_a.get(key).copied().unwrap_or(0), of_b.get(key).copied().unwrap_or(0));
        let apart = (n_b as f64 / all_b - n_a as f64 / all_a).abs();
        let (code, message) = key;
        if apart >= 0.001 || (n_a == 0) != (n_b == 0) {
            let what = format!("error {code} {message}").trim_end().to_owned();
            let zh = format!("错误 {code} {message}").trim_end().to_owned();
            let side = |n: u64, all: f64| format!("{n} ({:.2} %)", n as f64 / all * 100.0);
            moved.push((apart, Changed { what, zh, a: side(n_a, all_a), b: side(n_b, all_b) }));
        }
    }
    moved.sort_by(|x, y| y.0.total_cmp(&x.0));
    found.extend(moved.into_iter().take(MOST_CAUSES).map(|(_, changed)| changed));
}

/// Adds opened connections and handshakes per request, and the medians of their times, if they changed.
fn connections(a: &[Record], b: &[Record], found: &mut Vec<Changed>) {
    if !a.iter().chain(b).all(|run| run.has.connections) {
        return;
    }
    let per_request = |runs: &[Record], counter: Counter| {
        let n: u64 = seconds(runs).map(|second| second.counters.get(counter)).sum();
        n as f64 * 1000.0 / samples(runs).max(1) as f64
    };
    let counters = [
        (Counter::ConnOpened, "connections opened in 1 000 requests", "每 1 000 个请求新建的连接"),
        (
            Counter::TlsFull,
            "full TLS handshakes in 1 000 requests",
            "每 1 000 个请求的完整 TLS 握手",
        ),
        (
            Counter::TlsResumed,
            "resumed TLS handshakes in 1 000 requests",
            "每 1 000 个请求恢复的 TLS 会话",
        ),
    ];
    for (counter, what, zh) in counters {
        let (x, y) = (per_request(a, counter), per_request(b, counter));
        if (x - y).abs() > TOLD * x.max(y) && x.max(y) >= 1.0 {
            found.push(Changed {
                what: what.to_owned(),
                zh: zh.to_owned(),
                a: format!("{x:.1}"),
                b: format!("{y:.1}"),
            });
        }
    }
    let median = |runs: &[Record], bins: Times| {
        let mut hist = Hist::new();
        seconds(runs).for_each(|second| hist.add(bins(second)));
        (hist.total() >= 20).then(|| hist.quantile(0.5) as f64 / 1000.0)
    };
    let times: [(Times, &str, &str); 2] = [
        (|second| &second.connect, "median time of a TCP connect", "TCP 连接时间中位数"),
        (|second| &second.tls, "median time of a TLS handshake", "TLS 握手时间中位数"),
    ];
    for (bins, what, zh) in times {
        if let (Some(x), Some(y)) = (median(a, bins), median(b, bins))
            && (x - y).abs() > TOLD * x.max(y)
        {
            found.push(Changed {
                what: what.to_owned(),
                zh: zh.to_owned(),
                a: format!("{x:.2} ms"),
                b: format!("{y:.2} ms"),
            });
        }
    }
}

/// Adds the server addresses to which requests were sent, if they changed.
fn addresses(a: &[Record], b: &[Record], found: &mut Vec<Changed>) {
    if !a.iter().chain(b).all(|run| run.has.classes) {
        return;
    }
    let all = |runs: &[Record]| {
        let address = |class: &ClassName| match class {
            ClassName::Address(address) => Some(address.to_string()),
            ClassName::Header { .. } => None,
        };
        let names: BTreeSet<String> =
            runs.iter().flat_map(|run| &run.classes).filter_map(address).collect();
        names.into_iter().collect::<Vec<_>>().join(", ")
    };
    let (of_a, of_b) = (all(a), all(b));
    if of_a != of_b {
        found.push(Changed {
            what: "addresses of the target".to_owned(),
            zh: "被测系统的地址".to_owned(),
            a: of_a,
            b: of_b,
        });
    }
}

/// Returns true if the record contains the metric as a setting, too. Then it is compared as a setting.
fn is_setting(record: &Record, of: &Series) -> bool {
    let is_it = |fact: &Fact| fact.host == of.host && fact.name == of.metric;
    &*of.metric == Fact::HEAP_MAX && record.facts.iter().any(is_it)
}

/// Adds the means of metrics of watched hosts, if they changed.
fn targets(a: &[Record], b: &[Record], found: &mut Vec<Changed>) {
    let means = |runs: &[Record]| {
        let mut sums: BTreeMap<(String, String), (f64, f64, Unit)> = BTreeMap::new();
        for run in runs {
            for (series, value) in run.seconds.iter().flat_map(|second| &second.watched) {
                let series = run.series.get(*series as usize);
                let Some(series) = series.filter(|one| !is_setting(run, one)) else { continue };
                let sum = sums
                    .entry((series.host.to_string(), series.metric.to_string()))
                    .or_insert((0.0, 0.0, series.unit));
                sum.0 += value;
                sum.1 += 1.0;
            }
        }
        sums
    };
    let of_b = means(b);
    for ((host, metric), (sum, n, unit)) in means(a) {
        let Some((other, m, _)) = of_b.get(&(host.clone(), metric.clone())) else { continue };
        let (x, y) = (sum / n, other / m);
        if (x - y).abs() > TOLD * x.abs().max(y.abs()) {
            found.push(Changed {
                what: format!("{metric} of {host}, mean"),
                zh: format!("{host} 的 {metric}，平均"),
                a: mean(x, unit),
                b: mean(y, unit),
            });
        }
    }
}

/// Formats the mean of a watched metric.
fn mean(value: f64, unit: Unit) -> String {
    if unit == Unit::Bytes && value >= 0.0 { bytes(value as u64) } else { format!("{value:.3}") }
}
