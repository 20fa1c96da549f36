//! A run: cores on their threads, and the coordinator that starts groups in order, gathers snapshots and ends it all.
//!
//! setUp groups run first, then the main groups (together, or one after another), then the tearDown groups. The
//! coordinator only passes messages; it never looks into a core.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nix::sys::eventfd::EventFd;
use plan::plan::{Phase, Plan};
use plan::vars::{Initial, VarId};
use stats::Snapshot;

use crate::clock::{Clock, MS, Nanos, SECOND};
use crate::core::{Core, Parts};
use crate::driver;
use crate::group::{Counts, GroupSettings};
use crate::resolve::{self, Question};
use crate::rows::{ResultFile, Rows, Writer};
use crate::settings::Settings;

/// How a run is to be carried out.
#[derive(Debug)]
pub struct Options {
    /// Threads that run users; 0 is one per available processor.
    pub cores: u32,
    /// Properties of the run, as plans read them.
    pub properties: HashMap<String, String>,
    /// Folder against which relative files of the plan are looked up.
    pub base_dir: PathBuf,
    /// Result files that get every sample.
    pub results: Vec<ResultFile>,
    /// Seed of the random generators.
    pub seed: u64,
}

/// What a run reports while it goes on.
#[derive(Debug)]
pub enum Event {
    /// What one core measured in a second; hand it back by [`Run::recycle`].
    Snapshot(Box<Snapshot>),
    /// Something to be told to the user.
    Log(String),
    /// Nothing happened within the time asked for.
    Idle,
    /// The run is over; all snapshots and rows have been handed over.
    Finished,
}

/// Numbers of users.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Users {
    /// Running now.
    pub active: u32,
    /// Started so far.
    pub started: u32,
    /// Ended so far.
    pub finished: u32,
}

/// A run that goes on.
#[derive(Debug)]
pub struct Run {
    shared: Arc<RunShared>,
    plan: Arc<Plan>,
    reports: Receiver<Report>,
    threads: Vec<JoinHandle<()>>,
    writer: Option<JoinHandle<()>>,
    /// Groups yet to be started, in batches that run together.
    batches: Vec<Vec<u32>>,
    /// Groups under way, with the number of cores that are not done with them.
    open: HashMap<u32, u32>,
    teardown: Vec<u32>,
    stopped: bool,
    ended: bool,
    ends: u32,
    aborted: Option<String>,
}

/// What all cores see.
#[derive(Debug)]
pub(crate) struct RunShared {
    pub(crate) zero: Instant,
    pub(crate) cores: u32,
    pub(crate) seed: u64,
    pub(crate) settings: Settings,
    pub(crate) groups: Vec<GroupSettings>,
    /// End of each group with a duration, nanoseconds of the run's clock; set when the group starts.
    ends: Vec<std::sync::atomic::AtomicI64>,
    pub(crate) counts: Counts,
    pub(crate) initial: Arc<Initial>,
    pub(crate) shared: plan::function::Shared,
    pub(crate) state: plan::element::RunState,
    pub(crate) last_sample_ok: Option<VarId>,
    pub(crate) hostname: String,
    pub(crate) resolver: Sender<Question>,
    inboxes: Vec<Inbox>,
}

impl RunShared {
    /// When users of a group must end, if they must.
    pub(crate) fn ends_at(&self, group: u32) -> Option<Nanos> {
        let end = self.ends[group as usize].load(std::sync::atomic::Ordering::Relaxed);
        (end != Nanos::MAX).then_some(end)
    }

    pub(crate) fn inbox(&self, core: u32) -> Inbox {
        self.inboxes[core as usize].clone()
    }
}

/// Where a core takes messages.
#[derive(Clone, Debug)]
pub(crate) struct Inbox {
    sender: Sender<Message>,
    wake: Arc<EventFd>,
}

impl Inbox {
    pub(crate) fn send(&self, message: Message) {
        if self.sender.send(message).is_ok() {
            let _ = self.wake.write(1);
        }
    }
}

/// To a core.
#[derive(Debug)]
pub(crate) enum Message {
    Start { group: u32, at: Nanos },
    Resolved { user: u32, route: u32, addresses: Vec<std::net::SocketAddr> },
    Recycle(Box<Snapshot>),
    Stop,
    StopNow,
    End,
}

/// From a core.
#[derive(Debug)]
pub(crate) enum Report {
    Snapshot {
        core: u32,
        snapshot: Box<Snapshot>,
    },
    GroupDone {
        group: u32,
    },
    StopTest {
        now: bool,
    },
    Log(String),
    /// A core's thread has ended, by an error if there is one.
    CoreEnded(Option<String>),
}

/// Starts a run.
pub fn start(plan: Arc<Plan>, options: Options) -> Result<Run, StartError> {
    let zero = Instant::now();
    let cores = match options.cores {
        0 => std::thread::available_parallelism().map_or(1, |n| n.get() as u32),
        n => n,
    };
    let (to_log, log) = channel();
    let base_dir = options.base_dir.clone();
    let shared = plan::function::Shared::new(options.properties.clone(), base_dir, to_log);
    let settings = Settings::from_properties(|key| options.properties.get(key).cloned());
    if let Some(complaint) = &settings.complaint {
        return Err(StartError::Setting(complaint.clone()));
    }
    let prepared = crate::prepare::prepare(&plan, &options, &shared, zero)?;
    let mut writer =
        Writer::open(&options.results, &prepared.listeners, &settings.sample_variables)
            .map_err(|error| StartError::Results(error.to_string()))?;
    let (reports_in, reports) = channel();
    let mut inboxes = Vec::new();
    let mut receivers = Vec::new();
    for _ in 0..cores {
        let (sender, receiver) = channel();
        let wake = Arc::new(driver::wake_event().map_err(StartError::System)?);
        inboxes.push(Inbox { sender, wake: Arc::clone(&wake) });
        receivers.push((receiver, wake));
    }
    let group_count = plan.groups.len();
    let shared = Arc::new(RunShared {
        zero,
        cores,
        seed: options.seed,
        settings,
        ends: (0..group_count).map(|_| Nanos::MAX.into()).collect(),
        counts: Counts::new(group_count),
        groups: prepared.groups,
        initial: Arc::new(prepared.initial),
        shared,
        state: prepared.state,
        last_sample_ok: plan.names.find(crate::prepare::LAST_SAMPLE_OK),
        hostname: hostname(),
        resolver: resolve::start().map_err(StartError::System)?,
        inboxes,
    });
    let mut threads = Vec::new();
    let rows: Vec<Rows> = (0..cores).map(|_| writer.rows()).collect();
    for ((index, rows), (inbox, wake)) in (0..cores).zip(rows).zip(receivers) {
        let (plan, shared, reports) = (Arc::clone(&plan), Arc::clone(&shared), reports_in.clone());
        let thread = std::thread::Builder::new().name(format!("core-{index}")).spawn(move || {
            let parts = Parts {
                plan: &plan,
                run: &shared,
                index,
                inbox,
                wake,
                reports: reports.clone(),
                rows,
            };
            let ended = Core::new(parts).and_then(|mut core| core.run());
            let _ = reports.send(Report::CoreEnded(ended.err().map(|error| error.to_string())));
        });
        threads.push(thread.map_err(StartError::System)?);
    }
    let complaints = reports_in.clone();
    let writer = writer
        .start(move |text| {
            let _ = complaints.send(Report::Log(text));
        })
        .map_err(StartError::System)?;
    for complaint in prepared.complaints {
        let _ = reports_in.send(Report::Log(complaint));
    }
    forward_log(log, reports_in);
    let (batches, teardown) = batches(&plan, &shared.groups);
    let mut run = Run {
        shared,
        plan,
        reports,
        threads,
        writer: Some(writer),
        batches,
        open: HashMap::new(),
        teardown,
        stopped: false,
        ended: false,
        ends: 0,
        aborted: None,
    };
    run.start_next();
    Ok(run)
}

/// Why a run could not start.
#[derive(Debug)]
pub enum StartError {
    /// A result file cannot be written.
    Results(String),
    /// A setting that makes no sense.
    Setting(String),
    /// The system refused threads or descriptors.
    System(io::Error),
}

impl std::fmt::Display for StartError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Results(text) => write!(f, "cannot write results: {text}"),
            Self::Setting(text) => f.write_str(text),
            Self::System(error) => write!(f, "cannot start: {error}"),
        }
    }
}

impl std::error::Error for StartError {}

impl Run {
    /// Waits for the next event, for `patience` at most.
    pub fn next_event(&mut self, patience: Duration) -> Event {
        loop {
            if self.ended && self.ends == self.shared.cores {
                self.join();
                return match self.reports.try_recv() {
                    Ok(Report::Snapshot { snapshot, .. }) => Event::Snapshot(snapshot),
                    Ok(Report::Log(text)) => Event::Log(text),
                    Ok(_) => continue,
                    Err(_) => Event::Finished,
                };
            }
            match self.reports.recv_timeout(patience) {
                Ok(Report::Snapshot { core, mut snapshot }) => {
                    snapshot.core = core;
                    return Event::Snapshot(snapshot);
                }
                Ok(Report::Log(text)) => return Event::Log(text),
                Ok(Report::GroupDone { group }) => self.group_done(group),
                Ok(Report::StopTest { now: true }) => self.stop_now(),
                Ok(Report::StopTest { now: false }) => self.stop(),
                Ok(Report::CoreEnded(error)) => {
                    self.ends += 1;
                    if let Some(error) = error {
                        self.aborted = Some(error.clone());
                        self.end();
                        return Event::Log(format!("a core failed: {error}"));
                    }
                }
                Err(RecvTimeoutError::Timeout) => return Event::Idle,
                Err(RecvTimeoutError::Disconnected) => return Event::Finished,
            }
        }
    }

    /// Gives a snapshot's memory back to its core.
    pub fn recycle(&self, snapshot: Box<Snapshot>) {
        let core = snapshot.core;
        if let Some(inbox) = self.shared.inboxes.get(core as usize) {
            // No need to wake the core for it.
            let _ = inbox.sender.send(Message::Recycle(snapshot));
        }
    }

    /// Ends the run gracefully: samples under way finish.
    pub fn stop(&mut self) {
        self.halt(false);
    }

    /// Ends the run at once: samples under way are cut.
    pub fn stop_now(&mut self) {
        self.halt(true);
    }

    /// Numbers of users, as of now.
    pub fn users(&self) -> Users {
        use std::sync::atomic::Ordering::Relaxed;
        let counts = &self.shared.counts;
        Users {
            active: counts.active.load(Relaxed),
            started: counts.started.load(Relaxed),
            finished: counts.finished.load(Relaxed),
        }
    }

    /// Number of users that the groups ask for, all together.
    pub fn users_planned(&self) -> u64 {
        self.shared.groups.iter().map(|group| u64::from(group.users)).sum()
    }

    /// Threads that run users.
    pub fn cores(&self) -> u32 {
        self.shared.cores
    }

    /// Whether the run was told to stop before its plan was through.
    pub fn was_stopped(&self) -> bool {
        self.stopped
    }

    /// Why the run ended before its time, if it did so by an error.
    pub fn aborted(&self) -> Option<&str> {
        self.aborted.as_deref()
    }

    fn halt(&mut self, now: bool) {
        self.stopped = true;
        self.batches.clear();
        let in_setup =
            self.open.keys().any(|group| self.shared.groups[*group as usize].phase == Phase::Setup);
        if in_setup || !self.plan.teardown_on_shutdown {
            self.teardown.clear();
        }
        for inbox in &self.shared.inboxes {
            inbox.send(if now { Message::StopNow } else { Message::Stop });
        }
    }

    fn group_done(&mut self, group: u32) {
        let Some(left) = self.open.get_mut(&group) else { return };
        *left -= 1;
        if *left == 0 {
            self.open.remove(&group);
            if self.open.is_empty() {
                self.start_next();
            }
        }
    }

    /// Starts the next groups, or ends the run when there are none.
    fn start_next(&mut self) {
        let clock = Clock::new(self.shared.zero);
        loop {
            let batch = if !self.batches.is_empty() {
                self.batches.remove(0)
            } else if !self.teardown.is_empty() {
                std::mem::take(&mut self.teardown)
            } else {
                return self.end();
            };
            if batch.is_empty() {
                continue;
            }
            let at = clock.now();
            for group in batch {
                let settings = &self.shared.groups[group as usize];
                if let Some(duration) = settings.duration {
                    let end = at + settings.delay + duration;
                    self.shared.ends[group as usize]
                        .store(end, std::sync::atomic::Ordering::Relaxed);
                }
                self.open.insert(group, self.shared.cores);
                for inbox in &self.shared.inboxes {
                    inbox.send(Message::Start { group, at });
                }
            }
            return;
        }
    }

    fn end(&mut self) {
        if !std::mem::replace(&mut self.ended, true) {
            for inbox in &self.shared.inboxes {
                inbox.send(Message::End);
            }
        }
    }

    fn join(&mut self) {
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

/// Groups in the order in which they run: each batch together, and the tearDown groups.
fn batches(plan: &Plan, groups: &[GroupSettings]) -> (Vec<Vec<u32>>, Vec<u32>) {
    let of = |phase: Phase| -> Vec<u32> {
        (0..groups.len() as u32).filter(|n| groups[*n as usize].phase == phase).collect()
    };
    let split = |groups: Vec<u32>| -> Vec<Vec<u32>> {
        if plan.serialize_groups {
            groups.into_iter().map(|group| vec![group]).collect()
        } else {
            vec![groups]
        }
    };
    let mut batches = split(of(Phase::Setup));
    batches.extend(split(of(Phase::Main)));
    (batches, of(Phase::Teardown))
}

fn hostname() -> String {
    nix::unistd::gethostname().ok().and_then(|name| name.into_string().ok()).unwrap_or_default()
}

/// Passes what the plan's functions log on to the run's events.
fn forward_log(log: Receiver<(plan::function::Level, String)>, reports: Sender<Report>) {
    // The thread ends with the run's shared state, which holds the other end.
    let _ = std::thread::Builder::new().name("log".into()).spawn(move || {
        for (level, text) in log {
            if reports.send(Report::Log(format!("{level:?}: {text}"))).is_err() {
                return;
            }
        }
    });
}

/// Time between the starts of two users: JMeter divides the ramp-up in single precision and rounds to milliseconds.
pub(crate) fn ramp_step(ramp_s: i64, users: u32) -> Nanos {
    let step = (ramp_s as f32 * 1000.0 / users.max(1) as f32).round();
    step as Nanos * MS
}

/// Seconds as the clock counts them.
pub(crate) fn seconds(s: i64) -> Nanos {
    s.saturating_mul(SECOND)
}
