//! Tests of the view's frames at several terminal sizes.

use std::sync::Arc;

use record::{CauseName, Frame, Label, Lamp, Part, Record, Second, State};
use stats::Outcome;
use stats::hist::{Bins, layout};

use super::frame::{Size, lines};
use super::text::{Look, width};
use super::{Moment, View};

const PLAIN: Look = Look { colours: false, ascii: false };

fn label(name: &str) -> Label {
    Label { name: Arc::from(name), transaction: false, folded: 0 }
}

fn part(count: u64, errors: u64, ms: u64) -> Part {
    let mut service = Bins::default();
    service.add(layout::index_of(ms * 1000), count);
    Part { count, errors, service, ..Part::default() }
}

/// Returns a record of `seconds` seconds. Each label has the given samples, errors and milliseconds in every second.
fn record(labels: &[(&str, u64, u64, u64)], seconds: i64) -> Record {
    let second = |n: i64| {
        let mut second =
            Second { at_ms: n * 1000, ms: 1000, users: n.min(20) as u64, ..Second::default() };
        for (number, (_, count, errors, ms)) in (0..).zip(labels) {
            // The load grows, and the samples of second 7 are slow.
            let count = (count * n.min(20) as u64).div_ceil(20);
            let one = part(count, *errors, if n == 7 { ms * 8 } else { ms + n as u64 / 10 });
            second.all.merge(&one);
            second.labels.push(number, one);
            if *errors > 0 {
                second.causes.push((0, *errors));
            }
        }
        second.started = 20;
        second.generator.cpu_s = 0.3;
        second
    };
    let cause = CauseName {
        outcome: Outcome::Status,
        code: "503".into(),
        message: "Service Unavailable".into(),
        first_label: labels[0].0.into(),
    };
    Record {
        frame: Frame {
            plan: "plans/shop.jmx".into(),
            processors: 2,
            load: record::Load { users: 20, length_ms: Some(120_000), ..record::Load::default() },
            ..Frame::default()
        },
        labels: labels.iter().map(|(name, ..)| label(name)).collect(),
        causes: vec![cause],
        seconds: (1..=seconds).map(second).collect(),
        ..Record::default()
    }
}

fn lamp(criterion: &str, value: &str, holds: Option<bool>, ends: bool) -> Lamp {
    let value = value.to_owned();
    Lamp { criterion: criterion.into(), value, holds, ends, ..Lamp::default() }
}

/// Returns the view of a shop under load.
fn shop() -> View {
    let mut view = View::default();
    view.follow_record(&record(
        &[
            ("Open the shop", 400, 0, 12),
            ("Search", 200, 3, 31),
            ("查询订单状态", 120, 0, 18),
            ("Pay", 40, 0, 95),
        ],
        50,
    ));
    view.lamps = vec![
        lamp("response p95 < 50ms", "36.2ms", Some(true), false),
        lamp("error% < 0.1%", "0.395%", Some(false), false),
        lamp("error% > 50% over 60s", "no samples", None, true),
    ];
    view
}

/// Formats a frame and checks the limits that apply to all frames.
fn frame(view: &View, columns: usize, rows: usize, look: Look) -> String {
    let lines = lines(view, Size { columns, lines: rows }, look);
    assert!(lines.len() < rows, "a line is left for the cursor: {}", lines.len());
    let mut out = String::new();
    for (line, taken) in lines {
        let shown = without_colours(&line);
        assert_eq!(width(&shown), taken, "{line:?}");
        assert!(taken < columns, "{taken} of {columns}: {line:?}");
        assert!(!shown.contains(|c: char| c.is_control()), "{line:?}");
        assert_eq!(shown.trim_end(), shown, "nothing at the end of a line");
        assert!(look.colours || shown == line, "{line:?}");
        assert!(!look.ascii || line.is_ascii(), "{line:?}");
        out.push_str(&shown);
        out.push('\n');
    }
    out
}

fn without_colours(line: &str) -> String {
    let mut parts = line.split("\x1b[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |shown, part| {
        let (code, text) = part.split_once('m').expect("a colour");
        assert!(["0", "1", "2", "31;1", "32", "33;1", "36"].contains(&code), "{code:?}");
        shown + text
    })
}

#[test]
fn assertions_and_series_have_lines_of_their_own() {
    let mut of = record(&[("Search", 20, 0, 12)], 3);
    of.frame.settings = vec![("-Jthrong.series".into(), "load=header:X-Load\nnone=x".into())];
    for (at, second) in of.seconds.iter_mut().enumerate() {
        let value = 1.5 + at as f64;
        let number = stats::Number { count: 1, sum: value, least: value, most: value, odd: 0 };
        second.numbers = vec![(0, number)];
        let checked = record::Checked { checked: 10, unexpected: at as u64, by_content: 0 };
        second.checks = vec![(0, checked)];
    }
    let mut view = View::default();
    view.follow_record(&of);
    let shown = frame(&view, 80, 24, PLAIN);
    for line in [
        "answers    90% of 30 checked as expected",
        "series     load 3.50 now, 1.50 to 3.50 so far",
        "series     none: no value yet",
    ] {
        assert!(shown.lines().any(|shown| shown == line), "{line}:\n{shown}");
    }
    for rows in 2..40 {
        frame(&view, 60, rows, PLAIN);
    }
}

/// Compares a frame with a reviewed file. `THRONG_GOLDEN=1` overwrites the file with the current frame.
fn is_golden(name: &str, shown: &str) {
    let path = format!("{}/src/operator/view/golden/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("THRONG_GOLDEN").is_some() {
        std::fs::write(&path, shown).expect("a writable folder");
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(shown, golden, "{name} is not as it was:\n{shown}");
}

#[test]
fn frames_fill_a_terminal_of_any_size() {
    let view = shop();
    for (columns, rows) in [(80, 24), (160, 50), (40, 10), (80, 5)] {
        let shown = frame(&view, columns, rows, PLAIN);
        is_golden(&format!("{columns}x{rows}"), &shown);
        let coloured = frame(&view, columns, rows, Look { colours: true, ascii: false });
        assert_eq!(coloured, shown, "colours say nothing that the text does not say");
    }
    for columns in 2..200 {
        for rows in [2, 3, 7, 8, 9, 12, 24, 60, 200] {
            frame(&view, columns, rows, PLAIN);
        }
    }
}

#[test]
fn an_ascii_terminal_gets_ascii() {
    let shown = frame(&shop(), 80, 24, Look { colours: false, ascii: true });
    is_golden("80x24-ascii", &shown);
}

#[test]
fn hostile_and_endless_labels_stay_in_their_line() {
    let long = "checkout/".repeat(20_000);
    let mut record = record(
        &[
            ("a\x1b[2Jb\nc\td\r\x1b]0;x\x07", 90, 0, 5),
            ("\x1b[31;1mred\x1b[0m\u{202e}gnorw\u{9b}2J", 80, 1, 5),
            (&long, 70, 0, 5),
            (&"订".repeat(300), 60, 0, 5),
            (&"\u{301}".repeat(5000), 50, 0, 5),
            ("👩‍👩‍👧‍👦 family \u{200b}\u{feff}", 40, 0, 5),
        ],
        12,
    );
    record.causes[0].message = "\x1b[8m\nhidden\u{2066}".repeat(50).into();
    record.frame.plan = "\x1b[5mplan\n.jmx".into();
    let mut view = View::default();
    view.set_heading("point\x1b[2J 1 of 2", "then\n1", None);
    view.follow_record(&record);
    view.lamps = vec![lamp(&format!("p95 < 1s for label {long}"), "5ms", Some(true), false)];
    for (columns, rows) in [(80, 24), (160, 50), (40, 10), (80, 5), (20, 8)] {
        frame(&view, columns, rows, PLAIN);
    }
    is_golden("hostile", &frame(&view, 80, 30, PLAIN));
}

#[test]
fn of_ten_thousand_labels_those_are_shown_that_matter() {
    let names: Vec<String> = (0..10_000).map(|n| format!("item {n}")).collect();
    let labels: Vec<(&str, u64, u64, u64)> = names
        .iter()
        .enumerate()
        .map(|(n, name)| (name.as_str(), 10_000 - n as u64, u64::from(n == 9_000), 3))
        .collect();
    let mut view = View::default();
    view.follow_record(&record(&labels, 11));
    let shown = frame(&view, 80, 24, PLAIN);
    assert!(shown.contains(" item 0\n") && shown.contains(" item 1\n"), "{shown}");
    assert!(shown.contains(" item 9000\n"), "the one with errors has a place: {shown}");
    assert!(shown.contains(" more labels"), "{shown}");
    let (rows, all) = view.rows(7);
    assert_eq!((rows.len(), all), (7, 10_000));
}

#[test]
fn the_generator_is_named_when_it_is_a_reason_to_doubt() {
    let mut view = shop();
    let small = (80, 16);
    assert!(!frame(&view, small.0, small.1, PLAIN).contains("generator"));
    for own in &mut view.own {
        (own.cpu_s, own.lag_p99_ms, own.missed, own.due) = (1.9, 40.0, 30, 100);
    }
    let shown = frame(&view, small.0, small.1, PLAIN);
    let line = shown.lines().find(|line| line.starts_with("generator!")).expect(&shown);
    for part in ["CPU 95 %", "overhead p99 40.0 ms", "30 % of starts missed"] {
        assert!(line.contains(part), "{line}");
    }
    assert!(frame(&view, 160, 5, PLAIN).contains("generator: 30 % of starts"));
}

#[test]
fn findings_that_already_speak_have_a_line_each() {
    let mut view = shop();
    view.findings = vec!["The target works on about 2 requests at once.\n".repeat(9); 5];
    let shown = frame(&view, 80, 24, PLAIN);
    let at = shown.find("\nfinding    The target works on about 2 requests").expect(&shown);
    assert!(shown[at..].contains("  … 2 more\n"), "{shown}");
    frame(&view, 40, 10, PLAIN);
}

#[test]
fn before_rules_could_speak_it_is_too_early_to_say() {
    let mut view = shop();
    assert!(!frame(&view, 80, 40, PLAIN).contains("Too early to say."));
    view.early = true;
    assert!(frame(&view, 80, 40, PLAIN).contains("\nfinding    Too early to say.\n"));
    view.findings = vec!["The target works on about 2 requests at once.".to_owned()];
    assert!(!frame(&view, 80, 40, PLAIN).contains("Too early to say."));
    for (columns, rows) in [(80, 24), (40, 10), (80, 5)] {
        view.findings.clear();
        frame(&view, columns, rows, PLAIN);
    }
}

#[test]
fn errors_of_a_plan_with_transactions_are_those_of_requests() {
    let mut view = shop();
    view.labels[0].transaction = true;
    assert!(frame(&view, 120, 5, PLAIN).contains("150 requests failed 0.49 %"));
    assert!(frame(&view, 120, 24, PLAIN).contains("30 780 requests\n"));
}

#[test]
fn one_slow_second_does_not_hide_the_others() {
    let mut view = shop();
    let last = Moment { p95: Some(9_000.0), ..*view.moments.back().expect("a second") };
    view.moments.push_back(last);
    let shown = frame(&view, 120, 24, PLAIN);
    let p95 = shown.lines().find(|line| line.starts_with("response")).expect("a chart");
    assert!(p95.contains('^') && p95.contains("max 9000 ms") && p95.contains('▄'), "{p95}");
}

#[test]
fn a_run_says_what_remains_and_that_it_is_stopping() {
    let mut view = shop();
    let second = |view: &View| frame(view, 80, 24, PLAIN).lines().nth(1).expect("two").to_owned();
    assert!(second(&view).starts_with("00:50 of 02:00  ██"), "{}", second(&view));
    assert!(second(&view).ends_with("  41 %  01:10 left"), "{}", second(&view));
    view.state = State::Paused;
    assert!(second(&view).ends_with("  41 %  PAUSED"), "{}", second(&view));
    view.state = State::Stopping;
    assert!(frame(&view, 80, 5, PLAIN).contains("STOPPING"));
    (view.state, view.length_ms, view.users) = (State::Running, None, 8);
    assert_eq!(second(&view), "00:50  ends with its users: 12 of 20 have");
    view.set_heading("point 2 of 5, 20 users", "then 3 points, 06:00 at most", None);
    assert_eq!(
        second(&view),
        "00:50  ends with its users: 12 of 20 have  then 3 points, 06:00 at most"
    );
    let first = frame(&view, 80, 24, PLAIN);
    assert!(first.starts_with("point 2 of 5, 20 users  shop.jmx  "), "{first}");

    // The view before its first second.
    let mut view = View::default();
    view.set_heading("point 1 of 5, 9 users", "", Some(std::time::Duration::from_secs(90)));
    assert!(second(&view).starts_with("00:00 of 01:30  ░"), "{}", second(&view));
    assert!(frame(&view, 80, 24, PLAIN).starts_with("point 1 of 5, 9 users"));
}
