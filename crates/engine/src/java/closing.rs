//! What is done with a sample's result: post-processors, assertions, listeners of Java, in this order, and then the end of the sample.
//!
//! Each may be a job. Then the result goes with the user, who waits, and comes back to be worked on where this was left. A sample that the end of the run
//! has cut sees no job any more.

use plan::extract::Extractor;
use plan::hosted::Job;
use plan::plan::SamplerId;
use stats::Outcome;

use super::{Act, Then};
use crate::core::Core;
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
    /// What is next of the sampler's processors and assertions, counted together; `None` once they are through.
    pub(crate) at: Option<usize>,
    /// When its last job was done; what comes next could not begin before.
    pub(crate) since: Nanos,
    /// So many of its listeners have been told of it.
    pub(crate) told: usize,
}

impl Core<'_> {
    /// Goes on with a sample's end.
    pub(crate) fn close_on(&mut self, index: UserId, mut closing: Closing) {
        if let Some(at) = closing.at {
            if !self.process(index, &mut closing, at) {
                return;
            }
            closing.at = None;
            // Sub-results that processors add count as JMeter counts them.
            closing.timing.received = self.cx.result.bytes;
            if !self.cx.result.success && closing.outcome == Outcome::Ok {
                closing.outcome = Outcome::Assertion;
            }
            self.cx.set_last_ok(index, self.cx.result.success);
            self.keep_previous(index);
        }
        if closing.observed && self.tell_java(index, &mut closing) {
            return;
        }
        if closing.told > 0 {
            self.keep_previous(index);
        }
        self.finish_sample(index, closing);
    }

    /// Runs processors and assertions from a place on. False: the user waits for one.
    fn process(&mut self, index: UserId, closing: &mut Closing, from: usize) -> bool {
        let sampler = &self.cx.plan.samplers[closing.id.0 as usize];
        let (after, checks) = (&sampler.after, &sampler.checks);
        let mut from = from;
        loop {
            self.cx.forget_thrown();
            let job = self.cx.with_env(index, closing.id, |env, result| {
                for (at, extractor) in after.iter().enumerate().skip(from) {
                    if let Extractor::Job(job) = extractor {
                        return Some((at, *job));
                    }
                    extractor.run(result, env);
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
                    self.hand_over_texts(index, Then::Close(*closing), range);
                }
                Job::Run(_) if at < after.len() => {
                    let runs = after[at..].iter().map_while(|one| match one {
                        Extractor::Job(job @ Job::Run(_)) => Some(*job),
                        _ => None,
                    });
                    closing.at = Some(at + runs.clone().count());
                    self.hand_over_run(index, Then::Close(*closing), Act::After, runs);
                }
                Job::Run(_) => {
                    let runs = checks[at - after.len()..].iter();
                    let runs =
                        runs.map_while(|one| one.job().filter(|job| matches!(job, Job::Run(_))));
                    closing.at = Some(at + runs.clone().count());
                    self.hand_over_run(index, Then::Close(*closing), Act::Assertion, runs);
                }
            }
            return false;
        }
    }

    /// Takes the result back that went with a user.
    pub(crate) fn take_kept(&mut self, index: UserId) {
        if let Some(kept) = self.cx.users[index].java().result.take() {
            let used = std::mem::replace(&mut self.cx.result, kept);
            self.cx.spare_results.push(used);
        }
    }

    /// Keeps the core's result for whoever looks at the sample before.
    pub(crate) fn keep_previous(&mut self, index: UserId) {
        if !self.jobs.keeps() {
            return;
        }
        let mut kept = match self.cx.users[index].java().previous.take() {
            Some(kept) => kept,
            None => self.cx.spare_results.pop().unwrap_or_default(),
        };
        kept.clear();
        self.cx.result.duplicate_into(&mut kept);
        (kept.ignore, kept.request, kept.count, kept.errors) = (
            self.cx.result.ignore,
            self.cx.result.request,
            self.cx.result.count,
            self.cx.result.errors,
        );
        self.cx.users[index].java().previous = Some(kept);
    }
}
