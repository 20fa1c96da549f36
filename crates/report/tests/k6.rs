//! The summary in k6's format, read as GitLab's widget reads it: by the names of metrics and of their fields.

use answers::verdict::Verdict;
use record::{Checked, Frame, Label, Load, Part, Record, Second};
use report::Page;
use report::model::{Agents, Criterion, Given, RunPage, words};
use serde_json::Value;

/// Returns a record of ten seconds with `samples` samples each, one of which fails. With 10 samples in a second, the
/// samples of the record take 1 to 100 ms.
fn record(samples: u64) -> Record {
    let second = |i: u64| {
        let mut part = Part { errors: u64::from(samples > 0), ..Part::default() };
        for n in 0..samples {
            let us = (n * 10 + i + 1) * 1000;
            part.count += 1;
            part.elapsed += us * 1000;
            part.longest = part.longest.max(us * 1000);
            part.sent += 100;
            part.received += 1000;
            part.service.add(stats::hist::layout::index_of(us), 1);
        }
        let labels = if samples > 0 { vec![(0, part.clone())] } else { Vec::new() };
        let at_ms = 1_700_000_000_000 + (i as i64 + 1) * 1000;
        // Two of ten responses are unchecked. In four seconds one response is not as expected.
        let unexpected = u64::from(i < 4);
        let checked = Checked { checked: samples * 8 / 10, unexpected, by_content: 0 };
        let checks = if samples > 0 { vec![(0, checked)] } else { Vec::new() };
        Second { at_ms, ms: 1000, all: part, labels: labels.into(), checks, ..Second::default() }
    };
    Record {
        frame: Frame {
            length_ms: 10_000,
            load: Load { users: 7, ..Load::default() },
            ..Frame::default()
        },
        labels: vec![Label { name: "page".into(), transaction: false, folded: 0 }],
        seconds: (0..10).map(second).collect(),
        ..Record::default()
    }
}

fn criterion(text: &str, met: Option<bool>) -> Criterion {
    Criterion { text: text.into(), met, value: None, shown: words("", ""), reason: None, of: None }
}

fn summary(samples: u64, criteria: &[Criterion]) -> Value {
    let page = RunPage::new(&Given {
        record: &record(samples),
        verdict: &Verdict::default(),
        run: "run",
        criteria,
        properties: &[],
        notes: &[],
        jmeter: None,
        agents: &Agents::default(),
        live: false,
    });
    let text = Page::Run(Box::new(page)).k6().expect("the summary of a run");
    serde_json::from_str(&text).expect("JSON")
}

fn near(value: &Value, expected: f64) {
    let found = value.as_f64().expect("a number");
    assert!((found - expected).abs() <= expected * 0.01, "{found} instead of {expected}");
}

#[test]
fn figures_have_the_names_of_k6() {
    let summary = summary(10, &[]);
    let metrics = &summary["metrics"];
    near(&metrics["http_reqs"]["rate"], 10.0);
    assert_eq!(metrics["http_reqs"]["count"], 100);
    // Of 80 checked responses, 4 were not as expected.
    assert_eq!(
        (&metrics["checks"]["passes"], &metrics["checks"]["fails"]),
        (&76.into(), &4.into())
    );
    near(&metrics["checks"]["value"], 0.95);
    // For a metric of failures, `passes` counts the failed samples.
    assert_eq!(metrics["http_req_failed"]["passes"], 10);
    near(&metrics["http_req_failed"]["value"], 0.1);
    for name in ["http_req_duration", "http_req_waiting"] {
        let times = &metrics[name];
        for (part, ms) in [
            ("min", 1.0),
            ("med", 50.0),
            ("avg", 50.5),
            ("p(90)", 90.0),
            ("p(95)", 95.0),
            ("max", 100.0),
        ] {
            near(&times[part], ms);
        }
    }
    near(&metrics["data_received"]["rate"], 10_000.0);
    assert_eq!(metrics["data_sent"]["count"], 10_000);
    assert_eq!(metrics["vus_max"]["value"], 7);
    assert_eq!(summary["root_group"]["name"], "");
    assert!(metrics["http_reqs"].get("thresholds").is_none(), "{metrics}");
}

#[test]
fn criteria_are_thresholds_of_what_they_are_about() {
    let criteria = [
        criterion("response p95 < 500ms", Some(true)),
        criterion("response p99 < 1ms for label page", Some(false)),
        criterion("error% < 1%", Some(false)),
        criterion("rate > 5/s", Some(true)),
        criterion("checks% > 99%", Some(false)),
        criterion("count > 3 for label none", None),
    ];
    let summary = summary(10, &criteria);
    let crossed = |metric: &str, criterion: &str| {
        summary["metrics"][metric]["thresholds"][criterion].as_bool().expect("a threshold")
    };
    assert!(!crossed("http_req_duration", "response p95 < 500ms"));
    assert!(crossed("http_req_duration", "response p99 < 1ms for label page"));
    assert!(crossed("http_req_failed", "error% < 1%"));
    assert!(!crossed("http_reqs", "rate > 5/s"));
    assert!(crossed("checks", "checks% > 99%"));
    // A criterion without a value is not met.
    assert!(crossed("http_reqs", "count > 3 for label none"));
}

#[test]
fn without_samples_there_are_no_times_and_no_share_of_nothing() {
    let criteria = [criterion("response p95 < 500ms", None)];
    let summary = summary(0, &criteria);
    let metrics = summary["metrics"].as_object().expect("metrics");
    assert_eq!(metrics["http_reqs"]["count"], 0);
    for name in ["checks", "http_req_duration", "http_req_waiting"] {
        assert!(!metrics.contains_key(name), "{name}");
    }
}
