//! The summary of a run in the format of k6's `--summary-export`, for programs that read this format. GitLab's merge
//! request widget reads the rate, two percentiles of `http_req_waiting` and the share of passed checks.
//!
//! Times are in ms and are those that criteria judge: from the intended start to the end of a sample, or from the
//! actual start for a result file. The record has no histogram of the times to the first byte, so
//! `http_req_waiting` contains the times of whole samples, which are never shorter. A check is a response on which
//! assertions ran; the check passed if all of them held. Without assertions the metric `checks` is absent. A series
//! from responses is the trend metric `series_NAME` with `avg`, `min`, `max` and `count` (k6's
//! `--summary-trend-stats`); the trend has no percentiles, because the record has no histogram of the series. As in
//! k6, `true` for a threshold means that the threshold was crossed, and metrics without samples are absent.

use answers::criterion::{Criterion, Figure};
use serde_json::{Map, Value, json};
use stats::Number;

use crate::model::{RunPage, Totals};

/// MD5 of an empty name: the id of the root group in k6, which every summary contains.
const ROOT: &str = "d41d8cd98f00b204e9800998ecf8427e";

/// Prefix of the k6 metric name of a data series.
const SERIES: &str = "series_";

/// Renders the summary of a run as JSON.
pub fn summary(page: &RunPage) -> String {
    let totals = &page.totals;
    let seconds = page.about.length_ms.max(1) as f64 / 1000.0;
    let per_s = |count: u64| json!({ "count": count, "rate": count as f64 / seconds });
    let mut metrics = Map::new();
    let mut add = |name: &str, metric: Value| metrics.insert(name.to_owned(), metric);
    add("http_reqs", json!({ "count": totals.samples, "rate": totals.rate_per_s }));
    add("data_sent", per_s(totals.sent_bytes));
    add("data_received", per_s(totals.received_bytes));
    if totals.samples > 0 {
        if let Some(failed) = totals.failed {
            let passed = totals.samples.saturating_sub(failed);
            add("http_req_failed", rate(failed, passed));
        }
        if let Some((checked, expected)) =
            totals.answers.and_then(|one| one.checked.zip(one.as_expected)).filter(|one| one.0 > 0)
        {
            add("checks", rate(expected, checked.saturating_sub(expected)));
        }
        add("http_req_duration", trend(totals));
        add("http_req_waiting", trend(totals));
    }
    for (name, number) in page.series.iter().filter(|(_, number)| number.count > 0) {
        add(&of_series(name), series(number));
    }
    let users = page.about.load.users;
    if users > 0 {
        add("vus_max", json!({ "value": users, "min": users, "max": users }));
    }
    for criterion in &page.criteria {
        let Some(metric) = metrics.get_mut(&metric(&criterion.text)).and_then(Value::as_object_mut)
        else {
            continue;
        };
        let thresholds = metric.entry("thresholds").or_insert_with(|| json!({}));
        thresholds[&criterion.text] = Value::Bool(criterion.met != Some(true));
    }
    format!("{:#}\n", json!({ "metrics": metrics, "root_group": root_group() }))
}

fn root_group() -> Value {
    json!({ "name": "", "path": "", "id": ROOT, "groups": {}, "checks": {} })
}

/// Returns true if a string is a summary that this program wrote: the same keys, and metrics with the same fields.
pub fn is_summary(text: &str) -> bool {
    let Ok(Value::Object(file)) = serde_json::from_str(text) else { return false };
    let Some(Value::Object(metrics)) = file.get("metrics") else { return false };
    let always = ["http_reqs", "data_sent", "data_received"];
    file.len() == 2
        && file.get("root_group") == Some(&root_group())
        && always.iter().all(|name| metrics.contains_key(*name))
        && metrics.iter().all(|(name, metric)| has_shape(name, metric))
}

/// Returns true if a metric has the fields that this program writes under its name.
fn has_shape(name: &str, metric: &Value) -> bool {
    let figures: &[&str] = match name {
        "http_reqs" | "data_sent" | "data_received" => &["count", "rate"],
        "checks" | "http_req_failed" => &["passes", "fails", "value"],
        "http_req_duration" | "http_req_waiting" => {
            &["avg", "min", "med", "max", "p(90)", "p(95)", "p(99)"]
        }
        "vus_max" => &["value", "min", "max"],
        name if name.starts_with(SERIES) => &["avg", "min", "max", "count"],
        _ => return false,
    };
    let known = |(key, value): (&String, &Value)| match &**key {
        "thresholds" => value.is_object(),
        key => figures.contains(&key) && (value.is_number() || value.is_null()),
    };
    metric.as_object().is_some_and(|metric| {
        figures.iter().all(|figure| metric.contains_key(*figure)) && metric.iter().all(known)
    })
}

/// Builds a rate metric from the number of times that a condition was true, and that it was false.
fn rate(passes: u64, fails: u64) -> Value {
    let value = passes as f64 / (passes + fails).max(1) as f64;
    json!({ "passes": passes, "fails": fails, "value": value })
}

fn trend(totals: &Totals) -> Value {
    let quantile = |p: f64| {
        totals.quantiles.iter().find(|one| (one.p - p).abs() < 1e-9).map(|one| one.us / 1000.0)
    };
    json!({
        "avg": totals.mean_us / 1000.0,
        "min": totals.min_us / 1000.0,
        "med": quantile(0.5),
        "max": totals.max_us / 1000.0,
        "p(90)": quantile(0.9),
        "p(95)": quantile(0.95),
        "p(99)": quantile(0.99),
    })
}

/// Prefix, in reports, of a criterion that can end the run.
pub const GUARD: &str = "the run is not ended by ";

/// Returns the name of the k6 metric that a criterion is about.
fn metric(criterion: &str) -> String {
    let criterion = criterion.strip_prefix(GUARD).unwrap_or(criterion);
    let Ok(criterion) = Criterion::parse(criterion) else { return "http_reqs".into() };
    let name = match criterion.figure {
        Figure::Time(..) => "http_req_duration",
        Figure::Errors | Figure::ErrorShare => "http_req_failed",
        Figure::CheckShare => "checks",
        Figure::Series(_) => return of_series(&criterion.series.unwrap_or_default()),
        Figure::Rate | Figure::Count => "http_reqs",
    };
    name.into()
}

/// Returns the k6 metric name of a data series.
fn of_series(name: &str) -> String {
    format!("{SERIES}{name}")
}

/// Renders a data series as a trend metric of k6, without percentiles.
fn series(number: &Number) -> Value {
    json!({
        "avg": number.sum / number.count as f64,
        "min": number.least,
        "max": number.most,
        "count": number.count,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn criteria_are_thresholds_of_their_metric() {
        for (criterion, name) in [
            ("p95 < 500ms", "http_req_duration"),
            ("error% < 1", "http_req_failed"),
            ("series.load.max < 5", "series_load"),
            ("the run is not ended by series.load.max < 5", "series_load"),
            ("rate > 5", "http_reqs"),
            ("of another version", "http_reqs"),
        ] {
            assert_eq!(metric(criterion), name, "{criterion}");
        }
    }

    #[test]
    fn a_summary_is_told_from_other_files_with_metrics() {
        let per_s = json!({ "count": 3, "rate": 1.5 });
        let metrics = json!({ "http_reqs": per_s, "data_sent": per_s, "data_received": per_s });
        let own = json!({ "metrics": metrics, "root_group": root_group() });
        assert!(is_summary(&own.to_string()));
        let changed = |at: &str, value: Value| {
            let mut file = own.clone();
            *file.pointer_mut(at).expect("a place") = value;
            file.to_string()
        };
        let more = |key: &str, value: Value| {
            let mut file = own.clone();
            file["metrics"][key] = value;
            file.to_string()
        };
        assert!(is_summary(&more("checks", rate(1, 2))));
        let number = Number { count: 2, sum: 5.0, least: 1.0, most: 4.0, odd: 1 };
        assert!(is_summary(&more("series_load", series(&number))));
        assert!(!is_summary(&more("load", series(&number))));
        for other in [
            "{\"metrics\": {}}".to_owned(),
            changed("/metrics", json!({})),
            changed("/root_group", json!({ "name": "mine" })),
            changed("/metrics/http_reqs", json!({ "count": 3 })),
            changed("/metrics/data_sent/rate", json!("high")),
            more("my_metric", json!({ "value": 3 })),
            more("vus", json!({ "value": 3, "min": 1, "max": 3 })),
        ] {
            assert!(!is_summary(&other), "{other}");
        }
        let mut another = own.clone();
        another["dashboard"] = json!({});
        assert!(!is_summary(&another.to_string()));
    }
}
