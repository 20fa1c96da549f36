//! The seconds of a run under light load and under full load. Rules that compare the two call
//! [`missing_light_load`]; only then do they count as checked.

use record::{Record, Second};
use stats::grouped::count;

use super::errors::per_second;
use super::figures::{in_all, in_flight, mean, rate, whole, with_users};
use super::say::words;
use crate::verdict::{Said, Words};

/// Largest share of the high load (users or requests in flight), or of the largest number of due starts, at which a
/// second is under light load.
const LIGHT: f64 = 0.5;
/// Smallest number of samples under a light load. A light load with fewer samples counts as missing.
const LIGHT_SAMPLES: u64 = 10;
/// Smallest share of a high load at which a second counts as under full load.
const NEARLY: f64 = 0.9;
/// Number of seconds over which the requests in flight are averaged.
const WINDOW: usize = 5;
/// Largest number of consecutive seconds with less work, between busy ones, that still belong to the same load.
const LULL: usize = 10;

/// Returns the load of each second, as users or requests in flight, and the 90th percentile of the loads as a high
/// load.
fn loads(record: &Record, seconds: &[Second]) -> (Vec<f64>, f64) {
    let loads: Vec<f64> = if record.has.users {
        with_users(seconds).map(|(users, _)| users as f64).collect()
    } else {
        seconds.iter().map(in_flight).collect()
    };
    let mut sorted = loads.clone();
    sorted.sort_by(f64::total_cmp);
    let high = sorted.get(sorted.len() * 9 / 10).copied().unwrap_or(0.0);
    (loads, high)
}

/// Returns the seconds under the light load at the beginning of a run; empty if the run does not begin with a light
/// load.
pub(super) fn light_seconds(record: &Record) -> Vec<&Second> {
    let seconds = whole(record);
    let (loads, high) = loads(record, seconds);
    let light: Vec<&Second> = light(seconds, &loads, high).collect();
    let samples: u64 = light.iter().map(|second| second.all.count).sum();
    if samples >= LIGHT_SAMPLES { light } else { Vec::new() }
}

/// Returns a phrase about a missing light load; `None` if the run began with one. If the number of users is
/// unknown, no load is known to be light, because requests in flight also grow if the target becomes slower.
pub(super) fn missing_light_load(record: &Record) -> Option<Words> {
    if !record.has.users {
        return Some(words!(number_of_users));
    }
    let seconds = whole(record);
    let (loads, high) = loads(record, seconds);
    if high <= 1.0 {
        return Some(words!(more_than_one_user));
    }
    let samples: u64 = light(seconds, &loads, high).map(|second| second.all.count).sum();
    (samples < LIGHT_SAMPLES).then(|| light_load(seconds, &loads, high))
}

/// Returns a phrase about a light load with which a run should begin, with the rate and the users of the full load.
fn light_load(seconds: &[Second], loads: &[f64], high: f64) -> Words {
    let full: Vec<Second> = seconds
        .iter()
        .zip(loads)
        .filter(|(_, load)| **load >= NEARLY * high)
        .map(|(second, _)| in_all(second))
        .collect();
    let (each, n) = (per_second(rate(&full)), count(high as u64));
    words!(light_load_before_full_load(each, n))
}

/// Returns the result of a rule if the smallest load of the run was not light.
pub(super) fn lacks_light_load(record: &Record) -> Said {
    let seconds = whole(record);
    let (loads, high) = loads(record, seconds);
    Said::lacks_load(light_load(seconds, &loads, high))
}

/// Returns the seconds at the beginning of a run, as long as their load is light compared with a high load.
fn light<'s>(seconds: &'s [Second], loads: &[f64], high: f64) -> impl Iterator<Item = &'s Second> {
    let most_due = seconds.iter().map(|s| s.due).max().unwrap_or(0) as f64;
    let is_light = move |(second, load): &(&Second, &f64)| {
        **load <= LIGHT * high || second.due > 0 && second.due as f64 <= LIGHT * most_due
    };
    let light = seconds.iter().zip(loads).take_while(is_light).map(|(second, _)| second);
    light.filter(|second| is_answered(second))
}

/// Returns true if most requests of a second succeeded. Refused requests take a different time than the work.
pub(super) fn is_answered(second: &Second) -> bool {
    2 * second.all.errors <= second.all.count
}

/// Returns the result of a rule without a finding: a lack of data if the run has no light load to compare with.
pub(super) fn nothing_or_lacks(record: &Record) -> Said {
    missing_light_load(record).map_or(Said::Nothing, Said::lacks_load)
}

/// Returns the seconds in which the target is fully loaded: those with nearly the largest number of requests in flight.
/// The number of each second is averaged over neighbouring seconds, because it is computed from completions, and a slow
/// target has few or no completions in some seconds.
pub(super) fn loaded(seconds: &[Second]) -> Vec<Second> {
    let around = |at: usize| {
        let near =
            &seconds[at.saturating_sub(WINDOW / 2)..(at + WINDOW / 2 + 1).min(seconds.len())];
        mean(&near.iter().map(in_flight).collect::<Vec<_>>())
    };
    let busy: Vec<f64> = (0..seconds.len()).map(around).collect();
    let mut sorted = busy.clone();
    sorted.sort_by(f64::total_cmp);
    let high = sorted.get(sorted.len() * 9 / 10).copied().unwrap_or(0.0);
    let mut is_busy: Vec<bool> = busy.iter().map(|flying| *flying >= 0.5 * high).collect();
    // A short lull among busy seconds is chance; leaving it out would make the rate too high.
    let mut last = None;
    for at in 0..is_busy.len() {
        if is_busy[at] {
            let from = last.map_or(at, |last: usize| last + 1);
            if at - from <= LULL {
                is_busy[from..at].fill(true);
            }
            last = Some(at);
        }
    }
    let busy = seconds.iter().zip(is_busy).filter(|(_, is_busy)| *is_busy);
    busy.map(|(second, _)| in_all(second)).collect()
}
