//! Converts the successive responses of an exporter to metrics with common names.

use std::collections::{BTreeMap, HashMap};

use record::Unit;

use crate::exposition::{Sample, samples};
use crate::java::Settings;
use crate::mapping::{PROCESS, Row, Sums, TABLES};

/// Maximum number of metrics that are read from an exporter without a table.
pub const MOST_OWN: usize = 64;
/// Prefixes of metrics that describe the exporter itself and not the watched service.
const NOISE: [&str; 4] = ["go_", "promhttp_", "process_", "scrape_"];

/// Value of a metric, under its common name or the exporter's own name.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    pub metric: String,
    pub unit: Unit,
    pub value: f64,
}

/// Converts the responses of one exporter, with the state between two responses.
#[derive(Debug)]
pub struct Reader {
    last: Option<Reading>,
    rows: Vec<&'static Row>,
    /// Indexes of table rows by the name of the samples that they use.
    by_name: HashMap<&'static str, Vec<usize>>,
    /// Indexes of table rows that use a name with `*`.
    starred: Vec<usize>,
    settings: Settings,
    /// True if the last response changed the known settings of the JVM.
    has_new_settings: bool,
}

#[derive(Debug)]
struct Reading {
    /// Time of the response in seconds: by the exporter's clock if samples have timestamps, otherwise by this machine's
    /// clock.
    at: f64,
    sums: Vec<Sums>,
    own: BTreeMap<String, f64>,
}

impl Default for Reader {
    fn default() -> Self {
        let rows: Vec<&Row> = TABLES.into_iter().flatten().collect();
        let (mut by_name, mut starred): (HashMap<_, Vec<usize>>, _) = (HashMap::new(), Vec::new());
        for (index, row) in rows.iter().enumerate() {
            for term in row.terms().into_iter().flatten() {
                let of_name = by_name.entry(term.name).or_default();
                if term.name.contains('*') {
                    starred.push(index);
                } else if !of_name.contains(&index) {
                    of_name.push(index);
                }
            }
        }
        let (settings, has_new_settings) = (Settings::default(), false);
        Self { last: None, rows, by_name, starred, settings, has_new_settings }
    }
}

impl Reader {
    /// Returns the metrics in a response that was received at `at_s`, in seconds of any clock. Rates need a previous
    /// response.
    pub fn read(&mut self, text: &str, at_s: f64) -> Vec<Figure> {
        let mut settings = self.settings.clone();
        let rows = &self.rows;
        let mut reading =
            Reading { at: at_s, sums: vec![Sums::default(); rows.len()], own: BTreeMap::new() };
        let (mut stamp, mut dated, mut all) = (None, 0_usize, 0_usize);
        for sample in samples(text) {
            stamp = stamp.max(sample.at_ms);
            dated += usize::from(sample.at_ms.is_some());
            all += 1;
            let named = self.by_name.get(sample.name).into_iter().flatten();
            for index in named.chain(&self.starred) {
                reading.sums[*index].add(rows[*index], &sample);
            }
            keep_own(&mut reading.own, &sample);
            settings.add(&sample);
        }
        // A few samples with old timestamps must not determine the time of all the others.
        let stamp = stamp.filter(|_| 2 * dated > all);
        if let Some(stamp) = stamp {
            // If most samples have timestamps, their time is used instead of the time of the scrape.
            reading.at = stamp as f64 / 1000.0;
        }
        let before = self.last.as_ref();
        if before.is_some_and(|before| stamp.is_some() && before.at >= reading.at) {
            return Vec::new();
        }
        let figures = reading.figures(rows, before);
        self.last = Some(reading);
        settings.add_figures(&figures);
        self.has_new_settings = settings != self.settings;
        self.settings = settings;
        figures
    }

    /// Returns the known settings of the JVM if the last response changed them.
    pub(crate) fn new_settings(&self) -> Option<&Settings> {
        self.has_new_settings.then_some(&self.settings)
    }
}

impl Reading {
    fn figures(&self, rows: &[&Row], before: Option<&Self>) -> Vec<Figure> {
        let mut figures: Vec<Figure> = Vec::new();
        let of_process = rows.len() - PROCESS.len();
        // An exporter for another program also publishes metrics of its own process, which are ignored.
        let own_process = !known(&self.sums[..of_process]) || self.has(rows, "heap");
        for (index, row) in rows.iter().enumerate() {
            let taken = figures.iter().any(|figure| figure.metric == row.metric);
            if taken || (index >= of_process && !own_process) {
                continue;
            }
            let last = before.map(|before| (&before.sums[index], self.at - before.at));
            if let Some(value) = row.figure(&self.sums[index], last) {
                figures.push(Figure { metric: row.metric.to_owned(), unit: row.unit, value });
            }
        }
        if !known(&self.sums[..of_process]) {
            figures.extend(self.own_figures(before));
        }
        figures
    }

    fn has(&self, rows: &[&Row], metric: &str) -> bool {
        let is = |(row, sums): (&&Row, &Sums)| row.metric == metric && *sums != Sums::default();
        rows.iter().zip(&self.sums).any(is)
    }

    /// Returns metrics of an exporter that no table describes: counters as rates, other values unchanged.
    fn own_figures(&self, before: Option<&Self>) -> impl Iterator<Item = Figure> {
        self.own.iter().filter_map(move |(name, value)| {
            let (unit, value) = if is_counter(name) {
                let before = before?;
                let grown = value - before.own.get(name)?;
                let seconds = self.at - before.at;
                (Unit::PerSecond, (grown >= 0.0 && seconds > 0.0).then(|| grown / seconds)?)
            } else {
                (Unit::Count, *value)
            };
            value.is_finite().then(|| Figure { metric: name.clone(), unit, value })
        })
    }
}

/// True if the exporter sent samples for any of these rows.
fn known(sums: &[Sums]) -> bool {
    sums.iter().any(|sums| *sums != Sums::default())
}

fn is_counter(name: &str) -> bool {
    ["_total", "_count", "_sum"].iter().any(|end| name.ends_with(end))
}

/// Adds a sample to the sum of its metric, for exporters without a table. Only the first [`MOST_OWN`] metrics are kept,
/// in the exporter's order.
fn keep_own(own: &mut BTreeMap<String, f64>, sample: &Sample<'_>) {
    let name = sample.name;
    let noise = NOISE.iter().any(|noise| name.starts_with(noise))
        || name.ends_with("_bucket")
        || name.len() > 200
        || sample.labels.get("quantile").is_some();
    if noise || !sample.value.is_finite() {
        return;
    }
    if let Some(sum) = own.get_mut(name) {
        *sum += sample.value;
    } else if own.len() < MOST_OWN {
        own.insert(name.to_owned(), sample.value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(texts: &[&str]) -> BTreeMap<String, f64> {
        let mut reader = Reader::default();
        let mut last = Vec::new();
        for (second, text) in texts.iter().enumerate() {
            last = reader.read(text, second as f64);
        }
        last.into_iter().map(|figure| (figure.metric, figure.value)).collect()
    }

    fn of(found: &BTreeMap<String, f64>, metric: &str) -> Option<f64> {
        found.get(metric).map(|value| (value * 1e6).round() / 1e6)
    }

    #[test]
    fn node_exporter_has_common_names() {
        let text = |idle: f64, user: f64, sent: u64| {
            format!(
                "node_cpu_seconds_total{{cpu=\"0\",mode=\"idle\"}} {idle}\nnode_cpu_seconds_total{{cpu=\"0\",mode=\"user\"}} {user}\n\
                 node_cpu_seconds_total{{cpu=\"1\",mode=\"iowait\"}} 7\nnode_memory_MemTotal_bytes 8e9\nnode_memory_MemAvailable_bytes 2e9\n\
                 node_network_transmit_bytes_total{{device=\"eth0\"}} {sent}\nnode_network_transmit_bytes_total{{device=\"lo\"}} {}\n\
                 node_sockstat_TCP_tw 28184\nnode_netstat_Tcp_ActiveOpens {sent}\n\
                 node_sysctl_net_ipv4_ip_local_port_range{{index=\"0\"}} 32768\n\
                 node_sysctl_net_ipv4_ip_local_port_range{{index=\"1\"}} 60999\nprocess_cpu_seconds_total {user}\n",
                sent * 1000
            )
        };
        let found = figures(&[&text(100.0, 50.0, 5000), &text(100.25, 50.75, 6000)]);
        assert_eq!(of(&found, "cpu"), Some(0.75));
        assert_eq!(of(&found, "memory"), Some(0.75));
        assert_eq!(of(&found, "net_sent"), Some(1000.0));
        assert_eq!(of(&found, "time_wait"), Some(28184.0));
        assert_eq!((of(&found, "opened"), of(&found, "ports")), (Some(1000.0), Some(28_232.0)));
        assert_eq!(of(&found, "process_cpu"), None, "that is the exporter itself");
    }

    #[test]
    fn a_jvm_is_known_by_both_exporters() {
        let micrometer = "jvm_memory_used_bytes{area=\"heap\",id=\"G1 Eden\"} 10\njvm_memory_used_bytes{area=\"heap\",id=\"G1 Old\"} 20\n\
                          jvm_memory_used_bytes{area=\"nonheap\",id=\"Code\"} 99\njvm_memory_max_bytes{area=\"heap\",id=\"G1 Eden\"} -1\n\
                          jvm_memory_max_bytes{area=\"heap\",id=\"G1 Old\"} 100\nhikaricp_connections_pending{pool=\"p\"} 3\n";
        let found = figures(&[micrometer]);
        assert_eq!((of(&found, "heap"), of(&found, "heap_max")), (Some(30.0), Some(100.0)));
        assert_eq!(of(&found, "pool_waiting"), Some(3.0));
        let jmx = |sum: f64| {
            format!(
                "jvm_memory_bytes_used{{area=\"heap\",}} 5\njvm_gc_collection_seconds_sum{{gc=\"G1\",}} {sum}\nprocess_cpu_seconds_total {sum}\n"
            )
        };
        let found = figures(&[&jmx(1.0), &jmx(1.25)]);
        assert_eq!((of(&found, "heap"), of(&found, "gc_pause")), (Some(5.0), Some(0.25)));
        assert_eq!(of(&found, "process_cpu"), Some(0.25), "the process is the service");
    }

    #[test]
    fn times_of_collectors_beside_the_service_are_no_pauses() {
        let jmx = |cycles: f64, pauses: f64| {
            format!(
                "jvm_gc_collection_seconds_sum{{gc=\"ZGC Cycles\"}} {cycles}\njvm_gc_collection_seconds_sum{{gc=\"ZGC Pauses\"}} {pauses}\n"
            )
        };
        let found = figures(&[&jmx(1.0, 0.1), &jmx(1.9, 0.11)]);
        assert_eq!(of(&found, "gc_pause"), Some(0.01));
    }

    #[test]
    fn the_processors_of_a_jvm_count_one_by_one() {
        let share = "process_cpu_usage 0.75\nsystem_cpu_count 4\nprocess_files_open_files 5\nprocess_files_max_files 20\n";
        let found = figures(&[share]);
        assert_eq!((of(&found, "process_cpu"), of(&found, "files_open")), (Some(3.0), Some(0.25)));
        let time = |ns: f64| format!("{share}process_cpu_time_ns_total {ns}\n");
        let found = figures(&[&time(1e9), &time(2.5e9)]);
        assert_eq!(of(&found, "process_cpu"), Some(1.5), "exact where its time is told");
    }

    #[test]
    fn names_of_pools_may_stand_within_names() {
        let found = figures(&[
            "com_zaxxer_hikari_Pool_Main_1_ActiveConnections 2\ncom_zaxxer_hikari_Pool_Other_ActiveConnections 3\n\
             com_zaxxer_hikari_PoolConfig_Main_1_MaximumPoolSize 9\nTomcat_ThreadPool_currentThreadsBusy{name=\"h\"} 4\n",
        ]);
        let expected = [("pool_used", 5.0), ("pool_size", 9.0), ("workers_busy", 4.0)];
        assert!(expected.iter().all(|(name, value)| of(&found, name) == Some(*value)), "{found:?}");
    }

    #[test]
    fn a_server_that_is_gone_leaves_nothing_of_its_exporter() {
        for up in ["redis_up", "pg_up"] {
            let text = |n: u64| format!("{up} 0\nprocess_cpu_seconds_total {n}\nmy_jobs 3\n");
            let found = figures(&[&text(1), &text(2)]);
            assert_eq!((of(&found, "up"), found.len()), (Some(0.0), 1), "{found:?}");
        }
    }

    #[test]
    fn nginx_redis_and_postgres_have_common_names() {
        let nginx = |n: u64| {
            format!(
                "nginx_connections_accepted {n}\nnginx_connections_handled {}\nnginx_http_requests_total {}\nnginx_connections_active 4\n",
                n - n / 10,
                n * 2
            )
        };
        let found = figures(&[&nginx(100), &nginx(200)]);
        let expected =
            [("requests", 200.0), ("dropped", 10.0), ("connections", 4.0), ("accepted", 100.0)];
        assert!(expected.iter().all(|(name, value)| of(&found, name) == Some(*value)), "{found:?}");
        let found = figures(&[
            "redis_connected_clients 9\nredis_memory_used_bytes 50\nredis_memory_max_bytes 0\n",
        ]);
        assert_eq!(
            (of(&found, "connections"), of(&found, "memory")),
            (Some(9.0), None),
            "no limit is set"
        );
        let found = figures(&[
            "pg_stat_activity_count{datname=\"a\",state=\"active\"} 3\npg_stat_activity_count{datname=\"a\",state=\"idle\"} 5\n\
             pg_stat_activity_count{state=\"idle in transaction\"} 2\npg_stat_activity_count{state=\"idle in transaction (aborted)\"} 1\npg_settings_max_connections 100\n",
        ]);
        assert_eq!(of(&found, "connections_active"), Some(3.0));
        assert_eq!(
            (of(&found, "connections"), of(&found, "connections_max")),
            (Some(11.0), Some(100.0))
        );
        assert_eq!(of(&found, "connections_in_idle_transactions"), Some(3.0));
    }

    #[test]
    fn network_devices_have_common_names() {
        let firewall = |n: u64| {
            format!(
                "hrProcessorLoad{{hrDeviceIndex=\"1\"}} 40\nhrProcessorLoad{{hrDeviceIndex=\"2\"}} 90\n\
                 panSessionActive 9000\npanSessionMax 12000\nifHCInOctets{{ifDescr=\"a\"}} {n}\n\
                 ifInDiscards{{ifDescr=\"a\"}} {}\nifOutDiscards{{ifDescr=\"b\"}} 3\nsnmp_scrape_duration_seconds 0.1\n",
                n / 100
            )
        };
        let found = figures(&[&firewall(1000), &firewall(3000)]);
        assert_eq!((of(&found, "cpu"), of(&found, "sessions")), (Some(0.65), Some(9000.0)));
        assert_eq!((of(&found, "sessions_max"), found.len()), (Some(12_000.0), 5), "{found:?}");
        assert_eq!(
            (of(&found, "net_received"), of(&found, "net_dropped")),
            (Some(2000.0), Some(20.0))
        );
        let asa = |service: &str, kind: &str, n: u64| {
            format!(
                "cfwConnectionStatValue{{cfwConnectionStatService=\"{service}\",cfwConnectionStatType=\"{kind}\"}} {n}\n"
            )
        };
        let asa = [asa("40", "6", 5), asa("40", "7", 70), asa("20", "2", 900)].concat();
        assert_eq!(of(&figures(&[&asa]), "sessions"), Some(5.0), "those in use now");
        let found = figures(&["sysStatClientCurConns 10\nsysStatServerCurConns 35\n"]);
        assert_eq!(
            (of(&found, "sessions"), of(&found, "sessions_behind")),
            (Some(10.0), Some(35.0))
        );
    }

    #[test]
    fn an_unknown_exporter_keeps_its_names_and_is_bounded() {
        let text = |n: u64| {
            let many: Vec<_> = (0..1000).map(|i| format!("zz_{i} 1")).collect();
            let many = many.join("\n");
            format!(
                "my_jobs{{q=\"a\"}} 2\nmy_jobs{{q=\"b\"}} 3\nmy_done_total {n}\nmy_time_bucket{{le=\"1\"}} 5\ngo_threads 9\n{many}"
            )
        };
        let found = figures(&[&text(10), &text(15)]);
        assert_eq!((of(&found, "my_jobs"), of(&found, "my_done_total")), (Some(5.0), Some(5.0)));
        assert!(!found.contains_key("go_threads") && !found.contains_key("my_time_bucket"));
        assert!(found.len() <= MOST_OWN);
    }

    #[test]
    fn a_counter_set_back_gives_nothing_and_dated_samples_are_read_once() {
        let found = figures(&["nginx_http_requests_total 100\n", "nginx_http_requests_total 5\n"]);
        assert_eq!(of(&found, "requests"), None);
        let dated = |n: u64, at: u64| format!("nginx_http_requests_total {n} {at}\n");
        let mut reader = Reader::default();
        reader.read(&dated(0, 10_000), 0.0);
        assert!(reader.read(&dated(0, 10_000), 1.0).is_empty());
        assert_eq!(reader.read(&dated(50, 15_000), 2.0)[0].value, 10.0);
    }

    #[test]
    fn a_few_dated_samples_do_not_stop_the_clock() {
        let text =
            |n: u64| format!("nginx_http_requests_total {n}\nnginx_up 1\nmy_backup_time 5 1000\n");
        let found = figures(&[&text(0), &text(7)]);
        assert_eq!(of(&found, "requests"), Some(7.0));
    }

    #[test]
    fn sums_without_end_are_left_out() {
        let found = figures(&["my_jobs{a=\"1\"} 1e308\nmy_jobs{a=\"2\"} 1e308\nmy_other 1\n"]);
        assert_eq!(found.keys().collect::<Vec<_>>(), ["my_other"]);
    }
}
