//! Records from folders of runs and from result files.

use std::path::Path;

use answers::verdict::{About, Verdict};
use record::Record;

/// The record of a run's folder, also of one that goes on.
pub(crate) fn of_run(folder: &Path) -> Result<Record, String> {
    Record::read(folder).map_err(|error| error.to_string())
}

/// The record of a run's folder, of the file in it, or of a result file.
pub(crate) fn read(path: &Path) -> Result<Record, String> {
    Record::open(path).map_err(|error| error.to_string())
}

/// The first finding of a verdict on the generator, as a clause without its full stop: what was measured says little about
/// the target.
pub(crate) fn doubt(verdict: &Verdict) -> Option<String> {
    let mut findings = verdict.findings.iter();
    let finding = findings.find(|finding| finding.about == About::Generator)?;
    Some(finding.words.en.trim_end_matches('.').to_owned())
}

/// Share of a processor's time from which on it counts as full, and of the seconds in which that must be so.
const FULL: f64 = 0.95;
const MOST_SECONDS: f64 = 0.25;
/// Share of the starts that may be missing of those that a rate asks for.
const MISSED: f64 = 0.01;

/// The reason for which a run is not to be compared, if there is one: the processors of its generator were full, or it
/// did not make the starts that the rate asked for. A pause of the generator, which a verdict names, too, is none.
pub(crate) fn generator_at_limit(record: &Record) -> Option<String> {
    let whole: Vec<_> = record.seconds.iter().filter(|second| second.ms >= 500).collect();
    let full = whole.iter().filter(|second| {
        let threads = second.generator.threads.min(record.frame.processors.max(1)).max(1);
        record.has.generator
            && second.generator.cpu_s * 1000.0 / f64::from(second.ms) / f64::from(threads) >= FULL
    });
    let full = full.count();
    if full >= 5 && full as f64 > MOST_SECONDS * whole.len() as f64 {
        return Some(format!("its processors were full in {full} of {} seconds", whole.len()));
    }
    let due: u64 = whole.iter().map(|second| second.due).sum();
    let missed: u64 = whole.iter().map(|second| second.missed).sum();
    // Where all users that are allowed wait for answers, it is the target that is slow.
    let waits = record
        .seconds
        .iter()
        .any(|second| second.users > 0 && second.users >= record.frame.load.users.max(1));
    (due > 0 && missed as f64 > MISSED * due as f64 && !waits)
        .then(|| format!("{missed} of {due} starts were not made"))
}
