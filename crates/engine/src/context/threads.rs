//! Names of JMeter threads: for users, and for the branches that work for them.

use crate::context::Context;
use crate::ids::UserId;
use crate::users::NO_USER;
use crate::users::branches::Branches;

impl Context<'_> {
    /// Writes the JMeter thread name of a user. Returns the number of active users in its group and in the run.
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

    /// Returns the JMeter thread name of a user.
    pub(crate) fn thread_name(&self, index: UserId) -> String {
        let mut name = String::new();
        self.write_thread_name(index, &mut name);
        name
    }

    /// Writes the JMeter thread name of a parallel branch. Returns how many branches of its controller are running.
    fn write_branch_name(&self, branch: UserId, out: &mut String) -> u32 {
        let parent = self.users[branch].branch_of;
        let Some(branches) = self.branches(parent) else { return 0 };
        out.push_str("parallel ");
        out.push_str(self.sampler_name(parent, branches.id));
        branches.in_flight as u32
    }

    /// Marks the branches of a Parallel Controller as stopped, because an action in one of them ends the user. The user
    /// ends after its other branches have ended.
    pub(crate) fn stop_around(&mut self, index: UserId) {
        let parent = self.users[index].branch_of;
        if parent != NO_USER
            && let Some(branches) = self.branches_mut(parent)
        {
            branches.stops = true;
        }
    }

    /// Returns the running branches of a user's Parallel Controller.
    pub(crate) fn branches_mut(&mut self, index: UserId) -> Option<&mut Branches> {
        self.users[index].extra.as_mut()?.parts.get_mut()
    }

    /// Returns true if the samples of a branch are only sub-results of its controller's parent sample.
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
