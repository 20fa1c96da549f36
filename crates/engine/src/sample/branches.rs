//! Samples in parallel branches. They may be reported only as sub-results of the controller's parent sample.

use plan::result::SampleResult;

use crate::ids::UserId;
use crate::sample::reporting::Reporting;
use crate::time::timing::Timing;

impl Reporting<'_, '_> {
    /// Moves the core's current result into the parent sample of a branch.
    pub(crate) fn add_to_branches(&mut self, branch: UserId, timing: &Timing, success: bool) {
        let fresh = self.cx.spare_results.pop().unwrap_or_default();
        let mut part = std::mem::replace(&mut self.cx.result, fresh);
        if !self.sinks.rows.with_bodies() {
            std::mem::swap(&mut part.body, &mut self.cx.result.body);
            std::mem::swap(&mut part.text, &mut self.cx.result.text);
        }
        // The action that the result requests of the branch is read from the core's current result later.
        let request = part.request;
        if let Some(whole) = self.note_part(branch, &part, timing, success) {
            std::mem::swap(whole.add_sub(), &mut part);
        }
        self.cx.spare_results.push(part);
        self.cx.result.request = request;
        (self.cx.result.success, self.cx.result.ignore) = (success, false);
    }

    /// Copies the core's current result into the parent sample of a branch.
    pub(crate) fn show_to_branches(&mut self, branch: UserId, timing: &Timing, success: bool) {
        let part = self.cx.lend_result();
        if let Some(whole) = self.note_part(branch, &part, timing, success) {
            part.duplicate_into(whole.add_sub());
        }
        self.cx.return_result(part);
    }

    /// Adds the measurements of a branch's sample to those of the parent sample.
    fn note_part(
        &mut self,
        branch: UserId,
        part: &SampleResult,
        timing: &Timing,
        success: bool,
    ) -> Option<&mut SampleResult> {
        let parent = self.cx.users[branch].branch_of;
        let branches = self.cx.branches_mut(parent)?;
        branches.lag += timing.lag;
        branches.timing.end = branches.timing.end.max(timing.end);
        let whole = branches.whole.as_deref_mut()?;
        whole.bytes += timing.received;
        whole.sent += timing.sent;
        whole.headers_size += part.headers_size;
        whole.success &= success;
        Some(whole)
    }

    /// Records that the end of the run has cut a branch.
    pub(crate) fn cut_branch(&mut self, branch: UserId) {
        let parent = self.cx.users[branch].branch_of;
        if let Some(branches) = self.cx.branches_mut(parent) {
            branches.cut = true;
        }
    }
}
