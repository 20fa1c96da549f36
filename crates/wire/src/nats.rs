//! The protocol of NATS, as a client speaks it: lines that end in `\r\n`, and a payload behind some of them.
//!
//! [`next`] reads one operation of the server from the front of what has come, or asks for more; it keeps nothing, so
//! input may be divided anywhere. Lines and payloads are bounded. The content of `INFO` is JSON, which is left to the
//! caller. Headers are not spoken: a client that does not announce them gets none.

#[cfg(test)]
mod tests;

use std::fmt;
use std::io::Write as _;

use memchr::memchr;

/// Bounds on what a server sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a line without its end. `INFO` names all servers of a cluster.
    pub line: usize,
    /// Bytes of a payload.
    pub payload: usize,
}

impl Default for Limits {
    fn default() -> Self {
        // Servers take no payload above 64 MiB.
        Self { line: 64 << 10, payload: 64 << 20 }
    }
}

/// An operation of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told<'a> {
    /// The server about itself, in JSON: at the beginning, and when something changes.
    Info(&'a [u8]),
    Message {
        subject: &'a str,
        /// Number that the client gave the subscription.
        subscription: u64,
        reply: Option<&'a str>,
        payload: &'a [u8],
    },
    Ping,
    Pong,
    Ok,
    /// An error, without its quotes. The server closes the connection after most of them.
    Err(&'a str),
}

/// Input that is not of this protocol, or beyond the bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    LongLine,
    LongPayload,
    Unknown,
    /// A payload without `\r\n` behind it.
    NoEnd,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LongLine => "a line of the server is too long",
            Self::LongPayload => "a message is longer than any server allows",
            Self::Unknown => "the server does not speak NATS",
            Self::NoEnd => "a message has no end",
        })
    }
}

impl std::error::Error for Broken {}

/// The first operation in `bytes`, and its length; `None`: it is not all there yet.
pub fn next(bytes: &[u8], limits: Limits) -> Result<Option<(Told<'_>, usize)>, Broken> {
    let Some(end) = memchr(b'\n', &bytes[..bytes.len().min(limits.line + 2)]) else {
        return if bytes.len() > limits.line + 1 { Err(Broken::LongLine) } else { Ok(None) };
    };
    let line = bytes[..end].strip_suffix(b"\r").unwrap_or(&bytes[..end]);
    let (name, rest) = match line.iter().position(|byte| matches!(byte, b' ' | b'\t')) {
        Some(at) => (&line[..at], line[at..].trim_ascii()),
        None => (line, &line[..0]),
    };
    let is = |wanted: &[u8]| name.eq_ignore_ascii_case(wanted);
    let told = if is(b"MSG") {
        return message(rest, &bytes[end + 1..], end + 1, limits);
    } else if is(b"INFO") {
        Told::Info(rest)
    } else if is(b"PING") {
        Told::Ping
    } else if is(b"PONG") {
        Told::Pong
    } else if is(b"+OK") {
        Told::Ok
    } else if is(b"-ERR") {
        Told::Err(std::str::from_utf8(rest).map_err(|_| Broken::Unknown)?.trim_matches('\''))
    } else {
        return Err(Broken::Unknown);
    };
    Ok(Some((told, end + 1)))
}

/// `subject subscription [reply] length`, and the bytes behind the line.
fn message<'a>(
    line: &'a [u8],
    behind: &'a [u8],
    before: usize,
    limits: Limits,
) -> Result<Option<(Told<'a>, usize)>, Broken> {
    let line = std::str::from_utf8(line).map_err(|_| Broken::Unknown)?;
    let mut words = [""; 4];
    let mut count = 0;
    for word in line.split_ascii_whitespace() {
        *words.get_mut(count).ok_or(Broken::Unknown)? = word;
        count += 1;
    }
    let [subject, subscription, ..] = words;
    let (reply, length) = match count {
        3 => (None, words[2]),
        4 => (Some(words[2]), words[3]),
        _ => return Err(Broken::Unknown),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(subscription) || !digits(length) {
        return Err(Broken::Unknown);
    }
    let subscription = subscription.parse().map_err(|_| Broken::Unknown)?;
    let length: usize = length.parse().map_err(|_| Broken::LongPayload)?;
    if length > limits.payload {
        return Err(Broken::LongPayload);
    }
    let Some(payload) = behind.get(..length) else { return Ok(None) };
    match &behind[length..] {
        [b'\r', b'\n', ..] => {
            let told = Told::Message { subject, subscription, reply, payload };
            Ok(Some((told, before + length + 2)))
        }
        [] | [b'\r'] => Ok(None),
        _ => Err(Broken::NoEnd),
    }
}

/// Appends the greeting: options in JSON.
pub fn push_connect(options: &str, out: &mut Vec<u8>) {
    push(out, format_args!("CONNECT {options}\r\n"));
}

/// Appends a message for a subject, which must be one by [`is_subject`].
pub fn push_publish(subject: &str, payload: &[u8], out: &mut Vec<u8>) {
    push(out, format_args!("PUB {subject} {}\r\n", payload.len()));
    out.extend_from_slice(payload);
    out.extend_from_slice(b"\r\n");
}

/// Appends a subscription with a number of the client's choice. The subject may have wildcards.
pub fn push_subscribe(subject: &str, subscription: u64, out: &mut Vec<u8>) {
    push(out, format_args!("SUB {subject} {subscription}\r\n"));
}

pub fn push_ping(out: &mut Vec<u8>) {
    out.extend_from_slice(b"PING\r\n");
}

pub fn push_pong(out: &mut Vec<u8>) {
    out.extend_from_slice(b"PONG\r\n");
}

fn push(out: &mut Vec<u8>, text: fmt::Arguments<'_>) {
    // A vector takes all that is written.
    let _ = out.write_fmt(text);
}

/// Whether a text can be one token of a subject: letters, digits, `-` and `_`, at most 64. Dots, wildcards and spaces would
/// make another subject of it, or another line.
pub fn is_token(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    (1..=64).contains(&text.len()) && text.bytes().all(plain)
}

/// Whether a text is a subject of such tokens, without wildcards.
pub fn is_subject(text: &str) -> bool {
    text.split('.').all(is_token)
}
