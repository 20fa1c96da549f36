//! Start and end of users and of their groups.
//!
//! A user occupies a slot of the core's slab from its start to its end. Its end closes its connections and removes
//! its waits and its entries at barriers. The cost of a user is the allocation in the slab.

use plan::plan::GroupId;
use std::sync::Arc;

use stats::Counter;

use crate::core::Core;
use crate::flow::schedule::Start;
use crate::ids::UserId;
use crate::reports::Report;
use crate::sample::exceptions;
use crate::time::clock::{MS, Nanos};
use crate::users::User;
use crate::users::controllers as state;

/// Time between the end of a user and the start of its replacement, in nanoseconds. JMeter needs about this time to
/// start a replacement thread.
const REPLACED_AFTER: Nanos = MS;
/// Maximum number of users that start before the sockets are polled.
const STARTS: u32 = 64;

impl Core<'_> {
    /// Starts the users that are due.
    pub(crate) fn start_users(&mut self, now: Nanos) {
        let mut n = 0;
        // A core that is late must read its open connections before it opens ever more.
        let mut left = STARTS;
        while n < self.flow.starts.len() {
            // During a pause no user starts, and arrivals are dropped.
            while left > 0
                && (!self.paused || self.flow.starts[n].is_open())
                && let Some((number, at)) = self.flow.starts[n].take(now)
            {
                left -= 1;
                let group = self.flow.starts[n].group;
                if self.cx.run.groups[group.at()].arrivals.is_some() {
                    self.arrival(group, number, at);
                } else {
                    let polls = &self.cx.run.groups[group.at()].polls;
                    let number = match polls {
                        Some(_) => self.cx.run.counts.number(group, self.cx.run.shard),
                        None => number,
                    };
                    self.start_user(group, number, at);
                }
                // The new user runs its first turn before the next user is counted as started.
                self.carry_out_done();
            }
            if self.flow.starts[n].finished() {
                let group = self.flow.starts.swap_remove(n).group;
                self.group_may_be_done(group);
            } else {
                n += 1;
            }
        }
    }

    /// Starts a user. The user runs when the ready queue reaches it.
    pub(crate) fn start_user(&mut self, group: GroupId, number: u32, intended: Nanos) {
        let compiled = &self.cx.plan.groups[group.at()];
        let user = User {
            intended,
            state: vec![0; compiled.slots as usize].into_boxed_slice(),
            vars: plan::vars::Vars::new(Arc::clone(&self.cx.run.initial)),
            notes: plan::state::Memory::of_group(group),
            fresh: true,
            ..User::new(group, number)
        };
        let index = self.cx.users.insert(user);
        self.flow.alive[group.at()] += 1;
        self.cx.run.counts.start(group);
        if let Some(line) = self.cx.run.diary.started(|| self.cx.thread_name(index)) {
            self.cx.log(line);
        }
        self.cx.run.state.user_started(group);
        self.cx.recorder.add(Counter::UsersStarted, 1);
        self.cx.set_last_ok(index, true);
        self.cx.forget_thrown();
        if self.cx.plan.names_call {
            exceptions::read_names(&mut self.cx, index, compiled.main);
        }
        let begun = !self.cx.has_thrown() && self.visit(index, compiled.main).begin();
        if self.cx.has_thrown() {
            self.ends_by_exception(index);
        } else if begun {
            self.cx.controller_state(index, compiled.main).set(state::ARRIVED);
            self.cx.make_ready(index);
        } else {
            self.end_user(index);
        }
    }

    /// Ends a user: closes its connections and frees its slot.
    pub(crate) fn end_user(&mut self, index: UserId) {
        self.cx.timers.wheel.remove(index, &mut self.cx.users);
        self.samples.watch.remove(index);
        let (sessions, mut around) = self.sessions();
        sessions.close_all(&mut around, index);
        let (websocket, mut on) = self.websocket();
        websocket.end_user(&mut on, index);
        self.flow.end_meetings(&mut self.cx, index);
        self.flow.end_arrival(&mut self.cx, index);
        self.end_java(index);
        if self.cx.users[index].parallel {
            return self.end_branch(index);
        }
        let (group, number) = (self.cx.users[index].group, self.cx.users[index].number);
        if let Some(line) = self.cx.run.diary.finished(|| self.cx.thread_name(index)) {
            self.cx.log(line);
        }
        self.cx.users.remove(index);
        self.cx.run.counts.finish(group);
        self.cx.run.state.user_ended(group);
        self.cx.recorder.add(Counter::UsersFinished, 1);
        self.flow.alive[group.at()] -= 1;
        self.replace_user(group, number);
        self.group_may_be_done(group);
    }

    /// Starts a replacement for a user that has ended, if the group keeps a target number of users.
    fn replace_user(&mut self, group: GroupId, number: u32) {
        let Some(polls) = &self.cx.run.groups[group.at()].polls else { return };
        let at = self.cx.clock.now() + REPLACED_AFTER;
        polls.poll(at);
        if self.is_full(group) {
            return;
        }
        if self.cx.stop.asked || self.cx.run.ends_at(group, number).is_none_or(|end| at >= end) {
            return;
        }
        match self.flow.starts.iter_mut().find(|start| start.group == group) {
            Some(start) => start.replace(at),
            None => {
                let mut start = Start::empty(group, polls.clone());
                start.replace(at);
                self.flow.starts.push(start);
            }
        }
    }

    /// Reports that a group is done, if it has no running users and none to start.
    pub(crate) fn group_may_be_done(&mut self, group: GroupId) {
        if self.flow.alive[group.at()] == 0 && !self.flow.starts.iter().any(|s| s.group == group) {
            // Rows that other cores write after the end of this group must come after its rows in the file.
            self.sinks.rows.flush();
            let _ = self
                .cx
                .reports
                .send(Report::GroupDone { group, change: self.flow.changes[group.at()] });
        }
    }
}
