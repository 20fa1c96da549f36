//! Successful requests and responses as expected by assertions, for the run and for each label.

use answers::verdict::Words;
use record::{Checked, Record};
use serde::Serialize;
use stats::Checks;
use stats::grouped::cut_percent;

use super::words;
use crate::captions::grouped;

/// Metrics of successful requests and of checked responses, for a set of samples on which assertions ran.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Answers {
    /// Number of requests that succeeded by transport and status.
    pub requests_succeeded: u64,
    /// Number of responses that assertions checked. `None` for a CSV result file, which only states which responses
    /// were not as expected.
    pub checked: Option<u64>,
    /// Number of checked responses for which all assertions held; `None` for a CSV result file.
    pub as_expected: Option<u64>,
    pub unexpected: u64,
    /// Number of samples in the set.
    #[serde(skip)]
    samples: u64,
}

impl Answers {
    /// Builds the metrics of a set of samples; `None` if no result of an assertion is known.
    pub(super) fn new(checks: &Checks, samples: u64) -> Option<Self> {
        let Checks { checked, unexpected, failed } = *checks;
        let is_known = checked > 0 && checked >= unexpected;
        (checked > 0 || unexpected > 0).then(|| Self {
            requests_succeeded: samples.saturating_sub(failed),
            checked: is_known.then_some(checked),
            as_expected: is_known.then(|| checks.expected()),
            unexpected,
            samples,
        })
    }

    /// Builds the metrics of all requests of a record. With assertions in the plan, they exist even if none ran.
    pub(super) fn of_run(record: &Record, samples: u64) -> Option<Self> {
        let mut sum = Checks::default();
        for second in &record.seconds {
            sum.merge(&second.checks_of(None, &record.labels));
        }
        let none = Self {
            requests_succeeded: samples.saturating_sub(sum.failed),
            checked: Some(0),
            as_expected: Some(0),
            unexpected: 0,
            samples,
        };
        let is_planned = samples > 0 && record.frame.has_assertions();
        Self::new(&sum, samples).or_else(|| is_planned.then_some(none))
    }

    /// Returns the percentage of checked responses that were as expected.
    pub fn percent(&self) -> Option<f64> {
        let (checked, expected) = self.checked.zip(self.as_expected)?;
        (checked > 0).then(|| expected as f64 * 100.0 / checked as f64)
    }

    /// Returns name, value and note of two metrics: successful requests, and responses as expected.
    pub fn figures(&self) -> [(Words, String, Words); 2] {
        let succeeded = self.requests_succeeded;
        let share = percent_text(succeeded as f64 * 100.0 / self.samples.max(1) as f64);
        let (value, note) = match (self.percent(), self.checked, self.as_expected) {
            (Some(percent), Some(checked), Some(expected)) => {
                let (checked, expected) = (grouped(checked as f64), grouped(expected as f64));
                let note = words(
                    format!("{expected} of {checked} checked"),
                    format!("共检查 {checked} 个，其中 {expected} 个"),
                );
                (percent_text(percent), note)
            }
            (None, Some(_), _) => {
                let note = words("no assertion ran on an answer", "没有断言检查过任何响应");
                ("–".into(), note)
            }
            _ => {
                let bad = grouped(self.unexpected as f64);
                let note = words(
                    format!("{bad} not as expected; CSV does not say how many were checked"),
                    format!("{bad} 个不符合预期；CSV 未说明检查了多少"),
                );
                ("–".into(), note)
            }
        };
        [
            (
                words("Requests that succeeded", "成功的请求"),
                grouped(succeeded as f64),
                words(share.clone(), share),
            ),
            (words("Answers as expected", "符合预期的响应"), value, note),
        ]
    }
}

/// Formats a percentage for pages, truncated instead of rounded.
pub(crate) fn percent_text(percent: f64) -> String {
    cut_percent(percent).replace('%', " %")
}

/// Sums the results of assertions by label number.
pub(super) fn of_labels(record: &Record) -> Vec<Checked> {
    let mut sums = vec![Checked::default(); record.labels.len()];
    for (label, checked) in record.seconds.iter().flat_map(|second| &second.checks) {
        if let Some(sum) = sums.get_mut(*label as usize) {
            sum.merge(checked);
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assertions_that_checked_nothing_have_no_share() {
        let mut record = Record::default();
        record.frame.settings = vec![("assertions".into(), "1".into())];
        let of = |record: &Record, samples| Answers::of_run(record, samples);
        let none = of(&record, 10).expect("assertions");
        let [_, (_, value, note)] = none.figures();
        assert_eq!(
            (none.percent(), &*value, &*note.en),
            (None, "–", "no assertion ran on an answer")
        );
        assert_eq!(of(&record, 0), None);
        record.frame.settings.clear();
        assert_eq!(of(&record, 10), None);
    }

    #[test]
    fn a_file_that_names_failed_checks_only_has_no_share() {
        let answers = |checked, unexpected, failed| {
            Answers::new(&Checks { checked, unexpected, failed }, 1000)
        };
        assert_eq!(answers(0, 0, 10), None);
        let full = answers(800, 1, 200).expect("assertions");
        let [(_, succeeded, share), (_, expected, note)] = full.figures();
        assert_eq!((&*succeeded, &*share.en), ("800", "80 %"));
        assert_eq!((&*expected, &*note.en), ("99.875 %", "799 of 800 checked"));
        let csv = answers(0, 7, 0).expect("a failed assertion");
        let [_, (_, value, note)] = csv.figures();
        assert_eq!((csv.percent(), &*value), (None, "–"));
        assert!(note.en.starts_with("7 not as expected; CSV"), "{note:?}");
    }
}
