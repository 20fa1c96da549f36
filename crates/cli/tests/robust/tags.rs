//! Marks on a test's requests (headers, baggage and traces) for every kind of HTTP request.

use std::collections::{HashMap, HashSet};
use std::io::Write;
use std::sync::{Arc, Mutex};

use crate::peer::{head, peer};
use crate::trial::Trial;

const TAG: &str = "X-Load-Test=run 7";
const ANSWER: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const MOVED: &str = "HTTP/1.1 302 Found\r\nLocation: /there\r\nContent-Length: 0\r\n\r\n";

/// Heads of requests in the order of arrival.
type Heads = Arc<Mutex<Vec<String>>>;

/// Starts a server that stores the heads of requests and answers by path.
fn listening(answer: fn(&str) -> String) -> (u16, Heads) {
    let heads = Heads::default();
    let seen = Arc::clone(&heads);
    let port = peer(move |connection| {
        while let Some(head) = head(connection) {
            let answer = answer(head.split(' ').nth(1).unwrap_or_default());
            seen.lock().expect("no panic").push(head);
            if connection.write_all(answer.as_bytes()).is_err() {
                break;
            }
        }
    });
    (port, heads)
}

/// Returns all values of a header in a request head.
fn values<'a>(head: &'a str, name: &str) -> Vec<&'a str> {
    let lines = head.lines().filter_map(|line| line.split_once(": "));
    lines.filter(|(one, _)| one.eq_ignore_ascii_case(name)).map(|(_, value)| value).collect()
}

/// Returns the four parts of the `traceparent` header in a request head.
fn trace(head: &str) -> [&str; 4] {
    let values = values(head, "traceparent");
    let [value] = values[..] else { panic!("one traceparent: {head}") };
    let parts: Vec<_> = value.split('-').collect();
    let parts = <[&str; 4]>::try_from(parts).expect("four parts");
    assert_eq!(parts.map(str::len), [2, 32, 16, 2], "{value}");
    parts
}

/// Returns the samples that the only run stored, as its report lists them.
fn samples(trial: &Trial) -> Vec<HashMap<String, serde_json::Value>> {
    let run = trial.program.run_folder();
    let ended = trial.run(&["report", &run.display().to_string(), "--tables", "tables"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let samples: Vec<_> =
        serde_json::from_str(&trial.program.read("tables/samples.json")).expect("rows");
    assert!(!samples.is_empty());
    samples
}

#[test]
fn every_request_carries_the_headers_of_the_command_line() {
    let (port, heads) = listening(|_| ANSWER.into());
    let manager = r#"<HeaderManager guiclass="HeaderPanel" testclass="HeaderManager" testname="headers" enabled="true"><collectionProp name="HeaderManager.headers">
<elementProp name="" elementType="Header"><stringProp name="Header.name">x-load-test</stringProp><stringProp name="Header.value">the plan's ${__threadNum}</stringProp></elementProp></collectionProp></HeaderManager><hashTree/>"#;
    for trial in [Trial::new(), Trial::with(manager)] {
        heads.lock().expect("no panic").clear();
        let more = ["--tag", TAG, "--baggage", "loadtest=true", "--baggage", "who=me"];
        let (ended, rows) = trial.against(port, &more);
        assert_eq!((ended.code, rows.len()), (0, 6), "{ended:?}");
        assert!(rows.iter().all(|row| row.success), "{rows:?}");
        let heads = heads.lock().expect("no panic");
        assert_eq!(heads.len(), 6);
        for head in &*heads {
            assert_eq!(values(head, "X-Load-Test"), ["run 7"], "{head}");
            assert_eq!(values(head, "baggage"), ["loadtest=true,who=me"], "{head}");
            assert!(values(head, "traceparent").is_empty(), "{head}");
        }
    }
}

#[test]
fn requests_carry_none_of_it_unasked() {
    let (port, heads) = listening(|_| ANSWER.into());
    let trial = Trial::new();
    let (ended, _) = trial.against(port, &[]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(samples(&trial).iter().all(|sample| sample["trace"].is_null()));
    for head in &*heads.lock().expect("no panic") {
        assert!(values(head, "baggage").is_empty() && values(head, "traceparent").is_empty());
    }
}

#[test]
fn the_requests_of_a_sample_are_one_trace_and_the_report_has_its_number() {
    let (port, heads) = listening(|path| if path == "/" { MOVED.into() } else { ANSWER.into() });
    let trial = Trial::new();
    let (ended, rows) = trial.against(port, &["--traceparent=sampled"]);
    // Six samples, each with two sub-results for the redirect and its target: 18 rows.
    assert_eq!((ended.code, rows.len()), (0, 18), "{ended:?}");
    let heads = heads.lock().expect("no panic");
    let mut traces: HashMap<&str, Vec<&str>> = HashMap::new();
    let mut requests = HashSet::new();
    for head in &*heads {
        let [version, trace, request, flags] = trace(head);
        assert_eq!((version, flags), ("00", "01"));
        assert!(requests.insert(request), "a number of its own: {head}");
        traces.entry(trace).or_default().push(head.split(' ').nth(1).expect("a path"));
    }
    assert_eq!((heads.len(), traces.len()), (12, 6));
    assert!(traces.values().all(|paths| paths[..] == ["/", "/there"]), "{traces:?}");

    for sample in samples(&trial) {
        let trace = sample["trace"].as_str().expect("a trace");
        assert!(traces.contains_key(trace), "{trace}: {traces:?}");
    }
}

#[test]
fn worker_processes_carry_the_marks_and_no_trace_twice() {
    let (port, heads) = listening(|_| ANSWER.into());
    let more = ["--tag", TAG, "--traceparent", "--workers", "2", "-Jusers=4"];
    let (ended, rows) = Trial::new().against(port, &more);
    assert_eq!((ended.code, rows.len()), (0, 12), "{ended:?}");
    let heads = heads.lock().expect("no panic");
    let traces: HashSet<_> = heads.iter().map(|head| trace(head)[1]).collect();
    assert_eq!((heads.len(), traces.len()), (12, 12));
    for head in &*heads {
        assert_eq!((values(head, "X-Load-Test"), trace(head)[3]), (vec!["run 7"], "00"));
    }
}

/// Returns a plug-in element with string properties.
fn element(class: &str, properties: &[(&str, &str)]) -> String {
    let text =
        |(name, value): &(&str, &str)| format!(r#"<stringProp name="{name}">{value}</stringProp>"#);
    let properties: String = properties.iter().map(text).collect();
    format!(
        r#"<{class} guiclass="x" testclass="{class}" testname="{class}" enabled="true">{properties}</{class}><hashTree/>"#
    )
}

#[test]
fn handshakes_of_websockets_and_streams_of_events_carry_the_marks_too() {
    let (port, heads) = listening(|path| {
        if path == "/events" {
            let kind = "Content-Type: text/event-stream\r\nContent-Length: 9\r\n\r\n";
            return format!("HTTP/1.1 200 OK\r\n{kind}data: a\n\n");
        }
        "HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n".into()
    });
    let socket = element(
        "eu.luminis.jmeter.wssampler.OpenWebSocketSampler",
        &[
            ("TLS", "false"),
            ("server", "127.0.0.1"),
            ("port", "${__P(port)}"),
            ("path", "/socket"),
            ("connectTimeout", "30000"),
            ("readTimeout", "30000"),
        ],
    );
    let events = element(
        "com.jmeter.sse.SSESampler",
        &[
            ("SSESampler.url", "http://127.0.0.1:${__P(port)}/events"),
            ("SSESampler.duration", "60"),
        ],
    );
    let trial = Trial::doing(&(socket + &events));
    let more = ["--tag", TAG, "--traceparent", "-Jusers=1", "-Jloops=1"];
    let (ended, rows) = trial.against(port, &more);
    assert_eq!((ended.code, rows.len()), (0, 2), "{ended:?}");
    let heads = heads.lock().expect("no panic");
    let paths: Vec<_> = heads.iter().filter_map(|head| head.split(' ').nth(1)).collect();
    assert_eq!(paths, ["/socket", "/events"]);
    assert_ne!(trace(&heads[0])[1], trace(&heads[1])[1]);
    assert!(heads.iter().all(|head| values(head, "X-Load-Test") == ["run 7"]), "{heads:?}");
}

#[test]
fn marks_that_would_break_requests_are_refused_before_the_first() {
    let trial = Trial::new();
    for (option, words) in [
        (["--tag", "Host=x"], "the header Host cannot be changed"),
        (["--baggage", "loadtest"], "KEY=VALUE"),
        (["-J", "throng.traceparent=perhaps"], "throng.traceparent must be true, sampled or false"),
    ] {
        let ended = trial.run(&[&["run", "http.jmx"][..], &option].concat());
        assert_eq!(ended.code, 2, "{ended:?}");
        assert!(ended.err.contains(words), "{ended:?}");
    }
}
