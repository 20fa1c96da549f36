//! Tests the page of a run: shares of time, and the evidence of findings in words.

use std::sync::Arc;

use answers::rules::verdict;
use answers::verdict::{Language, Verdict};
use record::{CauseName, Frame, Has, Label, Part, Record, Second};
use report::model::{Agents, Given, RunPage};
use stats::Outcome;
use stats::hist::layout::index_of;

fn part(count: u64, us: u64) -> Part {
    let mut part =
        Part { count, elapsed: count * us * 1000, longest: us * 1000, ..Part::default() };
    part.service.add(index_of(us), count);
    part
}

/// Returns a minute of samples of these labels in each second. A transaction is in no sum of requests.
fn record(labels: &[(&str, bool, Part)]) -> Record {
    let mut all = Part::default();
    labels.iter().filter(|(_, transaction, _)| !transaction).for_each(|(.., p)| all.merge(p));
    let parts: Vec<(u32, Part)> = (0..).zip(labels).map(|(n, (.., p))| (n, p.clone())).collect();
    let second = |n: i64| Second {
        at_ms: n * 1000,
        ms: 1000,
        users: 4,
        all: all.clone(),
        labels: parts.clone().into(),
        ..Second::default()
    };
    let label = |(name, transaction, _): &(&str, bool, Part)| Label {
        name: Arc::from(*name),
        transaction: *transaction,
        folded: 0,
    };
    Record {
        frame: Frame { length_ms: 60_000, ..Frame::default() },
        seconds: (1..=60).map(second).collect(),
        labels: labels.iter().map(label).collect(),
        has: Has { users: true, ..Has::default() },
        ..Record::default()
    }
}

fn page(record: &Record, verdict: &Verdict) -> RunPage {
    RunPage::new(&Given {
        record,
        verdict,
        run: "run",
        criteria: &[],
        properties: &[],
        notes: &[],
        jmeter: None,
        agents: &Agents::default(),
        live: false,
    })
}

#[test]
fn shares_of_time_count_no_request_twice() {
    let record = record(&[
        ("Checkout", true, part(10, 40_000)),
        ("Pay", false, part(10, 30_000)),
        ("Cart", false, part(10, 10_000)),
    ]);
    let page = page(&record, &Verdict::default());
    let shares: Vec<(&str, Option<f64>)> =
        page.labels.iter().map(|label| (&*label.name, label.share_of_time)).collect();
    assert_eq!(shares, [("Checkout", None), ("Pay", Some(0.75)), ("Cart", Some(0.25))]);
    let html = report::run(&page, Language::English);
    assert!(html.contains("Transactions have no share"));
}

#[test]
fn the_row_of_further_labels_counts_no_transaction() {
    let names: Vec<String> = (0..300).map(|n| format!("Label {n}")).collect();
    let labels: Vec<(&str, bool, Part)> =
        names.iter().enumerate().map(|(n, name)| (&**name, n % 2 == 0, part(1, 10_000))).collect();
    let page = page(&record(&labels), &Verdict::default());
    let rest = page.rest.as_ref().expect("a row for further labels");
    let shown: f64 = page.labels.iter().filter_map(|label| label.share_of_time).sum();
    let all = shown + rest.row.share_of_time.expect("a share");
    assert!((all - 1.0).abs() < 1e-9, "{all}");
}

#[test]
fn evidence_has_names_and_charts_in_words() {
    let failing = Part { errors: 3, ..part(10, 30_000) };
    let mut record = record(&[("Pay", false, failing)]);
    record.causes = vec![CauseName {
        outcome: Outcome::Status,
        code: "500".into(),
        message: "Internal Server Error".into(),
        first_label: "Pay".into(),
    }];
    for second in &mut record.seconds {
        second.causes = vec![(0, 3)];
    }
    let verdict = verdict(&record);
    let page = page(&record, &verdict);
    let named = page.verdict.findings.iter().find(|finding| finding.id == "errors_named");
    assert_eq!(named.expect("a finding on the errors").charts, ["errors", "response"]);
    for evidence in page.verdict.findings.iter().flat_map(|finding| &finding.evidence) {
        assert!(
            !evidence.metric.en.contains('_') && !evidence.metric.zh.is_ascii(),
            "{evidence:?}"
        );
    }
}
