//! Bodies of the mirror's well-formed answers, and the framing of answers without a length.

use std::sync::Arc;

use super::Asked;
use super::reply::Reply;
use crate::answer::Answer;
use crate::journal::latin1;
use crate::request::Request;

pub(super) const XML: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<shop xmlns:s=\"urn:stock\"><item id=\"1\">\
    <name>Käse</name><price currency=\"EUR\">4.50</price></item><item id=\"2\"><name>茶</name>\
    <price currency=\"CNY\">12</price></item><s:stock empty=\"false\">2</s:stock></shop>\n";

/// Returns the received request as text: request line, header lines, an empty line, body. Line ends are `\n`.
pub(super) fn echo(request: &Request<'_>) -> String {
    let mut text = format!(
        "{} {} {}\n",
        latin1(request.method),
        latin1(request.target),
        latin1(request.version)
    );
    for line in request.lines() {
        text.push_str(&latin1(line));
        text.push('\n');
    }
    text.push('\n');
    text.push_str(
        &String::from_utf8(request.body.to_vec()).unwrap_or_else(|error| latin1(error.as_bytes())),
    );
    text
}

/// Answers `/redirect/N` with a redirect to `/redirect/N-1`, and the last one to `/echo`. In the query, `code` sets the
/// status, and `absolute` makes locations whole URLs.
pub(super) fn redirect_chain(asked: &Asked<'_>, left: u64) -> Reply {
    let code = asked.number("code", 302) as u16;
    let query = latin1(asked.request.query());
    let mark = if query.is_empty() { "" } else { "?" };
    let path = if left > 1 {
        format!("/redirect/{}{mark}{query}", left - 1)
    } else {
        format!("/echo{mark}{query}")
    };
    if asked.text("absolute").is_none() {
        return Reply::redirect(code, &path);
    }
    let scheme = if asked.request.tls { "https" } else { "http" };
    let host = latin1(asked.request.header("Host").unwrap_or(b"localhost"));
    Reply::redirect(code, &format!("{scheme}://{host}{path}"))
}

/// Returns a nested document with every kind of JSON value and `count` items. The text is written by hand, because the
/// member order of a JSON library depends on its build options.
pub(super) fn json(count: u64) -> String {
    let items: Vec<_> = (1..=count)
        .map(|id| {
            let (price, even) = (id as f64 * 1.25, id % 2 == 0);
            format!(r#"{{"id":{id},"name":"item {id}","price":{price},"even":{even},"tags":["a","{id}"]}}"#)
        })
        .collect();
    let items = items.join(",");
    format!(
        r#"{{"count":{count},"items":[{items}],"nothing":null,"yes":true,"no":false,"text":"Käse, 茶 and \"quotes\" \\ /","#
    ) + r#""numbers":[0,-1,2.5,1e-7,12345678901234567],"nested":{"a":{"b":{"c":[1,[2,[3]]]}}},"#
        + r#""empty":{"list":[],"object":{},"text":""}}"#
        + "\n"
}

/// Answers with `count` bytes that repeat with a period of 256.
pub(super) fn bytes(request: &Request<'_>, count: u64, answer: &mut Answer) {
    let head = Reply::new("application/octet-stream", "").head("HTTP/1.1");
    answer.send(format!("{head}Content-Length: {count}\r\n\r\n").as_bytes());
    let pattern: Arc<[u8]> =
        (0..=255_u8).map(|byte| byte.wrapping_mul(31).wrapping_add(7)).collect();
    if count > 0 && request.method != b"HEAD" {
        answer.repeat(pattern, count);
    }
    if !request.keeps_alive() {
        answer.close();
    }
}

/// Answers with `n` chunks of `size` letters, one every `pause` milliseconds. With `extension` and `trailer` in the
/// query, the chunks have an extension, and a trailer follows the last one.
pub(super) fn chunked(asked: &Asked<'_>, answer: &mut Answer) {
    let (count, size) = (asked.number("n", 3), asked.number("size", 10).clamp(1, 1 << 24) as usize);
    let extension = if asked.text("extension").is_some() { ";name=\"value\"" } else { "" };
    let head = Reply::text("").head("HTTP/1.1");
    answer.send(format!("{head}Transfer-Encoding: chunked\r\n\r\n").as_bytes());
    for number in 0..count {
        let letter = b'a' + (number % 26) as u8;
        answer.send(format!("{size:x}{extension}\r\n").as_bytes());
        answer.send(&vec![letter; size]);
        answer.send(b"\r\n");
        if let pause @ 1.. = asked.number("pause", 0) {
            answer.pause(pause * 1_000_000);
        }
    }
    let trailer = if asked.text("trailer").is_some() { "Checked: yes\r\n" } else { "" };
    answer.send(format!("0\r\n{trailer}\r\n").as_bytes());
    if !asked.request.keeps_alive() {
        answer.close();
    }
}

/// Answers with `n` bytes, one every `pause` milliseconds.
pub(super) fn slow(asked: &Asked<'_>, answer: &mut Answer) {
    let (count, pause) = (asked.number("n", 10).min(100_000), asked.number("pause", 10));
    let head = Reply::text("").head("HTTP/1.1");
    answer.send(format!("{head}Content-Length: {count}\r\n\r\n").as_bytes());
    for _ in 0..count {
        answer.pause(pause * 1_000_000);
        answer.send(b"x");
    }
    if !asked.request.keeps_alive() {
        answer.close();
    }
}

/// Sends an HTTP/1.0 answer. With `keep` in the query, it has a length and the connection stays open.
pub(super) fn http10(asked: &Asked<'_>, answer: &mut Answer) {
    let reply = Reply::text("old\n");
    let head = reply.head("HTTP/1.0");
    let keep = asked.text("keep").is_some();
    let framing = if keep { "Connection: keep-alive\r\nContent-Length: 4\r\n\r\n" } else { "\r\n" };
    answer.send(format!("{head}{framing}").as_bytes());
    answer.send(reply.body());
    if !keep {
        answer.close();
    }
}
