//! Memory and connections of a proxy, from its nginx.conf.
//!
//! nginx allocates all connections of a worker when the worker starts: per connection a `ngx_connection_t` and two
//! `ngx_event_t` (`ngx_event_process_init`). Buffers are added for each proxied connection. Sizes are in bytes,
//! measured with nginx 1.22; docs/preflight.md lists them.

use serde::Serialize;
use stats::grouped::{bytes, count, things};

use super::super::finding::Severity;
use super::Hop;
use super::nginx::{Buffers, Nginx, PAGE};

/// Memory in bytes of an unused worker connection: 424 to 440, depending on nginx's build options.
const SLOT: u64 = 432;
/// Memory in bytes of a worker process without connections.
const WORKER: u64 = 4 << 20;
/// Memory in bytes of a proxied connection for pools, request and headers, without the buffers of its response.
const PROXIED: u64 = 14 * 1024 + 64;
/// Memory in bytes of a `stream` session without its two buffers.
const SESSION: u64 = 2 * 1024;
/// Part in bytes of each buffer that a `stream` session with little data uses: one page.
const TOUCHED: u64 = 4096;
/// Kernel memory in bytes of two sockets without data.
const SOCKETS: u64 = 2 * 5 * 1024;
/// Largest number of includes that a message names.
const MOST_NAMED: usize = 10;
/// Advice on small buffers in `http`. A team with a million connections has used them successfully.
const SMALL: &str = "proxy_buffering off, proxy_buffer_size 4k";
/// Advice on small buffers in `stream`.
const SMALL_OF_STREAM: &str = "proxy_buffer_size 4k in stream";

/// Load of a chain of proxies. Connections that do not carry HTTP carry WebSocket.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) connections: u64,
    /// Number of the connections that carry HTTP.
    pub(crate) http: u64,
}

/// Memory that an instance of a hop needs, and the number of connections that it can carry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Memory {
    pub(crate) hop: String,
    /// Number of worker processes. `None` if neither the configuration nor the hop defines it.
    pub(crate) workers: Option<u64>,
    /// Connections that each worker process allocates.
    pub(crate) worker_connections: u64,
    /// Number of connections through one proxy instance.
    pub(crate) connections_each: u64,
    /// Memory of an instance in bytes before the first connection.
    pub(crate) before: u64,
    /// Memory of an instance in bytes for the connections of the load while all readers are fast.
    pub(crate) held: u64,
    /// Additional memory of an instance in bytes while all readers are slow.
    pub(crate) slow: u64,
    /// Buffers in bytes of one connection with a slow reader.
    pub(crate) slow_each: u64,
    /// True if connections are sessions of `stream` with two buffers each, instead of connections of `http`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) stream: bool,
    /// Available memory of a proxy instance in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) available: Option<u64>,
    /// Result of comparing the needed memory with the available memory.
    pub(crate) severity: Severity,
    /// Connections through all instances at which memory is exhausted, if all readers are slow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) capacity: Option<u64>,
    /// Largest number of connections through all instances that `worker_connections` and `worker_rlimit_nofile` allow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) connections: Option<u64>,
    /// Result of comparing the load with the allowed connections.
    pub(crate) connections_severity: Severity,
    /// Name of the nginx setting that limits the connections.
    #[serde(skip)]
    pub(crate) limited_by: &'static str,
    /// Advised changes of the configuration, with their effect.
    pub(crate) advice: Vec<String>,
    /// Names of limits that could not be judged: `memory`, `connections`.
    pub(crate) not_judged: Vec<&'static str>,
    /// Names and patterns of `include` that match no file on this machine.
    pub(crate) absent_includes: Vec<String>,
}

/// Memory of one proxied connection in bytes.
#[derive(Clone, Copy)]
struct Each {
    /// Memory that a connection always uses.
    held: u64,
    /// Additional memory of a connection with a slow reader.
    slow: u64,
    /// Part of `held` and `slow` that is in buffers.
    buffers: u64,
    /// Memory of the smallest buffers with which a connection works.
    least: u64,
    /// True for a session of `stream`, false for a connection of `http`.
    is_stream: bool,
}

impl Each {
    fn bytes(&self) -> u64 {
        self.held.saturating_add(self.slow)
    }

    /// Returns the memory of a connection of `http`. An upgraded connection has one buffer of `proxy_buffer_size`
    /// for each direction, and no further buffers.
    fn of_http(buffers: Buffers, is_http: bool) -> Self {
        let slow = if is_http { buffers.bytes() - buffers.first } else { buffers.first };
        Self {
            held: PROXIED + SOCKETS + buffers.first,
            slow,
            buffers: buffers.first.saturating_add(slow),
            least: if is_http { PAGE } else { 2 * PAGE },
            is_stream: false,
        }
    }

    /// Returns the memory of a `stream` session. Each direction has a buffer, which is allocated at the session's start
    /// and filled with data that a slow reader has not taken.
    fn of_stream(size: u64) -> Self {
        let touched = size.min(TOUCHED);
        Self {
            held: SESSION + SOCKETS + 2 * touched,
            slow: (size - touched).saturating_mul(2),
            buffers: size.saturating_mul(2),
            least: 2 * PAGE,
            is_stream: true,
        }
    }

    /// Returns the memory of a connection. If a configuration has both kinds, returns the larger one.
    fn of(nginx: &Nginx, is_http: bool) -> Self {
        let http = nginx.buffers.map(|buffers| Self::of_http(buffers, is_http));
        let stream = nginx.stream.map(Self::of_stream);
        let all = [http, stream].into_iter().flatten();
        all.max_by_key(Self::bytes).unwrap_or_else(|| Self::of_http(Buffers::default(), is_http))
    }
}

/// Returns one proxy instance's share of the load in connections.
fn share(load: u64, instances: u64) -> u64 {
    load.div_ceil(instances)
}

/// Computes the memory and connections of a hop whose configuration is known.
pub(super) fn of(hop: &Hop, load: Load) -> Option<Memory> {
    let nginx = hop.nginx.as_ref()?;
    let workers = nginx.workers.or(hop.processors);
    let connections_each = share(load.connections, hop.instances);
    let http = share(load.http.min(load.connections), hop.instances);
    let websockets = connections_each.saturating_sub(http);
    let parts = [(websockets, Each::of(nginx, false)), (http, Each::of(nginx, true))];
    let sum = |part: &dyn Fn(&Each) -> u64| {
        parts.iter().fold(0_u64, |sum, (n, each)| sum.saturating_add(n.saturating_mul(part(each))))
    };
    let (held, slow) = (sum(&|each| each.held), sum(&|each| each.slow));
    let usual = parts[usize::from(http > 0)].1;
    let before = workers.unwrap_or(1).saturating_mul(allocated(nginx.connections));
    let needed = before.saturating_add(held).saturating_add(slow);
    let severity = hop.memory.map_or(Severity::Fits, |there| Severity::of(needed, there));
    let each_lets = nginx.descriptors.unwrap_or(u64::MAX).min(nginx.connections);
    let connections = workers.map(|workers| through(each_lets, workers, hop.instances));
    // If one worker is enough for the load, more workers are too. If one is not enough, the unknown number of
    // workers may still be.
    let one_is_enough =
        Severity::of(load.connections, through(each_lets, 1, hop.instances)) == Severity::Fits;
    let is_memory_judged =
        hop.memory.is_some() && (workers.is_some() || severity == Severity::TooSmall);
    let not_judged = [
        (!is_memory_judged).then_some("memory"),
        (workers.is_none() && !one_is_enough).then_some("connections"),
    ];
    let mut memory = Memory {
        hop: hop.name.clone(),
        workers,
        worker_connections: nginx.connections,
        connections_each,
        before,
        held,
        slow,
        slow_each: usual.slow,
        stream: usual.is_stream,
        available: hop.memory,
        severity,
        capacity: hop.memory.map(|there| {
            let one = held.saturating_add(slow).div_ceil(connections_each.max(1)).max(1);
            (there.saturating_sub(before) / one).saturating_mul(hop.instances)
        }),
        connections,
        connections_severity: connections
            .map_or(Severity::Fits, |there| Severity::of(load.connections, there)),
        limited_by: if each_lets < nginx.connections {
            "worker_rlimit_nofile"
        } else {
            "worker_connections"
        },
        advice: Vec::new(),
        not_judged: not_judged.into_iter().flatten().collect(),
        absent_includes: nginx.absent.clone(),
    };
    let is_short = |each: u64| {
        let there = through(each, workers.unwrap_or(1), hop.instances);
        Severity::of(load.connections, there) > Severity::Fits
    };
    memory.advise(nginx, usual, &is_short);
    Some(memory)
}

/// Returns the memory in bytes that a worker allocates when it starts.
fn allocated(connections: u64) -> u64 {
    connections.saturating_mul(SLOT).saturating_add(WORKER)
}

/// Returns the number of client connections that `workers` workers of each instance allow, with `each` connections per
/// worker. A client connection uses two of them, one on each side.
fn through(each: u64, workers: u64, instances: u64) -> u64 {
    workers.saturating_mul(each).saturating_mul(instances) / 2
}

impl Memory {
    fn needed(&self) -> u64 {
        self.before.saturating_add(self.held).saturating_add(self.slow)
    }

    pub(super) fn worst(&self) -> Severity {
        // If the configuration does not define the number of workers, it may allow too few connections.
        let is_open = self.workers.is_none() && !self.not_judged.is_empty();
        let least = if is_open { Severity::Tight } else { Severity::Fits };
        self.severity.max(self.connections_severity).max(least)
    }

    /// Returns the severity of the limit `of` (`memory` or `connections`) as a word, or `unknown` if the limit was not
    /// judged.
    fn word(&self, of: &str, severity: Severity) -> &'static str {
        if self.not_judged.contains(&of) { "unknown" } else { severity.word() }
    }

    fn advise(&mut self, nginx: &Nginx, each: Each, is_short: &dyn Fn(u64) -> bool) {
        let per_worker =
            self.connections_each.saturating_mul(2).div_ceil(self.workers.unwrap_or(1));
        // Adds a quarter, because connections are not distributed evenly.
        let enough = per_worker.saturating_add(per_worker / 4).max(512);
        if self.connections_severity > Severity::Fits {
            let files = nginx.descriptors.is_some_and(is_short);
            self.advice.push(match (is_short(nginx.connections), files) {
                (true, true) => {
                    format!("worker_connections {enough} and worker_rlimit_nofile {enough}")
                }
                (true, false) => format!("worker_connections {enough}"),
                (false, _) => format!("worker_rlimit_nofile {enough}"),
            });
        }
        if self.severity == Severity::Fits {
            return;
        }
        if let Some(workers) = self.workers.filter(|_| nginx.connections > enough.saturating_mul(2))
        {
            let then = workers.saturating_mul(allocated(enough));
            self.advice.push(format!(
                "worker_connections {enough}: {} before the first connection instead of {}",
                bytes(then),
                bytes(self.before)
            ));
        }
        if each.buffers > 2 * PAGE {
            let spared = (each.buffers - each.least).saturating_mul(self.connections_each);
            let needed = bytes(self.needed().saturating_sub(spared));
            let small = if each.is_stream { SMALL_OF_STREAM } else { SMALL };
            self.advice.push(format!("{small}: {needed} in all"));
        }
    }

    pub(super) fn text(&self) -> String {
        let needed = bytes(self.needed());
        let all = match self.available {
            Some(there) if self.workers.is_none() => {
                format!("{} each, needed at least {needed}", bytes(there))
            }
            Some(there) => format!("{} each, needed {needed}", bytes(there)),
            None => format!("needed {needed} each, not judged: give memory=SIZE, like memory=64G"),
        };
        let word = self.word("memory", self.severity);
        let mut out = format!("  {word:9} memory of {}: {all}\n", self.hop);
        let mut line = |words: String| out.push_str(&format!("            {words}\n"));
        let workers = match self.workers {
            Some(workers) => things(workers, "worker"),
            None => "1 worker of worker_processes auto (give cpus=N)".into(),
        };
        line(format!(
            "{} before the first connection: {workers} x {} worker_connections x {SLOT} bytes",
            bytes(self.before),
            count(self.worker_connections)
        ));
        let (things, each) = if self.stream {
            (things(self.connections_each, "session"), "session of stream")
        } else {
            (things(self.connections_each, "connection"), "connection")
        };
        line(format!(
            "{} for {things} of its own, the kernel's sockets included",
            bytes(self.held)
        ));
        line(format!(
            "{} more while readers are slow: {} of buffers a {each}; and the kernel's, up to tcp_wmem and tcp_rmem each, \
             until tcp_mem is used up",
            bytes(self.slow),
            bytes(self.slow_each)
        ));
        self.push_includes(&mut out);
        let word = self.word("connections", self.connections_severity);
        let which = format!("  {word:9} connections of {}", self.hop);
        match self.connections {
            None if word == "unknown" => {
                out.push_str(&format!("{which}: worker_processes is auto: give cpus=N\n"));
            }
            Some(connections) if self.connections_severity > Severity::Fits => {
                out.push_str(&format!(
                    "{which}: {} (two of worker_connections and worker_rlimit_nofile each)\n",
                    count(connections)
                ));
            }
            _ => {}
        }
        for advice in &self.advice {
            out.push_str(&format!("            -> {advice}\n"));
        }
        out
    }

    /// Adds the names of includes that match no file on this machine.
    fn push_includes(&self, out: &mut String) {
        if self.absent_includes.is_empty() {
            return;
        }
        let mut names: Vec<_> = self.absent_includes.iter().take(MOST_NAMED).cloned().collect();
        let more = self.absent_includes.len() - names.len();
        if more > 0 {
            names.push(format!("{more} more"));
        }
        out.push_str(&format!(
            "            not counted, since no file here fits these includes: {}\n",
            names.join(", ")
        ));
    }
}
