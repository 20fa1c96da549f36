//! Detects a target that accepts requests but answers none of them, from some moment until the end of the run.
//!
//! Such requests end by the plan's time limits, or the end of the run cuts them and no metric contains them.
//! Without this finding the report would not mention them.

use std::collections::BTreeMap;

use record::{Kept, Record, Second};
use stats::grouped::{count, seconds, things};
use stats::hist::Hist;
use stats::{Outcome, Phase};

use super::figures::{by_label, mean, ms, span, stop_ms, sum, without};
use super::say::{clock, found, time, words};
use crate::verdict::{About, Confidence, Finding, Said, Words};

/// Smallest number of successful responses before a hang, for a finding.
const GOOD_BEFORE: u64 = 10;
/// Smallest time in ms without a response while the load continues, for a hang.
const QUIET_MS: i64 = 1000;
/// Smallest time from the last response to the end of the run, as a multiple of the longest request before, for a hang.
const LONGER: f64 = 3.0;
/// Shortest run in ms for a finding if all requests were cut: in a shorter run, responses may have been imminent.
const CUT_MS: i64 = 5000;
/// Smallest number of responses that are missing at the rate before the hang, for a finding.
const MISSING: f64 = 12.0;
/// Smallest share of time limits among the errors during a hang.
const MOST: f64 = 0.9;
/// Smallest number of failed kept samples of a label from which the cause of its failures is known.
const TELL: usize = 3;
/// Smallest number of unanswered requests for a finding, because every target leaves a few requests unanswered.
const WAITED: u64 = 5;
/// Largest difference in seconds between the last responses of the labels at which the whole target counts as stopped.
const SOON: usize = 1;

/// Smallest median, and smallest 95th percentile, of the response times before the hang, as shares of the plan's time
/// limit, at which the responses count as grown up to the limit. Then the load grew or the target became slower, but
/// the target did not stop.
const NEAR_LIMIT: (f64, f64) = (0.4, 0.8);
/// Number of seconds with responses, at the beginning and at the end, whose response times are compared to see whether
/// the times grew up to the limit.
const LAST: usize = 2;

/// Rules whose findings follow from a target that is gone or does not answer. The first rule also names all other
/// errors.
pub(super) const EXPLAINS: &[&str] = &[
    "errors_named",
    "connection_churn",
    "reset_under_load",
    "plan_fault",
    "circuit_breaker",
    "fixed_timeout",
    "step_change",
    "stalls",
    "late_starts",
    "bimodal",
    "cut_by_end",
    "accept_queue",
];

/// Labels that got no more responses, and the requests that waited for one.
pub(super) struct Hang {
    from_ms: i64,
    labels: Vec<u32>,
    /// True if no label got any response.
    is_whole: bool,
    /// Number of requests that waited until the plan's time limit.
    gave_up: u64,
    /// Number of requests that the end of the run cut.
    cut: u64,
    /// True if at least half of all errors come from the requests that waited.
    is_most: bool,
}

pub(super) fn is_limit(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Timeout(phase) if phase != Phase::Connect)
}

/// True for an error that is a response.
fn is_answer(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Status | Outcome::Assertion)
}

/// Successful responses of a label.
struct Good {
    /// Indexes of the first and the last second with a successful response of the label.
    first: usize,
    last: usize,
    /// Number of successful responses of the label.
    n: u64,
}

/// Returns the successful responses of each label.
fn good_seconds(record: &Record) -> BTreeMap<u32, Good> {
    let mut labels: BTreeMap<u32, Good> = BTreeMap::new();
    for (at, second) in record.seconds.iter().enumerate() {
        for (label, all, bad) in second.labels.counts().filter(|(_, all, bad)| all > bad) {
            let own = labels.entry(label).or_insert(Good { first: at, last: at, n: 0 });
            own.last = at;
            own.n += all - bad;
        }
    }
    labels.retain(|label, _| {
        record.labels.get(*label as usize).is_some_and(|label| !label.transaction)
    });
    labels
}

/// True if a label should have had further successful responses after its last one.
fn is_quiet(record: &Record, good: &Good) -> bool {
    let Good { first, last, n } = *good;
    let seconds = &record.seconds;
    let (_, end_ms) = span(seconds);
    // After the stop no requests are sent.
    let planned = record.frame.load.length_ms.map(|length| record.frame.start_ms + length);
    let asked_until = [stop_ms(record), planned, Some(end_ms)].into_iter().flatten().min();
    let last_ms = seconds[last].at_ms;
    let asked_ms = asked_until.unwrap_or(end_ms) - last_ms;
    let before = &seconds[first..=last];
    let longest = before.iter().map(|s| s.all.longest).max().unwrap_or(0) as f64 / 1e6;
    let users =
        |seconds: &[Second]| mean(&seconds.iter().map(|s| s.users as f64).collect::<Vec<_>>());
    let stay = if record.has.users {
        (users(&seconds[last + 1..]) / users(before).max(1e-3)).min(1.0)
    } else {
        1.0
    };
    let length_ms = last_ms - seconds[first].at_ms + i64::from(seconds[first].ms);
    let missing = n as f64 * asked_ms as f64 / length_ms.max(1) as f64 * stay;
    n >= GOOD_BEFORE
        && asked_ms >= QUIET_MS
        && (end_ms - last_ms) as f64 >= LONGER * longest
        && missing >= MISSING
}

/// Returns the numbers of failed and of cut requests of a label in the given seconds. Returns `None` if there are none,
/// if some failures were not caused by a time limit, or if the kept samples do not show the causes.
fn waited(record: &Record, label: u32, seconds: &[Second]) -> Option<(u64, u64)> {
    let own: Vec<(u64, u64)> = seconds
        .iter()
        .filter_map(|second| second.labels.get(label))
        .map(|part| (part.errors, part.cut))
        .collect();
    let (bad, cut) = own.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let from_ms = seconds.first().map_or(0, |second| second.at_ms - i64::from(second.ms));
    let end_ms = |kept: &Kept| kept.start_ms + (kept.elapsed / 1_000_000) as i64;
    let kept = record.kept.iter().filter(|kept| kept.label == label && end_ms(kept) > from_ms);
    let failed: Vec<Outcome> =
        kept.map(|kept| kept.outcome).filter(|outcome| *outcome != Outcome::Ok).collect();
    let sum = |kind: fn(Outcome) -> bool| -> u64 {
        seconds.iter().map(|second| errors(record, second, kind)).sum()
    };
    let few = sum(is_answer) == 0
        && sum(|outcome| !is_limit(outcome)) as f64 <= (1.0 - MOST) * bad as f64;
    let is_told = failed.len() >= TELL || few || bad == 0;
    (bad + cut > 0 && is_told && failed.into_iter().all(is_limit)).then_some((bad, cut))
}

/// Returns the end of the last slot of 100 ms with a response in a second.
fn last_answer_ms(record: &Record, second: &Second) -> i64 {
    let begin = second.at_ms - i64::from(second.ms);
    let slot = second.all.slots.iter().rposition(|n| *n > 0);
    let is_known = record.has.slots && second.coarse.is_none();
    slot.filter(|_| is_known).map_or(begin, |slot| begin + 100 * (slot as i64 + 1))
}

/// Returns the requests of a run without any response: those that hit the plan's time limit, and those that the end of
/// the run cut.
pub(super) fn never_answered(record: &Record) -> Option<(u64, u64)> {
    let seconds = &record.seconds;
    let sum = |of: &dyn Fn(&Second) -> u64| seconds.iter().map(of).sum::<u64>();
    let (all, cut) = (sum(&|s| s.all.count), sum(&|s| s.all.cut));
    let gave_up = sum(&|s| errors(record, s, is_limit));
    let (from, to) = span(seconds);
    // Requests that the end of the run cuts may have been about to get a response.
    let is_known = if all > 0 { gave_up == all && all > 1 } else { cut > 0 && to - from >= CUT_MS };
    is_known.then_some((gave_up, cut))
}

/// Returns the finding about a target that sent no response at all.
pub(super) fn nothing_answered(record: &Record) -> Option<Said> {
    let (gave_up, cut) = never_answered(record)?;
    let times = span(&record.seconds);
    let length = seconds((times.1 - times.0).unsigned_abs());
    let waited = waited_words(gave_up, cut);
    let said = words!(no_answer_found(length, waited));
    Some(
        found("target_down", About::Run, Confidence::Arithmetic, said)
            .with("waited", (gave_up + cut) as f64, "requests", times)
            .advise(words!(no_answer_advice))
            .explaining(EXPLAINS)
            .said(),
    )
}

/// Returns the labels that got no more responses although requests waited for one.
pub(super) fn hang(record: &Record) -> Option<Hang> {
    let seconds = &record.seconds;
    let good = good_seconds(record);
    let mut labels = Vec::new();
    let (mut gave_up, mut cut, mut last) = (0, 0, 0);
    let quiet =
        good.iter().filter(|(_, own)| own.last + 1 < seconds.len() && is_quiet(record, own));
    for (label, own) in quiet {
        if let Some((bad, open)) = waited(record, *label, &seconds[own.last + 1..]) {
            labels.push(*label);
            (gave_up, cut, last) = (gave_up + bad, cut + open, last.max(own.last));
        }
    }
    let behind = &seconds[(last + 1).min(seconds.len())..];
    let limits = |seconds: &[Second]| -> u64 {
        seconds.iter().map(|second| errors(record, second, is_limit)).sum()
    };
    let earliest = labels.iter().filter_map(|label| good.get(label)).map(|own| own.last).min()?;
    let all = limits(&seconds[earliest + 1..]);
    if gave_up + cut < WAITED || (all as f64) < MOST * gave_up as f64 {
        return None;
    }
    let is_silent = by_label(record, behind).values().all(|(good, _)| *good == 0);
    let others_ended = good.values().all(|own| own.last <= earliest + SOON);
    let only_limits = limits(behind) == sum(behind, |s| s.all.errors);
    let is_whole = is_silent && others_ended && only_limits;
    let second = &seconds[last];
    let from_ms =
        if is_whole { last_answer_ms(record, second) } else { second.at_ms - i64::from(second.ms) };
    let is_most = 2 * gave_up >= sum(seconds, |s| s.all.errors);
    Some(Hang { from_ms, labels, is_whole, gave_up, cut, is_most })
}

/// Response times in ms that grew up to the plan's time limit.
struct Growth {
    /// The time limit.
    limit: f64,
    /// The first and the longest usual response time.
    first: f64,
    most: f64,
}

/// Returns the growth of the response times, if they grew up to the plan's time limit.
fn grows_beyond_limit(record: &Record, hang: &Hang) -> Option<Growth> {
    let of = |second: &Second, all: bool| -> Hist {
        let mut hist = Hist::new();
        let parts = hang.labels.iter().filter_map(|label| second.labels.get(*label));
        parts.for_each(|part| hist.add(if all { &part.service } else { &part.failed }));
        hist
    };
    let sum = |seconds: &[&Second], all: bool| -> Hist {
        let mut hist = Hist::new();
        for second in seconds {
            hist.merge(&of(second, all));
        }
        hist
    };
    let (before, behind): (Vec<&Second>, Vec<&Second>) =
        record.seconds.iter().partition(|second| second.at_ms <= hang.from_ms + 999);
    let good = |seconds: &[&Second]| without(&sum(seconds, true), &sum(seconds, false));
    let answered: Vec<&Second> =
        before.into_iter().filter(|second| good(&[second]).total() > 0).collect();
    let limit = ms(&sum(&behind, false), 0.5);
    let last = good(&answered[answered.len().saturating_sub(LAST)..]);
    let (half, most) = (ms(&last, 0.5), ms(&last, 0.95));
    // Within a few seconds, the fastest responses were the first; over a longer time, medians show that times grow.
    let few = answered.len() < 2 * LAST;
    let first = if few { ms(&last, 0.1) } else { ms(&good(&answered[..LAST]), 0.5) };
    let grows = hang.gave_up > 0
        && half >= NEAR_LIMIT.0 * limit
        && most >= NEAR_LIMIT.1 * limit
        && 2.0 * first <= if few { most } else { half };
    grows.then_some(Growth { limit, first, most })
}

/// Returns the finding about response times that grew up to the plan's time limit.
fn too_late(record: &Record, hang: &Hang, growth: &Growth) -> Finding {
    let at = clock(hang.from_ms - record.frame.start_ms);
    let waited = waited_words(hang.gave_up, hang.cut);
    let [limit, first, most] = [growth.limit, growth.first, growth.most].map(time);
    found(
        "target_down",
        About::Target,
        Confidence::Arithmetic,
        words!(slower_than_time_limit(first, most, at, limit, waited)),
    )
    .with(
        "waited",
        (hang.gave_up + hang.cut) as f64,
        "requests",
        (hang.from_ms, span(&record.seconds).1),
    )
    .with("limit", growth.limit, "ms", (hang.from_ms, span(&record.seconds).1))
    .advise(words!(slower_than_time_limit_advice))
}

/// Returns a sentence about a target, or about some labels, without responses until the end.
pub fn unanswered(record: &Record) -> Option<Words> {
    let hang = hang(record)?;
    Some(match grows_beyond_limit(record, &hang) {
        Some(growth) => too_late(record, &hang, &growth).words,
        None => sentence(record, &hang),
    })
}

fn sentence(record: &Record, hang: &Hang) -> Words {
    let at = clock(hang.from_ms - record.frame.start_ms);
    let waited = waited_words(hang.gave_up, hang.cut);
    if hang.is_whole {
        words!(hang_until_end(at, waited))
    } else {
        let name = record.labels.get(hang.labels[0] as usize).map_or("", |label| &*label.name);
        let who = match hang.labels.len() {
            1 => words!(one_label(name)),
            n => {
                let more =
                    if n == 2 { "1 more label".into() } else { format!("{} more labels", n - 1) };
                words!(label_and_more_labels(name, more, n))
            }
        };
        words!(hang_of_some_until_end(who, at, waited))
    }
}

/// Returns the finding about a target, or about some labels, without responses until the end.
pub(super) fn no_answer(record: &Record) -> Option<Said> {
    let hang = hang(record)?;
    let explains = if hang.is_most { EXPLAINS } else { &EXPLAINS[1..] };
    if let Some(growth) = grows_beyond_limit(record, &hang) {
        return Some(too_late(record, &hang, &growth).explaining(explains).said());
    }
    let said = sentence(record, &hang);
    let times = (hang.from_ms, span(&record.seconds).1);
    Some(
        found("target_down", About::Run, Confidence::Arithmetic, said)
            .with("waited", (hang.gave_up + hang.cut) as f64, "requests", times)
            .with("labels", hang.labels.len() as f64, "labels", times)
            .advise(words!(hang_advice))
            .explaining(explains)
            .said(),
    )
}

/// Describes how the unanswered requests ended.
fn waited_words(gave_up: u64, cut: u64) -> Words {
    let (n_gave_up, n_cut) = (count(gave_up), count(cut));
    let numbers = (gave_up, cut);
    let (gave_up, cut) = (things(gave_up, "request"), things(cut, "request"));
    match numbers {
        (_, 0) => words!(waited_until_time_limit(gave_up, n_gave_up)),
        (0, _) => words!(waited_until_run_end(cut, n_cut)),
        _ => words!(waited_until_time_limit_or_run_end(gave_up, n_cut, n_gave_up)),
    }
}

/// Returns the number of errors in a second whose outcome satisfies `kind`.
pub(super) fn errors(record: &Record, second: &Second, kind: impl Fn(Outcome) -> bool) -> u64 {
    let is = |cause: u32| record.causes.get(cause as usize).is_some_and(|c| kind(c.outcome));
    second.causes.iter().filter(|(cause, _)| is(*cause)).map(|(_, n)| n).sum()
}
