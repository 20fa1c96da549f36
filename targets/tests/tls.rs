//! Targets over TLS, tested with a rustls client that accepts every certificate.

mod raw;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use raw::trust::client;
use rustls::{ClientConfig, ClientConnection, HandshakeKind, ProtocolVersion, StreamOwned};
use targets::{Config, Error, Running, TlsConfig, start};

/// Sends a GET on a new connection; returns the TLS version, the kind of handshake, and the whole answer.
fn ask(
    target: &Running,
    config: &Arc<ClientConfig>,
    path: &str,
) -> std::io::Result<(ProtocolVersion, HandshakeKind, String)> {
    let connection =
        ClientConnection::new(Arc::clone(config), "localhost".try_into().unwrap()).unwrap();
    let mut stream = StreamOwned::new(connection, TcpStream::connect(target.addr())?);
    stream.write_all(format!("GET {path} HTTP/1.1\r\nConnection: close\r\n\r\n").as_bytes())?;
    let mut text = Vec::new();
    // Reading fails if the stream ends without close_notify.
    stream.read_to_end(&mut text)?;
    let connection = &stream.conn;
    Ok((
        connection.protocol_version().unwrap(),
        connection.handshake_kind().unwrap(),
        raw::latin1(&text),
    ))
}

fn mirror(tls: TlsConfig) -> Running {
    start(Config::new("mirror").tls(tls)).unwrap()
}

#[test]
fn answers_are_the_same_as_without_tls() {
    let target = mirror(TlsConfig::default());
    assert!(target.url().starts_with("https://127.0.0.1:"));
    let (_, _, text) = ask(&target, &client(), "/counter").unwrap();
    assert!(
        text.starts_with("HTTP/1.1 200 OK\r\nServer: throng-target\r\n")
            && text.ends_with("\r\n\r\n1\n")
    );
    let (_, _, text) = ask(&target, &client(), "/bytes/3000000").unwrap();
    assert_eq!(text.split_once("\r\n\r\n").unwrap().1.chars().count(), 3_000_000);
    assert!(target.log().iter().all(|request| request.tls));
}

#[test]
fn versions_can_be_switched_off() {
    for (tls12, tls13, version) in
        [(true, false, ProtocolVersion::TLSv1_2), (false, true, ProtocolVersion::TLSv1_3)]
    {
        let target = mirror(TlsConfig { tls12, tls13, ..TlsConfig::default() });
        assert_eq!(ask(&target, &client(), "/echo").unwrap().0, version);
    }
    let neither = TlsConfig { tls12: false, tls13: false, ..TlsConfig::default() };
    assert!(matches!(start(Config::new("fixed").tls(neither)), Err(Error::Tls(_))));
}

#[test]
fn handshakes_resume_only_with_tickets() {
    for (tls12, tickets, second) in [
        (false, true, HandshakeKind::Resumed),
        (true, true, HandshakeKind::Resumed),
        (false, false, HandshakeKind::Full),
        (true, false, HandshakeKind::Full),
    ] {
        let target = mirror(TlsConfig { tls12, tls13: !tls12, tickets, ..TlsConfig::default() });
        let config = client();
        assert_eq!(ask(&target, &config, "/echo").unwrap().1, HandshakeKind::Full);
        assert_eq!(
            ask(&target, &config, "/echo").unwrap().1,
            second,
            "TLS 1.2 {tls12}, tickets {tickets}"
        );
    }
}

#[test]
fn plain_text_on_a_tls_port_ends_the_connection() {
    let target = start(Config::new("fixed").option("tls", true)).unwrap();
    let mut socket = TcpStream::connect(target.addr()).unwrap();
    socket.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    // A TLS alert may arrive before the end of the connection.
    let _ = socket.read_to_end(&mut answer);
    assert!(!raw::latin1(&answer).contains("HTTP"));
    assert!(ask(&target, &client(), "/").unwrap().2.contains("200 OK"));
}
