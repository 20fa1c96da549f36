//! Hosts that are watched: an exporter is asked while a run lasts, and what it says stands in the seconds of the run.

mod program;

use std::io::{Read, Write};
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
