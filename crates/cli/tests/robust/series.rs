//! Numbers in responses as time series: variables, headers and metrics of `Server-Timing`, in one process and in
//! several.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use record::Record;
use serde_json::Value;
use stats::Number;

use crate::peer::{peer, request};
use crate::trial::Trial;

/// Extracts the number after `load=`. The extractor belongs to the group, so it runs after every request.
const EXTRACTOR: &str = r#"<RegexExtractor guiclass="RegexExtractorGui" testclass="RegexExtractor" testname="Load" enabled="true">
<stringProp name="RegexExtractor.useHeaders">false</stringProp><stringProp name="RegexExtractor.refname">serverLoad</stringProp>
<stringProp name="RegexExtractor.regex">load=(\w+)</stringProp><stringProp name="RegexExtractor.template">$1$</stringProp>
<stringProp name="RegexExtractor.default">none</stringProp><stringProp name="RegexExtractor.match_number">1</stringProp></RegexExtractor><hashTree/>"#;

/// Starts a server that answers with the number of the request; every third response has no load value.
fn counting() -> u16 {
    let asked = Arc::new(AtomicU64::new(0));
    peer(move |connection| {
        while request(connection) {
            let n = asked.fetch_add(1, Ordering::Relaxed) + 1;
            let body = if n.is_multiple_of(3) { "idle".into() } else { format!("load={n}") };
            let answer = format!(
                "HTTP/1.1 200 OK\r\nX-Threads: {}\r\nServer-Timing: app, db;dur={n}.5\r\nContent-Length: {}\r\n\r\n{body}",
                2 * n,
                body.len()
            );
            if std::io::Write::write_all(connection, answer.as_bytes()).is_err() {
                break;
            }
        }
    })
}

const SERIES: [&str; 8] = [
    "--series",
    "load=serverLoad",
    "--series",
    "threads=header:x-threads",
    "--series",
    "db=timing:db",
    "--series",
    "never=nobody",
];

fn number(count: u64, sum: f64, least: f64, most: f64, odd: u64) -> Number {
    Number { count, sum, least, most, odd }
}

#[test]
fn numbers_in_answers_are_counted_whatever_process_gets_them() {
    for workers in ["1", "2"] {
        let trial = Trial::with(EXTRACTOR);
        let port = format!("-Jport={}", counting());
        let line = ["run", "http.jmx", "-Jloops=6", "--workers", workers, &port, "--runs", "all"];
        let ended = trial.run(&[&line[..], &SERIES].concat());
        assert_eq!(ended.code, 0, "{ended:?}");
        for words in [
            "\nSeries          load: mean 6, min 1, max 11 (4 of 12 values were not numbers)\n",
            "\nSeries          threads: mean 13, min 2, max 24 (12 values)\n",
            "\nSeries          db: mean 7, min 1.50, max 12.5 (12 values)\n",
        ] {
            assert!(ended.out.contains(words), "{words}: {}", ended.out);
        }
        let never = "never has no value: no response had nobody";
        assert!(ended.out.contains(never) && ended.err.contains(never), "{ended:?}");
        let folder = std::fs::read_dir(trial.program.path("all")).expect("runs").next();
        let folder = folder.expect("a run").expect("a folder").path();
        let summary = std::fs::read(folder.join("summary.json")).expect("a summary");
        let summary: Value = serde_json::from_slice(&summary).expect("JSON");
        crate::program::schema::check(&summary).expect("the published form");
        assert_eq!(summary["series"][0]["no_numbers"], 4);
        let record = Record::read(&folder).expect("a record");
        let names: Vec<_> = record.frame.series().map(|one| one.0).collect();
        assert_eq!(names, ["load", "threads", "db", "never"]);
        let mut sums = [Number::default(); 4];
        for (at, number) in record.seconds.iter().flat_map(|second| &second.numbers) {
            sums[*at as usize].merge(number);
        }
        let expected = [
            number(8, 48.0, 1.0, 11.0, 4),
            number(12, 156.0, 2.0, 24.0, 0),
            number(12, 84.0, 1.5, 12.5, 0),
            Number::default(),
        ];
        assert_eq!(sums, expected);
        let page = std::fs::read_to_string(folder.join("report.html")).expect("a report");
        assert!(page.contains("threads"), "a chart");
    }
}

#[test]
fn a_file_beside_the_plan_has_series_of_its_own() {
    let trial = Trial::with(EXTRACTOR);
    trial
        .program
        .write("throng.toml", "[series]\nload = \"header:x-threads\"\ndb = \"timing:db\"\n");
    let port = format!("-Jport={}", counting());
    let ended = trial.run(&["run", "http.jmx", &port, "--series", "load=serverLoad"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.out.contains("Series          load: mean 3, min 1, max 5"), "{}", ended.out);
    assert!(ended.out.contains("Series          db: mean 4, min 1.50"), "{}", ended.out);
    let ended = trial.run(&["run", "http.jmx", &port, "--series", "load"]);
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(ended.err.contains("NAME=header:NAME"), "{ended:?}");
}

#[test]
fn a_criterion_on_a_series_is_judged_by_its_numbers() {
    let trial = Trial::with(EXTRACTOR);
    let port = format!("-Jport={}", counting());
    let line = ["run", "http.jmx", "-Jloops=6", &port, "--k6-summary", "k6.json"];
    let criteria = [
        "series.threads.max <= 24",
        "series.threads.mean < 13",
        "series.db.min = 1.5",
        "series.never.max < 5",
    ];
    let fail = criteria.map(|criterion| ["--fail", criterion]).concat();
    let ended = trial.run(&[&line[..], &SERIES, &fail].concat());
    assert_eq!(ended.code, 4, "{ended:?}");
    for words in [
        "met        series.threads.max <= 24: 24\n",
        "NOT MET    series.threads.mean < 13: 13\n",
        "met        series.db.min = 1.5: 1.5\n",
        "UNDECIDED  series.never.max < 5: no answer had a number for the series never\n",
    ] {
        assert!(ended.out.contains(words), "{words}: {}", ended.out);
    }
    // In k6's format, a threshold with the value `true` is a criterion that is not met.
    let k6: Value = serde_json::from_str(&trial.program.read("k6.json")).expect("JSON");
    let metrics = &k6["metrics"];
    let of_threads =
        serde_json::json!({ "series.threads.max <= 24": false, "series.threads.mean < 13": true });
    let expected = serde_json::json!({
        "avg": 13.0, "min": 2.0, "max": 24.0, "count": 12, "thresholds": of_threads
    });
    assert_eq!(metrics["series_threads"], expected);
    assert_eq!(metrics["series_load"]["count"], 8);
    assert_eq!((metrics.get("series_never"), metrics["http_reqs"].get("thresholds")), (None, None));
    let line = ["run", "http.jmx", &port, "--runs", "none"];
    let fail = ["--fail", "series.thread.max < 5"];
    let ended = trial.run(&[&line[..], &SERIES, &fail].concat());
    assert_eq!(ended.code, 2, "{ended:?}");
    let words = "the run has no series \"thread\": did you mean \"threads\"?";
    assert!(ended.err.contains(words) && !trial.program.path("none").exists(), "{ended:?}");
}
