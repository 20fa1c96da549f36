//! All agents of a run as a bus: each agent is one worker.
//!
//! Reports use exact accounting: a record is written to the coordinator's disk, then acknowledged, and then counted.
//! Times of an agent are converted to the coordinator's clock by the measured difference of the clocks.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use stats::Snapshot;

use super::carrier::Line;
use super::clock::{Answer, Clocks};
use super::disk::{Disk, Frames};
use super::hosts::Way;
use super::line::{AgentEvent, nanos};
use super::push::RowsTo;
use super::resume::{self, TakeoverData};
use super::wire::{
    self, AgentAssignment, Assignment, FromAgent, Offer, ReachedAgent, Results, RunState, ToAgent,
};
use crate::account::{Ledger, Limits, Note, Record, Up, What};
use crate::bus::{Bus, Reports, Transport, UserScope, WorkerEvent};
use crate::message::{FromWorker, Share, ToWorker, VERSION};

/// Interval at which the silence of agents is updated and their clocks are queried.
const TICK: Duration = Duration::from_secs(1);
/// Maximum time that one update adds to the silence: if more has passed, this process itself did not run.
const TICK_MOST: Duration = Duration::from_secs(2);
/// Duration of silence after which the user is informed.
const TOLD: Duration = Duration::from_secs(4);
/// Duration of silence after which an agent counts as lost.
const LIMIT: Duration = Duration::from_secs(15);
/// Minimum time from the start order to the start of the users. Four times the longest round trip is used instead if it
/// is longer.
const LEAD: Duration = Duration::from_millis(500);
const SECOND: i64 = 1_000_000_000;
/// Maximum number of snapshots that are kept for reuse.
const SPARE: usize = 8;
/// Difference between the seeds of hosts that each run the whole plan: 2⁶⁴ divided by the golden ratio, so that seeds
/// do not repeat soon.
const SEEDS: u64 = 0x9E37_79B9_7F4A_7C15;

/// The coordinator's state of one agent of a run.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(super) line: Line,
    pub(super) name: String,
    pub(super) zone: String,
    pub(super) offer: Offer,
    pub(super) clocks: Clocks,
    pub(super) shares: Vec<u32>,
    pub(super) cores: u32,
    /// The agents behind this agent if it is a relay, with their assignments.
    pub(super) agents: Vec<(ReachedAgent, AgentAssignment)>,
    /// The coordinator's zero of the run minus the zero that was sent to the agent, in ms. The value stays fixed, so
    /// that later changes of either system clock do not matter.
    shift_ms: Option<i64>,
    /// True if the agent is lost or has been released.
    pub(super) gone: bool,
    /// Time of the last received bytes when silence was last updated, on the clock of the connections.
    last: i64,
    /// Duration of the silence since `last`.
    silent: Duration,
    /// Number of ticks since the process of the agent's connection ended.
    orphaned: u32,
}

impl Agent {
    pub(super) fn new(
        line: Line,
        (name, zone): (String, String),
        offer: Offer,
        (clocks, shares, cores): (Clocks, Vec<u32>, u32),
    ) -> Self {
        let (gone, last, silent, orphaned, agents) = (false, 0, Duration::ZERO, 0, Vec::new());
        Self {
            line,
            name,
            zone,
            offer,
            clocks,
            shares,
            cores,
            agents,
            shift_ms: None,
            gone,
            last,
            silent,
            orphaned,
        }
    }

    /// Returns this agent as the relay of the given agents.
    pub(super) fn with_agents(self, agents: Vec<(ReachedAgent, AgentAssignment)>) -> Self {
        Self { agents, ..self }
    }

    /// Returns the longest measured round trip to the agent or to the agents behind it, in ns.
    fn longest(&self) -> i64 {
        let behind = self.agents.iter().map(|(met, _)| met.longest).max().unwrap_or(0);
        self.clocks.longest().saturating_add(behind)
    }
}

/// Facts about an agent that are shown to the user.
#[derive(Clone, Debug)]
pub struct About {
    pub name: String,
    /// Zone of the agent; empty if it has none.
    pub zone: String,
    pub processors: u32,
    pub descriptors: u64,
    /// Free memory in bytes.
    pub memory: u64,
    /// Number of processes of the agent; each runs a share of the users.
    pub shares: u32,
    /// Number of threads per process that run users.
    pub cores: u32,
    /// Error bound of the agent's clock in ms.
    pub clock_bound_ms: f64,
    /// The coordinator's system clock minus the agent's, in ms.
    pub clock_offset_ms: i64,
    /// The relay through which the agent is reached.
    pub relay: Option<String>,
}

/// The agents of a run, as the workers of a bus.
#[derive(Debug)]
pub struct Agents {
    pub(super) all: Vec<Agent>,
    pub(super) clock: Instant,
    pub(super) heard: Receiver<(u32, AgentEvent)>,
    events: VecDeque<(u32, WorkerEvent)>,
    /// Counted snapshots whose memory is reused for received snapshots.
    #[expect(clippy::vec_box, reason = "they travel in their boxes")]
    spare: Vec<Box<Snapshot>>,
    ledger: Ledger,
    notes: Disk,
    pub(super) notes_path: PathBuf,
    pub(super) limits: Limits,
    /// Maximum number of samples in one record of an agent so far.
    peak: u64,
    /// The time that is second 0 of the run, on the clock of the connections.
    zero: i64,
    ticked: Instant,
    /// Result files, each with the path on the coordinator's machine, true if the file contains CSV rows, and its place
    /// on the agents.
    pub(super) results: Vec<(PathBuf, bool, Results)>,
    /// Destination to which agents send their result rows. If `None`, the coordinator fetches the rows.
    pub(super) rows_to: Option<RowsTo>,
    /// Progress of the end of the run; `None` before the end.
    pub(super) end: Option<super::fetch::End>,
    /// True if the agents were released.
    pub(super) left: bool,
    pub(super) connections: u64,
    /// Name of the run on the agents, and number of folder levels between the run's folder and the plan's folder.
    pub(super) run: (String, u32),
    users: UserScope,
    /// True if these are the agents of a relay, which runs a part of the users. Then the assignment contains the number
    /// of all shares.
    part: bool,
    /// True if the user was informed that notes cannot be written.
    failed: bool,
    /// True if the file was written that another coordinator needs to take the run over.
    kept: bool,
    pub(super) taken: Option<TakeoverData>,
}

impl Agents {
    pub(super) fn new(
        agents: Vec<Agent>,
        (clock, heard): (Instant, Receiver<(u32, AgentEvent)>),
        limits: Limits,
        notes_path: &Path,
    ) -> io::Result<Self> {
        let mut notes = Disk::create(notes_path)?;
        let (ledger, note) = Ledger::begin(limits, &[]);
        notes.write(&note)?;
        let offers = (0..).zip(&agents).map(|(number, agent)| {
            let (pid, descriptors) = (agent.offer.pid, agent.offer.descriptors);
            (number, WorkerEvent::Message(FromWorker::Offer { version: VERSION, pid, descriptors }))
        });
        let events = offers.collect();
        let this = Self::of(agents, (clock, heard), (limits, ledger), (notes, notes_path));
        Ok(Self { events, ..this })
    }

    /// Creates the agents of a run that this coordinator takes over, with the notes of the previous coordinator.
    pub(super) fn taken_over(
        agents: Vec<Agent>,
        (clock, heard): (Instant, Receiver<(u32, AgentEvent)>),
        (limits, zero): (Limits, i64),
        (mut notes, notes_path): (Disk, &Path),
        taken: TakeoverData,
    ) -> io::Result<Self> {
        let mut frames = Frames::open(notes_path)?;
        // Notes after a broken frame cannot be counted.
        let before = std::iter::from_fn(|| frames.next::<Note>().ok().flatten());
        let (ledger, note) = Ledger::read(limits, before);
        notes.write(&note)?;
        let zero = nanos(clock) - (wall_ns() - zero);
        let this = Self::of(agents, (clock, heard), (limits, ledger), (notes, notes_path));
        Ok(Self { zero, kept: true, taken: Some(taken), ..this })
    }

    fn of(
        all: Vec<Agent>,
        (clock, heard): (Instant, Receiver<(u32, AgentEvent)>),
        (limits, ledger): (Limits, Ledger),
        (notes, notes_path): (Disk, &Path),
    ) -> Self {
        Self {
            events: VecDeque::new(),
            spare: Vec::new(),
            all,
            clock,
            heard,
            ledger,
            notes,
            notes_path: notes_path.to_owned(),
            limits,
            peak: 0,
            zero: nanos(clock),
            ticked: Instant::now(),
            results: Vec::new(),
            rows_to: None,
            end: None,
            left: false,
            connections: 0,
            run: <_>::default(),
            users: UserScope::Run,
            part: false,
            failed: false,
            kept: false,
            taken: None,
        }
    }

    /// Sets the number of connections, and the run: its name on agents, and the depth of the plan's folder. `way` says
    /// whether each agent runs the whole plan.
    pub(super) fn holding(self, connections: u64, run: (String, u32), way: &Way) -> Self {
        let users = match way {
            Way::Whole(_) => UserScope::Worker,
            Way::Ssh(_) | Way::Nats(_) => UserScope::Run,
        };
        Self { connections, run, users, ..self }
    }

    /// Turns these agents into the agents of a relay. `run` is the relay's name of the run with the depth of the plan's
    /// folder; `results` are the files that the relay fetches for the coordinator.
    pub(super) fn of_relay(
        self,
        run: (String, u32),
        results: Vec<(PathBuf, bool, Results)>,
    ) -> Self {
        // If the relay ends, its agents end too: no other relay takes them over.
        Self { run, results, part: true, kept: true, ..self }
    }

    /// Returns the number of connections that the processes of all agents can hold together. If each agent runs the
    /// whole plan, returns the lowest number of all agents.
    pub fn connections(&self) -> u64 {
        self.connections
    }

    /// Sets the result files that are fetched at the end: each path with true for CSV rows, false for XML elements.
    /// `all` are the paths of the files that receive every sample. Returns messages about files that remain on the
    /// agents.
    pub fn set_results(
        &mut self,
        files: Vec<(PathBuf, bool)>,
        all: &[PathBuf],
        folder: &Path,
    ) -> Vec<String> {
        let mut notes = Vec::new();
        for (path, are_rows) in files {
            let number = all.iter().position(|other| *other == path);
            let from_folder =
                path.strip_prefix(folder).ok().filter(|_| !folder.as_os_str().is_empty());
            let relative = Some(path.as_path()).filter(|path| path.is_relative());
            let paths = [relative, from_folder].into_iter().flatten();
            let paths: Vec<String> =
                paths.filter_map(|path| Some(path.to_str()?.to_owned())).collect();
            if number.is_none() && paths.is_empty() {
                notes.push(format!(
                    "result file {} stays on each agent: its path is absolute",
                    path.display()
                ));
            }
            let on_agent =
                number.map_or(Results::Listener(paths), |number| Results::All(number as u32));
            self.results.push((path, are_rows, on_agent));
        }
        notes
    }

    /// Sets the destination to which agents send their result rows instead of to the coordinator.
    pub fn set_rows_to(&mut self, place: RowsTo) {
        self.rows_to = Some(place);
    }

    /// Returns facts about all agents in order. A relay is replaced by the agents behind it.
    pub fn about(&self) -> Vec<About> {
        self.all.iter().flat_map(|agent| self.about_one(agent)).collect()
    }

    fn about_one(&self, agent: &Agent) -> Vec<About> {
        let (bound, offset_ms) = (agent.clocks.bound().unwrap_or(0), self.offset_ms(agent));
        let about = |(name, zone): (&str, &str), offer: &Offer, shares: &[u32], cores| About {
            name: name.to_owned(),
            zone: zone.to_owned(),
            processors: offer.processors,
            descriptors: offer.descriptors,
            memory: offer.memory,
            shares: shares.len() as u32,
            cores,
            clock_bound_ms: bound as f64 / 1e6,
            clock_offset_ms: offset_ms,
            relay: None,
        };
        if agent.agents.is_empty() {
            return vec![about(
                (&agent.name, &agent.zone),
                &agent.offer,
                &agent.shares,
                agent.cores,
            )];
        }
        let behind = |(met, served): &(ReachedAgent, AgentAssignment)| About {
            clock_bound_ms: bound.saturating_add(met.bound) as f64 / 1e6,
            clock_offset_ms: offset_ms + met.offset_ms,
            relay: Some(agent.name.clone()),
            ..about((&met.name, &met.zone), &met.offer, &served.shares, served.cores)
        };
        agent.agents.iter().map(behind).collect()
    }

    pub(super) fn offset_ms(&self, agent: &Agent) -> i64 {
        agent.clocks.offset_ms(nanos(self.clock), wall_ns())
    }

    /// Sends an agent the plan with its shares.
    fn begin(&mut self, worker: u32, share: &Share) {
        if !std::mem::replace(&mut self.kept, true)
            && let Err(error) = resume::keep(self, share)
        {
            let path = resume::kept(&self.notes_path);
            let words = format!(
                "cannot write {}: {error}; another coordinator cannot take over this run",
                path.display()
            );
            self.say(worker, words);
        }
        // The share's zero was read from the system clock a moment ago.
        self.zero = nanos(self.clock) - (wall_ns() - share.zero);
        self.assign(worker, share);
    }

    /// Sends an agent its assignment.
    fn assign(&mut self, worker: u32, share: &Share) {
        let all = if self.part {
            share.count
        } else {
            self.all.iter().map(|agent| agent.shares.len() as u32).sum()
        };
        let Some(agent) = self.all.get(worker as usize) else { return };
        let zero = agent.clocks.wall_at(self.zero);
        let shift_ms = (share.zero - zero) as f64 / 1e6;
        let bound = agent.clocks.bound().unwrap_or(0) as f64 / 1e6;
        let shift_ms = if shift_ms.abs() <= bound { 0.0 } else { shift_ms.round() };
        if let Some(agent) = self.all.get_mut(worker as usize) {
            agent.shift_ms = Some(shift_ms as i64);
        }
        let Some(agent) = self.all.get(worker as usize) else { return };
        let share = Share { zero, cores: agent.cores, ..share.clone() };
        let share = if self.users == UserScope::Worker {
            // Equal seeds would give the users of all hosts identical random values.
            let seed = share.seed.wrapping_add(u64::from(worker).wrapping_mul(SEEDS));
            Share {
                count: agent.shares.len() as u32,
                seed,
                host: Some(agent.name.clone()),
                ..share
            }
        } else {
            Share { count: all, ..share }
        };
        let results = self.results.iter().map(|(.., on_agent)| on_agent.clone()).collect();
        let rows = self.results.iter().map(|(_, are_rows, _)| *are_rows).collect();
        let (sender, shares) = (worker, agent.shares.clone());
        let assignment = Assignment { sender, share, shares, results, rows };
        self.tell(worker, &ToAgent::Begin(Box::new(assignment)));
    }

    pub(super) fn tell(&mut self, worker: u32, message: &ToAgent) {
        let Some(agent) = self.all.get(worker as usize).filter(|agent| !agent.gone) else {
            return;
        };
        if let Err(words) = agent.line.send(message) {
            self.lose(worker, words);
        }
    }

    /// Returns whether reports of the previous coordinator are still being counted.
    fn reports(&self) -> Reports {
        match &self.taken {
            Some(TakeoverData { frames: Some(_), .. }) => Reports::Replayed,
            _ => Reports::Live,
        }
    }

    /// Returns the current second of the run.
    fn slot(&self) -> u64 {
        u64::try_from((nanos(self.clock) - self.zero) / SECOND).unwrap_or(0)
    }

    pub(super) fn handle(&mut self, worker: u32, heard: AgentEvent) {
        let Some(agent) = self.all.get_mut(worker as usize) else { return };
        if agent.gone {
            return;
        }
        match heard {
            AgentEvent::Note(words) => self.say(worker, words),
            AgentEvent::Ended(words) => self.lose(worker, words),
            AgentEvent::Message(message, came) => match *message {
                FromAgent::Time { asked, monotonic, wall } => {
                    agent.clocks.handle(&Answer { asked, came, monotonic, wall });
                }
                FromAgent::Message(message) => {
                    self.events.push_back((worker, WorkerEvent::Message(message)));
                }
                FromAgent::Figures(figures) => {
                    self.events.push_back((worker, WorkerEvent::Figures(figures)));
                }
                FromAgent::Up(up) => self.account(worker, up),
                FromAgent::RunState(stand) => self.found(worker, *stand),
                FromAgent::Lost(part) => {
                    let name = agent.name.clone();
                    let offset_ms = self.offset_ms(&self.all[worker as usize]);
                    self.events.push_back((
                        worker,
                        WorkerEvent::PartLost(part.of(worker, name, offset_ms)),
                    ));
                }
                FromAgent::Refused(words) => {
                    let words = format!("{}: {words}", agent.name);
                    let done = FromWorker::Done { aborted: Some(words), samples: 0 };
                    self.events.push_back((worker, WorkerEvent::Message(done)));
                }
                FromAgent::Offer(_)
                | FromAgent::Gathered(_)
                | FromAgent::Missing(_)
                | FromAgent::FilesStored
                | FromAgent::Rows(_)
                | FromAgent::Pushed(_)
                | FromAgent::Alive => {}
            },
        }
    }

    /// Handles an account message of an agent: writes it to disk, then sends the acknowledgement, then counts the
    /// report.
    fn account(&mut self, worker: u32, up: Up) {
        let origin = match &up {
            Up::Heartbeat { origin, .. } => *origin,
            Up::Record(record) => record.origin,
        };
        // An agent may report only for itself.
        if origin.sender != worker {
            return self.lose(worker, "it sent a report in the name of another agent".into());
        }
        let (note, mut down) = self.ledger.handle(self.slot(), up);
        if let Some(note) = note {
            if let Err(error) = self.notes.write(&note) {
                if !std::mem::replace(&mut self.failed, true) {
                    let path = self.notes_path.display();
                    self.say(
                        worker,
                        format!(
                            "cannot write {path}: {error}; agents keep their measurements until it can be written"
                        ),
                    );
                }
                return;
            }
            down = self.ledger.written(&note);
            if let Note::Record(record) = note
                && self.reports() == Reports::Live
            {
                let agent = &self.all[worker as usize];
                let shift_ms = agent.shift_ms.unwrap_or_else(|| self.offset_ms(agent));
                let news = self.counted(worker, record, shift_ms);
                self.events.extend(news.map(|news| (worker, news)));
            }
        }
        if let Some(down) = down {
            self.tell(worker, &ToAgent::Down(down));
        }
    }

    /// Returns the report in a record, which is already on disk.
    pub(super) fn counted(
        &mut self,
        worker: u32,
        record: Record,
        offset_ms: i64,
    ) -> Option<WorkerEvent> {
        let What::Delta { samples, body } = record.what else { return None };
        let snapshot = self.spare.pop().unwrap_or_default();
        let mut report = match wire::report(&body, snapshot) {
            Ok(report) => report,
            Err(words) => {
                self.lose(worker, words);
                return None;
            }
        };
        if samples > self.peak {
            self.peak = samples;
            let ahead = self.peak.saturating_mul(2 * self.limits.grace.max(5));
            self.ledger.set_ahead(ahead.max(self.limits.ahead));
        }
        report.seq = record.number;
        report.snapshot.core = 0;
        report.snapshot.shift(offset_ms);
        Some(WorkerEvent::Message(FromWorker::Report(Box::new(report))))
    }

    /// Handles an agent's reply to a takeover: the state of the run on the agent.
    fn found(&mut self, worker: u32, mut stand: RunState) {
        if let Some(words) = stand.torn.take() {
            return self.lose(worker, words);
        }
        let agent = &self.all[worker as usize];
        let (pid, offset_ms) = (agent.offer.pid, self.offset_ms(agent));
        let lost = std::mem::take(&mut stand.lost).into_iter();
        let lost = lost.map(|part| part.of(worker, agent.name.clone(), offset_ms)).collect();
        let share = self.taken.as_ref().filter(|_| !stand.begun).map(|taken| taken.share.clone());
        self.events
            .push_back((worker, WorkerEvent::TakenOver { pid, stand: Box::new(stand), lost }));
        if let Some(share) = share {
            self.assign(worker, &share);
        }
    }

    fn say(&mut self, worker: u32, words: String) {
        self.events.push_back((worker, WorkerEvent::Message(FromWorker::Log(words.into()))));
    }

    pub(super) fn lose(&mut self, worker: u32, words: String) {
        let Some(agent) = self.all.get_mut(worker as usize) else { return };
        if std::mem::replace(&mut agent.gone, true) {
            return;
        }
        let how = agent.line.end(Duration::from_millis(500));
        let words = if words.is_empty() { how } else { format!("{words}; {how}") };
        self.events.push_back((worker, WorkerEvent::Ended(words)));
    }

    /// Queries the agents' clocks and checks for silent agents, once a second.
    fn tick(&mut self) {
        let passed = self.ticked.elapsed();
        if passed < TICK {
            return;
        }
        self.ticked = Instant::now();
        for worker in 0..self.all.len() as u32 {
            self.tell(worker, &ToAgent::Time { asked: nanos(self.clock) });
            let agent = &mut self.all[worker as usize];
            if agent.gone {
                continue;
            }
            let last = agent.line.last();
            if last != agent.last {
                (agent.last, agent.silent) = (last, Duration::ZERO);
            } else if agent.line.hears() {
                let before = agent.silent;
                agent.silent += passed.min(TICK_MOST);
                let (silent, limit) = (agent.silent, LIMIT.as_secs());
                let words = format!("{}: no message for {} s", agent.name, silent.as_secs());
                if silent >= LIMIT {
                    self.lose(worker, words);
                    continue;
                }
                if before < TOLD && silent >= TOLD {
                    let words = format!("{words}; it counts as lost after {limit} s");
                    self.events.push_back((worker, WorkerEvent::Silent(words)));
                }
            }
            // Other processes may hold the connection's output open. The agent's last messages are read before the next
            // tick.
            let agent = &mut self.all[worker as usize];
            agent.orphaned += u32::from(agent.line.has_ended());
            if agent.orphaned > 1 {
                self.lose(worker, String::new());
            }
        }
    }
}

impl Bus for Agents {
    fn workers(&self) -> u32 {
        self.all.len() as u32
    }

    fn transport(&self) -> Transport {
        Transport::Machines { users: self.users, reports: self.reports() }
    }

    fn send(&mut self, worker: u32, message: &ToWorker) {
        match message {
            ToWorker::Plan(share) => self.begin(worker, share),
            // Orders are small except for the plan.
            order => self.tell(worker, &ToAgent::Order(order.clone())),
        }
    }

    fn next(&mut self, patience: Duration) -> Option<(u32, WorkerEvent)> {
        let end = Instant::now() + patience;
        loop {
            self.tick();
            if let Some(replayed) = self.replay() {
                return Some(replayed);
            }
            if let Some(news) = self.events.pop_front() {
                return Some(news);
            }
            let left = end.saturating_duration_since(Instant::now());
            match self.heard.recv_timeout(left.min(TICK)) {
                Ok((worker, heard)) => self.handle(worker, heard),
                Err(RecvTimeoutError::Timeout) if left.is_zero() => return None,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    std::thread::sleep(left.min(TICK));
                    return self.events.pop_front();
                }
            }
        }
    }

    fn kill(&mut self, worker: u32) {
        self.lose(worker, "it was stopped by the coordinator".into());
    }

    fn lead(&self) -> Duration {
        let longest = self.all.iter().map(Agent::longest).max().unwrap_or(0);
        LEAD.max(Duration::from_nanos(longest.unsigned_abs()) * 4)
    }

    fn name(&self, worker: u32) -> Option<String> {
        self.all.get(worker as usize).map(|agent| agent.name.clone())
    }

    fn parts(&self, worker: u32) -> u32 {
        self.all.get(worker as usize).map_or(1, |agent| agent.agents.len().max(1) as u32)
    }

    fn at_most(&self, worker: u32) -> Option<u64> {
        let missing = self.ledger.account().missing;
        let own = missing.iter().filter(|missing| missing.origin.sender == worker);
        Some(own.map(|missing| missing.at_most).sum())
    }

    fn grace(&self) -> Duration {
        Duration::from_secs(self.limits.grace)
    }

    fn recycle(&mut self, snapshot: Box<Snapshot>) {
        if self.spare.len() < SPARE {
            self.spare.push(snapshot);
        }
    }

    fn collect(&mut self) -> Option<Vec<String>> {
        self.fetch()
    }
}

/// Returns the current time in nanoseconds since 1970.
pub(super) fn wall_ns() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as i64)
}
