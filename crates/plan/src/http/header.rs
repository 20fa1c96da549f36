//! Header lines: what the plan sets, written as HttpClient writes them.

use super::{Http, Request, url};
use crate::env::Env;

/// Appends a line. Line breaks become blanks; what is beyond Latin-1 becomes `?`.
pub(super) fn push(headers: &mut Vec<u8>, name: &str, value: &str) {
    push_text(headers, name);
    headers.extend_from_slice(b": ");
    push_text(headers, value);
    headers.extend_from_slice(b"\r\n");
}

fn push_text(headers: &mut Vec<u8>, text: &str) {
    // Nearly every header is plain ASCII and goes out as it is.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t')) {
        headers.extend_from_slice(text.as_bytes());
    } else {
        headers.extend(text.chars().map(byte));
    }
}

pub(super) fn push_with_port(headers: &mut Vec<u8>, name: &str, value: &str, port: u32) {
    push(headers, name, value);
    headers.truncate(headers.len() - 2);
    push_number(headers, b':', port.into());
}

/// Appends a number after `mark`, and the end of the line.
fn push_number(headers: &mut Vec<u8>, mark: u8, number: u64) {
    use std::io::Write;
    headers.push(mark);
    // Writing to a vector cannot fail.
    let _ = write!(headers, "{number}\r\n");
}

pub(super) fn push_length(headers: &mut Vec<u8>, length: usize) {
    headers.extend_from_slice(b"Content-Length:");
    push_number(headers, b' ', length as u64);
}

fn byte(c: char) -> u8 {
    match c {
        '\r' | '\n' | '\u{b}' | '\u{c}' => b' ',
        ' '..='~' | '\u{a0}'..='\u{ff}' | '\t' => c as u8,
        _ => b'?',
    }
}

/// The values of all lines of that name.
fn values<'a>(headers: &'a [u8], name: &'a str) -> impl Iterator<Item = &'a [u8]> {
    let mut rest = headers;
    std::iter::from_fn(move || {
        while !rest.is_empty() {
            let end = memchr::memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
            let line = &rest[..end];
            rest = &rest[end..];
            if line.get(name.len()) == Some(&b':')
                && line[..name.len()].eq_ignore_ascii_case(name.as_bytes())
            {
                return Some(line[name.len() + 1..].trim_ascii());
            }
        }
        None
    })
}

/// Whether there is a line of that name.
pub(super) fn has(headers: &[u8], name: &str) -> bool {
    values(headers, name).next().is_some()
}

/// Whether the first line of that name has a value.
pub(super) fn has_value(headers: &[u8], name: &str) -> bool {
    values(headers, name).next().is_some_and(|value| !value.is_empty())
}

/// Whether some `Connection` line says that the connection ends.
pub(super) fn asks_to_close(headers: &[u8]) -> bool {
    values(headers, "Connection")
        .flat_map(|value| value.split(|byte| *byte == b','))
        .any(|token| token.trim_ascii().eq_ignore_ascii_case(b"close"))
}

impl Http {
    /// Writes the lines that the plan sets. JMeter never sends its `Content-Length`.
    pub(super) fn write_headers(&self, env: &mut Env<'_>, out: &mut Request, parts: &url::Parts) {
        let (mut name, mut value) = (env.core.take(), env.core.take());
        let own = out.headers.len();
        for header in &self.headers {
            name.clear();
            header.name.eval(env, &mut name);
            if name.eq_ignore_ascii_case("Content-Length")
                || (header.inherited && has(&out.headers[own..], &name))
            {
                continue;
            }
            value.clear();
            header.value.eval(env, &mut value);
            let from = out.headers.len();
            if name.eq_ignore_ascii_case("Host") {
                push_host(&mut out.headers, &value, parts, &out.url);
            } else {
                push(&mut out.headers, &name, &value);
            }
            if name.eq_ignore_ascii_case("Cookie") && out.own_cookie.is_empty() {
                out.own_cookie = from..out.headers.len();
            }
        }
        env.core.give(value);
        env.core.give(name);
    }
}

/// The plan's `Host` gets the port of the URL, unless it has one of its own or the port is the usual one.
fn push_host(headers: &mut Vec<u8>, value: &str, parts: &url::Parts, url: &str) {
    let own = value
        .rsplit_once(':')
        .filter(|(_, port)| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()));
    let (name, port) = match own {
        Some((name, port)) => (name, port.parse().ok()),
        None => (value, parts.port),
    };
    let usual = if &url[parts.protocol.clone()] == "https" { 443 } else { 80 };
    match port.filter(|port| *port != usual) {
        Some(port) => push_with_port(headers, "Host", name, port),
        None => push(headers, "Host", name),
    }
}
