//! A run: starts cores on their threads. The coordinator starts groups in order, collects snapshots and ends the
//! run.
//!
//! The coordinator only passes messages and never reads a core's state. A run may be one of several processes of a
//! distributed run. Then the caller decides when groups start, through a [`Handle`]; such a run is called paced.

pub(crate) mod backend;
pub(crate) mod batches;
pub(crate) mod client;
pub(crate) mod error;
pub(crate) mod evaluated;
pub(crate) mod load;
pub(crate) mod monitors;
pub(crate) mod options;
pub(crate) mod paces;
pub(crate) mod phases;
pub(crate) mod prepare;
pub(crate) mod sender;
pub(crate) mod start;
pub(crate) mod total_load;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use plan::plan::{GroupId, Phase, Plan};
use stats::Snapshot;
use stats::process::{Java, Usage};

use crate::flow::owner::owner_of;
use crate::inbox::Message;
use crate::reports::figures::Figures;
use crate::reports::line::Line;
use crate::reports::live::Live;
use crate::reports::{Report, RunCommand};
use crate::results::backlog::Backlog;
use crate::results::feed::Relay;
use crate::run::batches::Batches;
use crate::shared::RunShared;
use crate::time::clock::{Clock, MS, Nanos};

/// An event during a run.
#[derive(Debug)]
pub enum Event {
    /// The measurements of one core in one second. [`Run::recycle`] returns the memory for reuse.
    Snapshot(Box<Snapshot>),
    /// In a paced run: samples for a Backend Listener.
    Figures(Box<Figures>),
    /// A message for the person who runs the test.
    Log(Line),
    /// In a paced run: all users of the started groups have ended.
    BatchDone,
    /// In a paced run: a user asked to stop the test. Other runs stop themselves.
    StopAsked {
        /// True if the test must end at once, cutting samples in flight.
        now: bool,
    },
    /// Nothing happened within the given waiting time.
    Idle,
    /// The run is over. All snapshots and rows have been handed over.
    Finished,
}

/// Delay in nanoseconds between setUp groups and the groups after them, if Java runs elements of the plan. JMeter
/// runs a garbage collection at this point. Scripts that have started a server in a separate thread rely on that
/// delay.
const SETTLE: Nanos = 100 * MS;

/// Numbers of users in one process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Users {
    /// Number of users running now.
    pub active: u32,
    /// Number of users started so far.
    pub started: u32,
    /// Number of users ended so far.
    pub finished: u32,
}

/// A run in progress.
#[derive(Debug)]
pub struct Run {
    shared: Arc<RunShared>,
    java: Arc<crate::java::Shared>,
    reports: Receiver<Report>,
    threads: Vec<JoinHandle<()>>,
    writer: Option<JoinHandle<()>>,
    /// Rows that wait for the writer.
    backlog: Arc<Backlog>,
    /// Threads of Backend Listeners.
    senders: Vec<JoinHandle<()>>,
    /// State of the samples that this process sends to the coordinator's Backend Listeners.
    relay: Relay,
    /// Groups still to be started; `None` in a paced run.
    batches: Option<Batches>,
    told: Sender<Report>,
    /// Running groups, each with the number of cores that have not finished it.
    open: HashMap<GroupId, u32>,
    /// Per group: sequence number of the last load change.
    changes: HashMap<GroupId, u32>,
    /// Groups that were started most recently.
    batch: Vec<GroupId>,
    /// Number of changes to users or rates that the run has received; pauses do not count.
    changed: u32,
    stopped: bool,
    ended: bool,
    ends: u32,
    aborted: Option<String>,
    /// True if an element of the plan has stopped the test.
    stopped_by_plan: bool,
}

impl Run {
    /// Creates a run whose threads are added later.
    pub(crate) fn new(
        plan: &Plan,
        shared: Arc<RunShared>,
        java: Arc<crate::java::Shared>,
        told: Sender<Report>,
        reports: Receiver<Report>,
        paced: bool,
    ) -> Self {
        Self {
            shared,
            java,
            reports,
            threads: Vec::new(),
            writer: None,
            backlog: Arc::default(),
            senders: Vec::new(),
            relay: Relay::default(),
            batches: (!paced).then(|| Batches::new(plan)),
            told,
            open: HashMap::new(),
            changes: HashMap::new(),
            batch: Vec::new(),
            changed: 0,
            stopped: false,
            ended: false,
            ends: 0,
            aborted: None,
            stopped_by_plan: false,
        }
    }

    /// Waits for the next event, for at most `patience`.
    pub fn next_event(&mut self, patience: Duration) -> Event {
        loop {
            if self.ended && self.ends == self.shared.cores {
                // The check includes a request to end that arrives at the same moment.
                let offload = self.java.offload.as_ref().filter(|_| self.aborted.is_none());
                self.aborted = offload.and_then(|offload| offload.ending()).or(self.aborted.take());
                self.join();
                return match self.reports.try_recv() {
                    Ok(Report::Snapshot { snapshot, .. }) => Event::Snapshot(snapshot),
                    Ok(Report::Figures(figures)) => self.pass_on(figures),
                    Ok(Report::Log(line)) => Event::Log(line),
                    Ok(_) => continue,
                    Err(_) => Event::Finished,
                };
            }
            let complaint = self.java.offload.as_ref().and_then(|offload| offload.complaint());
            if let Some(text) = complaint {
                return Event::Log(text.into());
            }
            let offload = self.java.offload.as_ref().filter(|_| self.aborted.is_none());
            if let Some(why) = offload.and_then(|offload| offload.ending()) {
                self.aborted = Some(why);
                self.batches = self.batches.take().map(Batches::dropped);
                self.halt(true);
            }
            match self.reports.recv_timeout(patience) {
                Ok(report) => {
                    if let Some(event) = self.take(report) {
                        return event;
                    }
                }
                Err(RecvTimeoutError::Timeout) => return Event::Idle,
                Err(RecvTimeoutError::Disconnected) => return Event::Finished,
            }
        }
    }

    /// Processes a report. Returns the event that the report causes for the caller, if there is one.
    fn take(&mut self, report: Report) -> Option<Event> {
        match report {
            Report::Snapshot { core, mut snapshot } => {
                snapshot.core = core;
                Some(Event::Snapshot(snapshot))
            }
            Report::Figures(figures) => Some(self.pass_on(figures)),
            Report::Log(line) => Some(Event::Log(line)),
            Report::GroupDone { group, change } => {
                let last = self.is_current(group, change) && self.group_done(group);
                (last && self.batches.is_none()).then_some(Event::BatchDone)
            }
            Report::StopTest { now } => {
                self.stopped_by_plan = true;
                self.halt(now);
                self.batches.is_none().then_some(Event::StopAsked { now })
            }
            Report::Command(told) => self.apply_command(told).then_some(Event::BatchDone),
            Report::CoreEnded(error) => {
                self.ends += 1;
                let error = error?;
                self.aborted = Some(error.clone());
                self.end();
                Some(Event::Log(format!("a core failed: {error}").into()))
            }
        }
    }

    fn pass_on(&self, figures: Box<Figures>) -> Event {
        self.relay.waiting.fetch_sub(1, std::sync::atomic::Ordering::Relaxed);
        Event::Figures(figures)
    }

    /// Returns a snapshot's memory to its core.
    pub fn recycle(&self, snapshot: Box<Snapshot>) {
        let core = snapshot.core;
        if let Some(inbox) = self.shared.inboxes.get(core as usize) {
            inbox.leave(Message::Recycle(snapshot));
        }
    }

    /// Ends the run gracefully: samples in flight finish.
    pub fn stop(&mut self) {
        self.halt(false);
    }

    /// Ends the run at once: samples in flight are cut.
    pub fn stop_now(&mut self) {
        self.halt(true);
    }

    /// Returns a handle, with which a paced run is controlled.
    pub fn handle(&self) -> Handle {
        Handle { shared: Arc::clone(&self.shared), told: self.told.clone() }
    }

    /// Returns the properties that users have changed so far; `None` if no property has changed since the given
    /// version. 0 is the version at the start.
    pub fn properties_since(&self, version: u64) -> Option<(u64, Vec<(String, String)>)> {
        self.shared.shared.written_since(version)
    }

    /// Returns the active users of each group of the plan in this process.
    pub fn active_by_group(&self) -> impl Iterator<Item = u32> + '_ {
        use std::sync::atomic::Ordering::Relaxed;
        self.shared.counts.groups.iter().map(|group| group.load(Relaxed))
    }

    /// Returns the current numbers of users in this process.
    pub fn users(&self) -> Users {
        use std::sync::atomic::Ordering::Relaxed;
        let counts = &self.shared.counts;
        Users {
            active: counts.active.load(Relaxed),
            started: counts.started.load(Relaxed),
            finished: counts.finished.load(Relaxed),
        }
    }

    /// Returns the resource usage of this process, including its JVM and its writer of rows.
    pub fn usage(&self) -> Usage {
        let memory = self.java.offload.as_ref().and_then(|offload| offload.memory());
        Usage {
            rows_waiting: self.backlog.rows(),
            write_s: self.backlog.write_s(),
            java: memory.map(|memory| Java {
                heap: memory.used,
                heap_most: memory.most,
                collections: memory.collections,
                paused_s: memory.paused_ms as f64 / 1000.0,
            }),
            ..Usage::now()
        }
    }

    /// Returns the number of threads that run users.
    pub fn cores(&self) -> u32 {
        self.shared.cores
    }

    /// Returns true if the run was stopped before the end of its plan.
    pub fn was_stopped(&self) -> bool {
        self.stopped
    }

    /// Returns the error that ended the run early, if there was one.
    pub fn aborted(&self) -> Option<&str> {
        self.aborted.as_deref()
    }

    /// Returns true if the plan has stopped the test: by one of its elements, or by its setting for failed samples.
    pub fn stopped_by_plan(&self) -> bool {
        self.stopped_by_plan
    }

    fn halt(&mut self, now: bool) {
        self.stopped = true;
        if let Some(batches) = &mut self.batches {
            batches.stop();
        }
        if now {
            self.shared.hurry.store(true, std::sync::atomic::Ordering::Relaxed);
        }
        for inbox in &self.shared.inboxes {
            inbox.send(if now { Message::StopNow } else { Message::Stop });
        }
    }

    /// Returns true if `change` is the group's last load change, so that a core's report that the group is done is
    /// valid.
    fn is_current(&self, group: GroupId, change: u32) -> bool {
        self.changes.get(&group).copied().unwrap_or(0) == change
    }

    /// Changes the load. Returns false and changes nothing if the group does not run.
    pub fn change(&mut self, live: Live) -> bool {
        let (group, message): (_, Box<dyn Fn(u32) -> Message>) = match live {
            Live::Pause(paused) => {
                for inbox in &self.shared.inboxes {
                    inbox.send(Message::Pause(paused));
                }
                return true;
            }
            Live::Users { group, users } => {
                let group = GroupId(group);
                (group, Box::new(move |change| Message::Users { group, users, change }))
            }
            Live::Rate { group, rate } => {
                let group = GroupId(group);
                (group, Box::new(move |change| Message::Rate { group, rate, change }))
            }
        };
        // In a paced run, only the caller knows whether the group still runs in other processes.
        let runs =
            self.open.contains_key(&group) || self.batches.is_none() && self.batch.contains(&group);
        self.changed += 1;
        if !runs {
            return false;
        }
        let number = self.changes.entry(group).or_default();
        *number += 1;
        // Each core reports once more that it has finished the group.
        self.open.insert(group, self.shared.cores);
        for inbox in &self.shared.inboxes {
            inbox.send(message(*number));
        }
        true
    }

    /// Returns the number of changes to users or rates that the run has received, including changes for groups that did
    /// not run; pauses do not count.
    pub fn changes(&self) -> u32 {
        self.changed
    }

    /// Counts a core that has finished a group. Returns true if no group is running any more.
    fn group_done(&mut self, group: GroupId) -> bool {
        let Some(left) = self.open.get_mut(&group) else { return false };
        *left -= 1;
        if *left > 0 {
            return false;
        }
        self.open.remove(&group);
        let through = self.open.is_empty();
        if through && self.batches.is_some() {
            self.start_next();
        }
        through
    }

    /// Carries out a request of a [`Handle`]. Returns true if the request starts an empty batch of groups, which is
    /// complete at once.
    fn apply_command(&mut self, told: RunCommand) -> bool {
        match told {
            RunCommand::Start { groups, at } => {
                self.start_groups(&groups, at);
                groups.is_empty()
            }
            RunCommand::Change(live) => {
                self.change(live);
                false
            }
            RunCommand::Stop => {
                self.halt(false);
                false
            }
            RunCommand::StopNow => {
                self.halt(true);
                false
            }
            RunCommand::End => {
                self.end();
                false
            }
        }
    }

    /// Starts the next groups, or ends the run if none remain.
    fn start_next(&mut self) {
        let before = self.batches.as_ref().and_then(Batches::phase);
        match self.batches.as_mut().and_then(Batches::start_next) {
            Some(groups) => {
                let settles = self.java.offload.is_some()
                    && before == Some(Phase::Setup)
                    && self.batches.as_ref().and_then(Batches::phase) != before;
                let pause = if settles { SETTLE } else { 0 };
                self.start_groups(&groups, Clock::new(self.shared.zero).now() + pause);
            }
            None => self.end(),
        }
    }

    fn start_groups(&mut self, groups: &[GroupId], at: Nanos) {
        self.batch = groups.to_vec();
        for group in groups {
            let Some(settings) = self.shared.groups.get(group.at()) else { continue };
            let known = match (&settings.spans, settings.duration) {
                (Some(_), _) => Some(at),
                (None, duration) => duration.map(|duration| at + settings.delay + duration),
            };
            if let Some(end) = known {
                self.shared.ends[group.at()].store(end, std::sync::atomic::Ordering::Relaxed);
            }
            self.open.insert(*group, self.shared.cores);
            // The owner core of a schedule is notified last. By then the other cores know the group, to which its
            // messages about arrivals refer.
            let owner = owner_of(*group, self.shared.cores) as usize;
            let (before, from) = self.shared.inboxes.split_at(owner);
            for inbox in from.iter().skip(1).chain(before).chain(from.first()) {
                inbox.send(Message::Start { group: *group, at });
            }
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
        if !self.threads.is_empty()
            && let Some(text) = self.relay.complaint()
        {
            let _ = self.told.send(Report::Log(text.into()));
        }
        let running = !self.threads.is_empty();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
        if let Some(offload) = self.java.offload.as_ref().filter(|_| running) {
            for line in crate::java::session::end(Arc::clone(offload)) {
                let _ = self.told.send(Report::Log(line));
            }
        }
        for thread in self.writer.take().into_iter().chain(self.senders.drain(..)) {
            let _ = thread.join();
        }
    }
}

/// A handle for controlling a run from another thread.
#[derive(Clone, Debug)]
pub struct Handle {
    shared: Arc<RunShared>,
    told: Sender<Report>,
}

impl Handle {
    /// Starts groups, by their index in the plan, at a time of the run's clock in nanoseconds.
    pub fn start(&self, groups: Vec<GroupId>, at: i64) {
        self.send_command(RunCommand::Start { groups, at });
    }

    /// Ends users after their current sample, or at once if `now` is true.
    pub fn stop(&self, now: bool) {
        self.send_command(if now { RunCommand::StopNow } else { RunCommand::Stop });
    }

    /// Changes the load of the run.
    pub fn change(&self, live: Live) {
        self.send_command(RunCommand::Change(live));
    }

    /// Ends the run: [`Event::Finished`] follows.
    pub fn end(&self) {
        self.send_command(RunCommand::End);
    }

    /// Sets properties that users of another process have set.
    pub fn set_properties(&self, properties: &[(String, String)]) {
        for (name, value) in properties {
            if self.shared.shared.property(name).as_deref() != Some(value) {
                self.shared.shared.set_property(name, value);
            }
        }
    }

    /// Sets the number of users that each group has in other processes, for elements that count all users of the
    /// run.
    pub fn users_elsewhere(&self, groups: &[u32]) {
        self.shared.counts.set_elsewhere(groups);
        for (group, users) in (0..).zip(groups) {
            self.shared.state.users_elsewhere(GroupId(group), *users);
        }
    }

    fn send_command(&self, told: RunCommand) {
        let _ = self.told.send(Report::Command(told));
    }
}

/// Converts nanoseconds since 1970 to an `Instant`.
fn instant(wall: i64) -> Instant {
    let now = stats::clock::system_ns();
    let ago = Duration::from_nanos((now - wall).unsigned_abs());
    let moment = Instant::now();
    let then = if now >= wall { moment.checked_sub(ago) } else { moment.checked_add(ago) };
    then.unwrap_or(moment)
}

fn hostname() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Forwards log lines of the plan's functions to the run's events.
fn forward_log(log: Receiver<plan::function::OutputLine>, reports: Sender<Report>) {
    // The thread ends when the run's shared state, which holds the sender, is dropped.
    let _ = std::thread::Builder::new().name("log".into()).spawn(move || {
        for said in log {
            if reports.send(Report::Log(said.into())).is_err() {
                return;
            }
        }
    });
}
