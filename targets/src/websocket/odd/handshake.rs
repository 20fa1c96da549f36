//! Upgrades that fail, are late, or never arrive.

use std::sync::Arc;

use super::{Asked, millis};
use crate::answer::Answer;

pub(super) const PATHS: &[(&str, &str)] = &[
    ("wrong-accept", "101 with the accept value of another key"),
    ("no-accept", "101 without Sec-WebSocket-Accept"),
    ("no-upgrade", "101 without Upgrade"),
    ("no-connection", "101 without Connection"),
    ("connection-list", "101 with Connection: keep-alive, Upgrade"),
    ("status/CODE", "CODE (302 with Location) instead of 101"),
    ("not-http", "bytes that are no HTTP"),
    ("pieces?size=1&ms=0", "the answer in pieces with pauses"),
    ("slow?ms=1000", "the answer after a while"),
    ("half-open", "no answer, for ever"),
    ("half-head", "half of the answer, then nothing"),
    ("endless-head", "headers without end"),
    ("close-before", "FIN instead of an answer"),
    ("reset-before", "RST instead of an answer"),
    ("garbage-after", "a good answer, then bytes that are no frames"),
];

const GARBAGE: &[u8] = b"neither HTTP nor frames begin like this\r\n\xff\xfe\r\n";

/// Answers a path with an odd upgrade; returns false for any other path.
pub(super) fn answer(asked: &Asked<'_>, answer: &mut Answer) -> bool {
    let good = asked.good_answer();
    let without = |name: &str| {
        let text = String::from_utf8_lossy(&good);
        let kept = text.split_inclusive("\r\n").filter(|line| !line.starts_with(name));
        kept.collect::<String>().into_bytes()
    };
    match asked.name.as_str() {
        "wrong-accept" => {
            let mut out = Vec::new();
            wire::websocket::handshake::push_answer(&mut out, b"another key", None, None);
            answer.send(&out);
        }
        "no-accept" => answer.send(&without("Sec-WebSocket-Accept")),
        "no-upgrade" => answer.send(&without("Upgrade")),
        "no-connection" => answer.send(&without("Connection")),
        "connection-list" => {
            let text = String::from_utf8_lossy(&good);
            let other = "Connection: keep-alive, Upgrade";
            answer.send(text.replace("Connection: Upgrade", other).as_bytes());
        }
        "not-http" => answer.send(GARBAGE),
        "pieces" => {
            let pause = millis(asked.value("ms", 0));
            for piece in good.chunks(asked.value("size", 1).clamp(1, 1000) as usize) {
                answer.send(piece);
                // Without a pause, the pieces of the upgrade would arrive together.
                answer.pause(pause.max(1));
            }
        }
        "slow" => {
            answer.pause(millis(asked.value("ms", 1000)));
            answer.send(&good);
        }
        "half-open" => {}
        "half-head" => answer.send(&good[..good.len() / 2]),
        "endless-head" => {
            answer.send(b"HTTP/1.1 101 Switching Protocols\r\n");
            answer.repeat(Arc::from(&b"Again: and again\r\n"[..]), u64::MAX);
        }
        "garbage-after" => {
            asked.upgrade(answer);
            answer.send(GARBAGE);
        }
        _ => return end(asked, answer),
    }
    answer.stall();
    true
}

/// Answers a path that ends the connection, before or after an answer; returns false for any other path.
fn end(asked: &Asked<'_>, answer: &mut Answer) -> bool {
    match asked.name.as_str() {
        "status" => {
            let code = asked.number.unwrap_or(403).clamp(100, 999);
            let location = match code {
                300..=399 => "Location: /elsewhere\r\n",
                _ => "",
            };
            let head = format!("HTTP/1.1 {code} Odd\r\n{location}Content-Length: 4\r\n\r\nodd\n");
            answer.send(head.as_bytes());
            answer.close();
        }
        "close-before" => answer.close(),
        "reset-before" => answer.reset(),
        _ => return false,
    }
    true
}
