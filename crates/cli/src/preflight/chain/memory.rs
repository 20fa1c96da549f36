//! Memory and connections of a proxy, from its nginx.conf.
//!
//! nginx allocates all connections of a worker when the worker starts: per connection a `ngx_connection_t` and two
//! `ngx_event_t` (`ngx_event_process_init`). Buffers come with the connections that are proxied. Figures in bytes, measured
//! with nginx 1.22: docs/preflight.md has them.

use serde::Serialize;
use stats::grouped::{bytes, count, things};

use super::super::finding::Severity;
use super::{Hop, nginx::Nginx};

/// A connection of a worker before it is used: 424 to 440 by the options that nginx was built with.
const SLOT: u64 = 432;
/// A worker without any.
const WORKER: u64 = 4 << 20;
/// A proxied connection without the buffers of its answer: pools, request, headers.
const PROXIED: u64 = 14 * 1024 + 64;
/// Two sockets of the kernel that hold no data.
const SOCKETS: u64 = 2 * 5 * 1024;
/// Buffers that a team with a million connections came to.
const SMALL: &str = "proxy_buffering off, proxy_buffer_size 4k";

/// The load of a chain: connections, and how many of them carry HTTP instead of WebSocket.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) connections: u64,
    pub(crate) http: u64,
}

/// Memory of an instance of a hop, and the connections at which it ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Memory {
    pub(crate) hop: String,
    /// Worker processes; `None` where neither configuration nor hop says it.
    pub(crate) workers: Option<u64>,
    pub(crate) worker_connections: u64,
    /// Connections through an instance.
    pub(crate) connections_each: u64,
    /// Bytes of an instance: before the first connection, for connections that are held, and more if readers are slow.
    pub(crate) before: u64,
    pub(crate) held: u64,
    pub(crate) slow: u64,
    /// Bytes of buffers of one connection whose reader is slow.
    pub(crate) slow_each: u64,
    /// Bytes that an instance has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) available: Option<u64>,
    pub(crate) severity: Severity,
    /// Connections through all instances at which memory ends, if all readers are slow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) capacity: Option<u64>,
    /// Connections through all instances that `worker_connections` and `worker_rlimit_nofile` let through.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) connections: Option<u64>,
    pub(crate) connections_severity: Severity,
    /// Changes of the configuration, with their effect.
    pub(crate) advice: Vec<String>,
}

/// The bytes of one connection through a proxy: held, and more with a slow reader.
fn each(nginx: &Nginx, is_http: bool) -> (u64, u64) {
    let buffers = nginx.buffers;
    let held = PROXIED + SOCKETS + buffers.first;
    // An upgraded connection has a buffer of the first's size for each direction, and no others.
    (held, if is_http { buffers.bytes() - buffers.first } else { buffers.first })
}

/// A load's share on an instance.
fn share(load: u64, instances: u64) -> u64 {
    load.div_ceil(instances)
}

/// Computes a hop whose configuration is known.
pub(super) fn of(hop: &Hop, load: Load) -> Option<Memory> {
    let nginx = hop.nginx.as_ref()?;
    let workers = nginx.workers.or(hop.processors);
    let connections_each = share(load.connections, hop.instances);
    let http = share(load.http.min(load.connections), hop.instances);
    let websockets = connections_each.saturating_sub(http);
    let parts = [(websockets, each(nginx, false)), (http, each(nginx, true))];
    let sum = |part: &dyn Fn((u64, u64)) -> u64| {
        parts.iter().fold(0_u64, |sum, (n, each)| sum.saturating_add(n.saturating_mul(part(*each))))
    };
    let (held, slow) = (sum(&|each| each.0), sum(&|each| each.1));
    let before = workers.unwrap_or(1).saturating_mul(allocated(nginx.connections));
    let needed = before.saturating_add(held).saturating_add(slow);
    let severity = hop.memory.map_or(Severity::Fits, |there| Severity::of(needed, there));
    let connections = workers.map(|workers| through(nginx, workers, hop.instances));
    let mut memory = Memory {
        hop: hop.name.clone(),
        workers,
        worker_connections: nginx.connections,
        connections_each,
        before,
        held,
        slow,
        slow_each: if http > 0 { each(nginx, true).1 } else { each(nginx, false).1 },
        available: hop.memory,
        severity,
        capacity: hop.memory.map(|there| {
            let one = held.saturating_add(slow).div_ceil(connections_each.max(1)).max(1);
            (there.saturating_sub(before) / one).saturating_mul(hop.instances)
        }),
        connections,
        connections_severity: connections
            .map_or(Severity::Fits, |there| Severity::of(load.connections, there)),
        advice: Vec::new(),
    };
    memory.advise(nginx, http);
    Some(memory)
}

/// Bytes of a worker when it starts.
fn allocated(connections: u64) -> u64 {
    connections.saturating_mul(SLOT).saturating_add(WORKER)
}

/// Connections that workers let through: each takes two, one to either side.
fn through(nginx: &Nginx, workers: u64, instances: u64) -> u64 {
    let each = nginx.descriptors.unwrap_or(u64::MAX).min(nginx.connections);
    workers.saturating_mul(each).saturating_mul(instances) / 2
}

impl Memory {
    fn needed(&self) -> u64 {
        self.before.saturating_add(self.held).saturating_add(self.slow)
    }

    pub(super) fn worst(&self) -> Severity {
        self.severity.max(self.connections_severity)
    }

    fn advise(&mut self, nginx: &Nginx, http: u64) {
        let per_worker =
            self.connections_each.saturating_mul(2).div_ceil(self.workers.unwrap_or(1));
        // A quarter more, since connections are not spread evenly.
        let enough = per_worker.saturating_add(per_worker / 4).max(512);
        if self.connections_severity > Severity::Fits {
            let files =
                if nginx.descriptors.is_some() { ", and worker_rlimit_nofile as many" } else { "" };
            self.advice.push(format!("worker_connections {enough}{files}"));
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
        let saved =
            if http > 0 { nginx.buffers.bytes() } else { nginx.buffers.first.saturating_mul(2) };
        if saved > 8192 {
            let small = if http > 0 { 4096 } else { 2 * 4096 };
            let spared = (saved - small).saturating_mul(self.connections_each);
            let needed = bytes(self.needed().saturating_sub(spared));
            self.advice.push(format!("{SMALL}: {needed} in all"));
        }
    }

    pub(super) fn text(&self) -> String {
        let all = match self.available {
            Some(there) => format!("{} each, needed {}", bytes(there), bytes(self.needed())),
            None => format!("{} each", bytes(self.needed())),
        };
        let mut out = format!("  {:9} memory of {}: {all}\n", self.severity.word(), self.hop);
        let mut line = |words: String| out.push_str(&format!("            {words}\n"));
        let workers = match self.workers {
            Some(workers) => things(workers, "worker"),
            None => "1 worker of worker_processes auto (say cpus=N)".into(),
        };
        line(format!(
            "{} before the first connection: {workers} x {} worker_connections x {SLOT} bytes",
            bytes(self.before),
            count(self.worker_connections)
        ));
        line(format!(
            "{} for {} of its own, the kernel's sockets included",
            bytes(self.held),
            things(self.connections_each, "connection")
        ));
        line(format!(
            "{} more while readers are slow: {} of buffers a connection; and the kernel's, up to tcp_wmem and tcp_rmem each, \
             until tcp_mem is used up",
            bytes(self.slow),
            bytes(self.slow_each)
        ));
        if let Some(connections) =
            self.connections.filter(|_| self.connections_severity > Severity::Fits)
        {
            out.push_str(&format!(
                "  {:9} connections of {}: {} (two of worker_connections and worker_rlimit_nofile each)\n",
                self.connections_severity.word(),
                self.hop,
                count(connections)
            ));
        }
        for advice in &self.advice {
            out.push_str(&format!("            -> {advice}\n"));
        }
        if self.available.is_none() {
            out.push_str(&format!(
                "            say what {} has to have it judged: memory=64G\n",
                self.hop
            ));
        }
        out
    }
}
