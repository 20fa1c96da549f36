//! Judges a finished run: its criteria by its figures and its record, and the reason if nothing was sent.

use std::time::Duration;

use answers::evidence::{self, Shortfall};
use answers::rules;
use answers::verdict::Words;
use record::{Load, Record};
use stats::Counter;

use super::traces::Traces;
use crate::criteria::{Judgement, Watch};
use crate::identity::End;
use crate::progress::Progress;

/// Judges the criteria of a run whose record is complete.
pub(super) fn judged(
    watch: &Watch,
    end: &End,
    progress: &Progress,
    length: Duration,
    traces: &Traces<'_>,
) -> Judgement {
    // The record is read only if a check needs it.
    let get = |counter| progress.totals().counters.get(counter);
    let by_error = get(Counter::RunStoppedByError) + get(Counter::UsersStoppedByError) > 0;
    let folder = traces.folder.path().filter(|_| by_error || !watch.is_empty());
    let record = folder.and_then(|folder| Record::read(folder).ok());
    let totals = progress.totals();
    let counted = (get(Counter::StartsDue), get(Counter::StartsMissed));
    let found = Shortfall::of(counted, record.as_ref());
    let cut_short = match &record {
        Some(record) => rules::cut_short(record),
        None => {
            let load = &progress.now().frame.load;
            let users = (get(Counter::UsersStoppedByError), get(Counter::UsersStarted));
            let stopped = get(Counter::RunStoppedByError) > 0;
            ended_by_errors(load, length, (stopped, get(Counter::SamplersNotBegun) > 0), users)
        }
    };
    let unrecorded = || {
        let unknown = record.is_none() && counted.0 == 0;
        cut_short.clone().or_else(|| unknown.then(|| rate_unknown(progress, length)).flatten())
    };
    let early = || found.early.or_else(|| unrecorded().as_ref().map(evidence::met_so_far));
    let early = end.early().or_else(early);
    let shortfall = Shortfall { early, ..found };
    let cut_short = cut_short.filter(|_| matches!(end, End::Completed | End::StoppedByPlan));
    Judgement { cut_short, ..watch.judge(totals, length, &shortfall) }
}

/// Returns the reason for which it is unknown if the plan's own rate was reached: a run without a record has no data
/// per second.
fn rate_unknown(progress: &Progress, length: Duration) -> Option<Words> {
    let load = &progress.now().frame.load;
    let rate = load.rate.filter(|rate| *rate > 0.0 && !load.open)?;
    let (due, made) = (rate * length.as_secs_f64(), progress.totals().requests().tally.count);
    let (rate, made_s) = (number(rate), number(made as f64 / length.as_secs_f64().max(1e-3)));
    ((made as f64) < (1.0 - evidence::MOST_MISSED) * due).then(|| Words {
        en: format!("without a record it is not known whether the plan's rate was reached ({made_s}/s of {rate}/s)"),
        zh: format!("没有记录，无法得知计划的速率是否达到（{rate}/s 中的 {made_s}/s）"),
    })
}

fn number(rate: f64) -> String {
    format!("{rate:.1}").trim_end_matches(".0").to_owned()
}

/// Returns a text if errors ended the run (`stopped`), or too many of its users (`ended` of `all`). This is judged by
/// counters, for a run without a record. Without a planned length, work was left if a user had a further sampler
/// (`has_next`) or had not started.
fn ended_by_errors(
    load: &Load,
    length: Duration,
    (stopped, has_next): (bool, bool),
    (ended, all): (u64, u64),
) -> Option<Words> {
    let end_ms = length.as_millis() as i64 + rules::EARLIER_MS;
    let is_early = load.length_ms.map_or(has_next || all < load.users, |of_ms| end_ms <= of_ms);
    let many = ended as f64 > rules::MOST_ENDED * all as f64;
    let of_users = many && (load.length_ms.is_some() || has_next) && !load.open;
    ((stopped && is_early) || of_users).then(|| Words {
        en: "errors ended the run or its users before the load was made".to_owned(),
        zh: "错误在负载完成之前结束了运行或其用户".to_owned(),
    })
}

/// Returns the reason for which a finished run has no samples, or `None` if it has samples.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_alone_say_whether_errors_cut_a_load_short() {
        let length = Duration::from_secs(9);
        let load = |length_ms, open| Load { users: 20, length_ms, open, ..Load::default() };
        let timed = load(Some(60_000), false);
        let is_cut = |load: &Load, stopped, users| {
            ended_by_errors(load, length, (stopped, false), users).is_some()
        };
        assert!(is_cut(&timed, true, (0, 20)) && is_cut(&timed, false, (3, 20)));
        assert!(!is_cut(&timed, false, (2, 20)), "a tenth");
        assert!(!is_cut(&load(Some(10_000), false), true, (0, 20)), "at the planned end");
        assert!(!is_cut(&load(Some(60_000), true), false, (20, 20)), "others follow them");
        let loops = load(None, false);
        assert!(is_cut(&loops, true, (0, 19)), "users that had not started");
        assert!(!is_cut(&loops, true, (0, 20)) && !is_cut(&loops, false, (20, 20)));
        let has_next =
            |stopped| ended_by_errors(&loops, length, (stopped, true), (20, 20)).is_some();
        assert!(has_next(true) && has_next(false), "users with a further sampler");
    }
}
