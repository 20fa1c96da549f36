//! The rows of `statistics.json`, with the formulas and the order of operations of JMeter's StatisticsSummaryData.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::TOTAL;
use super::settings::Settings;

/// The last elapsed times of a label, in ms.
#[derive(Clone, Debug, Default)]
struct Window {
    values: Vec<i32>,
    /// Index of the oldest elapsed time, once the window is full.
    oldest: usize,
}

impl Window {
    fn push(&mut self, value: i32, size: Option<usize>) {
        if size.is_none_or(|size| self.values.len() < size) {
            self.values.push(value);
            return;
        }
        self.values[self.oldest] = value;
        self.oldest += 1;
        if self.oldest == self.values.len() {
            self.oldest = 0;
        }
    }
}

/// The sums over the rows of a label, or of all labels.
#[derive(Clone, Debug)]
pub(super) struct Sum {
    total: i64,
    errors: i64,
    received: i64,
    sent: i64,
    mean: f64,
    min: i64,
    max: i64,
    first_ms: i64,
    end_ms: i64,
    window: Window,
}

impl Default for Sum {
    fn default() -> Self {
        Self {
            total: 0,
            errors: 0,
            received: 0,
            sent: 0,
            mean: 0.0,
            min: i64::MAX,
            max: i64::MIN,
            first_ms: i64::MAX,
            end_ms: i64::MIN,
            window: Window::default(),
        }
    }
}

/// The fields of one row that the statistics use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Figure {
    pub(super) start_ms: i64,
    pub(super) end_ms: i64,
    pub(super) elapsed_ms: i32,
    pub(super) success: bool,
    pub(super) received: i64,
    pub(super) sent: i64,
}

impl Sum {
    pub(super) fn add(&mut self, row: &Figure, window: Option<usize>) {
        self.total += 1;
        self.errors += i64::from(!row.success);
        self.received = self.received.wrapping_add(row.received);
        self.sent = self.sent.wrapping_add(row.sent);
        let elapsed = f64::from(row.elapsed_ms);
        // The mean is updated by the recurrence of Commons Math. Dividing a sum at the end gives other last digits.
        self.mean += (elapsed - self.mean) / self.total as f64;
        self.min = self.min.min(row.elapsed_ms.into());
        self.max = self.max.max(row.elapsed_ms.into());
        self.first_ms = self.first_ms.min(row.start_ms);
        self.end_ms = self.end_ms.max(row.end_ms);
        self.window.push(row.elapsed_ms, window);
    }

    pub(super) fn row(self, name: &str, controller: bool, settings: &Settings) -> StatisticsRow {
        // Without rows, the difference overflows to 1, as in Java.
        let length = self.end_ms.wrapping_sub(self.first_ms) as f64;
        let per_s = |bytes: i64| bytes as f64 / (length / 1000.0) / 1024.0;
        let mut sorted: Vec<f64> = self.window.values.into_iter().map(f64::from).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let percentile = |percent| settings.estimator.percentile(&sorted, percent);
        let [one, two, three] = [0, 1, 2].map(|n| percentile(settings.percentages[n].1));
        StatisticsRow {
            controller,
            transaction: name.to_owned(),
            samples: self.total,
            errors: self.errors,
            error_percent: (self.errors as f64 * 100.0 / self.total as f64) as f32,
            mean: if self.total == 0 { f64::NAN } else { self.mean },
            median: percentile(50.0),
            min: self.min as f64,
            max: self.max as f64,
            percentiles: [one, two, three],
            throughput: (self.total as f64 / length) * 1000.0,
            received_kb: per_s(self.received),
            sent_kb: per_s(self.sent),
        }
    }
}

/// A row of `statistics.json`. Units are ms, percent, 1/s and KiB/s. Values are not finite where JMeter's are not.
#[derive(Clone, Debug, PartialEq)]
pub struct StatisticsRow {
    /// True if the row is a transaction according to its first sample.
    pub controller: bool,
    pub transaction: String,
    pub samples: i64,
    pub errors: i64,
    /// Percentage of errors, in single precision as in JMeter.
    pub error_percent: f32,
    pub mean: f64,
    pub median: f64,
    pub min: f64,
    pub max: f64,
    pub percentiles: [f64; 3],
    pub throughput: f64,
    pub received_kb: f64,
    pub sent_kb: f64,
}

/// A number that is serialized as the Java library Jackson does: a string if it is not finite.
struct Number(f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            number if number.is_finite() => to.serialize_f64(number),
            number if number.is_nan() => to.serialize_str("NaN"),
            number if number > 0.0 => to.serialize_str("Infinity"),
            _ => to.serialize_str("-Infinity"),
        }
    }
}

impl Serialize for StatisticsRow {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(14))?;
        map.serialize_entry("transaction", &self.transaction)?;
        map.serialize_entry("sampleCount", &self.samples)?;
        map.serialize_entry("errorCount", &self.errors)?;
        if self.error_percent.is_finite() {
            map.serialize_entry("errorPct", &self.error_percent)?;
        } else {
            map.serialize_entry("errorPct", &Number(self.error_percent.into()))?;
        }
        let numbers = [
            ("meanResTime", self.mean),
            ("medianResTime", self.median),
            ("minResTime", self.min),
            ("maxResTime", self.max),
            ("pct1ResTime", self.percentiles[0]),
            ("pct2ResTime", self.percentiles[1]),
            ("pct3ResTime", self.percentiles[2]),
            ("throughput", self.throughput),
            ("receivedKBytesPerSec", self.received_kb),
            ("sentKBytesPerSec", self.sent_kb),
        ];
        for (name, number) in numbers {
            map.serialize_entry(name, &Number(number))?;
        }
        map.end()
    }
}

/// All rows of `statistics.json`.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistics {
    pub total: StatisticsRow,
    /// Rows of the labels, in the order of their first rows.
    pub labels: Vec<StatisticsRow>,
    /// True for each label that JMeter's page shows in its table.
    pub shown: Vec<bool>,
}

impl Serialize for Statistics {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        // As in JMeter, a label with the name `Total` replaces the row for all labels.
        if !self.labels.iter().any(|row| row.transaction == TOTAL) {
            map.serialize_entry(TOTAL, &self.total)?;
        }
        for row in &self.labels {
            map.serialize_entry(&row.transaction, row)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::Window;

    #[test]
    fn a_window_holds_the_last_values() {
        let mut window = Window::default();
        for value in 0..8 {
            window.push(value, Some(3));
        }
        let mut values = window.values;
        values.sort_unstable();
        assert_eq!(values, [5, 6, 7]);
    }
}
