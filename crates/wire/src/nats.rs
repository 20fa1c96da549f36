//! Client side of the NATS protocol: lines that end in `\r\n`, some of them followed by a payload.
//!
//! [`next`] parses the first operation of the server in the input, or asks for more bytes. The function keeps no state,
//! so the input may be split anywhere. Lines and payloads are bounded. The content of `INFO` is JSON, which the caller
//! parses. Message headers are not supported: a server sends them only to clients that announce support.

#[cfg(test)]
mod tests;

use std::fmt;
use std::io::Write as _;

use memchr::memchr;

/// Limits on operations of a NATS server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum length of a line in bytes, without its line end. The line `INFO` names all servers of a cluster.
    pub line: usize,
    /// Maximum length of a message's payload in bytes.
    pub payload: usize,
}

impl Default for Limits {
    fn default() -> Self {
        // NATS servers accept no payload above 64 MiB.
        Self { line: 64 << 10, payload: 64 << 20 }
    }
}

/// An operation that the NATS server sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerOperation<'a> {
    /// Description of the server in JSON, sent at the beginning and after changes.
    Info(&'a [u8]),
    Message {
        subject: &'a str,
        /// Number of the subscription, which the client chose.
        subscription: u64,
        reply: Option<&'a str>,
        payload: &'a [u8],
    },
    Ping,
    Pong,
    Ok,
    /// An error message without its quotes. After most errors, the server closes the connection.
    Err(&'a str),
}

/// The reason why input is not valid NATS or exceeds a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    LongLine,
    LongPayload,
    Unknown,
    /// The payload of a NATS message is not followed by `\r\n`.
    NoEnd,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LongLine => "the server sent a line that is too long",
            Self::LongPayload => "the server sent a message that is too long",
            Self::Unknown => "the server does not speak NATS",
            Self::NoEnd => "the server sent a message without its end",
        })
    }
}

impl std::error::Error for Broken {}

/// Parses the first operation in `bytes`; returns it with its length, or `None` if it is incomplete.
pub fn next(bytes: &[u8], limits: Limits) -> Result<Option<(ServerOperation<'_>, usize)>, Broken> {
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
        ServerOperation::Info(rest)
    } else if is(b"PING") {
        ServerOperation::Ping
    } else if is(b"PONG") {
        ServerOperation::Pong
    } else if is(b"+OK") {
        ServerOperation::Ok
    } else if is(b"-ERR") {
        ServerOperation::Err(
            std::str::from_utf8(rest).map_err(|_| Broken::Unknown)?.trim_matches('\''),
        )
    } else {
        return Err(Broken::Unknown);
    };
    Ok(Some((told, end + 1)))
}

/// Parses the rest of a message's line, `subject subscription [reply] length`, and the payload after the line.
fn message<'a>(
    line: &'a [u8],
    behind: &'a [u8],
    before: usize,
    limits: Limits,
) -> Result<Option<(ServerOperation<'a>, usize)>, Broken> {
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
            let told = ServerOperation::Message { subject, subscription, reply, payload };
            Ok(Some((told, before + length + 2)))
        }
        [] | [b'\r'] => Ok(None),
        _ => Err(Broken::NoEnd),
    }
}

/// Appends the `CONNECT` operation with its options in JSON.
pub fn push_connect(options: &str, out: &mut Vec<u8>) {
    push(out, format_args!("CONNECT {options}\r\n"));
}

/// Appends a NATS message for a subject, which must satisfy [`is_subject`].
pub fn push_publish(subject: &str, payload: &[u8], out: &mut Vec<u8>) {
    push(out, format_args!("PUB {subject} {}\r\n", payload.len()));
    out.extend_from_slice(payload);
    out.extend_from_slice(b"\r\n");
}

/// Appends a subscription with a number that the client chooses. The subject may have wildcards.
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
    // Writing to a vector cannot fail.
    let _ = out.write_fmt(text);
}

/// True if a string can be one token of a subject: 1 to 64 letters, digits, `-` and `_`. Dots, wildcards and spaces
/// would change the subject or the line.
pub fn is_token(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    (1..=64).contains(&text.len()) && text.bytes().all(plain)
}

/// True if a string is a subject without wildcards: tokens joined by dots.
pub fn is_subject(text: &str) -> bool {
    text.split('.').all(is_token)
}
