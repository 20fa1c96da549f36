//! Describes closed connections in plain words, one line per cause.
//!
//! If all connections of a line had been idle for the same time, the line states that time. A common idle time
//! indicates a timeout of Throng, of the server, or of a device on the path.
use crate::grouped::{count, seconds};
use crate::hist::Hist;

use super::{CloseCause, OTHER_CODES};

/// Largest difference between the idle times of a line that counts as no difference, as a share of the median.
const TOGETHER: f64 = 0.05;
/// Largest difference between the idle times of a line that counts as no difference, in ms. Meeting one of the two
/// limits suffices.
const TOGETHER_MS: u64 = 1000;
/// Shortest idle time that indicates a timeout, in ms.
const LEAST_IDLE_MS: u64 = 5000;

/// Returns the common idle time in ms of all connections of a line: the median, if the 10th and 90th percentile are
/// close to each other.
pub fn common_idle_ms(idle_ms: &Hist) -> Option<u64> {
    let [low, middle, high] = idle_ms.quantiles([0.1, 0.5, 0.9]);
    let close = high - low <= TOGETHER_MS || (high - low) as f64 <= TOGETHER * middle as f64;
    (middle >= LEAST_IDLE_MS && close).then_some(middle)
}

/// Returns a line like `20 000 cut by the peer's FIN after 180 s without data`, or a line with percentiles of idle
/// times.
pub fn line(cause: CloseCause, code: u16, idle_ms: &Hist) -> String {
    let n = count(idle_ms.total());
    let what = what(cause, code);
    if !cause.had_opened() {
        return format!("{n} {what}");
    }
    match common_idle_ms(idle_ms) {
        Some(ms) => format!("{n} {what} after {} without data", seconds(ms)),
        None => {
            let [low, middle, high] = idle_ms.quantiles([0.1, 0.5, 0.9]).map(seconds);
            format!("{n} {what}; idle time before: p10 {low}, p50 {middle}, p90 {high}")
        }
    }
}

/// Returns advice about a cause of closing, if there is any.
pub fn hint(cause: CloseCause, idle_ms: &Hist) -> Option<String> {
    let by_peer =
        matches!(cause, CloseCause::PeerFrame | CloseCause::PeerFin | CloseCause::PeerReset);
    let ms = common_idle_ms(idle_ms).filter(|_| by_peer)?;
    Some(format!(
        "idle timeout of {} at the server or a proxy in front of it: send heartbeats more \
         often, or raise the timeout",
        seconds(ms)
    ))
}

fn what(cause: CloseCause, code: u16) -> String {
    let code = match (cause, code) {
        (_, 0) => String::new(),
        (CloseCause::Refused, OTHER_CODES) => " with other HTTP statuses".into(),
        (CloseCause::Refused, status) => format!(" with HTTP status {status}"),
        (_, OTHER_CODES) => " with other codes".into(),
        (_, code) => match meaning(code) {
            "" => format!(" with code {code}"),
            meaning => format!(" with code {code} ({meaning})"),
        },
    };
    let (before, after) = match cause {
        CloseCause::PeerFrame => ("closed by the peer's close frame", ""),
        CloseCause::PeerFin => ("cut by the peer's FIN", ""),
        CloseCause::PeerReset => ("reset by the peer (RST)", ""),
        CloseCause::IdleTimeout => ("closed by Throng's own idle timeout", ""),
        CloseCause::MissedHeartbeat => ("closed by Throng after missed heartbeats", ""),
        CloseCause::Refused => ("refused at the upgrade", ""),
        CloseCause::Protocol => ("closed by Throng", ": the peer broke the protocol"),
        CloseCause::InboxFull => ("closed by Throng", ": the user's inbox was full"),
        CloseCause::Replaced => ("replaced by a new connection of the user", ""),
        CloseCause::ByPlan => ("closed by the plan", ""),
        CloseCause::UserEnded => ("closed when the user ended", ""),
        CloseCause::Stopped => ("closed when the run was stopped", ""),
        CloseCause::WorkerLost => ("lost with the worker process", ""),
        CloseCause::ConnectFailed => ("never opened: TCP, TLS or the upgrade failed", ""),
    };
    format!("{before}{code}{after}")
}

/// Returns the name of a close code by RFC 6455, section 7.4.1, and IANA's registry.
pub fn meaning(code: u16) -> &'static str {
    match code {
        1000 => "normal closure",
        1001 => "going away",
        1002 => "protocol error",
        1003 => "unsupported data",
        1005 => "no status",
        1006 => "abnormal closure",
        1007 => "invalid payload data",
        1008 => "policy violation",
        1009 => "message too big",
        1010 => "extension missing",
        1011 => "internal error",
        1012 => "service restart",
        1013 => "try again later",
        1014 => "bad gateway",
        1015 => "TLS handshake",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ages(list: &[(u64, u64)]) -> Hist {
        let mut hist = Hist::new();
        for (ms, n) in list {
            hist.record(*ms, *n);
        }
        hist
    }

    #[test]
    fn a_time_limit_is_one_line() {
        let idle = ages(&[(179_990, 9_000), (180_020, 11_000)]);
        assert_eq!(
            line(CloseCause::PeerFin, 0, &idle),
            "20 000 cut by the peer's FIN after 180 s without data"
        );
        let hint = hint(CloseCause::PeerFin, &idle).expect("a time limit");
        assert!(hint.starts_with("idle timeout of 180 s at the server"), "{hint}");
    }

    #[test]
    fn what_is_scattered_or_short_is_no_time_limit() {
        let scattered = ages(&[(1_000, 50), (90_000, 50)]);
        assert_eq!(common_idle_ms(&scattered), None);
        assert_eq!(
            line(CloseCause::PeerFrame, 1001, &scattered),
            "100 closed by the peer's close frame with code 1001 (going away); idle time before: \
             p10 1.0 s, p50 1.0 s, p90 90 s"
        );
        assert_eq!(common_idle_ms(&ages(&[(4_000, 100)])), None);
        assert_eq!(common_idle_ms(&ages(&[])), None);
        // Idle times within 5 % of a long median, and within a second of a short median.
        assert!(common_idle_ms(&ages(&[(900_000, 50), (940_000, 50)])).is_some());
        assert!(common_idle_ms(&ages(&[(6_000, 50), (6_900, 50)])).is_some());
        assert_eq!(common_idle_ms(&ages(&[(6_000, 50), (7_200, 50)])), None);
    }

    #[test]
    fn each_cause_has_words_of_its_own() {
        let one = ages(&[(100, 1)]);
        let mut lines: Vec<_> = CloseCause::ALL.iter().map(|cause| line(*cause, 0, &one)).collect();
        lines.sort();
        lines.dedup();
        assert_eq!(lines.len(), CloseCause::ALL.len());
        assert_eq!(
            line(CloseCause::Refused, 403, &one),
            "1 refused at the upgrade with HTTP status 403"
        );
        assert!(line(CloseCause::Protocol, 1002, &one).starts_with(
            "1 closed by Throng with code 1002 (protocol error): the peer broke the protocol; idle time"
        ));
        assert!(line(CloseCause::PeerFrame, OTHER_CODES, &one).contains("with other codes"));
        assert_eq!(hint(CloseCause::ByPlan, &ages(&[(60_000, 5)])), None);
    }
}
