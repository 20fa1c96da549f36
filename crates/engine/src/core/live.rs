//! Changes of the load while the run goes on: users added and removed, another rate, a pause.
//!
//! Costs a look at one flag for each turn of a user. Users that are removed end after their sample in flight, as those of a
//! run that is stopped; users that are added start at once, 64 for each turn of the loop.

use plan::plan::GroupId;

use crate::core::Core;
use crate::flow::owner::owner_of;
use crate::flow::schedule::Start;
use crate::ids::UserId;
use crate::time::clock::Nanos;
use crate::users::{NO_USER, Wait};

impl Core<'_> {
    /// From now on the run has so many users of a group, of which this core has its share. What the plan still had to start
    /// does not start.
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
            // Numbers of those who were there from the begin are not used twice.
            let taken = self.cx.run.groups[group.at()].users;
            let number =
                || taken.saturating_add(self.cx.run.counts.number(group, self.cx.run.shard));
            let numbers = (0..missing).map(|_| (now, number())).collect();
            self.flow.starts.push(Start::at_once(group, numbers));
        }
        // Who starts, or has nothing to start, is found to be so by the loop.
        if self.cx.stop.asked {
            self.group_may_be_done(group);
        }
    }

    /// Users of a group that have not been told to end.
    fn staying(&self, group: GroupId) -> Vec<UserId> {
        let all = (0..self.cx.users.all.len() as u32).map(UserId::from);
        let stays = |index: &UserId| {
            let user = &self.cx.users[*index];
            let root = user.branch_of == NO_USER;
            user.alive && user.group == group && root && !user.stopping
        };
        all.filter(stays).collect()
    }

    /// Whether a group has as many users on this core as were asked for while the run went on.
    pub(crate) fn is_full(&self, group: GroupId) -> bool {
        self.flow.levels[group.at()]
            .is_some_and(|wanted| self.staying(group).len() >= wanted as usize)
    }

    /// From now on iterations of a group start at another rate, as far as the schedule is here.
    pub(crate) fn set_rate(&mut self, group: GroupId, rate: f64, change: u32) {
        self.flow.changes[group.at()] = change;
        let now = self.cx.clock.now();
        let is_owner = owner_of(group, self.cx.run.cores) == self.cx.index;
        for start in self.flow.starts.iter_mut().filter(|start| start.group == group && is_owner) {
            start.set_rate(rate, now, self.cx.run.shard);
        }
        self.group_may_be_done(group);
    }

    /// Samples in flight finish, and no other begins; or all goes on.
    pub(crate) fn pause(&mut self, paused: bool) {
        self.paused = paused && !self.cx.stop.asked;
        if !self.paused {
            for index in std::mem::take(&mut self.parked) {
                self.go_on_after_pause(index);
            }
        }
    }

    /// Puts a user aside until the run goes on, if it is at a place where it can wait.
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

    /// Users whose time is over end, paused or not.
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

    /// The pause is no time that it has waited for anything here.
    fn go_on_after_pause(&mut self, index: UserId) {
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
        self.put_in_line(index);
    }
}
