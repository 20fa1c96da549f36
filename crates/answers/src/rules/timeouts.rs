//! Durations that reveal their cause: time limits of equal length, and connects delayed by a full accept queue.

use std::collections::BTreeMap;

use record::Record;
use record::wordings::timed_out_by_system;
use stats::grouped::{count, percent};
use stats::hist::{Hist, layout};
use stats::{CloseCause, Outcome};

use super::figures::{causes, classes, hist, ms, span, sum, whole};
use super::say::{found, lacks, time, words};
use super::short_wait::short_wait;
use super::whose::are_of_threads;
use crate::shared::target_is_here;
use crate::verdict::{About, Confidence, Said, Words};

/// Smallest number of failed requests of the same age (time from start to failure), or of closed connections of the
/// same age (silence before the close), for a finding.
const SAME_LEAST: u64 = 10;
/// Smallest share that the failed requests, or the closed connections, of the same age have among all failed requests,
/// or all closed connections.
const SAME_SHARE: f64 = 0.5;
/// Largest spread of ages of failed requests or closed connections that count as equal, as a share of the lowest age.
const WITHIN: f64 = 0.05;
/// Largest spread in ms of ages of failed requests that count as equal; the larger of `WITHIN` and this limit counts.
const WITHIN_MS: f64 = 50.0;
/// Shortest age in ms of failed requests that a time limit may have ended.
const SHORTEST: f64 = 1000.0;
/// Largest spread in ms of equal silences of held connections: silences are counted in whole seconds.
const SILENCE_WITHIN_MS: f64 = 1000.0;
/// Shortest silence in ms of a held connection before it was closed, for a finding.
const SILENCE: f64 = 5000.0;
/// Smallest number of different seconds with cut connections that shows a limit per connection.
const MOMENTS: usize = 3;
/// Smallest share of successful responses among a failing label's requests. The same share of all requests must end
/// early (`EARLIER`).
const GOOD: f64 = 0.2;
/// Largest ratio of an early response's time to the age of the failures.
const EARLIER: f64 = 0.5;
/// Usual limits of proxies and clients in s.
const USUAL: [f64; 12] = [1.0, 2.0, 5.0, 10.0, 15.0, 20.0, 30.0, 60.0, 75.0, 120.0, 180.0, 300.0];

/// Ages in seconds at which a connect succeeds after lost SYNs: 1, 3, 7, 15, 31, 63 s (doubling), or 1 to 5, 7, 11, 19,
/// 35, 67 s where the first four waits are a second each (`tcp_syn_linear_timeouts`). Source: Linux, include/net/tcp.h
/// and ip-sysctl.
const SYN_AGES: [f64; 13] =
    [1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 11.0, 15.0, 19.0, 31.0, 35.0, 63.0, 67.0];
/// Largest relative excess of a connect's time over the age of a SYN retransmission at which a lost SYN explains the
/// time.
const SYN_WITHIN: f64 = 0.1;
/// Smallest number of connects at the age of a SYN retransmission, for a finding.
const SYN_LEAST: u64 = 10;
/// Smallest share of connects at the age of a SYN retransmission among all connects, for a finding.
const SYN_SHARE: f64 = 0.001;
/// Shortest time in µs of a slow connect.
const SLOW_CONNECT: u64 = 500_000;
/// Smallest share of slow connects that have the age of a SYN retransmission: with a smaller share, connects are just
/// slow.
const AT_AGE: f64 = 0.8;
/// Smallest share of retransmitted data that shows a loss of segments on the network, so that the queue need not be
/// full. But a full queue also drops data of connections that it has no room for.
const LOSS: f64 = 0.01;
/// Smallest ratio of connects that lost two SYNs to the number that the loss explains, at which the queue is full: a
/// network loses the second SYN of a connect as rarely as the first.
const TWICE: f64 = 10.0;
/// Smallest number of connects that lost two SYNs at which the queue counts as full.
const TWICE_LEAST: u64 = 5;
/// Shortest age in s of a connect that needed three SYNs.
const TWICE_S: f64 = 1.9;

/// Returns the densest point of a histogram of times: its middle in ms, and the number of values around it.
fn densest(bins: &[(f64, u64)], within_ms: f64, shortest: f64) -> Option<(f64, u64)> {
    let (mut best, mut to, mut sum) = (None::<(f64, u64)>, 0, 0);
    for (from, (low, n)) in bins.iter().enumerate() {
        if to < from {
            (to, sum) = (from, 0);
        }
        while to < bins.len() && bins[to].0 <= (low * (1.0 + WITHIN)).max(low + within_ms) {
            sum += bins[to].1;
            to += 1;
        }
        if *low >= shortest && best.is_none_or(|(_, most)| sum > most) {
            let weights: f64 = bins[from..to].iter().map(|(at, n)| at * *n as f64).sum();
            best = Some((weights / sum.max(1) as f64, sum));
        }
        sum -= n;
    }
    best
}

fn bins_of(hist: &Hist, unit: f64) -> Vec<(f64, u64)> {
    hist.iter().map(|(bin, n)| (layout::middle_of(bin) as f64 / unit, n)).collect()
}

/// Returns the usual time limit in s that is near a time in ms.
fn usual(ms: f64) -> Option<f64> {
    USUAL.into_iter().find(|s| (ms / 1000.0 - s).abs() <= 0.03 * s + 0.05)
}

pub(super) fn fixed_timeout(record: &Record) -> Said {
    // A connect that a full accept queue never accepts ends because of the kernel's own limits.
    let by_age = || errors(record).filter(|_| !accept_queue(record).is_found());
    silence(record).or_else(|| short_wait(record)).or_else(by_age).unwrap_or(Said::Nothing)
}

/// Returns the finding on held connections that were cut after the same silence.
fn silence(record: &Record) -> Option<Said> {
    let peers = [CloseCause::PeerFin, CloseCause::PeerReset, CloseCause::PeerFrame];
    let mut ages = Hist::new();
    for close in record.seconds.iter().flat_map(|s| &s.closes) {
        if peers.contains(&close.cause) {
            ages.add(&close.idle_ms);
        }
    }
    let all = ages.total();
    let (age, n) = densest(&bins_of(&ages, 1.0), SILENCE_WITHIN_MS, SILENCE)?;
    if n < SAME_LEAST || (n as f64) < SAME_SHARE * all as f64 {
        return None;
    }
    let (connections, of, silent) =
        (count(n), count(all), time(usual(age).map_or(age, |s| s * 1000.0)));
    // Connections that were cut at one moment, for example by a restart, may have been silent for the same time by
    // chance.
    let cut_in = record.seconds.iter().filter(|second| {
        second.closes.iter().any(|close| peers.contains(&close.cause) && !close.idle_ms.is_empty())
    });
    let confidence =
        if cut_in.count() >= MOMENTS { Confidence::Arithmetic } else { Confidence::Hint };
    Some(
        found(
            "fixed_timeout",
            About::Target,
            confidence,
            words!(silent_connections_cut(silent, connections, of)),
        )
        .with("silence", age, "ms", span(&record.seconds))
        .advise(words!(silent_connections_advice))
        .explaining(&["errors_named"])
        .said(),
    )
}

/// Returns the number of requests that were given up after a time limit: of the operating system, or of the plan.
fn given_up(record: &Record, by_system: bool) -> u64 {
    let is_given_up = |cause: usize| {
        record.causes.get(cause).is_some_and(|cause| {
            matches!(cause.outcome, Outcome::Timeout(_))
                && timed_out_by_system(&cause.message) == by_system
        })
    };
    let list = causes(&record.seconds).into_iter().filter(|(cause, _)| is_given_up(*cause));
    list.map(|(_, n)| n).sum()
}

/// Returns the finding about requests that failed at the same age.
fn errors(record: &Record) -> Option<Said> {
    let seconds = &record.seconds;
    let ages = hist(seconds, |s| &s.all.failed);
    let all = ages.total();
    let (age, n) = densest(&bins_of(&ages, 1000.0), WITHIN_MS, SHORTEST)?;
    if n < SAME_LEAST || (n as f64) < SAME_SHARE * all as f64 {
        return None;
    }
    // The time limit is that of the operating system. The rule `errors_named` gives advice about it.
    if given_up(record, true) as f64 >= SAME_SHARE * n as f64 {
        return None;
    }
    let ours = given_up(record, false);
    // Successful responses at the age of the failures show that the service takes that long. The failures then have
    // another cause than a time limit.
    let good = hist(seconds, |s| &s.all.service);
    let near = |ms: f64| (ms - age).abs() <= (WITHIN * age).max(WITHIN_MS);
    let that_old: u64 = bins_of(&good, 1000.0).iter().filter(|bin| near(bin.0)).map(|b| b.1).sum();
    let answers_at = that_old.saturating_sub(n);
    let is_of_plan = ours as f64 >= SAME_SHARE * n as f64;
    if answers_at > n || !is_of_plan && !says_so(record, n) && !is_limit(record, age) {
        return None;
    }
    let (errors, of, limit) = (count(n), count(all), time(usual(age).map_or(age, |s| s * 1000.0)));
    let finding = if is_of_plan {
        found(
            "fixed_timeout",
            About::Run,
            Confidence::Certain,
            words!(plan_timeout_found(errors, of, limit)),
        )
        .advise(words!(plan_timeout_advice))
    } else {
        found(
            "fixed_timeout",
            About::Target,
            Confidence::Statistical,
            words!(target_timeout_found(errors, of, limit)),
        )
        .advise(words!(target_timeout_advice))
    };
    Some(
        finding
            .with("age", age, "ms", span(seconds))
            .with("share", n as f64 / all as f64, "share", span(seconds))
            .explaining(&["errors_named", "bimodal"])
            .said(),
    )
}

/// True if the gateway itself reports a timeout for most of the failures.
fn says_so(record: &Record, failures: u64) -> bool {
    let of_gateway = |cause: usize| record.causes.get(cause).is_some_and(|c| &*c.code == "504");
    let said = causes(&record.seconds).into_iter().filter(|(cause, _)| of_gateway(*cause));
    said.map(|(_, n)| n).sum::<u64>() as f64 >= SAME_SHARE * failures as f64
}

/// True if failures at an age in ms look like a time limit of the target: at least half of the failures are under
/// labels that also have successful responses, many of them much earlier. Responses that an assertion of the plan
/// rejects are not ended by a time limit. The same applies to failures of threads that always fail: responses of other
/// threads do not show that theirs could have come earlier.
fn is_limit(record: &Record, age: f64) -> bool {
    let seconds = whole(record);
    let checked = |cause: usize| {
        let outcome = record.causes.get(cause).map(|cause| cause.outcome);
        matches!(outcome, Some(Outcome::Assertion | Outcome::Refused | Outcome::Dns))
    };
    if causes(seconds).first().is_some_and(|(cause, _)| checked(*cause)) || are_of_threads(record) {
        return false;
    }
    let mut sums: BTreeMap<u32, (u64, u64, Hist)> = BTreeMap::new();
    for (label, part) in seconds.iter().flat_map(|second| &second.labels) {
        if record.labels.get(label as usize).is_some_and(|label| !label.transaction) {
            let (all, bad, times) = sums.entry(label).or_default();
            (*all, *bad) = (*all + part.count, *bad + part.errors);
            times.add(&part.service);
        }
    }
    let (mut failed, mut explained) = (0, 0);
    for (all, bad, times) in sums.into_values() {
        failed += bad;
        // If a low quantile of all times is far below the age of the failures, most responses arrive early.
        let is_early = ms(&times, GOOD) <= EARLIER * age;
        if all.saturating_sub(bad) as f64 >= GOOD * all as f64 && is_early {
            explained += bad;
        }
    }
    2 * explained >= failed && failed > 0
}

/// Slow connects: their number, the number with the age of a SYN retransmission, and the number that lost two SYNs.
struct Slow {
    all: u64,
    at_age: u64,
    twice: u64,
}

impl Slow {
    fn of(connects: &Hist) -> Self {
        let slow = connects.iter().filter(|(bin, _)| layout::middle_of(*bin) >= SLOW_CONNECT);
        let bins: Vec<(f64, u64)> =
            slow.map(|(bin, n)| (layout::middle_of(bin) as f64 / 1e6, n)).collect();
        let at_age =
            |s: f64| SYN_AGES.iter().any(|age| s >= 0.99 * age && s <= age * (1.0 + SYN_WITHIN));
        let count = |of: &dyn Fn(f64) -> bool| -> u64 {
            bins.iter().filter(|bin| of(bin.0)).map(|bin| bin.1).sum()
        };
        Self { all: count(&|_| true), at_age: count(&at_age), twice: count(&|s| s >= TWICE_S) }
    }
}

/// Returns true if SYNs were mostly retransmitted to addresses to which no connection was opened. Then nothing
/// listens there, and no queue is full.
fn is_dead_address(record: &Record) -> bool {
    let sums = classes(&record.seconds);
    let again = |dead: bool| -> u64 {
        let of = sums.iter().map(|class| &class.sum).filter(|sum| (sum.opened == 0) == dead);
        of.map(|sum| sum.syn_retransmitted).sum()
    };
    again(true) > again(false)
}

/// Returns the sentence about slow connects and retransmitted SYNs, with the count of the target's kernel if it is
/// known.
fn queue_words(slow: u64, all: u64, syns: u64, counted: Option<u64>) -> Words {
    let (late, of, part) = (count(slow), count(all), percent(slow as f64 / all as f64));
    let sent = count(syns);
    let full = if counted.is_some() { words!(queue_full) } else { words!(queue_probably_full) };
    let more =
        counted.map(count).map_or_else(Default::default, |n| words!(connections_rejected(n)));
    words!(accept_queue_found(full, late, of, part, sent, more))
}

pub(super) fn accept_queue(record: &Record) -> Said {
    let seconds = &record.seconds;
    let connects = hist(seconds, |s| &s.connect);
    if !record.has.connections {
        return lacks!(run: times_of_connects);
    }
    if connects.total() == 0 {
        return lacks!(new_connections);
    }
    let Slow { all: slow, at_age: n, twice } = Slow::of(&connects);
    let all = connects.total();
    let few = n < SYN_LEAST || (n as f64) < SYN_SHARE * all as f64;
    let segments = sum(seconds, |s| s.machine.as_ref().map_or(0, |m| m.segments_out));
    let again = sum(seconds, |s| {
        s.machine.as_ref().map_or(0, |m| m.retransmitted.saturating_sub(m.syn_retransmitted))
    });
    let share = again as f64 / segments.max(1) as f64;
    let is_queue = twice >= TWICE_LEAST && twice as f64 >= TWICE * share * slow as f64;
    let lossy = share >= LOSS && again >= 100 && !is_queue;
    // The kernel of a target on this machine counts connects that full accept queues reject.
    let turned_away =
        sum(seconds, |s| s.machine.as_ref().map_or(0, |m| m.listen_overflows.max(m.listen_drops)));
    let is_here = target_is_here(record);
    let is_counted = is_here && turned_away >= (n / 2).max(1);
    let is_denied = is_here && turned_away == 0 || is_dead_address(record);
    if few || (n as f64) < AT_AGE * slow as f64 || lossy || is_denied {
        return Said::Nothing;
    }
    let syns = sum(seconds, |s| s.machine.as_ref().map_or(0, |m| m.syn_retransmitted))
        .max(classes(seconds).iter().map(|class| class.sum.syn_retransmitted).sum());
    let said = queue_words(n, all, syns, is_counted.then_some(turned_away));
    let confidence = if is_counted { Confidence::Certain } else { Confidence::Statistical };
    let mut finding = found("accept_queue", About::Target, confidence, said)
        .with("slow_connects", n as f64, "connects", span(seconds))
        .with("syn_retransmitted", syns as f64, "segments", span(seconds))
        .advise(words!(accept_queue_advice))
        .explaining(&[
            "constant_load",
            "connection_churn",
            "bimodal",
            "errors_named",
            "concurrency_limit",
            "plateau",
            "network_loss",
        ]);
    if share < LOSS {
        finding = finding.rules_out(words!(accept_queue_not_loss));
    }
    finding.said()
}
