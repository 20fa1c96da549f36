//! Parser of a response head. One pass over the lines finds what is needed to read the body and to reuse the
//! connection.
//!
//! Headers are not stored; callers search the raw bytes for other headers. Values are slices of the input. A folded
//! value keeps its line breaks.

use super::seen::{Seen, ends_in_chunked, number};
use super::{Error, Limits};
use memchr::memchr;

/// A parsed response head that borrows the input.
#[derive(Clone, Copy, Debug)]
pub struct Head<'b> {
    /// Status line, headers and blank line of the response as received.
    pub raw: &'b [u8],
    pub status: u16,
    pub reason: &'b [u8],
    /// Minor version of the response: `x` in `HTTP/1.x`; 1 if the major version is above 1, 0 if it is below.
    pub version_minor: u8,
    /// True if the response permits reuse of the connection.
    pub keep_alive: bool,
    /// Value of `Content-Length`, if it is readable and `Transfer-Encoding` does not override it.
    pub content_length: Option<u64>,
    pub chunked: bool,
    /// True if the response has a body, even if it is empty.
    pub has_body: bool,
    /// Value of the first `Content-Encoding` header.
    pub content_encoding: Option<&'b [u8]>,
    /// Value of the last `Content-Type` header.
    pub content_type: Option<&'b [u8]>,
    /// Value of the last `Location` header.
    pub location: Option<&'b [u8]>,
    /// Parameter `timeout` of the `Keep-Alive` header, in seconds.
    pub keep_alive_timeout_s: Option<u32>,
    /// True if the response has a `Set-Cookie` header.
    pub set_cookie: bool,
}

impl<'b> Head<'b> {
    /// Returns the value of the first header with this name, in any letter case.
    pub fn header(&self, name: &str) -> Option<&'b [u8]> {
        self.headers().find(|(n, _)| n.eq_ignore_ascii_case(name.as_bytes())).map(|(_, v)| v)
    }

    /// Iterates over all headers in order: trimmed names and values.
    pub fn headers(&self) -> impl Iterator<Item = (&'b [u8], &'b [u8])> + use<'b> {
        let start = memchr(b'\n', self.raw).map_or(self.raw.len(), |i| i + 1);
        let mut rest = &self.raw[start..];
        std::iter::from_fn(move || {
            let (line, len) = unfolded_line(rest, rest.len())?;
            rest = &rest[len..];
            name_and_value(line)
        })
    }
}

/// Framing of the response body: how its end is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    None,
    Length(u64),
    Chunked,
    UntilClose,
}

/// The result of [`parse`].
pub(super) enum Parsed<'b> {
    /// The status line of the response is incomplete.
    NoLine,
    /// A line of garbage with this length in bytes precedes the status line.
    Garbage(usize),
    Partial,
    Whole(Head<'b>, Framing),
}

/// Parses the head at the start of `input`, which may be incomplete. `spent` is the number of bytes already counted
/// against the limit.
pub(super) fn parse(
    input: &[u8],
    request_is_head: bool,
    limits: Limits,
    spent: usize,
) -> Result<Parsed<'_>, Error> {
    let Some(first) = near(b'\n', input).map(|i| i + 1) else { return Ok(Parsed::NoLine) };
    if first + spent > limits.head {
        return Err(Error::HeadTooLarge { limit: limits.head });
    }
    let Some(line) = status_line(&input[..first]) else { return Ok(Parsed::Garbage(first)) };
    let (version_minor, status, reason) = parse_status_line(line).ok_or(Error::BadStatusLine)?;

    let mut seen = Seen::default();
    let mut at = first;
    loop {
        let Some((line, len)) = unfolded_line(&input[at..], limits.head) else {
            match blank_line(&input[at..]) {
                Some(len) => {
                    at += len;
                    break;
                }
                None => return Ok(Parsed::Partial),
            }
        };
        at += len;
        seen.count += 1;
        match name_and_value(line) {
            Some((name, value)) => seen.note(name, value),
            None => seen.bad = true,
        }
    }
    if at + spent > limits.head {
        return Err(Error::HeadTooLarge { limit: limits.head });
    }
    if seen.count > limits.headers {
        return Err(Error::TooManyHeaders { limit: limits.headers });
    }
    if seen.bad {
        return Err(Error::BadHeader);
    }

    let has_body = !request_is_head && status >= 200 && !matches!(status, 204 | 205 | 304);
    let content_length = seen.content_length.filter(|_| seen.transfer_encoding.is_none());
    let chunked = seen.transfer_encoding.is_some_and(ends_in_chunked);
    let framing = match content_length {
        _ if !has_body => Framing::None,
        _ if chunked => Framing::Chunked,
        Some(n) => Framing::Length(n),
        None => Framing::UntilClose,
    };
    let head = Head {
        raw: &input[..at],
        status,
        reason,
        version_minor,
        keep_alive: seen.keep_alive(status, version_minor, has_body),
        content_length,
        chunked,
        has_body,
        content_encoding: seen.content_encoding,
        content_type: seen.content_type,
        location: seen.location,
        keep_alive_timeout_s: seen.keep_alive_timeout_s,
        set_cookie: seen.set_cookie,
    };
    Ok(Parsed::Whole(head, framing))
}

/// True if `input` has a blank line that ends at or after `from`. The bytes before `from` were searched earlier.
pub(super) fn has_end(input: &[u8], from: usize) -> bool {
    let mut at = from.saturating_sub(2);
    while let Some(i) = memchr(b'\n', &input[at..]) {
        at += i + 1;
        if blank_line(&input[at..]).is_some() {
            return true;
        }
    }
    false
}

/// Returns the line without leading white space if it begins like a status line.
pub(super) fn status_line(line: &[u8]) -> Option<&[u8]> {
    let line = without_end_of_line(line).trim_ascii_start();
    (line.len() >= 8 && line.starts_with(b"HTTP/")).then_some(line)
}

fn parse_status_line(line: &[u8]) -> Option<(u8, u16, &[u8])> {
    // Fast path for the usual form of a status line.
    if let [
        b'H',
        b'T',
        b'T',
        b'P',
        b'/',
        b'1',
        b'.',
        minor @ (b'0' | b'1'),
        b' ',
        a,
        b,
        c,
        rest @ ..,
    ] = line
        && let (b'1'..=b'9', b'0'..=b'9', b'0'..=b'9', [] | [b' ', ..]) = (a, b, c, rest)
    {
        let status = u16::from(a - b'0') * 100 + u16::from(b - b'0') * 10 + u16::from(c - b'0');
        return Some((minor - b'0', status, trim(rest)));
    }
    let rest = &line[b"HTTP/".len()..];
    let dot = memchr(b'.', rest)?;
    let major: i32 = number(trim(&rest[..dot]))?;
    let rest = &rest[dot + 1..];
    let blank = memchr(b' ', rest).unwrap_or(rest.len());
    let minor: i32 = number(trim(&rest[..blank]))?;
    let rest = rest[blank..].trim_ascii_start();
    let blank = memchr(b' ', rest).unwrap_or(rest.len());
    let digits = trim(&rest[..blank]);
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let status: u16 = number(digits)?;
    let version = match (major, minor) {
        _ if major < 0 || minor < 0 => return None,
        (0, _) | (1, 0) => 0,
        (1, minor) => minor.min(i32::from(u8::MAX)) as u8,
        _ => 1,
    };
    (status >= 100).then_some((version, status, trim(&rest[blank..])))
}

/// Returns the first header line with its continuation lines, and its length including the line end. Returns `None` for
/// a blank line, or if the line end was not received yet. Searches at most `limit` bytes, because the caller rejects
/// longer lines.
#[inline]
fn unfolded_line(input: &[u8], limit: usize) -> Option<(&[u8], usize)> {
    if matches!(input, [b'\n', ..] | [b'\r', b'\n', ..]) {
        return None;
    }
    let mut end = near(b'\n', input)? + 1;
    loop {
        match input.get(end) {
            // A line that begins with white space continues the previous line, unless the rest of it is only a line
            // end.
            Some(b' ' | b'\t') if end <= limit => end += memchr(b'\n', &input[end..])? + 1,
            Some(_) => return Some((without_end_of_line(&input[..end]), end)),
            None => return None,
        }
    }
}

/// Returns the length of the blank line at the start of the input.
fn blank_line(input: &[u8]) -> Option<usize> {
    match input {
        [b'\n', ..] => Some(1),
        [b'\r', b'\n', ..] => Some(2),
        _ => None,
    }
}

pub(super) fn without_end_of_line(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Returns the first position of a byte, like `memchr`, but faster for the near ends of names and lines: compares eight
/// bytes at a time without a call.
#[inline]
fn near(byte: u8, text: &[u8]) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const TOPS: u64 = 0x8080_8080_8080_8080;
    let (words, _) = text.as_chunks::<8>();
    let pattern = u64::from(byte) * ONES;
    for (i, word) in words.iter().take(5).enumerate() {
        let zero_where_equal = u64::from_le_bytes(*word) ^ pattern;
        // The lowest set top bit marks the first zero byte of the word.
        let marks = zero_where_equal.wrapping_sub(ONES) & !zero_where_equal & TOPS;
        if marks != 0 {
            return Some(i * 8 + (marks.trailing_zeros() / 8) as usize);
        }
    }
    let from = words.len().min(5) * 8;
    memchr(byte, &text[from..]).map(|at| from + at)
}

/// Returns the trimmed name and value of a header; `None` without a colon or a name.
#[inline]
pub(super) fn name_and_value(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = near(b':', line)?;
    let name = trim(&line[..colon]);
    (!name.is_empty()).then(|| (name, trim(&line[colon + 1..])))
}

/// Trims space, tab, CR and LF at both ends of a header's name or value.
#[inline]
pub(super) fn trim(mut text: &[u8]) -> &[u8] {
    while let [b' ' | b'\t' | b'\r' | b'\n', rest @ ..] = text {
        text = rest;
    }
    while let [rest @ .., b' ' | b'\t' | b'\r' | b'\n'] = text {
        text = rest;
    }
    text
}
