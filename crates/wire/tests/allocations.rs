//! Code that runs for every request must not allocate once its buffers are warm.

use allocation_counter::measure;
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::{ClientConfig, ServerConfig, ServerConnection};
use std::io::Write;
use std::sync::Arc;
use wire::cookie::{self, Jar, Origin, Policy};
use wire::http1::{Decoder, Event, Limits};
use wire::tls::{Client, Settings, client_config, rustls, with_fresh_sessions};
use wire::websocket::deflate::{Deflater, Inflater, Window};
use wire::websocket::message::{self, Assembler, Role, Rules};
use wire::websocket::{Opcode, handshake, head, push_frame, push_head};

const RESPONSES: [&[u8]; 3] = [
    b"HTTP/1.1 200 OK\r\nServer: nginx\r\nContent-Length: 5\r\nSet-Cookie: a=b; path=/\r\n\r\nhello",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n0\r\nT: x\r\n\r\n",
    b"HTTP/1.1 302 Found\r\nLocation: /x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
];

fn read(response: &[u8]) -> usize {
    let mut decoder = Decoder::new(false, Limits::default());
    let (mut at, mut seen) = (0, 0);
    loop {
        let (used, event) = decoder.next(&response[at..]).unwrap();
        at += used;
        match event {
            Event::Head(head) => {
                seen += head.headers().count() + usize::from(head.header("location").is_some());
            }
            Event::Body(body) => seen += body.len(),
            Event::NeedMore => return 0,
            Event::End => return seen,
        }
    }
}

#[test]
fn responses() {
    for response in RESPONSES {
        let mut seen = 0;
        let count = measure(|| seen = read(response)).count_total;
        assert!(seen > 0);
        assert_eq!(count, 0, "{}", response.escape_ascii());
    }
}

#[test]
fn websocket_handshakes_frames_and_messages() {
    let key = handshake::key([7; 16]);
    let mut answer = Vec::new();
    handshake::push_answer(&mut answer, &key, None, None);
    let mut out = Vec::with_capacity(1024);
    let mut assembler = Assembler::new(Rules { role: Role::Server, deflate: true, limit: 1 << 20 });
    let (mut deflater, mut inflater) = (Deflater::new(6, 15), Inflater::new());
    let (mut sent, mut received) = (Window::default(), Window::default());
    let (mut packed, mut unpacked) = (Vec::with_capacity(8192), Vec::with_capacity(8192));
    let text = b"message after message of the same text; ".repeat(5);
    let mut round = || {
        assert!(handshake::answer(&answer, &handshake::key([7; 16])).unwrap().is_some());
        out.clear();
        push_frame(&mut out, Opcode::TEXT, b"hello", Some([1, 2, 3, 4]));
        push_frame(&mut out, Opcode::PING, b"", Some([1, 2, 3, 4]));
        assert_eq!(head(&out).unwrap().unwrap().length, 5);
        packed.clear();
        deflater.message(Some(&mut sent), &text, &mut packed);
        push_head(&mut out, true, true, Opcode::BINARY, packed.len(), Some([0; 4]));
        out.extend_from_slice(&packed);
        let (mut at, mut messages) = (0, 0);
        while at < out.len() {
            let (used, event) = assembler.next(&mut out[at..]).unwrap();
            at += used;
            if let message::Event::Message { compressed, payload, .. } = event {
                messages += 1;
                if compressed {
                    unpacked.clear();
                    let window = Some(&mut received);
                    inflater.message(window, payload, &mut unpacked, 1 << 20).unwrap();
                    assert_eq!(unpacked, text);
                }
            }
        }
        assert_eq!(messages, 2);
    };
    // Sends messages until the compression windows are full.
    for _ in 0..Window::SIZE / 200 + 2 {
        round();
    }
    assert_eq!(measure(round).count_total, 0);
    // The memory that a separate inflate stream would cost each connection.
    assert!(measure(|| drop(Inflater::new())).bytes_max > 30 << 10);
}

#[test]
fn cookies_that_come_again() {
    for policy in [Policy::Standard, Policy::Rfc2109, Policy::Compatibility] {
        cookies_of(policy);
    }
}

fn cookies_of(policy: Policy) {
    let origin = Origin { host: "www.example.com", path: "/a/b", secure: false };
    let mut jar = Jar::with_rules(cookie::Rules { policy, ..cookie::Rules::default() });
    let mut out = Vec::with_capacity(256);
    let mut round = |text: &[u8]| {
        let mut stored = 0;
        jar.store(&origin, text, 1_700_000_000_000, |_| stored += 1).unwrap();
        assert_eq!(stored, 1);
        out.clear();
        assert!(jar.header(&origin, 1_700_000_000_000, &mut out));
    };
    for text in [&b"session=0123456789; Path=/; HttpOnly"[..], b"other=1; path=/a; Max-Age=100"] {
        round(text);
    }
    // Netscape's draft allocates to parse dates. In RFC 2109, the comma of a date separates cookies.
    let standard = policy == Policy::Standard;
    let dated = if standard { "; Expires=Wed, 18 May 2033 03:33:20 GMT" } else { "; Version=1" };
    let dated = format!("other=2; path=/a; Max-Age=100{dated}");
    let mut rounds = || {
        round(b"session=9876543210; Path=/; HttpOnly");
        round(dated.as_bytes());
        round(b"session=short; Path=/; Secure; SameSite=Lax");
    };
    rounds();
    let count = measure(rounds);
    assert_eq!(count.count_total, 0, "{policy:?}: {} bytes", count.bytes_total);
}

fn server() -> Arc<ServerConfig> {
    let certified = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let key = PrivatePkcs8KeyDer::from(certified.signing_key.serialize_der());
    let config = ServerConfig::builder_with_provider(Arc::new(
        rustls::crypto::aws_lc_rs::default_provider(),
    ))
    .with_safe_default_protocol_versions()
    .unwrap()
    .with_no_client_auth()
    .with_single_cert(vec![certified.cert.der().clone()], key.into())
    .unwrap();
    Arc::new(config)
}

/// Returns a client and its server after the handshake, with tickets received.
fn shaken(
    config: &Arc<ClientConfig>,
    server: &Arc<ServerConfig>,
    out: &mut Vec<u8>,
) -> (Client, ServerConnection) {
    let mut client = Client::new(config, "localhost").unwrap();
    let mut server = ServerConnection::new(server.clone()).unwrap();
    let mut incoming = Vec::new();
    while client.handshaking() || server.is_handshaking() || !incoming.is_empty() {
        let used = client.advance(&mut incoming, out, &mut |_| {}).unwrap().used;
        incoming.drain(..used);
        let mut sent = out.as_slice();
        while !sent.is_empty() {
            server.read_tls(&mut sent).unwrap();
            server.process_new_packets().unwrap();
        }
        out.clear();
        while server.wants_write() {
            server.write_tls(&mut incoming).unwrap();
        }
    }
    (client, server)
}

#[test]
fn encrypted_traffic() {
    let server = server();
    for versions in [(true, false), (false, true)] {
        let config = client_config(&Settings { versions, ..Settings::default() }).unwrap();
        let mut out = Vec::with_capacity(4096);
        let (mut client, mut server) = shaken(&config, &server, &mut out);
        let mut incoming = Vec::new();
        for _ in 0..10 {
            server.writer().write_all(&[7; 168]).unwrap();
            while server.wants_write() {
                server.write_tls(&mut incoming).unwrap();
            }
        }
        let mut got = 0;
        let count = measure(|| {
            let progress =
                client.advance(&mut incoming, &mut out, &mut |plain| got += plain.len()).unwrap();
            assert_eq!(progress.used, incoming.len());
            for _ in 0..10 {
                out.clear();
                client.write(&[7; 120], &mut out).unwrap();
            }
        });
        assert_eq!(got, 1680);
        assert_eq!(count.count_total, 0, "{versions:?}");
    }
}

#[test]
fn an_idle_connection_keeps_little() {
    let server = server();
    // TLS 1.3 keeps the server's certificate, and secrets for tickets and key updates.
    for (versions, limit) in [((true, false), 512), ((false, true), 3 << 10)] {
        let config = client_config(&Settings { versions, ..Settings::default() }).unwrap();
        let mut out = Vec::with_capacity(4096);
        let (client, _server) = shaken(&config, &server, &mut out);
        let kept = -measure(|| drop(client)).bytes_current;
        assert!((1..limit).contains(&kept), "{versions:?}: {kept} bytes");
    }
}

#[test]
fn sessions_of_ones_own_cost_little() {
    let config = client_config(&Settings::default()).unwrap();
    let mut own = None;
    let kept = measure(|| {
        own = Some(with_fresh_sessions(&config, wire::tls::Limits { servers: 16, tickets: 4 }));
    })
    .bytes_current;
    assert!(own.is_some() && (1..2048).contains(&kept), "{kept} bytes");
}
