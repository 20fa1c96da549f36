//! The parts of a core that every module above uses, whatever the protocol: users with their timers and connections,
//! spare results, the measurements, and the queue of completions.
//!
//! A module gets the context as an argument, in addition to its own state. This prevents it from reaching other
//! modules. State that only one module needs does not belong in the context.

pub(crate) mod cookies;
pub(crate) mod done;
mod evaluate;
mod limits;
pub(crate) mod tags;
pub(crate) mod texts;
pub(crate) mod threads;
mod tls;

use std::sync::Arc;
use std::sync::mpsc::Sender;

use plan::env::{Env, Scratch, UserIdentity};
use plan::plan::{Controller, ControllerId, Plan, SamplerId, SamplerKind};
use plan::result::SampleResult;
use stats::Recorder;

use crate::completions::Completions;
use crate::context::tags::Tags;
use crate::ids::UserId;
use crate::net::Net;
use crate::reports::Report;
use crate::reports::line::Line;
use crate::shared::RunShared;
use crate::time::clock::{Clock, Nanos};
use crate::users::controllers::ControllerState;
use crate::users::timers::Timers;
use crate::users::{SamplerChange, Users};

/// The parts of a core that every module uses.
#[allow(clippy::vec_box)] // Boxes are passed between a pool and their owners, without copying.
pub(crate) struct Context<'p> {
    pub(crate) plan: &'p Plan,
    pub(crate) run: &'p RunShared,
    /// Index of this core in its process.
    pub(crate) index: u32,
    pub(crate) clock: Clock,
    pub(crate) random: plan::random::Random,
    pub(crate) users: Users,
    pub(crate) timers: Timers,
    pub(crate) net: Net,
    pub(crate) tags: Tags,
    /// Unused results, kept with their buffers for later samples.
    pub(crate) spare_results: Vec<Box<SampleResult>>,
    /// Buffers and state for the evaluation of templates.
    pub(crate) texts: Scratch,
    pub(crate) recorder: Recorder,
    pub(crate) reports: Sender<Report>,
    pub(crate) queue: Completions,
    pub(crate) stop: Stop,
    /// For each sampler: true if an element, a listener or a script reads its results, in addition to the
    /// statistics.
    pub(crate) observed: Box<[bool]>,
}

/// The requested end of the run, as far as the core has been notified.
#[derive(Debug, Default)]
pub(crate) struct Stop {
    /// True if users end after their current sample.
    pub(crate) asked: bool,
    /// True if all users end immediately, without waiting for anything.
    pub(crate) now: bool,
    /// Time at which the core ends at the latest, because the coordinator has sent `End`. `None` before that.
    pub(crate) latest: Option<Nanos>,
}

impl<'p> Context<'p> {
    /// Returns an empty result, with the buffers of an earlier sample if there is one.
    pub(crate) fn take_result(&mut self) -> Box<SampleResult> {
        let mut result = self.spare_results.pop().unwrap_or_default();
        result.clear();
        result
    }

    /// Returns an empty result with the name of a user's sampler as its label.
    pub(crate) fn take_named_result(&mut self, index: UserId, id: SamplerId) -> Box<SampleResult> {
        let mut result = self.take_result();
        result.label.push_str(self.sampler_name(index, id));
        result
    }

    /// Keeps a result, which nothing reads any more, for a later sample.
    pub(crate) fn give_result(&mut self, result: Box<SampleResult>) {
        self.spare_results.push(result);
    }

    /// Returns the name of the sampler that a user runs.
    pub(crate) fn sampler_name(&self, index: UserId, sampler: SamplerId) -> &str {
        if let Some(name) = self.own_label(index) {
            return name;
        }
        match self.plan.samplers[sampler.0 as usize].name.fixed() {
            Some(name) => name,
            None => {
                let user = &self.users[self.users.owner(index)];
                user.extra.as_ref().map_or("", |extra| &extra.sampler_name)
            }
        }
    }

    /// Returns the name that a script has set for the user's current sampler, if any.
    pub(crate) fn own_label(&self, index: UserId) -> Option<&str> {
        self.given(index)?.label.as_deref()
    }

    /// Returns the user's current sampler in the version that scripts have changed; `None` if no script has changed
    /// it.
    pub(crate) fn own_sampler(&self, index: UserId) -> Option<&Arc<SamplerKind>> {
        self.given(index)?.sampler.as_ref()
    }

    /// Returns true if an element, a listener or a script reads the sampler's results, in addition to the
    /// statistics.
    #[inline]
    pub(crate) fn observes(&self, id: SamplerId) -> bool {
        self.observed[id.0 as usize]
    }

    fn given(&self, index: UserId) -> Option<&SamplerChange> {
        if self.plan.java_backed.is_empty() {
            return None;
        }
        Some(&self.users[self.users.owner(index)].extra.as_ref()?.given)
    }

    pub(crate) fn controller(&self, id: ControllerId) -> &'p Controller {
        &self.plan.controllers[id.0 as usize]
    }

    /// Returns the state of a controller for a user.
    #[inline]
    pub(crate) fn controller_state(
        &mut self,
        index: UserId,
        id: ControllerId,
    ) -> ControllerState<'_> {
        let controller = self.controller(id);
        ControllerState::of(self.users.of(index), controller)
    }

    /// Stores whether a user's last sample was successful.
    pub(crate) fn set_last_ok(&mut self, index: UserId, ok: bool) {
        let user = self.users.of(index);
        user.last_ok = ok;
        if let Some(variable) = self.run.last_sample_ok {
            let value = if ok { "true" } else { "false" };
            if user.vars.get(variable) != Some(value) {
                user.vars.set(variable, value);
            }
        }
    }

    /// Returns true if a user that searches for its next sampler must not wait for Java, because all users end
    /// immediately.
    pub(crate) fn gives_up(&self, index: UserId) -> bool {
        self.stop.now && self.users[index].stopping
    }

    pub(crate) fn log(&self, line: impl Into<Line>) {
        let _ = self.reports.send(Report::Log(line.into()));
    }

    /// Returns the environment in which the templates of a user are evaluated.
    pub(crate) fn env<'a>(&'a mut self, index: UserId, sampler: &'a str) -> Env<'a> {
        let user = self.users.of(index);
        let settings = &self.run.groups[user.group.at()];
        Env {
            names: &self.plan.names,
            vars: &mut user.vars,
            who: UserIdentity {
                plan_file: &self.plan.file,
                prefix: &settings.prefix,
                group: &settings.name,
                tail: settings.tail,
                group_number: settings.number,
                user: user.number,
                iteration: user.iteration,
                sampler,
            },
            memory: &mut user.memory,
            notes: &mut user.notes,
            run: &self.run.state,
            shared: &self.run.shared,
            core: &mut self.texts,
            clock: &self.clock,
        }
    }
}
