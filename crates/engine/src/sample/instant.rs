//! Samplers that compute their result within a turn (Debug, scripts), or whose user only sleeps (Java Requests,
//! Dummy).

use plan::env::Env;
use plan::plan::{SamplerId, SamplerKind};
use plan::result::SampleResult;
use stats::Outcome;

use crate::context::Context;
use crate::ids::UserId;
use crate::sample::reporting::Reporting;
use crate::sample::samples::Samples;
use crate::sample::step::Step;
use crate::time::clock::Nanos;
use crate::time::timing::Timing;
use crate::users::Wait;

impl Samples {
    /// Runs a sampler that computes its result itself.
    pub(crate) fn run_instant(
        &mut self,
        on: &mut Reporting<'_, '_>,
        index: UserId,
        id: SamplerId,
        kind: &SamplerKind,
    ) -> Step {
        match kind {
            SamplerKind::Debug(debug) => self.run(on, index, id, |env, result| {
                debug.run(env, result);
                0
            }),
            SamplerKind::Script(script) => self.run(on, index, id, |env, result| {
                script.sample(env, result);
                0
            }),
            SamplerKind::Java(java) => self.run(on, index, id, |env, result| java.run(env, result)),
            SamplerKind::Dummy(dummy) => {
                self.run(on, index, id, |env, result| dummy.run(env, result))
            }
            _ => Step::Done,
        }
    }

    /// Computes the result with `work`, which returns the time in nanoseconds for which the user sleeps.
    fn run(
        &mut self,
        on: &mut Reporting<'_, '_>,
        index: UserId,
        id: SamplerId,
        work: impl FnOnce(&mut Env<'_>, &mut SampleResult) -> u64,
    ) -> Step {
        let timing = on.cx.begin_timing(index);
        let mut result = on.cx.begin_result(index, id, &timing);
        let sleep = on.cx.with_env(index, id, |env| work(env, &mut result));
        if sleep == 0 || on.cx.has_thrown() {
            return self.end_plain(on, index, id, timing, result);
        }
        sleep_user(on.cx, index, id, &timing, sleep, result);
        Step::Done
    }

    /// Completes a sampler whose user has slept.
    pub(crate) fn wake(
        &mut self,
        on: &mut Reporting<'_, '_>,
        index: UserId,
        id: SamplerId,
    ) -> Step {
        let user = &mut on.cx.users[index];
        let start = user.intended;
        let due = user.links.deadline;
        let Some(pending) = user.extra().pending.take() else { return Step::Done };
        let lag = (on.cx.clock.now() - due).max(0) as u64;
        self.end_plain(on, index, id, Timing { start, lag, ..Timing::default() }, pending)
    }

    /// Ends the sample of a sampler that has computed its result.
    pub(crate) fn end_plain(
        &mut self,
        on: &mut Reporting<'_, '_>,
        index: UserId,
        id: SamplerId,
        mut timing: Timing,
        result: Box<SampleResult>,
    ) -> Step {
        if on.cx.has_thrown() {
            on.cx.give_result(result);
            return Step::Lose(id);
        }
        timing.end = match result.elapsed {
            0 => on.cx.clock.now(),
            claimed => timing.start + claimed as Nanos,
        };
        // Samplers that compute their own response also set latency and connect time.
        (timing.latency, timing.connect) = (result.latency, result.connect);
        (timing.received, timing.sent) = (result.bytes, result.sent);
        let outcome = if result.success { Outcome::Ok } else { Outcome::Status };
        self.close(on, index, id, &timing, outcome, Some(result))
    }
}

/// Stores a result with its user, which sleeps for this number of nanoseconds.
fn sleep_user(
    cx: &mut Context<'_>,
    index: UserId,
    id: SamplerId,
    timing: &Timing,
    sleep: u64,
    pending: Box<SampleResult>,
) {
    let user = &mut cx.users[index];
    user.extra().pending = Some(pending);
    user.wait = Wait::Sleep(id);
    user.intended = timing.start;
    cx.timers.wheel.insert(index, timing.start + sleep as Nanos, &mut cx.users);
}
