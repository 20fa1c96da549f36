//! The steps of a sample that the loop executes: begins a sampler's own work, and continues with the user
//! afterwards. Hot.

use plan::plan::{ControllerId, SamplerId, SamplerKind};
use plan::result::SampleResult;
use stats::Outcome;

use crate::core::Core;
use crate::ids::UserId;
use crate::sample::outcome::stop_before;
use crate::sample::reporting::Reporting;
use crate::sample::samples::Samples;
use crate::sample::step::Step;
use crate::sample::{begin, delay, prepare};
use crate::time::timing::Timing;
use crate::users::{LoopControl, NO_USER};

impl<'p> Core<'p> {
    /// Executes the steps of a user's sample until the user waits, is ready for its next operation, or has ended.
    #[inline]
    pub(crate) fn take(&mut self, index: UserId, step: Step) {
        // Most samples leave no further step.
        if !matches!(step, Step::Done) {
            self.take_all(index, step);
        }
    }

    fn take_all(&mut self, index: UserId, mut step: Step) {
        loop {
            step = match step {
                Step::Done => return,
                Step::Begin(id) => self.begin_sampler(index, id),
                Step::Arrive(arrival) => {
                    self.flow.arrive(&mut self.cx, index, &arrival);
                    if !self.cx.has_thrown() {
                        return;
                    }
                    Step::Lose(arrival.sampler)
                }
                Step::Lose(id) => {
                    let (samples, mut on) = self.sampling();
                    samples.drop_sample(&mut on, index, id)
                }
                Step::Stop { cut } => stop_before(&mut self.reporting(), index, cut),
                Step::LoopControl { from, how, ends } => self.leave(index, from, how, ends),
                Step::EndOfPlan => return self.end_of_plan(index),
            };
        }
    }

    /// Returns the state of a core's samples, and the parts of the core that they use.
    pub(crate) fn sampling(&mut self) -> (&mut Samples, Reporting<'_, 'p>) {
        let Self { cx, samples, jobs, sinks, .. } = self;
        (samples, Reporting { cx, jobs, sinks })
    }

    /// Begins a sampler with its pre-processors and timers.
    pub(crate) fn begin_sample(&mut self, index: UserId, id: SamplerId) {
        let step = prepare::prepare(&mut self.reporting(), index, id);
        self.take(index, step);
    }

    /// Runs a sampler's pre-processors from index `from` on.
    pub(crate) fn run_before(&mut self, index: UserId, id: SamplerId, from: usize) {
        let step = prepare::run_before(&mut self.cx, &mut self.jobs, index, id, from);
        self.take(index, step);
    }

    /// Runs a sampler's timers from index `from` on. `delay` is the delay of the earlier timers in nanoseconds.
    pub(crate) fn run_timers(&mut self, index: UserId, id: SamplerId, from: usize, delay: u64) {
        let step = delay::run_timers(&mut self.cx, &mut self.jobs, index, id, from, delay);
        self.take(index, step);
    }

    /// Begins the sampler after its delay.
    pub(crate) fn end_delay(&mut self, index: UserId, id: SamplerId) {
        let step = begin::begin(&mut self.cx, &mut self.jobs, index, id);
        self.take(index, step);
    }

    /// Lets a user continue after a Flow Control Action, or after another sampler without a result.
    pub(crate) fn after_action(&mut self, index: UserId, id: SamplerId) {
        let (samples, mut on) = self.sampling();
        let step = samples.after_action(&mut on, index, id);
        self.take(index, step);
    }

    /// Completes a sampler whose only work was to wait.
    pub(crate) fn wake_sampler(&mut self, index: UserId, id: SamplerId) {
        let (samples, mut on) = self.sampling();
        let step = samples.wake(&mut on, index, id);
        self.take(index, step);
    }

    /// Ends the sample of a sampler that has finished its work, or the download of an embedded resource.
    pub(crate) fn close_sample(
        &mut self,
        index: UserId,
        id: SamplerId,
        timing: &Timing,
        outcome: Outcome,
        result: Option<Box<SampleResult>>,
    ) {
        let user = &self.cx.users[index];
        if user.branch_of != NO_USER && !user.parallel {
            return self.branch_done(index, timing, outcome, result);
        }
        let (samples, mut on) = self.sampling();
        let step = samples.close(&mut on, index, id, timing, outcome, result);
        self.take(index, step);
    }

    /// Starts the sampler itself, as the plan defines it or as scripts have changed it.
    fn begin_sampler(&mut self, index: UserId, id: SamplerId) -> Step {
        if !self.samples.begin(&mut self.cx, index, id) {
            return Step::Lose(id);
        }
        let plan = self.cx.plan;
        match self.cx.own_sampler(index).cloned() {
            None => match &plan.samplers[id.0 as usize].kind {
                SamplerKind::Parallel(parallel) => self.begin_branches(index, id, parallel),
                kind => self.begin_kind(index, id, kind),
            },
            Some(own) => self.begin_kind(index, id, &own),
        }
    }

    /// Starts a sampler according to its kind.
    fn begin_kind(&mut self, index: UserId, id: SamplerId, kind: &SamplerKind) -> Step {
        match kind {
            SamplerKind::Http(http) => self.begin_http(index, id, http),
            SamplerKind::WebSocket(sampler) => {
                let (websocket, mut on) = self.websocket();
                websocket.begin(&mut on, index, id, sampler);
                Step::Done
            }
            SamplerKind::Action(action) => {
                let (samples, mut on) = self.sampling();
                samples.act(&mut on, index, id, action)
            }
            SamplerKind::Tcp(_)
            | SamplerKind::HttpRaw(_)
            | SamplerKind::Udp(_)
            | SamplerKind::Sse(_) => self.begin_exchange(index, id, kind),
            SamplerKind::Process(process) => self.begin_process(index, id, process),
            SamplerKind::JavaBacked(element) => {
                self.jobs.run_sampler(&mut self.cx, index, id, *element);
                Step::Done
            }
            SamplerKind::Parallel(_) => Step::Done,
            SamplerKind::Debug(_)
            | SamplerKind::Script(_)
            | SamplerKind::Java(_)
            | SamplerKind::Dummy(_) => {
                let (samples, mut on) = self.sampling();
                samples.run_instant(&mut on, index, id, kind)
            }
        }
    }

    /// Makes a user leave controllers. If `ends` is true, the user ends after that.
    fn leave(&mut self, index: UserId, from: ControllerId, how: LoopControl, ends: bool) -> Step {
        self.cx.forget_thrown();
        self.walk(index, 0).unwind(from, how);
        if self.ends_by_exception(index) {
            return Step::Done;
        }
        self.cx.set_last_ok(index, true);
        if ends { Step::EndOfPlan } else { Step::Done }
    }
}
