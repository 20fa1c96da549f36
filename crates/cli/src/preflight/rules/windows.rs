//! Windows of TCP: whether what a socket may hold to begin with has room for a message of the plan.

use stats::grouped::{bytes, count};

use super::super::demand::Demand;
use super::super::finding::{Change, Finding, Severity};
use super::super::host::Host;

/// Defaults of Linux for the buffers of a socket, to receive and to send.
const OWN_RECEIVE: u64 = 131_072;
const OWN_SEND: u64 = 16_384;
/// The largest default that is advised: the most that Linux itself lets a socket grow to.
const MOST: u64 = 6 << 20;

/// About half of a buffer is window, since the rest is for what the kernel keeps beside the data.
pub(super) fn receive(demand: &Demand, host: &Host) -> Option<Finding> {
    let message = demand.message?;
    let [_, default, _] = host.tcp_rmem;
    let window = default / 2;
    if default == 0 {
        return None;
    }
    let why = "a message that is longer than the window a socket begins with stops its sender until the first part is read \
               (zero window): proxies buffer the rest, or reset the connection";
    let to = message.saturating_mul(2).clamp(OWN_RECEIVE, MOST.max(default));
    Some(finding(
        "receive buffer of a socket",
        ("net.ipv4.tcp_rmem", host.tcp_rmem),
        format!("{} to begin with, {} of it window", bytes(default), bytes(window)),
        (message > window, message, to),
        why,
    ))
}

/// A buffer that is smaller than a message, and smaller than Linux makes it: the kernel enlarges it only with use.
pub(super) fn send(demand: &Demand, host: &Host) -> Option<Finding> {
    let message = demand.message?;
    let [_, default, _] = host.tcp_wmem;
    if default == 0 {
        return None;
    }
    let why = "a longer message is sent in parts, each after the one before was acknowledged; messages wait for round trips";
    Some(finding(
        "send buffer of a socket",
        ("net.ipv4.tcp_wmem", host.tcp_wmem),
        format!("{} to begin with", bytes(default)),
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
