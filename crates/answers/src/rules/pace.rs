//! Recognises request rates that the plan sets, and not the target: through starts that are due, through timers, or
//! through pauses until the next request is due. A target that keeps up with such a rate shows no limit, however
//! many users there are.

use record::frame::RATE_USERS;
use record::{Change, RatePeriod, Record, Second};

use super::figures::{Window, in_flight, length_s, mean, requests, sum, whole};
use super::light::{self, light_seconds, loaded};
use super::realism::setting;
use super::say::lacks;
use crate::verdict::Said;

/// Largest share of missed starts at which the plan, and not the target, sets the rate.
const MISSED: f64 = 0.01;
/// Largest share of missing samples at which timers, and not the target, set the rate. Timers have jitter.
pub(super) const MISSED_OF_SAMPLES: f64 = 0.05;
/// Largest growth in users, as a share of the starts, with which the target keeps up.
const BEHIND: f64 = 0.05;
/// Smallest share of seconds in which users leave, with which the number of users counts as varying.
const COME_AND_GO: f64 = 0.1;
/// Largest number of steps in which a load may rise to count as a load in steps.
const LEVELS: usize = 12;
/// Smallest length in seconds of a step of a load in steps: a time with a constant number of users.
const LEVEL_S: f64 = 9.5;
/// Smallest rise in users from one step of a load in steps to the next.
const LEVEL_USERS: u64 = 2;
/// Smallest share of the run's seconds that the steps cover. In the other seconds, users start.
const ON_LEVELS: f64 = 0.7;
/// Smallest share of the additional users that wait for responses if the target limits the rate. With equal pauses, a
/// limit of the target makes all of them wait. With equal response times, a rate of timers makes none of them wait.
const WAIT: f64 = 0.5;
/// Smallest share of the users that are idle, beyond the pauses of the light load, if the plan sets the rate. If the
/// target limits the rate, hardly any user is idle.
const IDLE: f64 = 0.3;
/// Smallest number of users that are idle, beyond the pauses of the light load, if the plan sets the rate. With up to 6
/// users, this number decides.
const IDLE_USERS: f64 = 2.0;
/// Share of the full rate from which the rate under the light load counts as the same.
const SAME: f64 = 0.85;
/// Share of the largest number of users from which the load is full.
const FULL: f64 = 0.9;
/// Largest ratio of the response time to the time between two loads at which the computed number in flight is usable.
/// With longer responses, requests were sent under the smaller load, and the number is too small, because it is
/// computed from completed requests.
const LAGS: f64 = 0.2;
/// Share of the users in flight from which users have no time left for more requests.
const BUSY: f64 = 0.9;
/// Largest share of missing samples with which the rate of timers counts as reached although all users are busy.
const REACHED: f64 = 0.01;

/// Rate that timers of the plan require.
pub(super) struct Timers<'r> {
    /// Start of the run in ms since 1970.
    start_ms: i64,
    /// Rates over time; empty if the rate is constant.
    schedule: &'r [RatePeriod],
    /// Samples per second; with a schedule, the largest rate.
    pub(super) asked: f64,
}

impl Timers<'_> {
    /// Returns the number of samples that the timers require in a second.
    pub(super) fn due(&self, second: &Second) -> f64 {
        let end = second.at_ms - self.start_ms;
        scheduled(self.schedule, end - i64::from(second.ms), end)
            .unwrap_or(self.asked * f64::from(second.ms) / 1000.0)
    }
}

/// Returns the rate of timers; `None` if no rate applies to all samples. The rate cannot be compared with the samples
/// if it counts iterations, if other groups ignore it, or if a user changed the load during the run.
pub(super) fn timers(record: &Record) -> Option<Timers<'_>> {
    let load = &record.frame.load;
    let others = setting(record, RATE_USERS).is_some();
    let is_known = record.has.load && !load.open && !others && !is_changed(record);
    let asked = load.rate.filter(|rate| *rate > 0.0 && is_known)?;
    Some(Timers { start_ms: record.frame.start_ms, schedule: &load.schedule, asked })
}

/// Returns the samples that a schedule requires between two times in ms from the start; `None` without a schedule.
fn scheduled(schedule: &[RatePeriod], from: i64, to: i64) -> Option<f64> {
    let mut begin = 0;
    let part = |period: &RatePeriod| {
        let (length, first, last) = (period.length_ms, period.begin, period.end);
        let (start, end) = (from.max(begin), to.min(begin.saturating_add(length)));
        let rate = |at: i64| first + (last - first) * (at - begin) as f64 / length as f64;
        let n = f64::midpoint(rate(start), rate(end)) * (end - start) as f64 / 1000.0;
        begin = begin.saturating_add(length);
        if start < end { n } else { 0.0 }
    };
    (!schedule.is_empty()).then(|| schedule.iter().map(part).sum())
}

/// True if a user changed the load during the run.
fn is_changed(record: &Record) -> bool {
    let is_load = |change: &Change| {
        matches!(change, Change::Users(_) | Change::Rate(_) | Change::Paused | Change::Lost(_))
    };
    record.marks.iter().any(|mark| is_load(&mark.change))
}

/// Returns true if the plan sets the rate, all starts were made, and equally many users ended. The rate is then no
/// evidence about the target.
pub(super) fn is_planned(record: &Record) -> bool {
    let busy = loaded(whole(record));
    let (due, missed) = (sum(&busy, |s| s.due), sum(&busy, |s| s.missed));
    if due > 0 {
        return missed as f64 <= MISSED * due as f64 && grown(&busy) <= BEHIND * due as f64;
    }
    let Some(timers) = timers(record) else { return false };
    let due: f64 = busy.iter().map(|second| timers.due(second)).sum();
    let made = requests(&busy) as f64;
    // With more samples than the timers require, other samplers have no timer.
    let is_made = due > 0.0 && (made - due).abs() <= MISSED_OF_SAMPLES * due;
    // A target that cannot reach the rate keeps nearly all users waiting.
    let of = |value: fn(&Second) -> f64| mean(&busy.iter().map(value).collect::<Vec<_>>());
    let has_time = !record.has.users || of(in_flight) < BUSY * of(|second| second.users as f64);
    is_made && (has_time || made >= (1.0 - REACHED) * due)
}

/// Returns the largest growth of the number of users over the number in the first second.
fn grown(seconds: &[Second]) -> f64 {
    let first = seconds.first().map_or(0, |second| second.users);
    let most = seconds.iter().map(|second| second.users).max().unwrap_or(0);
    most.saturating_sub(first) as f64
}

/// Returns the result of a rule for a result file whose request rate may come from a schedule: the file does not
/// contain the requested rate. A schedule is possible if users come and go, or if the rate is the same with the fewest
/// users (`is_one_rate`) while as many users end as start.
pub(super) fn lacks_schedule(record: &Record, is_one_rate: bool) -> Option<Said> {
    let seconds = whole(record);
    let keeps_up =
        || grown(seconds) <= BEHIND * requests(seconds) as f64 && !come_in_steps(seconds);
    let is_unknown = !record.has.load && (users_come_and_go(seconds) || is_one_rate && keeps_up());
    is_unknown.then(lacks_rate)
}

pub(super) fn lacks_rate() -> Said {
    lacks!(run: required_rate)
}

/// True if users leave in many seconds while others arrive later: loops that continue keep their users.
fn users_come_and_go(seconds: &[Second]) -> bool {
    let users: Vec<u64> = seconds.iter().map(|second| second.users).collect();
    let last = users.windows(2).rposition(|pair| pair[1] > pair[0]).unwrap_or(0);
    let falls = users[..last].windows(2).filter(|pair| pair[1] < pair[0]).count();
    falls as f64 >= COME_AND_GO * users.len() as f64
}

/// True if the number of users grows in a few steps and stays the same within each: the plan then sets it. If users
/// arrive at a rate and leave, their number changes every few seconds.
fn come_in_steps(seconds: &[Second]) -> bool {
    let runs = seconds.chunk_by(|a, b| a.users == b.users);
    let levels: Vec<&[Second]> = runs.filter(|run| length_s(run) >= LEVEL_S).collect();
    let on_levels: f64 = levels.iter().map(|level| length_s(level)).sum();
    (2..=LEVELS).contains(&levels.len())
        && on_levels >= ON_LEVELS * length_s(seconds)
        && levels.windows(2).all(|pair| pair[1][0].users >= pair[0][0].users + LEVEL_USERS)
}

/// Means over seconds: time in ms since 1970, users, requests in flight, and requests per second.
struct Means {
    at_ms: f64,
    users: f64,
    flying: f64,
    rate: f64,
}

impl Means {
    fn of(seconds: &[&Second]) -> Self {
        let of = |value: fn(&Second) -> f64| {
            mean(&seconds.iter().map(|second| value(second)).collect::<Vec<_>>())
        };
        Self {
            at_ms: of(|second| second.at_ms as f64),
            users: of(|second| second.users as f64),
            flying: of(in_flight),
            rate: of(|second| second.all.count as f64 * 1000.0 / f64::from(second.ms.max(1))),
        }
    }
}

/// Returns the number of requests that the end of the run cut. They were in flight, but only completed requests count
/// in `in_flight`.
fn cut(record: &Record) -> f64 {
    sum(&record.seconds, |second| second.all.cut) as f64
}

/// Returns the means under the light load and under the largest number of users, if a run has both.
fn loads(record: &Record) -> Option<(Means, Means)> {
    let is_closed = record.has.users && !record.frame.load.open;
    let light = light_seconds(record);
    let seconds = whole(record);
    let most = seconds.iter().map(|second| second.users).max()? as f64;
    let full: Vec<&Second> = seconds.iter().filter(|s| s.users as f64 >= FULL * most).collect();
    let has_due = seconds.iter().any(|second| second.due > 0);
    (is_closed && !has_due && !light.is_empty()).then(|| {
        let mut full = Means::of(&full);
        full.flying = full.flying.max(cut(record));
        (Means::of(&light), full)
    })
}

/// Returns true if many users neither wait for responses nor pause as they did under the light load, so that
/// something in the plan delays their next requests. A target at its limit makes all users wait.
pub(super) fn are_idle(record: &Record) -> bool {
    loads(record).is_some_and(|(light, full)| idle(&light, &full))
}

fn idle(light: &Means, full: &Means) -> bool {
    let response_ms = 1000.0 * full.flying / full.rate.max(1e-6);
    if response_ms >= LAGS * (full.at_ms - light.at_ms) {
        return false;
    }
    let pause = (light.users - light.flying).max(0.0) / light.rate.max(1e-6);
    let idle = full.users - full.flying - full.rate * pause;
    idle >= (IDLE * full.users).max(IDLE_USERS)
}

/// True if most users that were added between two loads with the same rate wait for responses, as with a limit.
pub(super) fn wait(record: &Record, few: &Window, many: &Window) -> bool {
    let flying = many.in_flight.max(cut(record));
    many.mean >= LAGS * (many.at_ms - few.at_ms) as f64
        || flying - few.in_flight >= WAIT * (many.users - few.users)
}

/// Returns the result of a rule on limits if something in the plan sets the rate.
pub(super) fn lacks_unpaced(record: &Record) -> Said {
    if record.has.load {
        return lacks!(users_that_wait);
    }
    lacks_rate()
}

/// Returns the result of a rule on limits without a finding: a lack of data if the run has no light load to compare
/// with, or if the light load already had the full rate.
pub(super) fn nothing_or_lacks(record: &Record) -> Said {
    let Some((light, full)) = loads(record) else { return light::nothing_or_lacks(record) };
    let is_same = light.rate >= SAME * full.rate;
    match (is_same, idle(&light, &full)) {
        (true, true) => lacks_unpaced(record),
        (true, false) => light::lacks_light_load(record),
        (false, _) => light::nothing_or_lacks(record),
    }
}
