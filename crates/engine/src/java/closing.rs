//! The work on a sample's result: post-processors, assertions, listeners of Java, in this order, and then the end of the sample.
//!
//! Each may be a job. Then the result goes with the user, who waits, and comes back to be worked on where this was left. A sample that the end of the run
//! has cut sees no job any more.

use plan::extract::Extractor;
use plan::java_backed::Job;
use plan::plan::SamplerId;
use stats::Outcome;

use super::{Act, Jobs, Then};
use crate::context::Context;
use crate::ids::UserId;
use crate::time::clock::Nanos;
use crate::time::timing::Timing;

/// A sample that ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Closing {
    pub(crate) id: SamplerId,
    pub(crate) timing: Timing,
    pub(crate) outcome: Outcome,
    /// Somebody looks at the result.
    pub(crate) observed: bool,
    /// The next of the sampler's processors and assertions, counted together; `None` once they are through.
    pub(crate) at: Option<usize>,
    /// When its last job was done; what comes next could not begin before.
    pub(crate) since: Nanos,
    /// So many of its listeners have been told of it.
    pub(crate) told: usize,
}

impl Jobs {
    /// Runs processors and assertions from a place on. False: the user waits for one.
    pub(crate) fn process(
        &mut self,
        cx: &mut Context<'_>,
        index: UserId,
        closing: &mut Closing,
        from: usize,
    ) -> bool {
        let sampler = &cx.plan.samplers[closing.id.0 as usize];
        let (after, checks) = (&sampler.after, &sampler.checks);
        let mut from = from;
        loop {
            cx.forget_thrown();
            let job = cx.with_env(index, closing.id, |env, result| {
                for (at, extractor) in after.iter().enumerate().skip(from) {
                    if let Extractor::Job(job) = extractor {
                        return Some((at, *job));
                    }
                    extractor.run(result, env);
                    if env.core.lost.is_some() {
                        return None;
                    }
                }
                let behind = after.len();
                for (at, check) in checks.iter().enumerate().skip(from.saturating_sub(behind)) {
                    if let Some(job) = check.job() {
                        return Some((behind + at, job));
                    }
                    check.run(result, env);
                }
                None
            });
            let Some((at, job)) = job else { return true };
            if closing.outcome == Outcome::CutByEnd {
                from = at + 1;
                continue;
            }
            match job {
                Job::Evaluate(range) => {
                    closing.at = Some(at + 1);
                    self.hand_over_texts(cx, index, Then::Close(*closing), range);
                }
                Job::Run(_) if at < after.len() => {
                    let runs = after[at..].iter().map_while(|one| match one {
                        Extractor::Job(job @ Job::Run(_)) => Some(*job),
                        _ => None,
                    });
                    closing.at = Some(at + runs.clone().count());
                    self.hand_over_run(cx, index, Then::Close(*closing), Act::After, runs);
                }
                Job::Run(_) => {
                    let runs = checks[at - after.len()..].iter();
                    let runs =
                        runs.map_while(|one| one.job().filter(|job| matches!(job, Job::Run(_))));
                    closing.at = Some(at + runs.clone().count());
                    self.hand_over_run(cx, index, Then::Close(*closing), Act::Assertion, runs);
                }
            }
            return false;
        }
    }

    /// Keeps the core's result for whoever looks at the sample before.
    pub(crate) fn keep_previous(&self, cx: &mut Context<'_>, index: UserId) {
        if !self.keeps() {
            return;
        }
        let mut kept = match cx.users[index].java().previous.take() {
            Some(kept) => kept,
            None => cx.spare_results.pop().unwrap_or_default(),
        };
        kept.clear();
        cx.result.duplicate_into(&mut kept);
        (kept.ignore, kept.request, kept.count, kept.errors) =
            (cx.result.ignore, cx.result.request, cx.result.count, cx.result.errors);
        cx.users[index].java().previous = Some(kept);
    }
}

/// Takes the result back that went with a user.
pub(super) fn take_kept(cx: &mut Context<'_>, index: UserId) {
    if let Some(kept) = cx.users[index].java().result.take() {
        let used = std::mem::replace(&mut cx.result, kept);
        cx.spare_results.push(used);
    }
}
