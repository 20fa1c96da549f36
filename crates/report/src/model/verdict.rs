//! The verdict of a page: its lines, and its findings with their evidence and the charts that show them.

use answers::lines::{self, Kind, Line, Scope, lines};
use answers::rules;
use answers::verdict::{About, Confidence, Evidence, Subject, Words};
use serde::{Serialize, Serializer};

use super::timeline::Timeline;
use super::{Chart, words};
use crate::captions::evidence;

/// Largest number of charts of a finding.
const MOST_CHARTS: usize = 4;

#[derive(Debug, Serialize)]
pub struct Verdict {
    pub findings: Vec<Finding>,
    pub hidden: Vec<Finding>,
    /// The lines of the verdict. Lines of findings are not serialized, because the page's script builds them from
    /// `findings`.
    #[serde(serialize_with = "without_findings")]
    pub lines: Vec<Line>,
}

fn without_findings<S: Serializer>(lines: &[Line], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(lines.iter().filter(|line| !line.kind.is_of_finding()))
}

#[derive(Debug, Serialize)]
pub struct Finding {
    pub id: &'static str,
    pub about: About,
    pub confidence: Confidence,
    /// Confidence, and the part of the test that the finding concerns, in words.
    pub tags: [Words; 2],
    pub words: Words,
    pub evidence: Vec<Shown>,
    /// The line about causes that the figures exclude.
    pub not_the_cause: Option<Line>,
    pub advice: Words,
    pub doc: String,
    pub charts: Vec<String>,
}

#[derive(Debug, Serialize)]
pub struct Shown {
    pub metric: Words,
    pub value: f64,
    pub unit: &'static str,
    pub interval: Option<(f64, f64)>,
    pub from_ms: i64,
    pub to_ms: i64,
}

impl Verdict {
    pub fn new(of: &answers::verdict::Verdict, scope: Scope, timeline: &Timeline) -> Self {
        let findings = |list: &[answers::verdict::Finding]| {
            list.iter().map(|finding| Finding::new(finding, timeline)).collect()
        };
        Self {
            findings: findings(&of.findings),
            hidden: findings(&of.hidden),
            lines: lines(of, scope),
        }
    }

    /// True if the verdict has a line of this kind.
    pub(crate) fn has(&self, kind: Kind) -> bool {
        self.lines.iter().any(|line| line.kind == kind)
    }

    /// Returns the lines of a short layout: those up to the first `most` findings, the number of findings that are left
    /// out, and the lines after the findings. What was checked is left out if there are findings.
    pub(crate) fn short(&self, most: usize) -> (Vec<&Line>, usize, Vec<&Line>) {
        let is_after = |line: &&Line| line.kind == Kind::Held || line.kind.is_check();
        let (mut after, mut lines): (Vec<_>, Vec<_>) = self.lines.iter().partition(is_after);
        let mut findings = 0;
        lines.retain(|line| {
            findings += usize::from(line.kind == Kind::Finding);
            findings <= most
        });
        after.retain(|line| findings == 0 || !line.kind.is_check());
        (lines, findings.saturating_sub(most), after)
    }
}

impl Finding {
    fn new(of: &answers::verdict::Finding, timeline: &Timeline) -> Self {
        let wanted = rules::charts(of.id).iter();
        let ids = wanted.flat_map(|wanted| ids(wanted, of, timeline));
        let lines = lines::finding(of);
        Self {
            id: of.id,
            about: of.about,
            confidence: of.confidence,
            tags: [of.confidence.words(), of.about.words()],
            words: of.words.clone(),
            evidence: of.evidence.iter().map(|one| shown(of, one)).collect(),
            not_the_cause: lines.into_iter().find(|line| line.kind == Kind::NotTheCause),
            advice: of.advice.clone(),
            doc: of.doc.clone(),
            charts: ids.take(MOST_CHARTS).collect(),
        }
    }
}

/// Returns the ids of the charts that an entry of [`rules::charts`] stands for. If the entry stands for the charts of
/// several hosts or series, only those that the finding names are returned, or all if it names none.
fn ids(wanted: &str, of: &answers::verdict::Finding, timeline: &Timeline) -> Vec<String> {
    let is_wanted = |id: &str| id == wanted || wanted.ends_with('.') && id.starts_with(wanted);
    let all: Vec<&Chart> = timeline.charts.iter().filter(|chart| is_wanted(&chart.id)).collect();
    let is_named = |chart: &&Chart| chart.subject.iter().any(|one| of.subjects.contains(one));
    let named: Vec<&Chart> = all.iter().copied().filter(is_named).collect();
    let shown = if named.is_empty() { all } else { named };
    shown.into_iter().map(|chart| chart.id.clone()).collect()
}

/// Returns a metric of a finding. Metrics about series have the names that the user gave to these series, which
/// need no translation.
fn shown(finding: &answers::verdict::Finding, of: &Evidence) -> Shown {
    let is_series = |one: &Subject| matches!(one, Subject::Series(name) if *name == of.metric);
    Shown {
        metric: if finding.subjects.iter().any(is_series) {
            words(&*of.metric, &*of.metric)
        } else {
            evidence::name(&of.metric)
        },
        value: of.value,
        unit: of.unit,
        interval: of.interval,
        from_ms: of.from_ms,
        to_ms: of.to_ms,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use answers::verdict::Finding as Found;

    use super::*;

    /// Returns the ids of all charts, from the source files that draw them.
    fn drawn() -> Vec<String> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/model/charts");
        let paths = std::fs::read_dir(folder).expect("a folder").map(|one| one.expect("an entry"));
        let texts = paths.map(|one| std::fs::read_to_string(one.path()).expect("a source file"));
        let text = texts.collect::<Vec<_>>().concat();
        let ids = text.split("draft(\"").skip(1).filter_map(|rest| rest.split('"').next());
        ids.chain(["watched.", "series."]).map(str::to_owned).collect()
    }

    #[test]
    fn charts_belong_to_rules() {
        let drawn = drawn();
        for id in rules::ALL.iter().map(|rule| rule.id).chain(rules::ADDED.iter().copied()) {
            let charts = rules::charts(id);
            assert!(!charts.is_empty(), "{id} has no chart");
            for chart in charts {
                assert!(drawn.iter().any(|one| one == chart), "{id}: {chart} is no chart");
            }
        }
        // The ports of a watched host are not those of the generator.
        assert_eq!(rules::charts("ports"), ["ports", "opened"]);
        assert_eq!(rules::charts("host_ports"), ["watched."]);
        assert_eq!(rules::charts("machine_busy"), ["cpu", "own", "waiting"]);
    }

    fn found(id: &'static str, subjects: Vec<Subject>, metric: &str) -> Found {
        let (metric, unit) = (metric.to_owned(), "count");
        let (interval, from_ms, to_ms) = (None, 0, 0);
        Found {
            id,
            about: About::Target,
            confidence: Confidence::Hint,
            words: words("", ""),
            evidence: vec![Evidence { metric, value: 1.0, unit, interval, from_ms, to_ms }],
            exonerates: Vec::new(),
            advice: words("", ""),
            doc: String::new(),
            explains: &[],
            subjects,
        }
    }

    fn host(name: &str) -> Subject {
        Subject::Host(name.into())
    }

    fn series(name: &str) -> Subject {
        Subject::Series(name.into())
    }

    /// Returns the charts of a finding about these subjects, of a run with the hosts `app` and `app-2` and two series.
    fn shown_for(id: &'static str, subjects: Vec<Subject>) -> Vec<String> {
        let mut timeline = Timeline::none();
        for (id, subject) in [
            ("watched.app.share", host("app")),
            ("watched.app-2.share", host("app-2")),
            ("series.0", series("queue")),
            ("series.1", series("threads")),
        ] {
            timeline.charts.push(Chart {
                id: id.into(),
                title: words("", ""),
                caption: words("", ""),
                columns: Vec::new(),
                log: false,
                bands: Vec::new(),
                page: "time",
                subject: Some(subject),
            });
        }
        Finding::new(&found(id, subjects, "cpu"), &timeline).charts
    }

    #[test]
    fn a_finding_shows_the_charts_of_its_host_or_series() {
        let both = ["watched.app.share", "watched.app-2.share"];
        assert_eq!(shown_for("host_busy", vec![host("app")]), both[..1]);
        assert_eq!(shown_for("host_busy", vec![host("app-2")]), both[1..]);
        assert_eq!(shown_for("host_busy", Vec::new()), both);
        assert_eq!(shown_for("series_level", vec![series("threads")]), ["series.1"]);
    }

    #[test]
    fn a_series_keeps_the_name_that_the_user_gave_it() {
        let metric = |subjects| {
            let found = found("series_level", subjects, "errors");
            shown(&found, &found.evidence[0]).metric
        };
        assert_eq!(metric(vec![series("errors")]), words("errors", "errors"));
        assert_eq!(metric(Vec::new()).en, "Failed requests");
    }

    #[test]
    fn a_short_layout_has_the_first_findings_or_what_was_checked() {
        let kinds = |verdict: &answers::verdict::Verdict| {
            let scope = Scope::Run { not_met: false };
            let verdict = Verdict::new(verdict, scope, &Timeline::none());
            let (lines, left, after) = verdict.short(1);
            let kinds = |of: &[&Line]| of.iter().map(|line| line.kind).collect::<Vec<_>>();
            (kinds(&lines), left, kinds(&after))
        };
        let mut verdict = answers::verdict::Verdict { silent: vec!["ports"], ..Default::default() };
        let checks = vec![Kind::Counts, Kind::Checked];
        assert_eq!(kinds(&verdict), (vec![Kind::Nothing], 0, checks));
        verdict.findings = vec![found("drift", Vec::new(), "cpu"); 3];
        verdict.hidden = vec![found("plateau", Vec::new(), "cpu")];
        let first = vec![Kind::Finding, Kind::Explain];
        assert_eq!(kinds(&verdict), (first, 2, vec![Kind::Held]));
    }
}
