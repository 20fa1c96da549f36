//! Users that wait for other users: at Synchronizing Timers, and before Critical Sections.
//!
//! Each barrier and each lock has an owner core, which alone holds the list of waiting users. Users of other cores
//! send a message to the owner and are released by a message, so that no core blocks. A waiter handle is valid for
//! one wait: a release that arrives after the user gave up or ended is ignored. A wait costs a message each way if
//! the owner is another core.

use crate::context::Context;
use crate::flow::Flow;
use crate::ids::{UserId, Waiter};
use crate::inbox::{Message, OwnerRequest};
use crate::sample::step::Arrival;
use crate::time::clock::MS;
use crate::users::{BarrierWait, Wait};

/// Releases a user that waits at a barrier or for a lock.
pub(crate) fn release_waiter(cx: &mut Context<'_>, waiter: Waiter) {
    let index = waiter.user;
    let Some(extra) = cx.users.all.get_mut(index.at()).and_then(|user| user.extra.as_mut()) else {
        return;
    };
    if let Some(held) = extra.locks.iter_mut().find(|held| held.waiter == waiter) {
        held.granted = true;
        // A user that gets the lock immediately is not waiting.
        if cx.users[index].wait == Wait::Lock {
            cx.users[index].wait = Wait::Ready;
            cx.queue.later.push_user(index);
        }
    } else if extra.meeting.as_ref().is_some_and(|meeting| meeting.waiter == waiter) {
        cx.timers.wheel.remove(index, &mut cx.users);
        if let Wait::Barrier(sampler) = cx.users[index].wait {
            // The last user to arrive at the barrier does not wait, but its remaining timers must still run.
            cx.users[index].wait = Wait::Met(sampler);
            cx.queue.later.push_user(index);
        }
    }
}

impl Flow {
    pub(crate) fn ask(&mut self, cx: &mut Context<'_>, ask: OwnerRequest) {
        match ask.owner(cx.run.cores) {
            owner if owner == cx.index => self.answer(cx, ask),
            owner => cx.run.inbox(owner).send(Message::OwnerRequest(ask)),
        }
    }

    /// Handles a request of this or another core, and releases the waiters that may continue.
    pub(crate) fn answer(&mut self, cx: &mut Context<'_>, ask: OwnerRequest) {
        for waiter in self.owner.answer(ask) {
            if waiter.core == cx.index {
                release_waiter(cx, waiter);
            } else {
                cx.run.inbox(waiter.core).send(Message::LetGo(waiter));
            }
        }
    }

    pub(crate) fn waiter(&mut self, cx: &Context<'_>, user: UserId) -> Waiter {
        self.meetings += 1;
        Waiter { core: cx.index, user, number: self.meetings }
    }

    /// Makes a user wait at a Synchronizing Timer.
    pub(crate) fn arrive(&mut self, cx: &mut Context<'_>, index: UserId, arrival: &Arrival) {
        let Arrival { sampler, barrier, timeout, timer, delay, .. } = *arrival;
        // The share of the barrier's size that belongs to the users of this process.
        let size = cx.run.shard.users(arrival.size).max(1);
        let now = cx.clock.now();
        let limit = (timeout > 0).then(|| now.saturating_add(timeout.saturating_mul(MS)));
        let end = [limit, cx.ends_at(index)].into_iter().flatten().min();
        let waiter = self.waiter(cx, index);
        let user = &mut cx.users[index];
        user.wait = Wait::Barrier(sampler);
        user.extra().meeting = Some(BarrierWait { barrier, waiter, timer, delay });
        if let Some(end) = end {
            cx.timers.wheel.insert(index, end.max(now), &mut cx.users);
        }
        self.ask(cx, OwnerRequest::Arrive { barrier, size, waiter });
    }

    /// Ends a user's wait at a barrier; `met` is true if the barrier released the user. Returns the timer to continue
    /// with, and the summed delay of the timers before it.
    pub(crate) fn leave_barrier(
        &mut self,
        cx: &mut Context<'_>,
        index: UserId,
        met: bool,
    ) -> Option<(usize, u64)> {
        let meeting = cx.users[index].extra().meeting.take()?;
        if !met {
            self.ask(cx, OwnerRequest::GiveUp { barrier: meeting.barrier, waiter: meeting.waiter });
        }
        cx.users[index].intended = cx.clock.now();
        Some((meeting.timer, meeting.delay))
    }

    /// Removes a user that ends from its barrier, and releases its locks.
    pub(crate) fn end_meetings(&mut self, cx: &mut Context<'_>, index: UserId) {
        self.leave_meeting(cx, index);
        let Some(extra) = &mut cx.users[index].extra else { return };
        for held in std::mem::take(&mut extra.locks) {
            if !held.inner {
                self.ask(cx, OwnerRequest::Unlock { name: held.name, waiter: held.waiter });
            }
        }
    }

    /// Removes a user from its barrier.
    pub(crate) fn leave_meeting(&mut self, cx: &mut Context<'_>, index: UserId) {
        let extra = cx.users[index].extra.as_mut();
        if let Some(meeting) = extra.and_then(|extra| extra.meeting.take()) {
            self.ask(cx, OwnerRequest::GiveUp { barrier: meeting.barrier, waiter: meeting.waiter });
        }
    }
}
