//! Fuzzes compressed bodies and charsets: no panic, no output above the limit, and reused states behave like new ones.
//!
//! Input: the coding, the limit, then the body. The first line of the body is also parsed as a `Content-Type`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::charset::charset_of;
use wire::coding::{Coding, Inflater};

fuzz_target!(|data: &[u8]| {
    let [coding, limit, body @ ..] = data else { return };
    let coding =
        [Coding::Gzip, Coding::Deflate, Coding::Brotli, Coding::Identity][usize::from(coding % 4)];
    let max = 1 << (limit % 20);
    let mut out = vec![7];
    let mut inflater = Inflater::new();
    let first = inflater.decode(coding, body, &mut out, max);
    assert!(out.len() <= max + 1 && out[0] == 7);
    let mut again = vec![7];
    assert_eq!(inflater.decode(coding, body, &mut again, max), first);
    assert_eq!(again, out);

    let line = body.split(|&b| b == b'\n').next().unwrap_or_default();
    let _ = Coding::parse(line);
    let mut text = String::new();
    lang::charset::decode_into(charset_of(line), body, &mut text);
});
