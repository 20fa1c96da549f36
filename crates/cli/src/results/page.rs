//! Builds the report page of a run's folder or of a result file.

use std::path::Path;

use answers::rules;
use answers::verdict::Verdict;
use record::Record;
use report::jmeter::Figures;
use report::model::{Given, RunPage};
use stats::jtl::source::{STANDARD_INPUT, is_stream};

use super::agents;
use super::columns::PROPERTIES;
use crate::results::summary::{self, Told};

/// The sources of a report page.
pub(crate) struct Source<'a> {
    /// Folder of the run, or result file, for the title.
    pub(crate) path: &'a Path,
    pub(crate) record: &'a Record,
    pub(crate) verdict: &'a Verdict,
    /// Summary of the run. `None` for a result file.
    pub(crate) summary: Option<&'a Told>,
    /// Content of the run's properties file.
    pub(crate) properties: &'a str,
    /// JMeter's figures, if they were requested.
    pub(crate) figures: Option<&'a Figures>,
}

/// Builds the report page of a run's folder or of a result file with the function `make`. Values that are missing
/// in the record are taken from the other files in the folder, if they exist.
pub(crate) fn page(
    path: &Path,
    record: &Record,
    figures: Option<&Figures>,
    make: fn(&Given<'_>) -> RunPage,
) -> RunPage {
    let of_run = summary::folder_of(path);
    let properties_of = |folder: &Path| std::fs::read_to_string(folder.join(PROPERTIES)).ok();
    let summary = of_run.as_deref().and_then(Told::of);
    let verdict = rules::verdict(record);
    let source = Source {
        path: of_run.as_deref().unwrap_or(path),
        record,
        verdict: &verdict,
        summary: summary.as_ref(),
        properties: &of_run.as_deref().and_then(properties_of).unwrap_or_default(),
        figures,
    };
    source.page(make)
}

impl Source<'_> {
    /// Builds the report page with the function `make`.
    pub(crate) fn page(&self, make: fn(&Given<'_>) -> RunPage) -> RunPage {
        let told = self.summary;
        let given = Given {
            record: self.record,
            verdict: self.verdict,
            run: &name(self.path),
            criteria: &told.map(Told::criteria).unwrap_or_default(),
            properties: &properties(self.properties),
            notes: &[],
            jmeter: self.figures,
            agents: &told.map(|told| agents::agents(&told.0)).unwrap_or_default(),
            live: false,
        };
        let lost = told.map(Told::lost).unwrap_or_default();
        let cost = told.and_then(|told| serde_json::from_value(told.0["cost"].clone()).ok());
        let mut page = RunPage { cost, is_incomplete: !lost.is_empty(), ..make(&given) };
        page.about.flaws.extend(lost);
        page
    }
}

/// Parses names and values in the properties file of a run's folder. Secrets are already masked in this file.
fn properties(file: &str) -> Vec<(String, String)> {
    let lines = file.lines().filter(|line| !line.starts_with('#'));
    lines
        .filter_map(|line| line.split_once('='))
        .map(|(name, value)| (name.trim().to_owned(), value.to_owned()))
        .collect()
}

/// Returns the title of a report: the name of its run or result file.
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
