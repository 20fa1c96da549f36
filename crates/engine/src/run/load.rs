//! Load that is set outside the plan, applied to the evaluated plan: numbers of users, start times, iterations, rates.
//!
//! This happens once, before any user starts, so that all processes of a run get the same load. setUp and tearDown
//! groups keep the plan's load.

use std::time::Duration;

use plan::element::Span;
use plan::load::{LoadOverrides, LoadSettings, MAX_USERS, Rate, shares};
use plan::plan::{ControllerKind, Group, LoopCount, Phase, Plan, Profile};

use crate::run::evaluated::{Evaluated, Numbers};
use crate::time::clock::{MS, Nanos, SECOND};

/// A time that no run reaches, in milliseconds.
pub(super) const NEVER_MS: i64 = 100 * 365 * 86_400_000;
/// Assumed duration of an iteration in seconds, to estimate the concurrent users of a rate.
const STAY_S: f64 = 30.0;

/// The load of a group before and after a change, as descriptions for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    pub group: String,
    pub before: String,
    /// The load after the change; `None` if the group does not run.
    pub after: Option<String>,
}

/// The load of a main group at the start of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// Index of the group in the plan.
    pub group: u32,
    pub name: String,
    pub users: u32,
    /// Maximum rate in starts per second, if the group starts iterations at a rate that can be changed.
    pub rate: Option<f64>,
    /// True if the plan schedules the starts of iterations, independently of its users.
    pub scheduled: bool,
}

impl Evaluated {
    /// Returns the load of each main group that starts users.
    pub fn levels(&self, plan: &Plan) -> Vec<Level> {
        let groups = (0..).zip(&plan.groups).zip(&self.groups);
        let main = groups
            .filter(|((_, group), numbers)| group.phase == Phase::Main && numbers.at_once > 0);
        let level = |((at, group), numbers): ((u32, &Group), &Numbers)| Level {
            group: at,
            name: numbers.name.clone(),
            users: numbers.at_once,
            rate: numbers.arrivals.map(|_| numbers.most_starts()),
            scheduled: numbers.arrivals.is_some()
                || !numbers.given && matches!(group.profile, Profile::Open { .. }),
        };
        main.map(level).collect()
    }

    /// Replaces the load of the plan's main groups by the given load. Returns the changes. The error is a message
    /// for the user.
    pub fn give(&mut self, plan: &Plan, given: &LoadOverrides) -> Result<Vec<Changed>, String> {
        let main: Vec<usize> =
            (0..plan.groups.len()).filter(|at| plan.groups[*at].phase == Phase::Main).collect();
        let mut asks = self.asks_by_name(&main, given)?;
        self.divide(&mut asks, &given.all).map_err(|words| given.place("") + &words)?;
        let mut changed = Vec::new();
        for (at, ask) in asks {
            let group = &plan.groups[at];
            let loops = loops_of(plan, group);
            let numbers = &mut self.groups[at];
            let before = words(numbers, loops);
            let Some(ask) = ask else {
                let name = numbers.name.clone();
                *numbers = Numbers { name: name.clone(), given: true, ..Numbers::default() };
                changed.push(Changed { group: name, before, after: None });
                continue;
            };
            if ask.is_empty() {
                continue;
            }
            let place = given.place(&numbers.name);
            ask.check().map_err(|words| place.clone() + &in_group(&numbers.name, &words))?;
            if is_scheduled(group) && ask.users.is_none() && ask.rate.is_none() {
                let words = "it has a schedule of its own, and ramp, length or iterations cannot be changed; set --rps \
                    or --users too";
                return Err(place + &in_group(&numbers.name, words));
            }
            match ask.rate {
                Some(rate) => {
                    at_rate(numbers, &ask, rate).map_err(|words| place + &words)?;
                }
                None => with_users(numbers, &ask, group),
            }
            let after = Some(words(numbers, loops));
            changed.push(Changed { group: numbers.name.clone(), before, after });
        }
        Ok(changed)
    }

    /// Returns, for each main group, the load that the user has set by its name. Groups without such a load get empty
    /// settings; `None` leaves a group without users. The error is about a name that no main group has, or several
    /// have.
    fn asks_by_name(
        &self,
        main: &[usize],
        given: &LoadOverrides,
    ) -> Result<Vec<(usize, Option<LoadSettings>)>, String> {
        let names = || main.iter().map(|at| self.groups[*at].name.as_str());
        for (name, _) in &given.groups {
            match names().filter(|known| known == name).count() {
                1 => {}
                0 => {
                    let known = names().map(|name| format!("{name:?}")).collect::<Vec<_>>();
                    return Err(format!(
                        "{}the plan has no thread group {name:?} that generates load; it has {}",
                        given.place(name),
                        known.join(", ")
                    ));
                }
                n => {
                    let place = given.place(name);
                    return Err(format!(
                        "{place}{n} thread groups of the plan are called {name:?}; give them different names"
                    ));
                }
            }
        }
        let of = |at: &usize| {
            let own = given.groups.iter().find(|(name, _)| *name == self.groups[*at].name);
            (*at, own.map_or(Some(LoadSettings::default()), |(_, ask)| ask.clone()))
        };
        Ok(main.iter().map(of).collect())
    }

    /// Divides the load that is set for all groups among the groups without a load by name, in proportion to their
    /// users in the plan.
    fn divide(
        &self,
        asks: &mut [(usize, Option<LoadSettings>)],
        all: &LoadSettings,
    ) -> Result<(), String> {
        if all.is_empty() {
            return Ok(());
        }
        all.check()?;
        let rest: Vec<usize> = (0..asks.len())
            .filter(|nth| asks[*nth].1.as_ref().is_some_and(LoadSettings::is_empty))
            .collect();
        if rest.is_empty() {
            return Err("all thread groups have loads of their own; the load for all groups applies to none".into());
        }
        let mut weights: Vec<u64> =
            rest.iter().map(|nth| self.groups[asks[*nth].0].at_once.into()).collect();
        if weights.iter().all(|weight| *weight == 0) {
            weights.fill(1);
        }
        let sum = weights.iter().sum::<u64>() as f64;
        let users = all.users.map(|users| shares(users.into(), &weights));
        let bounds = all.max_users.map(|users| shares(users.into(), &weights));
        let starts = all.iterations.filter(|_| all.rate.is_some());
        let starts = starts.map(|starts| shares(starts.into(), &weights));
        for (place, nth) in rest.into_iter().enumerate() {
            let share = |shares: &Vec<u64>| shares[place] as u32;
            asks[nth].1 = Some(LoadSettings {
                users: users.as_ref().map(share),
                rate: all.rate.map(|rate| rate * weights[place] as f64 / sum),
                max_users: bounds.as_ref().map(share).map(|users| users.max(1)),
                iterations: starts.as_ref().map(share).or(all.iterations),
                ..all.clone()
            });
        }
        Ok(())
    }
}

fn in_group(name: &str, words: &str) -> String {
    format!("thread group {name:?}: {words}")
}

fn nanos(time: Duration) -> Nanos {
    Nanos::try_from(time.as_nanos()).unwrap_or(Nanos::MAX).min(NEVER_MS * MS)
}

impl Numbers {
    /// Returns the time in which all users start, in nanoseconds.
    fn ramp(&self) -> Nanos {
        match &self.spans {
            Some(spans) => spans.iter().map(|(start, _)| *start).max().unwrap_or(0) * MS,
            None => self.step * Nanos::from(self.users),
        }
    }

    /// Returns the duration of the group in nanoseconds, if it is known.
    pub(super) fn length(&self) -> Option<Nanos> {
        match (&self.spans, self.arrivals) {
            (_, Some((_, _, end))) => Some(end * MS),
            (Some(spans), None) => spans.iter().map(|(_, end)| *end * MS).max(),
            (None, None) => self.duration,
        }
    }

    /// Returns true if users of the group loop until the run is stopped.
    pub(super) fn is_endless(&self) -> bool {
        let is_without_end = self.loops.map_or(self.endless, |loops| loops == -1);
        is_without_end && self.length().is_none()
    }
}

/// Replaces a group's load by starts at a rate.
fn at_rate(numbers: &mut Numbers, ask: &LoadSettings, rate: f64) -> Result<(), String> {
    let ramp = ask.ramp.map_or(0, nanos);
    let length = ask.length().map(nanos).or_else(|| {
        // A limit on the number of starts also ends the group.
        if ask.iterations.is_some() { Some(NEVER_MS * MS) } else { numbers.length() }
    });
    let Some(length) = length else {
        return Err(in_group(
            &numbers.name,
            "a rate needs an end, and the plan has no duration: add --duration, --hold or --iterations",
        ));
    };
    let most = ask.max_users.unwrap_or(MAX_USERS);
    let busy = (rate * STAY_S).ceil().clamp(1.0, f64::from(most)) as u32;
    let mut phases = Rate::rising(rate, ramp, ask.steps, length).phases().to_vec();
    if numbers.delay > 0 {
        phases.insert(0, (numbers.delay, 0.0, 0.0));
    }
    // Rounded up to whole milliseconds, so that the last part of a millisecond is not lost.
    let end = (numbers.delay.saturating_add(length) + MS - 1) / MS;
    let starts = ask.iterations.map_or(0, u64::from);
    let none = rate <= 0.0 || length == 0 || ask.iterations == Some(0);
    *numbers = Numbers {
        name: std::mem::take(&mut numbers.name),
        users: if none { 0 } else { most },
        spans: Some(Vec::new()),
        arrivals: Some((most, starts, if none { 0 } else { end })),
        at_once: if none { 0 } else { busy },
        given: true,
        rate: Some(phases),
        loops: Some(-1),
        ..Numbers::default()
    };
    Ok(())
}

/// Returns true if the plan schedules the starts of iterations, independently of its users.
fn is_scheduled(group: &Group) -> bool {
    matches!(group.profile, Profile::Open { .. } | Profile::Arrivals(_))
}

/// Replaces a group's load by a number of users. Each user starts its next iteration when it has finished the previous
/// one.
fn with_users(numbers: &mut Numbers, ask: &LoadSettings, group: &Group) {
    let own = numbers.at_once;
    let users = ask.users.unwrap_or(own);
    let is_rate = is_scheduled(group);
    let shaped = is_rate || ask.ramp.is_some() || ask.length().is_some();
    // In a group with a rate, the plan gives each user one iteration per start.
    let forever = (is_rate || ask.length().is_some()).then_some(-1);
    numbers.loops = ask.iterations.map(|n| i32::try_from(n).unwrap_or(i32::MAX)).or(forever);
    numbers.replaces &= ask.iterations.is_none();
    if !shaped {
        match &mut numbers.spans {
            Some(spans) => *spans = stretched(spans, users),
            None => numbers.step = numbers.ramp() / Nanos::from(users.max(1)),
        }
        (numbers.users, numbers.at_once, numbers.given) = (users, users, true);
        return;
    }
    let ramp = match ask.ramp {
        Some(ramp) => nanos(ramp),
        None if is_rate => 0,
        None => numbers.ramp(),
    };
    let length = ask.length().map(nanos).or_else(|| numbers.length());
    let spans = ask.steps.map(|steps| in_steps(users, ramp, steps.max(1), length));
    *numbers = Numbers {
        name: std::mem::take(&mut numbers.name),
        users,
        step: ramp / Nanos::from(users.max(1)),
        delay: numbers.delay,
        duration: length,
        at_once: users,
        spans,
        given: true,
        loops: numbers.loops,
        endless: numbers.endless,
        ..Numbers::default()
    };
}

/// Scales a table of users to another number of users, keeping its shape.
fn stretched(spans: &[Span], users: u32) -> Vec<Span> {
    let own = spans.len() as u64;
    if own == 0 {
        return Vec::new();
    }
    (0..u64::from(users)).map(|nth| spans[(nth * own / u64::from(users)) as usize]).collect()
}

/// Returns the start and end of users that start in equal steps: the first step at once, the last step one step length
/// before the ramp ends.
fn in_steps(users: u32, ramp: Nanos, steps: u32, length: Option<Nanos>) -> Vec<Span> {
    let end = length.map_or(NEVER_MS, |length| length / MS);
    let steps = i64::from(steps);
    let step_of = |nth: u32| i64::from(nth) * steps / i64::from(users.max(1));
    (0..users).map(|nth| (ramp / MS * step_of(nth) / steps, end)).collect()
}

/// Returns the number of iterations per user, if it is constant in the plan.
fn loops_of(plan: &Plan, group: &Group) -> Option<i64> {
    match &plan.controllers[group.main.0 as usize].kind {
        ControllerKind::Loop { count: LoopCount::Forever, .. } => Some(-1),
        ControllerKind::Loop { count: LoopCount::Count(text), .. } => text.fixed()?.parse().ok(),
        _ => None,
    }
}

/// Returns a description of a group's load for the user.
fn words(numbers: &Numbers, loops: Option<i64>) -> String {
    let mut out = Vec::new();
    let mut starts = None;
    match (&numbers.rate, numbers.arrivals) {
        (Some(phases), Some((most, number, _))) => {
            let rate = Rate::new(phases.clone()).most();
            out.push(format!("{} starts/s", plain(rate)));
            let rising = phases.len() - usize::from(phases.len() > 1);
            let ramp: Nanos = phases[..rising].iter().map(|(length, ..)| *length).sum();
            if phases.len() > 1 || phases.first().is_some_and(|(_, begin, end)| begin != end) {
                out.push(format!("ramp {}", time(ramp)));
            }
            out.push(format!("with at most {most} users"));
            starts = (number > 0).then(|| format!("{number} starts in total"));
        }
        (None, Some(_)) => out.push("arrivals by the plan's schedule".into()),
        _ => {
            let n = numbers.at_once;
            out.push(format!("{n} {}", if n == 1 { "user" } else { "users" }));
            let ramp = numbers.ramp();
            if ramp > 0 {
                out.push(format!("ramp {}", time(ramp)));
            }
        }
    }
    match numbers.length().filter(|length| *length < NEVER_MS * MS) {
        Some(length) => out.push(format!("for {}", time(length))),
        None if starts.is_none() && numbers.loops.map(i64::from).or(loops) == Some(-1) => {
            out.push("endless".into());
        }
        None => {}
    }
    let loops = numbers.loops.map(i64::from).or(loops);
    match loops.filter(|loops| *loops >= 0 && numbers.arrivals.is_none()) {
        Some(1) => out.push("1 iteration each".into()),
        Some(loops) => out.push(format!("{loops} iterations each")),
        None => {}
    }
    out.extend(starts);
    out.join(", ")
}

pub(super) fn plain(number: f64) -> String {
    let text = format!("{number:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// Formats a time as on the command line: `1h30m`, `2.5s`, `500ms`.
fn time(length: Nanos) -> String {
    if length > 0 && length < SECOND {
        return format!("{}ms", (length + MS / 2) / MS);
    }
    let (hours, rest) = (length / (3600 * SECOND), length % (3600 * SECOND));
    let (minutes, rest) = (rest / (60 * SECOND), rest % (60 * SECOND));
    let seconds = plain(rest as f64 / 1e9);
    let mut out = String::new();
    for (number, unit) in [(hours.to_string(), "h"), (minutes.to_string(), "m"), (seconds, "s")] {
        if number != "0" {
            out.push_str(&number);
            out.push_str(unit);
        }
    }
    if out.is_empty() { "0s".into() } else { out }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_divided_as_the_plans_are() {
        assert_eq!(shares(100, &[1, 1]), [50, 50]);
        assert_eq!(shares(100, &[10, 20, 5]), [29, 57, 14]);
        assert_eq!(shares(1, &[3, 3]), [1, 0]);
        assert_eq!(shares(7, &[0, 2]), [0, 7]);
        assert_eq!(shares(0, &[1]), [0]);
        assert_eq!(
            shares(u64::from(u32::MAX), &[u64::from(u32::MAX); 3]).iter().sum::<u64>(),
            u64::from(u32::MAX)
        );
    }

    #[test]
    fn times_are_written_as_they_are_given() {
        let of = |ms: i64| time(ms * MS);
        let shown = [0, 500, 30_000, 90_000, 5_400_000, 2_500].map(of);
        assert_eq!(shown, ["0s", "500ms", "30s", "1m30s", "1h30m", "2.5s"]);
    }

    #[test]
    fn users_in_steps_start_together() {
        let spans = in_steps(4, 4 * SECOND, 2, Some(10 * SECOND));
        assert_eq!(spans, [(0, 10_000), (0, 10_000), (2_000, 10_000), (2_000, 10_000)]);
    }

    #[test]
    fn a_table_keeps_its_shape() {
        let spans = [(0, 10), (5, 20)];
        assert_eq!(stretched(&spans, 4), [(0, 10), (0, 10), (5, 20), (5, 20)]);
        assert_eq!(stretched(&spans, 1), [(0, 10)]);
        assert_eq!(stretched(&[], 3), []);
    }
}
