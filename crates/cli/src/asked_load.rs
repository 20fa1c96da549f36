//! Describes a load that replaces the plan's load, at the start of a run and in `throng check`.

use std::path::Path;

use engine::Changed;
use plan::load::LoadOverrides;

use crate::load::Loaded;
use crate::properties::Properties;

/// Returns a line for each thread group whose load differs from the plan's.
pub(crate) fn lines(changed: &[Changed]) -> Vec<String> {
    let line = |Changed { group, before, after }: &Changed| {
        let of = if changed.len() > 1 { format!("{group}: ") } else { String::new() };
        match after {
            Some(after) => format!("load: {of}{after}, instead of the plan's {before}"),
            None => format!("load: {of}left out, instead of the plan's {before}"),
        }
    };
    changed.iter().map(line).collect()
}

/// Returns a line for each thread group whose load differs from the plan's, for a plan that is only checked.
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
