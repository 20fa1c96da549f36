//! A core's feed to a Backend Listener.
//!
//! A core adds finished samples to a batch, and hands the batch over once a second or when it is full. The core
//! itself sends nothing to servers. If a server does not keep up, batches accumulate up to a limit. Samples beyond
//! the limit are lost, counted and reported.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::Sender;

use plan::plan::{BackendKind, ListenerId};
use stats::backend::Taken;

use crate::reports::Report;
use crate::reports::figures::{Batch, Figures};

/// Maximum number of samples in a batch.
const BATCH: usize = 4096;
/// Maximum number of batches that wait for a listener's thread, or for the coordinator.
const WAITING: usize = 1024;
/// Maximum number of labels that a core keeps as shared strings; above this the table is cleared.
const LABELS: usize = 1000;

/// One Backend Listener of a run, with its evaluated parameters.
#[derive(Clone, Debug)]
pub(crate) struct BackendSettings {
    pub(crate) name: String,
    pub(crate) kind: BackendKind,
    /// Names and values. If a name occurs twice, the first value is used.
    pub(crate) parameters: Vec<(String, String)>,
}

impl BackendSettings {
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let found = self.parameters.iter().find(|parameter| parameter.0 == name);
        found.map(|parameter| parameter.1.as_str())
    }
}

/// Destination of a core's batches.
#[derive(Clone, Debug)]
enum Outlet {
    /// The listener's thread in this process.
    Thread(Sender<Batch>),
    /// The coordinator of all processes; batches travel with this process's reports.
    Away(ListenerId, Sender<Report>),
}

/// State of the batches that a process of a run sends to its coordinator.
#[derive(Clone, Debug, Default)]
pub(crate) struct Relay {
    pub(crate) waiting: Arc<AtomicUsize>,
    lost: Arc<AtomicU64>,
}

impl Relay {
    /// Returns a core's feed that leads to the coordinator.
    pub(crate) fn feed(
        &self,
        settings: &BackendSettings,
        listener: ListenerId,
        reports: &Sender<Report>,
    ) -> Feed {
        let outlet = Outlet::Away(listener, reports.clone());
        Feed::new(settings, outlet, &self.waiting, &self.lost)
    }

    /// Returns the message about lost samples at the end of the run.
    pub(crate) fn complaint(&self) -> Option<String> {
        too_slow(&self.lost, "the way to the coordinator")
    }
}

/// Returns the message about lost samples. `what` names the receiver that is too slow.
pub(crate) fn too_slow(lost: &AtomicU64, what: &str) -> Option<String> {
    let lost = lost.load(Ordering::Relaxed);
    (lost > 0).then(|| format!("{lost} samples were not sent: {what} is too slow"))
}

/// A core's feed to one Backend Listener.
#[derive(Debug)]
pub(crate) struct Feed {
    pub(crate) kind: BackendKind,
    /// InfluxDB measurement of the lines that hold one sample each.
    pub(crate) measurement: String,
    samples: Vec<(Arc<str>, Taken)>,
    lines: String,
    labels: HashMap<Box<str>, Arc<str>>,
    to: Outlet,
    waiting: Arc<AtomicUsize>,
    lost: Arc<AtomicU64>,
}

impl Feed {
    /// Returns a feed to the listener's thread.
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

    /// Adds a sample for statistics per interval.
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

    /// Sends all collected samples on, in batches.
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

    /// Sends a batch with this number of samples on. If too many batches wait, the samples are counted as lost.
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
