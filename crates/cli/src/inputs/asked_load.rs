//! Describes a load that replaces the plan's load, at the start of a run and in `throng check`.

use std::path::Path;

use engine::{Changed, Evaluated};
use plan::load::{LoadOverrides, LoadSettings};
use plan::number::{OddNumber, Setting};
use plan::plan::{Phase, Plan};

use crate::inputs::load::{self, Loaded};
use crate::inputs::properties::Properties;

/// Returns a line for each thread group whose load differs from the plan's.
pub(crate) fn lines(changed: &[Changed]) -> Vec<String> {
    let line = |Changed { group, before, after }: &Changed| {
        let of = if changed.len() > 1 { format!("{group}: ") } else { String::new() };
        match after {
            Some(after) => format!("load: {of}{after} (plan: {before})"),
            None => format!("load: {of}left out (plan: {before})"),
        }
    };
    changed.iter().map(line).collect()
}

/// Returns true if the load replaces a setting that is not a number, or leaves its thread group out.
pub(crate) fn voids(
    given: &LoadOverrides,
    plan: &Plan,
    evaluated: &Evaluated,
    odd: &OddNumber,
) -> bool {
    if plan.groups.get(odd.group).is_none_or(|group| group.phase != Phase::Main) {
        return false;
    }
    let group = evaluated.names_by_group().nth(odd.group);
    let own = given.groups.iter().find(|(name, _)| group == Some(name.as_str()));
    let ask = own.map_or(Some(&given.all), |(_, ask)| ask.as_ref());
    ask.is_none_or(|ask| replaces(ask, odd.setting))
}

/// Returns true if a load replaces a setting of the thread group.
fn replaces(ask: &LoadSettings, what: Setting) -> bool {
    let is_rate = ask.rate.is_some();
    match what {
        Setting::Threads => is_rate || ask.users.is_some(),
        Setting::RampUp => is_rate || ask.ramp.is_some(),
        Setting::Loops => is_rate || ask.iterations.is_some() || ask.length().is_some(),
        Setting::Duration => ask.length().is_some(),
        Setting::Delay => false,
    }
}

/// Returns the evaluated plan with the load that replaces the plan's, for a plan that is only checked, and a line for
/// each thread group whose load differs. `None` if no load is given.
pub(crate) fn of_plan(
    loaded: &Loaded,
    properties: &Properties,
    path: &Path,
    given: &LoadOverrides,
) -> Result<Option<(Evaluated, Vec<String>)>, String> {
    let Some(plan) = loaded.plan.as_ref().filter(|_| !given.is_empty()) else {
        return Ok(None);
    };
    let options = engine::Options {
        properties: properties.to_map(),
        base_dir: load::folder(path),
        ..engine::Options::default()
    };
    let mut evaluated = engine::evaluate(plan, &options);
    let lines = lines(&evaluated.give(plan, given)?);
    Ok(Some((evaluated, lines)))
}
