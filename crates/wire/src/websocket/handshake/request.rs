//! The head of a client's HTTP request, for servers that offer WebSocket and some HTTP on one port.
//!
//! Bodies are not read, because those servers only answer requests without one. Header names are compared
//! case-insensitively; values are trimmed.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::line::first;
use super::{Deflate, LIMIT, accept};

/// The parsed head of an HTTP request.
#[derive(Clone, Copy, Debug)]
pub struct Request<'b> {
    /// Length of the request head in bytes.
    pub size: usize,
    pub method: &'b [u8],
    pub target: &'b [u8],
    /// Minor version of the request: `x` in `HTTP/1.x`.
    pub minor: u8,
    headers: &'b [u8],
}

/// The reason why a request head cannot be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestError {
    /// The first line of the request is not `METHOD TARGET HTTP/1.x`.
    RequestLine,
    /// The request head is longer than [`LIMIT`] bytes.
    TooLarge,
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RequestLine => f.write_str("not a request line"),
            Self::TooLarge => write!(f, "request head exceeds {LIMIT} bytes"),
        }
    }
}

impl std::error::Error for RequestError {}

/// The reason why a request is not a valid upgrade request (RFC 6455, section 4.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoUpgrade {
    /// An ordinary request: not GET, not HTTP/1.1, or without `Upgrade: websocket` and `Connection: Upgrade`.
    Ordinary,
    /// `Sec-WebSocket-Version` is not 13; a server answers with status 426.
    Version,
    /// `Sec-WebSocket-Key` is absent or not sixteen bytes in base64; a server answers with status 400.
    Key,
}

/// Parses the request head at the start of `bytes`; `None` if it is incomplete.
pub fn request(bytes: &[u8]) -> Result<Option<Request<'_>>, RequestError> {
    let full = bytes.len() >= LIMIT;
    let bytes = &bytes[..bytes.len().min(LIMIT)];
    let incomplete = || if full { Err(RequestError::TooLarge) } else { Ok(None) };
    let Some((line, start)) = first(bytes) else { return incomplete() };
    let mut words = line.0.trim_ascii_end().split(|&b| b == b' ');
    let (Some(method), Some(target), Some(version), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(RequestError::RequestLine);
    };
    let [b'H', b'T', b'T', b'P', b'/', b'1', b'.', minor @ b'0'..=b'9'] = version else {
        return Err(RequestError::RequestLine);
    };
    if method.is_empty() || target.is_empty() {
        return Err(RequestError::RequestLine);
    }
    let mut at = start;
    loop {
        let Some((line, size)) = first(&bytes[at..]) else { return incomplete() };
        at += size;
        if matches!(line.0, [] | b"\r") {
            break;
        }
    }
    let headers = &bytes[start..at];
    Ok(Some(Request { size: at, method, target, minor: minor - b'0', headers }))
}

impl<'b> Request<'b> {
    /// Iterates over the request's header names and trimmed values, in order.
    pub fn headers(&self) -> impl Iterator<Item = (&'b [u8], &'b [u8])> + use<'b> {
        self.headers.split(|&b| b == b'\n').filter_map(|line| {
            let colon = memchr::memchr(b':', line)?;
            Some((&line[..colon], line[colon + 1..].trim_ascii()))
        })
    }

    /// Iterates over all values of one request header.
    pub fn values<'n>(&self, name: &'n str) -> impl Iterator<Item = &'b [u8]> + use<'b, 'n> {
        self.headers()
            .filter(move |(other, _)| other.eq_ignore_ascii_case(name.as_bytes()))
            .map(|(_, value)| value)
    }

    /// True if the header `name`, a list, contains the element `wanted`.
    fn lists(&self, name: &str, wanted: &str) -> bool {
        self.values(name)
            .flat_map(|value| value.split(|&b| b == b','))
            .any(|element| element.trim_ascii().eq_ignore_ascii_case(wanted.as_bytes()))
    }

    /// Returns the `Sec-WebSocket-Key` if the request is a valid upgrade request; otherwise the reason why it is none.
    pub fn upgrade(&self) -> Result<&'b [u8], NoUpgrade> {
        let asks = self.method == b"GET"
            && self.minor >= 1
            && self.lists("Upgrade", "websocket")
            && self.lists("Connection", "upgrade");
        if !asks {
            return Err(NoUpgrade::Ordinary);
        }
        if self.values("Sec-WebSocket-Version").ne([b"13".as_slice()]) {
            return Err(NoUpgrade::Version);
        }
        let mut keys = self.values("Sec-WebSocket-Key");
        let (Some(key), None) = (keys.next(), keys.next()) else { return Err(NoUpgrade::Key) };
        let mut bytes = [0; 18];
        match STANDARD.decode_slice(key, &mut bytes) {
            Ok(16) => Ok(key),
            _ => Err(NoUpgrade::Key),
        }
    }

    /// Returns the request's first offer of compression that a server can meet.
    pub fn deflate(&self) -> Option<Deflate> {
        self.values("Sec-WebSocket-Extensions").find_map(Deflate::offered)
    }

    /// Iterates over the requested subprotocols, the preferred one first.
    pub fn protocols(&self) -> impl Iterator<Item = &'b [u8]> + use<'b> {
        self.values("Sec-WebSocket-Protocol")
            .flat_map(|value| value.split(|&b| b == b','))
            .map(<[u8]>::trim_ascii)
            .filter(|name| !name.is_empty())
    }
}

/// Appends the answer that accepts the upgrade: `key` is the request's key, `deflate` and `protocol` are the agreed
/// parameters.
pub fn push_answer(
    out: &mut Vec<u8>,
    key: &[u8],
    deflate: Option<&Deflate>,
    protocol: Option<&[u8]>,
) {
    out.extend_from_slice(
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
          Sec-WebSocket-Accept: ",
    );
    out.extend_from_slice(&accept(key));
    out.extend_from_slice(b"\r\n");
    if let Some(deflate) = deflate {
        out.extend_from_slice(b"Sec-WebSocket-Extensions: ");
        deflate.push(out);
        out.extend_from_slice(b"\r\n");
    }
    if let Some(protocol) = protocol {
        out.extend_from_slice(b"Sec-WebSocket-Protocol: ");
        out.extend_from_slice(protocol);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"\r\n");
}
