//! Live changes of the load during the run: users added or removed, a new rate, a pause.
//!
//! The cost is one check of a flag per turn of a user. Removed users end after their current sample, as in a run that
//! is stopped. Added users start immediately, 64 per iteration of the loop.

use plan::plan::GroupId;

use crate::core::Core;
use crate::flow::owner::owner_of;
use crate::flow::schedule::Start;
use crate::ids::UserId;
use crate::time::clock::Nanos;
use crate::users::{NO_USER, Wait};

impl Core<'_> {
    /// Sets the number of users of a group in the whole run; this core runs its share of them. Users that the
    /// plan's schedule has not started yet are cancelled.
    pub(crate) fn set_level(&mut self, group: GroupId, users: u32, change: u32) {
        self.flow.changes[group.at()] = change;
        self.flow.starts.retain(|start| start.group != group);
        if !self.cx.stop.asked {
            let (rank, ranks) = (self.cx.run.rank(self.cx.index), self.cx.run.ranks());
            let wanted = users / ranks + u32::from(rank < users % ranks);
            self.flow.levels[group.at()] = Some(wanted);
            let staying = self.staying(group);
            let excess = staying.len().saturating_sub(wanted as usize);
            for index in staying.iter().rev().take(excess) {
                self.end_soon(*index);
            }
            let missing = (wanted as usize).saturating_sub(staying.len());
            let now = self.cx.clock.now();
            // The numbers of the group's original users are not reused.
            let taken = self.cx.run.groups[group.at()].users;
            let number =
                || taken.saturating_add(self.cx.run.counts.number(group, self.cx.run.shard));
            let numbers = (0..missing).map(|_| (now, number())).collect();
            self.flow.starts.push(Start::at_once(group, numbers));
        }
        // Unless the run stops, `start_users` notices when the group is done.
        if self.cx.stop.asked {
            self.group_may_be_done(group);
        }
    }

    /// Returns the users of a group that have not been asked to end.
    fn staying(&self, group: GroupId) -> Vec<UserId> {
        let all = (0..self.cx.users.all.len() as u32).map(UserId::from);
        let stays = |index: &UserId| {
            let user = &self.cx.users[*index];
            let root = user.branch_of == NO_USER;
            user.alive && user.group == group && root && !user.stopping
        };
        all.filter(stays).collect()
    }

    /// Returns true if this core runs as many users of the group as the last live change requested.
    pub(crate) fn is_full(&self, group: GroupId) -> bool {
        self.flow.levels[group.at()]
            .is_some_and(|wanted| self.staying(group).len() >= wanted as usize)
    }

    /// Sets a new rate of iterations for a group, if this core owns its schedule.
    pub(crate) fn set_rate(&mut self, group: GroupId, rate: f64, change: u32) {
        self.flow.changes[group.at()] = change;
        let now = self.cx.clock.now();
        let is_owner = owner_of(group, self.cx.run.cores) == self.cx.index;
        for start in self.flow.starts.iter_mut().filter(|start| start.group == group && is_owner) {
            start.set_rate(rate, now, self.cx.run.shard);
        }
        self.group_may_be_done(group);
    }

    /// Pauses or resumes: during a pause, samples in flight finish and no sample begins.
    pub(crate) fn pause(&mut self, paused: bool) {
        self.paused = paused && !self.cx.stop.asked;
        if !self.paused {
            for index in std::mem::take(&mut self.parked) {
                self.resume_after_pause(index);
            }
        }
    }

    /// Parks a user until the pause ends. Returns false if the user is stopping, or is in a state in which it cannot be
    /// parked.
    pub(crate) fn park(&mut self, index: UserId) -> bool {
        let user = &mut self.cx.users[index];
        if user.stopping {
            return false;
        }
        match user.wait {
            Wait::Queued => user.wait = Wait::Ready,
            Wait::Ready | Wait::Delay(_) | Wait::Pause(_) | Wait::Barrier(_) | Wait::Met(_) => {}
            _ => return false,
        }
        if user.alive {
            self.parked.push(index);
        }
        true
    }

    /// Ends parked users whose group's duration is over.
    pub(crate) fn end_parked(&mut self) {
        let parked = std::mem::take(&mut self.parked);
        for index in parked {
            if self.cx.users[index].alive && self.cx.time_is_up(self.cx.users.root(index)) {
                self.end_soon(index);
            } else {
                self.parked.push(index);
            }
        }
    }

    /// Resumes a user after a pause. The duration of the pause does not count as lateness of the user.
    fn resume_after_pause(&mut self, index: UserId) {
        let now: Nanos = self.cx.clock.now();
        let user = &mut self.cx.users[index];
        if !user.alive {
            return;
        }
        match user.wait {
            Wait::Delay(_) => user.links.deadline = user.links.deadline.max(now),
            Wait::Ready => user.intended = user.intended.max(now),
            _ => {}
        }
        self.queue_user(index);
    }
}
