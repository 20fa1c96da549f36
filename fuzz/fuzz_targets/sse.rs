//! Fuzzes responses with server-sent events. The result is the same for the whole input, pieces and single bytes. No
//! panic, and events contain only bytes of the input.
//!
//! Input: a byte of flags, two split positions, the response; with a flag, only a response body.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::session::{Broken, Session, SessionEvent, Status, Ticket};
use wire::sse::{Limits, Sse};

const LIMITS: Limits = Limits { line: 64, event: 128 };
const TO: Ticket = Ticket::first(1);

#[derive(Debug, Default, PartialEq)]
struct Seen {
    head: Option<(u16, Vec<u8>)>,
    events: Vec<(Vec<u8>, Vec<u8>)>,
    data: Vec<u8>,
    done: Option<bool>,
    last_event_id: Vec<u8>,
    retry_ms: Option<u64>,
    broken: Option<Broken>,
}

fn feed<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, close: bool) -> Seen {
    let mut sse = Sse::new(LIMITS);
    let mut out = Vec::new();
    sse.begin(TO, b"", &mut out);
    let mut seen = Seen::default();
    let mut unread = Vec::new();
    let mut broken = None;
    let mut tell = |told: SessionEvent<'_>| match told {
        SessionEvent::Head { to, head: Status { status, bytes } } => {
            assert!(to == TO && seen.head.is_none());
            seen.head = Some((status, bytes.to_vec()));
        }
        SessionEvent::Data { to, bytes } => {
            assert!(to == TO && seen.head.is_some() && seen.done.is_none());
            seen.data.extend_from_slice(bytes);
        }
        SessionEvent::Push { kind, id, bytes } => {
            assert!(kind.len() <= LIMITS.line && id.len() <= LIMITS.line);
            assert!(bytes.len() <= LIMITS.event + LIMITS.line);
            assert!(seen.head.is_some() && seen.done.is_none());
            seen.events.push((kind.to_vec(), bytes.to_vec()));
        }
        SessionEvent::Done { to, kept } => {
            assert!(to == TO && seen.done.is_none());
            seen.done = Some(kept);
        }
        other => panic!("{other:?}"),
    };
    for piece in pieces {
        unread.extend_from_slice(piece);
        match sse.feed(&unread, &mut (), &mut out, &mut tell) {
            Ok(used) => drop(unread.drain(..used)),
            Err(why) => {
                broken = Some(why);
                break;
            }
        }
    }
    if close && broken.is_none() {
        broken = sse.end(&unread, &mut tell).err();
    }
    assert!(seen.events.is_empty() || seen.data.is_empty());
    (seen.last_event_id, seen.retry_ms) = (sse.last_event_id().to_vec(), sse.retry_ms());
    Seen { broken, ..seen }
}

fuzz_target!(|data: &[u8]| {
    let [flags, a, b, rest @ ..] = data else { return };
    let mut response = Vec::new();
    if flags & 2 != 0 {
        response.extend_from_slice(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n");
    }
    response.extend_from_slice(rest);
    let close = flags & 1 != 0;
    let whole = feed([&response[..]], close);
    let mut cuts = [usize::from(*a), usize::from(*b)].map(|cut| cut % (response.len() + 1));
    cuts.sort_unstable();
    let pieces = [&response[..cuts[0]], &response[cuts[0]..cuts[1]], &response[cuts[1]..]];
    assert_eq!(feed(pieces, close), whole);
    if response.len() <= 1024 {
        assert_eq!(feed(response.chunks(1), close), whole);
    }
});
