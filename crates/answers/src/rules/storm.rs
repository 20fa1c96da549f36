//! Detects requests that all arrive at once at the beginning of a run, such as logins of users that start together:
//! responses come one after another, and the last request waits for all others.
//!
//! There are three signs: the requests that end in each second started at the same moment, the responses are more
//! regular than by chance, and the last response takes several times as long as the first.

use record::{Record, Second};
use stats::grouped::count;
use stats::hist::Hist;

use super::errors::per_second;
use super::figures::{deviation, mean, ms, span};
use super::say::{found, time, words};
use crate::verdict::{About, Confidence, Finding};

/// Smallest number of first requests of a label for a finding.
const LEAST: u64 = 20;
/// Largest failed share of the first requests of a label for a finding.
const FAILED: f64 = 0.05;
/// Smallest time in ms of the longest of a label's first requests, for a finding.
const LONG_MS: f64 = 2000.0;
/// Smallest ratio of the time of the longest of a label's first requests to the time of the shortest one, for a
/// finding.
const LONGER: f64 = 4.0;
/// Largest difference in ms between the mean starts of requests that end in different seconds, if they started at once;
/// `AT_ONCE` is added. The end of a request is known to a slot of 100 ms, so a mean start is off by at most 50 ms.
const AT_ONCE_MS: f64 = 300.0;
/// Largest difference between the mean starts of requests that end in different seconds, if they started at once, as a
/// share of the longest time; `AT_ONCE_MS` is added.
const AT_ONCE: f64 = 0.05;
/// Mean number of responses in an interval in which responses are counted.
const EACH: f64 = 4.0;
/// Smallest number of intervals in which responses are counted.
const PIECES: usize = 8;
/// Largest variance of the responses in the intervals as a share of their mean, which is about 1 by chance. In 8
/// intervals, chance leads to at most 0.3 in 5 % of cases; in 20 intervals, in 0.1 %.
const EVEN: f64 = 0.3;
/// Smallest ratio of the bytes per request in the later seconds to those in the earlier ones at which the work differs.
const LARGER: f64 = 1.5;
/// Smallest computed number of requests that the target processes at the same time, for a finding.
const PLACES: f64 = 0.7;
/// Largest share of all requests that are processed at the same time, for a finding. With a larger share, the longest
/// time is less than `LONGER` times the time of a request alone.
const MOST: f64 = 0.25;

/// Returns the finding about the first label whose requests arrived at once.
pub(super) fn storm(id: &'static str, record: &Record) -> Option<Finding> {
    let real = |label: &u32| !record.labels[*label as usize].transaction;
    if !record.has.users || !record.has.slots {
        return None;
    }
    let mut labels = (0..record.labels.len() as u32).filter(real);
    labels.find_map(|label| of_label(id, record, label))
}

/// Returns the seconds with a label's first responses, up to a second without any; `None` if there is no such second.
fn first_answers(record: &Record, label: u32) -> Option<&[Second]> {
    let has = |s: &Second| s.labels.get(label).is_some_and(|part| part.count > 0);
    let from = record.seconds.iter().position(has)?;
    let length = record.seconds[from..].iter().position(|second| !has(second))?;
    Some(&record.seconds[from..from + length])
}

fn of_label(id: &'static str, record: &Record, label: u32) -> Option<Finding> {
    let seconds = first_answers(record, label)?;
    let (mut times, mut slots, mut starts) = (Hist::new(), Vec::new(), Vec::new());
    let (mut all, mut failed) = (0, 0);
    for second in seconds {
        let part = second.labels.get(label)?;
        times.add(&part.service);
        (all, failed) = (all + part.count, failed + part.errors);
        let slot_ms = f64::from(second.ms) / part.slots.len() as f64;
        let ended: f64 = part
            .slots
            .iter()
            .zip(0_u32..)
            .map(|(n, at)| f64::from(*n) * (f64::from(at) + 0.5))
            .sum();
        let begin = (second.at_ms - i64::from(second.ms) - record.frame.start_ms) as f64;
        let took = part.elapsed as f64 / 1e6;
        starts.push(begin + (ended * slot_ms - took) / part.count.max(1) as f64);
        slots.extend(part.slots.map(f64::from));
    }
    let n = all as f64;
    let (least, most) = (ms(&times, 0.5 / n.max(1.0)), ms(&times, 1.0));
    let is_long = most >= LONG_MS && most >= LONGER * least;
    if all < LEAST || failed as f64 > FAILED * n || !is_long {
        return None;
    }
    let (first, last) =
        starts.iter().fold((f64::MAX, f64::MIN), |(a, b), x| (a.min(*x), b.max(*x)));
    let ends = (slots.iter().position(|n| *n > 0.0)?, slots.iter().rposition(|n| *n > 0.0)?);
    let (early, late) = seconds.split_at(seconds.len() / 2);
    // Without known sizes, both are 0.
    if bytes_each(late, label) > LARGER * bytes_each(early, label) {
        return None;
    }
    if last - first > AT_ONCE_MS + AT_ONCE * most || !is_even(&slots[ends.0..=ends.1]) {
        return None;
    }
    let rate = n / most * 1000.0;
    // The requests that are processed at the same time get the first responses.
    let first_round = (rate * least / 1000.0).round().max(1.0);
    let alone = ms(&times, 0.5 * first_round / n);
    let places = rate * alone / 1000.0;
    if places < PLACES || places > MOST * n {
        return None;
    }
    let name = &record.labels[label as usize].name;
    let (n, k, rate_words) = (count(all), count(places.round().max(1.0) as u64), per_second(rate));
    let (alone_words, longest) = (time(alone), time(most));
    let were = if k == "1" { "was" } else { "were" };
    let said = words!(storm_found(name, alone_words, longest, n, k, were, rate_words));
    let finding = found(id, About::Target, Confidence::Statistical, said)
        .with("longest", most, "ms", span(seconds))
        .with("alone", alone, "ms", span(seconds))
        .with("concurrency", places, "requests", span(seconds))
        .advise(words!(storm_advice(k, name)));
    Some(finding.explaining(&["bimodal", "warmup_unfinished"]))
}

/// Returns the mean bytes of a label's requests and responses.
fn bytes_each(seconds: &[Second], label: u32) -> f64 {
    let parts = seconds.iter().filter_map(|second| second.labels.get(label));
    let (bytes, n) =
        parts.fold((0, 0), |sum, of| (sum.0 + of.sent + of.received, sum.1 + of.count));
    bytes as f64 / n.max(1) as f64
}

/// True if responses are more regular than by chance.
fn is_even(slots: &[f64]) -> bool {
    let width = (EACH / mean(slots)).ceil().max(1.0) as usize;
    let pieces: Vec<f64> = slots.chunks_exact(width).map(|piece| piece.iter().sum()).collect();
    pieces.len() >= PIECES && deviation(&pieces).powi(2) <= EVEN * mean(&pieces)
}
