//! Starts an iteration of a controller, and notifies all elements that listen to iterations.

use plan::event::Stop;
use plan::plan::{Controller, ControllerId, ControllerKind, OnIteration};

use crate::flow::search::{Pull, Walk};
use crate::http::cookies;
use crate::redis;
use crate::reports::Report;
use crate::users::controllers::BEGUN;

impl<'p> Walk<'_, 'p> {
    /// Begins a controller's iteration, unless it has begun, and notifies the elements that listen to the iteration.
    /// Returns `Some` if the user cannot continue now.
    pub(crate) fn begin_iteration(&mut self, id: ControllerId) -> Option<Pull> {
        let index = self.index;
        let mut visit = self.visit(id);
        if !visit.is_first() {
            return None;
        }
        let controller = visit.controller;
        let is_group = controller.parent.is_none();
        if is_group && let Some(given) = self.flow.awaits_arrival(self.cx, index) {
            return Some(given);
        }
        if let Some(given) = self.request_values(controller) {
            return Some(given);
        }
        // In a group of arrivals, a JMeter thread takes one more arrival before it checks whether it must end.
        let user = &self.cx.users[index];
        let group = &self.cx.run.groups[user.group.at()];
        if is_group && user.stopping && group.arrivals.is_some() {
            return Some(Pull::Ends);
        }
        let mut visit = self.visit(id);
        let counting = visit.counting();
        let iteration = visit.state().count().wrapping_add(i32::from(counting.from_one));
        if is_group {
            cookies::begin_iteration(self.cx, index);
        }
        if let Some(given) = self.fire_iteration(controller, iteration, counting.is_loop) {
            return Some(given);
        }
        self.visit(id).state().set(BEGUN);
        let waits = is_group && !self.jobs.notify_config_elements(self.cx, index);
        waits.then_some(Pull::Later)
    }

    /// Notifies the elements that listen to the iterations of a controller; loops count from 1. Returns `Some` if the
    /// user cannot continue now.
    pub(crate) fn notify_iteration(
        &mut self,
        controller: &'p Controller,
        iteration: i32,
        is_loop: bool,
    ) -> Option<Pull> {
        self.request_values(controller)
            .or_else(|| self.fire_iteration(controller, iteration, is_loop))
    }

    /// Requests missing values that an iteration needs: percentages of Throughput Controllers that decide now, and
    /// values of data sets.
    fn request_values(&mut self, controller: &Controller) -> Option<Pull> {
        for event in &controller.on_iteration {
            if let OnIteration::Controller(inner) = event
                && matches!(self.cx.controller(*inner).kind, ControllerKind::Throughput(_))
                && let Some(given) = self.awaits_known_texts(*inner)
            {
                return Some(given);
            }
        }
        self.lacks = redis::missing(self.cx, self.index, controller);
        self.lacks.map(|_| Pull::Later)
    }

    /// Runs the elements that act at the start of an iteration. Returns `Some` if the user ends.
    fn fire_iteration(
        &mut self,
        controller: &'p Controller,
        iteration: i32,
        is_loop: bool,
    ) -> Option<Pull> {
        let plan = self.cx.plan;
        for event in &controller.on_iteration {
            let done = match event {
                OnIteration::Controller(inner) => {
                    self.visit(*inner).parent_begins(iteration, is_loop);
                    Ok(())
                }
                OnIteration::Redis(at) => {
                    redis::set_data(self.cx, self.index, *at).map_err(Stop::User)
                }
                event => plan::event::iterate(*event, plan, &mut self.cx.env(self.index, "")),
            };
            if let Err(stop) = done {
                return Some(self.is_stopped_by(&stop));
            }
        }
        None
    }

    /// Stops the user or the run, as an element has requested.
    fn is_stopped_by(&mut self, stop: &Stop) -> Pull {
        match stop {
            Stop::User(reason) => self.cx.log(format!("user stopped: {reason}")),
            Stop::Test(reason) => {
                self.cx.log(format!("run stopped: {reason}"));
                let _ = self.cx.reports.send(Report::StopTest { now: false });
            }
        }
        Pull::Ends
    }
}
