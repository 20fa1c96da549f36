//! Samples in parallel branches. They may be reported only as sub-results of the controller's parent sample.

use plan::result::SampleResult;

use crate::ids::UserId;
use crate::sample::reporting::Reporting;
use crate::time::timing::Timing;

impl Reporting<'_, '_> {
    /// Moves the result of a branch into the parent sample of its Parallel Controller, if there is one.
    pub(crate) fn add_to_branches(
        &mut self,
        branch: UserId,
        timing: &Timing,
        success: bool,
        part: &mut SampleResult,
    ) {
        let bodies = self.sinks.rows.with_bodies();
        if let Some(whole) = self.note_part(branch, part, timing, success) {
            move_into(part, whole.add_sub(), bodies);
        }
    }

    /// Copies the result of a branch into the parent sample of its Parallel Controller, if there is one.
    pub(crate) fn show_to_branches(
        &mut self,
        branch: UserId,
        timing: &Timing,
        success: bool,
        part: &SampleResult,
    ) {
        if let Some(whole) = self.note_part(branch, part, timing, success) {
            part.duplicate_into(whole.add_sub());
        }
    }

    /// Adds the measurements of a branch's sample to the measurements of the parent sample.
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

    /// Marks the branches of a Parallel Controller as cut, because the end of the run has cut one of the branches.
    pub(crate) fn cut_branch(&mut self, branch: UserId) {
        let parent = self.cx.users[branch].branch_of;
        if let Some(branches) = self.cx.branches_mut(parent) {
            branches.cut = true;
        }
    }
}

/// Moves a result into a sub-result of another result. Without `bodies` the buffers of its body stay for the next
/// sample, because nothing reads the body of the sub-result.
pub(super) fn move_into(part: &mut SampleResult, sub: &mut SampleResult, bodies: bool) {
    std::mem::swap(part, sub);
    if sub.sub_count == 0 {
        // Unused sub-results stay with the result that is used again. Moved into another result, they would be missing
        // there, and each transaction would allocate new ones.
        std::mem::swap(&mut part.subs, &mut sub.subs);
    } else {
        // Unused results below used ones are freed: each transaction would move them deeper.
        let used = sub.sub_count;
        for (at, below) in sub.subs.iter_mut().enumerate() {
            if at >= used || below.sub_count == 0 {
                below.subs = Vec::new();
            }
        }
    }
    if !bodies {
        sub.body.clear();
        sub.text.clear();
        std::mem::swap(&mut part.body, &mut sub.body);
        std::mem::swap(&mut part.text, &mut sub.text);
    }
}
