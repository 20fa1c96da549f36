//! Compressed messages: sections 12 and 13 of the Autobahn test suite, which vary sizes, windows and context takeover.

use wire::websocket::Opcode;
use wire::websocket::deflate::{Deflater, Inflater, Window};
use wire::websocket::message::{Role, Violation, inflate};

use crate::script::*;

/// Generates text that compresses like prose.
fn prose(length: usize) -> Vec<u8> {
    let words = ["load ", "of ", "many ", "users ", "on ", "one ", "machine, ", "ναί "];
    let mut state = 1u32;
    let mut text = String::new();
    while text.len() < length {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        text.push_str(words[(state >> 29) as usize]);
    }
    text.into_bytes()[..length].to_vec()
}

#[test]
fn messages_of_all_sizes_with_all_agreements() {
    for takeover in [false, true] {
        for bits in [9, 12, 15] {
            let mut deflater = Deflater::new(6, bits);
            let mut inflater = Inflater::new();
            let (mut sent, mut received) = (Window::default(), Window::default());
            for length in [16, 64, 256, 1024, 4096, 8192, 16384, 32768, 65536, 131_072] {
                for fragment in [usize::MAX, 256] {
                    let message = prose(length);
                    let mut payload = Vec::new();
                    deflater.message(takeover.then_some(&mut sent), &message, &mut payload);
                    let frames = fragments(&payload, fragment);
                    let name = format!("{length} in {fragment}, {bits} bits, {takeover}");
                    check(&name, true, &frames, &[Seen::Compressed(payload.clone())]);
                    let mut out = Vec::new();
                    let window = takeover.then_some(&mut received);
                    inflate(&mut inflater, window, false, &payload, &mut out, length).unwrap();
                    assert!(out == message, "{name}");
                }
            }
        }
    }
}

/// Splits a payload into fragments; only the first has RSV1.
fn fragments(payload: &[u8], size: usize) -> Vec<Frame> {
    let pieces: Vec<&[u8]> = payload.chunks(size.min(payload.len())).collect();
    let count = pieces.len();
    let fragment = |(number, piece): (usize, &&[u8])| {
        let opcode = if number == 0 { Opcode::BINARY } else { Opcode::CONTINUATION };
        frame(number + 1 == count, opcode, piece).rsv(if number == 0 { 4 } else { 0 })
    };
    pieces.iter().enumerate().map(fragment).collect()
}

#[test]
fn compression_is_for_the_first_frame_of_a_message() {
    let hello = [0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00];
    let fail = |bits| Seen::Fail(Violation::ReservedBits(bits));
    let packed = || text(hello).rsv(4);
    for (name, frames, expected) in [
        ("alone", vec![packed()], vec![Seen::Compressed(hello.to_vec())]),
        (
            "beside others",
            vec![text("a"), packed(), text("b")],
            vec![said("a"), Seen::Compressed(hello.to_vec()), said("b")],
        ),
        (
            "with a ping within",
            vec![begin(&hello[..3]).rsv(4), ping("x"), last(&hello[3..])],
            vec![pinged("x"), Seen::Compressed(hello.to_vec())],
        ),
        ("on a continuation", vec![begin(hello).rsv(4), last("").rsv(4)], vec![fail(4)]),
        ("on a ping", vec![ping("").rsv(4)], vec![fail(4)]),
        ("on a close", vec![bye(1000).rsv(4)], vec![fail(4)]),
        ("with another bit", vec![packed().rsv(5)], vec![fail(5)]),
    ] {
        check(name, true, &frames, &expected);
    }
    check("not agreed on", false, &[packed()], &[fail(4)]);
}

#[test]
fn text_is_checked_when_it_is_decompressed() {
    let mut payload = Vec::new();
    Deflater::new(6, 15).message(None, b"\xce\xba\xed\xa0\x80", &mut payload);
    // Compressed text is not checked for valid UTF-8 before decompression.
    check("text", true, &[text(&payload).rsv(4)], &[Seen::Compressed(payload.clone())]);
    let mut inflater = Inflater::new();
    let mut open = |text, max| {
        let mut out = b"x".to_vec();
        inflate(&mut inflater, None, text, &payload, &mut out, max).map(|()| out)
    };
    assert_eq!(open(true, 5), Err(Violation::Utf8));
    assert_eq!(open(false, 5), Ok(b"x\xce\xba\xed\xa0\x80".to_vec()));
    assert_eq!(open(false, 4), Err(Violation::TooLarge));
    let rubbish = inflate(&mut inflater, None, true, &[0xff], &mut Vec::new(), 9);
    assert_eq!(rubbish, Err(Violation::Deflate));
    assert_eq!(Violation::Deflate.code(), 1007);
}

#[test]
fn roles_do_not_matter_to_compression() {
    let payload = vec![0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00];
    for role in [Role::Client, Role::Server] {
        let sent = bytes(role, &[text(&payload).rsv(4)]);
        let (seen, _) = read(rules(role, true), [&sent[..]]);
        assert_eq!(seen, [Seen::Compressed(payload.clone())]);
    }
}
