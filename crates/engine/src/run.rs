//! A run: cores on their threads, and the coordinator that starts groups in order, gathers snapshots and ends it all.
//!
//! The coordinator only passes messages; it never looks into a core. A run may be one of several shares of a larger
//! one, each in a process of its own; then somebody else says when groups start ([`Handle`]).

pub(crate) mod asked;
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
use crate::reports::{Report, Told};
use crate::results::backlog::Backlog;
use crate::results::feed::Relay;
use crate::run::batches::Batches;
use crate::shared::RunShared;
use crate::time::clock::{Clock, MS, Nanos};

/// An event of a run while it goes on.
#[derive(Debug)]
pub enum Event {
    /// The measurements of one core in a second; hand them back by [`Run::recycle`].
    Snapshot(Box<Snapshot>),
    /// Paced: samples for a Backend Listener.
    Figures(Box<Figures>),
    /// Something to be told to the user.
    Log(Line),
    /// Paced: all users of the groups that were started have ended.
    BatchDone,
    /// Paced: a user asked to stop the test, which stops here by itself.
    StopAsked {
        /// At once, cutting samples.
        now: bool,
    },
    /// Nothing happened within the time asked for.
    Idle,
    /// The run is over; all snapshots and rows have been handed over.
    Finished,
}

/// Between setUp groups and the groups after them, where Java does something for the plan: JMeter collects its garbage then, and scripts that have started
/// a server on a thread of its own rely on the time that takes.
const SETTLE: Nanos = 100 * MS;

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
    java: Arc<crate::java::Shared>,
    reports: Receiver<Report>,
    threads: Vec<JoinHandle<()>>,
    writer: Option<JoinHandle<()>>,
    /// Rows that wait for the writer.
    backlog: Arc<Backlog>,
    /// Threads of Backend Listeners.
    senders: Vec<JoinHandle<()>>,
    /// The way to Backend Listeners elsewhere.
    relay: Relay,
    /// Groups yet to be started; `None` when somebody else tells which.
    batches: Option<Batches>,
    told: Sender<Report>,
    /// Groups that run, with the number of cores that are not done with them.
    open: HashMap<GroupId, u32>,
    /// The last change of each group's load, and the groups that were started last.
    changes: HashMap<GroupId, u32>,
    batch: Vec<GroupId>,
    /// Changes of the load so far.
    changed: u32,
    stopped: bool,
    ended: bool,
    ends: u32,
    aborted: Option<String>,
    /// A user, by what the plan says, has asked to stop the test.
    stopped_by_plan: bool,
}

impl Run {
    /// A run whose threads are yet to be told of.
    pub(crate) fn new(
        plan: &Plan,
        shared: Arc<RunShared>,
        java: Arc<crate::java::Shared>,
        (told, reports): (Sender<Report>, Receiver<Report>),
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

    /// Waits for the next event, for `patience` at most.
    pub fn next_event(&mut self, patience: Duration) -> Event {
        loop {
            if self.ended && self.ends == self.shared.cores {
                // What ends at the same moment is seen, too.
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

    /// Heeds a report; the event that it is for the caller, if it is one.
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
            Report::Told(told) => self.obey(told).then_some(Event::BatchDone),
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

    /// Gives a snapshot's memory back to its core.
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

    /// For whoever paces the run.
    pub fn handle(&self) -> Handle {
        Handle { shared: Arc::clone(&self.shared), told: self.told.clone() }
    }

    /// Properties that users have set so far, unless none has been set since the given version; 0 is the start's.
    pub fn properties_since(&self, version: u64) -> Option<(u64, Vec<(String, String)>)> {
        self.shared.shared.written_since(version)
    }

    /// Users of each group of the plan that run now, in this process.
    pub fn active_by_group(&self) -> impl Iterator<Item = u32> + '_ {
        use std::sync::atomic::Ordering::Relaxed;
        self.shared.counts.groups.iter().map(|group| group.load(Relaxed))
    }

    /// Numbers of users in this process, as of now.
    pub fn users(&self) -> Users {
        use std::sync::atomic::Ordering::Relaxed;
        let counts = &self.shared.counts;
        Users {
            active: counts.active.load(Relaxed),
            started: counts.started.load(Relaxed),
            finished: counts.finished.load(Relaxed),
        }
    }

    /// The resources that this process has used so far, with those of its Java machine and its writer of rows.
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

    /// Whether the plan has stopped the test: an element of it, or what it says of failed samples.
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

    /// Whether a core that reports a group as done has heard of the last change of its load.
    fn is_current(&self, group: GroupId, change: u32) -> bool {
        self.changes.get(&group).copied().unwrap_or(0) == change
    }

    /// Changes the load from now on. False: the group does not run, and nothing is changed.
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
        // Who paces the run knows whether others still run it.
        let runs =
            self.open.contains_key(&group) || self.batches.is_none() && self.batch.contains(&group);
        self.changed += 1;
        if !runs {
            return false;
        }
        let number = self.changes.entry(group).or_default();
        *number += 1;
        // Each core says anew that it is done.
        self.open.insert(group, self.shared.cores);
        for inbox in &self.shared.inboxes {
            inbox.send(message(*number));
        }
        true
    }

    /// Changes of the load that have been heard of.
    pub fn changes(&self) -> u32 {
        self.changed
    }

    /// Whether no group is open any more.
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

    /// Does what a [`Handle`] asked for; whether a batch is done by that already.
    fn obey(&mut self, told: Told) -> bool {
        match told {
            Told::Start { groups, at } => {
                self.start_groups(&groups, at);
                groups.is_empty()
            }
            Told::Change(live) => {
                self.change(live);
                false
            }
            Told::Stop => {
                self.halt(false);
                false
            }
            Told::StopNow => {
                self.halt(true);
                false
            }
            Told::End => {
                self.end();
                false
            }
        }
    }

    /// Starts the next groups, or ends the run when there are none.
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
            // The core that keeps a schedule hears of it last: whoever it sends somebody to, or tells that nobody comes, knows
            // of the group already.
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

/// The way to a run from another thread.
#[derive(Clone, Debug)]
pub struct Handle {
    shared: Arc<RunShared>,
    told: Sender<Report>,
}

impl Handle {
    /// Starts groups, by their index in the plan, at a moment of the run's clock in nanoseconds.
    pub fn start(&self, groups: Vec<GroupId>, at: i64) {
        self.tell(Told::Start { groups, at });
    }

    /// Ends users after the samples in flight, or at once.
    pub fn stop(&self, now: bool) {
        self.tell(if now { Told::StopNow } else { Told::Stop });
    }

    /// Changes the load.
    pub fn change(&self, live: Live) {
        self.tell(Told::Change(live));
    }

    /// Ends the run: [`Event::Finished`] follows.
    pub fn end(&self) {
        self.tell(Told::End);
    }

    /// Sets properties, as a user of another process has.
    pub fn set_properties(&self, properties: &[(String, String)]) {
        for (name, value) in properties {
            if self.shared.shared.property(name).as_deref() != Some(value) {
                self.shared.shared.set_property(name, value);
            }
        }
    }

    /// Says how many users of each group run in other processes, for those who count all users of the run.
    pub fn users_elsewhere(&self, groups: &[u32]) {
        self.shared.counts.set_elsewhere(groups);
        for (group, users) in (0..).zip(groups) {
            self.shared.state.users_elsewhere(GroupId(group), *users);
        }
    }

    fn tell(&self, told: Told) {
        let _ = self.told.send(Report::Told(told));
    }
}

/// The moment that was so many nanoseconds since 1970.
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

/// Passes what the plan's functions log on to the run's events.
fn forward_log(log: Receiver<plan::function::Said>, reports: Sender<Report>) {
    // The thread ends with the run's shared state, which holds the other end.
    let _ = std::thread::Builder::new().name("log".into()).spawn(move || {
        for said in log {
            if reports.send(Report::Log(said.into())).is_err() {
                return;
            }
        }
    });
}
