//! Concurrency Thread Group (bzm): keeps a number of concurrent users, which changes over time.
//!
//! The plug-in checks the time whenever one of its users ends, and otherwise once per second. At each check, the
//! plug-in starts the missing users and detects the end of the schedule. This file computes the times of these polls;
//! the engine executes them. An invalid time or number of steps prevents the group from starting; an invalid target
//! counts as 0.

use jmx::ElementId;

use super::profile::{Span, few_enough};
use crate::compile::Context;
use crate::env::Env;
use crate::template::Template;

/// Compiles the target, ramp-up, steps, hold time, and the unit of both times.
pub(super) fn texts(ctx: &mut Context<'_>, id: ElementId) -> [Template; 5] {
    no_log(ctx, id);
    [("TargetLevel", "1"), ("RampUp", ""), ("Steps", ""), ("Hold", "1"), ("Unit", "")]
        .map(|(name, default)| ctx.prop_or(id, name, default))
}

/// Warns that Throng does not write the log file that the group's settings name.
pub(super) fn no_log(ctx: &mut Context<'_>, id: ElementId) {
    let log = ctx.props(id).str("LogFilename").unwrap_or("");
    if !log.is_empty() {
        let message = format!("the group's log of starts and ends, {log}, is not written");
        let help = "see the run's seconds.jsonl for starts and ends of users";
        ctx.warn(id, "group-log", message, help);
    }
}

/// Schedule of a Concurrency Thread Group: the target number of users over time.
#[derive(Clone, Copy, Debug)]
struct TargetUsers {
    target: i32,
    /// Ramp-up time in seconds.
    ramp_up: i64,
    steps: i64,
    /// Hold time in seconds.
    hold: i64,
    /// Time in seconds by which the whole schedule is delayed.
    shift: i64,
}

/// Returns a span for each user: its start and the end of the group, in milliseconds after the group's start.
pub(super) fn spans(texts: &[Template; 5], env: &mut Env<'_>) -> Result<Vec<Span>, String> {
    let [target, ramp_up, steps, hold, unit] = texts.each_ref().map(|text| {
        let mut value = String::new();
        text.eval(env, &mut value);
        value
    });
    let unit = if unit == "M" { 60.0 } else { 1.0 };
    let property = |name: &str, default: i64| {
        let given = env.shared.property(name).and_then(|text| text.trim().parse().ok());
        given.unwrap_or(default)
    };
    let wish = TargetUsers {
        target: target.parse().unwrap_or(0),
        ramp_up: seconds(&ramp_up, unit)?,
        steps: self::steps(&steps)?,
        hold: seconds(&hold, unit)?,
        shift: property("dynamic_tg.shift_rampup_start", 0),
    };
    few_enough(wish.target.max(0) as usize)?;
    Ok(wish.spans(property("dynamic_tg.temporisation", 10).max(1)))
}

/// Parses a number of steps; an empty string is 0.
pub(super) fn steps(text: &str) -> Result<i64, String> {
    if text.is_empty() {
        return Ok(0);
    }
    text.parse().map_err(|_| format!("{text:?} is not a number of steps"))
}

/// Parses a time and rounds it to seconds as Java does.
pub(super) fn seconds(text: &str, unit: f64) -> Result<i64, String> {
    match text.trim().parse::<f64>() {
        Ok(number) if !number.is_nan() => Ok((number * unit + 0.5).floor() as i64),
        _ if text.is_empty() => Ok(0),
        _ => Err(format!("{text:?} is not a time")),
    }
}

impl TargetUsers {
    /// Returns the target number of users `ms` milliseconds after the group's start; `None` after the end of the
    /// schedule.
    fn planned(&self, ms: i64) -> Option<i64> {
        let offset = (ms as f64 / 1000.0 - self.shift as f64).max(0.0);
        if offset >= self.ramp_up.saturating_add(self.hold) as f64 {
            return None;
        }
        let (target, ramp_up) = (f64::from(self.target), self.ramp_up as f64);
        let wanted = if self.ramp_up == 0 || offset > ramp_up {
            target
        } else if self.steps > 0 {
            let steps = self.steps as f64;
            target / steps * ((offset / (ramp_up / steps)).floor() + 1.0)
        } else {
            target / ramp_up * offset
        };
        Some((wanted + 0.5).floor() as i64)
    }

    /// Returns the span of each user. `pause` is the time in milliseconds between polls while the group has no
    /// user. The group polls until its first user starts.
    fn spans(&self, pause: i64) -> Vec<Span> {
        let end = self.ramp_up.saturating_add(self.hold).saturating_add(self.shift.max(0));
        let end = end.clamp(0, i64::MAX / 4000) * 1000;
        let users = i64::from(self.target.max(0));
        let starts = (1..=users).map_while(|wanted| {
            // The target number of users only increases until the end.
            let step = if wanted == 1 { pause } else { 1 };
            let there = |poll: i64| self.planned(poll * step).is_none_or(|at| at >= wanted);
            let (mut least, mut most) = (-1, end / step + 1);
            while most - least > 1 {
                let middle = i64::midpoint(least, most);
                if there(middle) { most = middle } else { least = middle }
            }
            self.planned(most * step).map(|_| most * step)
        });
        starts.map(|start| (start, end)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wish(target: i32, ramp_up: i64, steps: i64, hold: i64) -> TargetUsers {
        TargetUsers { target, ramp_up, steps, hold, shift: 0 }
    }

    #[test]
    fn all_at_once_without_a_ramp_up() {
        assert_eq!(wish(3, 0, 0, 5).spans(10), [(0, 5_000); 3]);
        assert_eq!(wish(0, 0, 0, 5).spans(10), []);
        assert_eq!(wish(3, 0, 0, 0).spans(10), []);
    }

    #[test]
    fn users_are_wanted_from_the_middle_of_their_part() {
        assert_eq!(wish(3, 6, 0, 2).spans(10), [(1_000, 8_000), (3_000, 8_000), (5_000, 8_000)]);
        // Before the first user starts, the group polls every 10 ms.
        let starts = wish(4, 1, 0, 1).spans(10).into_iter().map(|(start, _)| start);
        assert_eq!(starts.collect::<Vec<_>>(), [130, 375, 625, 875]);
    }

    #[test]
    fn steps_are_equal_and_the_first_is_at_once() {
        let spans = wish(4, 4, 2, 1).spans(10);
        assert_eq!(spans, [(0, 5_000), (0, 5_000), (2_000, 5_000), (2_000, 5_000)]);
        // With more steps than users, some steps start no user.
        assert_eq!(wish(1, 3, 3, 1).spans(10), [(1_000, 4_000)]);
    }

    #[test]
    fn it_can_begin_later() {
        let late = TargetUsers { shift: 2, ..wish(2, 2, 0, 1) };
        assert_eq!(late.spans(10), [(2_500, 5_000), (3_500, 5_000)]);
    }

    #[test]
    fn very_long_times_take_no_longer() {
        let spans = wish(2, 1 << 40, 0, 1 << 40).spans(10);
        assert_eq!(spans.len(), 2);
        assert!(spans[0].0 < spans[1].0);
        assert_eq!(wish(1, 0, 0, i64::MAX).spans(10).len(), 1);
    }

    #[test]
    fn times_are_rounded_to_seconds() {
        assert_eq!(seconds("1.5", 60.0), Ok(90));
        assert_eq!(seconds("0.5", 1.0), Ok(1));
        assert_eq!(seconds("", 1.0), Ok(0));
        assert!(seconds("x", 1.0).is_err());
    }
}
