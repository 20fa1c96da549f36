//! A user's turn: finds and begins its next sampler, or ends the user. Hot.

use plan::plan::{ControllerId, OnError, SamplerId};
use stats::Counter;

use crate::core::Core;
use crate::flow::search::{Pull, Walk};
use crate::flow::visit::Visit;
use crate::ids::UserId;
use crate::java::{Then, condition, controller};
use crate::redis;
use crate::sample::exceptions;
use crate::sample::outcome::continue_or_stop;
use crate::sample::reporting::Reporting;
use crate::users::Wait;

/// The result of a user's turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// The user can continue.
    On,
    /// The user waits or has ended.
    Waits,
    /// The user has used up its turn in a search for a sampler; other users run next.
    Over,
}

impl<'p> Core<'p> {
    /// Finds a user's next sampler and begins it.
    pub(crate) fn operate(&mut self, index: UserId) -> Turn {
        let main = self.main(index);
        let replays = if self.jobs.picks { controller::pending_calls(&self.cx, index) } else { 0 };
        // Between two samplers, the last sampler is still the current one.
        if self.cx.plan.asks_for_sampler
            && let Some(last) = self.cx.users[index].last_sampler
        {
            self.cx.texts.sampler = Some(self.cx.plan.samplers[last.0 as usize].name.clone());
        }
        self.cx.forget_thrown();
        let mut walk = self.walk(index, replays);
        let given = walk.pull(main);
        if let Some(at) = walk.lacks {
            redis::fetch(&mut self.cx, &mut self.sessions, index, at);
        }
        self.cx.texts.sampler = None;
        if given == Pull::Ends {
            self.end_user(index);
            return Turn::Waits;
        }
        if self.cx.users[index].alive && self.ends_by_exception(index) {
            return Turn::Waits;
        }
        if given != Pull::Later {
            condition::forget_all_texts(&mut self.cx, index);
            // A JMeter thread checks whether it must end only after it has found its next sampler, and then drops
            // that sampler.
            if self.cx.users[index].stopping {
                let has_next = match given {
                    Pull::Sampler(_) => true,
                    Pull::Ended(_) => self.visit(index, main).has_next_iteration(),
                    _ => false,
                };
                self.cx.recorder.add(Counter::SamplersNotBegun, u64::from(has_next));
                self.end_of_plan(index);
                return Turn::Waits;
            }
        }
        match given {
            Pull::Sampler(sampler) => {
                self.begin_sample(index, sampler);
            }
            Pull::Ended(transaction) => {
                self.reporting().finish_transaction(index, transaction);
                if self.cx.users[index].wait != Wait::Ready {
                    return Turn::Waits;
                }
                self.after_transaction(index);
            }
            Pull::Nothing => {
                if self.visit(index, main).is_done() {
                    self.end_of_plan(index);
                }
            }
            Pull::Later | Pull::Ends => return Turn::Over,
        }
        let user = &self.cx.users[index];
        if user.alive && user.wait == Wait::Ready { Turn::On } else { Turn::Waits }
    }

    /// Continues with the remaining timers of a user after its wait at a barrier. `met` is true if the barrier
    /// released the user.
    pub(crate) fn leave_barrier(&mut self, index: UserId, id: SamplerId, met: bool) {
        if let Some((timer, delay)) = self.flow.leave_barrier(&mut self.cx, index, met) {
            self.run_timers(index, id, timer, delay);
        }
    }

    /// Returns the root controller of a user, or of a branch.
    fn main(&self, index: UserId) -> ControllerId {
        let user = &self.cx.users[index];
        let branch = user.extra.as_ref().filter(|_| user.parallel).and_then(|extra| extra.main);
        branch.unwrap_or(self.cx.plan.groups[user.group.at()].main)
    }

    /// Creates a walk of the user through the tree of controllers. The walk replays `replays` pending calls to
    /// Java.
    pub(crate) fn walk(&mut self, index: UserId, replays: usize) -> Walk<'_, 'p> {
        let Self { cx, flow, jobs, sinks, .. } = self;
        Walk::new(Reporting { cx, jobs, sinks }, flow, index, replays)
    }

    /// Returns a [`Visit`] of a user at a controller.
    pub(crate) fn visit(&mut self, index: UserId, id: ControllerId) -> Visit<'_, 'p> {
        let root = self.cx.users.root(index);
        Visit::new(&mut self.cx, &mut self.flow, index, root, id)
    }

    /// Returns the parts of the core through which samples reach the recorder and the listeners.
    pub(crate) fn reporting(&mut self) -> Reporting<'_, 'p> {
        Reporting { cx: &mut self.cx, jobs: &mut self.jobs, sinks: &mut self.sinks }
    }

    /// Ends a user if a function threw an exception in the search for its next sampler. Returns false if no function
    /// threw an exception.
    pub(crate) fn ends_by_exception(&mut self, index: UserId) -> bool {
        let ends = exceptions::ends_user(&mut self.cx, index);
        if ends {
            self.end_of_plan(index);
        }
        ends
    }

    /// Ends a user that has completed its plan, after its listeners have received all samples.
    pub(crate) fn end_of_plan(&mut self, index: UserId) {
        if self.jobs.listens
            && !self.cx.gives_up(index)
            && self.reporting().catch_up(index, Then::End)
        {
            return;
        }
        // Transactions that the user left unfinished are not reported.
        if let Some(extra) = &mut self.cx.users[index].extra {
            extra.transactions.clear();
        }
        self.end_user(index);
    }

    /// Lets a user continue after a transaction with a parent sample. If assertions have failed the transaction, and
    /// errors start the next thread loop, JMeter has no current sampler, and its thread ends with an exception. Throng
    /// ends the user too.
    pub(crate) fn after_transaction(&mut self, index: UserId) {
        let user = &self.cx.users[index];
        let next_loop = self.cx.run.groups[user.group.at()].on_error == OnError::NextLoop;
        if next_loop && !user.last_ok && !user.parallel {
            let thread = self.cx.thread_name(index);
            self.cx.log(format!(
                "Test failed! {thread} ends: assertions failed a transaction with a parent sample, and JMeter's \
                \"start next thread loop\" finds no sampler there"
            ));
            return self.end_of_plan(index);
        }
        let step = continue_or_stop(&mut self.reporting(), index, None);
        self.take(index, step);
    }
}
