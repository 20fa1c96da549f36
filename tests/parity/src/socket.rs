//! WebSocket conversations of the scripted server, byte for byte as a case's `replies` define them.
//!
//! A block with the flag `ws` contains a script instead of an answer, one step per line. The script runs after the head
//! of the upgrade request was received.
//!
//! | step | action |
//! |---|---|
//! | `accept [LINE \| LINE …]` | accepts the upgrade, with additional header lines |
//! | `answer TEXT` | sends a custom answer; `${accept}` is the correct accept value, escapes as below |
//! | `frame XX TEXT` | sends an unmasked frame whose first byte is `XX` (hexadecimal) |
//! | `hex XX XX …` | sends bytes |
//! | `read` | reads one frame of the client |
//! | `echo N` | echoes N frames of the client; a ping gets a pong, a close frame a close frame |
//! | `wait MS` | waits this many milliseconds |
//! | `end` | waits until the client closes, and records it |
//! | `close` | closes without a close frame; `reset` does so with a TCP reset |
//!
//! TEXT may contain `\r`, `\n`, `\\`, `\xNN`, and `\{70000 x}` for a repeated `x`. All other data from the client is
//! read and recorded until the client closes.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

/// Returns the key in the head of an upgrade request.
pub(crate) fn key_of(head: &str) -> &str {
    let mut lines = head.lines();
    lines.find_map(|line| line.strip_prefix("Sec-WebSocket-Key: ")).unwrap_or("no key").trim_end()
}

/// Runs a script on a connection whose upgrade request with `key` was read. `note` records what is received.
pub(crate) fn converse(
    mut stream: TcpStream,
    key: &str,
    script: &str,
    mut note: impl FnMut(String),
) {
    let accept = accept_of(key);
    for line in script.lines() {
        let (step, rest) = line.split_once(' ').unwrap_or((line, ""));
        let going_on = match step {
            "" => true,
            "accept" => stream.write_all(upgraded(&accept, rest).as_bytes()).is_ok(),
            "answer" => {
                let text = rest.replace("${accept}", &accept);
                stream.write_all(&unescaped(&text)).is_ok()
            }
            "frame" => {
                let (first, text) = rest.split_once(' ').unwrap_or((rest, ""));
                let first = u8::from_str_radix(first, 16).expect("a first byte in hexadecimal");
                stream.write_all(&frame(first, &unescaped(text))).is_ok()
            }
            "hex" => {
                let bytes = rest
                    .split(' ')
                    .map(|byte| u8::from_str_radix(byte, 16).expect("bytes in hexadecimal"));
                stream.write_all(&bytes.collect::<Vec<u8>>()).is_ok()
            }
            "read" => read(&mut stream, &mut note).is_some(),
            "echo" => {
                let count = rest.parse().expect("how many frames to echo");
                (0..count).all(|_| {
                    read(&mut stream, &mut note).is_some_and(|(first, payload)| {
                        let first = if first == 0x89 { 0x8a } else { first };
                        stream.write_all(&frame(first, &payload)).is_ok()
                    })
                })
            }
            "wait" => {
                std::thread::sleep(Duration::from_millis(rest.parse().expect("a wait in ms")));
                true
            }
            "end" => {
                while read(&mut stream, &mut note).is_some() {}
                note("the client has gone".to_owned());
                return;
            }
            "close" => {
                let _ = stream.shutdown(Shutdown::Write);
                true
            }
            "reset" => {
                // Closing with unread bytes in the buffer makes the kernel send a reset.
                let _ = stream.peek(&mut [0]);
                return;
            }
            other => panic!("unknown step {other}"),
        };
        if !going_on {
            return;
        }
    }
    while read(&mut stream, &mut note).is_some() {}
}

/// Formats the head of an answer that accepts the upgrade, with additional header lines separated by ` | `.
fn upgraded(accept: &str, further: &str) -> String {
    let mut head = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {accept}\r\n"
    );
    for line in further.split(" | ").filter(|line| !line.is_empty()) {
        head += &format!("{line}\r\n");
    }
    head + "\r\n"
}

/// Encodes a frame as a server sends it.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut out = vec![first];
    match payload.len() {
        length @ 0..126 => out.push(length as u8),
        length @ 126..0x1_0000 => {
            out.push(126);
            out.extend((length as u16).to_be_bytes());
        }
        length => {
            out.push(127);
            out.extend((length as u64).to_be_bytes());
        }
    }
    out.extend_from_slice(payload);
    out
}

/// Reads a frame of the client and records it: first byte, masked or not, payload.
fn read(stream: &mut TcpStream, note: &mut impl FnMut(String)) -> Option<(u8, Vec<u8>)> {
    let mut head = [0; 2];
    stream.read_exact(&mut head).ok()?;
    let length = match head[1] & 0x7f {
        126 => {
            let mut bytes = [0; 2];
            stream.read_exact(&mut bytes).ok()?;
            u64::from(u16::from_be_bytes(bytes))
        }
        127 => {
            let mut bytes = [0; 8];
            stream.read_exact(&mut bytes).ok()?;
            u64::from_be_bytes(bytes)
        }
        length => u64::from(length),
    };
    let masked = head[1] & 0x80 != 0;
    let mut key = [0; 4];
    if masked {
        stream.read_exact(&mut key).ok()?;
    }
    let mut payload = vec![0; length as usize];
    stream.read_exact(&mut payload).ok()?;
    for (at, byte) in payload.iter_mut().enumerate() {
        *byte ^= key[at % 4];
    }
    let mask = if masked { "masked" } else { "not masked" };
    // Long payloads are shown by their first and last bytes.
    let shown = if payload.len() > 200 {
        let (start, end) = (&payload[..20], &payload[payload.len() - 20..]);
        format!("{} … {}", start.escape_ascii(), end.escape_ascii())
    } else {
        payload.escape_ascii().to_string()
    };
    note(format!("frame {:02x}, {mask}, {length} bytes: {shown}", head[0]));
    Some((head[0], payload))
}

fn unescaped(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.extend_from_slice(&rest.as_bytes()[..at]);
        rest = &rest[at + 1..];
        let (byte, taken) = match rest.as_bytes().first() {
            Some(b'r') => (b'\r', 1),
            Some(b'n') => (b'\n', 1),
            Some(b'\\') => (b'\\', 1),
            Some(b'x') => (u8::from_str_radix(&rest[1..3], 16).expect("two digits"), 3),
            Some(b'{') => {
                let (repeated, after) = rest[1..].split_once('}').expect("the end of a repetition");
                let (times, text) = repeated.split_once(' ').expect("times and a text");
                out.extend_from_slice(text.repeat(times.parse().expect("a number")).as_bytes());
                rest = after;
                continue;
            }
            other => panic!("unknown escape {other:?}"),
        };
        out.push(byte);
        rest = &rest[taken..];
    }
    out.extend_from_slice(rest.as_bytes());
    out
}

/// Computes `Sec-WebSocket-Accept` for a key: RFC 6455, section 4.2.2.
fn accept_of(key: &str) -> String {
    let text = format!("{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
    base64(&sha1(text.as_bytes()))
}

/// Computes SHA-1 by FIPS 180-4, so that the target uses no code of the program under test.
fn sha1(message: &[u8]) -> [u8; 20] {
    let mut state = [0x6745_2301_u32, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];
    let mut padded = message.to_vec();
    padded.push(0x80);
    while padded.len() % 64 != 56 {
        padded.push(0);
    }
    padded.extend((message.len() as u64 * 8).to_be_bytes());
    for block in padded.chunks_exact(64) {
        let mut words = [0u32; 80];
        for (word, bytes) in words.iter_mut().zip(block.chunks_exact(4)) {
            *word = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }
        for at in 16..80 {
            words[at] =
                (words[at - 3] ^ words[at - 8] ^ words[at - 14] ^ words[at - 16]).rotate_left(1);
        }
        let [mut a, mut b, mut c, mut d, mut e] = state;
        for (at, word) in words.iter().enumerate() {
            let (mix, constant) = match at / 20 {
                0 => ((b & c) | (!b & d), 0x5a82_7999),
                1 => (b ^ c ^ d, 0x6ed9_eba1),
                2 => ((b & c) | (b & d) | (c & d), 0x8f1b_bcdc),
                _ => (b ^ c ^ d, 0xca62_c1d6_u32),
            };
            let next = a
                .rotate_left(5)
                .wrapping_add(mix)
                .wrapping_add(e)
                .wrapping_add(constant)
                .wrapping_add(*word);
            (e, d, c, b, a) = (d, c, b.rotate_left(30), a, next);
        }
        for (sum, part) in state.iter_mut().zip([a, b, c, d, e]) {
            *sum = sum.wrapping_add(part);
        }
    }
    let mut out = [0; 20];
    for (bytes, word) in out.chunks_exact_mut(4).zip(state) {
        bytes.copy_from_slice(&word.to_be_bytes());
    }
    out
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for three in bytes.chunks(3) {
        let bits = three
            .iter()
            .enumerate()
            .fold(0u32, |bits, (at, byte)| bits | u32::from(*byte) << (16 - 8 * at));
        for at in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * at)) as usize & 63];
            out.push(if at <= three.len() { char::from(letter) } else { '=' });
        }
    }
    out
}

/// The example of RFC 6455, section 1.3.
#[test]
fn accept_is_that_of_the_rfc() {
    assert_eq!(accept_of("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}
