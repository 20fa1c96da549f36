//! Judges a finished run: its criteria, by its metrics and its record; and the reason if nothing was sent.

use std::time::Duration;

use answers::evidence::{self, Shortfall};
use answers::rules;
use record::Record;
use stats::Counter;

use crate::judge::criteria::{Judgement, Watch};
use crate::run::identity::End;
use crate::run::progress::Progress;

/// Judges the criteria of a run whose record is complete. `record` is `None` if it could not be read, so that
/// results are lost.
pub(super) fn judged(
    watch: &Watch,
    end: &End,
    progress: &Progress,
    length: Duration,
    record: Option<&Record>,
) -> Judgement {
    let totals = progress.totals();
    let get = |counter| totals.counters.get(counter);
    let found = Shortfall::of(get(Counter::StartsDue), get(Counter::StartsMissed), record);
    let early = || {
        let cut_short = || record.and_then(rules::cut_short).as_ref().map(evidence::met_so_far);
        found.early.or_else(cut_short)
    };
    let shortfall = Shortfall { early: end.early().or_else(early), ..found };
    let has_ended = matches!(end, End::Completed | End::StoppedByPlan);
    let cut_short = record.filter(|_| has_ended).and_then(rules::cut_short_by_errors);
    Judgement { cut_short, ..watch.judge(totals, length, &shortfall) }
}

/// Returns the reason why a finished run has no samples, or `None` if it has samples.
pub(super) fn without_samples(
    end: &End,
    progress: &Progress,
    watch: &Watch,
) -> Option<&'static str> {
    let totals = progress.totals();
    if !matches!(end, End::Completed | End::StoppedByPlan) {
        return None;
    }
    if watch.lacks_load(totals) {
        return Some(
            "the main thread groups have no samples, only setUp and tearDown thread groups have some; check the loops, users, conditions and data files of the main groups",
        );
    }
    if totals.rows().iter().any(|row| row.tally.count > 0) {
        return None;
    }
    let cut: u64 = totals.rows().iter().map(|row| row.tally.cut).sum();
    Some(match () {
        () if cut > 0 => {
            "the run has no samples: all samples were in flight when it ended; run longer"
        }
        () if progress.users().started == 0 => {
            "the run has no samples: no user was started; check whether the thread groups are enabled and have users"
        }
        () if !watch.has_samplers() => "the run has no samples: no sampler of the plan is enabled",
        () => {
            "the run has no samples: no sampler was run, or none gave a result; look at the conditions of controllers, at data files that ended and at the log"
        }
    })
}
