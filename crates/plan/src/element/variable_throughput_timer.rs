//! Throughput Shaping Timer (jp@gc): schedules samples by changing rates, for all users that reach the timer.
//!
//! The rate of each second is the schedule's rate at the beginning of the second. The second has as many samples as
//! fit at that rate, the first at once. Each user takes the next scheduled sample. Unused samples expire with their
//! second. One second after the end of the schedule, the groups whose users reach the timer are stopped. The
//! plug-in's users poll until their sample is due; Throng computes the time of the sample in advance. Cost: one
//! atomic exchange.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use jmx::ElementId;

use super::pace::{Pace, RateScope};
use super::profile::short_time;
use crate::compile::Context;
use crate::env::Env;
use crate::load::Phase;
use crate::state::Shard;
use crate::template::Template;

/// Property of the schedule: the table's property in the plan, and the run property that overrides it. The run
/// property may have the timer's name and a dot as a prefix.
const PROFILE: &str = "load_profile";

/// A compiled Throughput Shaping Timer.
#[derive(Debug)]
pub struct ShapingTimer {
    /// Index of the timer among the throughput timers of the plan; identifies its shared state.
    pub(crate) at: u32,
    name: String,
    /// Rows of the table: rate at the start, rate at the end, seconds.
    rows: Vec<[Template; 3]>,
}

/// A scheduled sample that a user has taken: the waiting time, and the end of the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Milliseconds until the sample is due; `None` if no sample is left before the end of the schedule.
    pub wait: Option<u64>,
    /// Milliseconds until the end of the schedule, when groups are stopped; negative after the end.
    pub end: i64,
}

/// State of a Throughput Shaping Timer that all users share.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    begun: OnceLock<Schedule>,
    /// The next scheduled sample: its second in the upper 32 bits, its position within the second in the lower.
    next: AtomicU64,
}

/// The rows of a schedule that has started, and its start time.
#[derive(Debug)]
struct Schedule {
    rows: Vec<Row>,
    /// Start time in milliseconds since 1970.
    start: i64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Row {
    from: f64,
    to: f64,
    seconds: i32,
}

pub(super) fn compile(ctx: &mut Context<'_>, id: ElementId, at: u32) -> ShapingTimer {
    let rows = ctx.props(id).collection(PROFILE);
    let rows = ctx.cells(id, rows);
    ShapingTimer { at, name: ctx.doc.element(id).name.clone(), rows }
}

impl ShapingTimer {
    /// Returns the rate that the timer keeps, and how it changes.
    pub(super) fn pace(&self, env: &mut Env<'_>) -> Option<Pace> {
        if self.rows.iter().flatten().any(|text| text.known(env).is_none()) {
            return None;
        }
        let rows = self.schedule(env);
        let first = rows.first()?.from;
        let is_flat = rows.iter().all(|row| row.from == first && row.to == first);
        let schedule = if is_flat { Vec::new() } else { phases(&rows) };
        let per_second = rows.iter().map(|row| row.from.max(row.to)).fold(0.0, f64::max);
        Some(Pace { per_second, schedule, of: RateScope::Shared(Some(self.at)) })
    }

    /// Takes the next scheduled sample for the user.
    pub fn turn(&self, env: &mut Env<'_>) -> Turn {
        let run = env.run;
        let Some((shared, shard)) = run.shaping(self.at) else {
            return Turn { wait: None, end: 0 };
        };
        let schedule =
            shared.begun.get_or_init(|| Schedule { start: env.run_ms(), rows: self.schedule(env) });
        shared.take(schedule, env.run_ms(), shard)
    }

    fn schedule(&self, env: &mut Env<'_>) -> Vec<Row> {
        let own = format!("{}.{PROFILE}", self.name);
        let given = [own.as_str(), PROFILE].into_iter().filter_map(|key| env.shared.property(key));
        let mut given = given.filter(|text| !text.is_empty());
        if let Some(text) = given.next() {
            return text.split(')').filter_map(chunk).flatten().collect();
        }
        let mut row = |[from, to, seconds]: &[Template; 3]| Row {
            from: from.double(env),
            to: to.double(env),
            seconds: seconds.parsed(env, |text| text.parse().unwrap_or(0)),
        };
        self.rows.iter().map(&mut row).collect()
    }
}

/// Returns the rates as linear phases. The mean of a phase over each second equals the timer's rate for that second,
/// which is the rate at the beginning of the second. Where two rows meet, the rate of the first row applies.
fn phases(rows: &[Row]) -> Vec<Phase> {
    const SECOND: i64 = 1_000_000_000;
    let line = |(at, row): (usize, &Row)| {
        let slope = (row.to - row.from) / f64::from(row.seconds.max(1));
        let (shift, longer) = if at == 0 { (-0.5, 1) } else { (0.5, 0) };
        let seconds = i64::from(row.seconds.max(0)) + longer;
        let begin = row.from + shift * slope;
        (seconds * SECOND, begin, begin + slope * seconds as f64)
    };
    rows.iter().enumerate().map(line).collect()
}

/// Parses one part of a schedule property: `const(rate, time`, `line(from, to, time` or `step(from, to, by, time`.
/// Invalid parts are skipped.
fn chunk(text: &str) -> Option<Vec<Row>> {
    let mut parts = text.split(['(', ',']);
    let kind = parts.next()?.trim().to_ascii_lowercase();
    let mut number = || parts.next()?.trim().parse::<i32>().ok();
    let (from, to, by) = match kind.as_str() {
        "const" => number().map(|rate| (rate, rate, None))?,
        "line" => (number()?, number()?, None),
        "step" => (number()?, number()?, Some(number()?)),
        _ => return None,
    };
    let seconds = short_time(parts.next()?.trim())?;
    let row = |from: i32, to: i32| Row { from: f64::from(from), to: f64::from(to), seconds };
    let Some(by) = by else { return Some(vec![row(from, to)]) };
    let by = if from > to { by.checked_neg()? } else { by };
    let steps = std::iter::successors(Some(from), |rate| rate.checked_add(by));
    let goes_on = |rate: &i32| if by > 0 { *rate <= to } else { *rate > to };
    let steps = steps.take_while(goes_on).take(MOST_STEPS);
    Some(steps.map(|rate| row(rate, rate)).collect())
}

/// Maximum number of steps per part of a schedule. A part with steps of size 0 would never end.
const MOST_STEPS: usize = 100_000;

impl Schedule {
    /// Returns the rate, in samples per second, of second number `second` after the start, and the last second of its
    /// row. `None` after the end of the schedule.
    fn rate(&self, second: u32) -> Option<(f64, u32)> {
        let mut into = f64::from(second);
        let mut last = 0_i64;
        for row in &self.rows {
            let seconds = f64::from(row.seconds);
            last += i64::from(row.seconds);
            if into <= seconds {
                let rate = row.from + into * (row.to - row.from) / seconds;
                return (rate >= 0.0 || rate.is_nan()).then_some((rate, last.max(0) as u32));
            }
            into -= seconds;
        }
        None
    }

    /// Returns the number of the first second after the end of the schedule.
    fn end(&self) -> i64 {
        let all: i64 = self.rows.iter().map(|row| i64::from(row.seconds)).sum();
        if self.rows.is_empty() { 0 } else { all.max(0) + 1 }
    }
}

impl Shared {
    fn take(&self, schedule: &Schedule, now: i64, shard: Shard) -> Turn {
        let elapsed = (now - schedule.start).max(0);
        let mut found = None;
        let step = |next: u64| {
            let (second, place) = turn_from(next, elapsed, schedule, shard)?;
            found = Some((second, place));
            Some((u64::from(second) << 32) | (u64::from(place) + 1))
        };
        let _ = self.next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, step);
        let due = found.map(|(second, place)| due_ms(schedule, second, place, shard));
        let wait = due.map(|due| (due - elapsed).max(0) as u64);
        Turn { wait, end: schedule.end() * 1000 - elapsed }
    }
}

/// Returns the due time of a sample in milliseconds after the start.
fn due_ms(schedule: &Schedule, second: u32, place: u32, shard: Shard) -> i64 {
    let into = schedule.rate(second).and_then(|(rate, _)| offset_ms(rate, place, shard));
    i64::from(second) * 1000 + into.unwrap_or(0)
}

/// Returns the due time, in milliseconds within its second, of this process's sample number `place`. `None` if the
/// second has no such sample. The processes of a run take the samples alternately.
fn offset_ms(rate: f64, place: u32, shard: Shard) -> Option<i64> {
    if rate.is_nan() {
        return Some(0);
    }
    let number = u64::from(place) * u64::from(shard.count) + u64::from(shard.index);
    let into = if number == 0 { 0.0 } else { number as f64 * 1000.0 / rate };
    (rate > 0.0 && into <= 999.0).then(|| into.ceil() as i64)
}

/// Returns the second, and the position within the second, of the first sample from `next` on in the current second or
/// a later one.
fn turn_from(next: u64, elapsed: i64, schedule: &Schedule, shard: Shard) -> Option<(u32, u32)> {
    let now = u32::try_from(elapsed / 1000).unwrap_or(u32::MAX);
    let (mut second, mut place) = ((next >> 32) as u32, next as u32);
    if second < now {
        (second, place) = (now, 0);
    }
    loop {
        let (rate, last) = schedule.rate(second)?;
        if offset_ms(rate, place, shard).is_some() {
            return Some((second, place));
        }
        // A row with a constant rate of 0 is skipped as a whole.
        let flat = rate == 0.0 && schedule.rate(last).is_some_and(|(rate, _)| rate == 0.0);
        second = if flat { last.max(second) } else { second }.checked_add(1)?;
        place = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(rows: &[(f64, f64, i32)]) -> Schedule {
        let row =
            |(from, to, seconds): &(f64, f64, i32)| Row { from: *from, to: *to, seconds: *seconds };
        Schedule { start: 1_000, rows: rows.iter().map(row).collect() }
    }

    /// Compares with rates that `variable_throughput_timer/table/RecordRates.java` recorded from the plug-in's class.
    #[test]
    fn rates_are_those_of_the_class() {
        let text = include_str!("variable_throughput_timer/table/rates.txt");
        for line in text.lines() {
            let (given, recorded) = line.split_once(" = ").expect("a sign");
            let rows = given.split(' ').map(|row| {
                let mut cells = row.split(',').map(|cell| cell.parse::<f64>().expect("a number"));
                let mut next = || cells.next().expect("three cells");
                (next(), next(), next() as i32)
            });
            let schedule = schedule(&rows.collect::<Vec<_>>());
            let rate = |second: u32| schedule.rate(second).map_or(-1.0, |(rate, _)| rate);
            for (second, recorded) in (0..).zip(recorded.split(' ')) {
                let recorded: f64 = recorded.parse().expect("a number");
                let made = rate(second);
                assert!(
                    made == recorded || made.is_nan() && recorded.is_nan(),
                    "{line}: {second}: {made}"
                );
            }
        }
    }

    #[test]
    fn lines_have_the_rates_of_their_seconds() {
        let schedule = schedule(&[(0.0, 100.0, 10), (100.0, 100.0, 5), (100.0, 20.0, 4)]);
        let phases = phases(&schedule.rows);
        let (mut from, mut seconds) = (0.0, 0);
        for (length, begin, end) in phases {
            let length = length as f64 / 1e9;
            while f64::from(seconds) < from + length {
                let middle = (f64::from(seconds) + 0.5 - from) / length;
                let (rate, _) = schedule.rate(seconds).expect("a rate");
                assert!((begin + middle * (end - begin) - rate).abs() < 1e-6, "{seconds}: {rate}");
                seconds += 1;
            }
            from += length;
        }
        assert_eq!(i64::from(seconds), schedule.end());
    }

    #[test]
    fn turns_are_at_even_distances_and_those_not_taken_are_gone() {
        let (shared, schedule, all) =
            (Shared::default(), schedule(&[(4.0, 4.0, 2)]), Shard::default());
        let waits: Vec<_> = (0..6).map(|_| shared.take(&schedule, 1_000, all).wait).collect();
        assert_eq!(waits, [0, 250, 500, 750, 1_000, 1_250].map(Some));
        // In the third second, two samples are overdue, and two samples are still to come.
        let waits: Vec<_> = (0..5).map(|_| shared.take(&schedule, 3_300, all)).collect();
        let expected = [Some(0), Some(0), Some(200), Some(450), None];
        assert_eq!(waits, expected.map(|wait| Turn { wait, end: 700 }));
    }

    #[test]
    fn low_rates_have_a_turn_a_second_and_none_has_none() {
        let schedule = schedule(&[(0.25, 0.25, 1), (0.0, 0.0, 1_000_000_000), (1.0, 1.0, 1)]);
        let (shared, all) = (Shared::default(), Shard::default());
        let waits: Vec<_> = (0..3).map(|_| shared.take(&schedule, 1_000, all).wait).collect();
        // Each of the first two rows also covers the second after its end.
        assert_eq!(waits, [Some(0), Some(1_000), Some(1_000_000_002_000)]);
        let none = super::Schedule { start: 0, rows: Vec::new() };
        assert_eq!(Shared::default().take(&none, 5, all), Turn { wait: None, end: -5 });
    }

    #[test]
    fn processes_take_turns() {
        let schedule = schedule(&[(4.0, 4.0, 1)]);
        let of = |index| {
            let shared = Shared::default();
            let shard = Shard { index, count: 3 };
            (0..3).map(|_| shared.take(&schedule, 1_000, shard).wait).collect::<Vec<_>>()
        };
        assert_eq!(of(0), [Some(0), Some(750), Some(1_000)]);
        assert_eq!(of(1), [Some(250), Some(1_250), None]);
        assert_eq!(of(2), [Some(500), Some(1_500), None]);
    }

    #[test]
    fn schedules_come_from_the_command_line_too() {
        let rows =
            |text: &str| -> Vec<Row> { text.split(')').filter_map(chunk).flatten().collect() };
        let row = |from: f64, to: f64, seconds| Row { from, to, seconds };
        assert_eq!(
            rows("const(10,10s) LINE(1, 5 ,1m) step(5,15,5,1h) other(1) const(x,1s)"),
            [
                row(10.0, 10.0, 10),
                row(1.0, 5.0, 60),
                row(5.0, 5.0, 3600),
                row(10.0, 10.0, 3600),
                row(15.0, 15.0, 3600)
            ]
        );
        // If the rate decreases, the last step is omitted, as in the plug-in.
        assert_eq!(rows("step(3,1,1,1s)"), [row(3.0, 3.0, 1), row(2.0, 2.0, 1)]);
        assert_eq!(rows("step(1,2,0,1s)").len(), 0);
    }
}
