//! Fuzzes HTTP responses. The result is the same for the whole input, pieces, single bytes, and a cached head. No
//! panic, and the output contains only bytes of the input.
//!
//! Input: a byte of flags, two split positions, the response.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::http1::{Decoder, Error, Event, Limits, Memo};

const LIMITS: Limits = Limits { head: 512, headers: 16 };

#[derive(Debug, Default, PartialEq)]
struct Seen {
    head: Option<(u16, bool, Vec<u8>)>,
    body: Vec<u8>,
    ended: bool,
    error: Option<Error>,
}

fn feed<'a>(
    pieces: impl IntoIterator<Item = &'a [u8]>,
    head_request: bool,
    close: bool,
    memo: &mut Memo,
) -> Seen {
    let mut decoder = Decoder::new(head_request, LIMITS);
    let mut seen = Seen::default();
    let mut unread = Vec::new();
    for piece in pieces {
        unread.extend_from_slice(piece);
        while !seen.ended {
            let (used, event) = match decoder.next_with(&unread, memo) {
                Ok(found) => found,
                Err(error) => return Seen { error: Some(error), ..seen },
            };
            let mut more = true;
            match event {
                Event::NeedMore => more = false,
                Event::Head(head) => {
                    assert!(seen.head.is_none() && head.raw.len() <= used);
                    assert!(head.headers().all(|(name, _)| !name.is_empty()));
                    assert!(head.status == 101 || (200..).contains(&head.status));
                    seen.head = Some((head.status, head.keep_alive, head.raw.to_vec()));
                }
                Event::Body(body) => {
                    assert!(!body.is_empty() && body.len() <= used && seen.head.is_some());
                    seen.body.extend_from_slice(body);
                }
                Event::End => seen.ended = true,
            }
            unread.drain(..used);
            if !more {
                break;
            }
        }
    }
    if close && !seen.ended {
        seen.error = decoder.eof(&unread).err();
        seen.ended = seen.error.is_none();
    }
    seen
}

fuzz_target!(|data: &[u8]| {
    let [flags, a, b, response @ ..] = data else { return };
    let (head_request, close) = (flags & 1 != 0, flags & 2 != 0);
    let mut memo = Memo::default();
    let whole = feed([response], head_request, close, &mut memo);
    assert_eq!(feed([response], head_request, close, &mut memo), whole);
    let mut cuts = [usize::from(*a), usize::from(*b)].map(|cut| cut % (response.len() + 1));
    cuts.sort_unstable();
    let pieces = [&response[..cuts[0]], &response[cuts[0]..cuts[1]], &response[cuts[1]..]];
    assert_eq!(feed(pieces, head_request, close, &mut memo), whole);
    if response.len() <= 1024 {
        assert_eq!(feed(response.chunks(1), head_request, close, &mut Memo::default()), whole);
    }
});
