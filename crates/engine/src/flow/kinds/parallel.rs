//! Lanes: what a bzm Parallel Controller holds, side by side, each child on a lane of its user.
//!
//! A lane is a slot among the users that is no virtual user: it asks its part of the tree for samplers and runs them as a user would, with
//! connections of its own, but with the variables, cookies and controllers' state of its user, which waits meanwhile. Lanes that end put their user
//! in line; it starts those that wait for their turn and goes on when all have ended. With a parent sample, what lanes
//! report becomes part of it and nobody else is told. Costs a slot and a box for each lane while it runs.

use plan::plan::{ControllerId, OnError, Parallel, SamplerId, SamplerKind};
use plan::result::{Request, SampleResult};
use stats::Outcome;

use crate::core::Core;
use crate::ids::{NO_CONN, UserId};
use crate::users::controllers as state;
use crate::users::lanes::Lanes;
use crate::users::{Leave, NO_USER, Wait};
use crate::websocket::NO_SOCKET;

impl<'p> Core<'p> {
    /// Starts the lanes of a Parallel Controller.
    pub(crate) fn begin_lanes(&mut self, index: UserId, id: SamplerId, parallel: &'p Parallel) {
        let timing = self.begin_plain(index, id);
        let at_a_time = match &parallel.most {
            None => usize::MAX,
            Some(most) => usize::try_from(self.cx.java_number(index, most)).unwrap_or(0),
        };
        let closed =
            self.cx.users[index].extra.as_ref().is_some_and(|one| one.closed.contains(&id));
        // The plug-in has no threads then, or cannot make so few: no lane runs, and nothing is told of it.
        if at_a_time == 0 || closed {
            return self.after_lanes(index, id, false);
        }
        let whole = parallel.parent.then(|| self.whole_of(index, parallel));
        let user = &mut self.cx.users[index];
        user.wait = Wait::Lanes(id);
        user.extra().parts.put(Box::new(Lanes {
            id,
            timing,
            whole,
            lag: 0,
            next: 0,
            under_way: 0,
            at_a_time,
            called: false,
            stops: false,
            leaves: false,
            cut: false,
        }));
        let root = self.cx.users.of(index);
        let again = root.iteration > 1;
        let extra = root.extra();
        if !std::mem::replace(&mut extra.new_each_iteration, true) {
            extra.again = again;
        }
        if self.start_lanes(index) {
            self.join(index);
        }
    }

    /// The sample around all lanes, as it begins; its label and start stand in the core's result.
    fn whole_of(&mut self, index: UserId, parallel: &Parallel) -> Box<SampleResult> {
        let mut whole = self.cx.lend_result();
        whole.success = true;
        whole.code.push_str("200");
        whole.message.push_str("OK");
        whole.sampler_data.push_str("Parallel items:\n");
        for lane in &parallel.lanes {
            let name = &self.cx.controller(*lane).name;
            name.eval(&mut self.cx.env(index, ""), &mut whole.sampler_data);
            whole.sampler_data.push('\n');
        }
        whole
    }

    /// Starts a lane, if one more may run; the next when that has had its first turn. True: all have ended.
    fn start_lanes(&mut self, index: UserId) -> bool {
        let plan = self.cx.plan;
        let stopping = self.cx.stop.asked;
        let Some(lanes) = self.cx.lanes_mut(index) else { return false };
        let SamplerKind::Parallel(parallel) = &plan.samplers[lanes.id.0 as usize].kind else {
            return false;
        };
        let next = parallel.lanes.get(lanes.next).filter(|_| !stopping);
        let Some(next) = next else { return lanes.under_way == 0 };
        if lanes.under_way >= lanes.at_a_time {
            return false;
        }
        lanes.next += 1;
        lanes.under_way += 1;
        let called = std::mem::replace(&mut lanes.called, true);
        self.start_lane(index, *next);
        if !called {
            self.cx.queue.now.push_user(index);
        }
        false
    }

    fn start_lane(&mut self, parent: UserId, main: ControllerId) {
        let lane = self.cx.users.branch(parent, self.cx.clock.now());
        let user = &mut self.cx.users[lane];
        // To JMeter each lane is the first user of a group.
        (user.lane, user.number, user.fresh) = (true, 0, true);
        user.extra = None;
        user.extra().main = Some(main);
        self.cx.users.of(lane).iteration += 1;
        self.cx.set_last_ok(lane, true);
        self.cx.controller_state(lane, main).0.fill(0);
        for child in &self.cx.controller(main).children {
            if let plan::plan::Child::Controller(inner) = child {
                self.cx.controller_state(lane, *inner).clear(state::DROPPED);
            }
        }
        if self.visit(lane, main).begin() {
            self.cx.go_on(lane);
        } else {
            self.end_user(lane);
        }
    }

    /// A lane has ended; what it had is given back.
    pub(crate) fn end_lane(&mut self, lane: UserId) {
        let user = &mut self.cx.users[lane];
        let parent = user.branch_of;
        (user.alive, user.lane, user.branch_of, user.wait) = (false, false, NO_USER, Wait::Ready);
        (user.stopping, user.last_sampler, user.extra) = (false, None, None);
        (user.setbacks, user.paced) = (0, false);
        (user.conn, user.socket) = (NO_CONN, NO_SOCKET);
        self.cx.users.put_away(lane);
        let Some(lanes) = self.cx.lanes_mut(parent) else { return };
        lanes.under_way -= 1;
        if !lanes.called {
            lanes.called = true;
            self.put_in_line(parent);
        }
    }

    /// A user looks after its lanes. False: it still waits for some.
    pub(crate) fn go_on_with_lanes(&mut self, index: UserId) -> bool {
        if let Some(lanes) = self.cx.lanes_mut(index) {
            lanes.called = false;
        }
        let all = self.start_lanes(index);
        if all {
            self.join(index);
        }
        all
    }

    /// All lanes have ended.
    fn join(&mut self, index: UserId) {
        let user = &mut self.cx.users[index];
        let Some(mut lanes) = user.extra().parts.take::<Lanes>() else { return };
        user.wait = Wait::Ready;
        if lanes.stops {
            user.stopping = true;
            self.stop_around(index);
        }
        let Some(mut whole) = lanes.whole.take() else {
            return self.after_lanes(index, lanes.id, lanes.leaves);
        };
        if lanes.leaves {
            whole.request = Request::NextIteration;
        }
        let mut timing = lanes.timing;
        if whole.sub_count == 0 {
            timing.end = self.cx.clock.now();
        }
        (timing.received, timing.sent) = (whole.bytes, whole.sent);
        // Of what ran side by side, each was late by its share.
        timing.lag += lanes.lag / lanes.at_a_time.min(lanes.next.max(1)) as u64;
        let outcome = match (lanes.cut, whole.success) {
            (true, _) => Outcome::CutByEnd,
            (false, true) => Outcome::Ok,
            (false, false) => Outcome::Status,
        };
        self.cx.return_result(whole);
        self.cx.conclude(index, lanes.id, timing, outcome);
    }

    /// Goes on behind lanes of which there is no sample.
    fn after_lanes(&mut self, index: UserId, id: SamplerId, leaves: bool) {
        let sampler = &self.cx.plan.samplers[id.0 as usize];
        if !sampler.timeouts.is_empty() {
            self.samples.watch.remove(index);
        }
        self.cx.users[index].intended = self.cx.clock.now();
        let user = &self.cx.users[index];
        let next_loop = self.cx.run.groups[user.group as usize].on_error == OnError::NextLoop;
        let failed = !user.lane && next_loop && !user.last_ok;
        let leaves = leaves || failed;
        self.continue_or_stop(index, leaves.then_some((sampler.controller, Leave::NextIteration)));
    }

    /// An action has ended its user: of a lane, the user ends when its other lanes have.
    pub(crate) fn stop_around(&mut self, index: UserId) {
        let parent = self.cx.users[index].branch_of;
        if parent != NO_USER
            && let Some(lanes) = self.cx.lanes_mut(parent)
        {
            lanes.stops = true;
        }
    }
}
