//! Backend Listeners: what cores hand over, and the thread of each that sends figures away.
//!
//! A core notes a finished sample in a batch and gives the batch away once a second, or when it is full; nothing of
//! the sending happens on it. A server that does not keep up lets batches pile up to a bound; what is beyond is lost,
//! counted and reported.
//!
//! In a run of several processes, batches go to the coordinator instead ([`Figures`]): it has the threads ([`Backends`]), so that
//! a server hears of one run.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use plan::plan::{BackendKind, ListenerId, Plan};
use stats::backend::Taken;

use crate::reports::Report;
use crate::reports::figures::{Batch, Figures};
use crate::run::client::{Client, Unusable};
use crate::run::prepare::Evaluated;

/// Samples in a batch.
const BATCH: usize = 4096;
/// Batches that may wait.
const WAITING: usize = 1024;
/// Labels that a core remembers as shared texts; where there are more, it starts afresh.
const LABELS: usize = 1000;

/// One Backend Listener of a run, its parameters evaluated.
#[derive(Clone, Debug)]
pub(crate) struct BackendSettings {
    pub(crate) name: String,
    pub(crate) kind: BackendKind,
    /// The first of a name counts.
    pub(crate) parameters: Vec<(String, String)>,
}

impl BackendSettings {
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let found = self.parameters.iter().find(|parameter| parameter.0 == name);
        found.map(|parameter| parameter.1.as_str())
    }
}

/// Where a core's batches go.
#[derive(Clone, Debug)]
enum Outlet {
    /// To the listener's thread.
    Thread(Sender<Batch>),
    /// To who coordinates the processes of the run, by this one's reports.
    Away(ListenerId, Sender<Report>),
}

/// Batches of a share of a run that are on their way to its coordinator.
#[derive(Clone, Debug, Default)]
pub(crate) struct Relay {
    pub(crate) waiting: Arc<AtomicUsize>,
    lost: Arc<AtomicU64>,
}

impl Relay {
    /// A core's end.
    pub(crate) fn feed(
        &self,
        settings: &BackendSettings,
        listener: ListenerId,
        reports: &Sender<Report>,
    ) -> Feed {
        let outlet = Outlet::Away(listener, reports.clone());
        Feed::new(settings, outlet, &self.waiting, &self.lost)
    }

    /// The complaint to be told at the end.
    pub(crate) fn complaint(&self) -> Option<String> {
        too_slow(&self.lost, "the way to the coordinator")
    }
}

fn too_slow(lost: &AtomicU64, what: &str) -> Option<String> {
    let lost = lost.load(Ordering::Relaxed);
    (lost > 0).then(|| format!("{lost} samples were not sent: {what} is too slow"))
}

/// A core's end of one Backend Listener.
#[derive(Debug)]
pub(crate) struct Feed {
    pub(crate) kind: BackendKind,
    /// The measurement of single samples.
    pub(crate) measurement: String,
    samples: Vec<(Arc<str>, Taken)>,
    lines: String,
    labels: HashMap<Box<str>, Arc<str>>,
    to: Outlet,
    waiting: Arc<AtomicUsize>,
    lost: Arc<AtomicU64>,
}

impl Feed {
    fn new(
        settings: &BackendSettings,
        to: Outlet,
        waiting: &Arc<AtomicUsize>,
        lost: &Arc<AtomicU64>,
    ) -> Self {
        Self {
            kind: settings.kind,
            measurement: settings.get("measurement").unwrap_or("jmeter").to_owned(),
            samples: Vec::new(),
            lines: String::new(),
            labels: HashMap::new(),
            to,
            waiting: Arc::clone(waiting),
            lost: Arc::clone(lost),
        }
    }

    /// Adds a sample for figures by interval.
    pub(crate) fn add(&mut self, label: &str, taken: Taken) {
        let label = match self.labels.get(label) {
            Some(label) => Arc::clone(label),
            None => {
                let shared: Arc<str> = label.into();
                if self.labels.len() >= LABELS {
                    self.labels.clear();
                }
                self.labels.insert(label.into(), Arc::clone(&shared));
                shared
            }
        };
        self.samples.push((label, taken));
        if self.samples.len() >= BATCH {
            self.flush();
        }
    }

    /// Adds a sample as a line that `write` appends.
    pub(crate) fn add_line(&mut self, write: impl FnOnce(&str, &mut String)) {
        write(&self.measurement, &mut self.lines);
        if self.lines.len() >= BATCH * 32 {
            self.flush();
        }
    }

    /// Hands everything over.
    pub(crate) fn flush(&mut self) {
        if !self.samples.is_empty() {
            let room = Vec::with_capacity(self.samples.len());
            let samples = std::mem::replace(&mut self.samples, room);
            let count = samples.len();
            self.send(Batch::Samples(samples), count);
        }
        if !self.lines.is_empty() {
            let lines = std::mem::take(&mut self.lines);
            let count = memchr::memchr_iter(b'\n', lines.as_bytes()).count();
            self.send(Batch::Lines(lines), count);
        }
    }

    fn send(&self, batch: Batch, samples: usize) {
        if self.waiting.load(Ordering::Relaxed) >= WAITING {
            self.lost.fetch_add(samples as u64, Ordering::Relaxed);
            return;
        }
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let gone = match &self.to {
            Outlet::Thread(to) => to.send(batch).is_err(),
            Outlet::Away(listener, reports) => {
                let figures = Box::new(Figures::new(*listener, batch));
                reports.send(Report::Figures(figures)).is_err()
            }
        };
        if gone {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// A Backend Listener before its thread runs.
#[derive(Debug)]
pub(crate) struct Backend {
    settings: BackendSettings,
    client: Client,
    to: Sender<Batch>,
    jobs: Receiver<Batch>,
    waiting: Arc<AtomicUsize>,
    lost: Arc<AtomicU64>,
}

impl Backend {
    /// Makes it ready; nothing is sent yet.
    pub(crate) fn open(
        settings: &BackendSettings,
        property: &impl Fn(&str) -> Option<String>,
    ) -> Result<Self, Unusable> {
        let client = Client::new(settings, property)?;
        let (to, jobs) = channel();
        let settings = settings.clone();
        let (waiting, lost) = (Arc::default(), Arc::default());
        Ok(Self { settings, client, to, jobs, waiting, lost })
    }

    /// A core's end.
    pub(crate) fn feed(&self) -> Feed {
        let outlet = Outlet::Thread(self.to.clone());
        Feed::new(&self.settings, outlet, &self.waiting, &self.lost)
    }

    /// Starts the thread; it ends when the last core's end is dropped, after it has sent what is left. `users`: started
    /// and ended so far.
    pub(crate) fn start(
        self,
        users: impl Fn() -> (u32, u32) + Send + 'static,
        complain: impl Fn(String) + Send + 'static,
    ) -> std::io::Result<JoinHandle<()>> {
        let Self { settings, mut client, to, jobs, waiting, lost } = self;
        drop(to);
        std::thread::Builder::new().name("backend".into()).spawn(move || {
            let complain = |text: String| complain(format!("{}: {text}", settings.name));
            client.begin();
            let mut next = Instant::now() + client.first_wait();
            loop {
                match jobs.recv_timeout(next.saturating_duration_since(Instant::now())) {
                    Ok(batch) => {
                        waiting.fetch_sub(1, Ordering::Relaxed);
                        client.take(batch, &complain);
                    }
                    Err(RecvTimeoutError::Timeout) => {
                        client.send(users(), &complain);
                        // As a clock goes, whatever the sending took; but never more than one at a time.
                        next = (next + client.interval())
                            .max(Instant::now() + Duration::from_millis(1));
                    }
                    Err(RecvTimeoutError::Disconnected) => break,
                }
            }
            client.end(users(), &complain);
            if let Some(text) = too_slow(&lost, "its server") {
                complain(text);
            }
        })
    }
}

/// The Backend Listeners of a run whose users are in other processes.
#[derive(Debug, Default)]
pub struct Backends {
    feeds: BTreeMap<u32, Feed>,
    threads: Vec<JoinHandle<()>>,
    users: Arc<(AtomicUsize, AtomicUsize)>,
}

impl Backends {
    /// Starts them; what is wrong with them, and later with their servers, is said by `complain`.
    pub fn start(
        plan: &Plan,
        evaluated: &Evaluated,
        property: &impl Fn(&str) -> Option<String>,
        complain: impl Fn(String) + Clone + Send + 'static,
    ) -> Self {
        let mut backends = Self::default();
        for (at, settings) in crate::run::prepare::backends(plan, evaluated) {
            let backend = match Backend::open(&settings, property) {
                Ok(backend) => backend,
                Err(unusable) => {
                    complain(unusable.told(&settings.name));
                    continue;
                }
            };
            let feed = backend.feed();
            let users = Arc::clone(&backends.users);
            let counts = move || {
                let of = |count: &AtomicUsize| count.load(Ordering::Relaxed) as u32;
                (of(&users.0), of(&users.1))
            };
            match backend.start(counts, complain.clone()) {
                Ok(thread) => {
                    backends.feeds.insert(at as u32, feed);
                    backends.threads.push(thread);
                }
                Err(error) => complain(format!("{}: nothing will be sent: {error}", settings.name)),
            }
        }
        backends
    }

    /// Takes what a process sent.
    pub fn take(&mut self, figures: Figures) {
        if let Some(feed) = self.feeds.get(&figures.listener) {
            let count = figures.samples.len();
            feed.send(figures.batch(), count);
        }
    }

    /// Says how many users have started and ended so far.
    pub fn set_users(&self, started: u32, finished: u32) {
        self.users.0.store(started as usize, Ordering::Relaxed);
        self.users.1.store(finished as usize, Ordering::Relaxed);
    }

    /// Sends what is left.
    pub fn end(&mut self) {
        self.feeds.clear();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
