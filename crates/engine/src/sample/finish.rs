//! The last phase of a sample: records it or adds it to another sample, passes it to listeners, and applies its
//! outcome. Hot.

use std::num::NonZeroU32;

use plan::plan::{Needs, Phase, SamplerId, SamplerKind};
use plan::result::{Request, SampleResult};
use stats::kept::{Reasons, Texts};
use stats::{Check, Counter, Outcome, Sample};

use crate::context::Context;
use crate::ids::UserId;
use crate::java::{Closing, Java};
use crate::reports::Report;
use crate::sample::outcome::{RequestedActions, after_sample};
use crate::sample::record::Part;
use crate::sample::reporting::Reporting;
use crate::sample::samples::Samples;
use crate::sample::step::Step;
use crate::sample::transaction::ChildResult;
use crate::settings::series::parsed;
use crate::time::clock::Nanos;
use crate::time::timing::{Timing, TraceId};
use crate::users::SamplerChange;

impl Samples {
    /// Records a sample, or adds it to another sample, after its processors, assertions and Java listeners have run.
    /// Returns the next step of its user.
    pub(super) fn finish(
        &mut self,
        on: &mut Reporting<'_, '_>,
        index: UserId,
        closing: &mut Closing,
    ) -> Step {
        let Closing { id, timing, outcome, since, told, .. } = *closing;
        let (success, ignored, request) = match closing.observed_result() {
            Some(result) => (result.success, result.ignore, result.request),
            None => (outcome == Outcome::Ok, false, Request::Nothing),
        };
        // Java listeners may change the result, but only after all other elements have read its status.
        if told == 0 {
            on.cx.set_last_ok(index, success);
        }
        let cut = outcome == Outcome::CutByEnd;
        if cut {
            on.cut_transactions(index);
        }
        let recorded = self.report(on, index, closing, success, ignored);
        if cut {
            // The recorder itself counts the samples that it receives.
            on.cx.recorder.add(Counter::CutByEnd, u64::from(!recorded));
            if on.cx.users[index].parallel {
                on.cut_branch(index);
            }
        }
        on.cx.users[index].intended = timing.end.max(since);
        let asked = asked(on.cx, index, id, request, success || ignored);
        after_sample(on, index, id, success || cut, asked)
    }

    /// Reports a sample separately or as part of its parent sample. Returns true if the sample was recorded.
    fn report(
        &mut self,
        on: &mut Reporting<'_, '_>,
        index: UserId,
        closing: &mut Closing,
        success: bool,
        ignored: bool,
    ) -> bool {
        let Closing { id, told, .. } = *closing;
        // An ignored sample is not reported to any listener.
        if ignored && told == 0 {
            return false;
        }
        let sampler = &on.cx.plan.samplers[id.0 as usize];
        let silent = on.cx.is_silent(index);
        if let Some(around) = on.parent_around(index, sampler.controller) {
            if silent {
                let (timing, result) = part(on.cx, closing, success);
                on.show_to_branches(index, timing, success, result);
            }
            if let Some(result) = closing.observed_result_mut() {
                on.write_part(index, sampler, result);
            }
            // A listener may have marked the result as ignored, too late for other listeners.
            if ignored {
                return false;
            }
            if !silent {
                self.count(on, index, closing, success);
            }
            let result = closing.observed_result();
            on.add_inside_parent(index, id, around, &closing.timing, success, result);
            let (timing, result) = part(on.cx, closing, success);
            on.nest(index, around, timing, ChildResult::of_request(success), result);
            return !silent;
        }
        if silent {
            let (timing, result) = part(on.cx, closing, success);
            on.add_to_branches(index, timing, success, result);
            return false;
        }
        self.record(on, index, closing, success);
        true
    }

    /// Records a sample, and passes it to the listeners.
    fn record(
        &mut self,
        on: &mut Reporting<'_, '_>,
        index: UserId,
        closing: &mut Closing,
        success: bool,
    ) {
        self.count(on, index, closing, success);
        let Closing { id, told, .. } = *closing;
        let sampler = &on.cx.plan.samplers[id.0 as usize];
        if let Some(result) = closing.observed_result_mut() {
            on.write_rows(index, &sampler.listeners, Part::From(told), true, result);
        }
        on.add_to_transactions(index, id, &closing.timing, success, closing.observed_result());
    }

    /// Adds a sample to the run's statistics. This includes samples that listeners receive only as part of a
    /// transaction, because they are requests too.
    fn count(
        &mut self,
        on: &mut Reporting<'_, '_>,
        index: UserId,
        closing: &Closing,
        success: bool,
    ) {
        let Closing { id, timing, observed, since, .. } = closing;
        let sampler = &on.cx.plan.samplers[id.0 as usize];
        let mut sample = self.measured(on.cx, index, closing, success);
        // Results from Java or from a script may have another label.
        let foreign = *since != Nanos::MIN
            || sampler.needs.contains(Needs::LABEL)
            || matches!(sampler.kind, SamplerKind::JavaBacked(_));
        if let Some(result) = closing.observed_result().filter(|_| foreign) {
            sample.label = on.cx.recorder.intern(&result.label);
        }
        if let Some(most) = on.cx.run.settings.most_unconnected {
            self.count_unconnected(on.cx, sample.outcome, most);
        }
        if let Some(series) = self.series.get(id.0 as usize) {
            count_numbers(on.cx, index, series, sample.outcome);
        }
        let mut reasons = on.cx.recorder.record(&sample);
        if on.cx.plan.has_groups_aside && is_setup_or_teardown(on.cx, index) {
            let counts = sample.outcome != Outcome::CutByEnd;
            on.cx.recorder.add(Counter::RequestsAside, u64::from(counts));
        }
        if on.cx.net.was_stalled(timing) {
            on.cx.recorder.stalled(&sample);
        }
        if on.cx.run.diary.has_samples() {
            log_sample(on.cx, index, &sample, closing.observed_result());
        }
        if !success {
            let result = closing.result.as_deref();
            let message = result.map_or("", |result| failure_words(result, sample.outcome));
            let code = result.map_or("", |result| &*result.code);
            reasons.error = on.cx.recorder.error(&sample, code, message);
        }
        if reasons.any() {
            let shown = *observed || timing.headed || !success;
            let result = closing.result.as_deref().filter(|_| shown);
            keep(on.cx, reasons, &sample, result, timing.trace);
        }
    }

    /// Counts consecutive samples that got no connection, and stops the run when the limit is reached.
    fn count_unconnected(&mut self, cx: &mut Context<'_>, outcome: Outcome, most: NonZeroU32) {
        if !outcome.is_without_connection() {
            self.unconnected = 0;
            return;
        }
        self.unconnected = self.unconnected.saturating_add(1);
        if self.unconnected == most.get() {
            cx.log(format!(
                "run stopped: {most} consecutive samples got no connection (throng.stop.unconnected)"
            ));
            cx.recorder.add(Counter::RunStoppedByError, 1);
            let _ = cx.reports.send(Report::StopTest { now: false });
        }
    }

    /// Returns the measurements of a sample under its label.
    fn measured(
        &mut self,
        cx: &mut Context<'_>,
        index: UserId,
        closing: &Closing,
        success: bool,
    ) -> Sample {
        let Closing { id, timing, outcome, .. } = closing;
        let label = match self.labels[id.0 as usize] {
            Some(label) if cx.own_label(index).is_none() => label,
            _ => {
                let mut name = cx.texts.take();
                name.push_str(cx.sampler_name(index, *id));
                let label = cx.recorder.intern(&name);
                cx.texts.give(name);
                label
            }
        };
        Sample {
            outcome: *outcome,
            check: check(closing),
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
            phases: timing.all_phases(),
            classes: timing.classes,
            draw: timing.draw,
            ..Sample::new(label, cx.clock.run_ms(timing.start))
        }
    }

    /// Cancels the Sample Timeouts of a sampler.
    #[inline]
    pub(crate) fn unwatch(&mut self, cx: &Context<'_>, index: UserId, id: SamplerId) {
        if !cx.plan.samplers[id.0 as usize].timeouts.is_empty() {
            self.watch.remove(index);
        }
    }
}

/// Adds the metrics that a sample's post-processors have extracted into variables to their series, if the sample got a
/// response.
fn count_numbers(
    cx: &mut Context<'_>,
    index: UserId,
    series: &[(usize, String)],
    outcome: Outcome,
) {
    let root = cx.users.root(index);
    for (at, name) in series.iter().filter(|_| outcome.is_answered()) {
        if let Some(value) = cx.users[root].vars.get_named(&cx.plan.names, name) {
            let value = parsed(value);
            cx.recorder.number(*at, value);
        }
    }
}

/// Returns the result of the assertions on the response of a sample.
#[inline]
fn check(closing: &Closing) -> Check {
    let result = closing.observed_result().filter(|_| closing.outcome.is_answered());
    match result.and_then(SampleResult::is_as_expected) {
        None => Check::Unchecked,
        Some(true) => Check::Expected,
        Some(false) => Check::Unexpected,
    }
}

/// Returns true if the user belongs to a setUp or tearDown group, which are not part of the load.
#[inline]
fn is_setup_or_teardown(cx: &Context<'_>, index: UserId) -> bool {
    cx.plan.groups[cx.users[index].group.at()].phase != Phase::Main
}

/// Returns the message of a failed sample: its assertion's message, unless there was no response to check.
fn failure_words(result: &SampleResult, outcome: Outcome) -> &str {
    let found = result.failure_message().filter(|_| outcome.is_answered());
    found.unwrap_or(&result.message)
}

/// Keeps the details of a sample for the report: the parts of its result that are requested, and always the messages of
/// a failed sample.
#[cold]
fn keep(
    cx: &mut Context<'_>,
    reasons: Reasons,
    sample: &Sample,
    result: Option<&SampleResult>,
    trace: TraceId,
) {
    let mut texts = Texts { trace: cx.tags.number(trace), ..Texts::default() };
    if let Some(result) = result {
        texts.code = &result.code;
        texts.message = failure_words(result, sample.outcome);
        let line = [&*result.method, " ", &*result.url, "\n"];
        let line = if result.url.is_empty() { [""; 4] } else { line };
        texts.request = [line[0], line[1], line[2], line[3], &result.request_headers];
        texts.response = [&result.response_headers, "\n", &result.text];
    }
    cx.recorder.keep(reasons, sample, &texts);
}

/// Returns the times and the result of a sample that becomes part of another sample. A result that nothing reads has
/// only the status and the times that the other sample needs.
fn part<'c>(
    cx: &mut Context<'_>,
    closing: &'c mut Closing,
    success: bool,
) -> (&'c Timing, &'c mut SampleResult) {
    let Closing { timing, observed, result, .. } = closing;
    let result = result.get_or_insert_with(|| cx.take_result());
    if !*observed {
        result.clear();
        result.start_ms = cx.clock.wall_ms(timing.start);
        (result.elapsed, result.success) = (timing.elapsed(), success);
    }
    (timing, result)
}

/// Returns the actions that a reported sample requests: through its result, through scripts, and through its thread
/// group's setting for failures.
fn asked(
    cx: &mut Context<'_>,
    index: UserId,
    id: SamplerId,
    request: Request,
    passed: bool,
) -> RequestedActions {
    let mut asked = RequestedActions::default();
    asked.add(request);
    asked.add(forget_given(cx, index));
    if !passed {
        let on_failure = &cx.plan.samplers[id.0 as usize].on_failure;
        asked.add(on_failure.stop);
        asked.add(on_failure.leave);
    }
    asked
}

/// Drops the changes that scripts have made to the sampler of an ended sample. Returns the action that scripts
/// requested.
pub(super) fn forget_given(cx: &mut Context<'_>, index: UserId) -> Request {
    if let Some(extra) = cx.users[index].extra.as_deref_mut()
        && let Some(java) = extra.parts.get_mut::<Java>()
    {
        extra.given = SamplerChange::default();
        return java.end_sample();
    }
    Request::Nothing
}

/// Logs a recorded sample, if the user has enabled this log.
fn log_sample(cx: &Context<'_>, index: UserId, sample: &Sample, observed: Option<&SampleResult>) {
    let line = cx.run.diary.sample(cx.clock.now(), || {
        let label = cx.recorder.name(sample.label);
        let outcome = if sample.success { "ok" } else { "failed" };
        let code = observed.map_or("", |result| &*result.code);
        let ms = sample.elapsed as f64 / 1e6;
        let thread = cx.thread_name(index);
        format!("{thread}: {label}: {outcome} {code} in {ms:.1} ms, {} bytes", sample.received)
    });
    if let Some(line) = line {
        cx.log(line);
    }
}
