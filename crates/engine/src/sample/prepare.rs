//! A sampler's pre-processors. Hot.

use plan::java_backed::Job;
use plan::plan::{Before, SamplerId};

use crate::context::Context;
use crate::ids::UserId;
use crate::java::{Act, Java, Jobs, Then};
use crate::sample::reporting::Reporting;
use crate::sample::step::Step;
use crate::sample::{delay, names};
use crate::users::SamplerChange;

/// Begins a sample: listeners receive earlier results that they have not received yet, then the pre-processors run.
pub(crate) fn prepare(on: &mut Reporting<'_, '_>, index: UserId, id: SamplerId) -> Step {
    if on.jobs.listens && on.catch_up(index, Then::Start(id)) {
        return Step::Done;
    }
    let Reporting { cx, jobs, .. } = on;
    let user = &mut cx.users[index];
    let before = user.last_sampler.replace(id);
    if jobs.previous_sampler {
        user.java();
    }
    if let Some(extra) = user.extra.as_deref_mut()
        && let Some(java) = extra.parts.get_mut::<Java>()
    {
        java.begin_sample(before);
        extra.given = SamplerChange::default();
    }
    if cx.plan.samplers[id.0 as usize].name.fixed().is_none() {
        names::name_before(cx, index, id);
    }
    run_before(cx, jobs, index, id, 0)
}

/// Runs a sampler's pre-processors from index `from`, then its timers.
pub(crate) fn run_before(
    cx: &mut Context<'_>,
    jobs: &mut Jobs,
    index: UserId,
    id: SamplerId,
    from: usize,
) -> Step {
    let plan = cx.plan;
    let all = &plan.samplers[id.0 as usize].before;
    if from < all.len() {
        let job = run_native(cx, index, id, all, from);
        if cx.has_thrown() {
            return Step::Lose(id);
        }
        match job {
            Some((at, Job::Evaluate(range))) => {
                jobs.hand_over_texts(cx, index, Then::Before(id, at + 1), range);
                return Step::Done;
            }
            Some((at, Job::Run(_))) => {
                let runs = all[at..].iter().map_while(|one| match one {
                    Before::Job(job @ Job::Run(_)) => Some(*job),
                    _ => None,
                });
                let then = Then::Before(id, at + runs.clone().count());
                jobs.hand_over_run(cx, index, then, Act::Before, runs);
                return Step::Done;
            }
            None => {}
        }
    }
    if from <= all.len() && jobs.asks_for_headers(cx, index, id) {
        let then = Then::Before(id, all.len() + 1);
        jobs.hand_over_run(cx, index, then, Act::Before, std::iter::empty());
        return Step::Done;
    }
    delay::run_timers(cx, jobs, index, id, 0, 0)
}

/// Runs pre-processors from index `from` up to the first pre-processor that only Java can run. Returns the index and
/// the job of this pre-processor.
fn run_native(
    cx: &mut Context<'_>,
    index: UserId,
    id: SamplerId,
    all: &[Before],
    from: usize,
) -> Option<(usize, Job)> {
    let plan = cx.plan;
    let name = cx.take_name(index, id);
    let mut env = cx.env(index, &name);
    let mut job = None;
    for (at, before) in all.iter().enumerate().skip(from) {
        if let Before::Job(found) = before {
            job = Some((at, *found));
            break;
        }
        plan::event::before(*before, plan, &mut env);
        if env.core.thrown.is_some() {
            break;
        }
    }
    cx.give_name(name);
    job
}
