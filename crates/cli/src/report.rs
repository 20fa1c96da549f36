//! The HTML report, the summary in Markdown and the tables: at the end of a run, and `throng report`, which makes them of any
//! run or result file.

mod agents;
pub(crate) mod file;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use answers::rules;
use answers::verdict::{Language, Words};
use record::{Given as Opened, ReadError, Record};
use report::Page;
use report::jmeter::Figures;
use report::model::{Criterion, Given, RunPage};
use report::tables::Table;
use serde_json::Value;
use stats::jtl::Columns;
use stats::jtl::source::{STANDARD_INPUT, is_stream};

use crate::dashboard::Dashboard;
use crate::exit::Exit;
use crate::flags::{PropertyFlags, ReportFlags};
use crate::properties::{Properties, Setting};
use crate::questions::place::Reach;
use crate::{questions, terminal, verdict};
use file::FILE;

/// Names in a run's folder: the rows of `--jtl`, and the properties.
pub(crate) const ROWS: &str = "results.jtl";
const PROPERTIES: &str = "properties.txt";

/// `throng report`.
pub(crate) fn run(flags: &ReportFlags) -> Exit {
    let single = [
        ("-o names one file", flags.output.is_some()),
        ("--markdown names one file", flags.markdown.is_some()),
        ("--k6-summary names one file", flags.k6_summary.is_some()),
        ("--tables names one folder", flags.tables.is_some()),
    ];
    if let Some((words, _)) = single.iter().find(|(_, given)| *given && flags.paths.len() > 1) {
        terminal::error(&format!(
            "{words}, and there are several reports to make: leave it out, or make them one by one"
        ));
        return Exit::Usage;
    }
    // Before a pipe is read: what came out of it would be lost.
    if let Some(path) = flags.paths.iter().find(|path| is_stream(path) && flags.output.is_none()) {
        terminal::error(&format!(
            "{} is a pipe, and its report has no place beside it: add -o FILE",
            path.display()
        ));
        return Exit::Usage;
    }
    for path in &flags.paths {
        let made = match Made::of(path, flags) {
            Ok(made) => made,
            Err(message) => {
                terminal::error(&message);
                return Exit::Usage;
            }
        };
        match made.written(path, flags) {
            Ok(written) => written.iter().for_each(|path| {
                terminal::out(&format!("{}\n", terminal::visible(&path.display().to_string())));
            }),
            Err(message) => {
                terminal::error(&message);
                return Exit::Lost;
            }
        }
    }
    Exit::Ok
}

/// The material of a page: a run or a result file, or an answer with its runs.
enum Made {
    Run(Source),
    Answer(Page),
}

/// A record, and JMeter's figures where they were asked for.
struct Source {
    record: Record,
    figures: Option<Figures>,
}

impl Made {
    fn of(path: &Path, flags: &ReportFlags) -> Result<Self, String> {
        if flags.jmeter_figures {
            return with_figures(path, &flags.properties).map(Self::Run);
        }
        if let Some(answer) = questions::page(path, Reach::Anywhere) {
            if let Some(file) = &flags.k6_summary {
                return Err(format!(
                    "{} is the answer of several runs, and --k6-summary {} takes one: name a run or a result file",
                    path.display(),
                    file.display()
                ));
            }
            return answer.map(Self::Answer);
        }
        let columns = columns(path, &flags.properties)?;
        let record = Record::open(path, &columns).map_err(|error| error.to_string())?;
        record.flaws.iter().for_each(|flaw| terminal::warning(&flaw.to_string()));
        Ok(Self::Run(Source { record, figures: None }))
    }

    /// Writes what was asked for. Returns the paths; the error is a sentence for the user.
    fn written(self, path: &Path, flags: &ReportFlags) -> Result<Vec<PathBuf>, String> {
        let language = verdict::language(flags.lang);
        let (page, source) = match self {
            Self::Answer(page) => (page, None),
            Self::Run(source) => {
                let page = page(path, &source.record, source.figures.as_ref(), RunPage::new);
                (Page::Run(Box::new(page)), Some(source))
            }
        };
        let html = match &flags.output {
            Some(file) => file.clone(),
            None => beside(path),
        };
        file::write(&html, &page.html(language))
            .map_err(|error| file::cannot_write(&html, &error))?;
        let mut written = vec![html];
        if let Some(file) = &flags.markdown {
            file::write_markdown(file, &page, language)?;
            written.push(file.clone());
        }
        if let Some(file) = &flags.k6_summary {
            file::write_k6(file, &page)?;
            written.push(file.clone());
        }
        if let Some(folder) = &flags.tables {
            let tables = match source {
                // Tables have more rows than a page.
                Some(Source { record, .. }) => {
                    report::tables::run(&self::page(path, &record, None, RunPage::whole))
                }
                None => page.tables(),
            };
            write_tables(folder, &tables)?;
            written.push(folder.clone());
        }
        Ok(written)
    }
}

/// The record of a run that left its rows, or of a result file, with JMeter's figures.
fn with_figures(path: &Path, flags: &PropertyFlags) -> Result<Source, String> {
    let folder = if path.is_dir() { path } else { path.parent().unwrap_or(path) };
    let (rows, record, source) = match record::given(path) {
        Ok(Opened::Run(record)) => (folder.join(ROWS), Some(*record), None),
        Ok(Opened::Rows(source)) if !path.is_dir() => (path.to_owned(), None, Some(source)),
        Ok(Opened::Rows(_)) => {
            return Err(ReadError::NotARecord(path.join(record::FILE)).to_string());
        }
        Err(error) => {
            return Err(format!("{error}: JMeter's figures are those of one run or result file"));
        }
    };
    if record.is_some() && !rows.is_file() {
        return Err(format!(
            "there is no {}, of whose rows JMeter's figures would be made: run with --jtl, or name the result file instead of \
             the folder",
            rows.display()
        ));
    }
    let mut sources = flags.sources();
    let of_run = folder.join(PROPERTIES);
    if record.is_some() && of_run.is_file() {
        // They say how the run wrote its rows.
        sources.settings.insert(0, Setting::File(of_run));
    }
    let (properties, warnings) =
        Properties::load(&sources, jiff::Timestamp::now().as_millisecond())?;
    for warning in &warnings {
        terminal::warning(warning);
    }
    let dashboard = Dashboard::without_folder(&sources, &properties)?;
    dashboard.warnings.iter().for_each(|warning| terminal::warning(warning));
    let source = source.map_or_else(|| report::jmeter::open(&rows), Ok);
    let source = source.map_err(|refused| refused.0)?;
    let read = dashboard.read((&rows, source), &[], record.is_none())?;
    read.figures.notes.iter().for_each(|note| terminal::warning(&note.to_string()));
    let record = record.or(read.record).unwrap_or_default();
    Ok(Source { record, figures: Some(read.figures) })
}

/// Writes each table twice into the folder, as CSV and as JSON. The error is a sentence for the user.
fn write_tables(folder: &Path, tables: &[Table]) -> Result<(), String> {
    std::fs::create_dir_all(folder)
        .map_err(|error| format!("cannot make the folder {}: {error}", folder.display()))?;
    for table in tables {
        for (ending, text) in [("csv", table.csv()), ("json", table.json())] {
            let file = folder.join(table.name).with_extension(ending);
            file::write(&file, &text).map_err(|error| file::cannot_write(&file, &error))?;
        }
    }
    Ok(())
}

/// The report of a run's folder or an answer's, for a server: nothing is printed, and nothing beside that folder is read. The
/// error is a sentence for the user.
pub(crate) fn below(root: &Path, folder: &Path, language: Language) -> Result<String, String> {
    if let Some(answer) = questions::page(folder, Reach::Below(root)) {
        return answer.map(|page| page.html(language));
    }
    let record = Record::read(folder).map_err(|error| error.to_string())?;
    Ok(Page::Run(Box::new(page(folder, &record, None, RunPage::new))).html(language))
}

/// The columns of a result file without a heading and the format of its time stamps, as properties have them.
pub(crate) fn columns(path: &Path, flags: &PropertyFlags) -> Result<Columns, String> {
    columns_of(&row_settings(path, flags)?)
}

/// The columns as these properties have them.
pub(crate) fn columns_of(settings: &RowSettings) -> Result<Columns, String> {
    Columns::from_properties(|key| settings.get(key).cloned()).map_err(|error| error.to_string())
}

/// Properties that say how rows were written.
pub(crate) type RowSettings = BTreeMap<String, String>;

/// The properties that say how the rows of a result file were written: those of the command line, and below them those of the
/// run in whose folder the file is.
pub(crate) fn row_settings(path: &Path, flags: &PropertyFlags) -> Result<RowSettings, String> {
    let mut sources = flags.sources();
    let folder = path.parent().filter(|folder| folder.join(record::FILE).is_file());
    let of_run = folder.map(|folder| folder.join(PROPERTIES)).filter(|file| file.is_file());
    if let Some(file) = of_run.filter(|_| !path.is_dir()) {
        sources.settings.insert(0, Setting::File(file));
    }
    let now_ms = jiff::Timestamp::now().as_millisecond();
    let (properties, _) = Properties::load(&sources, now_ms)?;
    let of_rows = properties.all().filter(|(key, _)| key.starts_with("jmeter.save.saveservice."));
    Ok(of_rows.map(|(key, value)| (key.to_owned(), value.to_owned())).collect())
}

/// The report of a run's folder stands in it, that of a file beside it.
fn beside(path: &Path) -> PathBuf {
    if path.is_dir() {
        return path.join(FILE);
    }
    let is_packed = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("gz"));
    let unpacked = if is_packed { path.with_extension("") } else { path.to_owned() };
    unpacked.with_extension("html")
}

/// The name of what a report is of.
fn name(path: &Path) -> String {
    if path == Path::new(STANDARD_INPUT) {
        return "standard input".into();
    }
    if is_stream(path) {
        return "pipe".into();
    }
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The page of a run's folder, or of a result file, as `make` makes it. What the record does not have comes from the other files of the folder,
/// as far as they are there.
pub(crate) fn page(
    path: &Path,
    record: &Record,
    figures: Option<&Figures>,
    make: fn(&Given<'_>) -> RunPage,
) -> RunPage {
    let folder =
        if path.is_dir() { Some(path) } else { path.parent().filter(|_| !is_stream(path)) };
    let of_run = folder.filter(|folder| folder.join(record::FILE).exists());
    let text =
        |name: &str| of_run.and_then(|folder| std::fs::read_to_string(folder.join(name)).ok());
    let summary = text("summary.json").and_then(|text| serde_json::from_str::<Value>(&text).ok());
    let run = name(of_run.unwrap_or(path));
    let given = Given {
        record,
        verdict: &rules::verdict(record),
        run: &run,
        criteria: &summary.as_ref().map(criteria).unwrap_or_default(),
        properties: &text(PROPERTIES).as_deref().map(properties).unwrap_or_default(),
        notes: &[],
        jmeter: figures,
        agents: &summary.as_ref().map(agents::agents).unwrap_or_default(),
        live: false,
    };
    make(&given)
}

/// The criteria as the summary judges them.
fn criteria(summary: &Value) -> Vec<Criterion> {
    let judged = summary["criteria"]["judged"].as_array();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let one = |judged: &Value| Criterion {
        text: text(&judged["criterion"]),
        met: judged["holds"].as_bool(),
        value: judged["value"].as_f64(),
        shown: text(&judged["shown"]),
        reason: said(&judged["reason"]),
        of: judged["label"].as_str().map(str::to_owned),
    };
    judged.map(|list| list.iter().map(one).collect()).unwrap_or_default()
}

/// A sentence in both languages.
fn said(words: &Value) -> Option<Words> {
    let of = |language: &str| words[language].as_str().map(str::to_owned);
    Some(Words { en: of("en")?, zh: of("zh")? })
}

/// Names and values of the folder's file, in which secrets are masked.
fn properties(file: &str) -> Vec<(String, String)> {
    let lines = file.lines().filter(|line| !line.starts_with('#'));
    lines
        .filter_map(|line| line.split_once('='))
        .map(|(name, value)| (name.trim().to_owned(), value.to_owned()))
        .collect()
}
