//! What a core knows of the flow of its users: who is to start, who waits for others.

use plan::plan::Plan;

use crate::schedule::Start;

/// Starts, ends and meetings of a core's users.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    /// Barriers, locks and arrivals whose home this core is.
    pub(crate) home: crate::meet::Home,
    /// Waits of its users so far, for others or a lock.
    pub(crate) meetings: u64,
    pub(crate) starts: Vec<Start>,
    /// Users alive, per group.
    pub(crate) alive: Vec<u32>,
}

impl Flow {
    pub(crate) fn new(plan: &Plan) -> Self {
        Self { alive: vec![0; plan.groups.len()], ..Self::default() }
    }
}
