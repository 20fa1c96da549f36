//! Hosts that are watched: an exporter is asked while a run lasts, and what it says stands in the seconds of the run.

mod program;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use program::Program;
use serde_json::Value;

/// An exporter whose counter grows by 7 with each question.
fn exporter() -> (u16, Arc<AtomicU64>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let asked = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&asked);
    std::thread::spawn(move || {
        for mut socket in listener.incoming().flatten() {
            let mut request = [0; 2048];
            let read = socket.read(&mut request).unwrap_or(0);
            let metrics = request[..read].starts_with(b"GET /metrics HTTP/1.1\r\n");
            let n = count.fetch_add(1, Ordering::Relaxed);
            let body = format!(
                "# TYPE nginx_http_requests_total counter\nnginx_http_requests_total {}\nnginx_connections_active 3\n",
                n * 7
            );
            let status = if metrics { "200 OK" } else { "404 Not Found" };
            let head = format!(
                "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                body.len()
            );
            let _ = socket.write_all((head + &body).as_bytes());
        }
    });
    (port, asked)
}

fn seconds(program: &Program) -> Vec<Value> {
    let text =
        std::fs::read_to_string(program.run_folder().join("seconds.jsonl")).expect("seconds");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn an_exporters_figures_stand_in_the_seconds_of_the_run() {
    let (port, asked) = exporter();
    let program = Program::new();
    let host = format!("gateway=http://127.0.0.1:{port}");
    let ended = program.run(&["run", "plan.jmx", "--watch", &host, "-Jms=500", "-Jloops=9"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let seconds = seconds(&program);
    let figure = |metric: &str| -> Vec<f64> {
        seconds.iter().filter_map(|second| second["watched"]["gateway"][metric].as_f64()).collect()
    };
    let connections = figure("connections");
    assert!(connections.len() >= 2 && connections.iter().all(|n| *n == 3.0), "{seconds:?}");
    // 7 in a second or a little more, for it was asked once a second.
    let requests = figure("requests");
    assert!(
        !requests.is_empty() && requests.iter().all(|rate| (0.5..8.0).contains(rate)),
        "{requests:?}"
    );
    assert!(asked.load(Ordering::Relaxed) <= 2 + 2 * seconds.len() as u64);
}

#[test]
fn a_host_that_cannot_be_read_is_named_once_and_counted() {
    let program = Program::new();
    let gone = "gone=http://127.0.0.1:1/metrics";
    let ended = program.run(&["run", "plan.jmx", "--watch", gone, "-Jms=500", "-Jloops=6"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let said = ended.out + &ended.err;
    assert_eq!(said.matches("cannot watch gone: http://127.0.0.1:1/metrics").count(), 1, "{said}");
    assert!(said.contains("gone was asked"), "{said}");
    assert!(seconds(&program).iter().all(|second| second.get("watched").is_none()));
}

#[test]
fn what_is_no_exporter_is_refused_or_named() {
    let program = Program::new();
    let ended = program.run(&["run", "plan.jmx", "--watch", "http://127.0.0.1"]);
    assert_eq!(ended.code, 2, "{ended:?}");
    let target = targets::start(targets::Config::new("fixed")).expect("a target");
    let host = format!("a={}", target.url());
    let ended = program.run(&["run", "plan.jmx", "--watch", &host, "-Jms=300", "-Jloops=3"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let said = ended.out + &ended.err;
    assert!(said.contains("the answer has no metrics of Prometheus"), "{said}");
}

/// The plan of [`Program`] with a PerfMon collector, whose agent has the port given.
fn plan_with_collector(port: u16) -> String {
    let row = |kind: &str, parameters: &str| {
        format!(
            "<collectionProp name=\"1\"><stringProp name=\"1\">127.0.0.1</stringProp><stringProp name=\"2\">${{__P(agent,{port})}}</stringProp>\
             <stringProp name=\"3\">{kind}</stringProp><stringProp name=\"4\">{parameters}</stringProp></collectionProp>"
        )
    };
    let rows = [row("CPU", ""), row("Memory", "label=Used:usedperc"), row("TCP", "estab")].concat();
    let collector = format!(
        "<kg.apc.jmeter.perfmon.PerfMonCollector guiclass=\"kg.apc.jmeter.vizualizers.PerfMonGui\" \
         testclass=\"kg.apc.jmeter.perfmon.PerfMonCollector\" testname=\"Servers\" enabled=\"true\">\
         <stringProp name=\"filename\">servers.csv</stringProp>\
         <collectionProp name=\"metricConnections\">{rows}</collectionProp>\
         </kg.apc.jmeter.perfmon.PerfMonCollector><hashTree/>"
    );
    program::PLAN.replace("<!--more-->", &collector)
}

/// An agent that says the same each 100 ms; it keeps the lines that it was sent.
fn agent() -> (u16, std::sync::mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let (told, lines) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().expect("a client");
        let mut from = BufReader::new(socket.try_clone().expect("a socket"));
        let mut line = String::new();
        while from.read_line(&mut line).is_ok_and(|read| read > 0) {
            let _ = told.send(line.trim_end().to_owned());
            if line.starts_with("test") {
                let _ = socket.write_all(b"Yep\n");
            }
            if line.starts_with("metrics:") {
                while socket.write_all(b"25.5\t60\tNaN\n").is_ok() {
                    std::thread::sleep(std::time::Duration::from_millis(100));
                }
            }
            line.clear();
        }
    });
    (port, lines)
}

#[test]
fn a_perfmon_collector_watches_and_writes_its_file() {
    let (port, lines) = agent();
    let program = Program::new();
    program.write("perfmon.jmx", &plan_with_collector(port));
    let checked = program.run(&["check", "perfmon.jmx"]);
    assert_eq!(checked.code, 0, "{checked:?}");
    let ended = program.run(&["run", "perfmon.jmx", "-Jms=500", "-Jloops=6"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let sent: Vec<String> = lines.try_iter().collect();
    assert_eq!(sent[..2], ["test", "metrics:cpu:\tmemory:usedperc\ttcp:estab"], "{ended:?}");
    let seconds = seconds(&program);
    let of = |metric: &str| {
        seconds.iter().find_map(|second| second["watched"]["127.0.0.1"][metric].as_f64())
    };
    assert_eq!((of("cpu"), of("memory"), of("connections")), (Some(0.255), Some(0.6), None));
    let file = program.read("servers.csv");
    let mut rows = file.lines();
    assert!(rows.next().is_some_and(|head| head.starts_with("timeStamp,elapsed,label,")), "{file}");
    let rows: Vec<Vec<&str>> = rows.map(|row| row.split(',').collect()).collect();
    let labels: Vec<&str> = rows.iter().take(3).map(|row| row[2]).collect();
    assert_eq!(labels, ["127.0.0.1 CPU", "127.0.0.1 Memory Used", "127.0.0.1 TCP estab"]);
    assert_eq!((rows[0][1], rows[1][1], rows[0][7]), ("25500", "60000", "true"), "{file}");
}

#[test]
fn an_agent_that_is_not_there_fails_in_the_collectors_file_only() {
    let program = Program::new();
    program.write("perfmon.jmx", &plan_with_collector(1));
    let ended = program.run(&["run", "perfmon.jmx", "-Jms=500", "-Jloops=4"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let said = ended.out + &ended.err;
    assert_eq!(said.matches("cannot watch 127.0.0.1: 127.0.0.1:1").count(), 1, "{said}");
    let file = program.read("servers.csv");
    let row: Vec<&str> = file.lines().nth(1).expect("a row").split(',').collect();
    assert_eq!((row[1], row[2], row[7]), ("-1000", "127.0.0.1 CPU", "false"), "{file}");
    assert!(file.contains("refused"), "{file}");
}
