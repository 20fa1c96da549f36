//! WebSocket connections: settings.

use super::Properties;
use crate::time::clock::MS;

/// The deed of an inbox that is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WhenFull {
    /// Nothing more is read until the user reads: the peer's sends stall.
    Stop,
    DropOldest,
    /// The connection is closed.
    Fail,
}

/// The end of a WebSocket connection whose user ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtUserEnd {
    /// It is closed without a word.
    Tcp,
    /// A close frame is sent first.
    CloseFrame,
}

/// Settings of WebSocket connections.
#[derive(Clone, Debug)]
pub(crate) struct WebSocket {
    /// Bytes that may wait for a user that does not read (`throng.websocket.inbox.bytes`).
    pub(crate) inbox_bytes: usize,
    /// The deed of an inbox that is full (`throng.websocket.inbox.full`).
    pub(crate) inbox_full: WhenFull,
    /// Frames that filters take out count in a sample's size (`websocket.result.size_includes_filtered_frames`).
    pub(crate) count_discarded: bool,
    /// The end of a WebSocket connection whose user ends (`websocket.thread.stop.policy`).
    pub(crate) at_user_end: AtUserEnd,
    /// Before a user opens a WebSocket connection after one that failed or was lost
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
