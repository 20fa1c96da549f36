//! Names that JMeter's threads would have: those of users, and of the lanes that work for them.

use crate::context::Context;
use crate::ids::UserId;
use crate::users::NO_USER;
use crate::users::lanes::Lanes;

impl Context<'_> {
    /// Writes what JMeter calls the user's thread; gives the active users of its group, and of all.
    pub(crate) fn write_thread_name(&self, index: UserId, out: &mut String) -> (u32, u32) {
        let user = &self.users[index];
        let group = &self.run.groups[user.group.at()];
        let mut active = self.run.counts.active(user.group);
        if user.lane {
            active.0 = self.write_lane_name(index, out);
        } else {
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

    /// Writes what JMeter calls the thread of a lane; gives how many lanes run beside it and itself.
    fn write_lane_name(&self, lane: UserId, out: &mut String) -> u32 {
        let parent = self.users[lane].branch_of;
        let Some(lanes) = self.lanes(parent) else { return 0 };
        out.push_str("parallel ");
        out.push_str(self.sampler_name(parent, lanes.id));
        lanes.under_way as u32
    }

    /// An action has ended its user: of a lane, the user ends when its other lanes have.
    pub(crate) fn stop_around(&mut self, index: UserId) {
        let parent = self.users[index].branch_of;
        if parent != NO_USER
            && let Some(lanes) = self.lanes_mut(parent)
        {
            lanes.stops = true;
        }
    }

    /// The lanes of a user's Parallel Controller, while they run, to be changed.
    pub(crate) fn lanes_mut(&mut self, index: UserId) -> Option<&mut Lanes> {
        self.users[index].extra.as_mut()?.parts.get_mut()
    }

    /// Whether what a lane reports is only part of the sample around it.
    pub(crate) fn is_silent(&self, index: UserId) -> bool {
        let user = &self.users[index];
        user.lane && self.lanes(user.branch_of).is_some_and(|lanes| lanes.whole.is_some())
    }

    fn lanes(&self, index: UserId) -> Option<&Lanes> {
        self.users[index].extra.as_ref()?.parts.get()
    }
}

fn push_number(text: &mut String, before: char, number: u32) {
    text.push(before);
    text.push_str(itoa::Buffer::new().format(number));
}
