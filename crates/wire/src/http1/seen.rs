//! Values of headers that decide the body and the reuse of the connection, collected while headers are parsed.

use super::head::trim;
use memchr::memchr;

/// Values of response headers that were parsed so far.
#[derive(Default)]
pub(super) struct Seen<'b> {
    pub(super) count: usize,
    pub(super) bad: bool,
    pub(super) set_cookie: bool,
    connection: Tokens,
    proxy_connection: Tokens,
    lengths: u32,
    /// The last readable `Content-Length`; `None` if it is negative or there is none.
    pub(super) content_length: Option<u64>,
    first_length: &'b [u8],
    pub(super) transfer_encoding: Option<&'b [u8]>,
    pub(super) content_encoding: Option<&'b [u8]>,
    pub(super) content_type: Option<&'b [u8]>,
    pub(super) location: Option<&'b [u8]>,
    pub(super) keep_alive_timeout_s: Option<u32>,
}

impl<'b> Seen<'b> {
    pub(super) fn note(&mut self, name: &'b [u8], value: &'b [u8]) {
        let is = |other: &str| name.eq_ignore_ascii_case(other.as_bytes());
        match name.len() {
            8 if is("location") => self.location = Some(value),
            10 if is("connection") => self.connection.note(value),
            10 if is("set-cookie") => self.set_cookie = true,
            10 if is("keep-alive") => {
                self.keep_alive_timeout_s =
                    self.keep_alive_timeout_s.or_else(|| keep_alive_timeout(value));
            }
            12 if is("content-type") => self.content_type = Some(value),
            14 if is("content-length") => {
                if self.lengths == 0 {
                    self.first_length = value;
                }
                self.lengths += 1;
                if let Some(n) = length(value) {
                    self.content_length = u64::try_from(n).ok();
                }
            }
            16 if is("content-encoding") => {
                self.content_encoding = self.content_encoding.or(Some(value));
            }
            16 if is("proxy-connection") => self.proxy_connection.note(value),
            17 if is("transfer-encoding") => {
                self.transfer_encoding = self.transfer_encoding.or(Some(value));
            }
            _ => {}
        }
    }

    /// True if the connection can be reused by HttpClient's strategy: the body has one readable length or only the
    /// coding `chunked`, and the header `Connection` or else the HTTP version permits reuse.
    pub(super) fn keep_alive(&self, status: u16, version_minor: u8, has_body: bool) -> bool {
        if status == 101 {
            return false;
        }
        if status == 204
            && (self.transfer_encoding.is_some()
                || number::<i32>(self.first_length).is_some_and(|n| n > 0))
        {
            return false;
        }
        let delimited = match self.transfer_encoding {
            Some(value) => value.eq_ignore_ascii_case(b"chunked"),
            None => !has_body || self.lengths == 1 && self.content_length.is_some(),
        };
        let tokens =
            if self.connection.present { &self.connection } else { &self.proxy_connection };
        delimited && !tokens.close && !tokens.bad && (tokens.keep_alive || version_minor > 0)
    }
}

/// Tokens found in the response's `Connection` headers.
#[derive(Default)]
struct Tokens {
    present: bool,
    close: bool,
    keep_alive: bool,
    bad: bool,
}

impl Tokens {
    fn note(&mut self, value: &[u8]) {
        self.present = true;
        // Fast path: the usual `Connection` header has only the token `keep-alive`.
        if value.eq_ignore_ascii_case(b"keep-alive") {
            self.keep_alive = true;
            return;
        }
        for token in value.split(|&b| b == b',').map(trim) {
            if token.eq_ignore_ascii_case(b"keep-alive") {
                self.keep_alive = true;
            } else if token.eq_ignore_ascii_case(b"close") {
                self.close = true;
            } else if token
                .iter()
                .any(|&b| b.is_ascii_control() || b" ;=()<>@:\\\"/[]?{}".contains(&b))
            {
                self.bad = true;
            }
        }
    }
}

/// True if the last coding in `Transfer-Encoding` is `chunked`.
pub(super) fn ends_in_chunked(value: &[u8]) -> bool {
    let mut names = value.split(|&b| b == b',').map(|coding| {
        let end = coding.iter().position(|b| matches!(b, b';' | b'=')).unwrap_or(coding.len());
        trim(&coding[..end])
    });
    names.rfind(|name| !name.is_empty()).is_some_and(|name| name.eq_ignore_ascii_case(b"chunked"))
}

/// Returns the first readable `timeout` of a `Keep-Alive` value, in seconds.
fn keep_alive_timeout(value: &[u8]) -> Option<u32> {
    value.split(|&b| b == b',' || b == b';').find_map(|part| {
        let equals = memchr(b'=', part)?;
        if !trim(&part[..equals]).eq_ignore_ascii_case(b"timeout") {
            return None;
        }
        let text = trim(&part[equals + 1..]);
        number(text.strip_prefix(b"\"").and_then(|t| t.strip_suffix(b"\"")).unwrap_or(text))
    })
}

/// Parses a `Content-Length`, which may be negative; `None` if it is unreadable.
fn length(text: &[u8]) -> Option<i64> {
    if (1..=18).contains(&text.len()) && text.iter().all(u8::is_ascii_digit) {
        return Some(text.iter().fold(0, |n, b| n * 10 + i64::from(b - b'0')));
    }
    number(text)
}

/// Parses a number like Java's `parseInt` and `parseLong`: an optional sign, then only digits.
pub(super) fn number<T: std::str::FromStr>(text: &[u8]) -> Option<T> {
    std::str::from_utf8(text).ok()?.parse().ok()
}
