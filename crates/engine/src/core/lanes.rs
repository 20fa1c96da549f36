//! Between the lanes of a Parallel Controller and the loop: lanes that end, and users that go on behind theirs.

use plan::plan::{Parallel, SamplerId};

use crate::core::Core;
use crate::flow::kinds::parallel::{self, Next, Turn};
use crate::ids::UserId;
use crate::sample::outcome::continue_or_stop;
use crate::sample::step::Step;

impl<'p> Core<'p> {
    /// Starts the lanes of a Parallel Controller.
    pub(crate) fn begin_lanes(
        &mut self,
        index: UserId,
        id: SamplerId,
        parallel: &'p Parallel,
    ) -> Step {
        let turn = self.flow.begin_lanes(&mut self.cx, index, id, parallel);
        self.carry_on(index, turn)
    }

    /// A user looks after its lanes. False: it still waits for some.
    pub(crate) fn go_on_with_lanes(&mut self, index: UserId) -> bool {
        let turn = self.flow.go_on_with_lanes(&mut self.cx, index);
        let step = self.carry_on(index, turn);
        self.take(index, step);
        turn.all
    }

    fn carry_on(&mut self, index: UserId, turn: Turn) -> Step {
        if let Some(lane) = turn.ended {
            self.end_user(lane);
        }
        match turn.next {
            Next::Waits => Step::Done,
            Next::Behind { id, leaves } => {
                self.samples.unwatch(&self.cx, index, id);
                let leave = parallel::leaves_behind(&mut self.cx, index, id, leaves);
                continue_or_stop(&mut self.reporting(), index, leave)
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
