//! Names that JMeter's threads would have: those of users, and of the branches that work for them.

use crate::context::Context;
use crate::ids::UserId;
use crate::users::NO_USER;
use crate::users::branches::Branches;

impl Context<'_> {
    /// Writes what JMeter calls the user's thread; gives the active users of its group, and of all.
    pub(crate) fn write_thread_name(&self, index: UserId, out: &mut String) -> (u32, u32) {
        let user = &self.users[index];
        let group = &self.run.groups[user.group.at()];
        let mut active = self.run.counts.active(user.group);
        if user.parallel {
            active.0 = self.write_branch_name(index, out);
        } else {
            out.push_str(&group.prefix);
            out.push_str(&group.name);
            out.push_str(group.tail);
            push_number(out, ' ', group.number);
            push_number(out, '-', user.number + 1);
        }
        active
    }

    /// The user's thread name in JMeter, as a text of its own.
    pub(crate) fn thread_name(&self, index: UserId) -> String {
        let mut name = String::new();
        self.write_thread_name(index, &mut name);
        name
    }

    /// Writes what JMeter calls the thread of a branch; gives how many branches run beside it and itself.
    fn write_branch_name(&self, branch: UserId, out: &mut String) -> u32 {
        let parent = self.users[branch].branch_of;
        let Some(branches) = self.branches(parent) else { return 0 };
        out.push_str("parallel ");
        out.push_str(self.sampler_name(parent, branches.id));
        branches.in_flight as u32
    }

    /// An action has ended its user: of a branch, the user ends when its other branches have.
    pub(crate) fn stop_around(&mut self, index: UserId) {
        let parent = self.users[index].branch_of;
        if parent != NO_USER
            && let Some(branches) = self.branches_mut(parent)
        {
            branches.stops = true;
        }
    }

    /// The branches of a user's Parallel Controller, while they run, to be changed.
    pub(crate) fn branches_mut(&mut self, index: UserId) -> Option<&mut Branches> {
        self.users[index].extra.as_mut()?.parts.get_mut()
    }

    /// Whether what a branch reports is only part of the sample around it.
    pub(crate) fn is_silent(&self, index: UserId) -> bool {
        let user = &self.users[index];
        user.parallel
            && self.branches(user.branch_of).is_some_and(|branches| branches.whole.is_some())
    }

    fn branches(&self, index: UserId) -> Option<&Branches> {
        self.users[index].extra.as_ref()?.parts.get()
    }
}

fn push_number(text: &mut String, before: char, number: u32) {
    text.push(before);
    text.push_str(itoa::Buffer::new().format(number));
}
