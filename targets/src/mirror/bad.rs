//! `/bad/NAME`: answers that violate HTTP, each in one way, and answers that break off.

use std::sync::Arc;

use super::Asked;
use super::reply::Reply;
use crate::answer::Answer;

/// The path's name, the bytes of the answer, and what happens to the connection after it.
struct Bad(&'static str, &'static [u8], After);

enum After {
    Keep,
    Close,
    /// The bytes are repeated after the answer until the peer closes the connection.
    Forever(&'static [u8]),
    /// The bytes are repeated a hundred thousand times; then the answer ends as HTTP demands.
    Long(&'static [u8]),
}

use After::{Close, Forever, Keep, Long};

const TABLE: [Bad; 26] = [
    Bad("status-line", b"HTTP/1.1 abc OK\r\nContent-Length: 0\r\n\r\n", Close),
    Bad("status-range", b"HTTP/1.1 42 Low\r\nContent-Length: 0\r\n\r\n", Close),
    Bad("version", b"HTTP/7.3 200 OK\r\nContent-Length: 3\r\n\r\nok\n", Close),
    Bad("garbage", b"\x00\x01\x02 this is not HTTP \xff\xfe\r\n\r\n", Close),
    Bad("garbage-before", b"rubbish\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n", Close),
    Bad("no-reason", b"HTTP/1.1 200\r\nContent-Length: 3\r\n\r\nok\n", Keep),
    Bad("bare-lf", b"HTTP/1.1 200 OK\nContent-Length: 3\n\nok\n", Keep),
    Bad("no-colon", b"HTTP/1.1 200 OK\r\nThis line has none\r\nContent-Length: 3\r\n\r\nok\n", Keep),
    Bad("folded", b"HTTP/1.1 200 OK\r\nLong: one\r\n two\r\nContent-Length: 3\r\n\r\nok\n", Keep),
    Bad("empty-name", b"HTTP/1.1 200 OK\r\n: value\r\nContent-Length: 3\r\n\r\nok\n", Keep),
    Bad("truncated-head", b"HTTP/1.1 200 OK\r\nContent-Le", Close),
    Bad("truncated-status", b"HTTP/1.1 20", Close),
    Bad("too-long", b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this\n", Close),
    Bad("too-short", b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nmore than four\n", Keep),
    Bad("length-negative", b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nok\n", Close),
    Bad("length-text", b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\nok\n", Close),
    Bad("length-twice", b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 5\r\n\r\nok\n", Close),
    Bad("chunk", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nok\n\r\nzz\r\nok\n\r\n0\r\n\r\n", Close),
    Bad("chunk-truncated", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n20\r\nok\n", Close),
    Bad("chunk-no-end", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nok\n\r\n", Close),
    Bad("chunk-and-length", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 99\r\n\r\n3\r\nok\n\r\n0\r\n\r\n", Keep),
    Bad("gzip", b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 9\r\n\r\nnot gzip\n", Keep),
    Bad("gzip-truncated", b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 12\r\n\r\n\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\xcb\xcf", Keep),
    Bad("endless-headers", b"HTTP/1.1 200 OK\r\n", Forever(b"Again: and again and again\r\n")),
    Bad("endless-line", b"HTTP/1.1 200 OK\r\nLong: ", Forever(b"long, long ")),
    Bad("long-headers", b"HTTP/1.1 200 OK\r\n", Long(b"Again: and again\r\n")),
];

pub(super) fn answer(name: &str, answer: &mut Answer) {
    let Some(Bad(_, bytes, after)) = TABLE.iter().find(|bad| bad.0 == name) else {
        let names = TABLE.iter().fold(String::new(), |names, bad| names + "/bad/" + bad.0 + "\n");
        answer.send(
            format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{names}", names.len()).as_bytes(),
        );
        return;
    };
    answer.send(bytes);
    match after {
        Keep => {}
        Close => answer.close(),
        Forever(line) => answer.repeat(Arc::from(*line), u64::MAX),
        Long(line) => {
            answer.repeat(Arc::from(*line), line.len() as u64 * 100_000);
            answer.send(b"Content-Length: 3\r\n\r\nok\n");
        }
    }
}

/// Begins an answer that will break off: with `after=N` in the query, sends the head of a 1000-byte answer and N bytes
/// of its body; otherwise nothing.
pub(super) fn begin(asked: &Asked<'_>, answer: &mut Answer) {
    if asked.text("after").is_some() {
        let head = Reply::text("").head("HTTP/1.1");
        answer.send(format!("{head}Content-Length: 1000\r\n\r\n").as_bytes());
        answer.send(&vec![b'x'; asked.number("after", 0).min(999) as usize]);
    }
}
