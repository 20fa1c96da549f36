//! The end of a Backend Listener on a core.
//!
//! A core notes a finished sample in a batch and gives the batch away once a second, or when it is full; nothing of
//! the sending happens on it. A server that does not keep up lets batches pile up to a bound; what is beyond is lost,
//! counted and reported.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::Sender;

use plan::plan::{BackendKind, ListenerId};
use stats::backend::Taken;

use crate::reports::Report;
use crate::reports::figures::{Batch, Figures};

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

/// The complaint about samples that were lost on a way.
pub(crate) fn too_slow(lost: &AtomicU64, what: &str) -> Option<String> {
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
    /// An end from which batches go to the listener's thread.
    pub(crate) fn to_thread(
        settings: &BackendSettings,
        to: Sender<Batch>,
        waiting: &Arc<AtomicUsize>,
        lost: &Arc<AtomicU64>,
    ) -> Self {
        Self::new(settings, Outlet::Thread(to), waiting, lost)
    }

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

    /// Hands a batch over, with so many samples.
    pub(crate) fn send(&self, batch: Batch, samples: usize) {
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
