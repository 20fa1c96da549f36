//! WebSocket samplers: their compiled form, what one sample sends, and what its result says.
//!
//! The samplers are those of Peter Doornbosch's plug-in (version 1.3.1), followed to the letter; the older one by
//! Maciej Zaleski and a *hold* of our own run on the same connections. A user has one connection, which survives
//! iterations. Rendering fills buffers of the core that are reused; a sampler of which nothing can vary is rendered
//! once. Frames are only looked at here: reading, sending and time belong to the engine.

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
pub use hold::{Heard, Hold, HoldSettings};
pub use zaleski::{GOODBYE, Talk, Verdict, Zaleski};

use crate::env::Env;
use crate::http::Header;
use crate::template::Template;
use crate::template::flag::Flag;

/// A compiled WebSocket sampler.
#[derive(Debug)]
pub struct WebSocket {
    /// Its deed.
    pub act: Act,
    /// The cookie manager in scope, for samplers that may open a connection.
    pub cookies: Option<u32>,
    /// Frame filters in scope: the first is the outermost, the last sees what comes from the connection.
    pub filters: Vec<FilterId>,
    /// The heartbeat for connections that it opens.
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

/// The deed of a WebSocket sampler.
#[derive(Debug)]
pub enum Act {
    /// Opens a connection, and closes the one before without a word.
    Open,
    /// Sends a frame and reads one of the given type.
    RequestResponse(Want),
    /// Reads one frame.
    Read(Want),
    /// Sends a frame.
    Write,
    /// Sends an empty ping and reads a pong.
    PingPong,
    /// Sends an empty pong.
    Pong,
    /// Sends a close frame and reads one.
    Close,
    /// Keeps the connection and counts messages.
    Hold(Box<Hold>),
    /// Zaleski's sampler: opens if need be, sends, and waits for a message that matches.
    Exchange(Box<Zaleski>),
}

/// The demand on a frame that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// A text frame, or what continues one.
    Text,
    /// A binary frame, or what continues one.
    Binary,
    /// Either.
    Any,
}

impl Want {
    /// Whether a frame is what is wanted.
    pub fn admits(self, frame: &Frame<'_>) -> bool {
        match self {
            Self::Text => frame.kind == FrameKind::Text,
            Self::Binary => frame.kind == FrameKind::Binary,
            Self::Any => matches!(frame.kind, FrameKind::Text | FrameKind::Binary),
        }
    }
}

/// Where a connection goes.
#[derive(Debug, Default)]
struct Peer {
    /// Whether the sampler opens a connection of its own.
    creates: Flag,
    secure: Flag,
    server: Template,
    port: Template,
    path: Template,
}

/// The payload that a sampler sends.
#[derive(Debug, Default)]
struct Payload {
    form: Form,
    data: Template,
    from_file: Flag,
    file: Template,
}

/// How the text of a payload becomes bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Form {
    #[default]
    Text,
    /// Template in which `^@` stands for NUL.
    Stomp,
    /// Bytes in hexadecimal.
    Binary,
}

/// The call of one sample, evaluated. One per core, reused.
#[derive(Debug, Default)]
pub struct Call {
    /// A new connection is wanted; the one before is dropped without a close frame.
    pub opens: bool,
    /// TLS.
    pub secure: bool,
    /// Host to connect to, without brackets.
    pub host: String,
    /// Port to connect to.
    pub port: u16,
    /// `ws://host:port/path` as the sampler's data shows it.
    pub url: String,
    /// Path and query of the request line.
    pub target: String,
    /// Path alone of `target` (for cookies).
    pub path_len: usize,
    /// Value of the `Host` line.
    pub authority: String,
    /// The text from `#` on in the path, which is sent to nobody but a proxy; empty or with its `#`.
    pub fragment: String,
    /// The user's header lines in the order in which they are sent, each ended by CR LF, without the cookie manager's.
    pub headers: Vec<u8>,
    /// The line in `headers` that the cookie manager's line takes the place of; empty where the line is inserted.
    pub cookie_at: Range<usize>,
    /// Headers as the result shows them, joined by `\n`, without the cookie manager's.
    pub request_headers: String,
    /// As `cookie_at`, in `request_headers`: whole lines with their line ends.
    pub cookie_shown_at: Range<usize>,
    /// The compression that the plan's own headers offer; without it the server's choice is not looked at.
    pub deflate: Option<DeflateOffer>,
    /// Milliseconds, at least 1.
    pub connect_timeout_ms: u32,
    /// Milliseconds; 0 is without end.
    pub read_timeout_ms: u32,
    /// A read that times out is no failure.
    pub optional: bool,
    /// Opcode of the frame to send.
    pub opcode: u8,
    /// Payload of the frame to send, not masked.
    pub payload: Vec<u8>,
    /// The part of it that the sampler's data shows.
    pub data: String,
    /// Why the payload could not be made, as code and message. Found out once the connection stands; nothing is sent.
    pub problem: Option<(String, String)>,
    /// Status of the close frame.
    pub close_status: u16,
    /// Which connection, for Zaleski's sampler: one that is open and has this id is used instead of a new one.
    pub connection: String,
    /// The connection stays open at the end of the sample (Zaleski's sampler; all others leave it).
    pub keeps: bool,
    style: Style,
}

/// The plug-in whose upgrade request it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Style {
    /// That of Doornbosch's plug-in.
    #[default]
    Plain,
    /// That of Jetty's client, by which Zaleski's sampler connects.
    Jetty,
}

/// An offer of permessage-deflate, as far as the client goes by it: a plug-in's quirk is that only the *offer* decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeflateOffer {
    /// The server's messages are inflated each by itself.
    pub server_no_context_takeover: bool,
}

/// Why a sample could not be made.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Refusal {
    /// Response code.
    pub code: String,
    /// Response message.
    pub message: String,
    /// Sampler data.
    pub sampler_data: String,
    /// Whether its time had begun. Otherwise time stamp and elapsed are 0 in JMeter.
    pub started: bool,
}

impl WebSocket {
    /// Whether a sample opens a connection, where that does not depend on the one that its user has.
    pub fn opens(&self, env: &mut Env<'_>) -> bool {
        match &self.act {
            Act::Open => true,
            Act::RequestResponse(_) | Act::Read(_) | Act::Write => self.peer.creates.get(env),
            Act::PingPong | Act::Pong | Act::Close | Act::Hold(_) | Act::Exchange(_) => false,
        }
    }

    /// Whether every rendering gives the same call.
    pub fn is_fixed(&self) -> bool {
        self.fixed
    }
}

impl Call {
    /// Empties everything for the next sample, keeping the buffers.
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
    /// manager's line, empty if there is none. Through the tunnel of a proxy the plug-in names the whole URL.
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

    /// Appends the headers as the result shows them, cookies included.
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

/// The lines by which a request asks for the upgrade.
fn write_own_lines(key: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: ");
    out.extend_from_slice(key);
    out.extend_from_slice(b"\r\nSec-WebSocket-Version: 13\r\n");
}
