//! The summary's block on held connections: their number, how they were opened, their traffic, and how they ended.
use serde::Serialize;

use crate::close::{CloseCause, words};
use crate::counter::Counter;
use crate::grouped::{bytes, count, rate, things};
use crate::span::Span;
use crate::timeline::Timeline;
use crate::totals::Totals;

use super::{Spread, digits};

/// Metrics of held connections over the run. Times are in ms.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Connections {
    /// Number of connection attempts.
    pub started: u64,
    /// Number of opened connections.
    pub opened: u64,
    /// Number of failed connection attempts.
    pub failed: u64,
    /// Maximum number of held connections in a second.
    pub held_peak: u64,
    /// Number of held connections in the last second.
    pub held_last: u64,
    /// Connections opened per second, averaged over the seconds in which a connection was opened.
    pub opened_per_s: f64,
    /// Connections opened per second in the best ten consecutive seconds.
    pub opened_per_s_best_10s: f64,
    pub connect: Spread,
    pub upgrade: Spread,
    pub messages_in: u64,
    pub messages_out: u64,
    pub message_bytes_in: u64,
    pub message_bytes_out: u64,
    /// Messages received per second, over the whole run.
    pub messages_in_per_s: f64,
    /// Messages sent per second, over the whole run.
    pub messages_out_per_s: f64,
    pub message: Spread,
    pub heartbeats_sent: u64,
    pub heartbeats_answered: u64,
    pub heartbeats_missed: u64,
    pub heartbeat: Spread,
    /// Maximum number of bytes in users' inboxes: messages that were received and not read yet.
    pub inbox_peak: u64,
    /// Number of messages dropped because an inbox was full.
    pub inbox_dropped: u64,
    /// Number of times that reading from a connection stopped because an inbox was full.
    pub reading_stopped: u64,
    pub closed: Vec<ClosedLine>,
    #[serde(skip)]
    duration_s: f64,
    #[serde(skip)]
    has: [bool; Span::COUNT],
}

/// Connections that ended with the same cause and code.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClosedLine {
    pub count: u64,
    pub cause: CloseCause,
    /// WebSocket close code, or HTTP status of a refused upgrade; 0 for none.
    pub code: u16,
    /// Description of the cause and code for the text output.
    pub words: String,
    /// Advice for the user about the cause, if there is any.
    pub hint: Option<String>,
    /// Time without a byte in either direction before the end, in ms: 10th percentile.
    pub idle_p10_ms: u64,
    /// Time without a byte in either direction before the end, in ms: median.
    pub idle_p50_ms: u64,
    /// Time without a byte in either direction before the end, in ms: 90th percentile.
    pub idle_p90_ms: u64,
    /// Median in ms of the time without a byte before the end, if a timeout is likely: the median is at least 5 s, and
    /// the 10th and 90th percentiles are close to each other. Otherwise `None`.
    pub idle_common_ms: Option<u64>,
}

impl Connections {
    /// Computes the block; `None` for a run without WebSocket connections.
    pub(super) fn new(totals: &Totals, timeline: &Timeline, duration_ms: i64) -> Option<Self> {
        let n = |counter| totals.counters.get(counter);
        let (opened, failed) = (n(Counter::WsOpened), n(Counter::WsFailed));
        let started = n(Counter::WsStarted).max(opened + failed);
        if started == 0 {
            return None;
        }
        let duration_s = (duration_ms.max(1)) as f64 / 1000.0;
        let spread = |span: Span| {
            let hist = totals.span(span);
            Spread::new(hist, hist.quantile(1.0).saturating_mul(1000))
        };
        Some(Self {
            started,
            opened,
            failed,
            held_peak: timeline.held_peak,
            held_last: timeline.held_last,
            opened_per_s: timeline.opened_mean(),
            opened_per_s_best_10s: timeline.opened_best,
            connect: spread(Span::Connect),
            upgrade: spread(Span::Upgrade),
            messages_in: n(Counter::MessagesIn),
            messages_out: n(Counter::MessagesOut),
            message_bytes_in: n(Counter::MessageBytesIn),
            message_bytes_out: n(Counter::MessageBytesOut),
            messages_in_per_s: n(Counter::MessagesIn) as f64 / duration_s,
            messages_out_per_s: n(Counter::MessagesOut) as f64 / duration_s,
            message: spread(Span::Message),
            heartbeats_sent: n(Counter::HeartbeatsSent),
            heartbeats_answered: n(Counter::HeartbeatsAnswered),
            heartbeats_missed: n(Counter::HeartbeatsMissed),
            heartbeat: spread(Span::Heartbeat),
            inbox_peak: timeline.inbox_peak,
            inbox_dropped: n(Counter::InboxDropped),
            reading_stopped: n(Counter::ReadingStopped),
            closed: closed_lines(totals),
            duration_s,
            has: Span::ALL.map(|span| totals.span(span).total() > 0),
        })
    }

    pub(super) fn text(&self) -> String {
        let mut out = String::from("\nConnections over time\n");
        self.push_openings(&mut out);
        self.push_traffic(&mut out);
        self.push_closings(&mut out);
        out
    }

    fn has(&self, span: Span) -> bool {
        self.has[span as usize]
    }

    fn push_openings(&self, out: &mut String) {
        push_line(
            out,
            "held",
            format!(
                "{} at most, {} in the last second; {} of {} openings succeeded, {} failed",
                count(self.held_peak),
                count(self.held_last),
                count(self.opened),
                count(self.started),
                count(self.failed)
            ),
        );
        let best = match self.opened_per_s_best_10s {
            0.0 => String::new(),
            best => format!(", {}/s over the best 10 s", rate(best)),
        };
        if self.opened > 0 {
            push_line(out, "opened", format!("{}/s while opening{best}", rate(self.opened_per_s)));
        }
        if self.has(Span::Connect) {
            push_line(out, "connect", spread(&self.connect));
        }
        if self.has(Span::Upgrade) {
            push_line(out, "upgrade", spread(&self.upgrade));
        }
    }

    /// Appends the lines for messages, heartbeats and inboxes.
    fn push_traffic(&self, out: &mut String) {
        if self.messages_in + self.messages_out > 0 {
            let side = |n: u64, size: u64, word: &str| {
                let per_s = rate(n as f64 / self.duration_s);
                format!("{} {word} ({per_s}/s, {})", count(n), bytes(size))
            };
            push_line(
                out,
                "messages",
                format!(
                    "{}, {}",
                    side(self.messages_in, self.message_bytes_in, "in"),
                    side(self.messages_out, self.message_bytes_out, "out")
                ),
            );
        }
        if self.has(Span::Message) {
            push_line(out, "latency", spread(&self.message));
        }
        if self.heartbeats_sent > 0 {
            let answer = if self.has(Span::Heartbeat) {
                format!("; round trip {}", spread(&self.heartbeat))
            } else {
                String::new()
            };
            push_line(
                out,
                "heartbeats",
                format!(
                    "{} sent, {} answered, {} missed{answer}",
                    count(self.heartbeats_sent),
                    count(self.heartbeats_answered),
                    count(self.heartbeats_missed)
                ),
            );
        }
        if self.inbox_peak + self.inbox_dropped + self.reading_stopped > 0 {
            push_line(
                out,
                "inboxes",
                format!(
                    "at most {} queued for users; {} dropped, reading stopped {}",
                    bytes(self.inbox_peak),
                    things(self.inbox_dropped, "message"),
                    things(self.reading_stopped, "time")
                ),
            );
        }
    }

    fn push_closings(&self, out: &mut String) {
        if !self.closed.is_empty() {
            out.push_str("\nClosed connections by cause\n");
        }
        for closed in &self.closed {
            out.push_str(&format!("  {}\n", closed.words));
            if let Some(hint) = &closed.hint {
                out.push_str(&format!("      {hint}\n"));
            }
        }
    }
}

fn push_line(out: &mut String, name: &str, text: String) {
    out.push_str(&format!("  {name:<14}{text}\n"));
}

fn spread(spread: &Spread) -> String {
    format!(
        "p50 {}  p90 {}  p99 {}  max {} ms",
        digits(spread.p50),
        digits(spread.p90),
        digits(spread.p99),
        digits(spread.max)
    )
}

/// Returns the lines of closed connections: unexpected causes first, then by frequency.
fn closed_lines(totals: &Totals) -> Vec<ClosedLine> {
    let mut lines: Vec<ClosedLine> = totals
        .closed()
        .iter()
        .map(|closed| {
            let idle = &closed.idle_ms;
            let [idle_p10_ms, idle_p50_ms, idle_p90_ms] = idle.quantiles([0.1, 0.5, 0.9]);
            ClosedLine {
                count: idle.total(),
                cause: closed.cause,
                code: closed.code,
                words: words::line(closed.cause, closed.code, idle),
                hint: words::hint(closed.cause, idle),
                idle_p10_ms,
                idle_p50_ms,
                idle_p90_ms,
                idle_common_ms: words::common_idle_ms(idle),
            }
        })
        .collect();
    lines.sort_by(|a, b| {
        let wanted = a.cause.was_wanted().cmp(&b.cause.was_wanted());
        wanted.then(b.count.cmp(&a.count)).then(a.cause.cmp(&b.cause)).then(a.code.cmp(&b.code))
    });
    lines
}
