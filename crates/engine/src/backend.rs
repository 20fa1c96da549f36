//! Backend Listeners: what cores hand over, and the thread of each that sends figures away.
//!
//! A core notes a finished sample in a batch and gives the batch away once a second, or when it is full; nothing of
//! the sending happens on it. A server that does not keep up lets batches pile up to a bound; what is beyond is lost,
//! counted and reported.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use plan::plan::BackendKind;
use stats::backend::Taken;

use crate::client::{Client, Unusable};
use crate::run::RunShared;

/// Samples in a batch.
const BATCH: usize = 4096;
/// Batches that may wait.
const WAITING: usize = 1024;

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

/// Samples on their way.
#[derive(Debug)]
pub(crate) enum Batch {
    /// For figures by interval: label and sample.
    Samples(Vec<(Arc<str>, Taken)>),
    /// Lines, each a sample.
    Lines(String),
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
    to: Sender<Batch>,
    waiting: Arc<AtomicUsize>,
    lost: Arc<AtomicU64>,
}

impl Feed {
    /// Adds a sample for figures by interval.
    pub(crate) fn add(&mut self, label: &str, taken: Taken) {
        let label = match self.labels.get(label) {
            Some(label) => Arc::clone(label),
            None => {
                let shared: Arc<str> = label.into();
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
        } else if self.to.send(batch).is_ok() {
            self.waiting.fetch_add(1, Ordering::Relaxed);
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
        Feed {
            kind: self.settings.kind,
            measurement: self.settings.get("measurement").unwrap_or("jmeter").to_owned(),
            samples: Vec::new(),
            lines: String::new(),
            labels: HashMap::new(),
            to: self.to.clone(),
            waiting: Arc::clone(&self.waiting),
            lost: Arc::clone(&self.lost),
        }
    }

    /// Starts the thread; it ends when the last core's end is dropped, after it has sent what is left.
    pub(crate) fn start(
        self,
        run: Arc<RunShared>,
        complain: impl Fn(String) + Send + 'static,
    ) -> std::io::Result<JoinHandle<()>> {
        let Self { settings, mut client, to, jobs, waiting, lost } = self;
        drop(to);
        std::thread::Builder::new().name("backend".into()).spawn(move || {
            let complain = |text: String| complain(format!("{}: {text}", settings.name));
            let users = || {
                let counts = &run.counts;
                (counts.started.load(Ordering::Relaxed), counts.finished.load(Ordering::Relaxed))
            };
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
            match lost.load(Ordering::Relaxed) {
                0 => {}
                lost => complain(format!("{lost} samples were not sent: its server is too slow")),
            }
        })
    }
}
