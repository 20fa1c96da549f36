//! Watched hosts: a run queries an exporter every second and records its metrics in the seconds of the run.

#[path = "watching/hostile.rs"]
mod hostile;
#[path = "watching/java.rs"]
mod java;
mod program;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use program::{Program, quiet};
use serde_json::Value;

quiet! {
    an_exporters_figures_stand_in_the_seconds_of_the_run,
    alerts_that_fire_during_a_run_are_marks_of_it,
}

/// Starts an exporter whose counter grows by 7 with each query. Returns its port and the number of queries.
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
    // The counter grows by 7 per query, and queries are one second or slightly more apart.
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
    assert!(said.contains("could not read gone ("), "{said}");
    assert!(seconds(&program).iter().all(|second| second.get("watched").is_none()));
}

/// Starts an Alertmanager whose alert fires in the second query only.
fn alertmanager() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for (question, mut socket) in listener.incoming().flatten().enumerate() {
            let mut request = [0; 2048];
            let read = socket.read(&mut request).unwrap_or(0);
            let asked = request[..read].starts_with(b"GET /api/v2/alerts?active=true");
            let body = match question {
                1 if asked => {
                    r#"[{"fingerprint":"a","startsAt":"2026-01-01T00:00:00Z","labels":{"alertname":"DiskFull"},"annotations":{}}]"#
                }
                _ => "[]",
            };
            let length = body.len();
            let answer = format!(
                "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
            );
            let _ = socket.write_all(answer.as_bytes());
        }
    });
    port
}

fn alerts_that_fire_during_a_run_are_marks_of_it() {
    let program = Program::new();
    let url = format!("http://127.0.0.1:{}", alertmanager());
    let ended = program.run(&["run", "plan.jmx", "--alerts", &url, "-Jms=500", "-Jloops=40"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let seconds = seconds(&program);
    let marks = seconds.iter().filter_map(|second| second["marks"].as_array()).flatten();
    let said: Vec<&str> = marks.filter_map(|mark| mark["what"].as_str()).collect();
    let alerts: Vec<&str> = said.into_iter().filter(|words| words.starts_with("alert")).collect();
    let begin = "alert DiskFull (firing since before the run)";
    assert_eq!(alerts, [begin, "alert ended: DiskFull"], "{seconds:?}");
    let ended = program.run(&["run", "plan.jmx", "--alerts", "ftp://x"]);
    assert_eq!(ended.code, 2, "{ended:?}");
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
    assert!(said.contains("the response has no Prometheus metrics"), "{said}");
}

/// Returns the plan of [`Program`] with a PerfMon Metrics Collector, whose agent listens on `port`.
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

/// Starts a PerfMon agent that sends the same metrics every 100 ms. Returns its port and the lines that it receives.
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
    let expected = ["test", "interval:1", "metrics:cpu:\tmemory:usedperc\ttcp:estab"];
    assert_eq!(sent[..3], expected, "{ended:?}");
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

/// Returns the rows of the PerfMon collector's result file.
fn rows(program: &Program) -> Vec<Vec<String>> {
    let file = program.read("servers.csv");
    file.lines().skip(1).map(|row| row.split(',').map(str::to_owned).collect()).collect()
}

#[test]
fn an_agent_that_is_not_there_fails_in_the_collectors_file_only() {
    let program = Program::new();
    program.write("perfmon.jmx", &plan_with_collector(1));
    let ended = program.run(&["run", "perfmon.jmx", "-Jms=500", "-Jloops=4"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let said = ended.out + &ended.err;
    assert_eq!(said.matches("cannot watch 127.0.0.1: 127.0.0.1:1").count(), 1, "{said}");
    // Like the plug-in, the collector writes a row for each metric with the exception as its label.
    let rows = rows(&program);
    assert!(rows.len() >= 3, "{rows:?}");
    for row in rows {
        let refused = "java.net.ConnectException: Connection refused";
        let found = (&*row[1], &*row[2], &*row[4], &*row[7]);
        assert_eq!(found, ("-1000", refused, refused, "false"));
    }
}

#[test]
fn an_agent_is_read_by_udp_where_that_is_permitted() {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let port = socket.local_addr().expect("an address").port();
    let (told, lines) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = [0; 1024];
        while let Ok((read, from)) = socket.recv_from(&mut bytes) {
            let text = String::from_utf8_lossy(&bytes[..read]).into_owned();
            match &*text {
                "test\n" => drop(socket.send_to(b"Yep\n", from)),
                // The second datagram begins in the middle of a line, as after a lost datagram.
                text if text.contains("metrics:") => {
                    for line in ["25.5\t60\t7\t\n", "26.5\t", "27.5\t60\t8\t\n"] {
                        let _ = socket.send_to(line.as_bytes(), from);
                    }
                }
                _ => {}
            }
            let _ = told.send(text);
        }
    });
    let program = Program::new();
    program.write("perfmon.jmx", &plan_with_collector(port));
    let udp = "-JjmeterPlugin.perfmon.useUDP=true";
    let names = "-JjmeterPlugin.perfmon.label.useHostname=true";
    let ended = program.run(&["run", "perfmon.jmx", "-Jms=500", "-Jloops=4", udp, names]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(!(ended.out.clone() + &ended.err).contains("cannot watch"), "{ended:?}");
    let rows = rows(&program);
    let of = |label: &str| -> Vec<&str> {
        rows.iter().filter(|row| row[2] == label).map(|row| &*row[1]).collect()
    };
    assert_eq!(of("127 CPU"), ["25500", "26500", "27500"], "{rows:?}");
    assert_eq!(of("127 TCP estab"), ["7000", "8000"], "{rows:?}");
    // The last line must be `exit`. Without it, an agent would send metrics forever.
    let next = || lines.recv_timeout(std::time::Duration::from_secs(60)).expect("exit");
    let sent: Vec<String> =
        std::iter::from_fn(|| Some(next()).filter(|line| line != "exit\n")).collect();
    assert_eq!(sent[..], ["test\n", "interval:1\nmetrics:cpu:\tmemory:usedperc\ttcp:estab\t\n"]);

    let ended = program.run(&["run", "perfmon.jmx", "-Jms=300", "-Jloops=3", "--runs", "tcp"]);
    let said = ended.out + &ended.err;
    assert!(said.contains("cannot watch 127.0.0.1"), "TCP alone, as long as UDP is not permitted");
}

/// Starts a server that passes each connection and its number to `answer`.
fn agents(answer: impl Fn(usize, std::net::TcpStream) + Send + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for (client, socket) in listener.incoming().flatten().enumerate() {
            answer(client, socket);
        }
    });
    port
}

#[test]
fn an_agent_that_goes_away_leaves_no_rows_and_is_asked_again() {
    let port = agents(|client, mut socket| {
        let mut lines = BufReader::new(socket.try_clone().expect("a socket")).lines();
        if client == 1 {
            return;
        }
        let _ = (lines.next(), socket.write_all(b"Yep\n"));
        // Reads the two lines with the interval and the metrics, then sends the metrics.
        let _ = (lines.next(), lines.next(), socket.write_all(b"50\t60\t7\t\n"));
    });
    let program = Program::new();
    program.write("perfmon.jmx", &plan_with_collector(port));
    let ended = program.run(&["run", "perfmon.jmx", "-Jms=500", "-Jloops=9"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let rows = rows(&program);
    assert!(rows.len() >= 6 && rows.iter().all(|row| row[7] == "true"), "{rows:?}");
    let said = ended.out + &ended.err;
    assert!(said.contains("the agent closed the connection"), "{said}");
}

#[test]
fn an_agent_that_floods_drips_or_sends_rubbish_is_bounded() {
    use std::time::Duration;
    type Answer = fn(std::net::TcpStream);
    let cases: [(Answer, &str); 4] = [
        (
            |mut socket| {
                let _ = socket.write_all(b"Yep\n");
                let many = b"50\t60\t7\t\n".repeat(10_000);
                while socket.write_all(&many).is_ok() {}
            },
            "the agent sends more than 1 MiB or 100 lines per second",
        ),
        (
            |mut socket| {
                let _ = socket.write_all(b"Yep\n");
                while socket.write_all(&[b'9'; 4096]).is_ok() {}
            },
            "the agent sends a line without an end",
        ),
        (|mut socket| drop(socket.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")), "not a PerfMon"),
        (
            |mut socket| {
                while socket.write_all(b"Y").is_ok() {
                    std::thread::sleep(Duration::from_millis(50));
                }
            },
            "no answer from the agent",
        ),
    ];
    std::thread::scope(|scope| {
        for (answer, words) in cases {
            scope.spawn(move || {
                let port = agents(move |_, socket| {
                    std::thread::spawn(move || answer(socket));
                });
                let program = Program::new();
                program.write("perfmon.jmx", &plan_with_collector(port));
                let ended = program.run(&["run", "perfmon.jmx", "-Jms=500", "-Jloops=13"]);
                assert_eq!(ended.code, 0, "{ended:?}");
                let said = ended.out + &ended.err;
                assert_eq!(said.matches("cannot watch 127.0.0.1: ").count(), 1, "{words}: {said}");
                assert!(said.contains(words), "{words}: {said}");
                assert!(program.read("servers.csv").len() < 2_000_000, "{words}");
            });
        }
    });
}
