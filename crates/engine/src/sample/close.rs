//! The end of a sample: runs post-processors and assertions, native ones and those in Java, and finishes the
//! sample. Hot.

use plan::env::Env;
use plan::extract::Extractor;
use plan::java_backed::Job;
use plan::plan::{Sampler, SamplerId};
use plan::result::{Request, SampleResult};
use stats::Outcome;

use crate::context::Context;
use crate::ids::UserId;
use crate::java::Closing;
use crate::sample::finish::forget_given;
use crate::sample::names;
use crate::sample::outcome::{RequestedActions, after_sample};
use crate::sample::reporting::Reporting;
use crate::sample::samples::Samples;
use crate::sample::step::Step;
use crate::time::clock::Nanos;
use crate::time::timing::Timing;

impl Samples {
    /// Ends a sample: runs processors, assertions and listeners, and the action that the outcome requests.
    /// Afterwards the user is ready for its next operation, has ended, or waits for Java to process its result.
    pub(crate) fn close(
        &mut self,
        on: &mut Reporting<'_, '_>,
        index: UserId,
        id: SamplerId,
        timing: &Timing,
        outcome: Outcome,
        mut result: Option<Box<SampleResult>>,
    ) -> Step {
        self.unwatch(on.cx, index, id);
        let observed = on.cx.observes(id) && result.is_some();
        let shown = result.as_deref_mut().filter(|_| observed);
        names::name_at_end(on.cx, index, id, shown);
        let (at, since, told) = (None, Nanos::MIN, 0);
        let mut closing =
            Closing { id, timing: *timing, outcome, observed, at, since, told, result };
        if let Some(result) = closing.result.as_deref_mut().filter(|_| observed) {
            if is_processed(on, id, timing, result) {
                closing.at = Some(0);
                note(on.cx, index, id, result);
            } else if !result.success && outcome == Outcome::Ok {
                closing.outcome = Outcome::Assertion;
            }
        }
        self.close_on(on, index, &mut closing)
    }

    /// Continues the end of a sample after a job in Java.
    pub(crate) fn close_on(
        &mut self,
        on: &mut Reporting<'_, '_>,
        index: UserId,
        closing: &mut Closing,
    ) -> Step {
        let step = self.process_and_finish(on, index, closing);
        on.cx.spare_results.extend(closing.result.take());
        step
    }

    /// Runs the remaining processors, assertions and listeners in Java of a sample, then finishes the sample.
    fn process_and_finish(
        &mut self,
        on: &mut Reporting<'_, '_>,
        index: UserId,
        closing: &mut Closing,
    ) -> Step {
        if let Some(at) = closing.at {
            if !process(on, index, closing, at) {
                return Step::Done;
            }
            closing.at = None;
            if let Some(asked) = on.cx.texts.lost.take()
                && closing.outcome != Outcome::CutByEnd
            {
                return close_lost(on, index, closing, asked);
            }
            if let Some(result) = closing.result.as_deref() {
                // Sub-results that processors add increase the sample's size, as in JMeter.
                closing.timing.received = result.bytes;
                if !result.success && closing.outcome == Outcome::Ok {
                    closing.outcome = Outcome::Assertion;
                }
                on.cx.set_last_ok(index, result.success);
                on.jobs.keep_previous(on.cx, index, result);
            }
        }
        if closing.observed && on.deliver_to_java(index, closing) {
            return Step::Done;
        }
        if closing.told > 0
            && let Some(result) = closing.result.as_deref()
        {
            on.jobs.keep_previous(on.cx, index, result);
        }
        self.finish(on, index, closing)
    }

    /// Continues a user after a sampler that has no result and is not reported.
    pub(crate) fn close_without_result(
        &mut self,
        on: &mut Reporting<'_, '_>,
        index: UserId,
        id: SamplerId,
    ) -> Step {
        self.unwatch(on.cx, index, id);
        let mut asked = RequestedActions::default();
        asked.add(on.cx.users[index].java().end_sample());
        after_sample(on, index, id, true, asked)
    }
}

/// Runs post-processors and assertions from an index on, both counted together. Returns false if the user waits for a
/// processor or assertion in Java.
fn process(
    on: &mut Reporting<'_, '_>,
    index: UserId,
    closing: &mut Closing,
    mut from: usize,
) -> bool {
    let plan = on.cx.plan;
    let sampler = &plan.samplers[closing.id.0 as usize];
    loop {
        on.cx.forget_thrown();
        let Some(result) = closing.result.as_deref_mut() else { return true };
        let run = |env: &mut Env<'_>| run_native(sampler, from, result, env);
        let Some((at, job)) = on.cx.with_env(index, closing.id, run) else { return true };
        if closing.outcome != Outcome::CutByEnd {
            on.jobs.process(on.cx, index, closing, at, job);
            return false;
        }
        from = at + 1;
    }
}

/// Runs native post-processors and assertions from an index on, up to the first processor or assertion in Java. Returns
/// the index and the job of the latter.
fn run_native(
    sampler: &Sampler,
    from: usize,
    result: &mut SampleResult,
    env: &mut Env<'_>,
) -> Option<(usize, Job)> {
    for (at, extractor) in sampler.after.iter().enumerate().skip(from) {
        if let Extractor::Job(job) = extractor {
            return Some((at, *job));
        }
        extractor.run(result, env);
        if env.core.lost.is_some() {
            return None;
        }
    }
    let behind = sampler.after.len();
    for (at, check) in sampler.checks.iter().enumerate().skip(from.saturating_sub(behind)) {
        if let Some(job) = check.job() {
            return Some((behind + at, job));
        }
        check.run(result, env);
    }
    None
}

/// Ends a sample whose post-processor has thrown an exception. The sample's result becomes the previous result for
/// other elements, and the sample is not reported.
fn close_lost(
    on: &mut Reporting<'_, '_>,
    index: UserId,
    closing: &Closing,
    request: Request,
) -> Step {
    if let Some(result) = closing.result.as_deref() {
        on.jobs.keep_previous(on.cx, index, result);
    }
    on.cx.users[index].intended = closing.timing.end.max(closing.since);
    let mut asked = RequestedActions::default();
    asked.add(request);
    asked.add(forget_given(on.cx, index));
    after_sample(on, index, closing.id, true, asked)
}

/// Copies the measurements into the result. Returns true if processors, assertions or other elements use the result.
fn is_processed(
    on: &Reporting<'_, '_>,
    id: SamplerId,
    timing: &Timing,
    result: &mut SampleResult,
) -> bool {
    let sampler = &on.cx.plan.samplers[id.0 as usize];
    (result.elapsed, result.latency, result.connect) =
        (timing.elapsed(), timing.latency, timing.connect);
    (result.bytes, result.sent, result.idle) = (timing.received, timing.sent, timing.idle);
    let looked_at = !sampler.after.is_empty() || !sampler.checks.is_empty();
    !result.ignore && (is_noted(on.cx) || looked_at || on.jobs.observe())
}

/// Returns true if the plan has elements that read session ids or links from results.
fn is_noted(cx: &Context<'_>) -> bool {
    !cx.plan.sessions.is_empty() || cx.plan.follows_links
}

/// Stores the parts of the result that elements such as a URL Re-writing Modifier read later.
fn note(cx: &mut Context<'_>, index: UserId, id: SamplerId, result: &mut SampleResult) {
    if is_noted(cx) {
        let plan = cx.plan;
        cx.with_env(index, id, |env| plan::event::note(result, plan, env));
    }
}
