//! The judgement of a run that has ended: its criteria, by its figures and its record, and the reason where nothing was sent.

use std::time::Duration;

use answers::evidence::Shortfall;
use answers::verdict::Words;
use record::Record;
use stats::Counter;

use super::traces::Traces;
use crate::criteria::{Judgement, Watch};
use crate::identity::End;
use crate::progress::Progress;

/// The judgement of the run's criteria, whose record is written.
pub(super) fn judged(
    watch: &Watch,
    end: &End,
    progress: &Progress,
    length: Duration,
    traces: &Traces<'_>,
) -> Judgement {
    // Criteria alone need the record.
    let folder = traces.folder.path().filter(|_| !watch.is_empty());
    let record = folder.and_then(|folder| Record::read(folder).ok());
    let totals = progress.totals();
    let get = |counter| totals.counters.get(counter);
    let counted = (get(Counter::StartsDue), get(Counter::StartsMissed));
    let found = Shortfall::of(counted, record.as_ref());
    let unrecorded = || record.is_none().then(|| ended_by_errors(progress)).flatten();
    let early = end.early().or(found.early).or_else(unrecorded);
    let shortfall = Shortfall { early, ..found };
    watch.judge(totals, length, &shortfall)
}

/// Whether errors ended the run, or too many of its users, by its counters: where it has no record, they alone tell.
fn ended_by_errors(progress: &Progress) -> Option<Words> {
    let get = |counter| progress.totals().counters.get(counter);
    let (ended, all) = (get(Counter::UsersStoppedByError), get(Counter::UsersStarted));
    let of_users = ended as f64 > answers::evidence::MOST_ENDED * all as f64;
    (get(Counter::RunStoppedByError) > 0 || of_users).then(|| Words {
        en: "met so far; errors ended the run or its users before the load was made".to_owned(),
        zh: "目前满足；错误在负载完成之前结束了运行或其用户".to_owned(),
    })
}

/// Why a run that came to its end has no samples, if it has none.
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
            "the main thread groups have no samples, setUp and tearDown thread groups alone have; look at loops, users, conditions and data files of the main groups",
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
            "the run has no samples: no user was started; look whether the thread groups are enabled and have users"
        }
        () if !watch.has_samplers() => "the run has no samples: no sampler of the plan is enabled",
        () => {
            "the run has no samples: no sampler was run, or none gave a result; look at the conditions of controllers, at data files that ended and at the log"
        }
    })
}
