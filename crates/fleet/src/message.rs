//! Messages between coordinator and workers.
//!
//! A worker offers itself, receives its share of the run, and reports that it is ready. From then on it only obeys:
//! groups start at a given time of the run's common clock. Once a second it sends a report; reports are numbered, so
//! that none counts twice.

use std::ffi::OsString;

use engine::{Evaluated, Figures, Line};
use serde::{Deserialize, Serialize};
use stats::Snapshot;
use stats::process::Usage;

/// Version of the protocol; both sides must have the same version.
pub const VERSION: u32 = 16;

/// A message from the coordinator to a worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum ToWorker {
    /// The plan and the worker's share of it.
    Plan(Box<Share>),
    /// Asks the worker to confirm with [`FromWorker::Armed`] that it is reachable, because groups are about to start.
    Arm,
    /// Starts groups, given by their index in the plan, at a time of the run's clock in nanoseconds. `properties` are
    /// the properties that users of any worker set in earlier groups.
    Start { groups: Vec<u32>, at: i64, properties: Vec<(String, String)> },
    /// Number of users of each group that run in the other workers.
    Adjust { elsewhere: Vec<u32> },
    /// Changes the numbers of users or the rates of groups, or pauses the load.
    Change(Vec<engine::Live>),
    /// Ends the users: after their samples in flight, or immediately if `now` is true.
    Stop { now: bool },
    /// Orders the worker to send the remaining measurements and end: no further groups will start.
    End,
}

/// A worker's share of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Share {
    /// Name of the plan file as the user specified it.
    pub name: String,
    /// Content of the plan file.
    pub plan: Vec<u8>,
    /// Hash of the compiled plan. The worker's compilation must have the same hash.
    pub hash: u64,
    /// All JMeter properties of the run.
    pub properties: Vec<(String, String)>,
    /// Folder of the plan, as bytes, because the serialization of paths would reject names that are not UTF-8.
    pub folder: OsString,
    /// Values that were evaluated before the first user started.
    pub evaluated: Evaluated,
    /// Result files that receive every sample.
    pub results: Vec<OsString>,
    /// Number of this share among all shares, from 0.
    pub index: u32,
    /// Number of all shares of the run.
    pub count: u32,
    /// Number of threads that run the share's users.
    pub cores: u32,
    pub seed: u64,
    /// Zero of the run's clock, nanoseconds since 1970.
    pub zero: i64,
    /// Set if each host runs the whole plan: name of this share's host, as a prefix for the names of users.
    pub host: Option<String>,
    /// Targets that the worker's machine permits. This list replaces the one in the run's properties.
    pub allowed: Option<String>,
}

/// A message from a worker to the coordinator.
#[derive(Debug, Serialize, Deserialize)]
pub enum FromWorker {
    /// The worker has started.
    Offer { version: u32, pid: u32, descriptors: u64 },
    /// The share is compiled, and the worker's threads wait for the start.
    Ready { cores: u32 },
    /// The worker is reachable and will start groups when ordered to.
    Armed,
    /// The measurements of one core in one second.
    Report(Box<Report>),
    /// All users of the started groups have ended. `properties` are all properties that users have set so far; empty if
    /// none has changed since the last such message.
    BatchDone {
        properties: Vec<(String, String)>,
        /// Number of changes to users or rates that the worker has received; pauses do not count.
        changes: u32,
    },
    /// A virtual user requested to stop the test: immediately if `now` is true.
    StopAsked { now: bool },
    /// Samples for a Backend Listener, which runs in the coordinator.
    Figures(Box<Figures>),
    /// A message for the user.
    Log(Line),
    /// The worker ends. `aborted` is the reason if it gave up; `samples` is the total over its reports.
    Done { aborted: Option<String>, samples: u64 },
    /// A heartbeat, sent once a second by a separate thread of the worker.
    Alive,
}

/// The measurements of one second, of one core or of a whole worker.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Report {
    /// Number of the report within the worker, from 1.
    pub seq: u64,
    /// Resource usage of the worker's process since its start.
    pub usage: Usage,
    /// Number of active users of each group in the worker at the end of the second.
    pub active: Vec<u32>,
    /// Number of users started in the worker so far.
    pub started: u32,
    /// Number of users ended in the worker so far.
    pub finished: u32,
    pub snapshot: Box<Snapshot>,
}

impl Report {
    /// Returns the number of samples in the report; transactions do not count.
    pub(crate) fn samples(&self) -> u64 {
        let labels = self.snapshot.labels.iter().filter(|label| !label.transaction);
        labels.map(|label| label.tally.count).sum()
    }
}

/// Returns the number of changes to users or rates, which can let users of an ended group run once more; pauses do not
/// count.
pub(crate) fn opening(changes: &[engine::Live]) -> u32 {
    let opens = |change: &&engine::Live| !matches!(change, engine::Live::Pause(_));
    changes.iter().filter(opens).count() as u32
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
