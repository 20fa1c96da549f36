//! Comparisons of runs in which something happened on one side alone, and of result files with their coarse times.

use crate::program::Program;
use crate::rows;

/// 120 s with 40 requests a second; each row from one second to another is replaced.
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
            "FAILED: error% > +1% (found +16.7 %; B: 800 of 4 800 samples failed in the whole run, all of them from {when}"
        );
        assert!(ended.out.contains(&words), "{words}: {}", ended.out);
        assert!(!ended.out.contains("No difference that these runs can show"), "{}", ended.out);
        // The side that is better fails nothing.
        let ended = program.run(&[&["compare", "b.jtl", "a.jtl"], &asked[..]].concat());
        assert_eq!(ended.code, 0, "{when}: {ended:?}");
    }
    // Failures that are no event: a few runs are enough, and equal sides are equal.
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
        assert!(ended.out.contains(&format!("(found +{found:.1} %")), "{}", ended.out);
        assert!(!ended.out.contains("points higher"), "{}", ended.out);
    }
    // Slower from second to second.
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
    // Half of the answers take 1 ms, half of them 2 ms: the median is either.
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
