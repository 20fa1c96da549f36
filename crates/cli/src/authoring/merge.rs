//! `throng merge`: a three-way merge of plans, for people and as git's merge driver.
//!
//! With conflicts the result has our values, the conflicts are printed, and the exit code is 1, from which git knows that
//! the file needs a decision.

use author::merge::{Conflict, merge};

use super::file::{create, read, rewrite};
use crate::args::flags::MergeFlags;
use crate::exit::Exit;
use crate::print::terminal;

/// Merges three plans into the file of our plan, or into another file.
pub(crate) fn run(flags: &MergeFlags) -> Exit {
    match merged(flags) {
        Ok(conflicts) => {
            if flags.json {
                let text = serde_json::to_string_pretty(&conflicts).unwrap_or_default();
                terminal::json(&(text + "\n"));
            } else {
                let text: String = conflicts.iter().map(Conflict::text).collect();
                terminal::err(&text);
            }
            if conflicts.is_empty() { Exit::Ok } else { Exit::Bug }
        }
        Err(message) => {
            terminal::error(&message);
            Exit::Usage
        }
    }
}

fn merged(flags: &MergeFlags) -> Result<Vec<Conflict>, String> {
    let (base, ours, theirs) = (read(&flags.base)?, read(&flags.ours)?, read(&flags.theirs)?);
    let merged = merge(&base, &ours, &theirs).map_err(|refusal| refusal.message)?;
    let bytes = merged.plan.bytes();
    match &flags.output {
        Some(file) => create(file, &bytes, None)?,
        None => rewrite(&flags.ours, &ours.bytes(), &bytes)?,
    }
    Ok(merged.conflicts)
}
