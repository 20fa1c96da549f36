//! The protocol of jp@gc's PerfMon server agent: lines of text over TCP.
//!
//! `test` is answered with `Yep`; `metrics:` and what is wanted, separated by tabs, starts a line of numbers each second, in
//! the same order; `exit` ends it. A number that the agent cannot tell is `NaN` or empty.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use record::Unit;

use crate::{Figure, PACE, Teller, is_over};

/// Longest line that is read, bytes.
const MOST_LINE: u64 = 1 << 16;
/// Time limit of a connect, and of an answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// An agent, and what it is to tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Agent {
    /// `host:port`.
    pub address: String,
    pub metrics: Vec<Metric>,
    /// Milliseconds between two samples, `jmeterPlugin.perfmon.interval`; 0: a second.
    pub interval_ms: u64,
}

/// A row of a PerfMon listener.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metric {
    /// Number of the listener whose file gets its samples.
    pub listener: usize,
    /// The label of its samples.
    pub label: String,
    /// As sent to the agent: `cpu:idle`.
    pub spec: String,
}

/// A row for the file of a listener.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    pub listener: usize,
    pub label: String,
    /// Epoch ms.
    pub at_ms: i64,
    /// The number that the agent told; else the reason for which there is none.
    pub value: Result<f64, String>,
}

impl Metric {
    /// The metric of a row: kind and parameters of the plan, in which a backslash keeps a colon and `label=` names it.
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

    /// Common name and unit of what it measures, and the factor on the agent's number.
    fn common(&self) -> (String, Unit, f64) {
        let mut parts = self.spec.split(':').filter(|part| !part.is_empty());
        let kind = parts.next().unwrap_or_default();
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

/// Parts between colons that no backslash keeps.
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

pub(crate) fn follow(agent: &Agent, teller: &mut Teller, ended: &Receiver<()>) {
    loop {
        let begun = Instant::now();
        let Err(why) = watch(agent, teller, ended) else { return };
        teller.failure(&why);
        for metric in &agent.metrics {
            let (listener, label) = (metric.listener, metric.label.clone());
            teller.sample(Sample { listener, label, at_ms: now_ms(), value: Err(why.clone()) });
        }
        if is_over(ended, PACE.saturating_sub(begun.elapsed()).max(PACE / 10)) {
            return;
        }
    }
}

/// Reads lines until the run is over.
fn watch(agent: &Agent, teller: &mut Teller, ended: &Receiver<()>) -> Result<(), String> {
    let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", agent.address);
    let address = agent.address.to_socket_addrs().map_err(|error| failed(&error))?.next();
    let address = address.ok_or_else(|| failed(&"the name has no address"))?;
    let socket = TcpStream::connect_timeout(&address, PATIENCE).map_err(|error| failed(&error))?;
    socket.set_read_timeout(Some(PATIENCE)).map_err(|error| failed(&error))?;
    socket.set_write_timeout(Some(PATIENCE)).map_err(|error| failed(&error))?;
    let mut lines = BufReader::new(socket.try_clone().map_err(|error| failed(&error))?);
    let mut to = socket;
    to.write_all(b"test\n").map_err(|error| failed(&error))?;
    if next_line(&mut lines).map_err(|error| failed(&error))?.trim() != "Yep" {
        return Err(failed(&"what answers there is no PerfMon server agent"));
    }
    to.write_all(start(agent).as_bytes()).map_err(|error| failed(&error))?;
    // Reading ends now and then to look whether the run is over.
    lines.get_ref().set_read_timeout(Some(PACE / 4)).map_err(|error| failed(&error))?;
    let silence = PATIENCE.max(Duration::from_millis(agent.interval_ms.saturating_mul(3)));
    let mut line = Vec::new();
    let mut heard = Instant::now();
    while !is_over(ended, Duration::ZERO) {
        match (&mut lines).take(MOST_LINE).read_until(b'\n', &mut line) {
            Ok(0) => return Err(failed(&"the agent closed the connection")),
            Ok(_) if line.ends_with(b"\n") => {
                heard = Instant::now();
                tell(agent, &String::from_utf8_lossy(&line), teller);
                line.clear();
            }
            Ok(_) if line.len() as u64 >= MOST_LINE => {
                return Err(failed(&"the agent's line has no end"));
            }
            Ok(_) => {}
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                if heard.elapsed() > silence {
                    return Err(failed(&"the agent is silent"));
                }
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(failed(&error)),
        }
    }
    // The agent sees the end of the connection anyway.
    let _ = to.write_all(b"exit\n");
    Ok(())
}

/// The lines that start the agent's numbers.
fn start(agent: &Agent) -> String {
    let seconds = agent.interval_ms / 1000;
    let interval = if seconds > 1 { format!("interval:{seconds}\n") } else { String::new() };
    let specs: Vec<&str> = agent.metrics.iter().map(|metric| metric.spec.as_str()).collect();
    // A line of the protocol is a line, whatever the plan has.
    format!("{interval}metrics:{}\n", specs.join("\t").replace(['\n', '\r'], " "))
}

fn next_line(from: &mut BufReader<TcpStream>) -> std::io::Result<String> {
    let mut line = Vec::new();
    from.take(MOST_LINE).read_until(b'\n', &mut line)?;
    Ok(String::from_utf8_lossy(&line).into_owned())
}

fn tell(agent: &Agent, line: &str, teller: &mut Teller) {
    let (figures, samples) = read(agent, line, now_ms());
    teller.figures(figures);
    for sample in samples {
        teller.sample(sample);
    }
}

/// The figures of a line, and the rows for files.
pub fn read(agent: &Agent, line: &str, at_ms: i64) -> (Vec<Figure>, Vec<Sample>) {
    let (mut figures, mut samples) = (Vec::new(), Vec::new());
    let line = line.trim_end_matches(['\r', '\n']);
    for (metric, word) in agent.metrics.iter().zip(line.split('\t')) {
        let word = word.trim();
        if word.is_empty() {
            continue;
        }
        let value = word.parse::<f64>().map_err(|_| format!("the agent says {word:.100}"));
        if let Ok(number) = value
            && number.is_finite()
        {
            let (metric, unit, factor) = metric.common();
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
    fn a_line_of_numbers_has_common_names() {
        let rows = [("CPU", ""), ("TCP", "estab"), ("Swap", "used"), ("Memory", "usedperc")];
        let metrics = rows.iter().map(|(kind, text)| Metric::new(1, "h", kind, text)).collect();
        let agent = Agent { metrics, ..Agent::default() };
        let (figures, samples) = read(&agent, "50.5\t12\tNaN\toops\n", 7);
        let found: Vec<_> = figures.iter().map(|f| (f.metric.as_str(), f.value)).collect();
        assert_eq!(found, [("cpu", 0.505), ("connections", 12.0)]);
        assert_eq!(samples.len(), 4);
        assert!(samples[3].value.is_err() && samples[0].value == Ok(50.5));
        assert_eq!(start(&agent), "metrics:cpu:\ttcp:estab\tswap:used\tmemory:usedperc\n");
        assert!(read(&agent, "", 0).1.is_empty());
    }
}
