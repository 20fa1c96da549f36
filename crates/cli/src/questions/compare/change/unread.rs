//! Changes that unreadable rows may have hidden or caused.

use answers::compare::{Comparison, FEW_LOST, Lost};
use answers::criterion::Limit;
use answers::verdict::Words;
use report::model::words;

use super::{FailIf, Judged, is_of_errors, metric, row};

impl FailIf {
    /// Marks a change as undecided if unreadable samples of A or B could reverse the result.
    pub(crate) fn doubt_unread(
        &self,
        judged: &mut [Judged],
        comparison: &mut Comparison,
        lost: &Lost,
    ) {
        let Some((side, larger)) = lost.larger() else { return };
        for (criterion, judged) in self.0.iter().zip(judged) {
            // A few unreadable rows cannot cancel a significant change. If the change is already undecided, its
            // present reason is kept.
            if lost.is_few() && (judged.unknown || judged.is_there) {
                continue;
            }
            let (Some(name), Limit::Relative(percent)) = (metric(criterion), criterion.limit)
            else {
                continue;
            };
            let limit = percent / 100.0;
            let holds = |change: f64| criterion.op.holds(change, limit);
            let found = row(&judged.label, comparison).and_then(|row| {
                let difference = row.differences.iter().find(|one| one.metric == name)?;
                Some((row, difference))
            });
            // With a limit of 0, a random difference between equal sides exceeds the limit in half of all
            // comparisons.
            let counts = !is_of_errors(criterion) || limit != 0.0 || lost.share() > FEW_LOST;
            if found.is_some_and(|(row, one)| counts && lost.could_turn(row, one, holds)) {
                (judged.is_there, judged.unknown) = (false, true);
                let Words { en, zh } = larger.words();
                judged.reason = Some(words(format!("{side}: {en}"), format!("{side}：{zh}")));
                comparison.be_unread(&judged.label, name);
            }
        }
    }
}
