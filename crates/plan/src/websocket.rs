//! WebSocket samplers: their compiled form, the frames that a sample sends, and its result.
//!
//! The samplers are those of Peter Doornbosch's plug-in (version 1.3.1), reproduced exactly. Maciej Zaleski's older
//! sampler and Throng's own *hold* use the same connections. A user has one connection, which persists between
//! iterations. Rendering fills reused buffers of the core; a sampler without variable parts is rendered once. This
//! module only interprets frames; the engine receives, sends and measures.

pub(crate) mod binary;
mod compile;
pub mod filter;
mod frame;
mod header;
mod heartbeat;
mod hold;
mod render;
#[cfg(test)]
mod tests;
pub mod wording;
mod zaleski;

use std::ops::Range;

pub(crate) use compile::{Around, compile, filter, hold_of, review, review_action, takes_defaults};
pub use filter::{FilterId, FrameFilter};
pub use frame::{Frame, FrameKind};
pub use heartbeat::{Heartbeat, HeartbeatId, HeartbeatSettings};
pub(crate) use heartbeat::{compile as heartbeat, is_one as is_heartbeat};
pub use hold::{Hold, HoldMatch, HoldSettings};
pub use zaleski::{ConnectionState, GOODBYE, Verdict, Zaleski};

use crate::env::Env;
use crate::http::Header;
use crate::template::Template;
use crate::template::flag::Flag;

/// A compiled WebSocket sampler.
#[derive(Debug)]
pub struct WebSocket {
    /// Action of the sampler.
    pub act: Act,
    /// Index of the cookie manager in scope, for samplers that may open a connection.
    pub cookies: Option<u32>,
    /// Frame filters in scope: the first is the outermost; the last receives frames from the connection.
    pub filters: Vec<FilterId>,
    /// Heartbeat for connections that this sampler opens.
    pub heartbeat: Option<HeartbeatId>,
    peer: Peer,
    headers: Vec<Header>,
    payload: Payload,
    connect_timeout: Template,
    read_timeout: Template,
    optional: Flag,
    close_status: Template,
    fixed: bool,
}

/// Action of a WebSocket sampler.
#[derive(Debug)]
pub enum Act {
    /// Opens a connection. The previous connection is dropped without a close frame.
    Open,
    /// Sends a frame and reads a frame of the expected type.
    RequestResponse(ExpectedFrame),
    /// Reads one frame.
    Read(ExpectedFrame),
    /// Sends a frame.
    Write,
    /// Sends an empty ping and reads a pong.
    PingPong,
    /// Sends an empty pong.
    Pong,
    /// Sends a close frame and reads one.
    Close,
    /// Holds the connection open and counts messages.
    Hold(Box<Hold>),
    /// Zaleski's sampler: opens a connection if needed, sends a message, and waits for a message that matches.
    Exchange(Box<Zaleski>),
}

/// Expected type of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedFrame {
    /// A text frame, or a continuation of a text frame.
    Text,
    /// A binary frame, or a continuation of a binary frame.
    Binary,
    /// A text or binary frame, or a continuation of one.
    Any,
}

impl ExpectedFrame {
    /// True if the frame has the expected type.
    pub fn admits(self, frame: &Frame<'_>) -> bool {
        match self {
            Self::Text => frame.kind == FrameKind::Text,
            Self::Binary => frame.kind == FrameKind::Binary,
            Self::Any => matches!(frame.kind, FrameKind::Text | FrameKind::Binary),
        }
    }
}

/// Settings of a sampler's connection: the destination, and whether the connection is new.
#[derive(Debug, Default)]
struct Peer {
    /// True if the sampler opens a new connection.
    creates: Flag,
    secure: Flag,
    server: Template,
    port: Template,
    path: Template,
}

/// Settings of the payload that a sampler sends.
#[derive(Debug, Default)]
struct Payload {
    form: Form,
    data: Template,
    from_file: Flag,
    file: Template,
}

/// Encoding of a payload string as bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Form {
    #[default]
    Text,
    /// A string in which `^@` means NUL.
    Stomp,
    /// Bytes in hexadecimal notation.
    Binary,
}

/// The evaluated settings of one sample. Each core has one instance and reuses it.
#[derive(Debug, Default)]
pub struct Call {
    /// True if a new connection is opened; the previous connection is dropped without a close frame.
    pub opens: bool,
    /// True if the connection uses TLS.
    pub secure: bool,
    /// Host to connect to, without brackets.
    pub host: String,
    /// Port to connect to.
    pub port: u16,
    /// `ws://host:port/path` as the sampler data shows it.
    pub url: String,
    /// Path and query of the request line.
    pub target: String,
    /// Length in bytes of the path at the start of `target`, without the query. The path selects the cookies.
    pub path_len: usize,
    /// Value of the `Host` header.
    pub authority: String,
    /// Part of the path from `#` on, with the `#`; empty if none. Only a proxy gets this part.
    pub fragment: String,
    /// The user's header lines in the order of sending, each ending in CR LF, without the cookie manager's line.
    pub headers: Vec<u8>,
    /// Range of the plan's own `Cookie` line in `headers`, which the cookie manager's line replaces. If the plan has no
    /// `Cookie` line, the range is empty, and the cookie manager's line is inserted at its position.
    pub cookie_at: Range<usize>,
    /// Headers as the result shows them, joined by `\n`, without the cookie manager's line.
    pub request_headers: String,
    /// Range of the plan's own `Cookie` line in `request_headers`, with its line end; empty if the plan has no `Cookie`
    /// line.
    pub cookie_shown_at: Range<usize>,
    /// Compression that the plan's own headers offer. Without an offer, the server's choice is ignored.
    pub deflate: Option<DeflateOffer>,
    /// Connect timeout in milliseconds, at least 1.
    pub connect_timeout_ms: u32,
    /// Read timeout in milliseconds; 0 means no limit.
    pub read_timeout_ms: u32,
    /// True if a read timeout does not fail the sample.
    pub optional: bool,
    /// Opcode of the frame to send.
    pub opcode: u8,
    /// Payload of the frame to send, not masked.
    pub payload: Vec<u8>,
    /// Part of the payload that the sampler data shows.
    pub data: String,
    /// Code and message of the sample if the payload could not be built. The sample fails with them after the
    /// connection is established; no frame is sent.
    pub problem: Option<(String, String)>,
    /// Status code of the close frame.
    pub close_status: u16,
    /// Connection id for Zaleski's sampler. An open connection with this id is reused.
    pub connection: String,
    /// True if Zaleski's sampler keeps the connection open after the sample. Other samplers always keep it open.
    pub keeps: bool,
    style: Style,
}

/// The plug-in whose upgrade request is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Style {
    /// Upgrade request of Doornbosch's plug-in.
    #[default]
    Plain,
    /// Upgrade request of Jetty's client, which Zaleski's sampler uses.
    Jetty,
}

/// The relevant part of an offer of permessage-deflate. In this plug-in, only the *offer* determines whether
/// messages are decompressed, not the server's choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeflateOffer {
    /// True if each message of the server is decompressed separately.
    pub server_no_context_takeover: bool,
}

/// The error for a sample that could not be rendered.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Refusal {
    /// Response code of the sample.
    pub code: String,
    /// Response message of the sample.
    pub message: String,
    /// Sampler data of the sample.
    pub sampler_data: String,
    /// True if the time measurement of the sample had started. Otherwise JMeter reports a timestamp and an elapsed
    /// time of 0.
    pub started: bool,
}

impl WebSocket {
    /// Returns true if the sample always opens a new connection, even if the user already has a connection.
    pub fn opens(&self, env: &mut Env<'_>) -> bool {
        match &self.act {
            Act::Open => true,
            Act::RequestResponse(_) | Act::Read(_) | Act::Write => self.peer.creates.get(env),
            Act::PingPong | Act::Pong | Act::Close | Act::Hold(_) | Act::Exchange(_) => false,
        }
    }

    /// Returns true if rendering always has the same result.
    pub fn is_fixed(&self) -> bool {
        self.fixed
    }
}

impl Call {
    /// Clears all fields for the next sample and keeps the buffers.
    pub fn clear(&mut self) {
        for text in [
            &mut self.host,
            &mut self.url,
            &mut self.target,
            &mut self.authority,
            &mut self.fragment,
            &mut self.request_headers,
            &mut self.data,
            &mut self.connection,
        ] {
            text.clear();
        }
        self.headers.clear();
        self.payload.clear();
        (self.cookie_at, self.cookie_shown_at) = (0..0, 0..0);
        (self.opens, self.secure, self.optional) = (false, false, false);
        (self.port, self.path_len, self.opcode, self.close_status) = (0, 0, 0, 0);
        (self.connect_timeout_ms, self.read_timeout_ms) = (0, 0);
        (self.deflate, self.problem) = (None, None);
        (self.keeps, self.style) = (false, Style::Plain);
    }

    /// Appends the upgrade request, byte for byte as the plug-in sends it. `cookie` is the value of the cookie
    /// manager's line, empty if none. `proxied` is true for a request through a proxy: the request line then contains
    /// the whole URL.
    pub fn write_request(&self, key: &[u8], cookie: &str, proxied: bool, out: &mut Vec<u8>) {
        out.extend_from_slice(b"GET ");
        if proxied {
            let scheme = if self.secure { "https://" } else { "http://" };
            for piece in [scheme, &self.authority, &self.target, &self.fragment] {
                out.extend_from_slice(piece.as_bytes());
            }
        } else {
            out.extend_from_slice(self.target.as_bytes());
        }
        for piece in [" HTTP/1.1\r\nHost: ", &self.authority, "\r\n"] {
            out.extend_from_slice(piece.as_bytes());
        }
        if self.style == Style::Jetty {
            write_own_lines(key, out);
            out.extend_from_slice(b"Pragma: no-cache\r\nCache-Control: no-cache\r\n");
        }
        if cookie.is_empty() {
            out.extend_from_slice(&self.headers);
        } else {
            out.extend_from_slice(&self.headers[..self.cookie_at.start]);
            for piece in ["Cookie: ", cookie, "\r\n"] {
                out.extend_from_slice(piece.as_bytes());
            }
            out.extend_from_slice(&self.headers[self.cookie_at.end..]);
        }
        if self.style == Style::Plain {
            write_own_lines(key, out);
        }
        out.extend_from_slice(b"\r\n");
    }

    /// Appends the headers as the result shows them, including cookies.
    pub fn show_headers(&self, cookie: &str, out: &mut String) {
        if cookie.is_empty() {
            return out.push_str(&self.request_headers);
        }
        let (before, after) = (
            &self.request_headers[..self.cookie_shown_at.start],
            &self.request_headers[self.cookie_shown_at.end..],
        );
        out.push_str(before);
        if !before.is_empty() && !before.ends_with('\n') {
            out.push('\n');
        }
        out.push_str("Cookie: ");
        out.push_str(cookie);
        if !after.is_empty() {
            out.push('\n');
            out.push_str(after);
        }
    }
}

/// Writes the header lines with which the client requests the upgrade.
fn write_own_lines(key: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: ");
    out.extend_from_slice(key);
    out.extend_from_slice(b"\r\nSec-WebSocket-Version: 13\r\n");
}
