//! JMeter's SamplerMetric and UserMetric: the metrics of a label, and of users, in the current interval.

use std::collections::BTreeMap;

use lang::decimal_format::DecimalFormat;
use serde::{Deserialize, Serialize};

use super::window::{Estimator, Window};
use crate::recorder::{MAX_LABELS, OTHER_LABELS};

/// A finished sample with the values that Backend Listeners use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taken {
    /// Elapsed time in ms.
    pub elapsed_ms: u64,
    pub success: bool,
    /// Number of samples, more than 1 for a sum of samples.
    pub count: u32,
    /// Number of failed samples.
    pub errors: u32,
    pub sent: u64,
    pub received: u64,
    /// Number of requests of the sample including its sub-results.
    pub hits: u32,
    /// True for a transaction without sub-results. Its requests and bytes were already counted with its samples, so the
    /// total of all labels does not count them again.
    pub of_parts: bool,
    /// Number of running users.
    pub active: u32,
    /// For a failed sample: response code and message, or the assertion's message.
    pub error: Option<Box<(String, String)>>,
}

/// Sizes of the sliding windows.
#[derive(Clone, Copy, Debug)]
pub struct Windows {
    /// Number of values in a window: the property `backend_metrics_window`.
    pub size: usize,
    /// Number of values in a window in the mode `timed`: the property `backend_metrics_large_window`.
    pub large: usize,
    /// True if `backend_metrics_window_mode` is `timed`: all windows except the window for percentiles over all samples
    /// are cleared after each interval.
    pub timed: bool,
    /// Formula for percentiles: the property `backend_metrics_percentile_estimator`.
    pub estimator: Estimator,
}

impl Default for Windows {
    fn default() -> Self {
        Self { size: 100, large: 5000, timed: false, estimator: Estimator::Legacy }
    }
}

/// The metrics of one label in the current interval.
#[derive(Clone, Debug)]
pub(super) struct SamplerMetric {
    pub(super) ok: Window,
    pub(super) ko: Window,
    pub(super) all: Window,
    /// Elapsed times of the latest samples, for the percentiles over all samples. This window is never cleared.
    pub(super) recent: Window,
    pub(super) successes: u32,
    pub(super) failures: u32,
    pub(super) hits: u32,
    pub(super) sent: u64,
    pub(super) received: u64,
    /// Errors by code and message in lower case.
    pub(super) errors: BTreeMap<(String, String), CountedError>,
}

/// An error of a sampler, in its original spelling.
#[derive(Clone, Debug)]
pub(super) struct CountedError {
    pub(super) code: String,
    pub(super) message: String,
    pub(super) count: u32,
}

impl SamplerMetric {
    fn new(windows: &Windows) -> Self {
        let size = if windows.timed { windows.large } else { windows.size };
        Self {
            ok: Window::new(size),
            ko: Window::new(size),
            all: Window::new(size),
            recent: Window::new(windows.size),
            successes: 0,
            failures: 0,
            hits: 0,
            sent: 0,
            received: 0,
            errors: BTreeMap::new(),
        }
    }

    pub(super) fn total(&self) -> u32 {
        self.successes + self.failures
    }

    fn add(&mut self, taken: &Taken, cumulated: bool) {
        let time = taken.elapsed_ms as f64;
        self.all.push(time);
        self.recent.push(time);
        if taken.success {
            self.successes += taken.count.saturating_sub(taken.errors);
            self.ok.push(time);
        } else {
            self.failures += taken.errors;
            self.ko.push(time);
            if let Some(error) = &taken.error {
                let (code, message) = (error.0.trim(), error.1.trim());
                let code = if error.0.is_empty() { "0" } else { code };
                let message = if error.1.is_empty() { "None" } else { message };
                let key = (code.to_lowercase(), message.to_lowercase());
                let first =
                    || CountedError { code: code.into(), message: message.into(), count: 0 };
                self.errors.entry(key).or_insert_with(first).count += taken.errors;
            }
        }
        if !(cumulated && taken.of_parts) {
            self.hits += taken.hits;
            self.sent += taken.sent;
            self.received += taken.received;
        }
    }

    fn end_interval(&mut self, timed: bool) {
        if timed {
            for window in [&mut self.ok, &mut self.ko, &mut self.all] {
                window.clear();
            }
        }
        self.errors.clear();
        (self.successes, self.failures, self.hits, self.sent, self.received) = (0, 0, 0, 0, 0);
    }
}

/// The metrics of all labels and of the users.
#[derive(Clone, Debug)]
pub struct Metrics {
    pub(super) windows: Windows,
    pub(super) samplers: BTreeMap<String, SamplerMetric>,
    users: Window,
    /// Number of users started so far.
    pub started: u32,
    /// Number of users ended so far.
    pub finished: u32,
}

impl Metrics {
    pub fn new(windows: Windows) -> Self {
        let users = Window::new(windows.size);
        Self { windows, samplers: BTreeMap::new(), users, started: 0, finished: 0 }
    }

    /// Adds a sample to the metrics under the name `total`, and to the metrics of `label` if it is `Some`.
    pub(super) fn add(&mut self, total: &str, label: Option<&str>, taken: &Taken) {
        self.users.push(f64::from(taken.active));
        if let Some(label) = label {
            self.of(label).add(taken, false);
        }
        self.of(total).add(taken, true);
    }

    /// Returns the metrics of a label. Above the limit of labels, further labels share one entry.
    fn of(&mut self, label: &str) -> &mut SamplerMetric {
        if !self.samplers.contains_key(label) {
            if self.samplers.len() >= MAX_LABELS && label != OTHER_LABELS {
                return self.of(OTHER_LABELS);
            }
            self.samplers.insert(label.to_owned(), SamplerMetric::new(&self.windows));
        }
        self.samplers.get_mut(label).expect("it was put there")
    }

    /// Returns minimum, maximum and mean of the active users as whole numbers.
    pub(super) fn active(&self) -> [i64; 3] {
        // Like a cast in Java, this turns NaN into 0.
        [self.users.min(), self.users.max(), self.users.mean()].map(|value| value as i64)
    }

    pub(super) fn end_interval(&mut self) {
        let timed = self.windows.timed;
        for metric in self.samplers.values_mut() {
            metric.end_interval(timed);
        }
    }
}

/// Formats a percentage for names of metrics, with the pattern `0.##`.
pub(super) fn short(percent: f32) -> String {
    let mut out = String::new();
    DecimalFormat::up_to(2).write_double(percent.into(), &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_have_two_digits_at_most() {
        let shown = [90.0, 99.5, 99.95, 99.999, 0.5].map(short);
        assert_eq!(shown, ["90", "99.5", "99.95", "100", "0.5"]);
    }
}
