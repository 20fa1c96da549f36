//! Detects watched firewalls and load balancers with many more sessions than the run has connections, or with no
//! session left.

use std::sync::Arc;

use record::{Record, Second};
use stats::Counter;
use stats::grouped::{count, percent};

use super::figures::{Span, median, requests, span, sum, whole};
use super::hosts::{LEAST, hosts, mean, place, value};
use super::say::{found, lacks, number, words};
use crate::verdict::{About, Confidence, Finding, Said, Words};

const ID: &str = "host_sessions";

/// Smallest number of sessions per connection of the run that shows that a proxy does not reuse its connections. A
/// device that counts both sides of a connection has two sessions per connection.
const MANY: f64 = 3.0;
/// Smallest number of connections of the run with which a device's sessions are compared.
const HELD: f64 = 20.0;
/// Largest number of connections opened per request by a run with which a device's sessions are compared: a plan that
/// opens a connection per request fills the device itself.
const OPENED: f64 = 0.2;
/// Smallest share of the run's connections that are open at the first reading for a run which held its connections from
/// the start: then the reading does not show the sessions of others.
const FROM_THE_START: f64 = 0.5;
/// Divisor of the number of seconds: 2 means that the second half of the run is compared with the first reading.
const END: usize = 2;
/// Share of the maximum number of sessions from which a device counts as full.
const FULL: f64 = 0.97;
/// Share of processor time from which a device counts as busy.
const BUSY: f64 = 0.8;
/// Smallest number of readings of a full device, or of a busy one, for a finding.
const TOP: usize = 5;
/// Largest relative difference between the session counts of a device near its maximum at which the device counts as
/// full.
const LEVEL: f64 = 0.01;

pub(super) fn host_sessions(record: &Record) -> Said {
    let devices = hosts(record, "sessions");
    if devices.is_empty() {
        return lacks!(sessions_of_watched_host);
    }
    let seconds = whole(record);
    let full = devices.iter().find_map(|(host, at)| is_full(record, seconds, host, *at));
    let many = || devices.iter().find_map(|(host, at)| has_many(record, seconds, host, *at));
    let works = || devices.iter().find_map(|(host, at)| is_busy_from_the_start(record, host, *at));
    let readings = |at: u32| seconds.iter().filter(|s| value(s, at).is_some()).count();
    let most = devices.iter().map(|(_, at)| readings(*at)).max().unwrap_or(0);
    let least = END * LEAST;
    full.or_else(many).or_else(works).map_or_else(
        || {
            if most < least { lacks!(readings_of_sessions(least)) } else { Said::Nothing }
        },
        Finding::said,
    )
}

/// Returns the finding about a device that has no session left.
fn is_full(record: &Record, seconds: &[Second], host: &Arc<str>, sessions: u32) -> Option<Finding> {
    let limit = place(record, host, "sessions_max")?;
    let readings = seconds.iter().filter_map(|s| Some((value(s, sessions)?, value(s, limit)?)));
    let top: Vec<(f64, f64)> =
        readings.filter(|(now, most)| *most > 0.0 && *now >= FULL * most).collect();
    let (least, most) = top
        .iter()
        .fold((f64::MAX, 0.0_f64), |(low, high), (now, _)| (low.min(*now), high.max(*now)));
    if top.len() < TOP || most - least > LEVEL * most {
        return None;
    }
    let (now, of) = (count(most as u64), count(top[0].1 as u64));
    Some(
        found(ID, About::Run, Confidence::Arithmetic, words!(sessions_exhausted(host, now, of)))
            .on_hosts([&**host])
            .with("sessions", most, "sessions", span(seconds))
            .advise(words!(sessions_exhausted_advice(host))),
    )
}

/// Returns the number of connections that the run holds at the end of each second.
fn held(record: &Record, seconds: &[Second]) -> Vec<f64> {
    let first = seconds.first().map_or(i64::MAX, |second| second.at_ms);
    let change = |second: &Second| {
        let n = |counter| second.counters.get(counter) as f64;
        n(Counter::ConnOpened) - n(Counter::ConnClosedByPeer) - n(Counter::ConnClosedByUs)
    };
    let before: f64 = record.seconds.iter().filter(|s| s.at_ms < first).map(change).sum();
    let add = |held: &mut f64, second: &Second| {
        *held += change(second);
        Some(*held)
    };
    seconds.iter().scan(before, add).collect()
}

/// Number of the run's connections with which the sessions are compared, and a phrase about those connections.
struct Outside {
    connections: f64,
    words: Words,
}

/// True if the run keeps its own connections, so that sessions are comparable with them.
fn keeps(record: &Record, seconds: &[Second]) -> bool {
    let opened = sum(seconds, |s| s.counters.get(Counter::ConnOpened)) as f64;
    record.has.connections && opened <= OPENED * requests(seconds).max(1) as f64
}

/// Returns the sessions of a device at its first reading, the connections that the run held then, and those that it
/// holds at its end.
fn at_first(record: &Record, seconds: &[Second], sessions: u32) -> Option<(f64, f64, f64)> {
    let held = held(record, seconds);
    let at = seconds.iter().position(|s| value(s, sessions).is_some())?;
    let end = median(held.get(seconds.len() / END..)?);
    Some((value(&seconds[at], sessions)?, held[at].max(0.0), end))
}

/// Returns the finding about a device with several sessions per connection of the run.
fn has_many(
    record: &Record,
    seconds: &[Second],
    host: &Arc<str>,
    sessions: u32,
) -> Option<Finding> {
    let end = &seconds[seconds.len() / END..];
    let (now, n) = mean(end, sessions);
    if n < LEAST || !keeps(record, seconds) {
        return None;
    }
    let (inside, outside) = match place(record, host, "sessions_behind") {
        Some(behind) => {
            let connections = mean(end, behind).0;
            let clients = count(now as u64);
            let words = words!(sessions_with_clients(clients));
            (connections, Outside { connections: now, words })
        }
        None => {
            // The sessions of others are those at the first reading, minus those of the run.
            let (first, held, connections) = at_first(record, seconds, sessions)?;
            let held = if held < FROM_THE_START * connections { held } else { 0.0 };
            let shown = count(connections.max(0.0) as u64);
            let words = words!(connections_of_run(shown));
            let grown = (now - first.min(now)) * connections / (connections - held).max(1.0);
            (grown, Outside { connections, words })
        }
    };
    let each = inside / outside.connections.max(1.0);
    if outside.connections < HELD || each < MANY {
        return None;
    }
    Some(many(host, each, &outside, busy(record, end, host), span(seconds)))
}

/// Returns the finding about a device that is busy from the first reading on, when the run already holds its
/// connections: the owner of the sessions is unknown.
fn is_busy_from_the_start(record: &Record, host: &Arc<str>, sessions: u32) -> Option<Finding> {
    let seconds = whole(record);
    let (now, n) = mean(seconds, sessions);
    let (_, held, connections) = at_first(record, seconds, sessions)?;
    let is_from_start = connections >= HELD && held >= FROM_THE_START * connections;
    let is_many = n >= TOP && now >= MANY * connections;
    if !is_from_start || !is_many || !keeps(record, seconds) {
        return None;
    }
    let (cpu, n) = mean(seconds, place(record, host, "cpu")?);
    if n < TOP || cpu < BUSY {
        return None;
    }
    let (works, sessions, held) = (percent(cpu), count(now as u64), count(connections as u64));
    Some(
        found(
            ID,
            About::Run,
            Confidence::Hint,
            words!(sessions_of_unknown_owner(host, works, sessions, held)),
        )
        .on_hosts([&**host])
        .with("sessions", now, "sessions", span(seconds))
        .with("cpu", cpu, "share", span(seconds))
        .advise(words!(sessions_of_unknown_owner_advice)),
    )
}

/// Returns the share of processor time of a device if it is busy.
fn busy(record: &Record, seconds: &[Second], host: &str) -> Option<f64> {
    let (cpu, n) = mean(seconds, place(record, host, "cpu")?);
    (n >= LEAST && cpu >= BUSY).then_some(cpu)
}

fn many(host: &Arc<str>, each: f64, outside: &Outside, busy: Option<f64>, all: Span) -> Finding {
    let (per, of) = (number(each), &outside.words);
    let works = busy.map_or(Words::default(), |cpu| {
        let cpu = percent(cpu);
        words!(and_processors_busy(cpu))
    });
    let finding = found(
        ID,
        About::Run,
        Confidence::Hint,
        words!(sessions_for_each_connection(host, per, of, works)),
    )
    .on_hosts([&**host])
    .with("sessions_per_connection", each, "sessions", all)
    .advise(words!(sessions_for_each_connection_advice(host)));
    match busy {
        Some(cpu) => finding.with("cpu", cpu, "share", all),
        None => finding,
    }
}
