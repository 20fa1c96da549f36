//! The coordinator of a run that is distributed over workers. It presents the run as if it were one process.
//!
//! A batch of groups starts everywhere at the same moment, when every worker is ready. Workers on other machines must
//! have confirmed just before that they are reachable. The next batch starts when the previous one has ended
//! everywhere. If a worker dies, the loss is reported and the run continues with the others. Reports are numbered, so
//! that none counts twice.

mod resume;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use engine::{Backends, Batches, Evaluated, Line, Live, Users};
use plan::plan::Plan;
use stats::Snapshot;
use stats::grouped::things;
use stats::process::Usage;

use self::resume::Takeover;
use crate::batch_properties::BatchProperties;
use crate::bus::{Bus, Reports, Transport, UserScope, WorkerEvent};
use crate::figures::Figures;
use crate::loss::Loss;
use crate::member::Stage;
use crate::members::{Handled, Members};
use crate::message::{FromWorker, Report, Share, ToWorker, VERSION};

/// Time limit for workers to end after an order to stop immediately, or after an order to end. Later they count as
/// lost.
const END_LIMIT: Duration = Duration::from_secs(30);
/// Interval at which the coordinator sends each worker the number of users that run in the other workers.
const ADJUST: Duration = Duration::from_secs(1);

/// A run to distribute over workers.
#[derive(Debug)]
pub struct Job {
    /// Name of the plan file as the user specified it.
    pub name: String,
    /// Content of the plan file.
    pub text: Vec<u8>,
    pub properties: Vec<(String, String)>,
    /// Folder that contains the plan file.
    pub folder: PathBuf,
    pub evaluated: Evaluated,
    /// Result files that receive every sample. The files exist and contain their headings.
    pub results: Vec<PathBuf>,
    /// Number of threads per worker.
    pub cores: u32,
    pub seed: u64,
    /// True if the death of a worker stops the run, false if the other workers continue.
    pub stop_on_loss: bool,
}

/// An event of the run.
#[derive(Debug)]
pub enum Event {
    /// The measurements of one second: of one core, or of a whole worker if workers merge their cores. `core` is a
    /// number among all cores of the run.
    Snapshot(Box<Snapshot>),
    /// A message for the user.
    Log(Line),
    /// A worker died. A snapshot that counts its connections as closed follows.
    Lost(Loss),
    /// No event arrived within the requested time.
    Idle,
    /// The run is over.
    Finished,
}

/// A run in progress on workers.
#[derive(Debug)]
pub struct Fleet {
    members: Members,
    share: Share,
    batches: Batches,
    events: VecDeque<Event>,
    /// True from the start order of a batch until the batch has ended in all workers.
    open: bool,
    /// True if the workers were ordered to end.
    ending: bool,
    finished: bool,
    stopped: bool,
    /// Time at which workers that were ordered to end count as lost, and the reason that is then reported.
    lost_at: Option<(Instant, String)>,
    stop_on_loss: bool,
    aborted: Option<String>,
    /// True if the test stopped itself: by an element, by its action on a failed sample, or by the property
    /// `throng.stop.unconnected`.
    stopped_by_plan: bool,
    adjusted: Instant,
    /// Indices of the groups of the last started batch.
    batch: Vec<u32>,
    /// The instant that is zero on the run's clock.
    zero: Instant,
    /// The plan's Backend Listeners.
    backends: Backends,
    /// Error messages of Backend Listeners.
    complaints: Receiver<String>,
    properties: BatchProperties,
    /// The states that workers have reported so far; set while a run is taken over from another coordinator.
    taking: Option<Takeover>,
}

/// The reason why a run could not be distributed.
#[derive(Debug)]
pub struct StartError(pub String);

impl std::fmt::Display for StartError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "cannot start: {}", self.0)
    }
}

impl std::error::Error for StartError {}

impl Fleet {
    /// Sends each worker of the bus its share of the run. Users start when all workers are ready.
    pub fn start(bus: Box<dyn Bus>, plan: &Plan, job: Job) -> Result<Self, StartError> {
        let count = bus.workers();
        if count == 0 {
            return Err(StartError("the run has no workers".into()));
        }
        let (to_complaints, complaints) = channel();
        let property = |key: &str| {
            let found = job.properties.iter().find(|(name, _)| name == key);
            found.map(|(_, value)| value.clone())
        };
        let backends = Backends::start(plan, &job.evaluated, &property, move |text| {
            let _ = to_complaints.send(text);
        });
        let zero = Instant::now();
        let share = Share {
            name: job.name,
            plan: job.text,
            hash: plan.hash,
            properties: job.properties,
            folder: job.folder.into_os_string(),
            evaluated: job.evaluated,
            results: job.results.into_iter().map(PathBuf::into_os_string).collect(),
            index: 0,
            count,
            cores: job.cores,
            seed: job.seed,
            zero: wall_ns(),
            host: None,
            allowed: None,
        };
        Ok(Self {
            members: Members::new(bus),
            share,
            batches: Batches::new(plan),
            events: VecDeque::new(),
            open: false,
            ending: false,
            finished: false,
            stopped: false,
            lost_at: None,
            stop_on_loss: job.stop_on_loss,
            aborted: None,
            stopped_by_plan: false,
            adjusted: Instant::now(),
            batch: Vec::new(),
            zero,
            backends,
            complaints,
            properties: BatchProperties::default(),
            taking: None,
        })
    }

    /// Returns the next event, or [`Event::Idle`] if there is none within `patience`.
    pub fn next_event(&mut self, patience: Duration) -> Event {
        let end = Instant::now() + patience;
        loop {
            self.drop_overdue();
            if let Some(event) = self.events.pop_front() {
                return event;
            }
            if let Ok(text) = self.complaints.try_recv() {
                return Event::Log(text.into());
            }
            if self.finished {
                return Event::Finished;
            }
            let left = end.saturating_duration_since(Instant::now());
            match self.members.bus.next(left) {
                Some((worker, WorkerEvent::Message(message))) => self.handle(worker, message),
                Some((worker, WorkerEvent::Silent(words))) => {
                    let pid = self.members.pid(worker);
                    let text = match self.members.bus.name(worker) {
                        Some(_) => words,
                        None => format!("worker {worker} (process {pid}): {words}"),
                    };
                    self.events.push_back(Event::Log(text.into()));
                }
                Some((worker, WorkerEvent::Ended(words))) => self.gone(worker, &words),
                Some((worker, WorkerEvent::TakenOver { pid, stand, lost })) => {
                    self.found(worker, pid, *stand, lost);
                }
                Some((worker, WorkerEvent::Figures(figures))) => {
                    self.members.set_figures_behind(worker, figures);
                }
                Some((_, WorkerEvent::PartLost(loss))) => {
                    self.events.push_back(Event::Lost(loss));
                    if self.stop_on_loss {
                        self.halt(false);
                    }
                }
                None => {
                    self.adjust();
                    return self.events.pop_front().unwrap_or(Event::Idle);
                }
            }
            self.adjust();
        }
    }

    /// Gives the snapshot of an event back, so that its memory can be reused.
    pub fn recycle(&mut self, snapshot: Box<Snapshot>) {
        self.members.bus.recycle(snapshot);
    }

    /// Changes the load from now on. Returns false and changes nothing if no users run.
    pub fn change(&mut self, changes: &[Live]) -> bool {
        if !self.open || self.stopped || self.ending {
            return false;
        }
        let runs = |change: &Live| match change {
            Live::Users { group, .. } | Live::Rate { group, .. } => self.batch.contains(group),
            Live::Pause(_) => true,
        };
        let changes: Vec<Live> = changes.iter().copied().filter(runs).collect();
        let any = !changes.is_empty();
        self.members.change(changes);
        any
    }

    /// Ends the run gracefully: samples in flight may finish.
    pub fn stop(&mut self) {
        self.halt(false);
    }

    /// Stops the run immediately: samples in flight are cut.
    pub fn stop_now(&mut self) {
        self.halt(true);
    }

    /// Returns the last reported numbers of users. Users of workers that died count as ended.
    pub fn users(&self) -> Users {
        self.members.users()
    }

    /// Returns the number of workers that are neither lost nor ended.
    pub fn workers(&self) -> u32 {
        self.members.all_alive().count() as u32
    }

    /// Returns the number of threads that run users in all remaining workers.
    pub fn cores(&self) -> u32 {
        self.members.all_alive().map(|(_, member)| member.cores.max(1)).sum()
    }

    /// True while reports are delivered that were measured before this coordinator started.
    pub fn replays(&self) -> bool {
        let transport = self.members.transport();
        matches!(transport, Transport::Machines { reports: Reports::Replayed, .. })
    }

    /// Returns the number of reports that make up one second of the run.
    pub fn parts(&self) -> u32 {
        self.members.parts()
    }

    /// Fetches a part of the files that workers keep until the end, mainly result rows. Called repeatedly after the end
    /// of the run. Returns messages for the user; `None` when nothing is left to fetch.
    pub fn collect(&mut self) -> Option<Vec<String>> {
        self.members.bus.collect()
    }

    /// Returns the last reported resource usage, summed over all workers. Memory pages of the program that workers
    /// share count once.
    pub fn usage(&self) -> Usage {
        self.members.usage()
    }

    /// Returns the totals of each machine if workers are other machines, in the order of
    /// [`crate::remote::Agents::about`].
    pub fn figures(&self) -> Vec<Figures> {
        self.members.figures()
    }

    /// True if the run was stopped before its plan was finished.
    pub fn was_stopped(&self) -> bool {
        self.stopped
    }

    /// Returns the error that ended the run early, if there was one.
    pub fn aborted(&self) -> Option<&str> {
        self.aborted.as_deref()
    }

    /// True if the test stopped itself: by an element, by its action on a failed sample, or by the property
    /// `throng.stop.unconnected`.
    pub fn stopped_by_plan(&self) -> bool {
        self.stopped_by_plan
    }

    fn handle(&mut self, worker: u32, message: FromWorker) {
        if self.members.alive(worker).is_none() {
            return;
        }
        if self.taking.as_mut().is_some_and(|taking| taking.handle(worker, &message)) {
            return;
        }
        match self.members.handle(worker, message) {
            Some(Handled::WrongVersion(version)) => self.fail(format!(
                "worker {worker} uses protocol version {version}; {VERSION} is required"
            )),
            Some(Handled::NeedsShare) => {
                self.share.index = worker;
                let share = Box::new(self.share.clone());
                self.members.bus.send(worker, &ToWorker::Plan(share));
            }
            Some(Handled::Waits) => self.advance(),
            Some(Handled::BatchDone(properties)) => {
                self.properties.add(properties);
                self.advance();
            }
            Some(Handled::Report(report, missing)) => self.report(worker, *report, missing),
            Some(Handled::Done(aborted, samples)) => self.done(worker, aborted, samples),
            Some(Handled::Other(message)) => self.forward(message),
            None => {}
        }
    }

    /// Handles a message that does not change the state of its worker.
    fn forward(&mut self, message: FromWorker) {
        match message {
            FromWorker::Figures(figures) => self.backends.take(*figures),
            FromWorker::StopAsked { now } => {
                self.stopped_by_plan = true;
                self.halt(now);
            }
            FromWorker::Log(line) => self.events.push_back(Event::Log(line)),
            _ => {}
        }
    }

    /// Passes on a worker's report of one second, before which `missing` reports are missing.
    fn report(&mut self, worker: u32, mut report: Report, missing: u64) {
        if missing > 0 {
            let text = format!("worker {worker}: {} missing", things(missing, "report"));
            self.events.push_back(Event::Log(text.into()));
        }
        // Core numbers need only be distinct.
        report.snapshot.core = report.snapshot.core * self.share.count + worker;
        self.events.push_back(Event::Snapshot(report.snapshot));
        let users = self.users();
        self.backends.set_users(users.started, users.finished);
    }

    /// Handles the last message of a worker, which counted `samples` in total.
    fn done(&mut self, worker: u32, aborted: Option<String>, samples: u64) {
        let differs = self.members.end(worker, samples);
        self.events.extend(differs.map(Event::Lost));
        if let Some(reason) = aborted {
            self.fail(format!("worker {worker}: {reason}"));
        }
        self.advance();
    }

    /// Handles the end of a worker's connection: expected after the worker's last message, otherwise a loss.
    fn gone(&mut self, worker: u32, reason: &str) {
        if let Some((loss, mut snapshot)) = self.members.lose(worker, reason) {
            snapshot.at_ms = stats::clock::now_ms();
            self.events.push_back(Event::Lost(loss));
            self.events.push_back(Event::Snapshot(snapshot));
            if self.stop_on_loss {
                self.halt(false);
            }
        }
        self.advance();
    }

    /// Starts the next batch when all workers are ready for it. Ends the run if no batch is left, and finishes it when
    /// all workers have ended.
    fn advance(&mut self) {
        if self.waits_for_states() {
            return;
        }
        if !self.members.is_any_alive() {
            if !self.ending && self.aborted.is_none() {
                self.aborted = Some("all workers were lost".into());
            }
            self.backends.end();
            self.finished = true;
            return;
        }
        let are_ready = self.members.all_are(Stage::Ready);
        if self.ending || !(are_ready || self.members.all_are(Stage::Armed)) {
            return;
        }
        self.open = false;
        let confirm = self.members.transport().is_machines();
        if confirm && are_ready && !self.batches.is_complete() {
            self.members.order(Stage::Arming, &ToWorker::Arm);
            return;
        }
        match self.batches.start_next() {
            Some(groups) => {
                let properties = self.properties.send();
                let at = (self.zero.elapsed() + self.members.bus.lead()).as_nanos() as i64;
                let groups: Vec<u32> = groups.iter().map(|group| group.0).collect();
                self.batch.clone_from(&groups);
                self.open = true;
                let start = ToWorker::Start { groups, at, properties };
                self.members.order(Stage::Running, &start);
            }
            None => self.end(),
        }
    }

    /// Marks workers as lost that did not end after an order to end, so that the run does not wait for them for ever.
    fn drop_overdue(&mut self) {
        let Some((_, words)) = self.lost_at.take_if(|(at, _)| Instant::now() >= *at) else {
            return;
        };
        for worker in self.members.all_alive().map(|(worker, _)| worker).collect::<Vec<u32>>() {
            self.members.bus.kill(worker);
            self.gone(worker, &words);
        }
    }

    /// Sets the time at which workers that have not ended count as lost, unless that time is already set.
    fn expect_end(&mut self, within: Duration, since: &str) {
        self.lost_at.get_or_insert_with(|| {
            let words = format!("it did not end within {} s after {since}", within.as_secs());
            (Instant::now() + within, words)
        });
    }

    fn halt(&mut self, now: bool) {
        self.stopped = true;
        if now {
            self.expect_end(END_LIMIT, "the order to stop at once");
        }
        self.members.broadcast(&ToWorker::Stop { now });
        if self.taking.is_some() {
            // The rest follows when the run's state in all workers is known.
            return;
        }
        self.batches.stop();
        let asked = self.members.is_any(Stage::Arming) || self.members.is_any(Stage::Armed);
        let between = self.batches.phase().is_some() && asked;
        if !self.open && !between {
            // No users run, so no worker will report that its batch is done.
            self.end();
        }
    }

    /// Ends the run with an error.
    fn fail(&mut self, reason: String) {
        self.aborted.get_or_insert(reason);
        self.members.broadcast(&ToWorker::Stop { now: true });
        self.end();
    }

    fn end(&mut self) {
        if !std::mem::replace(&mut self.ending, true) {
            self.expect_end(END_LIMIT + self.members.bus.grace(), "the order to end");
            self.members.broadcast(&ToWorker::End);
        }
    }

    /// Sends each worker the number of users of each group that run in the other workers.
    fn adjust(&mut self) {
        let transport = self.members.transport();
        let is_alone = matches!(transport, Transport::Machines { users: UserScope::Worker, .. });
        if self.adjusted.elapsed() < ADJUST || is_alone {
            return;
        }
        self.adjusted = Instant::now();
        self.members.adjust(&[]);
    }
}

/// Returns the current time in nanoseconds since 1970.
fn wall_ns() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as i64)
}
