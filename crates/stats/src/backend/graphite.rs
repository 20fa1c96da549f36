//! Metrics for Graphite, as JMeter's GraphiteBackendListenerClient names them.

use std::fmt::Write as _;

use lang::java::double_to_string;

use super::metric::{Metrics, SamplerMetric, Taken, Windows, short};

/// JMeter's label for the total of all samples.
const TOTAL: &str = "__cumulated__";
/// Name under which the total of all samples is sent.
const ALL: &str = "all";

/// One metric: a name and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metric {
    pub name: String,
    pub value: String,
}

/// Collects the metrics of the current interval and writes their text.
#[derive(Debug)]
pub struct Graphite {
    prefix: String,
    /// Percentiles to send: for each, the part of a metric's name, and the percentage.
    percentiles: Vec<(String, f64)>,
    pub metrics: Metrics,
}

impl Graphite {
    pub fn new(prefix: &str, percentiles: &[f32], windows: Windows) -> Self {
        let mut named: Vec<(String, f64)> = Vec::new();
        for percent in percentiles {
            let name = clean(&short(*percent));
            named.retain(|other| other.0 != name);
            named.push((name, f64::from(*percent)));
        }
        Self { prefix: prefix.to_owned(), percentiles: named, metrics: Metrics::new(windows) }
    }

    /// Adds a sample. `label` is `Some` if metrics of the sample's label are sent separately.
    pub fn add(&mut self, label: Option<&str>, taken: &Taken) {
        self.metrics.add(TOTAL, label, taken);
    }

    /// Returns the metrics of the interval and starts the next interval.
    pub fn end_interval(&mut self) -> Vec<Metric> {
        let mut found = Vec::new();
        for (label, metric) in &self.metrics.samplers {
            let context = if label == TOTAL { ALL.to_owned() } else { clean(label) };
            self.sampler(&context, metric, &mut found);
        }
        let [min, max, mean] = self.metrics.active();
        let users = [
            ("minAT", min),
            ("maxAT", max),
            ("meanAT", mean),
            ("startedT", self.metrics.started.into()),
            ("endedT", self.metrics.finished.into()),
        ];
        found.extend(users.map(|(name, value)| self.metric("test", name, value.to_string())));
        self.metrics.end_interval();
        found
    }

    fn metric(&self, context: &str, name: &str, value: String) -> Metric {
        Metric { name: format!("{}{context}.{name}", self.prefix), value }
    }

    fn sampler(&self, context: &str, metric: &SamplerMetric, found: &mut Vec<Metric>) {
        if metric.total() == 0 {
            return;
        }
        for (name, value) in [
            ("ok.count", u64::from(metric.successes)),
            ("ko.count", metric.failures.into()),
            ("a.count", metric.total().into()),
            ("h.count", metric.hits.into()),
            ("sb.bytes", metric.sent),
            ("rb.bytes", metric.received),
        ] {
            found.push(self.metric(context, name, value.to_string()));
        }
        for (kind, count, window, recent) in [
            ("ok", metric.successes, &metric.ok, &metric.ok),
            ("ko", metric.failures, &metric.ko, &metric.ko),
            ("a", metric.total(), &metric.all, &metric.recent),
        ] {
            if count == 0 {
                continue;
            }
            for (name, value) in
                [("min", window.min()), ("max", window.max()), ("avg", window.mean())]
            {
                found.push(self.metric(
                    context,
                    &format!("{kind}.{name}"),
                    double_to_string(value),
                ));
            }
            for (name, percent) in &self.percentiles {
                let value = recent.percentile(*percent, self.metrics.windows.estimator);
                found.push(self.metric(
                    context,
                    &format!("{kind}.pct{name}"),
                    double_to_string(value),
                ));
            }
        }
    }
}

impl Metric {
    /// Appends the metric in Graphite's plain text format.
    pub fn line(&self, seconds: i64, out: &mut String) {
        let _ = writeln!(out, "{} {} {seconds}", self.name, self.value);
    }
}

/// Cleans a part of a name: spaces and backslashes become `-`, dots become `_`.
fn clean(text: &str) -> String {
    let replaced = |c| match c {
        '\\' | ' ' => '-',
        '.' => '_',
        other => other,
    };
    text.chars().map(replaced).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_jmeter() {
        let mut graphite = Graphite::new("jmeter.", &[90.0, 99.9], Windows::default());
        let taken = Taken {
            elapsed_ms: 4,
            success: true,
            count: 1,
            sent: 2,
            received: 3,
            hits: 1,
            active: 1,
            ..Taken::default()
        };
        graphite.add(Some("a b.c"), &taken);
        graphite.add(None, &Taken { of_parts: true, elapsed_ms: 8, ..taken.clone() });
        graphite.metrics.finished = 1;
        let mut out = String::new();
        for metric in graphite.end_interval() {
            metric.line(7, &mut out);
        }
        let of = |context: &str, count: u32, max: &str, mean: &str| {
            format!(
                "jmeter.{context}.ok.count {count} 7\njmeter.{context}.ko.count 0 7\njmeter.{context}.a.count {count} 7\n\
                 jmeter.{context}.h.count 1 7\njmeter.{context}.sb.bytes 2 7\njmeter.{context}.rb.bytes 3 7\n\
                 jmeter.{context}.ok.min 4.0 7\njmeter.{context}.ok.max {max} 7\njmeter.{context}.ok.avg {mean} 7\n\
                 jmeter.{context}.ok.pct90 {max} 7\njmeter.{context}.ok.pct99_9 {max} 7\n\
                 jmeter.{context}.a.min 4.0 7\njmeter.{context}.a.max {max} 7\njmeter.{context}.a.avg {mean} 7\n\
                 jmeter.{context}.a.pct90 {max} 7\njmeter.{context}.a.pct99_9 {max} 7\n"
            )
        };
        let users = "jmeter.test.minAT 1 7\njmeter.test.maxAT 1 7\njmeter.test.meanAT 1 7\n\
                     jmeter.test.startedT 0 7\njmeter.test.endedT 1 7\n";
        assert_eq!(out, of("all", 2, "8.0", "6.0") + &of("a-b_c", 1, "4.0", "4.0") + users);
    }
}
