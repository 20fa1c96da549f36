//! Arrivals: a schedule defines times, and at each time a free or a new user runs an iteration.
//!
//! Each such group has an owner core, which alone holds the schedule and the list of free users. Users that have
//! ended an iteration ask the owner for the next one, like users at a barrier ([`crate::flow::barriers`]), and
//! wait. Of the free users, the one with the lowest number runs next. If the maximum number of users is busy, the
//! arrival is lost. An iteration costs two messages if its user runs on another core than the owner.

use plan::plan::GroupId;

use crate::context::Context;
use crate::flow::Flow;
use crate::flow::owner::{ArrivalUser, Pool};
use crate::flow::schedule::OVER;
use crate::flow::search::Pull;
use crate::ids::{UserId, Waiter};
use crate::inbox::{Message, OwnerRequest};
use crate::time::clock::Nanos;
use crate::users::Wait;
use crate::users::controllers as state;

/// The result of one arrival of a schedule.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ArrivalResult {
    /// The user for this arrival, if the user runs on this core.
    pub(crate) here: Option<ArrivalUser>,
    /// True if no arrivals remain.
    pub(crate) is_last: bool,
    /// True if the maximum number of users is busy, so that the arrival is lost.
    pub(crate) is_lost: bool,
}

impl Flow {
    /// Assigns the next arrival of a schedule that this core owns to a free or a new user. If the user belongs to
    /// another core, sends the arrival to that core.
    pub(crate) fn arrival(
        &mut self,
        cx: &Context<'_>,
        group: GroupId,
        number: u32,
        at: Nanos,
    ) -> ArrivalResult {
        let mut moment = ArrivalResult { here: None, is_last: false, is_lost: false };
        let Some(bounds) = cx.run.groups[group.at()].arrivals else { return moment };
        if number == OVER {
            return ArrivalResult { is_last: true, ..moment };
        }
        let most = match bounds.users {
            0 => 0,
            users => cx.run.shard.users(users).max(1),
        };
        let pool = self.owner.pools.entry(group).or_default();
        let Some(who) = pool.arrive(most) else { return ArrivalResult { is_lost: true, ..moment } };
        moment.is_last =
            bounds.arrivals > 0 && pool.arrived >= cx.run.shard.users_of(bounds.arrivals).max(1);
        let (core, waiter) = match who {
            ArrivalUser::Free(waiter) => (waiter.core, Some(waiter)),
            ArrivalUser::New => {
                pool.next += 1;
                ((pool.next - 1) % cx.run.cores, None)
            }
        };
        if core == cx.index {
            moment.here = Some(who);
        } else {
            cx.run.inbox(core).send(Message::Arrival(group, waiter, at));
        }
        moment
    }

    /// Ends the arrivals of a group and notifies the other cores. Users end after their current sample if no arrival
    /// was lost, or if the maximum number of arrivals is reached. Otherwise, and if the rate was set outside of the
    /// plan, users finish their iteration.
    pub(crate) fn end_arrivals(&mut self, cx: &Context<'_>, group: GroupId, at: Nanos) {
        let pool = self.owner.pools.remove(&group).unwrap_or_default();
        // If the rate was set outside the plan, started iterations are completed, because they are the requested
        // load.
        let whole = cx.run.groups[group.at()].rate.is_some();
        if !whole && (pool.lost == 0 && pool.arrived > 0 || is_reached(cx, group, &pool)) {
            cx.run.close(group, at);
        }
        for core in (0..cx.run.cores).filter(|core| *core != cx.index) {
            cx.run.inbox(core).send(Message::NoArrivals(group));
        }
    }

    /// Closes the schedule of a group on this core.
    pub(crate) fn close_schedule(&mut self, group: GroupId) {
        for start in self.starts.iter_mut().filter(|start| start.group == group) {
            start.close();
        }
    }
}

/// Returns true if the maximum number of arrivals of the group is reached.
fn is_reached(cx: &Context<'_>, group: GroupId, pool: &Pool) -> bool {
    let bound = cx.run.groups[group.at()].arrivals.map_or(0, |bounds| bounds.arrivals);
    bound > 0 && pool.arrived >= cx.run.shard.users_of(bound).max(1)
}

/// Lets a user run another iteration, if the user still waits for an arrival.
pub(crate) fn restart_iteration(cx: &mut Context<'_>, group: GroupId, waiter: Waiter, at: Nanos) {
    let index = waiter.user;
    let waits = cx.users.all.get(index.at()).is_some_and(|user| {
        user.alive
            && user.wait == Wait::Arrival
            && user.extra.as_ref().is_some_and(|extra| extra.free == Some(waiter))
    });
    if waits {
        cx.run.counts.resume(group);
        let user = &mut cx.users[index];
        user.extra().free = None;
        user.wait = Wait::Ready;
        user.intended = at;
        let main = cx.plan.groups[group.at()].main;
        cx.controller_state(index, main).set(state::ARRIVED);
        cx.queue.later.push_user(index);
    }
}

impl Flow {
    /// Makes a user wait for the next arrival, or ends the user if no arrival remains. Returns `None` if an arrival has
    /// already started this iteration.
    pub(crate) fn awaits_arrival(&mut self, cx: &mut Context<'_>, index: UserId) -> Option<Pull> {
        let (group, number) = (cx.users[index].group, cx.users[index].number);
        if cx.users[index].parallel || cx.run.groups[group.at()].arrivals.is_none() {
            return None;
        }
        let main = cx.plan.groups[group.at()].main;
        if cx.controller_state(index, main).is(state::ARRIVED) {
            return None;
        }
        if !self.starts.iter().any(|start| start.group == group && !start.finished()) {
            return Some(Pull::Ends);
        }
        let waiter = self.waiter(cx, index);
        cx.run.counts.pause(group);
        let user = &mut cx.users[index];
        user.wait = Wait::Arrival;
        user.extra().free = Some(waiter);
        self.ask(cx, OwnerRequest::Free { group, number, waiter });
        Some(Pull::Later)
    }

    /// Removes a user that ends from the free or busy users of its group.
    pub(crate) fn end_arrival(&mut self, cx: &mut Context<'_>, index: UserId) {
        let user = &mut cx.users[index];
        let (group, number) = (user.group, user.number);
        if user.parallel || cx.run.groups[group.at()].arrivals.is_none() {
            return;
        }
        if user.extra.as_mut().is_some_and(|extra| extra.free.take().is_some()) {
            cx.run.counts.resume(group);
        }
        self.ask(cx, OwnerRequest::Leave { group, number });
    }
}
