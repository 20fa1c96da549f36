//! Samples in branches, which may be only part of the sample around these.

use plan::result::SampleResult;

use crate::ids::UserId;
use crate::sample::reporting::Reporting;
use crate::time::timing::Timing;

impl Reporting<'_, '_> {
    /// Moves the core's result into the sample around a branch.
    pub(crate) fn add_to_branches(&mut self, branch: UserId, timing: &Timing, success: bool) {
        let fresh = self.cx.spare_results.pop().unwrap_or_default();
        let mut part = std::mem::replace(&mut self.cx.result, fresh);
        if !self.sinks.rows.with_bodies() {
            std::mem::swap(&mut part.body, &mut self.cx.result.body);
            std::mem::swap(&mut part.text, &mut self.cx.result.text);
        }
        // What the outcome asks of the branch is read from the core's result afterwards.
        let request = part.request;
        if let Some(whole) = self.note_part(branch, &part, timing, success) {
            std::mem::swap(whole.add_sub(), &mut part);
        }
        self.cx.spare_results.push(part);
        self.cx.result.request = request;
        (self.cx.result.success, self.cx.result.ignore) = (success, false);
    }

    /// Puts a copy of the core's result into the sample around a branch.
    pub(crate) fn show_to_branches(&mut self, branch: UserId, timing: &Timing, success: bool) {
        let part = self.cx.lend_result();
        if let Some(whole) = self.note_part(branch, &part, timing, success) {
            part.duplicate_into(whole.add_sub());
        }
        self.cx.return_result(part);
    }

    /// Adds the figures of a part to those of the whole.
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

    /// Notes that the run's end has cut a branch.
    pub(crate) fn cut_branch(&mut self, branch: UserId) {
        let parent = self.cx.users[branch].branch_of;
        if let Some(branches) = self.cx.branches_mut(parent) {
            branches.cut = true;
        }
    }
}
