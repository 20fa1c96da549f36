//! Frames in the notation of test tables, and the events of a strict reader for every split of their bytes.

use wire::websocket::message::{Assembler, Event, Role, Rules, Violation};
use wire::websocket::{Opcode, apply_mask, push_head};

/// A frame of a test case. The frame is masked if the reader is a server.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) fin: bool,
    pub(crate) rsv: u8,
    pub(crate) opcode: u8,
    pub(crate) payload: Vec<u8>,
}

pub(crate) fn frame(fin: bool, opcode: Opcode, payload: impl AsRef<[u8]>) -> Frame {
    Frame { fin, rsv: 0, opcode: opcode.0, payload: payload.as_ref().to_vec() }
}

pub(crate) fn text(payload: impl AsRef<[u8]>) -> Frame {
    frame(true, Opcode::TEXT, payload)
}

/// Returns the first of several fragments of a text message.
pub(crate) fn begin(payload: impl AsRef<[u8]>) -> Frame {
    frame(false, Opcode::TEXT, payload)
}

/// Returns a fragment of a message that is neither first nor last.
pub(crate) fn more(payload: impl AsRef<[u8]>) -> Frame {
    frame(false, Opcode::CONTINUATION, payload)
}

/// Returns the last fragment of a message.
pub(crate) fn last(payload: impl AsRef<[u8]>) -> Frame {
    frame(true, Opcode::CONTINUATION, payload)
}

pub(crate) fn ping(payload: impl AsRef<[u8]>) -> Frame {
    frame(true, Opcode::PING, payload)
}

pub(crate) fn pong(payload: impl AsRef<[u8]>) -> Frame {
    frame(true, Opcode::PONG, payload)
}

pub(crate) fn close(payload: impl AsRef<[u8]>) -> Frame {
    frame(true, Opcode::CLOSE, payload)
}

/// Returns a close frame with this code and no reason.
pub(crate) fn bye(code: u16) -> Frame {
    close(code.to_be_bytes())
}

impl Frame {
    pub(crate) fn rsv(mut self, rsv: u8) -> Self {
        self.rsv = rsv;
        self
    }
}

/// An event of the message reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    Text(Vec<u8>),
    Binary(Vec<u8>),
    /// Payload of a compressed message, as it was on the wire.
    Compressed(Vec<u8>),
    Ping(Vec<u8>),
    Pong(Vec<u8>),
    Close(Option<u16>, String),
    Fail(Violation),
}

pub(crate) fn said(payload: impl AsRef<[u8]>) -> Seen {
    Seen::Text(payload.as_ref().to_vec())
}

pub(crate) fn pinged(payload: impl AsRef<[u8]>) -> Seen {
    Seen::Ping(payload.as_ref().to_vec())
}

pub(crate) fn ponged(payload: impl AsRef<[u8]>) -> Seen {
    Seen::Pong(payload.as_ref().to_vec())
}

pub(crate) fn closed(code: u16) -> Seen {
    Seen::Close(Some(code), String::new())
}

pub(crate) const LIMIT: u32 = 1 << 20;

pub(crate) fn rules(role: Role, deflate: bool) -> Rules {
    Rules { role, deflate, limit: LIMIT }
}

/// Encodes the frames as the peer of `role` sends them.
pub(crate) fn bytes(role: Role, frames: &[Frame]) -> Vec<u8> {
    let mut out = Vec::new();
    for (number, frame) in frames.iter().enumerate() {
        let key = [7, 0xfa, number as u8, 0x80];
        let mask = (role == Role::Server).then_some(key);
        let start = out.len();
        push_head(&mut out, frame.fin, false, Opcode(frame.opcode), frame.payload.len(), mask);
        out[start] |= frame.rsv << 4;
        let start = out.len();
        out.extend_from_slice(&frame.payload);
        if mask.is_some() {
            apply_mask(&mut out[start..], key, 0);
        }
    }
    out
}

/// Returns the events of a reader that gets the pieces in sequence, and the number of bytes consumed at the end.
pub(crate) fn read<'p>(
    rules: Rules,
    pieces: impl IntoIterator<Item = &'p [u8]>,
) -> (Vec<Seen>, usize) {
    let mut assembler = Assembler::new(rules);
    let mut seen = Vec::new();
    let mut input: Vec<u8> = Vec::new();
    let mut got = 0;
    for piece in pieces {
        got += piece.len();
        input.extend_from_slice(piece);
        loop {
            let (used, event) = match assembler.next(&mut input) {
                Ok(found) => found,
                Err(violation) => {
                    seen.push(Seen::Fail(violation));
                    return (seen, got);
                }
            };
            let needs_more = event == Event::NeedMore;
            match event {
                Event::NeedMore => {}
                Event::Message { compressed: true, payload, .. } => {
                    seen.push(Seen::Compressed(payload.to_vec()));
                }
                Event::Message { text: true, payload, .. } => seen.push(said(payload)),
                Event::Message { payload, .. } => seen.push(Seen::Binary(payload.to_vec())),
                Event::Ping(payload) => seen.push(pinged(payload)),
                Event::Pong(payload) => seen.push(ponged(payload)),
                Event::Close { code, reason } => seen.push(Seen::Close(code, reason.to_owned())),
            }
            input.drain(..used);
            if needs_more {
                break;
            }
        }
        assert!(input.len() < 14, "{} bytes are left", input.len());
    }
    (seen, got)
}

/// Asserts that client and server see the expected events with every split of the bytes.
pub(crate) fn check(name: &str, deflate: bool, frames: &[Frame], expected: &[Seen]) {
    for role in [Role::Client, Role::Server] {
        let bytes = bytes(role, frames);
        let rules = rules(role, deflate);
        let compare = |seen: Vec<Seen>, how: String| {
            assert!(seen == expected, "{name}, {role:?}, {how}: {}", brief(&seen, expected));
        };
        compare(read(rules, [&bytes[..]]).0, "whole".to_owned());
        for size in [1, 2, 7, 997, 4096] {
            compare(read(rules, bytes.chunks(size)).0, format!("in pieces of {size}"));
        }
        // Splits short cases at every boundary, and long cases only around their first heads.
        let cuts = if bytes.len() > 600 { 24 } else { bytes.len() };
        for cut in 0..=cuts.min(bytes.len()) {
            let (first, second) = bytes.split_at(cut);
            compare(read(rules, [first, second]).0, format!("cut at {cut}"));
        }
    }
}

fn brief(seen: &[Seen], expected: &[Seen]) -> String {
    let short = |list: &[Seen]| {
        let texts = list.iter().map(|seen| {
            let mut text = format!("{seen:?}");
            text.truncate(60);
            text
        });
        texts.collect::<Vec<_>>().join(", ")
    };
    format!("saw [{}], expected [{}]", short(seen), short(expected))
}
