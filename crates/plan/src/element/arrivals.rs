//! Arrivals and Free-Form Arrivals Thread Group (bzm): iterations start at scheduled times and are run by idle
//! users.
//!
//! An idle user runs the iteration of an arrival. If no user is idle, a new user runs it; if the maximum number of
//! users is busy, the arrival is dropped. This file computes the times of arrivals; the engine does the rest. The
//! rate at one arrival determines the time to the next arrival. While the rate is 0, the plug-in polls it every 200
//! ms. In the plug-in, the rate of a ramp-up without steps depends on the number of arrivals so far, so that such a
//! ramp-up never has an arrival.

use jmx::ElementId;

use super::concurrency::{self, seconds};
use super::profile::{MOST, Span};
use crate::compile::{Context, scope};
use crate::env::Env;
use crate::load::{self, Phase};
use crate::support::Level;
use crate::template::Template;

/// Class of the Arrivals Thread Group.
pub(super) const ARRIVALS: &str = "com.blazemeter.jmeter.threads.arrivals.ArrivalsThreadGroup";
/// Class of the Free-Form Arrivals Thread Group, which has a table of rates.
pub(super) const FREE_FORM: &str =
    "com.blazemeter.jmeter.threads.arrivals.FreeFormArrivalsThreadGroup";

/// Polling interval in milliseconds at which the plug-in reads the rate while the rate is 0.
const AGAIN_MS: f64 = 200.0;

/// Settings of an arrivals group.
#[derive(Debug)]
pub struct Arrivals {
    rates: Rates,
    /// Unit of time: `M` is minutes, otherwise seconds.
    unit: Template,
    users: Template,
    limit: Template,
}

#[derive(Debug)]
enum Rates {
    /// Target rate, ramp-up, steps and hold time.
    Target([Template; 4]),
    /// Rows of the table: rate at the start, rate at the end, and duration.
    Rows(Vec<[Template; 3]>),
}

/// Limits of an arrivals group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Maximum number of concurrent users; 0 means no limit.
    pub users: u32,
    /// Number of arrivals after which the group ends; 0 means no limit.
    pub arrivals: u64,
    /// Time at which the group detects the end of its schedule, in milliseconds after its start.
    pub end: i64,
}

impl Bounds {
    /// Returns `users`, limited to the maximum number of concurrent users.
    pub fn at_most(self, users: u32) -> u32 {
        if self.users == 0 { users } else { users.min(self.users) }
    }
}

pub(super) fn compile(ctx: &mut Context<'_>, id: ElementId) -> Arrivals {
    let (rates, unit) = if scope::class(ctx.doc, id) == FREE_FORM {
        concurrency::no_log(ctx, id);
        (Rates::Rows(rows(ctx, id)), ctx.prop(id, "Unit"))
    } else {
        let [target, ramp_up, steps, hold, unit] = concurrency::texts(ctx, id);
        (Rates::Target([target, ramp_up, steps, hold]), unit)
    };
    Arrivals {
        rates,
        unit,
        users: ctx.prop(id, "ConcurrencyLimit"),
        limit: ctx.prop_or(id, "ArrivalsLimit", "0"),
    }
}

fn rows(ctx: &mut Context<'_>, id: ElementId) -> Vec<[Template; 3]> {
    let rows = ctx.props(id).collection("Schedule");
    if let Some((nth, row)) = (1_u32..).zip(rows).find(|(_, row)| row.members().len() < 3) {
        let given = row.members().len();
        let short = format!("row {nth} of its table has {given} of 3 numbers; the plug-in fails");
        ctx.remark(id, Level::Unsupported, short);
    }
    ctx.cells(id, rows)
}

impl Arrivals {
    /// Returns a span for each arrival: the time of the arrival, and the time at which the group detects the end of its
    /// schedule, both in milliseconds after the group's start.
    pub(super) fn spans(&self, env: &mut Env<'_>) -> Result<Vec<Span>, String> {
        let (starts, end) = self.rate(env)?.moments()?;
        Ok(starts.into_iter().map(|start| (start, end)).collect())
    }

    /// Returns the phases of the schedule's rate.
    pub(super) fn phases(&self, env: &mut Env<'_>) -> Option<Vec<Phase>> {
        let nanos = |s: f64| (s * 1e9) as i64;
        match self.rate(env).ok()? {
            Rate::Target { target, ramp_up, steps, hold } => {
                let (ramp, length) =
                    (nanos(ramp_up as f64), nanos(ramp_up.saturating_add(hold) as f64));
                let steps = u32::try_from(steps).ok().filter(|steps| *steps > 0);
                Some(load::Rate::rising(target, ramp, steps, length).phases().to_vec())
            }
            Rate::Rows(rows) => {
                Some(rows.iter().map(|[begin, end, s]| (nanos(*s), *begin, *end)).collect())
            }
        }
    }

    /// Returns the group's limits. `spans` is the result of [`spans`](Self::spans).
    pub(super) fn bounds(&self, spans: &[Span], env: &mut Env<'_>) -> Bounds {
        Bounds {
            users: self
                .users
                .parsed(env, |text| text.parse().unwrap_or(0_i64).clamp(0, u32::MAX.into()))
                as u32,
            arrivals: self.limit.parsed(env, |text| text.parse().unwrap_or(0).max(0_i64)) as u64,
            end: spans.first().map_or(0, |(_, end)| *end),
        }
    }

    fn rate(&self, env: &mut Env<'_>) -> Result<Rate, String> {
        let unit = self.unit.parsed(env, |text| if text == "M" { 60.0 } else { 1.0 });
        match &self.rates {
            Rates::Target(texts) => {
                let [target, ramp_up, steps, hold] = texts.each_ref().map(|text| {
                    let mut value = String::new();
                    text.eval(env, &mut value);
                    value
                });
                Ok(Rate::Target {
                    target: f64::from(target.parse::<i32>().unwrap_or(0)) / unit,
                    ramp_up: seconds(&ramp_up, unit)?,
                    steps: concurrency::steps(&steps)?,
                    hold: seconds(&hold, unit)?,
                })
            }
            Rates::Rows(rows) => {
                let number = |text: &Template, env: &mut Env<'_>| {
                    text.parsed(env, |text| text.trim().parse::<f64>().unwrap_or(0.0))
                };
                let of_row = |[begin, end, length]: &[Template; 3]| {
                    let length = number(length, env) * unit;
                    if length == 0.0 {
                        return Err(
                            "a row of its table has a duration of 0; the plug-in would never end"
                                .into(),
                        );
                    }
                    Ok([number(begin, env) / unit, number(end, env) / unit, length])
                };
                Ok(Rate::Rows(rows.iter().map(of_row).collect::<Result<_, String>>()?))
            }
        }
    }
}

/// Arrivals per second over time.
#[derive(Debug)]
enum Rate {
    /// Target rate per second; times in seconds.
    Target { target: f64, ramp_up: i64, steps: i64, hold: i64 },
    /// Rows of the table: rate at the start, rate at the end, and duration in seconds.
    Rows(Vec<[f64; 3]>),
}

impl Rate {
    /// Returns the rate at `offset` seconds, after `arrivals` arrivals. A negative rate means the end of the
    /// schedule.
    fn at(&self, offset: f64, arrivals: u64) -> f64 {
        match self {
            Self::Target { target, ramp_up, steps, hold } => {
                let whole = *ramp_up as f64;
                if offset >= ramp_up.saturating_add(*hold) as f64 {
                    -1.0
                } else if *ramp_up == 0 || offset > whole {
                    *target
                } else if *steps > 0 {
                    let steps = *steps as f64;
                    target / steps * ((offset / (whole / steps)).floor() + 1.0)
                } else {
                    let slope = target / whole;
                    slope * (2.0 * arrivals as f64 / slope).sqrt()
                }
            }
            Self::Rows(rows) => {
                let mut before = 0_i64;
                for [begin, end, length] in rows {
                    let progress = (offset - before as f64) / length;
                    // Durations are rounded to whole seconds, as in the plug-in.
                    before = (before as f64 + length) as i64;
                    if offset <= before as f64 {
                        return begin + progress * (end - begin);
                    }
                }
                -1.0
            }
        }
    }

    /// Returns a rough lower bound of the number of arrivals: the area under the rate curve without the ramp-up; 0 for
    /// a schedule that may end early.
    fn area(&self) -> f64 {
        match self {
            Self::Target { target, hold, .. } => target * *hold as f64,
            // A negative rate may end the schedule early.
            Self::Rows(rows) if rows.iter().flatten().any(|number| *number < 0.0) => 0.0,
            Self::Rows(rows) => {
                rows.iter().map(|[begin, end, length]| (begin + end) / 2.0 * length.floor()).sum()
            }
        }
    }

    /// Returns the times of all arrivals, and the time at which the group detects the end of its schedule, in
    /// milliseconds after the group's start.
    fn moments(&self) -> Result<(Vec<i64>, i64), String> {
        let (mut at, mut starts) = (0.0_f64, Vec::new());
        // Computing this many arrivals one by one would take seconds and much memory.
        if self.area() > 2.0 * MOST as f64 {
            return Err(too_many());
        }
        for _ in 0..MOST {
            let rate = self.at(at / 1000.0, starts.len() as u64);
            if rate.is_nan() {
                return Err("its rate is not a number".into());
            }
            if rate < 0.0 {
                return Ok((starts, at.ceil() as i64));
            }
            if rate == 0.0 {
                at += AGAIN_MS;
                continue;
            }
            starts.push(at.round() as i64);
            at += 1000.0 / rate;
        }
        Err(too_many())
    }
}

fn too_many() -> String {
    format!("its schedule has more than {MOST} arrivals")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(target: f64, ramp_up: i64, steps: i64, hold: i64) -> Rate {
        Rate::Target { target, ramp_up, steps, hold }
    }

    #[test]
    fn arrivals_are_even_while_the_rate_is_held() {
        assert_eq!(target(2.0, 0, 0, 2).moments(), Ok((vec![0, 500, 1_000, 1_500], 2_000)));
        assert_eq!(target(0.4, 0, 0, 4).moments(), Ok((vec![0, 2_500], 5_000)));
        assert_eq!(target(-1.0, 0, 0, 4).moments(), Ok((vec![], 0)));
        assert_eq!(target(0.0, 0, 0, 1).moments(), Ok((vec![], 1_000)));
    }

    #[test]
    fn steps_have_rates_of_their_own() {
        let moments = target(4.0, 2, 2, 1).moments();
        // Two arrivals per second, then four, and a third step at the end of the ramp-up, as in the plug-in.
        let starts = vec![0, 500, 1_000, 1_250, 1_500, 1_750, 2_000, 2_167, 2_417, 2_667, 2_917];
        assert_eq!(moments, Ok((starts, 3_167)));
    }

    #[test]
    fn nobody_comes_in_a_ramp_up_without_steps() {
        assert_eq!(target(2.0, 1, 0, 1).moments(), Ok((vec![1_200, 1_700], 2_200)));
    }

    #[test]
    fn rates_of_rows_change_evenly() {
        let rows = Rate::Rows(vec![[1.0, 1.0, 2.0], [2.0, 4.0, 1.0]]);
        assert_eq!(rows.moments(), Ok((vec![0, 1_000, 2_000, 3_000], 3_250)));
        let (starts, _) = Rate::Rows(vec![[0.0, 10.0, 1.0]]).moments().expect("moments");
        // The rate is above 0 for the first time at the poll after 200 ms.
        assert_eq!(starts[..2], [200, 700]);
    }

    #[test]
    fn more_than_any_machine_holds_are_refused_without_counting_them() {
        let many = MOST as f64;
        for rate in [
            target(many, 0, 0, i64::MAX),
            target(many, 10, 0, 3),
            Rate::Rows(vec![[many, many, 1e9], [0.0, 1.0, 1.0]]),
        ] {
            assert!(rate.area() > 2.0 * many && rate.moments().is_err(), "{rate:?}");
        }
        // The schedule ends before any of its many arrivals, or has no arrivals.
        let ends = Rate::Rows(vec![[-1.0, -1.0, 1.0], [many, many, 1e9]]);
        assert_eq!(ends.moments(), Ok((vec![], 0)));
        assert_eq!(target(0.0, 0, 0, 1).area(), 0.0);
    }
}
