//! Prepares agents from their start until they can receive shares: the program, the clocks, the plan's files.
//!
//! Every wait can name the machine that it waits for, and ends after half a minute without input from it.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use engine::Line as Words;
use stats::grouped::{bytes as size, things};

use super::bus::{Agent, Agents, wall_ns};
use super::carrier::Line;
use super::clock::{Answer, Clocks};
use super::cut::{Cuts, Dealt};
use super::deal::{self, Deal, Zones};
use super::hosts::{Host, Way};
use super::line::{AgentEvent, Piped, nanos};
use super::manifest::Manifest;
use super::relays::{self, Relays};
use super::squeeze::pack;
use super::ssh::Bootstrap;
use super::wire::{
    AgentAssignment, FromAgent, Hash, Named, Offer, PIECE, ReachedAgent, Region, RelayAssignment,
    ToAgent,
};
use crate::account::Limits;
use crate::message::FromWorker;
use crate::nats::{self, Access, Pools};

/// Maximum silence of a machine that is being prepared.
pub(super) const SILENCE: Duration = Duration::from_secs(30);
/// Interval at which silence is checked.
pub(super) const TICK: Duration = Duration::from_millis(200);
/// Number of clock queries per agent before the start.
const QUESTIONS: usize = 16;
/// Maximum number of bytes of the plan's files that are queued for one connection.
const QUEUED: usize = 4 << 20;

/// The request to prepare agents.
pub struct Gathering<'a> {
    pub way: &'a Way,
    /// The relays through which agents are reached; `None` if agents are reached directly.
    pub relays: Option<&'a Relays>,
    pub manifest: &'a Manifest,
    /// The data files of the plan, and how their lines are distributed.
    pub dealt: &'a Dealt,
    /// Unique name of the run on the agents.
    pub run: String,
    /// Number of processes per machine; `None` derives the number from the resources that the machine offers.
    pub each: Option<u32>,
    /// Number of threads per process; 0 divides the machine's processors by its number of processes.
    pub cores: u32,
    /// Maximum number of users: of all hosts together, or per host if each host runs the whole plan.
    pub users: u64,
    /// Maximum number of connections that the users hold at the same time; counted like `users`.
    pub connections: u64,
    /// Path of the coordinator's notes file, which contains everything that the coordinator has acknowledged.
    pub notes: PathBuf,
    /// Number of seconds for which agents continue if they lose the coordinator.
    pub grace: u64,
    /// Returns true after Ctrl-C.
    pub cancelled: &'a dyn Fn() -> bool,
}

/// An agent or relay that is being prepared.
struct PendingAgent {
    name: String,
    zone: String,
    line: Line,
    offer: Option<Offer>,
    clocks: Clocks,
    answers: usize,
    missing: Option<Vec<Hash>>,
    placed: bool,
    /// Files that this agent needs, each with its path on the coordinator's machine.
    files: Vec<(Named, PathBuf)>,
    /// If this is a relay: the agents behind it, once the relay has reported them.
    met: Option<Vec<ReachedAgent>>,
    /// If this is a relay: the assignments of the agents behind it.
    serves: Vec<AgentAssignment>,
}

/// The agents or relays that are being prepared.
pub(super) struct Gather<'a> {
    cancelled: &'a dyn Fn() -> bool,
    clock: Instant,
    coming: Vec<PendingAgent>,
    heard: Receiver<(u32, AgentEvent)>,
    /// True if the machines are relays. Only relays may send messages about agents behind them and messages for the
    /// user.
    are_relays: bool,
}

impl PendingAgent {
    fn new(name: String, zone: String, line: Line) -> Self {
        Self {
            name,
            zone,
            line,
            offer: None,
            clocks: Clocks::default(),
            answers: 0,
            missing: None,
            placed: false,
            files: Vec::new(),
            met: None,
            serves: Vec::new(),
        }
    }
}

/// The clock of the connections, and the channel into which events of agents are put.
type EventSender = (Instant, Sender<(u32, AgentEvent)>);
/// The clock of the connections, and the channel from which events of agents are taken.
type EventReceiver = (Instant, Receiver<(u32, AgentEvent)>);

/// Starts or reserves the agents of a run and prepares them. `note` receives messages for the user; an error is also a
/// message for the user.
pub fn gather(asked: Gathering<'_>, note: &mut dyn FnMut(&str)) -> Result<Agents, String> {
    let grace = asked.grace;
    let mut gather = match asked.relays {
        Some(relays) => {
            let (clock, (say, heard)) = (Instant::now(), channel());
            let coming = by_relays(relays, &(clock, say))?;
            Gather { cancelled: asked.cancelled, clock, coming, heard, are_relays: true }
        }
        None => Gather::start(asked.way, (nats::env, grace), asked.cancelled, note)?,
    };
    let folder = asked.notes.with_extension("files");
    let dealt = gather.prepare(&asked, &folder, note);
    let _ = std::fs::remove_dir_all(folder);
    match dealt {
        Ok(dealt) => gather.into_agents(dealt, &asked),
        Err(words) => {
            for agent in &mut gather.coming {
                agent.line.cut();
            }
            Err(words)
        }
    }
}

/// Starts the relays of a run.
fn by_relays(relays: &Relays, ear: &EventSender) -> Result<Vec<PendingAgent>, String> {
    let Relays::Ssh(hosts) = relays else {
        let lines = (0..).zip(relays.names()).map(|(number, name)| {
            let line = Piped::here(number, relays::here(None), ear.clone());
            let line = line.map_err(|error| format!("cannot start {name}: {error}"))?;
            Ok(PendingAgent::new(name, String::new(), Line::Piped(Box::new(line))))
        });
        return lines.collect();
    };
    by_ssh(hosts, ear)
}

/// Starts an agent on each machine.
fn by_ssh(hosts: &[Host], ear: &EventSender) -> Result<Vec<PendingAgent>, String> {
    let bootstrap = Bootstrap::new()
        .map_err(|error| format!("cannot read the file of this program: {error}"))?;
    let mut coming = Vec::new();
    for (number, host) in (0..).zip(hosts) {
        let bootstrap = bootstrap.of(host);
        let command = bootstrap.command(host);
        let program = command.get_program().to_string_lossy().into_owned();
        let line = Piped::start(number, command, bootstrap, ear.clone());
        let line = line.map_err(|error| format!("{host}: cannot start {program}: {error}"))?;
        coming.push(PendingAgent::new(
            host.to_string(),
            String::new(),
            Line::Piped(Box::new(line)),
        ));
    }
    Ok(coming)
}

/// Reserves agents that wait on a NATS server.
fn by_nats(
    pools: &Pools,
    (env, grace): (impl Fn(&str) -> Option<String>, u64),
    cancelled: &dyn Fn() -> bool,
    ear: EventSender,
    note: &mut dyn FnMut(&str),
) -> Result<Vec<PendingAgent>, String> {
    // Users stop at the end of the grace time. Their measurements can be fetched for some time after it.
    let patience = u32::try_from(grace).unwrap_or(u32::MAX).saturating_add(60);
    let access = Access::of(&pools.server, env)?;
    let reserved = nats::reserve(pools, access, patience, cancelled, note)?;
    let names: Vec<_> =
        reserved.agents.iter().map(|agent| (agent.name.clone(), agent.zone.clone())).collect();
    let lines = nats::start(reserved, ear)
        .map_err(|error| format!("cannot start the streams to agents: {error}"))?;
    let coming = names.into_iter().zip(lines);
    Ok(coming.map(|((name, zone), line)| PendingAgent::new(name, zone, Line::Nats(line))).collect())
}

impl<'a> Gather<'a> {
    /// Starts agents by ssh, or reserves waiting agents. `env` returns environment variables.
    pub(super) fn start(
        way: &Way,
        (env, grace): (impl Fn(&str) -> Option<String>, u64),
        cancelled: &'a dyn Fn() -> bool,
        note: &mut dyn FnMut(&str),
    ) -> Result<Self, String> {
        let (clock, (say, heard)) = (Instant::now(), channel());
        let coming = match way {
            Way::Ssh(hosts) | Way::Whole(hosts) => by_ssh(hosts, &(clock, say))?,
            Way::Nats(pools) => by_nats(pools, (env, grace), cancelled, (clock, say), note)?,
        };
        Ok(Self { cancelled, clock, coming, heard, are_relays: false })
    }

    /// Prepares the agents and returns the distribution of shares. `folder` temporarily holds cut files.
    fn prepare(
        &mut self,
        asked: &Gathering<'_>,
        folder: &Path,
        note: &mut dyn FnMut(&str),
    ) -> Result<Deal, String> {
        self.meet(note)?;
        if let Some(relays) = asked.relays {
            self.reach(relays, asked, note)?;
        }
        let dealt = self.deal(asked);
        self.cut_files(asked, &dealt, folder, note)?;
        if asked.relays.is_some() {
            let ahead = ahead(asked, &dealt);
            let serve =
                |agent: &PendingAgent| RelayAssignment { agents: agent.serves.clone(), ahead };
            self.tell(|agent| ToAgent::Serve(serve(agent)))?;
        }
        self.send_files((&asked.run, asked.manifest.depth), note)?;
        Ok(dealt)
    }

    /// Waits until all agents have offered their resources, and then measures the differences of the clocks.
    pub(super) fn meet(&mut self, note: &mut dyn FnMut(&str)) -> Result<(), String> {
        self.wait("the agent's offer", note, |agent| agent.offer.is_some())?;
        for question in 1..=QUESTIONS {
            let clock = self.clock;
            self.tell(|_| ToAgent::Time { asked: nanos(clock) })?;
            self.wait("the agent's clock", note, |agent| agent.answers >= question)?;
        }
        Ok(())
    }

    /// Makes the relays connect to the agents of their regions.
    fn reach(
        &mut self,
        relays: &Relays,
        asked: &Gathering<'_>,
        note: &mut dyn FnMut(&str),
    ) -> Result<(), String> {
        let (mut waiting, mut credentials) = (Vec::new(), Vec::new());
        if let Way::Nats(pools) = asked.way {
            let access = Access::of(&pools.server, nats::env)?;
            waiting = nats::find_free(pools, access, asked.cancelled, note)?;
            if matches!(relays, Relays::Ssh(_)) {
                credentials = nats::credentials()?;
            }
        }
        let ways = relays::divide(asked.way, relays.count(), &waiting)?;
        for (agent, way) in self.coming.iter().zip(ways) {
            let region = Region { way, credentials: credentials.clone(), grace: asked.grace };
            agent.line.send(&ToAgent::Gather(Box::new(region)))?;
        }
        self.wait("the agents of the relay", note, |agent| agent.met.is_some())
    }

    /// Returns the agents that are connected directly, without the agents behind relays.
    pub(super) fn met(&self) -> Vec<ReachedAgent> {
        let now = (nanos(self.clock), wall_ns());
        let met = |agent: &PendingAgent| ReachedAgent {
            name: agent.name.clone(),
            zone: agent.zone.clone(),
            offer: agent.offer.clone().unwrap_or_default(),
            offset_ms: agent.clocks.offset_ms(now.0, now.1),
            bound: agent.clocks.bound().unwrap_or(0),
            longest: agent.clocks.longest(),
        };
        self.coming.iter().map(met).collect()
    }

    /// Returns all agents that get shares: each relay is replaced by the agents behind it.
    fn all(&self) -> Vec<ReachedAgent> {
        let own = self.met().into_iter().zip(&self.coming);
        own.flat_map(|(own, agent)| agent.met.clone().unwrap_or_else(|| vec![own])).collect()
    }

    /// Distributes the shares over the agents.
    fn deal(&self, asked: &Gathering<'_>) -> Deal {
        let zones = match asked.way {
            Way::Nats(pools) if !pools.zones.is_empty() => {
                let of = self.all().into_iter().map(|agent| agent.zone).collect();
                Some(Zones { of, weights: pools.zones.clone() })
            }
            Way::Whole(_) => {
                return deal::whole(&self.offers(), asked.each, asked.cores, asked.connections);
            }
            _ => None,
        };
        deal::deal(&self.offers(), zones.as_ref(), asked.each, asked.cores, asked.connections)
    }

    fn offers(&self) -> Vec<Offer> {
        self.all().into_iter().map(|agent| agent.offer).collect()
    }

    /// Determines the files that each agent receives; data files contain only the lines of the agent's users where
    /// possible.
    fn cut_files(
        &mut self,
        asked: &Gathering<'_>,
        Deal { shares, cores, .. }: &Deal,
        folder: &Path,
        note: &mut dyn FnMut(&str),
    ) -> Result<(), String> {
        // A host that runs the whole plan needs the complete file.
        let among = if matches!(asked.way, Way::Whole(_)) { 1 } else { shares.len() };
        let cuts = Cuts::find(asked.manifest, asked.dealt, among);
        cuts.notes.iter().for_each(|words| note(words));
        if cuts.len() > 0 {
            note(&format!(
                "{} split by users: each machine gets the lines of its own users",
                things(cuts.len() as u64, "data file")
            ));
        }
        let files = cuts.files(asked.manifest, shares, folder)?;
        let mut parts = files.into_iter().zip(shares.iter().zip(cores));
        for agent in &mut self.coming {
            let Some(met) = &agent.met else {
                agent.files = parts.next().map(|(files, _)| files).unwrap_or_default();
                continue;
            };
            for (files, (shares, cores)) in parts.by_ref().take(met.len()) {
                let named = files.iter().map(|(named, _)| named.clone()).collect();
                agent.serves.push(AgentAssignment {
                    files: named,
                    shares: shares.clone(),
                    cores: *cores,
                });
                agent.files.extend(files);
            }
            // A relay needs each content only once.
            agent.files.sort_unstable_by(|(a, _), (b, _)| a.hash.cmp(&b.hash));
            agent.files.dedup_by(|(a, _), (b, _)| a.hash == b.hash);
        }
        Ok(())
    }

    /// Waits until `is_there` returns true for every machine. `what` names the awaited message in errors.
    fn wait(
        &mut self,
        what: &str,
        note: &mut dyn FnMut(&str),
        is_there: impl Fn(&PendingAgent) -> bool,
    ) -> Result<(), String> {
        while !self.coming.iter().all(&is_there) {
            match self.heard.recv_timeout(TICK) {
                Ok((number, heard)) => self.handle(number, heard, note)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err("all agents have ended".into()),
            }
            if (self.cancelled)() {
                return Err("interrupted while preparing the agents".into());
            }
            let now = nanos(self.clock);
            let silent = |agent: &&PendingAgent| {
                !is_there(agent) && now - agent.line.last() > SILENCE.as_nanos() as i64
            };
            if let Some(agent) = self.coming.iter().find(silent) {
                let (name, seconds) = (&agent.name, SILENCE.as_secs());
                return Err(format!("{name}: no message for {seconds} s while waiting for {what}"));
            }
        }
        Ok(())
    }

    fn handle(
        &mut self,
        number: u32,
        heard: AgentEvent,
        note: &mut dyn FnMut(&str),
    ) -> Result<(), String> {
        let Some(agent) = self.coming.get_mut(number as usize) else { return Ok(()) };
        let message = match heard {
            AgentEvent::Message(message, came) => (*message, came),
            AgentEvent::Note(words) => {
                note(&words);
                return Ok(());
            }
            AgentEvent::Ended(words) => {
                let how = agent.line.end(Duration::from_secs(2));
                let words = if words.is_empty() { how } else { format!("{words}; {how}") };
                return Err(format!("{}: cannot start an agent: {words}", agent.name));
            }
        };
        match message {
            (FromAgent::Offer(offer), _) => agent.offer = Some(offer),
            (FromAgent::Time { asked, monotonic, wall }, came) => {
                agent.clocks.handle(&Answer { asked, came, monotonic, wall });
                agent.answers += 1;
            }
            (FromAgent::Gathered(met), _) if self.are_relays => agent.met = Some(met),
            (FromAgent::Message(FromWorker::Log(Words::Engine(words))), _) if self.are_relays => {
                note(&words);
            }
            (FromAgent::Missing(missing), _) => agent.missing = Some(missing),
            (FromAgent::FilesStored, _) => agent.placed = true,
            (FromAgent::Refused(words), _) => return Err(format!("{}: {words}", agent.name)),
            _ => {}
        }
        Ok(())
    }

    fn tell(&mut self, message: impl Fn(&PendingAgent) -> ToAgent) -> Result<(), String> {
        self.coming.iter().try_for_each(|agent| agent.line.send(&message(agent)))
    }

    /// Sets the files that a relay sends to each of its agents. The coordinator has listed these files, and the relay's
    /// store contains them.
    pub(super) fn serve(&mut self, served: &[AgentAssignment], path: impl Fn(&Hash) -> PathBuf) {
        for (agent, AgentAssignment { files, .. }) in self.coming.iter_mut().zip(served) {
            let with_path = |named: &Named| (named.clone(), path(&named.hash));
            agent.files = files.iter().map(with_path).collect();
        }
    }

    /// Sends each agent the files that it does not have. `run` is the run's name on the agents; `depth` is the depth of
    /// the plan's folder.
    pub(super) fn send_files(
        &mut self,
        (run, depth): (&str, u32),
        note: &mut dyn FnMut(&str),
    ) -> Result<(), String> {
        for (number, agent) in self.coming.iter().enumerate() {
            // Machines may share a home directory, so each agent gets its own name of the run.
            let run = format!("{run}-{number}");
            let files = agent.files.iter().map(|(named, _)| named.clone()).collect();
            agent.line.send(&ToAgent::Files { run, depth, files })?;
        }
        self.wait("the agent's list of missing files", note, |agent| agent.missing.is_some())?;
        for at in 0..self.coming.len() {
            let missing = self.coming[at].missing.clone().unwrap_or_default();
            let files = self.coming[at].files.clone();
            let bytes: u64 = files
                .iter()
                .filter(|(named, _)| missing.contains(&named.hash))
                .map(|(named, _)| named.length)
                .sum();
            if !missing.is_empty() {
                note(&format!(
                    "{}: sending {} ({})",
                    self.coming[at].name,
                    things(missing.len() as u64, "file"),
                    size(bytes)
                ));
            }
            for hash in missing {
                let file = files.iter().find(|(named, _)| named.hash == hash);
                let (named, path) =
                    file.ok_or("an agent requested a file that the plan does not name")?;
                let words = |error: io::Error| format!("{}: {error}", path.display());
                let mut open = File::open(path).map_err(words)?.take(named.length);
                loop {
                    let mut bytes = vec![0; PIECE];
                    let n = open.read(&mut bytes).map_err(words)?;
                    bytes.truncate(n);
                    self.room(at, note)?;
                    let bytes = pack(&bytes);
                    self.coming[at].line.send(&ToAgent::Piece { hash: hash.clone(), bytes })?;
                    if n == 0 {
                        break;
                    }
                }
            }
        }
        self.wait("the agent to store its files", note, |agent| agent.placed)
    }

    /// Waits until at most [`QUEUED`] bytes are queued for a connection.
    fn room(&mut self, at: usize, note: &mut dyn FnMut(&str)) -> Result<(), String> {
        while self.coming[at].line.queued() > QUEUED {
            if let Ok((number, heard)) = self.heard.recv_timeout(Duration::from_millis(5)) {
                self.handle(number, heard, note)?;
            }
            if (self.cancelled)() {
                return Err("interrupted while sending files".into());
            }
            let now = nanos(self.clock);
            if now - self.coming[at].line.last() > SILENCE.as_nanos() as i64 {
                return Err(format!(
                    "{}: no message for {} s while sending files",
                    self.coming[at].name,
                    SILENCE.as_secs()
                ));
            }
        }
        Ok(())
    }

    fn into_agents(self, dealt: Deal, asked: &Gathering<'_>) -> Result<Agents, String> {
        let most = self.coming.iter().map(|agent| agent.serves.len()).max().unwrap_or(0).max(1);
        let ahead = ahead(asked, &dealt).saturating_mul(most as u64);
        let limits = Limits { ahead, grace: asked.grace };
        let connections = dealt.connections;
        let agents = self.into_parts(dealt.shares.into_iter().zip(dealt.cores));
        let agents = Agents::new(agents.0, agents.1, limits, &asked.notes);
        let agents = agents.map_err(|error| format!("{}: {error}", asked.notes.display()))?;
        Ok(agents.holding(connections, (asked.run.clone(), asked.manifest.depth), asked.way))
    }

    /// Returns the prepared agents with their shares and threads, and the receiver of their events.
    pub(super) fn into_parts(
        self,
        mut parts: impl Iterator<Item = (Vec<u32>, u32)>,
    ) -> (Vec<Agent>, EventReceiver) {
        let agents = self.coming.into_iter().map(|coming| {
            let name = (coming.name, coming.zone);
            let offer = coming.offer.unwrap_or_default();
            let Some(met) = coming.met else {
                let (shares, cores) = parts.next().unwrap_or_default();
                return Agent::new(coming.line, name, offer, (coming.clocks, shares, cores));
            };
            let shares = coming.serves.iter().flat_map(|served| served.shares.clone()).collect();
            parts.by_ref().take(met.len()).for_each(drop);
            let agent = Agent::new(coming.line, name, offer, (coming.clocks, shares, 0));
            agent.with_agents(met.into_iter().zip(coming.serves).collect())
        });
        (agents.collect(), (self.clock, self.heard))
    }
}

/// Returns the initial number of samples that each agent may measure beyond the samples that the coordinator has
/// received.
fn ahead(asked: &Gathering<'_>, Deal { shares, .. }: &Deal) -> u64 {
    let users = asked.users * u64::from(asked.way.copies());
    let count: u64 = shares.iter().map(|shares| shares.len() as u64).sum();
    let each = users / count.max(1) + 1;
    // Large enough that no user waits for the second grant, whose size follows the measured rate.
    each.saturating_mul(2_000).clamp(10_000, 1_000_000)
}
