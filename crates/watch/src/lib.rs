//! Monitoring of hosts during a run. Their metrics share the time axis of the load.
//!
//! Each host has a thread. The thread scrapes a Prometheus exporter once a second, or reads what a PerfMon server agent
//! sends. If a host does not respond, that is reported once and the host is retried. No core ever waits for a host.
//!
//! | module | holds |
//! |---|---|
//! | `exposition` | parser for the text format of exporters |
//! | `mapping` | common names for metrics of different exporters |
//! | `java` | effective settings of JVMs |
//! | `reader` | converts the successive responses of an exporter to metrics |
//! | `scrape` | polls an exporter |
//! | `once` | polls hosts once before a run |
//! | `perfmon` | the protocol of the PerfMon server agent |
//! | `alerts` | alerts of an Alertmanager |
//! | `retransmits` | TCP segments that this machine retransmitted, by destination |
mod alerts;
pub mod exposition;
mod java;
mod mapping;
mod once;
pub mod perfmon;
pub mod reader;
pub mod retransmits;
mod scrape;

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use record::{Fact, Series, Unit, mask};
use stats::grouped::things;

pub use mapping::promql;
pub use once::{Answer, Answered, ask};
pub use reader::Figure;

/// Time between two scrapes of a host.
const PACE: Duration = Duration::from_secs(1);
/// Time for the threads to disconnect from their hosts at the end of the run.
const DISCONNECT: Duration = Duration::from_millis(500);
/// Maximum number of metrics that wait for [`Watch::take`]; further metrics are dropped.
const MOST_WAITING: usize = 100_000;

/// A watched host with the name that the user gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    pub name: String,
    pub source: Source,
    /// Number of local ports of the host, if the user specified it.
    pub ports: Option<u32>,
}

/// The kind and the address of the program from which a host's metrics are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The URL of an exporter's metrics, `http` or `https`.
    Prometheus(String),
    /// A PerfMon server agent.
    PerfMon(perfmon::Agent),
    /// The URL of an Alertmanager. Its alerts become marks of the run.
    Alertmanager(String),
}

/// The start or end of an alert.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alert {
    /// Time of the start or end in ms since 1970.
    pub at_ms: i64,
    pub words: String,
    /// Key that distinguishes alerts, and the alert in the form in which the run's record stores it.
    about: Option<(String, record::Alert)>,
}

impl Host {
    /// Parses the URL of an Alertmanager, as passed to `--alerts`.
    pub fn alertmanager(url: &str) -> Result<Self, String> {
        let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
        if !matches!(scheme, "http" | "https") || rest.is_empty() || rest.starts_with('/') {
            return Err(format!("{} is not an http or https URL", mask::url(url)));
        }
        let source = Source::Alertmanager(format!("{scheme}://{rest}"));
        Ok(Self { name: "the Alertmanager".to_owned(), source, ports: None })
    }

    /// Parses `NAME=URL` or `NAME=URL,ports=N`, as passed to `--watch`. The path `/metrics` may be omitted.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (name, url) =
            text.split_once('=').ok_or("expected NAME=URL, for example app=http://host:9100")?;
        let (url, ports) = match url.rsplit_once(",ports=") {
            None => (url, None),
            Some((url, number)) => match number.parse() {
                Ok(ports @ 1..=65_535) => (url, Some(ports)),
                _ => return Err(format!("invalid number of ports {number}; expected 1 to 65535")),
            },
        };
        let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
        if !matches!(scheme, "http" | "https") || rest.is_empty() || rest.starts_with('/') {
            return Err(format!("{} is not an http or https URL", mask::url(url)));
        }
        if name.is_empty() || name.len() > 100 || name.chars().any(char::is_control) {
            return Err("the name must have 1 to 100 characters".to_owned());
        }
        let path = if rest.contains('/') { "" } else { "/metrics" };
        let url = format!("{scheme}://{rest}{path}");
        Ok(Self { name: name.to_owned(), source: Source::Prometheus(url), ports })
    }
}

/// The watched hosts of a run. Dropping the value stops their threads without waiting for hosts that do not respond.
#[derive(Debug, Default)]
pub struct Watch {
    shared: Arc<Mutex<Shared>>,
    /// One channel per thread; a thread stops when its channel closes.
    ends: Vec<Sender<()>>,
    threads: Vec<JoinHandle<()>>,
    /// True if a PerfMon agent of the run may be read over UDP, so that it must be sent `exit`.
    by_udp: bool,
}

/// Results of the hosts' threads that the run has not taken yet.
#[derive(Debug, Default)]
struct Shared {
    figures: Vec<(Series, f64)>,
    samples: Vec<perfmon::Sample>,
    alerts: Vec<Alert>,
    facts: Vec<Fact>,
    said: Vec<String>,
    failures: Vec<Failures>,
}

/// Number of failed attempts to read a host, and the last reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Failures {
    pub host: String,
    pub count: u64,
    /// Reason for the last failure.
    pub last: String,
}

impl Watch {
    /// Starts a thread per host. A thread that cannot be started is reported like a host that does not respond.
    pub fn start(hosts: Vec<Host>) -> Self {
        let mut watch = Self::default();
        for host in hosts {
            watch.by_udp |= matches!(&host.source, Source::PerfMon(agent) if agent.udp);
            let (end, ended) = channel();
            let reporter = Reporter {
                host: host.name.as_str().into(),
                ports: host.ports,
                shared: Arc::clone(&watch.shared),
                failed: 0,
                reported: 0,
            };
            let thread = std::thread::Builder::new().name("watch".to_owned());
            match thread.spawn(move || follow(host, reporter, &ended)) {
                Ok(thread) => watch.threads.push(thread),
                Err(error) => {
                    let words = format!("cannot start a thread to watch a host: {error}");
                    lock(&watch.shared).said.push(words);
                }
            }
            watch.ends.push(end);
        }
        watch
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the metrics since the last call. Of several values of a metric, only the last is returned.
    pub fn take(&self) -> Vec<(Series, f64)> {
        let figures = std::mem::take(&mut lock(&self.shared).figures);
        let mut latest: Vec<(Series, f64)> = Vec::with_capacity(figures.len());
        for (series, value) in figures {
            match latest.iter_mut().find(|(one, _)| *one == series) {
                Some(found) => found.1 = value,
                None => latest.push((series, value)),
            }
        }
        latest
    }

    /// Returns the samples of PerfMon agents since the last call, for the result files of their listeners.
    pub fn take_samples(&self) -> Vec<perfmon::Sample> {
        std::mem::take(&mut lock(&self.shared).samples)
    }

    /// Returns the alerts that started or ended since the last call.
    pub fn take_alerts(&self) -> Vec<Alert> {
        std::mem::take(&mut lock(&self.shared).alerts)
    }

    /// Returns the settings of hosts, such as those of JVMs, that were found or changed since the last call.
    pub fn take_facts(&self) -> Vec<Fact> {
        std::mem::take(&mut lock(&self.shared).facts)
    }

    /// Returns the messages for the user since the last call.
    pub fn said(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.shared).said)
    }

    /// Returns the number of failed attempts to read each host so far. Hosts without failures are omitted.
    pub fn failures(&self) -> Vec<Failures> {
        lock(&self.shared).failures.clone()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.ends.clear();
        // An agent that is read over UDP must receive `exit`, or it sends for ever.
        let end = Instant::now() + DISCONNECT;
        while self.by_udp && Instant::now() < end {
            if self.threads.iter().all(JoinHandle::is_finished) {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        // A thread that waits for its host ends by itself; the process does not wait for that thread.
        for thread in self.threads.drain(..).filter(JoinHandle::is_finished) {
            let _ = thread.join();
        }
    }
}

fn follow(host: Host, mut reporter: Reporter, ended: &Receiver<()>) {
    match host.source {
        Source::Prometheus(url) => scrape::follow(&url, &mut reporter, ended),
        Source::PerfMon(agent) => perfmon::follow(&agent, &mut reporter, ended),
        Source::Alertmanager(url) => alerts::follow(&url, &mut reporter, ended),
    }
}

/// Waits at most `time` for the end of the run. Returns true if the run is over.
fn is_over(ended: &Receiver<()>, time: Duration) -> bool {
    !matches!(ended.recv_timeout(time), Err(RecvTimeoutError::Timeout))
}

/// State of a host's thread for reporting metrics and failures.
struct Reporter {
    host: Arc<str>,
    ports: Option<u32>,
    shared: Arc<Mutex<Shared>>,
    /// Number of consecutive failed attempts to read the host.
    failed: u64,
    /// Number of messages so far about failures and recoveries.
    reported: u32,
}

/// Maximum number of messages about failures and recoveries per host.
const MOST_REPORTED: u32 = 2;

impl Reporter {
    fn figures(&mut self, mut figures: Vec<Figure>) {
        if let Some(ports) = self.ports.filter(|_| !figures.is_empty()) {
            figures.retain(|figure| figure.metric != "ports");
            let (metric, value) = ("ports".to_owned(), f64::from(ports));
            figures.push(Figure { metric, unit: Unit::Count, value });
        }
        self.recovered();
        let mut shared = lock(&self.shared);
        for Figure { metric, unit, value } in figures {
            if shared.figures.len() < MOST_WAITING {
                let series = Series { host: Arc::clone(&self.host), metric: metric.into(), unit };
                shared.figures.push((series, value));
            }
        }
    }

    fn settings(&mut self, settings: &java::Settings) {
        let facts = settings.facts(&self.host);
        let mut shared = lock(&self.shared);
        for fact in facts {
            fact.put(&mut shared.facts);
        }
    }

    fn alerts(&mut self, alerts: Vec<Alert>) {
        self.recovered();
        let mut shared = lock(&self.shared);
        for (key, alert) in alerts.iter().filter_map(|alert| alert.about.as_ref()) {
            alert.fact(&self.host, key).put(&mut shared.facts);
        }
        shared.alerts.extend(alerts);
    }

    /// Resets the number of failed attempts after a response of the host, and reports the end of the failures.
    fn recovered(&mut self) {
        if self.failed > 0 && self.reported < MOST_REPORTED {
            let attempts = things(self.failed, "failed attempt");
            let words = format!("{} responds again after {attempts}", self.host);
            lock(&self.shared).said.push(words);
            self.reported += 1;
        }
        self.failed = 0;
    }

    fn sample(&mut self, sample: perfmon::Sample) {
        let mut shared = lock(&self.shared);
        if shared.samples.len() < MOST_WAITING {
            shared.samples.push(sample);
        }
    }

    /// Counts a failed attempt to read the host. Only the first of several consecutive failures is reported to the
    /// user.
    fn failure(&mut self, why: &str) {
        let mut shared = lock(&self.shared);
        // The text may contain bytes from the host, so control characters are replaced.
        let why: String = why.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let why = &why[..why.floor_char_boundary(500)];
        self.failed += 1;
        if self.failed == 1 && self.reported < MOST_REPORTED {
            self.reported += 1;
            shared
                .said
                .push(format!("cannot watch {}: {why}; retrying, the run continues", self.host));
        }
        let place = shared.failures.iter().position(|one| *one.host == *self.host);
        let place = place.unwrap_or_else(|| {
            shared.failures.push(Failures { host: self.host.to_string(), ..Failures::default() });
            shared.failures.len() - 1
        });
        let failures = &mut shared.failures[place];
        failures.count += 1;
        failures.last.clear();
        failures.last.push_str(why);
    }
}

fn lock<T>(shared: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_read_from_the_command_line() {
        let url = |text: &str| match Host::parse(text) {
            Ok(Host { source: Source::Prometheus(url), .. }) => url,
            other => panic!("{other:?}"),
        };
        assert_eq!(url("gateway=http://10.0.0.7:9100"), "http://10.0.0.7:9100/metrics");
        assert_eq!(url("a=10.0.0.7:9100"), "http://10.0.0.7:9100/metrics");
        assert_eq!(url("a=https://h/actuator/prometheus?x=y"), "https://h/actuator/prometheus?x=y");
        let ports = |text: &str| Host::parse(text).expect("a host").ports;
        assert_eq!(url("a=http://h:9100,ports=5000"), "http://h:9100/metrics");
        assert_eq!((ports("a=http://h,ports=5000"), ports("a=http://h")), (Some(5000), None));
        for wrong in [
            "gateway",
            "=http://h",
            "a=",
            "a=ftp://h",
            "a=http:///metrics",
            "a=http://h,ports=0",
            "a=http://h,ports=many",
        ] {
            assert!(Host::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn passwords_of_urls_are_not_shown() {
        let parsed = [
            Host::parse("db=ftp://user:hidden@h/metrics?token=hidden"),
            Host::alertmanager("ftp://user:hidden@h"),
        ];
        let url = "http://user:hidden@127.0.0.1:1/metrics?token=hidden";
        let asked = ask(&[
            Host::parse(&format!("db={url}")).expect("a host"),
            Host::alertmanager(url).expect("a host"),
        ]);
        let parsed = parsed.map(|host| host.expect_err("a mistake"));
        let asked = asked.into_iter().map(|answer| answer.expect_err("nobody listens there"));
        for words in parsed.into_iter().chain(asked) {
            assert!(words.contains("://***@") && !words.contains("hidden"), "{words}");
        }
    }
}
