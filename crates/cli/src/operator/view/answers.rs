//! Metrics about the answers of a running test: the share of assertions that passed, and the series.

use record::{Frame, Label, Second};
use stats::grouped::cut_percent;
use stats::{Checks, Number};

use super::text::count;

/// Assertion results and series so far.
#[derive(Debug, Default)]
pub(super) struct Answers {
    checks: Checks,
    series: Vec<OfSeries>,
}

#[derive(Debug)]
struct OfSeries {
    name: String,
    /// Mean of the last second that had a value.
    now: Option<f64>,
    /// Values of the whole run so far.
    all: Number,
}

/// A line of the display: true if it reports a problem, its name, and its text.
pub(super) type Said = (bool, &'static str, String);

impl Answers {
    pub(super) fn set_frame(&mut self, frame: &Frame) {
        if self.series.is_empty() {
            let one = |(name, _): (&str, &str)| OfSeries {
                name: name.to_owned(),
                now: None,
                all: Number::default(),
            };
            self.series = frame.series().map(one).collect();
        }
    }

    pub(super) fn add(&mut self, second: &Second, labels: &[Label]) {
        self.checks.merge(&second.checks_of(None, labels));
        for (at, number) in &second.numbers {
            if let Some(series) = self.series.get_mut(*at as usize) {
                series.all.merge(number);
                series.now = number.mean().or(series.now);
            }
        }
    }

    /// Returns the lines for assertions and for as many series as there is room for.
    pub(super) fn said(&self) -> Vec<Said> {
        let checks = self.checks.percent().map(|percent| {
            let (bad, of) = (self.checks.unexpected > 0, count(self.checks.checked));
            (bad, "answers", format!("{} of {of} checked as expected", cut_percent(percent)))
        });
        let series = self.series.iter().map(|series| {
            let OfSeries { name, now, all } = series;
            let words = match now {
                Some(now) => {
                    let [now, least, most] = [*now, all.least, all.most].map(short);
                    format!("{name} {now} now, {least} to {most} so far")
                }
                None if all.odd > 0 => format!("{name}: no value is a number"),
                None => format!("{name}: no value yet"),
            };
            (false, "series", words)
        });
        checks.into_iter().chain(series).collect()
    }
}

/// Formats a number with as many decimals as are useful for its size.
fn short(value: f64) -> String {
    let decimals = match value.abs() {
        _ if value.fract() == 0.0 => 0,
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 0.1 => 2,
        _ => 4,
    };
    format!("{value:.decimals$}")
}
