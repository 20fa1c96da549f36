//! Compares the series of two sides: numbers from responses. Series are matched by name and compared by the mean of
//! their values.
//!
//! For two single runs, the means of the steady seconds form a time series. Its effective sample size depends on
//! its autocorrelation ([`crate::autocorrelation::effective`]). The interval of the ratio comes from the delta
//! method with Welch's degrees of freedom. For repeated runs, each run is one unit.

use record::{Record, Second};
use stats::Number;

use super::{Difference, LEAST_STEADY, Row, SERIES, Spread, unjudged, welch_df};
use crate::autocorrelation::effective;
use crate::distribution::{student_quantile, student_two_sided};
use crate::repeats::{ratio, welch};
use crate::series::{mean, variance};
use crate::steady::{Steady, steady};

/// Smallest effective sample size for an interval.
const LEAST_WORTH: f64 = 5.0;

/// A series on one side.
struct Side {
    mean: f64,
    count: u64,
    /// Standard error relative to the mean, and its degrees of freedom; `None` if the run is too short.
    error: Option<(f64, f64)>,
}

/// Returns the rows of two single runs.
pub(super) fn compared(a: &Record, of_a: &Steady, b: &Record, of_b: &Steady) -> Vec<Row> {
    let row = |(name, in_a, in_b): (&str, u32, u32)| {
        let (a, b) = (side(of_a.seconds(a), in_a)?, side(of_b.seconds(b), in_b)?);
        let mut difference = plain(a.mean, b.mean);
        let errors = a.error.zip(b.error).filter(|_| difference.change.is_finite());
        if let Some(((of_a, df_a), (of_b, df_b))) = errors {
            let error = (1.0 + difference.change) * of_a.hypot(of_b);
            let df = welch_df(
                Spread { variance: of_a * of_a, df: df_a },
                Spread { variance: of_b * of_b, df: df_b },
            );
            let wide = student_quantile(0.975, df) * error;
            difference.interval = Some((difference.change - wide, difference.change + wide));
            difference.p = Some(match difference.change {
                0.0 => 1.0,
                _ if error == 0.0 => 0.0,
                change => student_two_sided(change / error, df),
            });
        }
        Some(of(name, (a.count, b.count), difference))
    };
    common(a, b).filter_map(row).collect()
}

/// Returns the rows of repeated runs: series that all runs have.
pub(super) fn repeated(a: &[Record], b: &[Record]) -> Vec<Row> {
    let (Some(first), Some(other)) = (a.first(), b.first()) else { return Vec::new() };
    let sides = |runs: &[Record], name: &str| -> Option<(Vec<f64>, u64)> {
        let each = runs.iter().map(|run| {
            let at = run.frame.series().position(|(other, _)| other == name)?;
            side(steady(run).seconds(run), at as u32)
        });
        let each = each.collect::<Option<Vec<Side>>>()?;
        let count = each.iter().map(|side| side.count).sum();
        Some((each.iter().map(|side| side.mean).collect(), count))
    };
    let row = |(name, _, _): (&str, u32, u32)| {
        let ((of_a, count_a), (of_b, count_b)) = (sides(a, name)?, sides(b, name)?);
        let mut difference = plain(mean(&of_a), mean(&of_b));
        if of_a.len() > 1 && of_b.len() > 1 && difference.change.is_finite() {
            difference.p = Some(welch(&of_a, &of_b).p);
            difference.interval = ratio(&of_a, &of_b).map(|(low, high)| (low - 1.0, high - 1.0));
        }
        Some(of(name, (count_a, count_b), difference))
    };
    common(first, other).filter_map(row).collect()
}

/// Iterates over the names of series that both records have, with their numbers in each.
fn common<'r>(a: &'r Record, b: &'r Record) -> impl Iterator<Item = (&'r str, u32, u32)> {
    (0u32..).zip(a.frame.series()).filter_map(|(in_a, (name, _))| {
        let in_b = b.frame.series().position(|(other, _)| other == name)?;
        Some((name, in_a, in_b as u32))
    })
}

/// Summarises a series over the given seconds; `None` without a value.
fn side(seconds: &[Second], place: u32) -> Option<Side> {
    let number = |second: &Second| {
        second.numbers.iter().find(|(at, _)| *at == place).map(|(_, number)| *number)
    };
    let numbers: Vec<Number> = seconds.iter().filter_map(number).collect();
    let (count, sum) = numbers.iter().fold((0, 0.0), |(n, sum), of| (n + of.count, sum + of.sum));
    if count == 0 {
        return None;
    }
    let whole = sum / count as f64;
    let means: Vec<f64> = numbers.iter().filter_map(Number::mean).collect();
    let length: f64 = seconds.iter().map(|second| f64::from(second.ms) / 1000.0).sum();
    let worth = effective(&means);
    let is_enough = length + 0.5 >= LEAST_STEADY && worth >= LEAST_WORTH && means.len() > 1;
    let error = is_enough.then(|| {
        ((variance(&means) / worth).sqrt() / whole.abs().max(f64::MIN_POSITIVE), worth - 1.0)
    });
    Some(Side { mean: whole, count, error })
}

/// Returns the difference of two means. A change from 0, or across 0, has no relative size.
fn plain(a: f64, b: f64) -> Difference {
    let is_share = a != 0.0 && (a > 0.0) == (b > 0.0);
    let change = match (a == b, is_share) {
        (true, _) => 0.0,
        (false, true) => b / a - 1.0,
        (false, false) => f64::NAN,
    };
    unjudged(SERIES, a, b, change)
}

fn of(name: &str, samples: (u64, u64), difference: Difference) -> Row {
    Row::of(name.to_owned(), false, samples, vec![difference], None)
}
