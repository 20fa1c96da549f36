//! Common names for metrics that each exporter names differently.
//!
//! A row of a table describes how to compute a metric from an exporter's samples. If several rows compute the same
//! metric, the first row whose samples the exporter sends is used. Counters become rates between two readings; a
//! counter that was reset yields no value.

mod network;
mod promql;
mod tables;

use record::Unit;

use crate::exposition::Sample;

pub use promql::promql;
pub(crate) use tables::{PROCESS, TABLES};

/// The sum of all samples with this name and matching labels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Term {
    /// Name of the samples. `*` matches any text, because some exporters put the name of an object into the metric's
    /// name.
    pub(crate) name: &'static str,
    /// Required labels. A value is a list of alternatives, separated by `|`.
    pub(crate) with: &'static [(&'static str, &'static str)],
    /// Excluded labels, in the same notation.
    pub(crate) without: &'static [(&'static str, &'static str)],
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum How {
    /// Sum of the current values of all terms.
    Now(&'static [Term]),
    /// Growth per second of the sum of all terms.
    Rate(&'static [Term]),
    /// First term divided by the second, both current values.
    Share(Term, Term),
    /// (second − first) / second, both current values.
    Rest(Term, Term),
    /// (second − first) / second, from the growth of both terms.
    RestOfRates(Term, Term),
    /// Growth of the first term divided by the growth of the second.
    ShareOfRates(Term, Term),
    /// Growth of the first term minus the growth of the second.
    Lost(Term, Term),
    /// Number of integers from the first term to the second, both included.
    Span(Term, Term),
    /// Growth per second of a time in nanoseconds, converted to seconds.
    RateOfNanoseconds(&'static [Term]),
    /// Product of the current values of two metrics.
    Product(Term, Term),
    /// Mean of all samples in percent, converted to a share of 1.
    MeanPercent(&'static [Term]),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) metric: &'static str,
    pub(crate) unit: Unit,
    pub(crate) how: How,
}

impl Term {
    fn fits(&self, sample: &Sample<'_>) -> bool {
        let is = |(name, values): &(&str, &str)| {
            sample.labels.get(name).is_some_and(|value| values.split('|').any(|one| one == value))
        };
        self.names(sample.name) && self.with.iter().all(is) && !self.without.iter().any(is)
    }
}

impl Term {
    fn names(&self, name: &str) -> bool {
        match self.name.split_once('*') {
            None => name == self.name,
            Some((begin, end)) => name.strip_prefix(begin).is_some_and(|rest| rest.ends_with(end)),
        }
    }
}

impl Row {
    /// Returns the terms of the row: the terms to be summed, or the first and the second term.
    pub(crate) fn terms(&self) -> [&[Term]; 2] {
        match &self.how {
            How::Now(terms)
            | How::Rate(terms)
            | How::RateOfNanoseconds(terms)
            | How::MeanPercent(terms) => [terms, &[]],
            How::Share(part, whole)
            | How::Rest(part, whole)
            | How::RestOfRates(part, whole)
            | How::ShareOfRates(part, whole)
            | How::Lost(part, whole)
            | How::Span(part, whole)
            | How::Product(part, whole) => {
                [std::slice::from_ref(part), std::slice::from_ref(whole)]
            }
        }
    }

    /// Computes the metric of the row from the current sums and, for rates, the sums of the last reading, `seconds`
    /// ago.
    pub(crate) fn figure(&self, now: &Sums, before: Option<(&Sums, f64)>) -> Option<f64> {
        let [first, second] = now.sums;
        let growth = |index: usize| {
            let (before, seconds) = before.filter(|(_, seconds)| *seconds > 0.0)?;
            let grown = now.sums[index]? - before.sums[index]?;
            (grown >= 0.0).then_some((grown, grown / seconds))
        };
        let value = match self.how {
            How::Now(_) => first?,
            How::Rate(_) => growth(0)?.1,
            How::RateOfNanoseconds(_) => growth(0)?.1 / 1e9,
            How::Product(..) => first? * second?,
            How::MeanPercent(_) => first? / f64::from(now.samples) / 100.0,
            How::Share(..) => first? / second.filter(|whole| *whole > 0.0)?,
            How::Rest(..) => 1.0 - first? / second.filter(|whole| *whole > 0.0)?,
            How::RestOfRates(..) => 1.0 - growth(0)?.0 / growth(1).filter(|whole| whole.0 > 0.0)?.0,
            How::ShareOfRates(..) => growth(0)?.0 / growth(1).filter(|whole| whole.0 > 0.0)?.0,
            How::Lost(..) => (growth(0)?.1 - growth(1)?.1).max(0.0),
            How::Span(..) => Some(second? - first? + 1.0).filter(|count| *count > 0.0)?,
        };
        value.is_finite().then_some(value)
    }
}

/// Sums of the samples for each of a row's two groups of terms ([`Row::terms`]); `None` without samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Sums {
    sums: [Option<f64>; 2],
    /// Number of samples in the first of the two sums.
    samples: u32,
}

impl Sums {
    pub(crate) fn add(&mut self, row: &Row, sample: &Sample<'_>) {
        for (at, terms) in row.terms().into_iter().enumerate() {
            // Micrometer reports -1 for a maximum that does not exist.
            let counts = sample.value.is_finite() && sample.value >= 0.0;
            if counts && terms.iter().any(|term| term.fits(sample)) {
                self.sums[at] = Some(self.sums[at].unwrap_or(0.0) + sample.value);
                self.samples += u32::from(at == 0);
            }
        }
    }
}
