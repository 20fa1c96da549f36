//! Parses each conversation whole, split at every position, and byte by byte. The events must be the same.

use std::sync::atomic::AtomicU64;

use super::order::{FrameFields, Kind, Misplaced};
use super::*;

const RANDOM: [u8; 16] = [7; 16];
const TO: Ticket = Ticket::first(0);

/// All events of a conversation, and the frames that the session sent by itself.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    ready: bool,
    /// First byte and payload of each frame received.
    frames: Vec<(u8, Vec<u8>)>,
    sent: Vec<(Opcode, Vec<u8>)>,
    broken: Option<Problem>,
    end: Option<Problem>,
    awaits: bool,
    room: Option<Capacity>,
}

fn heartbeat(payload: Option<&[u8]>) -> Heartbeat {
    Heartbeat {
        interval: 100,
        jitter: 0,
        payload: payload.map(<[u8]>::to_vec),
        missed: 2,
        reply_to_ping: true,
        seed: AtomicU64::new(1),
    }
}

/// Parses and unmasks the frames of a client.
fn unmasked(mut out: &[u8]) -> Vec<(Opcode, Vec<u8>)> {
    let mut frames = Vec::new();
    while let Ok(Some(head)) = frame::head(out) {
        let (payload, rest) = out[head.size..].split_at(head.length as usize);
        let mut payload = payload.to_vec();
        crate::websocket::apply_mask(&mut payload, head.mask.expect("a client masks"), 0);
        frames.push((head.opcode, payload));
        out = rest;
    }
    assert!(out.is_empty());
    frames
}

fn feed<'a>(
    pieces: impl IntoIterator<Item = &'a [u8]>,
    mut session: WebSocket,
    wanted: Wanted,
) -> Seen {
    session.want(wanted);
    let mut seen = Seen::default();
    let (mut unread, mut out) = (Vec::new(), Vec::new());
    for piece in pieces {
        unread.extend_from_slice(piece);
        let fed = session.feed(&unread, &mut (), &mut out, &mut |told| match told {
            SessionEvent::Ready => seen.ready = true,
            SessionEvent::Push { kind, bytes, .. } => seen.frames.push((kind[0], bytes.to_vec())),
            other => panic!("{other:?}"),
        });
        match fed {
            Ok(used) => drop(unread.drain(..used)),
            Err(broken) => {
                seen.broken = Some(broken);
                break;
            }
        }
    }
    if seen.broken.is_none() {
        seen.end = session.end(&unread, &mut |_| {}).err();
    }
    (seen.awaits, seen.room) = (session.awaits_answer(), Some(session.room()));
    Seen { sent: unmasked(&out), ..seen }
}

/// Parses a conversation with all kinds of splits, asserts that the events are the same, and returns them.
fn converse(bytes: &[u8], make: impl Fn() -> WebSocket, wanted: Wanted) -> Seen {
    let whole = feed([bytes], make(), wanted);
    assert_eq!(feed(bytes.chunks(1), make(), wanted), whole, "byte by byte");
    for cut in 0..=bytes.len() {
        let (first, second) = bytes.split_at(cut);
        assert_eq!(feed([first, second], make(), wanted), whole, "cut at {cut}");
    }
    whole
}

fn asked() -> WebSocket {
    let mut session = WebSocket::new(RANDOM);
    let mut out = Vec::new();
    assert_eq!(session.room(), Capacity::Free(1));
    assert_eq!(session.begin(TO, Call::Upgrade(b"GET"), &mut out), BeginResult::Sent);
    assert_eq!((&out[..], session.room()), (&b"GET"[..], Capacity::Greeting));
    session
}

fn kept_alive(payload: Option<&'static [u8]>) -> impl Fn() -> WebSocket {
    move || {
        let mut session = WebSocket::opened();
        session.keep_alive(Arc::new(heartbeat(payload)), 1000);
        let mut out = Vec::new();
        session.tick(1100, &mut out).expect("in time");
        session
    }
}

fn accepted() -> Vec<u8> {
    let accept = handshake::accept(&handshake::key(RANDOM));
    let mut answer = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ".to_vec();
    answer.extend_from_slice(&accept);
    answer.extend_from_slice(b"\r\n\r\n");
    answer
}

fn frame_of(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    crate::websocket::push_head(&mut out, true, false, Opcode(0), payload.len(), None);
    out[0] = first;
    out.extend_from_slice(payload);
    out
}

#[test]
fn an_upgrade_and_frames_behind_it() {
    let mut bytes = accepted();
    bytes.extend(frame_of(0x81, b"one"));
    bytes.extend(frame_of(0x02, b"a"));
    bytes.extend(frame_of(0x89, b"?"));
    bytes.extend(frame_of(0x80, &[b'x'; 300]));
    let seen = converse(&bytes, asked, Wanted::Nothing);
    assert!(seen.ready && seen.broken.is_none() && seen.end.is_none());
    let frames: Vec<_> = seen.frames.iter().map(|(first, bytes)| (*first, bytes.len())).collect();
    assert_eq!(frames, [(0x81, 3), (2, 1), (0x89, 1), (0x80, 300)]);
    // Without a heartbeat, the session sends no automatic replies.
    assert_eq!((seen.sent, seen.room), (Vec::new(), Some(Capacity::Free(u32::MAX))));
}

#[test]
fn an_upgrade_that_is_refused() {
    let seen = converse(b"HTTP/1.1 403 No\r\n\r\n", asked, Wanted::Nothing);
    let refusal = Refusal::Status { status: 403, line: "HTTP/1.1 403 No".to_owned() };
    assert_eq!(seen.broken, Some(Problem::Refused(refusal)));
    let seen = converse(b"HTTP/1.1 101 Switching Protocols\r\nUpg", asked, Wanted::Nothing);
    assert_eq!(seen.end, Some(Problem::Refused(Refusal::NoUpgrade)));
    let seen = converse(b"", asked, Wanted::Nothing);
    assert_eq!(seen.end, Some(Problem::Refused(Refusal::Empty)));
    let fresh = converse(b"", || WebSocket::new(RANDOM), Wanted::Nothing);
    assert_eq!(fresh.end, None, "nothing was asked for");
}

#[test]
fn frames_that_no_server_sends() {
    for bytes in [&b"\x81\x81\0\0\0\0a"[..], b"\x81\x7f\xff\0\0\0\0\0\0\0"] {
        let seen = converse(bytes, WebSocket::opened, Wanted::Frames);
        assert_eq!(seen.broken, Some(Problem::Frame));
    }
    let mut session = WebSocket::opened();
    let mut out = Vec::new();
    assert_eq!(session.next(b"\x81\x02ab", 1, &mut out), Err(Problem::Frame), "larger than taken");
    assert_eq!(session.next(b"\x81\x02a", 2, &mut out), Ok((0, Event::NeedMore { need: 4 })));
    assert_eq!(session.next(b"\x81", 2, &mut out), Ok((0, Event::NeedMore { need: 0 })));
}

#[test]
fn a_stream_is_cut_within_a_frame() {
    assert_eq!(cut(b""), Cut::Between);
    assert_eq!(cut(b"\x81"), Cut::Between);
    assert_eq!(cut(b"\x81\x7e\x01"), Cut::Between);
    assert_eq!(cut(b"\x81\x7f\0\0\0"), Cut::Length { got: 3 });
    assert_eq!(cut(b"\x81\x05abc"), Cut::Payload { expected: 5, got: 3 });
    let seen = converse(b"\x81\x05abc", WebSocket::opened, Wanted::Frames);
    assert_eq!(seen.end, Some(Problem::Cut(Cut::Payload { expected: 5, got: 3 })));
}

#[test]
fn pings_are_answered_and_the_heartbeats_pong_is_nobodys() {
    let mut bytes = frame_of(0x89, b"there?");
    bytes.extend(frame_of(0x81, b"text"));
    bytes.extend(frame_of(0x8a, b""));
    let text = (0x81, b"text".to_vec());
    let seen = converse(&bytes, kept_alive(None), Wanted::Frames);
    assert_eq!(seen.frames, std::slice::from_ref(&text));
    assert_eq!(seen.sent, [(Opcode::PONG, b"there?".to_vec())]);
    assert!(!seen.awaits, "answered");
    let seen = converse(&bytes, kept_alive(None), Wanted::Pongs);
    assert_eq!(seen.frames, [text.clone(), (0x8a, Vec::new())]);
    // Any frame answers a heartbeat that is a text frame, so the session leaves a pong to the reader.
    let seen = converse(&bytes, kept_alive(Some(b"beat")), Wanted::Frames);
    assert_eq!(seen.frames, [text, (0x8a, Vec::new())]);
    assert!(!seen.awaits);
    let seen = converse(&frame_of(0x81, b"text"), kept_alive(None), Wanted::Frames);
    assert!(seen.awaits, "only a pong answers a ping");
}

#[test]
fn a_close_frame_is_answered_unless_a_reader_asks_for_it() {
    let mut bytes = frame_of(0x88, b"\x03\xe9gone");
    bytes.extend(frame_of(0x81, b"more"));
    let seen = converse(&bytes, kept_alive(None), Wanted::Nothing);
    assert_eq!(seen.frames, []);
    assert_eq!(seen.sent, [(Opcode::CLOSE, b"\x03\xe9".to_vec())]);
    assert_eq!(seen.room, Some(Capacity::Draining));
    let seen = converse(&bytes, kept_alive(None), Wanted::Frames);
    assert_eq!((seen.frames.len(), seen.sent.len()), (2, 0));
    let closing = || {
        let mut session = kept_alive(None)();
        session.send(Opcode::CLOSE, b"", [0; 4], &mut Vec::new());
        assert!(session.is_closing() && !session.is_over());
        session
    };
    let seen = converse(&bytes, closing, Wanted::Nothing);
    assert_eq!((seen.frames.len(), seen.sent.len()), (2, 0), "it is the answer");
}

#[test]
fn heartbeats_are_due_and_missed() {
    let mut session = WebSocket::opened();
    assert_eq!(session.due(), None);
    session.keep_alive(Arc::new(heartbeat(None)), 1000);
    let mut out = Vec::new();
    for (beat, now) in [(1, 1100), (2, 1250)] {
        assert_eq!(session.due(), Some(if beat == 1 { 1100 } else { 1200 }));
        assert_eq!(session.tick(now, &mut out), Ok(()));
        assert_eq!(session.unanswered(), beat);
    }
    assert_eq!(unmasked(&out), [(Opcode::PING, Vec::new()), (Opcode::PING, Vec::new())]);
    let missed = Broken("heartbeats were not answered".to_owned());
    assert_eq!(session.tick(1350, &mut out), Err(missed));
    session.note_activity();
    assert_eq!(session.tick(1350, &mut out), Ok(()));
    session.leave(&mut out);
    assert_eq!(session.due(), None, "it is being closed");
    assert_eq!(unmasked(&out).last(), Some(&(Opcode::CLOSE, vec![3, 0xe8])));
}

#[test]
fn jitter_stays_within_its_bounds_and_differs() {
    let settings = Arc::new(Heartbeat { jitter: 50, ..heartbeat(None) });
    let mut session = WebSocket::opened();
    let dues: Vec<Nanos> = (0..1000)
        .map(|now| {
            session.keep_alive(Arc::clone(&settings), now);
            session.due().expect("it beats") - now - 100
        })
        .collect();
    assert!((0..=50).all(|jitter| dues.contains(&jitter)));
    assert!(dues.iter().all(|jitter| (0..=50).contains(jitter)));
}

#[test]
fn calls_that_cannot_be_said() {
    let mut out = Vec::new();
    let frame = Call::Frame { opcode: Opcode::TEXT, payload: b"a", mask: [1, 2, 3, 4] };
    let early = asked().begin(TO, frame, &mut out);
    assert!(matches!(early, BeginResult::Refused(_)) && out.is_empty());
    let late = WebSocket::opened().begin(TO, Call::Upgrade(b"GET"), &mut out);
    assert!(matches!(late, BeginResult::Refused(_)) && out.is_empty());
    assert_eq!(WebSocket::opened().begin(TO, frame, &mut out), BeginResult::Sent);
    assert_eq!(unmasked(&out), [(Opcode::TEXT, b"a".to_vec())]);
}

#[test]
fn frames_have_meaning_in_their_order() {
    let said = |opcode, fin, rsv| FrameFields { opcode, fin, rsv };
    let mut order = Order::default();
    let mut take = |frame: FrameFields| {
        let kind = order.kind(frame.opcode)?;
        let compressed = order.compressed(frame);
        order.take(frame, kind).map(|()| (kind, compressed))
    };
    assert_eq!(take(said(Opcode::CONTINUATION, true, 0)), Err(Misplaced::Continuation));
    assert_eq!(take(said(Opcode(11), true, 0)), Err(Misplaced::Unknown(11)));
    assert_eq!(take(said(Opcode::TEXT, false, 4)), Ok((Kind::Text, true)));
    assert_eq!(take(said(Opcode::CONTINUATION, false, 0)), Ok((Kind::Text, true)));
    assert_eq!(take(said(Opcode::CONTINUATION, true, 0)), Ok((Kind::Text, true)));
    assert_eq!(take(said(Opcode::BINARY, false, 0)), Ok((Kind::Binary, false)));
    assert_eq!(take(said(Opcode::PING, true, 0)), Ok((Kind::Ping, false)));
    assert_eq!(take(said(Opcode::TEXT, true, 0)), Err(Misplaced::Beginning));
    assert_eq!(take(said(Opcode::CONTINUATION, true, 0)), Ok((Kind::Binary, false)));
    assert_eq!(take(said(Opcode::CLOSE, true, 0)), Ok((Kind::Close, false)));
}
