//! The HTML report, the Markdown summary and the tables. They are built at the end of a run, or by `throng report` for
//! any run or result file.

use std::path::{Path, PathBuf};

use answers::verdict::Language;
use record::{Given as Opened, ReadError, Record};
use report::Page;
use report::jmeter::Figures;
use report::model::RunPage;
use report::tables::Table;
use stats::jtl::source::is_stream;

use crate::args::flags::{PropertyFlags, ReportFlags};
use crate::args::outputs;
use crate::args::outputs::Promised;
use crate::exit::Exit;
use crate::inputs::properties::{Properties, Setting};
use crate::judge::verdict;
use crate::print::terminal;
use crate::questions;
use crate::questions::place::Reach;
use crate::results::columns::{self, PROPERTIES, ROWS};
use crate::results::dashboard::Dashboard;
use crate::results::file::{self, FILE};
use crate::results::page::page;

/// Runs `throng report`.
pub(crate) fn run(flags: &ReportFlags) -> Exit {
    let promised = Promised {
        name: "throng report".to_owned(),
        markdown: flags.markdown.clone(),
        k6: flags.k6_summary.clone(),
        ..Promised::default()
    };
    promised.around(flags.paths.iter().map(|path| ("a source", &**path)), || make(flags))
}

/// Builds the requested reports.
fn make(flags: &ReportFlags) -> Exit {
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
    // Checked before a pipe is read, because its data could not be read a second time.
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
        if let Some(message) = clash(path, flags) {
            terminal::error(&message);
            return Exit::Usage;
        }
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

/// Input of a report: a run, a result file, or a sweep, search or comparison with its runs.
enum Made {
    Run(Source),
    Answer(Page),
}

/// Record of a run or result file, with JMeter's figures if they were requested.
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
        let columns = columns::columns(path, &flags.properties)?;
        let record = Record::open(path, &columns).map_err(|error| error.to_string())?;
        record.flaws.iter().for_each(|flaw| terminal::warning(&flaw.to_string()));
        Ok(Self::Run(Source { record, figures: None }))
    }

    /// Writes the requested files and returns their paths. The error is a message for the user.
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
                // Tables contain all rows; a page contains only part of them.
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

/// Reads the record and JMeter's figures from a result file, or from a run with saved rows.
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
            "there is no {}, from whose rows JMeter's figures are computed: run with --jtl, or name the result file instead of \
             the folder",
            rows.display()
        ));
    }
    let mut sources = flags.sources();
    let of_run = folder.join(PROPERTIES);
    if record.is_some() && of_run.is_file() {
        // The properties of the run define the format of its rows.
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

/// Returns an error message if a file to be written is the report's input or another file to be written.
fn clash(path: &Path, flags: &ReportFlags) -> Option<String> {
    let html = flags.output.clone().unwrap_or_else(|| beside(path));
    let written = [
        ("the report (-o)", Some(&html)),
        ("--markdown", flags.markdown.as_ref()),
        ("--k6-summary", flags.k6_summary.as_ref()),
    ];
    let written = written.into_iter().filter_map(|(name, file)| Some((name, &**file?)));
    outputs::clash([("what it is made of", path)], written)
}

/// Writes each table into the folder as CSV and as JSON. The error is a message for the user.
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

/// Builds the report of the folder of a run, sweep, search or comparison for the web server. Prints nothing and reads
/// nothing outside `root`. The error is a message for the user.
pub(crate) fn below(root: &Path, folder: &Path, language: Language) -> Result<String, String> {
    if let Some(answer) = questions::page(folder, Reach::Below(root)) {
        return answer.map(|page| page.html(language));
    }
    let record = Record::read(folder).map_err(|error| error.to_string())?;
    Ok(Page::Run(Box::new(page(folder, &record, None, RunPage::new))).html(language))
}

/// Returns the path of the report: in a run's folder, or beside a result file.
fn beside(path: &Path) -> PathBuf {
    if path.is_dir() {
        return path.join(FILE);
    }
    let is_packed = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("gz"));
    let unpacked = if is_packed { path.with_extension("") } else { path.to_owned() };
    unpacked.with_extension("html")
}
