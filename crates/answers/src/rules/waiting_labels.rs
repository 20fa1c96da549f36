//! Labels whose requests wait under full load while those of other labels do not: the limit affects only the
//! waiting ones, and metrics of all labels together would include the work of the others.

use std::collections::BTreeMap;

use record::{Part, Record, Second};
use stats::hist::{Bins, Hist, layout};

use super::figures::ms;
use super::say::words;
use crate::verdict::Words;

/// Largest growth of a label's times at which the label counts as one that does not wait, as a share of the growth of
/// the label that waits most.
const NONE: f64 = 0.1;
/// Smallest number of requests of a label under light load, and under full load, for a comparison of its times.
const LEAST: u64 = 20;

/// Growth in ms of a label's median time from light load to full load, with the label's numbers of requests under both
/// loads.
pub(super) struct Growth<'r> {
    name: &'r str,
    ms: f64,
    light: u64,
    busy: u64,
}

pub(super) fn growths<'r>(
    light: &BTreeMap<&str, Hist>,
    busy: &BTreeMap<&'r str, Hist>,
) -> Vec<Growth<'r>> {
    let growth = |(name, busy): (&&'r str, &Hist)| {
        let alone = light.get(name).filter(|light| light.total() > 0)?;
        let ms = ms(busy, 0.5) - ms(alone, 0.5);
        Some(Growth { name, ms, light: alone.total(), busy: busy.total() })
    };
    busy.iter().filter_map(growth).collect()
}

/// Returns the mean growth per request in ms: labels are weighted by their requests under full load, of which there are
/// `all`.
pub(super) fn typical(growths: &[Growth<'_>], all: u64) -> f64 {
    growths.iter().map(|of| of.ms * of.busy as f64).sum::<f64>() / all.max(1) as f64
}

/// Returns the numbers of the labels that wait while others do not; empty if all wait, or if that is unknown.
pub(super) fn that_wait(record: &Record, growths: &[Growth<'_>]) -> Vec<u32> {
    let most = growths.iter().map(|of| of.ms).fold(0.0, f64::max);
    let is_known = |of: &&Growth<'_>| of.light >= LEAST && of.busy >= LEAST;
    let waits = |of: &&Growth<'_>| of.ms > NONE * most;
    if growths.iter().filter(is_known).all(|of| waits(&of)) {
        return Vec::new();
    }
    let names: Vec<&str> = growths.iter().filter(waits).map(|of| of.name).collect();
    let labels = (0..).zip(&record.labels);
    let waiting = labels.filter(|(_, label)| !label.transaction && names.contains(&&*label.name));
    waiting.map(|(number, _)| number).collect()
}

/// Returns the record restricted to the requests that were answered, without completions by slot, because these do
/// not say which requests failed.
pub(super) fn answered(record: &Record) -> Record {
    let part = |of: &Part| {
        let lost = of.failed.iter().map(|(bin, n)| layout::middle_of(bin) * 1000 * n).sum();
        let mut failed: BTreeMap<u32, u64> = of.failed.iter().collect();
        let mut service = Bins::default();
        for (bin, n) in of.service.iter() {
            let rest = n.saturating_sub(failed.remove(&bin).unwrap_or(0));
            if rest > 0 {
                service.add(bin, rest);
            }
        }
        Part {
            count: of.count.saturating_sub(of.errors),
            elapsed: of.elapsed.saturating_sub(lost),
            received: of.received,
            service,
            ..Part::default()
        }
    };
    let second = |second: &Second| {
        let labels: Vec<(u32, Part)> =
            second.labels.iter().map(|(label, of)| (label, part(&of))).collect();
        let Second { at_ms, ms, users, started, due, missed, .. } = *second;
        let (all, labels) = (part(&second.all), labels.into());
        Second { at_ms, ms, users, started, due, missed, all, labels, ..Second::default() }
    };
    Record { seconds: record.seconds.iter().map(second).collect(), ..without_seconds(record) }
}

fn without_seconds(record: &Record) -> Record {
    Record {
        frame: record.frame.clone(),
        labels: record.labels.clone(),
        marks: record.marks.clone(),
        has: record.has,
        ..Record::default()
    }
}

/// Returns the record reduced to the requests of the given labels.
pub(super) fn alone(record: &Record, labels: &[u32]) -> Record {
    let second = |second: &Second| {
        let mut all = Part::default();
        let mut own = Vec::new();
        for label in labels {
            if let Some(part) = second.labels.get(*label) {
                all.merge(&part);
                own.push((*label, part.into_owned()));
            }
        }
        let (at_ms, ms, users) = (second.at_ms, second.ms, second.users);
        Second { at_ms, ms, users, all, labels: own.into(), ..Second::default() }
    };
    Record { seconds: record.seconds.iter().map(second).collect(), ..without_seconds(record) }
}

/// Returns a phrase about the given labels, to follow a number of requests; empty for all labels.
pub(super) fn of(record: &Record, labels: &[u32]) -> Words {
    let first = labels.first().and_then(|label| record.labels.get(*label as usize));
    let Some(name) = first.map(|label| &label.name) else { return Words::default() };
    match labels.len() {
        1 => words!(of_label(name)),
        2 => words!(of_label_and_another(name)),
        n => {
            let more = n - 1;
            words!(of_labels(name, more, n))
        }
    }
}
