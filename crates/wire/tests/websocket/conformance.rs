//! Framing, pings, reserved bits, opcodes, fragmentation and closing: sections 1 to 5, 7 and 9 of the Autobahn test
//! suite, rewritten as tables.

use wire::websocket::Opcode;
use wire::websocket::message::{Assembler, Role, Violation};

use crate::script::*;

type Case = (&'static str, Vec<Frame>, Vec<Seen>);

fn fail(violation: Violation) -> Seen {
    Seen::Fail(violation)
}

fn run(cases: Vec<Case>) {
    for (name, frames, expected) in cases {
        check(name, false, &frames, &expected);
    }
}

#[test]
fn section_1_lengths() {
    for length in [0, 125, 126, 127, 128, 65535, 65536] {
        let payload = vec![b'*'; length];
        check(&format!("text of {length}"), false, &[text(&payload)], &[said(&payload)]);
        let payload = vec![0xfe; length];
        let sent = frame(true, Opcode::BINARY, &payload);
        check(&format!("binary of {length}"), false, &[sent], &[Seen::Binary(payload)]);
    }
}

#[test]
fn section_2_pings_and_pongs() {
    let binary = [0x00, 0xff, 0xfe, 0xfd, 0xfc, 0xfb, 0x00, 0xff];
    let ten: Vec<Frame> = (0..10).map(|n| ping(format!("payload-{n}"))).collect();
    let ten_seen: Vec<Seen> = (0..10).map(|n| pinged(format!("payload-{n}"))).collect();
    run(vec![
        ("2.1 empty ping", vec![ping("")], vec![pinged("")]),
        ("2.2 ping with text", vec![ping("Hello, world!")], vec![pinged("Hello, world!")]),
        ("2.3 ping that is no text", vec![ping(binary)], vec![pinged(binary)]),
        ("2.4 ping of 125", vec![ping([0xfe; 125])], vec![pinged([0xfe; 125])]),
        ("2.5 ping of 126", vec![ping([0xfe; 126])], vec![fail(Violation::LongControl)]),
        ("2.7 pong nobody asked for", vec![pong("")], vec![ponged("")]),
        ("2.8 the same with payload", vec![pong("unsolicited")], vec![ponged("unsolicited")]),
        ("2.9 pong, then ping", vec![pong("a"), ping("b")], vec![ponged("a"), pinged("b")]),
        ("2.10 ten pings", ten, ten_seen),
    ]);
}

#[test]
fn section_3_reserved_bits() {
    let hello = || text("Hello");
    run(vec![
        ("3.1", vec![hello().rsv(1)], vec![fail(Violation::ReservedBits(1))]),
        (
            "3.2",
            vec![hello(), hello().rsv(2), ping("")],
            vec![said("Hello"), fail(Violation::ReservedBits(2))],
        ),
        (
            "3.3",
            vec![hello(), hello().rsv(3)],
            vec![said("Hello"), fail(Violation::ReservedBits(3))],
        ),
        ("3.4", vec![hello().rsv(4), ping("")], vec![fail(Violation::ReservedBits(4))]),
        (
            "3.5",
            vec![frame(true, Opcode::BINARY, [0; 8]).rsv(5)],
            vec![fail(Violation::ReservedBits(5))],
        ),
        ("3.6", vec![ping("x").rsv(6)], vec![fail(Violation::ReservedBits(6))]),
        ("3.7", vec![bye(1000).rsv(7)], vec![fail(Violation::ReservedBits(7))]),
        (
            "in a continuation",
            vec![begin("a"), last("b").rsv(4)],
            vec![fail(Violation::ReservedBits(4))],
        ),
    ]);
}

#[test]
fn section_4_opcodes() {
    for opcode in [3, 4, 5, 6, 7, 11, 12, 13, 14, 15] {
        for payload in ["", "Hello"] {
            let reserved = frame(true, Opcode(opcode), payload);
            let verdict = fail(Violation::ReservedOpcode(opcode));
            check(
                "4.x alone",
                false,
                std::slice::from_ref(&reserved),
                std::slice::from_ref(&verdict),
            );
            check(
                "4.x after a text",
                false,
                &[text("Hello, world!"), reserved, ping("")],
                &[said("Hello, world!"), verdict],
            );
        }
    }
}

#[test]
fn section_5_what_may_not_be_fragmented() {
    use Violation::{FragmentedControl, MissingContinuation, UnexpectedContinuation};
    run(vec![
        (
            "5.1 ping in fragments",
            vec![frame(false, Opcode::PING, "a"), last("b")],
            vec![fail(FragmentedControl)],
        ),
        (
            "5.2 pong in fragments",
            vec![frame(false, Opcode::PONG, "a"), last("b")],
            vec![fail(FragmentedControl)],
        ),
        (
            "close in fragments",
            vec![frame(false, Opcode::CLOSE, [3, 232]), last("b")],
            vec![fail(FragmentedControl)],
        ),
        (
            "5.9 a continuation of nothing",
            vec![last("x"), text("y")],
            vec![fail(UnexpectedContinuation)],
        ),
        (
            "5.12 one that is not the last",
            vec![more("x"), text("y")],
            vec![fail(UnexpectedContinuation)],
        ),
        (
            "5.15 one after the end",
            vec![begin("1"), last("2"), more("3"), text("4")],
            vec![said("12"), fail(UnexpectedContinuation)],
        ),
        ("5.18 a text in a text", vec![begin("1"), text("2")], vec![fail(MissingContinuation)]),
        (
            "a binary in a text",
            vec![begin("1"), frame(true, Opcode::BINARY, "2")],
            vec![fail(MissingContinuation)],
        ),
    ]);
}

#[test]
fn section_5_fragments_make_a_message() {
    run(vec![
        ("5.3 two", vec![begin("fragment1"), last("fragment2")], vec![said("fragment1fragment2")]),
        (
            "5.6 a ping between them",
            vec![begin("fragment1"), ping("ping"), last("fragment2")],
            vec![pinged("ping"), said("fragment1fragment2")],
        ),
        (
            "5.19 five, with pings between them",
            vec![
                begin("fragment1"),
                more("fragment2"),
                ping("pongme 1!"),
                more("fragment3"),
                ping("pongme 2!"),
                more("fragment4"),
                last("fragment5"),
                text("after"),
            ],
            vec![
                pinged("pongme 1!"),
                pinged("pongme 2!"),
                said("fragment1fragment2fragment3fragment4fragment5"),
                said("after"),
            ],
        ),
        (
            "6.1 empty fragments",
            vec![begin(""), more(""), last(""), text(""), begin(""), more("middle"), last("")],
            vec![said(""), said(""), said("middle")],
        ),
        (
            "binary",
            vec![frame(false, Opcode::BINARY, [0xff]), pong(""), last([0xfe])],
            vec![ponged(""), Seen::Binary(vec![0xff, 0xfe])],
        ),
    ]);
}

#[test]
fn section_7_closing() {
    let gone = "going away";
    let with_reason = |reason: &[u8]| close([&1000u16.to_be_bytes()[..], reason].concat());
    run(vec![
        ("7.1.1", vec![text("Hello"), bye(1000)], vec![said("Hello"), closed(1000)]),
        ("7.1.2 twice", vec![bye(1000), bye(1001)], vec![closed(1000)]),
        ("7.1.3 a ping afterwards", vec![bye(1000), ping("")], vec![closed(1000)]),
        ("7.1.4 a text afterwards", vec![bye(1000), text("x")], vec![closed(1000)]),
        ("rubbish afterwards", vec![bye(1000), text("x").rsv(7)], vec![closed(1000)]),
        (
            "7.1.5 within a message",
            vec![begin("fragment1"), bye(1000), last("fragment2")],
            vec![closed(1000)],
        ),
        (
            "7.1.6 after a large message",
            vec![text(vec![b'B'; 256 * 1024]), bye(1000), ping("")],
            vec![said(vec![b'B'; 256 * 1024]), closed(1000)],
        ),
        ("7.3.1 nothing in it", vec![close("")], vec![Seen::Close(None, String::new())]),
        ("7.3.2 one byte", vec![close("x")], vec![fail(Violation::CloseLength)]),
        ("7.3.3 a code", vec![bye(1000)], vec![closed(1000)]),
        (
            "7.3.4 code and reason",
            vec![with_reason(gone.as_bytes())],
            vec![Seen::Close(Some(1000), gone.to_owned())],
        ),
        (
            "7.3.5 the longest reason",
            vec![with_reason(&[b'*'; 123])],
            vec![Seen::Close(Some(1000), "*".repeat(123))],
        ),
        ("7.3.6 a longer one", vec![with_reason(&[b'*'; 124])], vec![fail(Violation::LongControl)]),
        (
            "7.5.1 a reason that is no text",
            vec![with_reason(b"\xce\xba\xed\xa0\x80edited")],
            vec![fail(Violation::CloseReason)],
        ),
    ]);
    for code in [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999] {
        check("7.7 codes", false, &[bye(code)], &[closed(code)]);
    }
    for code in [0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535] {
        check("7.9 codes", false, &[bye(code)], &[fail(Violation::CloseCode(code))]);
    }
    for violation in [Violation::LongControl, Violation::CloseLength, Violation::CloseCode(0)] {
        assert_eq!(violation.code(), 1002);
    }
    assert_eq!([Violation::Utf8.code(), Violation::CloseReason.code()], [1007; 2]);
}

#[test]
fn section_9_limits() {
    let whole = vec![b'x'; LIMIT as usize];
    let halves = whole.split_at(whole.len() / 2);
    let too_much = fail(Violation::TooLarge);
    run(vec![
        ("as much as there may be", vec![text(&whole)], vec![said(&whole)]),
        (
            "the same in fragments",
            vec![begin(halves.0), more(""), last(halves.1)],
            vec![said(&whole)],
        ),
        ("one more", vec![text([&whole[..], b"x"].concat())], vec![too_much.clone()]),
        ("one more in a fragment", vec![begin(&whole), last("x")], vec![too_much.clone()]),
        ("one more after the end", vec![text(&whole), text("x")], vec![said(&whole), said("x")]),
    ]);
    assert_eq!(Violation::TooLarge.code(), 1009);
    // A frame that is too large is rejected by its head alone.
    let (seen, got) =
        read(rules(Role::Client, false), [&[0x82, 127, 0, 0, 0, 1, 0, 0, 0, 0][..], &[0; 100]]);
    assert_eq!((seen, got), (vec![too_much], 10));
}

#[test]
fn masks_by_role_and_lengths_as_they_must_be() {
    let cases: [(Role, &[u8], Violation); 7] = [
        (Role::Server, &[0x81, 0x01, b'x'], Violation::Unmasked),
        (Role::Client, &[0x81, 0x81, 0, 0, 0, 0, b'x'], Violation::Masked),
        (Role::Client, &[0x89, 0x80, 0, 0, 0, 0], Violation::Masked),
        (Role::Client, &[0x81, 126, 0, 125], Violation::Length),
        (Role::Client, &[0x81, 127, 0, 0, 0, 0, 0, 0, 0xff, 0xff], Violation::Length),
        (Role::Client, &[0x81, 127, 0x80, 0, 0, 0, 0, 0, 0, 0], Violation::Length),
        (Role::Server, &[0x88, 0xfe, 0, 2, 0, 0, 0, 0], Violation::Length),
    ];
    for (role, bytes, violation) in cases {
        for size in 1..=bytes.len() {
            let (seen, _) = read(rules(role, false), bytes.chunks(size));
            assert_eq!(seen, [fail(violation)], "{bytes:x?}");
        }
    }
}

#[test]
fn nothing_is_kept_between_messages() {
    let mut bytes = bytes(
        Role::Server,
        &[begin("a"), ping("b"), last("c"), text("d"), ping("e"), pong("f"), text("g")],
    );
    let mut assembler = Assembler::new(rules(Role::Server, false));
    let mut used = 0;
    let mut states = Vec::new();
    while used < bytes.len() {
        used += assembler.next(&mut bytes[used..]).unwrap().0;
        states.push(assembler.is_within());
    }
    assert_eq!(states, [true, false, false, false, false, false]);
    assert!(size_of::<Assembler>() <= 24);
}
