//! Describes a load that replaces the plan's load, at the start of a run and in `throng check`.

use std::path::Path;

use engine::Changed;
use plan::load::{LoadOverrides, LoadSettings};
use plan::number::Setting;
use plan::plan::{Group, Phase, Plan};

use crate::load::Loaded;
use crate::properties::Properties;

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

/// Returns true if a message about a number of a thread group ([`Setting::complaint`], after the group's path) does
/// not apply, because the load replaces the number or leaves the group out.
pub(crate) fn voids(given: &LoadOverrides, plan: &Plan, complaint: &str) -> bool {
    let is_void = |group: &Group| {
        let message = complaint.strip_prefix(group.path.as_str());
        let Some(message) = message.and_then(|rest| rest.strip_prefix(": the ")) else {
            return false;
        };
        let own = given.groups.iter().find(|(name, _)| group.name.fixed() == Some(name.as_str()));
        let ask = own.map_or(Some(&given.all), |(_, ask)| ask.as_ref());
        let mut about = Setting::ALL.into_iter().filter(|what| message.starts_with(what.name()));
        about.any(|what| ask.is_none_or(|ask| replaces(ask, what)))
    };
    plan.groups.iter().filter(|group| group.phase == Phase::Main).any(is_void)
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

/// Returns a line for each thread group whose load differs from the plan's load, for a plan that is only checked.
pub(crate) fn of_plan(
    loaded: &Loaded,
    properties: &Properties,
    path: &Path,
    given: &LoadOverrides,
) -> Result<Vec<String>, String> {
    let Some(plan) = loaded.plan.as_ref().filter(|_| !given.is_empty()) else {
        return Ok(Vec::new());
    };
    let options = engine::Options {
        properties: properties.all().map(|(key, value)| (key.into(), value.into())).collect(),
        base_dir: path.parent().map(Path::to_path_buf).unwrap_or_default(),
        ..engine::Options::default()
    };
    let mut evaluated = engine::evaluate(plan, &options);
    Ok(lines(&evaluated.give(plan, given)?))
}
