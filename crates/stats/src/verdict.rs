//! Verdict on the generator: rules that find in its own figures why a run's results are doubtful.
//!
//! Pure functions of [`Evidence`]; each finding is typed and has the problem, its numbers, and the
//! remedy. The limits are set so that a run on a machine with spare capacity has no finding: a short
//! burst or a single count is noise, and is ignored.
use serde::Serialize;

use crate::counter::{Counter, Counters};
use crate::grouped::{bytes, count, percent, rate};
use crate::timeline::Timeline;

/// The kind of problem, for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    PortsExhausted,
    FilesExhausted,
    Stalled,
    ProcessorsFull,
    MachineFull,
    Lag,
    LateStarts,
    ReadingStopped,
    MessagesDropped,
    UnreadGrowing,
    ZeroWindows,
    Retransmits,
    TcpMemory,
    Memory,
    PortsLow,
    WorkersLost,
}

/// One thing that makes results doubtful.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub kind: Kind,
    pub what: String,
    /// The numbers it rests on.
    pub evidence: String,
    /// The remedy, for people.
    pub advice: String,
}

/// Input of the rules. Times are milliseconds.
#[derive(Clone, Debug, Default)]
pub struct Evidence<'t> {
    pub requests: u64,
    pub service_p99: f64,
    pub response_p99: f64,
    pub lag_p99: f64,
    pub counters: Counters,
    pub timeline: Timeline,
    pub ports_exhausted: u64,
    pub files_exhausted: u64,
    /// Connections that went with worker processes.
    pub lost: u64,
    /// The most frequent error where ports or descriptors ran out, as it reads.
    pub example: &'t str,
}

/// Fewer samples than this say nothing about percentiles.
const LEAST_SAMPLES: u64 = 100;
/// Lag that is bad whatever the response time is, ms.
const LAG_BAD: f64 = 100.0;
/// Lag below this is harmless even if it is most of a short response time, ms.
const LAG_FLOOR: f64 = 10.0;
/// The share of the response time from which on lag spoils it.
const LAG_SHARE: f64 = 0.25;
/// Seconds, and share of the run's seconds, that processors must be full for.
const FULL_SECONDS: u64 = 3;
const FULL_SHARE: f64 = 0.25;
/// Unread bytes of a socket that are a backlog, and seconds in a row of growth that show one.
const UNREAD_BACKLOG: u64 = 64 << 10;
const UNREAD_SECONDS: u64 = 5;
/// Zero windows per connection held, or per request, from which on they are not a coincidence.
const ZERO_WINDOWS_HELD: f64 = 0.001;
const ZERO_WINDOWS_REQUESTS: f64 = 0.05;
const ZERO_WINDOWS_LEAST: u64 = 10;
/// Share of segments sent again, and how many at least.
const RETRANSMITS: f64 = 0.02;
const RETRANSMITS_LEAST: u64 = 100;
/// Share of ports, and of memory, below which little is left.
const LITTLE_LEFT: f64 = 0.05;

/// All findings, those that explain others first.
pub fn findings(e: &Evidence<'_>) -> Vec<Finding> {
    let rules = [
        ports_exhausted,
        files_exhausted,
        workers_lost,
        stalled,
        processors_full,
        machine_full,
        lag,
        late_starts,
        reading_stopped,
        messages_dropped,
        unread_growing,
        zero_windows,
        retransmits,
        tcp_memory,
        memory,
        ports_low,
    ];
    rules.into_iter().filter_map(|rule| rule(e)).collect()
}

fn finding(kind: Kind, what: &str, evidence: String, advice: &str) -> Option<Finding> {
    Some(Finding { kind, what: what.into(), evidence, advice: advice.into() })
}

fn ports_exhausted(e: &Evidence<'_>) -> Option<Finding> {
    if e.ports_exhausted == 0 {
        return None;
    }
    finding(
        Kind::PortsExhausted,
        "local ports ran out on this machine",
        format!(
            "{} samples failed because no local port was free: {}",
            count(e.ports_exhausted),
            e.example
        ),
        "widen net.ipv4.ip_local_port_range, add source addresses, or keep connections open; \
         throng preflight computes the need",
    )
}

fn files_exhausted(e: &Evidence<'_>) -> Option<Finding> {
    if e.files_exhausted == 0 {
        return None;
    }
    finding(
        Kind::FilesExhausted,
        "descriptors ran out on this machine",
        format!("{} samples failed because no descriptor was free", count(e.files_exhausted)),
        "raise the limit of open files (ulimit -n), or spread the users over more worker processes",
    )
}

fn workers_lost(e: &Evidence<'_>) -> Option<Finding> {
    if e.lost == 0 {
        return None;
    }
    finding(
        Kind::WorkersLost,
        "worker processes died, and connections with them",
        format!("{} connections were lost with their workers", count(e.lost)),
        "see the run's log for the reason; most often the system ran out of memory",
    )
}

fn stalled(e: &Evidence<'_>) -> Option<Finding> {
    let t = &e.timeline;
    if t.stalls == 0 {
        return None;
    }
    let times = match t.stalls {
        1 => "once".to_owned(),
        times => format!("{} times", count(times)),
    };
    finding(
        Kind::Stalled,
        "the generator stood still",
        format!(
            "no answer was read for {} ms, until about {} s after the start; {times} in all, \
             counted for each core",
            count(t.stall_longest_ms),
            count(t.stall_at_ms.div_ceil(1000))
        ),
        "make sure that nothing stops or slows this process (SIGSTOP, swapping, a paused virtual machine, a quota of processor \
         time) and that no sample computes for long; samples in flight at that time show times longer than the server's",
    )
}

fn processors_full(e: &Evidence<'_>) -> Option<Finding> {
    let t = &e.timeline;
    if t.full_seconds < FULL_SECONDS || (t.full_seconds as f64) < FULL_SHARE * t.seconds as f64 {
        return None;
    }
    finding(
        Kind::ProcessorsFull,
        "this run used all of its processors",
        format!(
            "more than 95 % of {} in {} of {} seconds",
            processors(t.processors),
            count(t.full_seconds),
            count(t.seconds)
        ),
        "give it more processors, or ask for less load: rates and response times of this run are limits of the \
         generator",
    )
}

fn machine_full(e: &Evidence<'_>) -> Option<Finding> {
    let t = &e.timeline;
    let seconds = t.machine_full_seconds;
    let full = seconds >= FULL_SECONDS && seconds as f64 >= FULL_SHARE * t.seconds as f64;
    // Other programs may be content with what this one leaves; only what they did to it counts.
    let harmed =
        [lag, late_starts, unread_growing, zero_windows].iter().any(|rule| rule(e).is_some());
    if !full || !harmed {
        return None;
    }
    finding(
        Kind::MachineFull,
        "this machine's processors were full, mostly with other programs",
        format!(
            "in {} of {} seconds; this run used at most {} of its share, load average {}",
            count(seconds),
            count(t.seconds),
            percent(t.cpu_peak),
            rate(t.load_peak)
        ),
        "run the target, and other busy programs, on another machine",
    )
}

fn processors(n: f64) -> String {
    if n > 1.0 { format!("{n:.0} processors") } else { "one processor".into() }
}

fn lag(e: &Evidence<'_>) -> Option<Finding> {
    let spoils = e.lag_p99 >= LAG_FLOOR && e.lag_p99 >= LAG_SHARE * e.response_p99;
    if e.requests < LEAST_SAMPLES || !(spoils || e.lag_p99 > LAG_BAD) {
        return None;
    }
    finding(
        Kind::Lag,
        "answers waited unread in the generator",
        format!(
            "p99 of the response time is {:.0} ms, of which {:.0} ms passed in the generator",
            e.response_p99, e.lag_p99
        ),
        "give the run more processors or fewer users; until then its response times are too long",
    )
}

fn late_starts(e: &Evidence<'_>) -> Option<Finding> {
    let late = e.response_p99 - e.service_p99;
    if e.requests < LEAST_SAMPLES || late <= LAG_BAD || late < 0.5 * e.response_p99 {
        return None;
    }
    finding(
        Kind::LateStarts,
        "samples started later than they should have",
        format!(
            "p99 from the intended start is {:.0} ms, from the actual start {:.0} ms",
            e.response_p99, e.service_p99
        ),
        "the requested rate was not reached: give the run more processors, or ask for a lower rate",
    )
}

fn reading_stopped(e: &Evidence<'_>) -> Option<Finding> {
    let stopped = e.counters.get(Counter::ReadingStopped);
    if stopped == 0 {
        return None;
    }
    let t = &e.timeline;
    finding(
        Kind::ReadingStopped,
        "sockets were left unread because their users' inboxes were full",
        format!(
            "reading stopped {} times, on {} sockets at once at most and {} at the end; at most {} \
             were queued",
            count(stopped),
            count(t.not_read_peak),
            count(t.not_read_last),
            bytes(t.inbox_peak)
        ),
        "let the plan read more often, or raise the limit of the inbox; while a socket is not read, \
         its peer has to wait or buffer",
    )
}

fn messages_dropped(e: &Evidence<'_>) -> Option<Finding> {
    let dropped = e.counters.get(Counter::InboxDropped);
    if dropped == 0 {
        return None;
    }
    finding(
        Kind::MessagesDropped,
        "messages were dropped because inboxes were full",
        format!(
            "{} of {} messages",
            count(dropped),
            count(e.counters.get(Counter::MessagesIn).max(dropped))
        ),
        "the plan's settings ask for it; raise the limit of the inbox if the plan needs these messages",
    )
}

fn unread_growing(e: &Evidence<'_>) -> Option<Finding> {
    let t = &e.timeline;
    if t.unread_peak < UNREAD_BACKLOG && t.unread_grew < UNREAD_SECONDS {
        return None;
    }
    finding(
        Kind::UnreadGrowing,
        "unread data piled up in this machine's sockets",
        format!(
            "up to {} per socket, growing for {} seconds in a row",
            bytes(t.unread_peak),
            count(t.unread_grew)
        ),
        "the generator reads more slowly than the server sends: give it more processors, or fewer \
         connections each",
    )
}

fn zero_windows(e: &Evidence<'_>) -> Option<Finding> {
    let n = e.timeline.zero_windows_offered;
    let held = e.timeline.held_peak;
    let limit = match held {
        0 => ZERO_WINDOWS_REQUESTS * e.requests as f64,
        held => ZERO_WINDOWS_HELD * held as f64,
    };
    if n < ZERO_WINDOWS_LEAST || n as f64 <= limit {
        return None;
    }
    finding(
        Kind::ZeroWindows,
        "sockets of this machine told their peers to stop sending",
        format!("{} TCP windows went to zero on this machine", count(n)),
        "a peer or proxy that cannot send buffers its data or closes the connection: lost connections may be the \
         generator's fault; see CPU, lag and unread bytes in seconds.jsonl",
    )
}

fn retransmits(e: &Evidence<'_>) -> Option<Finding> {
    let t = &e.timeline;
    let share = t.retransmitted as f64 / t.segments_out.max(1) as f64;
    if t.retransmitted < RETRANSMITS_LEAST || share < RETRANSMITS {
        return None;
    }
    finding(
        Kind::Retransmits,
        "many TCP segments were sent again",
        format!(
            "{} of {} TCP segments of this machine ({})",
            count(t.retransmitted),
            count(t.segments_out),
            percent(share)
        ),
        "the network or an overloaded receiver loses packets; response times contain waits of 200 ms \
         and more because of it",
    )
}

fn tcp_memory(e: &Evidence<'_>) -> Option<Finding> {
    let t = &e.timeline;
    if t.memory_pressures + t.aborted_memory == 0 {
        return None;
    }
    finding(
        Kind::TcpMemory,
        "TCP reached its memory limit on this machine",
        format!(
            "{} times under pressure, {} connections dropped because of it",
            count(t.memory_pressures),
            count(t.aborted_memory)
        ),
        "raise net.ipv4.tcp_mem, or read faster; throng preflight names the value",
    )
}

fn memory(e: &Evidence<'_>) -> Option<Finding> {
    let t = &e.timeline;
    if t.memory_total == 0 || t.memory_least as f64 >= LITTLE_LEFT * t.memory_total as f64 {
        return None;
    }
    finding(
        Kind::Memory,
        "this machine was short of memory",
        format!(
            "at least once only {} of {} were available",
            bytes(t.memory_least),
            bytes(t.memory_total)
        ),
        "run fewer users on this machine, or add memory; throng preflight estimates the need",
    )
}

fn ports_low(e: &Evidence<'_>) -> Option<Finding> {
    let (all, left) = (e.timeline.ports?, e.timeline.ports_least?);
    if e.ports_exhausted > 0 || left as f64 >= LITTLE_LEFT * all as f64 {
        return None;
    }
    finding(
        Kind::PortsLow,
        "nearly all local ports were taken",
        format!("at least once only {} of {} were left", count(left), count(all)),
        "widen net.ipv4.ip_local_port_range or add source addresses before asking for more",
    )
}

/// The findings as the report begins with them; empty when there are none.
pub fn text(findings: &[Finding]) -> String {
    if findings.is_empty() {
        return String::new();
    }
    let mut out = String::from(
        "THE GENERATOR DID NOT KEEP UP, or its machine was the bottleneck: these results are doubtful.\n",
    );
    for finding in findings {
        out.push_str(&format!(
            "  * {}: {}\n    -> {}\n",
            finding.what, finding.evidence, finding.advice
        ));
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests;
