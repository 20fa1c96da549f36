//! `throng set`, `throng replace` and `throng fmt`: changes of plans, which touch only the bytes of what they change.

use std::path::Path;

use author::diff::diff;
use author::layout::format;
use author::replace::{Search, hits, replace};
use author::{NewKind, Op, Plan};

use super::file::{read, rewrite};
use crate::args::flags::{FmtFlags, PropType, ReplaceFlags, SetFlags};
use crate::exit::Exit;
use crate::print::terminal;

/// Sets properties, name and state of one element, and prints the changes.
pub(crate) fn run_set(flags: &SetFlags) -> Exit {
    finish(set(flags).map(|()| Exit::Ok))
}

fn finish(result: Result<Exit, String>) -> Exit {
    result.unwrap_or_else(|message| {
        terminal::error(&message);
        Exit::Usage
    })
}

fn set(flags: &SetFlags) -> Result<(), String> {
    let old = read(&flags.plan)?;
    let element = old.find(&flags.element).map_err(|refusal| refusal.message)?;
    let create = flags.create.map(|kind| match kind {
        PropType::String => NewKind::String,
        PropType::Bool => NewKind::Bool,
        PropType::Int => NewKind::Int,
        PropType::Long => NewKind::Long,
    });
    let mut ops = Vec::new();
    for setting in &flags.settings {
        let Some((prop, value)) = setting.split_once('=') else {
            return Err(format!("{setting} is not PROPERTY=VALUE"));
        };
        ops.push(Op::Set { element, prop: prop.into(), value: value.into(), create });
    }
    ops.extend(flags.unset.iter().map(|prop| Op::Unset { element, prop: prop.clone() }));
    ops.extend(flags.rename.iter().map(|name| Op::Rename { element, name: name.clone() }));
    if flags.enable || flags.disable {
        ops.push(Op::Enable { element, enabled: flags.enable });
    }
    if ops.is_empty() {
        return Err("nothing to set: add PROPERTY=VALUE, --rename, --enable or --disable".into());
    }
    let mut new = old.clone();
    for op in &ops {
        new.apply(op).map_err(|refusal| refusal.message)?;
    }
    terminal::out(&diff(&old, &new).text());
    save(&flags.plan, &old, &new, !flags.dry_run)
}

fn save(path: &Path, old: &Plan, new: &Plan, is_wanted: bool) -> Result<(), String> {
    if is_wanted { rewrite(path, &old.bytes(), &new.bytes()) } else { Ok(()) }
}

/// Replaces text in plans, or prints the replacements.
pub(crate) fn run_replace(flags: &ReplaceFlags) -> Exit {
    let mut count = 0;
    for path in &flags.plans {
        match replace_in(path, flags) {
            Ok(found) => count += found,
            Err(message) => return finish(Err(message)),
        }
    }
    let values = if count == 1 { "value" } else { "values" };
    let advice = if flags.write || count == 0 { "" } else { "; --write changes them" };
    terminal::err(&format!("{count} {values}{advice}\n"));
    Exit::Ok
}

/// Returns the number of values with a match.
fn replace_in(path: &Path, flags: &ReplaceFlags) -> Result<usize, String> {
    let old = read(path)?;
    let under = flags.under.as_ref().map(|under| old.find(under)).transpose();
    let search = Search {
        pattern: flags.pattern.clone(),
        is_regex: flags.regex,
        ignore_case: flags.ignore_case,
        replacement: flags.replacement.clone(),
        names: flags.names,
        prop: flags.prop.clone(),
        under: under.map_err(|refusal| refusal.message)?,
    };
    let found = hits(&old, &search).map_err(|refusal| refusal.message)?;
    let mut new = old.clone();
    if flags.write {
        replace(&mut new, &search).map_err(|refusal| refusal.message)?;
        rewrite(path, &old.bytes(), &new.bytes())?;
    }
    for hit in &found {
        let place = format!("{}:{}: {}: {}", path.display(), hit.line, hit.path, hit.prop);
        terminal::out(&format!("{place}\n  - {}\n  + {}\n", hit.before, hit.after));
    }
    Ok(found.len())
}

/// Writes plans in canonical form, or checks them.
pub(crate) fn run_fmt(flags: &FmtFlags) -> Exit {
    let mut exit = Exit::Ok;
    for path in &flags.plans {
        match tidy(path, flags.check) {
            Ok(true) => {}
            Ok(false) if flags.check => {
                terminal::out(&format!("{} is not formatted\n", path.display()));
                exit = Exit::Criteria;
            }
            Ok(false) => terminal::out(&format!("formatted {}\n", path.display())),
            Err(message) => return finish(Err(message)),
        }
    }
    exit
}

/// Formats a plan. Returns true if it was formatted before.
fn tidy(path: &Path, is_check: bool) -> Result<bool, String> {
    let plan = read(path)?;
    let text = format(&plan).map_err(|refusal| refusal.message)?;
    let before = plan.bytes();
    if *before == *text.as_bytes() {
        return Ok(true);
    }
    if !is_check {
        rewrite(path, &before, text.as_bytes())?;
    }
    Ok(false)
}
