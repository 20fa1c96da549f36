//! The run's log file, with JMeter's line form: `2026-11-21 07:44:18,123 INFO category: message`.
//!
//! Lines below the level of their category are left out. A log that cannot be written is reported once and the run
//! goes on.

use std::fs::File;
use std::io::Write;
use std::path::Path;

/// How much a line matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Trace,
    Debug,
    Info,
    Warn,
    Error,
    Off,
}

/// The log. Without a file it swallows everything.
#[derive(Debug)]
pub(crate) struct Log {
    file: Option<File>,
    level: Level,
    /// Levels of categories and of what is below them; the longest match counts.
    levels: Vec<(String, Level)>,
}

impl Log {
    /// Opens the log, replacing an earlier one as JMeter does. The second part names levels that do not exist.
    pub(crate) fn open(
        path: &Path,
        levels: &[(String, String)],
    ) -> std::io::Result<(Self, Vec<String>)> {
        let mut log =
            Self { file: Some(File::create(path)?), level: Level::Info, levels: Vec::new() };
        let mut unknown = Vec::new();
        for (category, name) in levels {
            match (level(name), category.is_empty()) {
                (None, _) => unknown.push(format!("there is no log level {name}")),
                (Some(level), true) => log.level = level,
                (Some(level), false) => log.levels.push((whole(category), level)),
            }
        }
        Ok((log, unknown))
    }

    /// A log that nobody keeps.
    pub(crate) fn none() -> Self {
        Self { file: None, level: Level::Off, levels: Vec::new() }
    }

    /// Writes a line. A failure closes the log and comes back as a sentence to report.
    pub(crate) fn write(&mut self, level: Level, category: &str, message: &str) -> Option<String> {
        self.write_at(None, level, category, message)
    }

    /// Writes a line of something that happened at that moment, milliseconds since 1970.
    pub(crate) fn write_at(
        &mut self,
        at_ms: Option<i64>,
        level: Level,
        category: &str,
        message: &str,
    ) -> Option<String> {
        if level < self.level_of(category) {
            return None;
        }
        let file = self.file.as_mut()?;
        let at = at_ms.and_then(|at| jiff::Timestamp::from_millisecond(at).ok());
        let at = at.unwrap_or_else(jiff::Timestamp::now).to_zoned(jiff::tz::TimeZone::system());
        let at = at.strftime("%Y-%m-%d %H:%M:%S,%3f");
        let line = format!("{at} {} {}: {message}\n", word(level), short(category));
        let error = file.write_all(line.as_bytes()).err()?;
        self.file = None;
        Some(format!("cannot write the log: {error}; the run goes on without it"))
    }

    fn level_of(&self, category: &str) -> Level {
        let matching = self.levels.iter().filter(|(start, _)| {
            let rest = category.strip_prefix(start.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        });
        matching.max_by_key(|(start, _)| start.len()).map_or(self.level, |(_, level)| *level)
    }
}

/// A category as JMeter's `-L` completes it.
pub(crate) fn whole(category: &str) -> String {
    if category.starts_with("jmeter") || category.starts_with("jorphan") {
        return format!("org.apache.{category}");
    }
    category.to_owned()
}

/// A category as JMeter's log has it: of all parts but the last the first letter.
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

/// The level of that name, as log4j spells them.
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
        let (mut log, unknown) = Log::open(file.path(), &levels).unwrap();
        assert_eq!(unknown, ["there is no log level LOUD"]);
        for (category, message) in [("plan", "no"), ("engine", "yes"), ("engine.http", "no")] {
            assert_eq!(log.write(Level::Info, category, message), None);
        }
        let text = std::fs::read_to_string(file.path()).unwrap();
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(text.ends_with(" INFO engine: yes\n"), "{text}");
    }

    #[test]
    fn loggers_have_short_names_and_levels_those_of_jmeters_option() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let levels = [("jmeter.modifiers".to_string(), "DEBUG".to_string())];
        let (mut log, _) = Log::open(file.path(), &levels).unwrap();
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
        let (mut log, _) = Log::open(Path::new("/dev/full"), &[]).unwrap();
        assert!(log.write(Level::Warn, "a", "b").unwrap().contains("No space"));
        assert_eq!(log.write(Level::Warn, "a", "b"), None);
    }
}
