//! Causes of errors over the run, and metrics of exchanges by address or header.

use record::kept::Why;
use record::{ClassName, Record};
use serde::Serialize;
use stats::hist::Hist;

use super::instants::Instant;
use super::labels::Order;

/// Largest number of causes of errors on a page.
pub(crate) const MOST: usize = 100;

#[derive(Debug, Serialize)]
pub struct Cause {
    pub outcome: String,
    pub code: String,
    pub message: String,
    pub first_label: String,
    pub count: u64,
    /// Start of the first sample with this cause if it was kept, otherwise the start of the second in which it ended;
    /// epoch ms.
    pub first_ms: i64,
    /// End of the last second with an error of this cause, epoch ms.
    pub last_ms: i64,
    /// Number of errors at each instant of the timeline.
    pub counts: Vec<u64>,
    /// Labels of the kept samples with this cause, with the number of samples.
    pub by_label: Vec<(usize, u64)>,
}

/// Returns the causes with the most errors.
pub(super) fn causes(record: &Record, instants: &[Instant], order: &Order) -> Vec<Cause> {
    let mut found: Vec<Cause> = record
        .causes
        .iter()
        .map(|cause| Cause {
            outcome: cause.outcome.as_str().to_owned(),
            code: cause.code.to_string(),
            message: cause.message.to_string(),
            first_label: cause.first_label.to_string(),
            count: 0,
            first_ms: 0,
            last_ms: 0,
            counts: vec![0; instants.len()],
            by_label: Vec::new(),
        })
        .collect();
    // For each cause, the end of the first second with an error.
    let mut first = vec![0; found.len()];
    for (i, instant) in instants.iter().enumerate() {
        for second in &record.seconds[instant.seconds.clone()] {
            for (number, n) in &second.causes {
                let Some(cause) = found.get_mut(*number as usize) else { continue };
                if cause.count == 0 {
                    cause.first_ms = second.at_ms - i64::from(second.ms);
                    first[*number as usize] = second.at_ms;
                }
                cause.last_ms = second.at_ms;
                cause.count += n;
                cause.counts[i] += n;
            }
        }
    }
    let kept_of = |number: usize| {
        let starts = record.kept.iter().filter(|kept| kept.cause == Some(number as u32));
        starts.map(|kept| kept.start_ms).min()
    };
    for (number, cause) in found.iter_mut().enumerate() {
        // A kept sample that started after the first second with the cause is not the first one.
        let start = kept_of(number).filter(|start| *start <= first[number]);
        cause.first_ms = start.unwrap_or(cause.first_ms);
    }
    for kept in record.kept.iter().filter(|kept| kept.why == Why::Error) {
        let place = order.place(kept.label);
        let Some((place, cause)) = place.zip(kept.cause.and_then(|at| found.get_mut(at as usize)))
        else {
            continue;
        };
        match cause.by_label.iter_mut().find(|(label, _)| *label == place) {
            Some((_, n)) => *n += 1,
            None => cause.by_label.push((place, 1)),
        }
    }
    found.retain(|cause| cause.count > 0);
    found.sort_by_key(|cause| std::cmp::Reverse(cause.count));
    found.truncate(MOST);
    found
}

/// Metrics of the exchanges with one address, or with one value of a header.
#[derive(Debug, Serialize)]
pub struct Class {
    pub kind: String,
    pub value: String,
    pub exchanges: u64,
    pub errors: u64,
    pub opened: u64,
    pub p50_us: Option<f64>,
    pub p95_us: Option<f64>,
}

pub(super) fn classes(record: &Record) -> Vec<Class> {
    let mut sums: Vec<record::Class> = vec![record::Class::default(); record.classes.len()];
    for (number, class) in record.seconds.iter().flat_map(|second| &second.classes) {
        if let Some(sum) = sums.get_mut(*number as usize) {
            sum.merge(class);
        }
    }
    let one = |(name, sum): (&ClassName, &record::Class)| {
        let (kind, value) = match name {
            ClassName::Address(address) => (String::from("address"), address.to_string()),
            ClassName::Header { name, value } => (name.to_string(), value.to_string()),
        };
        let mut hist = Hist::new();
        hist.add(&sum.service);
        let quantile = |p| (hist.total() > 0).then(|| hist.quantile(p) as f64);
        Class {
            kind,
            value,
            exchanges: sum.count,
            errors: sum.errors,
            opened: sum.opened,
            p50_us: quantile(0.5),
            p95_us: quantile(0.95),
        }
    };
    let mut found: Vec<Class> = record.classes.iter().zip(&sums).map(one).collect();
    found.retain(|class| class.exchanges > 0 || class.opened > 0);
    found.sort_by_key(|class| std::cmp::Reverse(class.exchanges));
    found.truncate(MOST);
    found
}
