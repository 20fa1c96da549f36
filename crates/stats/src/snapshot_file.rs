//! The per-second file of a run: one JSON object per line.
//!
//! Each line is complete and written with one call, so that after a kill all seconds up to the last complete line can
//! be read. Durations are milliseconds; `rss` and traffic are bytes.
use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};

use serde::Serialize;
use serde_json::Value;

use crate::checks::Checks;
use crate::control_group::Throttling;
use crate::counter::Counters;
use crate::flow::Flow;
use crate::hist::Hist;
use crate::machine::Machine;
use crate::process::{self, Usage};
use crate::snapshot::Snapshot;

/// One second of a run over all cores. Transactions are not counted as samples here.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Second {
    /// End of the second in ms since 1970.
    pub at_ms: i64,
    /// Number of users active at the end of the second.
    pub users: u64,
    /// Number of users started since the start of the run.
    pub started: u64,
    /// Number of users that have finished since the start of the run.
    pub finished: u64,
    /// Number of samples that ended in this second, without transactions.
    pub samples: u64,
    /// Number of failed samples.
    pub errors: u64,
    /// Number of samples cut by the end of the run; not included in `samples`.
    pub cut: u64,
    /// Mean elapsed time in ms. The percentiles and the maximum after it are of the same times.
    pub mean_ms: f64,
    pub p50_ms: f64,
    pub p90_ms: f64,
    pub p95_ms: f64,
    pub p99_ms: f64,
    pub max_ms: f64,
    /// Response time in ms, from the intended start: median.
    pub response_p50_ms: f64,
    /// Response time in ms, from the intended start: 95th percentile.
    pub response_p95_ms: f64,
    /// Response time in ms, from the intended start: 99th percentile.
    pub response_p99_ms: f64,
    /// Part of the samples' elapsed time that was spent in this process, in ms: the median.
    pub lag_p50_ms: f64,
    /// Part of the samples' elapsed time that was spent in this process, in ms: 99th percentile.
    pub lag_p99_ms: f64,
    /// Part of the samples' elapsed time that was spent in this process, in ms: maximum.
    pub lag_max_ms: f64,
    /// Number of bytes sent.
    pub sent: u64,
    /// Number of bytes received.
    pub received: u64,
    /// CPU seconds of this process in this second, on all cores.
    pub cpu_s: f64,
    /// Resident memory in bytes at the end of the second.
    pub rss: u64,
    /// Number of worker processes that ran users; 0 if this process ran them. `cpu_s` and `rss` cover all processes.
    pub workers: u32,
    /// Numbers of samples by the result of their request and of their assertions; only in runs with assertions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checks: Option<Checks>,
    /// Number of this second's samples that were in flight, or were due to start, during a stall of a core.
    #[serde(skip_serializing_if = "is_none")]
    pub stalled: u64,
    /// Number of result rows that wait for the writer thread at the end of the second.
    pub rows_waiting: u64,
    /// Seconds that the writer thread spent writing rows in this second.
    pub write_s: f64,
    /// CPU quota of the generator's control groups: number of scheduler periods in this second, and number of throttled
    /// periods.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throttling: Option<Throttling>,
    /// Heap and garbage collections of the JVM, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub java: Option<Java>,
    /// Retransmitted TCP segments by destination; `None` if the kernel does not provide them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmits: Option<Vec<Retransmits>>,
    pub counters: Counters,
    /// Metrics of WebSocket connections; only in runs with such connections.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connections: Option<Flow>,
    /// Number of ports that are free on the run's source addresses for its destinations, if it was counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ports_left: Option<u64>,
    /// Metrics of the whole machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine: Option<Machine>,
    /// Events in this second with a description: load changes, stops, and marks that users set.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
    /// Metrics of watched hosts, by host and metric.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub watched: BTreeMap<String, BTreeMap<String, f64>>,
}

/// The JVM at the end of a second, or the sum over all processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Java {
    /// Bytes of the heap in use.
    pub heap: u64,
    /// Maximum size of the heap in bytes.
    pub heap_most: u64,
    /// Number of garbage collections in this second that stopped Java's threads.
    pub collections: u64,
    /// Total time of the garbage collections in this second that stopped Java's threads, in ms.
    pub pause_ms: f64,
}

/// TCP segments retransmitted to a destination in a second, on the connections that were sampled.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Retransmits {
    /// Address and port of the destination.
    pub to: String,
    /// Number of retransmitted segments of open connections.
    pub data: u64,
    /// Number of retransmitted SYN segments of connections being opened.
    pub syn: u64,
}

impl From<process::Java> for Java {
    fn from(java: process::Java) -> Self {
        let process::Java { heap, heap_most, collections, paused_s } = java;
        Self { heap, heap_most, collections, pause_ms: paused_s * 1000.0 }
    }
}

/// Time and description of an event in the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mark {
    /// Time of the mark in ms since 1970.
    pub at_ms: i64,
    pub what: String,
}

impl Second {
    /// Builds a second from the merged snapshots of its cores. `before` and `now` are the process's usage at the start
    /// and the end of the second. The caller fills in users, connections and the machine.
    pub fn new(snapshot: &Snapshot, before: &Usage, now: &Usage) -> Self {
        let (mut service, mut response, mut lag) = (Hist::new(), Hist::new(), Hist::new());
        let mut tally = crate::tally::Tally::EMPTY;
        for label in snapshot.labels.iter().filter(|l| !l.transaction) {
            tally.merge(&label.tally);
            service.add(&label.service);
            response.add(&label.response);
            lag.add(&label.lag);
        }
        let ms = |nanos: u64| nanos as f64 / 1e6;
        let point = |hist: &Hist, q: f64, max: u64| ms((hist.quantile(q) * 1000).min(max));
        Self {
            at_ms: snapshot.at_ms,
            samples: tally.count,
            errors: tally.errors,
            cut: tally.cut,
            mean_ms: ms(tally.sum_elapsed.checked_div(tally.count).unwrap_or(0)),
            p50_ms: point(&service, 0.5, tally.max_elapsed),
            p90_ms: point(&service, 0.9, tally.max_elapsed),
            p95_ms: point(&service, 0.95, tally.max_elapsed),
            p99_ms: point(&service, 0.99, tally.max_elapsed),
            max_ms: ms(tally.max_elapsed),
            response_p50_ms: point(&response, 0.5, tally.max_response),
            response_p95_ms: point(&response, 0.95, tally.max_response),
            response_p99_ms: point(&response, 0.99, tally.max_response),
            lag_p50_ms: point(&lag, 0.5, tally.max_lag),
            lag_p99_ms: point(&lag, 0.99, tally.max_lag),
            lag_max_ms: ms(tally.max_lag),
            sent: tally.sent,
            received: tally.received,
            cpu_s: now.cpu_s() - before.cpu_s(),
            rss: now.rss,
            checks: (tally.checks.checked > 0).then_some(tally.checks),
            stalled: snapshot.stalled.count,
            rows_waiting: now.rows_waiting,
            write_s: (now.write_s - before.write_s).max(0.0),
            throttling: (now.throttling.processors > 0.0)
                .then(|| now.throttling.since(&before.throttling)),
            java: now.java.map(|java| java.since(before.java.as_ref()).into()),
            counters: snapshot.counters,
            ..Self::default()
        }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)] // As serde calls it.
fn is_none(count: &u64) -> bool {
    *count == 0
}

/// Appends one second as a line of JSON, with a single write.
pub fn write(to: &mut impl Write, second: &Second) -> io::Result<()> {
    let mut line = serde_json::to_vec(second)?;
    line.push(b'\n');
    to.write_all(&line)?;
    to.flush()
}

/// Reads all complete lines as JSON; an unfinished last line is omitted.
pub fn read(from: impl BufRead) -> io::Result<Vec<Value>> {
    let mut seconds = Vec::new();
    for line in from.lines() {
        match serde_json::from_str(&line?) {
            Ok(second) => seconds.push(second),
            Err(_) => break,
        }
    }
    Ok(seconds)
}
