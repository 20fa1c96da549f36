//! Agents from their start to the moment when they can take shares: the program, the clocks, the plan's files.
//!
//! Every wait names the machine for which it waits, and ends when nothing was heard of it for half a minute.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use super::bus::{Agent, Agents};
use super::carrier::Line;
use super::clock::{Answer, Clocks};
use super::cut::{Cuts, Dealt};
use super::deal::{self, Deal, Zones};
use super::hosts::{Host, Way};
use super::line::{Heard, Piped, nanos};
use super::manifest::Manifest;
use super::squeeze::pack;
use super::ssh::Bootstrap;
use super::wire::{FromAgent, Hash, Named, Offer, PIECE, ToAgent};
use crate::account::Limits;
use crate::nats::{self, Access, Pools};

/// Longest silence of a machine that is getting ready.
const SILENCE: Duration = Duration::from_secs(30);
/// Interval in which silence is noticed.
const TICK: Duration = Duration::from_millis(200);
/// Questions for the time before the start.
const QUESTIONS: usize = 16;
/// Bytes of files that wait for one connection, at most.
const QUEUED: usize = 4 << 20;

/// The request for agents.
pub struct Gathering<'a> {
    pub way: &'a Way,
    pub manifest: &'a Manifest,
    /// Its data files, whose lines are dealt out.
    pub dealt: &'a Dealt,
    /// A name that no other run has.
    pub run: String,
    /// Processes on each machine; `None`: by what the machines offer.
    pub each: Option<u32>,
    /// Threads of each process; 0: as many as there are processors for it.
    pub cores: u32,
    /// Users and connections that they hold at once, at most: all together, or each host where each runs the whole plan.
    pub users: u64,
    pub connections: u64,
    /// The file in which the coordinator keeps what it acknowledges.
    pub notes: PathBuf,
    /// Seconds for which agents go on without the coordinator.
    pub grace: u64,
    /// Whether the user has had enough.
    pub cancelled: &'a dyn Fn() -> bool,
}

/// A machine that is getting ready.
struct Coming {
    name: String,
    zone: String,
    line: Line,
    offer: Option<Offer>,
    clocks: Clocks,
    answers: usize,
    missing: Option<Vec<Hash>>,
    placed: bool,
    /// Files of the plan as this agent gets them, each with its path on this machine.
    files: Vec<(Named, PathBuf)>,
}

struct Gather<'a> {
    cancelled: &'a dyn Fn() -> bool,
    clock: Instant,
    coming: Vec<Coming>,
    heard: Receiver<(u32, Heard)>,
}

impl Coming {
    fn new(name: String, zone: String, line: Line) -> Self {
        let (offer, clocks, answers) = (None, Clocks::default(), 0);
        let (missing, placed, files) = (None, false, Vec::new());
        Self { name, zone, line, offer, clocks, answers, missing, placed, files }
    }
}

/// The clock of the connections, and the channel out of which comes what agents say.
type Ear = (Instant, Sender<(u32, Heard)>);

/// Starts agents and gets them ready. `note` gets sentences for the user. The error is one, too.
pub fn gather(asked: Gathering<'_>, note: &mut dyn FnMut(&str)) -> Result<Agents, String> {
    let clock = Instant::now();
    let (say, heard) = channel();
    let coming = match asked.way {
        Way::Ssh(hosts) | Way::Whole(hosts) => by_ssh(hosts, &(clock, say))?,
        Way::Nats(pools) => by_nats(pools, &asked, (clock, say), note)?,
    };
    let mut gather = Gather { cancelled: asked.cancelled, clock, coming, heard };
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

/// Starts an agent on each machine.
fn by_ssh(hosts: &[Host], ear: &Ear) -> Result<Vec<Coming>, String> {
    let bootstrap =
        Bootstrap::new().map_err(|error| format!("this program cannot be read: {error}"))?;
    let mut coming = Vec::new();
    for (number, host) in (0..).zip(hosts) {
        let bootstrap = bootstrap.of(host);
        let command = bootstrap.command(host);
        let program = command.get_program().to_string_lossy().into_owned();
        let line = Piped::start(number, command, bootstrap, ear.clone());
        let line = line.map_err(|error| format!("{host}: {program} cannot be started: {error}"))?;
        coming.push(Coming::new(host.to_string(), String::new(), Line::Piped(Box::new(line))));
    }
    Ok(coming)
}

/// Hires agents that wait.
fn by_nats(
    pools: &Pools,
    asked: &Gathering<'_>,
    ear: Ear,
    note: &mut dyn FnMut(&str),
) -> Result<Vec<Coming>, String> {
    // Users stop with the grace; what they have measured may be fetched for a while longer.
    let patience = u32::try_from(asked.grace).unwrap_or(u32::MAX).saturating_add(60);
    let access = Access::of(&pools.server)?;
    let crew = nats::hire(pools, access, patience, asked.cancelled, note)?;
    let names: Vec<_> =
        crew.hired.iter().map(|hired| (hired.name.clone(), hired.zone.clone())).collect();
    let lines = nats::start(crew, ear)
        .map_err(|error| format!("the streams to agents cannot be started: {error}"))?;
    let coming = names.into_iter().zip(lines);
    Ok(coming.map(|((name, zone), line)| Coming::new(name, zone, Line::Carried(line))).collect())
}

impl Gather<'_> {
    /// Gets the agents ready for their shares, which are returned. Files made for them are in that folder meanwhile.
    fn prepare(
        &mut self,
        asked: &Gathering<'_>,
        folder: &Path,
        note: &mut dyn FnMut(&str),
    ) -> Result<Deal, String> {
        self.wait("the agent's offer", note, |agent| agent.offer.is_some())?;
        for question in 1..=QUESTIONS {
            let clock = self.clock;
            self.tell(|_| ToAgent::Time { asked: nanos(clock) })?;
            self.wait("the agent's clock", note, |agent| agent.answers >= question)?;
        }
        let dealt = self.deal(asked);
        self.cut_files(asked, &dealt, folder, note)?;
        self.send_files(asked, note)?;
        Ok(dealt)
    }

    /// Deals the shares out.
    fn deal(&self, asked: &Gathering<'_>) -> Deal {
        let zones = match asked.way {
            Way::Nats(pools) if !pools.zones.is_empty() => {
                let of = self.coming.iter().map(|agent| agent.zone.clone()).collect();
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
        self.coming.iter().map(|agent| agent.offer.clone().unwrap_or_default()).collect()
    }

    /// Finds each agent's files: data files with the lines of its users alone, where that goes.
    fn cut_files(
        &mut self,
        asked: &Gathering<'_>,
        Deal { shares, .. }: &Deal,
        folder: &Path,
        note: &mut dyn FnMut(&str),
    ) -> Result<(), String> {
        // A host that runs the whole plan reads the whole file.
        let among = if matches!(asked.way, Way::Whole(_)) { 1 } else { self.coming.len() };
        let cuts = Cuts::find(asked.manifest, asked.dealt, among);
        cuts.notes.iter().for_each(|words| note(words));
        if cuts.len() > 0 {
            note(&format!(
                "data files are cut: {}; each machine gets the lines of its users",
                cuts.len()
            ));
        }
        let files = cuts.files(asked.manifest, shares, folder)?;
        for (agent, files) in self.coming.iter_mut().zip(files) {
            agent.files = files;
        }
        Ok(())
    }

    /// Waits until all machines have come so far.
    fn wait(
        &mut self,
        what: &str,
        note: &mut dyn FnMut(&str),
        is_there: impl Fn(&Coming) -> bool,
    ) -> Result<(), String> {
        while !self.coming.iter().all(&is_there) {
            match self.heard.recv_timeout(TICK) {
                Ok((number, heard)) => self.hear(number, heard, note)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err("all agents have ended".into()),
            }
            if (self.cancelled)() {
                return Err("it was interrupted while the agents got ready".into());
            }
            let now = nanos(self.clock);
            let silent = |agent: &&Coming| {
                !is_there(agent) && now - agent.line.last() > SILENCE.as_nanos() as i64
            };
            if let Some(agent) = self.coming.iter().find(silent) {
                let (name, seconds) = (&agent.name, SILENCE.as_secs());
                return Err(format!(
                    "{name}: nothing was heard for {seconds} s; what is missing is {what}"
                ));
            }
        }
        Ok(())
    }

    fn hear(
        &mut self,
        number: u32,
        heard: Heard,
        note: &mut dyn FnMut(&str),
    ) -> Result<(), String> {
        let Some(agent) = self.coming.get_mut(number as usize) else { return Ok(()) };
        let message = match heard {
            Heard::Message(message, came) => (*message, came),
            Heard::Note(words) => {
                note(&words);
                return Ok(());
            }
            Heard::Ended(words) => {
                let how = agent.line.end(Duration::from_secs(2));
                let words = if words.is_empty() { how } else { format!("{words}; {how}") };
                return Err(format!("{}: no agent could be started: {words}", agent.name));
            }
        };
        match message {
            (FromAgent::Offer(offer), _) => agent.offer = Some(offer),
            (FromAgent::Time { asked, monotonic, wall }, came) => {
                agent.clocks.hear(&Answer { asked, came, monotonic, wall });
                agent.answers += 1;
            }
            (FromAgent::Missing(missing), _) => agent.missing = Some(missing),
            (FromAgent::Placed, _) => agent.placed = true,
            (FromAgent::Refused(words), _) => return Err(format!("{}: {words}", agent.name)),
            _ => {}
        }
        Ok(())
    }

    fn tell(&mut self, message: impl Fn(&Coming) -> ToAgent) -> Result<(), String> {
        self.coming.iter().try_for_each(|agent| agent.line.send(&message(agent)))
    }

    /// Sends the files that agents do not have, each once to each agent.
    fn send_files(
        &mut self,
        asked: &Gathering<'_>,
        note: &mut dyn FnMut(&str),
    ) -> Result<(), String> {
        for (number, agent) in self.coming.iter().enumerate() {
            // Machines may share a home.
            let run = format!("{}-{number}", asked.run);
            let files = agent.files.iter().map(|(named, _)| named.clone()).collect();
            agent.line.send(&ToAgent::Files { run, depth: asked.manifest.depth, files })?;
        }
        self.wait("which files the agent has", note, |agent| agent.missing.is_some())?;
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
                    "{}: {} files are sent, {bytes} bytes",
                    self.coming[at].name,
                    missing.len()
                ));
            }
            for hash in missing {
                let file = files.iter().find(|(named, _)| named.hash == hash);
                let (named, path) =
                    file.ok_or("an agent asks for a file that the plan does not name")?;
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
        self.wait("its files", note, |agent| agent.placed)
    }

    /// Waits until a connection has room for more of a file.
    fn room(&mut self, at: usize, note: &mut dyn FnMut(&str)) -> Result<(), String> {
        while self.coming[at].line.queued() > QUEUED {
            if let Ok((number, heard)) = self.heard.recv_timeout(Duration::from_millis(5)) {
                self.hear(number, heard, note)?;
            }
            if (self.cancelled)() {
                return Err("it was interrupted while files were sent".into());
            }
            let now = nanos(self.clock);
            if now - self.coming[at].line.last() > SILENCE.as_nanos() as i64 {
                return Err(format!(
                    "{}: it takes no files, and nothing was heard of it",
                    self.coming[at].name
                ));
            }
        }
        Ok(())
    }

    fn into_agents(self, dealt: Deal, asked: &Gathering<'_>) -> Result<Agents, String> {
        let offers = self.offers();
        let Deal { shares, cores, connections } = dealt;
        let whole = matches!(asked.way, Way::Whole(_));
        let count: u32 = shares.iter().map(|shares| shares.len() as u32).sum();
        let parts = self.coming.into_iter().zip(offers).zip(shares.into_iter().zip(cores));
        let agents: Vec<Agent> = parts
            .map(|((coming, offer), (shares, cores))| {
                let name = (coming.name, coming.zone);
                Agent::new(coming.line, name, offer, (coming.clocks, shares, cores))
            })
            .collect();
        let users = asked.users * u64::from(asked.way.copies());
        let each = users / u64::from(count.max(1)) + 1;
        // Enough that no user waits for the second grant, which goes by what was measured.
        let limits = Limits {
            ahead: each.saturating_mul(2_000).clamp(10_000, 1_000_000),
            grace: asked.grace,
        };
        let agents = Agents::new(agents, (self.clock, self.heard), limits, &asked.notes);
        let agents = agents.map_err(|error| format!("{}: {error}", asked.notes.display()))?;
        Ok(agents.holding(connections, (asked.run.clone(), asked.manifest.depth), whole))
    }
}
