//! Connects the branches of a Parallel Controller to the core's loop: ends branches, and resumes users whose
//! branches are done.

use plan::plan::{Parallel, SamplerId};

use crate::core::Core;
use crate::flow::kinds::parallel::{self, BranchCheck, Next};
use crate::ids::UserId;
use crate::sample::outcome::continue_or_stop;
use crate::sample::step::Step;

impl<'p> Core<'p> {
    /// Starts the branches of a Parallel Controller.
    pub(crate) fn begin_branches(
        &mut self,
        index: UserId,
        id: SamplerId,
        parallel: &'p Parallel,
    ) -> Step {
        let turn = self.flow.begin_branches(&mut self.cx, index, id, parallel);
        self.carry_on(index, turn)
    }

    /// Makes a user check its branches. Returns false if the user still waits for some of them.
    pub(crate) fn check_branches(&mut self, index: UserId) -> bool {
        let turn = self.flow.check_branches(&mut self.cx, index);
        let step = self.carry_on(index, turn);
        self.take(index, step);
        turn.all
    }

    fn carry_on(&mut self, index: UserId, turn: BranchCheck) -> Step {
        if let Some(branch) = turn.ended {
            self.end_user(branch);
        }
        match turn.next {
            Next::Waits => Step::Done,
            Next::Behind { id, ends_iteration } => {
                self.samples.unwatch(&self.cx, index, id);
                let leave = parallel::leaves_behind(&mut self.cx, index, id, ends_iteration);
                continue_or_stop(&mut self.reporting(), index, leave)
            }
        }
    }

    /// Frees the slot of a branch that has ended, and queues its user to check the remaining branches.
    pub(crate) fn end_branch(&mut self, branch: UserId) {
        if let Some(parent) = parallel::end_branch(&mut self.cx, branch) {
            self.queue_user(parent);
        }
    }
}
