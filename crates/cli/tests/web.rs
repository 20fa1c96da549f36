//! The live page in a browser: which clients the server answers, which data of a run a page gets, and that no client
//! costs the run a sample.

mod client;
mod program;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use client::{Events, Links, until};
use program::Program;
use serde_json::{Value, json};

fn start(program: &Program, options: &[&str]) -> Links {
    Links::of(program.start(&[&["run", "plan.jmx", "-Jms=20", "--web"], options].concat()))
}

fn last(program: &Program, key: &str) -> u64 {
    let text = std::fs::read_to_string(program.run_folder().join("seconds.jsonl"));
    let text = text.unwrap_or_default();
    let last = text.lines().last().and_then(|line| serde_json::from_str::<Value>(line).ok());
    last.and_then(|second| second[key].as_u64()).unwrap_or_default()
}

#[test]
fn only_who_has_a_token_and_calls_the_server_by_its_name_is_answered() {
    let program = Program::new();
    let mut run = start(&program, &["--users", "2", "--duration", "50m"]);
    until("a run that answers", || run.get("/api/page", &run.full).status == 200);
    assert_eq!(run.get("/", "").status, 200, "the page itself says nothing");
    let wrong = format!("{}g", &run.full[..31]);
    for token in ["", "x", &wrong, &run.full.to_uppercase().replace(char::is_numeric, "A")] {
        for path in ["/api/page", "/api/events", "/api/none"] {
            assert_eq!(run.get(path, token).status, 401, "{path} {token:?}");
        }
        assert_eq!(run.post("/api/control", token, &json!({ "command": "stop-now" })).status, 401);
    }
    let ask = |headers: &str| {
        let request = format!(
            "GET /api/page HTTP/1.1\r\nAuthorization: Bearer {}\r\n{headers}\r\n\r\n",
            run.full
        );
        run.send(request.as_bytes()).status
    };
    let own = format!("127.0.0.1:{}", run.port);
    for (headers, status) in [
        (format!("Host: {own}"), 200),
        (format!("Host: localhost:{}", run.port), 200),
        (format!("Host: {own}\r\nOrigin: http://{own}\r\nSec-Fetch-Site: same-origin"), 200),
        ("Host: evil.example".to_owned(), 403),
        (format!("Host: evil.example:{}", run.port), 403),
        (format!("Host: {own}.evil.example"), 403),
        (String::from("X: y"), 403),
        (format!("Host: {own}\r\nOrigin: http://evil.example"), 403),
        (format!("Host: {own}\r\nOrigin: null"), 403),
        (format!("Host: {own}\r\nOrigin: http://localhost:{}", run.port), 403),
        (format!("Host: {own}\r\nSec-Fetch-Site: cross-site"), 403),
        (format!("Host: {own}\r\nHost: {own}"), 400),
    ] {
        assert_eq!(ask(&headers), status, "{headers}");
    }
    let page = run.get("/", "");
    for header in [
        "x-content-type-options: nosniff",
        "referrer-policy: no-referrer",
        "cache-control: no-store",
        "content-security-policy: default-src 'none'; script-src 'sha256-",
    ] {
        assert!(page.head.to_lowercase().contains(header), "{header}: {}", page.head);
    }
    for never in ["set-cookie", "access-control", "unsafe-inline"] {
        assert!(!page.head.to_lowercase().contains(never), "{}", page.head);
    }
    for (path, status) in [
        ("/none", 404),
        ("/report/", 404),
        ("/../../etc/passwd", 404),
        ("/report/..%2f..%2fplan.jmx", 404),
        ("//etc/passwd", 404),
    ] {
        assert_eq!(run.get(path, &run.full).status, status, "{path}");
    }
    let log = std::fs::read_to_string(program.run_folder().join("throng.log")).expect("a log");
    assert!(!log.contains(&run.full) && !log.contains(&run.read), "tokens are not logged");
    assert_eq!(run.post("/api/control", &run.full, &json!({ "command": "stop-now" })).status, 200);
    assert_eq!(run.end().code, 130);
}

/// Sends invalid control requests, which the server refuses, then a mark and a pause.
fn controls(run: &Links, program: &Program, events: &mut Events) {
    for refused in [
        json!({ "command": "rate", "value": 5 }),
        json!({ "command": "users", "value": 1.5 }),
        json!({ "command": "users", "value": -1 }),
        json!({ "command": "mark", "text": " " }),
    ] {
        assert_eq!(run.post("/api/control", &run.full, &refused).json()["ok"], false, "{refused}");
    }
    for rubbish in [json!({}), json!({ "command": "exec" }), json!([1]), json!("stop")] {
        assert_eq!(run.post("/api/control", &run.full, &rubbish).status, 400, "{rubbish}");
    }
    assert_eq!(
        run.post("/api/control", &run.full, &json!({ "command": "mark", "text": "a\u{1b}[31mb" }))
            .json()["ok"],
        true
    );
    assert_eq!(events.until("mark")["words"]["en"], "a[31mb");
    run.post("/api/control", &run.full, &json!({ "command": "pause" }));
    until("a second without samples", || last(program, "samples") == 0);
    run.post("/api/control", &run.full, &json!({ "command": "go-on" }));
    until("samples again", || last(program, "samples") > 0);
}

#[test]
fn a_page_follows_a_run_changes_it_and_becomes_its_report() {
    let program = Program::new();
    let mut run = start(&program, &["--users", "4", "--duration", "50m", "--fail", "error% < 1"]);
    until("a first second", || {
        run.get("/api/page", &run.full).json()["last_id"].as_u64() > Some(0)
    });
    let columns = |begin: &Value| begin["page"]["timeline"]["columns"].as_array().map(Vec::len);
    let begin = run.get("/api/page", &run.full).json();
    assert!(columns(&begin) >= Some(7), "{begin}");
    assert_eq!(begin["page"]["timeline"]["charts"].as_array().map(Vec::len), Some(4));
    assert_eq!(
        (&begin["read_only"], &begin["page"]["about"]["title"]),
        (&json!(false), &json!("plan.jmx"))
    );
    assert_eq!(begin["controls"], json!(["users", "pause", "go-on", "stop", "stop-now", "mark"]));
    let only = run.get("/api/page", &run.read).json();
    assert_eq!((&only["read_only"], &only["controls"]), (&json!(true), &json!([])));

    let mut events = run.events(&run.read, begin["last_id"].as_u64());
    // A metric that was zero so far gets a column with its first value. The page must then reload its data.
    let mut page = begin;
    let second = loop {
        let (id, event, data) = events.next();
        match event.as_str() {
            "again" => page = run.get("/api/page", &run.full).json(),
            "second" if Some(id) > page["last_id"].as_u64() => break data,
            _ => {}
        }
    };
    assert_eq!(second["values"].as_array().map(Vec::len), columns(&page), "{second}");
    assert!(second["now"]["rate_per_s"].as_f64() > Some(0.0), "{second}");
    assert_eq!(second["now"]["users_wanted"], 4);

    let asked = json!({ "command": "users", "value": 9 });
    assert_eq!(run.post("/api/control", &run.read, &asked).status, 403, "it may only read");
    let done = run.post("/api/control", &run.full, &asked).json();
    assert_eq!(
        done,
        json!({ "ok": true, "words": { "en": "users: 9 instead of 4", "zh": "用户数：9" } })
    );
    assert_eq!(events.until("mark")["words"]["en"], "9 users");
    until("9 users", || last(&program, "users") == 9);
    controls(&run, &program, &mut events);

    // A client that missed a few events continues after its last event. A client that missed too many must reload.
    let newest = run.get("/api/page", &run.full).json()["last_id"].as_u64().expect("a number");
    assert_eq!(run.events(&run.full, Some(newest - 1)).next().0, newest);
    assert_eq!(run.events(&run.full, Some(newest + 1000)).next().1, "again");

    assert_eq!(
        run.post("/api/control", &run.full, &json!({ "command": "stop" })).json()["ok"],
        true
    );
    let report = events.until("end")["report"].as_str().expect("a report").to_owned();
    let page = run.get(&report, "");
    assert!(
        page.head.contains("sandbox allow-scripts") && page.body.contains("id=\"data\""),
        "{}",
        page.head
    );
    assert!(events.is_over());
    drop(events);
    assert_eq!(run.end().code, 130);
    let file = std::fs::read_to_string(program.run_folder().join("report.html")).expect("a report");
    assert_eq!(file, page.body);
}

#[test]
fn a_run_without_a_page_that_is_open_ends_at_once_and_without_a_report_the_page_stays() {
    let program = Program::new();
    let mut run = start(&program, &["--users", "1", "--duration", "3s", "--no-report", "--quiet"]);
    let mut events = run.events(&run.full, None);
    assert_eq!(events.until("end"), json!({ "report": null }));
    assert!(events.is_over());
    assert_eq!(run.end().code, 0);
    assert!(TcpStream::connect(("127.0.0.1", run.port)).is_err(), "nobody listens any more");
}

#[test]
fn a_rate_is_changed_too_and_an_address_that_is_taken_is_told() {
    let program = Program::new();
    let mut run = start(&program, &["--rps", "5", "--duration", "50m"]);
    until("a run that answers", || run.get("/api/page", &run.full).json()["controls"][0] == "rate");
    let done =
        run.post("/api/control", &run.full, &json!({ "command": "rate", "value": 12.5 })).json();
    assert_eq!(done["words"]["en"], "rate: 12.5 starts/s instead of 5");
    let other = Program::new();
    let taken = other.run(&["run", "plan.jmx", &format!("--web={}", run.port)]);
    assert_eq!((taken.code, other.path("runs").exists()), (2, false), "{taken:?}");
    assert!(taken.err.contains("in use"), "{}", taken.err);
    let wrong = other.run(&["run", "--web=no:such:address", "plan.jmx"]);
    assert!(wrong.code == 2 && wrong.err.contains("not an address to listen on"), "{wrong:?}");
    run.post("/api/control", &run.full, &json!({ "command": "stop-now" }));
    assert_eq!(run.end().code, 130);
}

#[test]
fn what_remains_is_known_when_set_up_groups_are_done() {
    let program = Program::new();
    let at = program::PLAN.find("<ThreadGroup").expect("a group");
    let end = program::PLAN.find("<!--more-->").expect("its end");
    let group = format!("{}</hashTree>", &program::PLAN[at..end]);
    let setup = group.replace(
        "ThreadGroup guiclass=\"ThreadGroupGui\" testclass=\"ThreadGroup\"",
        "SetupThreadGroup guiclass=\"SetupThreadGroupGui\" testclass=\"SetupThreadGroup\"",
    );
    let setup =
        setup.replace("</ThreadGroup>", "</SetupThreadGroup>").replace("(loops,1)", "(first,60)");
    program.write(
        "plan.jmx",
        &program::PLAN.replacen("<ThreadGroup", &format!("{setup}<ThreadGroup"), 1),
    );
    let mut run = start(&program, &["-Jms=50", "--users", "2", "--duration", "50m"]);
    let mut events = run.events(&run.full, None);
    let remaining = |events: &mut Events| events.until("second")["now"]["remaining_ms"].as_i64();
    assert_eq!(remaining(&mut events), None, "nobody knows how long the set-up takes");
    let mut left = None;
    until("what remains", || {
        left = remaining(&mut events);
        left.is_some()
    });
    let whole = 50 * 60 * 1000;
    assert!(left > Some(whole - 60_000) && left <= Some(whole), "{left:?}");
    run.post("/api/control", &run.full, &json!({ "command": "stop-now" }));
    drop(events);
    assert_eq!(run.end().code, 130);
}

#[test]
fn a_server_for_others_is_told_of() {
    let program = Program::new();
    let ended = program.run(&["run", "plan.jmx", "--web=0.0.0.0:0"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.err.contains("can be reached from other machines"), "{}", ended.err);
    let jmeter = program.run(&["-n", "-t", "plan.jmx", "--web"]);
    assert!(jmeter.code == 0 && jmeter.out.contains("Live page"), "{jmeter:?}");
}

/// Returns the number of samples of a completed run.
fn samples(program: &Program) -> u64 {
    let text = std::fs::read_to_string(program.run_folder().join("summary.json"));
    let summary: Value = serde_json::from_str(&text.expect("a summary")).expect("JSON");
    summary["requests"].as_u64().expect("a number")
}

#[test]
fn clients_that_do_not_read_flood_or_send_rubbish_cost_no_sample() {
    let program = Program::new();
    // 8 users with 400 samples of 20 ms each: the run must have as many samples as without pages.
    let options = ["-Jusers=8", "-Jloops=400"];
    let mut run = start(&program, &options);
    // Eight clients with a token request events and pages and never read them.
    let idle: Vec<TcpStream> = (0..8).map(|n| {
        let path = if n % 2 == 0 { "/api/events" } else { "/api/page" };
        let mut stream = run.connect();
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nLast-Event-ID: 0\r\n\r\n", run.full);
        let _ = stream.write_all(request.as_bytes());
        stream
    }).collect();
    // 100 clients send incomplete requests and then nothing more.
    let silent: Vec<TcpStream> = (0..100)
        .map(|_| {
            let mut stream = run.connect();
            let _ = stream.write_all(b"GET / HTTP/1.1\r\nHost: ");
            stream
        })
        .collect();
    let over = Arc::new(AtomicBool::new(false));
    let flood = {
        let (over, port) = (Arc::clone(&over), run.port);
        std::thread::spawn(move || {
            let mut count = 0u64;
            while !over.load(Ordering::Relaxed) {
                let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else { break };
                let _ = stream.set_write_timeout(Some(Duration::from_millis(100)));
                let _ = stream.write_all(match count % 4 {
                    0 => b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
                    1 => b"\x00\xff\x16\x03\x01 rubbish\r\n\r\n",
                    2 => b"POST /api/control HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999999999\r\n\r\n",
                    _ => b"GET /api/page HTTP/1.1\r\nHost: localhost\r\n\r\n",
                });
                let _ = stream.set_read_timeout(Some(Duration::from_millis(20)));
                let _ = stream.read(&mut [0; 512]);
                count += 1;
            }
            count
        })
    };
    // During the flood, a client with a token still gets its response.
    until("an answer in the flood", || run.get("/api/page", &run.read).status == 200);
    let ended = run.end();
    over.store(true, Ordering::Relaxed);
    assert!(flood.join().expect("a flood") > 0);
    drop((idle, silent));
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(samples(&program), 3200);
    let quiet = Program::new();
    let alone = quiet.run(&[&["run", "plan.jmx", "-Jms=20"], &options[..]].concat());
    assert_eq!((alone.code, samples(&quiet)), (0, 3200));
}

#[test]
fn requests_beyond_the_bounds_are_refused() {
    let program = Program::new();
    let mut run = start(&program, &["--users", "1", "--duration", "50m"]);
    let long = "a".repeat(20_000);
    for (request, status) in [
        (format!("GET /{long} HTTP/1.1\r\nHost: localhost\r\n\r\n"), 431),
        (format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {long}\r\n\r\n"), 431),
        (
            "POST /api/control HTTP/1.1\r\nHost: localhost\r\nContent-Length: 20000\r\n\r\n".into(),
            413,
        ),
        ("POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n".into(), 501),
        ("DELETE / HTTP/1.1\r\nHost: localhost\r\n\r\n".into(), 405),
        ("GET http://localhost/ HTTP/1.1\r\nHost: localhost\r\n\r\n".into(), 400),
    ] {
        assert_eq!(run.send(request.as_bytes()).status, status, "{request:.60}");
    }
    until("a stop", || {
        run.post("/api/control", &run.full, &json!({ "command": "stop-now" })).status == 200
    });
    assert_eq!(run.end().code, 130);
}
