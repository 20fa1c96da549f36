//! The messages between the coordinator and its agents.
//!
//! Both sides are the same program, which the coordinator has checked by its hash, so there is no version to agree on.
//! Messages of workers (`message.rs`) go through unchanged, but for the plan and the reports: the plan comes with several
//! shares, and reports are merged and go through the account.

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

/// Bytes of a file that are sent at once.
pub(crate) const PIECE: usize = 256 << 10;

/// To an agent.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ToAgent {
    /// A question for its clocks, with the asker's.
    Time { asked: i64 },
    /// The files of the run, and the depth of the plan's folder in the folder of the run.
    Files { run: String, depth: u32, files: Vec<Named> },
    /// Bytes of a file that was missing; without any, the file is complete.
    Piece {
        hash: Hash,
        #[serde(with = "crate::bytes")]
        bytes: Vec<u8>,
    },
    /// Be a relay: reach these agents.
    Gather(Box<Region>),
    /// The parts of a relay's agents, in the order in which they were met.
    Serve(Serve),
    /// The plan and the agent's shares of it.
    Begin(Box<Assignment>),
    /// The agent's processes obey.
    Order(ToWorker),
    /// The account.
    Down(Down),
    /// Send result file number so many.
    Fetch { file: u32 },
    /// Send a result file to where it is kept.
    Push(Box<super::push::Push>),
    /// Everything that was wanted has come: remove the run's folder and end.
    Leave,
    /// Another coordinator has taken the run over: where does it stand?
    Resume(Box<Left>),
}

/// A run that an agent has worked for, as far as it needs to know of it if its process has ended.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Left {
    /// Name and depth as in [`ToAgent::Files`].
    pub(crate) run: String,
    pub(crate) depth: u32,
    /// Result files that are fetched at the end.
    pub(crate) results: Vec<Results>,
}

/// The agents that a relay is to reach.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Region {
    pub(crate) way: Way,
    /// Proofs for a NATS server, where the relay has none of its own.
    pub(crate) proofs: Vec<(String, String)>,
    /// Seconds for which agents go on without the relay.
    pub(crate) grace: u64,
}

/// The parts of a relay's agents.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Serve {
    pub(crate) agents: Vec<Served>,
    /// Samples that each may measure beyond those that have come.
    pub(crate) ahead: u64,
}

/// The part of one of a relay's agents.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Served {
    pub(crate) files: Vec<Named>,
    pub(crate) shares: Vec<u32>,
    pub(crate) cores: u32,
}

/// An agent of a relay.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Met {
    pub(crate) name: String,
    pub(crate) zone: String,
    pub(crate) offer: Offer,
    /// The relay's wall clock less its own, ms; the bound of that, and the longest way to it and back, ns.
    pub(crate) offset_ms: i64,
    pub(crate) bound: i64,
    pub(crate) longest: i64,
}

/// A file that the plan names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Named {
    /// Its path from the plan's folder; or from the root, where the plan has it so.
    pub(crate) path: String,
    pub(crate) hash: Hash,
    pub(crate) length: u64,
}

/// An agent's part of a run.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Assignment {
    /// Number of the agent.
    pub(crate) sender: u32,
    /// Common to all its shares; zero is a time of the agent's wall clock.
    pub(crate) share: Share,
    /// Numbers of its shares among all; one process each.
    pub(crate) shares: Vec<u32>,
    /// Result files that are fetched at the end, and which of them have rows.
    pub(crate) results: Vec<Results>,
    pub(crate) rows: Vec<bool>,
}

/// A result file on an agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Results {
    /// One that gets every sample, by its number in the share.
    All(u32),
    /// One that a listener of the plan writes: the paths from the plan's folder of which it has one.
    Listener(Vec<String>),
}

/// From an agent.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum FromAgent {
    Offer(Offer),
    /// The agents that a relay has met.
    Gathered(Vec<Met>),
    /// The sums of each agent of a relay, in their order.
    Figures(Vec<Figures>),
    /// The agent's clocks at a question: a monotonic one, and the wall clock, in nanoseconds.
    Time {
        asked: i64,
        monotonic: i64,
        wall: i64,
    },
    /// Files that it does not have.
    Missing(Vec<Hash>),
    /// All files are in their places.
    Placed,
    /// Messages of a worker.
    Said(FromWorker),
    /// The account; the body of a record is a [`Report`].
    Up(Up),
    /// One of its processes was lost, or has counted otherwise than it reported.
    Lost(Part),
    /// Bytes of a result file; without any, it is complete.
    Rows(#[serde(with = "crate::bytes")] Vec<u8>),
    /// A result file was sent to where it is kept: its compressed length, or why it was not.
    Pushed(Result<u64, String>),
    /// It cannot go on.
    Refused(String),
    /// A sign of life.
    Alive,
    /// Where the run stands on the agent.
    Stands(Box<Stand>),
}

/// Where a run stands on an agent: everything that it has heard and said beside its measurements.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Stand {
    /// It has the plan.
    pub(crate) begun: bool,
    /// Threads of its processes, once these are ready.
    pub(crate) cores: Option<u32>,
    /// Batches of groups that were started, and the order for the last one.
    pub(crate) starts: u32,
    pub(crate) start: Option<Start>,
    /// The end of the last batch was not said yet.
    pub(crate) owes: bool,
    /// Changes of the load that it has heard of.
    pub(crate) changes: u32,
    /// Properties that its users have set.
    pub(crate) properties: Vec<(String, String)>,
    /// A user has asked to stop the test; if so, whether at once.
    pub(crate) stop_asked: Option<bool>,
    /// It was told to stop, and to end.
    pub(crate) stopped: bool,
    pub(crate) ending: bool,
    /// Processes that it has lost.
    pub(crate) lost: Vec<Part>,
    /// Its end, if that was said: what has ended it, and its samples.
    pub(crate) done: Option<(Option<String>, u64)>,
    /// It was killed, or has nothing of the run any more: why.
    pub(crate) torn: Option<String>,
}

/// An order to start groups.
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
    /// Descriptors that a process may have.
    pub(crate) descriptors: u64,
    /// Memory that is free, bytes; 0 where that is not known.
    pub(crate) memory: u64,
}

/// A lost process of an agent, as `Loss` has it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Part {
    pub(crate) pid: u32,
    pub(crate) reason: String,
    pub(crate) users: u32,
    pub(crate) connections: u64,
    /// End of its last second by the agent's wall clock, ms; 0: none came.
    pub(crate) last_ms: i64,
    pub(crate) missed: crate::loss::Missed,
    /// The agent, where it is one of a relay's, and the samples of it that may be missing at most.
    pub(crate) agent: Option<String>,
    pub(crate) at_most: Option<u64>,
}

impl Part {
    /// The loss as that of an agent.
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

/// The body of a record.
pub(crate) fn body(report: &Report) -> Vec<u8> {
    // A report is data: it has a form.
    postcard::to_stdvec(report).unwrap_or_default()
}

/// The report in a record's body, read into a snapshot that was used before.
pub(crate) fn report(body: &[u8], mut snapshot: Box<Snapshot>) -> Result<Report, String> {
    let words = |error| format!("a report is broken: {error}");
    // Fields come in their order, the snapshot as the last one.
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
