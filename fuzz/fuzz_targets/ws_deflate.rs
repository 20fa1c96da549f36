//! Fuzzes compressed WebSocket messages: no panic, no output above the limit, reused states behave like new ones, and
//! compressed messages decompress to the original.
//!
//! Input: flags and window bits, the limit, then messages separated by 0xff 0xff, used both as compressed and as plain
//! bytes.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::websocket::deflate::{Deflater, Inflater, Window};

fuzz_target!(|data: &[u8]| {
    let [flags, limit, body @ ..] = data else { return };
    let takeover = flags & 0x80 != 0;
    let max = 1 << (limit % 18);
    let mut messages = Vec::new();
    let mut rest = body;
    while let Some(at) = rest.windows(2).position(|mark| mark == [0xff, 0xff]) {
        messages.push(&rest[..at]);
        rest = &rest[at + 2..];
    }
    messages.push(rest);

    // Decompresses arbitrary bytes.
    let mut used = Inflater::new();
    let mut window = Window::default();
    for message in &messages {
        let mut before = window.clone();
        let mut out = vec![7];
        let verdict = used.message(takeover.then_some(&mut window), message, &mut out, max);
        assert!(out.len() <= max + 1 && out[0] == 7 && window.heap() <= 2 * Window::SIZE);
        let mut again = vec![7];
        let fresh =
            Inflater::new().message(takeover.then_some(&mut before), message, &mut again, max);
        assert_eq!((fresh, again), (verdict, out));
    }

    // Compresses and decompresses each message.
    let mut deflater = Deflater::new(u32::from(flags & 7), 9 + (flags >> 3) % 7);
    let (mut sent, mut received) = (Window::default(), Window::default());
    for message in &messages {
        let mut payload = Vec::new();
        deflater.message(takeover.then_some(&mut sent), message, &mut payload);
        let mut out = Vec::new();
        let window = takeover.then_some(&mut received);
        assert_eq!(used.message(window, &payload, &mut out, message.len()), Ok(()));
        assert_eq!(out, *message);
    }
});
