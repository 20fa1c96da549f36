//! Invalid or unusual frames, and connection ends, each after a valid upgrade.
//!
//! The table is the single source for the list of paths and for the bytes that they send.

use wire::websocket::{Opcode, close, push_frame, push_head};

use super::{Asked, millis};
use crate::answer::Answer;

/// A path of the target, its description for the list, and the bytes that are sent after the upgrade.
struct Odd(&'static str, &'static str, &'static [u8]);

const TABLE: [Odd; 22] = [
    Odd("silence", "nothing", b""),
    Odd("top-bit", "a length with its top bit set", b"\x82\x7f\x80\0\0\0\0\0\0\0"),
    Odd("not-minimal", "a length of 5 in eight bytes", b"\x81\x7f\0\0\0\0\0\0\0\x05hello"),
    Odd("masked", "a masked frame", b"\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58"),
    Odd("half-frame", "a frame of 100 bytes that ends after 3", b"\x81\x64abc"),
    Odd("half-length", "a head that ends within its length", b"\x82\x7f\0\0"),
    Odd("bad-utf8", "a text that is none", b"\x81\x05\xce\xba\xed\xa0\x80"),
    Odd("bad-utf8-fragments", "the same in fragments", b"\x01\x03\xce\xba\xed\x80\x02\xa0\x80"),
    Odd("fragments", "a text in three fragments", b"\x01\x03one\x00\x03two\x80\x05three"),
    Odd("ping-in-fragments", "a ping between fragments", b"\x01\x03one\x89\x01!\x80\x03two"),
    Odd(
        "close-in-fragments",
        "a close frame between fragments",
        b"\x01\x03one\x88\x02\x03\xe8\x80\x03two",
    ),
    Odd("unfinished", "the first fragment of a text, and no more", b"\x01\x03one"),
    Odd("text-in-text", "a new text within fragments", b"\x01\x03one\x81\x03two"),
    Odd("continuation", "a continuation of nothing", b"\x80\x03one"),
    Odd("fragmented-ping", "a ping in two fragments", b"\x09\x02ab\x80\x02cd"),
    Odd("empty", "an empty text, an empty binary", b"\x81\x00\x82\x00"),
    Odd("ping", "a ping with payload, then a text", b"\x89\x04odd?\x81\x05hello"),
    Odd("pong", "a pong that nobody asked for, then a text", b"\x8a\x04odd!\x81\x05hello"),
    Odd("close-empty", "a close frame without a code", b"\x88\x00"),
    Odd("close-byte", "a close frame with one byte", b"\x88\x01\x03"),
    Odd("close-utf8", "a close frame whose reason is no text", b"\x88\x04\x03\xe8\xed\xa0"),
    Odd("after-close", "a text after a close frame", b"\x88\x02\x03\xe8\x81\x05hello"),
];

const OTHERS: &[(&str, &str)] = &[
    ("oversized?length=1099511627776", "a head with this length, then a few bytes"),
    ("long-ping?length=126", "a ping that is too long"),
    ("large?length=16777216", "a binary of this size, whole"),
    ("rsv/BITS", "a text with these reserved bits, 1 to 7"),
    ("opcode/NUMBER", "a frame with this opcode, 0 to 15"),
    ("close/CODE?reason=", "a close frame, then FIN"),
    ("fin", "FIN without a close frame"),
    ("rst", "RST"),
    ("cut?ms=1000&how=fin", "cut after a while: fin, rst, or a close frame with how=CODE"),
];

pub(super) fn paths() -> impl Iterator<Item = (&'static str, &'static str)> {
    TABLE.iter().map(|odd| (odd.0, odd.1)).chain(OTHERS.iter().copied())
}

/// Answers a path that sends odd frames; returns false for any other path.
pub(super) fn answer(asked: &Asked<'_>, answer: &mut Answer) -> bool {
    let name = asked.name.as_str();
    if let Some(odd) = TABLE.iter().find(|odd| odd.0 == name) {
        asked.upgrade(answer);
        answer.send(odd.2);
        answer.stall();
        return true;
    }
    let is_known = OTHERS.iter().any(|(path, _)| path.split(['/', '?']).next() == Some(name));
    if !is_known {
        return false;
    }
    asked.upgrade(answer);
    if !end(asked, answer) {
        send_odd_frame(asked, answer);
        answer.stall();
    }
    true
}

fn send_odd_frame(asked: &Asked<'_>, answer: &mut Answer) {
    let mut out = Vec::new();
    match asked.name.as_str() {
        "oversized" => {
            let length = asked.value("length", 1 << 40) as usize;
            push_head(&mut out, true, false, Opcode::BINARY, length, None);
            out.extend_from_slice(b"only this");
        }
        "long-ping" => {
            let length = asked.value("length", 126).min(1 << 20) as usize;
            push_frame(&mut out, Opcode::PING, &vec![b'x'; length], None);
        }
        "large" => {
            let length = asked.value("length", 1 << 24).min(1 << 32);
            push_head(&mut out, true, false, Opcode::BINARY, length as usize, None);
            answer.send(&out);
            out.clear();
            answer.repeat([b'x'; 1024].as_slice().into(), length);
        }
        "rsv" => {
            push_frame(&mut out, Opcode::TEXT, b"odd", None);
            out[0] |= (asked.number.unwrap_or(4).min(7) as u8) << 4;
        }
        _ => {
            let opcode = Opcode(asked.number.unwrap_or(3).min(15) as u8);
            push_frame(&mut out, opcode, b"odd", None);
        }
    }
    answer.send(&out);
}

/// Answers a path that ends the connection; returns false for any other path.
fn end(asked: &Asked<'_>, answer: &mut Answer) -> bool {
    let mut out = Vec::new();
    match asked.name.as_str() {
        "close" => {
            let code = asked.number.unwrap_or(1000) as u16;
            close::push(&mut out, code, asked.text("reason").unwrap_or_default(), None);
            answer.send(&out);
            answer.close();
        }
        "fin" => answer.close(),
        "rst" => {
            // Without the pause, the reset would discard the bytes sent before.
            answer.pause(millis(20));
            answer.reset();
        }
        "cut" => {
            answer.pause(millis(asked.value("ms", 1000)));
            match asked.text("how").unwrap_or("fin") {
                "rst" => answer.reset(),
                how => {
                    if let Ok(code) = how.parse() {
                        close::push(&mut out, code, "cut", None);
                        answer.send(&out);
                    }
                    answer.close();
                }
            }
        }
        _ => return false,
    }
    true
}
