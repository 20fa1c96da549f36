//! Arrivals of a schedule: start users for them, and end the users when no arrival remains.

use stats::Counter;

use crate::core::Core;
use crate::flow::arrivals::restart_iteration;
use crate::flow::owner::ArrivalUser;
use crate::flow::schedule::OVER;
use crate::ids::{UserId, Waiter};
use crate::time::clock::Nanos;
use crate::users::Wait;
use plan::plan::GroupId;

impl Core<'_> {
    /// Counts the next arrival of a schedule that this core owns, and starts its iteration. If `number` is [`OVER`],
    /// ends the arrivals instead. During a pause, arrivals are dropped.
    pub(crate) fn arrival(&mut self, group: GroupId, number: u32, at: Nanos) {
        if self.paused && number != OVER {
            return;
        }
        let moment = self.flow.arrival(&self.cx, group, number, at);
        if number != OVER {
            self.cx.recorder.add(Counter::StartsDue, 1);
            self.cx.recorder.add(Counter::StartsMissed, u64::from(moment.is_lost));
        }
        match moment.here {
            None => {}
            Some(ArrivalUser::Free(waiter)) => self.on_arrival(group, Some(waiter), at),
            Some(ArrivalUser::New) => self.on_arrival(group, None, at),
        }
        if moment.is_last {
            self.flow.end_arrivals(&self.cx, group, at);
            self.close_arrivals(group);
        }
    }

    /// Runs an iteration for an arrival: with the free user that waits for an arrival, or with a new user.
    pub(crate) fn on_arrival(&mut self, group: GroupId, waiter: Option<Waiter>, at: Nanos) {
        if self.cx.stop.asked {
            return;
        }
        match waiter {
            Some(waiter) => restart_iteration(&mut self.cx, group, waiter, at),
            None => {
                let number = self.cx.run.counts.number(group, self.cx.run.shard);
                self.start_user(group, number, at);
            }
        }
    }

    /// Closes a group's schedule of arrivals on this core, and ends the users that wait for an arrival.
    pub(crate) fn close_arrivals(&mut self, group: GroupId) {
        self.flow.close_schedule(group);
        for index in (0..self.cx.users.all.len() as u32).map(UserId::from) {
            let user = &self.cx.users[index];
            if user.alive && user.group == group && user.wait == Wait::Arrival {
                self.end_user(index);
            }
        }
    }
}
