//! Passes the seconds of a run to all export targets.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use record::{Follower, Now};
use stats::grouped::things;

use crate::endpoint::Endpoint;
use crate::lines::Lines;
use crate::sender::Sender;
use crate::sums::{Sums, Tick};
use crate::target::{Kind, Target};
use crate::{otlp, remote_write};

/// Maximum number of seconds in the queue of the export thread. The queue usually holds one second, because the thread
/// only encodes.
const MOST_SECONDS: usize = 64;
/// Time limit for sending the last metrics at the end of a run.
const END_LIMIT: Duration = Duration::from_secs(5);

/// Facts about the run, from which all encoders make common labels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Name of the system under test.
    pub application: String,
    pub plan: String,
    pub version: String,
    /// Start of the run, epoch ms.
    pub start_ms: i64,
}

/// The export targets of a run.
#[derive(Debug)]
pub struct Exports {
    to: Option<SyncSender<Job>>,
    /// Number of seconds of the run that were dropped because the queue was full.
    missed: Arc<AtomicU64>,
    outs: Arc<[Out]>,
    thread: Option<JoinHandle<()>>,
    shown: Vec<String>,
    ended: Instant,
}

#[derive(Debug)]
enum Job {
    Second(Box<Tick>),
    End(Instant),
}

/// A target, with its HTTP server for scrapes or its queue of messages to send.
#[derive(Debug)]
struct Out {
    target: Target,
    to: Transport,
}

#[derive(Debug)]
enum Transport {
    Scraped(Endpoint),
    Pushed(Sender),
}

impl Exports {
    /// Starts all targets. `variable` reads environment variables, which hold the secrets. The error is a message
    /// for the user.
    pub fn start(
        targets: &[Target],
        facts: &Facts,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, String> {
        let cannot = |error: std::io::Error| match error.kind() {
            // The file of certificates cannot be used.
            std::io::ErrorKind::InvalidInput => format!("--out: {error}"),
            _ => format!("--out: cannot start a thread: {error}"),
        };
        let mut outs = Vec::new();
        for target in targets {
            let to = if target.kind == Kind::Prometheus {
                Transport::Scraped(Endpoint::start(&target.url)?)
            } else {
                Transport::Pushed(Sender::start(target, variable).map_err(cannot)?)
            };
            outs.push(Out { target: target.clone(), to });
        }
        let outs: Arc<[Out]> = outs.into();
        let (to, jobs) = sync_channel(MOST_SECONDS);
        let hub = Hub::new(Arc::clone(&outs), facts.clone());
        let thread = std::thread::Builder::new().name("export".into());
        let thread = thread.spawn(move || hub.work(&jobs)).map_err(cannot)?;
        let shown = targets.iter().map(|target| target.shown().to_owned()).collect();
        Ok(Self {
            to: Some(to),
            missed: Arc::default(),
            outs,
            thread: Some(thread),
            shown,
            ended: Instant::now(),
        })
    }

    /// Returns the kind and address of each target, as messages show them.
    pub fn shown(&self) -> &[String] {
        &self.shown
    }

    /// Returns the receiver of each second's measurements, which the run calls once a second.
    pub fn follower(&self) -> Box<dyn Follower> {
        Box::new(SecondFollower { to: self.to.clone(), missed: Arc::clone(&self.missed) })
    }

    /// Returns the messages that have become available for the user since the last call.
    pub fn said(&self) -> Vec<String> {
        self.senders().flat_map(Sender::take_messages).collect()
    }

    fn senders(&self) -> impl Iterator<Item = &Sender> {
        self.outs.iter().filter_map(|out| match &out.to {
            Transport::Pushed(sender) => Some(sender),
            Transport::Scraped(_) => None,
        })
    }

    /// Ends the export: the last metrics are sent in the background.
    pub fn end(&mut self) {
        self.ended = Instant::now();
        if let Some(to) = self.to.take() {
            // The thread empties its queue without waiting for any target.
            let _ = to.send(Job::End(self.ended + END_LIMIT));
        }
    }

    /// Waits until targets have received the last metrics, at most 5 s from the end of the run, and until
    /// Prometheus has scraped once more. Returns messages about metrics that were not delivered.
    pub fn finish(mut self) -> Vec<String> {
        self.end();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        let mut words = self.said();
        words.extend(self.senders().filter_map(Sender::finish));
        let missed = self.missed.load(Ordering::Relaxed);
        if missed > 0 {
            words.push(format!(
                "--out: no data sent for {}: this machine was too busy to encode it",
                things(missed, "second")
            ));
        }
        for out in self.outs.iter() {
            if let Transport::Scraped(endpoint) = &out.to {
                endpoint.linger(self.ended);
            }
        }
        words
    }
}

/// Copies each second into the queue of the export thread.
struct SecondFollower {
    to: Option<SyncSender<Job>>,
    missed: Arc<AtomicU64>,
}

impl Follower for SecondFollower {
    fn second(&mut self, now: &Now<'_>) {
        let Some(to) = &self.to else { return };
        if let Err(TrySendError::Full(_)) = to.try_send(Job::Second(Box::new(Tick::of(now)))) {
            self.missed.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// The state of the export thread.
struct Hub {
    outs: Arc<[Out]>,
    facts: Facts,
    sums: Sums,
    /// For each target: the InfluxDB lines of the current interval (`None` for other kinds), and the time at which the
    /// next message is due, ms since 1970.
    parts: Vec<(Option<Lines>, i64)>,
}

impl Hub {
    fn new(outs: Arc<[Out]>, facts: Facts) -> Self {
        let parts = outs.iter().map(|out| {
            let target = &out.target;
            let lines = (target.kind == Kind::InfluxDb).then(|| {
                let application = target.application.as_ref().unwrap_or(&facts.application);
                let mut lines = Lines::new(application, &facts.application);
                lines.event("started", facts.start_ms);
                lines
            });
            (lines, facts.start_ms + target.interval.as_millis() as i64)
        });
        let parts = parts.collect();
        let hub = Self { sums: Sums::new(facts.clone()), facts, parts, outs };
        hub.show();
        hub
    }

    fn work(mut self, jobs: &Receiver<Job>) {
        let mut last_ms = self.facts.start_ms;
        while let Ok(job) = jobs.recv() {
            match job {
                Job::Second(tick) => {
                    last_ms = tick.at_ms;
                    self.add(*tick);
                }
                Job::End(deadline) => {
                    self.end(last_ms, deadline);
                    return;
                }
            }
        }
    }

    fn add(&mut self, tick: Tick) {
        let at_ms = tick.at_ms;
        for (lines, _) in &mut self.parts {
            if let Some(lines) = lines {
                lines.add(&tick);
            }
        }
        self.sums.add(tick);
        self.show();
        for index in 0..self.parts.len() {
            let (_, due_ms) = &mut self.parts[index];
            // Tolerance: seconds end a few ms early or late.
            if at_ms + 200 >= *due_ms {
                let interval = self.outs[index].target.interval.as_millis() as i64;
                *due_ms = (*due_ms + interval).max(at_ms);
                self.send(index, at_ms);
            }
        }
    }

    /// Passes the newest metrics to all Prometheus endpoints.
    fn show(&self) {
        for out in self.outs.iter() {
            if let Transport::Scraped(endpoint) = &out.to {
                endpoint.set(self.sums.families());
            }
        }
    }

    fn send(&mut self, index: usize, at_ms: i64) {
        let Out { target, to: Transport::Pushed(sender) } = &self.outs[index] else { return };
        let application = target.application.as_ref().unwrap_or(&self.facts.application).clone();
        let message = match (target.kind, &mut self.parts[index].0) {
            (Kind::InfluxDb, Some(lines)) => lines.end_interval(at_ms).into_bytes(),
            (Kind::RemoteWrite, _) => {
                let common = [("job", "throng".to_owned()), ("application", application)];
                let families = self.sums.families();
                remote_write::message(&families, &common, at_ms)
            }
            (Kind::Otlp, _) => {
                let resource = [
                    ("service.name", "throng".to_owned()),
                    ("service.version", self.facts.version.clone()),
                    ("throng.application", application),
                    ("throng.plan", self.facts.plan.clone()),
                ];
                let (families, start_ms) = (self.sums.families(), self.facts.start_ms);
                otlp::request(&families, &resource, start_ms, at_ms).into_bytes()
            }
            (Kind::InfluxDb | Kind::Prometheus, _) => return,
        };
        sender.offer(message);
    }

    /// Sends the last metrics regardless of the interval.
    fn end(&mut self, last_ms: i64, deadline: Instant) {
        for index in 0..self.parts.len() {
            // Two points of one series must not have the same timestamp.
            let at_ms = last_ms + 1;
            if let Some(lines) = &mut self.parts[index].0 {
                lines.event("ended", at_ms);
            }
            self.send(index, at_ms);
            if let Transport::Pushed(sender) = &self.outs[index].to {
                sender.end(deadline);
            }
        }
    }
}
