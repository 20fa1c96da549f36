//! The expected values were printed by JMeter 5.6.3's own classes for the same samples.
use super::*;
use crate::{Recorder, Sample, Snapshot};

/// A fixed pseudo-random sequence. The expected values were computed with the same sequence.
struct Sequence(u64);

impl Sequence {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

fn thousand_samples() -> Totals {
    let mut recorder = Recorder::new();
    let mut sequence = Sequence(1);
    for n in 0..1000 {
        let which = sequence.below(100);
        let (label, elapsed) = match which {
            0..60 => ("Login", sequence.below(20)),
            60..95 => ("a,b \"c\"", sequence.below(3000)),
            _ => ("slow", 15_000 + sequence.below(5000)),
        };
        let success = sequence.below(10) != 0;
        let received = 100 + sequence.below(5000);
        let sent = sequence.below(300);
        let label = recorder.intern(label);
        recorder.record(&Sample {
            elapsed: elapsed * 1_000_000,
            success,
            errors: u32::from(!success),
            received,
            sent,
            // Every second sample is a transaction; JMeter's report does not distinguish them.
            transaction: n % 2 == 0,
            ..Sample::new(label, 1_700_000_000_000 + n * 7)
        });
    }
    let label = recorder.intern("instant");
    recorder.record(&Sample::new(label, 1_700_000_000_000));
    let mut snapshot = Snapshot::new();
    recorder.drain(&mut snapshot);
    let mut totals = Totals::new();
    totals.add(&snapshot);
    totals
}

#[test]
fn table_saved_as_csv_is_jmeters() {
    let report = Report::new(&thousand_samples(), &Percentages::default());
    let csv = report.csv();
    let mut lines: Vec<&str> = csv.lines().collect();
    lines[1..5].sort_unstable();
    assert_eq!(
        lines,
        [
            "Label,# Samples,Average,Median,90% Line,95% Line,99% Line,Min,Max,Error %,Throughput,\
             Received KB/sec,Sent KB/sec",
            "\"a,b \"\"c\"\"\",347,1576,1611,2786,2896,2959,1,2994,6.916%,35.65923,89.63,5.27",
            "Login,596,9,9,18,18,19,0,19,8.557%,85.25247,211.31,12.86",
            "instant,1,0,0,0,0,0,0,0,0.000%,∞,0.00,0.00",
            "slow,57,17652,17857,19710,19895,19993,15046,19999,14.035%,2.13603,5.46,0.31",
            "TOTAL,1001,1557,16,2743,15691,19100,0,19999,8.292%,37.50187,93.48,5.60",
        ]
    );
}

#[test]
fn text_table_is_aligned_and_shows_rates_as_the_gui() {
    let text = Report::new(&thousand_samples(), &Percentages::default()).text(None);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 6);
    let width = lines[0].chars().count();
    assert!(lines.iter().all(|line| line.chars().count() == width), "{text}");
    assert!(lines[5].starts_with("TOTAL ") && lines[5].contains("37.5/sec"), "{text}");
    assert!(lines[5].contains(" 8.29% "), "{text}");
}

#[test]
fn rates_change_unit_as_in_the_gui() {
    let expected = [
        (0.0, ".0/hour"),
        (0.00001, ".0/hour"),
        (1.0 / 7200.0, ".5/hour"),
        (1.0 / 60.0, "1.0/min"),
        (0.5, "30.0/min"),
        (0.99999, "60.0/min"),
        (1.25, "1.2/sec"),
        (34.25, "34.2/sec"),
        (99.95, "100.0/sec"),
        (1_234_567.05, "1234567.1/sec"),
    ];
    for (per_second, text) in expected {
        assert_eq!(rate(per_second), text, "{per_second}");
    }
}

#[test]
fn percentages_come_from_properties() {
    let set = |key: &str| match key {
        "aggregate_rpt_pct1" => Some("50".to_owned()),
        "aggregate_rpt_pct2" => Some("much".to_owned()),
        _ => None,
    };
    let percentages = Percentages::from_properties(set);
    assert_eq!(percentages.0, ["50", "95", "99"]);
    let report = Report::new(&thousand_samples(), &percentages);
    assert_eq!(report.headings()[4], "50% Line");
    assert_eq!(report.total.pct1, report.total.median);
}

#[test]
fn an_empty_run_has_a_total_of_nothing() {
    let report = Report::new(&Totals::new(), &Percentages::default());
    assert!(report.lines.is_empty());
    assert_eq!(report.csv().lines().last(), Some("TOTAL,0,0,0,0,0,0,0,0,0.000%,.00000,0.00,0.00"));
}

#[test]
fn a_narrow_table_leaves_columns_out_and_no_line_is_longer_than_asked_for() {
    let mut recorder = Recorder::new();
    let label =
        recorder.intern("a name that is longer than many names are: /api/v1/orders/{id}/lines");
    for n in 0..10 {
        let elapsed = 1_234_567_890_000_000;
        recorder.record(&Sample { elapsed, ..Sample::new(label, 1_700_000_000_000 + n) });
    }
    let mut snapshot = Snapshot::new();
    recorder.drain(&mut snapshot);
    let mut totals = Totals::new();
    totals.add(&snapshot);
    let report = Report::new(&totals, &Percentages::default());
    for width in [79, 100, 120] {
        let text = report.text(Some(width));
        assert!(text.lines().all(|line| line.width() <= width), "{width}:\n{text}");
        for heading in ["Label", "# Samples", "Median", "99% Line", "Error %", "Throughput"] {
            assert!(
                text.lines().next().is_some_and(|line| line.contains(heading)),
                "{heading}:\n{text}"
            );
        }
    }
    assert!(
        report.text(Some(79)).contains("more columns in summary.txt"),
        "{}",
        report.text(Some(79))
    );
    assert!(report.text(Some(1000)).contains("lines  "), "nothing is cut where there is room");
    assert_eq!(report.text(Some(1000)), report.text(None));
}

/// Checks that a Chinese or Japanese character is two terminal columns wide, and that a combining accent has no width.
#[test]
fn columns_are_those_of_a_terminal() {
    let mut recorder = Recorder::new();
    for name in ["订单查询", "Ordre e\u{301}te\u{301}", "plain"] {
        let label = recorder.intern(name);
        recorder.record(&Sample::new(label, 1_700_000_000_000));
    }
    let mut snapshot = Snapshot::new();
    recorder.drain(&mut snapshot);
    let mut totals = Totals::new();
    totals.add(&snapshot);
    let text = Report::new(&totals, &Percentages::default()).text(None);
    let widths: Vec<usize> = text.lines().map(UnicodeWidthStr::width).collect();
    assert!(widths.iter().all(|width| *width == widths[0]), "{text}");
    assert_eq!(cut("订单查询", 6), "订单…");
    assert_eq!(cut("订单查询", 8), "订单查询");
    assert_eq!(cut("abc", 2), "a…");
    assert_eq!(cut("abc", 0), "…");
}
