//! The flow of a core's users: starts to come, and waits for others.

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
    /// Barriers, locks and arrivals of which this core is the owner.
    pub(crate) owner: crate::flow::owner::Owner,
    /// Waits of its users so far, for others or a lock.
    pub(crate) meetings: u64,
    pub(crate) starts: Vec<Start>,
    /// Users alive, per group.
    pub(crate) alive: Vec<u32>,
    /// Users wanted on this core, per group, once that was changed.
    pub(crate) levels: Vec<Option<u32>>,
    /// The last change that a group has heard of.
    pub(crate) changes: Vec<u32>,
    pub(crate) classes: Classes,
}

/// Controllers whose classes in Java hear of more than questions for a sampler.
#[derive(Clone, Debug, Default)]
pub(crate) struct Classes {
    /// Of iterations of the controllers around them.
    pub(crate) counting: Arc<[JavaBackedId]>,
    /// That they, being loops, are left.
    pub(crate) breaking: Arc<[JavaBackedId]>,
}

impl Flow {
    pub(crate) fn new(plan: &Plan, classes: Classes) -> Self {
        let groups = plan.groups.len();
        let (alive, levels, changes) = (vec![0; groups], vec![None; groups], vec![0; groups]);
        Self { alive, levels, changes, classes, ..Self::default() }
    }
}
