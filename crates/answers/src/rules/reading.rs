//! Rules on a generator that reads too slowly or not at all: full inboxes, unread data, closed windows.

use record::Record;
use record::frame::RECEIVE_BUFFER;
use stats::Counter;
use stats::grouped::{bytes, bytes_zh, count};

use super::figures::{counter, requests, span, sum};
use super::ports::setting;
use super::say::{found, lacks, words};
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
        return lacks!(run: "counters of connections", "连接计数");
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
    let (times, most, most_zh) = (count(stopped), bytes(most), bytes_zh(most));
    found(
        "reading_stopped",
        About::Generator,
        Confidence::Certain,
        words!(
            "Sockets were left unread {times} times because their users' inboxes were full: on {peak} sockets at once at most, {not_read} at the end; at most {most} were queued.",
            "由于用户收件箱已满，套接字被暂停读取 {times} 次：最多同时 {peak} 个，结束时 {not_read} 个；最多排队 {most_zh}。"
        ),
    )
    .with("reading_stopped", stopped as f64, "times", span(&record.seconds))
    .advise(words!(
        "Let the plan read more often, or raise the limit of the inbox; while a socket is not read, its peer has to wait or buffer.",
        "让计划更频繁地读取，或提高收件箱上限；套接字未被读取时，对端只能等待或缓冲。"
    ))
    .said()
}

pub(super) fn messages_dropped(record: &Record) -> Said {
    if !record.has.connections {
        return lacks!(run: "counters of connections", "连接计数");
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
        words!(
            "{n} of {all} messages were dropped in the generator because inboxes were full.",
            "由于收件箱已满，负载机丢弃了 {all} 条消息中的 {n} 条。"
        ),
    )
    .with("messages_dropped", dropped as f64, "messages", span(&record.seconds))
    .advise(words!(
        "The plan's settings ask for it; raise the limit of the inbox if the plan needs these messages.",
        "这是计划的设置所要求的；如果计划需要这些消息，请提高收件箱上限。"
    ))
    .said()
}

pub(super) fn unread_growing(record: &Record) -> Said {
    if !record.has.connections {
        return lacks!(run: "counters of connections", "连接计数");
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
        words!(
            "Unread data piled up in the generator's sockets: up to {each} per socket, growing for {longest} seconds in a row.",
            "负载机套接字中积压了未读数据：每个套接字最多 {each}，连续增长 {longest} 秒。"
        ),
    )
    .with("unread_bytes", peak as f64, "bytes", span(&record.seconds))
    .advise(words!(
        "The generator reads more slowly than the server sends: give it more processors, or fewer connections each.",
        "负载机读取速度慢于服务器发送速度：给它更多处理器，或减少每台的连接数。"
    ))
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
            words!(
                "Sockets start here with a receive buffer of {bytes} bytes, and half of it is the TCP window: a longer message fills the window and stops the sender. Raise the default of net.ipv4.tcp_rmem; Linux sets 131 072.",
                "此处套接字的接收缓冲区初始只有 {bytes} 字节，其中一半为窗口：更长的消息会使窗口关闭。请提高 net.ipv4.tcp_rmem 的默认值；Linux 自身的默认值为 131 072。"
            )
        }
        _ => words!(
            "A peer or proxy that cannot send buffers its data or closes the connection: lost connections may be the generator's fault; see CPU, lag and unread bytes in seconds.jsonl.",
            "无法发送的对端或代理会缓冲数据或关闭连接：断开的连接可能是负载机造成的；请查看 seconds.jsonl 中的 CPU、lag 和未读字节。"
        ),
    }
}

pub(super) fn zero_windows(record: &Record) -> Said {
    if !record.seconds.iter().any(|s| s.machine.is_some()) {
        return lacks!(run: "figures of the generator's machine", "负载机所在机器的数据");
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
    found(
        "zero_windows",
        About::Generator,
        Confidence::Certain,
        words!(
            "Sockets of the generator's machine told their peers {times} times to stop sending (TCP zero window).",
            "负载机所在机器的套接字 {times} 次要求对端停止发送（TCP 零窗口）。"
        ),
    )
    .with("zero_windows", n as f64, "times", span(&record.seconds))
    .advise(remedy(record))
    .said()
}
