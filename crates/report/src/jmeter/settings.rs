//! The properties that the metrics of JMeter's dashboard depend on.

use lang::regexp::Regexp;
use stats::backend::Estimator;
use stats::jtl::{Columns, Pattern, TimestampFormat};

const WINDOW: i64 = 20_000;
const PREFIX: &str = "jmeter.reportgenerator.";

/// JMeter properties that affect the metrics or the tables of the dashboard.
pub const PROPERTIES: &[&str] = &[
    "jmeter.reportgenerator.apdex_per_transaction",
    "jmeter.reportgenerator.apdex_satisfied_threshold",
    "jmeter.reportgenerator.apdex_tolerated_threshold",
    "jmeter.reportgenerator.date_format",
    "jmeter.reportgenerator.end_date",
    "jmeter.reportgenerator.exclude_tc_from_top5_errors_by_sampler",
    "jmeter.reportgenerator.exporter.html.filters_only_sample_series",
    "jmeter.reportgenerator.exporter.html.property.output_dir",
    "jmeter.reportgenerator.exporter.html.series_filter",
    "jmeter.reportgenerator.exporter.html.show_controllers_only",
    "jmeter.reportgenerator.outputdir",
    "jmeter.reportgenerator.report_title",
    "jmeter.reportgenerator.sample_filter",
    "jmeter.reportgenerator.start_date",
    "jmeter.reportgenerator.statistic_window",
];

/// The reason why no metrics were computed, as a message for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused(pub String);

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Refused {}

/// The filter for labels in the tables. `statistics.json` is not filtered.
#[derive(Debug, Default)]
pub struct Shown {
    pub(super) filter: Option<Regexp>,
    pub(super) filters_only_labels: bool,
    pub(super) controllers_only: bool,
}

impl Shown {
    /// Returns true if a table shows the row. `by_label` is true for a table that distinguishes transactions from
    /// requests.
    pub(super) fn shows(&self, text: &str, controller: bool, by_label: bool) -> bool {
        let passes = match &self.filter {
            None => true,
            Some(_) if self.filters_only_labels && !by_label => true,
            Some(filter) => filter.is_found_in(text),
        };
        passes && (!self.controllers_only || !by_label || controller)
    }
}

/// The values of the properties that the metrics depend on.
#[derive(Debug)]
pub struct Settings {
    pub(super) columns: Columns,
    /// True if `timeStamp` is the start of a sample, false if it is the end.
    pub(super) starts: bool,
    pub(super) percentages: [(String, f64); 3],
    pub(super) estimator: Estimator,
    /// Number of a label's last rows that percentiles use; `None` for all rows.
    pub(super) window: Option<usize>,
    pub(super) satisfied_ms: i64,
    pub(super) tolerated_ms: i64,
    /// For each pattern of labels: the satisfied and the tolerated threshold. The order is that in which JMeter
    /// tries the patterns.
    pub(super) apdex: Vec<(Regexp, i64, i64)>,
    pub(super) filter: Option<Regexp>,
    pub(super) from_ms: Option<i64>,
    pub(super) to_ms: Option<i64>,
    /// True if the table of the Top 5 errors excludes transactions.
    pub(super) top5_without_transactions: bool,
    /// True if an error of an assertion is counted by the message of the assertion: the property
    /// `assertion_results_failure_message`.
    pub(super) failure_messages: bool,
    pub(super) shown: Shown,
    pub(super) title: Option<String>,
    /// Messages about unusable values of properties, with the value used instead.
    pub warnings: Vec<String>,
}

impl Settings {
    /// Reads the settings from properties. Returns an error for a value with which JMeter does not create a report
    /// either.
    pub fn from_properties(property: impl Fn(&str) -> Option<String>) -> Result<Self, Refused> {
        let get = |key: &str| property(key).filter(|value| !value.trim().is_empty());
        let own = |key: &str| get(&format!("{PREFIX}{key}")).map(|value| value.trim().to_owned());
        if get("jmeter.save.saveservice.output_format")
            .is_some_and(|f| !f.eq_ignore_ascii_case("csv"))
        {
            return Err(Refused(
                "Report generation requires csv output format, check 'jmeter.save.saveservice.output_format' property"
                    .into(),
            ));
        }
        let mut warnings = Vec::new();
        let columns =
            Columns::from_properties(&property).map_err(|error| Refused(error.to_string()))?;
        let flag = |key: &str, default| {
            own(key).map_or(default, |value| {
                matches!(&*value.to_ascii_lowercase(), "true" | "yes" | "y" | "on" | "1")
            })
        };
        let (from_ms, to_ms) = dates(&own, &mut warnings);
        let html = |key: &str| format!("exporter.html.{key}");
        let filter = own(&html("series_filter"));
        let shown = Shown {
            filter: filter.and_then(|text| match Regexp::new(&format!("(?i){text}")) {
                Ok(pattern) => Some(pattern),
                Err(_) => {
                    warnings.push(format!(
                        "series_filter is not a valid pattern, so all labels are shown: {text}"
                    ));
                    None
                }
            }),
            filters_only_labels: flag(&html("filters_only_sample_series"), true),
            controllers_only: flag(&html("show_controllers_only"), false),
        };
        check_timestamp(&columns)?;
        Ok(Self {
            starts: get("sampleresult.timestamp.start")
                .is_some_and(|value| value.trim().eq_ignore_ascii_case("true")),
            percentages: percentages(&get)?,
            estimator: estimator(&get)?,
            window: window(&own)?,
            satisfied_ms: ms(&own, "apdex_satisfied_threshold", 500)?,
            tolerated_ms: ms(&own, "apdex_tolerated_threshold", 1500)?,
            apdex: apdex(own("apdex_per_transaction"), &mut warnings)?,
            filter: match own("sample_filter") {
                // As Java's `matches` does, the pattern must match the whole label.
                Some(text) => Some(pattern("sample_filter", &format!("\\A(?:{text})\\Z(?!\\n)"))?),
                None => None,
            },
            from_ms,
            to_ms,
            top5_without_transactions: flag("exclude_tc_from_top5_errors_by_sampler", true),
            failure_messages: columns.failure_message,
            shown,
            title: own("report_title"),
            columns,
            warnings,
        })
    }
}

/// Returns an error for formats without usable time stamps.
fn check_timestamp(columns: &Columns) -> Result<(), Refused> {
    match &columns.timestamp_format {
        TimestampFormat::Millis | TimestampFormat::Text(_) => Ok(()),
        TimestampFormat::Nothing if !columns.timestamp => Err(Refused(
            "'none' format for 'jmeter.save.saveservice.timestamp_format' property is not accepted for report \
             generation"
                .into(),
        )),
        TimestampFormat::Nothing => {
            Err(Refused("jmeter.save.saveservice.timestamp_format has letters that are not known".into()))
        }
    }
}

fn percentages(get: &impl Fn(&str) -> Option<String>) -> Result<[(String, f64); 3], Refused> {
    let mut all = ["90", "95", "99"].map(|text| (text.to_owned(), 0.0));
    for (n, (text, value)) in all.iter_mut().enumerate() {
        let key = format!("aggregate_rpt_pct{}", n + 1);
        if let Some(given) = get(&key) {
            given.trim().clone_into(text);
        }
        *value =
            text.parse().ok().filter(|percent| *percent > 0.0 && *percent <= 100.0).ok_or_else(
                || Refused(format!("{key} is {text}, and must be more than 0 and at most 100")),
            )?;
    }
    Ok(all)
}

fn estimator(get: &impl Fn(&str) -> Option<String>) -> Result<Estimator, Refused> {
    let Some(name) = get("backend_metrics_percentile_estimator") else {
        return Ok(Estimator::Legacy);
    };
    Estimator::named(name.trim())
        .ok_or_else(|| Refused(format!("there is no backend_metrics_percentile_estimator {name}")))
}

fn window(own: &impl Fn(&str) -> Option<String>) -> Result<Option<usize>, Refused> {
    match own("statistic_window").and_then(|text| text.parse().ok()).unwrap_or(WINDOW) {
        -1 => Ok(None),
        rows if rows > 0 => Ok(Some(rows as usize)),
        rows => Err(Refused(format!(
            "{PREFIX}statistic_window is {rows}, and must be more than 0, or -1 for all rows"
        ))),
    }
}

fn ms(own: &impl Fn(&str) -> Option<String>, key: &str, default: i64) -> Result<i64, Refused> {
    let Some(text) = own(key) else { return Ok(default) };
    text.parse().map_err(|_| {
        Refused(format!("{PREFIX}{key} is {text}, which is not a number of milliseconds"))
    })
}

fn pattern(key: &str, text: &str) -> Result<Regexp, Refused> {
    Regexp::new(text).map_err(|error| Refused(format!("{PREFIX}{key}: {error}")))
}

/// Parses entries of the form `name or pattern:satisfied|tolerated;…`.
fn apdex(
    text: Option<String>,
    warnings: &mut Vec<String>,
) -> Result<Vec<(Regexp, i64, i64)>, Refused> {
    let mut given: Vec<(String, i64, i64)> = Vec::new();
    for chunk in text.as_deref().unwrap_or_default().split(';').filter(|chunk| !chunk.is_empty()) {
        let parts =
            chunk.rsplit_once(':').and_then(|(name, times)| Some((name, times.rsplit_once('|')?)));
        let read = parts.and_then(|(name, (satisfied, tolerated))| {
            let ms = |text: &str| text.trim().parse::<i64>().ok();
            Some((name.trim().to_owned(), ms(satisfied)?, ms(tolerated)?))
        });
        match read {
            // A later entry with the same name replaces the earlier one.
            Some(entry) => match given.iter_mut().find(|known| known.0 == entry.0) {
                Some(known) => *known = entry,
                None => given.push(entry),
            },
            None => warnings.push(format!(
                "apdex_per_transaction: `{chunk}` is not `name:satisfied|tolerated` and is left out"
            )),
        }
    }
    let names: Vec<&str> = given.iter().map(|entry| entry.0.as_str()).collect();
    let order = super::errors::order_in_java(&names);
    order
        .into_iter()
        .map(|at| Ok((pattern("apdex_per_transaction", &given[at].0)?, given[at].1, given[at].2)))
        .collect()
}

fn dates(
    own: &impl Fn(&str) -> Option<String>,
    warnings: &mut Vec<String>,
) -> (Option<i64>, Option<i64>) {
    let format = own("date_format").unwrap_or_else(|| "yyyyMMddHHmmss".into());
    let form = Pattern::new(&format);
    let mut date = |key| {
        let text = own(key)?;
        let at = form.as_ref().and_then(|form| form.read(&text));
        if at.is_none() {
            warnings.push(format!(
                "{PREFIX}{key} is {text}, which is not a date of the form {format}; it is ignored"
            ));
        }
        at
    };
    (date("start_date"), date("end_date"))
}
