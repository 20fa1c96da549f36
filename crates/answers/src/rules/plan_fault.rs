//! Detects a label that fails from its first requests on. The cause is the plan, its data, the address, or a target
//! that does not work at all. If there was no lighter load before, the load may also be too high.

use record::{CauseName, Record, Second};
use stats::Outcome;
use stats::grouped::{count, percent};

use super::errors::{reads, samples, sheds};
use super::figures::{causes, requests, span, whole, with_users};
use super::say::{found, lacks, words};
use crate::verdict::{About, Confidence, Finding, Said};

/// Number of a label's first requests that are checked.
const EARLY_SAMPLES: u64 = 100;
/// Smallest share of errors among a label's first 100 requests for a finding. k6's rule uses 15 % of the first 100
/// iterations.
const EARLY_SHARE: f64 = 0.15;
/// Number of requests at the beginning that all succeed if the target works at first. If half of all requests fail, ten
/// in a row hardly ever succeed by chance.
const FIRST_SAMPLES: u64 = 10;
/// Share of errors among a label's first 100 requests from which a good beginning rules out a fault of the plan.
const HALF: f64 = 0.5;
/// Share of failed requests from which a label counts as always failing.
const ALWAYS: f64 = 0.9;
/// Largest number of users at which the load counts as light, as a share of the run's largest number of users.
const LIGHT: f64 = 0.25;
/// Largest ratio of the error share of the whole run to the error share of the first requests at which the two shares
/// count as equal.
const SAME: f64 = 2.0;

/// The first 100 requests of a label, extended to whole seconds, and the errors among all of its requests.
#[derive(Clone, Copy, Default)]
struct Early {
    /// Number of first requests.
    n: u64,
    /// Number of errors among the first requests.
    errors: u64,
    /// Index of the second in which the first requests end.
    end: usize,
    /// Share of errors among all requests of the label.
    share: f64,
    /// Number of errors among all requests of the label.
    all_errors: u64,
    /// True if at least the first ten requests all succeeded.
    begins_well: bool,
}

/// Returns the first requests of each label. Makes one pass, since there may be many labels and many seconds.
fn early(seconds: &[Second], labels: usize) -> Vec<Early> {
    let mut all = vec![(Early::default(), 0, 0); labels];
    for (at, second) in seconds.iter().enumerate() {
        for (label, n, errors) in second.labels.counts() {
            let Some((early, all, all_errors)) = all.get_mut(label as usize) else { continue };
            (*all, *all_errors) = (*all + n, *all_errors + errors);
            if early.n < EARLY_SAMPLES {
                (early.n, early.errors, early.end) = (early.n + n, early.errors + errors, at);
                early.begins_well |= early.errors == 0 && early.n >= FIRST_SAMPLES;
            }
        }
    }
    let share = |(early, all, errors): (Early, u64, u64)| Early {
        share: errors as f64 / all.max(1) as f64,
        all_errors: errors,
        ..early
    };
    all.into_iter().map(share).collect()
}

/// Returns the most frequent of the causes that first occurred under the given label. If there is none, returns the
/// most frequent cause of the run.
fn cause_of_label(record: &Record, label: &str) -> Option<usize> {
    let all = causes(whole(record));
    let is_own = |cause: usize| record.causes.get(cause).is_some_and(|c| *c.first_label == *label);
    let own = all.iter().find(|(cause, _)| is_own(*cause));
    own.or_else(|| all.first()).map(|(cause, _)| *cause)
}

pub(super) fn plan_fault(record: &Record) -> Said {
    if !record.knows_errors() {
        return lacks!(success_column);
    }
    let seconds = whole(record);
    if requests(seconds) < EARLY_SAMPLES {
        return lacks!(hundred_requests);
    }
    let most_users = seconds.iter().map(|s| s.users).max().unwrap_or(0);
    let early = early(seconds, record.labels.len());
    let labels = (0..).zip(record.labels.iter().zip(early)).filter(|(_, of)| !of.0.transaction);
    for (number, (label, early)) in labels {
        let Early { n: early, errors: early_errors, end, share, all_errors, begins_well } = early;
        if early < EARLY_SAMPLES || (early_errors as f64) < EARLY_SHARE * early as f64 {
            continue;
        }
        let share_early = early_errors as f64 / early as f64;
        // The target worked at first. The first requests include whole seconds, so those of users without pauses can
        // include hundreds of errors from the second in which the target went away.
        if begins_well && share_early >= HALF {
            continue;
        }
        let light = record.has.users && (seconds[end].users as f64) <= LIGHT * most_users as f64;
        // Without a light load at the start, a label that does not always fail may fail because of the load.
        let by_plan = if light {
            share * SAME >= share_early && share <= share_early * SAME
        } else {
            share >= ALWAYS
        };
        let name = &label.name;
        let cause = cause_of_label(record, name);
        let shed = cause.is_some_and(|cause| record.causes.get(cause).is_some_and(sheds));
        if !by_plan || shed {
            continue;
        }
        let blame = if share >= 1.0 && is_refusal(record, cause, all_errors) {
            Blame::Address
        } else if !light
            && !fails_lightly(record, number, most_users)
            && cause.is_none_or(|cause| record.causes.get(cause).is_none_or(comes_of_load))
        {
            Blame::Unknown
        } else {
            Blame::Plan
        };
        let finding = fails_at_first(record, name, cause, early, share_early, share, blame)
            .with("early_error_share", share_early, "share", span(&seconds[..=end]))
            .with("error_share", share, "share", span(seconds));
        // Certain causes from the kernel or the server are listed before possible ones. So only a fault of the plan
        // explains the finding about the errors.
        return match blame {
            Blame::Plan => finding.explaining(&["errors_named"]).said(),
            Blame::Address | Blame::Unknown => finding.said(),
        };
    }
    Said::Nothing
}

/// Possible causes of a label that fails from its first requests on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Blame {
    /// The address is the cause: every connection was refused.
    Address,
    /// The plan, its data, the address or the target is the cause, but not the load.
    Plan,
    /// The cause is unknown: the load may also be too high from the beginning.
    Unknown,
}

/// True if the cause is a refused connection, with at least `errors` errors (all errors of the label).
fn is_refusal(record: &Record, cause: Option<usize>, errors: u64) -> bool {
    let Some(cause) = cause else { return false };
    let is_refused = record.causes.get(cause).is_some_and(|one| one.outcome == Outcome::Refused);
    let n = causes(whole(record)).into_iter().find(|(other, _)| *other == cause);
    is_refused && n.is_some_and(|(_, n)| n >= errors)
}

/// True if a label always fails under a light load as well. Ten requests under a light load are enough to decide.
fn fails_lightly(record: &Record, label: u32, most_users: u64) -> bool {
    let is_light = |users: u64| users == 1 || users as f64 <= LIGHT * most_users as f64;
    let light = with_users(whole(record)).filter(|(users, _)| record.has.users && is_light(*users));
    let of_label = light.flat_map(|(_, second)| second.labels.counts()).filter(|of| of.0 == label);
    let (n, errors) = of_label.fold((0, 0), |sum, (_, n, errors)| (sum.0 + n, sum.1 + errors));
    n >= FIRST_SAMPLES && errors as f64 >= ALWAYS * n as f64
}

/// True if overload can also cause the error. A missing page, a rejected login or an unexpected response is not caused
/// by overload.
fn comes_of_load(cause: &CauseName) -> bool {
    let by_status = matches!(cause.code.parse::<u16>(), Ok(408 | 425 | 500 | 502..=504 | 507..));
    let by_connection = matches!(
        cause.outcome,
        Outcome::Refused | Outcome::Reset | Outcome::Closed | Outcome::Timeout(_)
    );
    by_connection || cause.outcome == Outcome::Status && by_status
}

/// Builds the finding about a label that fails from its first requests on. `early`: number of its first requests;
/// `share_early`, `share`: shares of errors among them and among all its requests.
fn fails_at_first(
    record: &Record,
    name: &str,
    cause: Option<usize>,
    early: u64,
    share_early: f64,
    share: f64,
    blame: Blame,
) -> Finding {
    let text = cause.map(|cause| reads(record, cause)).filter(|text| !text.trim().is_empty());
    let text = text.map_or_else(String::new, |text| format!(" {text}"));
    let (at_first, over, early) = (percent(share_early), percent(share), count(early));
    let samples = samples(record);
    let no_load = words!(plan_fault_not_load);
    if blame == Blame::Address {
        let said = words!(plan_fault_refused(name, text));
        return found("plan_fault", About::Test, Confidence::Arithmetic, said)
            .rules_out(no_load)
            .advise(words!(plan_fault_refused_advice(name)));
    }
    if blame == Blame::Unknown {
        let said = words!(plan_fault_or_load(name, at_first, early, over, text));
        return found("plan_fault", About::Run, Confidence::Statistical, said)
            .advise(words!(plan_fault_or_load_advice(samples)));
    }
    let said = words!(plan_fault_found(name, at_first, early, over, text));
    found("plan_fault", About::Test, Confidence::Statistical, said)
        .rules_out(no_load)
        .advise(words!(plan_fault_advice(samples)))
}
