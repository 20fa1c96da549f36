//! Tests how samples pass through recorder, snapshots and totals to the summary and the per-second file.
use proptest::prelude::*;
use stats::aggregate::Percentages;
use stats::cause::{MAX_CAUSES, OTHER};
use stats::process::Usage;
use stats::recorder::{MAX_LABELS, OTHER_LABELS};
use stats::snapshot_file::{self, Second};
use stats::summary::{Frame, Summary};
use stats::{Counter, LabelId, Outcome, Recorder, Sample, Snapshot, Span, Totals};

const MS: u64 = 1_000_000;

fn drained(recorder: &mut Recorder) -> Snapshot {
    let mut snapshot = Snapshot::new();
    recorder.drain(&mut snapshot);
    snapshot
}

fn snapshot_of(samples: &[Sample]) -> Snapshot {
    let mut recorder = Recorder::new();
    for sample in samples {
        let label = recorder.intern(&format!("label {}", sample.label.0));
        let sample = Sample { label, ..*sample };
        recorder.record(&sample);
        if !sample.success {
            recorder.error(&sample, "500", "broken");
        }
    }
    drained(&mut recorder)
}

fn totals_of<'s>(snapshots: impl IntoIterator<Item = &'s Snapshot>) -> Totals {
    let mut totals = Totals::new();
    for snapshot in snapshots {
        totals.add(snapshot);
    }
    totals
}

/// Returns the content of a snapshot in an order that does not depend on the order of merging.
fn canonical(snapshot: &Snapshot) -> String {
    let mut labels = snapshot.labels.clone();
    labels.sort_by(|a, b| (&a.name, a.transaction).cmp(&(&b.name, b.transaction)));
    let mut causes = snapshot.causes.clone();
    causes.sort_by(|a, b| (a.outcome, &a.code, &a.message).cmp(&(b.outcome, &b.code, &b.message)));
    format!("{labels:?} {:?} {causes:?}", snapshot.counters)
}

fn sample() -> impl Strategy<Value = Sample> {
    let times = (0u64..40_000_000_000, 0u64..5_000_000, 0u64..100_000_000);
    let kind = (0u32..4, any::<bool>(), any::<bool>(), 0u8..20);
    // Starts are distinct, so that the first example of an error does not depend on the order.
    (times, kind, 0i64..1 << 40).prop_map(|((elapsed, lag, wait), (label, ok, tx, end), start)| {
        Sample {
            elapsed,
            lag,
            wait,
            success: ok,
            errors: u32::from(!ok),
            outcome: match (end, ok) {
                (0, _) => Outcome::CutByEnd,
                (_, true) => Outcome::Ok,
                _ => Outcome::Status,
            },
            sent: lag % 1000,
            received: elapsed % 10_000,
            transaction: tx,
            ..Sample::new(LabelId(label), start)
        }
    })
}

fn some() -> impl Strategy<Value = Vec<Sample>> {
    prop::collection::vec(sample(), 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn merging_is_associative_commutative_and_counting_together(a in some(), b in some(), c in some()) {
        let [x, y, z] = [&a, &b, &c].map(|samples| snapshot_of(samples));
        let mut left = x.clone();
        left.merge(&y);
        left.merge(&z);
        let mut tail = y.clone();
        tail.merge(&z);
        let mut right = x.clone();
        right.merge(&tail);
        let mut back = z.clone();
        back.merge(&y);
        back.merge(&x);
        let together = snapshot_of(&[a, b, c].concat());
        prop_assert_eq!(canonical(&left), canonical(&right));
        prop_assert_eq!(canonical(&left), canonical(&back));
        prop_assert_eq!(canonical(&left), canonical(&together));
    }

    #[test]
    fn totals_do_not_depend_on_how_the_run_was_cut_up(a in some(), b in some()) {
        let parts = totals_of([&snapshot_of(&a), &snapshot_of(&b)]);
        let whole = totals_of([&snapshot_of(&[a, b].concat())]);
        let frame = Frame::default();
        let json = |totals: &Totals| {
            let mut summary = Summary::new(totals, &frame, &Percentages::default());
            summary.aggregate.lines.sort_by(|x, y| x.label.cmp(&y.label));
            serde_json::to_value(&summary).unwrap()
        };
        prop_assert_eq!(json(&parts), json(&whole));
    }
}

#[test]
fn a_drain_empties_the_recorder_and_reuses_the_snapshot() {
    let mut recorder = Recorder::new();
    let label = recorder.intern("a");
    let mut snapshot = Snapshot::new();
    for round in 1..=3u64 {
        for n in 0..round {
            recorder.record(&Sample { elapsed: (n * 20 + 1) * MS, ..Sample::new(label, 1000) });
        }
        recorder.add(Counter::ConnOpened, round);
        recorder.drain(&mut snapshot);
        assert_eq!(snapshot.seq, round);
        assert_eq!(snapshot.labels.len(), 1);
        assert_eq!(snapshot.labels[0].tally.count, round);
        assert_eq!(snapshot.labels[0].ms.total(), round);
        assert_eq!(snapshot.labels[0].service.total(), round);
        assert_eq!(snapshot.counters.get(Counter::ConnOpened), round);
    }
    recorder.drain(&mut snapshot);
    assert!(snapshot.labels.is_empty());
    assert_eq!(snapshot.counters.get(Counter::ConnOpened), 0);
}

#[test]
fn times_end_in_their_histograms() {
    let mut recorder = Recorder::new();
    let label = recorder.intern("a");
    let sample = Sample {
        elapsed: 20_000 * MS + 400_000,
        lag: 3 * MS,
        wait: 50 * MS,
        idle: 7 * MS as i64,
        ..Sample::new(label, 1_000_000)
    };
    recorder.record(&sample);
    recorder.record(&Sample { elapsed: 20 * MS, ..sample });
    let snapshot = drained(&mut recorder);
    let delta = &snapshot.labels[0];
    assert_eq!(delta.ms.iter().collect::<Vec<_>>(), [(20, 1), (20_000, 1)]);
    assert_eq!(delta.tally.last_end_ms, 1_000_000 + 20_000 + 7);
    let totals = totals_of([&snapshot]);
    let row = totals.requests();
    let near = |got: u64, want: f64| assert!((got as f64 / want - 1.0).abs() < 0.001, "{got}");
    near(row.service.quantile(1.0), 20_000_400.0);
    near(row.service.quantile(0.5), 20_000.0);
    near(row.response.quantile(0.5), 70_000.0);
    near(row.lag.quantile(0.5), 3000.0);
}

#[test]
fn a_result_that_stands_for_several_samples_counts_as_in_jmeter() {
    let mut recorder = Recorder::new();
    let label = recorder.intern("batch");
    recorder.record(&Sample { elapsed: 100 * MS, count: 4, errors: 1, ..Sample::new(label, 0) });
    let snapshot = drained(&mut recorder);
    let tally = snapshot.labels[0].tally;
    assert_eq!((tally.count, tally.errors, tally.sum_ms), (4, 1, 100));
    assert_eq!((tally.min_ms, tally.max_ms), (25, 25));
    assert_eq!(snapshot.labels[0].ms.iter().collect::<Vec<_>>(), [(25, 4)]);
}

#[test]
fn samples_cut_by_the_end_are_in_no_other_figure() {
    let mut recorder = Recorder::new();
    let label = recorder.intern("a");
    recorder.record(&Sample { elapsed: 10 * MS, ..Sample::new(label, 5) });
    recorder.record(&Sample {
        elapsed: 900 * MS,
        outcome: Outcome::CutByEnd,
        success: false,
        errors: 1,
        ..Sample::new(label, 5)
    });
    let totals = totals_of([&drained(&mut recorder)]);
    let summary = Summary::new(&totals, &Frame::default(), &Percentages::default());
    assert_eq!((summary.requests, summary.failed, summary.cut_by_end), (1, 0, 1));
    assert_eq!(summary.aggregate.total.max, 10);
    assert_eq!(totals.counters.get(Counter::CutByEnd), 1);
    assert!(summary.text().contains("1 sample in flight"), "{}", summary.text());
}

#[test]
fn labels_are_bounded() {
    let mut recorder = Recorder::new();
    for n in 0..MAX_LABELS + 500 {
        let label = recorder.intern(&n.to_string());
        recorder.record(&Sample::new(label, 0));
    }
    assert_eq!(recorder.intern("0"), LabelId(0));
    let snapshot = drained(&mut recorder);
    assert_eq!(snapshot.labels.len(), MAX_LABELS + 1);
    let others = snapshot.labels.iter().find(|l| &*l.name == OTHER_LABELS).unwrap();
    assert_eq!(others.tally.count, 500);
}

#[test]
fn causes_are_bounded_and_lose_no_error() {
    let mut recorder = Recorder::new();
    let label = recorder.intern("a");
    let sample =
        Sample { outcome: Outcome::Assertion, success: false, errors: 1, ..Sample::new(label, 7) };
    for n in 0..MAX_CAUSES + 100 {
        recorder.error(&sample, "200", &format!("expected {n}"));
        recorder.error(&sample, "200", "expected 0");
    }
    let totals = totals_of([&drained(&mut recorder)]);
    assert_eq!(totals.causes().len(), MAX_CAUSES + 1);
    let all: u64 = totals.causes().iter().map(|c| c.count).sum();
    assert_eq!(all as usize, 2 * (MAX_CAUSES + 100));
    let other = totals.causes().iter().find(|c| &*c.code == OTHER).unwrap();
    assert_eq!(other.count, 100);
    let summary = Summary::new(&totals, &Frame::default(), &Percentages::default());
    assert_eq!(summary.errors[0].message, "expected 0");
    assert_eq!(summary.errors[0].count as usize, MAX_CAUSES + 101);
}

#[test]
fn a_long_message_is_cut_at_a_character() {
    let mut recorder = Recorder::new();
    let label = recorder.intern("a");
    recorder.error(&Sample::new(label, 0), "200", &"é".repeat(5000));
    let snapshot = drained(&mut recorder);
    assert_eq!(&*snapshot.causes[0].message, "é".repeat(150));
}

#[test]
fn transactions_count_in_jmeters_total_but_not_as_requests() {
    let mut recorder = Recorder::new();
    let label = recorder.intern("same name");
    recorder.record(&Sample { elapsed: 10 * MS, ..Sample::new(label, 0) });
    let transaction = Sample { elapsed: 30 * MS, transaction: true, ..Sample::new(label, 0) };
    recorder.record(&transaction);
    let snapshot = drained(&mut recorder);
    assert_eq!(snapshot.brief(false).count, 1);
    assert_eq!(snapshot.brief(true).min_max_ms, Some((10, 30)));
    let totals = totals_of([&snapshot]);
    let summary = Summary::new(&totals, &Frame::default(), &Percentages::default());
    assert_eq!(summary.requests, 1);
    assert_eq!(summary.aggregate.lines.len(), 1);
    assert_eq!((summary.aggregate.lines[0].samples, summary.aggregate.lines[0].max), (2, 30));
}

/// Errors are wrapped on a narrow terminal, so that host, port and cause stay readable.
#[test]
fn host_and_port_of_an_error_are_not_cut() {
    let mut recorder = Recorder::new();
    let label = recorder.intern("https://a-long-name.of-some-host.example.com:8443/path/of/it");
    let failed = Sample { success: false, outcome: Outcome::Refused, ..Sample::new(label, 0) };
    recorder.record(&failed);
    let code = "Non HTTP response code: org.apache.http.conn.HttpHostConnectException";
    let host = "a-long-name.of-some-host.example.com:8443";
    let cause = "failed: Connection refused (Connection refused)";
    let message = format!("Non HTTP response message: Connect to {host} {cause}");
    recorder.error(&failed, code, &message);
    let snapshot = drained(&mut recorder);
    let summary = Summary::new(&totals_of([&snapshot]), &Frame::default(), &Percentages::default());
    for width in [60, 80] {
        let text = summary.text_within(Some(width));
        let (table, errors) = text.split_once("Errors by cause").expect("both");
        assert!(table.contains(host) && errors.contains(host), "{text}");
        let whole = errors.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(whole.contains(cause), "{whole}");
        let longest = errors.lines().map(str::len).max().unwrap_or_default();
        assert!(longest <= width.max(21 + 80), "{text}");
    }
}

#[test]
fn summary_text_shows_errors_connections_and_the_generator() {
    let mut recorder = Recorder::new();
    let label = recorder.intern("Login");
    for n in 0..100u64 {
        let success = n % 4 != 0;
        let sample = Sample {
            elapsed: (n + 1) * MS,
            lag: MS,
            success,
            errors: u32::from(!success),
            outcome: if success { Outcome::Ok } else { Outcome::Status },
            ..Sample::new(label, 1000 + n as i64)
        };
        recorder.record(&sample);
        if !success {
            recorder.error(&sample, "503", "Service\nUnavailable");
        }
    }
    recorder.add(Counter::ConnOpened, 5);
    recorder.add(Counter::ConnClosedByUs, 4);
    recorder.add(Counter::ConnClosedForNewUser, 3);
    recorder.add(Counter::TlsResumed, 2);
    recorder.add(Counter::TlsResumedCpu, 75 * MS);
    recorder.add(Counter::TlsTime, 505 * MS);
    recorder.span(Span::Tls, 200 * MS);
    let usage = Usage { user_s: 0.25, system_s: 0.5, rss_peak: 3 << 20, ..Usage::default() };
    let frame = Frame { start_ms: 0, end_ms: 2000, usage };
    let totals = totals_of([&drained(&mut recorder)]);
    let text = Summary::new(&totals, &frame, &Percentages::default()).text();
    for part in [
        "        25  100.00%  503: Service Unavailable  (first in Login)",
        "Response time   p50 50.0  p90 90.0  p95 95.0  p99 99.0  max 100 ms",
        "                generator overhead p50 1.00",
        "Connections     5 opened, 0 reused, 0 closed by peer, 4 closed by Throng, 0 failed",
        "                3 of those closed by Throng: the next iteration was a new user",
        "TLS handshakes  0 full, 2 resumed, 0 failed\n",
        "  time          p50 200  p90 200  p99 200 ms; 10.0% of all response time",
        "  CPU           37500 µs per resumed handshake: 10.0% of the generator's CPU",
        "  overhead      2.0% of all response time is generator overhead, handshakes included",
        "Generator       CPU 0.25 s user + 0.50 s system, 7500 µs per request; memory 3 MiB",
    ] {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
    assert!(!text.contains("Cut by the end"));
}

#[test]
fn the_per_second_file_is_readable_up_to_a_cut_line() {
    let mut recorder = Recorder::new();
    let label = recorder.intern("a");
    recorder.record(&Sample { elapsed: 12 * MS, received: 100, ..Sample::new(label, 0) });
    recorder.add(Counter::ConnOpened, 1);
    let mut snapshot = drained(&mut recorder);
    snapshot.at_ms = 5000;
    let now = Usage { user_s: 1.5, rss: 4096, ..Usage::default() };
    let before = Usage { user_s: 1.0, ..Usage::default() };
    let second = Second { users: 3, ..Second::new(&snapshot, &before, &now) };
    let mut file = Vec::new();
    snapshot_file::write(&mut file, &second).unwrap();
    snapshot_file::write(&mut file, &second).unwrap();
    let cut = &file[..file.len() - 5];
    let lines = snapshot_file::read(cut).unwrap();
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0]["at_ms"], 5000);
    assert_eq!(lines[0]["users"], 3);
    assert_eq!(lines[0]["samples"], 1);
    assert_eq!(lines[0]["p99_ms"], 12.0);
    assert_eq!(lines[0]["cpu_s"], 0.5);
    assert_eq!(lines[0]["counters"]["conn_opened"], 1);
    assert_eq!(lines[0]["counters"]["tls_full"], serde_json::Value::Null);
}

#[test]
fn this_process_uses_memory() {
    let usage = Usage::now();
    assert!(usage.rss > 0 && usage.rss_peak >= usage.rss, "{usage:?}");
}

#[test]
fn ten_thousand_labels_take_little_memory() {
    let used = allocation_counter::measure(|| {
        let mut recorder = Recorder::new();
        let mut totals = Totals::new();
        let mut snapshot = Snapshot::new();
        for second in 0..3 {
            for n in 0..10_000u64 {
                let label = recorder.intern(&format!("/item/{n}"));
                let elapsed = (n % 90 + second) * MS;
                recorder.record(&Sample { elapsed, ..Sample::new(label, 0) });
            }
            recorder.drain(&mut snapshot);
            totals.add(&snapshot);
        }
        assert_eq!(totals.rows().len(), 10_000);
    });
    let each = used.bytes_max / 10_000;
    println!("{each} bytes a label");
    // A core's part plus the run's part. In an earlier design, tables alone took 12 KB per core.
    assert!(each < 8_000, "{each} bytes a label");
}

#[test]
fn a_snapshot_of_another_clock_moves_with_all_its_times_of_day() {
    let failed = Sample { success: false, errors: 1, ..Sample::new(LabelId(0), 5_000) };
    let mut snapshot = snapshot_of(&[Sample { elapsed: 20 * MS, ..failed }]);
    snapshot.at_ms = 6_000;
    snapshot.shift(-1_500);
    let tally = snapshot.labels[0].tally;
    assert_eq!((tally.first_start_ms, tally.last_end_ms, tally.max_ms), (3_500, 3_520, 20));
    assert_eq!((snapshot.at_ms, snapshot.began_ms), (4_500, 0));
    assert!(snapshot.causes.iter().all(|cause| cause.first_ms < 4_000), "{:?}", snapshot.causes);
    let mut empty = Snapshot::new();
    empty.shift(7);
    assert_eq!((empty.at_ms, empty.began_ms), (0, 0));
}
