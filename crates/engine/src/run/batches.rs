//! The order of a plan's thread groups: which run together, and which come next. Pure data.
//!
//! setUp groups run first, then the main groups (together, or one after the other), then the tearDown groups. A
//! batch of groups starts when all users of the previous batch have ended. A stopped run starts no further groups,
//! except its tearDown groups if the plan requests this.

use std::collections::VecDeque;

use plan::plan::{GroupId, Phase, Plan};

/// Groups that have not been started yet.
#[derive(Clone, Debug)]
pub struct Batches {
    rest: VecDeque<(Phase, Vec<GroupId>)>,
    /// Phase of the batch of groups that was returned last.
    phase: Option<Phase>,
    teardown_on_stop: bool,
}

impl Batches {
    /// Returns all batches of a plan.
    pub fn new(plan: &Plan) -> Self {
        let of = |phase: Phase| -> Vec<GroupId> {
            let groups = plan.groups.iter().enumerate().filter(|(_, group)| group.phase == phase);
            groups.map(|(at, _)| GroupId(at as u32)).collect()
        };
        let mut rest = VecDeque::new();
        for phase in [Phase::Setup, Phase::Main] {
            if plan.serialize_groups {
                rest.extend(of(phase).into_iter().map(|group| (phase, vec![group])));
            } else {
                rest.push_back((phase, of(phase)));
            }
        }
        rest.push_back((Phase::Teardown, of(Phase::Teardown)));
        rest.retain(|(_, groups)| !groups.is_empty());
        Self { rest, phase: None, teardown_on_stop: plan.teardown_on_shutdown }
    }

    /// Returns the groups that start next, by their index in the plan; `None` at the end of the plan.
    pub fn start_next(&mut self) -> Option<Vec<GroupId>> {
        let (phase, groups) = self.rest.pop_front()?;
        self.phase = Some(phase);
        Some(groups)
    }

    /// Returns true if all batches were returned.
    pub fn is_complete(&self) -> bool {
        self.rest.is_empty()
    }

    /// Returns the phase of the last returned batch.
    pub fn phase(&self) -> Option<Phase> {
        self.phase
    }

    /// Removes all batches that have not started, so that no further group starts.
    #[must_use]
    pub fn dropped(self) -> Self {
        Self { rest: VecDeque::new(), ..self }
    }

    /// Stops the run: only tearDown groups remain, unless the plan disables them on a stop or setUp groups were still
    /// running.
    pub fn stop(&mut self) {
        let keep = self.teardown_on_stop && self.phase != Some(Phase::Setup);
        self.rest.retain(|(phase, _)| keep && *phase == Phase::Teardown);
    }
}
