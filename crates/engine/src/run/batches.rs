//! The order of a plan's groups: which run together, and what comes next. Pure data.
//!
//! setUp groups come first, then the main groups (together, or one after another), then the tearDown groups. A batch
//! starts when all users of the one before have ended. A run that is stopped starts nothing more but, if the plan
//! wants it, its tearDown groups.

use std::collections::VecDeque;

use plan::plan::{GroupId, Phase, Plan};

/// Groups that are still to be started.
#[derive(Clone, Debug)]
pub struct Batches {
    rest: VecDeque<(Phase, Vec<GroupId>)>,
    /// Phase of the batch handed out last.
    phase: Option<Phase>,
    teardown_on_stop: bool,
}

impl Batches {
    /// All batches of a plan.
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

    /// The groups that start next, by their index in the plan; `None` when the plan is through.
    pub fn start_next(&mut self) -> Option<Vec<GroupId>> {
        let (phase, groups) = self.rest.pop_front()?;
        self.phase = Some(phase);
        Some(groups)
    }

    /// Whether all were handed out.
    pub fn is_through(&self) -> bool {
        self.rest.is_empty()
    }

    /// The phase of the batch handed out last.
    pub fn phase(&self) -> Option<Phase> {
        self.phase
    }

    /// Without what is left.
    #[must_use]
    pub fn dropped(self) -> Self {
        Self { rest: VecDeque::new(), ..self }
    }

    /// The run is stopped: what is left are the tearDown groups, unless the plan does without or was still setting up.
    pub fn stop(&mut self) {
        let keep = self.teardown_on_stop && self.phase != Some(Phase::Setup);
        self.rest.retain(|(phase, _)| keep && *phase == Phase::Teardown);
    }
}
