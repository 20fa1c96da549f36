//! Fuzzes WebSocket sessions from the upgrade on. The result is the same for the whole input, pieces and single bytes.
//! No panic, and automatic replies are valid client frames.
//!
//! Input: a byte of flags, two split positions, the bytes from the server.

#![no_main]

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use libfuzzer_sys::fuzz_target;
use wire::session::{Session, SessionEvent, Ticket};
use wire::websocket::session::{Call, Heartbeat, Problem, Wanted, WebSocket};
use wire::websocket::{Opcode, head};

const TO: Ticket = Ticket::first(1);

#[derive(Debug, Default, PartialEq)]
struct Seen {
    ready: bool,
    frames: Vec<(u8, Vec<u8>)>,
    sent: Vec<(Opcode, usize)>,
    broken: Option<Problem>,
    over: bool,
}

fn session(flags: u8) -> WebSocket {
    if flags & 1 == 0 {
        let mut session = WebSocket::new([0; 16]);
        session.begin(TO, Call::Upgrade(b""), &mut Vec::new());
        return session;
    }
    let mut session = WebSocket::opened();
    if flags & 2 != 0 {
        let heartbeat = Heartbeat {
            interval: 10,
            jitter: 3,
            payload: (flags & 4 != 0).then(|| b"beat".to_vec()),
            missed: 2,
            reply_to_ping: flags & 8 != 0,
            seed: AtomicU64::new(u64::from(flags)),
        };
        session.keep_alive(Arc::new(heartbeat), 0);
        session.tick(20, &mut Vec::new()).expect("the first is in time");
    }
    session.want(match flags >> 4 & 3 {
        0 => Wanted::Nothing,
        1 => Wanted::Frames,
        _ => Wanted::Pongs,
    });
    session
}

fn feed<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, flags: u8) -> Seen {
    let mut session = session(flags);
    let mut seen = Seen::default();
    let (mut unread, mut out) = (Vec::new(), Vec::new());
    for piece in pieces {
        unread.extend_from_slice(piece);
        let fed = session.feed(&unread, &mut (), &mut out, &mut |told| match told {
            SessionEvent::Ready => {
                assert!(!seen.ready && seen.frames.is_empty() && flags & 1 == 0);
                seen.ready = true;
            }
            SessionEvent::Push { kind, id: b"", bytes } => {
                assert!(seen.ready || flags & 1 != 0);
                let head = head(kind).ok().flatten().expect("a kind is a whole head");
                assert!(head.size == kind.len() && head.length as usize == bytes.len());
                seen.frames.push((kind[0], bytes.to_vec()));
            }
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
    if flags & 64 != 0 && seen.broken.is_none() {
        seen.broken = session.end(&unread, &mut |_| {}).err();
    }
    seen.over = session.is_over();
    let mut rest = &out[..];
    while let Ok(Some(head)) = head(rest) {
        assert!(head.fin && head.mask.is_some());
        seen.sent.push((head.opcode, head.length as usize));
        rest = &rest[head.size + head.length as usize..];
    }
    assert!(rest.is_empty());
    seen
}

fuzz_target!(|data: &[u8]| {
    let [flags, a, b, bytes @ ..] = data else { return };
    let whole = feed([bytes], *flags);
    let mut cuts = [usize::from(*a), usize::from(*b)].map(|cut| cut % (bytes.len() + 1));
    cuts.sort_unstable();
    let pieces = [&bytes[..cuts[0]], &bytes[cuts[0]..cuts[1]], &bytes[cuts[1]..]];
    assert_eq!(feed(pieces, *flags), whole);
    if bytes.len() <= 1024 {
        assert_eq!(feed(bytes.chunks(1), *flags), whole);
    }
});
