//! The WebSocket connections of a run in one second: how many stand, and what went over them.
//!
//! Counts are of the second; `opening`, `held`, `inbox_bytes` and `not_read` say how things stand at
//! its end, from the counters of the run so far. Absent in runs without such connections.
use serde::Serialize;

use crate::close::CloseCause;
use crate::counter::{Counter, Counters};
use crate::hist::Hist;
use crate::snapshot::Snapshot;
use crate::span::Span;

/// Times in milliseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Flow {
    /// Connections being opened, and open connections, now.
    pub opening: u64,
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
    /// Bytes of messages that wait for their users now.
    pub inbox_bytes: u64,
    pub inbox_dropped: u64,
    /// Sockets that reading stopped for, and those not read now.
    pub reading_stopped: u64,
    pub not_read: u64,
    /// Sockets that were asked for what lies unread in the kernel, and the bytes found.
    pub unread_probed: u64,
    pub unread_bytes: u64,
    pub closes: Vec<FlowClose>,
}

/// Connections that ended in one way in this second.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowClose {
    pub cause: CloseCause,
    pub code: u16,
    pub count: u64,
    /// Median of the time without a byte either way.
    pub idle_p50_ms: u64,
}

impl Flow {
    /// `second` holds the second's snapshots merged; `so_far` is counted over the run, that second
    /// included. `None` in a run that has begun no such connection.
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

    /// Unread bytes of a socket on average; 0 when none was asked.
    pub fn unread_each(&self) -> u64 {
        self.unread_bytes.checked_div(self.unread_probed).unwrap_or(0)
    }
}
