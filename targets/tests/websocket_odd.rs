//! The target that violates the WebSocket protocol: its bytes, and a strict reader's verdict on them.

mod raw;

use std::io::Read;
use std::time::{Duration, Instant};

use raw::{Client, End, latin1, target};
use targets::Running;
use wire::websocket::handshake::{self, Refusal};
use wire::websocket::head;
use wire::websocket::message::{Assembler, Event, Role, Rules, Violation};

fn key() -> [u8; 24] {
    handshake::key([9; 16])
}

fn ask(odd: &Running, path: &str) -> Client {
    let mut client = Client::new(odd);
    client.send(&format!(
        "GET /{path} HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Key: {}\r\nSec-WebSocket-Version: 13\r\n\r\n",
        latin1(&key())
    ));
    client
}

/// Opens a connection with a valid upgrade.
fn open(odd: &Running, path: &str) -> Client {
    let mut client = ask(odd, path);
    let head = client.until("\r\n\r\n");
    assert!(matches!(handshake::answer(head.as_bytes(), &key()), Ok(Some(_))), "{head}");
    client
}

/// Returns the reason for which the client refuses the target's answer to an upgrade request.
fn refusal(odd: &Running, path: &str) -> Refusal {
    let mut client = ask(odd, path);
    let mut bytes = Vec::new();
    loop {
        match handshake::answer(&bytes, &key()) {
            Ok(None) => {}
            Ok(Some(_)) => panic!("{path}: no refusal"),
            Err(refusal) => return refusal,
        }
        let mut piece = [0; 4096];
        match client.0.read(&mut piece).unwrap() {
            0 => return handshake::answer_at_end(&bytes, &key()).unwrap_err(),
            count => bytes.extend_from_slice(&piece[..count]),
        }
    }
}

#[test]
fn upgrades_go_wrong_as_the_path_says() {
    let odd = target("websocket-odd", &[]);
    for (path, expected) in [
        ("wrong-accept", Refusal::WrongAccept),
        ("no-accept", Refusal::NoAccept),
        ("no-upgrade", Refusal::NoUpgrade),
        ("no-connection", Refusal::NoConnection),
        ("connection-list", Refusal::NoConnection),
        ("endless-head", Refusal::TooLarge),
        ("not-http", Refusal::InvalidStatusLine),
        ("close-before", Refusal::Empty),
    ] {
        assert_eq!(refusal(&odd, path), expected, "{path}");
    }
    for code in [200, 302, 403, 500] {
        let line = format!("HTTP/1.1 {code} Odd");
        assert_eq!(
            refusal(&odd, &format!("status/{code}")),
            Refusal::Status { status: code, line }
        );
    }
    let End::Fin(text) = ask(&odd, "status/302").rest() else { panic!("reset") };
    assert!(text.contains("Location: /elsewhere\r\n"));
    assert_eq!(ask(&odd, "reset-before").rest(), End::Reset(String::new()));
}

#[test]
fn upgrades_come_in_pieces_and_late_or_not_at_all() {
    let odd = target("websocket-odd", &[]);
    open(&odd, "pieces?size=7");
    let begun = Instant::now();
    open(&odd, "slow?ms=80");
    assert!(begun.elapsed() >= Duration::from_millis(80));
    for (path, some) in [("half-open", false), ("half-head", true)] {
        let mut client = ask(&odd, path);
        client.0.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        let mut bytes = Vec::new();
        assert!(client.0.read_to_end(&mut bytes).is_err(), "{path} has an end");
        assert_eq!(!bytes.is_empty(), some);
        assert_eq!(handshake::answer(&bytes, &key()), Ok(None));
    }
}

/// Returns the payloads of all messages before the first protocol error, and that error or the close code.
fn judged(odd: &Running, path: &str) -> (Vec<String>, Result<Option<u16>, Violation>) {
    let mut client = open(odd, path);
    let rules = Rules { role: Role::Client, deflate: false, limit: 1 << 30 };
    let mut assembler = Assembler::new(rules);
    let mut seen = Vec::new();
    let mut input = Vec::new();
    loop {
        let (used, event) = match assembler.next(&mut input) {
            Ok(found) => found,
            Err(violation) => return (seen, Err(violation)),
        };
        let mut needs_more = false;
        match event {
            Event::NeedMore => needs_more = true,
            Event::Message { payload, .. } => seen.push(latin1(payload)),
            Event::Ping(payload) => seen.push(format!("ping {}", latin1(payload))),
            Event::Pong(payload) => seen.push(format!("pong {}", latin1(payload))),
            Event::Close { code, .. } => return (seen, Ok(code)),
        }
        input.drain(..used);
        if needs_more {
            let mut byte = [0; 64];
            let count = client.0.read(&mut byte).unwrap();
            assert!(count > 0, "{path} has ended after {seen:?}");
            input.extend_from_slice(&byte[..count]);
        }
    }
}

#[test]
fn frames_are_wrong_as_the_path_says() {
    use Violation::*;
    let odd = target("websocket-odd", &[]);
    for (path, messages, verdict) in [
        ("garbage-after", &[][..], Err(ReservedBits(6))),
        ("top-bit", &[], Err(Length)),
        ("not-minimal", &[], Err(Length)),
        ("masked", &[], Err(Masked)),
        ("oversized", &[], Err(TooLarge)),
        ("bad-utf8", &[], Err(Utf8)),
        ("bad-utf8-fragments", &[], Err(Utf8)),
        ("text-in-text", &[], Err(MissingContinuation)),
        ("continuation", &[], Err(UnexpectedContinuation)),
        ("fragmented-ping", &[], Err(FragmentedControl)),
        ("long-ping", &[], Err(LongControl)),
        ("rsv/3", &[], Err(ReservedBits(3))),
        ("opcode/11", &[], Err(ReservedOpcode(11))),
        ("close-in-fragments", &[], Ok(Some(1000))),
        ("close-empty", &[], Ok(None)),
        ("close-byte", &[], Err(CloseLength)),
        ("close-utf8", &[], Err(CloseReason)),
        ("after-close", &[], Ok(Some(1000))),
        ("close/4321?reason=so", &[], Ok(Some(4321))),
        ("close/1005", &[], Err(CloseCode(1005))),
        ("cut?ms=10&how=1001", &[], Ok(Some(1001))),
    ] {
        assert_eq!(judged(&odd, path), (messages.to_vec(), verdict), "{path}");
    }
}

#[test]
fn frames_are_unusual_as_the_path_says() {
    let odd = target("websocket-odd", &[]);
    for (path, bytes) in [
        ("fragments", &b"\x01\x03one\x00\x03two\x80\x05three"[..]),
        ("ping-in-fragments", b"\x01\x03one\x89\x01!\x80\x03two"),
        ("unfinished", b"\x01\x03one"),
        ("half-frame", b"\x81\x64abc"),
        ("half-length", b"\x82\x7f\0\0"),
        ("empty", b"\x81\x00\x82\x00"),
        ("ping?after=20", b"\x89\x04odd?\x81\x05hello"),
        ("pong", b"\x8a\x04odd!\x81\x05hello"),
        ("silence", b""),
    ] {
        let mut client = open(&odd, path);
        let mut seen = vec![0; bytes.len()];
        client.0.read_exact(&mut seen).unwrap();
        assert_eq!(seen, bytes, "{path}");
        // After this, the target sends nothing.
        client.0.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        assert!(client.0.read(&mut [0]).is_err(), "{path}");
    }
    let mut client = open(&odd, "large?length=3000000");
    let mut seen = vec![0; 10 + 3_000_000];
    client.0.read_exact(&mut seen).unwrap();
    assert_eq!(head(&seen).unwrap().unwrap().length, 3_000_000);
}

#[test]
fn ends_come_as_the_path_says() {
    let odd = target("websocket-odd", &[]);
    assert_eq!(open(&odd, "fin").rest(), End::Fin(String::new()));
    assert_eq!(open(&odd, "rst").rest(), End::Reset(String::new()));
    assert_eq!(open(&odd, "cut?ms=10").rest(), End::Fin(String::new()));
    assert_eq!(open(&odd, "cut?ms=10&how=rst").rest(), End::Reset(String::new()));
    assert_eq!(open(&odd, "close/1000").rest(), End::Fin("\u{88}\u{2}\u{3}\u{e8}".to_owned()));
    let begun = Instant::now();
    open(&odd, "cut?ms=120").rest();
    assert!(begun.elapsed() >= Duration::from_millis(120));
}

#[test]
fn floods_have_their_count_size_and_rate() {
    let odd = target("websocket-odd", &[]);
    let begun = Instant::now();
    let mut client = open(&odd, "flood?rate=2000&size=40&count=200");
    let mut bytes = vec![0; 200 * 42];
    client.0.read_exact(&mut bytes).unwrap();
    // The flood lasts 100 ms; its last batch arrives at once.
    assert!(begun.elapsed() >= Duration::from_millis(80), "{:?}", begun.elapsed());
    for frame in bytes.chunks(42) {
        assert!(frame.starts_with(b"\x81\x28t=1") && frame.ends_with(b" xxxxxxxxxxxxxxxxxxxxx"));
    }
    client.0.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    assert!(client.0.read(&mut [0]).is_err());
    let mut client = open(&odd, "pings?rate=1000&size=3&count=5");
    let mut bytes = vec![0; 25];
    client.0.read_exact(&mut bytes).unwrap();
    assert!(bytes.chunks(5).all(|frame| frame == b"\x89\x03t=1"));
    // Without a count, the flood has no end.
    let mut client = open(&odd, "flood?rate=100000&size=1000");
    let mut bytes = vec![0; 3_000_000];
    client.0.read_exact(&mut bytes).unwrap();
}

#[test]
fn the_list_of_paths_is_complete() {
    let odd = target("websocket-odd", &[]);
    let list = Client::new(&odd).body("/");
    assert!(list.lines().count() > 40);
    for line in list.lines() {
        let path = line.split(' ').next().unwrap().trim_start_matches('/');
        let path = path.replace("CODE", "403").replace("BITS", "4").replace("NUMBER", "3");
        // Every listed path is implemented; an unknown path would get the list of paths.
        let mut client = ask(&odd, &path);
        client.0.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        let mut start = [0; 12];
        let count = client.0.read(&mut start).unwrap_or(0);
        assert_ne!(&start[..count], b"HTTP/1.1 404", "{path}");
    }
    assert!(Client::new(&odd).get("/nonsense").answer().0.starts_with("HTTP/1.1 404"));
}
