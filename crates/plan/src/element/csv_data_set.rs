//! CSV Data Set Config: reads the next line of a file at the start of each iteration of the enclosing loop.
//!
//! The sharing mode defines which users share a position in the file: all users, the users of a group, each user
//! alone, or all elements with the same custom name. A file is read into memory at its first use. An atomic counter
//! assigns the lines, so that cores do not wait for each other.
//!
//! A blank line counts as the end of the file unless values may be quoted, because JMeter splits a blank line into
//! no values.

mod dealt;
mod file;
mod parse;
mod source;

use std::sync::Arc;

use jmx::ElementId;

use crate::compile::Context;
use crate::env::Env;
use crate::event::Stop;
use crate::plan::GroupId;
use crate::template::Template;
use crate::template::flag::{self, Flag};
use crate::vars::VarId;

pub use dealt::{DealtFile, UnsplittableFile};
use source::Key;
pub(crate) use source::Sources;

/// Number of characters of an invalid line that a message shows.
const SHOWN: usize = 60;

/// A compiled CSV Data Set Config.
#[derive(Debug)]
pub struct CsvDataSet {
    name: String,
    file: Template,
    encoding: Template,
    names: Names,
    delimiter: Template,
    quoted: Flag,
    recycle: Flag,
    stop_user: Flag,
    ignore_first: Flag,
    share: Template,
    /// Value that the variables get at the end of the file (`csvdataset.eofstring`).
    end: Box<str>,
}

/// Names of the variables that receive the values of a line.
#[derive(Debug)]
enum Names {
    Known(Vec<VarId>),
    /// Text with the names; if empty, the first line of the file has the names.
    Text(Template),
}

/// The position in a file from which a user reads: shared with other users, or the user's own.
#[derive(Debug)]
pub(crate) struct Handle {
    source: Arc<source::Source>,
    /// Variable names that are determined at run time; `None` if the names in the element apply.
    names: Option<Box<[Box<str>]>>,
    /// Key of the file if the position belongs to this user alone; `None` for a shared position.
    own: Option<Key>,
}

pub(super) fn compile(ctx: &mut Context<'_>, id: ElementId) -> CsvDataSet {
    let names = ctx.prop(id, "variableNames");
    let names = match names.fixed() {
        Some(list) if !list.is_empty() => {
            Names::Known(split_names(list).map(|name| ctx.text.names.intern(name)).collect())
        }
        _ => Names::Text(names),
    };
    CsvDataSet {
        name: ctx.doc.element(id).name.clone(),
        file: ctx.prop(id, "filename"),
        encoding: ctx.prop(id, "fileEncoding"),
        names,
        delimiter: ctx.prop(id, "delimiter"),
        quoted: flag::compile(ctx, id, "quotedData", false),
        recycle: flag::compile(ctx, id, "recycle", true),
        stop_user: flag::compile(ctx, id, "stopThread", false),
        ignore_first: flag::compile(ctx, id, "ignoreFirstLine", false),
        share: ctx.prop(id, "shareMode"),
        end: ctx.settings.property("csvdataset.eofstring", "<EOF>").into(),
    }
}

/// Returns the value of a check box; `None` if it is an expression.
fn known(flag: &Flag) -> Option<bool> {
    match flag {
        Flag::Fixed(value) => Some(*value),
        Flag::Text(_) => None,
    }
}

/// Returns the one-character delimiter between values that may be quoted.
fn first_char(delimiter: &str) -> char {
    match delimiter {
        "\\t" => '\t',
        other => other.chars().next().unwrap_or(','),
    }
}

/// Splits a list of variable names at commas, and ignores empty names.
fn split_names(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').filter(|name| !name.is_empty()).map(str::trim)
}

impl CsvDataSet {
    /// Reads the file into memory before the run if its name and format are constant. Errors are reported later, by the
    /// first user who needs the file.
    pub(crate) fn preload(&self, sources: &Sources) {
        if let Some(key) = self.known_key() {
            sources.preload(&key);
        }
    }

    /// Returns the key of the file with its format, if both are constant. The key identifies a position that all
    /// users share.
    fn known_key(&self) -> Option<Key> {
        let from_header = match &self.names {
            Names::Known(_) => false,
            Names::Text(text) => text.fixed()?.is_empty(),
        };
        Some(Key {
            file: self.file.fixed()?.trim().to_string(),
            encoding: self.encoding.fixed()?.trim().to_string(),
            quoted: known(&self.quoted)?.then_some(first_char(self.delimiter.fixed()?)),
            skip_first: from_header || known(&self.ignore_first)?,
            share: source::Share::All,
        })
    }

    /// Reads the next line of the data file into the user's variables.
    pub(crate) fn next(&self, at: usize, env: &mut Env<'_>) -> Result<(), Stop> {
        let handle = match env.notes.csv(at).take() {
            Some(handle) => handle,
            None => self.open(env)?,
        };
        let result = self.read(&handle, env);
        *env.notes.csv(at) = Some(handle);
        result
    }

    fn open(&self, env: &mut Env<'_>) -> Result<Handle, Stop> {
        let value = |text: &Template, env: &mut Env<'_>| text.parsed(env, str::to_string);
        let file = value(&self.file, env).trim().to_string();
        let listed = match &self.names {
            Names::Known(_) => String::new(),
            Names::Text(text) => value(text, env),
        };
        let from_header = matches!(self.names, Names::Text(_)) && listed.is_empty();
        let delimiter = value(&self.delimiter, env);
        let first = first_char(&delimiter);
        let key = Key {
            share: share(&value(&self.share, env), env),
            encoding: value(&self.encoding, env).trim().to_string(),
            quoted: self.quoted.get(env).then_some(first),
            skip_first: from_header || self.ignore_first.get(env),
            file,
        };
        let lines = match key.share {
            source::Share::Group(group) => env.run.lines(Some(group)),
            _ => env.run.lines(None),
        };
        // If each user reads the file alone, elements of a user with the same file and settings share one position.
        let own = (key.share == source::Share::User).then(|| key.clone());
        let known = env.notes.csv_places().find(|other| own.is_some() && other.own == own);
        let place = known.map(|other| other.source.clone());
        let source = place.map_or_else(|| env.run.csv.source(&key, lines), Ok);
        let source = source.map_err(|problem| {
            Stop::User(format!("{problem} (CSV Data Set Config {})", self.name))
        })?;
        let names = if from_header {
            let mut names = Vec::new();
            let header = source.header().unwrap_or("");
            parse::quoted(header, first, |name| names.push(name.trim().into())).map_err(|_| {
                Stop::User(format!("Could not split CSV header line from file:{}", key.file))
            })?;
            Some(names.into())
        } else {
            let known = matches!(self.names, Names::Known(_));
            (!known).then(|| split_names(&listed).map(Box::from).collect())
        };
        Ok(Handle { source, names, own })
    }

    fn read(&self, handle: &Handle, env: &mut Env<'_>) -> Result<(), Stop> {
        let recycle = self.recycle.get(env);
        let mut line = env.core.take();
        let mut count = 0;
        if handle.source.next(recycle, &mut line) {
            count = match handle.source.quoted() {
                Some(delimiter) => {
                    // No variable is set unless the whole line can be parsed.
                    let sound =
                        !line.contains('"') || parse::quoted(&line, delimiter, |_| {}).is_ok();
                    let mut nth = 0;
                    if !sound {
                        self.warn_of(&line, env);
                    }
                    if sound {
                        let _ = parse::quoted(&line, delimiter, |value| {
                            self.set(handle, nth, value, env);
                            nth += 1;
                        });
                    }
                    nth
                }
                None => self.read_plain(handle, &line, env),
            };
        }
        env.core.give(line);
        if count > 0 {
            return Ok(());
        }
        if self.stop_user.get(env) {
            let file = self.file.parsed(env, str::to_string);
            return Err(Stop::User(format!(
                "End of file:{file} detected for CSV DataSet:{} configured with stopThread:true, recycle:{recycle}",
                self.name
            )));
        }
        for nth in 0..self.len(handle) {
            self.set(handle, nth, &self.end, env);
        }
        Ok(())
    }

    /// Warns once per user about a line with invalid quotes. As in JMeter, such a line counts as the end of the
    /// file, and an unclosed quote includes all following lines.
    fn warn_of(&self, line: &str, env: &mut Env<'_>) {
        let begin: String =
            line.chars().take(SHOWN).take_while(|c| !matches!(c, '\n' | '\r')).collect();
        let file = self.file.parsed(env, str::to_string);
        let lines = line.trim_end().lines().count().max(1);
        let taken = if lines > 1 {
            format!(" and the {} lines after it", lines - 1)
        } else {
            String::new()
        };
        env.shared.unusual(&format!(
            "CSV Data Set Config {}: in {file} the line that begins with {begin:?}{taken} cannot be read: its quotes \
            are not closed or not at the edges of values; as in JMeter it counts as the end of the file",
            self.name
        ));
    }

    /// Splits a line at each delimiter; a blank line has no values.
    fn read_plain(&self, handle: &Handle, line: &str, env: &mut Env<'_>) -> usize {
        if line.is_empty() {
            return 0;
        }
        let mut delimiter = env.core.take();
        self.delimiter.eval(env, &mut delimiter);
        let by = match delimiter.as_str() {
            "" => ",",
            "\\t" => "\t",
            other => other,
        };
        let mut count = 0;
        for value in line.split(by) {
            self.set(handle, count, value, env);
            count += 1;
        }
        env.core.give(delimiter);
        count
    }

    fn len(&self, handle: &Handle) -> usize {
        match (&handle.names, &self.names) {
            (Some(names), _) => names.len(),
            (None, Names::Known(ids)) => ids.len(),
            (None, Names::Text(_)) => 0,
        }
    }

    /// Sets the variable for value number `nth`; values without a name are dropped.
    fn set(&self, handle: &Handle, nth: usize, value: &str, env: &mut Env<'_>) {
        match (&handle.names, &self.names) {
            (Some(names), _) => {
                if let Some(name) = names.get(nth) {
                    env.vars.set_named(env.names, name, value);
                }
            }
            (None, Names::Known(ids)) => {
                if let Some(id) = ids.get(nth) {
                    env.vars.set(*id, value);
                }
            }
            (None, Names::Text(_)) => {}
        }
    }
}

/// Returns the users that share the position. Display names of sharing modes, saved by old versions, are
/// interpreted as in JMeter.
fn share(mode: &str, env: &Env<'_>) -> source::Share {
    share_of(mode, env.notes.group())
}

/// Returns the users that share the position, like [`share`], for a user of the given group.
fn share_of(mode: &str, group: GroupId) -> source::Share {
    match mode {
        "" | "shareMode.all" | "All threads" => source::Share::All,
        "shareMode.group" | "Current thread group" => source::Share::Group(group),
        "shareMode.thread" | "Current thread" => source::Share::User,
        word => source::Share::Word(word.to_string()),
    }
}
