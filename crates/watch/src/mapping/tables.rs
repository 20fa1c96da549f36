//! The tables for node_exporter, nginx, JVM (jmx_exporter and micrometer), Redis, PostgreSQL, and any process. The
//! table for network devices is in `network`.

use record::Unit::{self, Bytes, Count, PerSecond, Seconds, Share};

use super::network::NETWORK;
use super::{How, Row, Term};

pub(super) const fn term(name: &'static str) -> Term {
    Term { name, with: &[], without: &[] }
}

pub(super) const fn with(
    name: &'static str,
    with: &'static [(&'static str, &'static str)],
) -> Term {
    Term { name, with, without: &[] }
}

const fn without(name: &'static str, without: &'static [(&'static str, &'static str)]) -> Term {
    Term { name, with: &[], without }
}

pub(super) const fn row(metric: &'static str, unit: Unit, how: How) -> Row {
    Row { metric, unit, how }
}

/// All tables of metrics. A metric in an earlier table takes precedence over the same metric in a later one.
pub(crate) const TABLES: [&[Row]; 7] = [NODE, NGINX, JVM, REDIS, POSTGRES, NETWORK, PROCESS];

const CPU: &str = "node_cpu_seconds_total";
const PORT_RANGE: &str = "node_sysctl_net_ipv4_ip_local_port_range";
/// Network interfaces to leave out: they carry no traffic to other hosts, or would count traffic twice.
const INNER: &[(&str, &str)] = &[("device", "lo|docker0")];

const NODE: &[Row] = &[
    row("cpu", Share, How::RestOfRates(with(CPU, &[("mode", "idle|iowait")]), term(CPU))),
    row(
        "cpu_waiting_for_disk",
        Share,
        How::ShareOfRates(with(CPU, &[("mode", "iowait")]), term(CPU)),
    ),
    row("cpu_stolen", Share, How::ShareOfRates(with(CPU, &[("mode", "steal")]), term(CPU))),
    row("load", Count, How::Now(&[term("node_load1")])),
    row(
        "memory",
        Share,
        How::Rest(term("node_memory_MemAvailable_bytes"), term("node_memory_MemTotal_bytes")),
    ),
    row("memory_total", Bytes, How::Now(&[term("node_memory_MemTotal_bytes")])),
    row("swapped_in", PerSecond, How::Rate(&[term("node_vmstat_pswpin")])),
    row(
        "net_received",
        PerSecond,
        How::Rate(&[without("node_network_receive_bytes_total", INNER)]),
    ),
    row("net_sent", PerSecond, How::Rate(&[without("node_network_transmit_bytes_total", INNER)])),
    row(
        "net_dropped",
        PerSecond,
        How::Rate(&[
            without("node_network_receive_drop_total", INNER),
            without("node_network_transmit_drop_total", INNER),
        ]),
    ),
    row(
        "sockets",
        Count,
        How::Now(&[term("node_sockstat_TCP_inuse"), term("node_sockstat_TCP6_inuse")]),
    ),
    row("time_wait", Count, How::Now(&[term("node_sockstat_TCP_tw")])),
    row("connections", Count, How::Now(&[term("node_netstat_Tcp_CurrEstab")])),
    // Connections that the host opened, and connections that it accepted.
    row("opened", PerSecond, How::Rate(&[term("node_netstat_Tcp_ActiveOpens")])),
    row("accepted", PerSecond, How::Rate(&[term("node_netstat_Tcp_PassiveOpens")])),
    // Number of local ports. node_exporter's sysctl collector is disabled by default.
    row(
        "ports",
        Count,
        How::Span(with(PORT_RANGE, &[("index", "0")]), with(PORT_RANGE, &[("index", "1")])),
    ),
    row("segments_sent", PerSecond, How::Rate(&[term("node_netstat_Tcp_OutSegs")])),
    row("retransmits", PerSecond, How::Rate(&[term("node_netstat_Tcp_RetransSegs")])),
    row("syn_retransmits", PerSecond, How::Rate(&[term("node_netstat_TcpExt_TCPSynRetrans")])),
    row("listen_overflows", PerSecond, How::Rate(&[term("node_netstat_TcpExt_ListenOverflows")])),
    row("listen_drops", PerSecond, How::Rate(&[term("node_netstat_TcpExt_ListenDrops")])),
    row(
        "files_open",
        Share,
        How::Share(term("node_filefd_allocated"), term("node_filefd_maximum")),
    ),
    row("disk_read", PerSecond, How::Rate(&[term("node_disk_read_bytes_total")])),
    row("disk_written", PerSecond, How::Rate(&[term("node_disk_written_bytes_total")])),
    row("context_switches", PerSecond, How::Rate(&[term("node_context_switches_total")])),
];

const NGINX: &[Row] = &[
    row("connections", Count, How::Now(&[term("nginx_connections_active")])),
    row("connections_waiting", Count, How::Now(&[term("nginx_connections_waiting")])),
    row("connections_reading", Count, How::Now(&[term("nginx_connections_reading")])),
    row("connections_writing", Count, How::Now(&[term("nginx_connections_writing")])),
    row("accepted", PerSecond, How::Rate(&[term("nginx_connections_accepted")])),
    row(
        "dropped",
        PerSecond,
        How::Lost(term("nginx_connections_accepted"), term("nginx_connections_handled")),
    ),
    row("requests", PerSecond, How::Rate(&[term("nginx_http_requests_total")])),
    row("up", Count, How::Now(&[term("nginx_up")])),
];

const HEAP: &[(&str, &str)] = &[("area", "heap")];

/// Garbage collectors whose time is no pause, because the service's threads run meanwhile.
const CONCURRENT: &[(&str, &str)] =
    &[("gc", "G1 Concurrent GC|ZGC Cycles|ZGC Minor Cycles|ZGC Major Cycles|Shenandoah Cycles")];

const JVM: &[Row] = &[
    // First micrometer and jmx_exporter since 1.0, then older versions of jmx_exporter.
    row("heap", Bytes, How::Now(&[with("jvm_memory_used_bytes", HEAP)])),
    row("heap", Bytes, How::Now(&[with("jvm_memory_bytes_used", HEAP)])),
    row("heap_max", Bytes, How::Now(&[with("jvm_memory_max_bytes", HEAP)])),
    row("heap_max", Bytes, How::Now(&[with("jvm_memory_bytes_max", HEAP)])),
    // Seconds of pauses per second.
    row("gc_pause", Seconds, How::Rate(&[term("jvm_gc_pause_seconds_sum")])),
    row("gc_pause", Seconds, How::Rate(&[without("jvm_gc_collection_seconds_sum", CONCURRENT)])),
    row("gc_collections", PerSecond, How::Rate(&[term("jvm_gc_pause_seconds_count")])),
    row(
        "gc_collections",
        PerSecond,
        How::Rate(&[without("jvm_gc_collection_seconds_count", CONCURRENT)]),
    ),
    row("threads", Count, How::Now(&[term("jvm_threads_live_threads")])),
    row("threads", Count, How::Now(&[term("jvm_threads_current")])),
    row(
        "threads_blocked",
        Count,
        How::Now(&[with("jvm_threads_states_threads", &[("state", "blocked")])]),
    ),
    row("threads_blocked", Count, How::Now(&[with("jvm_threads_state", &[("state", "BLOCKED")])])),
    row("cpu", Share, How::Now(&[term("system_cpu_usage")])),
    row("cpu", Share, How::Now(&[term("java_lang_OperatingSystem_CpuLoad")])),
    row("cpu", Share, How::Now(&[term("java_lang_OperatingSystem_SystemCpuLoad")])),
    row("process_cpu", Share, How::RateOfNanoseconds(&[term("process_cpu_time_ns_total")])),
    // Micrometer's `process_cpu_usage` is a share of all processors.
    row("process_cpu", Share, How::Product(term("process_cpu_usage"), term("system_cpu_count"))),
    row(
        "files_open",
        Share,
        How::Share(term("process_files_open_files"), term("process_files_max_files")),
    ),
    row("workers_busy", Count, How::Now(&[term("tomcat_threads_busy_threads")])),
    row("workers_busy", Count, How::Now(&[term("Tomcat_ThreadPool_currentThreadsBusy")])),
    row("workers_busy", Count, How::Now(&[term("Catalina_ThreadPool_currentThreadsBusy")])),
    row("workers_busy", Count, How::Now(&[term("jetty_threads_busy")])),
    row("workers", Count, How::Now(&[term("tomcat_threads_config_max_threads")])),
    row("workers", Count, How::Now(&[term("Tomcat_ThreadPool_maxThreads")])),
    row("workers", Count, How::Now(&[term("Catalina_ThreadPool_maxThreads")])),
    row("workers", Count, How::Now(&[term("jetty_threads_config_max")])),
    row("pool_used", Count, How::Now(&[term("hikaricp_connections_active")])),
    row("pool_used", Count, How::Now(&[term("com_zaxxer_hikari_Pool_*_ActiveConnections")])),
    row("pool_size", Count, How::Now(&[term("hikaricp_connections_max")])),
    row("pool_size", Count, How::Now(&[term("com_zaxxer_hikari_PoolConfig_*_MaximumPoolSize")])),
    row("pool_waiting", Count, How::Now(&[term("hikaricp_connections_pending")])),
    row(
        "pool_waiting",
        Count,
        How::Now(&[term("com_zaxxer_hikari_Pool_*_ThreadsAwaitingConnection")]),
    ),
];

const REDIS: &[Row] = &[
    row("up", Count, How::Now(&[term("redis_up")])),
    row("connections", Count, How::Now(&[term("redis_connected_clients")])),
    row("connections_blocked", Count, How::Now(&[term("redis_blocked_clients")])),
    row("connections_refused", PerSecond, How::Rate(&[term("redis_rejected_connections_total")])),
    row("accepted", PerSecond, How::Rate(&[term("redis_connections_received_total")])),
    row("requests", PerSecond, How::Rate(&[term("redis_commands_processed_total")])),
    row("memory_used", Bytes, How::Now(&[term("redis_memory_used_bytes")])),
    row(
        "memory",
        Share,
        How::Share(term("redis_memory_used_bytes"), term("redis_memory_max_bytes")),
    ),
    row("evicted", PerSecond, How::Rate(&[term("redis_evicted_keys_total")])),
    row("cache_hits", PerSecond, How::Rate(&[term("redis_keyspace_hits_total")])),
    row("cache_misses", PerSecond, How::Rate(&[term("redis_keyspace_misses_total")])),
    row(
        "process_cpu",
        Share,
        How::Rate(&[term("redis_cpu_user_seconds_total"), term("redis_cpu_sys_seconds_total")]),
    ),
];

/// Databases to leave out: PostgreSQL's templates, which no user works with.
const OWN: &[(&str, &str)] = &[("datname", "template0|template1")];

/// Label of connections that are idle inside an open transaction.
const IN_TRANSACTION: &[(&str, &str)] =
    &[("state", "idle in transaction|idle in transaction (aborted)")];

const POSTGRES: &[Row] = &[
    row("up", Count, How::Now(&[term("pg_up")])),
    row("connections", Count, How::Now(&[term("pg_stat_activity_count")])),
    row("connections", Count, How::Now(&[without("pg_stat_database_numbackends", OWN)])),
    row(
        "connections_active",
        Count,
        How::Now(&[with("pg_stat_activity_count", &[("state", "active")])]),
    ),
    row(
        "connections_in_idle_transactions",
        Count,
        How::Now(&[with("pg_stat_activity_count", IN_TRANSACTION)]),
    ),
    row("connections_max", Count, How::Now(&[term("pg_settings_max_connections")])),
    row(
        "transactions",
        PerSecond,
        How::Rate(&[
            without("pg_stat_database_xact_commit", OWN),
            without("pg_stat_database_xact_rollback", OWN),
        ]),
    ),
    row("rollbacks", PerSecond, How::Rate(&[without("pg_stat_database_xact_rollback", OWN)])),
    row("deadlocks", PerSecond, How::Rate(&[term("pg_stat_database_deadlocks")])),
    row("locks", Count, How::Now(&[term("pg_locks_count")])),
    row("blocks_read", PerSecond, How::Rate(&[without("pg_stat_database_blks_read", OWN)])),
    row("blocks_hit", PerSecond, How::Rate(&[without("pg_stat_database_blks_hit", OWN)])),
];

/// Metrics that Prometheus client libraries publish about their own process. The process of a separate exporter is
/// of no interest. So this table is used last, and not at all if another table found metrics.
pub(crate) const PROCESS: &[Row] = &[
    row("process_cpu", Share, How::Rate(&[term("process_cpu_seconds_total")])),
    row("process_memory", Bytes, How::Now(&[term("process_resident_memory_bytes")])),
    row("files_open", Share, How::Share(term("process_open_fds"), term("process_max_fds"))),
];
