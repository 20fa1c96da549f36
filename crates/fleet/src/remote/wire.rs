//! The messages between the coordinator and its agents.
//!
//! Both sides are the same program, which the coordinator has verified by its hash, so no version is negotiated.
//! Messages of workers (`message.rs`) are forwarded unchanged, except for the plan and the reports: the plan comes with
//! several shares, and reports are merged and accounted.

use serde::{Deserialize, Serialize};
use stats::Snapshot;
use stats::process::Usage;

use super::hosts::Way;
use crate::account::{Down, Up};
use crate::figures::Figures;
use crate::loss::Loss;
use crate::message::{FromWorker, Report, Share, ToWorker};

/// Hash of a file's content, SHA-256 in hexadecimal digits.
pub(crate) type Hash = String;

/// Maximum number of bytes of a file in one message.
pub(crate) const PIECE: usize = 256 << 10;

/// A message to an agent.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ToAgent {
    /// Asks for the agent's clocks. `asked` is the time of the query on the querying side's clock.
    Time { asked: i64 },
    /// Lists the files of the run. `depth` is the number of folder levels between the run's folder and the plan's
    /// folder.
    Files { run: String, depth: u32, files: Vec<Named> },
    /// Contains bytes of a file that the agent lacks. An empty piece completes the file.
    Piece {
        hash: Hash,
        #[serde(with = "crate::bytes")]
        bytes: Vec<u8>,
    },
    /// Makes the agent a relay, and names the agents to which it must connect.
    Gather(Box<Region>),
    /// The assignments of the relay's agents, in the order in which the relay listed the agents.
    Serve(RelayAssignment),
    /// The agent's assignment: the plan and the agent's shares.
    Begin(Box<Assignment>),
    /// An order that the agent must forward to its processes.
    Order(ToWorker),
    /// An acknowledgement or a grant for the agent's account.
    Down(Down),
    /// Makes the agent send result file number `file`.
    Fetch { file: u32 },
    /// Makes the agent send a result file to its destination.
    Push(Box<super::push::Push>),
    /// Releases the agent: the coordinator has received everything. The agent removes the run's folder and ends.
    Leave,
    /// Another coordinator has taken over the run and asks for its state.
    Resume(Box<Left>),
}

/// The facts about a run that a takeover sends to an agent, for the case that the run's process has ended there.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Left {
    /// Name of the run on the agent.
    pub(crate) run: String,
    /// Number of folder levels between the run's folder and the plan's folder.
    pub(crate) depth: u32,
    /// Result files that the coordinator fetches at the end.
    pub(crate) results: Vec<Results>,
}

/// The agents to which a relay must connect.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Region {
    pub(crate) way: Way,
    /// Credentials for a NATS server, if the relay has none itself.
    pub(crate) credentials: Vec<(String, String)>,
    /// Number of seconds for which agents continue without the relay.
    pub(crate) grace: u64,
}

/// The assignments of all agents of a relay.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct RelayAssignment {
    pub(crate) agents: Vec<AgentAssignment>,
    /// Number of samples that each agent may measure beyond the samples that the relay has received.
    pub(crate) ahead: u64,
}

/// The assignment of one agent of a relay.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct AgentAssignment {
    pub(crate) files: Vec<Named>,
    pub(crate) shares: Vec<u32>,
    pub(crate) cores: u32,
}

/// An agent to which a relay has connected.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ReachedAgent {
    pub(crate) name: String,
    pub(crate) zone: String,
    pub(crate) offer: Offer,
    /// The relay's system clock minus the agent's, in ms.
    pub(crate) offset_ms: i64,
    /// Error bound of the clock difference in ns.
    pub(crate) bound: i64,
    /// Longest measured round trip between relay and agent in ns.
    pub(crate) longest: i64,
}

/// A file of the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Named {
    /// Path as the plan names it: relative to the plan's folder, or absolute.
    pub(crate) path: String,
    pub(crate) hash: Hash,
    pub(crate) length: u64,
}

/// An agent's assignment in a run.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Assignment {
    /// Number of the agent among the senders of the run's account.
    pub(crate) sender: u32,
    /// The parts of the share that all processes of the agent have in common. `zero` is on the agent's system clock.
    pub(crate) share: Share,
    /// For each process of the agent: the number of its share among all shares of the run.
    pub(crate) shares: Vec<u32>,
    /// Result files that the coordinator fetches at the end.
    pub(crate) results: Vec<Results>,
    /// For each result file: true if it contains CSV rows, false if XML elements.
    pub(crate) rows: Vec<bool>,
}

/// A result file on an agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Results {
    /// A file that receives every sample; contains its number among the share's result files.
    All(u32),
    /// The file of a listener; contains the paths it may have, relative to the plan's folder.
    Listener(Vec<String>),
}

/// A message from an agent.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum FromAgent {
    Offer(Offer),
    /// The agents that a relay has connected to.
    Gathered(Vec<ReachedAgent>),
    /// The totals of each agent of a relay, in the order of the agents.
    Figures(Vec<Figures>),
    /// The agent's monotonic clock and system clock at the query `asked`, in nanoseconds.
    Time {
        asked: i64,
        monotonic: i64,
        wall: i64,
    },
    /// Hashes of the files that the agent does not have.
    Missing(Vec<Hash>),
    /// All files of the run are in the run's folder.
    FilesStored,
    /// A message that the agent's combined worker sends.
    Message(FromWorker),
    /// A record or a heartbeat of the agent's account. The body of a record is a [`Report`].
    Up(Up),
    /// A process of the agent was lost, or the number of samples that the process counted differs from the number that
    /// it reported.
    Lost(Part),
    /// Bytes of a result file. An empty piece completes the file.
    Rows(#[serde(with = "crate::bytes")] Vec<u8>),
    /// The result of sending a result file to its destination: the compressed length in bytes, or the reason of a
    /// failure.
    Pushed(Result<u64, String>),
    /// The agent cannot continue, for this reason.
    Refused(String),
    /// A heartbeat.
    Alive,
    /// The state of the run on the agent.
    RunState(Box<RunState>),
}

/// The state of a run on an agent: the effects of all orders and messages, without measurements.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RunState {
    /// True if the agent has received the plan.
    pub(crate) begun: bool,
    /// Number of threads that run users, once the agent's processes are ready.
    pub(crate) cores: Option<u32>,
    /// Number of batches of groups that were started.
    pub(crate) starts: u32,
    /// The order that started the last batch.
    pub(crate) start: Option<Start>,
    /// True if a batch was started whose end has not been reported.
    pub(crate) owes: bool,
    /// Number of changes to users or rates that the agent has received; pauses do not count.
    pub(crate) changes: u32,
    /// Properties that the agent's users have set.
    pub(crate) properties: Vec<(String, String)>,
    /// Set if a virtual user requested to stop the test: true for immediately.
    pub(crate) stop_asked: Option<bool>,
    /// True if the agent was ordered to stop its users.
    pub(crate) stopped: bool,
    /// True if the agent was ordered to end.
    pub(crate) ending: bool,
    /// The processes that the agent has lost.
    pub(crate) lost: Vec<Part>,
    /// Set if the agent's last message was sent: the reason if the agent gave up, and its number of samples.
    pub(crate) done: Option<(Option<String>, u64)>,
    /// Set if the agent was killed or has no data of the run: the reason.
    pub(crate) torn: Option<String>,
}

/// The content of an order to start groups.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Start {
    pub(crate) groups: Vec<u32>,
    pub(crate) at: i64,
    pub(crate) properties: Vec<(String, String)>,
}

/// The resources of an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Offer {
    pub(crate) pid: u32,
    pub(crate) processors: u32,
    /// Maximum number of file descriptors of a process.
    pub(crate) descriptors: u64,
    /// Free memory in bytes; 0 if unknown.
    pub(crate) memory: u64,
}

/// A lost process of an agent, or a lost agent of a relay. The fields have the same meaning as in [`Loss`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Part {
    pub(crate) pid: u32,
    pub(crate) reason: String,
    pub(crate) users: u32,
    pub(crate) connections: u64,
    /// End of the last reported second, ms since 1970 on the agent's system clock; 0 without reports.
    pub(crate) last_ms: i64,
    pub(crate) missed: crate::loss::Missed,
    /// Name of the lost agent, if it was behind a relay.
    pub(crate) agent: Option<String>,
    /// Maximum number of samples that are missing because of the loss; `None` without a limit.
    pub(crate) at_most: Option<u64>,
}

impl Part {
    /// Converts the lost part to a loss of the worker.
    pub(crate) fn of(self, agent: u32, name: String, offset_ms: i64) -> Loss {
        let last_ms = if self.last_ms == 0 { 0 } else { self.last_ms + offset_ms };
        Loss {
            worker: agent,
            agent: Some(self.agent.unwrap_or(name)),
            pid: self.pid,
            reason: self.reason,
            users: self.users,
            connections: self.connections,
            last_ms,
            samples: self.missed,
            at_most: self.at_most,
        }
    }
}

/// Serializes a report as the body of a record.
pub(crate) fn body(report: &Report) -> Vec<u8> {
    // Serializing a report cannot fail.
    postcard::to_stdvec(report).unwrap_or_default()
}

/// Deserializes the report in a record's body into an existing snapshot.
pub(crate) fn report(body: &[u8], mut snapshot: Box<Snapshot>) -> Result<Report, String> {
    let words = |error| format!("cannot decode a report: {error}");
    // The fields are in order; the snapshot is the last one.
    let (head, rest) = postcard::take_from_bytes::<Head>(body).map_err(words)?;
    stats::snapshot::read(rest, &mut snapshot).map_err(words)?;
    let Head { seq, usage, active, started, finished } = head;
    Ok(Report { seq, usage, active, started, finished, snapshot })
}

/// The fields of a report without its snapshot.
#[derive(Deserialize)]
struct Head {
    seq: u64,
    usage: Usage,
    active: Vec<u32>,
    started: u32,
    finished: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_read_into_a_used_snapshot() {
        let mut recorder = stats::Recorder::new();
        let label = recorder.intern("Home");
        recorder.record(&stats::Sample::new(label, 1_000));
        let mut sent = Report { seq: 9, active: vec![1, 2], started: 4, ..Report::default() };
        sent.usage.user_s = 1.5;
        recorder.drain(&mut sent.snapshot);
        let mut used = Box::<Snapshot>::default();
        used.clone_from(&sent.snapshot);
        let bytes = body(&sent);
        for cut in [0, 1, bytes.len() / 2, bytes.len() - 1] {
            assert!(report(&bytes[..cut], used.clone()).is_err(), "{cut}");
        }
        let read = report(&bytes, used).expect("a report");
        assert_eq!((read.seq, read.usage.user_s, read.samples()), (9, 1.5, 1));
        assert_eq!(body(&read), bytes);
    }
}
