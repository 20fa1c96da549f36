//! Fuzzes WebSocket frames: a parsed frame encodes to the same bytes, a message is the same whole and in pieces, and it
//! contains only bytes of the input.
//!
//! Input: a byte of flags, two split positions, the frames.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::websocket::message::{Assembler, Event, Role, Rules, Violation};
use wire::websocket::{Opcode, apply_mask, close, head, push_frame, push_head};

const LIMIT: u32 = 600;

#[derive(Debug, PartialEq)]
enum Seen {
    Message(bool, bool, Vec<u8>),
    Ping(Vec<u8>),
    Pong(Vec<u8>),
    Close(Option<u16>, String),
}

fn feed<'a>(
    pieces: impl IntoIterator<Item = &'a [u8]>,
    rules: Rules,
) -> (Vec<Seen>, Option<Violation>) {
    let mut assembler = Assembler::new(rules);
    let mut seen = Vec::new();
    let mut unread = Vec::new();
    for piece in pieces {
        unread.extend_from_slice(piece);
        loop {
            let here = unread.len();
            let (used, event) = match assembler.next(&mut unread) {
                Ok(found) => found,
                Err(violation) => {
                    assert!(matches!(violation.code(), 1002 | 1007 | 1009));
                    return (seen, Some(violation));
                }
            };
            assert!(used <= here);
            let needs_more = event == Event::NeedMore;
            match event {
                Event::NeedMore => {}
                Event::Message { text, compressed, payload } => {
                    assert!(payload.len() <= LIMIT as usize && (rules.deflate || !compressed));
                    assert!(!text || compressed || std::str::from_utf8(payload).is_ok());
                    seen.push(Seen::Message(text, compressed, payload.to_vec()));
                }
                Event::Ping(payload) => seen.push(Seen::Ping(payload.to_vec())),
                Event::Pong(payload) => seen.push(Seen::Pong(payload.to_vec())),
                Event::Close { code, reason } => {
                    assert!(code.is_none_or(close::may_be_sent));
                    seen.push(Seen::Close(code, reason.to_owned()));
                }
            }
            unread.drain(..used);
            if needs_more {
                break;
            }
        }
        assert!(unread.len() < 14);
    }
    (seen, None)
}

fn heads(mut bytes: &[u8]) {
    while let Ok(Some(found)) = head(bytes) {
        assert!((2..=14).contains(&found.size) && found.size <= bytes.len());
        for end in 0..found.size {
            assert!(matches!(head(&bytes[..end]), Ok(None)));
        }
        if let (true, Ok(length)) = (found.is_minimal(), usize::try_from(found.length)) {
            let mut again = Vec::new();
            push_head(&mut again, found.fin, false, found.opcode, length, found.mask);
            again[0] |= found.rsv << 4;
            assert_eq!(again, bytes[..found.size]);
        }
        let length = usize::try_from(found.length).unwrap_or(usize::MAX);
        bytes = bytes[found.size..].get(length..).unwrap_or_default();
    }
}

fuzz_target!(|data: &[u8]| {
    let [flags, a, b, frames @ ..] = data else { return };
    let role = if flags & 1 != 0 { Role::Server } else { Role::Client };
    let rules = Rules { role, deflate: flags & 2 != 0, limit: LIMIT };
    heads(frames);
    let whole = feed([frames], rules);
    let mut cuts = [usize::from(*a), usize::from(*b)].map(|cut| cut % (frames.len() + 1));
    cuts.sort_unstable();
    let pieces = [&frames[..cuts[0]], &frames[cuts[0]..cuts[1]], &frames[cuts[1]..]];
    assert_eq!(feed(pieces, rules), whole);
    if frames.len() <= 1024 {
        assert_eq!(feed(frames.chunks(1), rules), whole);
    }
    // The input as a payload, encoded and parsed.
    let key = [*flags, *a, *b, 0x5a];
    let mut out = Vec::new();
    push_frame(&mut out, Opcode::BINARY, frames, Some(key));
    let found = head(&out).ok().flatten().expect("a head that we wrote");
    assert_eq!((found.length as usize, found.mask), (frames.len(), Some(key)));
    apply_mask(&mut out[found.size..], key, 0);
    assert_eq!(&out[found.size..], frames);
});
