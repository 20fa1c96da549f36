//! Totals of the run so far as families of metrics: by label, errors by code, users, the generator.
//!
//! Labels are limited by [`MOST_LABELS`] and codes by [`MOST_CODES`]; all further ones are counted under one name. So a
//! run has at most a few thousand series, whatever the names of its samplers.

use std::collections::HashMap;
use std::sync::Arc;

use record::{CauseName, Checked, Now, Part};
use stats::hist::{Bins, Hist, layout};
use stats::recorder::OTHER_LABELS;
use stats::snapshot_file;
use stats::{Counter, Number};

use crate::hub::Facts;
use crate::metrics::{Buckets, Family, Kind, Series, Value};

/// Maximum number of labels with their own series.
pub const MOST_LABELS: usize = 200;
/// Maximum number of pairs of outcome and response code with their own series.
pub const MOST_CODES: usize = 60;

/// A copy of one second of a run, with all measurements that are exported.
#[derive(Clone, Debug, Default)]
pub struct Tick {
    /// End of the second in ms since 1970.
    pub at_ms: i64,
    /// Measurements of all requests, without transactions.
    pub all: Part,
    /// For each label: name, true for a transaction, and measurements.
    pub labels: Vec<(Arc<str>, bool, Part)>,
    /// For each label: name, true for a transaction, and numbers of responses that assertions checked.
    pub checks: Vec<(Arc<str>, bool, Checked)>,
    /// Number of failures by cause.
    pub causes: Vec<(CauseName, u64)>,
    /// For each series of numbers extracted from responses: name, and values of this second.
    pub numbers: Vec<(Arc<str>, Number)>,
    pub line: snapshot_file::Second,
}

impl Tick {
    pub fn of(now: &Now<'_>) -> Self {
        let second = now.second;
        let labels = second.labels.iter().filter_map(|(number, part)| {
            let label = now.labels.get(number as usize)?;
            Some((Arc::clone(&label.name), label.transaction, part.into_owned()))
        });
        let checks = second.checks.iter().filter_map(|(number, checked)| {
            let label = now.labels.get(*number as usize)?;
            Some((Arc::clone(&label.name), label.transaction, *checked))
        });
        let causes = second.causes.iter().filter_map(|(number, count)| {
            Some((now.causes.get(*number as usize)?.clone(), *count))
        });
        let names: Vec<&str> = now.frame.series().map(|(name, _)| name).collect();
        let numbers = second
            .numbers
            .iter()
            .filter_map(|(at, number)| Some((Arc::from(*names.get(*at as usize)?), *number)));
        Self {
            at_ms: second.at_ms,
            numbers: numbers.collect(),
            all: second.all.clone(),
            labels: labels.collect(),
            checks: checks.collect(),
            causes: causes.collect(),
            line: now.line.clone(),
        }
    }
}

/// Totals of one label since the start of the run.
#[derive(Debug)]
struct OfLabel {
    name: Arc<str>,
    transaction: bool,
    count: u64,
    errors: u64,
    checked: Checked,
    sent: u64,
    received: u64,
    elapsed: Buckets,
}

/// Totals of the run.
#[derive(Debug)]
pub struct Sums {
    facts: Facts,
    labels: Vec<OfLabel>,
    places: HashMap<(Arc<str>, bool), usize>,
    codes: HashMap<(&'static str, Arc<str>), u64>,
    /// Response times of requests, from their intended start.
    response: Buckets,
    cpu_s: f64,
    opened: u64,
    reused: u64,
    missed: u64,
    dropped: u64,
    /// For each series of numbers extracted from responses: name, total of the run, and the last second that had a
    /// value.
    numbers: Vec<(Arc<str>, Number, Number)>,
    /// The last second.
    last: Tick,
}

impl Sums {
    pub fn new(facts: Facts) -> Self {
        Self {
            facts,
            labels: Vec::new(),
            places: HashMap::new(),
            codes: HashMap::new(),
            response: Buckets::default(),
            cpu_s: 0.0,
            opened: 0,
            reused: 0,
            missed: 0,
            dropped: 0,
            numbers: Vec::new(),
            last: Tick::default(),
        }
    }

    pub fn add(&mut self, tick: Tick) {
        for (name, transaction, part) in &tick.labels {
            let label = self.of(name, *transaction);
            label.count += part.count;
            label.errors += part.errors;
            label.sent += part.sent;
            label.received += part.received;
            add_times(&mut label.elapsed, &part.service);
            label.elapsed.sum += part.elapsed as f64 / 1e9;
        }
        for (name, transaction, checked) in &tick.checks {
            self.of(name, *transaction).checked.merge(checked);
        }
        for (cause, count) in &tick.causes {
            let mut key = (cause.outcome.as_str(), Arc::clone(&cause.code));
            if !self.codes.contains_key(&key) && self.codes.len() >= MOST_CODES {
                key = ("other", "".into());
            }
            *self.codes.entry(key).or_default() += count;
        }
        for (name, number) in tick.numbers.iter().filter(|(_, number)| number.count > 0) {
            if let Some((_, all, last)) = self.numbers.iter_mut().find(|one| one.0 == *name) {
                all.merge(number);
                *last = *number;
            } else {
                self.numbers.push((Arc::clone(name), *number, *number));
            }
        }
        add_times(&mut self.response, &tick.all.response);
        let mean = |bins: &Bins| -> f64 {
            bins.iter().map(|(bin, n)| layout::middle_of(bin) as f64 * n as f64).sum()
        };
        self.response.sum += mean(&tick.all.response) / 1e6;
        self.cpu_s += tick.line.cpu_s.max(0.0);
        let counters = &tick.line.counters;
        self.opened += counters.get(Counter::ConnOpened);
        self.reused += counters.get(Counter::ConnReused);
        self.missed += counters.get(Counter::StartsMissed);
        self.dropped += counters.get(Counter::RowsDropped);
        self.last = tick;
    }

    fn of(&mut self, name: &Arc<str>, transaction: bool) -> &mut OfLabel {
        let key = (Arc::clone(name), transaction);
        let place = match self.places.get(&key) {
            Some(place) => *place,
            None if self.labels.len() >= MOST_LABELS && **name != *OTHER_LABELS => {
                return self.of(&OTHER_LABELS.into(), transaction);
            }
            None => {
                self.labels.push(OfLabel {
                    name: Arc::clone(name),
                    transaction,
                    count: 0,
                    errors: 0,
                    checked: Checked::default(),
                    sent: 0,
                    received: 0,
                    elapsed: Buckets::default(),
                });
                self.places.insert(key, self.labels.len() - 1);
                self.labels.len() - 1
            }
        };
        &mut self.labels[place]
    }

    /// Returns all metrics of the run so far.
    pub fn families(&self) -> Vec<Family> {
        let mut all = self.of_run();
        all.extend(self.of_labels());
        all.extend(self.of_answers());
        all.extend(self.of_series());
        all.extend(self.of_requests());
        all.extend(self.of_users());
        all.extend(self.of_generator());
        all
    }

    fn of_run(&self) -> Vec<Family> {
        let Facts { plan, version, application, start_ms } = &self.facts;
        let info = vec![
            ("application", application.clone()),
            ("plan", plan.clone()),
            ("version", version.clone()),
        ];
        vec![
            gauge(
                "throng_run_info",
                "Information about the run, as labels; the value is always 1.",
                "1",
                vec![Series { labels: info, value: Value::Number(1.0) }],
            ),
            gauge(
                "throng_run_start_time_seconds",
                "Start of the run, seconds since the epoch.",
                "s",
                one(*start_ms as f64 / 1e3),
            ),
        ]
    }

    fn of_labels(&self) -> Vec<Family> {
        let mut samples = Vec::new();
        let (mut sent, mut received, mut elapsed) = (Vec::new(), Vec::new(), Vec::new());
        for label in &self.labels {
            let labels = label.labels();
            for (result, n) in
                [("ok", label.count - label.errors.min(label.count)), ("failed", label.errors)]
            {
                let mut labels = labels.clone();
                labels.push(("result", result.to_owned()));
                samples.push(Series { labels, value: Value::Number(n as f64) });
            }
            for (list, n) in [(&mut sent, label.sent), (&mut received, label.received)] {
                list.push(Series { labels: labels.clone(), value: Value::Number(n as f64) });
            }
            elapsed.push(Series { labels, value: Value::Buckets(Box::new(label.elapsed.clone())) });
        }
        vec![
            counter("throng_samples_total", "Finished samples.", "{sample}", samples),
            counter("throng_sent_bytes_total", "Bytes sent in requests.", "By", sent),
            counter("throng_received_bytes_total", "Bytes received in responses.", "By", received),
            Family {
                kind: Kind::Histogram,
                ..gauge(
                    "throng_sample_elapsed_seconds",
                    "Elapsed time of samples, from their actual start.",
                    "s",
                    elapsed,
                )
            },
        ]
    }

    /// Returns families with the numbers of failed requests and of responses that assertions checked. Empty for runs
    /// without assertions.
    fn of_answers(&self) -> Vec<Family> {
        let (mut failed, mut checked) = (Vec::new(), Vec::new());
        let mut add = |label: &OfLabel| {
            let checks = label.checked.checks(label.errors);
            for (result, n) in [("expected", checks.expected()), ("unexpected", checks.unexpected)]
            {
                let mut labels = label.labels();
                labels.push(("result", result.to_owned()));
                checked.push(Series { labels, value: Value::Number(n as f64) });
            }
            let value = Value::Number(checks.failed as f64);
            failed.push(Series { labels: label.labels(), value });
        };
        self.labels.iter().filter(|label| label.checked.checked > 0).for_each(&mut add);
        if checked.is_empty() {
            return Vec::new();
        }
        vec![
            counter(
                "throng_checked_answers_total",
                "Responses checked by assertions.",
                "{answer}",
                checked,
            ),
            counter(
                "throng_failed_requests_total",
                "Failed samples, by transport or status, in labels with assertions.",
                "{sample}",
                failed,
            ),
        ]
    }

    /// Returns families for the numbers extracted from responses. Empty for runs without such numbers.
    fn of_series(&self) -> Vec<Family> {
        let (mut last, mut values) = (Vec::new(), Vec::new());
        for (name, all, now) in &self.numbers {
            let of = |more: Option<&str>| {
                let more = more.map(|value| ("value", value.to_owned()));
                [("series", name.to_string())].into_iter().chain(more).collect()
            };
            let three = [("mean", now.mean()), ("min", Some(now.least)), ("max", Some(now.most))];
            last.extend(three.into_iter().filter_map(|(value, number)| {
                Some(Series { labels: of(Some(value)), value: Value::Number(number?) })
            }));
            values.push(Series { labels: of(None), value: Value::Number(all.count as f64) });
        }
        if last.is_empty() {
            return Vec::new();
        }
        vec![
            gauge(
                "throng_series",
                "Numbers extracted from the responses of the last second.",
                "1",
                last,
            ),
            counter(
                "throng_series_values_total",
                "Numbers extracted from responses.",
                "{value}",
                values,
            ),
        ]
    }

    fn of_requests(&self) -> Vec<Family> {
        let mut codes: Vec<_> = self.codes.iter().collect();
        codes.sort_unstable();
        let errors = codes.into_iter().map(|((outcome, code), n)| Series {
            labels: vec![("outcome", (*outcome).to_owned()), ("code", code.to_string())],
            value: Value::Number(*n as f64),
        });
        let response = vec![Series {
            labels: Vec::new(),
            value: Value::Buckets(Box::new(self.response.clone())),
        }];
        vec![
            counter(
                "throng_errors_total",
                "Failed samples by outcome and response code, without transactions.",
                "{sample}",
                errors.collect(),
            ),
            Family {
                kind: Kind::Histogram,
                ..gauge(
                    "throng_response_time_seconds",
                    "Response time of requests, from their intended start.",
                    "s",
                    response,
                )
            },
            gauge(
                "throng_last_second_elapsed_seconds",
                "Percentiles of the elapsed time of requests in the last second.",
                "s",
                quantiles(&self.last.all.service),
            ),
        ]
    }

    fn of_users(&self) -> Vec<Family> {
        let line = &self.last.line;
        vec![
            gauge("throng_users", "Active users.", "{user}", one(line.users as f64)),
            counter(
                "throng_users_started_total",
                "Users started.",
                "{user}",
                one(line.started as f64),
            ),
            counter(
                "throng_users_finished_total",
                "Users finished.",
                "{user}",
                one(line.finished as f64),
            ),
            counter(
                "throng_starts_missed_total",
                "User starts that were due by a rate but did not happen.",
                "{start}",
                one(self.missed as f64),
            ),
        ]
    }

    fn of_generator(&self) -> Vec<Family> {
        let line = &self.last.line;
        let lag = [("50", line.lag_p50_ms), ("99", line.lag_p99_ms), ("100", line.lag_max_ms)];
        let lag = lag.map(|(percent, ms)| Series {
            labels: vec![("percentile", percent.to_owned())],
            value: Value::Number(ms / 1e3),
        });
        vec![
            counter(
                "throng_connections_opened_total",
                "Connections opened.",
                "{connection}",
                one(self.opened as f64),
            ),
            counter(
                "throng_connections_reused_total",
                "Requests sent on an existing connection.",
                "{request}",
                one(self.reused as f64),
            ),
            counter(
                "throng_generator_cpu_seconds_total",
                "CPU time of the generator.",
                "s",
                one(self.cpu_s),
            ),
            gauge(
                "throng_generator_memory_bytes",
                "Resident memory of the generator.",
                "By",
                one(line.rss as f64),
            ),
            gauge(
                "throng_generator_overhead_seconds",
                "Percentiles of generator overhead, the part of the elapsed time spent in this process, in the last second.",
                "s",
                lag.into(),
            ),
            counter(
                "throng_rows_dropped_total",
                "Result rows that could not be written.",
                "{row}",
                one(self.dropped as f64),
            ),
        ]
    }
}

impl OfLabel {
    fn labels(&self) -> Vec<(&'static str, String)> {
        let kind = if self.transaction { "transaction" } else { "request" };
        vec![("label", self.name.to_string()), ("kind", kind.to_owned())]
    }
}

fn gauge(
    name: &'static str,
    help: &'static str,
    unit: &'static str,
    series: Vec<Series>,
) -> Family {
    Family { name, help, kind: Kind::Gauge, unit, series }
}

fn counter(
    name: &'static str,
    help: &'static str,
    unit: &'static str,
    series: Vec<Series>,
) -> Family {
    Family { kind: Kind::Counter, ..gauge(name, help, unit, series) }
}

fn one(value: f64) -> Vec<Series> {
    vec![Series { labels: Vec::new(), value: Value::Number(value) }]
}

fn add_times(buckets: &mut Buckets, bins: &Bins) {
    for (bin, n) in bins.iter() {
        buckets.add(layout::middle_of(bin) as f64 / 1e6, n);
    }
}

/// Returns one series per percentile, in seconds, of times in µs; empty without times.
fn quantiles(bins: &Bins) -> Vec<Series> {
    let mut hist = Hist::new();
    hist.add(bins);
    if hist.total() == 0 {
        return Vec::new();
    }
    let named = [("50", 0.5), ("90", 0.9), ("95", 0.95), ("99", 0.99), ("100", 1.0)];
    let series = named.map(|(name, quantile)| Series {
        labels: vec![("percentile", name.to_owned())],
        value: Value::Number(hist.quantile(quantile) as f64 / 1e6),
    });
    series.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(count: u64, errors: u64) -> Part {
        let mut part = Part { count, errors, elapsed: count * 2_000_000, ..Part::default() };
        part.service.add(layout::index_of(2000), count);
        part
    }

    #[test]
    fn labels_are_bounded_and_nothing_is_lost() {
        let mut sums = Sums::new(Facts::default());
        for n in 0..500 {
            let labels = vec![(format!("label {n}").into(), false, part(2, 1))];
            sums.add(Tick { labels, ..Tick::default() });
        }
        let families = sums.families();
        let samples = families.iter().find(|family| family.name == "throng_samples_total").unwrap();
        assert_eq!(samples.series.len(), 2 * (MOST_LABELS + 1));
        let sum: f64 = samples
            .series
            .iter()
            .map(|series| match &series.value {
                Value::Number(n) => *n,
                Value::Buckets(_) => 0.0,
            })
            .sum();
        assert_eq!(sum, 1000.0);
        let last = samples.series.last().unwrap();
        assert_eq!(last.labels[0].1, OTHER_LABELS);
        assert_eq!(last.value, Value::Number(300.0));
        let elapsed =
            families.iter().find(|family| family.name == "throng_sample_elapsed_seconds").unwrap();
        let Value::Buckets(buckets) = &elapsed.series[0].value else { panic!("a histogram") };
        assert_eq!((buckets.counts[1], buckets.count()), (2, 2), "2 ms lie below 2.5 ms");
    }

    fn number(value: f64) -> Number {
        Number { count: 1, sum: value, least: value, most: value, odd: 0 }
    }

    #[test]
    fn a_series_has_its_last_second_and_the_count_of_its_values() {
        let mut sums = Sums::new(Facts::default());
        for numbers in
            [vec![("load".into(), number(3.0))], vec![("load".into(), number(5.0))], vec![]]
        {
            sums.add(Tick { numbers, ..Tick::default() });
        }
        let families = sums.of_series();
        let of = |at: usize| -> Vec<(&str, &Value)> {
            families[at].series.iter().map(|one| (&*one.labels[0].1, &one.value)).collect()
        };
        assert_eq!(of(0), [("load", &Value::Number(5.0)); 3]);
        assert_eq!(of(1), [("load", &Value::Number(2.0))]);
        assert!(Sums::new(Facts::default()).of_series().is_empty());
    }

    #[test]
    fn names_follow_the_rules_of_prometheus() {
        let mut sums = Sums::new(Facts::default());
        sums.add(Tick {
            labels: vec![("a".into(), true, part(1, 0))],
            checks: vec![("a".into(), true, Checked { checked: 1, ..Checked::default() })],
            numbers: vec![("load".into(), number(3.0))],
            all: part(1, 0),
            ..Tick::default()
        });
        for family in sums.families() {
            let name = family.name;
            assert!(name.starts_with("throng_"), "{name}");
            assert_eq!(name.ends_with("_total"), family.kind == Kind::Counter, "{name}");
            let stem = name.strip_suffix("_total").unwrap_or(name);
            assert_eq!(stem.ends_with("_seconds"), family.unit == "s", "{name}");
            assert_eq!(stem.ends_with("_bytes"), family.unit == "By", "{name}");
            assert!(family.help.ends_with('.'), "{name}");
        }
    }
}
