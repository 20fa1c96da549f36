//! Clients of Backend Listeners: JMeter's clients for InfluxDB and Graphite, configured by their parameters.
//!
//! A client runs on the listener's own thread and may block that thread, up to JMeter's time limits.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lang::regexp::Regexp;
use plan::plan::BackendKind;
use stats::backend::{Estimator, Graphite, Influx, Target, Windows};

use crate::reports::figures::Batch;
use crate::results::feed::BackendSettings;
use crate::run::sender::{Carbon, Lines, Unusable};

/// The client of a Backend Listener: collects statistics or lines, and sends them.
#[derive(Debug)]
pub(crate) struct Client {
    interval: Duration,
    form: Form,
}

#[derive(Debug)]
enum Form {
    Influx { figures: Box<Influx>, filter: Filter, to: Lines, text: String },
    Raw { to: Lines },
    Graphite { figures: Box<Graphite>, filter: Filter, to: Carbon },
}

impl Client {
    /// Creates the client that the listener's class name selects.
    pub(crate) fn new(
        settings: &BackendSettings,
        property: &impl Fn(&str) -> Option<String>,
    ) -> Result<Self, Unusable> {
        let number = |name: &str, default: u64| {
            property(name).and_then(|text| text.trim().parse().ok()).unwrap_or(default)
        };
        let form = match settings.kind {
            BackendKind::Influx => Form::Influx {
                figures: Box::new(Influx::new(&target(settings), windows(property, &number)?)),
                filter: Filter::of_influx(settings)?,
                to: Lines::new(settings, &number)?,
                text: String::new(),
            },
            BackendKind::InfluxRaw => Form::Raw { to: Lines::new(settings, &number)? },
            BackendKind::Graphite => {
                let percentiles = percentiles(settings.get("percentiles").unwrap_or(""));
                let prefix = settings.get("rootMetricsPrefix").unwrap_or("jmeter.");
                let windows = windows(property, &number)?;
                Form::Graphite {
                    figures: Box::new(Graphite::new(prefix, &percentiles, windows)),
                    filter: Filter::of_graphite(settings)?,
                    to: Carbon::new(settings)?,
                }
            }
        };
        let interval = match settings.kind {
            BackendKind::Graphite => number("backend_graphite.send_interval", 1),
            BackendKind::Influx => number("backend_influxdb.send_interval", 5),
            // Single samples are sent as they arrive.
            BackendKind::InfluxRaw => 3600,
        };
        Ok(Self { interval: Duration::from_secs(interval.max(1)), form })
    }

    pub(crate) fn interval(&self) -> Duration {
        self.interval
    }

    /// Returns the delay until data are sent for the first time. The client for InfluxDB reports the start of the test
    /// without delay.
    pub(crate) fn first_wait(&self) -> Duration {
        match self.form {
            Form::Influx { .. } => Duration::ZERO,
            Form::Raw { .. } | Form::Graphite { .. } => self.interval,
        }
    }

    /// Reports the start of the run.
    pub(crate) fn begin(&mut self) {
        if let Form::Influx { figures, text, .. } = &mut self.form {
            figures.event(true, now_ms(), text);
        }
    }

    /// Adds a batch of samples to the statistics of the interval. Lines are sent at once.
    pub(crate) fn take(&mut self, batch: Batch, complain: &impl Fn(String)) {
        match (&mut self.form, batch) {
            (Form::Influx { figures, filter, .. }, Batch::Samples(samples)) => {
                for (label, taken) in samples {
                    figures.add(filter.wants(&label).then_some(&*label), &taken);
                }
            }
            (Form::Graphite { figures, filter, .. }, Batch::Samples(samples)) => {
                for (label, taken) in samples {
                    figures.add(filter.wants(&label).then_some(&*label), &taken);
                }
            }
            (Form::Raw { to }, Batch::Lines(lines)) => to.send(&lines, complain),
            _ => {}
        }
    }

    /// Sends the statistics of an interval. `users` is the number of users started and ended so far.
    pub(crate) fn send(&mut self, users: (u32, u32), complain: &impl Fn(String)) {
        match &mut self.form {
            Form::Influx { figures, to, text, .. } => {
                (figures.metrics.started, figures.metrics.finished) = users;
                figures.end_interval(now_ms(), text);
                to.send(text, complain);
                text.clear();
            }
            Form::Graphite { figures, to, .. } => {
                (figures.metrics.started, figures.metrics.finished) = users;
                let metrics = figures.end_interval();
                to.send(&metrics, now_ms() / 1000, complain);
            }
            Form::Raw { .. } => {}
        }
    }

    /// Sends the remaining data at the end of the run.
    pub(crate) fn end(&mut self, users: (u32, u32), complain: &impl Fn(String)) {
        if let Form::Influx { figures, text, .. } = &mut self.form {
            figures.event(false, now_ms(), text);
        }
        self.send(users, complain);
        match &mut self.form {
            Form::Influx { to, .. } | Form::Raw { to } => to.end(complain),
            Form::Graphite { to, .. } => to.end(complain),
        }
    }
}

/// Maximum number of labels whose filter result is cached; above this the table is cleared.
const KNOWN: usize = 1000;

/// Selects the labels that get separate statistics.
#[derive(Debug)]
struct Filter {
    rule: Rule,
    known: HashMap<Arc<str>, bool>,
}

#[derive(Debug)]
enum Rule {
    None,
    /// Labels that contain a match of the pattern.
    Found(Regexp),
    /// Labels that match the pattern as a whole.
    Whole(Regexp),
    Listed(Vec<String>),
}

impl Filter {
    fn of_influx(settings: &BackendSettings) -> Result<Self, Unusable> {
        let rule = if truth(settings, "summaryOnly", false) {
            Rule::None
        } else {
            Rule::Found(pattern(settings.get("samplersRegex").unwrap_or(""))?)
        };
        Ok(Self { rule, known: HashMap::new() })
    }

    fn of_graphite(settings: &BackendSettings) -> Result<Self, Unusable> {
        let list = settings.get("samplersList").unwrap_or("");
        let rule = if truth(settings, "summaryOnly", true) {
            Rule::None
        } else if truth(settings, "useRegexpForSamplersList", false) {
            Rule::Whole(pattern(list)?)
        } else {
            Rule::Listed(list.split(';').map(str::to_owned).collect())
        };
        Ok(Self { rule, known: HashMap::new() })
    }

    fn wants(&mut self, label: &Arc<str>) -> bool {
        if let Rule::None = self.rule {
            return false;
        }
        if let Some(wanted) = self.known.get(label) {
            return *wanted;
        }
        let wanted = match &self.rule {
            Rule::None => false,
            Rule::Found(pattern) => pattern.is_found_in(label),
            Rule::Whole(pattern) => pattern.matches(label),
            Rule::Listed(labels) => labels.iter().any(|listed| **listed == **label),
        };
        if self.known.len() >= KNOWN {
            self.known.clear();
        }
        self.known.insert(Arc::clone(label), wanted);
        wanted
    }
}

fn truth(settings: &BackendSettings, name: &str, default: bool) -> bool {
    settings.get(name).map_or(default, |text| text.eq_ignore_ascii_case("true"))
}

fn pattern(text: &str) -> Result<Regexp, Unusable> {
    Regexp::new(text).map_err(|error| Unusable(error.to_string().replace('\n', ": ")))
}

/// Parses percentiles separated by semicolons. Values that are not numbers are skipped.
fn percentiles(text: &str) -> Vec<f32> {
    let numbers = text.split(';').filter_map(|text| text.trim().parse::<f32>().ok());
    numbers.filter(|percent| *percent > 0.0 && *percent <= 100.0).collect()
}

fn target(settings: &BackendSettings) -> Target {
    let text = |name: &str, default: &str| settings.get(name).unwrap_or(default).to_owned();
    let tags = settings.parameters.iter().filter(|(_, value)| !value.trim().is_empty());
    let tags = tags.filter_map(|(name, value)| {
        let tag = name.strip_prefix("TAG_")?.trim();
        Some((tag.to_owned(), value.trim().to_owned()))
    });
    Target {
        measurement: text("measurement", "jmeter"),
        application: text("application", ""),
        title: text("testTitle", "Test"),
        event_tags: text("eventTags", ""),
        tags: tags.collect(),
        percentiles: percentiles(&text("percentiles", "")),
    }
}

fn windows(
    property: &impl Fn(&str) -> Option<String>,
    number: &impl Fn(&str, u64) -> u64,
) -> Result<Windows, Unusable> {
    let estimator = property("backend_metrics_percentile_estimator");
    let estimator = estimator.as_deref().unwrap_or("LEGACY").trim();
    let mode = property("backend_metrics_window_mode").unwrap_or_else(|| "fixed".into());
    let timed = match mode.trim().to_lowercase().as_str() {
        "fixed" => false,
        "timed" => true,
        _ => {
            return Err(Unusable(format!(
                "unknown backend_metrics_window_mode {mode}; use fixed or timed"
            )));
        }
    };
    Ok(Windows {
        size: number("backend_metrics_window", 100) as usize,
        large: number("backend_metrics_large_window", 5000) as usize,
        timed,
        estimator: Estimator::named(estimator).ok_or_else(|| {
            Unusable(format!("unknown backend_metrics_percentile_estimator {estimator}"))
        })?,
    })
}

fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_millis() as i64)
}
