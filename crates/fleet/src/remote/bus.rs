//! All agents of a run as a bus: each is one worker.
//!
//! Reports pass through the account: a record is written to the coordinator's disk, then it is acknowledged, then it
//! counts. Times of an agent become the coordinator's by the measured difference of the clocks.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use stats::Snapshot;

use super::carrier::Line;
use super::clock::{Answer, Clocks};
use super::disk::{Disk, Frames};
use super::line::{Heard, nanos};
use super::push::RowsTo;
use super::resume::{self, Taken};
use super::wire::{self, Assignment, FromAgent, Met, Offer, Results, Served, Stand, ToAgent};
use crate::account::{Ledger, Limits, Note, Record, Up, What};
use crate::bus::{Bus, News};
use crate::message::{FromWorker, Share, ToWorker, VERSION};

/// Interval of counting silence and of questions for the time, and the most silence that is counted at once: in a longer
/// gap this process itself did not run.
const TICK: Duration = Duration::from_secs(1);
const TICK_MOST: Duration = Duration::from_secs(2);
/// Silence that is reported, and silence after which an agent is lost.
const TOLD: Duration = Duration::from_secs(4);
const LIMIT: Duration = Duration::from_secs(15);
/// Time from the order to start to the start, at least; four times the longest round trip where that is more.
const LEAD: Duration = Duration::from_millis(500);
const SECOND: i64 = 1_000_000_000;
/// Snapshots that are kept to be used again, at most.
const SPARE: usize = 8;
/// Distance of the seeds of hosts that each run the whole plan: 2⁶⁴ by the golden ratio, which repeats late.
const SEEDS: u64 = 0x9E37_79B9_7F4A_7C15;

/// An agent of a run.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(super) line: Line,
    pub(super) name: String,
    pub(super) zone: String,
    pub(super) offer: Offer,
    pub(super) clocks: Clocks,
    pub(super) shares: Vec<u32>,
    pub(super) cores: u32,
    /// The agents of a relay, and what each of them gets.
    pub(super) agents: Vec<(Met, Served)>,
    /// The coordinator's zero of the run less the one that was sent to it, ms: measurements count from there, whatever
    /// either wall clock is set to since.
    shift_ms: Option<i64>,
    /// It is lost, or has left.
    pub(super) gone: bool,
    /// Time of the last sign of it that was noticed, and for how long there was none.
    last: i64,
    silent: Duration,
    /// Ticks since the process of its connection has ended.
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

    /// The same as a relay of these agents.
    pub(super) fn with_agents(self, agents: Vec<(Met, Served)>) -> Self {
        Self { agents, ..self }
    }

    /// Longest way to it and to what is behind it, and back, ns.
    fn longest(&self) -> i64 {
        let behind = self.agents.iter().map(|(met, _)| met.longest).max().unwrap_or(0);
        self.clocks.longest().saturating_add(behind)
    }
}

/// The facts about an agent, for the user.
#[derive(Clone, Debug)]
pub struct About {
    pub name: String,
    /// Its zone; empty where it has none.
    pub zone: String,
    pub processors: u32,
    pub descriptors: u64,
    /// Free memory, bytes.
    pub memory: u64,
    /// Its processes, each with a share of the users.
    pub shares: u32,
    /// Threads of each process.
    pub cores: u32,
    /// Bound of the error of its clock, ms.
    pub clock_bound_ms: f64,
    /// The coordinator's wall clock less its own, ms.
    pub clock_offset_ms: i64,
    /// The relay by which it is reached.
    pub relay: Option<String>,
}

/// Agents as workers.
#[derive(Debug)]
pub struct Agents {
    pub(super) all: Vec<Agent>,
    pub(super) clock: Instant,
    pub(super) heard: Receiver<(u32, Heard)>,
    news: VecDeque<(u32, News)>,
    /// Snapshots that were counted: the next ones are read into them.
    #[expect(clippy::vec_box, reason = "they travel in their boxes")]
    spare: Vec<Box<Snapshot>>,
    ledger: Ledger,
    notes: Disk,
    pub(super) notes_path: PathBuf,
    pub(super) limits: Limits,
    /// Most samples of an agent in a second.
    peak: u64,
    /// Zero of the run by the clock of the connections.
    zero: i64,
    ticked: Instant,
    /// Result files: the coordinator's path, whether it has rows, and the agents' file.
    pub(super) results: Vec<(PathBuf, bool, Results)>,
    /// The place to which agents send their rows; none: they are fetched.
    pub(super) rows_to: Option<RowsTo>,
    /// The end of the run, once it has come, and whether the agents were let go.
    pub(super) end: Option<super::fetch::End>,
    pub(super) left: bool,
    pub(super) connections: u64,
    /// The name of the run on agents, and the depth of the plan's folder in that of the run.
    pub(super) run: (String, u32),
    /// Each agent runs the whole plan.
    whole: bool,
    /// These are a relay's, which has a part of the run: it says how many shares there are.
    part: bool,
    /// A failure to write notes was reported.
    failed: bool,
    /// The file for another coordinator was written.
    kept: bool,
    pub(super) taken: Option<Taken>,
}

impl Agents {
    pub(super) fn new(
        agents: Vec<Agent>,
        (clock, heard): (Instant, Receiver<(u32, Heard)>),
        limits: Limits,
        notes_path: &Path,
    ) -> io::Result<Self> {
        let mut notes = Disk::create(notes_path)?;
        let (ledger, note) = Ledger::begin(limits, &[]);
        notes.write(&note)?;
        let offers = (0..).zip(&agents).map(|(number, agent)| {
            let (pid, descriptors) = (agent.offer.pid, agent.offer.descriptors);
            (number, News::Said(FromWorker::Offer { version: VERSION, pid, descriptors }))
        });
        let news = offers.collect();
        let this = Self::of(agents, (clock, heard), (limits, ledger), (notes, notes_path));
        Ok(Self { news, ..this })
    }

    /// The agents of a run that is taken over, with its notes so far.
    pub(super) fn again(
        agents: Vec<Agent>,
        (clock, heard): (Instant, Receiver<(u32, Heard)>),
        (limits, zero): (Limits, i64),
        (mut notes, notes_path): (Disk, &Path),
        taken: Taken,
    ) -> io::Result<Self> {
        let mut frames = Frames::open(notes_path)?;
        // What is behind something broken could not be counted.
        let before = std::iter::from_fn(|| frames.next::<Note>().ok().flatten());
        let (ledger, note) = Ledger::read(limits, before);
        notes.write(&note)?;
        let zero = nanos(clock) - (wall_ns() - zero);
        let this = Self::of(agents, (clock, heard), (limits, ledger), (notes, notes_path));
        Ok(Self { zero, kept: true, taken: Some(taken), ..this })
    }

    fn of(
        all: Vec<Agent>,
        (clock, heard): (Instant, Receiver<(u32, Heard)>),
        (limits, ledger): (Limits, Ledger),
        (notes, notes_path): (Disk, &Path),
    ) -> Self {
        Self {
            news: VecDeque::new(),
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
            whole: false,
            part: false,
            failed: false,
            kept: false,
            taken: None,
        }
    }

    /// `run`: its name on agents, and the depth of the plan's folder. `whole`: each agent runs the whole plan.
    pub(super) fn holding(self, connections: u64, run: (String, u32), whole: bool) -> Self {
        Self { connections, run, whole, ..self }
    }

    /// The same as agents of a relay, with its name of the run and the result files that it fetches for the coordinator.
    pub(super) fn of_relay(
        self,
        run: (String, u32),
        results: Vec<(PathBuf, bool, Results)>,
    ) -> Self {
        // If the relay ends, its agents do: no other one takes them over.
        Self { run, results, part: true, kept: true, ..self }
    }

    /// Connections that all processes can hold together; where each agent runs the whole plan, those of the tightest.
    pub fn connections(&self) -> u64 {
        self.connections
    }

    /// The result files that are to be fetched at the end: path, and whether it has rows or elements. The first are
    /// those that get every sample. Returns sentences about those that stay on the agents.
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
                notes.push(format!("{} stays on each agent: its path is absolute", path.display()));
            }
            let on_agent =
                number.map_or(Results::Listener(paths), |number| Results::All(number as u32));
            self.results.push((path, are_rows, on_agent));
        }
        notes
    }

    /// Agents send their rows there instead.
    pub fn set_rows_to(&mut self, place: RowsTo) {
        self.rows_to = Some(place);
    }

    /// The agents in their order; those of a relay in its place.
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
        let behind = |(met, served): &(Met, Served)| About {
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

    /// The plan with an agent's shares of it.
    fn begin(&mut self, worker: u32, share: &Share) {
        if !std::mem::replace(&mut self.kept, true)
            && let Err(error) = resume::keep(self, share)
        {
            let path = resume::kept(&self.notes_path);
            let words =
                format!("{}: {error}; no other coordinator can take this run over", path.display());
            self.say(worker, words);
        }
        // Zero was read from the wall clock a moment ago.
        self.zero = nanos(self.clock) - (wall_ns() - share.zero);
        self.assign(worker, share);
    }

    /// An agent's shares of the plan.
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
        let share = if self.whole {
            // Equal numbers in equal users of all hosts would be no other load.
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

    /// The second of the run by now.
    fn slot(&self) -> u64 {
        u64::try_from((nanos(self.clock) - self.zero) / SECOND).unwrap_or(0)
    }

    pub(super) fn hear(&mut self, worker: u32, heard: Heard) {
        let Some(agent) = self.all.get_mut(worker as usize) else { return };
        if agent.gone {
            return;
        }
        match heard {
            Heard::Note(words) => self.say(worker, words),
            Heard::Ended(words) => self.lose(worker, words),
            Heard::Message(message, came) => match *message {
                FromAgent::Time { asked, monotonic, wall } => {
                    agent.clocks.hear(&Answer { asked, came, monotonic, wall });
                }
                FromAgent::Said(message) => self.news.push_back((worker, News::Said(message))),
                FromAgent::Figures(figures) => {
                    self.news.push_back((worker, News::Figures(figures)));
                }
                FromAgent::Up(up) => self.account(worker, up),
                FromAgent::Stands(stand) => self.found(worker, *stand),
                FromAgent::Lost(part) => {
                    let name = agent.name.clone();
                    let offset_ms = self.offset_ms(&self.all[worker as usize]);
                    self.news.push_back((worker, News::Part(part.of(worker, name, offset_ms))));
                }
                FromAgent::Refused(words) => {
                    let words = format!("{}: {words}", agent.name);
                    let done = FromWorker::Done { aborted: Some(words), samples: 0 };
                    self.news.push_back((worker, News::Said(done)));
                }
                FromAgent::Offer(_)
                | FromAgent::Gathered(_)
                | FromAgent::Missing(_)
                | FromAgent::Placed
                | FromAgent::Rows(_)
                | FromAgent::Pushed(_)
                | FromAgent::Alive => {}
            },
        }
    }

    /// Takes a message of the account: the disk first, then the answer, then the report counts.
    fn account(&mut self, worker: u32, up: Up) {
        let origin = match &up {
            Up::Here { origin, .. } => *origin,
            Up::Record(record) => record.origin,
        };
        // An agent speaks for itself only.
        if origin.sender != worker {
            return self.lose(worker, "it reported in the name of another agent".into());
        }
        let (note, mut down) = self.ledger.hear(self.slot(), up);
        if let Some(note) = note {
            if let Err(error) = self.notes.write(&note) {
                if !std::mem::replace(&mut self.failed, true) {
                    let path = self.notes_path.display();
                    self.say(
                        worker,
                        format!(
                            "{path}: {error}; agents keep what they measure until there is room"
                        ),
                    );
                }
                return;
            }
            down = self.ledger.written(&note);
            if let Note::Record(record) = note
                && !self.replays()
            {
                let agent = &self.all[worker as usize];
                let shift_ms = agent.shift_ms.unwrap_or_else(|| self.offset_ms(agent));
                let news = self.counted(worker, record, shift_ms);
                self.news.extend(news.map(|news| (worker, news)));
            }
        }
        if let Some(down) = down {
            self.tell(worker, &ToAgent::Down(down));
        }
    }

    /// The report in a record that is on the disk.
    pub(super) fn counted(&mut self, worker: u32, record: Record, offset_ms: i64) -> Option<News> {
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
        Some(News::Said(FromWorker::Report(Box::new(report))))
    }

    /// An agent of a run that was taken over says where it stands.
    fn found(&mut self, worker: u32, mut stand: Stand) {
        if let Some(words) = stand.torn.take() {
            return self.lose(worker, words);
        }
        let agent = &self.all[worker as usize];
        let (pid, offset_ms) = (agent.offer.pid, self.offset_ms(agent));
        let lost = std::mem::take(&mut stand.lost).into_iter();
        let lost = lost.map(|part| part.of(worker, agent.name.clone(), offset_ms)).collect();
        let share = self.taken.as_ref().filter(|_| !stand.begun).map(|taken| taken.share.clone());
        self.news.push_back((worker, News::Found { pid, stand: Box::new(stand), lost }));
        if let Some(share) = share {
            self.assign(worker, &share);
        }
    }

    fn say(&mut self, worker: u32, words: String) {
        self.news.push_back((worker, News::Said(FromWorker::Log(words.into()))));
    }

    pub(super) fn lose(&mut self, worker: u32, words: String) {
        let Some(agent) = self.all.get_mut(worker as usize) else { return };
        if std::mem::replace(&mut agent.gone, true) {
            return;
        }
        let how = agent.line.end(Duration::from_millis(500));
        let words = if words.is_empty() { how } else { format!("{words}; {how}") };
        self.news.push_back((worker, News::Gone(words)));
    }

    /// Once a second: questions for the time, and agents that are silent.
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
                    let words = format!("{words}; after {limit} s it is lost");
                    self.news.push_back((worker, News::Silent(words)));
                }
            }
            // Its output may be held open by others; what it had to say is read by the next tick.
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

    fn send(&mut self, worker: u32, message: &ToWorker) {
        match message {
            ToWorker::Plan(share) => self.begin(worker, share),
            // What is sent is small, but for the plan.
            order => match again(order) {
                Some(order) => self.tell(worker, &ToAgent::Order(order)),
                None => self.lose(worker, "an order cannot be sent".into()),
            },
        }
    }

    fn next(&mut self, patience: Duration) -> Option<(u32, News)> {
        let end = Instant::now() + patience;
        loop {
            self.tick();
            if let Some(replayed) = self.replay() {
                return Some(replayed);
            }
            if let Some(news) = self.news.pop_front() {
                return Some(news);
            }
            let left = end.saturating_duration_since(Instant::now());
            match self.heard.recv_timeout(left.min(TICK)) {
                Ok((worker, heard)) => self.hear(worker, heard),
                Err(RecvTimeoutError::Timeout) if left.is_zero() => return None,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    std::thread::sleep(left.min(TICK));
                    return self.news.pop_front();
                }
            }
        }
    }

    fn kill(&mut self, worker: u32) {
        self.lose(worker, "it was ended".into());
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

    fn merges(&self) -> bool {
        true
    }

    fn arms(&self) -> bool {
        true
    }

    fn is_whole(&self) -> bool {
        self.whole
    }

    fn replays(&self) -> bool {
        self.taken.as_ref().is_some_and(|taken| taken.frames.is_some())
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

/// An order once more; orders are sent to several agents.
fn again(order: &ToWorker) -> Option<ToWorker> {
    postcard::from_bytes(&postcard::to_stdvec(order).ok()?).ok()
}

/// Now, in nanoseconds since 1970.
pub(super) fn wall_ns() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as i64)
}
