//! Reports of cores, and of threads that work for them, to the coordinator of a run.

pub(crate) mod figures;
pub(crate) mod line;
pub(crate) mod live;

use plan::plan::GroupId;
use stats::Snapshot;

use crate::reports::figures::Figures;
use crate::reports::line::Line;
use crate::reports::live::Live;
use crate::time::clock::Nanos;

/// A report of a core to the coordinator.
#[derive(Debug)]
pub(crate) enum Report {
    Snapshot {
        core: u32,
        snapshot: Box<Snapshot>,
    },
    GroupDone {
        group: GroupId,
        /// Sequence number of the last load change that the core has applied to the group.
        change: u32,
    },
    StopTest {
        now: bool,
    },
    /// Samples of one process of a distributed run, for a Backend Listener.
    Figures(Box<Figures>),
    Log(Line),
    /// A request that was sent through a `Handle` of the run.
    Command(RunCommand),
    /// The thread of a core has ended. Contains the error, if there was one.
    CoreEnded(Option<String>),
}

/// A request that a handle sends to its run.
#[derive(Debug)]
pub(crate) enum RunCommand {
    Start { groups: Vec<GroupId>, at: Nanos },
    Change(Live),
    Stop,
    StopNow,
    End,
}
