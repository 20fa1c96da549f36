//! Detects too few samples for the metrics that are shown.

use record::Record;
use record::frame::{Ending, MISSING_FILES};
use stats::grouped::{count, things};

use super::figures::{requests, span};
use super::realism::setting;
use super::say::{found, lacks, words};
use crate::autocorrelation::effective;
use crate::verdict::{About, Confidence, Said, Words};

/// Smallest number of independent samples that must lie beyond a percentile, for the percentile to be meaningful.
const BEYOND: f64 = 10.0;
/// The percentile that every summary shows.
const SHOWN: f64 = 0.99;
/// Smallest number of seconds for an estimate of independence.
const SECONDS: usize = 20;

/// Returns the finding about a run without samples if it was completed: the run is no evidence of anything.
fn nothing(record: &Record) -> Said {
    if record.frame.ending != Ending::Completed {
        return lacks!(any_requests);
    }
    if let Some(missing) = setting(record, MISSING_FILES) {
        let (first, more) = missing.split_once('\n').unwrap_or((missing, ""));
        let more = match more.lines().count() {
            0 => Words::default(),
            n => {
                let files = things(n as u64, "other file");
                words!(other_files_missing(files, n))
            }
        };
        let said = words!(no_request_for_missing_file(first, more));
        return found("too_few_samples", About::Test, Confidence::Certain, said)
            .with("requests", 0.0, "requests", span(&record.seconds))
            .advise(words!(missing_file_advice))
            .said();
    }
    found("too_few_samples", About::Test, Confidence::Certain, words!(no_sample_found))
        .with("requests", 0.0, "requests", span(&record.seconds))
        .advise(words!(no_sample_advice))
        .said()
}

pub(super) fn too_few_samples(record: &Record) -> Said {
    let seconds = &record.seconds;
    let n = requests(seconds);
    if n == 0 {
        return nothing(record);
    }
    // Neighbouring samples are similar, so the means of the seconds are used to estimate the effective number of
    // independent samples.
    let means: Vec<f64> = seconds
        .iter()
        .filter(|s| s.all.count > 0)
        .map(|s| s.all.elapsed as f64 / s.all.count as f64)
        .collect();
    let worth = if means.len() >= SECONDS {
        (effective(&means) / means.len() as f64).clamp(0.0, 1.0)
    } else {
        1.0
    };
    let independent = n as f64 * worth;
    let beyond = independent * (1.0 - SHOWN);
    // If changes of the target, and not chance, move the means, only the number of samples decides.
    if n as f64 * (1.0 - SHOWN) >= BEYOND {
        return Said::Nothing;
    }
    let (all, need) = (count(n), count((BEYOND / (1.0 - SHOWN)).round() as u64));
    let noun = if n == 1 { "request" } else { "requests" };
    found(
        "too_few_samples",
        About::Test,
        Confidence::Arithmetic,
        words!(few_samples_found(all, noun, need)),
    )
    .with("requests", n as f64, "requests", span(seconds))
    .with("beyond_p99", beyond, "requests", span(seconds))
    .advise(words!(few_samples_advice))
    .said()
}
