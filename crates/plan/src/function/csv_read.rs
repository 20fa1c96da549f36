//! `__CSVRead`: reads files into memory once and hands out their rows to users in turn.
//!
//! All users of an alias share its rows; each user keeps its row until it requests the next. As in JMeter, a file
//! ends at its first empty line, rows are split at each delimiter even inside quotes, and rows repeat.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::split::tokens;
use super::{Call, Level, Shared};
use crate::env::Env;
use crate::template::Outcome;

/// Rows of a file that `__CSVRead` has read.
#[derive(Debug)]
pub(super) struct Table {
    rows: Vec<Vec<Box<str>>>,
    next: AtomicU64,
}

/// All files that `__CSVRead` has opened.
#[derive(Debug, Default)]
pub(super) struct Tables {
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    by_alias: Vec<(Box<str>, Arc<Table>)>,
    /// Name of the file that was opened first. A call without a file name uses this file if no other file is open.
    first: Option<Box<str>>,
}

/// A file that one user has opened, and the user's row.
#[derive(Debug)]
pub(super) struct Attached {
    alias: Box<str>,
    table: Arc<Table>,
    row: Option<u32>,
}

/// Runs `__CSVRead(file or *alias, column | next | *alias)`; columns count from 0.
pub(super) fn read(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let (file, action) = (call.arg(0, env)?, call.arg(1, env)?);
    if action.starts_with('*') {
        let file = env.shared.tables().or_default(&file, env.shared);
        attach(&file, &action, env);
    } else if action == "next" || action == "next()" {
        let file = env.shared.tables().or_default(&file, env.shared);
        match env.memory.attached(&file) {
            Some(attached) => attached.row = None,
            None => env.shared.log(Level::Warn, format!("__CSVRead: no entry for {file}")),
        }
    } else {
        column(&file, &action, env, out);
    }
    env.core.give(action);
    env.core.give(file);
    Ok(())
}

fn column(file: &str, action: &str, env: &mut Env<'_>, out: &mut String) {
    let Ok(column) = action.parse::<i32>() else {
        return env
            .shared
            .log(Level::Warn, format!("__CSVRead: can't parse column number: {action}"));
    };
    if env.memory.attached(file).is_none() {
        if file.starts_with('*') {
            return env
                .shared
                .log(Level::Warn, format!("Cannot perform initial open using alias {file}"));
        }
        let file = env.shared.tables().or_default(file, env.shared);
        attach(&file, &file, env);
        if let Some(attached) = env.memory.attached(&file) {
            attached.column(column, env.shared, out);
        }
    } else if let Some(attached) = env.memory.attached(file) {
        attached.column(column, env.shared, out);
    }
}

/// Opens a file under an alias for the user, unless the user already has a file with that alias.
fn attach(file: &str, alias: &str, env: &mut Env<'_>) {
    if env.memory.attached(alias).is_some() {
        return;
    }
    match env.shared.tables().open(file, alias, env.shared) {
        Ok(table) => env.memory.attach(Attached { alias: alias.into(), table, row: None }),
        Err(words) => {
            env.shared.log(Level::Warn, format!("__CSVRead: cannot read {file}: {words}"));
        }
    }
}

impl Attached {
    pub(super) fn is(&self, alias: &str) -> bool {
        *self.alias == *alias
    }

    fn column(&mut self, column: i32, shared: &Shared, out: &mut String) {
        let row = *self.row.get_or_insert_with(|| self.table.next_row(shared));
        let value = self
            .table
            .rows
            .get(row as usize)
            .and_then(|row| row.get(usize::try_from(column).ok()?));
        match value {
            Some(value) => out.push_str(value),
            None => shared.log(
                Level::Warn,
                format!("__CSVRead: invalid column number: {column} at row {row}"),
            ),
        }
    }
}

impl Tables {
    /// Returns `file`, or the name of the only open file if `file` is empty.
    fn or_default<'f>(&self, file: &'f str, shared: &Shared) -> Cow<'f, str> {
        if !file.is_empty() {
            return Cow::Borrowed(file);
        }
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        match (&open.first, open.by_alias.len()) {
            (Some(first), 1) => Cow::Owned(first.to_string()),
            _ => {
                shared.log(Level::Error, "__CSVRead: Cannot determine default file name");
                Cow::Borrowed(file)
            }
        }
    }

    fn open(&self, file: &str, alias: &str, shared: &Shared) -> Result<Arc<Table>, String> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, table)) = open.by_alias.iter().find(|(known, _)| **known == *alias) {
            return Ok(Arc::clone(table));
        }
        let delimiter = shared.started_with("csvread.delimiter").map_or(",", str::trim);
        let table = Arc::new(Table::load(&place(file, &shared.base_dir), delimiter)?);
        open.by_alias.push((alias.into(), Arc::clone(&table)));
        open.first.get_or_insert_with(|| file.into());
        Ok(table)
    }
}

/// Returns the path of a file: as written in the plan, or in the plan's folder.
fn place(file: &str, base: &Path) -> PathBuf {
    let path = PathBuf::from(file);
    if path.is_absolute() || path.exists() { path } else { base.join(path) }
}

impl Table {
    fn load(path: &Path, delimiter: &str) -> Result<Self, String> {
        let text = crate::input::read_to_string(path).map_err(|error| error.to_string())?;
        let rows = text
            .lines()
            .take_while(|line| !line.is_empty())
            .map(|line| fields(line, delimiter))
            .collect();
        Ok(Self { rows, next: AtomicU64::new(0) })
    }

    fn next_row(&self, shared: &Shared) -> u32 {
        let nth = shared.dealt(self.next.fetch_add(1, Ordering::Relaxed));
        (nth % self.rows.len().max(1) as u64) as u32
    }
}

fn fields(line: &str, delimiter: &str) -> Vec<Box<str>> {
    let mut fields = Vec::new();
    let mut after_delimiter = true;
    for token in tokens(line, delimiter) {
        let is_delimiter = token == delimiter;
        if !is_delimiter || after_delimiter {
            fields.push(if is_delimiter { "".into() } else { token.into() });
        }
        after_delimiter = is_delimiter;
    }
    if after_delimiter {
        fields.push("".into());
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_at_each_delimiter() {
        for (line, expected) in [
            ("a,b", &["a", "b"][..]),
            (",a,,b,", &["", "a", "", "b", ""]),
            ("\"a,b\"", &["\"a", "b\""]),
            ("", &[""]),
        ] {
            assert_eq!(
                fields(line, ",").iter().map(|field| &**field).collect::<Vec<_>>(),
                expected,
                "{line}"
            );
        }
    }
}
