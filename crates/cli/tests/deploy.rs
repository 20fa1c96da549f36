//! `deploy/prometheus` and `deploy/grafana`: alert rules and a dashboard, generated from the names of exported metrics
//! and from the tables of watched hosts.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use export::Facts;
use export::sums::Sums;
use serde_json::{Value, json};
use watch::promql;

/// An alert: its name, the seconds for which its condition must hold, the condition, and the message for people.
struct Alert {
    name: &'static str,
    seconds: u32,
    condition: String,
    summary: &'static str,
}

fn alert(name: &'static str, seconds: u32, condition: &str, summary: &'static str) -> Alert {
    Alert { name, seconds, condition: condition.to_owned(), summary }
}

const ERRORS: &str = "sum by (instance) (rate(throng_samples_total{kind=\"request\",result=\"failed\"}[1m])) / sum by (instance) (rate(throng_samples_total{kind=\"request\"}[1m]))";

/// Returns the alerts on the load and on the generator.
fn of_runs() -> Vec<Alert> {
    vec![
        alert(
            "ThrongErrors",
            30,
            &format!("{ERRORS} > 0.01"),
            "More than 1 % of the requests of {{ $labels.instance }} fail.",
        ),
        alert(
            "ThrongStartsMissed",
            0,
            "increase(throng_starts_missed_total[1m]) > 0",
            "The rate of {{ $labels.instance }} is not reached: starts are missed. Its figures lack the slowest samples.",
        ),
        alert(
            "ThrongGeneratorBehind",
            30,
            "throng_generator_overhead_seconds{percentile=\"99\"} > 0.02",
            "Samples of {{ $labels.instance }} wait in the generator: the 99th percentile is {{ $value | humanizeDuration }}.",
        ),
        alert(
            "ThrongRowsDropped",
            0,
            "increase(throng_rows_dropped_total[1m]) > 0",
            "{{ $labels.instance }} cannot write all result rows.",
        ),
    ]
}

/// Returns a condition that compares a host's metric with a limit, for every exporter that has the metric.
fn beyond(metric: &str, limit: &str) -> String {
    let queries = promql(metric);
    assert!(!queries.is_empty(), "no exporter has {metric}");
    queries.iter().map(|query| format!("({query}) {limit}")).collect::<Vec<_>>().join("\nor ")
}

/// Returns a condition on the ratio of two metrics of a host, for every exporter that has both.
fn share(part: &str, whole: &str, limit: &str) -> String {
    let (parts, wholes) = (promql(part), promql(whole));
    assert!(!parts.is_empty() && !wholes.is_empty(), "no exporter has {part} and {whole}");
    let any = |queries: &[String]| {
        let each: Vec<String> = queries.iter().map(|query| format!("({query})")).collect();
        each.join(" or ")
    };
    format!("({}) / ({}) {limit}", any(&parts), any(&wholes))
}

/// Condition of an alert on hosts: a metric or the ratio of two metrics, with a limit.
enum Of {
    Figure(&'static str, &'static str),
    Share(&'static str, &'static str, &'static str),
}

/// Alerts on hosts under test, for the exporters that `--watch` reads: name, seconds, condition, summary.
const HOSTS: &[(&str, u32, Of, &str)] = &[
    (
        "HostProcessorsFull",
        30,
        Of::Figure("cpu", "> 0.95"),
        "Processors of {{ $labels.instance }} are full.",
    ),
    (
        "HostMemoryFull",
        30,
        Of::Figure("memory", "> 0.95"),
        "{{ $labels.instance }} uses more than 95 % of its memory.",
    ),
    (
        "HostStolen",
        30,
        Of::Figure("cpu_stolen", "> 0.05"),
        "The hypervisor takes more than 5 % of the processors of {{ $labels.instance }}.",
    ),
    (
        "HostSwaps",
        30,
        Of::Figure("swapped_in", "> 100"),
        "{{ $labels.instance }} reads memory back from swap.",
    ),
    (
        "HostPortsRunOut",
        0,
        Of::Share("time_wait", "ports", "> 0.9"),
        "Connections in TIME_WAIT take more than 90 % of the local ports of {{ $labels.instance }}.",
    ),
    (
        "HostAcceptQueueFull",
        0,
        Of::Figure("listen_overflows", "> 0"),
        "An accept queue of {{ $labels.instance }} is full: connections wait or are refused.",
    ),
    (
        "HostRetransmits",
        30,
        Of::Share("retransmits", "segments_sent", "> 0.01"),
        "{{ $labels.instance }} sends more than 1 % of its segments again.",
    ),
    (
        "HostFilesOpen",
        30,
        Of::Figure("files_open", "> 0.9"),
        "{{ $labels.instance }} has opened more than 90 % of the files that it may.",
    ),
    (
        "HostDropsPackets",
        30,
        Of::Figure("net_dropped", "> 1"),
        "{{ $labels.instance }} drops packets.",
    ),
    (
        "ProxyDropsConnections",
        0,
        Of::Figure("dropped", "> 0"),
        "nginx on {{ $labels.instance }} drops connections: worker_connections are used up.",
    ),
    (
        "FirewallSessionsFull",
        0,
        Of::Share("sessions", "sessions_max", "> 0.95"),
        "{{ $labels.instance }} has less than 5 % of its sessions left.",
    ),
    (
        "JvmPauses",
        30,
        Of::Figure("gc_pause", "> 0.05"),
        "Garbage collections stop {{ $labels.instance }} for more than 50 ms of each second.",
    ),
    (
        "WorkersBusy",
        30,
        Of::Share("workers_busy", "workers", ">= 1"),
        "All request threads of {{ $labels.instance }} are busy.",
    ),
    (
        "PoolWaiting",
        30,
        Of::Figure("pool_waiting", "> 0"),
        "Threads of {{ $labels.instance }} wait for a connection of the pool.",
    ),
    (
        "RedisRefusesConnections",
        0,
        Of::Figure("connections_refused", "> 0"),
        "Redis on {{ $labels.instance }} refuses connections: maxclients.",
    ),
    (
        "RedisEvicts",
        30,
        Of::Figure("evicted", "> 0"),
        "Redis on {{ $labels.instance }} evicts keys: its memory is full.",
    ),
    (
        "DatabaseConnectionsFull",
        30,
        Of::Share("connections", "connections_max", "> 0.9"),
        "More than 90 % of the connections of {{ $labels.instance }} are taken.",
    ),
    (
        "DatabaseDeadlocks",
        0,
        Of::Figure("deadlocks", "> 0"),
        "The database on {{ $labels.instance }} ends transactions that block each other.",
    ),
];

fn of_hosts() -> Vec<Alert> {
    let alert = |(name, seconds, of, summary): &(&'static str, u32, Of, &'static str)| {
        let condition = match of {
            Of::Figure(metric, limit) => beyond(metric, limit),
            Of::Share(part, whole, limit) => share(part, whole, limit),
        };
        Alert { name, seconds: *seconds, condition, summary }
    };
    HOSTS.iter().map(alert).collect()
}

/// Returns groups of alerts as a Prometheus rule file.
fn rules(groups: &[(&str, Vec<Alert>)]) -> String {
    let mut text = String::from(
        "# Made by crates/cli/tests/deploy.rs from the names that Throng exports and reads; UPDATE_DOCS=1 cargo test --test deploy\n# writes it anew. Adjust limits to the system under test.\ngroups:\n",
    );
    for (name, alerts) in groups {
        text += &format!("  - name: {name}\n    rules:\n");
        for Alert { name, seconds, condition, summary } in alerts {
            let condition = condition.replace('\n', "\n          ");
            text += &format!(
                "      - alert: {name}\n        expr: |-\n          {condition}\n        for: {seconds}s\n        labels: {{severity: warning}}\n        annotations:\n          summary: '{summary}'\n"
            );
        }
    }
    text
}

/// Returns a dashboard panel, 12 columns wide, with one graph line per query and its legend.
fn panel(id: usize, title: &str, unit: &str, queries: &[(String, &str)]) -> Value {
    assert!(queries.len() <= 26, "{title}: too many queries for letters");
    let targets: Vec<Value> = queries
        .iter()
        .zip('A'..='Z')
        .map(|((query, legend), name)| {
            json!({"refId": name.to_string(), "expr": query, "legendFormat": legend, "datasource": {"type": "prometheus", "uid": "${datasource}"}})
        })
        .collect();
    json!({
        "id": id,
        "title": title,
        "type": "timeseries",
        "datasource": {"type": "prometheus", "uid": "${datasource}"},
        "gridPos": {"h": 8, "w": 12, "x": 12 * (id % 2), "y": 8 * (id / 2)},
        "fieldConfig": {"defaults": {"unit": unit, "min": 0}, "overrides": []},
        "options": {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi"}},
        "targets": targets,
    })
}

/// A panel about runs: title, unit, and queries with their legends.
type Panel = (&'static str, &'static str, &'static [(&'static str, &'static str)]);
const RUN_PANELS: &[Panel] = &[
    (
        "Requests per second, by label",
        "reqps",
        &[("sum by (label) (rate(throng_samples_total{kind=\"request\"}[1m]))", "{{label}}")],
    ),
    ("Failed requests", "percentunit", &[(ERRORS, "{{instance}}")]),
    (
        "Response time, from the intended start",
        "s",
        &[
            (
                "histogram_quantile(0.5, sum by (le) (rate(throng_response_time_seconds_bucket[1m])))",
                "p50",
            ),
            (
                "histogram_quantile(0.95, sum by (le) (rate(throng_response_time_seconds_bucket[1m])))",
                "p95",
            ),
            (
                "histogram_quantile(0.99, sum by (le) (rate(throng_response_time_seconds_bucket[1m])))",
                "p99",
            ),
        ],
    ),
    (
        "Elapsed time of samples, p95 by label",
        "s",
        &[(
            "histogram_quantile(0.95, sum by (le, label) (rate(throng_sample_elapsed_seconds_bucket{kind=\"request\"}[1m])))",
            "{{label}}",
        )],
    ),
    ("Users", "short", &[("throng_users", "{{instance}}")]),
    (
        "Starts that were missed, per second",
        "short",
        &[("rate(throng_starts_missed_total[1m])", "{{instance}}")],
    ),
    (
        "Errors per second",
        "short",
        &[("sum by (outcome, code) (rate(throng_errors_total[1m]))", "{{outcome}} {{code}}")],
    ),
    (
        "Bytes per second",
        "Bps",
        &[
            ("sum(rate(throng_sent_bytes_total{kind=\"request\"}[1m]))", "sent"),
            ("sum(rate(throng_received_bytes_total{kind=\"request\"}[1m]))", "received"),
        ],
    ),
    (
        "Connections opened per second",
        "short",
        &[("rate(throng_connections_opened_total[1m])", "{{instance}}")],
    ),
    (
        "Time spent in the generator, p99",
        "s",
        &[("throng_generator_overhead_seconds{percentile=\"99\"}", "{{instance}}")],
    ),
    (
        "Processors of the generator",
        "short",
        &[("rate(throng_generator_cpu_seconds_total[1m])", "{{instance}}")],
    ),
];

/// Panels about watched hosts: title, unit, and the common name of the metric.
const HOST_PANELS: &[(&str, &str, &str)] = &[
    ("Processors of hosts", "percentunit", "cpu"),
    ("Memory of hosts", "percentunit", "memory"),
    ("Connections in TIME_WAIT", "short", "time_wait"),
    ("Connections that hosts open, per second", "short", "opened"),
    ("Segments sent again, per second", "short", "retransmits"),
    ("Sessions of firewalls and load balancers", "short", "sessions"),
    ("Pauses of Java, seconds per second", "s", "gc_pause"),
    ("Busy request threads", "short", "workers_busy"),
    ("Threads that wait for a pool", "short", "pool_waiting"),
];

/// Queries of a dashboard panel with their legends.
type Queries = Vec<(String, &'static str)>;

fn dashboard() -> Value {
    let of_runs = RUN_PANELS.iter().map(|(title, unit, queries)| {
        let queries = queries.iter().map(|(query, legend)| ((*query).to_owned(), *legend));
        (*title, *unit, queries.collect())
    });
    let of_hosts = HOST_PANELS.iter().map(|(title, unit, metric)| {
        let queries = promql(metric).into_iter().map(|query| (query, "{{instance}}"));
        (*title, *unit, queries.collect())
    });
    let panels: Vec<(&str, &str, Queries)> = of_runs.chain(of_hosts).collect();
    let panels: Vec<Value> = panels
        .iter()
        .enumerate()
        .map(|(id, (title, unit, queries))| panel(id, title, unit, queries))
        .collect();
    json!({
        "title": "Throng: a load test and the hosts under it",
        "uid": "throng",
        "schemaVersion": 39,
        "refresh": "5s",
        "time": {"from": "now-15m", "to": "now"},
        "timezone": "browser",
        "tags": ["throng"],
        "templating": {"list": [{"name": "datasource", "label": "Prometheus", "type": "datasource", "query": "prometheus"}]},
        "panels": panels,
    })
}

#[track_caller]
fn is_up_to_date(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy").join(name);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, text).expect("the file can be written");
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(written == text, "deploy/{name} is not up to date; UPDATE_DOCS=1 writes it anew");
}

#[test]
fn alerts_and_dashboard_are_those_of_the_tables() {
    let alerts = rules(&[("throng", of_runs()), ("throng-hosts", of_hosts())]);
    is_up_to_date("prometheus/throng-alerts.yml", &alerts);
    let dashboard = serde_json::to_string_pretty(&dashboard()).expect("JSON") + "\n";
    is_up_to_date("grafana/throng.json", &dashboard);
}

/// Returns the names of Throng's metrics in a string.
fn names(text: &str) -> BTreeSet<&str> {
    let is_name = |c: char| c.is_ascii_lowercase() || c == '_';
    text.split(|c| !is_name(c)).filter(|word| word.starts_with("throng_")).collect()
}

#[test]
fn every_name_in_them_is_exported() {
    let facts = Facts {
        plan: String::new(),
        version: String::new(),
        application: String::new(),
        start_ms: 0,
    };
    let families = Sums::new(facts).families();
    let mut exported: BTreeSet<String> =
        families.iter().map(|family| family.name.to_owned()).collect();
    exported.extend(families.iter().map(|family| format!("{}_bucket", family.name)));
    let text = rules(&[("throng", of_runs())]) + &dashboard().to_string();
    let used = names(&text);
    assert!(used.len() >= 12, "{used:?}");
    for name in used {
        assert!(exported.contains(name), "{name} is not exported");
    }
}
