//! An HTTP response, with the headers that every response has.

use std::io::{self, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Size in bytes of the parts in which a body is written.
const PART: usize = 64 << 10;
/// Time limit for a client to receive one part.
const PART_TIME: Duration = Duration::from_secs(5);
/// Time limit for a client to receive a whole response.
const TIME: Duration = Duration::from_secs(60);

/// An HTTP response.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    kind: &'static str,
    policy: Option<String>,
    pub body: Arc<[u8]>,
    retry: bool,
    /// Number of the event after which the server's event feed begins, if that feed is the body; `None` for any other
    /// body.
    pub(crate) events_behind: Option<u64>,
}

impl Answer {
    fn new(status: u16, kind: &'static str, body: impl Into<Arc<[u8]>>) -> Self {
        Self { status, kind, policy: None, body: body.into(), retry: false, events_behind: None }
    }

    /// Returns a page with its content security policy.
    pub fn page(html: impl Into<Arc<[u8]>>, policy: impl Into<String>) -> Self {
        Self { policy: Some(policy.into()), ..Self::new(200, "text/html; charset=utf-8", html) }
    }

    pub fn json(text: impl Into<Vec<u8>>) -> Self {
        Self::new(200, "application/json", text.into())
    }

    /// Returns a response with a status and no other content: the text is the name of the status.
    pub fn status(status: u16) -> Self {
        let text = format!("{status} {}\n", name(status));
        Self::new(status, "text/plain; charset=utf-8", text.into_bytes())
    }

    /// Returns a response with a status and the given plain text.
    pub fn words(status: u16, text: &str) -> Self {
        Self::new(status, "text/plain; charset=utf-8", format!("{text}\n").into_bytes())
    }

    /// Returns status 429: the server has too many clients at present.
    pub fn busy() -> Self {
        Self { retry: true, ..Self::status(429) }
    }

    /// Returns the event feed from the event after `behind` on, or only future events if `behind` is `None`.
    pub fn events(behind: Option<u64>) -> Self {
        let events_behind = Some(behind.unwrap_or(u64::MAX));
        Self { events_behind, ..Self::new(200, "text/event-stream", Vec::new()) }
    }

    fn head(&self) -> String {
        let mut head = format!("HTTP/1.1 {} {}\r\n", self.status, name(self.status));
        let policy = self.policy.as_deref().unwrap_or("default-src 'none'; frame-ancestors 'none'");
        for (name, value) in [
            ("Content-Type", self.kind),
            ("Content-Security-Policy", policy),
            ("X-Content-Type-Options", "nosniff"),
            ("X-Frame-Options", "DENY"),
            ("Referrer-Policy", "no-referrer"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Cross-Origin-Opener-Policy", "same-origin"),
            ("Cache-Control", "no-store"),
            ("Connection", "close"),
        ] {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if self.retry {
            head.push_str("Retry-After: 5\r\n");
        }
        if self.events_behind.is_none() {
            head.push_str(&format!("Content-Length: {}\r\n", self.body.len()));
        }
        head.push_str("\r\n");
        head
    }

    /// Writes the response. Fails if the client does not receive it within the time limits.
    pub(crate) fn write(&self, stream: &TcpStream) -> io::Result<()> {
        let end = Instant::now() + TIME;
        write(stream, self.head().as_bytes())?;
        for part in self.body.chunks(PART) {
            if Instant::now() > end {
                return Err(io::ErrorKind::TimedOut.into());
            }
            write(stream, part)?;
        }
        Ok(())
    }
}

/// Writes a part of a response. Fails if the client does not receive it within [`PART_TIME`].
pub(crate) fn write(mut stream: &TcpStream, part: &[u8]) -> io::Result<()> {
    let end = Instant::now() + PART_TIME;
    let mut rest = part;
    while !rest.is_empty() {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_write_timeout(Some(left))?;
        match stream.write(rest) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => rest = &rest[written..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Closes a connection so that the client still receives the response: reads and discards for up to 500 ms what the
/// client still sends, because unread data would reset the connection.
pub(crate) fn close(mut stream: &TcpStream) {
    use io::Read;
    let end = Instant::now() + Duration::from_millis(500);
    let mut part = [0; 4096];
    let _ = stream.shutdown(Shutdown::Write);
    let _ = stream.set_read_timeout(Some(Duration::from_millis(200)));
    while Instant::now() < end && matches!(stream.read(&mut part), Ok(1..)) {}
    let _ = stream.shutdown(Shutdown::Both);
}

fn name(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        409 => "Conflict",
        413 => "Content Too Large",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        501 => "Not Implemented",
        503 => "Service Unavailable",
        505 => "HTTP Version Not Supported",
        _ => "Error",
    }
}
