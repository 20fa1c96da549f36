//! Reports of cores, and of what works for them, to the coordinator of a run.

pub(crate) mod figures;
pub(crate) mod line;
pub(crate) mod live;

use plan::plan::GroupId;
use stats::Snapshot;

use crate::reports::figures::Figures;
use crate::reports::line::Line;
use crate::reports::live::Live;
use crate::time::clock::Nanos;

/// A report of a core.
#[derive(Debug)]
pub(crate) enum Report {
    Snapshot {
        core: u32,
        snapshot: Box<Snapshot>,
    },
    GroupDone {
        group: GroupId,
        /// The last change of its load that the core has heard of.
        change: u32,
    },
    StopTest {
        now: bool,
    },
    /// Of a share of a run, for a Backend Listener.
    Figures(Box<Figures>),
    Log(Line),
    /// From a handle.
    Told(Told),
    /// A core's thread has ended, by an error if there is one.
    CoreEnded(Option<String>),
}

/// A request of a handle.
#[derive(Debug)]
pub(crate) enum Told {
    Start { groups: Vec<GroupId>, at: Nanos },
    Change(Live),
    Stop,
    StopNow,
    End,
}
