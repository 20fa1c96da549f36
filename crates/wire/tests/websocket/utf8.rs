//! Text: section 6 of the Autobahn test suite. Invalid UTF-8 is found at the first byte that cannot follow.

use wire::websocket::message::{Role, Violation};

use crate::script::*;

/// Valid byte sequences, from Markus Kuhn's stress test and the table of the Unicode standard.
const GOOD: &[&[u8]] = &[
    b"",
    b"Hello-\xc2\xb5@\xc3\x9f\xc3\xb6\xc3\xa4\xc3\xbc\xc3\xa0\xc3\xa1-UTF-8!!",
    "κόσμε".as_bytes(),
    b"\x00",
    b"\x7f",
    b"\xc2\x80",
    b"\xdf\xbf",
    b"\xe0\xa0\x80",
    b"\xed\x9f\xbf",
    b"\xee\x80\x80",
    b"\xef\xbf\xbd",
    b"\xef\xbf\xbe",
    b"\xef\xbf\xbf",
    b"\xf0\x90\x80\x80",
    b"\xf0\x9f\xbf\xbf",
    b"\xf4\x8f\xbf\xbf",
    b"\xef\xbb\xbf",
];

/// Invalid byte sequences, with the number of bytes after which they are certainly invalid. If that number is beyond
/// the end, the sequence is invalid because it is incomplete.
const BAD: &[(&[u8], usize)] = &[
    (b"\xce\xba\xe1\xbd\xb9\xcf\x83\xce\xbc\xce\xb5\xed\xa0\x80edited", 13),
    (b"\xce\xba\xe1\xbd\xb9\xcf\x83\xce\xbc\xce\xb5\xf4\x90\x80\x80edited", 13),
    // Invalid UTF-8: continuation bytes without a first byte.
    (b"\x80", 1),
    (b"\xbf", 1),
    (b"a\x80\xbf", 2),
    // Invalid UTF-8: first bytes that are followed by another character.
    (b"\xc2 ", 2),
    (b"\xe1\x80 ", 3),
    (b"\xf1\x80\x80 ", 4),
    // Invalid UTF-8: incomplete characters.
    (b"\xc2", 2),
    (b"\xe0\xa0", 3),
    (b"\xf0\x90\x80", 4),
    (b"ab\xdf", 4),
    // Invalid UTF-8: bytes that never occur.
    (b"\xfe", 1),
    (b"\xff", 1),
    (b"\xf5", 1),
    (b"\xf8\x88\x80\x80\x80", 1),
    (b"\xfc\x84\x80\x80\x80\x80", 1),
    // Invalid UTF-8: overlong encodings.
    (b"\xc0\xaf", 1),
    (b"\xc1\xbf", 1),
    (b"\xe0\x80\xaf", 2),
    (b"\xe0\x9f\xbf", 2),
    (b"\xf0\x80\x80\xaf", 2),
    (b"\xf0\x8f\xbf\xbf", 2),
    // Invalid UTF-8: surrogates, single and in pairs.
    (b"\xed\xa0\x80", 2),
    (b"\xed\xbf\xbf", 2),
    (b"\xed\xa0\x80\xed\xb0\x80", 2),
    // Invalid UTF-8: code points above the Unicode maximum.
    (b"\xf4\x90\x80\x80", 2),
];

/// Returns the text as one frame, as two fragments with every split, and with one fragment per byte.
fn fragmented(payload: &[u8]) -> Vec<Vec<Frame>> {
    let mut ways = vec![vec![text(payload)]];
    for cut in 0..=payload.len() {
        let (first, second) = payload.split_at(cut);
        ways.push(vec![begin(first), last(second)]);
        ways.push(vec![begin(first), ping(""), more(""), last(second)]);
    }
    let mut bytes = vec![begin("")];
    bytes.extend(payload.iter().map(|byte| more([*byte])));
    bytes.push(last(""));
    ways.push(bytes);
    ways
}

#[test]
fn text_is_text_however_it_is_fragmented() {
    for payload in GOOD {
        for frames in fragmented(payload) {
            let mut expected = vec![said(payload)];
            if frames.len() == 4 && frames[1].opcode == 9 {
                expected.insert(0, pinged(""));
            }
            check(&format!("{payload:x?}"), false, &frames, &expected);
        }
    }
}

#[test]
fn what_is_no_text_fails_however_it_is_fragmented() {
    for (payload, _) in BAD {
        for frames in fragmented(payload) {
            for role in [Role::Client, Role::Server] {
                let bytes = bytes(role, &frames);
                for size in [1, 3, bytes.len()] {
                    let (seen, _) = read(rules(role, false), bytes.chunks(size));
                    let last = seen.last();
                    assert_eq!(last, Some(&Seen::Fail(Violation::Utf8)), "{payload:x?}");
                }
            }
        }
    }
}

#[test]
fn it_fails_at_the_first_byte_that_cannot_be() {
    for &(payload, certain) in BAD {
        // One long frame whose end is not reached, so that only the invalid byte can be the reason.
        let long = [payload, &[b'x'; 100]].concat();
        let sent = bytes(Role::Client, &[text(&long)]);
        let (seen, got) = read(rules(Role::Client, false), sent.chunks(1));
        assert_eq!(seen, [Seen::Fail(Violation::Utf8)], "{payload:x?}");
        assert_eq!(got, 2 + certain, "{payload:x?}");
    }
}

#[test]
fn binary_need_not_be_text() {
    for (payload, _) in BAD {
        let sent = frame(true, wire::websocket::Opcode::BINARY, payload);
        check("binary", false, &[sent], &[Seen::Binary(payload.to_vec())]);
    }
}
