//! Families of metrics: a name, a unit and series with labels. They are the input of all encoders but InfluxDB's.
//!
//! Names follow the rules of Prometheus: base units, the unit in the name, `_total` at the end of counters.

/// A metric with all of its series.
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    pub name: &'static str,
    pub help: &'static str,
    pub kind: Kind,
    /// The unit in OpenTelemetry's notation: `s`, `By`, `{sample}`.
    pub unit: &'static str,
    pub series: Vec<Series>,
}

/// The kind of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A sum since the start of the run.
    Counter,
    Gauge,
    /// Numbers of values per bucket since the start of the run.
    Histogram,
}

/// A value with its labels.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    pub labels: Vec<(&'static str, String)>,
    pub value: Value,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Number(f64),
    Buckets(Box<Buckets>),
}

/// Upper bounds of the buckets of time histograms in seconds.
pub const BOUNDS: [f64; 16] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0,
];

/// Numbers of times per bucket of [`BOUNDS`]; the last bucket has no upper bound.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Buckets {
    /// Number of times in each bucket alone, not cumulative.
    pub counts: [u64; BOUNDS.len() + 1],
    /// Sum of all times in seconds.
    pub sum: f64,
}

impl Buckets {
    /// Counts `n` times of `seconds` each in their bucket. The caller adds the times to `sum`.
    pub fn add(&mut self, seconds: f64, n: u64) {
        let at = BOUNDS.partition_point(|bound| *bound < seconds);
        self.counts[at] = self.counts[at].saturating_add(n);
    }

    pub fn count(&self) -> u64 {
        self.counts.iter().fold(0, |sum, n| sum.saturating_add(*n))
    }

    /// Returns each upper bound with the number of times up to it; the last bound is infinite.
    pub fn cumulative(&self) -> impl Iterator<Item = (f64, u64)> + '_ {
        let bounds = BOUNDS.iter().copied().chain([f64::INFINITY]);
        bounds.zip(&self.counts).scan(0u64, |sum, (bound, n)| {
            *sum = sum.saturating_add(*n);
            Some((bound, *sum))
        })
    }
}

/// Formats a number as both text formats of Prometheus require.
pub fn number(value: f64) -> String {
    if value == f64::INFINITY {
        "+Inf".into()
    } else if value == f64::NEG_INFINITY {
        "-Inf".into()
    } else {
        format!("{value}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_at_a_bound_is_in_its_bucket() {
        let mut buckets = Buckets::default();
        for (seconds, n) in [(0.0, 1), (0.001, 2), (0.0011, 4), (120.0, 8), (121.0, 16)] {
            buckets.add(seconds, n);
        }
        assert_eq!((buckets.counts[0], buckets.counts[1], buckets.counts[15]), (3, 4, 8));
        let last: Vec<_> = buckets.cumulative().skip(15).collect();
        assert_eq!(last, [(120.0, 15), (f64::INFINITY, 31)]);
        assert_eq!(
            (buckets.count(), number(0.0025), number(f64::INFINITY)),
            (31, "0.0025".into(), "+Inf".into())
        );
    }
}
