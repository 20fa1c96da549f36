//! Detects connections that are not kept open, and the cost of opening them.

use record::{ClassName, Record, Second};
use stats::grouped::{count, percent};
use stats::{Counter, Outcome};

use super::down::downs;
use super::errors::reads;
use super::figures::{causes, classes, counter, hist, ms, requests, service, span, sum};
use super::say::{found, lacks, words};
use crate::verdict::{About, Confidence, Finding, Said, Words};

/// Share of requests on a reused connection from which there is no finding.
const REUSE: f64 = 0.5;
/// Smallest number of requests per user and address for a finding.
const REQUESTS_PER_USER: f64 = 2.0;
/// Smallest number of opened connections for a finding.
const OPENED_LEAST: u64 = 100;
/// Share of the response time below which opening connections costs little: the finding becomes a hint and comes last.
const COSTS: f64 = 0.05;
/// Smallest share of the closed connections that have the same cause, for the finding to name that cause.
const MOST: f64 = 0.5;
/// Smallest number of requests that failed on a connection which was already closed, for a finding.
const STALE: u64 = 10;
/// Smallest share, among all requests, of requests that failed on a connection which was already closed, for a finding.
const STALE_SHARE: f64 = 0.01;
/// Smallest number of seconds with requests that failed on a connection which was already closed, for a finding.
const STALE_SECONDS: usize = 5;
/// Largest ratio of the time of requests that failed on a closed connection to the time of successful requests, for a
/// finding.
const STALE_PART: f64 = 0.5;
/// Smallest share of the response time that handshakes take for a finding.
const TLS_TIME: f64 = 0.2;
/// Smallest share of the generator's processor time that handshakes take for a finding; one of both shares is enough.
const TLS_CPU: f64 = 0.25;
/// Smallest number of handshakes per user and address for a finding.
const TLS_PER_USER: f64 = 2.0;
/// Smallest number of handshakes for a finding.
const TLS_LEAST: u64 = 100;

/// Returns the number of users that started in the run; each starts without a connection.
fn users(record: &Record) -> u64 {
    let most = |of: fn(&Second) -> u64| record.seconds.iter().map(of).max().unwrap_or(0);
    most(|s| s.users).max(most(|s| s.started)).max(record.frame.load.users).max(1)
}

/// Returns the number of connections that the users need if they keep their connections: one per user and address.
fn needed(record: &Record) -> u64 {
    let used = classes(&record.seconds).into_iter().filter(|class| {
        let is_address = |name: &ClassName| matches!(name, ClassName::Address(_));
        let name = record.classes.get(class.name as usize);
        class.sum.opened > 0 && name.is_some_and(is_address)
    });
    users(record) * (used.count() as u64).max(1)
}

pub(super) fn connection_churn(record: &Record) -> Said {
    if !record.has.connections {
        return lacks!(run: counters_of_connections);
    }
    let seconds = &record.seconds;
    let n = |c| counter(seconds, c);
    if let Some(stale) = stale(record) {
        return stale.said();
    }
    // The plan asks for a new WebSocket, and a connection that was cut before its response could not be kept.
    let cut: u64 = causes(seconds).iter().filter(|(at, _)| is_cut(record, *at)).map(|c| c.1).sum();
    let opened = n(Counter::ConnOpened).saturating_sub(n(Counter::WsOpened) + cut);
    let reused = n(Counter::ConnReused);
    let all = requests(seconds);
    let per_user = all as f64 / needed(record) as f64;
    let reuse = reused as f64 / (opened + reused).max(1) as f64;
    if opened < OPENED_LEAST || reuse >= REUSE || per_user < REQUESTS_PER_USER {
        return Said::Nothing;
    }
    let (by_peer, by_us) = (n(Counter::ConnClosedByPeer), n(Counter::ConnClosedByUs));
    let new_user = n(Counter::ConnClosedForNewUser);
    let by_plan = n(Counter::ConnClosedByPlan);
    let closes = (by_peer + by_us).max(1) as f64;
    let opening = sum(seconds, |s| s.all.phases.dns + s.all.phases.connect + s.all.phases.tls);
    let cost = opening as f64 / sum(seconds, |s| s.all.elapsed).max(1) as f64;
    let (opened_words, all_words) = (count(opened), count(all));
    let (again, cost_words) = (percent(reuse), percent(cost));
    let share = percent(by_peer as f64 / closes);
    let of = words!(connections_for_requests(opened = opened_words, all = all_words, again));
    let mut finding = if new_user as f64 >= MOST * closes {
        if cost < COSTS {
            return Said::Nothing;
        }
        closed_for_new_users(&of, &cost_words)
    } else if by_plan as f64 >= MOST * closes {
        closed_by_plan(&of, &cost_words)
    } else if by_peer as f64 >= MOST * closes {
        closed_by_target(&of, &share, &cost_words)
    } else {
        not_kept(&of, &cost_words)
    };
    if cost < COSTS && finding.about == About::Test {
        finding.confidence = Confidence::Hint;
    }
    let span = span(seconds);
    finding
        .with("opened", opened as f64, "connections", span)
        .with("reuse", reuse, "share", span)
        .with("opening_share", cost, "share", span)
        .said()
}

/// Returns true if the cause is a connection that the target has closed or reset.
fn is_cut(record: &Record, cause: usize) -> bool {
    let outcome = record.causes.get(cause).map(|cause| cause.outcome);
    matches!(outcome, Some(Outcome::Closed | Outcome::Reset))
}

/// Returns the finding about requests that used a connection which the target had closed after the previous
/// request.
fn stale(record: &Record) -> Option<Finding> {
    let seconds = &record.seconds;
    let on_kept = |cause: usize| {
        let kept = || record.kept.iter().filter(|kept| kept.cause == Some(cause as u32));
        2 * kept().filter(|kept| kept.reused && kept.phases.connect == 0).count() > kept().count()
    };
    let (most, _) = causes(seconds).into_iter().find(|(cause, _)| is_cut(record, *cause))?;
    // A target that dies or restarts closes all connections at once. A finding is only about a target that closes
    // connections regularly.
    let downs = downs(record);
    let is_gone = |at: usize| {
        downs.iter().any(|down| (down.first.saturating_sub(1)..=down.last + 1).contains(&at))
    };
    let of = |second: &Second| -> u64 {
        let cut = |cause: u32| is_cut(record, cause as usize) && on_kept(cause as usize);
        second.causes.iter().filter(|(cause, _)| cut(*cause)).map(|(_, n)| n).sum()
    };
    let looked = seconds.iter().enumerate();
    let looked = looked.filter(|(at, _)| !is_gone(*at));
    let hit: Vec<u64> = looked.map(|(_, second)| of(second)).filter(|n| *n > 0).collect();
    let met: u64 = hit.iter().sum();
    let in_two: u64 = hit.windows(2).map(|pair| pair[0] + pair[1]).max().unwrap_or(met);
    if hit.len() < STALE_SECONDS || 2 * in_two > met {
        return None;
    }
    // Only connections known to be closed before sending count: a target that breaks off some requests would look the
    // same.
    let known = counter(seconds, Counter::ConnStale);
    let all = requests(seconds);
    let failed = ms(&hist(seconds, |s| &s.all.failed), 0.5);
    let good = ms(&service(seconds.iter().filter(|s| s.all.errors < s.all.count)), 0.9);
    let enough = met >= STALE && met as f64 >= STALE_SHARE * all as f64 && 2 * known >= met;
    if !enough || failed > STALE_PART * good {
        return None;
    }
    let (n_words, of, text) = (count(met), count(all), reads(record, most));
    let span = span(seconds);
    Some(
        found(
            "connection_churn",
            About::Target,
            Confidence::Certain,
            words!(stale_connections_found(n_words, of, text)),
        )
        .with("stale", met as f64, "requests", span)
        .with("known_closed", known as f64, "requests", span)
        .with("stale_share", met as f64 / all.max(1) as f64, "share", span)
        .rules_out(words!(stale_connections_not_work_of_target))
        .advise(words!(stale_connections_advice))
        .explaining(&["errors_named", "bimodal", "plan_fault"]),
    )
}

fn closed_for_new_users(of: &Words, cost: &str) -> Finding {
    found(
        "connection_churn",
        About::Test,
        Confidence::Certain,
        words!(churn_by_new_users(of, cost)),
    )
    .advise(words!(churn_by_new_users_advice))
}

fn closed_by_target(of: &Words, share: &str, cost: &str) -> Finding {
    found(
        "connection_churn",
        About::Target,
        Confidence::Arithmetic,
        words!(churn_by_target(of, share, cost)),
    )
    .advise(words!(churn_by_target_advice))
}

fn closed_by_plan(of: &Words, cost: &str) -> Finding {
    found("connection_churn", About::Test, Confidence::Certain, words!(churn_by_plan(of, cost)))
        .advise(words!(churn_by_plan_advice))
}

fn not_kept(of: &Words, cost: &str) -> Finding {
    found(
        "connection_churn",
        About::Test,
        Confidence::Arithmetic,
        words!(churn_by_generator(of, cost)),
    )
    .advise(words!(churn_by_generator_advice))
}

pub(super) fn tls_cost(record: &Record) -> Said {
    if !record.has.connections {
        return lacks!(run: counters_of_tls_handshakes);
    }
    let seconds = &record.seconds;
    let n = |c| counter(seconds, c);
    let (full, resumed) = (n(Counter::TlsFull), n(Counter::TlsResumed));
    let all = full + resumed + n(Counter::TlsFailed);
    let cpu_ns = n(Counter::TlsFullCpu) + n(Counter::TlsResumedCpu) + n(Counter::TlsFailedCpu);
    let used: f64 = seconds.iter().map(|s| s.generator.cpu_s).sum();
    let cpu = if used > 0.0 { cpu_ns as f64 / 1e9 / used } else { 0.0 };
    let elapsed = sum(seconds, |s| s.all.elapsed).max(1) as f64;
    let time = n(Counter::TlsTime) as f64 / elapsed;
    let many = all >= TLS_LEAST && all as f64 > TLS_PER_USER * needed(record) as f64;
    if !many || time < TLS_TIME && cpu < TLS_CPU {
        return Said::Nothing;
    }
    let (handshakes, whole, again) = (count(all), count(full), count(resumed));
    let (of_time, of_cpu) = (percent(time), percent(cpu.min(1.0)));
    let span = span(seconds);
    found(
        "tls_cost",
        About::Run,
        Confidence::Arithmetic,
        words!(tls_cost_found(of_time, of_cpu, handshakes, whole, again)),
    )
    .with("handshakes", all as f64, "handshakes", span)
    .with("full", full as f64, "handshakes", span)
    .with("tls_time_share", time, "share", span)
    .with("tls_cpu_share", cpu, "share", span)
    .advise(words!(tls_cost_advice))
    .explaining(&["connection_churn"])
    .said()
}
