//! Lets another coordinator take over a run whose coordinator was killed, while its agents continue within their grace
//! time.
//!
//! Agents on a NATS server still wait there. Agents that ssh has started, and relays, are reached through
//! `takeover_socket`.
//!
//! Beside the notes, a file in the run's folder stores what a takeover needs, from the time when agents receive the
//! plan. Reports that were already counted are counted again from the notes, starting with the first second. Agents
//! report the state of the run. So no knowledge of the first coordinator's process is needed.

use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use engine::Evaluated;
use serde::{Deserialize, Serialize};
use stats::grouped::things;

use super::bus::{Agent, Agents};
use super::carrier::Line;
use super::clock::Clocks;
use super::disk::{Disk, Frames};
use super::gather::{SILENCE, TICK};
use super::hosts::{Host, Way};
use super::line::{AgentEvent, Piped, nanos};
use super::relays::{self, Relays};
use super::ssh::Bootstrap;
use super::wire::{AgentAssignment, FromAgent, Left, Offer, ReachedAgent, Results, ToAgent};
use crate::account::{Limits, Note};
use crate::bus::{Bus as _, WorkerEvent};
use crate::frame;
use crate::message::Share;
use crate::nats::{self, Access, Pools, StreamHandover};

/// Number of clock queries per agent.
const QUESTIONS: usize = 16;
/// Maximum wait for the answers to one clock query.
const ANSWER: Duration = Duration::from_millis(500);
/// Time after which a message for the user names the agents that have not answered.
const TOLD: Duration = Duration::from_secs(4);

/// Returns the path of the file with the data for a takeover, next to the notes.
pub(super) fn kept(notes: &Path) -> PathBuf {
    notes.with_file_name("fleet.run")
}

/// The data of a run that another coordinator needs to take the run over; content of the file `fleet.run`.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    share: Share,
    agents: Vec<KeptAgent>,
    connections: u64,
    ahead: u64,
    grace: u64,
    /// Name of the run on the agents, and number of folder levels between the run's folder and the plan's folder.
    run: (String, u32),
    results: Vec<Results>,
}

#[derive(Debug, Serialize, Deserialize)]
struct KeptAgent {
    name: String,
    zone: String,
    found: Option<StreamHandover>,
    offer: Offer,
    shares: Vec<u32>,
    cores: u32,
    /// The coordinator's clock minus the agent's, in ms.
    offset_ms: i64,
    /// The agents behind this agent if it is a relay, with their assignments.
    agents: Vec<(ReachedAgent, AgentAssignment)>,
}

impl Kept {
    /// Returns the name of the run on an agent.
    fn run_of(&self, agent: u32) -> String {
        format!("{}-{agent}", self.run.0)
    }
}

/// Writes the data that another coordinator needs to a file that only this user can read.
pub(super) fn keep(agents: &Agents, share: &Share) -> io::Result<()> {
    let of = |agent: &Agent| KeptAgent {
        name: agent.name.clone(),
        zone: agent.zone.clone(),
        found: agent.line.handover().cloned(),
        offer: agent.offer.clone(),
        shares: agent.shares.clone(),
        cores: agent.cores,
        offset_ms: agents.offset_ms(agent),
        agents: agent.agents.clone(),
    };
    let kept = Kept {
        share: share.clone(),
        agents: agents.all.iter().map(of).collect(),
        connections: agents.connections(),
        ahead: agents.limits.ahead,
        grace: agents.limits.grace,
        run: agents.run.clone(),
        results: agents.results.iter().map(|(.., on_agent)| on_agent.clone()).collect(),
    };
    store(&kept, &agents.notes_path)
}

fn store(kept: &Kept, notes: &Path) -> io::Result<()> {
    let program = super::program().map_err(io::Error::other)?;
    let mut bytes = Vec::new();
    frame::push(&mut bytes, &program).map_err(io::Error::other)?;
    frame::push(&mut bytes, kept).map_err(io::Error::other)?;
    let path = self::kept(notes);
    let part = path.with_extension("part");
    let mut how = std::fs::OpenOptions::new();
    let mut file = how.write(true).create(true).truncate(true).mode(0o600).open(&part)?;
    io::Write::write_all(&mut file, &bytes)?;
    std::fs::rename(&part, &path)
}

/// The data of a run whose coordinator has ended, as read from the run's folder.
#[derive(Debug)]
pub struct Former {
    kept: Kept,
    notes: Disk,
    notes_path: PathBuf,
}

impl Former {
    /// Returns the name of the plan file.
    pub fn name(&self) -> &str {
        &self.kept.share.name
    }

    /// Returns the start of the run in ms since 1970.
    pub fn began_ms(&self) -> i64 {
        self.kept.share.zero / 1_000_000
    }

    /// Returns the content of the plan file.
    pub fn plan(&self) -> &[u8] {
        &self.kept.share.plan
    }

    /// Returns the properties of the run.
    pub fn properties(&self) -> &[(String, String)] {
        &self.kept.share.properties
    }

    /// Returns the values that were evaluated before the first user started.
    pub fn evaluated(&self) -> &Evaluated {
        &self.kept.share.evaluated
    }
}

/// Reads the data of a run next to its notes, and locks the notes against other coordinators. The error is a message
/// for the user.
pub fn former(notes_path: &Path) -> Result<Former, String> {
    let path = kept(notes_path);
    let words = |error: io::Error| format!("{}: {error}", path.display());
    let mut frames = Frames::open(&path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => format!(
            "{} does not exist: the run has ended, or its agents had not started",
            path.display()
        ),
        _ => words(error),
    })?;
    let program: Option<String> = frames.next().map_err(words)?;
    if program != Some(super::program()?) {
        return Err("another build of Throng started the run; use that build".into());
    }
    let kept: Kept =
        frames.next().map_err(words)?.ok_or_else(|| words(io::ErrorKind::UnexpectedEof.into()))?;
    let notes = Disk::open(notes_path).map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock => "the coordinator of the run is still running".to_owned(),
        _ => format!("{}: {error}", notes_path.display()),
    })?;
    Ok(Former { kept, notes, notes_path: notes_path.to_owned() })
}

/// The request to take over a run.
pub struct Resuming<'a> {
    /// How the agents are reached.
    pub way: &'a Way,
    /// The relays through which agents are reached; `None` if agents are reached directly.
    pub relays: Option<&'a Relays>,
    /// Returns true after Ctrl-C.
    pub cancelled: &'a dyn Fn() -> bool,
}

/// Takes over the agents of a run. `note` receives messages for the user; an error is also a message for the user.
pub fn resume(
    former: Former,
    asked: &Resuming<'_>,
    note: &mut dyn FnMut(&str),
) -> Result<Agents, String> {
    let Former { mut kept, notes, notes_path } = former;
    let words = |error: io::Error| format!("{}: {error}", notes_path.display());
    for agent in &mut kept.agents {
        agent.found = agent.found.take().map(StreamHandover::next).transpose()?;
    }
    // The new sessions are stored before any agent learns of them, because this coordinator may be killed too.
    store(&kept, &notes_path).map_err(words)?;
    let (clock, (say, heard)) = (Instant::now(), channel());
    let ear = (clock, say);
    let names = || kept.agents.iter().map(|agent| agent.name.clone()).collect();
    let Reached { lines, refused, early } = match (asked.relays, asked.way) {
        (None, Way::Nats(pools)) => by_nats(pools, &kept, asked, ear, note)?,
        (None, Way::Ssh(hosts) | Way::Whole(hosts)) | (Some(Relays::Ssh(hosts)), _) => {
            by_pipes((by_ssh(hosts, &kept, ear)?, names()), asked, (clock, &heard), note)?
        }
        (Some(Relays::Here(_)), _) => {
            by_pipes((here(&kept, ear)?, names()), asked, (clock, &heard), note)?
        }
    };
    let Kept { share, agents, connections, ahead, grace, run, results } = kept;
    if refused.iter().all(Option::is_some) {
        let words = agents.iter().zip(&refused).map(|(agent, why)| {
            format!("agent {}: {}", agent.name, why.as_deref().unwrap_or_default())
        });
        return Err(words.collect::<Vec<_>>().join("; "));
    }
    let offsets_ms = agents.iter().map(|agent| agent.offset_ms).collect();
    let all = lines.into_iter().zip(agents).map(|(line, agent)| {
        let KeptAgent { name, zone, offer, shares, cores, agents, .. } = agent;
        let agent = Agent::new(line, (name, zone), offer, (Clocks::default(), shares, cores));
        agent.with_agents(agents)
    });
    let frames = Some(Frames::open(&notes_path).map_err(words)?);
    let limits = (Limits { ahead, grace }, share.zero);
    let taken = TakeoverData { share, frames, offsets_ms };
    let all = all.collect();
    let mut agents = Agents::taken_over(all, (clock, heard), limits, (notes, &notes_path), taken)
        .map_err(words)?
        .holding(connections, run.clone(), asked.way);
    for (worker, why) in (0..).zip(refused) {
        if let Some(words) = why {
            agents.lose(worker, words);
        }
    }
    for (worker, heard) in early {
        agents.handle(worker, heard);
    }
    agents.ask_clocks();
    for worker in 0..agents.workers() {
        let (run, depth) = (format!("{}-{worker}", run.0), run.1);
        let left = Left { run, depth, results: results.clone() };
        agents.tell(worker, &ToAgent::Resume(Box::new(left)));
    }
    Ok(agents)
}

/// Connections to the agents of a run that is taken over.
struct Reached {
    lines: Vec<Line>,
    /// For each agent: the reason why the agent could not be taken over, or `None`.
    refused: Vec<Option<String>>,
    /// Messages of agents that arrived while other agents were still being connected.
    early: Vec<(u32, AgentEvent)>,
}

/// The clock of the connections, and the channel into which events of agents are put.
type EventSender = (Instant, Sender<(u32, AgentEvent)>);

/// Connects to agents that wait on a NATS server.
fn by_nats(
    pools: &Pools,
    kept: &Kept,
    asked: &Resuming<'_>,
    ear: EventSender,
    note: &mut dyn FnMut(&str),
) -> Result<Reached, String> {
    let patience = u32::try_from(kept.grace).unwrap_or(u32::MAX).saturating_add(60);
    let streams: Vec<_> = kept
        .agents
        .iter()
        .filter_map(|agent| Some((agent.name.clone(), agent.zone.clone(), agent.found.clone()?)))
        .collect();
    let access = Access::of(&pools.server, nats::env)?;
    let (reserved, refused) =
        nats::take_over(pools, access, &streams, patience, asked.cancelled, note)?;
    let lines = nats::start(reserved, ear)
        .map_err(|error| format!("cannot start the streams to agents: {error}"))?;
    let lines = lines.into_iter().map(Line::Nats).collect();
    Ok(Reached { lines, refused, early: Vec::new() })
}

/// Connects to agents or relays by ssh.
fn by_ssh(hosts: &[Host], kept: &Kept, ear: EventSender) -> Result<Vec<Piped>, String> {
    if hosts.len() != kept.agents.len() {
        let (had, names) = (things(kept.agents.len() as u64, "agent"), hosts.len());
        return Err(format!("the run has {had}, but its command line names {names}"));
    }
    let bootstrap = Bootstrap::new()
        .map_err(|error| format!("cannot read the file of this program: {error}"))?;
    let lines = (0..).zip(hosts).map(|(number, host)| {
        let bootstrap = bootstrap.of(host).taking_over(&kept.run_of(number))?;
        let line = Piped::start(number, bootstrap.command(host), bootstrap, ear.clone());
        line.map_err(|error| format!("{host}: cannot start ssh: {error}"))
    });
    lines.collect()
}

/// Connects to relays on this machine.
fn here(kept: &Kept, ear: EventSender) -> Result<Vec<Piped>, String> {
    let lines = (0..).zip(&kept.agents).map(|(number, agent)| {
        let command = relays::here(Some(&kept.run_of(number)));
        let line = Piped::here(number, command, ear.clone());
        line.map_err(|error| format!("cannot reach {}: {error}", agent.name))
    });
    lines.collect()
}

/// Waits until each agent has sent a message, has ended or was silent for too long.
fn by_pipes(
    (mut lines, names): (Vec<Piped>, Vec<String>),
    asked: &Resuming<'_>,
    (clock, heard): (Instant, &Receiver<(u32, AgentEvent)>),
    note: &mut dyn FnMut(&str),
) -> Result<Reached, String> {
    let (mut came, mut early) = (vec![false; lines.len()], Vec::new());
    let mut refused = vec![None; lines.len()];
    let mut told = Some(Instant::now() + TOLD);
    while came.contains(&false) {
        match heard.recv_timeout(TICK) {
            Ok((_, AgentEvent::Note(words))) => note(&words),
            Ok((number, AgentEvent::Ended(words))) => {
                let at = number as usize;
                let how = lines[at].end(Duration::from_secs(2));
                let words = if words.is_empty() { how } else { format!("{words}; {how}") };
                (came[at], refused[at]) = (true, Some(words));
            }
            // The old agent is leaving; its files will be delivered when it has ended.
            Ok((_, AgentEvent::Message(message, _))) if matches!(*message, FromAgent::Alive) => {}
            Ok((number, message)) => {
                came[number as usize] = true;
                early.push((number, message));
            }
            Err(_) => {}
        }
        if (asked.cancelled)() {
            return Err("interrupted".into());
        }
        if told.take_if(|at| Instant::now() > *at).is_some() {
            let of = names.iter().zip(&came).filter(|(_, came)| !**came);
            let of: Vec<&str> = of.map(|(name, _)| name.as_str()).collect();
            note(&format!("waiting for an answer from {}", of.join(", ")));
        }
        let now = nanos(clock);
        for (at, line) in lines.iter().enumerate().filter(|(at, _)| !came[*at]) {
            if now - line.last() > SILENCE.as_nanos() as i64 {
                refused[at] = Some(format!("no message for {} s", SILENCE.as_secs()));
            }
        }
        came.iter_mut().zip(&refused).for_each(|(came, refused)| *came |= refused.is_some());
    }
    let lines = lines.into_iter().map(|line| Line::Piped(Box::new(line))).collect();
    Ok(Reached { lines, refused, early })
}

/// Data of the previous coordinator that a takeover uses while the run continues.
#[derive(Debug)]
pub(super) struct TakeoverData {
    pub(super) share: Share,
    /// The notes that have not been counted again; `None` when all notes have been counted.
    pub(super) frames: Option<Frames>,
    /// The previous coordinator's clock minus the clock of each agent, in ms.
    offsets_ms: Vec<i64>,
}

impl Agents {
    /// Returns the share with which the previous coordinator started the run, if this is a takeover.
    pub fn former(&self) -> Option<Share> {
        self.taken.as_ref().map(|taken| taken.share.clone())
    }

    /// Returns the next report that the previous coordinator had counted. Messages of agents are handled in the
    /// meantime: their reports are appended to the notes, and other messages are queued until all notes are replayed.
    pub(super) fn replay(&mut self) -> Option<(u32, WorkerEvent)> {
        while self.taken.as_ref()?.frames.is_some() {
            while let Ok((worker, heard)) = self.heard.try_recv() {
                self.handle(worker, heard);
            }
            let taken = self.taken.as_mut()?;
            let Some(note) = taken.frames.as_mut()?.next::<Note>().ok().flatten() else {
                taken.frames = None;
                return None;
            };
            let Note::Record(record) = note else { continue };
            let worker = record.origin.sender;
            let offset_ms = taken.offsets_ms.get(worker as usize).copied().unwrap_or(0);
            if let Some(news) = self.counted(worker, record, offset_ms) {
                return Some((worker, news));
            }
        }
        None
    }

    /// Queries the clocks of all agents several times, as before a run.
    fn ask_clocks(&mut self) {
        for question in 1..=QUESTIONS {
            let until = Instant::now() + ANSWER;
            for worker in 0..self.workers() {
                self.tell(worker, &ToAgent::Time { asked: nanos(self.clock) });
            }
            let waits = |agents: &Self| {
                agents.all.iter().any(|agent| !agent.gone && agent.clocks.answers() < question)
            };
            while waits(self) {
                let left = until.saturating_duration_since(Instant::now());
                match self.heard.recv_timeout(left) {
                    Ok((worker, heard)) => self.handle(worker, heard),
                    Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
                }
            }
        }
    }
}
