//! The folder of a sweep, a capacity search or a comparison: its JSON file, and the folders of its runs.

use std::fs;
use std::path::{Path, PathBuf};

use ::report::Page;
use answers::verdict::Language;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::args::flags::OutputFlags;
use crate::inputs::files;
use crate::judge::verdict;
use crate::print::terminal;
use crate::results::file;

/// Creates the folder `VERB-PLAN-TIME` in `runs`.
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

/// Writes the JSON file of a sweep, search or comparison atomically: the file is complete or missing.
pub(crate) fn write(folder: &Path, name: &str, answer: &impl Serialize) -> Result<PathBuf, String> {
    write_text(folder, name, &json(answer))
}

/// Writes a string into a file atomically and adds the final line break.
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

/// Reads the JSON file of a sweep, search or comparison. The error is a message for the user.
pub(crate) fn read<T: DeserializeOwned>(folder: &Path, name: &str) -> Result<T, String> {
    let file = folder.join(name);
    let wrong = |error: &dyn std::fmt::Display| format!("cannot read {}: {error}", file.display());
    let text = fs::read(&file).map_err(|error| wrong(&error))?;
    serde_json::from_slice(&text).map_err(|error| wrong(&error))
}

/// Restricts the run folders to which the JSON file of a sweep, search or comparison may refer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reach<'a> {
    /// Allows run folders anywhere, because the user has named the folder of the sweep, search or comparison.
    Anywhere,
    /// Allows only run folders below this canonical path, because the JSON file may come from another user.
    Below(&'a Path),
}

impl Reach<'_> {
    /// Returns the path of a run to which a sweep, search or comparison refers. If the folder of the sweep, search
    /// or comparison was moved, the run is found below its new path. The error is a message for the user.
    pub(crate) fn run(self, answer: &Path, run: &Path) -> Result<PathBuf, String> {
        let end: Vec<_> = run.components().rev().take(2).collect();
        let moved = end.into_iter().rev().fold(answer.to_owned(), |path, part| path.join(part));
        let Self::Below(root) = self else {
            return Ok(if run.exists() { run.to_owned() } else { moved });
        };
        let beside = run.file_name().map(|name| root.join(name));
        let places = [Some(run.to_owned()), Some(moved), beside];
        // Paths outside of the folder are dropped before any file is accessed.
        let inside = places.into_iter().flatten().filter(|path| path.starts_with(root));
        let mut found = inside.filter_map(|path| path.canonicalize().ok());
        let is_run = |path: &PathBuf| path.starts_with(root) && path != root && path != answer;
        let found = found.find(is_run).ok_or_else(|| {
            let name = run.file_name().unwrap_or_default().to_string_lossy();
            format!("the run {name:?}, which {} names, is not in this folder", answer.display())
        })?;
        files::plain(&found)?;
        Ok(found)
    }
}

/// A sweep, search or comparison in printable form: JSON, or a string and the names of the written files.
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

    /// Writes the report page of a sweep, search or comparison into its folder, unless `--no-report` is set, and
    /// the Markdown summary if requested. If the page cannot be built, the result is kept. Returns the page's file,
    /// and false if the summary was not written.
    pub(crate) fn report(
        &self,
        folder: Option<&Path>,
        page: impl FnOnce() -> Option<Page>,
    ) -> (Option<PathBuf>, bool) {
        let to = folder.filter(|_| !self.no_report).map(|folder| folder.join(file::FILE));
        if to.is_none() && self.markdown.is_none() {
            return (None, true);
        }
        let Some(page) = page() else {
            let Some(file) = &self.markdown else { return (None, true) };
            let words = format!("{} is not written: its run cannot be read", file.display());
            terminal::error(&words);
            return (None, false);
        };
        let html = to.filter(|path| match file::write(path, &page.html(self.language())) {
            Ok(()) => true,
            Err(error) => {
                terminal::warning(&format!("cannot write {}: {error}", path.display()));
                false
            }
        });
        let write = |file| file::write_markdown(file, &page, self.language());
        let summary = self.markdown.as_deref().map_or(Ok(()), write);
        if let Err(message) = &summary {
            terminal::error(message);
        }
        (html, summary.is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_reaches_nothing_beside_its_folder() {
        let temporary = tempfile::tempdir().expect("a folder");
        let base = temporary.path().canonicalize().expect("a path");
        let (root, secret) = (base.join("runs"), base.join("secret"));
        for folder in [&root.join("a"), &root.join("sweep/users-1/run"), &secret] {
            fs::create_dir_all(folder).expect("a folder");
        }
        std::os::unix::fs::symlink(&secret, root.join("link")).expect("a link");
        let answer = root.join("sweep");
        let found = |run: PathBuf| Reach::Below(&root).run(&answer, &run).ok();
        assert_eq!(found(root.join("a")), Some(root.join("a")));
        assert_eq!(found("/elsewhere/users-1/run".into()), Some(answer.join("users-1/run")));
        assert_eq!(
            found("/elsewhere/a".into()),
            Some(root.join("a")),
            "it was moved with all runs"
        );
        for run in [
            secret.clone(),
            root.join("../secret"),
            root.join("a/../../secret"),
            root.join("link"),
            PathBuf::from("../../secret"),
            PathBuf::from("/"),
            PathBuf::from(".."),
            PathBuf::new(),
            root.clone(),
        ] {
            assert_eq!(found(run.clone()), None, "{}", run.display());
        }
        assert_eq!(Reach::Anywhere.run(&answer, &secret), Ok(secret));
    }
}
