//! Parallel branches: the children of a bzm Parallel Controller run at the same time, each on a branch of its user.
//!
//! A branch is a slot among the users, but not a virtual user. It searches its part of the controller tree for
//! samplers and runs them as a user would. It has its own connections, but shares the variables, cookies and
//! controller state of its user, which waits meanwhile. When a branch ends, it queues its user, which starts the
//! remaining branches and continues when all have ended. With a parent sample, the samples of branches become
//! sub-results and are not reported separately. Each running branch costs a slot and a box.

use plan::plan::{ControllerId, OnError, Parallel, SamplerId, SamplerKind};
use plan::result::{Request, SampleResult};
use stats::Outcome;

use crate::context::Context;
use crate::flow::Flow;
use crate::flow::visit::Visit;
use crate::ids::{NO_SOCKET, UserId};
use crate::time::timing::Timing;
use crate::users::branches::Branches;
use crate::users::controllers as state;
use crate::users::{LoopControl, NO_USER, Wait};

/// The next step of a user that runs a Parallel Controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// The user waits for its branches, or for the end of the parent sample.
    Waits,
    /// The user continues after branches that have no parent sample. `ends_iteration` is true if a branch has ended the
    /// user's iteration.
    Behind { id: SamplerId, ends_iteration: bool },
}

/// The result of a user's check of its branches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BranchCheck {
    pub(crate) next: Next,
    /// A branch that could not begin and must be ended.
    pub(crate) ended: Option<UserId>,
    /// True if all branches have ended.
    pub(crate) all: bool,
}

impl Flow {
    /// Starts the branches of a Parallel Controller.
    pub(crate) fn begin_branches<'p>(
        &mut self,
        cx: &mut Context<'p>,
        index: UserId,
        id: SamplerId,
        parallel: &'p Parallel,
    ) -> BranchCheck {
        let timing = cx.begin_timing(index);
        let at_a_time = match &parallel.most {
            None => usize::MAX,
            Some(most) => usize::try_from(cx.java_number(index, most)).unwrap_or(0),
        };
        let closed = cx.users[index].extra.as_ref().is_some_and(|one| one.closed.contains(&id));
        // The plug-in has no threads left, or cannot create a pool of this size: no branch runs, and nothing is
        // reported.
        if at_a_time == 0 || closed {
            return BranchCheck {
                next: Next::Behind { id, ends_iteration: false },
                ended: None,
                all: true,
            };
        }
        let whole = parallel.parent.then(|| whole_of(cx, index, id, &timing, parallel));
        let user = &mut cx.users[index];
        user.wait = Wait::Branches(id);
        user.extra().parts.put(Box::new(Branches {
            id,
            timing,
            whole,
            lag: 0,
            next: 0,
            in_flight: 0,
            at_a_time,
            called: false,
            stops: false,
            ends_iteration: false,
            cut: false,
        }));
        let root = cx.users.of(index);
        let again = root.iteration > 1;
        let extra = root.extra();
        if !std::mem::replace(&mut extra.new_each_iteration, true) {
            extra.again = again;
        }
        self.start_branches(cx, index)
    }

    /// Starts the next branch of a user, if a further branch may start now. If all branches have ended, the user
    /// continues.
    pub(crate) fn check_branches(&mut self, cx: &mut Context<'_>, index: UserId) -> BranchCheck {
        if let Some(branches) = cx.branches_mut(index) {
            branches.called = false;
        }
        self.start_branches(cx, index)
    }

    /// Starts the next branch if the limit of concurrent branches allows. After the first turn of this branch, the user
    /// is queued to start a further branch. If all branches have ended, the user continues.
    fn start_branches(&mut self, cx: &mut Context<'_>, index: UserId) -> BranchCheck {
        let waits = BranchCheck { next: Next::Waits, ended: None, all: false };
        let plan = cx.plan;
        let stopping = cx.stop.asked;
        let Some(branches) = cx.branches_mut(index) else { return waits };
        let SamplerKind::Parallel(parallel) = &plan.samplers[branches.id.0 as usize].kind else {
            return waits;
        };
        let Some(next) = parallel.branches.get(branches.next).filter(|_| !stopping) else {
            if branches.in_flight > 0 {
                return waits;
            }
            return BranchCheck { next: join(cx, index), ended: None, all: true };
        };
        if branches.in_flight >= branches.at_a_time {
            return waits;
        }
        branches.next += 1;
        branches.in_flight += 1;
        let called = std::mem::replace(&mut branches.called, true);
        let ended = self.start_branch(cx, index, *next).err();
        if !called {
            cx.queue.now.push_user(index);
        }
        BranchCheck { ended, ..waits }
    }

    /// Starts a branch. `Err`: the branch could not begin.
    fn start_branch(
        &mut self,
        cx: &mut Context<'_>,
        parent: UserId,
        main: ControllerId,
    ) -> Result<(), UserId> {
        let branch = cx.users.branch(parent, cx.clock.now());
        let user = &mut cx.users[branch];
        // For JMeter, each branch is the first user of a group.
        (user.parallel, user.number, user.fresh) = (true, 0, true);
        user.extra = None;
        user.extra().main = Some(main);
        cx.users.of(branch).iteration += 1;
        cx.set_last_ok(branch, true);
        cx.controller_state(branch, main).0.fill(0);
        for child in &cx.controller(main).children {
            if let plan::plan::Child::Controller(inner) = child {
                cx.controller_state(branch, *inner).clear(state::DROPPED);
            }
        }
        let root = cx.users.root(branch);
        if !Visit::new(cx, self, branch, root, main).begin() {
            return Err(branch);
        }
        cx.make_ready(branch);
        Ok(())
    }
}

/// Returns the parent sample of all branches before they run. Its request data lists the names of the branches.
fn whole_of(
    cx: &mut Context<'_>,
    index: UserId,
    id: SamplerId,
    timing: &Timing,
    parallel: &Parallel,
) -> Box<SampleResult> {
    let mut whole = cx.begin_result(index, id, timing);
    whole.success = true;
    whole.code.push_str("200");
    whole.message.push_str("OK");
    whole.sampler_data.push_str("Parallel items:\n");
    for branch in &parallel.branches {
        let name = &cx.controller(*branch).name;
        name.eval(&mut cx.env(index, ""), &mut whole.sampler_data);
        whole.sampler_data.push('\n');
    }
    whole
}

/// Ends a branch and frees its slot. Returns its user if the user must check its branches.
pub(crate) fn end_branch(cx: &mut Context<'_>, branch: UserId) -> Option<UserId> {
    let user = &mut cx.users[branch];
    let parent = user.branch_of;
    (user.alive, user.parallel, user.branch_of, user.wait) = (false, false, NO_USER, Wait::Ready);
    (user.stopping, user.last_sampler, user.extra) = (false, None, None);
    (user.setbacks, user.paced) = (0, false);
    user.socket = NO_SOCKET;
    cx.users.free_branch(branch);
    let branches = cx.branches_mut(parent)?;
    branches.in_flight -= 1;
    (!std::mem::replace(&mut branches.called, true)).then_some(parent)
}

/// Completes a Parallel Controller after all branches have ended.
fn join(cx: &mut Context<'_>, index: UserId) -> Next {
    let user = &mut cx.users[index];
    let Some(mut branches) = user.extra().parts.take::<Branches>() else { return Next::Waits };
    user.wait = Wait::Ready;
    if branches.stops {
        user.stopping = true;
        cx.stop_around(index);
    }
    let Some(mut whole) = branches.whole.take() else {
        return Next::Behind { id: branches.id, ends_iteration: branches.ends_iteration };
    };
    if branches.ends_iteration {
        whole.request = Request::NextIteration;
    }
    let mut timing = branches.timing;
    if whole.sub_count == 0 {
        timing.end = cx.clock.now();
    }
    (timing.received, timing.sent) = (whole.bytes, whole.sent);
    // The branches ran in parallel, so each contributes its share of the summed lag.
    timing.lag += branches.lag / branches.at_a_time.min(branches.next.max(1)) as u64;
    let outcome = match (branches.cut, whole.success) {
        (true, _) => Outcome::CutByEnd,
        (false, true) => Outcome::Ok,
        (false, false) => Outcome::Status,
    };
    cx.conclude(index, branches.id, timing, outcome, Some(whole));
    Next::Waits
}

/// Returns the controller that a user leaves for the next iteration of its group after branches without a parent
/// sample. `None` if the user continues after the controller.
pub(crate) fn leaves_behind(
    cx: &mut Context<'_>,
    index: UserId,
    id: SamplerId,
    ends_iteration: bool,
) -> Option<(ControllerId, LoopControl)> {
    let sampler = &cx.plan.samplers[id.0 as usize];
    cx.users[index].intended = cx.clock.now();
    let user = &cx.users[index];
    let next_loop = cx.run.groups[user.group.at()].on_error == OnError::NextLoop;
    let failed = !user.parallel && next_loop && !user.last_ok;
    (ends_iteration || failed).then_some((sampler.controller, LoopControl::NextIteration))
}
