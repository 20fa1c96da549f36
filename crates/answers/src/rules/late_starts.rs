//! Detects a requested rate that was not reached, because starts were late or never made.

use record::frame::RATE_USERS;
use record::{Record, Second};
use stats::grouped::{count, percent};

use super::constant_load::constant_load;
use super::errors::per_second;
use super::figures::{hist, in_flight, mean, mix_differs, ms, span, steady, sum};
use super::generator::{generator_limit, machine_busy};
use super::light::light_seconds;
use super::pace::{MISSED_OF_SAMPLES, lacks_rate, timers};
use super::realism::setting;
use super::run::Run;
use super::say::{clock, found, number, time, words};
use super::{generator, machine};
use crate::distribution::student_quantile;
use crate::evidence::MOST_MISSED;
use crate::verdict::{About, Confidence, Finding, Said, Words};

const ID: &str = "late_starts";

/// Smallest number of missing starts for a finding, in addition to their smallest share.
const MISSED_LEAST: u64 = 10;
/// Number of standard deviations of missing starts if the plan's rate is compared with its samples. In this case
/// each user may have one sample that does not count yet, start times scatter by chance, and timers have jitter.
const SIGMAS: f64 = 3.0;
/// Smallest number of seconds under load whose observed scatter is used: a Constant Throughput Timer scatters less than
/// chance.
const LEAST_SECONDS: usize = 8;
/// Number of seconds below which Student's t accounts for the error of the observed scatter.
const KNOWN_SECONDS: usize = 20;
/// Probability of a normal value below three standard deviations.
const WITHIN: f64 = 0.998_65;
/// Share of the users from which the load is full.
const FULL: f64 = 0.95;
/// Largest relative difference between the mean rate of starts and the requested rate for a constant requested rate.
const SAME_RATE: f64 = 0.02;
/// Share of users waiting for responses from which all users count as busy.
const BUSY: f64 = 0.9;
/// Smallest share of a second that lies in a pause of the target, for missing starts of the second to be explained by
/// the pause.
const PAUSE: f64 = 0.6;
/// Shortest pause of the target in ms.
const PAUSE_LEAST: f64 = 500.0;
/// Smallest ratio of the longest request that ends in the second after a time without responses to the length of that
/// time. Such a request has waited for the target, so the time is a pause of the target.
const WAITED: f64 = 0.8;
/// Smallest number of responses per user between two pauses. With fewer, each response is slow, and users that wait in
/// step leave gaps between them.
const EACH: f64 = 1.5;
/// Smallest ratio of the response time to the response time under light load at which requests count as waiting in the
/// target.
const SLOWER: f64 = 2.0;
/// Smallest share of the missing starts that pauses must explain, for the finding about pauses.
const MOST: f64 = 0.5;

pub(super) fn late_starts(run: &Run<'_>) -> Said {
    let record = run.record();
    let starts = starts(record);
    if starts.are_missed() {
        return never_made(run, &starts).said();
    }
    if record.has.response && generator::late(record) {
        return late(record, &starts).said();
    }
    if starts.due == 0 && !record.has.response {
        return lacks_rate();
    }
    Said::Nothing
}

/// Returns the starts that a rate of the plan or the command line required, and how many of them were never made.
/// `None` if the rate was reached, or if none was required.
pub fn missed_starts(record: &Record) -> Option<(u64, u64)> {
    let starts = starts(record);
    starts.are_missed().then_some((starts.due, starts.missed))
}

/// Starts that a rate required, with the missing ones.
#[derive(Default)]
struct Starts<'r> {
    due: u64,
    missed: u64,
    /// Seconds with missing starts, each with the number of missing starts.
    lost: Vec<(&'r Second, u64)>,
    /// Requested starts per second.
    asked: f64,
    /// Actual starts per second.
    made: f64,
    /// Number of missing starts that is tolerated, so that no start counts as missing.
    tolerated: f64,
}

impl Starts<'_> {
    /// True if starts are missing beyond the tolerance. A start that was made late is not missing.
    fn are_missed(&self) -> bool {
        self.missed >= MISSED_LEAST
            && self.missed as f64 >= self.tolerated
            && self.missed <= self.due
    }
}

fn starts(record: &Record) -> Starts<'_> {
    let (seconds, load) = (&record.seconds, &record.frame.load);
    let due = sum(seconds, |s| s.due);
    if due > 0 {
        let missed = sum(seconds, |s| s.missed);
        let with_starts = seconds.iter().filter(|s| s.due > 0);
        let length_s = with_starts.map(|s| f64::from(s.ms) / 1000.0).sum::<f64>();
        let mean = due as f64 / length_s.max(1e-3);
        // The rate of a growing schedule is compared by its highest value.
        let is_same = |rate: &f64| load.open && (rate - mean).abs() <= SAME_RATE * mean;
        let asked = load.rate.filter(is_same).unwrap_or(mean);
        return Starts {
            due,
            missed,
            lost: seconds.iter().filter(|s| s.missed > 0).map(|s| (s, s.missed)).collect(),
            asked,
            made: asked * (1.0 - missed as f64 / due as f64),
            tolerated: MOST_MISSED * due as f64,
        };
    }
    let Some(timers) = timers(record) else { return Starts::default() };
    // Only under full load are the samples that the plan requires in each second compared with those that ended in
    // it.
    let full = |s: &&Second| !record.has.users || s.users as f64 >= FULL * load.users as f64;
    let under_load: Vec<&Second> = steady(record).iter().filter(full).collect();
    let each = |s: &Second| timers.due(s);
    let due: f64 = under_load.iter().map(|s| each(s)).sum();
    let made: u64 = under_load.iter().map(|s| s.all.count).sum();
    let length: f64 = under_load.iter().map(|s| f64::from(s.ms) / 1000.0).sum();
    let short = |s: &&'_ Second| (each(s) - s.all.count as f64).max(0.0) as u64;
    Starts {
        due: due as u64,
        missed: (due - made as f64).max(0.0) as u64,
        lost: most(under_load.iter().map(|s| (*s, short(s))).collect()),
        asked: if load.schedule.is_empty() { timers.asked } else { due / length.max(1e-3) },
        made: made as f64 / length.max(1e-3),
        tolerated: (MISSED_OF_SAMPLES * due).max(scatter(&under_load, due)).max(load.users as f64),
    }
}

/// Returns the seconds with at least half of the usual number of missing starts: the number of samples scatters also in
/// seconds in which the rate is kept.
fn most(mut lost: Vec<(&Second, u64)>) -> Vec<(&Second, u64)> {
    lost.retain(|(_, n)| *n > 0);
    let (all, seconds) = (lost.iter().map(|(_, n)| n).sum::<u64>(), lost.len() as u64);
    lost.retain(|(_, n)| 2 * n * seconds >= all);
    lost
}

/// Returns the tolerated deviation of the number of samples from its mean: three standard deviations by chance, or by
/// the observed scatter if that is less.
fn scatter(seconds: &[&Second], due: f64) -> f64 {
    let (chance, n) = (SIGMAS * due.sqrt(), seconds.len());
    if n < LEAST_SECONDS {
        return chance;
    }
    let rates: Vec<f64> =
        seconds.iter().map(|s| s.all.count as f64 * 1000.0 / f64::from(s.ms.max(1))).collect();
    let middle = mean(&rates);
    let variance = rates.iter().map(|rate| (rate - middle).powi(2)).sum::<f64>();
    let of_few = || student_quantile(WITHIN, n as f64 - 1.0);
    let sigmas = if n < KNOWN_SECONDS { of_few() } else { SIGMAS };
    chance.min(sigmas * variance.sqrt())
}

/// Metrics of missing starts as strings.
struct Missing {
    /// Missing and required starts, such as "14 of 500 starts (2.8 %)".
    starts: Words,
    /// Requested starts per second.
    asked: f64,
    /// Requested starts per second as text.
    asked_words: String,
    /// Actual starts per second as text.
    reached: String,
    users: u64,
    /// Starts of each user per second while starts are missing; `None` if no start was made.
    by_each: Option<f64>,
}

impl Missing {
    /// Returns the subject of a sentence about all users, and its verb: "all 20 users" and "were".
    fn everyone(&self) -> (String, &'static str) {
        match self.users {
            1 => ("the only user".to_owned(), "was"),
            n => (format!("all {} users", count(n)), "were"),
        }
    }

    /// Returns the number of users that the rate needs if each user makes as many starts as now.
    fn needed(&self) -> Option<u64> {
        let needed = (self.asked / self.by_each?).ceil() as u64;
        Some(needed.max(self.users + 1))
    }
}

/// Returns the starts of each user per second while starts are missing, and the time in s per start that passes in the
/// generator.
fn made_by_each(starts: &Starts<'_>, users: u64, of_samples: bool) -> Option<(f64, f64)> {
    let seconds = || starts.lost.iter().map(|(second, _)| *second);
    let length_s = seconds().map(|s| f64::from(s.ms)).sum::<f64>() / 1000.0;
    let made = if of_samples {
        seconds().map(|s| s.all.count).sum::<u64>()
    } else {
        seconds().map(|s| s.due.saturating_sub(s.missed)).sum()
    };
    let lag_s = seconds().map(|s| s.all.phases.lag).sum::<u64>() as f64 / 1e9;
    // The seconds with missing samples exclude seconds that have more samples by chance, so the mean of all seconds
    // is used.
    let rate = if of_samples { starts.made } else { made as f64 / length_s.max(1e-3) };
    (made > 0 && users > 0 && rate > 0.0).then(|| (rate / users as f64, lag_s / made as f64))
}

/// Returns a phrase about a generator that prevented starts; `None` if it did not.
fn generator_words(
    record: &Record,
    starts: &Starts<'_>,
    missing: &Missing,
    lag_s: f64,
) -> Option<Words> {
    // A pause explains at most the missing starts of its second.
    let in_stalls = starts.lost.iter().filter(|(second, _)| machine::is_stall(second));
    let in_stalls = in_stalls.map(|(_, n)| n).sum::<u64>() as f64;
    if in_stalls >= MOST * starts.missed as f64 {
        return Some(words!(because_generator_stood_still));
    }
    if generator::is_full(record) {
        return Some(words!(because_generator_at_limit));
    }
    // Users that would be too few even without the time spent in the generator miss the rate anyway.
    let are_too_few = missing.by_each.is_some_and(|by_each| {
        let without_s = (1.0 / by_each - lag_s).max(1e-6);
        (missing.users as f64) < missing.asked * without_s
    });
    if are_too_few {
        None
    } else if machine_busy(record).is_found() {
        Some(words!(because_machine_busy))
    } else {
        let waits = || words!(because_answers_waited);
        generator_limit(record).is_found().then(waits)
    }
}

fn never_made(run: &Run<'_>, starts: &Starts<'_>) -> Finding {
    let record = run.record();
    let seconds = &record.seconds;
    let Starts { due, missed, lost, asked, made, .. } = starts;
    let (due, missed, asked) = (*due, *missed, *asked);
    let (n, of, share) = (count(missed), count(due), percent(missed as f64 / due.max(1) as f64));
    let users = seconds.iter().map(|s| s.users).max().unwrap_or(0);
    let of_rate = setting(record, RATE_USERS).and_then(|users| users.parse().ok());
    let users = of_rate.unwrap_or_else(|| users.max(record.frame.load.users));
    let of_samples = sum(seconds, |s| s.due) == 0;
    let by_each = made_by_each(starts, users, of_samples);
    let missing = Missing {
        starts: words!(missing_starts(n, of, share)),
        asked,
        asked_words: per_second(asked),
        reached: per_second(*made),
        users,
        by_each: by_each.map(|(rate, _)| rate),
    };
    let by_generator =
        generator_words(record, starts, &missing, by_each.map_or(0.0, |(_, lag_s)| lag_s));
    let busy = mean(&lost.iter().map(|(s, _)| in_flight(s)).collect::<Vec<_>>());
    let is_clear = by_generator.is_none()
        && !generator_limit(record).is_found()
        && !machine_busy(record).is_found();
    let mut finding = if let Some(why) = by_generator {
        by_the_generator(&missing, &why)
    } else if of_rate.is_some() {
        beside_others(&missing)
    } else {
        in_a_pause(record, &missing, starts)
            .or_else(|| by_the_target(run, &missing, lost, busy))
            .unwrap_or_else(|| too_few_users(&missing, lost, busy, of_samples))
    };
    finding = finding
        .with("starts_due", due as f64, "starts", span(seconds))
        .with("starts_missed", missed as f64, "starts", span(seconds))
        .with("in_flight", busy, "requests", span(seconds));
    if record.has.generator && is_clear {
        finding = finding.rules_out(generator::cleared(record));
    }
    finding
}

fn by_the_generator(missing: &Missing, why: &Words) -> Finding {
    let Missing { starts, asked_words, reached, .. } = missing;
    found(
        ID,
        About::Generator,
        Confidence::Arithmetic,
        words!(rate_missed_by_generator(missing = starts, why, asked_words, reached)),
    )
    .advise(words!(rate_missed_by_generator_advice))
}

/// Returns the finding for users that a rate starts, in a run that also has other groups: those users were busy,
/// but no metric contains their response times.
fn beside_others(missing: &Missing) -> Finding {
    let Missing { starts, asked_words, reached, users, .. } = missing;
    let (all, verb) = missing.everyone();
    let said =
        words!(rate_missed_in_group(missing = starts, all, verb, asked_words, reached, users));
    found(ID, About::Run, Confidence::Arithmetic, said)
        .advise(words!(rate_missed_in_group_advice(reached)))
}

/// Returns the pauses of the target, as start and end in ms since 1970: times without a response during which a request
/// waited. Start and end are exact to a slot of 100 ms, or to a second if the slots of responses are unknown.
fn pauses(record: &Record) -> Vec<(f64, f64)> {
    let seconds = &record.seconds;
    // Each slot: start and end in ms, responses, and the second.
    let mut slots: Vec<(f64, f64, u64, usize)> = Vec::new();
    for (at, second) in seconds.iter().enumerate() {
        let counts = if record.has.slots && second.coarse.is_none() {
            second.all.slots.map(u64::from).to_vec()
        } else {
            vec![second.all.count]
        };
        let length = f64::from(second.ms) / counts.len() as f64;
        let begin = second.at_ms as f64 - f64::from(second.ms);
        let slot = |(n, count): (usize, &u64)| {
            (begin + n as f64 * length, begin + (n + 1) as f64 * length, *count, at)
        };
        slots.extend(counts.iter().enumerate().map(slot));
    }
    let (mut pauses, mut answered) = (Vec::new(), f64::INFINITY);
    let mut from = 0;
    for run in slots.chunk_by(|a, b| (a.2 == 0) == (b.2 == 0)) {
        let (begin, end) = (run[0].0, run[run.len() - 1].1);
        from += run.len();
        if run[0].2 > 0 {
            answered += run.iter().map(|slot| slot.2).sum::<u64>() as f64;
            continue;
        }
        let Some(behind) = slots.get(from).map(|slot| &seconds[slot.3]) else { continue };
        let waited = behind.all.longest as f64 / 1e6 >= WAITED * (end - begin);
        if end - begin >= PAUSE_LEAST {
            if waited && answered >= EACH * behind.users as f64 {
                pauses.push((begin, end));
            }
            answered = 0.0;
        }
    }
    pauses
}

/// Returns the finding if most missing starts lie in seconds with hardly any response.
fn in_a_pause(record: &Record, missing: &Missing, starts: &Starts<'_>) -> Option<Finding> {
    let lost = &starts.lost;
    let pauses = pauses(record);
    let within = |s: &Second| {
        let (begin, end) = ((s.at_ms - i64::from(s.ms)) as f64, s.at_ms as f64);
        pauses.iter().map(|pause| (pause.1.min(end) - pause.0.max(begin)).max(0.0)).sum::<f64>()
    };
    let is_pause = |s: &Second| within(s) >= PAUSE * f64::from(s.ms);
    let paused: Vec<&(&Second, u64)> = lost.iter().filter(|(s, _)| is_pause(s)).collect();
    let in_pauses: u64 = paused.iter().map(|(_, n)| n).sum();
    let all: u64 = lost.iter().map(|(_, n)| n).sum::<u64>().max(1);
    if (in_pauses as f64) < MOST * all as f64 || paused.is_empty() {
        return None;
    }
    // Only pauses in which a start is missing count: a slow first response of the run comes before the full load.
    let is_in = |pause: &&(f64, f64), s: &Second| {
        let (begin, end) = ((s.at_ms - i64::from(s.ms)) as f64, s.at_ms as f64);
        begin < pause.1 && end > pause.0
    };
    let told = pauses.iter().filter(|pause| paused.iter().any(|(s, _)| is_in(pause, s)));
    // A pause may be up to one slot longer at each end.
    let longest = told.map(|pause| pause.1 - pause.0 + 100.0).fold(0.0, f64::max);
    let first = paused.first().map_or(0, |(s, _)| s.at_ms - i64::from(s.ms));
    let (at, pause, then) =
        (clock(first - record.frame.start_ms), time(longest), count(in_pauses.min(starts.missed)));
    let Missing { starts, asked_words, reached, users, .. } = missing;
    let (everyone, _) = missing.everyone();
    Some(
        found(
            ID,
            About::Run,
            Confidence::Arithmetic,
            words!(rate_missed_in_pause(
                missing = starts,
                pause,
                at,
                everyone,
                then,
                asked_words,
                reached,
                users
            )),
        )
        .advise(words!(rate_missed_in_pause_advice))
        .explaining(&["stalls"]),
    )
}

/// Returns the mean service time in ms over the given seconds.
fn time_of<'s>(seconds: impl Iterator<Item = &'s Second>) -> f64 {
    let answered = seconds.filter(|s| s.all.count > 0);
    let times: Vec<f64> =
        answered.map(|s| s.all.elapsed as f64 / 1e6 / s.all.count as f64).collect();
    mean(&times)
}

/// Returns the finding that the target causes late starts: all users wait for responses, which took a fraction of their
/// present time under light load. More users would wait, too.
fn by_the_target(
    run: &Run<'_>,
    missing: &Missing,
    lost: &[(&Second, u64)],
    busy: f64,
) -> Option<Finding> {
    let Missing { starts, asked_words, reached, users, .. } = missing;
    let record = run.record();
    let (queue, light) = (constant_load(run), light_seconds(record));
    let is_same = !light.is_empty()
        && !mix_differs(record, light.iter().copied(), lost.iter().map(|(s, _)| *s));
    let first = match &queue {
        Said::Found(queue) => queue.evidence.iter().find(|one| one.metric == "first")?.value,
        _ if is_same => time_of(light.into_iter()),
        _ => return None,
    };
    let now = time_of(lost.iter().map(|(s, _)| *s));
    if busy < BUSY * *users as f64 || now < SLOWER * first {
        return None;
    }
    let is_limit = queue.is_found() || run.finds("concurrency_limit") || run.finds("plateau");
    let (now, first, (everyone, _)) = (time(now), time(first), missing.everyone());
    let (why, then) = if is_limit {
        (words!(because_target_at_limit(reached)), words!(more_users_wait_longer))
    } else {
        (words!(because_answers_got_slower), words!(more_users_help_if_not_slower))
    };
    let finding = found(
        ID,
        About::Run,
        Confidence::Arithmetic,
        words!(rate_missed_by_slow_target(
            missing = starts,
            why,
            asked_words,
            reached,
            everyone,
            now,
            first,
            then,
            users
        )),
    );
    let finding = finding.advise(words!(rate_missed_by_slow_target_advice));
    Some(finding.explaining(&["constant_load"]))
}

/// Returns the finding about too few users for the rate. `of_samples` is true if timers of the plan set the rate;
/// each user may then have its own rate.
fn too_few_users(
    missing: &Missing,
    lost: &[(&Second, u64)],
    busy: f64,
    of_samples: bool,
) -> Finding {
    let Missing { starts, asked_words, reached, users, .. } = missing;
    let each = time(time_of(lost.iter().map(|(s, _)| *s)));
    let (everyone, verb) = missing.everyone();
    let share = busy / (*users).max(1) as f64;
    let why = if share >= BUSY {
        words!(because_all_wait(everyone, verb, each, users))
    } else {
        let (share, their) = (percent(share), if *users == 1 { "its" } else { "their" });
        words!(because_all_busy(everyone, verb, share, their, each, users))
    };
    let (need, give) = match (missing.needed(), missing.by_each) {
        (Some(need), Some(by_each)) => {
            let (need, by_each) = (count(need), number(by_each));
            (words!(rate_needs_users(by_each, need)), words!(give_users(need)))
        }
        _ => (words!(rate_needs_more_users), words!(give_more_users)),
    };
    let each_own = if of_samples { words!(same_rate_in_all) } else { Words::default() };
    found(
        ID,
        About::Run,
        Confidence::Arithmetic,
        words!(rate_missed_for_users(missing = starts, why, asked_words, reached, need)),
    )
    .advise(words!(rate_missed_for_users_advice(give, each_own, reached)))
}

/// Returns the finding on samples that started late although all starts were made, with the cause of the delay.
fn late(record: &Record, starts: &Starts<'_>) -> Finding {
    let (service, response) = generator::p99s(record);
    let (from_due, from_start) = (time(response), time(service));
    let late = ms(&hist(&record.seconds, |s| s.all.response()), 0.5);
    let doubts = [generator::generator_limit, machine_busy, machine::generator_stalled];
    let by_generator = doubts.iter().any(|rule| rule(record).is_found());
    let users = record.seconds.iter().map(|s| s.users).max().unwrap_or(0);
    let under_load = steady(record);
    let busy = mean(&under_load.iter().map(in_flight).collect::<Vec<_>>());
    let all_busy = users > 0 && busy >= BUSY * users as f64;
    let kept = if starts.due > 0 {
        let (made, due) = (count(starts.due - starts.missed.min(starts.due)), count(starts.due));
        words!(starts_made(made, due))
    } else {
        Words::default()
    };
    let (about, confidence, why) = if by_generator {
        (About::Generator, Confidence::Arithmetic, words!(late_because_generator_was_busy))
    } else if all_busy {
        let why = match users {
            1 => words!(late_because_only_user_waited),
            _ => words!(late_because_all_users_waited),
        };
        (About::Run, Confidence::Arithmetic, why)
    } else {
        (About::Run, Confidence::Hint, Words::default())
    };
    let advice = if by_generator {
        words!(late_starts_generator_advice)
    } else {
        words!(late_starts_advice)
    };
    found(ID, about, confidence, words!(late_starts_found(kept, why, from_due, from_start)))
        .with("response_p99", response, "ms", span(&record.seconds))
        .with("service_p99", service, "ms", span(&record.seconds))
        .with("response_p50", late, "ms", span(&record.seconds))
        .advise(advice)
}
