//! The transport between the coordinator and its workers: the coordinator's view.
//!
//! Sending never blocks: messages that a worker does not read are queued in memory. Events of a worker arrive in the
//! order in which it sent them; [`WorkerEvent::Ended`] is the last one.

use std::time::Duration;

use stats::Snapshot;
use stats::open_second::PartKind;

use crate::figures::Figures;
use crate::loss::Loss;
use crate::message::{FromWorker, ToWorker};
use crate::remote::RunState;

/// Carries messages to workers and from workers.
pub trait Bus: std::fmt::Debug {
    /// Returns the number of workers. Workers are numbered from 0.
    fn workers(&self) -> u32;

    /// Returns the kind of the workers and of their reports. Reports can change from replayed to live reports.
    fn transport(&self) -> Transport;

    /// Sends a message to a worker. A message to a worker that has ended or was lost is dropped.
    fn send(&mut self, worker: u32, message: &ToWorker);

    /// Returns the next event, or `None` if there is none within `patience`.
    fn next(&mut self, patience: Duration) -> Option<(u32, WorkerEvent)>;

    /// Kills a worker.
    fn kill(&mut self, worker: u32);

    /// Returns the time from the start order to the start of the users. Every worker must receive the order within this
    /// time.
    fn lead(&self) -> Duration {
        LEAD + LEAD_EACH * self.workers()
    }

    /// Returns the name of a worker's machine, if the worker is on another machine.
    fn name(&self, _worker: u32) -> Option<String> {
        None
    }

    /// Returns the number of machines behind a worker, each with its own metrics: 1, or the number of a relay's agents.
    fn parts(&self, _worker: u32) -> u32 {
        1
    }

    /// Returns the maximum number of samples that a worker may have measured but not reported; `None` without grants.
    fn at_most(&self, _worker: u32) -> Option<u64> {
        None
    }

    /// Returns the time for which a worker may be unreachable before it counts as lost.
    fn grace(&self) -> Duration {
        Duration::ZERO
    }

    /// Gives a snapshot back after it was counted, so that the bus can reuse its memory.
    fn recycle(&mut self, _snapshot: Box<Snapshot>) {}

    /// Fetches a part of the files that workers keep until the end, and finally releases the workers. Called repeatedly
    /// when all workers are done. Returns messages for the user; `None` when nothing is left to do.
    fn collect(&mut self) -> Option<Vec<String>> {
        None
    }
}

/// The kind of a bus's workers. The coordinator or relay treats workers on other machines differently in some steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Processes on this machine, or threads of this process in tests. Each thread of a worker reports its own seconds.
    Local,
    /// Other machines. A report covers all threads of a machine, and each machine has its own metrics. Before each
    /// start, the machines confirm that they are reachable, because a connection may have broken unnoticed.
    Machines { users: UserScope, reports: Reports },
}

/// The users that elements of the plan share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserScope {
    /// Each worker runs a share of the users. The worker receives the numbers of users in the other workers.
    Run,
    /// Each worker runs the whole plan.
    Worker,
}

/// The time at which reports were measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reports {
    /// The reports arrive while the workers measure.
    Live,
    /// The reports were measured before this coordinator started, and are read from the previous coordinator's notes.
    Replayed,
}

impl Transport {
    /// Other machines that share the users of one run, and report while they measure.
    pub(crate) const MACHINES: Self =
        Self::Machines { users: UserScope::Run, reports: Reports::Live };

    /// Returns the number of reports per second of a worker with `cores` threads.
    pub(crate) fn reports_each_second(self, cores: u32) -> u32 {
        match self {
            Self::Local => cores.max(1),
            Self::Machines { .. } => 1,
        }
    }

    /// Returns the kind of the parts that make up a second of all workers.
    pub(crate) fn part_kind(self) -> PartKind {
        match self {
            Self::Local => PartKind::Process,
            Self::Machines { .. } => PartKind::Machine,
        }
    }

    pub(crate) fn is_machines(self) -> bool {
        matches!(self, Self::Machines { .. })
    }
}

/// Fixed part of the time from the start order to the start of the users.
const LEAD: Duration = Duration::from_millis(50);
/// Part of the time from the start order to the start of the users that is added for each worker.
const LEAD_EACH: Duration = Duration::from_millis(4);

/// An event of a worker.
#[derive(Debug)]
pub enum WorkerEvent {
    /// The worker sent a message.
    Message(FromWorker),
    /// No message has arrived for some time, not even a heartbeat. The text describes the state of the process.
    Silent(String),
    /// The worker has ended, or its connection is lost. The text is the reason.
    Ended(String),
    /// A process or an agent behind the worker was lost; the worker continues with the others.
    PartLost(Loss),
    /// The totals of each machine behind the worker, in the order of the machines.
    Figures(Vec<Figures>),
    /// The reply of a worker to a takeover by this coordinator: the state of the run in the worker, the worker's
    /// process ID, and the processes or agents that the worker has lost.
    TakenOver { pid: u32, stand: Box<RunState>, lost: Vec<Loss> },
}
