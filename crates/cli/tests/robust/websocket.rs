//! WebSocket servers that break the protocol, flood the client or die, and the resulting samples and connections.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::{Duration, Instant};

use targets::{Config, Running};

use crate::trial::{JTL, Trial, number};

/// A path of the target, and the expected results of the samples that open the connection and read from it: code, and a
/// part of the message.
type Odd = (&'static str, (&'static str, &'static str), (&'static str, &'static str));

/// Time-out in ms for messages that are expected to arrive.
const PATIENT: &str = "30000";
const OPENED: (&str, &str) = ("101", "Switching Protocols");
const NONE: (&str, &str) = ("Sampler error", "there is no connection");
const IO: &str = "Websocket I/O error";
const TIMED_OUT: (&str, &str) = (IO, "Read timed out");
const PROTOCOL: (&str, &str) = (IO, "protocol error");
const CLOSED: &str = "Sampler error: unexpected frame type (close).";

#[rustfmt::skip]
const ODD: &[Odd] = &[
    ("/wrong-accept", ("", "'Sec-WebSocket-Accept' has incorrect value."), NONE),
    ("/no-accept", ("", "should contain 'Sec-WebSocket-Accept'"), NONE),
    ("/no-upgrade", ("", "should contain 'Upgrade' header"), NONE),
    ("/no-connection", ("", "should contain 'Connection' header"), NONE),
    ("/status/403", ("403", "Got unexpected status 403"), NONE),
    ("/not-http", (IO, "Invalid status line"), NONE),
    ("/endless-head", (IO, "larger than 64 KiB"), NONE),
    ("/slow?ms=3000", TIMED_OUT, NONE),
    ("/half-open", TIMED_OUT, NONE),
    ("/half-head", TIMED_OUT, NONE),
    ("/close-before", (IO, "Empty response; connection closed."), NONE),
    ("/reset-before", (IO, "Connection reset"), NONE),
    ("/pieces?size=1&ms=0", OPENED, TIMED_OUT),
    ("/oversized", OPENED, PROTOCOL),
    ("/top-bit", OPENED, PROTOCOL),
    ("/masked", OPENED, PROTOCOL),
    ("/not-minimal", OPENED, ("200", "OK")),
    ("/opcode/3", OPENED, ("Sampler error", "unsupported frame type: 3")),
    ("/bad-utf8", OPENED, ("200", "OK")),
    ("/continuation", OPENED, (IO, "no continuation frame expected")),
    ("/fragmented-ping", OPENED, ("Sampler error: unexpected frame type (ping).", "Ping frame")),
    ("/close-byte", OPENED, (CLOSED, "status code null")),
    ("/close/1001?reason=away", OPENED, (CLOSED, "status code 1001 and close reason 'away'")),
    ("/half-frame", OPENED, TIMED_OUT),
    ("/half-length", OPENED, TIMED_OUT),
    ("/large?length=3000000", OPENED, ("200", "OK")),
    ("/silence", OPENED, TIMED_OUT),
    ("/fin", OPENED, (IO, "end of stream")),
    ("/rst", OPENED, (IO, "Connection reset")),
    ("/cut?ms=300&how=fin", OPENED, (IO, "end of stream")),
    ("/cut?ms=300&how=rst", OPENED, (IO, "Connection reset")),
    ("/cut?ms=300&how=4008", OPENED, (CLOSED, "status code 4008")),
];

fn start(name: &str, options: &[(&str, &str)]) -> Running {
    let config =
        options.iter().fold(Config::new(name), |config, (key, value)| config.option(*key, *value));
    targets::start(config).expect("a target")
}

fn text(name: &str, value: &str) -> String {
    format!(r#"<stringProp name="{name}">{value}</stringProp>"#)
}

/// Returns a sampler of the WebSocket plug-in.
fn sampler(class: &str, name: &str, properties: &[(&str, &str)]) -> String {
    let properties: String = properties.iter().map(|(name, value)| text(name, value)).collect();
    let class = format!("eu.luminis.jmeter.wssampler.{class}");
    format!(
        r#"<{class} guiclass="{class}Gui" testclass="{class}" testname="{name}" enabled="true">{properties}</{class}><hashTree/>"#
    )
}

fn open(path: &str) -> String {
    open_within(path, PATIENT)
}

/// Returns a sampler that opens a connection, with a time-out in ms.
fn open_within(path: &str, timeout: &str) -> String {
    let properties = [
        ("TLS", "false"),
        ("server", "127.0.0.1"),
        ("port", "${__P(port)}"),
        ("path", path),
        ("connectTimeout", PATIENT),
        ("readTimeout", timeout),
    ];
    sampler("OpenWebSocketSampler", &format!("open {path}"), &properties)
}

fn read(name: &str, timeout: &str) -> String {
    let properties = [
        ("createNewConnection", "false"),
        ("dataType", "Any"),
        ("optional", "false"),
        ("readTimeout", timeout),
    ];
    sampler("SingleReadWebSocketSampler", name, &properties)
}

/// Returns a pause. With settings in `below`, the pause holds the connection.
fn pause(name: &str, ms: &str, below: &str) -> String {
    format!(
        r#"<TestAction guiclass="TestActionGui" testclass="TestAction" testname="{name}" enabled="true"><intProp name="ActionProcessor.action">1</intProp><intProp name="ActionProcessor.target">0</intProp><stringProp name="ActionProcessor.duration">{ms}</stringProp></TestAction><hashTree>{below}</hashTree>"#
    )
}

/// Returns settings in a Config Element, an element that JMeter knows.
fn settings(name: &str, properties: &[(&str, &str)]) -> String {
    let properties: String = properties.iter().map(|(name, value)| text(name, value)).collect();
    format!(
        r#"<ConfigTestElement guiclass="SimpleConfigGui" testclass="ConfigTestElement" testname="{name}" enabled="true">{properties}</ConfigTestElement><hashTree/>"#
    )
}

/// Returns a plan of one group that contains `body`.
fn plan(body: &str) -> String {
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?><jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
<TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="Test Plan" enabled="true"/><hashTree>
<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="Users" enabled="true">
<elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp><stringProp name="LoopController.loops">${{__P(loops,1)}}</stringProp></elementProp>
<stringProp name="ThreadGroup.num_threads">${{__P(users,1)}}</stringProp><stringProp name="ThreadGroup.ramp_time">0</stringProp>
<stringProp name="ThreadGroup.on_sample_error">continue</stringProp></ThreadGroup><hashTree>{body}</hashTree>
</hashTree></hashTree></jmeterTestPlan>"#
    )
}

fn trial(body: &str) -> Trial {
    let trial = Trial::new();
    trial.program.write("ws.jmx", &plan(body));
    trial
}

#[test]
fn a_server_that_breaks_the_protocol_has_an_outcome_of_its_own_for_each_way() {
    let target = start("websocket-odd", &[]);
    let body: String = ODD
        .iter()
        .map(|(path, opened, reads)| {
            let escaped = path.replace('&', "&amp;");
            // If a time-out is expected, the wait is short; otherwise it is long.
            let time =
                |expected: &(&str, &str)| if *expected == TIMED_OUT { "700" } else { PATIENT };
            open_within(&escaped, time(opened)) + &read(&format!("read {escaped}"), time(reads))
        })
        .collect();
    let trial = trial(&body);
    let port = format!("-Jport={}", target.addr().port());
    let line = ["-n", "-t", "ws.jmx", "-l", JTL, &port, "-Jthrong.websocket.reconnect.first_ms=0"];
    let ended = trial.run(&line);
    assert_eq!(ended.code, 0, "{ended:?}");
    let rows = trial.rows();
    assert_eq!(rows.len(), 2 * ODD.len());
    for ((path, opened, read), pair) in ODD.iter().zip(rows.chunks(2)) {
        for ((code, message), row) in [opened, read].into_iter().zip(pair) {
            assert!(row.code == *code && row.message.contains(message), "{path}: {row:?}");
        }
    }
}

/// Runs a plan whose user pauses while 400 messages of 1 000 bytes arrive, and then reads.
fn flooded(full: &str, reads: u32) -> (Trial, serde_json::Value, String) {
    let target = start("websocket-odd", &[]);
    let loops = format!(
        r#"<LoopController guiclass="LoopControlPanel" testclass="LoopController" testname="loop" enabled="true"><stringProp name="LoopController.loops">{reads}</stringProp></LoopController>"#
    );
    let body = open("/flood?rate=100000&amp;size=1000&amp;count=400")
        + &pause("rest", "1500", "")
        + &format!("{loops}<hashTree>{}</hashTree>", read("read", "300"));
    let trial = trial(&body);
    let port = format!("-Jport={}", target.addr().port());
    let full = format!("-Jthrong.websocket.inbox.full={full}");
    let ended = trial.run(&["-n", "-t", "ws.jmx", "-l", JTL, &port, &full]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let summary = trial.summary();
    (trial, summary, ended.out + &ended.err)
}

#[test]
fn messages_wait_for_a_user_that_pauses_and_none_is_lost() {
    let (trial, summary, words) = flooded("stop", 400);
    let read = trial.rows().iter().filter(|row| row.label == "read" && row.code == "200").count();
    assert_eq!(read, 400);
    let counters = &summary["counters"];
    assert_eq!(number(counters, "reading_stopped"), number(counters, "reading_resumed"));
    assert!(number(counters, "reading_stopped") > 0);
    assert_eq!(number(counters, "inbox_in"), number(counters, "inbox_out"));
    assert!(words.contains("reading stopped on a WebSocket connection"), "{words}");
}

#[test]
fn a_full_inbox_drops_the_oldest_or_ends_the_connection_where_asked() {
    let (trial, summary, _) = flooded("drop_oldest", 70);
    let read = trial.rows().iter().filter(|row| row.label == "read" && row.code == "200").count();
    assert_eq!(read as u64 + number(&summary["counters"], "inbox_dropped"), 400);
    assert!(read < 100, "{read} of 1 000 bytes do not fit 64 KiB");

    let (trial, _, _) = flooded("fail", 70);
    let rows = trial.rows();
    let first_failure = rows.iter().find(|row| row.label == "read" && !row.success).expect("one");
    assert!(first_failure.message.contains("the inbox is full"), "{first_failure:?}");
}

#[test]
fn a_hold_counts_matches_and_times_what_comes() {
    let target = start("websocket-odd", &[]);
    let hold = settings(
        "hold",
        &[
            ("throng.websocket.hold.match", "t=\\d+"),
            ("throng.websocket.hold.time", "t=(\\d+)"),
            ("throng.websocket.hold.time_unit", "us"),
            ("throng.websocket.hold.until_messages", "50"),
        ],
    );
    let body = open("/flood?rate=200&amp;size=64&amp;count=60") + &pause("hold", "20000", &hold);
    let trial = trial(&body);
    let port = format!("-Jport={}", target.addr().port());
    let ended = trial.run(&["-n", "-t", "ws.jmx", "-l", JTL, &port]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let rows = trial.rows();
    let row = rows.iter().find(|row| row.label == "hold").expect("a sample");
    assert!(row.success && row.message.starts_with("50 messages"), "{row:?}");
    assert!(row.elapsed < 15_000, "{row:?}");
}

/// Starts a server that accepts an upgrade and sends ten messages, `m0` to `m9`, in one write. Returns its port.
fn burst() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        let (mut request, mut byte) = (Vec::new(), [0]);
        while !request.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|read| read > 0) {
            request.push(byte[0]);
        }
        let request = String::from_utf8_lossy(&request);
        let key = request.split("Sec-WebSocket-Key: ").nth(1).and_then(|rest| rest.get(..24));
        let accept = wire::websocket::handshake::accept(key.expect("a key").as_bytes());
        let mut answer =
            b"HTTP/1.1 101 S\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "
                .to_vec();
        answer.extend_from_slice(&accept);
        answer.extend_from_slice(b"\r\n\r\n");
        for number in 0..10 {
            let text = format!("m{number}");
            let opcode = wire::websocket::Opcode::TEXT;
            wire::websocket::push_frame(&mut answer, opcode, text.as_bytes(), None);
        }
        stream.write_all(&answer).expect("room");
        // Keeps the connection open until the client closes it.
        let _ = stream.read_to_end(&mut Vec::new());
    });
    port
}

#[test]
fn messages_that_come_in_one_piece_are_taken_one_by_one_and_none_behind_a_hold_is_lost() {
    let reads = |from: u32, to: u32| -> String {
        let read = |number: u32| {
            let expected = format!(
                r#"<hashTree><ResponseAssertion guiclass="AssertionGui" testclass="ResponseAssertion" testname="text" enabled="true"><collectionProp name="Asserion.test_strings"><stringProp name="1">m{number}</stringProp></collectionProp><stringProp name="Assertion.test_field">Assertion.response_data</stringProp><intProp name="Assertion.test_type">8</intProp></ResponseAssertion><hashTree/></hashTree>"#
            );
            let sampler = read(&format!("read {number}"), PATIENT);
            sampler.strip_suffix("<hashTree/>").expect("nothing below").to_owned() + &expected
        };
        (from..to).map(read).collect()
    };
    let hold = settings("hold", &[("throng.websocket.hold.until_messages", "3")]);
    let body = open("/") + &reads(0, 3) + &pause("hold", "30000", &hold) + &reads(6, 10);
    let trial = trial(&body);
    let port = format!("-Jport={}", burst());
    let ended = trial.run(&["-n", "-t", "ws.jmx", "-l", JTL, &port]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let rows = trial.rows();
    assert_eq!(rows.len(), 9, "{rows:?}");
    assert!(rows.iter().all(|row| row.success), "{rows:?}");
    let counters = &trial.summary()["counters"];
    assert_eq!(number(counters, "inbox_in"), number(counters, "inbox_out"));
}

/// A server dies with all its connections and restarts. Users see the right error cause, reconnect spread over time,
/// and no connection is left at the end.
#[test]
fn a_server_that_dies_and_comes_back_meets_no_storm() {
    let target = start("websocket-echo", &[]);
    let port = target.addr().port();
    let body = open("/")
        + &pause("hold", "60000", &settings("hold", &[("throng.websocket.hold.match", "")]));
    let trial = trial(&body);
    let port_flag = format!("-Jport={port}");
    let line = ["-Jusers=300", "-Jloops=-1", &port_flag];
    let program = env!("CARGO_BIN_EXE_throng");
    let child = trial.spawn(&[&[program, "run", "ws.jmx"][..], &line].concat());
    until(|| held(&trial) == 300);
    drop(target);
    until(|| held(&trial) == 0);
    std::thread::sleep(Duration::from_millis(1500));
    let again = Config::new("websocket-echo").port(port);
    let target = targets::start(again).expect("the port again");
    until(|| held(&trial) == 300);
    // Sends SIGINT only to the child that this test started.
    let pid = i32::try_from(child.id()).expect("a process id");
    let pid = rustix::process::Pid::from_raw(pid).expect("a process");
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it runs");
    let ended = trial.finish(child);
    assert_eq!(ended.code, 130, "{ended:?}");
    drop(target);
    let summary = trial.summary();
    let counters = &summary["counters"];
    assert_eq!(number(counters, "ws_opened"), 600);
    assert_eq!(number(counters, "ws_closed"), 600);
    // The server refuses connections for 1.5 s. Each user must retry a few times in that time, not thousands of times.
    let failed = number(counters, "ws_failed");
    assert!((1..=300 * 8).contains(&failed), "{failed} failed openings");
}

/// Returns the number of open connections according to the recorded seconds.
fn held(trial: &Trial) -> u64 {
    let seconds = trial.seconds();
    let sum = |name: &str| -> u64 {
        seconds.iter().map(|second| second["counters"][name].as_u64().unwrap_or(0)).sum()
    };
    sum("ws_opened") - sum("ws_closed")
}

fn until(condition: impl Fn() -> bool) {
    let begin = Instant::now();
    while !condition() {
        assert!(begin.elapsed() < Duration::from_secs(60), "it did not come to pass");
        std::thread::sleep(Duration::from_millis(50));
    }
}
