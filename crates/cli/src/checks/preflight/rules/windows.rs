//! TCP windows: checks whether the initial window of a socket has room for a message of the plan.

use stats::grouped::{bytes, count};

use super::super::demand::Demand;
use super::super::finding::{Change, Finding, Severity};
use super::super::host::Host;

/// Linux's default size of a socket's receive buffer in bytes.
const OWN_RECEIVE: u64 = 131_072;
/// Linux's default size of a socket's send buffer in bytes.
const OWN_SEND: u64 = 16_384;
/// Largest default size of a buffer in bytes that is advised. Linux itself enlarges the buffer of a socket up to this
/// size.
const MOST: u64 = 6 << 20;

/// Returns the finding about the receive buffer: whether a message fits into the window of a new socket. About half of
/// the buffer is the window; the kernel uses the rest for its own data.
pub(super) fn receive(demand: &Demand, host: &Host) -> Option<Finding> {
    let message = demand.message?;
    let [_, default, _] = host.tcp_rmem;
    let window = default / 2;
    if default == 0 {
        return None;
    }
    let why = "a message longer than a socket's initial window stops its sender until the first part is read \
               (zero window): proxies buffer the rest, or reset the connection";
    let to = message.saturating_mul(2).clamp(OWN_RECEIVE, MOST.max(default));
    Some(finding(
        "receive buffer of a socket",
        ("net.ipv4.tcp_rmem", host.tcp_rmem),
        format!("{} initially, {} of it for the window", bytes(default), bytes(window)),
        (message > window, message, to),
        why,
    ))
}

/// Returns the finding about the send buffer. The buffer is too small if it is smaller than a message and smaller than
/// Linux's default: the kernel enlarges it only during use.
pub(super) fn send(demand: &Demand, host: &Host) -> Option<Finding> {
    let message = demand.message?;
    let [_, default, _] = host.tcp_wmem;
    if default == 0 {
        return None;
    }
    let why = "a longer message is sent in parts, each after the acknowledgement of the previous part; messages wait for round trips";
    Some(finding(
        "send buffer of a socket",
        ("net.ipv4.tcp_wmem", host.tcp_wmem),
        format!("{} initially", bytes(default)),
        (default < message.min(OWN_SEND), message, OWN_SEND),
        why,
    ))
}

fn finding(
    what: &'static str,
    (key, values): (&'static str, [u64; 3]),
    now: String,
    (is_short, message, to): (bool, u64, u64),
    why: &str,
) -> Finding {
    let [least, default, most] = values;
    let text = |values: [u64; 3]| values.map(|n| n.to_string()).join(" ");
    let raised = [least, default.max(to), most.max(to)];
    let change = Change::new(key, text(values), text(raised));
    Finding {
        what,
        severity: if is_short { Severity::Tight } else { Severity::Fits },
        now,
        needed: format!("{} bytes of the largest message", count(message)),
        why: why.into(),
        change: (is_short && raised != values).then_some(change),
        advice: None,
    }
}
