//! Phases of the load: the times at which a ramp, a step or a hold begins, as far as they are known before the run.

use plan::load;
use plan::plan::{Phase as When, Plan};

use crate::run::evaluated::{Evaluated, Numbers};
use crate::run::load::{NEVER_MS, plain};
use crate::time::clock::{MS, Nanos};

/// Maximum number of reported phases; later phases are dropped.
const MOST: usize = 200;
/// Maximum time in milliseconds between starts that form one step.
const AT_ONCE_MS: i64 = 1000;

/// A phase of the load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phase {
    /// Start of the phase, in milliseconds since the start of the main groups.
    pub at_ms: i64,
    /// Description such as `ramp to 50 users`, `step 2 of 5: 20 users` or `hold 50 users`, after the group's name
    /// if there are several groups.
    pub words: String,
}

/// The phases of a run's load.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Phases {
    /// Phases in chronological order. Empty if the load is constant.
    pub list: Vec<Phase>,
    /// Number of users of setUp groups. If there are any, the main groups start after these users have ended.
    pub before: u32,
    /// Time of the first start of a user in the main groups, in milliseconds since their start.
    pub first_ms: i64,
}

/// A constant level of the load, or a ramp between two levels.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Piece {
    at_ms: i64,
    is_ramp: bool,
    to: f64,
}

impl Evaluated {
    /// Returns the phases of the load. If groups run one after another, only the phases of the first group are known.
    pub fn phases(&self, plan: &Plan) -> Phases {
        let of = |when: When| {
            let all = plan.groups.iter().zip(&self.groups).zip(&self.paces);
            all.filter(move |((group, numbers), _)| group.phase == when && numbers.at_once > 0)
        };
        let known = if plan.serialize_groups { 1 } else { usize::MAX };
        let several = of(When::Main).count() > 1;
        let mut list = Vec::new();
        for ((_, numbers), paces) in of(When::Main).take(known) {
            let group = if several { format!("{}: ", numbers.name) } else { String::new() };
            let mut add = |pieces: &[Piece], unit: &str| {
                let say = |(at_ms, words)| Phase { at_ms, words: format!("{group}{words}") };
                list.extend(words(pieces, unit).into_iter().map(say));
            };
            match numbers.rate.as_ref().or(numbers.course.as_ref()) {
                Some(phases) => add(&of_rate(phases), "starts/s"),
                None => add(&of_users(numbers), "users"),
            }
            let later = std::iter::once((numbers.delay, 0.0, 0.0));
            let paced: Vec<load::Phase> = later.chain(paces.1.iter().copied()).collect();
            add(&of_rate(&paced), "requests/s");
        }
        list.sort_by_key(|phase| phase.at_ms);
        list.truncate(MOST);
        let before = of(When::Setup).map(|((_, numbers), _)| numbers.users).sum();
        let first = |numbers: &Numbers| match (&numbers.rate, &numbers.spans) {
            (Some(phases), _) => load::Rate::new(phases.clone()).at(0).unwrap_or(0) / MS,
            (None, Some(spans)) => spans.iter().map(|(start, _)| *start).min().unwrap_or(0),
            (None, None) => numbers.delay / MS,
        };
        let first_ms = of(When::Main).map(|((_, numbers), _)| first(numbers)).min().unwrap_or(0);
        Phases { list, before, first_ms }
    }
}

/// Returns the levels and ramps of a rate that changes linearly.
fn of_rate(phases: &[load::Phase]) -> Vec<Piece> {
    let (mut at, mut pieces) = (0 as Nanos, Vec::new());
    for (length, begin, end) in phases {
        let at_ms = at / MS;
        pieces.push(Piece { at_ms, is_ramp: (end - begin).abs() > 1e-9, to: *end });
        at = at.saturating_add(*length);
    }
    pieces
}

/// Returns the levels and ramps of a number of users.
fn of_users(numbers: &Numbers) -> Vec<Piece> {
    let Some(spans) = &numbers.spans else {
        let ramp = (numbers.step.saturating_mul(numbers.users.into()) + MS / 2) / MS;
        let (at_ms, to) = (numbers.delay / MS, f64::from(numbers.users));
        let level = Piece { at_ms: at_ms + ramp, is_ramp: false, to };
        if ramp < AT_ONCE_MS {
            return vec![Piece { at_ms, ..level }];
        }
        return vec![Piece { at_ms, is_ramp: true, to }, level];
    };
    // A user whose end comes before its start never runs.
    let runs = || spans.iter().filter(|(start, end)| end > start);
    let mut starts: Vec<i64> = runs().map(|(start, _)| *start).collect();
    let mut ends: Vec<i64> = runs().map(|(_, end)| *end).filter(|end| *end < NEVER_MS).collect();
    starts.sort_unstable();
    ends.sort_unstable();
    let at = |time: i64| {
        let before = |all: &[i64]| all.partition_point(|one| *one <= time) as f64;
        before(&starts) - before(&ends)
    };
    let mut pieces = Vec::new();
    for (from, until) in stretches(&starts).into_iter().chain(stretches(&ends)) {
        let is_ramp = until - from >= AT_ONCE_MS;
        pieces.push(Piece { at_ms: from, is_ramp, to: at(until) });
        if is_ramp {
            pieces.push(Piece { at_ms: until, is_ramp: false, to: at(until) });
        }
    }
    pieces.sort_by_key(|piece| piece.at_ms);
    pieces
}

/// Groups sorted times into periods without long gaps. Returns the first and last time of each period.
fn stretches(times: &[i64]) -> Vec<(i64, i64)> {
    let mut gaps: Vec<i64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    gaps.retain(|gap| *gap > 0);
    gaps.sort_unstable();
    // If many users start at the same time and others later, the starts form steps. Otherwise gaps of the usual
    // length do not separate periods.
    let in_steps = (gaps.len() + 1) * 2 <= times.len();
    let usual = gaps.get(gaps.len() / 2).copied().unwrap_or(0);
    let most = if in_steps { AT_ONCE_MS - 1 } else { (2 * usual).max(AT_ONCE_MS - 1) };
    let mut found: Vec<(i64, i64)> = Vec::new();
    for time in times {
        match found.last_mut() {
            Some((_, until)) if time - *until <= most => *until = *time,
            _ => found.push((*time, *time)),
        }
    }
    found
}

/// Returns descriptions of the phases with their times; none if the load is constant.
fn words(pieces: &[Piece], unit: &str) -> Vec<(i64, String)> {
    let mut level = 0.0;
    let mut changes: Vec<(Piece, f64)> = Vec::new();
    let mut after_ramp = false;
    for piece in pieces {
        let same = (piece.to - level).abs() < 1e-9;
        if piece.is_ramp || !same || after_ramp && changes.last().is_some_and(|c| c.0.is_ramp) {
            changes.push((*piece, level));
        }
        after_ramp = piece.is_ramp;
        level = piece.to;
    }
    // The end of the group is not a phase.
    while changes.last().is_some_and(|(piece, _)| !piece.is_ramp && piece.to <= 0.0) {
        changes.pop();
    }
    if changes.len() == 1 && !changes[0].0.is_ramp && changes[0].0.at_ms <= 0 {
        return Vec::new();
    }
    let is_step = |(piece, before): &(Piece, f64)| !piece.is_ramp && piece.to > *before;
    let steps = changes.iter().filter(|change| is_step(change)).count();
    let mut step = 0;
    let mut say = |change: (Piece, f64)| {
        let (piece, before) = change;
        let to = format!("{} {unit}", plain(piece.to));
        let words = if is_step(&change) && steps > 1 {
            step += 1;
            format!("step {step} of {steps}: {to}")
        } else if !piece.is_ramp {
            format!("hold {to}")
        } else if piece.to < before {
            format!("ramp down to {to}")
        } else {
            format!("ramp to {to}")
        };
        (piece.at_ms, words)
    };
    changes.into_iter().map(&mut say).collect()
}

#[cfg(test)]
mod tests {
    use plan::element::Span;

    use super::*;

    fn users(spans: &[Span]) -> Vec<(i64, String)> {
        let numbers = Numbers { spans: Some(spans.to_vec()), ..Numbers::default() };
        words(&of_users(&numbers), "users")
    }

    fn said(of: &[(i64, String)]) -> Vec<(i64, &str)> {
        of.iter().map(|(at, words)| (*at, words.as_str())).collect()
    }

    #[test]
    fn steps_are_numbered() {
        let spans: Vec<Span> = (0..30).map(|nth| (nth / 10 * 5000, 60_000)).collect();
        let expected = [
            (0, "step 1 of 3: 10 users"),
            (5_000, "step 2 of 3: 20 users"),
            (10_000, "step 3 of 3: 30 users"),
        ];
        assert_eq!(said(&users(&spans)), expected);
        // Users that start one at a time form a ramp, even a very slow one.
        let spans: Vec<Span> = (0..10).map(|nth| (nth * 5000, 90_000)).collect();
        assert_eq!(said(&users(&spans)), [(0, "ramp to 10 users"), (45_000, "hold 10 users")]);
    }

    #[test]
    fn rows_of_a_table_rise_and_fall() {
        let row = |from: i64, until: i64| (0..10).map(move |n| (from + n * 500, until + n * 500));
        let spans: Vec<Span> = row(0, 40_000).chain(row(20_000, 60_000)).collect();
        let expected = [
            (0, "ramp to 10 users"),
            (4_500, "hold 10 users"),
            (20_000, "ramp to 20 users"),
            (24_500, "hold 20 users"),
            (40_000, "ramp down to 10 users"),
            (44_500, "hold 10 users"),
            (60_000, "ramp down to 0 users"),
        ];
        assert_eq!(said(&users(&spans)), expected);
    }

    #[test]
    fn a_load_that_does_not_change_has_no_phases() {
        assert_eq!(users(&[(0, 60_000); 20]), []);
        let numbers = Numbers { users: 20, ..Numbers::default() };
        assert_eq!(words(&of_users(&numbers), "users"), []);
        assert_eq!(words(&of_rate(&[(10, 5.0, 5.0)]), "starts/s"), []);
    }

    #[test]
    fn a_rate_rises_in_steps_or_in_a_line() {
        const S: i64 = 1_000_000_000;
        let steps = load::Rate::rising(90.0, 30 * S, Some(3), 60 * S);
        let expected = [
            (0, "step 1 of 3: 30 starts/s"),
            (10_000, "step 2 of 3: 60 starts/s"),
            (20_000, "step 3 of 3: 90 starts/s"),
        ];
        assert_eq!(said(&words(&of_rate(steps.phases()), "starts/s")), expected);
        let line = load::Rate::rising(90.0, 30 * S, None, 60 * S);
        let expected = [(0, "ramp to 90 starts/s"), (30_000, "hold 90 starts/s")];
        assert_eq!(said(&words(&of_rate(line.phases()), "starts/s")), expected);
    }
}
