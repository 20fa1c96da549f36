//! The HTML report: at the end of a run, and `throng report`, which makes it of any run or result file.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use answers::rules;
use answers::verdict::Language;
use record::Record;
use report::model::{Criterion, Given, RunPage};
use serde_json::Value;

use crate::exit::Exit;
use crate::flags::ReportFlags;
use crate::{questions, terminal, verdict};

/// Name of the report in a run's folder.
pub(crate) const FILE: &str = "report.html";

/// `throng report`.
pub(crate) fn run(flags: &ReportFlags) -> Exit {
    if flags.output.is_some() && flags.paths.len() > 1 {
        terminal::error(
            "-o names one file, and there are several reports to make: leave it out, or make them one by one",
        );
        return Exit::Usage;
    }
    let language = verdict::language(flags.lang);
    for path in &flags.paths {
        let Some(html) = made(path, language) else { return Exit::Usage };
        let to = flags.output.clone().unwrap_or_else(|| beside(path));
        if let Err(error) = write(&to, &html) {
            terminal::error(&format!("cannot write {}: {error}", to.display()));
            return Exit::Lost;
        }
        terminal::out(&format!("{}\n", terminal::visible(&to.display().to_string())));
    }
    Exit::Ok
}

/// The page of a run, a result file, or the folder of an answer; `None` after saying why there is none.
fn made(path: &Path, language: Language) -> Option<String> {
    match questions::page(path, language) {
        Some(Ok(html)) => Some(html),
        Some(Err(message)) => {
            terminal::error(&message);
            None
        }
        None => verdict::open(path).map(|record| page(path, &record, language)),
    }
}

/// Writes the report of a run that has ended into its folder. The error is a sentence for the user.
pub(crate) fn at_end(folder: &Path, language: Language) -> Result<(), String> {
    let record = Record::read(folder).map_err(|error| format!("no report was made: {error}"))?;
    let to = folder.join(FILE);
    write(&to, &page(folder, &record, language))
        .map_err(|error| format!("cannot write {}: {error}", to.display()))
}

/// The report of a run's folder stands in it, that of a file beside it.
fn beside(path: &Path) -> PathBuf {
    if path.is_dir() { path.join(FILE) } else { path.with_extension("html") }
}

/// The page. What the record does not have comes from the other files of the folder, as far as they are there.
fn page(path: &Path, record: &Record, language: Language) -> String {
    let folder = if path.is_dir() { Some(path) } else { path.parent() };
    let of_run = folder.filter(|folder| folder.join(record::FILE).exists());
    let text =
        |name: &str| of_run.and_then(|folder| std::fs::read_to_string(folder.join(name)).ok());
    let summary = text("summary.json").and_then(|text| serde_json::from_str::<Value>(&text).ok());
    let named = of_run.unwrap_or(path);
    let named = named.canonicalize().unwrap_or_else(|_| named.to_owned());
    let run = named.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let given = Given {
        record,
        verdict: &rules::verdict(record),
        run: &run,
        criteria: &summary.as_ref().map(criteria).unwrap_or_default(),
        properties: &text("properties.txt").as_deref().map(properties).unwrap_or_default(),
        notes: &[],
        jmeter: None,
        live: false,
    };
    report::run(&RunPage::new(&given), language)
}

/// The criteria as the summary judges them.
fn criteria(summary: &Value) -> Vec<Criterion> {
    let judged = summary["criteria"]["judged"].as_array();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let one = |judged: &Value| Criterion {
        text: text(&judged["criterion"]),
        met: judged["value"].as_f64().and(judged["holds"].as_bool()),
        value: judged["value"].as_f64(),
        shown: text(&judged["shown"]),
        of: judged["label"].as_str().map(str::to_owned),
    };
    judged.map(|list| list.iter().map(one).collect()).unwrap_or_default()
}

/// Names and values of the folder's file, in which secrets are masked.
fn properties(file: &str) -> Vec<(String, String)> {
    let lines = file.lines().filter(|line| !line.starts_with('#'));
    lines
        .filter_map(|line| line.split_once('='))
        .map(|(name, value)| (name.trim().to_owned(), value.to_owned()))
        .collect()
}

/// Writes a file that is there whole or not at all, and its owner's alone.
pub(crate) fn write(to: &Path, text: &str) -> io::Result<()> {
    let mut part = to.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    let mut file =
        OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(&part)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| std::fs::rename(&part, to));
    if written.is_err() {
        let _ = std::fs::remove_file(&part);
    }
    written
}
