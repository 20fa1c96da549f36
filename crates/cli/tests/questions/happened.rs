//! Comparisons in which only one run had an event such as a failure or a slow phase, and comparisons of result files
//! with whole-millisecond times.

use serde_json::Value;

use crate::program::Program;
use crate::rows;

/// Replaces the rows from second `from` to second `to` of a file from [`rows`], which has 40 requests a second.
fn with(of: &str, (from, to): (usize, usize), other: impl Fn(&str) -> String) -> String {
    let within = |at: &usize| (1 + 40 * from..1 + 40 * to).contains(at);
    let row = |(at, row): (usize, &str)| {
        if within(&at) { other(row) + "\n" } else { row.to_owned() + "\n" }
    };
    of.lines().enumerate().map(row).collect()
}

fn taking(row: &str, ms: impl Fn(u64) -> u64) -> String {
    let mut cells: Vec<String> = row.split(',').map(str::to_owned).collect();
    cells[1] = ms(cells[1].parse().expect("ms")).to_string();
    cells.join(",")
}

fn busy(row: &str) -> String {
    taking(&row.replace("200,OK", "503,Busy").replace(",true,", ",false,"), |_| 5)
}

#[test]
fn an_outage_of_one_side_fails_a_criterion_on_errors_wherever_it_lies() {
    let program = Program::new();
    let (good, other) = (rows(1, 100, 0, 10), rows(2, 100, 0, 10));
    program.write("a.jtl", &good);
    let asked = ["--fail-if", "error% > +1%"];
    for (from, to, when) in [
        (0, 20, "0:00 to 0:20: one event does not say how often it happens"),
        (50, 70, "0:50 to 1:10: one event does not say how often it happens"),
        (100, 120, "1:40 until the end"),
    ] {
        program.write("b.jtl", &with(&other, (from, to), busy));
        let ended = program.run(&[&["compare", "a.jtl", "b.jtl"], &asked[..]].concat());
        assert_eq!(ended.code, 4, "{when}: {ended:?}");
        let words = format!(
            "FAILED: error% > +1% (found +16.67 points; B: 800 of 4 800 samples failed in the whole run, all of them from {when}"
        );
        assert!(ended.out.contains(&words), "{words}: {}", ended.out);
        assert!(!ended.out.contains("No difference that these runs can show"), "{}", ended.out);
        assert!(ended.out.contains("\nB's error% is 16.67 points higher (95 % "), "{}", ended.out);
        let row = ended.out.lines().find(|line| line.starts_with("error%")).expect("a row");
        assert!(row.ends_with("different") && row.contains("16.67 %"), "{row}");
        // If B is better than A, the criterion passes.
        let ended = program.run(&[&["compare", "b.jtl", "a.jtl"], &asked[..]].concat());
        assert_eq!(ended.code, 0, "{when}: {ended:?}");
    }
    // Failures spread over the whole run are no event: they show with few runs, and equal sides compare as equal.
    program.write("some.jtl", &rows(3, 100, 25, 10));
    program.write("others.jtl", &rows(4, 100, 25, 10));
    for (a, b, code) in
        [("a.jtl", "some.jtl", 4), ("some.jtl", "others.jtl", 0), ("a.jtl", "a.jtl", 0)]
    {
        let ended = program.run(&[&["compare", a, b], &asked[..]].concat());
        assert_eq!(ended.code, code, "{a} {b}: {ended:?}");
    }
}

#[test]
fn errors_are_decided_in_runs_that_are_too_short_for_intervals() {
    let program = Program::new();
    let short = |seed, failing| {
        let rows = rows(seed, 100, failing, 10);
        rows.lines().take(1201).collect::<Vec<_>>().join("\n") + "\n"
    };
    program.write("a.jtl", &short(1, 0));
    program.write("same.jtl", &short(2, 0));
    program.write("bad.jtl", &short(3, 20));
    for (b, limit, code) in [
        ("same.jtl", "error% > +1%", 0),
        ("same.jtl", "error% > +0%", 0),
        ("bad.jtl", "error% > +0%", 4),
        ("bad.jtl", "error% > +1%", 4),
        ("bad.jtl", "error% > +10%", 0),
    ] {
        let ended = program.run(&["compare", "a.jtl", b, "--fail-if", limit]);
        assert_eq!(ended.code, code, "{b} {limit}: {ended:?}");
    }
}

#[test]
fn the_healthy_half_before_a_change_for_the_worse_is_no_warm_up() {
    let program = Program::new();
    let (good, other) = (rows(1, 100, 0, 10), rows(2, 100, 0, 10));
    program.write("a.jtl", &good);
    let asked = ["--fail-if", "error% > +1%", "--fail-if", "p95 > +10%"];
    for from in [50, 60, 70] {
        program.write("died.jtl", &with(&other, (from, 120), busy));
        let ended = program.run(&[&["compare", "a.jtl", "died.jtl"], &asked[..]].concat());
        assert_eq!(ended.code, 4, "{from}: {ended:?}");
        let found = 100.0 * (120 - from) as f64 / 120.0;
        assert!(ended.out.contains(&format!("(found +{found:.2} points")), "{}", ended.out);
        let words = format!("B's error% is {found:.2} points higher");
        assert!(ended.out.contains(&words), "{words}: {}", ended.out);
    }
    // Response times in B grow from second to second.
    let mut at = 0;
    let slower: Vec<String> = other
        .lines()
        .map(|row| {
            at += 1;
            if at == 1 { row.to_owned() } else { taking(row, |ms| ms + ms * at / 4800) }
        })
        .collect();
    program.write("slower.jtl", &(slower.join("\n") + "\n"));
    let ended = program.run(&["compare", "a.jtl", "slower.jtl", "--fail-if", "p95 > +10%"]);
    assert!(matches!(ended.code, 4 | 6), "{ended:?}");
    assert!(!ended.out.contains("warm-up"), "{}", ended.out);
}

#[test]
fn a_short_warm_up_that_hides_a_change_is_told_beside_what_passed() {
    let program = Program::new();
    program.write("a.jtl", &rows(1, 100, 0, 10));
    let slow = |row: &str| taking(row, |ms| 4 * ms);
    program.write("b.jtl", &with(&rows(2, 100, 0, 10), (0, 9), slow));
    let line = ["compare", "a.jtl", "b.jtl", "--fail-if", "p95 > +10%", "--markdown", "m.md"];
    let ended = program.run(&line);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.out.contains("passed: service p95 > +10% (found "), "{}", ended.out);
    let words = "of its samples are left out as ramp or warm-up; with the warm-up the change is +";
    assert!(ended.out.contains(words), "{}", ended.out);
    assert!(program.read("m.md").contains(words), "{}", program.read("m.md"));
}

#[test]
fn whole_milliseconds_are_named_where_they_cannot_show_the_limit() {
    let program = Program::new();
    // Half of the responses take 1 ms and half 2 ms, so the median is 1 ms or 2 ms by chance.
    let fast = |seed| {
        let rows = rows(seed, 100, 0, 10);
        let row = |(at, row): (usize, &str)| {
            if at == 0 { row.to_owned() } else { taking(row, |ms| 1 + ms % 2) }
        };
        rows.lines().enumerate().map(row).collect::<Vec<_>>().join("\n") + "\n"
    };
    program.write("a.jtl", &fast(1));
    program.write("b.jtl", &fast(2));
    let line = ["compare", "a.jtl", "b.jtl", "--fail-if", "p50 > +5%", "--fail-if", "mean > +50%"];
    let ended = program.run(&line);
    assert_eq!(ended.code, 6, "{ended:?}");
    for words in [
        "A and B have whole milliseconds, and one of them is +",
        "compare the mean, or the folders of Throng's runs, whose times are finer",
        "passed: service mean > +50%",
    ] {
        assert!(ended.out.contains(words), "{words}: {}", ended.out);
    }
    assert!(!ended.out.contains("longer or repeated runs narrow it"), "{}", ended.out);
}

/// Returns the table row of a metric without its name.
fn row<'o>(out: &'o str, metric: &str) -> &'o str {
    let row = out.lines().find(|line| line.split("  ").next() == Some(metric));
    row.unwrap_or_else(|| panic!("{metric}: {out}"))
}

#[test]
fn one_short_outage_decides_nothing() {
    let program = Program::new();
    let (good, other) = (rows(1, 100, 0, 10), rows(2, 100, 0, 10));
    program.write("a.jtl", &good);
    let asked = ["--fail-if", "error% > +0.5%", "--markdown", "m.md"];
    let one = with(&other, (34, 35), busy);
    program.write("b.jtl", &one);
    let ended = program.run(&[&["compare", "a.jtl", "b.jtl"], &asked[..]].concat());
    assert_eq!(ended.code, 6, "{ended:?}");
    let words = "UNDECIDED: error% > +0.5% (found +0.83 points; B: 40 of 4 800 samples failed in the whole run, all of \
                 them between 0:34 and 0:35: one short event; A: none of 4 800; one event cannot tell";
    assert!(ended.out.contains(words), "{}", ended.out);
    assert!(row(&ended.out, "error%").ends_with("no difference"), "{}", ended.out);
    let made = program.read("m.md");
    for part in ["| +0.83 points |", "+0.83 points", "within chance"] {
        assert!(made.contains(part), "{part}: {made}");
    }
    assert!(!made.contains("worse"), "{made}");
    // If run A had the event, the criterion passes too. Below the limit of 2 points, the difference is printed.
    let ended = program.run(&[&["compare", "b.jtl", "a.jtl"], &asked[..]].concat());
    assert_eq!(ended.code, 0, "{ended:?}");
    let ended = program.run(&["compare", "a.jtl", "b.jtl", "--fail-if", "error% > +2%"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(
        ended.out.contains("passed: error% > +2% (found +0.83 points; B: 40 of"),
        "{}",
        ended.out
    );
    // With the limit +0 %, the same difference leaves the criterion undecided.
    let ended = program.run(&["compare", "a.jtl", "b.jtl", "--fail-if", "error% > +0%"]);
    assert_eq!(ended.code, 6, "{ended:?}");
    // With an event every ten seconds, the runs differ.
    let many = (0..12).fold(other, |text, n| with(&text, (10 * n + 3, 10 * n + 4), busy));
    program.write("many.jtl", &many);
    let ended = program.run(&[&["compare", "a.jtl", "many.jtl"], &asked[..]].concat());
    assert_eq!(ended.code, 4, "{ended:?}");
    assert!(ended.out.contains("all of them in 12 short events; A: none"), "{}", ended.out);
    assert!(row(&ended.out, "error%").ends_with("different"), "{}", ended.out);
}

#[test]
fn an_outage_at_the_start_is_compared_and_told() {
    let program = Program::new();
    let (good, other) = (rows(1, 100, 0, 10), rows(2, 100, 0, 10));
    program.write("a.jtl", &good);
    program.write("b.jtl", &with(&other, (0, 10), busy));
    let asked = ["--fail-if", "error% > +1%", "--fail-if", "p95 > +10%"];
    let ended = program.run(&[&["compare", "a.jtl", "b.jtl"], &asked[..]].concat());
    assert_eq!(ended.code, 4, "{ended:?}");
    for part in [
        "FAILED: error% > +1% (found +8.33 points; B: 400 of 4 800",
        "from 0:00 to 0:10",
        "\nB's error% is 8.33 points higher",
    ] {
        assert!(ended.out.contains(part), "{part}: {}", ended.out);
    }
    assert!(!ended.out.contains("warm-up"), "{}", ended.out);
}

#[test]
fn what_is_decided_although_the_limit_lies_within_the_interval_has_its_reason() {
    let program = Program::new();
    program.write("a.jtl", &rows(1, 100, 100, 10));
    program.write("b.jtl", &rows(2, 110, 25, 10));
    let mut within = 0;
    for (metric, percent) in [
        ("mean", 8.0),
        ("mean", 9.0),
        ("mean", 10.0),
        ("mean", 30.0),
        ("error%", 2.9),
        ("error%", 1.0),
    ] {
        let limit = format!("{metric} > +{percent}%");
        let ended = program.run(&["compare", "a.jtl", "b.jtl", "--json", "--fail-if", &limit]);
        let made: Value = serde_json::from_str(&ended.out).expect("JSON");
        let rows = made["comparison"]["all"]["differences"].as_array().expect("rows");
        let row = rows.iter().find(|row| row["metric"] == metric).expect("a row");
        let end = |at: usize| row["interval"][at].as_f64().expect("an end") * 100.0;
        let judged = &made["failed"][0];
        let reason = judged["reason"]["en"].as_str().unwrap_or_default();
        let is_within = end(0) < percent && percent < end(1);
        if judged["unknown"] == false {
            assert_eq!(reason.contains("within the interval"), is_within, "{limit}: {made}");
        }
        within += u32::from(is_within);
    }
    assert!(within > 1, "{within}");
}

#[test]
fn answers_as_expected_are_a_row_and_a_criterion() {
    let program = Program::new();
    let xml = |seed: u64, bad: u64| {
        let sample = |n: u64| {
            let is_bad = bad > 0 && (n + seed).is_multiple_of(bad);
            let (at, ms) = (1_700_000_000_000 + n * 100, 50 + (n * 7 + seed) % 20);
            format!(
                "<httpSample t=\"{ms}\" lt=\"{ms}\" ts=\"{at}\" s=\"{}\" lb=\"Login\" rc=\"200\" rm=\"OK\" tn=\"g 1-1\" \
                 by=\"9\" ng=\"3\" na=\"3\"><assertionResult><name>Text</name><failure>{is_bad}</failure>\
                 <error>false</error></assertionResult></httpSample>\n",
                !is_bad
            )
        };
        let samples: String = (0..900).map(sample).collect();
        format!("<?xml version=\"1.0\"?>\n<testResults version=\"1.2\">\n{samples}</testResults>\n")
    };
    program.write("a.xml", &xml(1, 0));
    program.write("same.xml", &xml(2, 0));
    program.write("b.xml", &xml(3, 20));
    program.write("none.jtl", &rows(1, 60, 0, 3));
    let asked = ["--fail-if", "checks% < -1%", "--markdown", "m.md"];
    let ended = program.run(&[&["compare", "a.xml", "same.xml"], &asked[..]].concat());
    assert_eq!(ended.code, 0, "{ended:?}");
    let ended = program.run(&[&["compare", "a.xml", "b.xml"], &asked[..]].concat());
    assert_eq!(ended.code, 4, "{ended:?}");
    let words = "FAILED: checks% < -1% (found -5.00 points; B: 45 of 900 checked answers were not as expected";
    assert!(ended.out.contains(words), "{}", ended.out);
    assert!(ended.out.contains("\nB's checks% is 5.00 points lower"), "{}", ended.out);
    let row = row(&ended.out, "checks%");
    assert!(row.contains("95.00 %") && row.ends_with("different"), "{row}");
    let made = program.read("m.md");
    assert!(made.contains("| checks% |") && made.contains("❌ worse"), "{made}");
    let line = ["compare", "none.jtl", "none.jtl", "--fail-if", "checks% < -1%"];
    let ended = program.run(&line);
    assert_eq!(ended.code, 6, "{ended:?}");
    assert!(ended.out.contains("no assertion checked an answer of A or B"), "{}", ended.out);
}
