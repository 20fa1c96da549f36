//! The run's log file, with JMeter's line format: `2026-11-21 07:44:18,123 INFO category: message`.
//!
//! Lines below the log level of their category are left out. Control characters from a plan or a server are
//! escaped, so that they cannot control the terminal on which the log is read. A failed write is reported once;
//! writing resumes when the disk has space.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::print::terminal;

/// Severity level of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Trace,
    Debug,
    Info,
    Warn,
    Error,
    Off,
}

/// Log levels: the default level, and the levels of categories, which include their subcategories.
#[derive(Debug, Clone)]
pub(crate) struct Levels {
    all: Level,
    /// Levels by category. The longest matching category applies.
    of: Vec<(String, Level)>,
}

impl Levels {
    /// Parses pairs of category (empty for all) and level, as given with `-L`. Also returns a message for each unknown
    /// level.
    pub(crate) fn new(given: &[(String, String)]) -> (Self, Vec<String>) {
        let mut levels = Self { all: Level::Info, of: Vec::new() };
        let mut unknown = Vec::new();
        for (category, name) in given {
            match (level(name), category.is_empty()) {
                (None, _) => unknown.push(format!("there is no log level {name}")),
                (Some(level), true) => levels.all = level,
                (Some(level), false) => levels.of.push((whole(category), level)),
            }
        }
        (levels, unknown)
    }

    /// Returns the lowest level of this category that is logged.
    pub(crate) fn of(&self, category: &str) -> Level {
        let matching = self.of.iter().filter(|(start, _)| {
            let rest = category.strip_prefix(start.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        });
        matching.max_by_key(|(start, _)| start.len()).map_or(self.all, |(_, level)| *level)
    }
}

/// The log. If it has no file, all lines are dropped.
#[derive(Debug)]
pub(crate) struct Log {
    file: Option<File>,
    path: Option<PathBuf>,
    /// True if a failed write to the log has been reported.
    failed: bool,
    levels: Levels,
    /// True if logger names are abbreviated as in JMeter's own log4j configuration: `o.a.j.r.Summariser`.
    short_names: bool,
}

impl Log {
    /// Opens the log. An existing file is replaced, as in JMeter, or continued if `again` is true. A new file has the
    /// permissions `mode`. Also returns a message for each unknown level.
    pub(crate) fn open(
        path: &Path,
        (mode, again): (u32, bool),
        levels: &[(String, String)],
        short_names: bool,
    ) -> std::io::Result<(Self, Vec<String>)> {
        let mut how = OpenOptions::new();
        let file =
            how.create(true).truncate(!again).append(again).write(true).mode(mode).open(path)?;
        let (levels, unknown) = Levels::new(levels);
        let (file, path) = (Some(file), Some(path.to_owned()));
        Ok((Self { file, path, failed: false, levels, short_names }, unknown))
    }

    /// Returns a log that drops all lines.
    pub(crate) fn none() -> Self {
        let levels = Levels { all: Level::Off, of: Vec::new() };
        Self { file: None, path: None, failed: false, levels, short_names: false }
    }

    /// Returns the path of the log file, if there is one.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Writes a line to the log. Returns a message for the first failure only.
    pub(crate) fn write(&mut self, level: Level, category: &str, message: &str) -> Option<String> {
        self.write_at(None, level, category, message)
    }

    /// Writes a line with the time of its event in epoch milliseconds.
    pub(crate) fn write_at(
        &mut self,
        at_ms: Option<i64>,
        level: Level,
        category: &str,
        message: &str,
    ) -> Option<String> {
        if level < self.levels.of(category) {
            return None;
        }
        let file = self.file.as_mut()?;
        let at = at_ms.and_then(|at| jiff::Timestamp::from_millisecond(at).ok());
        let at = at.unwrap_or_else(jiff::Timestamp::now).to_zoned(lang::zone::here());
        let at = at.strftime("%Y-%m-%d %H:%M:%S,%3f");
        let abbreviated = self.short_names.then(|| short(category));
        let category = abbreviated.as_deref().unwrap_or(category);
        let message = record::mask::urls(message);
        let line = format!("{at} {} {category}: {message}\n", word(level));
        let before = file.metadata().map_or(0, |data| data.len());
        let error = file.write_all(terminal::visible(&line).as_bytes()).err()?;
        // A partial line would corrupt the next line, so it is removed.
        let _ = file.set_len(before);
        let first = !std::mem::replace(&mut self.failed, true);
        let path = self.path.as_deref().unwrap_or(Path::new("")).display();
        first.then(|| {
            format!(
                "cannot write the log {path}: {error}; lines are missing there, and the run goes on"
            )
        })
    }
}

/// Returns the full name of a category, completed as JMeter completes the argument of `-L`.
pub(crate) fn whole(category: &str) -> String {
    if category.starts_with("jmeter") || category.starts_with("jorphan") {
        return format!("org.apache.{category}");
    }
    category.to_owned()
}

/// Abbreviates a category as log4j does in JMeter's log: all parts except the last are cut to their first letter.
fn short(category: &str) -> String {
    let mut parts: Vec<&str> = category.split('.').collect();
    let last = parts.pop().unwrap_or_default();
    let mut out = String::new();
    for part in parts {
        out.extend(part.chars().take(1));
        out.push('.');
    }
    out.push_str(last);
    out
}

/// Parses the name of a log4j level.
pub(crate) fn level(name: &str) -> Option<Level> {
    Some(match name.to_ascii_uppercase().as_str() {
        "ALL" | "TRACE" => Level::Trace,
        "DEBUG" => Level::Debug,
        "INFO" => Level::Info,
        "WARN" | "WARNING" => Level::Warn,
        "ERROR" | "FATAL" => Level::Error,
        "OFF" => Level::Off,
        _ => return None,
    })
}

fn word(level: Level) -> &'static str {
    match level {
        Level::Trace => "TRACE",
        Level::Debug => "DEBUG",
        Level::Info => "INFO",
        Level::Warn => "WARN",
        Level::Error | Level::Off => "ERROR",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_by_category_and_the_longest_match_counts() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let levels = [("", "WARN"), ("engine", "DEBUG"), ("engine.http", "OFF"), ("", "LOUD")];
        let levels = levels.map(|(category, level)| (category.to_string(), level.to_string()));
        let (mut log, unknown) = Log::open(file.path(), (0o600, false), &levels, false).unwrap();
        assert_eq!(unknown, ["there is no log level LOUD"]);
        for (category, message) in [("plan", "no"), ("engine", "yes"), ("engine.http", "no")] {
            assert_eq!(log.write(Level::Info, category, message), None);
        }
        let text = std::fs::read_to_string(file.path()).unwrap();
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(text.ends_with(" INFO engine: yes\n"), "{text}");
    }

    #[test]
    fn loggers_can_have_short_names_and_levels_are_those_of_jmeters_option() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let levels = [("jmeter.modifiers".to_string(), "DEBUG".to_string())];
        let (mut log, _) = Log::open(file.path(), (0o600, false), &levels, true).unwrap();
        let pre = "org.apache.jmeter.modifiers.JSR223PreProcessor.Get it";
        for category in [pre, "org.apache.jmeter.modifiersX", "org.apache.jmeter.timers.T"] {
            assert_eq!(log.write_at(Some(0), Level::Debug, category, "hello"), None);
        }
        let text = std::fs::read_to_string(file.path()).unwrap();
        assert!(text.contains(",000 DEBUG o.a.j.m.J.Get it: hello\n"), "{text}");
        assert_eq!(text.lines().count(), 1, "{text}");
    }

    #[test]
    fn a_full_disk_is_told_once() {
        let (mut log, _) = Log::open(Path::new("/dev/full"), (0o600, false), &[], false).unwrap();
        assert!(log.write(Level::Warn, "a", "b").unwrap().contains("No space"));
        assert_eq!(log.write(Level::Warn, "a", "b"), None);
    }
}
