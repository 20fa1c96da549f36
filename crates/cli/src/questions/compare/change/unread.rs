//! Changes that unreadable rows may have hidden or caused.

use answers::compare::{Comparison, Row};
use answers::criterion::{Criterion, Figure, Limit, Stat};
use answers::unread::{MOST_UNREAD, Unread};
use answers::verdict::Words;
use report::model::words;

use super::{FailIf, Judged, is_of_errors, row};

/// Share of lost rows from which on the data cannot show that errors did not grow.
const FEW: f64 = 0.001;
/// Largest ratio of lost rows to the samples beyond a percentile.
const OF_TAIL: f64 = 0.1;

impl FailIf {
    /// Makes changes undecided that the unreadable samples of A and B could turn.
    pub(crate) fn doubt_unread(
        &self,
        judged: &mut [Judged],
        comparison: &Comparison,
        unread: &[Unread; 2],
    ) {
        let Some((side, lost)) = larger(unread) else { return };
        for (criterion, judged) in self.0.iter().zip(judged) {
            let row = row(&judged.label, comparison);
            let few = lost.share() <= MOST_UNREAD && !lost.is_open;
            // A few lost rows cannot undo a significant change, and another reason for an undecided change is kept.
            if few && (judged.unknown || judged.is_there) {
                continue;
            }
            if row.is_some_and(|row| could_turn(criterion, judged, row, unread)) {
                (judged.is_there, judged.unknown) = (false, true);
                let Words { en, zh } = lost.words();
                judged.reason = Some(words(format!("{side}: {en}"), format!("{side}：{zh}")));
            }
        }
    }
}

/// Returns the side of the comparison that lost more rows.
fn larger(unread: &[Unread; 2]) -> Option<(&'static str, &Unread)> {
    let [a, b] = unread;
    let weight = |of: &Unread| if of.is_open { 1.0 } else { of.share() };
    let larger = if weight(b) >= weight(a) { ("B", b) } else { ("A", a) };
    (weight(larger.1) > 0.0).then_some(larger)
}

/// True if the unreadable samples could change the result of a `--fail-if` change.
fn could_turn(criterion: &Criterion, judged: &Judged, row: &Row, unread: &[Unread; 2]) -> bool {
    let Limit::Relative(percent) = criterion.limit else { return false };
    let limit = percent / 100.0;
    let holds = |change: f64| criterion.op.holds(change, limit);
    let [a, b] = unread;
    let most = a.share().max(b.share());
    if a.is_open || b.is_open {
        return true;
    }
    match criterion.figure {
        _ if is_of_errors(criterion) => {
            let share = |failed: u64, all: u64, lost: u64, bad: u64| {
                (failed + bad) as f64 / (all + lost).max(1) as f64
            };
            let of = |(failed, all): (u64, u64), lost: u64| {
                (share(failed, all, lost, 0), share(failed, all, lost, lost))
            };
            let of_a = of((row.failed.0, row.recorded.0), a.lost);
            let of_b = of((row.failed.1, row.recorded.1), b.lost);
            (limit != 0.0 || most > FEW) && holds(of_b.0 - of_a.1) != holds(of_b.1 - of_a.0)
        }
        Figure::Rate => {
            let change = judged.found.unwrap_or(0.0);
            let (least, largest) = (
                (1.0 + change) * (1.0 - a.share()) - 1.0,
                (1.0 + change) / (1.0 - b.share()).max(0.001) - 1.0,
            );
            most > MOST_UNREAD && holds(least) != holds(largest)
        }
        Figure::Time(_, Stat::Percentile(percent)) => most > (1.0 - percent / 100.0) * OF_TAIL,
        _ => most > MOST_UNREAD,
    }
}
