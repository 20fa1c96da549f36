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
    /// English string such as "14 of 500 starts (2.8 %)".
    en: String,
    /// Chinese form of the string `en`.
    zh: String,
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
        return Some(words!("the generator stood still", "负载机停顿"));
    }
    if generator::is_full(record) {
        return Some(words!("the generator was at its limit", "负载机已到极限"));
    }
    // Users that would be too few even without the time spent in the generator miss the rate anyway.
    let are_too_few = missing.by_each.is_some_and(|by_each| {
        let without_s = (1.0 / by_each - lag_s).max(1e-6);
        (missing.users as f64) < missing.asked * without_s
    });
    if are_too_few {
        None
    } else if machine_busy(record).is_found() {
        Some(words!("other programs filled the generator's machine", "其他程序占满了负载机"))
    } else {
        let waits = || words!("answers waited in the generator", "响应在负载机内等待");
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
        en: format!("{n} of {of} starts ({share})"),
        zh: format!("{of} 次启动中有 {n} 次（{share}）"),
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
    let Missing { en, zh, asked_words, reached, .. } = missing;
    let (why, why_zh) = (&why.en, &why.zh);
    found(
        ID,
        About::Generator,
        Confidence::Arithmetic,
        words!(
            "The rate was not reached: {en} were never made, because {why}: {asked_words}/s asked for, {reached}/s made.",
            "没有达到要求的速率：{zh}未执行，因为{why_zh}：要求 {asked_words}/s，实际 {reached}/s。"
        ),
    )
    .advise(words!(
        "Give the generator more processors, or ask for a lower rate.",
        "给负载机更多处理器，或降低要求的速率。"
    ))
}

/// Returns the finding for users that a rate starts, in a run that also has other groups: those users were busy,
/// but no metric contains their response times.
fn beside_others(missing: &Missing) -> Finding {
    let Missing { en, zh, asked_words, reached, users, .. } = missing;
    let (all, verb) = missing.everyone();
    let said = words!(
        "The rate was not reached: {en} were never made, because {all} that the schedule may start {verb} busy: {asked_words}/s asked for, {reached}/s made. Other thread groups have users of their own, which do not count.",
        "没有达到要求的速率：{zh}未执行，因为该计划可启动的 {users} 个用户全部在忙：要求 {asked_words}/s，实际 {reached}/s。其他线程组的用户不计在内。"
    );
    found(ID, About::Run, Confidence::Arithmetic, said).advise(words!(
        "Give the group with the schedule more users. If more of them only make its answers slower, {reached}/s is the target's limit beside the other groups.",
        "为带速率的线程组增加用户。如果用户增多只使响应更慢，{reached}/s 就是在其他线程组存在时被测系统的极限。"
    ))
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
    let Missing { en, zh, asked_words, reached, users, .. } = missing;
    let (everyone, _) = missing.everyone();
    Some(
        found(
            ID,
            About::Run,
            Confidence::Arithmetic,
            words!(
                "The rate was not reached: {en} were never made. The target gave no answers for up to {pause} (first at {at}), {everyone} waited for it, and {then} of them fell into that time: {asked_words}/s asked for, {reached}/s made.",
                "没有达到要求的速率：{zh}未执行。被测系统最长 {pause} 没有响应（首次在 {at}），{users} 个用户全部在等待，其中 {then} 次落在此期间：要求 {asked_words}/s，实际 {reached}/s。"
            ),
        )
        .advise(words!(
            "Ask for the rate with an open load (--rps), which starts whatever the answers do, and look at the target at that time.",
            "用开放式负载（--rps）施加该速率，它不受响应影响地启动；并查看被测系统在该时刻的情况。"
        ))
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
    let Missing { en, zh, asked_words, reached, users, .. } = missing;
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
    let (why, why_zh, then, then_zh) = if is_limit {
        (
            format!("the target answers about {reached}/s and not more"),
            format!("被测系统约以 {reached}/s 响应，不能更快"),
            "More users would only wait longer.",
            "更多用户只会等得更久。",
        )
    } else {
        (
            "its answers got slower".to_owned(),
            "被测系统的响应变慢了".to_owned(),
            "More users help only if that makes the answers no slower.",
            "只有在响应不因此变慢时，增加用户才有帮助。",
        )
    };
    let finding = found(
        ID,
        About::Run,
        Confidence::Arithmetic,
        words!(
            "The rate was not reached: {en} were never made, because {why}: {asked_words}/s asked for, {reached}/s made, while {everyone} waited {now} for answers that took {first} under a light load. {then}",
            "没有达到要求的速率：{zh}未执行，因为{why_zh}：要求 {asked_words}/s，实际 {reached}/s，{users} 个用户全部在等待 {now} 的响应，而轻负载下只需 {first}。{then_zh}"
        ),
    );
    let finding = finding.advise(words!(
        "Look for the limit in the target rather than in the number of users: throng capacity --rps finds the highest rate at which answers still come in time.",
        "应先查找被测系统的极限，而不是增加用户：用 throng capacity --rps 查找仍能及时响应的最高速率。"
    ));
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
    let Missing { en, zh, asked_words, reached, users, .. } = missing;
    let each = time(time_of(lost.iter().map(|(s, _)| *s)));
    let (everyone, verb) = missing.everyone();
    let share = busy / (*users).max(1) as f64;
    let (why, why_zh) = if share >= BUSY {
        (
            format!("{everyone} {verb} waiting for answers of {each}"),
            format!("{users} 个用户都在等待耗时 {each} 的响应"),
        )
    } else {
        let (share, their) = (percent(share), if *users == 1 { "its" } else { "their" });
        (
            format!(
                "{everyone} {verb} busy: {share} of {their} time passed in waiting for answers of {each}, the rest between an answer and the next request (pauses, other steps of the plan)"
            ),
            format!(
                "{users} 个用户全部在忙：{share} 的时间在等待耗时 {each} 的响应，其余时间在响应与下一请求之间（暂停、计划的其他步骤）"
            ),
        )
    };
    let (need, need_zh, give, give_zh) = match (missing.needed(), missing.by_each) {
        (Some(need), Some(by_each)) => {
            let (need, by_each) = (count(need), number(by_each));
            (
                format!("At {by_each}/s for each user, as now, the rate needs about {need} users"),
                format!("按目前每个用户 {by_each}/s 计算，约需 {need} 个用户"),
                format!("about {need} users"),
                format!("约 {need} 个用户"),
            )
        }
        _ => (
            "The rate needs more users".to_owned(),
            "需要更多用户".to_owned(),
            "more users".to_owned(),
            "更多用户".to_owned(),
        ),
    };
    let (each_own, each_own_zh) = if of_samples {
        (
            ", and keep the total rate: a timer that each user applies separately asks for a higher rate with more users",
            "，并保持总速率不变：由每个用户各自计时的定时器会随用户增加而要求更高的速率",
        )
    } else {
        Default::default()
    };
    found(
        ID,
        About::Run,
        Confidence::Arithmetic,
        words!(
            "The rate was not reached: {en} were never made, because {why}: {asked_words}/s asked for, {reached}/s made. {need}, and more if answers or pauses get longer then.",
            "没有达到要求的速率：{zh}未执行，因为{why_zh}：要求 {asked_words}/s，实际 {reached}/s。{need_zh}；如果响应或暂停因此变长，则需要更多。"
        ),
    )
    .advise(words!(
        "Give the plan {give}{each_own}. If more users only make the answers slower, {reached}/s is the target's limit: throng capacity --rps finds it.",
        "给计划{give_zh}{each_own_zh}。如果更多用户只让响应更慢，{reached}/s 就是被测系统的极限：用 throng capacity --rps 查找。"
    ))
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
    let (kept, kept_zh) = if starts.due > 0 {
        let (made, due) = (count(starts.due - starts.missed.min(starts.due)), count(starts.due));
        (
            format!(" ({made} of {due} starts were made)"),
            format!("（{due} 次启动中完成 {made} 次）"),
        )
    } else {
        Default::default()
    };
    let (about, confidence, why, why_zh) = if by_generator {
        (
            About::Generator,
            Confidence::Arithmetic,
            ", because the generator or its machine was busy",
            "，因为负载机或其所在机器繁忙",
        )
    } else if all_busy {
        let why = match users {
            1 => ", because the only user was waiting for answers",
            _ => ", because all users were waiting for answers",
        };
        (About::Run, Confidence::Arithmetic, why, "，因为所有用户都在等待响应")
    } else {
        (About::Run, Confidence::Hint, "", "")
    };
    let advice = if by_generator {
        words!(
            "Give the run more processors, or ask for a lower rate.",
            "给运行更多处理器，或降低要求的速率。"
        )
    } else {
        words!(
            "Response times from the intended start are what users would have waited; give the plan more users if all starts must be on time.",
            "从预定启动算起的响应时间才是用户实际等待的时间；如需准时达到速率，请为计划增加用户。"
        )
    };
    found(
        ID,
        about,
        confidence,
        words!(
            "Samples started later than they should have{kept}{why}: p99 from the intended start is {from_due}, from the actual start {from_start}.",
            "样本启动晚于预定时间{kept_zh}{why_zh}：从预定启动算起 p99 为 {from_due}，从实际启动算起为 {from_start}。"
        ),
    )
    .with("response_p99", response, "ms", span(&record.seconds))
    .with("service_p99", service, "ms", span(&record.seconds))
    .with("response_p50", late, "ms", span(&record.seconds))
    .advise(advice)
}
