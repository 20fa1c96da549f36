//! The rules: each one compares a demand with a limit of the host and returns a finding.
//!
//! They are pure functions of two plain structs. Constants are measured or taken from the kernel; docs/preflight.md
//! has the source of each. If a host value is 0, it could not be read, and the rule is skipped.

mod windows;

use stats::grouped::{bytes, count, rate, things};

use super::demand::Demand;
use super::finding::{Change, Finding, Severity};
use super::host::Host;

/// User-space memory in bytes of a user with an idle WebSocket without TLS.
const WEBSOCKET: u64 = 1024;
/// User-space memory in bytes of a user with an idle WebSocket with TLS, and the additional memory of TLS for an HTTP
/// connection.
const SECURE: u64 = 10 * 1024;
/// User-space memory in bytes of a user with an idle HTTP connection without TLS.
const HTTP: u64 = 1152;
/// Memory in bytes of a user without a connection.
const USER: u64 = 512;
/// Kernel memory in bytes of a socket that holds no data.
const SOCKET: u64 = 5 * 1024;
/// Memory in bytes of a process without users.
const PROCESS: u64 = 12 << 20;
/// Processor time in seconds on this side for opening a TCP connection with an upgrade.
const OPEN_S: f64 = 60e-6;
/// Processor time in seconds on this side for opening a connection with a full TLS handshake.
const OPEN_SECURE_S: f64 = 500e-6;
/// Widest range of local ports without the system's ports below 1024.
const WIDEST: (u64, u64) = (1024, 65_535);
/// Number of ports that the kernel's address translation uses for connections to one address and port: 1024 to 65535.
const NODE_PORTS: u64 = 64_512;
/// Largest backlog of a listener (a 16-bit number in older kernels).
const MOST_BACKLOG: u64 = 65_535;

/// Returns all findings, in the order in which a connection meets the limits.
pub(crate) fn findings(demand: &Demand, host: &Host) -> Vec<Finding> {
    if demand.connections() == 0 {
        // Users without connections need memory and processes as well.
        let found =
            [descriptors, threads, memory].into_iter().filter_map(|rule| rule(demand, host));
        let found = found.filter(|finding| finding.severity == Severity::TooSmall);
        return found.chain(cpu_quota(demand, host)).chain(file_size(demand, host)).collect();
    }
    let rules = [
        descriptors,
        files,
        threads,
        ports,
        node_ports,
        backlog,
        syn_backlog,
        conntrack,
        tcp_memory,
        windows::receive,
        windows::send,
        memory,
        processors,
        cpu_quota,
        file_size,
        orphans,
        time_wait,
    ];
    let mut found: Vec<_> = rules.into_iter().filter_map(|rule| rule(demand, host)).collect();
    for change in found.iter_mut().filter_map(|finding| finding.change.as_mut()) {
        change.place = host.surroundings.place(change.key);
    }
    found
}

/// Largest number of worker processes per processor that a run starts by default. More of them would only wait for each
/// other.
const WORKERS_EACH: u64 = 100;

/// Returns the number of worker processes for the demand.
pub(crate) fn workers(demand: &Demand, host: &Host) -> u64 {
    let by_need = || fleet::workers_for(demand.connections().max(demand.users), host.descriptors);
    demand.workers.unwrap_or_else(by_need)
}

/// Compares a need with a numeric kernel setting. If the setting is not clearly large enough, the finding contains the
/// change that raises it. Returns `None` if the setting could not be read.
fn number(
    what: &'static str,
    key: &'static str,
    now: u64,
    needed: u64,
    used: u64,
    why: &str,
) -> Option<Finding> {
    if now == 0 {
        return None;
    }
    let severity = Severity::of(needed, now);
    // Adds a quarter to the need, so that the next preflight does not report the limit as tight.
    let to = needed.saturating_add(needed / 4).max(now);
    let change = Change::new(key, now.to_string(), to.to_string());
    let used = if used > 0 { format!(", {} in use", count(used)) } else { String::new() };
    Some(Finding {
        what,
        severity,
        now: format!("{}{used}", count(now)),
        needed: count(needed),
        why: why.into(),
        change: (severity > Severity::Fits && to > now).then_some(change),
        advice: None,
    })
}

fn descriptors(demand: &Demand, host: &Host) -> Option<Finding> {
    if host.descriptors == 0 {
        return None;
    }
    let (connections, workers) = (demand.connections(), workers(demand, host));
    let each = fleet::held_per_process(host.descriptors);
    let target =
        if demand.local { "; a target on this machine needs the same number too" } else { "" };
    let why = if workers == 1 {
        format!("one process carries them{target}")
    } else {
        let by_itself = if demand.workers.is_none() { " by itself" } else { "" };
        format!(
            "the run uses {} worker processes{by_itself}, {} connections each at most{target}",
            count(workers),
            count(each)
        )
    };
    let by_processors = host.processors.max(1).saturating_mul(WORKERS_EACH);
    let is_many = workers > 1000 || demand.workers.is_none() && workers > by_processors;
    let there = host.descriptors.saturating_mul(workers);
    let needed =
        connections.max(demand.users).saturating_add(fleet::RESERVE.saturating_mul(workers));
    // Only a number of workers that the user has set can be too small; and not every user holds a connection.
    let is_few = needed > there;
    let severity = match (is_many, is_few) {
        (true, _) => Severity::TooSmall,
        (false, true) => Severity::Tight,
        (false, false) => Severity::Fits,
    };
    let now = if workers > 1 {
        format!(
            "{} ({} in each of {} worker processes)",
            count(there),
            count(host.descriptors),
            count(workers)
        )
    } else {
        count(there)
    };
    Some(Finding {
        what: if workers > 1 { "descriptors of all processes" } else { "descriptors of a process" },
        severity,
        now,
        needed: count(needed),
        why,
        change: None,
        advice: if is_many {
            Some(format!(
                "{} worker processes are too many for {}: raise the hard limit of open files (ulimit -Hn, LimitNOFILE=), run fewer users, or spread them over machines (--fleet)",
                count(workers),
                things(host.processors.max(1), "processor")
            ))
        } else {
            is_few.then(|| {
                "use more worker processes (--workers), or raise the hard limit of open files (ulimit -Hn, LimitNOFILE=)".to_owned()
            })
        },
    })
}

fn files(demand: &Demand, host: &Host) -> Option<Finding> {
    let own = workers(demand, host).saturating_mul(100);
    let needed = host.files_open.saturating_add(demand.sockets()).saturating_add(own);
    number(
        "open files of the machine",
        "fs.file-max",
        host.file_max,
        needed,
        host.files_open,
        "above this limit no process gets a descriptor: connecting fails with ENFILE",
    )
}

fn threads(demand: &Demand, host: &Host) -> Option<Finding> {
    let workers = workers(demand, host);
    // Threads that run users, plus a few for name resolution, result rows and the coordinator.
    let each = (host.processors / workers.max(1)).max(1) + 4;
    let needed = host.threads.saturating_add(workers.saturating_mul(each));
    number(
        "threads of the machine",
        "kernel.threads-max",
        host.threads_max,
        needed,
        host.threads,
        "above this limit worker processes cannot start their threads",
    )
    .map(|mut finding| {
        // The limit may come from pid_max or from a container. The program cannot tell which, so it gives advice for
        // both.
        if finding.change.take().is_some() {
            finding.advice =
                Some("raise kernel.threads-max, kernel.pid_max or the container's pids.max, whichever is lowest".into());
        }
        finding
    })
}

/// Number of users or connections up to which a run in a single process is never refused, because the estimates are too
/// rough for small runs.
const FEW: u64 = 10_000;

/// Returns true if the run is not started, because the missing resource would make the whole machine fail, not only
/// samples.
pub(crate) fn refuses(finding: &Finding, demand: &Demand, host: &Host) -> bool {
    let large = demand.users.max(demand.connections()) > FEW || workers(demand, host) > 1;
    let fatal = [
        "descriptors of a process",
        "descriptors of all processes",
        "open files of the machine",
        "threads of the machine",
        "memory",
    ];
    large && finding.severity == Severity::TooSmall && fatal.contains(&finding.what)
}

/// Returns the number of pairs of source address and destination. Each pair can use all local ports.
fn pairs(demand: &Demand) -> u64 {
    demand.sources.max(1).saturating_mul((demand.destinations.len() as u64).max(1))
}

/// Returns the number of ports that are available for the demand, or `None` if the port range could not be read.
pub(crate) fn ports_there(demand: &Demand, host: &Host) -> Option<u64> {
    let each = host.local_ports();
    (each > 0).then(|| each.saturating_mul(pairs(demand)))
}

/// Returns advice to use several source addresses. If the port range can also be widened: names both as
/// alternatives if the wider range has the `enough` ports that are needed, and otherwise asks for both.
fn more_addresses(demand: &Demand, host: &Host, wider: bool, enough: u64) -> String {
    let destinations = (demand.destinations.len() as u64).max(1);
    // One address more than computed, for ports that are waiting or reserved.
    let of =
        |ports: u64| demand.connections().div_ceil(ports.saturating_mul(destinations).max(1)) + 1;
    let is_enough = Severity::of(demand.connections(), enough) == Severity::Fits;
    let (addresses, before) = match (wider, is_enough) {
        (true, true) => (
            of(host.local_ports()),
            "one of the two is enough: that range, or the present one from",
        ),
        (true, false) => {
            (of(WIDEST.1 - WIDEST.0 + 1), "both are needed: with that range, also connect from")
        }
        (false, _) => (of(WIDEST.1 - WIDEST.0 + 1), "connect from"),
    };
    let range = if demand.local {
        format!("127.0.0.2-127.0.{}.{}", addresses / 250, addresses % 250 + 1)
    } else {
        "FIRST-LAST (added before with ip address add)".to_owned()
    };
    format!("{before} {addresses} addresses: -Jthrong.source.addresses={range}")
}

fn ports(demand: &Demand, host: &Host) -> Option<Finding> {
    let there = ports_there(demand, host)?;
    let each = host.local_ports();
    let destinations = (demand.destinations.len() as u64).max(1);
    let pairs = pairs(demand);
    let reuse = host.time_wait_reuse == 1 || host.time_wait_reuse == 2 && demand.local;
    let waiting = if reuse { 0 } else { host.time_wait };
    let left = there.saturating_sub(waiting);
    let needed = demand.connections();
    // Ports in TIME_WAIT are free within a minute, and may belong to other destinations, so they do not prevent a
    // start.
    let mut severity =
        Severity::of(needed, there).max(Severity::of(needed, left).min(Severity::Tight));
    if demand.unknown_destinations > 0 {
        // The number of unknown destinations may be large enough for all connections, so the finding is only a
        // warning.
        severity = severity.min(Severity::Tight);
    }
    let (low, high) = host.ports;
    let widest = WIDEST.1 - WIDEST.0 + 1;
    let wider = low > WIDEST.0 || high < WIDEST.1;
    let change = Change::new(
        "net.ipv4.ip_local_port_range",
        format!("{low} {high}"),
        format!("{} {}", WIDEST.0.min(low), WIDEST.1.max(high)),
    );
    let enough = widest.saturating_mul(pairs).saturating_sub(host.ports_reserved);
    let unknown = match demand.unknown_destinations {
        0 => String::new(),
        1 => "; the destination of one sampler is known only during a run".into(),
        n => format!("; the destinations of {} samplers are known only during a run", count(n)),
    };
    let wait = match waiting {
        0 => String::new(),
        n => format!(", less {} in TIME_WAIT", count(n)),
    };
    Some(Finding {
        what: "local ports",
        severity,
        now: format!(
            "{} ({} ports x {} source address{} x {} destination{}{wait})",
            count(left),
            count(each),
            demand.sources.max(1),
            if demand.sources > 1 { "es" } else { "" },
            destinations,
            if destinations == 1 { "" } else { "s" }
        ),
        needed: count(needed),
        why: format!(
            "connections differ by addresses and ports: when all are used, connecting fails with EADDRNOTAVAIL{unknown}"
        ),
        change: (severity > Severity::Fits && wider).then_some(change),
        advice: (severity > Severity::Fits).then(|| more_addresses(demand, host, wider, enough)),
    })
}

/// Returns true if a destination (host and port) is a name inside the cluster, so that its connections keep their
/// source address.
fn is_in_cluster(destination: &str) -> bool {
    let host = destination.rsplit_once(':').map_or(destination, |(host, _)| host);
    let bare = !host.contains(['.', ':']);
    bare || [".svc", ".cluster.local"].iter().any(|end| host.ends_with(end))
}

/// In a pod, checks the ports of the node's address. Connections that leave the cluster use these ports.
fn node_ports(demand: &Demand, host: &Host) -> Option<Finding> {
    let outside = demand.destinations.iter().filter(|to| !is_in_cluster(to)).count() as u64;
    if !host.is_pod || demand.local || outside == 0 {
        return None;
    }
    let there = NODE_PORTS.saturating_mul(outside);
    let needed = demand.connections();
    // Connections of other pods are not visible, and a pod in its node's network has no address translation. So this
    // finding is only a warning.
    let severity = Severity::of(needed, there).min(Severity::Tight);
    Some(Finding {
        what: "ports of the node",
        severity,
        now: format!(
            "{} ({} ports x {} destination{}), shared by all pods of the node",
            count(there),
            count(NODE_PORTS),
            count(outside),
            if outside == 1 { "" } else { "s" }
        ),
        needed: count(needed),
        why: "connections that leave the cluster get the node's address (SNAT): when its ports are used, packets of new \
              connections are dropped, and connecting takes seconds or times out"
            .into(),
        change: None,
        advice: (severity > Severity::Fits).then(|| {
            "fewer agents on one node (topologySpreadConstraints), or agents with the node's own network (hostNetwork)"
                .into()
        }),
    })
}

/// Returns the largest number of connections that can arrive within a second.
fn burst(demand: &Demand) -> u64 {
    let rate = demand.per_second.unwrap_or(f64::MAX).min(MOST_BACKLOG as f64) as u64;
    demand.connections().min(rate).min(MOST_BACKLOG)
}

fn listens(demand: &Demand, finding: Option<Finding>) -> Option<Finding> {
    finding.map(|mut finding| {
        if demand.local {
            // With a full queue, the client resends its SYN after a second. Connections are not lost.
            finding.severity = finding.severity.min(Severity::Tight);
        } else {
            finding.severity = Severity::Fits;
            finding.change = None;
            finding.why = "it matters on the machines that listen; check it there".into();
        }
        finding
    })
}

fn backlog(demand: &Demand, host: &Host) -> Option<Finding> {
    let why = "the target is on this machine: when connections come faster than it accepts, a full queue drops them, and \
               clients retry after a second";
    let needed = burst(demand);
    let mut found =
        number("backlog of listeners", "net.core.somaxconn", host.somaxconn, needed, 0, why);
    limit_change(&mut found);
    listens(demand, found)
}

fn syn_backlog(demand: &Demand, host: &Host) -> Option<Finding> {
    let why = "the target is on this machine: half-open connections beyond it are dropped or answered with cookies";
    let needed = burst(demand);
    let mut found = number(
        "half-open connections",
        "net.ipv4.tcp_max_syn_backlog",
        host.syn_backlog,
        needed,
        0,
        why,
    );
    limit_change(&mut found);
    listens(demand, found)
}

/// Limits a backlog to the largest value that the kernel accepts.
fn limit_change(found: &mut Option<Finding>) {
    if let Some(change) = found.as_mut().and_then(|finding| finding.change.as_mut())
        && change.to.parse::<u64>().is_ok_and(|n| n > MOST_BACKLOG)
    {
        change.to = MOST_BACKLOG.to_string();
    }
}

fn conntrack(demand: &Demand, host: &Host) -> Option<Finding> {
    let (used, max) = host.conntrack?;
    let mut finding = number(
        "connections tracked by the firewall",
        "net.netfilter.nf_conntrack_max",
        max,
        used.saturating_add(demand.connections()),
        used,
        "when the table is full, packets of new connections are dropped; only the kernel's log says so",
    )?;
    if used == 0 {
        // The firewall does not track connections now and may never do so, so the finding is only a warning.
        finding.severity = finding.severity.min(Severity::Tight);
    }
    Some(finding)
}

fn tcp_memory(demand: &Demand, host: &Host) -> Option<Finding> {
    let [low, pressure, limit] = host.tcp_mem;
    if limit == 0 || host.page == 0 {
        return None;
    }
    let needed = demand.sockets();
    // Usually only a few sockets hold data at a time. Data in a quarter of them is an extreme case.
    let severity = match () {
        () if needed / 4 > limit => Severity::TooSmall,
        () if needed > pressure => Severity::Tight,
        () => Severity::Fits,
    };
    // TCP gets at most half of the machine's memory, whatever the load.
    let most = host.memory_total / 2 / host.page;
    let raised = [needed / 4 * 3, needed, needed / 2 * 3].map(|pages| pages.min(most));
    let to = [raised[0].max(low), raised[1].max(pressure), raised[2].max(limit)];
    let text = |pages: [u64; 3]| format!("{} {} {}", pages[0], pages[1], pages[2]);
    let change = Change::new("net.ipv4.tcp_mem", text(host.tcp_mem), text(to));
    Some(Finding {
        what: "memory of TCP",
        severity,
        now: format!(
            "{} before it is short, at most {}",
            bytes(pressure.saturating_mul(host.page)),
            bytes(limit.saturating_mul(host.page))
        ),
        needed: format!(
            "{} if every socket holds a message at once",
            bytes(needed.saturating_mul(host.page))
        ),
        why: "under pressure windows shrink and data is dropped; idle sockets use none of it"
            .into(),
        change: (severity > Severity::Fits && to != host.tcp_mem).then_some(change),
        advice: None,
    })
}

fn memory(demand: &Demand, host: &Host) -> Option<Finding> {
    if host.memory_total == 0 {
        return None;
    }
    let user = [
        (demand.unconnected, USER),
        (demand.websockets, WEBSOCKET),
        (demand.secure_websockets, SECURE),
        (demand.http, HTTP),
        (demand.https, HTTP + SECURE),
        (workers(demand, host), PROCESS),
    ];
    let user = user.into_iter().map(|(count, each)| count.saturating_mul(each));
    let user = user.fold(0, u64::saturating_add);
    let kernel = demand.sockets().saturating_mul(SOCKET);
    let needed = user.saturating_add(kernel);
    let ends = if demand.local { ", both ends of each connection" } else { "" };
    let target = if demand.local { "; plus the target's own memory" } else { "" };
    Some(Finding {
        what: "memory",
        severity: Severity::of(needed, host.memory_available),
        now: format!("{} available of {}", bytes(host.memory_available), bytes(host.memory_total)),
        needed: format!(
            "{} ({} of this program, {} of the kernel{ends})",
            bytes(needed),
            bytes(user),
            bytes(kernel)
        ),
        why: format!(
            "data that the plan keeps per user, such as responses and variables, is not included{target}"
        ),
        change: None,
        advice: Some("run fewer users on this machine, or add memory".into()),
    })
}

fn processors(demand: &Demand, host: &Host) -> Option<Finding> {
    if host.processors == 0 {
        return None;
    }
    let connections = demand.connections().max(1) as f64;
    let secure = demand.secure() as f64 / connections;
    let ends = if demand.local { 2.0 } else { 1.0 };
    let each = (OPEN_S * (1.0 - secure) + OPEN_SECURE_S * secure) * ends;
    let there = host.processors as f64;
    let Some(per_second) = demand.per_second else {
        return Some(Finding {
            what: "processors, for opening",
            severity: Severity::Fits,
            now: there.to_string(),
            needed: format!("about {} connections per second can be opened", rate(there / each)),
            why: "the plan opens connections as fast as it can; throng.connect.rate limits that"
                .into(),
            change: None,
            advice: None,
        });
    };
    let needed = per_second * each;
    Some(Finding {
        what: "processors, for opening",
        severity: match needed / there {
            share if share > 1.0 => Severity::TooSmall,
            share if share > 0.7 => Severity::Tight,
            _ => Severity::Fits,
        },
        now: there.to_string(),
        needed: format!("{needed:.2} for {} connections per second", rate(per_second)),
        why: "an estimate, without the load of messages and samples".into(),
        change: None,
        advice: Some(format!(
            "open at most {} per second: a longer ramp-up, or -Jthrong.connect.rate",
            rate(there * 0.7 / each)
        )),
    })
}

/// Returns the finding about a CPU quota, if there is one. A process that has used up its quota is stopped for the rest
/// of the scheduler period.
fn cpu_quota(_: &Demand, host: &Host) -> Option<Finding> {
    if host.quota == 0 {
        return None;
    }
    let quota = host.quota as f64 / 1000.0;
    // The program uses as many processors as the quota contains whole ones.
    let fits = quota >= host.processors as f64;
    Some(Finding {
        what: "CPU quota",
        severity: if fits { Severity::Fits } else { Severity::Tight },
        now: if quota == 1.0 { "1 processor".to_owned() } else { format!("{quota} processors") },
        needed: "none".into(),
        why: "a quota of the control group stops the generator for the rest of each period (100 ms) in which it is used \
              up: response times then are those of the quota"
            .into(),
        change: None,
        advice: (!fits).then(|| {
            "remove the limit (docker run --cpus, resources.limits.cpu, CPUQuota=), or keep far below it".into()
        }),
    })
}

/// File size limit in bytes below which only the rows of a short run fit.
const ROOMY: u64 = 1 << 30;
/// File size limit in bytes below which not even the rows of a short run fit.
const CRAMPED: u64 = 64 << 20;

fn file_size(_: &Demand, host: &Host) -> Option<Finding> {
    if host.file_size == 0 || host.file_size >= ROOMY {
        return None;
    }
    Some(Finding {
        what: "size of a file",
        severity: if host.file_size < CRAMPED { Severity::TooSmall } else { Severity::Tight },
        now: bytes(host.file_size),
        needed: "more than the rows of the run take".into(),
        why: "rows and seconds behind the limit are lost, as on a full disk (exit 9)".into(),
        change: None,
        advice: Some("raise the limit of file size: ulimit -f unlimited, LimitFSIZE=".into()),
    })
}

/// Lowers the severity of a finding about the end of a run to at most `Tight`.
fn at_the_end(finding: Option<Finding>) -> Option<Finding> {
    finding.map(|mut finding| {
        finding.severity = finding.severity.min(Severity::Tight);
        finding
    })
}

fn orphans(demand: &Demand, host: &Host) -> Option<Finding> {
    let needed = demand.connections();
    let why = "when all connections end at once, the kernel closes this many and resets the others";
    let found =
        number("closing connections", "net.ipv4.tcp_max_orphans", host.orphans_max, needed, 0, why);
    at_the_end(found)
}

fn time_wait(demand: &Demand, host: &Host) -> Option<Finding> {
    let needed = demand.connections();
    let why = "connections that this side closes wait a minute; above this limit they do not, and a late packet may reach a new connection";
    let found = number(
        "connections in TIME_WAIT",
        "net.ipv4.tcp_max_tw_buckets",
        host.time_wait_max,
        needed,
        host.time_wait,
        why,
    );
    at_the_end(found)
}

#[cfg(test)]
mod tests;
