//! Proxies and servers that require credentials: whatever they answer, the sample passes or fails with JMeter's
//! message.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use crate::peer::{answering, answering_once, asked, closed_port, peer, request, stall};
use crate::trial::Trial;

/// Sends six requests for `https://unknown.example/` through the proxy on this port. Returns the response code and
/// message, which all six share.
fn through(port: u16, more: &[&str]) -> (String, String) {
    let trial = Trial::new();
    let plan = trial.program.read("http.jmx");
    trial.program.write("http.jmx", &plan.replace("protocol\">http<", "protocol\">https<"));
    let port = port.to_string();
    let proxy = ["-H", "127.0.0.1", "-P", &port, "-Jhost=unknown.example", "-Jresponse=300"];
    let (ended, rows) = trial.against(443, &[&proxy[..], more].concat());
    assert_eq!((ended.code, rows.len()), (0, 6), "{ended:?}");
    assert!(rows.iter().all(|row| row.code == rows[0].code), "{rows:?}");
    // The bytes of the CONNECT request and its response do not count in the row.
    assert!(rows.iter().all(|row| row.bytes == rows[0].bytes), "{rows:?}");
    (rows[0].code.clone(), rows[0].message.clone())
}

/// Like [`through`], for failures: returns the exception class and message without their standard prefixes.
fn fails(port: u16, more: &[&str]) -> (String, String) {
    let (code, message) = through(port, more);
    let bare =
        |text: String, start: &str| text.strip_prefix(start).map_or(text.clone(), Into::into);
    (bare(code, "Non HTTP response code: "), bare(message, "Non HTTP response message: "))
}

fn pair(one: &str, two: &str) -> (String, String) {
    (one.to_owned(), two.to_owned())
}

#[test]
fn a_proxy_that_is_not_there() {
    let port = closed_port();
    let message = format!("Connect to 127.0.0.1:{port} [/127.0.0.1] failed: Connection refused");
    assert_eq!(fails(port, &[]), pair("org.apache.http.conn.HttpHostConnectException", &message));
}

#[test]
fn a_proxy_that_closes() {
    let port = peer(|connection| {
        request(connection);
    });
    let message = "unknown.example:443 failed to respond";
    assert_eq!(fails(port, &[]), pair("org.apache.http.NoHttpResponseException", message));
}

#[test]
fn a_proxy_that_stalls() {
    for part in ["", "HTTP/1.1 200 Connection", "HTTP/1.1 502 No\r\nContent-Length: 9\r\n\r\nhalf"]
    {
        let port = peer(move |connection| {
            request(connection);
            let _ = connection.write_all(part.as_bytes());
            stall(connection);
        });
        assert_eq!(fails(port, &[]), pair("java.net.SocketTimeoutException", "Read timed out"));
    }
}

#[test]
fn a_proxy_that_talks_nonsense() {
    // The client skips lines before the status line and waits for the response until the timeout.
    let port = answering("\u{1}\u{2}\u{3}\r\n".repeat(3_000));
    assert_eq!(fails(port, &[]), pair("java.net.SocketTimeoutException", "Read timed out"));
    let port = answering_once("\u{1}\u{2}\u{3}\r\n");
    let class = "org.apache.http.client.ClientProtocolException";
    assert_eq!(fails(port, &[]), pair(class, "null"));
    // The proxy accepts the tunnel and closes it.
    let port = answering_once("HTTP/1.1 200 OK\r\n\r\n");
    assert_eq!(fails(port, &[]).0, "javax.net.ssl.SSLHandshakeException");
    // The client discards bytes that arrive before the TLS handshake; then no more bytes arrive.
    let port = answering("HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n");
    assert_eq!(fails(port, &[]), pair("java.net.SocketTimeoutException", "Read timed out"));
}

#[test]
fn a_proxy_that_refuses() {
    let port = answering("HTTP/1.1 403 Not for you\r\nContent-Length: 2\r\n\r\nno");
    assert_eq!(through(port, &[]), pair("403", "Not for you"));
    let asks = "HTTP/1.1 407 Who\r\nProxy-Authenticate: Digest realm=a, nonce=b\r\nContent-Length: 0\r\n\r\n";
    let login = ["-u", "me", "-a", "secret"];
    assert_eq!(through(answering(asks), &login), pair("407", "Who"));
    let malformed = "HTTP/1.1 407 Who\r\nProxy-Authenticate: Digest\r\nProxy-Authenticate: \r\nContent-Length: 0\r\n\r\n";
    assert_eq!(through(answering(malformed), &login), pair("407", "Who"));
}

#[test]
fn a_tunnel_leads_to_the_server() {
    let target =
        targets::start(targets::Config::new("fixed").option("tls", "true")).expect("a target");
    let server = target.addr();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            std::thread::spawn(move || {
                if asked(&mut client).as_deref() != Some("unknown.example:443") {
                    return;
                }
                let mut server = TcpStream::connect(server).expect("the target");
                let _ = client.write_all(b"HTTP/1.1 200 Connection established\r\nX: y\r\n\r\n");
                let back =
                    (server.try_clone().expect("a handle"), client.try_clone().expect("one"));
                std::thread::spawn(move || pass(back.0, back.1));
                pass(client, server.try_clone().expect("a handle"));
                let _ = server.flush();
            });
        }
    });
    assert_eq!(through(port, &["-Jresponse=30000"]), pair("200", "OK"));
}

fn pass(mut from: TcpStream, mut to: TcpStream) {
    let mut buffer = [0; 4096];
    while let Ok(n @ 1..) = from.read(&mut buffer) {
        if to.write_all(&buffer[..n]).is_err() {
            return;
        }
    }
    let _ = to.shutdown(std::net::Shutdown::Write);
}

#[test]
fn challenges_that_nobody_can_answer() {
    let manager = r#"<AuthManager guiclass="AuthPanel" testclass="AuthManager" testname="Who" enabled="true">
      <collectionProp name="AuthManager.auth_list"><elementProp name="" elementType="Authorization">
        <stringProp name="Authorization.url"></stringProp><stringProp name="Authorization.username">me</stringProp>
        <stringProp name="Authorization.password">secret</stringProp><stringProp name="Authorization.mechanism">DIGEST</stringProp>
      </elementProp></collectionProp></AuthManager><hashTree/>"#;
    for challenge in [
        "Digest",
        "Digest realm=\"a\", nonce=\"",
        "Digest realm=a, nonce=b, qop=\",,,\"",
        "Digest nonce=b, algorithm=ROT13, realm=a",
        "",
        "=,;\"\\",
    ] {
        let answer = format!(
            "HTTP/1.1 401 Who\r\nWWW-Authenticate: {challenge}\r\nContent-Length: 0\r\n\r\n"
        );
        let trial = Trial::with(manager);
        let (ended, rows) = trial.against(answering(answer), &[]);
        assert_eq!((ended.code, rows.len()), (0, 6), "{challenge}: {ended:?}");
        assert!(rows.iter().all(|row| row.code == "401" && !row.success), "{challenge}: {rows:?}");
    }
}
