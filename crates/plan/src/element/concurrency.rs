//! Concurrency Thread Group (bzm): as many users at once as are wanted, and from when on each of them is.
//!
//! The plug-in reads the clock when one of its users ends, and else once a second; then it starts whoever is missing, and finds out that
//! the time is over. Those polls are the engine's; here are the times that they compare with. A number that cannot be read as a time or as steps keeps the
//! group from starting; as a target it is 0.

use jmx::ElementId;

use super::profile::{Span, few_enough};
use crate::compile::Context;
use crate::env::Env;
use crate::template::Template;

/// Target, ramp-up, steps, hold, and the unit of both times.
pub(super) fn texts(ctx: &mut Context<'_>, id: ElementId) -> [Template; 5] {
    no_log(ctx, id);
    [("TargetLevel", "1"), ("RampUp", ""), ("Steps", ""), ("Hold", "1"), ("Unit", "")]
        .map(|(name, default)| ctx.prop_or(id, name, default))
}

/// Says that a log of its own is not written.
pub(super) fn no_log(ctx: &mut Context<'_>, id: ElementId) {
    let log = ctx.props(id).str("LogFilename").unwrap_or("");
    if !log.is_empty() {
        let message = format!("the log of starts and ends, {log}, is not written");
        let help = "starts and ends of users are in the run's seconds.jsonl";
        ctx.warn(id, "group-log", message, help);
    }
}

/// A number of users that is wanted at a time.
#[derive(Clone, Copy, Debug)]
struct Wish {
    target: i32,
    /// Seconds.
    ramp_up: i64,
    steps: i64,
    /// Seconds.
    hold: i64,
    /// Seconds by which all of it begins later.
    shift: i64,
}

/// From when on each user is wanted, and until when all are: milliseconds after the group's start.
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
    let wish = Wish {
        target: target.parse().unwrap_or(0),
        ramp_up: seconds(&ramp_up, unit)?,
        steps: self::steps(&steps)?,
        hold: seconds(&hold, unit)?,
        shift: property("dynamic_tg.shift_rampup_start", 0),
    };
    few_enough(wish.target.max(0) as usize)?;
    Ok(wish.spans(property("dynamic_tg.temporisation", 10).max(1)))
}

/// A number of steps; none is 0.
pub(super) fn steps(text: &str) -> Result<i64, String> {
    if text.is_empty() {
        return Ok(0);
    }
    text.parse().map_err(|_| format!("{text:?} is no number of steps"))
}

/// Seconds, rounded as Java does.
pub(super) fn seconds(text: &str, unit: f64) -> Result<i64, String> {
    match text.trim().parse::<f64>() {
        Ok(number) if !number.is_nan() => Ok((number * unit + 0.5).floor() as i64),
        _ if text.is_empty() => Ok(0),
        _ => Err(format!("{text:?} is no time")),
    }
}

impl Wish {
    /// Users at a moment; `None` is the end.
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

    /// `pause`: between polls as long as there is no user, milliseconds. It polls without end for the first.
    fn spans(&self, pause: i64) -> Vec<Span> {
        let end = self.ramp_up.saturating_add(self.hold).saturating_add(self.shift.max(0));
        let end = end.clamp(0, i64::MAX / 4000) * 1000;
        let users = i64::from(self.target.max(0));
        let starts = (1..=users).map_while(|wanted| {
            // What is planned only grows, until it ends.
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

    fn wish(target: i32, ramp_up: i64, steps: i64, hold: i64) -> Wish {
        Wish { target, ramp_up, steps, hold, shift: 0 }
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
        // The first is found by a poll every 10 ms.
        let starts = wish(4, 1, 0, 1).spans(10).into_iter().map(|(start, _)| start);
        assert_eq!(starts.collect::<Vec<_>>(), [130, 375, 625, 875]);
    }

    #[test]
    fn steps_are_equal_and_the_first_is_at_once() {
        let spans = wish(4, 4, 2, 1).spans(10);
        assert_eq!(spans, [(0, 5_000), (0, 5_000), (2_000, 5_000), (2_000, 5_000)]);
        // Where steps are longer than users, some bring nobody.
        assert_eq!(wish(1, 3, 3, 1).spans(10), [(1_000, 4_000)]);
    }

    #[test]
    fn it_can_begin_later() {
        let late = Wish { shift: 2, ..wish(2, 2, 0, 1) };
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
