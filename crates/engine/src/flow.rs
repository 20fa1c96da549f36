//! Flow of a core's users: scheduled starts, and waits for other users.

pub(crate) mod arrivals;
pub(crate) mod barriers;
pub(crate) mod index_variable;
pub(crate) mod iteration;
pub(crate) mod kinds;
pub(crate) mod loop_control;
pub(crate) mod owner;
pub(crate) mod schedule;
pub(crate) mod search;
pub(crate) mod visit;

use std::sync::Arc;

use plan::java_backed::JavaBackedId;
use plan::plan::Plan;

use crate::flow::schedule::Start;

/// Starts, ends and meetings of a core's users.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    /// Barriers, locks and arrivals that this core owns.
    pub(crate) owner: crate::flow::owner::Owner,
    /// Number of waits of its users so far, at barriers or for locks.
    pub(crate) meetings: u64,
    pub(crate) starts: Vec<Start>,
    /// Number of live users per group.
    pub(crate) alive: Vec<u32>,
    /// Number of users wanted on this core per group, once it has been changed during the run.
    pub(crate) levels: Vec<Option<u32>>,
    /// Sequence number of the last load change applied, per group.
    pub(crate) changes: Vec<u32>,
    pub(crate) classes: Classes,
}

/// Controllers whose Java classes receive more calls than those for the next sampler.
#[derive(Clone, Debug, Default)]
pub(crate) struct Classes {
    /// Classes that are called at iterations of the controllers around them.
    pub(crate) counting: Arc<[JavaBackedId]>,
    /// Classes of loops that are called when the loop is left early.
    pub(crate) breaking: Arc<[JavaBackedId]>,
}

impl Flow {
    pub(crate) fn new(plan: &Plan, classes: Classes) -> Self {
        let groups = plan.groups.len();
        let (alive, levels, changes) = (vec![0; groups], vec![None; groups], vec![0; groups]);
        Self { alive, levels, changes, classes, ..Self::default() }
    }
}
