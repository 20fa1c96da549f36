//! SSE Samplers: event streams that end, continue or break, and responses that are not event streams.

use std::io::{Read, Write};
use std::sync::{Arc, Mutex};

use targets::{Config, Running, TlsConfig};

use crate::element::element;
use crate::peer::{answering, answering_once, endless, peer, request, stall};
use crate::program::free_port;
use crate::trial::{Row, Trial};

const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n";

fn sampler(url: &str, more: &[(&str, &str)], below: &str) -> String {
    let own = [("SSESampler.url", url)];
    element("com.jmeter.sse.SSESampler", &[&own, more].concat(), below)
}

/// Returns an assertion that requires exactly this body.
fn body_is(body: &str) -> String {
    format!(
        r#"<ResponseAssertion guiclass="AssertionGui" testclass="ResponseAssertion" testname="body">
  <collectionProp name="Asserion.test_strings"><stringProp name="1">{}</stringProp></collectionProp>
  <stringProp name="Assertion.test_field">Assertion.response_data</stringProp>
  <intProp name="Assertion.test_type">8</intProp>
</ResponseAssertion><hashTree/>"#,
        body.replace('\n', "&#10;")
    )
}

fn target(options: &[(&str, &str)], tls: bool) -> Running {
    let config =
        if tls { Config::new("sse").tls(TlsConfig::default()) } else { Config::new("sse") };
    let config = options.iter().fold(config, |config, (key, value)| config.option(*key, *value));
    targets::start(config).expect("a target")
}

/// Runs two samples of the plan `body` against the port and returns their rows.
fn rows(body: &str, port: u16, more: &[&str]) -> Vec<Row> {
    let line = [&["-Jusers=1", "-Jloops=2"], more].concat();
    let (ended, rows) = Trial::doing(body).against(port, &line);
    assert_eq!((ended.code, rows.len()), (0, 2), "{ended:?}");
    rows
}

fn all_are(rows: &[Row], success: bool, code: &str, message: &str) {
    for row in rows {
        assert_eq!((row.success, &*row.code, &*row.message), (success, code, message), "{row:?}");
    }
}

const URL: &str = "http://127.0.0.1:${__P(port)}/events?a=b";

#[test]
fn events_until_the_stream_ends() {
    for tls in [false, true] {
        let url = if tls { URL.replace("http:", "https:") } else { URL.to_owned() };
        let target = target(&[("events", "2"), ("name", "tick"), ("ids", "true")], tls);
        let body = "ID: 1 | Type: tick | Data: event 1\nID: 2 | Type: tick | Data: event 2\n";
        let patient = [("SSESampler.duration", "100")];
        let plan = sampler(&url, &patient, &body_is(body));
        let rows = rows(&plan, target.addr().port(), &[]);
        all_are(&rows, true, "200", "OK \u{2014} 2 events received");
        let counted = |row: &Row| row.bytes == body.len() as u64 && row.elapsed < 100_000;
        assert!(rows.iter().all(counted), "{rows:?}");
    }
}

#[test]
fn an_event_need_have_neither_id_nor_name() {
    let port = answering_once(format!("{HEAD}\r\nid: \u{e4}\ndata: a\ndata: b\n\nid\ndata: c\n\n"));
    let body = "ID: \u{e4} | Type: null | Data: a\nb\nID: null | Type: null | Data: c\n";
    let rows = rows(&sampler(URL, &[], &body_is(body)), port, &[]);
    all_are(&rows, true, "200", "OK \u{2014} 2 events received");
    // As in JMeter's sampler, the bytes of a row count characters.
    assert!(rows.iter().all(|row| row.bytes == body.chars().count() as u64), "{rows:?}");
}

#[test]
fn the_duration_ends_a_sample_well() {
    let port = peer(|connection| {
        request(connection);
        let _ = connection.write_all(format!("{HEAD}\r\ndata: a\n\ndata: b\n").as_bytes());
        stall(connection);
    });
    let plan = sampler(URL, &[("SSESampler.duration", "3")], "");
    let stayed = rows(&plan, port, &[]);
    all_are(&stayed, true, "200", "OK \u{2014} 1 events received");
    assert!(stayed.iter().all(|row| row.elapsed >= 3000), "{stayed:?}");
    // The server accepts the connection and sends nothing, over plain TCP and over TLS.
    for url in [URL.to_owned(), URL.replace("http:", "https:")] {
        let plan = sampler(&url, &[("SSESampler.duration", "1")], "");
        let silent = rows(&plan, peer(stall), &[]);
        all_are(&silent, true, "200", "OK \u{2014} 0 events received");
        assert!(silent.iter().all(|row| row.elapsed >= 1000), "{silent:?}");
    }
    let none = rows(&sampler(URL, &[("SSESampler.duration", "0")], ""), port, &[]);
    all_are(&none, true, "200", "OK \u{2014} 0 events received");
}

#[test]
fn a_stream_without_end_is_kept_up_to_the_bound_and_ends_in_time() {
    const ENDLESS: &[u8] =
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 99999999999999\r\n\r\n";
    let port = endless(ENDLESS, b"data: more and more\n\n");
    let most = 1000;
    let kept = "ID: null | Type: null | Data: more and more\n".repeat(most);
    let plan = sampler(URL, &[("SSESampler.duration", "1")], &body_is(&kept[..most]));
    let bound = format!("-Jthrong.response.most_bytes={most}");
    let rows = rows(&plan, port, &[&bound]);
    assert!(rows.iter().all(|row| row.success && row.bytes > most as u64), "{rows:?}");
}

#[test]
fn answers_that_are_no_events() {
    let page = "HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nno";
    let plan = sampler(URL, &[], &body_is(""));
    all_are(&rows(&plan, answering(page), &[]), false, "404", "HTTP 404: Not Found");
    // The sampler does not wait for the rest of an error response.
    let long = page.replace("Length: 2", "Length: 2000").replace("404 Not", "503 Not");
    all_are(&rows(&plan, answering(long), &[]), false, "503", "HTTP 503: Not Found");
    let fine = page.replace("404 Not Found", "200 OK");
    let message = "Error: Invalid content-type: text/html";
    all_are(&rows(&plan, answering(fine), &[]), false, "200", message);
    let message = "Error: Invalid content-type: null";
    let none = answering("HTTP/1.1 204 No Content\r\n\r\n");
    all_are(&rows(&plan, none, &[]), false, "204", message);
}

#[test]
fn streams_that_break() {
    let cut = format!("{HEAD}Content-Length: 99\r\n\r\ndata: a\n\n");
    let plan = sampler(URL, &[], "");
    let ended = rows(&plan, answering_once(cut), &[]);
    all_are(&ended, false, "500", "Error: unexpected end of stream");
    let odd = format!("{HEAD}Transfer-Encoding: chunked\r\n\r\nx\r\n");
    for row in rows(&plan, answering(odd), &[]) {
        assert!(!row.success && row.message.contains("invalid chunk size"), "{row:?}");
    }
    let port = free_port();
    let message = format!("Error: Failed to connect to /127.0.0.1:{port}");
    all_are(&rows(&plan, port, &[]), false, "500", &message);
    let not_tls = sampler(&URL.replace("http:", "https:"), &[], "");
    let plain = peer(|connection| {
        let _ = connection.read(&mut [0; 4096]);
        let _ = connection.write_all(HEAD.as_bytes());
    });
    for row in rows(&not_tls, plain, &[]) {
        assert!(!row.success && row.code == "500" && row.message.len() > 7, "{row:?}");
    }
}

#[test]
fn a_request_has_the_headers_of_the_plan() {
    let heads = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&heads);
    let port = peer(move |connection| {
        let (mut head, mut byte) = (Vec::new(), [0]);
        while !head.ends_with(b"\r\n\r\n") && matches!(connection.read(&mut byte), Ok(1)) {
            head.push(byte[0]);
        }
        seen.lock().expect("no panic").push(String::from_utf8_lossy(&head).into_owned());
        let _ = connection.write_all(format!("{HEAD}Content-Length: 0\r\n\r\n").as_bytes());
    });
    let headers = [("SSESampler.headers", "X-One: ${__P(port)}&#10;accept: text/other")];
    all_are(
        &rows(&sampler(URL, &headers, ""), port, &[]),
        true,
        "200",
        "OK \u{2014} 0 events received",
    );
    let expected = format!(
        "GET /events?a=b HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCache-Control: no-cache\r\n\
         X-One: {port}\r\naccept: text/other\r\n\r\n"
    );
    assert_eq!(*heads.lock().expect("no panic"), [expected.clone(), expected]);
}

#[test]
fn samples_that_cannot_begin() {
    for (url, more, message) in [
        (URL, ("SSESampler.duration", "soon"), "Invalid duration value: 'soon'"),
        ("ftp://x/", ("", ""), "Error: Expected URL scheme 'http' or 'https' in ftp://x/"),
        ("http://x:0/", ("", ""), "Error: Invalid URL port: \"0\""),
    ] {
        all_are(&rows(&sampler(url, &[more], ""), 9, &[]), false, "500", message);
    }
}
