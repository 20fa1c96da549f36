//! The WebSocket connections of a run in one second: how many are open, and their traffic.
//!
//! Counts cover one second. `opening`, `held`, `inbox_bytes` and `not_read` are states at the end of the second,
//! computed from the counters of the run so far. Absent in runs without WebSocket connections.
use serde::Serialize;

use crate::close::CloseCause;
use crate::counter::{Counter, Counters};
use crate::hist::Hist;
use crate::snapshot::Snapshot;
use crate::span::Span;

/// Metrics of the WebSocket connections in one second. Times are in milliseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Flow {
    /// Number of connections being opened at the end of the second.
    pub opening: u64,
    /// Number of open connections at the end of the second.
    pub held: u64,
    pub opened: u64,
    pub failed: u64,
    pub closed: u64,
    pub connect_p50_ms: f64,
    pub connect_p99_ms: f64,
    pub upgrade_p50_ms: f64,
    pub upgrade_p99_ms: f64,
    pub messages_in: u64,
    pub messages_out: u64,
    pub message_bytes_in: u64,
    pub message_bytes_out: u64,
    pub message_p50_ms: f64,
    pub message_p99_ms: f64,
    pub heartbeats_sent: u64,
    pub heartbeats_answered: u64,
    pub heartbeats_missed: u64,
    /// Bytes of messages that are queued for their users at the end of the second.
    pub inbox_bytes: u64,
    pub inbox_dropped: u64,
    /// Number of times that reading of a socket stopped in the second.
    pub reading_stopped: u64,
    /// Number of sockets that are not being read at the end of the second.
    pub not_read: u64,
    /// Number of sockets whose unread bytes in the kernel were queried.
    pub unread_probed: u64,
    /// Number of unread bytes in the kernel that queries of sockets found.
    pub unread_bytes: u64,
    pub closes: Vec<FlowClose>,
}

/// Connections that ended with the same cause and code in this second.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowClose {
    pub cause: CloseCause,
    pub code: u16,
    pub count: u64,
    /// Median of the time without a byte in either direction, in ms.
    pub idle_p50_ms: u64,
}

impl Flow {
    /// Builds the metrics of a second. `second` holds the merged snapshots of the second; `so_far` holds the
    /// counters of the run including this second. Returns `None` if the run has started no WebSocket connection.
    pub fn new(second: &Snapshot, so_far: &Counters) -> Option<Self> {
        let all = |counter| so_far.get(counter);
        let begun = all(Counter::WsStarted).max(all(Counter::WsOpened) + all(Counter::WsFailed));
        if begun == 0 {
            return None;
        }
        let n = |counter| second.counters.get(counter);
        let left = |of: u64, less: u64| of.saturating_sub(less);
        let points = |span: Span| {
            let mut hist = Hist::new();
            hist.add(second.spans.get(span));
            hist.quantiles([0.5, 0.99]).map(|us| us as f64 / 1000.0)
        };
        let [connect_p50_ms, connect_p99_ms] = points(Span::Connect);
        let [upgrade_p50_ms, upgrade_p99_ms] = points(Span::Upgrade);
        let [message_p50_ms, message_p99_ms] = points(Span::Message);
        let closes = second.closes.iter().map(|close| {
            let mut hist = Hist::new();
            hist.add(&close.idle_ms);
            FlowClose {
                cause: close.cause,
                code: close.code,
                count: hist.total(),
                idle_p50_ms: hist.quantile(0.5),
            }
        });
        Some(Self {
            opening: left(begun, all(Counter::WsOpened) + all(Counter::WsFailed)),
            held: left(all(Counter::WsOpened), all(Counter::WsClosed)),
            opened: n(Counter::WsOpened),
            failed: n(Counter::WsFailed),
            closed: n(Counter::WsClosed),
            connect_p50_ms,
            connect_p99_ms,
            upgrade_p50_ms,
            upgrade_p99_ms,
            messages_in: n(Counter::MessagesIn),
            messages_out: n(Counter::MessagesOut),
            message_bytes_in: n(Counter::MessageBytesIn),
            message_bytes_out: n(Counter::MessageBytesOut),
            message_p50_ms,
            message_p99_ms,
            heartbeats_sent: n(Counter::HeartbeatsSent),
            heartbeats_answered: n(Counter::HeartbeatsAnswered),
            heartbeats_missed: n(Counter::HeartbeatsMissed),
            inbox_bytes: left(all(Counter::InboxIn), all(Counter::InboxOut)),
            inbox_dropped: n(Counter::InboxDropped),
            reading_stopped: n(Counter::ReadingStopped),
            not_read: left(all(Counter::ReadingStopped), all(Counter::ReadingResumed)),
            unread_probed: n(Counter::UnreadProbed),
            unread_bytes: n(Counter::UnreadBytes),
            closes: closes.collect(),
        })
    }

    /// Returns the mean number of unread bytes per queried socket; 0 if no socket was queried.
    pub fn unread_each(&self) -> u64 {
        self.unread_bytes.checked_div(self.unread_probed).unwrap_or(0)
    }
}
