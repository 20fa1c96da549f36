//! The tungstenite library as the peer: its server for Throng's client, its client for Throng's server, and its verdict
//! on valid and invalid frames.

use std::io::{self, Cursor, Read, Write};
use std::os::unix::net::UnixStream;
use std::thread;

use proptest::prelude::*;
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::protocol::{self, CloseFrame, WebSocket};
use tungstenite::{Error, Message};
use wire::websocket::message::{Assembler, Event, Role};
use wire::websocket::{Opcode, close, handshake, push_frame, push_head};

use crate::script::{Frame, Seen, bytes, read as read_all, rules};

const KEY: [u8; 4] = [1, 2, 3, 0xff];

/// Reads from the stream until the parser `read` returns a result.
fn until<T>(
    stream: &mut UnixStream,
    input: &mut Vec<u8>,
    mut read: impl FnMut(&[u8]) -> Option<T>,
) -> T {
    loop {
        if let Some(found) = read(input) {
            return found;
        }
        // A small odd buffer size, so that frames are split at arbitrary positions.
        let mut piece = [0; 61];
        let got = stream.read(&mut piece).unwrap();
        assert!(got > 0, "the other end has closed");
        input.extend_from_slice(&piece[..got]);
    }
}

/// Returns test messages of all kinds, with sizes of all length encodings.
fn messages() -> Vec<Message> {
    let mut messages = vec![Message::text("κόσμε"), Message::Ping(vec![1, 2, 3].into())];
    for length in [0, 1, 125, 126, 127, 65535, 65536, 200_000] {
        messages.push(Message::text("t".repeat(length)));
        messages.push(Message::binary(vec![0xfe; length]));
    }
    messages.push(Message::Pong(vec![0; 125].into()));
    messages
}

fn parts(message: &Message) -> (Opcode, &[u8]) {
    match message {
        Message::Text(text) => (Opcode::TEXT, text.as_bytes()),
        Message::Binary(bytes) => (Opcode::BINARY, bytes),
        Message::Ping(bytes) => (Opcode::PING, bytes),
        Message::Pong(bytes) => (Opcode::PONG, bytes),
        other => panic!("{other:?}"),
    }
}

fn event_parts<'a>(event: &Event<'a>) -> Option<(Opcode, &'a [u8])> {
    match *event {
        Event::NeedMore | Event::Close { .. } => None,
        Event::Message { text: true, payload, .. } => Some((Opcode::TEXT, payload)),
        Event::Message { payload, .. } => Some((Opcode::BINARY, payload)),
        Event::Ping(payload) => Some((Opcode::PING, payload)),
        Event::Pong(payload) => Some((Opcode::PONG, payload)),
    }
}

/// Runs tungstenite's echo server; returns all messages that it received.
fn echoing_server(theirs: UnixStream) -> Vec<Message> {
    let mut socket = tungstenite::accept(theirs).unwrap();
    let mut seen = Vec::new();
    loop {
        match socket.read() {
            // tungstenite answers pings by itself with its next write or read.
            Ok(message @ (Message::Ping(_) | Message::Pong(_))) => {
                seen.push(message);
                socket.flush().unwrap();
            }
            Ok(message @ (Message::Text(_) | Message::Binary(_))) => {
                seen.push(message.clone());
                socket.send(message).unwrap();
            }
            Ok(message) => seen.push(message),
            Err(Error::ConnectionClosed) => return seen,
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn our_client_and_its_server() {
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    let server = thread::spawn(move || echoing_server(theirs));
    let key = handshake::key(*b"sixteen bytes it");
    let mut request = b"GET /chat?a=b HTTP/1.1\r\nHost: localhost:80\r\nUpgrade: websocket\r\n\
                        Connection: Upgrade\r\nSec-WebSocket-Key: "
        .to_vec();
    request.extend_from_slice(&key);
    request.extend_from_slice(b"\r\nSec-WebSocket-Version: 13\r\n\r\n");
    ours.write_all(&request).unwrap();
    let mut input = Vec::new();
    let answer = until(&mut ours, &mut input, |bytes| handshake::answer(bytes, &key).unwrap());
    assert_eq!(answer.deflate, None);
    input.drain(..answer.size);

    let mut assembler = Assembler::new(rules(Role::Client, false));
    let sent = messages();
    for message in &sent {
        let (opcode, payload) = parts(message);
        let mut out = Vec::new();
        if opcode == Opcode::BINARY && payload.len() > 2 {
            // The payload of the message in three fragments, with a ping between them.
            let (first, rest) = payload.split_at(payload.len() / 3);
            let (second, third) = rest.split_at(rest.len() / 2);
            for (number, piece) in [first, second, third].into_iter().enumerate() {
                let opcode = if number == 0 { opcode } else { Opcode::CONTINUATION };
                push_head(&mut out, number == 2, false, opcode, piece.len(), None);
                out.extend_from_slice(piece);
            }
            // Other tests mask with real keys. A key of zeros suffices here.
            out = masked_with_zeros(&out);
        } else {
            push_frame(&mut out, opcode, payload, Some(KEY));
        }
        ours.write_all(&out).unwrap();
        if opcode == Opcode::PONG {
            continue;
        }
        let expected = if opcode == Opcode::PING { Opcode::PONG } else { opcode };
        expect(&mut ours, &mut assembler, &mut input, |event| {
            assert!(event_parts(event) == Some((expected, payload)), "{} bytes", payload.len());
        });
    }
    let mut out = Vec::new();
    close::push(&mut out, 4008, "silent", Some(KEY));
    ours.write_all(&out).unwrap();
    expect(&mut ours, &mut assembler, &mut input, |event| {
        assert_eq!(*event, Event::Close { code: Some(4008), reason: "silent" });
    });
    let mut seen = server.join().unwrap();
    let code = CloseCode::Library(4008);
    assert_eq!(
        seen.pop(),
        Some(Message::Close(Some(CloseFrame { code, reason: "silent".into() })))
    );
    assert!(seen == sent);
}

/// Adds a masking key of zeros to the head of each frame.
fn masked_with_zeros(frames: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = frames;
    while !rest.is_empty() {
        let head = wire::websocket::head(rest).unwrap().unwrap();
        let end = head.size + head.length as usize;
        push_head(&mut out, head.fin, false, head.opcode, head.length as usize, Some([0; 4]));
        out.extend_from_slice(&rest[head.size..end]);
        rest = &rest[end..];
    }
    out
}

/// Reads the next event of the message assembler.
fn expect(
    stream: &mut UnixStream,
    assembler: &mut Assembler,
    input: &mut Vec<u8>,
    mut look: impl FnMut(&Event<'_>),
) {
    loop {
        let (used, event) = assembler.next(input).unwrap();
        let found = event != Event::NeedMore;
        if found {
            look(&event);
        }
        input.drain(..used);
        if found {
            return;
        }
        let mut piece = [0; 1009];
        let got = stream.read(&mut piece).unwrap();
        assert!(got > 0, "the other end has closed");
        input.extend_from_slice(&piece[..got]);
    }
}

#[test]
fn its_client_and_our_server() {
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    let client = thread::spawn(move || {
        let (mut socket, answer) = tungstenite::client("ws://localhost/echo", theirs).unwrap();
        assert_eq!(answer.status(), 101);
        for message in messages() {
            socket.send(message.clone()).unwrap();
            let expected = match message {
                Message::Ping(payload) => Message::Pong(payload),
                Message::Pong(_) => continue,
                message => message,
            };
            assert!(socket.read().unwrap() == expected);
        }
        let code = CloseCode::Away;
        socket.close(Some(CloseFrame { code, reason: "done".into() })).unwrap();
        let answer = socket.read().unwrap();
        assert_eq!(answer, Message::Close(Some(CloseFrame { code, reason: "".into() })));
        assert!(matches!(socket.read(), Err(Error::ConnectionClosed)));
    });
    let mut input = Vec::new();
    let (size, out) = until(&mut ours, &mut input, |bytes| {
        let request = handshake::request(bytes).unwrap()?;
        assert_eq!(request.target, b"/echo");
        let mut out = Vec::new();
        handshake::push_answer(&mut out, request.upgrade().unwrap(), None, None);
        Some((request.size, out))
    });
    input.drain(..size);
    ours.write_all(&out).unwrap();
    let mut assembler = Assembler::new(rules(Role::Server, false));
    let mut closed = false;
    while !closed {
        let mut out = Vec::new();
        expect(&mut ours, &mut assembler, &mut input, |event| match (event, event_parts(event)) {
            (Event::Close { code, reason }, _) => {
                assert_eq!((*code, *reason), (Some(1001), "done"));
                close::push(&mut out, 1001, "", None);
                closed = true;
            }
            (_, Some((Opcode::PING, payload))) => push_frame(&mut out, Opcode::PONG, payload, None),
            (_, Some((Opcode::PONG, _))) => {}
            (_, Some((opcode, payload))) => push_frame(&mut out, opcode, payload, None),
            (_, None) => {}
        });
        ours.write_all(&out).unwrap();
    }
    drop(ours);
    client.join().unwrap();
}

/// A stream that reads from a buffer and discards writes.
struct Tape(Cursor<Vec<u8>>);

impl Read for Tape {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.0.read(out)
    }
}

impl Write for Tape {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the messages that tungstenite reads from the bytes, and whether it found an error before their end.
fn their_verdict(role: Role, bytes: Vec<u8>) -> (Vec<Seen>, bool) {
    let theirs = match role {
        Role::Client => protocol::Role::Client,
        Role::Server => protocol::Role::Server,
    };
    let mut socket = WebSocket::from_raw_socket(Tape(Cursor::new(bytes)), theirs, None);
    let mut seen = Vec::new();
    loop {
        match socket.read() {
            Ok(Message::Text(text)) => seen.push(Seen::Text(text.as_bytes().to_vec())),
            Ok(Message::Binary(bytes)) => seen.push(Seen::Binary(bytes.to_vec())),
            Ok(_) => {}
            // The end of the recorded bytes.
            Err(Error::Protocol(
                tungstenite::error::ProtocolError::ResetWithoutClosingHandshake,
            )) => {
                return (seen, false);
            }
            Err(Error::ConnectionClosed) => return (seen, false),
            Err(_) => return (seen, true),
        }
    }
}

fn frames() -> impl Strategy<Value = Vec<Frame>> {
    let payload = prop_oneof![
        "\\PC{0,4}".prop_map(String::into_bytes),
        proptest::collection::vec(any::<u8>(), 0..4),
        (0usize..200).prop_map(|length| vec![b'x'; length]),
    ];
    let opcode =
        prop_oneof![4 => Just(0u8), 4 => Just(1), 2 => Just(2), 2 => 9..=10u8, 1 => 3..16u8];
    let rsv = prop_oneof![20 => Just(0u8), 1 => 1..8u8];
    let frame = (any::<bool>(), rsv, opcode, payload).prop_map(|(fin, rsv, opcode, payload)| {
        // Close frames are replaced by pings: the two libraries may treat frames after a close differently.
        let opcode = if opcode == 8 { 9 } else { opcode };
        Frame { fin: fin || opcode >= 8, rsv, opcode, payload }
    });
    proptest::collection::vec(frame, 0..8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn both_judge_alike(frames in frames(), as_server in any::<bool>(), size in 1usize..40) {
        let role = if as_server { Role::Server } else { Role::Client };
        let bytes = bytes(role, &frames);
        let (mut seen, _) = read_all(rules(role, false), bytes.chunks(size));
        let failed = matches!(seen.last(), Some(Seen::Fail(_)));
        seen.retain(|seen| matches!(seen, Seen::Text(_) | Seen::Binary(_)));
        let (theirs, their_failure) = their_verdict(role, bytes);
        prop_assert_eq!(seen, theirs);
        // tungstenite checks the text of a message at its end, Throng on arrival.
        let is_unfinished = frames.last().is_some_and(|frame| !frame.fin);
        prop_assert!(failed == their_failure || failed && is_unfinished, "{} {}", failed, their_failure);
    }
}
