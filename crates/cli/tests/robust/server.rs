//! Servers that fail in various ways: each failure has JMeter's message, fails only its own sample, and loses no row.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use crate::bars::bar;
use crate::peer::{answering, answering_once, closed_port, endless, peer, request, stall};
use crate::trial::{Row, Trial, number};

/// Runs two users with three loops against the server. Asserts that all six rows have the same result, and returns one
/// row and the summary.
fn six(port: u16, more: &[&str]) -> (Row, serde_json::Value) {
    let trial = Trial::new();
    let (ended, rows) = trial.against(port, more);
    assert_eq!(ended.code, 0, "a failed sample is no failed run: {ended:?}");
    assert_eq!(rows.len(), 6, "{rows:?}");
    assert!(rows.iter().all(|row| row.code == rows[0].code), "{rows:?}");
    let summary = trial.summary();
    let failed = rows.iter().filter(|row| !row.success).count() as u64;
    assert_eq!((number(&summary, "requests"), number(&summary, "failed")), (6, failed));
    (rows[0].clone(), summary)
}

/// Asserts that six samples fail with this exception class, message and error kind. `PORT` in the message stands for
/// the port.
fn fails(port: u16, more: &[&str], class: &str, message: &str, kind: &str) {
    let (row, summary) = six(port, more);
    assert_eq!(row.code, format!("Non HTTP response code: {class}"), "{row:?}");
    let message = message.replace("PORT", &port.to_string());
    assert_eq!(row.message, format!("Non HTTP response message: {message}"));
    assert!(!row.success);
    let error = &summary["errors"][0];
    assert_eq!((error["kind"].as_str(), number(error, "count")), (Some(kind), 6), "{summary}");
}

/// Asserts that six responses with bodies succeed. Returns the bytes of one response.
fn passes(port: u16, more: &[&str]) -> u64 {
    let (row, _) = six(port, more);
    assert!(row.success && row.code == "200", "{row:?}");
    row.bytes
}

const CLIENT: &str = "org.apache.http.client.ClientProtocolException";
const CLOSED: &str = "org.apache.http.ConnectionClosedException";
const CHUNK: &str = "org.apache.http.MalformedChunkCodingException";

#[test]
fn unknown_host() {
    // A label of a host name has at most 63 letters, so Throng rejects this name without asking a resolver.
    let trial = Trial::new();
    let name = format!("{}.invalid", "x".repeat(64));
    let (ended, rows) = trial.against(80, &[&format!("-Jhost={name}")]);
    assert_eq!((ended.code, rows.len()), (0, 6), "{ended:?}");
    for row in rows {
        assert_eq!(row.code, "Non HTTP response code: java.net.UnknownHostException");
        assert!(row.message.starts_with(&format!("Non HTTP response message: {name}")), "{row:?}");
    }
    assert_eq!(trial.summary()["errors"][0]["kind"], "dns");
}

#[test]
fn refused() {
    let message = "Connect to 127.0.0.1:PORT [/127.0.0.1] failed: Connection refused";
    fails(closed_port(), &[], "org.apache.http.conn.HttpHostConnectException", message, "refused");
}

#[test]
fn never_accepted() {
    // Fills the accept queue of a listener that accepts no connection, until the kernel ignores further connection
    // attempts.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mut queue = Vec::new();
    while let Ok(one) = TcpStream::connect_timeout(&address, Duration::from_millis(300)) {
        queue.push(one);
        assert!(queue.len() < 10_000, "the queue has no end");
    }
    let message = "Connect to 127.0.0.1:PORT [/127.0.0.1] failed: Connect timed out";
    let class = "org.apache.http.conn.ConnectTimeoutException";
    fails(address.port(), &["-Jconnect=200"], class, message, "timeout (connect)");
}

#[test]
fn reset() {
    // Closing a socket with unread input makes the kernel send a reset.
    let port = peer(|connection| {
        let _ = connection.peek(&mut [0]);
    });
    fails(port, &[], "java.net.SocketException", "Connection reset", "reset");
}

#[test]
fn closed_without_an_answer() {
    let port = peer(|connection| {
        request(connection);
    });
    let message = "127.0.0.1:PORT failed to respond";
    fails(port, &[], "org.apache.http.NoHttpResponseException", message, "closed");
}

#[test]
fn stalled_before_in_and_after_the_head() {
    for part in
        ["", "HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"]
    {
        let port = peer(move |connection| {
            request(connection);
            let _ = connection.write_all(part.as_bytes());
            stall(connection);
        });
        let class = "java.net.SocketTimeoutException";
        fails(port, &["-Jresponse=150"], class, "Read timed out", "timeout (response)");
    }
}

#[test]
fn truncated_body() {
    let port = answering_once("HTTP/1.1 200 OK\r\nContent-Length: 123456\r\n\r\nonly this");
    let message =
        "Premature end of Content-Length delimited message body (expected: 123,456; received: 9)";
    fails(port, &[], CLOSED, message, "closed");
}

#[test]
fn content_length_without_bounds() {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\nten bytes.", i64::MAX);
    let message = "Premature end of Content-Length delimited message body (expected: 9,223,372,036,854,775,807; received: 10)";
    fails(answering_once(head), &[], CLOSED, message, "closed");
}

#[test]
fn content_length_that_is_no_number() {
    // As in Apache HttpClient, a body with an invalid Content-Length ends when the connection closes.
    for length in ["many", "-5", "99999999999999999999999"] {
        let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\nfourteen bytes");
        let bytes = answer.len() as u64;
        assert_eq!(passes(answering_once(answer), &[]), bytes, "{length}");
    }
}

#[test]
fn content_length_that_is_too_short() {
    // Bytes after the announced length are not taken for the next response.
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n";
    assert_eq!(passes(answering(format!("{head}more than four")), &[]), head.len() as u64 + 4);
}

#[test]
fn truncated_chunk() {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let message = "Truncated chunk (expected size: 4,096; actual size: 3)";
    let class = "org.apache.http.TruncatedChunkException";
    fails(answering_once(format!("{head}1000\r\nfew")), &[], class, message, "closed");
    let message = "Premature end of chunk coded message body: closing chunk expected";
    fails(answering_once(format!("{head}3\r\nfew\r\n")), &[], CLOSED, message, "closed");
}

#[test]
fn malformed_chunk() {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let port = answering_once(format!("{head}zz\r\nfew\r\n0\r\n\r\n"));
    fails(port, &[], CHUNK, "Bad chunk header: zz", "protocol");
    let (row, _) = six(answering_once(format!("{head}ffffffffffffffffffff\r\nfew")), &[]);
    assert_eq!(row.code, format!("Non HTTP response code: {CHUNK}"));
}

#[test]
fn truncated_head() {
    for head in ["HTTP/1.1 20", "HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 200 OK\r\n"] {
        let (row, _) = six(answering_once(head), &[]);
        assert!(!row.success, "{head:?}: {row:?}");
        assert_eq!(row.code, format!("Non HTTP response code: {CLIENT}"), "{head:?}");
    }
}

#[test]
fn malformed_status_line() {
    for line in ["HTTP/1.1 abc Bad", "HTTP/x 200 OK", "HTTP", "HELLO", "\0\u{1}\u{fe}"] {
        let port = answering_once(format!("{line}\r\nContent-Length: 0\r\n\r\n"));
        fails(port, &[], CLIENT, "null", "protocol");
    }
}

#[test]
fn endless_headers() {
    fails(endless(b"HTTP/1.1 200 OK\r\n", b"More: and more\r\n"), &[], CLIENT, "null", "protocol");
}

#[test]
fn an_endless_header() {
    fails(endless(b"HTTP/1.1 200 OK\r\nMore: ", b"and more "), &[], CLIENT, "null", "protocol");
}

#[test]
fn endless_garbage() {
    fails(endless(b"", b"this is not HTTP\r\n"), &[], CLIENT, "null", "protocol");
}

#[test]
fn endless_redirects() {
    let port = answering("HTTP/1.1 302 Found\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n");
    let trial = Trial::new();
    let (ended, rows) = trial.against(port, &[]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let whole: Vec<_> = rows.iter().filter(|row| row.label == "Request").collect();
    assert_eq!((whole.len() as u64, number(&trial.summary(), "requests")), (6, 6));
    let message = "Non HTTP response message: Exceeded maximum number of redirects: 20";
    assert!(whole.iter().all(|row| !row.success && row.message == message), "{whole:?}");
}

#[test]
fn a_large_body() {
    const SIZE: u64 = 64 << 20;
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {SIZE}\r\n\r\n");
    let bytes = head.len() as u64 + SIZE;
    let block = vec![b'x'; 1 << 20];
    let port = peer(move |connection| {
        while request(connection) {
            let _ = connection.write_all(head.as_bytes());
            for _ in 0..SIZE >> 20 {
                let _ = connection.write_all(&block);
            }
        }
    });
    let (row, summary) = six(port, &[]);
    assert_eq!((row.success, row.bytes), (true, bytes));
    assert_eq!(number(&summary, "received_bytes"), 6 * bytes);
    let memory = number(&summary["generator"], "rss_peak");
    bar("six bodies of 64 MiB that nobody reads", memory >> 20, SIZE >> 19, "MiB");
}

#[test]
fn a_slow_large_body() {
    // The server sends the head alone, then half of the body, and the rest a second later. Latency ends when the first
    // half arrives.
    let half = vec![b'x'; 1_000_000];
    let port = peer(move |connection| {
        while request(connection) {
            let pause = |ms| std::thread::sleep(Duration::from_millis(ms));
            let _ = connection.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2000000\r\n\r\n");
            pause(50);
            let _ = connection.write_all(&half);
            pause(1000);
            let _ = connection.write_all(&half);
        }
    });
    let (row, _) = six(port, &[]);
    assert!(row.success && row.elapsed >= 1000, "{row:?}");
    assert!(row.latency + 500 < row.elapsed, "{row:?}");
}

#[test]
fn a_large_body_that_an_assertion_reads() {
    const SIZE: usize = 16 << 20;
    let mut answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {SIZE}\r\n\r\n").into_bytes();
    answer.resize(answer.len() + SIZE - 4, b'x');
    answer.extend_from_slice(b"last");
    let assertion = r#"<ResponseAssertion testname="Last"><collectionProp name="Asserion.test_strings"><stringProp name="1">last</stringProp></collectionProp>
        <stringProp name="Assertion.test_field">Assertion.response_data</stringProp><intProp name="Assertion.test_type">16</intProp></ResponseAssertion><hashTree/>"#;
    let trial = Trial::with(assertion);
    let (ended, rows) = trial.against(answering(answer), &[]);
    assert_eq!((ended.code, rows.len()), (0, 6), "{ended:?}");
    assert!(rows.iter().all(|row| row.success), "{rows:?}");
}

#[test]
fn the_flaky_target() {
    let config = ["reset", "close", "truncate", "garbage", "error", "stall"]
        .iter()
        .fold(targets::Config::new("flaky"), |config, option| config.option(*option, 0.1));
    let target = targets::start(config).unwrap();
    let trial = Trial::new();
    let (ended, rows) =
        trial.against(target.addr().port(), &["-Jusers=10", "-Jloops=20", "-Jresponse=100"]);
    assert_eq!((ended.code, rows.len()), (0, 200), "{ended:?}");
    assert!(rows.iter().any(|row| row.success), "the rest is served");
    let summary = trial.summary();
    let counts: u64 =
        summary["errors"].as_array().unwrap().iter().map(|error| number(error, "count")).sum();
    let failed = rows.iter().filter(|row| !row.success).count() as u64;
    assert_eq!((number(&summary, "requests"), counts), (200, failed));
    assert!(failed > 20, "with six tenths to fail, {failed} of 200 did");
}

#[test]
fn a_server_that_dies_and_comes_back() {
    let config = targets::Config::new("dying").option("up", 700).option("down", 500);
    let target = targets::start(config).unwrap();
    let trial = Trial::scheduled(
        r#"<ConstantTimer testname="Pause"><stringProp name="ConstantTimer.delay">5</stringProp></ConstantTimer><hashTree/>"#,
    );
    let line = ["-Jusers=4", "-Jloops=-1", "-Jseconds=4"];
    let (ended, rows) = trial.against(target.addr().port(), &line);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(rows.len() as u64, number(&trial.summary(), "requests"));
    let first_failure = rows.iter().position(|row| !row.success).expect("it died");
    assert!(
        rows[first_failure..].iter().filter(|row| row.success).count() > 10,
        "users go on when it is back"
    );
    let known = ["HttpHostConnectException", "NoHttpResponseException", "SocketException"];
    for row in rows.iter().filter(|row| !row.success) {
        assert!(known.iter().any(|class| row.code.ends_with(class)), "{row:?}");
    }
}

#[test]
fn a_server_that_talks_first_and_never_stops() {
    // The body never ends, so only a second Ctrl-C or the end of the group ends the sample.
    let port = endless(b"HTTP/1.1 200 OK\r\n\r\n", b"endless ");
    let trial = Trial::new();
    let begin = Instant::now();
    let port_is = format!("-Jport={port}");
    let child = trial.spawn(&[
        env!("CARGO_BIN_EXE_throng"),
        "-n",
        "-t",
        "http.jmx",
        "-l",
        "out.jtl",
        &port_is,
    ]);
    crate::asked_to_end::until("a second", || !trial.seconds().is_empty());
    crate::asked_to_end::interrupt_twice(&trial, &child);
    let ended = trial.finish(child);
    assert_eq!(ended.code, 130, "{ended:?}");
    assert!(begin.elapsed() < Duration::from_secs(60));
    let summary = trial.summary();
    assert_eq!((number(&summary, "requests"), number(&summary, "cut_by_end")), (0, 2));
    assert_eq!(summary["errors"], serde_json::json!([]), "the server is not to blame: {summary}");
}

#[test]
fn a_cause_of_errors_is_the_same_with_rows_and_without() {
    let port = answering(b"HTTP/1.1 404 Gone Fishing\r\nContent-Length: 0\r\n\r\n");
    let port = format!("-Jport={port}");
    let errors = |more: &[&str]| {
        let trial = Trial::new();
        let ended = trial.run(&[&["run", "http.jmx", &port], more].concat());
        assert_eq!(ended.code, 0, "{ended:?}");
        let mut errors = trial.summary()["errors"].clone();
        errors[0]["first_ms"] = 0.into();
        errors
    };
    let without = errors(&[]);
    assert_eq!(
        (&without[0]["code"], &without[0]["message"]),
        (&"404".into(), &"Gone Fishing".into()),
        "{without}"
    );
    assert_eq!(errors(&["-l", "out.jtl"]), without);
}

#[test]
fn a_peer_that_is_no_web_server() {
    // The server sends a greeting before the request, as mail servers do.
    let port = peer(|connection| {
        let _ = connection.write_all(b"220 mail.invalid ESMTP\r\n");
        request(connection);
        let _ = connection.write_all(b"500 what?\r\n");
    });
    let (row, _) = six(port, &[]);
    assert!(!row.success && row.code.starts_with("Non HTTP response code: "), "{row:?}");
}
