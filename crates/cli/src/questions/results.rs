//! Reads records from run folders and result files.

use std::path::Path;

use answers::verdict::{About, Verdict, Words};
use record::Record;
use report::model::words;
use stats::jtl::Columns;

/// Returns the record of a run's folder. The run may still be in progress.
pub(crate) fn of_run(folder: &Path) -> Result<Record, String> {
    Record::read(folder).map_err(|error| error.to_string())
}

/// Reads a record from a run's folder, from a record file, or from a result file.
pub(crate) fn read(path: &Path, columns: &Columns) -> Result<Record, String> {
    Record::open(path, columns).map_err(|error| super::refusal(&error))
}

/// Returns the time from the first run's start to the last run's end in epoch milliseconds. `known` is the record of
/// one of these runs, used if another record cannot be read.
pub(crate) fn span<'f>(
    mut folders: impl DoubleEndedIterator<Item = &'f Path>,
    known: &Record,
) -> (i64, i64) {
    let of = |folder: Option<&Path>| folder.and_then(|folder| of_run(folder).ok());
    let (first, last) = (of(folders.next()), of(folders.next_back()));
    let first = first.as_ref().unwrap_or(known);
    let last = last.as_ref().unwrap_or(known);
    (first.frame.start_ms, last.frame.start_ms + last.frame.length_ms)
}

/// Returns the first finding of a verdict that is about the generator, without its full stop. Such a finding makes the
/// metrics of the target doubtful.
pub(crate) fn doubt(verdict: &Verdict) -> Option<Words> {
    let mut findings = verdict.findings.iter();
    let finding = findings.find(|finding| finding.about == About::Generator)?;
    let Words { en, zh } = &finding.words;
    Some(words(en.trim_end_matches('.'), zh.trim_end_matches('。')))
}
