//! OpenTelemetry metrics as OTLP/JSON: `ExportMetricsServiceRequest`, for `POST …/v1/metrics`.
//!
//! Sums and histograms are cumulative since the start of the run. 64-bit integers are strings, as protobuf's JSON
//! mapping requires.

use serde_json::{Value as Json, json};

use crate::metrics::{BOUNDS, Family, Kind, Series, Value};

/// Value of `AGGREGATION_TEMPORALITY_CUMULATIVE`.
const CUMULATIVE: u8 = 2;

/// Returns the OTLP request with the values of all series at one time. Times are ms since 1970; `resource` has the
/// attributes that describe the run.
pub fn request(
    families: &[Family],
    resource: &[(&str, String)],
    start_ms: i64,
    at_ms: i64,
) -> String {
    let nanos = |ms: i64| format!("{ms}000000");
    let metrics = families.iter().filter(|family| !family.series.is_empty()).map(|family| {
        let points: Vec<Json> = family
            .series
            .iter()
            .map(|series| point(series, &nanos(start_ms), &nanos(at_ms)))
            .collect();
        let (kind, data) = match family.kind {
            Kind::Counter => (
                "sum",
                json!({ "dataPoints": points, "aggregationTemporality": CUMULATIVE, "isMonotonic": true }),
            ),
            Kind::Gauge => ("gauge", json!({ "dataPoints": points })),
            Kind::Histogram => {
                ("histogram", json!({ "dataPoints": points, "aggregationTemporality": CUMULATIVE }))
            }
        };
        json!({ "name": name(family), "description": family.help, "unit": family.unit, kind: data })
    });
    let resource = attributes(resource.iter().map(|(name, value)| (*name, &**value)));
    let scope = json!({ "name": "throng", "version": env!("CARGO_PKG_VERSION") });
    json!({ "resourceMetrics": [{
        "resource": { "attributes": resource },
        "scopeMetrics": [{ "scope": scope, "metrics": metrics.collect::<Vec<_>>() }],
    }] })
    .to_string()
}

/// Returns the metric's name without its unit and `_total`, for example `throng.samples`. Collectors append both for
/// Prometheus.
fn name(family: &Family) -> String {
    let name = family.name.strip_suffix("_total").unwrap_or(family.name);
    let unit = match family.unit {
        "s" => "_seconds",
        "By" => "_bytes",
        _ => "",
    };
    name.strip_suffix(unit).unwrap_or(name).replacen('_', ".", 1)
}

fn point(series: &Series, start: &str, at: &str) -> Json {
    let attributes = attributes(series.labels.iter().map(|(name, value)| (*name, &**value)));
    match &series.value {
        Value::Number(value) => json!({
            "attributes": attributes,
            "startTimeUnixNano": start,
            "timeUnixNano": at,
            "asDouble": if value.is_finite() { *value } else { 0.0 },
        }),
        Value::Buckets(buckets) => json!({
            "attributes": attributes,
            "startTimeUnixNano": start,
            "timeUnixNano": at,
            "count": buckets.count().to_string(),
            "sum": buckets.sum,
            "bucketCounts": buckets.counts.iter().map(u64::to_string).collect::<Vec<_>>(),
            "explicitBounds": BOUNDS,
        }),
    }
}

fn attributes<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<Json> {
    let pairs = pairs.filter(|pair| !pair.1.is_empty());
    pairs.map(|(name, value)| json!({ "key": name, "value": { "stringValue": value } })).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::metrics::Buckets;

    fn family(
        kind: Kind,
        name: &'static str,
        unit: &'static str,
        label: &str,
        value: Value,
    ) -> Family {
        let series = vec![Series { labels: vec![("label", label.into())], value }];
        Family { name, help: "help", kind, unit, series }
    }

    #[test]
    fn sums_gauges_and_histograms_are_as_the_protocol_has_them() {
        let mut buckets = Box::new(Buckets { sum: 1.5, ..Buckets::default() });
        buckets.add(1.5, 3);
        let families = [
            family(Kind::Counter, "throng_samples_total", "{sample}", "a", Value::Number(3.0)),
            family(Kind::Gauge, "throng_users", "{user}", "", Value::Number(2.0)),
            family(
                Kind::Histogram,
                "throng_sample_elapsed_seconds",
                "s",
                "a",
                Value::Buckets(buckets),
            ),
        ];
        let text = request(&families, &[("service.name", "shop".into())], 1, 2);
        let json: Json = serde_json::from_str(&text).expect("JSON");
        let resource = &json["resourceMetrics"][0];
        assert_eq!(resource["resource"]["attributes"][0]["value"]["stringValue"], "shop");
        let metrics = &resource["scopeMetrics"][0]["metrics"];
        let names: Vec<_> = (0..3).map(|n| metrics[n]["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["throng.samples", "throng.users", "throng.sample_elapsed"]);
        let sum = &metrics[0]["sum"];
        assert_eq!(
            (&sum["isMonotonic"], &sum["aggregationTemporality"]),
            (&json!(true), &json!(2))
        );
        assert_eq!(sum["dataPoints"][0]["startTimeUnixNano"], "1000000");
        assert_eq!(sum["dataPoints"][0]["asDouble"], 3.0);
        assert_eq!(metrics[1]["gauge"]["dataPoints"][0]["attributes"], json!([]));
        let point = &metrics[2]["histogram"]["dataPoints"][0];
        assert_eq!((&point["count"], &point["sum"]), (&json!("3"), &json!(1.5)));
        let (counts, bounds) = (&point["bucketCounts"], &point["explicitBounds"]);
        assert_eq!(counts.as_array().unwrap().len(), bounds.as_array().unwrap().len() + 1);
    }

    proptest! {
        #[test]
        fn hostile_labels_come_back(label in ".{1,40}", value in any::<f64>()) {
            let family = family(Kind::Gauge, "throng_x", "1", &label, Value::Number(value));
            let json: Json = serde_json::from_str(&request(&[family], &[], 1, 2)).expect("JSON");
            let metric = &json["resourceMetrics"][0]["scopeMetrics"][0]["metrics"][0];
            let attribute = &metric["gauge"]["dataPoints"][0]["attributes"][0];
            prop_assert_eq!(attribute["value"]["stringValue"].as_str(), Some(&*label));
        }
    }
}
