//! A comparison of two sweeps: the judged time of both sides over the load, with the limit that criteria set.

use answers::compare::Comparison;
use answers::criterion::{Criterion, Figure, Limit, Stat};
use answers::verdict::Words;
use serde::Serialize;

use super::comparison::Compared;
use crate::captions;

/// Times of both sides at each load of two sweeps, for the statistic that criteria judge, such as p95.
#[derive(Debug, Serialize)]
pub struct Loads {
    /// Name of the compared statistic, such as p95.
    pub name: Words,
    pub at: Vec<AtLoad>,
    /// Largest change of side B relative to A that a criterion allows; `None` without such a criterion.
    pub limit: Option<f64>,
    #[serde(skip)]
    metric: String,
}

/// The times at one load, µs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AtLoad {
    pub load: f64,
    pub a_us: f64,
    pub b_us: f64,
}

impl Loads {
    /// Finds the statistic of times that the criteria judge: p95 if they judge none. Returns `None` for two runs, which
    /// have no loads.
    pub(super) fn new(points: &[Compared<'_>]) -> Option<Self> {
        let comparison = points.iter().find_map(|point| point.comparison)?;
        points.iter().find(|point| point.at.is_some())?;
        let texts = points.iter().filter_map(|point| Some((point.at?, point.criteria)));
        let texts = texts.flat_map(|(at, criteria)| {
            let of_all = criteria.iter().filter(|one| one.of.is_none());
            // The text of a criterion begins with its load.
            of_all.filter_map(move |one| one.text.strip_prefix(at)?.strip_prefix(": "))
        });
        let judged = { texts }.find_map(judged);
        let (metric, limit) =
            judged.map_or_else(|| ("p95".to_owned(), None), |(m, l)| (m, Some(l)));
        let name = match &*metric {
            "mean" => captions::mean(comparison.times),
            percentile => captions::timed(comparison.times, percentile),
        };
        let mut loads = Self { name, at: Vec::new(), limit, metric };
        loads.at = points.iter().filter_map(|point| loads.at_load(point)).collect();
        (loads.at.len() > 1).then_some(loads)
    }

    fn at_load(&self, point: &Compared<'_>) -> Option<AtLoad> {
        let load = point.at?.split_whitespace().next()?.parse().ok()?;
        let found = of(point.comparison?, &self.metric)?;
        Some(AtLoad { load, a_us: found.0 * 1000.0, b_us: found.1 * 1000.0 })
    }
}

fn of(comparison: &Comparison, metric: &str) -> Option<(f64, f64)> {
    let mut differences = comparison.all.differences.iter();
    differences.find(|one| one.metric == metric).map(|one| (one.a, one.b))
}

/// Returns the metric of a criterion on the change of a time of all requests, and the change that it allows.
fn judged(text: &str) -> Option<(String, f64)> {
    let criterion = Criterion::parse_any(text).ok()?;
    let (Figure::Time(_, stat), Limit::Relative(percent), None) =
        (criterion.figure, criterion.limit, criterion.label)
    else {
        return None;
    };
    let metric = match stat {
        Stat::Mean => "mean".to_owned(),
        Stat::Percentile(percent) => format!("p{percent}"),
        Stat::Max => return None,
    };
    Some((metric, percent / 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_that_of_a_criterion_on_the_change_of_a_time() {
        assert_eq!(judged("p99 > +5%"), Some(("p99".to_owned(), 0.05)));
        assert_eq!(judged("mean > +10%"), Some(("mean".to_owned(), 0.1)));
        for other in ["rate < -5%", "error% > +1%", "p95 < 200ms", "p95 > +5% for label Pay"] {
            assert_eq!(judged(other), None, "{other}");
        }
    }
}
