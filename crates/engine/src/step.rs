//! One operation of a user: controllers are jumps with a little state. Hot.
//!
//! Where JMeter's iterators behave in ways a reader would not expect, the comment names the behaviour; the plans
//! under `tests/parity` hold it.

use plan::plan::{
    ControllerId, ControllerKind, ForEach, LoopCount, OnIteration, Op, Pc, Plan, WhileCondition,
};
use plan::text::Text;

use crate::core::{Core, env};
use crate::wheel::Index;

/// Counts in state slots: this one stands for "without end".
const FOREVER: u32 = u32::MAX;
/// A loop that runs only once has ended.
const ENDED: u32 = 1;
/// How a user leaves the sampler it is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leave {
    /// To the next iteration of its group.
    NextIteration,
    /// To the next iteration of the loop around the sampler.
    NextLoopIteration,
    /// Out of the loop around the sampler.
    BreakLoop,
}

/// For each controller, the state that it makes its inner ones forget: a Once Only controller runs again when the loop
/// it is directly in starts anew, and all of them, and loops that had ended for good, when an If around them is false.
pub(crate) fn begun_anew(plan: &Plan) -> Vec<Vec<u32>> {
    let mut anew = vec![Vec::new(); plan.controllers.len()];
    for controller in &plan.controllers {
        let (slot, in_loops) = match controller.kind {
            ControllerKind::OnceOnly => (controller.slot, true),
            ControllerKind::Loop { once: true, .. } => (controller.slot + 2, false),
            _ => continue,
        };
        let mut around = controller.parent;
        while let Some(id) = around {
            let outer = &plan.controllers[id.0 as usize];
            let direct = in_loops && controller.parent == Some(id);
            if direct || matches!(outer.kind, ControllerKind::If { .. }) {
                anew[id.0 as usize].push(slot);
            }
            around = outer.parent;
        }
    }
    anew
}

impl<'p> Core<'p> {
    /// Runs one operation. False: the user waits or has ended.
    pub(crate) fn operate(&mut self, index: Index) -> bool {
        let pc = self.users[index].pc;
        match self.plan.ops[pc.0 as usize] {
            Op::Enter(controller) => self.enter(index, controller),
            Op::Next(controller) => self.next(index, controller),
            Op::Test(controller) => {
                let ControllerKind::If { condition, .. } = &self.controller(controller).kind else {
                    unreachable!()
                };
                let user = &mut self.users[index];
                if condition.holds(&mut env!(self, user, "")) {
                    user.pc.0 += 1;
                } else {
                    self.begin_anew(index, controller);
                    self.leave(index, controller);
                }
            }
            Op::Sample(sampler) => return self.sample(index, sampler),
            Op::Jump(to) => self.jump(index, to),
            Op::End => {
                self.end_user(index);
                return false;
            }
        }
        self.users[index].alive
    }

    fn enter(&mut self, index: Index, id: ControllerId) {
        let controller = self.controller(id);
        let slot = controller.slot as usize;
        match &controller.kind {
            ControllerKind::Simple => {}
            ControllerKind::Loop { count, .. } => {
                if self.users[index].state[slot + 2] == ENDED {
                    return self.leave(index, id);
                }
                let count = match count {
                    LoopCount::Forever => FOREVER,
                    LoopCount::Count(text) => match self.number(index, text, 0) {
                        n if n < 0 => FOREVER,
                        n => n as u32,
                    },
                };
                let user = &mut self.users[index];
                (user.state[slot], user.state[slot + 1]) = (0, count);
                if count == 0 {
                    return self.leave(index, id);
                }
            }
            ControllerKind::If { condition, .. } => {
                let user = &mut self.users[index];
                if !condition.holds(&mut env!(self, user, "")) {
                    self.begin_anew(index, id);
                    return self.leave(index, id);
                }
            }
            ControllerKind::While(condition) => {
                self.users[index].state[slot] = 0;
                self.write_index(index, id, 0);
                if self.while_is_over(index, condition, false) {
                    return self.leave(index, id);
                }
            }
            ControllerKind::ForEach(each) => {
                let (start, end) = self.bounds(index, each);
                let user = &mut self.users[index];
                (user.state[slot], user.state[slot + 1]) = (start as u32, end as u32);
                if start >= end || !self.bind(index, each, start) {
                    return self.leave(index, id);
                }
            }
            ControllerKind::OnceOnly => {
                if std::mem::replace(&mut self.users[index].state[slot], 1) == 1 {
                    return self.leave(index, id);
                }
            }
            ControllerKind::Transaction(transaction) => {
                self.begin_transaction(index, id, transaction);
            }
        }
        self.iterate(index, id);
    }

    fn next(&mut self, index: Index, id: ControllerId) {
        let controller = self.controller(id);
        let slot = controller.slot as usize;
        match &controller.kind {
            ControllerKind::Simple | ControllerKind::If { .. } | ControllerKind::OnceOnly => {
                self.leave(index, id);
            }
            ControllerKind::Transaction(_) => {
                self.finish_transaction(index, id);
                self.leave(index, id);
            }
            ControllerKind::Loop { .. } => {
                let state = &mut self.users[index].state;
                // A forever loop's counter stays below the mark.
                state[slot] = (state[slot] + 1).min(FOREVER - 1);
                if state[slot] >= state[slot + 1] {
                    self.leave(index, id);
                } else {
                    self.iterate(index, id);
                }
            }
            ControllerKind::While(condition) => {
                self.users[index].state[slot] += 1;
                // The condition sees the number of the iteration it decides on.
                self.write_index(index, id, self.users[index].state[slot]);
                if self.while_is_over(index, condition, true) {
                    self.leave(index, id);
                } else {
                    self.iterate(index, id);
                }
            }
            ControllerKind::ForEach(each) => {
                let state = &mut self.users[index].state;
                // Bounds may be negative: the slots hold their bits.
                let (at, end) = (state[slot] as i32 + 1, state[slot + 1] as i32);
                state[slot] = at as u32;
                if at >= end || !self.bind(index, each, at) {
                    self.leave(index, id);
                } else {
                    self.iterate(index, id);
                }
            }
        }
    }

    /// Begins an iteration of a controller's body.
    fn iterate(&mut self, index: Index, id: ControllerId) {
        let controller = self.controller(id);
        let (body, slot) = (controller.body, controller.slot as usize);
        self.jump(index, body);
        let count = match controller.kind {
            ControllerKind::Loop { .. } | ControllerKind::While(_) | ControllerKind::ForEach(_) => {
                self.users[index].state[slot]
            }
            _ => 0,
        };
        self.write_index(index, id, count);
        if count == 0
            && matches!(controller.kind, ControllerKind::Loop { .. } | ControllerKind::While(_))
        {
            self.begin_anew(index, id);
        }
        if controller.parent.is_none() {
            self.begin_iteration(index);
        }
        for event in &controller.on_iteration {
            if !self.fire(index, *event) {
                return;
            }
        }
    }

    /// Forgets what controllers below `id` have done for good.
    fn begin_anew(&mut self, index: Index, id: ControllerId) {
        for slot in &self.anew[id.0 as usize] {
            self.users[index].state[*slot as usize] = 0;
        }
    }

    /// Sets a controller's index variable, if the plan mentions it.
    fn write_index(&mut self, index: Index, id: ControllerId, count: u32) {
        if let Some(variable) = self.controller(id).index {
            let text = self.users[index].vars.write(variable);
            text.clear();
            text.push_str(itoa::Buffer::new().format(count));
        }
    }

    /// Carries out what an iteration's start brings. False: the user has ended.
    fn fire(&mut self, index: Index, event: OnIteration) -> bool {
        let plan = self.plan;
        let user = &mut self.users[index];
        let stop = plan::element::iterate(event, plan, &mut env!(self, user, ""));
        match stop {
            Ok(()) => true,
            Err(stop) => {
                self.on_stop(index, &stop);
                false
            }
        }
    }

    /// Goes on behind a controller.
    fn leave(&mut self, index: Index, id: ControllerId) {
        let controller = self.controller(id);
        self.jump(index, controller.after);
        match &controller.kind {
            ControllerKind::Loop { once: true, .. } => {
                self.users[index].state[controller.slot as usize + 2] = ENDED;
            }
            ControllerKind::Loop { .. } | ControllerKind::While(_) => {
                self.write_index(index, id, 0);
            }
            ControllerKind::ForEach(each) => {
                // JMeter looks at the first value again to see whether there is more to do, and leaves it there.
                let (start, end) = self.bounds(index, each);
                if start < end {
                    self.bind(index, each, start);
                }
                self.write_index(index, id, start as u32);
            }
            _ => {}
        }
        if let (Some(parent), Some(open)) =
            (controller.parent, self.users[index].transactions().last_mut())
            && open.controller == parent
        {
            open.ended_controllers += 1;
        }
    }

    /// Leaves the place in the plan where `from` is the innermost controller.
    pub(crate) fn unwind(&mut self, index: Index, from: ControllerId, how: Leave) {
        let mut at = Some(from);
        while let Some(id) = at {
            let controller = self.controller(id);
            let is_group = controller.parent.is_none();
            let iterates = matches!(
                controller.kind,
                ControllerKind::Loop { .. } | ControllerKind::While(_) | ControllerKind::ForEach(_)
            );
            if is_group || (iterates && how != Leave::NextIteration) {
                if let Some(outermost) = self.cut_parent_transactions(index) {
                    let after = self.controller(outermost).after;
                    return self.jump(index, after);
                }
                return match how {
                    Leave::BreakLoop => self.leave(index, id),
                    _ => self.jump(index, Pc(controller.after.0 - 1)),
                };
            }
            match controller.kind {
                ControllerKind::Transaction(_) => self.abort_transaction(index, id),
                // Left before its end, it counts as not having run.
                ControllerKind::OnceOnly => self.users[index].state[controller.slot as usize] = 0,
                _ => {}
            }
            at = controller.parent;
        }
    }

    fn while_is_over(&mut self, index: Index, condition: &WhileCondition, at_end: bool) -> bool {
        let last_ok = self.users[index].last_ok;
        match condition {
            WhileCondition::Blank => at_end && !last_ok,
            WhileCondition::Last => !last_ok,
            WhileCondition::Expression(text) => {
                let user = &mut self.users[index];
                let mut value = self.texts.take();
                text.eval(&mut env!(self, user, ""), &mut value);
                let trimmed = value.trim();
                let over = if (at_end && trimmed.is_empty()) || trimmed.eq_ignore_ascii_case("LAST")
                {
                    !last_ok
                } else {
                    trimmed.eq_ignore_ascii_case("false")
                };
                self.texts.give(value);
                over
            }
        }
    }

    /// Sets a ForEach controller's output to its value number `at` + 1. False: there is none.
    fn bind(&mut self, index: Index, each: &ForEach, at: i32) -> bool {
        use std::fmt::Write;
        let user = &mut self.users[index];
        let mut name = self.texts.take();
        each.input.eval(&mut env!(self, user, ""), &mut name);
        let _ = write!(name, "{}{}", if each.separator { "_" } else { "" }, at + 1);
        let mut value = self.texts.take();
        let found =
            user.vars.get_named(&self.plan.names, &name).map(|text| value.push_str(text)).is_some();
        if found {
            name.clear();
            each.output.eval(&mut env!(self, user, ""), &mut name);
            user.vars.set_named(&self.plan.names, &name, &value);
        }
        self.texts.give(name);
        self.texts.give(value);
        found
    }

    /// Index before the first value and of the last one; what is no number is 0.
    fn bounds(&mut self, index: Index, each: &ForEach) -> (i32, i32) {
        let start = self.number(index, &each.start, 0);
        let end = match each.end.fixed() {
            Some("") => i64::from(i32::MAX),
            _ => self.number(index, &each.end, 0),
        };
        let narrow = |n: i64| i32::try_from(n).unwrap_or(0);
        (narrow(start), narrow(end))
    }

    /// Evaluates a text that should be a number.
    pub(crate) fn number(&mut self, index: Index, text: &Text, default: i64) -> i64 {
        let user = &mut self.users[index];
        let mut value = self.texts.take();
        text.eval(&mut env!(self, user, ""), &mut value);
        let trimmed = value.trim();
        let number = if trimmed.is_empty() { default } else { trimmed.parse().unwrap_or(default) };
        self.texts.give(value);
        number
    }

    fn controller(&self, id: ControllerId) -> &'p plan::plan::Controller {
        &self.plan.controllers[id.0 as usize]
    }
}
