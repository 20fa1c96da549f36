//! Detects a target that becomes slower by itself while the load grows: its response times depend on the time, not
//! on the load.
//!
//! Requests that do not wait for each other take as long at the end of the light load as at its beginning: with no more
//! users than workers, no request waits. Under a load that no longer grows, a full target keeps its rate. If a ramp
//! lasts until the end, load and time grow together, and only the light load distinguishes them.

use std::collections::BTreeMap;

use record::{Record, Second};
use stats::hist::layout::middle_of;

use super::figures::{Z, length_s, ms, rate, requests, service, steady, with_users};
use super::say::lacks;
use crate::verdict::Said;

/// Smallest mean growth of the labels' times within the light load, as a ratio, for a finding.
const SLOWER: f64 = 1.1;
/// Smallest mean growth of the labels' times within the light load, in standard errors, for a finding.
const SURE: f64 = 3.0;
/// Smallest number of requests in each half of the light load, for a label to be compared between the halves.
const HALF: f64 = 5.0;
/// Smallest relative fall of the rate, and rise of the times, under constant load, for a finding.
const FALL: f64 = 0.07;
/// Smallest number of seconds under constant load, for a finding.
const SECONDS: usize = 12;
/// Number of first seconds that are left out because the last users still fill the queue.
const FILLS: usize = 3;

/// Requests of a label: their number, the sum of the logarithms of their times, and the sum of the squared logarithms.
#[derive(Clone, Copy, Default)]
struct Logarithms {
    n: f64,
    sum: f64,
    squares: f64,
}

impl Logarithms {
    fn mean(&self) -> f64 {
        self.sum / self.n
    }

    /// Returns the variance of the mean logarithm.
    fn error(&self) -> f64 {
        let variance = (self.squares / self.n - self.mean().powi(2)).max(0.0);
        variance / (self.n - 1.0)
    }
}

fn by_label(record: &Record, seconds: &[&Second]) -> BTreeMap<u32, Logarithms> {
    let mut sums: BTreeMap<u32, Logarithms> = BTreeMap::new();
    let is_request = |label: u32| record.labels.get(label as usize).is_some_and(|l| !l.transaction);
    for (label, part) in seconds.iter().flat_map(|second| &second.labels) {
        if !is_request(label) {
            continue;
        }
        let sum = sums.entry(label).or_default();
        for (bin, n) in part.service.iter() {
            let (value, n) = ((middle_of(bin) as f64).max(1.0).ln(), n as f64);
            sum.n += n;
            sum.sum += n * value;
            sum.squares += n * value * value;
        }
    }
    sums
}

/// True if requests became significantly slower within the seconds of a light load.
pub(super) fn slows_lightly(record: &Record, light: &[&Second]) -> bool {
    let (early, late) = light.split_at(light.len() / 2);
    let (early, late) = (by_label(record, early), by_label(record, late));
    let both = || {
        let both = early.iter().filter_map(|(label, early)| Some((early, late.get(label)?)));
        both.filter(|(early, late)| early.n >= HALF && late.n >= HALF)
    };
    let weight = |(early, late): (&Logarithms, &Logarithms)| early.n.min(late.n);
    let all: f64 = both().map(weight).sum();
    let grown: f64 = both().map(|of| weight(of) / all * (of.1.mean() - of.0.mean())).sum();
    let error: f64 =
        both().map(|of| (weight(of) / all).powi(2) * (of.0.error() + of.1.error())).sum();
    all > 0.0 && grown >= SLOWER.ln() && grown >= SURE * error.sqrt()
}

/// True if the rate falls and times grow under a load that no longer grows.
pub(super) fn slows_under_the_same_load(record: &Record) -> bool {
    let seconds = steady(record);
    let seconds = &seconds[seconds.len().min(FILLS)..];
    if seconds.len() < SECONDS {
        return false;
    }
    let third = seconds.len() / 3;
    let (early, late) = (&seconds[..third], &seconds[seconds.len() - third..]);
    let chance = |seconds| Z * (requests(seconds) as f64).sqrt() / length_s(seconds).max(1e-3);
    let falls = rate(late) < (1.0 - FALL) * rate(early) - chance(early).hypot(chance(late));
    falls && ms(&service(late), 0.5) > (1.0 + FALL) * ms(&service(early), 0.5)
}

/// True if responses become slower while at most `few` users are active at the beginning, or under the full load: no
/// queue causes that.
pub(super) fn slows_by_itself(record: &Record, seconds: &[Second], few: f64) -> bool {
    let light = with_users(seconds).take_while(|(users, _)| *users as f64 <= few);
    let light: Vec<&Second> = light.map(|(_, second)| second).collect();
    slows_lightly(record, &light) || slows_under_the_same_load(record)
}

/// Returns the result of a rule on limits if the target becomes slower by itself.
pub(super) fn lacks_time() -> Said {
    lacks!(growing_load_at_same_speed)
}
