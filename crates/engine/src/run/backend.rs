//! Backend Listeners: a thread for each, which sends the samples that cores hand over ([`Feed`]).
//!
//! In a run of several processes, batches are sent to the coordinator instead ([`Figures`]). The coordinator runs
//! the threads ([`Backends`]), so that a server sees a single run.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use plan::plan::Plan;

use crate::reports::figures::{Batch, Figures};
use crate::results::feed::{BackendSettings, Feed, too_slow};
use crate::run::client::Client;
use crate::run::evaluated::Evaluated;
use crate::run::sender::Unusable;

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
    /// Prepares a Backend Listener without sending anything.
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

    /// Returns a core's feed to the listener.
    pub(crate) fn feed(&self) -> Feed {
        Feed::to_thread(&self.settings, self.to.clone(), &self.waiting, &self.lost)
    }

    /// Starts the thread, which sends the remaining samples and ends when the last feed is dropped. `users` returns the
    /// number of users started and ended so far.
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
                        // Intervals follow the clock, however long sending takes. A missed interval is skipped.
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

/// The Backend Listeners of a run whose users run in other processes.
#[derive(Debug, Default)]
pub struct Backends {
    feeds: BTreeMap<u32, Feed>,
    threads: Vec<JoinHandle<()>>,
    users: Arc<(AtomicUsize, AtomicUsize)>,
}

impl Backends {
    /// Starts the listeners. `complain` receives messages about listeners that cannot start, and later about their
    /// servers.
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
                    complain(unusable.message_for(&settings.name));
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
                Err(error) => {
                    complain(format!("{}: no metrics will be sent: {error}", settings.name));
                }
            }
        }
        backends
    }

    /// Adds samples that another process has sent.
    pub fn take(&mut self, figures: Figures) {
        if let Some(feed) = self.feeds.get(&figures.listener) {
            let count = figures.samples.len();
            feed.send(figures.batch(), count);
        }
    }

    /// Sets the number of users that have started and ended so far.
    pub fn set_users(&self, started: u32, finished: u32) {
        self.users.0.store(started as usize, Ordering::Relaxed);
        self.users.1.store(finished as usize, Ordering::Relaxed);
    }

    /// Sends the remaining samples and ends the threads.
    pub fn end(&mut self) {
        self.feeds.clear();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
