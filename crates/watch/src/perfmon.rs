//! The protocol of jp@gc's PerfMon server agent: lines of text over TCP or UDP.
//!
//! The agent answers `test` with `Yep`. After `metrics:` and a list of metrics, separated by tabs, it sends a line with
//! the metrics' values each second, in the same order. `exit` ends the session. An unknown value is `NaN` or empty.

mod connection;

use std::collections::BTreeSet;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use record::Unit;

use crate::{Figure, PACE, Reporter, is_over};
pub(crate) use connection::Connection;
use connection::PATIENCE;

/// A PerfMon server agent, and the metrics to request from it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Agent {
    /// Host and port of the agent, as `host:port`.
    pub address: String,
    pub metrics: Vec<Metric>,
    /// Milliseconds between two samples, from the property `jmeterPlugin.perfmon.interval`; 0 means one second.
    pub interval_ms: u64,
    /// True if UDP is tried when TCP fails, from the property `jmeterPlugin.perfmon.useUDP`.
    pub udp: bool,
}

/// A metric: one row of a PerfMon listener's settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metric {
    /// Index of the listener whose file receives the samples.
    pub listener: usize,
    /// Label of the metric's samples.
    pub label: String,
    /// The metric in the agent's notation, for example `cpu:idle`.
    pub spec: String,
}

/// A row for the result file of a listener.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    pub listener: usize,
    pub label: String,
    /// Time of the sample in ms since 1970.
    pub at_ms: i64,
    /// The value from the agent, or the reason why there is none.
    pub value: Result<f64, String>,
}

impl Metric {
    /// Builds a metric from a row in the settings of a PerfMon listener: kind and parameters. In the parameters, a
    /// backslash escapes a colon, and `label=` sets the label.
    pub fn new(listener: usize, host: &str, kind: &str, parameters: &str) -> Self {
        let is_name = |part: &&str| part.starts_with("label=");
        let parts = split_at_colons(parameters);
        let named = parts.iter().copied().find(is_name).map(|part| &part["label=".len()..]);
        let (label, parameters) = match named.filter(|name| !name.is_empty()) {
            Some(name) => {
                let others: Vec<_> = parts.into_iter().filter(|part| !is_name(part)).collect();
                (format!("{host} {kind} {name}"), others.join(":"))
            }
            None if parameters.is_empty() => (format!("{host} {kind}"), String::new()),
            None => (format!("{host} {kind} {parameters}"), parameters.to_owned()),
        };
        let spec = format!("{}:{parameters}", kind.to_lowercase());
        Self { listener, label, spec }
    }

    /// Returns the metric's name and unit in this program, and the factor that converts the agent's values to this
    /// unit. The agent sends a value every `interval_s` seconds.
    fn common(&self, interval_s: f64) -> (String, Unit, f64) {
        let mut parts = split_at_colons(&self.spec).into_iter().filter(|part| !part.is_empty());
        let kind = parts.next().unwrap_or_default();
        if kind == "jmx" {
            return jmx(&parts.collect::<Vec<_>>(), interval_s);
        }
        let what = parts.find(|part| !part.contains('=')).unwrap_or_default();
        let of_process = self.spec.contains("pid=")
            || self.spec.contains("name=")
            || self.spec.contains("ptql=");
        match (kind, what) {
            ("cpu", "" | "combined") if !of_process => ("cpu".into(), Unit::Share, 0.01),
            ("cpu", "" | "percent") => ("process_cpu".into(), Unit::Share, 0.01),
            ("cpu", "iowait" | "wait") => ("cpu_waiting_for_disk".into(), Unit::Share, 0.01),
            ("cpu", "stolen") => ("cpu_stolen".into(), Unit::Share, 0.01),
            ("memory", "" | "usedperc") if !of_process => ("memory".into(), Unit::Share, 0.01),
            ("tcp", "estab") => ("connections".into(), Unit::Count, 1.0),
            ("tcp", "time_wait") => ("time_wait".into(), Unit::Count, 1.0),
            ("network i/o" | "network", "" | "bytesrecv") => {
                ("net_received".into(), Unit::PerSecond, 1.0)
            }
            ("network i/o" | "network", "bytessent") => ("net_sent".into(), Unit::PerSecond, 1.0),
            _ => (self.spec.trim_end_matches(':').to_owned(), Unit::Count, 1.0),
        }
    }
}

impl Metric {
    /// Returns the address of the JVM that a JMX metric is read from; `None` for other metrics.
    fn machine(&self) -> Option<String> {
        let parts = split_at_colons(&self.spec);
        let (kind, parts) = parts.split_first()?;
        // The agent's default address.
        let url = || parameter(parts, "url").unwrap_or("localhost\\:4711").replace("\\:", ":");
        (*kind == "jmx").then(url)
    }
}

/// Returns the value of the parameter `name=VALUE` of a JMX metric.
fn parameter<'p>(parts: &[&'p str], name: &str) -> Option<&'p str> {
    parts.iter().find_map(|part| part.strip_prefix(name)?.strip_prefix('='))
}

/// Returns name, unit and conversion factor of a metric that the agent reads from a JVM over JMX. As in the agent's
/// `AbstractJMXDataProvider`, the last parameter without a name selects the metric. For times, the agent sends the
/// increase since the previous value.
fn jmx(parts: &[&str], interval_s: f64) -> (String, Unit, f64) {
    let named = ["url=", "user=", "password=", "unit=", "label=", "pid=", "iface=", "fs=", "core="];
    let is_what = |part: &&&str| !named.iter().any(|name| part.starts_with(name));
    let what = parts.iter().rfind(is_what).copied().unwrap_or_default();
    let unit = match parameter(parts, "unit") {
        Some("kb") => 1024.0,
        Some("mb") => 1024.0 * 1024.0,
        _ => 1.0,
    };
    let of_time = 0.001 / interval_s;
    let (name, unit, factor) = match what {
        "memory-usage" => ("heap", Unit::Bytes, unit),
        "memory-committed" => ("heap_committed", Unit::Bytes, unit),
        "memorypool-usage" => ("memory_pools", Unit::Bytes, unit),
        "memorypool-committed" => ("memory_pools_committed", Unit::Bytes, unit),
        "gc-time" => ("gc_time", Unit::Seconds, of_time),
        "compile-time" => ("compile_time", Unit::Seconds, of_time),
        "class-count" => ("classes", Unit::Count, 1.0),
        // The metric's name must not contain the parameters, which include user and password.
        what => return (format!("jmx:{what}"), Unit::Count, 1.0),
    };
    (name.to_owned(), unit, factor)
}

/// Splits a string at colons that are not escaped by a backslash.
fn split_at_colons(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut begin = 0;
    for (at, _) in text.match_indices(':') {
        if !text[..at].ends_with('\\') {
            parts.push(&text[begin..at]);
            begin = at + 1;
        }
    }
    parts.push(&text[begin..]);
    parts
}

impl Agent {
    /// Adds a metric. As in the plug-in, it replaces a metric of the same listener with the same label.
    pub fn add(&mut self, metric: Metric) {
        let same = |one: &&mut Metric| one.listener == metric.listener && one.label == metric.label;
        match self.metrics.iter_mut().find(same) {
            Some(found) => *found = metric,
            None => self.metrics.push(metric),
        }
    }

    /// Returns the number of JVMs that the agent queries over JMX.
    fn machines(&self) -> usize {
        self.metrics.iter().filter_map(Metric::machine).collect::<BTreeSet<_>>().len()
    }

    /// Returns the time between two lines of the agent: whole seconds, as in the plug-in.
    fn interval(&self) -> Duration {
        Duration::from_secs((self.interval_ms / 1000).max(1))
    }

    /// Returns the commands that make the agent send values.
    fn start(&self) -> String {
        // Tabs and line breaks in the plan's text would split the command.
        let spec = |metric: &Metric| metric.spec.replace(['\t', '\n', '\r'], " ") + "\t";
        let specs: String = self.metrics.iter().map(spec).collect();
        format!("interval:{}\nmetrics:{specs}\n", self.interval().as_secs())
    }
}

/// Reads the agent until the run is over. As in the plug-in, each failed attempt writes failed rows until the agent has
/// been reached once; after that, failures write no rows. Unlike the plug-in, a lost agent is reconnected.
pub(crate) fn follow(agent: &Agent, reporter: &mut Reporter, ended: &Receiver<()>) {
    let mut reached = false;
    loop {
        let begun = Instant::now();
        match Connection::open(agent) {
            Ok(mut connection) => {
                reached = true;
                let Err(error) = listen(&mut connection, agent, reporter, ended) else { return };
                reporter.failure(&format!("{}: {error}", agent.address));
            }
            Err(refused) => {
                reporter.failure(&refused.words);
                let metrics = agent.metrics.iter().filter(|_| !reached);
                for metric in metrics {
                    let (label, value) =
                        (refused.exception.clone(), Err(refused.exception.clone()));
                    let listener = metric.listener;
                    reporter.sample(Sample { listener, label, at_ms: now_ms(), value });
                }
            }
        }
        if is_over(ended, agent.interval().saturating_sub(begun.elapsed()).max(PACE / 10)) {
            return;
        }
    }
}

/// Reads the agent's lines until the run is over or the connection fails.
fn listen(
    connection: &mut Connection,
    agent: &Agent,
    reporter: &mut Reporter,
    ended: &Receiver<()>,
) -> std::io::Result<()> {
    connection.send(&agent.start())?;
    let silence = PATIENCE.max(3 * agent.interval());
    let mut last_line = Instant::now();
    while !is_over(ended, Duration::ZERO) {
        if let Some(line) = connection.line()? {
            last_line = Instant::now();
            report_line(agent, &line, reporter);
        } else if last_line.elapsed() > silence {
            return Err(std::io::Error::other(format!("no data for {} s", silence.as_secs())));
        }
    }
    // With TCP the agent notices the closed connection; with UDP it would send for ever.
    let _ = connection.send("exit\n");
    Ok(())
}

fn report_line(agent: &Agent, line: &str, reporter: &mut Reporter) {
    let (figures, samples) = read(agent, line, now_ms());
    reporter.figures(figures);
    for sample in samples {
        reporter.sample(sample);
    }
}

/// Parses a line of the agent; returns its metrics, and the rows for the listeners' result files.
pub fn read(agent: &Agent, line: &str, at_ms: i64) -> (Vec<Figure>, Vec<Sample>) {
    let (mut figures, mut samples) = (Vec::new(), Vec::new());
    let line = line.trim_end_matches(['\r', '\n']);
    let (interval_s, machines) = (agent.interval().as_secs_f64(), agent.machines());
    for (metric, word) in agent.metrics.iter().zip(line.split('\t')) {
        let word = word.trim();
        if word.is_empty() {
            continue;
        }
        let value = word.parse::<f64>().map_err(|_| format!("the agent says {word:.100}"));
        if let Ok(number) = value
            && number.is_finite()
        {
            let machine = metric.machine().filter(|_| machines > 1);
            let (mut metric, unit, factor) = metric.common(interval_s);
            if let Some(machine) = machine {
                metric = format!("{metric} ({machine})");
            }
            figures.push(Figure { metric, unit, value: number * factor });
        }
        let (listener, label) = (metric.listener, metric.label.clone());
        samples.push(Sample { listener, label, at_ms, value });
    }
    (figures, samples)
}

fn now_ms() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_the_plan_becomes_label_and_metric() {
        let of = |kind, parameters| {
            let Metric { label, spec, .. } = Metric::new(0, "h", kind, parameters);
            (label, spec)
        };
        let pair = |label: &str, spec: &str| (label.to_owned(), spec.to_owned());
        assert_eq!(of("CPU", ""), pair("h CPU", "cpu:"));
        assert_eq!(of("CPU", "idle"), pair("h CPU idle", "cpu:idle"));
        assert_eq!(of("Memory", "label=Used:usedperc"), pair("h Memory Used", "memory:usedperc"));
        assert_eq!(
            of("EXEC", "/bin/sh:-c\\:x"),
            pair("h EXEC /bin/sh:-c\\:x", "exec:/bin/sh:-c\\:x")
        );
    }

    #[test]
    fn a_listener_has_one_metric_of_a_label() {
        let mut agent = Agent { interval_ms: 2900, ..Agent::default() };
        for (listener, text) in [(0, "label=A:idle"), (0, "label=A:user\tx"), (1, "label=A:idle")] {
            agent.add(Metric::new(listener, "h", "CPU", text));
        }
        assert_eq!(agent.start(), "interval:2\nmetrics:cpu:user x\tcpu:idle\t\n");
    }

    fn figures(rows: &[&str], interval_ms: u64, line: &str) -> Vec<(String, Unit, f64)> {
        let metrics = rows.iter().map(|text| Metric::new(1, "h", "JMX", text)).collect();
        let agent = Agent { metrics, interval_ms, ..Agent::default() };
        let of = |figure: Figure| (figure.metric, figure.unit, figure.value);
        read(&agent, line, 7).0.into_iter().map(of).collect()
    }

    #[test]
    fn figures_of_a_java_machine_have_common_names() {
        let address = "url=localhost\\:4711";
        let rows = [
            format!("{address}:gc-time"),
            format!("{address}:user=a:password=hidden:unit=mb:memory-usage"),
            format!("label=Heap:memory-committed:{address}"),
            format!("unit=kb:memorypool-usage:{address}"),
            "class-count".to_owned(),
            format!("{address}:compile-time"),
            format!("{address}:user=a:password=hidden:thread-count"),
        ];
        let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
        let found = figures(&rows, 2000, "300\t64\t1048576\t8\t5029\t50\t7\n");
        let expected = [
            ("gc_time", Unit::Seconds, 0.15),
            ("heap", Unit::Bytes, f64::from(64 << 20)),
            ("heap_committed", Unit::Bytes, f64::from(1 << 20)),
            ("memory_pools", Unit::Bytes, 8192.0),
            ("classes", Unit::Count, 5029.0),
            ("compile_time", Unit::Seconds, 0.025),
            ("jmx:thread-count", Unit::Count, 7.0),
        ];
        let expected = expected.map(|(name, unit, value)| (name.to_owned(), unit, value));
        assert_eq!(found, expected);
    }

    #[test]
    fn java_machines_behind_one_agent_are_told_apart() {
        let rows = ["memory-usage", "url=localhost\\:9999:memory-usage"];
        let names: Vec<String> =
            figures(&rows, 0, "1\t2").into_iter().map(|(name, ..)| name).collect();
        assert_eq!(names, ["heap (localhost:4711)", "heap (localhost:9999)"]);
    }

    #[test]
    fn a_line_of_numbers_has_common_names() {
        let rows = [("CPU", ""), ("TCP", "estab"), ("Swap", "used"), ("Memory", "usedperc")];
        let metrics = rows.iter().map(|(kind, text)| Metric::new(1, "h", kind, text)).collect();
        let agent = Agent { metrics, ..Agent::default() };
        let (figures, samples) = read(&agent, "50.5\t12\tNaN\toops\n", 7);
        let found: Vec<_> = figures.iter().map(|f| (f.metric.as_str(), f.value)).collect();
        assert_eq!(found, [("cpu", 0.505), ("connections", 12.0)]);
        assert_eq!(samples.len(), 4);
        assert!(samples[3].value.is_err() && samples[0].value == Ok(50.5));
        let start = "interval:1\nmetrics:cpu:\ttcp:estab\tswap:used\tmemory:usedperc\t\n";
        assert_eq!(agent.start(), start);
        assert!(read(&agent, "", 0).1.is_empty());
    }
}
