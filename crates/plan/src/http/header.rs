//! Header lines of the plan, written as HttpClient writes them.

use lang::url;

use super::{Http, Request};
use crate::env::Env;

/// Appends a line. Line breaks in the value become blanks. Characters beyond Latin-1, and line breaks in the name,
/// become `?`.
pub(super) fn push(headers: &mut Vec<u8>, name: &str, value: &str) {
    // Most headers are plain ASCII, which is copied unchanged.
    if is_plain(name) {
        headers.extend_from_slice(name.as_bytes());
    } else {
        let in_name = |c| if c != ' ' && byte(c) == b' ' { b'?' } else { byte(c) };
        headers.extend(name.chars().map(in_name));
    }
    headers.extend_from_slice(b": ");
    if is_plain(value) {
        headers.extend_from_slice(value.as_bytes());
    } else {
        headers.extend(value.chars().map(byte));
    }
    headers.extend_from_slice(b"\r\n");
}

/// Returns true if the string consists of printable ASCII characters and tabs.
fn is_plain(text: &str) -> bool {
    // Without an early exit, the compiler can vectorize the loop.
    let plain = |byte: u8| matches!(byte, b' '..=b'~' | b'\t');
    text.bytes().fold(true, |all, byte| all & plain(byte))
}

pub(super) fn push_with_port(headers: &mut Vec<u8>, name: &str, value: &str, port: u32) {
    push(headers, name, value);
    headers.truncate(headers.len() - 2);
    push_number(headers, b':', port.into());
}

/// Appends `mark`, a number, and the end of the line.
fn push_number(headers: &mut Vec<u8>, mark: u8, number: u64) {
    headers.push(mark);
    headers.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
    headers.extend_from_slice(b"\r\n");
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

/// Flags for header lines that the plan already contains, so that they are not added to a request.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Present {
    pub(super) host: bool,
    pub(super) user_agent: bool,
    pub(super) transfer_encoding: bool,
    pub(super) content_type: bool,
    /// True if the first `Content-Type` has a value.
    pub(super) content_type_value: bool,
    /// True if a `Connection` line closes the connection.
    pub(super) close: bool,
    /// True if a `Connection` line is neither `keep-alive` nor `close` alone.
    pub(super) odd_connection: bool,
    /// True if the first `Expect` is `100-continue`.
    pub(super) expects_continue: bool,
    expects: bool,
}

impl Present {
    /// Scans the header lines once for the lines that a request needs.
    pub(super) fn of(headers: &[u8]) -> Self {
        let mut present = Self::default();
        for line in lines(headers) {
            if value_of(line, b"Host").is_some() {
                present.host = true;
            } else if value_of(line, b"User-Agent").is_some() {
                present.user_agent = true;
            } else if value_of(line, b"Transfer-Encoding").is_some() {
                present.transfer_encoding = true;
            } else if let Some(value) = value_of(line, b"Content-Type") {
                present.content_type_value |= !present.content_type && !value.is_empty();
                present.content_type = true;
            } else if let Some(value) = value_of(line, b"Expect") {
                present.expects_continue |=
                    !present.expects && value.eq_ignore_ascii_case(b"100-continue");
                present.expects = true;
            } else if let Some(value) = value_of(line, b"Connection") {
                present.odd_connection |= value != b"keep-alive" && value != b"close";
                let mut tokens = value.split(|byte| *byte == b',');
                present.close |=
                    tokens.any(|token| token.trim_ascii().eq_ignore_ascii_case(b"close"));
            }
        }
        present
    }
}

/// Splits header lines, each with its line end. The search is vectorized, because a search byte by byte would cost
/// as much as a short digest.
pub fn lines(headers: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = headers;
    std::iter::from_fn(move || {
        let end = memchr::memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
        let (line, after) = rest.split_at(end);
        rest = after;
        (!line.is_empty()).then_some(line)
    })
}

/// Returns the value of a header line if the line has the name `name`.
pub(super) fn value_of<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    // Checking the position of the colon rejects most lines before names are compared.
    (line.get(name.len()) == Some(&b':') && line[..name.len()].eq_ignore_ascii_case(name))
        .then(|| line[name.len() + 1..].trim_ascii())
}

/// Returns the error of HttpClient's token parser (`BasicTokenIterator`) for the `Connection` lines. HttpClient
/// parses them after the response head, up to one token after the first `close`.
pub(super) fn connection_fault(headers: &[u8]) -> Option<String> {
    let values = lines(headers).filter_map(|line| value_of(line, b"Connection"));
    let mut closes = false;
    for value in values {
        let fault = |words: &str, at: usize| {
            let value: String = value.iter().map(|byte| *byte as char).collect();
            Some(format!("{words} (pos {at}): {value}"))
        };
        let mut at = 0;
        while at < value.len() {
            if value[at] == b',' || is_blank(value[at]) {
                at += 1;
                continue;
            }
            if !is_token(value[at]) {
                return fault("Invalid character before token", at);
            }
            if closes {
                return None;
            }
            let start = at;
            at += value[at..].iter().take_while(|byte| is_token(**byte)).count();
            closes = value[start..at].eq_ignore_ascii_case(b"close");
            at += value[at..].iter().take_while(|byte| is_blank(**byte)).count();
            match value.get(at) {
                None | Some(b',') => {}
                Some(byte) if is_token(*byte) => return fault("Tokens without separator", at),
                Some(_) => return fault("Invalid character after token", at),
            }
        }
    }
    None
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

fn is_token(byte: u8) -> bool {
    let c = byte as char;
    c.is_alphanumeric() || !c.is_control() && !" ,;=()<>@:\\\"/[]?{}\t".contains(c)
}

/// Returns true if a header line has the name `name`.
pub(super) fn has(headers: &[u8], name: &str) -> bool {
    lines(headers).any(|line| value_of(line, name.as_bytes()).is_some())
}

impl Http {
    /// Writes the header lines of the plan. As in JMeter, the plan's `Content-Length` is never sent, and its
    /// `Content-Type` is not sent for a multipart body.
    pub(super) fn write_headers(
        &self,
        env: &mut Env<'_>,
        out: &mut Request,
        parts: &url::Parts,
        multipart: bool,
    ) {
        let (mut name, mut value) = (env.core.take(), env.core.take());
        let own = out.headers.len();
        for header in &self.headers {
            name.clear();
            header.name.eval(env, &mut name);
            if name.eq_ignore_ascii_case("Content-Length")
                || (multipart && name.eq_ignore_ascii_case("Content-Type"))
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
                if value.chars().any(|c| char::from(byte(c)) != c) {
                    let line = out.headers[from..].trim_ascii_end().into();
                    out.altered.push((line, format!("{name}: {value}").into()));
                }
            }
            if name.eq_ignore_ascii_case("Cookie") && out.own_cookie.is_empty() {
                out.own_cookie = from..out.headers.len();
            }
        }
        env.core.give(value);
        env.core.give(name);
    }
}

/// Writes the plan's `Host` line. The port of the URL is appended, unless the value has a port or the port is the
/// default.
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
