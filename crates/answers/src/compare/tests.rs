//! Calibration on simulated pairs of records, and the sentences for known pairs.

use std::collections::BTreeMap;
use std::sync::Arc;

use record::{Has, Label};
use stats::hist::{Bins, layout};

use super::*;
use crate::random::Random;
use crate::verdict::Words;

/// Returns a run of 120 s with about 100 requests per second. Times are log-normal, and their level wanders from second
/// to second.
pub(super) fn run(seed: u64, slower: f64, errors: f64, seconds: usize) -> Record {
    let mut random = Random::new(seed);
    let mut wander = 0.0;
    let mut record = Record {
        labels: vec![
            Label { name: Arc::from("a"), transaction: false, folded: 0 },
            Label { name: Arc::from("b"), transaction: false, folded: 0 },
        ],
        has: Has { users: true, ..Has::default() },
        ..Record::default()
    };
    for second in 0..seconds {
        // Half of a second's deviation carries over to the next; the total deviation is 3 %.
        wander = 0.5 * wander + 0.026 * random.normal();
        let level = 20_000.0 * slower * (1.0 + wander);
        let mut parts = [Part::default(), Part::default(), Part::default()];
        let mut bins: [BTreeMap<u32, u64>; 3] = Default::default();
        // Two users, each of which sends one request after the other.
        let mut left = 2_000_000.0;
        while left > 0.0 {
            let us = level * (0.5 * random.normal() - 0.125).exp();
            left -= us;
            let (label, failed) = (1 + random.below(2), random.uniform() < errors);
            for at in [0, label] {
                parts[at].count += 1;
                parts[at].errors += u64::from(failed);
                parts[at].elapsed += (us * 1e3) as u64;
                *bins[at].entry(layout::index_of(us as u64)).or_default() += 1;
            }
        }
        for (part, bins) in parts.iter_mut().zip(bins) {
            part.service = Bins::try_from(bins.into_iter().collect::<Vec<_>>()).expect("in order");
        }
        let [all, first, other] = parts;
        let at_ms = (second as i64 + 1) * 1000;
        record.seconds.push(Second {
            at_ms,
            ms: 1000,
            users: 2,
            all,
            labels: vec![(0, first), (1, other)].into(),
            ..Second::default()
        });
    }
    record
}

fn is_called(comparison: &Comparison) -> bool {
    comparison.different().any(|(row, _)| row.label.is_empty())
}

fn called(pairs: u64, slower: f64) -> (usize, usize) {
    let settings = Settings { resamples: 500, ..Settings::default() };
    let found: Vec<Comparison> = (0..pairs)
        .map(|i| {
            compare(&run(i * 2 + 1, 1.0, 0.01, 120), &run(i * 2 + 2, slower, 0.01, 120), &settings)
        })
        .collect();
    let any = found.iter().filter(|comparison| comparison.different().next().is_some()).count();
    (found.iter().filter(|comparison| is_called(comparison)).count(), any)
}

#[test]
fn pairs_without_a_difference_are_not_called_different() {
    let (all, any) = called(200, 1.0);
    println!(
        "200 pairs without a difference: {all} called different in all requests, {any} in these or in a label"
    );
    assert!(all <= 10 && any <= 10, "{all}, {any}");
}

#[test]
fn five_percent_are_found_in_two_minutes() {
    let (all, _) = called(100, 1.05);
    println!("100 pairs with 5 % more time: {all} called different");
    assert!(all >= 80, "{all}");
}

/// Returns the share of pairs of 120 s, B slower by 5 %, whose intervals contain the true change: rate, mean, p50, p95,
/// p99.
fn coverage(pairs: u64, seed: u64) -> Vec<(&'static str, f64)> {
    const TRUE: [(&str, f64); 5] =
        [("rate", 1.0 / 1.05 - 1.0), ("mean", 0.05), ("p50", 0.05), ("p95", 0.05), ("p99", 0.05)];
    let settings = Settings { resamples: 500, ..Settings::default() };
    let mut held = [0; TRUE.len()];
    for pair in 0..pairs {
        let at = seed + pair * 2;
        let found = compare(&run(at, 1.0, 0.0, 120), &run(at + 1, 1.05, 0.0, 120), &settings);
        for (held, (name, change)) in held.iter_mut().zip(TRUE) {
            let of = found.all.differences.iter().find(|difference| difference.metric == name);
            let (low, high) = of.and_then(|of| of.interval).expect("an interval");
            *held += u64::from(low <= change && change <= high);
        }
    }
    let share = |(held, (name, _)): (u64, (&'static str, f64))| (name, held as f64 / pairs as f64);
    held.into_iter().zip(TRUE).map(share).collect()
}

#[test]
fn intervals_of_changes_hold_the_true_change() {
    for seed in [100_001, 200_001] {
        let held = coverage(250, seed);
        println!("250 pairs from seed {seed}: {held:?}");
        for (name, share) in held {
            // In 95 % of 250 pairs the interval contains the true change; four standard errors less are 89.5 %.
            assert!(share >= 0.895, "{name}: {share}");
        }
    }
}

#[test]
fn a_difference_has_its_size_and_its_interval() {
    let found = compare(&run(1, 1.0, 0.0, 120), &run(2, 1.2, 0.05, 120), &Settings::default());
    let difference =
        |metric: &str| found.all.differences.iter().find(|d| d.metric == metric).unwrap();
    let mean = difference("mean");
    assert_eq!(mean.result, Outcome::Different);
    let (low, high) = mean.interval.unwrap();
    assert!(low < 0.2 && 0.2 < high && high - low < 0.1, "{mean:?}");
    assert!(difference("rate").change < -0.1);
    let errors = difference("error%");
    assert!(
        errors.result == Outcome::Different && (errors.change - 0.05).abs() < 0.01,
        "{errors:?}"
    );
    assert_eq!(found.labels.len(), 2);
}

/// Returns a result file of 200 samples per second that starts at `start_ms`; the times are in no simple order.
fn file(start_ms: i64, seconds: i64) -> Record {
    let head = "timeStamp,elapsed,label,responseCode,success,allThreads\n";
    let row = |n: i64| {
        format!(
            "{},{},a,200,true,3\n",
            start_ms + n * 5,
            if n % 20 == 0 { 10 } else { 2 + n * 7 % 8 }
        )
    };
    let rows: String = (0..seconds * 200).map(row).collect();
    Record::of_rows((head.to_owned() + &rows).as_bytes()).expect("rows")
}

#[test]
fn a_file_at_another_time_of_the_same_second_has_the_same_figures() {
    for seconds in [5, 10, 30] {
        let a = file(1_700_000_000_000, seconds);
        for shift in (0..1000).step_by(if seconds == 30 { 111 } else { 37 }).chain([228, 999]) {
            let b = file(1_700_000_000_000 + shift, seconds);
            let found = compare(&a, &b, &Settings { resamples: 0, ..Settings::default() });
            let all = &found.all.differences;
            assert!(
                all.iter().all(|d| d.a.to_bits() == d.b.to_bits()),
                "{seconds} {shift}: {all:?}"
            );
            let figure = |name: &str| all.iter().find(|d| d.metric == name).expect("a figure").a;
            let rate = (seconds * 200) as f64 / (a.frame.length_ms as f64 / 1000.0);
            assert!((figure("rate") / rate - 1.0).abs() < 0.01, "{seconds}: {all:?}");
            // 95 % of the samples took at most 9 ms, the others 10 ms.
            assert!((8.9..9.1).contains(&figure("p95")), "{seconds}: {all:?}");
        }
    }
}

#[test]
fn a_side_without_samples_is_refused_and_has_no_figures() {
    let (a, none) = (run(1, 1.0, 0.0, 10), Record::default());
    let found = doubts(&a, &none, (None, None));
    assert!(found[0].refuses && found[0].words == "B has no samples", "{found:?}");
    let found = compare(&none, &a, &Settings::default());
    assert!(found.all.differences.is_empty(), "{found:?}");
    assert!(found.all.refusal.is_some_and(|why| why.starts_with("A: only 0 s ")));
}

#[test]
fn short_runs_have_figures_and_no_verdict() {
    let found = compare(&run(1, 1.0, 0.0, 40), &run(2, 2.0, 0.0, 40), &Settings::default());
    assert!(found.all.refusal.as_ref().unwrap().contains("only 40 s"), "{:?}", found.all.refusal);
    let mut others = found.all.differences.iter().filter(|d| d.metric != ERRORS);
    assert!(others.all(|d| d.result == Outcome::Unknown && d.interval.is_none()));
    assert!(found.all.differences[2].change > 0.8);
}

#[test]
fn repeated_runs_are_the_unit() {
    // Runs differ by 5 % from each other: within two runs every difference is significant, between runs none is.
    let runs = |seed: u64, slower: f64| -> Vec<Record> {
        [0.95, 1.0, 1.05]
            .iter()
            .zip(seed..)
            .map(|(factor, seed)| run(seed, slower * factor, 0.0, 70))
            .collect()
    };
    let settings = Settings::default();
    let (a, b) = (runs(1, 1.0), runs(10, 1.03));
    assert!(is_called(&compare(&a[0], &b[2], &settings)));
    let between = compare_runs(&a, &b, &settings);
    assert!(!is_called(&between) && between.runs == (3, 3), "{:?}", between.all.differences);
    assert!(between.all.differences[2].visible.unwrap() > 0.05);
    assert!(is_called(&compare_runs(&a, &runs(10, 1.4), &settings)));
    assert!(compare_runs(&a[..1], &b[..1], &settings).all.refusal.is_some());
}

#[test]
fn runs_under_another_load_are_refused() {
    let (a, mut b) = (run(1, 1.0, 0.0, 10), run(2, 1.0, 0.0, 10));
    assert!(doubts(&a, &b, (None, None)).is_empty());
    b.seconds.iter_mut().for_each(|second| second.users = 4);
    let found = doubts(&a, &b, (None, None));
    assert!(found[0].refuses && found[0].words.contains("A had 2 users, B 4"), "{found:?}");
    let mut one = a.clone();
    one.seconds.iter_mut().for_each(|second| second.users = 1);
    let found = doubts(&one, &a, (None, None));
    assert!(found[0].words.contains("A had 1 user, B 2"), "{found:?}");
    let full = Words { en: "its processors were full".into(), zh: "其处理器满载".into() };
    let found = doubts(&a, &a, (None, Some(full)));
    assert!(found[0].refuses && found[0].words.contains("generator of B"), "{found:?}");
}

#[test]
fn a_generator_that_the_verdict_doubts_is_a_reason_for_care() {
    let read = |name: &str| {
        let path = format!("{}/tests/records/{name}.record", env!("CARGO_MANIFEST_DIR"));
        Record::read(std::path::Path::new(&path)).expect("a record")
    };
    let runs = [read("quiet"), read("stopped")];
    assert_eq!(limited(&runs), None, "a pause is no reason to refuse");
    assert_eq!(doubted("A", &runs[..1]), None);
    let found = doubted("A", &runs).expect("a pause");
    let words = "the generator of A did not keep up: The generator stood still";
    assert!(!found.refuses && found.words.starts_with(words), "{found:?}");
    assert!(!found.words.ends_with('.') && !found.zh.ends_with('。'), "{found:?}");
}

#[test]
fn another_port_of_a_target_on_this_machine_is_no_doubt() {
    let with = |address: &str, port: &str, text: &str, more: &[(&str, &str)]| {
        let mut record = run(1, 1.0, 0.0, 10);
        record.classes = vec![record::ClassName::Address(Arc::from(address))];
        let own = [("-Jhost", "h"), ("-Jport", port), (record::frame::PLAN_TEXT, text)];
        record.frame.settings =
            own.iter().chain(more).map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        // The hash of all properties includes the start time, so the hashes of two runs always differ.
        record.frame.plan_hash = port.parse().expect("a number");
        record
    };
    let here = with("127.0.0.1:8001", "8001", "x", &[]);
    let other = with("127.0.0.1:8002", "8002", "x", &[]);
    assert_eq!(doubts(&here, &other, (None, None)), []);
    let told = changes(std::slice::from_ref(&here), std::slice::from_ref(&other));
    assert!(told.iter().any(|changed| changed.what == "setting -Jport"), "{told:?}");
    assert!(told.iter().all(|changed| !changed.what.contains("plan text")), "{told:?}");
    let words = |a: &Record, b: &Record| doubts(a, b, (None, None)).remove(0).words;
    let (far, away) = (with("10.0.0.1:1", "1", "x", &[]), with("10.0.0.1:2", "2", "x", &[]));
    assert_eq!(words(&far, &away), "properties are not the same: -Jport (A 1, B 2)");
    let pool = with("127.0.0.1:8002", "8002", "x", &[("-Jpool", "5")]);
    assert_eq!(words(&here, &pool), "properties are not the same: -Jpool (A not set, B 5)");
    let plan = with("127.0.0.1:8001", "8001", "y", &[]);
    assert!(words(&here, &plan).starts_with("the plans are not the same: "));
}

#[test]
fn errors_of_repeated_runs_are_those_of_all() {
    let with = |failed: u64| {
        let mut record = run(1, 1.0, 0.0, 10);
        record.causes = vec![record::CauseName {
            outcome: stats::Outcome::Status,
            code: "500".into(),
            message: "x".into(),
            first_label: "a".into(),
        }];
        record.seconds[3].causes = vec![(0, failed)];
        record
    };
    let requests: u64 = with(0).seconds.iter().map(|second| second.all.count).sum();
    let told = changes(&[with(1), with(5), with(6)], &[with(0), with(0), with(0)]);
    let share = 12.0 / (3 * requests) as f64 * 100.0;
    let found = told.iter().find(|one| one.what == "error 500 x").expect("a cause");
    assert_eq!((&*found.a, &*found.b), (&*format!("12 ({share:.2} %)"), "0 (0.00 %)"));
}

/// Returns the difference of a metric in the row of all requests.
fn difference<'c>(of: &'c Comparison, metric: &str) -> &'c Difference {
    of.all.differences.iter().find(|one| one.metric == metric).expect("a figure")
}

#[test]
fn counts_of_whole_runs_decide_the_row_of_errors() {
    let settings = Settings { resamples: 200, ..Settings::default() };
    let (good, mut bad) = (run(1, 1.0, 0.0, 120), run(2, 1.0, 0.0, 120));
    let fail = |second: &mut Second| second.all.errors = second.all.count;
    bad.seconds[..10].iter_mut().for_each(fail);
    let found = compare(&good, &bad, &settings);
    let (row, counts) = (difference(&found, ERRORS), found.all.failures.as_ref().expect("counts"));
    assert_eq!((row.result, row.interval), (Outcome::Different, Some(counts.interval)));
    assert_eq!(
        (row.b, row.change),
        (found.all.failed.1 as f64 / found.all.recorded.1 as f64, row.b)
    );
    assert_eq!(found.all.samples, found.all.recorded, "an outage at the start is no warm-up");
    bad.seconds[1..10].iter_mut().for_each(|second| second.all.errors = 0);
    let found = compare(&good, &bad, &settings);
    let row = difference(&found, ERRORS);
    let (low, high) = row.interval.expect("an interval");
    assert!(row.result == Outcome::None && low < 0.0 && high > 0.01, "{row:?}");
}

#[test]
fn answers_as_expected_are_compared_beside_errors() {
    let settings = Settings { resamples: 200, ..Settings::default() };
    let checked = |seed: u64, bad: u64| {
        let mut record = run(seed, 1.0, 0.01, 120);
        for second in &mut record.seconds {
            let checked = record::Checked { checked: 20, unexpected: bad, by_content: 0 };
            second.checks = vec![(0, checked), (1, record::Checked { unexpected: 0, ..checked })];
        }
        record
    };
    let found = compare(&checked(1, 0), &checked(2, 4), &settings);
    let row = difference(&found, CHECKS);
    assert_eq!((row.a, row.b, row.result), (1.0, 0.9, Outcome::Different), "{row:?}");
    assert!((row.change + 0.1).abs() < 1e-9 && row.interval.expect("one").1 < 0.0, "{row:?}");
    assert_eq!(found.all.checked, (4800, 4800));
    let of_label = |label: &str| {
        let row = found.labels.iter().find(|row| row.label == label).expect("a label");
        row.differences.iter().find(|one| one.metric == CHECKS).expect("checks").result
    };
    assert_eq!((of_label("a"), of_label("b")), (Outcome::Different, Outcome::None));
    let same = compare(&checked(1, 1), &checked(2, 1), &settings);
    assert_eq!(difference(&same, CHECKS).result, Outcome::None);
    let without = compare(&run(1, 1.0, 0.0, 120), &checked(2, 4), &settings);
    assert!(without.all.differences.iter().all(|one| one.metric != CHECKS));
    assert_eq!(without.all.checked, (0, 4800));
}

#[test]
fn times_of_a_side_that_mostly_failed_and_times_below_a_millisecond_show_nothing() {
    let settings = Settings { resamples: 200, ..Settings::default() };
    let found = compare(&run(1, 1.0, 0.9, 120), &run(2, 2.0, 0.0, 120), &settings);
    assert_eq!(difference(&found, "mean").result, Outcome::MostlyFailed);
    assert_eq!(difference(&found, ERRORS).result, Outcome::Different);
    // A result file whose times are 0 ms, and another with 1 and 2 ms.
    let file = |ms: fn(i64) -> i64| {
        let row = |n: i64| format!("{},{},a,true\n", 1_700_000_000_000 + n * 50, ms(n));
        let rows: String = (0..2400).map(row).collect();
        Record::of_rows(("timeStamp,elapsed,label,success\n".to_owned() + &rows).as_bytes())
    };
    let (zero, some) = (file(|_| 0).expect("rows"), file(|n| 1 + n % 2).expect("rows"));
    for (a, b) in [(&zero, &some), (&some, &zero)] {
        for one in compare(a, b, &settings)
            .all
            .differences
            .iter()
            .filter(|one| one.metric.starts_with('p'))
        {
            assert!(one.result == Outcome::Unknown && one.interval.is_none(), "{one:?}");
            assert!(one.change.is_nan() || one.change < -0.9, "{one:?}");
        }
    }
}

/// Returns a run whose responses contained a number.
fn with_series(seed: u64, seconds: usize, value: f64) -> Record {
    let mut record = run(seed, 1.0, 0.0, seconds);
    record.frame.settings = vec![("-Jthrong.series".into(), "other=x\nqueue=depth\n".into())];
    let mut random = Random::new(seed + 77);
    for second in &mut record.seconds {
        let mut number = stats::Number::default();
        (0..5).for_each(|_| number.add(Some(value * (1.0 + 0.1 * random.normal()))));
        second.numbers = vec![(1, number)];
    }
    record
}

#[test]
fn series_of_both_sides_are_compared() {
    let settings = Settings { resamples: 100, ..Settings::default() };
    let series = |a: &Record, b: &Record| -> Vec<Row> { compare(a, b, &settings).series };
    let found = series(&with_series(1, 120, 40.0), &with_series(2, 120, 44.0));
    assert_eq!((found.len(), &*found[0].label), (1, "queue"));
    let of = &found[0].differences[0];
    let (low, high) = of.interval.expect("an interval");
    assert!(of.result == Outcome::Different && low < 0.1 && 0.1 < high && high < 0.15, "{of:?}");
    let (mut called, mut all) = (0, 0);
    for seed in 0..200 {
        let (a, b) = (with_series(2 * seed, 90, 40.0), with_series(2 * seed + 1, 90, 40.0));
        let found = numbers::compared(&a, &steady(&a), &b, &steady(&b));
        let Some((low, high)) = found[0].differences[0].interval else { continue };
        (called, all) = (called + u32::from(low > 0.0 || high < 0.0), all + 1);
    }
    println!("{called} of {all} intervals of equal series leave 0 out");
    assert!(all >= 180 && called <= all / 10, "{called} of {all}");
    let short = series(&with_series(1, 30, 40.0), &with_series(2, 30, 80.0));
    assert_eq!(short[0].differences[0].result, Outcome::Unknown);
    let from_nothing = series(&with_series(1, 120, 0.0), &with_series(2, 120, 5.0));
    assert!(from_nothing[0].differences[0].change.is_nan());
    assert!(series(&run(1, 1.0, 0.0, 120), &with_series(2, 120, 44.0)).is_empty());
    let three = |seed: u64, value: f64| -> Vec<Record> {
        (seed..seed + 3).map(|seed| with_series(seed, 90, value)).collect()
    };
    let found = compare_runs(&three(1, 40.0), &three(5, 50.0), &settings).series;
    assert_eq!(found[0].differences[0].result, Outcome::Different, "{found:?}");
}

#[test]
fn a_figure_that_was_named_is_judged_by_its_own_interval() {
    let settings = Settings { resamples: 500, ..Settings::default() };
    // Number of pairs in which at least one interval excludes 0 by chance.
    let mut seen = 0;
    for seed in 0..60 {
        let mut found = compare(
            &run(seed * 2 + 1, 1.0, 0.0, 120),
            &run(seed * 2 + 2, 1.0, 0.0, 120),
            &settings,
        );
        let open = found.all.differences.iter().find(|one| one.result == Outcome::MayBeChance);
        let Some(metric) = open.map(|one| one.metric) else { continue };
        let (low, high) = difference(&found, metric).interval.expect("one");
        assert!(low > 0.0 || high < 0.0, "{low} {high}");
        found.name("", metric, 0.01, &settings);
        let named = difference(&found, metric).result;
        assert!(matches!(named, Outcome::Different | Outcome::BelowFloor), "{named:?}");
        seen += 1;
    }
    assert!(seen > 0);
}

/// Computes metrics of rows directly: rate, mean, and percentiles by rank, in ms.
fn plain_reading(rows: &[(i64, u64)]) -> [f64; 4] {
    let start = rows.iter().map(|row| row.0).min().expect("rows");
    let end = rows.iter().map(|row| row.0 + row.1 as i64).max().expect("rows");
    let mut times: Vec<u64> = rows.iter().map(|row| row.1).collect();
    times.sort_unstable();
    let rank = |p: f64| times[(p * times.len() as f64).ceil() as usize - 1] as f64;
    let mean = times.iter().sum::<u64>() as f64 / times.len() as f64;
    [times.len() as f64 * 1000.0 / (end - start) as f64, mean, rank(0.5), rank(0.95)]
}

#[test]
fn all_rows_of_short_files_count() {
    let (mut random, mut checked) = (Random::new(5), 0);
    for (count, gap) in [(1, 100), (3, 150), (7, 20), (30, 40), (400, 2), (58, 100), (580, 10)] {
        let rows: Vec<(i64, u64)> = (0..count)
            .map(|n| (1_700_000_000_123 + n * gap, 20 + random.below(400) as u64))
            .collect();
        let head = "timeStamp,elapsed,label,success,allThreads\n".to_owned();
        let line = |(n, (at, ms)): (usize, &(i64, u64))| {
            format!("{at},{ms},{},{},4\n", ["a", "b"][n % 2], n % 3 != 1)
        };
        let text: String = rows.iter().enumerate().map(line).collect();
        let record = Record::of_rows((head + &text).as_bytes()).expect("rows");
        let found = compare(&record, &record, &Settings { resamples: 0, ..Settings::default() });
        let failed = (0..count).filter(|n| n % 3 == 1).count() as u64;
        let all = (count as u64, count as u64);
        assert_eq!((found.all.samples, found.all.recorded), (all, all), "{count} {gap}");
        assert_eq!(found.all.failed, (failed, failed), "{count} {gap}");
        let expected = plain_reading(&rows);
        for (name, expected) in ["rate", "mean", "p50", "p95"].into_iter().zip(expected) {
            let Some(figure) = found.all.differences.iter().find(|d| d.metric == name) else {
                assert!(name.starts_with('p'), "{name}");
                continue;
            };
            checked += 1;
            // A percentile is only as precise as a group of histogram bins.
            let near = if name.starts_with('p') { 0.005 } else { 1e-3 };
            assert!(
                (figure.a / expected - 1.0).abs() <= near,
                "{count} {gap}: {figure:?} {expected}"
            );
        }
        let errors = found.all.differences.iter().find(|d| d.metric == "error%").expect("errors");
        assert!((errors.a - failed as f64 / count as f64).abs() < 1e-12, "{errors:?}");
    }
    assert!(checked > 20, "{checked}");
}

#[test]
fn totals_count_the_ramp_and_figures_do_not() {
    let mut ramped = run(3, 1.0, 0.1, 100);
    ramped.seconds[..30].iter_mut().for_each(|second| second.users = 1);
    let found = compare(&ramped, &ramped, &Settings { resamples: 0, ..Settings::default() });
    let count = |from: usize| ramped.seconds[from..].iter().map(|s| s.all.count).sum::<u64>();
    let failed: u64 = ramped.seconds.iter().map(|second| second.all.errors).sum();
    let Row { samples, recorded, failed: found_failed, .. } = found.all;
    assert_eq!((recorded.0, found_failed.0), (count(0), failed));
    assert!(samples.0 <= count(30) && samples.0 > count(60), "{samples:?}");
    let label = &found.labels[0];
    assert!(label.recorded.0 > label.samples.0 && label.failed.0 > 0, "{label:?}");
    let runs = [ramped.clone(), ramped.clone()];
    let found = compare_runs(&runs, &runs, &Settings::default());
    assert_eq!((found.all.recorded.0, found.all.failed.0), (2 * count(0), 2 * failed));
}

/// Number of pairs of runs in which one run is slower.
const PAIRS: u64 = 200;

/// Returns seconds whose responses take about 100 ms, or which fail within 2 ms with probability `fails`.
fn jumping(seed: u64, fails: f64) -> Record {
    let mut random = Random::new(seed);
    let mut text = "timeStamp,elapsed,label,success\n".to_owned();
    for second in 0..70 {
        let failing = random.uniform() < fails;
        for n in 0..10 {
            let ms = if failing { random.below(3) } else { 80 + random.below(60) };
            let at = 1_700_000_000_000u64 + second * 1000 + n * 100;
            text.push_str(&format!("{at},{ms},a,{}\n", !failing));
        }
    }
    Record::of_rows(text.as_bytes()).expect("rows")
}

#[test]
fn intervals_contain_the_true_change_as_often_as_they_say() {
    let settings = Settings { resamples: 300, ..Settings::default() };
    let slower = 1.1;
    let mut inside: BTreeMap<&str, u32> = BTreeMap::new();
    for pair in 0..PAIRS {
        let (a, b) =
            (run(7000 + 2 * pair, 1.0, 0.01, 120), run(7001 + 2 * pair, slower, 0.03, 120));
        for difference in compare(&a, &b, &settings).all.differences {
            let truth = match difference.metric {
                "rate" => 1.0 / slower - 1.0,
                "error%" => 0.02,
                _ => slower - 1.0,
            };
            let (low, high) = difference.interval.expect("two minutes");
            *inside.entry(difference.metric).or_default() +=
                u32::from(low <= truth && truth <= high);
        }
    }
    println!("{inside:?} of {PAIRS}");
    let shares: Vec<f64> = inside.values().map(|n| f64::from(*n) / PAIRS as f64).collect();
    assert!(shares.len() >= 6 && shares.iter().all(|share| *share >= 0.88), "{inside:?}");
    assert!((0.93..0.99).contains(&mean(&shares)), "{inside:?}");
}

#[test]
fn no_interval_is_below_a_loss_of_everything() {
    let settings = Settings { resamples: 200, ..Settings::default() };
    let (mut checked, mut outside) = (0, 0);
    for seed in 0..30 {
        let fails = [0.0, 0.3, 0.5, 0.7, 0.95];
        let of = |at: u64| jumping(seed * 2 + at % 2, fails[((seed + at) % 5) as usize]);
        for difference in compare(&of(0), &of(1), &settings).all.differences {
            let Some((low, high)) = difference.interval else { continue };
            checked += 1;
            outside += u32::from(difference.change < low || high < difference.change);
            assert!(low >= -1.0 && low <= high, "{seed}: {difference:?}");
        }
    }
    println!("{outside} of {checked} intervals do not contain their estimate");
    assert!(checked > 100, "{checked}");
}

#[test]
fn too_few_independent_seconds_are_not_rounded_up_to_the_number_that_is_needed() {
    let record = run(1, 1.0, 0.0, 120);
    let steady = crate::steady::steady(&record);
    for (blocks, shown) in [(4.96, "worth 4.9 of them; 5 are"), (1.25, "worth 1.2 of them; 5 are")]
    {
        let words = super::words(Refusal::FewBlocks { blocks }, &record, &steady);
        assert!(words.contains(shown), "{words}");
    }
}
