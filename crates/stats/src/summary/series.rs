//! The summary's lines on numbers that the plan extracted from responses.

use serde::Serialize;

use super::digits;
use crate::grouped::{count, things};
use crate::number::Number;

/// Statistics of one series over the run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SeriesLine {
    pub name: String,
    /// The source of the values as the user specified it: a variable, `header:NAME` or `timing:METRIC`.
    pub source: String,
    /// Number of values that are numbers.
    pub values: u64,
    /// Number of values that are not numbers.
    pub no_numbers: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
}

impl SeriesLine {
    pub fn new(name: &str, source: &str, number: &Number) -> Self {
        let known = |value: f64| (number.count > 0).then_some(value);
        Self {
            name: name.to_owned(),
            source: source.to_owned(),
            values: number.count,
            no_numbers: number.odd,
            mean: number.mean(),
            min: known(number.least),
            max: known(number.most),
        }
    }

    /// Returns a message if the series has no number, with the likely reason; otherwise `None`.
    pub fn missing(&self) -> Option<String> {
        let Self { name, source, .. } = self;
        match (self.values, self.no_numbers) {
            (0, 0) => Some(format!(
                "series {name} has no value: no response had {source}; check the name and the extractor"
            )),
            (0, 1) => {
                Some(format!("series {name} has no number: the value of {source} is not a number"))
            }
            (0, odd) => Some(format!(
                "series {name} has no number: none of the {odd} values of {source} is a number"
            )),
            _ => None,
        }
    }

    pub(super) fn text(&self) -> String {
        let all = self.values + self.no_numbers;
        let of = match (self.values, self.no_numbers) {
            (0, _) => {
                let words = self.missing().unwrap_or_default();
                let words = words.strip_prefix("series ").unwrap_or(&words);
                return format!("Series          {words}\n");
            }
            (_, 0) => things(all, "value"),
            (_, 1) => format!("1 of {} was not a number", things(all, "value")),
            (_, odd) => format!("{} of {} were not numbers", count(odd), things(all, "value")),
        };
        let [mean, min, max] =
            [self.mean, self.min, self.max].map(|value| shown(value.unwrap_or(0.0)));
        format!("Series          {}: mean {mean}, min {min}, max {max} ({of})\n", self.name)
    }
}

/// Formats a value with three significant digits, but without trailing decimals for whole numbers.
fn shown(value: f64) -> String {
    if value < 0.0 {
        return format!("-{}", shown(-value));
    }
    if value.fract() == 0.0 && value < 1e15 {
        return count(value as u64);
    }
    if value >= 1000.0 { count(value.round() as u64) } else { digits(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_without_numbers_says_so() {
        let line = |values: &[Option<f64>]| {
            let mut number = Number::default();
            for value in values {
                number.add(*value);
            }
            SeriesLine::new("load", "loadNow", &number)
        };
        let text = line(&[Some(1.0), Some(190.0), Some(2.5), None]).text();
        assert_eq!(
            text,
            "Series          load: mean 64.5, min 1, max 190 (1 of 4 values was not a number)\n"
        );
        assert!(
            line(&[]).text().contains("Series          load has no value: no response had loadNow")
        );
        assert!(
            line(&[None]).text().contains(
                "Series          load has no number: the value of loadNow is not a number"
            )
        );
        assert_eq!(line(&[Some(1.0)]).missing(), None);
    }
}
