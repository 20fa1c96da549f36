//! Settings of WebSocket connections.

use super::Properties;
use crate::time::clock::MS;

/// The action when an inbox overflows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WhenFull {
    /// Reading stops until the user reads; the peer's sends block.
    Stop,
    DropOldest,
    /// The connection is closed, because its inbox is full.
    Fail,
}

/// The way in which a user's WebSocket connection is closed when the user ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtUserEnd {
    /// TCP is closed without a WebSocket close frame.
    Tcp,
    /// A close frame is sent first.
    CloseFrame,
}

/// Settings of WebSocket connections.
#[derive(Clone, Debug)]
pub(crate) struct WebSocket {
    /// Maximum number of bytes in the inbox of a user that does not read (`throng.websocket.inbox.bytes`).
    pub(crate) inbox_bytes: usize,
    /// The action when an inbox overflows (`throng.websocket.inbox.full`).
    pub(crate) inbox_full: WhenFull,
    /// True if frames that filters discard count in a sample's size (`websocket.result.size_includes_filtered_frames`).
    pub(crate) count_discarded: bool,
    /// The way in which a user's WebSocket connection is closed when the user ends
    /// (`websocket.thread.stop.policy`).
    pub(crate) at_user_end: AtUserEnd,
    /// Delay before a user opens a WebSocket connection after a failed or lost connection
    /// (`throng.websocket.reconnect.first_ms`, `throng.websocket.reconnect.most_ms`).
    pub(crate) backoff: crate::net::pace::Backoff,
}

impl WebSocket {
    pub(super) fn of(get: &Properties<'_>) -> Self {
        Self {
            inbox_bytes: get.number("throng.websocket.inbox.bytes", 65_536).max(0) as usize,
            inbox_full: match get.text("throng.websocket.inbox.full", "stop").trim() {
                "drop_oldest" => WhenFull::DropOldest,
                "fail" => WhenFull::Fail,
                _ => WhenFull::Stop,
            },
            count_discarded: get.is("websocket.result.size_includes_filtered_frames", false),
            at_user_end: if get
                .text("websocket.thread.stop.policy", "none")
                .trim()
                .eq_ignore_ascii_case("wsclose")
            {
                AtUserEnd::CloseFrame
            } else {
                AtUserEnd::Tcp
            },
            backoff: crate::net::pace::Backoff {
                first: get.number("throng.websocket.reconnect.first_ms", 100).max(0) * MS,
                most: get.number("throng.websocket.reconnect.most_ms", 10_000).max(0) * MS,
            },
        }
    }
}
