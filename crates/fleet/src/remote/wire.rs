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
    /// A query for the agent's clocks, with the time of the querying side.
    Time { asked: i64 },
    /// The files of the run, and the depth of the plan's folder in the run's folder.
    Files { run: String, depth: u32, files: Vec<Named> },
    /// Bytes of a missing file. An empty piece completes the file.
    Piece {
        hash: Hash,
        #[serde(with = "crate::bytes")]
        bytes: Vec<u8>,
    },
    /// Makes the agent a relay that connects to these agents.
    Gather(Box<Region>),
    /// The assignments of a relay's agents, in the order in which the relay listed them.
    Serve(RelayAssignment),
    /// The plan with the agent's shares.
    Begin(Box<Assignment>),
    /// An order for the agent's processes.
    Order(ToWorker),
    /// A message of the account.
    Down(Down),
    /// Send result file `file`.
    Fetch { file: u32 },
    /// Send a result file to its destination.
    Push(Box<super::push::Push>),
    /// Everything was received: remove the run's folder and end.
    Leave,
    /// Another coordinator has taken over the run and requests its state.
    Resume(Box<Left>),
}

/// A run for a takeover, as far as an agent needs it if the run's process has ended.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Left {
    /// Name and depth as in [`ToAgent::Files`].
    pub(crate) run: String,
    pub(crate) depth: u32,
    /// Result files that are fetched at the end.
    pub(crate) results: Vec<Results>,
}

/// The agents that a relay connects to.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Region {
    pub(crate) way: Way,
    /// Credentials for a NATS server, if the relay has none itself.
    pub(crate) credentials: Vec<(String, String)>,
    /// Number of seconds for which agents continue without the relay.
    pub(crate) grace: u64,
}

/// The assignments of a relay's agents.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct RelayAssignment {
    pub(crate) agents: Vec<AgentAssignment>,
    /// Number of samples that each agent may measure beyond those received.
    pub(crate) ahead: u64,
}

/// The assignment of one of a relay's agents.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct AgentAssignment {
    pub(crate) files: Vec<Named>,
    pub(crate) shares: Vec<u32>,
    pub(crate) cores: u32,
}

/// An agent of a relay.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ReachedAgent {
    pub(crate) name: String,
    pub(crate) zone: String,
    pub(crate) offer: Offer,
    /// The relay's system clock minus the agent's in ms. Then its error bound and the longest round trip, both in ns.
    pub(crate) offset_ms: i64,
    pub(crate) bound: i64,
    pub(crate) longest: i64,
}

/// A file that the plan names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Named {
    /// Path relative to the plan's folder, or absolute if the plan has an absolute path.
    pub(crate) path: String,
    pub(crate) hash: Hash,
    pub(crate) length: u64,
}

/// An agent's assignment in a run.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Assignment {
    /// Number of the agent.
    pub(crate) sender: u32,
    /// Common to all shares of the agent. Its zero is a time of the agent's system clock.
    pub(crate) share: Share,
    /// Numbers of the agent's shares among all shares; one process each.
    pub(crate) shares: Vec<u32>,
    /// Result files that are fetched at the end, and true for each that contains CSV rows.
    pub(crate) results: Vec<Results>,
    pub(crate) rows: Vec<bool>,
}

/// A result file on an agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Results {
    /// A file that receives every sample, by its number in the share.
    All(u32),
    /// The file of a listener: its possible paths relative to the plan's folder.
    Listener(Vec<String>),
}

/// A message from an agent.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum FromAgent {
    Offer(Offer),
    /// The agents that a relay has connected to.
    Gathered(Vec<ReachedAgent>),
    /// The totals of each agent of a relay, in their order.
    Figures(Vec<Figures>),
    /// The agent's monotonic clock and system clock at a query, in nanoseconds.
    Time {
        asked: i64,
        monotonic: i64,
        wall: i64,
    },
    /// Files that the agent does not have.
    Missing(Vec<Hash>),
    /// All files are in the run's folder.
    FilesStored,
    /// A message of a worker.
    Message(FromWorker),
    /// A message of the account. The body of a record is a [`Report`].
    Up(Up),
    /// A process was lost, or counted other samples than it reported.
    Lost(Part),
    /// Bytes of a result file. An empty piece completes it.
    Rows(#[serde(with = "crate::bytes")] Vec<u8>),
    /// A result file was sent to its destination: the compressed length, or the reason for a failure.
    Pushed(Result<u64, String>),
    /// The agent cannot continue, for this reason.
    Refused(String),
    /// A heartbeat.
    Alive,
    /// The state of the run on the agent.
    RunState(Box<RunState>),
}

/// The state of a run on an agent: all orders and messages except measurements.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RunState {
    /// True if the agent has the plan.
    pub(crate) begun: bool,
    /// Number of threads of its processes, when they are ready.
    pub(crate) cores: Option<u32>,
    /// Number of batches of groups that were started, and the order for the last one.
    pub(crate) starts: u32,
    pub(crate) start: Option<Start>,
    /// True if the end of the last batch was not reported yet.
    pub(crate) owes: bool,
    /// Number of load changes that the agent has received.
    pub(crate) changes: u32,
    /// Properties that the agent's users have set.
    pub(crate) properties: Vec<(String, String)>,
    /// Set if a user requested to stop the test; true if at once.
    pub(crate) stop_asked: Option<bool>,
    /// True if the agent was ordered to stop, and true if it was ordered to end.
    pub(crate) stopped: bool,
    pub(crate) ending: bool,
    /// Lost processes.
    pub(crate) lost: Vec<Part>,
    /// Set if the agent's end was reported: the reason for an early end, and the number of samples.
    pub(crate) done: Option<(Option<String>, u64)>,
    /// Set if the agent was killed or has nothing of the run any more: the reason.
    pub(crate) torn: Option<String>,
}

/// A start order.
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

/// A lost process of an agent, with the fields of `Loss`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Part {
    pub(crate) pid: u32,
    pub(crate) reason: String,
    pub(crate) users: u32,
    pub(crate) connections: u64,
    /// End of the last reported second on the agent's system clock in ms; 0 without reports.
    pub(crate) last_ms: i64,
    pub(crate) missed: crate::loss::Missed,
    /// The agent, if it is behind a relay, and the maximum number of its missing samples.
    pub(crate) agent: Option<String>,
    pub(crate) at_most: Option<u64>,
}

impl Part {
    /// Converts the part to a loss of an agent.
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

/// Returns the body of a record for a report.
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

/// A report without its snapshot.
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
