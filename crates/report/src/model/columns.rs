//! Columns of a timeline: the values of one metric at each instant, stored as integers times a scale.

use answers::verdict::Words;
use serde::Serialize;

/// A metric over time. Each of `values`, multiplied by `scale`, is the value of the metric in its unit.
#[derive(Debug, Serialize)]
pub struct Column {
    pub id: String,
    pub name: Words,
    pub unit: &'static str,
    pub scale: f64,
    pub values: Vec<Option<i64>>,
    /// Index of the label among the labels of the page; `None` if the column is not about a label.
    pub label: Option<usize>,
}

impl Column {
    /// Builds a column that keeps three to four significant digits of the largest value. That suffices for a chart
    /// and compresses well.
    pub fn new(
        id: impl Into<String>,
        name: Words,
        unit: &'static str,
        values: &[Option<f64>],
    ) -> Self {
        let most = values.iter().flatten().fold(0.0f64, |most, value| most.max(value.abs()));
        let scale = if most == 0.0 || !most.is_finite() { 1.0 } else { step(most) };
        let whole = |value: &Option<f64>| {
            value.filter(|value| value.is_finite()).map(|value| (value / scale).round() as i64)
        };
        let values = values.iter().map(whole).collect();
        Self { id: id.into(), name, unit, scale, values, label: None }
    }

    pub fn of_label(mut self, label: usize) -> Self {
        self.label = Some(label);
        self
    }

    /// Returns the known values of the column with their indices.
    pub fn figures(&self) -> impl DoubleEndedIterator<Item = (usize, f64)> + '_ {
        let known =
            |(i, value): (usize, &Option<i64>)| value.map(|value| (i, value as f64 * self.scale));
        self.values.iter().enumerate().filter_map(known)
    }

    /// Returns true if a value of the column is not 0.
    pub fn says_something(&self) -> bool {
        self.values.iter().flatten().any(|value| *value != 0)
    }
}

/// Returns the scale of a column: a power of ten with which the largest stored integer is some thousands. Powers of
/// ten below one are exact as decimal text.
fn step(most: f64) -> f64 {
    let power = most.log10().floor() as i32 - 3;
    if power >= 0 && most < 1e7 { 1.0 } else { 10f64.powi(power) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::words;

    #[test]
    fn values_keep_four_digits() {
        for (most, near) in [(0.5, 0.000_05), (98_765.0, 0.5), (3.3e9, 5e5), (7.0, 0.0005)] {
            let column =
                Column::new("a", words("", ""), "us", &[Some(most), None, Some(most / 3.0)]);
            let figures: Vec<(usize, f64)> = column.figures().collect();
            assert_eq!(figures[0].0, 0);
            assert!((figures[0].1 - most).abs() <= near, "{most}: {}", figures[0].1);
            assert!((figures[1].1 - most / 3.0).abs() <= near && figures[1].0 == 2);
        }
    }

    #[test]
    fn what_is_no_number_is_none() {
        let column = Column::new("a", words("", ""), "us", &[Some(f64::NAN), Some(0.0)]);
        assert_eq!(column.values, [None, Some(0)]);
        assert!(!column.says_something());
    }
}
