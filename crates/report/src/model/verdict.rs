//! The verdict of a page, with the subjects of silent rules and the charts that show a finding.

use answers::rules;
use answers::verdict::{About, Confidence, Evidence, Subject, Words};
use serde::Serialize;

use super::timeline::Timeline;
use super::{Chart, words};
use crate::captions::evidence;

/// Largest number of charts of a finding.
const MOST_CHARTS: usize = 4;

#[derive(Debug, Serialize)]
pub struct Verdict {
    pub findings: Vec<Finding>,
    pub hidden: Vec<Finding>,
    pub silent: Vec<Rule>,
    pub unchecked: Vec<Unchecked>,
    /// The reason why the data do not decide whether anything is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undecided: Option<Words>,
    /// The rules of `unchecked`, grouped by the data that they lack, one line per group. The page's script has its own
    /// list.
    #[serde(skip)]
    pub lacking: Vec<Words>,
    /// The data that are missing for deciding whether the load reached a limit of the target.
    #[serde(skip)]
    pub lacks_for_limit: Option<Words>,
}

#[derive(Debug, Serialize)]
pub struct Finding {
    pub id: &'static str,
    pub about: About,
    pub confidence: Confidence,
    pub words: Words,
    pub evidence: Vec<Shown>,
    pub exonerates: Vec<Words>,
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

#[derive(Debug, Serialize)]
pub struct Rule {
    pub id: &'static str,
    pub looks_for: Words,
}

#[derive(Debug, Serialize)]
pub struct Unchecked {
    pub id: &'static str,
    pub looks_for: Words,
    pub lacks: Words,
}

impl Verdict {
    pub fn new(of: &answers::verdict::Verdict, timeline: &Timeline) -> Self {
        let findings = |list: &[answers::verdict::Finding]| {
            list.iter().map(|finding| Finding::new(finding, timeline)).collect()
        };
        let looks_for = |id| rules::looks_for(id).unwrap_or_else(|| words(id, id));
        let unchecked = |of: &answers::verdict::Unchecked| Unchecked {
            id: of.id,
            looks_for: of.looks_for.clone(),
            lacks: of.lacks.clone(),
        };
        Self {
            findings: findings(&of.findings),
            hidden: findings(&of.hidden),
            silent: of.silent.iter().map(|id| Rule { id, looks_for: looks_for(id) }).collect(),
            unchecked: of.unchecked.iter().map(unchecked).collect(),
            undecided: of.undecided.clone(),
            lacking: of.lacking(),
            lacks_for_limit: of.lacks_for_limit().cloned(),
        }
    }
}

impl Finding {
    fn new(of: &answers::verdict::Finding, timeline: &Timeline) -> Self {
        let wanted = rules::charts(of.id).iter();
        let ids = wanted.flat_map(|wanted| ids(wanted, of, timeline));
        Self {
            id: of.id,
            about: of.about,
            confidence: of.confidence,
            words: of.words.clone(),
            evidence: of.evidence.iter().map(|one| shown(of, one)).collect(),
            exonerates: of.exonerates.clone(),
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
}
