//! The folder of an answer: its JSON, and the folders of the runs that it rests on.

use std::fs;
use std::path::{Path, PathBuf};

use answers::verdict::Language;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::flags::OutputFlags;
use crate::{report, terminal, verdict};

/// Makes the folder `VERB-PLAN-TIME` under `runs`.
pub(crate) fn create(runs: &Path, verb: &str, plan: &Path) -> Result<PathBuf, String> {
    let stem = plan.file_stem().map_or_else(|| "plan".into(), |stem| stem.to_string_lossy());
    let time = jiff::Zoned::now().strftime("%Y%m%d-%H%M%S").to_string();
    for number in 1..1000 {
        let suffix = if number == 1 { String::new() } else { format!("-{number}") };
        let path = runs.join(format!("{verb}-{stem}-{time}{suffix}"));
        let made = fs::create_dir_all(runs).and_then(|()| fs::create_dir(&path));
        match made {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => {
                return Err(format!("cannot make the folder {}: {error}", path.display()));
            }
        }
    }
    Err(format!("cannot make a folder in {}: all names are taken", runs.display()))
}

/// Writes the JSON of an answer: the file is there whole or not at all.
pub(crate) fn write(folder: &Path, name: &str, answer: &impl Serialize) -> Result<PathBuf, String> {
    write_text(folder, name, &json(answer))
}

/// The same of a text without its last line's end.
pub(crate) fn write_text(folder: &Path, name: &str, text: &str) -> Result<PathBuf, String> {
    let path = folder.join(name);
    let part = folder.join(format!("{name}.part"));
    let written = fs::write(&part, format!("{text}\n")).and_then(|()| fs::rename(&part, &path));
    written.map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    Ok(path)
}

pub(crate) fn json(answer: &impl Serialize) -> String {
    serde_json::to_string_pretty(answer).unwrap_or_else(|_| "{}".to_owned())
}

/// Reads the file of an answer. The error is a sentence for the user.
pub(crate) fn read<T: DeserializeOwned>(folder: &Path, name: &str) -> Result<T, String> {
    let file = folder.join(name);
    let wrong = |error: &dyn std::fmt::Display| format!("cannot read {}: {error}", file.display());
    let text = fs::read(&file).map_err(|error| wrong(&error))?;
    serde_json::from_slice(&text).map_err(|error| wrong(&error))
}

/// The folder of a run that an answer names: where the answer's folder was moved, it is still below it.
pub(crate) fn moved(answer: &Path, run: &Path) -> PathBuf {
    if run.exists() {
        return run.to_owned();
    }
    let end: Vec<_> = run.components().rev().take(2).collect();
    end.into_iter().rev().fold(answer.to_owned(), |path, part| path.join(part))
}

/// An answer as it is printed: JSON, or text and the files that it left.
pub(crate) struct Answer<'a> {
    pub(crate) json: &'a str,
    pub(crate) text: &'a str,
    pub(crate) paths: &'a [Option<PathBuf>],
}

impl Answer<'_> {
    pub(crate) fn print(&self, flags: &OutputFlags) {
        if flags.json {
            return terminal::json(self.json);
        }
        terminal::out(self.text);
        let mut before = "\n";
        for path in self.paths.iter().flatten() {
            terminal::out(&format!("{before}{}\n", path.display()));
            before = "";
        }
    }
}

impl OutputFlags {
    pub(crate) fn language(&self) -> Language {
        verdict::language(self.lang)
    }

    /// Writes the page of an answer into its folder, unless it is not wanted. An answer is not lost for its page.
    pub(crate) fn report(
        &self,
        folder: Option<&Path>,
        html: impl FnOnce() -> Option<String>,
    ) -> Option<PathBuf> {
        let path = folder.filter(|_| !self.no_report)?.join(report::FILE);
        match report::write(&path, &html()?) {
            Ok(()) => Some(path),
            Err(error) => {
                terminal::warning(&format!("cannot write {}: {error}", path.display()));
                None
            }
        }
    }
}
