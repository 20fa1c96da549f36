//! A received frame, and how the plug-in describes it.

use super::binary;

/// A received frame. A continuation has the kind of the frame that it continues.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Kind of the frame.
    pub kind: FrameKind,
    /// True if the frame is the last of its message.
    pub fin: bool,
    /// True if the frame continues a message.
    pub continuation: bool,
    /// Payload, decompressed if it was compressed.
    pub payload: &'a [u8],
    /// Size of the frame in bytes as transferred, including its header.
    pub size: u64,
    /// True if the message is compressed and incomplete, so that there is no payload to show yet.
    pub placeholder: bool,
}

/// Kind of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// A text frame.
    Text,
    /// A binary frame.
    Binary,
    /// A close frame.
    Close,
    /// A ping frame.
    Ping,
    /// A pong frame.
    Pong,
}

/// The string that the plug-in shows instead of an incomplete compressed text.
const INCOMPLETE: &str =
    "<not showing response data, because it is compressed and at this stage incomplete>";

/// Maximum number of bytes of a binary frame that its description shows.
const SHOWN: usize = 16;

impl<'a> Frame<'a> {
    /// Returns the payload in the form in which the plug-in shows it.
    pub fn shown(&self) -> &'a [u8] {
        match (self.placeholder, self.kind) {
            (true, FrameKind::Text) => INCOMPLETE.as_bytes(),
            (true, _) => &[],
            (false, _) => self.payload,
        }
    }

    /// True for a data frame, false for a control frame.
    pub fn is_data(&self) -> bool {
        matches!(self.kind, FrameKind::Text | FrameKind::Binary)
    }

    /// Returns the name of the frame's type: `text`, `non-final binary`, `final continuation`, `close`.
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

    /// Appends the description of the frame that messages contain.
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

    /// Returns the status code of a close frame as the plug-in reads it: as a signed number.
    pub fn close_status(&self) -> Option<i32> {
        match self.payload {
            [high, low, ..] => Some(i32::from(i16::from_be_bytes([*high, *low]))),
            _ => None,
        }
    }

    /// Returns the reason of a close frame.
    pub fn close_reason(&self) -> Option<&'a [u8]> {
        self.payload.get(2..).filter(|reason| !reason.is_empty())
    }
}
