//! Detects a CPU quota of the generator's control group that throttles it, from the kernel's count of throttled
//! periods.

use record::Record;
use stats::grouped::{count, percent};

use super::down::seconds_there;
use super::figures::span;
use super::say::{found, lacks, words};
use crate::verdict::{About, Confidence, Said};

/// Smallest share of throttled scheduler periods for a finding.
const SHARE: f64 = 0.1;
/// Smallest number of throttled scheduler periods for a finding. Fewer occur while a program starts, and hardly affect
/// percentiles.
const LEAST: u64 = 10;

pub(super) fn cpu_quota(record: &Record) -> Said {
    if !record.has.generator {
        return lacks!(run: figures_of_generator);
    }
    let seconds = seconds_there(record);
    let periods: u64 = seconds.iter().map(|second| second.generator.quota_periods).sum();
    let stopped: u64 = seconds.iter().map(|second| second.generator.quota_stopped).sum();
    let share = stopped as f64 / periods.max(1) as f64;
    if stopped < LEAST || share < SHARE {
        return Said::Nothing;
    }
    let quotas = record.seconds.iter().map(|second| second.generator.quota);
    let quota = quotas.filter(|quota| *quota > 0.0).reduce(f64::min).unwrap_or(0.0);
    let allowed = format!("{quota:.2}");
    let allowed = allowed.trim_end_matches('0').trim_end_matches('.');
    let (of, stopped_words, periods_words) = (percent(share), count(stopped), count(periods));
    let span = span(&record.seconds);
    found(
        "cpu_quota",
        About::Generator,
        Confidence::Certain,
        words!(cpu_quota_found(allowed, of, stopped_words, periods_words)),
    )
    .with("quota_stopped", share, "share", span)
    .with("quota", quota, "processors", span)
    .advise(words!(cpu_quota_advice))
    .explaining(&[
        "machine_busy",
        "generator_limit",
        "generator_stalled",
        "java_pauses",
        "unread_growing",
        "zero_windows",
        "late_starts",
    ])
    .said()
}
