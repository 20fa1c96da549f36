//! The echo target, tested with tungstenite, and byte by byte where tungstenite cannot do it.

mod raw;

use std::io::{Read, Write};
use std::net::TcpStream;

use raw::{Client, End, target};
use rustls::{ClientConnection, StreamOwned};
use serde_json::Value;
use targets::Running;
use tungstenite::client::IntoClientRequest;
use tungstenite::protocol::WebSocketConfig;
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::{Error, Message, WebSocket};
use wire::websocket::deflate::{Deflate, Deflater, Inflater, Window};
use wire::websocket::{Opcode, handshake, head, push_frame, push_head};

fn open(target: &Running) -> WebSocket<TcpStream> {
    let url = format!("ws://{}/", target.addr());
    tungstenite::client(url, TcpStream::connect(target.addr()).unwrap()).unwrap().0
}

fn stats(target: &Running) -> Value {
    serde_json::from_str(&Client::new(target).body("/stats")).unwrap()
}

/// Waits until the statistic at a JSON path has the expected value, for about ten seconds at most.
fn until(target: &Running, path: &str, wanted: u64) {
    for _ in 0..2000 {
        if stats(target).pointer(path).and_then(Value::as_u64) == Some(wanted) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    panic!("{path} is not {wanted}: {}", stats(target));
}

#[test]
fn every_message_comes_back() {
    let echo = target("websocket-echo", &[]);
    let mut socket = open(&echo);
    let mut count = 0;
    for length in [0, 1, 125, 126, 65535, 65536, 300_000] {
        for message in [Message::text("é".repeat(length)), Message::binary(vec![0xff; length])] {
            socket.send(message.clone()).unwrap();
            assert!(socket.read().unwrap() == message, "{length}");
            count += 1;
        }
    }
    // Many messages at once are echoed in order.
    for number in 0..500 {
        socket.write(Message::text(number.to_string())).unwrap();
    }
    socket.flush().unwrap();
    for number in 0..500 {
        assert_eq!(socket.read().unwrap(), Message::text(number.to_string()));
    }
    socket.send(Message::Ping(b"here?".as_slice().into())).unwrap();
    assert_eq!(socket.read().unwrap(), Message::Pong(b"here?".as_slice().into()));
    let now = stats(&echo);
    assert_eq!(
        (&now["ws"], &now["ws_total"], &now["ws_msgs"]),
        (&1.into(), &1.into(), &(count + 500).into())
    );
    socket.close(None).unwrap();
    assert!(matches!(socket.read(), Ok(Message::Close(_))));
    assert!(matches!(socket.read(), Err(Error::ConnectionClosed)));
    until(&echo, "/closed/peer_close", 1);
    assert_eq!(stats(&echo)["ws"], 0);
}

#[test]
fn ends_are_counted_by_their_cause() {
    let echo = target("websocket-echo", &[("limit", "100")]);
    drop(open(&echo));
    until(&echo, "/closed/peer_fin", 1);
    let socket = open(&echo);
    socket2::SockRef::from(socket.get_ref()).set_linger(Some(std::time::Duration::ZERO)).unwrap();
    drop(socket);
    until(&echo, "/closed/peer_reset", 1);
    for (bytes, code) in [
        (&b"\xc1\x80\0\0\0\0"[..], CloseCode::Protocol),
        (b"\x81\x00", CloseCode::Protocol),
        (b"\x81\x81\0\0\0\0\xff", CloseCode::Invalid),
        (b"\x81\xfe\x01\x00\0\0\0\0", CloseCode::Size),
    ] {
        let mut socket = open(&echo);
        socket.get_mut().write_all(bytes).unwrap();
        let Message::Close(Some(frame)) = socket.read().unwrap() else { panic!("no close") };
        assert_eq!(frame.code, code);
    }
    until(&echo, "/closed/protocol", 4);
    assert_eq!((&stats(&echo)["ws"], &stats(&echo)["ws_total"]), (&0.into(), &6.into()));
}

#[test]
fn messages_are_fragmented_on_wish() {
    let echo = target("websocket-echo", &[("fragment", "3")]);
    let mut socket = open(&echo);
    socket.send(Message::text("01234567")).unwrap();
    let mut bytes = [0; 14];
    socket.get_mut().read_exact(&mut bytes).unwrap();
    assert_eq!(&bytes, b"\x01\x03012\x00\x03345\x80\x0267");
    socket.send(Message::binary(vec![1; 1000])).unwrap();
    assert_eq!(socket.read().unwrap(), Message::binary(vec![1; 1000]));
}

#[test]
fn subprotocols_are_agreed_on() {
    for (spoken, expected) in [("", Some("a")), ("c,b", Some("b")), ("z", None)] {
        let echo = target("websocket-echo", &[("protocols", spoken)]);
        let mut request = format!("ws://{}/", echo.addr()).into_client_request().unwrap();
        request.headers_mut().insert("Sec-WebSocket-Protocol", "a, b".parse().unwrap());
        let stream = TcpStream::connect(echo.addr()).unwrap();
        match (expected, tungstenite::client(request, stream)) {
            (Some(name), Ok((_, answer))) => {
                assert_eq!(answer.headers()["Sec-WebSocket-Protocol"], name);
            }
            // A client that requested a subprotocol and got none gives up.
            (None, Err(_)) => {}
            (_, other) => panic!("{spoken}: {other:?}"),
        }
    }
}

/// Opens a WebSocket that offers this compression; returns the stream, and the parameters that the target agreed to.
fn with_offer(target: &Running, offer: &str) -> (TcpStream, Option<Deflate>) {
    let key = handshake::key([3; 16]);
    let mut client = Client::new(target);
    client.send(&format!(
        "GET / HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Key: {}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Extensions: {offer}\r\n\r\n",
        raw::latin1(&key)
    ));
    let head = client.until("\r\n\r\n");
    let answer = handshake::answer(head.as_bytes(), &key).unwrap().unwrap();
    (client.0, answer.deflate)
}

#[test]
fn compression_is_agreed_on_and_used() {
    let offer = "permessage-deflate; client_max_window_bits";
    let plain = target("websocket-echo", &[]);
    assert_eq!(with_offer(&plain, offer).1, None);
    let echo = target("websocket-echo", &[("compression", "true")]);
    assert_eq!(with_offer(&echo, "permessage-deflate; server_max_window_bits=8").1, None);
    for offer in [
        "permessage-deflate",
        "permessage-deflate; server_no_context_takeover; client_no_context_takeover",
        "permessage-deflate; server_max_window_bits=10",
    ] {
        let (mut stream, terms) = with_offer(&echo, offer);
        let terms = terms.unwrap();
        let (mut deflater, mut inflater) = (Deflater::new(6, 15), Inflater::new());
        let (mut sent, mut received) = (Window::default(), Window::default());
        let text = "the same text again and again ".repeat(40);
        let mut sizes = Vec::new();
        for _ in 0..3 {
            let mut payload = Vec::new();
            let window = (!terms.client_no_context_takeover).then_some(&mut sent);
            deflater.message(window, text.as_bytes(), &mut payload);
            let mut frame = Vec::new();
            push_head(&mut frame, true, true, Opcode::TEXT, payload.len(), Some([0; 4]));
            frame.extend_from_slice(&payload);
            stream.write_all(&frame).unwrap();
            let payload = one_frame(&mut stream, 4);
            let mut out = Vec::new();
            let window = (!terms.server_no_context_takeover).then_some(&mut received);
            inflater.message(window, &payload, &mut out, 9999).unwrap();
            assert_eq!(out, text.as_bytes());
            sizes.push(payload.len());
        }
        // With context takeover, the third compressed message is smaller than the first.
        assert_eq!(sizes[2] < sizes[0], !terms.server_no_context_takeover, "{sizes:?}");
    }
    // An uncompressed message is echoed too.
    let (mut stream, _) = with_offer(&echo, offer);
    let mut frame = Vec::new();
    push_frame(&mut frame, Opcode::TEXT, b"plain", Some([1, 2, 3, 4]));
    stream.write_all(&frame).unwrap();
    let mut out = Vec::new();
    Inflater::new().message(None, &one_frame(&mut stream, 4), &mut out, 9).unwrap();
    assert_eq!(out, b"plain");
}

/// Reads the next frame, asserts that it is unfragmented and has these reserved bits, and returns its payload.
fn one_frame(stream: &mut TcpStream, rsv: u8) -> Vec<u8> {
    let mut bytes = vec![0; 2];
    stream.read_exact(&mut bytes).unwrap();
    while head(&bytes).unwrap().is_none() {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        bytes.push(byte[0]);
    }
    let head = head(&bytes).unwrap().unwrap();
    assert_eq!((head.fin, head.rsv, head.size), (true, rsv, bytes.len()));
    let mut payload = vec![0; head.length as usize];
    stream.read_exact(&mut payload).unwrap();
    payload
}

#[test]
fn over_tls_it_is_the_same() {
    let echo = target("websocket-echo", &[("tls", "true"), ("idle", "2000")]);
    assert!(echo.url().starts_with("https://"));
    let name = "localhost".try_into().unwrap();
    let connection = ClientConnection::new(raw::trust::client(), name).unwrap();
    let stream = StreamOwned::new(connection, TcpStream::connect(echo.addr()).unwrap());
    let (mut socket, _) = tungstenite::client("wss://localhost/", stream).unwrap();
    for length in [0, 1, 20_000, 3_000_000] {
        let message = Message::binary(vec![length as u8; length]);
        socket.send(message.clone()).unwrap();
        assert!(socket.read().unwrap() == message, "{length}");
    }
    // A connection that is cut for silence ends properly: a close frame, then close_notify.
    let Message::Close(Some(frame)) = socket.read().unwrap() else { panic!("no close") };
    assert_eq!(frame.code, CloseCode::Library(4008));
    let mut rest = Vec::new();
    assert_eq!(socket.get_mut().read_to_end(&mut rest).unwrap(), 0);
}

#[test]
fn silence_is_cut_as_configured() {
    for cut in ["close", "fin", "rst"] {
        let echo = target("websocket-echo", &[("idle", "700"), ("cut", cut)]);
        let mut socket = open(&echo);
        let mut speaker = open(&echo);
        // A client that sends messages is not cut for silence.
        while stats(&echo)["closed"]["silent"] == 0 {
            speaker.send(Message::text("x")).unwrap();
            assert_eq!(speaker.read().unwrap(), Message::text("x"));
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let mut rest = Vec::new();
        let end = socket.get_mut().read_to_end(&mut rest);
        match cut {
            "close" => assert_eq!(rest[..4], [0x88, 19, 0x0f, 0xa8]),
            "fin" => assert!(end.is_ok() && rest.is_empty()),
            _ => assert_eq!(end.unwrap_err().kind(), std::io::ErrorKind::ConnectionReset),
        }
        assert_eq!(stats(&echo)["ws"], 1);
    }
}

#[test]
fn a_peer_that_does_not_read_is_dropped_or_waited_for() {
    for slow in ["drop", "wait"] {
        let echo = target("websocket-echo", &[("slow", slow), ("unsent", "100000")]);
        let mut socket = open(&echo);
        let message = Message::binary(vec![7; 1 << 20]);
        let mut sent = 0;
        for _ in 0..24 {
            // The target may have closed the connection meanwhile.
            if socket.send(message.clone()).is_err() {
                break;
            }
            sent += 1;
        }
        if slow == "drop" {
            until(&echo, "/closed/slow", 1);
            assert_eq!(stats(&echo)["ws"], 0);
        } else {
            assert_eq!(sent, 24);
            until(&echo, "/ws_msgs", 24);
            assert!(stats(&echo)["unsent"].as_u64().unwrap() > 1 << 20);
            let mut socket = WebSocket::from_raw_socket(
                socket.get_ref().try_clone().unwrap(),
                tungstenite::protocol::Role::Client,
                Some(WebSocketConfig::default()),
            );
            for _ in 0..24 {
                assert!(socket.read().unwrap() == message);
            }
            until(&echo, "/unsent", 0);
        }
    }
}

#[test]
fn what_asks_for_no_websocket_is_told_so() {
    let echo = target("websocket-echo", &[]);
    let answer = |request: &str| {
        let End::Fin(text) = Client::new(&echo).send(request).rest() else { panic!("reset") };
        text.lines().next().unwrap_or_default().to_owned()
    };
    assert_eq!(answer("GET / HTTP/1.1\r\n\r\n"), "HTTP/1.1 426 Upgrade Required");
    assert_eq!(answer("rubbish\r\n\r\n"), "HTTP/1.1 400 Bad Request");
    let upgrade = "GET / HTTP/1.1\r\nUpgrade: websocket\r\nConnection: upgrade\r\n";
    let version = "Sec-WebSocket-Version: 13\r\n";
    assert_eq!(answer(&format!("{upgrade}\r\n")), "HTTP/1.1 426 Upgrade Required");
    assert_eq!(answer(&format!("{upgrade}{version}\r\n")), "HTTP/1.1 400 Bad Request");
    assert_eq!(stats(&echo)["ws_total"], 0);
}

#[test]
fn several_addresses_are_one_target() {
    let echo = target("websocket-echo", &[("listen", "127.0.0.1-127.0.0.3")]);
    let port = echo.addr().port();
    let sockets: Vec<_> = (1..=3)
        .map(|last| {
            let stream = TcpStream::connect(format!("127.0.0.{last}:{port}")).unwrap();
            tungstenite::client("ws://h/", stream).unwrap().0
        })
        .collect();
    assert_eq!(stats(&echo)["ws"], sockets.len());
}
