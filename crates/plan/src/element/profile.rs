//! Thread groups with separate start and end times for each user: Ultimate and Stepping Thread Group (jp@gc),
//! Concurrency and Arrivals Thread Groups (bzm), and Open Model Thread Group.
//!
//! Each group becomes a table of times, computed once when the run starts. Invalid numbers count as 0, as in the
//! plug-ins.

use jmx::ElementId;

use super::arrivals::Bounds;
use super::thread_group::CONCURRENCY;
use super::{arrivals, concurrency, open_model};
use crate::compile::Context;
use crate::env::Env;
use crate::load::Phase;
use crate::plan::Profile;
use crate::support::Level;
use crate::template::Template;

/// Start and end time of a user, in milliseconds after the start of its group.
pub type Span = (i64, i64);

/// Maximum number of users with individual times. More users would need too much memory.
pub(super) const MOST: usize = 50_000_000;

/// Property that defines rows of an Ultimate Thread Group, which replace the plan's rows.
const SCHEDULE: &str = "threads_schedule";

pub(super) fn compile(ctx: &mut Context<'_>, id: ElementId, class: &str) -> Profile {
    match class {
        "kg.apc.jmeter.threads.UltimateThreadGroup" => Profile::Rows(rows(ctx, id)),
        "kg.apc.jmeter.threads.SteppingThreadGroup" => Profile::Steps(Box::new(
            [
                "ThreadGroup.num_threads",
                "Threads initial delay",
                "Start users count",
                "Start users count burst",
                "Start users period",
                "rampUp",
                "flighttime",
                "Stop users count",
                "Stop users period",
            ]
            .map(|name| ctx.prop(id, name)),
        )),
        CONCURRENCY => Profile::Concurrency(Box::new(concurrency::texts(ctx, id))),
        arrivals::ARRIVALS | arrivals::FREE_FORM => {
            Profile::Arrivals(Box::new(arrivals::compile(ctx, id)))
        }
        "OpenModelThreadGroup" => Profile::Open {
            schedule: ctx.prop(id, "OpenModelThreadGroup.schedule"),
            seed: ctx.prop(id, "OpenModelThreadGroup.random_seed"),
        },
        _ => Profile::RampUp,
    }
}

fn rows(ctx: &mut Context<'_>, id: ElementId) -> Vec<[Template; 5]> {
    let props = ctx.props(id);
    let mut rows = props.collection("ultimatethreadgroupdata");
    if rows.is_empty() {
        rows = props.collection(SCHEDULE);
    }
    if let Some((nth, row)) = (1_u32..).zip(rows).find(|(_, row)| row.members().len() < 5) {
        let given = row.members().len();
        let short = format!(
            "row {nth} of its table has {given} of 5 numbers; the plug-in fails and starts no user"
        );
        ctx.remark(id, Level::Unsupported, short);
    }
    ctx.cells(id, rows)
}

impl Profile {
    /// Returns the spans of all users by user number; `None` if they follow from the ramp-up. The error describes
    /// an invalid schedule. `seed` applies to schedules without a seed.
    pub fn spans(&self, env: &mut Env<'_>, seed: u64) -> Result<Option<Vec<Span>>, String> {
        let mut number =
            |text: &Template| text.parsed(env, |text| text.trim().parse().unwrap_or(0));
        Ok(Some(match self {
            Self::RampUp => return Ok(None),
            Self::Rows(rows) => {
                let given = rows.iter().map(|row| row.each_ref().map(&mut number)).collect();
                let from_outside = env.shared.property(SCHEDULE);
                let from_outside = from_outside.filter(|text| !text.is_empty());
                let rows: Vec<[i32; 5]> = from_outside.map_or(given, |text| spawned(&text));
                few_enough(rows.iter().map(|row| row[0].max(0) as usize).sum())?;
                rows.iter().flat_map(|row| ultimate(*row)).collect()
            }
            Self::Steps(texts) => {
                let numbers = texts.each_ref().map(&mut number);
                few_enough(numbers[0].max(0) as usize)?;
                stepping(&numbers)
            }
            Self::Concurrency(texts) => return concurrency::spans(texts, env).map(Some),
            Self::Arrivals(arrivals) => return arrivals.spans(env).map(Some),
            Self::Open { schedule, seed: own } => {
                let own = match own.long(env) {
                    0 => seed,
                    own => own as u64,
                };
                return schedule.parsed(env, |text| open_model::spans(text, own)).map(Some);
            }
        }))
    }
}

impl Profile {
    /// Returns the rate of starts over time for an arrivals or open model group; `None` for groups without rates.
    pub fn rates(&self, env: &mut Env<'_>) -> Option<Vec<Phase>> {
        match self {
            Self::Arrivals(arrivals) => arrivals.phases(env),
            Self::Open { schedule, .. } => {
                schedule.parsed(env, |text| open_model::phases(text).ok())
            }
            _ => None,
        }
    }

    /// Returns the limits of an arrivals group; `None` for other groups. `spans` is the result of
    /// [`spans`](Self::spans).
    pub fn bounds(&self, spans: &[Span], env: &mut Env<'_>) -> Option<Bounds> {
        let Self::Arrivals(arrivals) = self else { return None };
        Some(arrivals.bounds(spans, env))
    }

    /// Returns true if the group starts a new user when a user ends before the group does. When the group ends, its
    /// users complete their current sample.
    pub fn replaces(&self) -> bool {
        matches!(self, Self::Concurrency(_))
    }

    /// Returns the suffix that user names of this group have after the group's name.
    pub fn tail(&self) -> &'static str {
        match self {
            Self::Concurrency(_) | Self::Arrivals(_) => "-ThreadStarter",
            _ => "",
        }
    }
}

pub(super) fn few_enough(users: usize) -> Result<(), String> {
    if users <= MOST { Ok(()) } else { Err(format!("its schedule has more than {MOST} users")) }
}

/// Assumed lifetime in milliseconds of a user in an open model or arrivals group, because the schedule does not
/// define it.
const STAY: i64 = 30_000;

impl Profile {
    /// Returns the maximum number of concurrent users. For users of an open model or arrivals group, which leave
    /// when they are done, a lifetime of 30 s is assumed.
    pub fn at_once(&self, spans: &[Span]) -> u32 {
        let open = matches!(self, Self::Open { .. } | Self::Arrivals(_));
        let leaves = |(start, end): &Span| if open { (*end).min(start + STAY) } else { *end };
        // If a user's end is before its start, which a negative time can cause, the user never runs.
        let runs = || spans.iter().filter(|(start, end)| end > start);
        let mut starts: Vec<i64> = runs().map(|(start, _)| *start).collect();
        let mut ends: Vec<i64> = runs().map(leaves).collect();
        starts.sort_unstable();
        ends.sort_unstable();
        let (mut gone, mut most) = (0, 0);
        for (started, start) in (1..).zip(starts) {
            while ends.get(gone).is_some_and(|end| *end <= start) {
                gone += 1;
            }
            most = most.max(started - gone);
        }
        most as u32
    }
}

/// Returns the spans of one row: users, delay, start-up, hold and shutdown in seconds. The first user of a row
/// starts last and ends last.
fn ultimate([users, delay, startup, hold, shutdown]: [i32; 5]) -> impl Iterator<Item = Span> {
    let seconds = |s: i32| 1000 * i64::from(s);
    let share = move |s: i32, left: i32| {
        (seconds(s) as f64 * f64::from(left) / f64::from(users)).floor() as i64
    };
    (1..=users.max(0)).rev().map(move |left| {
        let start = seconds(delay) + share(startup, left);
        let descent = seconds(delay) + seconds(startup) + seconds(hold);
        (start, descent + share(shutdown, left))
    })
}

/// Parses rows of the form `spawn(users, delay, startup, hold, shutdown) …`, whose times may have units (`1h30m`).
/// Invalid rows are skipped.
fn spawned(text: &str) -> Vec<[i32; 5]> {
    text.split(')').filter_map(spawn).collect()
}

fn spawn(chunk: &str) -> Option<[i32; 5]> {
    let (name, values) = chunk.split_once('(')?;
    if !name.trim().eq_ignore_ascii_case("spawn") {
        return None;
    }
    let mut values = values.split(',');
    let users = values.next()?.trim().parse().ok()?;
    let mut row = [users, 0, 0, 0, 0];
    for cell in &mut row[1..] {
        *cell = short_time(values.next()?.trim())?;
    }
    Some(row)
}

/// Parses a time such as `1d2h3m4s` into seconds; a number without unit is in seconds.
pub(super) fn short_time(text: &str) -> Option<i32> {
    let (mut sum, mut number) = (0_i32, None::<i32>);
    for c in text.chars() {
        if let Some(digit) = c.to_digit(10) {
            number = Some(number.unwrap_or(0).checked_mul(10)?.checked_add(digit as i32)?);
            continue;
        }
        let unit = match c {
            'd' => 86_400,
            'h' => 3_600,
            'm' => 60,
            's' => 1,
            _ => return None,
        };
        sum = sum.checked_add(number.take()?.checked_mul(unit)?)?;
    }
    sum.checked_add(number.unwrap_or(0))
}

/// Returns the spans of a Stepping Thread Group. Its numbers are: users, delay, users per step, users of the first
/// step, time between steps, ramp-up of a step, hold time, users per stop step, and time between stop steps. Times
/// are in seconds.
fn stepping(numbers: &[i32; 9]) -> Vec<Span> {
    let [users, delay, step, burst, period, ramp_up, flight, out, out_period] =
        numbers.map(i64::from);
    let or_all = |count: i64| if count == 0 { users } else { count };
    let (step, out) = (or_all(step), or_all(out));
    if users <= 0 || step < 0 || out < 0 {
        return Vec::new();
    }
    let burst = match burst.min(users) {
        1.. => burst.min(users),
        _ => step,
    };
    let steps =
        if users < burst { 1 } else { ((users - burst) as f64 / step as f64).ceil() as i64 };
    let last = match (users - burst) % step {
        0 => step,
        last => last,
    };
    // Products of very large numbers overflow and saturate. A saturated time is never reached.
    let of_a_step = 1000 * (period + ramp_up);
    let begin = 1000 * delay;
    let ramps = (1000 * ramp_up / step).saturating_mul(last);
    let descent = begin
        .saturating_add(steps.saturating_mul(of_a_step))
        .saturating_add(ramps)
        .saturating_add(1000 * flight);
    (0..users)
        .map(|n| {
            let in_burst = n < burst;
            let behind = n - burst;
            let bucket = if in_burst { 0 } else { 1 + behind / step };
            let (place, size) = if in_burst { (n, burst) } else { (behind % step, step) };
            let start = begin
                .saturating_add(bucket.saturating_mul(of_a_step))
                .saturating_add(place.saturating_mul(1000 * ramp_up / size));
            (start, descent.saturating_add((1000 * out_period).saturating_mul(n / out)))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_that_end_before_they_start_do_not_count() {
        let spans: Vec<Span> = ultimate([3, 20, 0, -15, 0]).collect();
        assert_eq!(spans, [(20_000, 5_000); 3]);
        assert_eq!(Profile::RampUp.at_once(&spans), 0);
        assert_eq!(Profile::RampUp.at_once(&[(0, 10), (20, 5), (5, 15)]), 2);
    }

    /// Compares with times that `profile/table/RecordSpans.java` recorded from the plug-ins' classes.
    #[test]
    fn moments_are_those_of_the_classes() {
        let shown = |spans: &[Span]| -> String {
            let shown = spans.iter().map(|(start, end)| format!(" {start}-{end}"));
            shown.collect::<Vec<_>>().concat()
        };
        let numbers = |text: &str, by: char| -> Vec<i32> {
            text.split(by).map(|number| number.parse().expect("a number")).collect()
        };
        for line in include_str!("profile/table/spans.txt").lines() {
            let (given, recorded) = line.split_once(':').expect("a colon");
            let (kind, given) = given.split_once(' ').expect("a kind");
            let made = match kind {
                "steps" => shown(&stepping(&numbers(given, ' ').try_into().expect("nine numbers"))),
                "rows" => {
                    let rows = given.split(' ').map(|row| numbers(row, ','));
                    let rows = rows.map(|row| row.try_into().expect("five numbers"));
                    shown(&rows.flat_map(ultimate).collect::<Vec<_>>())
                }
                _ => {
                    let spans = open_model::spans(given, 42).expect("a schedule");
                    let shown = spans.iter().map(|(start, _)| format!(" {start}"));
                    shown.collect::<Vec<_>>().concat()
                }
            };
            assert_eq!(made, recorded, "{kind} {given}");
        }
    }

    #[test]
    fn the_first_user_of_a_row_starts_and_ends_last() {
        let spans: Vec<Span> = ultimate([2, 1, 4, 10, 6]).collect();
        assert_eq!(spans, [(5_000, 21_000), (3_000, 18_000)]);
        assert_eq!(ultimate([-1, 0, 0, 0, 0]).count(), 0);
    }

    #[test]
    fn those_who_are_there_at_once_are_counted() {
        let spans = [(0, 100_000), (10, 20), (15, 100_000), (20, 100_000), (40_000, 100_000)];
        let rows = Profile::Rows(Vec::new());
        assert_eq!(rows.at_once(&spans), 4);
        let open = Profile::Open {
            schedule: Template::Fixed("".into()),
            seed: Template::Fixed("".into()),
        };
        assert_eq!(open.at_once(&spans), 3);
        assert_eq!(rows.at_once(&[]), 0);
    }

    #[test]
    fn rows_come_from_the_command_line_too() {
        let rows =
            spawned("spawn(1,1s,2m,1h30m,0) SPAWN( 2 , 3,4,5,6d) other(1,1s,1s,1s,1s) spawn(3)");
        assert_eq!(rows, [[1, 1, 120, 5_400, 0], [2, 3, 4, 5, 518_400]]);
    }

    #[test]
    fn steps_are_those_of_the_plug_ins_own_test() {
        // 15 users: 10 start during the first 10 s, then 5 more every 30 s, each step within 10 s.
        let spans = stepping(&[15, 5, 5, 10, 30, 10, 60, 0, 0]);
        assert_eq!(spans[0].0, 5_000);
        assert!(spans[..10].windows(2).all(|pair| pair[1].0 - pair[0].0 == 1_000));
        assert_eq!(spans[10].0 - spans[9].0, 31_000);
        assert!(spans[10..].windows(2).all(|pair| pair[1].0 - pair[0].0 == 2_000));
        assert_eq!(spans.len(), 15);
        assert!(stepping(&[0; 9]).is_empty());
        let most = i32::MAX;
        assert_eq!(stepping(&[3, most, 1, most, most, most, most, 1, most]).len(), 3);
        assert_eq!(stepping(&[3, most, 1, 1, most, most, most, 1, most]).len(), 3);
    }
}
