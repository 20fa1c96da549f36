//! Work on a sample's result in Java: post-processors, assertions, listeners, in this order, and then the end of the
//! sample.
//!
//! Native processors and assertions run in the module `sample`. While the user waits for a job on its result, the
//! result is part of the job's [`Then`]. No job is sent for a sample that the end of the run has cut.

use plan::extract::Extractor;
use plan::java_backed::Job;
use plan::plan::SamplerId;
use plan::result::SampleResult;
use stats::Outcome;

use super::{Act, Jobs, Then};
use crate::context::Context;
use crate::ids::UserId;
use crate::time::clock::Nanos;
use crate::time::timing::Timing;

/// A sample that ends, with the progress of the work on its result.
#[derive(Debug)]
pub(crate) struct Closing {
    pub(crate) id: SamplerId,
    pub(crate) timing: Timing,
    pub(crate) outcome: Outcome,
    /// True if some element reads the sample's result.
    pub(crate) observed: bool,
    /// Index of the next post-processor or assertion, counted together; `None` after the last assertion.
    pub(crate) at: Option<usize>,
    /// Time at which the sample's last job was done. The next step cannot have begun earlier.
    pub(crate) since: Nanos,
    /// Number of the sample's listeners that have received the sample.
    pub(crate) told: usize,
    /// The sample's result; may be absent if nothing reads it.
    pub(crate) result: Option<Box<SampleResult>>,
}

impl Closing {
    /// Returns the sample's result, if some element reads it.
    pub(crate) fn observed_result(&self) -> Option<&SampleResult> {
        self.result.as_deref().filter(|_| self.observed)
    }

    /// Returns the sample's result for changes, if some element reads it.
    pub(crate) fn observed_result_mut(&mut self) -> Option<&mut SampleResult> {
        self.result.as_deref_mut().filter(|_| self.observed)
    }

    /// Moves the sample and its result into the [`Then`] of the job for which its user will wait.
    pub(super) fn wait(&mut self) -> Then {
        Then::Close(Self { result: self.result.take(), ..*self })
    }
}

impl Jobs {
    /// Sends a job for the processor or assertion at index `at`, and for the Java processors or assertions that follow
    /// it directly; the user waits for the job. An expression is evaluated by a separate job.
    pub(crate) fn process(
        &mut self,
        cx: &mut Context<'_>,
        index: UserId,
        closing: &mut Closing,
        at: usize,
        job: Job,
    ) {
        let sampler = &cx.plan.samplers[closing.id.0 as usize];
        let (after, checks) = (&sampler.after, &sampler.checks);
        match job {
            Job::Evaluate(range) => {
                closing.at = Some(at + 1);
                self.hand_over_texts(cx, index, closing.wait(), range);
            }
            Job::Run(_) if at < after.len() => {
                let runs = after[at..].iter().map_while(|one| match one {
                    Extractor::Job(job @ Job::Run(_)) => Some(*job),
                    _ => None,
                });
                closing.at = Some(at + runs.clone().count());
                self.hand_over_run(cx, index, closing.wait(), Act::After, runs);
            }
            Job::Run(_) => {
                let runs = checks[at - after.len()..].iter();
                let runs = runs.map_while(|one| one.job().filter(|job| matches!(job, Job::Run(_))));
                closing.at = Some(at + runs.clone().count());
                self.hand_over_run(cx, index, closing.wait(), Act::Assertion, runs);
            }
        }
    }

    /// Keeps a copy of a result as the user's previous result, for elements that read it in the next sample.
    pub(crate) fn keep_previous(&self, cx: &mut Context<'_>, index: UserId, result: &SampleResult) {
        if !self.keeps() {
            return;
        }
        let mut kept = match cx.users[index].java().previous.take() {
            Some(kept) => kept,
            None => cx.spare_results.pop().unwrap_or_default(),
        };
        kept.clear();
        result.duplicate_into(&mut kept);
        (kept.ignore, kept.request, kept.count, kept.errors) =
            (result.ignore, result.request, result.count, result.errors);
        cx.users[index].java().previous = Some(kept);
    }
}
