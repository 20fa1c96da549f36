//! Detects local ports of a watched host that ran out, or that will run out if the trend continues.
//!
//! The host's own kernel reports the counts, so a generator at its limit does not make them doubtful.

use std::sync::Arc;

use record::{CauseName, Record, Second};
use stats::Outcome;
use stats::grouped::{count, percent};

use super::defaults;
use super::figures::{causes, rate, span, sum, whole};
use super::hosts::{mean, place};
use super::say::{clock, found, lacks, number, words};
use crate::host_ports::{DEFAULT_PORTS, Forecast, Reading, forecast, own};
use crate::verdict::{About, Confidence, Finding, Said, Words};

const ID: &str = "host_ports";

/// Share of the port range from which the range counts as used up.
const ALL: f64 = 0.95;
/// Largest ratio of connections in TIME_WAIT that the host opened to the ports of the port range. A host with more
/// connections opened them to several destinations, and each destination can use the whole range.
const BEYOND: f64 = 1.05;
/// Smallest number of readings close to the maximum number of connections in TIME_WAIT, for the maximum to count as
/// stable.
const TOP: usize = 3;
/// Largest difference between a reading and the maximum at which the reading counts as close to the maximum, as a share
/// of the port range.
const LEVEL: f64 = 0.01;
/// Smallest share of the waiting connections that the host itself opened.
const OWN: f64 = 0.5;
/// Smallest number of readings from which the number of opened connections per request is computed.
const OPENED_READINGS: usize = 3;
/// Number of opened connections per request below which some connections are reused.
const NOT_EACH: f64 = 0.8;
/// Smallest increase of the error share from which errors count as caused by used-up ports.
const FAILING: f64 = 0.05;
/// Largest age in ms of a metric when a second ends: the metric may have been read in the previous second.
const READ_MS: i64 = 1000;
/// Rules whose findings follow from used-up ports.
const EXPLAINS: &[&str] =
    &["host_churn", "errors_named", "plan_fault", "circuit_breaker", "step_change", "bimodal"];

/// A watched host with its readings under load.
struct Host {
    name: Arc<str>,
    readings: Vec<Reading>,
    /// Maximum of the connections in TIME_WAIT that the host itself opened, by the most cautious count.
    least: f64,
    /// Number of ports in the port range.
    ports: f64,
    /// True if the host or the user has reported the number of ports.
    known: bool,
}

fn hosts(record: &Record) -> Vec<Host> {
    let seconds = whole(record);
    let waiting = record.series.iter().filter(|series| &*series.metric == "time_wait");
    waiting
        .map(|series| {
            let number = |metric: &str| {
                let same = |one: &record::Series| one.host == series.host && &*one.metric == metric;
                record.series.iter().position(same).map(|at| at as u32)
            };
            let [waiting, opened, accepted, ports] =
                ["time_wait", "opened", "accepted", "ports"].map(number);
            let reading = |second: &Second| {
                Some(Reading {
                    at_ms: second.at_ms,
                    waiting: watched(second, waiting)?,
                    opened: watched(second, opened),
                    accepted: watched(second, accepted),
                })
            };
            let said = seconds.iter().rev().find_map(|second| watched(second, ports));
            let readings: Vec<Reading> = seconds.iter().filter_map(reading).collect();
            Host {
                name: Arc::clone(&series.host),
                least: own(&readings, 1000).iter().map(|r| r.waiting).fold(0.0, f64::max),
                readings: own(&readings, i64::MAX),
                ports: said.unwrap_or(DEFAULT_PORTS),
                known: said.is_some(),
            }
        })
        .collect()
}

fn watched(second: &Second, series: Option<u32>) -> Option<f64> {
    second.watched.iter().find(|(number, _)| Some(*number) == series).map(|(_, value)| *value)
}

pub(super) fn host_ports(record: &Record) -> Said {
    let hosts = hosts(record);
    if hosts.iter().all(|host| host.readings.is_empty()) {
        return lacks!(hosts: time_wait_of_watched_host);
    }
    let gone = hosts.iter().find_map(|host| ran_out(record, host));
    let going = || hosts.iter().find_map(|host| running_out(record, host));
    gone.or_else(going).map_or(Said::Nothing, Finding::said)
}

/// Returns the earliest forecast that the readings allowed.
fn foreseen(host: &Host) -> Option<Forecast> {
    (1..=host.readings.len()).find_map(|n| forecast(&host.readings[..n], host.ports))
}

fn range(host: &Host) -> (String, Words) {
    let ports = count(host.ports as u64);
    let note = if host.known { Words::default() } else { words!(default_range_of_ports) };
    (ports, note)
}

/// Ports that ran out: the time, the forecast before it, and the failures after it.
struct Gone<'r> {
    at_ms: i64,
    most: f64,
    before: Option<Forecast>,
    borne_out: bool,
    early: &'r [Second],
    late: &'r [Second],
    /// True if errors began when the ports ran out.
    fails: bool,
}

fn errors(seconds: &[Second]) -> (u64, f64) {
    let (failed, all) = (sum(seconds, |s| s.all.errors), sum(seconds, |s| s.all.count));
    (failed, failed as f64 / all.max(1) as f64)
}

/// Returns the index of the second in which ports began to run out. At `first_ms`, a reading first shows that all ports
/// wait. The ports ran out between the previous reading and this one: in the first second there in which requests begin
/// to fail, or, if none fail, in the first second after the previous reading.
fn begins(seconds: &[Second], readings: &[Reading], first_ms: i64) -> usize {
    let below = readings.iter().rev().find(|r| r.at_ms < first_ms).map_or(0, |r| r.at_ms);
    let place = |at_ms: i64| seconds.partition_point(|second| second.at_ms < at_ms);
    let mut between = place(below - READ_MS)..place(first_ms + 1);
    let begin = |at: &usize| {
        let (early, second) = (&seconds[..*at], &seconds[*at..=*at]);
        errors(second).1 >= errors(early).1 + FAILING
    };
    between.find(begin).unwrap_or_else(|| place(below + 1))
}

fn gone<'r>(record: &'r Record, host: &Host) -> Option<Gone<'r>> {
    let most = host.readings.iter().map(|r| r.waiting).fold(0.0, f64::max);
    if most < ALL * host.ports || host.least > BEYOND * host.ports {
        return None;
    }
    let first = *host.readings.iter().find(|r| r.waiting >= ALL * host.ports)?;
    let before = foreseen(host).filter(|found| found.at_ms <= first.at_ms);
    let until = host.readings.iter().filter(|r| r.at_ms <= first.at_ms);
    let opened: f64 = until.filter_map(|r| r.opened).sum();
    // A host that accepts connections and closes them also has them in TIME_WAIT, but they take no port of the range.
    let borne_out = before.is_some_and(|found| found.borne_out) || opened >= OWN * most;
    let seconds = whole(record);
    let (early, late) = seconds.split_at(begins(seconds, &host.readings, first.at_ms));
    let fails = errors(late).1 >= errors(early).1 + FAILING;
    // If requests fail, the failures determine the second.
    let failing = late.first().filter(|_| fails).map_or(first.at_ms, |second| second.at_ms);
    let at_ms = failing.min(first.at_ms);
    let top = host.readings.iter().filter(|r| (most - r.waiting) <= LEVEL * host.ports).count();
    let shown = (before.is_some() || borne_out) && (fails || top >= TOP);
    shown.then_some(Gone { at_ms, most, before, borne_out, early, late, fails })
}

/// Returns the sentences about the failures after the ports ran out, and about the forecast that was possible.
fn aftermath(record: &Record, gone: &Gone<'_>) -> Words {
    let mut words = Words::default();
    if gone.fails {
        let (failed, share) = errors(gone.late);
        let (failed, share, early) = (count(failed), percent(share), count(errors(gone.early).0));
        let most_frequent = causes(gone.late).first().map(|(cause, _)| *cause);
        let cause = most_frequent.and_then(|cause| record.causes.get(cause));
        let code = cause.map_or("", |cause| &*cause.code);
        words = words!(failures_after_ports_ran_out(failed, share, code, early));
    }
    if let Some(found) = gone.before {
        let (seen, pace) = (clock(found.at_ms - record.frame.start_ms), number(found.per_s));
        words.push(&words!(ports_foreseen_since(seen, pace)));
    }
    words
}

/// Returns the number of connections that a host opens per request in the given seconds; `None` if too few seconds have
/// a reading.
fn opened_per_request(record: &Record, host: &Host, seconds: &[Second]) -> Option<f64> {
    let (opened, readings) = mean(seconds, place(record, &host.name, "opened")?);
    let each = opened / rate(seconds);
    (readings >= OPENED_READINGS && each.is_finite()).then_some(each)
}

/// Returns the sentence about connections per request: a low number shows a pool that keeps its connections too
/// briefly.
fn pace_of_opening(each: Option<f64>) -> Words {
    let Some(each) = each else { return Words::default() };
    let (number, every) = (number(each), number(1.0 / each));
    if each < NOT_EACH {
        words!(one_connection_for_several_requests(every))
    } else {
        words!(connections_for_each_request(number))
    }
}

/// Adds the number of opened connections per request as evidence.
fn with_opened(finding: Finding, each: Option<f64>, time: (i64, i64)) -> Finding {
    match each {
        Some(each) => finding.with("opened_per_request", each, "connections", time),
        None => finding,
    }
}

fn ran_out(record: &Record, host: &Host) -> Option<Finding> {
    let gone = gone(record, host)?;
    let opened = opened_per_request(record, host, gone.early);
    let opening = pace_of_opening(opened);
    let (ports, note) = range(host);
    let (name, at) = (&host.name, clock(gone.at_ms - record.frame.start_ms));
    let waiting = gone.most.min(host.ports);
    let waiting_words = count(waiting as u64);
    let aftermath = aftermath(record, &gone);
    // The host reports the problem in a response; the same error at a connect comes from the generator itself.
    let is_answer = |c: &CauseName| c.outcome == Outcome::Status;
    let said =
        record.causes.iter().any(|c| is_answer(c) && record::wordings::names_ports(&c.message));
    let confidence = match (said, gone.borne_out) {
        (true, _) => Confidence::Certain,
        (false, true) => Confidence::Arithmetic,
        (false, false) => Confidence::Hint,
    };
    let finding = found(
        ID,
        About::Run,
        confidence,
        words!(host_ports_ran_out(name, at, waiting_words, ports, note, opening, aftermath)),
    )
    .on_hosts([&**name]);
    let all = span(whole(record));
    let late = (gone.at_ms, all.1);
    let finding = match gone.before {
        Some(found) => finding
            .between("ports_per_s", found.per_s, "1/s", interval(&found), all)
            .with("foreseen_at", found.at_ms as f64, "epoch ms", (found.at_ms, found.at_ms)),
        None => finding,
    };
    let finding = with_opened(finding, opened, span(gone.early));
    Some(
        finding
            .with("time_wait", waiting, "connections", late)
            .with("ports", host.ports, "ports", all)
            .with("failed_before", errors(gone.early).0 as f64, "samples", span(gone.early))
            .with("failed_since", errors(gone.late).0 as f64, "samples", late)
            .advise(defaults::beside(advice(host), host.ports))
            .explaining(EXPLAINS),
    )
}

fn interval(found: &Forecast) -> Option<(f64, f64)> {
    Some((found.per_s - found.half, found.per_s + found.half))
}

fn running_out(record: &Record, host: &Host) -> Option<Finding> {
    let going = forecast(&host.readings, host.ports)?;
    let (ports, note) = range(host);
    let name = &host.name;
    let at = clock(going.gone_ms - record.frame.start_ms);
    let (waiting, pace) = (count(going.waiting as u64), number(going.per_s));
    let confidence = if going.borne_out { Confidence::Arithmetic } else { Confidence::Hint };
    let opened = opened_per_request(record, host, whole(record));
    let opening = pace_of_opening(opened);
    let finding = found(
        ID,
        About::Run,
        confidence,
        words!(host_ports_run_out(name, at, waiting, ports, note, pace, opening)),
    )
    .on_hosts([&**name]);
    let finding = with_opened(finding, opened, span(whole(record)));
    Some(
        finding
            .with("time_wait", going.waiting, "connections", (going.at_ms, going.at_ms))
            .with("ports", host.ports, "ports", (going.at_ms, going.at_ms))
            .between("ports_per_s", going.per_s, "1/s", interval(&going), span(&record.seconds))
            .with(
                "ports_run_out_at",
                going.gone_ms as f64,
                "epoch ms",
                (going.at_ms, going.gone_ms),
            )
            .advise(defaults::beside(advice(host), host.ports))
            .explaining(&["host_churn"]),
    )
}

fn advice(host: &Host) -> Words {
    let name = &host.name;
    let more = if host.known { Words::default() } else { words!(host_ports_range_advice(name)) };
    words!(host_ports_advice(name, more))
}
