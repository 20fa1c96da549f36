//! Between the lanes of a Parallel Controller and the loop: lanes that end, and users that go on behind theirs.

use plan::plan::{Parallel, SamplerId};

use crate::core::Core;
use crate::flow::kinds::parallel::{self, Next, Turn};
use crate::ids::UserId;

impl<'p> Core<'p> {
    /// Starts the lanes of a Parallel Controller.
    pub(crate) fn begin_lanes(&mut self, index: UserId, id: SamplerId, parallel: &'p Parallel) {
        let turn = self.flow.begin_lanes(&mut self.cx, index, id, parallel);
        self.carry_on(index, turn);
    }

    /// A user looks after its lanes. False: it still waits for some.
    pub(crate) fn go_on_with_lanes(&mut self, index: UserId) -> bool {
        let turn = self.flow.go_on_with_lanes(&mut self.cx, index);
        self.carry_on(index, turn);
        turn.all
    }

    fn carry_on(&mut self, index: UserId, turn: Turn) {
        if let Some(lane) = turn.ended {
            self.end_user(lane);
        }
        match turn.next {
            Next::Waits => {}
            Next::Behind { id, leaves } => {
                if !self.cx.plan.samplers[id.0 as usize].timeouts.is_empty() {
                    self.samples.watch.remove(index);
                }
                let leave = parallel::leaves_behind(&mut self.cx, index, id, leaves);
                self.continue_or_stop(index, leave);
            }
        }
    }

    /// A lane has ended.
    pub(crate) fn end_lane(&mut self, lane: UserId) {
        if let Some(parent) = parallel::end_lane(&mut self.cx, lane) {
            self.put_in_line(parent);
        }
    }
}
