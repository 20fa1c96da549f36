//! Scheduled starts of a core's users, and their waits for other users.

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

/// State of a core for the starts and ends of its users, and for their waits for other users.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    /// Barriers, locks and arrivals that this core owns.
    pub(crate) owner: crate::flow::owner::Owner,
    /// Number of waits of this core's users at barriers, for locks and for arrivals so far. Each wait gets the next
    /// number.
    pub(crate) meetings: u64,
    /// Scheduled starts, one entry per group that still starts users on this core.
    pub(crate) starts: Vec<Start>,
    /// Number of live users per group.
    pub(crate) alive: Vec<u32>,
    /// Number of users that a live change has requested on this core, per group.
    pub(crate) levels: Vec<Option<u32>>,
    /// Sequence number of the last load change applied, per group.
    pub(crate) changes: Vec<u32>,
    pub(crate) classes: Classes,
}

/// Controllers whose Java classes are also called outside of the search for the next sampler.
#[derive(Clone, Debug, Default)]
pub(crate) struct Classes {
    /// Controllers whose classes are notified of iterations of the enclosing controllers.
    pub(crate) counting: Arc<[JavaBackedId]>,
    /// Loop controllers whose classes are notified when the loop is left early.
    pub(crate) breaking: Arc<[JavaBackedId]>,
}

impl Flow {
    pub(crate) fn new(plan: &Plan, classes: Classes) -> Self {
        let groups = plan.groups.len();
        let (alive, levels, changes) = (vec![0; groups], vec![None; groups], vec![0; groups]);
        Self { alive, levels, changes, classes, ..Self::default() }
    }
}
