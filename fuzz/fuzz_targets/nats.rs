//! Fuzzes operations of a NATS server. The result is the same for the whole input, pieces and single bytes. No panic,
//! and nothing beyond the limits is buffered.
//!
//! Input: two split positions, then the operations.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::nats::{Broken, Limits, next};

const LIMITS: Limits = Limits { line: 64, payload: 256 };

fn feed<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<String>, Option<Broken>) {
    let (mut unread, mut seen) = (Vec::new(), Vec::new());
    for piece in pieces {
        unread.extend_from_slice(piece);
        loop {
            match next(&unread, LIMITS) {
                Ok(Some((told, used))) => {
                    assert!(used > 0 && used <= unread.len());
                    seen.push(format!("{told:?}"));
                    unread.drain(..used);
                }
                Ok(None) => break,
                Err(broken) => return (seen, Some(broken)),
            }
        }
        assert!(unread.len() <= LIMITS.line + 2 + LIMITS.payload + 2);
    }
    (seen, None)
}

fuzz_target!(|data: &[u8]| {
    let [a, b, input @ ..] = data else { return };
    let whole = feed([input]);
    let mut cuts = [usize::from(*a), usize::from(*b)].map(|cut| cut % (input.len() + 1));
    cuts.sort_unstable();
    assert_eq!(feed([&input[..cuts[0]], &input[cuts[0]..cuts[1]], &input[cuts[1]..]]), whole);
    if input.len() <= 1024 {
        assert_eq!(feed(input.chunks(1)), whole);
    }
});
