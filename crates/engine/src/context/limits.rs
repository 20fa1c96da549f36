//! Time limits: of the user's current wait, and of its thread group. Hot.

use crate::context::Context;
use crate::ids::UserId;
use crate::session::Around;
use crate::time::clock::Nanos;

impl Context<'_> {
    /// Sets the time limit of the user's exchange. Moves the timer only if it would fire too late.
    pub(crate) fn arm(&mut self, index: UserId, limit: Nanos) {
        let user = &mut self.users[index];
        user.limit = limit;
        if !user.links.armed() || user.links.deadline > limit {
            self.timers.wheel.insert(index, limit, &mut self.users);
        }
    }

    /// Returns true if the duration of the user's group is over.
    pub(crate) fn time_is_up(&self, index: UserId) -> bool {
        self.ends_at(index).is_some_and(|end| self.clock.now() >= end)
    }

    /// Returns the time at which a user must end, if there is a limit.
    pub(crate) fn ends_at(&self, index: UserId) -> Option<Nanos> {
        let user = &self.users[index];
        // A parallel branch ignores the group's end and runs to its own end, as in JMeter.
        if user.parallel { None } else { self.run.ends_at(user.group, user.number) }
    }

    /// Returns the parts of the context that sessions use.
    #[inline]
    pub(crate) fn around(&mut self) -> Around<'_> {
        Around {
            clock: &self.clock,
            random: &mut self.random,
            net: &mut self.net,
            users: &mut self.users,
            timers: &mut self.timers,
            recorder: &mut self.recorder,
            done: &mut self.queue,
        }
    }
}
