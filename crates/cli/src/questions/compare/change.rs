//! Changes that fail a comparison: `p95 > +5%`, `rate < -3%`, `error% > +0.1%`.
//!
//! A change counts if it is beyond chance and as large as that: the estimate is past the limit, and the interval does
//! not contain 0. Of errors the limit is in points.

use answers::compare::{Comparison, Difference, Outcome};
use answers::criterion::{Criterion, Figure, Limit, Op, Stat};
use record::Record;
use serde::Serialize;

/// The changes that were named.
#[derive(Debug, Default)]
pub(super) struct FailIf(Vec<Criterion>);

/// A change that was asked about.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Judged {
    pub(super) change: String,
    /// Empty of all requests.
    pub(super) label: String,
    pub(super) found: Option<f64>,
    /// It is there beyond chance.
    pub(super) is_there: bool,
    /// There is no interval, or no such figure.
    pub(super) unknown: bool,
}

impl FailIf {
    /// Reads them. The error is a sentence for the user.
    pub(super) fn read(texts: &[String]) -> Result<Self, String> {
        let read = texts.iter().map(|text| {
            let criterion = Criterion::parse_any(text)
                .map_err(|why| format!("{why}; a change is written like 'p95 > +5%'"))?;
            if !matches!(criterion.limit, Limit::Relative(_)) {
                return Err(format!(
                    "{text:?} is no change: write it with a sign, like 'p95 > +5%'"
                ));
            }
            if metric(&criterion).is_none() {
                return Err(format!(
                    "{text:?}: compared are rate, error%, mean, p50, p90, p95, p99 and p99.9"
                ));
            }
            if !matches!(criterion.op, Op::More | Op::AtLeast | Op::Less | Op::AtMost) {
                return Err(format!("{text:?}: a change is more or less than something"));
            }
            Ok(criterion)
        });
        Ok(Self(read.collect::<Result<_, _>>()?))
    }

    /// A label that is named and that none of these records has.
    pub(super) fn unknown_label<'r>(
        &self,
        records: impl Iterator<Item = &'r Record> + Clone,
    ) -> Option<&str> {
        let is_there =
            |name: &str| records.clone().any(|r| r.labels.iter().any(|label| *label.name == *name));
        self.0.iter().filter_map(|one| one.label.as_deref()).find(|name| !is_there(name))
    }

    pub(super) fn judge(&self, comparison: &Comparison) -> Vec<Judged> {
        self.0.iter().map(|criterion| judge(criterion, comparison)).collect()
    }
}

fn judge(criterion: &Criterion, comparison: &Comparison) -> Judged {
    let label = criterion.label.clone().unwrap_or_default();
    let row = if label.is_empty() {
        Some(&comparison.all)
    } else {
        comparison.labels.iter().find(|row| row.label == label)
    };
    let name = metric(criterion);
    let difference = row.and_then(|row| row.differences.iter().find(|d| Some(d.metric) == name));
    Judged {
        change: criterion.to_string(),
        label,
        found: difference.map(|difference| difference.change),
        is_there: difference.is_some_and(|difference| is_there(criterion, difference)),
        unknown: difference.is_none_or(|difference| difference.result == Outcome::Unknown),
    }
}

fn is_there(criterion: &Criterion, difference: &Difference) -> bool {
    let Limit::Relative(percent) = criterion.limit else { return false };
    let beyond_chance = difference.interval.is_some_and(|(low, high)| low > 0.0 || high < 0.0);
    beyond_chance && criterion.op.holds(difference.change, percent / 100.0)
}

/// The name of the figure in a comparison.
fn metric(criterion: &Criterion) -> Option<&'static str> {
    match criterion.figure {
        Figure::Rate => Some("rate"),
        Figure::ErrorShare => Some("error%"),
        Figure::Time(_, Stat::Mean) => Some("mean"),
        Figure::Time(_, Stat::Percentile(percent)) => {
            let known =
                [(50.0, "p50"), (90.0, "p90"), (95.0, "p95"), (99.0, "p99"), (99.9, "p99.9")];
            known.iter().find(|(p, _)| *p == percent).map(|(_, name)| *name)
        }
        Figure::Time(_, Stat::Max) | Figure::Count | Figure::Errors => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_have_a_sign_and_a_figure_that_is_compared() {
        let read = |text: &str| FailIf::read(&[text.to_owned()]);
        for good in ["p95 > +5%", "rate < -3%", "error% > +0.1%", "mean >= +2% for label Login"] {
            assert!(read(good).is_ok(), "{good}");
        }
        for (bad, words) in [
            ("p95 > 5s", "is no change"),
            ("max > +5%", "compared are"),
            ("p95 > +5", "a change is written like 'p95 > +5%'"),
            ("p95 = +5%", "more or less"),
        ] {
            assert!(read(bad).unwrap_err().contains(words), "{bad}");
        }
    }
}
