//! Writes the requested reports of a finished run: in its folder, in Markdown, and JMeter's report.
//!
//! A failed report never makes the run fail, because it can be rebuilt; the failure is only printed. But a
//! requested summary file that cannot be written counts as a lost result, because the program that reads it would
//! show nothing.

use std::path::Path;

use ::report::Page;
use ::report::jmeter::Figures;
use ::report::model::RunPage;
use serde_json::Value;

use super::traces::Traces;
use crate::args::request::Request;
use crate::judge::verdict;
use crate::results::columns::ROWS;
use crate::results::dashboard::Dashboard;
use crate::results::file;
use crate::results::page::Source;
use crate::results::summary::Told;
use crate::run::outcome::Recorded;

/// Writes the requested reports. The run's report and JMeter's report contain the same page. `summary` is the content
/// of `summary.json`, and `properties` that of the properties file.
pub(crate) fn write(
    request: &Request,
    dashboard: Option<&Dashboard>,
    (recorded, summary, properties): (Option<&Recorded>, Value, &str),
    traces: &mut Traces<'_>,
) {
    let folder = traces.folder.path().map(Path::to_owned);
    let own = folder.as_ref().filter(|_| !request.no_report).map(|own| own.join(file::FILE));
    let is_summarized = request.markdown.is_some() || request.k6_summary.is_some();
    if dashboard.is_none() && !is_summarized && own.is_none() {
        return;
    }
    let figures = dashboard.and_then(|dashboard| read(request, dashboard, traces));
    let named = folder.unwrap_or_else(|| request.plan.clone());
    let language = verdict::language(request.lang);
    let page = recorded.map(|recorded| {
        let source = Source {
            path: &named,
            record: &recorded.record,
            verdict: &recorded.verdict,
            summary: Some(&Told(summary)),
            properties,
            figures: figures.as_ref(),
        };
        Page::Run(Box::new(source.page(RunPage::new)))
    });
    summaries(request, page.as_ref(), traces);
    let Some(page) = page else { return };
    let html = page.html(language);
    if let Some(path) = own {
        match file::write(&path, &html) {
            Ok(()) => traces.console.line(&format!("Report:  {}", path.display())),
            Err(error) => traces.console.warn(&file::cannot_write(&path, &error)),
        }
    }
    let (Some(dashboard), Some(figures)) = (dashboard, figures) else { return };
    match dashboard.write(&figures, &html) {
        Ok(Some(page)) => traces.console.line(&format!("Report: {}", page.display())),
        Ok(None) => {}
        Err(message) => traces.warn("throng", &format!("Error generating the report: {message}")),
    }
}

/// Function that writes a page in one format. The error is a message for the user.
type Writer<'a> = &'a dyn Fn(&Path, &Page) -> Result<(), String>;

/// Writes the summaries in Markdown and in k6's format.
fn summaries(request: &Request, page: Option<&Page>, traces: &mut Traces<'_>) {
    let language = verdict::language(request.lang);
    let markdown = |file: &Path, page: &Page| file::write_markdown(file, page, language);
    let asked: [(_, _, Writer<'_>); 2] = [
        (&request.markdown, "the file of --markdown", &markdown),
        (&request.k6_summary, "the file of --k6-summary", &file::write_k6),
    ];
    for (file, name, write) in asked {
        let Some(file) = file else { continue };
        let written = match page {
            Some(page) => write(file, page),
            None => Err(format!("{} is not written: the run has no record", file.display())),
        };
        if let Err(message) = written {
            traces.console.warn(&message);
            traces.last.add_lost(0, name);
        }
    }
}

/// Computes JMeter's figures from the run's rows. Prints the reason and returns `None` if that fails.
fn read(request: &Request, dashboard: &Dashboard, traces: &mut Traces<'_>) -> Option<Figures> {
    let rows = request.jtl.clone().or_else(|| traces.folder.file(ROWS));
    let rows = rows.unwrap_or_default();
    let source = ::report::jmeter::open(&rows).map_err(|refused| refused.0);
    match source.and_then(|source| dashboard.read((&rows, source), &[], false)) {
        Ok(read) => {
            read.figures.notes.iter().for_each(|note| traces.console.warn(&note.to_string()));
            Some(read.figures)
        }
        Err(message) => {
            traces.warn("throng", &format!("Error generating the report: {message}"));
            None
        }
    }
}
