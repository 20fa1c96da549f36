//! The mirror's records, and its answers on each path, byte for byte.

mod raw;

use std::io::Read;

use raw::{Client, End, target};

const TEXT: &str =
    "HTTP/1.1 200 OK\r\nServer: throng-target\r\nContent-Type: text/plain; charset=utf-8\r\n";

/// Sends a GET for a path on a new connection; returns the text up to the connection's end, and how it ended.
fn ends(path: &str) -> End {
    let mirror = target("mirror", &[]);
    let end = Client::new(&mirror).get(path).rest();
    mirror.stop();
    end
}

fn closed(path: &str) -> String {
    match ends(path) {
        End::Fin(text) => text,
        End::Reset(text) => panic!("reset after {text:?}"),
    }
}

#[test]
fn requests_are_recorded_as_they_came() {
    let path = std::env::temp_dir().join(format!("throng-mirror-{}.jsonl", std::process::id()));
    let mirror = target("mirror", &[("log", path.to_str().unwrap())]);
    let mut first = Client::new(&mirror);
    first.get("/echo?a=%20b").answer();
    let mut second = Client::new(&mirror);
    second
        .send("POST /any/x HTTP/1.1\r\nhOsT:  h\r\nB: 2\r\nA: 1\r\nContent-Length: 2\r\n\r\nxy")
        .answer();
    first.0.read_exact(&mut []).unwrap();
    std::io::Write::write_all(
        &mut first.0,
        b"PUT /any HTTP/1.1\r\nContent-Length: 2\r\n\r\n\xff\x00",
    )
    .unwrap();
    first.answer();
    let log = mirror.log();
    let seen: Vec<_> = log
        .iter()
        .map(|one| (one.connection, one.order, one.method.as_str(), one.target.as_str()))
        .collect();
    assert_eq!(
        seen,
        [(1, 1, "GET", "/echo?a=%20b"), (2, 1, "POST", "/any/x"), (1, 2, "PUT", "/any")]
    );
    assert_eq!(log[1].headers, ["hOsT:  h", "B: 2", "A: 1", "Content-Length: 2"]);
    assert_eq!((log[1].body.as_slice(), log[2].body.as_slice()), (&b"xy"[..], &b"\xff\x00"[..]));
    let lines = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let lines: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[1]["body"], &lines[2]["body_base64"]), (&"xy".into(), &"/wA=".into()));
    assert_eq!((&lines[1]["headers"][1], &lines[2]["order"]), (&"B: 2".into(), &2.into()));
    mirror.stop();
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let mirror = target("mirror", &[]);
    let mut client = Client::new(&mirror);
    client.send(
        "GET /delay/20 HTTP/1.1\r\n\r\nGET /counter HTTP/1.1\r\n\r\nGET /counter HTTP/1.1\r\n\r\n",
    );
    assert_eq!([client.answer().1, client.answer().1, client.answer().1], ["late\n", "1\n", "2\n"]);
}

#[test]
fn echo_renders_the_request() {
    let mirror = target("mirror", &[]);
    let mut client = Client::new(&mirror);
    let (head, body) =
        client.send("POST /echo?q HTTP/1.1\r\nA: 1\r\nContent-Length: 2\r\n\r\nhi").answer();
    assert_eq!(body, "POST /echo?q HTTP/1.1\nA: 1\nContent-Length: 2\n\nhi");
    assert_eq!(head, format!("{TEXT}Content-Length: 48\r\n\r\n"));
}

#[test]
fn an_answer_keeps_or_ends_the_connection_as_asked() {
    let mirror = target("mirror", &[]);
    let ask = |text: &str| Client::new(&mirror).send(text).rest();
    let body = "Content-Length: 2\r\n";
    assert_eq!(
        ask("GET /counter HTTP/1.1\r\nConnection: close\r\n\r\n"),
        End::Fin(format!("{TEXT}{body}Connection: close\r\n\r\n1\n"))
    );
    assert_eq!(
        ask("GET /counter HTTP/1.0\r\n\r\n"),
        End::Fin(format!("{TEXT}{body}Connection: close\r\n\r\n2\n"))
    );
    let mut client = Client::new(&mirror);
    client.send("GET /counter HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n");
    assert_eq!(client.answer().0, format!("{TEXT}{body}Connection: keep-alive\r\n\r\n"));
    assert_eq!(client.body("/counter"), "4\n");
}

#[test]
fn statuses_and_head_requests_have_no_body_where_none_belongs() {
    let mirror = target("mirror", &[]);
    let mut client = Client::new(&mirror);
    assert_eq!(
        client.get("/status/204").until("\r\n\r\n").lines().next(),
        Some("HTTP/1.1 204 No Content")
    );
    assert_eq!(client.get("/status/503").answer().1, "status 503\n");
    client.send("HEAD /status/200 HTTP/1.1\r\n\r\n");
    assert_eq!(client.until("\r\n\r\n"), format!("{TEXT}Content-Length: 11\r\n\r\n"));
    assert!(client.get("/nowhere").answer().0.starts_with("HTTP/1.1 404 Not Found\r\n"));
}

#[test]
fn redirects_lead_step_by_step_to_echo() {
    let mirror = target("mirror", &[]);
    let mut client = Client::new(&mirror);
    let mut next = "/redirect/2?code=307&absolute".to_owned();
    let mut seen = Vec::new();
    while !next.starts_with("/echo") {
        let (head, _) = client.get(&next).answer();
        let location = head.lines().find_map(|line| line.strip_prefix("Location: ")).unwrap();
        seen.push(head.lines().next().unwrap().to_owned());
        next = location.strip_prefix("http://h").unwrap().to_owned();
    }
    assert_eq!(seen, ["HTTP/1.1 307 Temporary Redirect"; 2]);
    let (head, _) = client.get("/redirect-to?url=/x%20y&code=303").answer();
    assert!(head.contains("303 See Other") && head.contains("\r\nLocation: /x y\r\n"));
}

#[test]
fn cookies_are_set_with_attributes_and_shown() {
    let mirror = target("mirror", &[]);
    let mut client = Client::new(&mirror);
    let (head, _) =
        client.get("/cookies/set?a=1&b=2&path=/p&httponly&raw=c%3D3%3B+Max-Age%3D0").answer();
    let set: Vec<_> = head.lines().filter_map(|line| line.strip_prefix("Set-Cookie: ")).collect();
    assert_eq!(set, ["a=1; Path=/p; HttpOnly", "b=2; Path=/p; HttpOnly", "c=3; Max-Age=0"]);
    assert_eq!(client.body("/cookies"), "no cookies\n");
    client.send("GET /cookies HTTP/1.1\r\ncookie: a=1; b=2\r\n\r\n");
    assert_eq!(client.answer().1, "cookie: a=1; b=2\n");
}

#[test]
fn only_a_login_opens_the_private_page() {
    let mirror = target("mirror", &[]);
    let mut client = Client::new(&mirror);
    let mut log_in = |form: &str| {
        let request =
            format!("POST /login HTTP/1.1\r\nContent-Length: {}\r\n\r\n{form}", form.len());
        client.send(&request).answer().0
    };
    assert!(log_in("user=ann&password=guess").starts_with("HTTP/1.1 401 "));
    let head = log_in("user=ann&password=secret");
    let cookie = head.lines().find_map(|line| line.strip_prefix("Set-Cookie: ")).unwrap();
    let cookie = cookie.split(';').next().unwrap();
    let mut visit = |cookie: &str| {
        client.send(&format!("GET /private HTTP/1.1\r\nCookie: x=y; {cookie}\r\n\r\n")).answer().1
    };
    assert_eq!(
        [visit(cookie), visit("session=ann-0"), visit("session=")],
        ["hello ann\n", "log in first\n", "log in first\n"]
    );
}

#[test]
fn coded_bodies_decode_to_the_text() {
    let mirror = target("mirror", &[]);
    let mut client = Client::new(&mirror);
    let mut coded =
        |path: &str| -> Vec<u8> { client.body(path).chars().map(|letter| letter as u8).collect() };
    let text = "abc".repeat(1000);
    let query = "?text=abc&n=1000";
    let mut plain = [const { String::new() }; 4];
    flate2::read::GzDecoder::new(&coded(&format!("/gzip{query}"))[..])
        .read_to_string(&mut plain[0])
        .unwrap();
    flate2::read::ZlibDecoder::new(&coded(&format!("/deflate{query}"))[..])
        .read_to_string(&mut plain[1])
        .unwrap();
    flate2::read::DeflateDecoder::new(&coded(&format!("/deflate{query}&raw"))[..])
        .read_to_string(&mut plain[2])
        .unwrap();
    let mut brotli = |query: &str, text: &mut String| {
        let coded = coded(&format!("/br{query}"));
        brotli_decompressor::Decompressor::new(&coded[..], 4096).read_to_string(text).unwrap();
    };
    brotli(query, &mut plain[3]);
    assert_eq!(plain, [const { "" }; 4].map(|_| text.clone()));
    // The mirror's Brotli blocks have at most 64 KiB.
    for (part, n) in [("", 1), ("x", 65_536), ("x", 65_537), ("abc", 100_000)] {
        let mut plain = String::new();
        brotli(&format!("?text={part}&n={n}"), &mut plain);
        assert_eq!(plain, part.repeat(n), "{n} times {part:?}");
    }
}

#[test]
fn character_sets_are_applied_and_declared() {
    let mirror = target("mirror", &[]);
    let mut client = Client::new(&mirror);
    assert_eq!(client.body("/text?text=%C3%A9%E8%8C%B6&charset=latin1"), "\u{e9}?");
    let (head, body) = client.get("/text?text=%E8%8C%B6&charset=GBK&type=text/html").answer();
    assert!(head.contains("Content-Type: text/html; charset=GBK\r\n"));
    assert_eq!(body, "\u{b2}\u{e8}");
    assert!(client.get("/text?undeclared").answer().0.contains("Content-Type: text/plain\r\n"));
}

#[test]
fn documents_are_well_formed() {
    let mirror = target("mirror", &[]);
    let mut client = Client::new(&mirror);
    let bytes: Vec<u8> = client.body("/json?n=2").chars().map(|letter| letter as u8).collect();
    let json: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(
        (&json["items"][1]["price"], &json["nothing"]),
        (&2.5.into(), &serde_json::Value::Null)
    );
    assert!(
        client.body("/xml").ends_with("</shop>\n")
            && client.body("/html").contains("name=\"token\"")
    );
    assert!(client.body("/").contains("/redirect-to"));
}

#[test]
fn bodies_come_in_every_framing() {
    let mirror = target("mirror", &[]);
    let mut client = Client::new(&mirror);
    client.get("/chunked?n=2&size=3&extension&trailer");
    let chunks = "3;name=\"value\"\r\naaa\r\n3;name=\"value\"\r\nbbb\r\n0\r\nChecked: yes\r\n\r\n";
    assert_eq!(
        client.until("yes\r\n\r\n"),
        format!("{TEXT}Transfer-Encoding: chunked\r\n\r\n{chunks}")
    );
    let bytes = client.body("/bytes/1000000");
    assert_eq!(
        (bytes.chars().count(), bytes.chars().skip(256).take(4).collect()),
        (1_000_000, "\u{7}&Ed".to_owned())
    );
    assert_eq!(client.body("/slow?n=3&pause=1"), "xxx");
    assert_eq!(client.get("/continue/2").until("went on\n").matches("100 Continue").count(), 2);
    assert_eq!(client.get("/http10?keep").until("old\n").matches("keep-alive").count(), 1);
    let fields = client.get("/header?X-A=1&X-B=a+b").answer().0;
    assert!(fields.contains("\r\nX-A: 1\r\nX-B: a b\r\n"));
    assert!(client.get("/keep-alive-timeout").answer().0.contains("\r\nKeep-Alive: timeout=1\r\n"));
    assert_eq!(closed("/http10"), format!("{}\r\nold\n", TEXT.replace("HTTP/1.1", "HTTP/1.0")));
    assert_eq!(closed("/no-length"), format!("{TEXT}Connection: close\r\n\r\nuntil the end\n"));
}

#[test]
fn a_client_that_waits_is_told_to_continue() {
    let mirror = target("mirror", &[]);
    let mut client = Client::new(&mirror);
    client.send("POST /any HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    assert_eq!(client.until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
    assert!(client.send("ok").answer().1.ends_with("\n\nok"));
}

#[test]
fn connections_end_in_every_way() {
    assert!(closed("/close").ends_with("Connection: close\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 4\r\n\r\nbye\n"));
    assert!(closed("/close-later/10").ends_with("soon\n"));
    assert_eq!(closed("/close-silently"), "");
    assert_eq!(ends("/reset"), End::Reset(String::new()));
    assert_eq!(
        ends("/reset?after=3"),
        End::Reset(format!("{TEXT}Content-Length: 1000\r\n\r\nxxx"))
    );
}

#[test]
fn a_stalled_answer_stays_stalled() {
    let mirror = target("mirror", &[]);
    let mut client = Client::new(&mirror);
    client.get("/stall?after=2").until("\r\n\r\nxx");
    client.0.set_read_timeout(Some(std::time::Duration::from_millis(50))).unwrap();
    assert_eq!(client.0.read(&mut [0]).unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
    drop(client);
    assert_eq!(Client::new(&mirror).body("/counter"), "1\n");
}

#[test]
fn malformed_answers_are_malformed() {
    let mirror = target("mirror", &[]);
    let mut client = Client::new(&mirror);
    let names = client.body("/bad");
    assert!(names.lines().count() > 20);
    assert_eq!(
        client.get("/bad/too-short").until("four\n").matches("Content-Length: 4").count(),
        1
    );
    assert!(closed("/bad/too-long").ends_with("Content-Length: 100\r\n\r\nonly this\n"));
    assert_eq!(closed("/bad/truncated-head"), "HTTP/1.1 200 OK\r\nContent-Le");
    assert!(closed("/bad/chunk").contains("\r\nzz\r\n"));
    let mut long = vec![0; 17 + 18 * 100_000 + 24];
    client.get("/bad/long-headers").0.read_exact(&mut long).unwrap();
    assert!(long.ends_with(b"and again\r\nContent-Length: 3\r\n\r\nok\n"));
    // An endless answer stops only when the client closes.
    let mut endless = Client::new(&mirror);
    let mut much = vec![0; 10_000_000];
    endless.get("/bad/endless-headers").0.read_exact(&mut much).unwrap();
    assert!(!raw::latin1(&much).contains("\r\n\r\n"));
    drop(endless);
    assert_eq!(client.body("/counter"), "1\n");
}

#[test]
fn what_is_not_http_is_refused() {
    let mirror = target("mirror", &[]);
    let end = Client::new(&mirror).send("hello\r\n\r\n").rest();
    assert_eq!(
        end,
        End::Fin(
            "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".to_owned()
        )
    );
}
