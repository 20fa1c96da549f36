//! One sample from its pre-processors to its listeners, in JMeter's order: pre-processors, timers, sampler,
//! post-processors, assertions, listeners, then what its outcome asks of the user. Hot.

pub(crate) mod exceptions;
pub(crate) mod interrupt;
pub(crate) mod lanes;
pub(crate) mod names;
pub(crate) mod record;
pub(crate) mod reporting;
pub(crate) mod samples;
pub(crate) mod save;
pub(crate) mod transaction;

use plan::action::Action;
use plan::element::Timer;
use plan::hosted::Job;
use plan::plan::{Before, ControllerId, Needs, OnError, SamplerId, SamplerKind};
use plan::result::Request;
use stats::{Counter, Outcome, Sample};

use crate::core::Core;
use crate::ids::UserId;
use crate::java::{Act, Closing, Then};
use crate::reports::Report;
use crate::sample::record::Part;
use crate::time::clock::Nanos;
use crate::time::timing::Timing;
use crate::users::{Given, Leave, Wait};

/// The requests of a sample to its user: to end, and to leave where it is. JMeter does both.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Asked {
    stop: Request,
    leave: Request,
}

impl Asked {
    pub(crate) fn add(&mut self, request: Request) {
        let of = if request >= Request::StopUser { &mut self.stop } else { &mut self.leave };
        *of = request.max(*of);
    }
}

impl Core<'_> {
    /// Begins a sampler: pre-processors and timers. False: the user waits or has ended.
    pub(crate) fn sample(&mut self, index: UserId, id: SamplerId) -> bool {
        let plan = self.cx.plan;
        let sampler = &plan.samplers[id.0 as usize];
        if self.jobs.listens && self.reporting().catch_up(index, Then::Start(id)) {
            return false;
        }
        let user = &mut self.cx.users[index];
        let before = user.last_sampler.replace(id);
        if self.jobs.previous_sampler {
            user.java();
        }
        if let Some(extra) = user.extra.as_deref_mut()
            && let Some(java) = extra.parts.get_mut::<crate::java::Java>()
        {
            java.begin_sample(before);
            extra.given = Given::default();
        }
        if sampler.name.fixed().is_none() {
            names::name_before(&mut self.cx, index, id);
        }
        self.run_before(index, id, 0);
        self.cx.users[index].alive && self.cx.users[index].wait == Wait::Ready
    }

    /// Runs a sampler's pre-processors from one on; then its timers.
    pub(crate) fn run_before(&mut self, index: UserId, id: SamplerId, from: usize) {
        let plan = self.cx.plan;
        let all = &plan.samplers[id.0 as usize].before;
        if from < all.len() {
            let name = self.cx.take_name(index, id);
            let mut env = self.cx.env(index, &name);
            let mut job = None;
            for (at, before) in all.iter().enumerate().skip(from) {
                if let Before::Job(found) = before {
                    job = Some((at, *found));
                    break;
                }
                plan::element::before(*before, plan, &mut env);
                if env.core.thrown.is_some() {
                    break;
                }
            }
            self.cx.give_name(name);
            if self.loses_sample(index, id) {
                return;
            }
            match job {
                Some((at, Job::Evaluate(range))) => {
                    return self.hand_over_texts(index, Then::Before(id, at + 1), range);
                }
                Some((at, Job::Run(_))) => {
                    let runs = all[at..].iter().map_while(|one| match one {
                        Before::Job(job @ Job::Run(_)) => Some(*job),
                        _ => None,
                    });
                    let then = Then::Before(id, at + runs.clone().count());
                    return self.hand_over_run(index, then, Act::Before, runs);
                }
                None => {}
            }
        }
        if from <= all.len() && self.asks_for_headers(index, id) {
            let then = Then::Before(id, all.len() + 1);
            return self.hand_over_run(index, then, Act::Before, std::iter::empty());
        }
        self.run_timers(index, id, 0, 0);
    }

    /// Runs a sampler's timers from one on, after those before it took `delay`; then the sampler.
    pub(crate) fn run_timers(&mut self, index: UserId, id: SamplerId, from: usize, delay: u64) {
        let plan = self.cx.plan;
        let timers = &plan.samplers[id.0 as usize].timers;
        let mut delay = delay;
        let mut shaped = false;
        if from < timers.len() {
            let name = self.cx.take_name(index, id);
            for (at, timer) in timers.iter().enumerate().skip(from) {
                if let Timer::Sync(sync) = timer {
                    let waits = self.flow.arrive(&mut self.cx, index, id, sync, (at + 1, delay));
                    if waits || self.cx.has_thrown() {
                        self.cx.give_name(name);
                        self.loses_sample(index, id);
                        return;
                    }
                    continue;
                }
                if let Timer::Shaping(shaping) = timer {
                    let turn = shaping.turn(&mut self.cx.env(index, &name));
                    let end = self.cx.clock.now() + turn.end.saturating_mul(crate::time::clock::MS);
                    self.cx.run.close(self.cx.users[index].group, end);
                    let Some(wait) = turn.wait else {
                        self.cx.give_name(name);
                        return self.await_end(index, id, end);
                    };
                    shaped = true;
                    delay =
                        delay.saturating_add(wait.saturating_mul(crate::time::clock::MS as u64));
                    continue;
                }
                if let Timer::Job(job) = timer {
                    self.cx.give_name(name);
                    return self.time_in_java(index, id, at, delay, *job);
                }
                delay = delay.saturating_add(timer.delay(&mut self.cx.env(index, &name)));
                if self.cx.has_thrown() {
                    break;
                }
            }
            self.cx.give_name(name);
            if self.loses_sample(index, id) {
                return;
            }
        }
        if delay == 0 {
            return self.begin(index, id);
        }
        let now = self.cx.clock.now();
        let user = &mut self.cx.users[index];
        // Timers count from the end of what came before, not from when this process got round to them.
        let from = user.intended.clamp(now - crate::time::clock::SECOND, now);
        let until = from.saturating_add(Nanos::try_from(delay).unwrap_or(Nanos::MAX));
        let ends_at =
            if user.lane { None } else { self.cx.run.waits_until(user.group, user.number) };
        // Who waits for a turn is not cut by the group's duration.
        let is_over = !shaped && ends_at.is_some_and(|end| until > end);
        if user.stopping || is_over {
            return self.stop_before(index, is_over || self.cx.stop.asked);
        }
        user.wait = Wait::Delay(id);
        self.cx.timers.wheel.insert(index, until, &mut self.cx.users);
    }

    /// There are no more turns: the user does nothing until it ends then.
    fn await_end(&mut self, index: UserId, id: SamplerId, end: Nanos) {
        let now = self.cx.clock.now();
        if end <= now {
            return self.stop_before(index, true);
        }
        let user = &mut self.cx.users[index];
        user.stopping = true;
        user.wait = Wait::Pause(id);
        self.cx.timers.wheel.insert(index, end, &mut self.cx.users);
    }

    /// Asks Java for the delay of timers from one on.
    fn time_in_java(&mut self, index: UserId, id: SamplerId, at: usize, delay: u64, job: Job) {
        if let Job::Evaluate(range) = job {
            return self.hand_over_texts(index, Then::Timers(id, at + 1, delay), range);
        }
        let plan = self.cx.plan;
        let timers = plan.samplers[id.0 as usize].timers[at..].iter();
        let runs = timers.map_while(|one| match one {
            Timer::Job(job @ Job::Run(_)) => Some(*job),
            _ => None,
        });
        let then = Then::Timers(id, at + runs.clone().count(), delay);
        self.hand_over_run(index, then, Act::Timer, runs);
    }

    /// Starts the sampler itself, once its texts are known.
    pub(crate) fn begin(&mut self, index: UserId, id: SamplerId) {
        if self.cx.users[index].stopping {
            return self.stop_before(index, self.cx.stop.asked);
        }
        let evaluates = self.cx.plan.samplers[id.0 as usize].evaluates;
        if !evaluates.is_empty() {
            return self.hand_over_texts(index, Then::Begin(id), evaluates);
        }
        self.begin_now(index, id);
    }

    /// Starts the sampler itself.
    pub(crate) fn begin_now(&mut self, index: UserId, id: SamplerId) {
        let plan = self.cx.plan;
        let sampler = &plan.samplers[id.0 as usize];
        if !sampler.timeouts.is_empty() {
            self.samples.watch_sample(&mut self.cx, index, &sampler.timeouts);
        }
        names::name_at_start(&mut self.cx, index, id);
        if self.loses_sample(index, id) {
            return;
        }
        match self.cx.own_sampler(index).cloned() {
            None => match &sampler.kind {
                SamplerKind::Parallel(parallel) => self.begin_lanes(index, id, parallel),
                kind => self.begin_kind(index, id, kind),
            },
            Some(own) => self.begin_kind(index, id, &own),
        }
    }

    /// Starts a sampler, the plan's or as scripts have left it.
    fn begin_kind(&mut self, index: UserId, id: SamplerId, kind: &SamplerKind) {
        match kind {
            SamplerKind::Http(http) => self.begin_http(index, id, http),
            SamplerKind::WebSocket(sampler) => {
                self.websocket.begin(&mut self.cx, index, id, sampler);
            }
            SamplerKind::Action(action) => self.act(index, id, action),
            SamplerKind::Debug(debug) => {
                let timing = self.begin_plain(index, id);
                self.with_env(index, id, |env, result| debug.run(env, result));
                self.end_plain(index, id, timing);
            }
            SamplerKind::Tcp(_)
            | SamplerKind::HttpRaw(_)
            | SamplerKind::Udp(_)
            | SamplerKind::Sse(_) => self.begin_exchange(index, id, kind),
            SamplerKind::Process(process) => self.begin_process(index, id, process),
            SamplerKind::Hosted(element) => {
                let run = std::iter::once(Job::Run(*element));
                self.hand_over_run(index, Then::Sampled(id), Act::Sampler, run);
            }
            SamplerKind::Script(script) => {
                let timing = self.begin_plain(index, id);
                self.with_env(index, id, |env, result| script.sample(env, result));
                self.end_plain(index, id, timing);
            }
            SamplerKind::Parallel(_) => {}
            SamplerKind::Java(java) => {
                let timing = self.begin_plain(index, id);
                let sleep = self.with_env(index, id, |env, result| java.run(env, result));
                self.sleep_or_end(index, id, timing, sleep);
            }
            SamplerKind::Dummy(dummy) => {
                let timing = self.begin_plain(index, id);
                let sleep = self.with_env(index, id, |env, result| dummy.run(env, result));
                self.sleep_or_end(index, id, timing, sleep);
            }
        }
    }

    /// Runs `work` with the user's environment and the core's result.
    pub(crate) fn with_env<T>(
        &mut self,
        index: UserId,
        id: SamplerId,
        work: impl FnOnce(&mut plan::env::Env<'_>, &mut plan::result::SampleResult) -> T,
    ) -> T {
        self.cx.with_env(index, id, work)
    }

    pub(crate) fn begin_plain(&mut self, index: UserId, id: SamplerId) -> Timing {
        self.cx.begin_plain(index, id)
    }

    fn sleep_or_end(&mut self, index: UserId, id: SamplerId, timing: Timing, sleep: u64) {
        if sleep == 0 || self.cx.has_thrown() {
            return self.end_plain(index, id, timing);
        }
        let fresh = self.cx.spare_results.pop().unwrap_or_default();
        let pending = std::mem::replace(&mut self.cx.result, fresh);
        let user = &mut self.cx.users[index];
        user.extra().pending = Some(pending);
        user.wait = Wait::Sleep(id);
        user.intended = timing.start;
        self.cx.timers.wheel.insert(index, timing.start + sleep as Nanos, &mut self.cx.users);
    }

    /// A sampler that only took time is done.
    pub(crate) fn wake_sampler(&mut self, index: UserId, id: SamplerId) {
        let user = &mut self.cx.users[index];
        let start = user.intended;
        let due = user.links.deadline;
        let Some(pending) = user.extra().pending.take() else { return };
        let old = std::mem::replace(&mut self.cx.result, pending);
        self.cx.spare_results.push(old);
        let lag = (self.cx.clock.now() - due).max(0) as u64;
        self.end_plain(index, id, Timing { start, lag, ..Timing::default() });
    }

    pub(crate) fn end_plain(&mut self, index: UserId, id: SamplerId, mut timing: Timing) {
        if self.loses_sample(index, id) {
            return;
        }
        timing.end = match self.cx.result.elapsed {
            0 => self.cx.clock.now(),
            claimed => timing.start + claimed as Nanos,
        };
        // Samplers that make up their own answer give latency and connect time with it.
        (timing.latency, timing.connect) = (self.cx.result.latency, self.cx.result.connect);
        (timing.received, timing.sent) = (self.cx.result.bytes, self.cx.result.sent);
        let outcome = if self.cx.result.success { Outcome::Ok } else { Outcome::Status };
        self.end_work(index, id, timing, outcome);
    }

    /// Goes on behind a sampler's work, the result of which stands in the core's result (or is not looked at). Where it is a page,
    /// what is embedded in it is loaded first.
    pub(crate) fn end_work(
        &mut self,
        index: UserId,
        id: SamplerId,
        timing: Timing,
        outcome: Outcome,
    ) {
        let is_page = self.cx.plan.samplers[id.0 as usize].needs.contains(Needs::PAGE);
        if is_page && outcome == Outcome::Ok {
            return self.load_page(index, id, timing);
        }
        self.close_sample(index, id, timing, outcome);
    }

    /// Ends a sample: processors, assertions, listeners, and what the outcome asks of the user. Afterwards the user is
    /// ready for its next operation, or has ended, or waits for what Java has to do with its result.
    pub(crate) fn close_sample(
        &mut self,
        index: UserId,
        id: SamplerId,
        timing: Timing,
        outcome: Outcome,
    ) {
        let user = &self.cx.users[index];
        if user.branch_of != crate::users::NO_USER && !user.lane {
            return self.branch_done(index, &timing, outcome);
        }
        let plan = self.cx.plan;
        let sampler = &plan.samplers[id.0 as usize];
        if !sampler.timeouts.is_empty() {
            self.samples.watch.remove(index);
        }
        let observed = self.observes(id);
        names::name_at_end(&mut self.cx, index, id, observed);
        let (at, since, told) = (None, Nanos::MIN, 0);
        let mut closing = Closing { id, timing, outcome, observed, at, since, told };
        if observed {
            let result = &mut self.cx.result;
            (result.elapsed, result.latency, result.connect) =
                (timing.elapsed(), timing.latency, timing.connect);
            (result.bytes, result.sent, result.idle) = (timing.received, timing.sent, timing.idle);
            let noted = !plan.sessions.is_empty() || plan.follows_links;
            let looked_at = !sampler.after.is_empty() || !sampler.checks.is_empty();
            if !result.ignore && (noted || looked_at || self.jobs.observe()) {
                closing.at = Some(0);
                if noted {
                    self.with_env(index, id, |env, result| plan::element::note(result, plan, env));
                }
            } else if !self.cx.result.success && outcome == Outcome::Ok {
                closing.outcome = Outcome::Assertion;
            }
        }
        self.close_on(index, closing);
    }

    /// The end of a sample whose processors, assertions and listeners in Java are through.
    pub(crate) fn finish_sample(&mut self, index: UserId, closing: Closing) {
        let Closing { id, timing, outcome, observed, since, told, .. } = closing;
        let plan = self.cx.plan;
        let sampler = &plan.samplers[id.0 as usize];
        let lane = self.cx.users[index].lane;
        let success = if observed { self.cx.result.success } else { outcome == Outcome::Ok };
        // A listener that changes the result does so when all others have looked at it.
        if told == 0 {
            self.cx.set_last_ok(index, success);
        }
        let ignored = observed && self.cx.result.ignore;
        let cut = outcome == Outcome::CutByEnd;
        if cut {
            self.reporting().cut_transactions(index);
        }
        let mut recorded = false;
        let silent = lane && self.cx.is_silent(index);
        if ignored && told == 0 {
            // Reported to nobody.
        } else if let Some(around) = self.reporting().parent_around(index, sampler.controller) {
            if silent {
                self.reporting().show_to_lanes(index, &timing, success);
            }
            if observed {
                self.reporting().write_part(index, sampler);
            }
            // It may be a listener that has it ignored, too late for the others.
            if !ignored {
                self.reporting().add_inside_parent(index, id, around, &timing, success);
                self.reporting().add_to_parent(index, id, around, timing, success);
            }
        } else if silent {
            self.reporting().add_to_lanes(index, &timing, success);
        } else {
            let mut sample = self.measured(index, id, &timing, outcome, success);
            // What Java or a script has made may have another name.
            let foreign = since != Nanos::MIN
                || sampler.needs.contains(Needs::LABEL)
                || matches!(sampler.kind, SamplerKind::Hosted(_));
            if foreign && observed {
                sample.label = self.cx.recorder.intern(&self.cx.result.label);
            }
            self.cx.recorder.record(&sample);
            recorded = true;
            if self.cx.run.diary.has_samples() {
                self.log_sample(index, &sample, observed);
            }
            if !success {
                let result = &self.cx.result;
                let message = result.failure_message().unwrap_or(&result.message);
                self.cx.recorder.error(&sample, &result.code, message);
            }
            if observed {
                self.reporting().write_rows(index, &sampler.listeners, Part::From(told), true);
            }
            if !observed {
                // It is another sample's.
                self.cx.result.thread = None;
            }
            self.reporting().add_to_transactions(index, id, &timing, success);
        }
        if cut {
            // The recorder counts those it is given.
            self.cx.recorder.add(Counter::CutByEnd, u64::from(!recorded));
            if lane {
                self.reporting().cut_lane(index);
            }
        }
        self.cx.users[index].intended = timing.end.max(since);
        let mut asked = Asked::default();
        if observed {
            asked.add(self.cx.result.request);
        }
        if let Some(extra) = self.cx.users[index].extra.as_deref_mut()
            && let Some(java) = extra.parts.get_mut::<crate::java::Java>()
        {
            asked.add(java.end_sample());
            extra.given = Given::default();
        }
        if !(success || ignored) {
            asked.add(sampler.on_failure.stop);
            asked.add(sampler.on_failure.leave);
        }
        self.after_sample(index, id, success || cut, asked);
    }

    pub(crate) fn measured(
        &mut self,
        index: UserId,
        id: SamplerId,
        timing: &Timing,
        outcome: Outcome,
        success: bool,
    ) -> Sample {
        let label = match self.samples.labels[id.0 as usize] {
            Some(label) if self.cx.own_label(index).is_none() => label,
            _ => {
                let mut name = self.cx.texts.take();
                name.push_str(self.cx.sampler_name(index, id));
                let label = self.cx.recorder.intern(&name);
                self.cx.texts.give(name);
                label
            }
        };
        Sample {
            outcome,
            success,
            elapsed: timing.elapsed(),
            latency: timing.latency,
            connect: timing.connect,
            lag: timing.lag,
            wait: timing.wait,
            idle: timing.idle,
            sent: timing.sent,
            received: timing.received,
            errors: u32::from(!success),
            ..Sample::new(label, self.cx.clock.wall_ms(timing.start))
        }
    }

    /// Whether anybody looks at a sampler's result beyond its measurements.
    pub(crate) fn observes(&self, id: SamplerId) -> bool {
        self.cx.observes(id)
    }

    /// Carries out the requests of a sample's outcome to its user.
    pub(crate) fn after_sample(&mut self, index: UserId, id: SamplerId, ok: bool, asked: Asked) {
        let sampler = &self.cx.plan.samplers[id.0 as usize];
        let user = &self.cx.users[index];
        let group = &self.cx.run.groups[user.group as usize];
        let mut asked = asked;
        // Of what a group does at a failure, JMeter's lanes know nothing.
        if !ok && !user.lane {
            asked.add(match group.on_error {
                OnError::Continue => Request::Nothing,
                OnError::NextLoop => Request::NextIteration,
                OnError::StopUser => Request::StopUser,
                OnError::StopTest => Request::StopTest,
                OnError::StopTestNow => Request::StopTestNow,
            });
        }
        match asked.stop {
            Request::StopUser => self.cx.users[index].stopping = true,
            Request::StopTest | Request::StopTestNow => {
                self.cx.users[index].stopping = true;
                let now = asked.stop == Request::StopTestNow;
                let _ = self.cx.reports.send(Report::StopTest { now });
            }
            _ => {}
        }
        let how = match asked.leave {
            Request::BreakLoop => Some(Leave::BreakLoop),
            Request::NextLoopIteration => Some(Leave::NextLoopIteration),
            Request::NextIteration => Some(Leave::NextIteration),
            _ => None,
        };
        self.continue_or_stop(index, how.map(|how| (sampler.controller, how)));
    }

    /// The step after a sample or an action: the user goes on, here or elsewhere, or it ends. One that is told to end still looks for its next
    /// sampler ([`Core::operate`]), as JMeter's thread does, unless it leaves where it is.
    pub(crate) fn continue_or_stop(&mut self, index: UserId, leave: Option<(ControllerId, Leave)>) {
        let time_is_up = self.cx.time_is_up(index);
        let group = &self.cx.run.groups[self.cx.users[index].group as usize];
        let ends_here = time_is_up && group.ends_with_samples();
        if time_is_up && !ends_here {
            self.cx.users[index].stopping = true;
        }
        let stopping = self.cx.users[index].stopping;
        if stopping {
            self.reporting().end_transactions(index);
        }
        if let Some((from, how)) = leave {
            self.cx.forget_thrown();
            self.walk(index, 0).unwind(from, how);
            if self.ends_by_exception(index) {
                return;
            }
            self.cx.set_last_ok(index, true);
        }
        if ends_here || stopping && leave.is_some() {
            self.end_of_plan(index);
        }
    }

    /// Ends a user before the sampler that it has; `cut` if that is because the run or the group ends.
    pub(crate) fn stop_before(&mut self, index: UserId, cut: bool) {
        self.cx.users[index].stopping = true;
        if cut {
            self.reporting().cut_transactions(index);
        }
        self.continue_or_stop(index, None);
    }

    /// Carries out a Flow Control Action.
    fn act(&mut self, index: UserId, id: SamplerId, action: &Action) {
        match action {
            Action::Pause(text) => {
                let pause = self.cx.number(index, text, 0);
                if self.loses_sample(index, id) {
                    return;
                }
                let now = self.cx.clock.now();
                let mut until = now + pause.max(0) * crate::time::clock::MS;
                let user = &self.cx.users[index];
                if let Some(end) = self.cx.run.waits_until(user.group, user.number)
                    && until > end
                    && !user.lane
                {
                    until = end.max(now);
                    self.reporting().cut_transactions(index);
                }
                let user = &mut self.cx.users[index];
                user.wait = Wait::Pause(id);
                self.cx.timers.wheel.insert(index, until, &mut self.cx.users);
                return;
            }
            Action::StopUser => {
                self.cx.users[index].stopping = true;
                self.cx.stop_around(index);
            }
            Action::StopTest | Action::StopTestNow => {
                self.cx.users[index].stopping = true;
                let now = matches!(action, Action::StopTestNow);
                let _ = self.cx.reports.send(Report::StopTest { now });
            }
            Action::NextIteration => return self.leave_sampler(index, id, Leave::NextIteration),
            Action::NextLoopIteration => {
                return self.leave_sampler(index, id, Leave::NextLoopIteration);
            }
            Action::BreakLoop => return self.leave_sampler(index, id, Leave::BreakLoop),
        }
        self.after_action(index, id);
    }

    fn leave_sampler(&mut self, index: UserId, id: SamplerId, how: Leave) {
        self.continue_or_stop(index, Some((self.cx.plan.samplers[id.0 as usize].controller, how)));
    }

    /// Goes on after an action that makes no result.
    pub(crate) fn after_action(&mut self, index: UserId, id: SamplerId) {
        if !self.cx.plan.samplers[id.0 as usize].timeouts.is_empty() {
            self.samples.watch.remove(index);
        }
        let now = self.cx.clock.now();
        let user = &mut self.cx.users[index];
        if user.links.deadline <= now {
            user.intended = user.links.deadline.max(user.intended);
        }
        self.continue_or_stop(index, None);
    }

    /// Logs a sample that has been recorded, where that was asked for.
    fn log_sample(&self, index: UserId, sample: &Sample, observed: bool) {
        let line = self.cx.run.diary.sample(self.cx.clock.now(), || {
            let label = self.cx.recorder.name(sample.label);
            let outcome = if sample.success { "ok" } else { "failed" };
            let code = if observed { &*self.cx.result.code } else { "" };
            let ms = sample.elapsed as f64 / 1e6;
            let thread = self.cx.thread_name(index);
            format!("{thread}: {label}: {outcome} {code} in {ms:.1} ms, {} bytes", sample.received)
        });
        if let Some(line) = line {
            self.cx.log(line);
        }
    }
}
