//! Detects a target that stopped accepting connections: from some second on all requests of some labels fail, and
//! connects are refused or time out.
//!
//! Refusals next to successful responses mean a connection limit, which is not this finding. Refusals from the first
//! request on mean that nothing listens at the address; a name without an address is a wrong name.

use std::collections::BTreeSet;

use record::{ClassName, Record, Second};
use stats::grouped::count;
use stats::{Outcome, Phase};

use super::figures::{ClassSum, by_label, classes, span};
use super::hang::{EXPLAINS, errors, no_answer, nothing_answered};
use super::moment::first_start;
use super::say::{clock, found, lacks, listed, same, words};
use crate::verdict::{About, Confidence, Said, Words};

/// Smallest number of failed connects in a period that counts as an outage.
const FAILED: u64 = 5;
/// Smallest number of successful responses before a period that counts as an outage.
const GOOD_BEFORE: u64 = 5;
/// Smallest share of failed connects among all errors of a period that counts as an outage.
const MOST: f64 = 0.5;
/// Longest outage in seconds if each of its seconds may also have successful responses, from before or after it.
const SHORT: usize = 3;
/// Smallest number of failures in a period that counts as a short outage, as a share of the failures per second in a
/// longer outage.
const AS_MANY: f64 = 0.5;
/// Smallest ratio of failures to responses in the last second of a run at which the second belongs to an outage that
/// lasts until the end.
const FEW: f64 = 10.0;
/// Largest number of outages that a sentence lists.
const LISTED: usize = 4;

/// An outage: a period in which the target accepted no connections.
pub(super) struct Down {
    /// Index of the first second with failed connects.
    pub(super) first: usize,
    /// Index of the last second with failed connects.
    pub(super) last: usize,
    failed: u64,
    refused: u64,
    /// True if requests succeeded after the outage.
    is_back: bool,
    /// Labels whose requests failed during the outage.
    labels: Vec<u32>,
    /// True if no other label succeeded during the outage.
    is_whole: bool,
}

pub(super) fn is_down(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Refused | Outcome::Unreachable | Outcome::Timeout(Phase::Connect))
}

/// Returns the outages of a target, in time order.
pub(super) fn downs(record: &Record) -> Vec<Down> {
    let mut begin = 0;
    let (mut out, mut others) = (Vec::new(), Vec::new());
    for (first, last) in stretches(record) {
        match down(record, begin, first, last) {
            Some(down) => out.push(down),
            None => others.push((first, last)),
        }
        begin = last;
    }
    let short: Vec<Down> =
        others.into_iter().filter_map(|(first, last)| short(record, &out, first, last)).collect();
    out.extend(short);
    out.sort_by_key(|down| down.first);
    out
}

/// Recognises an outage too short for a whole second without responses, of a target that also had a longer outage.
fn short(record: &Record, longer: &[Down], first: usize, last: usize) -> Option<Down> {
    let during = &record.seconds[first..=last];
    let sum = |kind: fn(Outcome) -> bool| -> u64 {
        during.iter().map(|second| errors(record, second, kind)).sum()
    };
    let each = |down: &Down| down.failed as f64 / (down.last - down.first + 1) as f64;
    let usual = longer.iter().map(each).fold(f64::MAX, f64::min);
    let (failed, refused) = (sum(is_down), sum(|outcome| outcome == Outcome::Refused));
    if during.len() > SHORT || failed < FAILED || (failed as f64) < AS_MANY * usual {
        return None;
    }
    let hit = by_label(record, during).into_iter().filter(|(_, (_, bad))| *bad > 0);
    let labels: Vec<u32> = hit.map(|(label, _)| label).collect();
    let known = |label: &u32| longer.iter().any(|down| down.labels.contains(label));
    let is_whole = longer.iter().all(|down| down.is_whole);
    let is_back = is_back(record, last, &labels);
    // Many responses in the last second of a run may be from before or after the outage.
    let ends = by_label(record, &record.seconds[last..=last]);
    let ends = labels.iter().filter_map(|label| ends.get(label));
    let (good, bad) = ends.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let is_clear = is_back || FEW * good as f64 <= bad as f64;
    (is_clear && labels.iter().all(known)).then_some(Down {
        first,
        last,
        failed,
        refused,
        is_back,
        labels,
        is_whole,
    })
}

/// True if requests of the given labels succeed after second `last`.
fn is_back(record: &Record, last: usize, labels: &[u32]) -> bool {
    let mut behind = record.seconds[last + 1..].iter().flat_map(|second| second.labels.counts());
    behind.any(|(label, n, bad)| n > bad && labels.contains(&label))
}

/// Returns the first and last seconds of periods with failed connects. A period ends when an affected label succeeds in
/// a second without failed connects.
fn stretches(record: &Record) -> Vec<(usize, usize)> {
    let mut out: Vec<(usize, usize)> = Vec::new();
    let mut hit = BTreeSet::new();
    let mut is_over = true;
    for (at, second) in record.seconds.iter().enumerate() {
        if errors(record, second, is_down) == 0 {
            is_over |=
                second.labels.counts().any(|(label, n, bad)| n > bad && hit.contains(&label));
            continue;
        }
        match out.last_mut().filter(|_| !is_over) {
            Some((_, last)) => *last = at,
            None => {
                hit.clear();
                out.push((at, at));
            }
        }
        is_over = false;
        hit.extend(second.labels.counts().filter(|(_, _, bad)| *bad > 0).map(|(label, ..)| label));
    }
    out
}

/// Returns the outage in the given seconds, if there is one; `begin`: end of the previous outage.
fn down(record: &Record, begin: usize, first: usize, last: usize) -> Option<Down> {
    let seconds = &record.seconds;
    let during = &seconds[first..=last];
    let failed: u64 = during.iter().map(|second| errors(record, second, is_down)).sum();
    let all: u64 = during.iter().map(|second| second.all.errors).sum();
    if failed < FAILED || (failed as f64) < MOST * all as f64 {
        return None;
    }
    let before = by_label(record, &seconds[begin..=first]);
    // In the first and last seconds of an outage, some requests succeeded before or after it.
    let good_before = |label: &u32| before.get(label).map_or(0, |(good, _)| *good);
    let hit: Vec<u32> = by_label(record, during)
        .into_iter()
        .filter(|(label, (_, bad))| *bad > 0 && good_before(label) > 0)
        .map(|(label, _)| label)
        .collect();
    let back = is_back(record, last, &hit);
    // The last second belongs to the outage if nothing succeeded in it: requests succeeded only after it.
    let is_dead_second = || {
        let last = by_label(record, &seconds[last..=last]);
        hit.iter().all(|label| last.get(label).is_none_or(|(good, _)| *good == 0))
    };
    let end = match back {
        false => seconds.len(),
        true if is_dead_second() => last + 1,
        true => last,
    };
    let inner = by_label(record, &seconds[(first + 1).min(end)..end]);
    let dead = |label: &u32| inner.get(label).is_some_and(|(good, bad)| *good == 0 && *bad > 0);
    let labels: Vec<u32> = hit.into_iter().filter(dead).collect();
    let good: u64 = labels.iter().map(good_before).sum();
    let bad: u64 = labels.iter().filter_map(|label| inner.get(label)).map(|(_, bad)| bad).sum();
    if labels.is_empty() || good < GOOD_BEFORE || bad < FAILED {
        return None;
    }
    let is_whole = inner.iter().all(|(_, (good, _))| *good == 0);
    // Other labels may only have succeeded at a different address.
    let within = &seconds[(first + 1).min(end)..end];
    if !is_whole && !classes(within).is_empty() && address(record, within).is_none() {
        return None;
    }
    let refused: u64 = during.iter().map(|s| errors(record, s, |o| o == Outcome::Refused)).sum();
    let is_back = is_back(record, last, &labels);
    Some(Down { first, last, failed, refused, is_back, labels, is_whole })
}

/// Returns the seconds in which the target accepted connections. In other seconds, failing connects keep the generator
/// busy, so that its metrics are no evidence about the target.
pub(super) fn seconds_there(record: &Record) -> Vec<&Second> {
    if never_there(record).is_some() {
        return Vec::new();
    }
    let downs = downs(record);
    let is_gone = |at: usize| downs.iter().any(|down| (down.first..=down.last).contains(&at));
    record.seconds.iter().enumerate().filter(|(at, _)| !is_gone(*at)).map(|(_, s)| s).collect()
}

/// Returns the only address at which no request succeeded during an outage.
fn address(record: &Record, during: &[Second]) -> Option<String> {
    let dead = classes(during).into_iter().filter_map(|ClassSum { name, sum, .. }| {
        let ClassName::Address(address) = record.classes.get(name as usize)? else { return None };
        (sum.count > 0 && sum.errors == sum.count).then(|| address.to_string())
    });
    let dead: Vec<String> = dead.collect();
    let [only] = &dead[..] else { return None };
    Some(only.clone())
}

pub(super) fn target_down(record: &Record) -> Said {
    if let Some(said) = nothing_answered(record) {
        return said;
    }
    if record.seconds.iter().all(|second| second.all.count == 0) {
        return lacks!(any_requests);
    }
    let downs = downs(record);
    let [.., last] = &downs[..] else {
        return never_there(record).or_else(|| no_answer(record)).unwrap_or(Said::Nothing);
    };
    let seconds = &record.seconds;
    let clock_at = |at_ms: i64| clock(at_ms - record.frame.start_ms);
    let began = |down: &Down| first_start(record, down.first, |kept| is_down(kept.outcome));
    let begins: Vec<String> = downs.iter().map(|down| clock_at(began(down))).collect();
    let end_clock = clock_at(seconds[last.last].at_ms);
    let about = ended(&seconds[last.last], &end_clock);
    let who = who(record, &downs);
    let failed: u64 = downs.iter().map(|down| down.failed).sum();
    let refused: u64 = downs.iter().map(|down| down.refused).sum();
    let how = how(refused, failed);
    let (n, times) = (count(failed), downs.len());
    let more = at_other_times(record, failed);
    let said: Words = match (&begins[..], last.is_back) {
        ([from], true) => words!(down_once_and_back(who, from, about, n, how, more)),
        ([from], false) => words!(down_until_end(who, from, n, how, more)),
        (several, is_back) => {
            let at = list(several);
            let end = if is_back {
                words!(down_last_time_until(end_clock))
            } else {
                words!(down_last_time_until_end)
            };
            words!(down_several_times(who, times, at, end, n, how, more))
        }
    };
    let begin = &seconds[downs[0].first];
    let at = (begin.at_ms - i64::from(begin.ms), seconds[last.last].at_ms);
    let labels: BTreeSet<u32> = downs.iter().flat_map(|down| down.labels.iter().copied()).collect();
    found("target_down", About::Run, Confidence::Certain, said)
        .with("failed_connects", failed as f64, "connects", at)
        .with("labels", labels.len() as f64, "labels", span(seconds))
        .advise(words!(down_advice))
        .explaining(EXPLAINS)
        .said()
}

/// Returns a phrase about the time at which an outage ended. In a long run, only the end of the interval is known.
fn ended(last: &Second, end: &str) -> Words {
    match last.coarse {
        Some(_) => words!(down_by(end)),
        None => words!(down_at_about(end)),
    }
}

/// Returns a phrase about failed connects outside the outages that the sentence lists.
fn at_other_times(record: &Record, failed: u64) -> Words {
    let all: u64 = record.seconds.iter().map(|second| errors(record, second, is_down)).sum();
    match all.saturating_sub(failed) {
        0 => Words::default(),
        others => {
            let others = count(others);
            words!(down_more_at_other_times(others))
        }
    }
}

/// Formats times as a list: the first few, and the number of the others.
fn list(times: &[String]) -> Words {
    let shown = &times[..times.len().min(LISTED)];
    match times.len() - shown.len() {
        0 => {
            let (last, rest) =
                shown.split_last().map_or(("", shown), |(last, rest)| (&**last, rest));
            let times = listed(rest);
            words!(down_times_and_last(times, last))
        }
        more => {
            let times = listed(shown);
            words!(down_times_and_more(times, more))
        }
    }
}

/// Returns the name of the target that was gone, with its address if the record contains it.
fn who(record: &Record, downs: &[Down]) -> Words {
    let names = downs
        .iter()
        .map(|down| address(record, &record.seconds[(down.first + 1).min(down.last)..=down.last]));
    let names: BTreeSet<Option<String>> = names.collect();
    let is_whole = downs.iter().all(|down| down.is_whole);
    let names: Option<Vec<String>> = names.into_iter().collect();
    match (names.as_deref(), is_whole) {
        (Some([address]), true) => {
            words!(target_at_address(address))
        }
        (Some([address]), false) => same(address),
        (_, true) => words!(the_target),
        (Some(several), false) => {
            let several = several.join(", ");
            words!(targets_at_addresses(several))
        }
        (None, false) => words!(one_of_the_targets),
    }
}

/// Returns a phrase about how connects failed.
fn how(refused: u64, failed: u64) -> Words {
    if 2 * refused >= failed { words!(connects_refused) } else { words!(connects_without_answer) }
}

/// Returns the result for a target that accepted no connection at all, or whose name has no address: every request
/// failed for that reason.
fn never_there(record: &Record) -> Option<Said> {
    let seconds = &record.seconds;
    let sum = |of: &dyn Fn(&Second) -> u64| seconds.iter().map(of).sum::<u64>();
    let (all, bad) = (sum(&|s| s.all.count), sum(&|s| s.all.errors));
    let failed = sum(&|s| errors(record, s, is_down));
    let unnamed = sum(&|s| errors(record, s, |outcome| outcome == Outcome::Dns));
    if bad < all || failed.max(unnamed) < FAILED || failed.max(unnamed) < all {
        return None;
    }
    let (n, times) = (count(all), span(seconds));
    let (said, advice) = if unnamed == all {
        let mut causes = record.causes.iter().filter(|cause| cause.outcome == Outcome::Dns);
        let name = causes.next().filter(|_| causes.next().is_none()).map(|cause| &*cause.message);
        let name =
            name.map(|text| text.strip_prefix("Non HTTP response message: ").unwrap_or(text));
        let name = name.map(|name| format!(" ({name})")).unwrap_or_default();
        (words!(no_address_found(name, n)), words!(host_name_advice))
    } else {
        let at =
            address(record, seconds).map(|address| format!(" ({address})")).unwrap_or_default();
        let refused = sum(&|s| errors(record, s, |outcome| outcome == Outcome::Refused));
        let how = how(refused, failed);
        (words!(no_connection_found(at, n, how)), words!(no_connection_advice))
    };
    let finding = found("target_down", About::Run, Confidence::Certain, said);
    let finding = finding.with("failed_connects", all as f64, "connects", times).advise(advice);
    Some(finding.explaining(EXPLAINS).said())
}
