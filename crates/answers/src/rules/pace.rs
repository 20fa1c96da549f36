//! Rates that the plan sets, and not the target: by starts that are due, by timers, or by pauses that last until a request is
//! due. A target that keeps up with such a rate shows no limit, however many users come.

use record::frame::RATE_USERS;
use record::{Change, Record, Second};

use super::figures::{Window, in_flight, mean, requests, sum, whole};
use super::light::{self, light_seconds, loaded};
use super::realism::setting;
use super::say::lacks;
use crate::verdict::Said;

/// Share of the starts of a rate that are missed where the plan, and not the target, sets the rate; and of the samples that
/// timers ask for, which jitter.
const MISSED: f64 = 0.01;
pub(super) const MISSED_OF_SAMPLES: f64 = 0.05;
/// Users more than at first, as a share of the starts, from which on answers do not keep up with them.
const BEHIND: f64 = 0.05;
/// Share of the seconds in which users leave, from which on nobody keeps their number.
const COME_AND_GO: f64 = 0.1;
/// Levels of users that come in steps, seconds of each, users between two, and the share of the seconds that they have.
const LEVELS: usize = 12;
const LEVEL_S: usize = 10;
const LEVEL_USERS: u64 = 2;
const ON_LEVELS: f64 = 0.85;
/// Share of the users that have come, from which on they wait for answers where the target does not answer faster.
const WAIT: f64 = 0.5;
/// Share of all users, and users, that are idle beside the pauses that they made under the light load where the plan sets the
/// rate.
const IDLE: f64 = 0.3;
const IDLE_USERS: f64 = 2.0;
/// Share of the full rate from which on the rate under the light load is the same; and users under the full load, as a
/// multiple of those under the light one.
const SAME: f64 = 0.85;
const MORE_USERS: f64 = 1.5;
/// Share of the most users with which the load is the full one.
const FULL: f64 = 0.9;

/// The rate that timers of the plan ask for.
pub(super) struct Timers<'r> {
    /// Start of the run, epoch ms.
    start_ms: i64,
    /// Lengths, ms, and rates at their begin and end.
    schedule: &'r [(i64, f64, f64)],
    /// Samples per second; of a schedule the most.
    pub(super) asked: f64,
}

impl Timers<'_> {
    /// Samples that the timers ask for in a second.
    pub(super) fn due(&self, second: &Second) -> f64 {
        let end = second.at_ms - self.start_ms;
        scheduled(self.schedule, end - i64::from(second.ms), end)
            .unwrap_or(self.asked * f64::from(second.ms) / 1000.0)
    }
}

/// The rate of timers; `None`: there is none that says something of all samples. A rate of iterations says nothing of samples,
/// nor does one that other groups do not keep; and whoever changed the load may have changed the rate.
pub(super) fn timers(record: &Record) -> Option<Timers<'_>> {
    let load = &record.frame.load;
    let others = setting(record, RATE_USERS).is_some();
    let is_known = record.has.load && !load.open && !others && !is_changed(record);
    let asked = load.rate.filter(|rate| *rate > 0.0 && is_known)?;
    Some(Timers { start_ms: record.frame.start_ms, schedule: &load.schedule, asked })
}

/// The samples that a schedule asks for between two times from the start, ms; `None`: there is none.
fn scheduled(schedule: &[(i64, f64, f64)], from: i64, to: i64) -> Option<f64> {
    let mut begin = 0;
    let part = |(length, first, last): &(i64, f64, f64)| {
        let (start, end) = (from.max(begin), to.min(begin.saturating_add(*length)));
        let rate = |at: i64| first + (last - first) * (at - begin) as f64 / *length as f64;
        let n = f64::midpoint(rate(start), rate(end)) * (end - start) as f64 / 1000.0;
        begin = begin.saturating_add(*length);
        if start < end { n } else { 0.0 }
    };
    (!schedule.is_empty()).then(|| schedule.iter().map(part).sum())
}

/// Whether somebody changed the load while it ran.
fn is_changed(record: &Record) -> bool {
    let is_load = |change: &Change| {
        matches!(change, Change::Users(_) | Change::Rate(_) | Change::Paused | Change::Lost(_))
    };
    record.marks.iter().any(|mark| is_load(&mark.change))
}

/// Whether the plan sets the rate, all of its starts were made, and as many came to their end: then the rate says nothing of
/// the target.
pub(super) fn is_planned(record: &Record) -> bool {
    let busy = loaded(whole(record));
    let (due, missed) = (sum(&busy, |s| s.due), sum(&busy, |s| s.missed));
    if due > 0 {
        return missed as f64 <= MISSED * due as f64 && grown(&busy) <= BEHIND * due as f64;
    }
    let Some(timers) = timers(record) else { return false };
    let due: f64 = busy.iter().map(|second| timers.due(second)).sum();
    due > 0.0 && requests(&busy) as f64 >= (1.0 - MISSED_OF_SAMPLES) * due
}

/// The most users beyond those at the begin.
fn grown(seconds: &[Second]) -> f64 {
    let first = seconds.first().map_or(0, |second| second.users);
    let most = seconds.iter().map(|second| second.users).max().unwrap_or(0);
    most.saturating_sub(first) as f64
}

/// A result file does not say which rate was asked for. That of a schedule has users that come and go, or is the same with the
/// fewest users (`is_one_rate`) while as many end as start.
pub(super) fn lacks_schedule(record: &Record, is_one_rate: bool) -> Option<Said> {
    let seconds = whole(record);
    let keeps_up =
        || grown(seconds) <= BEHIND * requests(seconds) as f64 && !come_in_steps(seconds);
    let is_unknown = !record.has.load && (users_come_and_go(seconds) || is_one_rate && keeps_up());
    is_unknown.then(lacks_rate)
}

fn lacks_rate() -> Said {
    lacks!("the rate that was asked for", "所要求的速率")
}

/// Whether users leave in many seconds while others come behind them: loops that go on keep theirs.
fn users_come_and_go(seconds: &[Second]) -> bool {
    let users: Vec<u64> = seconds.iter().map(|second| second.users).collect();
    let last = users.windows(2).rposition(|pair| pair[1] > pair[0]).unwrap_or(0);
    let falls = users[..last].windows(2).filter(|pair| pair[1] < pair[0]).count();
    falls as f64 >= COME_AND_GO * users.len() as f64
}

/// Whether a few numbers of users follow each other, each for a while: somebody chose them. Users that come at a rate and leave
/// are another number every few seconds.
fn come_in_steps(seconds: &[Second]) -> bool {
    let runs: Vec<&[Second]> = seconds.chunk_by(|a, b| a.users == b.users).collect();
    let levels: Vec<&&[Second]> = runs.iter().filter(|run| run.len() >= LEVEL_S).collect();
    let on_levels: usize = levels.iter().map(|level| level.len()).sum();
    (2..=LEVELS).contains(&levels.len())
        && on_levels as f64 >= ON_LEVELS * seconds.len() as f64
        && levels.windows(2).all(|pair| pair[1][0].users >= pair[0][0].users + LEVEL_USERS)
}

/// Means of seconds: users, those of them who wait for answers, and requests per second.
struct Means {
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
            users: of(|second| second.users as f64),
            flying: of(in_flight),
            rate: of(|second| second.all.count as f64 * 1000.0 / f64::from(second.ms.max(1))),
        }
    }
}

/// The light load and that of the most users, where a run has both.
fn loads(record: &Record) -> Option<(Means, Means)> {
    let is_closed = record.has.users && !record.frame.load.open;
    let light = light_seconds(record);
    let seconds = whole(record);
    let most = seconds.iter().map(|second| second.users).max()? as f64;
    let full: Vec<&Second> = seconds.iter().filter(|s| s.users as f64 >= FULL * most).collect();
    let has_due = seconds.iter().any(|second| second.due > 0);
    (is_closed && !has_due && !light.is_empty()).then(|| (Means::of(&light), Means::of(&full)))
}

/// Whether many users neither wait for answers nor make the pauses that users made under the light load: something in the plan
/// keeps them until their next request is due. A target at its limit makes all of them wait.
pub(super) fn are_idle(record: &Record) -> bool {
    loads(record).is_some_and(|(light, full)| idle(&light, &full))
}

fn idle(light: &Means, full: &Means) -> bool {
    let pause = (light.users - light.flying).max(0.0) / light.rate.max(1e-6);
    let idle = full.users - full.flying - full.rate * pause;
    idle >= (IDLE * full.users).max(IDLE_USERS)
}

/// Whether those of the users who have come between two loads at the same rate wait for answers, as a limit makes them.
pub(super) fn wait(few: &Window, many: &Window) -> bool {
    many.in_flight - few.in_flight >= WAIT * (many.users - few.users)
}

/// The verdict of a rule on limits where something in the plan sets the rate.
pub(super) fn lacks_unpaced(record: &Record) -> Said {
    if record.has.load {
        return lacks!(
            "users that wait for answers: here most of those that came later paused until a request was due",
            "等待响应的用户：此处后来的用户大多在暂停，直到请求到期"
        );
    }
    lacks_rate()
}

/// The verdict of a rule on limits that found nothing: a lack where it had no light load to compare with, or one that had the
/// full rate already.
pub(super) fn nothing_or_lacks(record: &Record) -> Said {
    let Some((light, full)) = loads(record) else { return light::nothing_or_lacks(record) };
    let is_same = full.users >= MORE_USERS * light.users && light.rate >= SAME * full.rate;
    match (is_same, idle(&light, &full)) {
        (true, true) => lacks_unpaced(record),
        (true, false) => light::lacks_light_load(record),
        (false, _) => light::nothing_or_lacks(record),
    }
}
