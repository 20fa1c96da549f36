//! Text output of a search: first the conclusion, then the probes.

use answers::lines::{Kind, Line, lines};
use answers::verdict::Language;
use report::model::capacity::Searched;

use super::FILE;
use super::answer::{Capacity, limiting};
use super::probe::{Done, EndedBy};
use crate::judge::verdict;
use crate::print::tty;
use crate::questions::figures::{fitted, load, number};

/// Formats one probe of the search as a line.
pub(super) fn line(done: &Done) -> String {
    let judged: Vec<String> = done
        .judged
        .iter()
        .map(|judged| format!("{} ({})", judged.criterion, judged.shown))
        .collect();
    let result = if done.probe.generator {
        "inconclusive, the generator or its machine was overloaded"
    } else if done.probe.undecided {
        "undecided, too few samples"
    } else if done.probe.holds {
        "holds"
    } else {
        "does not hold"
    };
    let ended = match done.ended_by {
        EndedBy::Precision => format!("; clear after {:.0} s", done.seconds),
        EndedBy::Time => String::new(),
    };
    format!("{result}: {}; {}/s succeeded{ended}", judged.join(", "), number(done.probe.rate))
}

/// Columns that are left out first on a narrow terminal: samples, the reason for the end, p50, requests in flight,
/// seconds.
const GIVE_WAY: [usize; 5] = [6, 8, 4, 3, 7];

pub(super) fn page(capacity: &Capacity) -> String {
    let unit = if capacity.axis == "users" { "users" } else { "starts/s" };
    let probes = capacity.on_page();
    let searched = capacity.searched(&probes);
    let mut out: String = searched.sentences().into_iter().map(|words| words.en + "\n").collect();
    for note in searched.notes() {
        out.push_str(&format!("- {}\n", note.en));
    }
    out.push('\n');
    out.push_str(&what_limited(capacity, &searched));
    let heading = [
        "probe",
        unit,
        "succeeded/s",
        "in flight",
        "p50 ms",
        "p99 ms",
        "samples",
        "s",
        "ended by",
        "result",
    ];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    for (at, (done, shown)) in capacity.probes.iter().zip(&probes).enumerate() {
        rows.push(vec![
            format!("{} {}", at + 1, shown.kind.en),
            load(done.probe.load),
            number(done.probe.rate),
            number(done.in_flight),
            number(done.p50),
            number(done.p99),
            done.samples.to_string(),
            format!("{:.0}", done.seconds),
            done.ended_by.word().to_owned(),
            shown.words.en.clone(),
        ]);
    }
    out.push_str(&fitted(&rows, &GIVE_WAY, FILE));
    out.push_str("Times are response times.\n");
    out
}

/// Formats the verdict on the deciding probe, or on the overload probe if only that one names a cause of the limit.
fn what_limited(capacity: &Capacity, searched: &Searched<'_>) -> String {
    let Some(done) = capacity.speaking() else { return String::new() };
    let found = limiting(done);
    let heading = searched.limited_by(done.probe.load, &found);
    let lines = lines(&found, searched.scope());
    let has_findings = !found.findings.is_empty();
    let is_shown = |line: &&Line| match line.kind {
        Kind::Counts => !has_findings,
        kind => !kind.is_check(),
    };
    let shown = lines.iter().filter(is_shown);
    let text = verdict::layout(shown, Language::English, tty::output_width());
    format!("{}\n{text}\n", heading.en)
}
