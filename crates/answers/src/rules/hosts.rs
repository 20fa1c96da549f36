//! Rules on watched hosts: connections to backends that are not kept, one of several similar hosts that gets no
//! traffic, and processors that are busy without load.
//!
//! The hosts' own kernels report the counts, so a generator at its limit does not make them doubtful.

use std::sync::Arc;

use record::{Record, Second, Series};
use stats::grouped::percent;

use super::figures::{Span, rate, span, whole};
use super::say::{found, lacks, number, words};
use crate::verdict::{About, Confidence, Finding, Said, Words};

/// Smallest number of readings of a host for a finding.
pub(super) const LEAST: usize = 10;

/// Smallest request rate per second at which ratios per request are meaningful.
const RATE: f64 = 10.0;

/// Smallest number of connections opened per request at which a host counts as one that does not reuse its connections.
const OPENED: f64 = 0.5;
/// Largest number of connections accepted per request by a host that counts as one that does not reuse its
/// connections: its clients reuse theirs.
const ACCEPTED: f64 = 0.2;
/// Smallest number of connections opened per request, in each half of the run, at which a host keeps its connections
/// too briefly. Servers and proxies use a connection for 100 requests or more (nginx: `keepalive_requests`).
const BRIEFLY: f64 = 0.05;
/// Smallest number of connections opened per second, in each half of the run, at which a host keeps its connections too
/// briefly.
const BRIEFLY_PER_S: f64 = 10.0;
/// Largest ratio of accepted to opened connections at which a host keeps its connections too briefly.
const FEWER: f64 = 0.5;

/// Share of the traffic, as a multiple of an equal share, below which one of several similar hosts gets too little.
const LITTLE: f64 = 0.5;
/// Share of the traffic, as a multiple of an equal share, below which a host counts as one without traffic.
const NOTHING: f64 = 0.1;
/// Smallest total traffic of similar hosts in bytes per second: reading an exporter also causes some.
const TRAFFIC: f64 = 10_000.0;

/// Smallest number of repeated connect attempts of a host in a run that shows that one of its backends is unreachable.
/// A healthy network loses no SYN.
const REPEATS: f64 = 3.0;

/// Smallest share of processor time without load for a finding.
const BUSY: f64 = 0.15;
/// Largest share of the highest rate that counts as little load.
const LITTLE_LOAD: f64 = 0.2;
/// Smallest number of seconds with little load for a finding.
const CALM: usize = 5;

/// Returns the index of a host's metric among the series.
pub(super) fn place(record: &Record, host: &str, metric: &str) -> Option<u32> {
    let is_it = |one: &Series| &*one.host == host && &*one.metric == metric;
    record.series.iter().position(is_it).map(|at| at as u32)
}

/// Returns the hosts that have a metric, each with the index of the series.
pub(super) fn hosts(record: &Record, metric: &str) -> Vec<(Arc<str>, u32)> {
    let with = record.series.iter().zip(0u32..).filter(|(one, _)| &*one.metric == metric);
    with.map(|(one, at)| (Arc::clone(&one.host), at)).collect()
}

pub(super) fn value(second: &Second, series: u32) -> Option<f64> {
    second.watched.iter().find(|(number, _)| *number == series).map(|(_, value)| *value)
}

/// Returns the mean of a series over the seconds with a reading, and the number of those seconds.
pub(super) fn mean<'s>(seconds: impl IntoIterator<Item = &'s Second>, series: u32) -> (f64, usize) {
    let (sum, n) = seconds
        .into_iter()
        .filter_map(|second| value(second, series))
        .fold((0.0, 0), |(sum, n), value| (sum + value, n + 1));
    (sum / (n.max(1)) as f64, n)
}

pub(super) fn host_churn(record: &Record) -> Said {
    let hosts = hosts(record, "opened");
    if hosts.is_empty() {
        return lacks!(hosts: connections_opened_by_watched_host);
    }
    let seconds = whole(record);
    let churning = |(host, opened): &(Arc<str>, u32)| churns(record, seconds, host, *opened);
    hosts.iter().find_map(churning).map_or(Said::Nothing, Finding::said)
}

fn churns(record: &Record, seconds: &[Second], host: &str, opened: u32) -> Option<Finding> {
    let accepted = place(record, host, "accepted")?;
    let requests = rate(seconds);
    let (out, n) = mean(seconds, opened);
    let inwards = mean(seconds, accepted).0;
    let (per_request, from_us) = (out / requests, inwards / requests);
    // If a host accepts as many connections as it opens, the clients of the host do not keep their connections
    // either.
    let keeps_none = per_request >= OPENED && from_us <= ACCEPTED;
    if n < LEAST || requests < RATE || !keeps_none && !is_brief(seconds, opened, accepted) {
        return None;
    }
    let waiting = place(record, host, "time_wait").map(|at| mean(seconds, at).0);
    let held = waiting.map_or(Words::default(), |waiting| {
        let waiting = number(waiting);
        words!(host_time_wait_on_average(waiting))
    });
    let all = span(seconds);
    let (each, kept, every) = (number(per_request), number(from_us), number(1.0 / per_request));
    let (words, advice) = if keeps_none {
        (words!(host_churn_found(host, each, kept, held)), words!(host_churn_advice(host)))
    } else {
        (
            words!(host_churn_brief(host, every, each, kept, held)),
            words!(host_churn_brief_advice(host)),
        )
    };
    let finding = found("host_churn", About::Run, Confidence::Arithmetic, words)
        .on_hosts([host])
        .with("opened_per_request", per_request, "connections", all)
        .with("accepted_per_request", from_us, "connections", all)
        .advise(advice);
    Some(match waiting {
        Some(waiting) => finding.with("time_wait", waiting, "connections", all),
        None => finding,
    })
}

/// True if a host keeps opening connections that it does not keep for long, in both halves of the run. A host that
/// fills its pool opens connections only at first.
fn is_brief(seconds: &[Second], opened: u32, accepted: u32) -> bool {
    let (first, last) = seconds.split_at(seconds.len() / 2);
    [first, last].into_iter().all(|half| {
        let (out, inwards) = (mean(half, opened).0, mean(half, accepted).0);
        out >= BRIEFLY_PER_S && out >= BRIEFLY * rate(half) && inwards <= FEWER * out
    })
}

/// Returns a name without the number or letter at its end; similar hosts share it: `gateway-1` and `gateway-2`.
fn family(name: &str) -> &str {
    let digits = name.trim_end_matches(|c: char| c.is_ascii_digit());
    if digits.len() < name.len() {
        return digits;
    }
    match name.char_indices().rev().nth(1) {
        Some((at, '-' | '_' | '.')) => &name[..=at],
        _ => name,
    }
}

pub(super) fn host_uneven(record: &Record) -> Said {
    let hosts = hosts(record, "net_received");
    let alike = |name: &str| {
        hosts.iter().filter(|(other, _)| family(other) == family(name)).cloned().collect::<Vec<_>>()
    };
    let families: Vec<_> =
        hosts.iter().map(|(name, _)| alike(name)).filter(|alike| alike.len() > 1).collect();
    if families.is_empty() {
        return lacks!(hosts: similar_watched_hosts);
    }
    let seconds = whole(record);
    families
        .iter()
        .find_map(|family| left_out(record, seconds, family))
        .map_or(Said::Nothing, Finding::said)
}

/// One of several similar hosts, which gets too little traffic.
struct LeftOut<'r> {
    host: &'r Arc<str>,
    family: &'r [(Arc<str>, u32)],
    /// Share of the total traffic that the host gets.
    share: f64,
    /// Share of the total traffic that each similar host would get if all got the same.
    fair: f64,
}

/// Reason why a host gets too little traffic, if the metrics show it.
enum Why {
    /// A host in front of this host repeats connect attempts: its name, and the attempts per second.
    Unreachable(Arc<str>, f64),
    /// Of at least three similar hosts, one gets all the traffic: its name and its share.
    OneGetsAll(Arc<str>, f64),
    /// Of at least three similar hosts, all others share the traffic evenly.
    OthersShare,
    /// The metrics show no reason.
    Unknown,
}

fn left_out(record: &Record, seconds: &[Second], family: &[(Arc<str>, u32)]) -> Option<Finding> {
    let traffic: Vec<(f64, usize)> = family.iter().map(|(_, at)| mean(seconds, *at)).collect();
    let all: f64 = traffic.iter().map(|(mean, _)| mean).sum();
    if all < TRAFFIC || traffic.iter().any(|(_, n)| *n < LEAST) {
        return None;
    }
    let shares: Vec<f64> = traffic.iter().map(|(mean, _)| mean / all).collect();
    let (at, share) =
        shares.iter().copied().enumerate().min_by(|one, other| one.1.total_cmp(&other.1))?;
    let fair = 1.0 / family.len() as f64;
    if share >= LITTLE * fair {
        return None;
    }
    let left = LeftOut { host: &family[at].0, family, share, fair };
    let nothing = share < NOTHING * fair;
    let why = if nothing { why(record, seconds, &left, &shares) } else { Why::Unknown };
    let confidence = if nothing { Confidence::Arithmetic } else { Confidence::Hint };
    Some(left_out_finding(&left, &why, confidence, span(seconds)))
}

fn why(record: &Record, seconds: &[Second], left: &LeftOut<'_>, shares: &[f64]) -> Why {
    let repeats = hosts(record, "syn_retransmits").into_iter().filter_map(|(host, at)| {
        let rate = mean(seconds, at).0;
        let is_before = left.family.iter().all(|(one, _)| *one != host);
        (is_before && rate * seconds.len() as f64 >= REPEATS).then_some((host, rate))
    });
    if let Some((host, rate)) = repeats.max_by(|one, other| one.1.total_cmp(&other.1)) {
        return Why::Unreachable(host, rate);
    }
    if shares.len() < 3 {
        return Why::Unknown;
    }
    let used: Vec<usize> =
        (0..shares.len()).filter(|at| shares[*at] >= NOTHING * left.fair).collect();
    let most = shares.iter().copied().fold(0.0, f64::max);
    match used[..] {
        [only] => Why::OneGetsAll(Arc::clone(&left.family[only].0), shares[only]),
        _ if used.iter().all(|at| shares[*at] >= LITTLE * most) => Why::OthersShare,
        _ => Why::Unknown,
    }
}

/// Returns the words of the finding on a host that gets little traffic, and the advice.
fn left_out_words(left: &LeftOut<'_>, why: &Why) -> (Words, Words) {
    let LeftOut { host, family, share, fair } = left;
    let mut names: Vec<&str> = family.iter().map(|(name, _)| &**name).collect();
    names.sort_unstable();
    let (names, part, of) = (names.join(", "), percent(*share), percent(*fair));
    match why {
        Why::Unreachable(before, rate) => {
            let rate = number(*rate);
            (
                words!(host_uneven_unreachable(host, part, names, of, before, rate)),
                words!(host_uneven_unreachable_advice(before, host)),
            )
        }
        Why::OneGetsAll(only, share) => {
            let most = percent(*share);
            (
                words!(host_uneven_one_gets_most(only, most, names, of)),
                words!(host_uneven_one_gets_most_advice),
            )
        }
        Why::OthersShare => (
            words!(host_uneven_others_even(host, part, names, of)),
            words!(host_uneven_others_even_advice(host)),
        ),
        Why::Unknown => {
            (words!(host_uneven_found(host, part, names, of)), words!(host_uneven_advice(host)))
        }
    }
}

fn left_out_finding(left: &LeftOut<'_>, why: &Why, confidence: Confidence, all: Span) -> Finding {
    let LeftOut { family, share, fair, .. } = left;
    let (words, advice) = left_out_words(left, why);
    let before = match why {
        Why::Unreachable(before, _) => Some(&**before),
        _ => None,
    };
    let finding = found("host_uneven", About::Run, confidence, words)
        .on_hosts(family.iter().map(|(name, _)| &**name).chain(before))
        .with("share", *share, "share", all)
        .with("fair_share", *fair, "share", all)
        .advise(advice);
    match why {
        Why::Unreachable(_, rate) => finding.with("syn_retransmits", *rate, "segments/s", all),
        _ => finding,
    }
}

pub(super) fn host_busy(record: &Record) -> Said {
    let hosts = hosts(record, "cpu");
    if hosts.is_empty() {
        return lacks!(hosts: processors_of_watched_host);
    }
    let seconds = &record.seconds;
    let of = |second: &Second| second.all.count as f64 * 1000.0 / f64::from(second.ms.max(1));
    let most = seconds.iter().map(of).fold(0.0, f64::max);
    let is_calm = |second: &&Second| of(second) <= LITTLE_LOAD * most;
    let (calm, loaded): (Vec<&Second>, Vec<&Second>) = seconds.iter().partition(is_calm);
    if most < RATE || calm.len() < CALM || loaded.len() < CALM {
        return lacks!(five_seconds_of_little_load);
    }
    let mut found: Vec<Busy> =
        hosts.iter().filter_map(|host| busy(host, &calm, &loaded, of)).collect();
    found.sort_by(|one, other| other.alone.total_cmp(&one.alone));
    let Some(most) = found.first() else { return Said::Nothing };
    let when: Span = (calm[0].at_ms - i64::from(calm[0].ms), calm[calm.len() - 1].at_ms);
    busy_finding(&found, most, when).said()
}

/// A host that is busy without load: the shares of its processor time without load and under load.
struct Busy {
    host: Arc<str>,
    alone: f64,
    under: f64,
}

fn busy(
    (host, cpu): &(Arc<str>, u32),
    calm: &[&Second],
    loaded: &[&Second],
    rate: impl Fn(&Second) -> f64,
) -> Option<Busy> {
    let (little, n) = mean(calm.iter().copied(), *cpu);
    let (much, m) = mean(loaded.iter().copied(), *cpu);
    if n < CALM || m < CALM {
        return None;
    }
    let mean_rate =
        |seconds: &[&Second]| seconds.iter().map(|s| rate(s)).sum::<f64>() / seconds.len() as f64;
    let (slow, fast) = (mean_rate(calm), mean_rate(loaded));
    // Extrapolates processor use to a rate of 0, on the line through the stretches with little and with full load.
    let alone = little - slow * (much - little).max(0.0) / (fast - slow).max(1e-9);
    (alone >= BUSY).then(|| Busy { host: Arc::clone(host), alone, under: much })
}

/// Returns the finding about busy hosts, the busiest first.
fn busy_finding(all: &[Busy], most: &Busy, when: Span) -> Finding {
    let names = all.iter().map(|busy| &*busy.host).collect::<Vec<_>>().join(", ");
    let (part, under) = (percent(most.alone), percent(most.under));
    let several = all.len() > 1;
    let of = if several { words!(the_busiest) } else { Words::default() };
    found(
        "host_busy",
        About::Run,
        Confidence::Hint,
        words!(host_busy_found(names, part, of, under)),
    )
    .on_hosts(all.iter().map(|busy| &*busy.host))
    .with("cpu_without_load", most.alone, "share", when)
    .with("cpu_under_load", most.under, "share", when)
    .advise(words!(host_busy_advice(names)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_alike_are_known_by_their_names() {
        for (one, other) in [("gateway-1", "gateway-2"), ("gw1", "gw12"), ("web-a", "web-b")] {
            assert_eq!(family(one), family(other), "{one} {other}");
        }
        for (one, other) in [("gateway", "service"), ("web-1", "db-1"), ("store", "score")] {
            assert_ne!(family(one), family(other), "{one} {other}");
        }
    }

    #[test]
    fn all_hosts_that_are_busy_are_named() {
        let of = |host: &str, alone| Busy { host: host.into(), alone, under: 0.5 };
        let all = [of("gateway-1", 0.4), of("gateway-2", 0.3)];
        let words = |all: &[Busy]| busy_finding(all, &all[0], (0, 1)).words.en;
        let several = words(&all);
        assert!(several.contains("gateway-1, gateway-2 are 40 % busy (the busiest)"), "{several}");
        let one = words(&all[..1]);
        assert!(one.contains("gateway-1 are 40 % busy without any load"), "{one}");
    }
}
