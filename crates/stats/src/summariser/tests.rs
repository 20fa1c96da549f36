//! The expected lines were printed by JMeter 5.6.3's own Summariser for the same metrics.
use super::*;

/// Returns the line for one set of metrics: count, sum, min, max, errors, elapsed ms.
fn line(figures: [u64; 6]) -> String {
    let [count, sum_ms, min, max, errors, elapsed] = figures;
    let sums = Brief { count, errors, sum_ms, min_max_ms: Some((min, max)) };
    let running = Running { sums, start_ms: 1000, end_ms: 1000 + elapsed as i64 };
    running.line("summary", '=')
}

#[test]
fn lines_are_jmeters_byte_for_byte() {
    let expected = [
        (
            [1, 12, 12, 12, 0, 0],
            "summary =      1 in 00:00:00 = ******/s Avg:    12 Min:    12 Max:    12 Err:     0 (0.00%)",
        ),
        (
            [1, 12, 12, 12, 1, 499],
            "summary =      1 in 00:00:00 =    2.0/s Avg:    12 Min:    12 Max:    12 Err:     1 (100.00%)",
        ),
        (
            [3, 100, 10, 80, 1, 1500],
            "summary =      3 in 00:00:02 =    2.0/s Avg:    33 Min:    10 Max:    80 Err:     1 (33.33%)",
        ),
        (
            [123_456, 9_999_999, 0, 30_001, 617, 29_950],
            "summary = 123456 in 00:00:30 = 4122.1/s Avg:    81 Min:     0 Max: 30001 Err:   617 (0.50%)",
        ),
        (
            [1_234_567, 123_456_789_012, 1, 1_234_567, 1_234_567, 3_723_456],
            "summary = 1234567 in 01:02:03 =  331.6/s Avg: 100000 Min:     1 Max: 1234567 Err: 1234567 (100.00%)",
        ),
        (
            [200, 2, 0, 1, 1, 360_000_500],
            "summary =    200 in 100:00:01 =    0.0/s Avg:     0 Min:     0 Max:     1 Err:     1 (0.50%)",
        ),
    ];
    for (figures, text) in expected {
        assert_eq!(line(figures), text);
    }
}

#[test]
fn without_samples_the_end_shows_jmeters_odd_extremes() {
    let mut summariser = Summariser::new("summary", 30, 5_000);
    assert_eq!(
        summariser.finish(9_000, Users::default()),
        ["summary =      0 in 00:00:00 = ******/s Avg:     0 Min: 9223372036854775807 \
          Max: -9223372036854775808 Err:     0 (0.00%)"]
    );
}

const TEN: Brief = Brief { count: 10, errors: 1, sum_ms: 500, min_max_ms: Some((5, 95)) };

#[test]
fn reports_once_in_each_slot_and_totals_from_the_second_on() {
    // The test starts 20 s into a minute. Reports are due at every full half minute.
    let start = 1_699_999_980_000 + 20_000;
    let mut summariser = Summariser::new("sum", 30, start);
    let users = Users { active: 3, started: 4, finished: 1 };
    let mut lines = Vec::new();
    for second in 1..=50 {
        lines.extend(
            summariser.add(&TEN, start + second * 1000, users).into_iter().map(|l| (second, l)),
        );
    }
    lines.extend(summariser.finish(start + 50_500, users).into_iter().map(|l| (51, l)));
    let expected = [
        (
            10,
            "sum +    100 in 00:00:10 =   10.0/s Avg:    50 Min:     5 Max:    95 Err:    10 (10.00%) Active: 3 Started: 4 Finished: 1",
        ),
        (
            40,
            "sum +    300 in 00:00:30 =   10.0/s Avg:    50 Min:     5 Max:    95 Err:    30 (10.00%) Active: 3 Started: 4 Finished: 1",
        ),
        (
            40,
            "sum =    400 in 00:00:40 =   10.0/s Avg:    50 Min:     5 Max:    95 Err:    40 (10.00%)",
        ),
        (
            51,
            "sum +    100 in 00:00:11 =    9.5/s Avg:    50 Min:     5 Max:    95 Err:    10 (10.00%) Active: 3 Started: 4 Finished: 1",
        ),
        (
            51,
            "sum =    500 in 00:00:51 =    9.9/s Avg:    50 Min:     5 Max:    95 Err:    50 (10.00%)",
        ),
    ];
    assert_eq!(lines, expected.map(|(second, text)| (second, text.to_owned())));
}

#[test]
fn a_short_test_ends_with_its_total_alone() {
    let mut summariser = Summariser::new("summary", 30, 1_700_000_020_000);
    assert!(summariser.add(&TEN, 1_700_000_022_000, Users::default()).is_empty());
    let lines = summariser.finish(1_700_000_022_000, Users::default());
    assert_eq!(lines.len(), 1);
    assert!(lines[0].starts_with("summary =     10 in 00:00:02 =    5.0/s"), "{lines:?}");
}
