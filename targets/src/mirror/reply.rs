//! A well-formed HTTP/1.1 answer: status, headers in order, body.
//!
//! The order of header lines is fixed (Server, the caller's headers, Content-Type, Content-Length, Connection), and
//! there is no Date, so an answer always has the same bytes.

use crate::answer::Answer;
use crate::request::Request;

#[derive(Debug)]
pub(super) struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    content_type: String,
    body: Vec<u8>,
}

impl Reply {
    pub(super) fn new(content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status: 200,
            headers: Vec::new(),
            content_type: content_type.to_owned(),
            body: body.into(),
        }
    }

    pub(super) fn text(body: &str) -> Self {
        Self::new("text/plain; charset=utf-8", body)
    }

    pub(super) fn status(status: u16) -> Self {
        Self::text(&format!("status {status}\n")).with_status(status)
    }

    pub(super) fn redirect(status: u16, location: &str) -> Self {
        Self::text(&format!("see {location}\n")).with_status(status).header("Location", location)
    }

    pub(super) fn with_status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    pub(super) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Appends the answer, framed by a `Content-Length`.
    pub(super) fn send(&self, request: &Request<'_>, answer: &mut Answer) {
        let mut head = self.head("HTTP/1.1");
        // RFC 9110, 8.6: 1xx and 204 must not have a length; 304 has no body.
        let bodiless = self.status < 200 || matches!(self.status, 204 | 304);
        if !bodiless {
            head.push_str(&format!("Content-Length: {}\r\n", self.body.len()));
        }
        if !self.headers.iter().any(|(name, _)| name == "Connection") {
            match (request.keeps_alive(), request.version) {
                (false, _) => head.push_str("Connection: close\r\n"),
                (true, b"HTTP/1.0") => head.push_str("Connection: keep-alive\r\n"),
                _ => {}
            }
        }
        head.push_str("\r\n");
        answer.send(head.as_bytes());
        if !bodiless && request.method != b"HEAD" {
            answer.send(&self.body);
        }
    }

    /// Appends the answer without a length; it ends with the connection.
    pub(super) fn send_unframed(&self, request: &Request<'_>, answer: &mut Answer) {
        answer.send(self.head("HTTP/1.1").as_bytes());
        answer.send(b"Connection: close\r\n\r\n");
        if request.method != b"HEAD" {
            answer.send(&self.body);
        }
    }

    /// Returns the answer's status line and header lines, without framing and without the empty line.
    pub(super) fn head(&self, version: &str) -> String {
        let mut head = format!(
            "{version} {} {}\r\nServer: throng-target\r\n",
            self.status,
            reason(self.status)
        );
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if !self.content_type.is_empty() {
            head.push_str(&format!("Content-Type: {}\r\n", self.content_type));
        }
        head
    }

    pub(super) fn body(&self) -> &[u8] {
        &self.body
    }
}

/// Returns the reason phrase of a status from the IANA registry, or `Unknown`.
pub(crate) fn reason(status: u16) -> &'static str {
    match status {
        100 => "Continue",
        101 => "Switching Protocols",
        103 => "Early Hints",
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        203 => "Non-Authoritative Information",
        204 => "No Content",
        205 => "Reset Content",
        206 => "Partial Content",
        300 => "Multiple Choices",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        305 => "Use Proxy",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        402 => "Payment Required",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        407 => "Proxy Authentication Required",
        408 => "Request Timeout",
        409 => "Conflict",
        410 => "Gone",
        411 => "Length Required",
        412 => "Precondition Failed",
        413 => "Content Too Large",
        414 => "URI Too Long",
        415 => "Unsupported Media Type",
        416 => "Range Not Satisfiable",
        417 => "Expectation Failed",
        421 => "Misdirected Request",
        422 => "Unprocessable Content",
        425 => "Too Early",
        426 => "Upgrade Required",
        428 => "Precondition Required",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        451 => "Unavailable For Legal Reasons",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        505 => "HTTP Version Not Supported",
        511 => "Network Authentication Required",
        _ => "Unknown",
    }
}
