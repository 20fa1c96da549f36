//! Messages between coordinator and workers.
//!
//! A worker offers itself, gets its share of the run, says that it is ready, and from then on only obeys: groups start
//! at a moment of the run's common clock. Once a second it reports; reports are numbered, so that none counts twice.

use std::ffi::OsString;

use engine::{Evaluated, Figures, Line};
use serde::{Deserialize, Serialize};
use stats::Snapshot;
use stats::process::Usage;

/// Version of the protocol; both sides must have the same.
pub const VERSION: u32 = 16;

/// To a worker.
#[derive(Debug, Serialize, Deserialize)]
pub enum ToWorker {
    /// The plan and the worker's share of it.
    Plan(Box<Share>),
    /// Groups are about to start: is the worker there? It answers [`FromWorker::Armed`].
    Arm,
    /// Groups, by their index in the plan, start at a moment of the run's clock, in nanoseconds. Properties that users of
    /// any worker have set in the groups before come with it.
    Start { groups: Vec<u32>, at: i64, properties: Vec<(String, String)> },
    /// So many users of each group run in the other workers.
    Adjust { elsewhere: Vec<u32> },
    /// The load changes.
    Change(Vec<engine::Live>),
    /// Users end after their samples in flight, or at once.
    Stop { now: bool },
    /// Nothing more will start: send the remaining measurements and end.
    End,
}

/// A worker's share of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Share {
    /// Name of the plan file, as the user gave it.
    pub name: String,
    /// Its bytes.
    pub plan: Vec<u8>,
    /// Hash of the compiled plan, which must come out the same.
    pub hash: u64,
    /// All properties.
    pub properties: Vec<(String, String)>,
    /// Folder of the plan. Names of files are bytes, which a path's own form on the wire would refuse.
    pub folder: OsString,
    /// Values evaluated before the first user started.
    pub evaluated: Evaluated,
    /// Result files that get every sample.
    pub results: Vec<OsString>,
    /// Number of this share among all shares.
    pub index: u32,
    pub count: u32,
    /// Threads that run users.
    pub cores: u32,
    pub seed: u64,
    /// Zero of the run's clock, nanoseconds since 1970.
    pub zero: i64,
    /// The host whose shares these are, where each host runs the whole plan: it stands before the names of users.
    pub host: Option<String>,
    /// Targets that the worker's machine permits, whatever the properties say.
    pub allowed: Option<String>,
}

/// From a worker.
#[derive(Debug, Serialize, Deserialize)]
pub enum FromWorker {
    /// The worker has started.
    Offer { version: u32, pid: u32, descriptors: u64 },
    /// Its share is compiled; its threads wait for the start.
    Ready { cores: u32 },
    /// It is there, and starts groups when it is told to.
    Armed,
    /// One core's measurements of a second.
    Report(Box<Report>),
    /// All users of the groups that were started have ended; properties that they or earlier ones have set, if some
    /// were set since the last time.
    BatchDone {
        properties: Vec<(String, String)>,
        /// Changes of the load that it has heard of.
        changes: u32,
    },
    /// A user asked to stop the test.
    StopAsked { now: bool },
    /// Samples for a Backend Listener.
    Figures(Box<Figures>),
    /// A message for the user.
    Log(Line),
    /// The worker is done, or has given up for a reason. So many samples are in its reports, all together.
    Done { aborted: Option<String>, samples: u64 },
    /// A sign of life, sent once a second by a thread of its own.
    Alive,
}

/// A second of a worker's core.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Report {
    /// Counts the reports of the worker, from 1.
    pub seq: u64,
    /// Use of the worker's process so far.
    pub usage: Usage,
    /// Users of each group that run in the worker now.
    pub active: Vec<u32>,
    /// Users started and ended in it so far.
    pub started: u32,
    pub finished: u32,
    pub snapshot: Box<Snapshot>,
}

impl Report {
    /// Samples in it, without transactions.
    pub(crate) fn samples(&self) -> u64 {
        let labels = self.snapshot.labels.iter().filter(|label| !label.transaction);
        labels.map(|label| label.tally.count).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_each_kind_come_as_they_went() {
        let (text, level) = (|| String::from("a: b"), engine::LogLevel::Warn);
        for line in [
            Line::Log { level, logger: Some("l".into()), at_ms: Some(-5), text: text() },
            Line::Log { level, logger: None, at_ms: None, text: text() },
            Line::Printed(text()),
            Line::PrintedAsError(text()),
            Line::UserEnded(text()),
            Line::Lost { count: 7, what: text() },
            Line::Engine(text()),
        ] {
            let bytes = postcard::to_stdvec(&FromWorker::Log(line.clone())).expect("bytes");
            let read = postcard::from_bytes(&bytes);
            assert!(matches!(read, Ok(FromWorker::Log(same)) if same == line), "{line:?}");
        }
    }
}
