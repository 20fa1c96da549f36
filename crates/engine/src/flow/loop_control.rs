//! Loop control: a sampler makes its user continue with the next iteration of its group or of a loop, or leave the
//! loop.
//!
//! As in JMeter, each controller from the sampler outwards ends its iteration, up to the target loop. A transaction
//! among them is reported with its samples so far. A transaction with a parent sample outside of the target loop
//! does not end: it is reported in its current state, and continues.

use plan::plan::{ControllerId, ControllerKind};

use crate::flow::kinds::{branch, java_backed};
use crate::flow::search::Walk;
use crate::flow::visit::Visit;
use crate::users::LoopControl;
use crate::users::controllers::{BEGUN, BROKEN};

impl Walk<'_, '_> {
    /// Leaves the controllers from `from` outwards, up to the loop, group or branch at which the user continues.
    pub(crate) fn unwind(&mut self, from: ControllerId, how: LoopControl) {
        let mut ended = Vec::new();
        let mut at = Some(from);
        while let Some(id) = at {
            let mut visit = self.visit(id);
            let controller = visit.controller;
            let is_group = controller.parent.is_none();
            match &controller.kind {
                ControllerKind::Branch => {
                    branch::leaves(&mut visit, how);
                    break;
                }
                ControllerKind::JavaBacked(element)
                    if how != LoopControl::NextIteration
                        && java_backed::leaves_loop(
                            &mut visit,
                            *element,
                            how == LoopControl::BreakLoop,
                        ) =>
                {
                    break;
                }
                kind if is_group || (kind.iterates() && how != LoopControl::NextIteration) => {
                    match how {
                        LoopControl::BreakLoop => visit.break_loop(),
                        LoopControl::NextIteration | LoopControl::NextLoopIteration => {
                            visit.end_iteration();
                        }
                    }
                    break;
                }
                ControllerKind::Transaction(settings) => {
                    let is_open = self.leave_transaction(id, settings);
                    ended.extend(is_open.then_some(id));
                }
                _ => {}
            }
            self.visit(id).is_left();
            at = controller.parent;
        }
        let index = self.index;
        self.reporting().report_left(index, from, &ended);
    }
}

impl Visit<'_, '_> {
    /// Leaves a loop and continues after it.
    fn break_loop(&mut self) {
        let mut state = self.state();
        state.set(BROKEN);
        state.clear(BEGUN);
        state.set_current(0);
        self.forget_count();
    }
}
