//! Unusual result files are read by everything that reads result files: verdict, report, comparison and JMeter's
//! dashboard metrics.
//!
//! `tests/odd_files/make.py` makes the files and computes the expected result of each independently: the metrics,
//! or a refusal that names what is missing. `ODD_FILES=10000 ODD_SEED=7 cargo test -p throng-report --test
//! odd_files` reads more files.

#[path = "../../../tests/skipped.rs"]
mod skipped;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use answers::compare::{Settings as Comparing, compare};
use record::{Flaw, Part, Record};
use report::jmeter::{self, Settings};
use report::model::{Agents, Given, RunPage};
use serde_json::Value;
use stats::jtl::Columns;

#[test]
fn odd_files_give_the_figures_of_a_plain_reading() {
    let number = |name: &str, default: &str| std::env::var(name).unwrap_or(default.into());
    let folder = tempfile::tempdir().expect("a folder");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/odd_files/make.py");
    let made = Command::new("python3")
        .arg(script)
        .arg(folder.path())
        .args(["--seed", &number("ODD_SEED", "1"), "--count", &number("ODD_FILES", "300")])
        .status();
    match made {
        Ok(made) => assert!(made.success(), "{made}"),
        Err(error) => return skipped::skip(format!("python3 does not start: {error}")),
    }
    let expected = fs::read_to_string(folder.path().join("expected.jsonl")).expect("lines");
    let mut wrong = Vec::new();
    let (mut read, mut refused) = (0, 0);
    for line in expected.lines() {
        let expected: Value = serde_json::from_str(line).expect("JSON");
        let path = folder.path().join(expected["file"].as_str().expect("a name"));
        let result = check(&path, &expected);
        match result {
            Ok(true) => read += 1,
            Ok(false) => refused += 1,
            Err(message) => wrong.push(format!("{message}\n  {line:.300}")),
        }
    }
    println!("{read} files read as expected, {refused} refused as expected, {} not", wrong.len());
    assert!(read > 0 && refused > 0);
    assert!(
        wrong.is_empty(),
        "{} files:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(20)].join("\n")
    );
}

/// Returns true if the file was read, false if it was refused as expected. An error describes an unexpected result.
fn check(path: &Path, expected: &Value) -> Result<bool, String> {
    let property = |key: &str| expected["props"][key].as_str().map(str::to_owned);
    let columns = Columns::from_properties(property).map_err(|error| error.to_string())?;
    let record = Record::open(path, &columns);
    if let Some(word) = expected["refused"].as_str() {
        return match record {
            Ok(record) => Err(format!("not refused: {:?}", record.flaws)),
            Err(error) if error.to_string().contains(word) => Ok(false),
            Err(error) => Err(format!("refused without {word:?}: {error}")),
        };
    }
    let record = record.map_err(|error| format!("refused: {error}"))?;
    figures(&record, expected)?;
    answers(&record, expected)?;
    if expected["jmeter"] == true {
        of_jmeter(path, expected)?;
    }
    Ok(true)
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, is: T, expected: T) -> Result<(), String> {
    if is == expected { Ok(()) } else { Err(format!("{what}: {is:?}, expected {expected:?}")) }
}

/// Compares the record's metrics and the losses that it reports.
fn figures(record: &Record, expected: &Value) -> Result<(), String> {
    let mut all = Part::default();
    record.seconds.iter().for_each(|second| all.merge(&second.all));
    let number = |key: &str| expected[key].as_u64().unwrap_or_default();
    same("rows", all.count, number("count"))?;
    same("errors", record.knows_errors().then_some(all.errors), expected["errors"].as_u64())?;
    same("elapsed", all.elapsed / 1_000_000, number("elapsed_ms"))?;
    same("longest", all.longest / 1_000_000, number("longest_ms"))?;
    let is_loss = |flaw: &Flaw| matches!(flaw, Flaw::TornEnd { .. } | Flaw::Rows { .. });
    let lost = record.flaws.iter().any(is_loss);
    same("lost", lost, expected["lost"] == true)?;
    let Some(labels) = expected["labels"].as_object() else { return Ok(()) };
    let mut found: BTreeMap<String, [u64; 3]> = BTreeMap::new();
    for (label, part) in record.seconds.iter().flat_map(|second| &second.labels) {
        let name = record.labels[label as usize].name.to_string();
        let sum = found.entry(name).or_default();
        let more = [part.count, part.errors, part.elapsed / 1_000_000];
        sum.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
    }
    let numbers = |value: &Value| [0, 1, 2].map(|n| value[n].as_u64().unwrap_or_default());
    let labels = labels.iter().map(|(name, value)| (name.clone(), numbers(value))).collect();
    same("labels", found, labels)
}

/// Computes verdict, page and comparison of the record.
fn answers(record: &Record, expected: &Value) -> Result<(), String> {
    let verdict = answers::rules::verdict(record);
    let page = RunPage::new(&Given {
        record,
        verdict: &verdict,
        run: "file",
        criteria: &[],
        properties: &[],
        notes: &[],
        jmeter: None,
        agents: &Agents::default(),
        live: false,
    });
    same("rows of the page", page.totals.samples, expected["count"].as_u64().unwrap_or_default())?;
    let settings = Comparing { resamples: 20, ..Comparing::default() };
    compare(record, record, &settings);
    Ok(())
}

fn of_jmeter(path: &Path, expected: &Value) -> Result<(), String> {
    let property = |key: &str| {
        let own = expected["props"][key].as_str().map(str::to_owned);
        own.or_else(|| (key == "sampleresult.timestamp.start").then(|| "true".into()))
    };
    let settings = Settings::from_properties(property).map_err(|refused| refused.0)?;
    let source = jmeter::open(path).map_err(|refused| refused.0)?;
    let read = jmeter::read((path, source), &[], &settings, false).map_err(|refused| refused.0)?;
    let figures: Value =
        serde_json::from_str(&read.figures.statistics_json()).map_err(|error| error.to_string())?;
    let total = &figures["Total"];
    same("JMeter's rows", total["sampleCount"].as_u64(), expected["count"].as_u64())?;
    same("JMeter's errors", total["errorCount"].as_u64(), expected["errors"].as_u64())?;
    let sum = expected["elapsed_ms"].as_f64().unwrap_or_default();
    let mean = sum / expected["count"].as_f64().unwrap_or(1.0);
    let is = total["meanResTime"].as_f64().unwrap_or_default();
    if (is - mean).abs() < 1e-6 * mean.max(1.0) {
        Ok(())
    } else {
        Err(format!("mean {is}, expected {mean}"))
    }
}
