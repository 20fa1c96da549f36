//! Common names for what exporters call each in its own way.
//!
//! A row of a table says how a figure comes from samples; of several rows for the same name the first that finds
//! its samples counts. Counters become rates between two readings; one that was set back gives nothing.

mod network;
mod promql;
mod tables;

use record::Unit;

use crate::exposition::Sample;

pub use promql::promql;
pub(crate) use tables::{PROCESS, TABLES};

/// Samples of a name whose labels fit, added up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Term {
    /// A star in it stands for any text: some exporters put the name of an object there.
    pub(crate) name: &'static str,
    /// Labels that must have one of these values, separated by `|`.
    pub(crate) with: &'static [(&'static str, &'static str)],
    /// Labels that must not.
    pub(crate) without: &'static [(&'static str, &'static str)],
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum How {
    /// As it is.
    Now(&'static [Term]),
    /// Its growth in a second.
    Rate(&'static [Term]),
    /// The first of the second, both as they are.
    Share(Term, Term),
    /// The second without the first, as a share of the second.
    Rest(Term, Term),
    /// The same of their growths.
    RestOfRates(Term, Term),
    /// The growth of the first as a share of that of the second.
    ShareOfRates(Term, Term),
    /// The growth of the first that is not in that of the second.
    Lost(Term, Term),
    /// Whole numbers from the first to the second, both included.
    Span(Term, Term),
    /// Growth in a second of a time in nanoseconds, in seconds.
    RateOfNanoseconds(&'static [Term]),
    /// The product of both as they are.
    Product(Term, Term),
    /// The mean of all samples, in percent, as a share.
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
    /// The terms that are read, at most two groups of them.
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

    /// The figure from sums of the terms now and at the last reading, `seconds` ago.
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

/// The sums of the terms of a row, where samples were found.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Sums {
    sums: [Option<f64>; 2],
    /// Number of samples in the first sum.
    samples: u32,
}

impl Sums {
    pub(crate) fn add(&mut self, row: &Row, sample: &Sample<'_>) {
        for (at, terms) in row.terms().into_iter().enumerate() {
            // A maximum that is not there is given as -1, by micrometer.
            let counts = sample.value.is_finite() && sample.value >= 0.0;
            if counts && terms.iter().any(|term| term.fits(sample)) {
                self.sums[at] = Some(self.sums[at].unwrap_or(0.0) + sample.value);
                self.samples += u32::from(at == 0);
            }
        }
    }
}
