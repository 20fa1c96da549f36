//! Runs a plan to its end with a stepped clock, and makes the checks that hold for every run.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Timeout of a run. No run of these plans takes a hundredth of this time.
const NEVER: Duration = Duration::from_secs(120);

/// Runs a plan with this number of users on this number of cores, and writes its rows to a file.
pub(crate) fn run(text: &str, users: u32, cores: u32, seed: u64, rows: &Path) {
    let (document, _) = jmx::parse("plan.jmx", text.as_bytes().to_vec()).expect("XML");
    let compiled = plan::compile::compile(&document, &plan::compile::Settings::default());
    let Some(plan) = compiled.plan else { panic!("{:?}\n{text}", compiled.diags) };
    let steps = engine::Steps::new();
    // The maximum run time of any of these plans.
    steps.allow(Duration::from_secs(24 * 3600));
    let options = engine::Options {
        cores,
        seed,
        base_dir: ".".into(),
        results: vec![engine::ResultFile {
            path: rows.to_owned(),
            // Sub-results do not count as samples.
            columns: stats::jtl::Columns { subresults: false, ..Default::default() },
            errors_only: false,
            successes_only: false,
        }],
        steps: Some(steps),
        ..engine::Options::default()
    };
    let mut run = engine::start(Arc::new(plan), options).expect("it starts");
    let (mut samples, mut failed, mut cut) = (0, 0, 0);
    let (mut started, mut finished) = (0, 0);
    let begun = Instant::now();
    loop {
        assert!(begun.elapsed() < NEVER, "the run does not end\n{text}");
        match run.next_event(Duration::from_millis(20)) {
            engine::Event::Snapshot(snapshot) => {
                for label in &snapshot.labels {
                    samples += label.tally.count;
                    failed += label.tally.errors;
                }
                cut += snapshot.counters.get(stats::Counter::CutByEnd);
                started += snapshot.counters.get(stats::Counter::UsersStarted);
                finished += snapshot.counters.get(stats::Counter::UsersFinished);
                run.recycle(snapshot);
            }
            engine::Event::Finished => break,
            _ => {}
        }
    }
    assert_eq!(run.aborted(), None, "{text}");
    let left = run.users();
    assert_eq!((left.active, left.started), (0, left.finished), "users are lost\n{text}");
    assert_eq!((started, finished), (u64::from(left.started), u64::from(left.finished)), "{text}");
    if run.was_stopped() {
        assert!(left.started <= users, "{left:?}\n{text}");
    } else {
        assert_eq!(left.started, users, "{text}");
    }
    compare(text, rows, (samples, failed, cut));
}

/// Compares the rows with the numbers of samples: all samples, failed samples, and samples that the end of the run
/// has cut.
fn compare(text: &str, rows: &Path, (samples, failed, cut): (u64, u64, u64)) {
    let written = std::fs::read_to_string(rows).expect("rows");
    let all = records(&written);
    let (header, all) = all.split_first().expect("a header");
    let column = header.iter().position(|name| name == "success").expect("a column");
    let successes: Vec<&str> = all.iter().map(|row| &*row[column]).collect();
    // Samples inside a transaction with a parent sample are counted, but have no separate rows.
    let has_parts = text.contains("TransactionController.parent\">true");
    let (whole, told) = (successes.len() as u64, samples + cut);
    let is_right = if has_parts { whole <= told } else { whole == told };
    assert!(is_right, "{whole} rows, {told} samples\n{text}\n{written}");
    let fails = successes.iter().filter(|success| **success == "false").count() as u64;
    let least = if has_parts { 0 } else { failed };
    assert!(
        (least..=failed + cut).contains(&fails),
        "{fails} rows failed, {failed} samples, {cut} were cut\n{text}\n{written}"
    );
}

/// Parses the records of a CSV document.
fn records(text: &str) -> Vec<Vec<String>> {
    let (mut all, mut record, mut field) = (Vec::new(), Vec::new(), String::new());
    let mut is_quoted = false;
    for c in text.chars() {
        match c {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => record.push(std::mem::take(&mut field)),
            '\n' if !is_quoted => {
                record.push(std::mem::take(&mut field));
                all.push(std::mem::take(&mut record));
            }
            c => field.push(c),
        }
    }
    all
}
