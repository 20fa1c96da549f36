//! Records from folders of runs and from result files.

use std::path::Path;

use answers::verdict::{About, Verdict, Words};
use record::Record;
use report::model::words;
use stats::jtl::Columns;

/// The record of a run's folder, also of one that goes on.
pub(crate) fn of_run(folder: &Path) -> Result<Record, String> {
    Record::read(folder).map_err(|error| error.to_string())
}

/// The record of a run's folder, of the file in it, or of a result file.
pub(crate) fn read(path: &Path, columns: &Columns) -> Result<Record, String> {
    Record::open(path, columns).map_err(|error| super::refusal(&error))
}

/// From the first run's start to the last one's end, epoch ms. `known`: the record of one of them, for those that cannot
/// be read.
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

/// The first finding of a verdict on the generator, as a clause without its full stop: what was measured says little about
/// the target.
pub(crate) fn doubt(verdict: &Verdict) -> Option<Words> {
    let mut findings = verdict.findings.iter();
    let finding = findings.find(|finding| finding.about == About::Generator)?;
    let Words { en, zh } = &finding.words;
    Some(words(en.trim_end_matches('.'), zh.trim_end_matches('。')))
}
