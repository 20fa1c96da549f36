//! A request, read within limits of size and time.

use std::io::{self, Read};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Maximum length of a request's head in bytes.
const LONGEST_HEAD: usize = 16 << 10;
/// Maximum length of a request's body in bytes.
const LONGEST_BODY: usize = 16 << 10;
/// Maximum number of headers in a request.
const MOST_HEADERS: usize = 64;
/// Time limit for a client to send the whole request.
const TIME: Duration = Duration::from_secs(5);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Get,
    Post,
}

/// A complete request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    pub method: Method,
    /// Path of the request as it was sent, without the query. It is compared byte for byte and never decoded.
    pub path: String,
    query: String,
    headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// The reason why a request could not be read.
#[derive(Debug, PartialEq, Eq)]
pub enum Wrong {
    /// The client closed the connection or exceeded the time limit; no response is sent.
    Gone,
    /// The request is bad; the response has this status.
    Status(u16),
}

impl Request {
    /// Returns the value of a header. `name` is in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|header| header.0 == name).map(|header| header.1.as_str())
    }

    /// Returns the decoded value of a query parameter.
    pub fn field(&self, name: &str) -> Option<String> {
        let fields = self.query.split('&').filter_map(|field| field.split_once('='));
        fields.filter(|field| field.0 == name).find_map(|field| decoded(field.1))
    }

    /// Returns the token of `Authorization: Bearer TOKEN`, or an empty string.
    pub(crate) fn bearer(&self) -> &str {
        let value = self.header("authorization").unwrap_or_default();
        let (scheme, token) = value.split_once(' ').unwrap_or_default();
        if scheme.eq_ignore_ascii_case("bearer") { token.trim() } else { "" }
    }

    /// Reads a request within [`TIME`].
    pub(crate) fn read(mut stream: &TcpStream) -> Result<Self, Wrong> {
        let end = Instant::now() + TIME;
        let mut bytes = Vec::new();
        let mut more = |bytes: &mut Vec<u8>| {
            let mut part = [0; 4096];
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() || stream.set_read_timeout(Some(left)).is_err() {
                return Err(Wrong::Gone);
            }
            match stream.read(&mut part) {
                Ok(0) => Err(Wrong::Gone),
                Ok(read) => {
                    bytes.extend_from_slice(&part[..read]);
                    Ok(())
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
                Err(_) => Err(Wrong::Gone),
            }
        };
        let (mut request, head, length) = loop {
            if let Some(found) = read_head(&bytes)? {
                break found;
            }
            more(&mut bytes)?;
        };
        while bytes.len() < head + length {
            more(&mut bytes)?;
        }
        request.body = bytes[head..head + length].to_vec();
        Ok(request)
    }
}

/// Parses the head of a request. Returns the request without its body, the length of the head, and the length of the
/// body. `None`: the head is not complete.
pub fn read_head(bytes: &[u8]) -> Result<Option<(Request, usize, usize)>, Wrong> {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut parsed = httparse::Request::new(&mut headers);
    let head = match parsed.parse(bytes) {
        Ok(httparse::Status::Complete(head)) if head <= LONGEST_HEAD => head,
        Ok(httparse::Status::Partial) if bytes.len() < LONGEST_HEAD => return Ok(None),
        Ok(_) | Err(httparse::Error::TooManyHeaders) => return Err(Wrong::Status(431)),
        Err(httparse::Error::Version) => return Err(Wrong::Status(505)),
        Err(_) => return Err(Wrong::Status(400)),
    };
    let method = match parsed.method {
        Some("GET") => Method::Get,
        Some("POST") => Method::Post,
        _ => return Err(Wrong::Status(405)),
    };
    let target = parsed.path.unwrap_or_default();
    if !target.starts_with('/') || !target.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(Wrong::Status(400));
    }
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let text = |value: &[u8]| String::from_utf8(value.to_vec()).map_err(|_| Wrong::Status(400));
    let mut headers = Vec::with_capacity(parsed.headers.len());
    for header in &*parsed.headers {
        headers.push((header.name.to_ascii_lowercase(), text(header.value)?.trim().to_owned()));
    }
    // Refuses duplicates of these headers, because another reader of the request could use the other value.
    for name in ["host", "content-length", "authorization", "origin"] {
        if headers.iter().filter(|header| header.0 == name).count() > 1 {
            return Err(Wrong::Status(400));
        }
    }
    let (path, query) = (path.to_owned(), query.to_owned());
    let request = Request { method, path, query, headers, body: Vec::new() };
    if request.header("transfer-encoding").is_some() {
        return Err(Wrong::Status(501));
    }
    let length = match request.header("content-length") {
        None => 0,
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            digits.parse().unwrap_or(usize::MAX)
        }
        Some(_) => return Err(Wrong::Status(400)),
    };
    if length > LONGEST_BODY {
        return Err(Wrong::Status(413));
    }
    Ok(Some((request, head, length)))
}

/// Decodes the percent-encoding of a query value. `+` is a space.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digits = [rest.next()?, rest.next()?].map(|digit| (digit as char).to_digit(16));
                (digits[0]? * 16 + digits[1]?) as u8
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn head(text: &str) -> Result<Option<(Request, usize, usize)>, Wrong> {
        read_head(text.as_bytes())
    }

    #[test]
    fn a_request_is_read_with_its_parts() {
        let text = "POST /api/x?run=a%20b+c%2F&n=1 HTTP/1.1\r\nHost: h\r\nAuthorization: bearer  t\r\nContent-Length: 3\r\n\r\nabc";
        let (request, length, body) = head(text).expect("a request").expect("whole");
        assert_eq!((request.path.as_str(), length, body), ("/api/x", text.len() - 3, 3));
        assert_eq!((request.field("run").as_deref(), request.field("m")), (Some("a b c/"), None));
        assert_eq!((request.bearer(), request.header("host")), ("t", Some("h")));
        assert!(head(&text[..40]).expect("a beginning").is_none());
    }

    #[test]
    fn what_is_odd_is_refused() {
        let with = |header: &str| format!("GET / HTTP/1.1\r\n{header}\r\n\r\n");
        let long = with(&format!("a: {}", "b".repeat(LONGEST_HEAD)));
        let many = with(&"a: b\r\n".repeat(MOST_HEADERS + 1));
        for (text, status) in [
            ("DELETE / HTTP/1.1\r\n\r\n", 405),
            ("GET http://h/ HTTP/1.1\r\n\r\n", 400),
            ("GET * HTTP/1.1\r\n\r\n", 400),
            ("GET / HTTP/9.9\r\n\r\n", 505),
            ("rubbish\0\r\n\r\n", 400),
            (&with("Host: a\r\nHost: b"), 400),
            (&with("Content-Length: 1\r\nContent-Length: 1"), 400),
            (&with("Content-Length: +1"), 400),
            (&with("Content-Length: 99999999999999999999999"), 413),
            (&with("Transfer-Encoding: chunked"), 501),
            (&long, 431),
            (&long[..LONGEST_HEAD], 431),
            (&many, 431),
        ] {
            assert_eq!(head(text), Err(Wrong::Status(status)), "{text:.60}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_break_it(bytes in prop::collection::vec(any::<u8>(), 0..400), cut in 0usize..60) {
            let _ = read_head(&bytes);
            let mut text = b"GET /a?b=%4 HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n".to_vec();
            text.truncate(cut);
            text.extend_from_slice(&bytes);
            if let Ok(Some((request, head, _))) = read_head(&text) {
                prop_assert!(head <= text.len() && request.path.starts_with('/'));
                let _ = request.field("b");
            }
        }
    }
}
