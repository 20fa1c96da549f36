//! Watched hosts that answer badly: the run continues undisturbed and reports once what is wrong with each host.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use super::program::Program;
use super::{agents, seconds};

/// Starts a host that reads the request, sends `head` and then calls `send`.
fn host(head: &'static str, send: fn(TcpStream)) -> u16 {
    agents(move |_, mut socket| {
        std::thread::spawn(move || {
            let mut request = [0; 4096];
            let _ = socket.read(&mut request);
            if socket.write_all(head.as_bytes()).is_ok() {
                send(socket);
            }
        });
    })
}

/// Runs the plan for at least six seconds while one host is watched. Returns the program and its output.
fn said_of(scheme: &str, port: u16) -> (Program, String) {
    let program = Program::new();
    let host = format!("odd={scheme}://127.0.0.1:{port}/metrics");
    let ended = program.run(&["run", "plan.jmx", "--watch", &host, "-Jms=500", "-Jloops=13"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let text = std::fs::read_to_string(program.run_folder().join("summary.json"));
    let summary: serde_json::Value = serde_json::from_str(&text.expect("a summary")).expect("JSON");
    assert_eq!((&summary["requests"], &summary["failed"]), (&13.into(), &0.into()));
    (program, ended.out + &ended.err)
}

/// Returns the peak memory of the run in MiB, as the output states it.
fn memory(said: &str) -> f64 {
    let rest = said.split("; memory ").nth(1).expect("the generator's memory");
    let number = rest.split(' ').next().and_then(|word| word.parse().ok());
    number.unwrap_or_else(|| panic!("{rest}"))
}

fn forever(mut socket: TcpStream, bytes: &[u8], pause: Duration) {
    while socket.write_all(bytes).is_ok() {
        std::thread::sleep(pause);
    }
}

const FINE: &str = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n";
const NO_TIME: Duration = Duration::ZERO;
/// Patterns of the two possible findings: a slow machine may not have read 16 MiB within the limit of 5 s.
const TOO_LONG: &str = "longer than 16 MiB|no complete response within 5 s";

#[test]
fn a_host_that_answers_badly_is_named_once_and_disturbs_nothing() {
    type Case = (&'static str, &'static str, fn(TcpStream), &'static str);
    let cases: [Case; 11] = [
        ("http", FINE, |s| forever(s, &b"a_metric 1\n".repeat(6000), NO_TIME), TOO_LONG),
        (
            "http",
            "HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n",
            |s| forever(s, &[b'x'; 16000], NO_TIME),
            TOO_LONG,
        ),
        (
            "http",
            FINE,
            |s| forever(s, b"a_metric 1\n", Duration::from_millis(200)),
            "no complete response within 5 s",
        ),
        (
            "http",
            "",
            |s| forever(s, b"H", Duration::from_secs(20)),
            "no complete response within 5 s",
        ),
        ("http", "HTTP/1.1 200 OK\r\n", |s| forever(s, b"X-A: b\r\n", NO_TIME), "127.0.0.1"),
        ("http", "\u{1}\u{2}\u{1b}[31m garbage \r\n\r\n", drop, "127.0.0.1"),
        (
            "http",
            FINE,
            |mut s| drop(s.write_all(&[0, 159, 146, 150, 27, 10])),
            "no Prometheus metrics",
        ),
        (
            "http",
            "HTTP/1.1 302 Found\r\nLocation: /metrics\u{1b}[31m\r\nContent-Length: 0\r\n\r\n",
            drop,
            "redirect|127.0.0.1",
        ),
        (
            "http",
            "HTTP/1.1 301 Moved\r\nLocation: https://10.0.0.1/metrics\r\nContent-Length: 0\r\n\r\n",
            drop,
            "redirected to https://10.0.0.1/metrics",
        ),
        ("http", "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n", drop, "status: 401"),
        ("https", FINE, drop, "TLS"),
    ];
    std::thread::scope(|scope| {
        for (scheme, head, send, words) in cases {
            scope.spawn(move || {
                let (program, said) = said_of(scheme, host(head, send));
                let named = format!("cannot watch odd: {scheme}://127.0.0.1:");
                assert_eq!(said.matches(&named).count(), 1, "{words}: {said}");
                assert!(words.split('|').any(|one| said.contains(one)), "{words}: {said}");
                assert!(said.contains("could not read odd ("), "{said}");
                assert!(!said.contains('\u{1b}'), "{words}: {said}");
                assert!(memory(&said) < 200.0, "{words}: {said}");
                assert!(seconds(&program).iter().all(|second| second.get("watched").is_none()));
            });
        }
    });
}

#[test]
fn odd_numbers_and_huge_labels_are_left_out_and_the_rest_is_read() {
    let port = host(FINE, |mut socket| {
        let many: Vec<String> = (0..50_000).map(|n| format!("l{n}=\"v\"")).collect();
        let many = many.join(",");
        let long = "x".repeat(4 << 20);
        let odd = ["NaN", "+Inf", "-Inf", "1e999", "-1", "word", ""];
        let odd: Vec<String> =
            odd.iter().map(|odd| format!("nginx_connections_waiting {odd}\n")).collect();
        let odd = odd.concat();
        let text = format!(
            "node_cpu_seconds_total{{{many}}} 1\n{long} 5\nnginx_up{{a=\"{long}\"}} 1\n{odd}nginx_connections_active 3 9e99\n\
             nginx_connections_reading 1e308\nnginx_connections_reading 1e308\n"
        );
        let _ = socket.write_all(text.as_bytes());
    });
    let (program, said) = said_of("http", port);
    assert!(!said.contains("cannot watch"), "{said}");
    assert!(memory(&said) < 200.0, "{said}");
    let seconds = seconds(&program);
    let of = |metric: &str| -> Vec<f64> {
        seconds.iter().filter_map(|second| second["watched"]["odd"][metric].as_f64()).collect()
    };
    assert!(of("connections").len() >= 2 && of("connections").iter().all(|n| *n == 3.0));
    assert_eq!((of("connections_waiting").len(), of("connections_reading").len()), (0, 0));
    assert_eq!(of("up").first(), Some(&1.0));
}
