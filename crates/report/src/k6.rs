//! The summary of a run in the form of k6's `--summary-export`, for programs that read that: GitLab's widget in a merge
//! request takes the rate, two percentiles of the wait and the share of checks that passed out of it.
//!
//! Times are milliseconds, and those that criteria judge: from the intended start to the end of a sample, or of a result
//! file from the actual start. The record has no histogram of the times to the
//! first byte, so `http_req_waiting` has those of whole samples, which are never shorter. A check is a sample: it passed if
//! all assertions of it did. As in k6, `true` at a threshold says that it was crossed, and what has no sample is not there.

use answers::criterion::{Criterion, Figure};
use serde_json::{Map, Value, json};

use crate::model::{RunPage, Totals};

/// MD5 of an empty name: k6's id of the root group, which every summary has.
const ROOT: &str = "d41d8cd98f00b204e9800998ecf8427e";

/// The summary as JSON.
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
            add("checks", rate(passed, failed));
            add("http_req_failed", rate(failed, passed));
        }
        add("http_req_duration", trend(totals));
        add("http_req_waiting", trend(totals));
    }
    let users = page.about.load.users;
    if users > 0 {
        add("vus_max", json!({ "value": users, "min": users, "max": users }));
    }
    for criterion in &page.criteria {
        let Some(metric) = metrics.get_mut(metric(&criterion.text)).and_then(Value::as_object_mut)
        else {
            continue;
        };
        let thresholds = metric.entry("thresholds").or_insert_with(|| json!({}));
        thresholds[&criterion.text] = Value::Bool(criterion.met != Some(true));
    }
    let root = json!({ "name": "", "path": "", "id": ROOT, "groups": {}, "checks": {} });
    format!("{:#}\n", json!({ "metrics": metrics, "root_group": root }))
}

/// A metric of two outcomes: how often it was so, and how often not.
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

/// The metric that a criterion is about.
fn metric(criterion: &str) -> &'static str {
    match Criterion::parse(criterion).map(|criterion| criterion.figure) {
        Ok(Figure::Time(..)) => "http_req_duration",
        Ok(Figure::Errors | Figure::ErrorShare) => "http_req_failed",
        Ok(Figure::Rate | Figure::Count) | Err(_) => "http_reqs",
    }
}
