//! Rules on a generator that reads too slowly or not at all: full inboxes, unread data, closed windows.

use record::Record;
use record::frame::RECEIVE_BUFFER;
use stats::Counter;
use stats::grouped::{bytes, count};

use super::figures::{counter, requests, span, sum};
use super::ports::setting;
use super::say::{found, lacks, size, words};
use crate::verdict::{About, Confidence, Said, Words};

/// Unread bytes of a socket from which they count as a backlog.
const UNREAD_BACKLOG: u64 = 64 << 10;
/// Number of consecutive seconds with growing unread bytes from which they count as a backlog.
const UNREAD_SECONDS: u64 = 5;
/// Unread bytes of a socket below which growth is ignored.
const UNREAD_SOME: u64 = 4 << 10;
/// Largest number of zero windows per held connection that may be a coincidence.
const ZERO_WINDOWS_HELD: f64 = 0.001;
/// Largest number of zero windows per request that may be a coincidence, in a run without held connections.
const ZERO_WINDOWS_REQUESTS: f64 = 0.05;
/// Smallest number of zero windows for a finding.
const ZERO_WINDOWS_LEAST: u64 = 10;
/// Initial receive buffer of a socket in bytes where the record does not contain it: the default of Linux.
const RECEIVE_BUFFER_OWN: f64 = 131_072.0;

pub(super) fn reading_stopped(record: &Record) -> Said {
    if !record.has.connections {
        return lacks!(run: counters_of_connections);
    }
    let (mut not_read, mut peak, mut queued, mut most) = (0_i64, 0, 0_i64, 0);
    for second in &record.seconds {
        let n = |counter| second.counters.get(counter) as i64;
        not_read += n(Counter::ReadingStopped) - n(Counter::ReadingResumed);
        queued += n(Counter::InboxIn) - n(Counter::InboxOut);
        (peak, most) = (peak.max(not_read), most.max(queued));
    }
    let stopped = counter(&record.seconds, Counter::ReadingStopped);
    if stopped == 0 {
        return Said::Nothing;
    }
    let most = most.max(0) as u64;
    let (times, most) = (count(stopped), size(most));
    found(
        "reading_stopped",
        About::Generator,
        Confidence::Certain,
        words!(reading_stopped_found(times, peak, not_read, most)),
    )
    .with("reading_stopped", stopped as f64, "times", span(&record.seconds))
    .advise(words!(reading_stopped_advice))
    .said()
}

pub(super) fn messages_dropped(record: &Record) -> Said {
    if !record.has.connections {
        return lacks!(run: counters_of_connections);
    }
    let dropped = counter(&record.seconds, Counter::InboxDropped);
    if dropped == 0 {
        return Said::Nothing;
    }
    let all = count(counter(&record.seconds, Counter::MessagesIn).max(dropped));
    let n = count(dropped);
    found(
        "messages_dropped",
        About::Generator,
        Confidence::Certain,
        words!(messages_dropped_found(n, all)),
    )
    .with("messages_dropped", dropped as f64, "messages", span(&record.seconds))
    .advise(words!(messages_dropped_advice))
    .said()
}

pub(super) fn unread_growing(record: &Record) -> Said {
    if !record.has.connections {
        return lacks!(run: counters_of_connections);
    }
    let (mut last, mut grew, mut longest, mut peak) = (0, 0_u64, 0, 0);
    for second in &record.seconds {
        let probed = second.counters.get(Counter::UnreadProbed);
        let Some(each) = second.counters.get(Counter::UnreadBytes).checked_div(probed) else {
            continue;
        };
        grew = if each > last && each >= UNREAD_SOME { grew + 1 } else { 0 };
        (last, longest, peak) = (each, longest.max(grew), peak.max(each));
    }
    if peak < UNREAD_BACKLOG && longest < UNREAD_SECONDS {
        return Said::Nothing;
    }
    let each = bytes(peak);
    found(
        "unread_growing",
        About::Generator,
        Confidence::Arithmetic,
        words!(unread_growing_found(each, longest)),
    )
    .with("unread_bytes", peak as f64, "bytes", span(&record.seconds))
    .advise(words!(unread_growing_advice))
    .explaining(&["zero_windows"])
    .said()
}

/// Returns the smallest number of bytes that fill a window: half of a receive buffer, because the rest is not for data.
fn window_least(record: &Record) -> u64 {
    let buffer = setting(record, RECEIVE_BUFFER).filter(|bytes| *bytes >= 2.0);
    (buffer.unwrap_or(RECEIVE_BUFFER_OWN) / 2.0) as u64
}

/// Returns the advice: if sockets start with a smaller buffer than the Linux default, use the default.
fn remedy(record: &Record) -> Words {
    match setting(record, RECEIVE_BUFFER) {
        Some(bytes) if bytes > 0.0 && bytes < RECEIVE_BUFFER_OWN => {
            let bytes = count(bytes as u64);
            words!(small_receive_buffer_advice(bytes))
        }
        _ => words!(zero_windows_advice),
    }
}

pub(super) fn zero_windows(record: &Record) -> Said {
    if !record.seconds.iter().any(|s| s.machine.is_some()) {
        return lacks!(run: figures_of_generator_machine);
    }
    let all = sum(&record.seconds, |s| s.machine.as_ref().map_or(0, |m| m.zero_windows_offered));
    let (mut held, mut most) = (0_i64, 0_i64);
    for second in &record.seconds {
        let n = |counter| second.counters.get(counter) as i64;
        held += n(Counter::WsOpened) - n(Counter::WsClosed);
        most = most.max(held);
    }
    // Only received bytes can fill a window, and the machine's count includes other programs. Data that stays unread in
    // held connections was never received.
    let received = sum(&record.seconds, |s| s.counters.get(Counter::BytesIn));
    let n = if most > 0 { all } else { all.min(received / window_least(record)) };
    let limit = match most {
        ..=0 => ZERO_WINDOWS_REQUESTS * requests(&record.seconds) as f64,
        most => ZERO_WINDOWS_HELD * most as f64,
    };
    if n < ZERO_WINDOWS_LEAST || n as f64 <= limit {
        return Said::Nothing;
    }
    let times = count(n);
    found("zero_windows", About::Generator, Confidence::Certain, words!(zero_windows_found(times)))
        .with("zero_windows", n as f64, "times", span(&record.seconds))
        .advise(remedy(record))
        .said()
}
