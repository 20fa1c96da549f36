//! Labels whose requests wait under the full load, where those of others do not: the limit lies behind the first, and
//! figures of all together would count the work of the others as well.

use std::collections::BTreeMap;

use record::{Part, Record, Second};
use stats::hist::Hist;

use super::figures::ms;
use super::say::words;
use crate::verdict::Words;

/// Growth of the times of a label that does not wait, as a share of that of the label that waits most.
const NONE: f64 = 0.1;
/// Requests of a label that tell it.
const LEAST: u64 = 20;

/// The growth of the median time of a label from the light load to the full one, ms, and its requests in both.
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

/// The growth of a request, ms: the mean over labels, each weighted by its requests under the full load, which are `all`.
pub(super) fn typical(growths: &[Growth<'_>], all: u64) -> f64 {
    growths.iter().map(|of| of.ms * of.busy as f64).sum::<f64>() / all.max(1) as f64
}

/// The numbers of the labels that wait, where others do not; none where all wait, or where that is not known.
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

/// The record of the requests of these labels alone.
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
    Record {
        frame: record.frame.clone(),
        labels: record.labels.clone(),
        marks: record.marks.clone(),
        has: record.has,
        seconds: record.seconds.iter().map(second).collect(),
        ..Record::default()
    }
}

/// Words on these labels behind a number of requests; none for all of them.
pub(super) fn of(record: &Record, labels: &[u32]) -> Words {
    let first = labels.first().and_then(|label| record.labels.get(*label as usize));
    let Some(name) = first.map(|label| &label.name) else { return words!("", "") };
    match labels.len() {
        1 => words!(" of \"{name}\"", "“{name}”的"),
        2 => words!(" of \"{name}\" and 1 more label", "“{name}”等 2 个标签的"),
        n => {
            let more = n - 1;
            words!(" of \"{name}\" and {more} more labels", "“{name}”等 {n} 个标签的")
        }
    }
}
