//! A frame as it came from the connection, and what the plug-in's words for it are.

use super::binary;

/// A frame that was read. Continuations have the kind of the frame that they continue.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Its kind.
    pub kind: FrameKind,
    /// The last of its message.
    pub fin: bool,
    /// It continues a message.
    pub continuation: bool,
    /// Its payload, inflated if it was compressed.
    pub payload: &'a [u8],
    /// Bytes on the wire, header included.
    pub size: u64,
    /// Compressed, and more of its message is to come: there is nothing to show yet.
    pub placeholder: bool,
}

/// Kinds of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// Text.
    Text,
    /// Bytes.
    Binary,
    /// The end of the connection.
    Close,
    /// A ping.
    Ping,
    /// A pong.
    Pong,
}

/// The plug-in's text in place of a compressed text of which a part is missing.
const INCOMPLETE: &str =
    "<not showing response data, because it is compressed and at this stage incomplete>";

/// How many bytes of a binary frame its description shows.
const SHOWN: usize = 16;

impl<'a> Frame<'a> {
    /// The payload as the plug-in hands it on.
    pub fn shown(&self) -> &'a [u8] {
        match (self.placeholder, self.kind) {
            (true, FrameKind::Text) => INCOMPLETE.as_bytes(),
            (true, _) => &[],
            (false, _) => self.payload,
        }
    }

    /// Whether it carries data, not control.
    pub fn is_data(&self) -> bool {
        matches!(self.kind, FrameKind::Text | FrameKind::Binary)
    }

    /// The type in words: `text`, `non-final binary`, `final continuation`, `close`.
    pub fn type_name(&self) -> &'static str {
        match (self.kind, self.continuation, self.fin) {
            (FrameKind::Close, ..) => "close",
            (FrameKind::Ping, ..) => "ping",
            (FrameKind::Pong, ..) => "pong",
            (_, true, true) => "final continuation",
            (_, true, false) => "continuation",
            (FrameKind::Text, false, true) => "text",
            (FrameKind::Text, false, false) => "non-final text",
            (FrameKind::Binary, false, true) => "binary",
            (FrameKind::Binary, false, false) => "non-final binary",
        }
    }

    /// Appends the description that messages hold.
    pub fn describe(&self, out: &mut String) {
        use std::fmt::Write;
        let payload = self.shown();
        let text = |bytes| String::from_utf8_lossy(bytes);
        let _ = match self.kind {
            FrameKind::Text => write!(out, "Text frame with text '{}'", text(payload)),
            FrameKind::Binary if payload.is_empty() => write!(out, "Binary frame, empty payload"),
            FrameKind::Binary => {
                let _ = write!(out, "Binary frame, payload (length {}): ", payload.len());
                binary::format(payload, SHOWN, " ...", out);
                Ok(())
            }
            FrameKind::Close => {
                let _ = match self.close_status() {
                    Some(status) => write!(out, "Close frame with status code {status}"),
                    None => write!(out, "Close frame with status code null"),
                };
                match self.close_reason() {
                    Some(reason) => write!(out, " and close reason '{}'", text(reason)),
                    None => write!(out, " and close reason 'null'"),
                }
            }
            FrameKind::Ping | FrameKind::Pong => {
                let name = if self.kind == FrameKind::Ping { "Ping" } else { "Pong" };
                let _ = write!(out, "{name} frame with ");
                match payload {
                    [] => write!(out, "no application data"),
                    data => write!(out, "application data '{}'", text(data)),
                }
            }
        };
    }

    /// Status of a close frame as the plug-in reads it, whose first byte has a sign.
    pub fn close_status(&self) -> Option<i32> {
        match self.payload {
            [high, low, ..] => Some(i32::from(i16::from_be_bytes([*high, *low]))),
            _ => None,
        }
    }

    /// Reason of a close frame.
    pub fn close_reason(&self) -> Option<&'a [u8]> {
        self.payload.get(2..).filter(|reason| !reason.is_empty())
    }
}
