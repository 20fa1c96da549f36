//! The loop's part in HTTP requests: their start, and the pages that they load.

use plan::http::Http;
use plan::plan::{Needs, SamplerId};
use plan::result::SampleResult;
use plan::template::Thrown;
use stats::Outcome;

use crate::core::Core;
use crate::http::exchange::BeginResult;
use crate::ids::UserId;
use crate::sample::step::Step;
use crate::time::timing::Timing;
use crate::users::Wait;

impl Core<'_> {
    /// Begins the sample of an HTTP sampler.
    pub(crate) fn begin_http(&mut self, index: UserId, id: SamplerId, http: &Http) -> Step {
        match self.http.begin(&mut self.cx, &mut self.sessions, index, id, http) {
            BeginResult::InFlight => Step::Done,
            BeginResult::LeftOut => {
                let (samples, mut on) = self.sampling();
                samples.after_action(&mut on, index, id)
            }
        }
    }

    /// Ends the sample of a sampler that has finished its work. If the result is a page, its embedded resources are
    /// loaded first.
    pub(crate) fn end_work(
        &mut self,
        index: UserId,
        id: SamplerId,
        timing: &Timing,
        outcome: Outcome,
        result: Option<Box<SampleResult>>,
    ) {
        let is_page = self.cx.plan.samplers[id.0 as usize].needs.contains(Needs::PAGE);
        match result {
            Some(result) if is_page && outcome == Outcome::Ok => {
                let Self { cx, sessions, http, .. } = self;
                let page = http.load_page(cx, sessions, index, id, *timing, result);
                if let Some((timing, outcome, result)) = page {
                    self.close_sample(index, id, &timing, outcome, Some(result));
                }
            }
            result => self.close_sample(index, id, timing, outcome, result),
        }
    }

    /// Adds the result of a finished download to its page, and starts further downloads.
    pub(crate) fn branch_done(
        &mut self,
        branch: UserId,
        timing: &Timing,
        outcome: Outcome,
        result: Option<Box<SampleResult>>,
    ) {
        let result = result.unwrap_or_else(|| self.cx.take_result());
        let Self { cx, sessions, http, .. } = self;
        http.branch_done(cx, sessions, branch, timing, outcome, result);
    }

    /// Ends the sample of a user after a function in its request has thrown an exception that no sampler catches.
    pub(crate) fn end_thrown(&mut self, user: UserId, thrown: Thrown) {
        let entry = &mut self.cx.users[user];
        if entry.alive && entry.wait == Wait::Done {
            entry.wait = Wait::Ready;
            self.cx.texts.thrown = Some(thrown);
            self.ends_by_exception(user);
        }
    }
}
