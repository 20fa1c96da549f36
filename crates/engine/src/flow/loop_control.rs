//! How a user leaves a sampler for elsewhere: the next iteration of its group or of a loop, or out of that loop.
//!
//! As in JMeter, each controller from the sampler outwards is told that its pass has ended, up to the loop that is meant. Transactions
//! told so are reported with what they have; one with a parent sample that is not told, because the loop is inside of it, is reported as it is
//! and goes on.

use plan::plan::{ControllerId, ControllerKind};

use crate::core::Core;
use crate::ids::UserId;
use crate::java::Tell;
use crate::users::Leave;
use crate::users::controllers as state;

impl Core<'_> {
    /// Leaves the place in the plan where `from` is the innermost controller.
    pub(crate) fn unwind(&mut self, index: UserId, from: ControllerId, how: Leave) {
        let mut ended = Vec::new();
        let mut at = Some(from);
        while let Some(id) = at {
            let controller = self.cx.controller(id);
            if matches!(controller.kind, ControllerKind::Lane) {
                self.leave_lane(index, id, how);
                break;
            }
            let is_group = controller.parent.is_none();
            if how != Leave::NextIteration && self.jobs.is_left_by_class(controller) {
                let what = if how == Leave::BreakLoop { Tell::BreakLoop } else { Tell::NextLoop };
                self.tell_controller(index, id, what, 0);
                break;
            }
            if is_group || (controller.kind.iterates() && how != Leave::NextIteration) {
                match how {
                    Leave::BreakLoop => self.break_loop(index, id),
                    Leave::NextIteration | Leave::NextLoopIteration => {
                        self.re_initialize(index, id);
                    }
                }
                break;
            }
            if let ControllerKind::Transaction(settings) = &controller.kind {
                if settings.parent {
                    ended.push(id);
                } else {
                    self.abort_transaction(index, id);
                }
            }
            self.trigger_end_of_loop(index, id);
            at = controller.parent;
        }
        self.report_left(index, from, &ended);
    }

    fn break_loop(&mut self, index: UserId, id: ControllerId) {
        let mut place = self.cx.controller_state(index, id);
        place.set(state::BROKEN);
        place.clear(state::BEGUN);
        place.set_current(0);
        self.reset_count(index, id);
    }

    pub(crate) fn trigger_end_of_loop(&mut self, index: UserId, id: ControllerId) {
        let controller = self.cx.controller(id);
        match &controller.kind {
            ControllerKind::Hosted(_) => self.tell_controller(index, id, Tell::EndOfLoop, 0),
            ControllerKind::If { .. } => {
                self.initialize_children(index, controller);
                self.re_initialize(index, id);
            }
            ControllerKind::While(condition) => {
                self.re_initialize(index, id);
                // JMeter asks without listening; an expression may do something.
                self.while_is_over(index, id, condition, true);
                self.reset_count(index, id);
            }
            ControllerKind::Loop { .. }
            | ControllerKind::ForEach(_)
            | ControllerKind::Runtime(_) => {
                self.re_initialize(index, id);
                self.reset_count(index, id);
            }
            _ => self.re_initialize(index, id),
        }
    }
}
