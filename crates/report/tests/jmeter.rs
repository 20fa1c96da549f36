//! JMeter's dashboard metrics, compared with those of JMeter 5.6.3 for the same rows.
//!
//! `jmeter/README.md` describes how JMeter's metrics were recorded.

#[path = "jmeter/cases.rs"]
mod cases;
#[path = "jmeter/made.rs"]
mod made;
#[path = "jmeter/oracle.rs"]
mod oracle;
#[path = "../../../tests/skipped.rs"]
mod skipped;

use std::collections::BTreeMap;
use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use answers::verdict::Language;
use cases::{CASES, Case};
use report::jmeter::{Figures, Gatherer, Note, Refused, Settings};
use report::model::{Agents, Given, RunPage};
use serde_json::Value;

fn read(rows: &str, property: impl Fn(&str) -> Option<String>) -> Result<Figures, Refused> {
    let settings = Settings::from_properties(property)?;
    let mut gatherer = Gatherer::new(&settings);
    gatherer.read(Path::new("rows.jtl"), Cursor::new(rows))?;
    Ok(gatherer.end()?.figures)
}

fn figures(case: &Case) -> Figures {
    // JMeter's shipped properties contain this setting.
    let shipped = [("sampleresult.timestamp.start", "true".to_owned())];
    let all: Vec<_> = case.properties().chain(shipped).collect();
    let own = |key: &str| all.iter().find(|pair| pair.0 == key).map(|pair| pair.1.clone());
    let figures = read(&(case.rows)(), own);
    figures.unwrap_or_else(|error| panic!("{}: {error}", case.name))
}

/// Parses the objects of a pretty-printed `statistics.json`. Numbers are compared as numbers, because Java writes
/// 1.0E-5 where others write 1e-5. The percentage of errors is compared in single precision.
fn objects(text: &str) -> BTreeMap<String, BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    let (mut label, mut rows) = (String::new(), BTreeMap::new());
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_suffix('{').filter(|name| !name.is_empty()) {
            name.trim_end_matches([' ', ':']).clone_into(&mut label);
        } else if line.starts_with('}') && !label.is_empty() {
            found.insert(std::mem::take(&mut label), std::mem::take(&mut rows));
        } else if let Some((key, value)) = line.trim_end_matches(',').rsplit_once(": ") {
            let key = key.trim_end().to_owned();
            let number = match value.parse::<f64>() {
                Ok(_) if key.contains("errorPct") => {
                    value.parse::<f32>().map(|n| format!("{n:?}")).ok()
                }
                Ok(number) if number.is_finite() => Some(format!("{number:?}")),
                _ => None,
            };
            rows.insert(key, number.unwrap_or_else(|| value.to_owned()));
        }
    }
    found
}

/// Returns the tables in the structure of JMeter's page.
fn tables(figures: &Figures) -> Value {
    let apdex: Vec<_> = figures
        .apdex
        .iter()
        .map(|row| serde_json::json!([row.apdex, row.satisfied_ms, row.tolerated_ms, row.label]))
        .collect();
    let errors: Vec<_> = figures
        .errors
        .iter()
        .map(|row| serde_json::json!([row.message, row.count, row.of_errors, row.of_all]))
        .collect();
    let top = figures.top5.iter().map(|row| {
        let mut cells = vec![row.label.clone().into(), row.samples.into(), row.errors.into()];
        for n in 0..5 {
            let (message, count) =
                row.top.get(n).map_or(("".into(), "".into()), |(message, count)| {
                    (message.as_str().into(), (*count).into())
                });
            cells.extend::<[Value; 2]>([message, count]);
        }
        Value::Array(cells)
    });
    let top: Vec<_> = top.collect();
    let (all, failed) = (figures.requests.0 as f64, figures.requests.1 as f64);
    serde_json::json!({
        "apdex": { "overall": apdex[0], "items": apdex[1..] },
        "errors": { "overall": null, "items": errors },
        "top5": { "overall": top[0], "items": top[1..] },
        "requests": { "OkPercent": (all - failed) * 100.0 / all, "KoPercent": failed * 100.0 / all },
    })
}

/// Normalizes JMeter's tables: messages as plain text, and labels in an order that does not depend on a hash table.
fn normal(mut tables: Value) -> Value {
    fn texts(value: &mut Value) {
        match value {
            Value::String(text) => *text = unescaped(text),
            Value::Array(all) => {
                all.iter_mut().for_each(texts);
                // JMeter fills the row with empty cells after the last error.
                while all.len() > 4 && all.last().is_some_and(|last| last == "") {
                    all.pop();
                }
            }
            Value::Object(all) => all.values_mut().for_each(texts),
            _ => {}
        }
    }
    texts(&mut tables);
    for name in ["apdex", "errors", "top5"] {
        let items = tables[name]["items"].as_array_mut().expect("rows");
        items.sort_by_key(ToString::to_string);
    }
    tables
}

fn unescaped(text: &str) -> String {
    let pairs = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&uuml;", "ü"),
        ("&amp;", "&"),
        ("\\n", "\n"),
    ];
    pairs.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

fn golden(case: &Case) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/jmeter/golden").join(case.name)
}

fn compare(case: &Case, statistics: &str, tables_of: Value) {
    let ours = figures(case);
    let (own, jmeters) = (objects(&ours.statistics_json()), objects(statistics));
    assert!(!jmeters.is_empty(), "{}", case.name);
    for (label, rows) in &jmeters {
        assert_eq!(rows.len(), 14, "{}: {label}", case.name);
        assert_eq!(own.get(label), Some(rows), "{}: {label}", case.name);
    }
    assert_eq!(own.len(), jmeters.len(), "{}: labels", case.name);
    assert_eq!(normal(tables(&ours)), normal(tables_of), "{}: tables", case.name);
}

#[test]
fn figures_are_those_that_jmeter_made() {
    for case in CASES {
        let file =
            |name: &str| fs::read_to_string(golden(case).join(name)).expect("it is recorded");
        compare(
            case,
            &file("statistics.json"),
            serde_json::from_str(&file("tables.json")).expect("tables"),
        );
    }
}

#[test]
fn recorded() {
    let Some(home) = oracle::home() else {
        return skipped::skip("there is no JMeter 5.6.3 with Java to ask");
    };
    // The name of a case to record, or `all`.
    let record = std::env::var("RECORD_JMETER_FIGURES").ok();
    let wanted = |case: &&Case| match &record {
        Some(name) => name == "all" || name == case.name,
        // This case uses all features. All cases run only when they are recorded.
        None => case.name == "filtered",
    };
    for case in CASES.iter().filter(wanted) {
        let (statistics, tables) = oracle::answer(&home, case);
        if record.is_some() {
            fs::create_dir_all(golden(case)).expect("a folder");
            fs::write(golden(case).join("statistics.json"), &statistics).expect("written");
            let text = serde_json::to_string_pretty(&tables).expect("JSON") + "\n";
            fs::write(golden(case).join("tables.json"), text).expect("written");
        } else {
            compare(case, &statistics, tables);
        }
    }
}

/// Returns the data of a page with these metrics.
fn page(figures: &Figures) -> Value {
    let (record, verdict) = (record::Record::default(), answers::verdict::Verdict::default());
    let given = Given {
        record: &record,
        verdict: &verdict,
        run: "run",
        criteria: &[],
        properties: &[],
        notes: &[],
        jmeter: Some(figures),
        agents: &Agents::default(),
        live: false,
    };
    let html = report::run(&RunPage::new(&given), Language::English);
    report::file::data(&html).expect("data in the page")["jmeter"].take()
}

#[test]
fn the_page_has_the_digits_of_statistics_json() {
    for case in CASES {
        let figures = figures(case);
        let file: Value = serde_json::from_str(&figures.statistics_json()).expect("JSON");
        let page = page(&figures);
        let rows = page["statistics"].as_array().expect("rows");
        assert_eq!(rows.len(), figures.statistics.labels.len(), "{}", case.name);
        for row in rows {
            let name = row["transaction"].as_str().expect("a label");
            assert_eq!(row, &file[name], "{}: {name}", case.name);
        }
        if !rows.iter().any(|row| row["transaction"] == "Total") {
            assert_eq!(page["total"], file["Total"], "{}", case.name);
        }
        assert_eq!(page["apdex"].as_array().map(Vec::len), Some(figures.apdex.len()));
        assert_eq!(page["top5"].as_array().map(Vec::len), Some(figures.top5.len()));
    }
}

#[test]
fn a_page_has_the_labels_with_the_most_time() {
    let mut rows = String::from("timeStamp,elapsed,label,success\n");
    for n in 0..1500 {
        rows.push_str(&format!("{n},{},l{n},{}\n", 1 + n % 1100, n % 2 == 0));
    }
    let page = page(&read(&rows, |_| None).unwrap());
    let names = |table: &str, key: &str| -> Vec<String> {
        let rows = page[table].as_array().expect("rows").iter();
        rows.map(|row| row[key].as_str().expect("a label").to_owned()).collect()
    };
    let shown = names("statistics", "transaction");
    assert_eq!((shown.len(), page["labels"].as_u64()), (1000, Some(1500)));
    // The 500 hidden labels have the shortest times: 1 to 250 ms.
    assert!(!shown.contains(&"l0".to_owned()) && !shown.contains(&"l1100".to_owned()), "{shown:?}");
    assert!(shown.contains(&"l1099".to_owned()) && shown.contains(&"l1499".to_owned()));
    let apdex = names("apdex", "label");
    assert_eq!(apdex[0], "Total");
    assert_eq!(apdex[1..], shown);
    assert!(names("top5", "label")[1..].iter().all(|label| shown.contains(label)));
}

const ROWS: &str = "timeStamp,elapsed,label,responseCode,responseMessage,success,bytes\n\
1000,10,a,200,OK,true,1\nrubbish\n1010,x,a,200,OK,true,1\n1020,20,b,500,No,false,1\n1030,5,a,20";

#[test]
fn a_last_row_that_is_not_whole_and_rubbish_are_said() {
    let figures = read(ROWS, |_| None).unwrap();
    assert_eq!(figures.statistics.total.samples, 2);
    let file = PathBuf::from("rows.jtl");
    let notes = [
        Note::Missing { file: file.clone(), columns: vec!["failureMessage", "sentBytes"] },
        Note::Torn { file: file.clone(), bytes: 11 },
        Note::Odd { file, rows: 2, first_line: 3 },
    ];
    assert_eq!(figures.notes, notes);
}

#[test]
fn figures_that_cannot_be_are_refused() {
    let refused = |rows: &str, key: &str, value: &str| {
        read(rows, |name| (name == key).then(|| value.to_owned())).unwrap_err().0
    };
    let heading = "timeStamp,elapsed,label,success\n";
    assert!(refused(heading, "", "").contains("no whole row"));
    let odd = format!("{heading}1700000000000,1.5,a,true\n");
    assert!(
        refused(&odd, "", "").contains("line 2: its elapsed is not a whole number"),
        "{}",
        refused(&odd, "", "")
    );
    let short = format!("{heading}1700000000000,1,a\n");
    assert!(refused(&short, "", "").contains("line 2: it has 3 fields instead of 4"));
    assert!(refused("timeStamp,label,success\n1,a,true\n", "", "").contains("No column <elapsed>"));
    for (key, value, words) in [
        ("jmeter.save.saveservice.output_format", "xml", "requires csv output format"),
        ("jmeter.save.saveservice.timestamp_format", "none", "'none' format"),
        ("jmeter.reportgenerator.sample_filter", "c", "no label"),
        ("jmeter.reportgenerator.sample_filter", "(", "sample_filter"),
        ("jmeter.reportgenerator.start_date", "20300101000000", "range of dates"),
        ("jmeter.reportgenerator.statistic_window", "0", "statistic_window is 0"),
        (
            "jmeter.reportgenerator.apdex_satisfied_threshold",
            "soon",
            "not a number of milliseconds",
        ),
        ("aggregate_rpt_pct2", "0", "aggregate_rpt_pct2 is 0"),
        ("backend_metrics_percentile_estimator", "R_33", "R_33"),
    ] {
        assert!(refused(ROWS, key, value).contains(words), "{key}: {}", refused(ROWS, key, value));
    }
}

#[test]
fn tables_show_the_labels_of_the_series_filter() {
    let with = |pairs: &'static [(&str, &str)]| {
        let own = move |key: &str| {
            let name = key.strip_prefix("jmeter.reportgenerator.exporter.html.")?;
            pairs.iter().find(|pair| pair.0 == name).map(|pair| pair.1.to_owned())
        };
        let figures = read(ROWS, own).unwrap();
        let apdex: Vec<_> = figures.apdex.iter().map(|row| row.label.clone()).collect();
        (apdex.join(" "), figures.statistics.labels.len(), figures.top5.len(), figures.errors.len())
    };
    assert_eq!(with(&[]), ("Total a b".into(), 2, 2, 1));
    assert_eq!(with(&[("series_filter", "^A$")]), ("Total a".into(), 2, 2, 1));
    let all = &[("series_filter", "^A$"), ("filters_only_sample_series", "false")];
    assert_eq!(with(all), ("Total a".into(), 2, 1, 0));
    assert_eq!(with(&[("show_controllers_only", "true")]), ("Total".into(), 2, 2, 1));
}

#[test]
fn parts_of_a_file_are_read_by_their_numbers() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.jtl", "a-10.jtl", "a-2.jtl", "a-x.jtl", "a-1.csv", "b-1.jtl", "a-.jtl"] {
        fs::write(
            folder.path().join(name),
            "timeStamp,elapsed,label,success\n1700000000005,7,l,true\n",
        )
        .unwrap();
    }
    let parts = report::jmeter::parts(&folder.path().join("a.jtl"));
    let names: Vec<_> =
        parts.iter().map(|part| part.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["a-2.jtl", "a-10.jtl"]);
    let settings = Settings::from_properties(|_| None).unwrap();
    let read = |name: &str, parts: &[PathBuf]| {
        let path = folder.path().join(name);
        let source = report::jmeter::open(&path)?;
        report::jmeter::read((&path, source), parts, &settings, true)
    };
    let of_all = read("a.jtl", &parts).unwrap();
    assert_eq!(of_all.figures.statistics.total.samples, 3);
    assert_eq!(of_all.record.unwrap().seconds[0].all.count, 3);
    assert!(read("none", &[]).is_err());
}
