//! The server's answer to the upgrade request, judged as JMeter's WebSocket plug-in judges it.
//!
//! The status is judged as soon as the status line is complete, the headers when the head is complete. The headers are
//! checked in this order: `Upgrade`, `Connection`, the presence of `Sec-WebSocket-Accept`, its value. Values are
//! compared as a whole, so `Connection: keep-alive, Upgrade` is refused. A repeated header becomes a list, which
//! matches nothing. If the server closes within the head, the head ends there.

use std::fmt;

use super::line::{Line, first};
use super::{Deflate, LIMIT, accept};

/// The server's response that accepted the upgrade.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Length of the response head in bytes; frames follow it.
    pub size: usize,
    /// Compression parameters that the server agreed to.
    pub deflate: Option<Deflate>,
}

/// The reason why the upgrade to a WebSocket failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The server closed the connection without sending a byte.
    Empty,
    /// Another status than 101. `line` is the status line without its line end; non-ASCII bytes are U+FFFD.
    Status {
        status: u16,
        line: String,
    },
    InvalidStatusLine,
    NoUpgrade,
    NoConnection,
    NoAccept,
    WrongAccept,
    /// The response head is longer than [`LIMIT`] bytes.
    TooLarge,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("connection closed without a response"),
            Self::Status { status, line } => write!(f, "status {status}: {line}"),
            Self::InvalidStatusLine => f.write_str("not a status line"),
            Self::NoUpgrade => f.write_str("no `Upgrade: websocket` in the response"),
            Self::NoConnection => f.write_str("no `Connection: Upgrade` in the response"),
            Self::NoAccept => f.write_str("no `Sec-WebSocket-Accept` in the response"),
            Self::WrongAccept => f.write_str("wrong `Sec-WebSocket-Accept` in the response"),
            Self::TooLarge => write!(f, "response head exceeds {LIMIT} bytes"),
        }
    }
}

impl std::error::Error for Refusal {}

/// Parses the server's answer to an upgrade request with this `Sec-WebSocket-Key`; `None` if more bytes are needed.
pub fn answer(bytes: &[u8], key: &[u8; 24]) -> Result<Option<Answer>, Refusal> {
    read(bytes, key, false)
}

/// Parses the answer like [`answer`], for a server that has closed the connection, so that no more bytes follow.
pub fn answer_at_end(bytes: &[u8], key: &[u8; 24]) -> Result<Answer, Refusal> {
    if bytes.is_empty() {
        return Err(Refusal::Empty);
    }
    // At the end of the stream, the upgrade always has a result.
    read(bytes, key, true).map(|answer| answer.unwrap_or(Answer { size: 0, deflate: None }))
}

/// A response header that must have exactly one value.
#[derive(Clone, Copy, Default)]
enum Value<'b> {
    #[default]
    Absent,
    One(Line<'b>),
    /// The header is repeated. JMeter joins the values with commas, and a list never equals the expected value.
    List,
}

impl<'b> Value<'b> {
    fn add(&mut self, value: Line<'b>) {
        *self = match self {
            Self::Absent => Self::One(value),
            _ => Self::List,
        };
    }

    fn fits(self, matches: impl Fn(Line<'_>) -> bool) -> bool {
        matches!(self, Self::One(value) if matches(value))
    }
}

fn read(bytes: &[u8], key: &[u8; 24], ended: bool) -> Result<Option<Answer>, Refusal> {
    let mut lines = Lines::new(bytes, ended);
    let Some(status) = lines.next() else { return lines.incomplete() };
    expect_status(status, 101)?;
    let (mut upgrade, mut connection, mut accepted) = <(Value, Value, Value)>::default();
    let mut deflate = None;
    loop {
        let Some(line) = lines.next() else { return lines.incomplete() };
        if let Some((name, value)) = line.header() {
            if name.is_ignoring_case(b"upgrade") {
                upgrade.add(value);
            } else if name.is_ignoring_case(b"connection") {
                connection.add(value);
            } else if name.is_ignoring_case(b"sec-websocket-accept") {
                accepted.add(value);
            } else if name.is_ignoring_case(b"sec-websocket-extensions") {
                deflate = deflate.or_else(|| Deflate::answered(value.0));
            }
        }
        if line.trimmed().0.is_empty() {
            break;
        }
    }
    if !upgrade.fits(|value| value.is_ignoring_case(b"websocket")) {
        return Err(Refusal::NoUpgrade);
    }
    if !connection.fits(|value| value.is_ignoring_case(b"upgrade")) {
        return Err(Refusal::NoConnection);
    }
    if matches!(accepted, Value::Absent) {
        return Err(Refusal::NoAccept);
    }
    if !accepted.fits(|value| value.is(&accept(key))) {
        return Err(Refusal::WrongAccept);
    }
    Ok(Some(Answer { size: lines.at, deflate }))
}

/// Parses the answer of a proxy to `CONNECT`. Returns the length of the head if the status is 200, or `None` if more
/// bytes are needed. The status is judged when the head is complete.
pub fn proxy_answer(bytes: &[u8]) -> Result<Option<usize>, Refusal> {
    let mut lines = Lines::new(bytes, false);
    let Some(status) = lines.next() else { return lines.incomplete() };
    loop {
        let Some(line) = lines.next() else { return lines.incomplete() };
        if line.trimmed().0.is_empty() {
            break;
        }
    }
    expect_status(status, 200)?;
    Ok(Some(lines.at))
}

/// Checks that a line is a status line `HTTP/d.d ddd` with this status; text after the status is ignored.
fn expect_status(line: Line<'_>, wanted: u16) -> Result<(), Refusal> {
    let mut start = [0; 12];
    let mut length = 0;
    for (slot, byte) in start.iter_mut().zip(line.bytes()) {
        *slot = byte;
        length += 1;
    }
    let [b'H', b'T', b'T', b'P', b'/', major, b'.', minor, b' ', digits @ ..] = start else {
        return Err(Refusal::InvalidStatusLine);
    };
    let all_digits = digits.iter().chain([&major, &minor]).all(u8::is_ascii_digit);
    if length < start.len() || !all_digits {
        return Err(Refusal::InvalidStatusLine);
    }
    let status = digits.iter().fold(0, |number, digit| number * 10 + u16::from(digit - b'0'));
    if status != wanted {
        return Err(Refusal::Status { status, line: line.text() });
    }
    Ok(())
}

/// Iterator over the lines of a response head received so far.
struct Lines<'b> {
    bytes: &'b [u8],
    at: usize,
    /// True if the stream has ended. Then the bytes after the last line feed are a line, and the head ends with them.
    ended: bool,
    full: bool,
}

impl<'b> Lines<'b> {
    fn new(bytes: &'b [u8], ended: bool) -> Self {
        let full = bytes.len() >= LIMIT;
        Self { bytes: &bytes[..bytes.len().min(LIMIT)], at: 0, ended: ended && !full, full }
    }

    fn next(&mut self) -> Option<Line<'b>> {
        let rest = &self.bytes[self.at..];
        match first(rest) {
            Some((line, size)) => {
                self.at += size;
                Some(line)
            }
            // At the end of the stream, an empty rest counts as the empty line that ends the head.
            None if self.ended => {
                self.at = self.bytes.len();
                Some(Line(rest))
            }
            None => None,
        }
    }

    fn incomplete<T>(&self) -> Result<Option<T>, Refusal> {
        if self.full { Err(Refusal::TooLarge) } else { Ok(None) }
    }
}
