//! Changes that may be hidden or caused by a load that was not generated completely: starts were missed, errors
//! ended the load, or the target did not respond until the end. The missing samples would have been the slowest and
//! the first to fail.

use answers::criterion::{Figure, Op};
use answers::verdict::Words;
use report::model::words;

use super::{FailIf, Judged};

impl FailIf {
    /// Marks a change as undecided if missing samples of A or B could reverse the result. `partial` is, for each
    /// side, the reason why its samples do not represent its whole load.
    pub(crate) fn doubt_partial(&self, judged: &mut [Judged], partial: &[Option<Words>; 2]) {
        for (criterion, judged) in self.0.iter().zip(judged) {
            if judged.unknown || criterion.figure == Figure::Rate {
                continue;
            }
            let is_more = matches!(criterion.op, Op::More | Op::AtLeast);
            let asks_for_worse = is_more != (criterion.figure == Figure::CheckShare);
            // A side with missing samples looks better than it is.
            let at = usize::from(judged.is_there != asks_for_worse);
            let Some(Words { en, zh }) = &partial[at] else { continue };
            let side = ["A", "B"][at];
            (judged.is_there, judged.unknown) = (false, true);
            judged.reason = Some(words(format!("{side}: {en}"), format!("{side}：{zh}")));
        }
    }
}
