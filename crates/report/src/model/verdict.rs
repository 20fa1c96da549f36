//! The verdict of a page, with the subjects of silent rules and the charts that show a finding.

use answers::rules;
use answers::verdict::{About, Confidence, Evidence, Words};
use serde::Serialize;

use super::timeline::Timeline;
use super::{Chart, is_series, words};
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
        let wanted = charts(of.id, of.about).iter();
        let ids = wanted.flat_map(|wanted| ids(wanted, of, timeline));
        Self {
            id: of.id,
            about: of.about,
            confidence: of.confidence,
            words: of.words.clone(),
            evidence: of.evidence.iter().map(|one| shown(of.id, one)).collect(),
            exonerates: of.exonerates.clone(),
            advice: of.advice.clone(),
            doc: of.doc.clone(),
            charts: ids.take(MOST_CHARTS).collect(),
        }
    }
}

/// Returns the ids of the charts that an entry of [`CHARTS`] stands for. If the entry stands for the charts of
/// several hosts or series, only those that the finding names are returned, or all if it names none.
fn ids(wanted: &str, of: &answers::verdict::Finding, timeline: &Timeline) -> Vec<String> {
    let is_wanted = |id: &str| id == wanted || wanted.ends_with('.') && id.starts_with(wanted);
    let all: Vec<&Chart> = timeline.charts.iter().filter(|chart| is_wanted(&chart.id)).collect();
    let named: Vec<&Chart> = all.iter().copied().filter(|chart| is_about(of, chart)).collect();
    let shown = if named.is_empty() { all } else { named };
    shown.into_iter().map(|chart| chart.id.clone()).collect()
}

/// Returns true if a finding names the host or the series of a chart.
fn is_about(of: &answers::verdict::Finding, chart: &Chart) -> bool {
    let title = &*chart.title.en;
    if is_series(&chart.id) {
        return of.evidence.iter().any(|one| one.metric == title);
    }
    let goes_on = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    title.rsplit_once(':').is_some_and(|(host, _)| {
        of.words.en.match_indices(host).any(|(at, _)| {
            let (before, after) = (&of.words.en[..at], &of.words.en[at + host.len()..]);
            !before.ends_with(goes_on) && !after.starts_with(goes_on)
        })
    })
}

/// Returns a metric of a finding. Metrics about series have the names that the user gave to these series, which
/// need no translation.
fn shown(finding: &str, of: &Evidence) -> Shown {
    let is_series = matches!(finding, "series_level" | "series_moves");
    Shown {
        metric: if is_series {
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

/// Charts that show the findings of each rule, the most telling first. An id that ends with a dot stands for all charts
/// whose ids begin with it.
const CHARTS: &[(&str, &[&str])] = &[
    ("files_exhausted", &["errors", "cpu"]),
    ("workers_lost", &["load", "cpu"]),
    ("generator_stalled", &["waiting", "cpu"]),
    ("java_pauses", &["waiting", "cpu"]),
    ("reading_stopped", &["messages", "memory"]),
    ("messages_dropped", &["messages", "memory"]),
    ("unread_growing", &["messages", "memory"]),
    ("zero_windows", &["segments", "bytes"]),
    ("generator_memory", &["memory"]),
    ("target_down", &["errors", "load"]),
    ("errors_named", &["errors", "response"]),
    ("queue_grows", &["load", "flight"]),
    ("concurrency_limit", &["load", "response", "flight"]),
    ("plateau", &["load", "response", "flight"]),
    ("ports", &["ports", "opened"]),
    ("host_ports", &["watched."]),
    ("host_churn", &["watched."]),
    ("host_sessions", &["watched."]),
    ("host_uneven", &["watched."]),
    ("host_busy", &["watched."]),
    ("host_java", &["watched."]),
    ("plan_fault", &["errors"]),
    ("cut_by_end", &["errors", "load"]),
    ("fails_above", &["errors", "flight"]),
    ("reset_under_load", &["errors", "load"]),
    ("connection_churn", &["opened", "connect"]),
    ("tls_cost", &["tls", "opened", "cpu"]),
    ("fixed_timeout", &["errors", "response"]),
    ("accept_queue", &["connect", "response"]),
    ("rate_limit", &["errors", "load"]),
    ("late_starts", &["load", "response"]),
    ("network_loss", &["segments", "bytes"]),
    ("bandwidth", &["bytes"]),
    ("delayed_ack", &["phases", "response"]),
    ("circuit_breaker", &["errors", "response"]),
    ("series_level", &["series."]),
    ("series_moves", &["series.", "response"]),
];

/// Returns the ids of the charts that show a finding.
fn charts(id: &str, about: About) -> &'static [&'static str] {
    match CHARTS.iter().find(|(rule, _)| *rule == id) {
        Some((_, charts)) => charts,
        None if about == About::Generator => &["cpu", "own", "waiting"],
        None => &["load", "response"],
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
        for (id, charts) in CHARTS {
            let known = rules::looks_for(id).is_some() || rules::ADDED.contains(id);
            assert!(known && !charts.is_empty(), "{id} is no rule");
            for chart in *charts {
                assert!(drawn.iter().any(|one| one == chart), "{id}: {chart} is no chart");
            }
        }
        // The ports of a watched host are not those of the generator.
        assert_eq!(charts("ports", About::Generator), ["ports", "opened"]);
        assert_eq!(charts("host_ports", About::Target), ["watched."]);
        assert_eq!(charts("machine_busy", About::Generator), ["cpu", "own", "waiting"]);
    }

    /// Returns the charts of a finding with this text, from charts of the hosts `app` and `app-2` and of two
    /// series.
    fn shown_for(id: &'static str, text: &str, metric: &str) -> Vec<String> {
        let mut timeline = Timeline::none();
        for (id, title) in [
            ("watched.app.share", "app: shares"),
            ("watched.app-2.share", "app-2: shares"),
            ("series.0", "queue"),
            ("series.1", "threads"),
        ] {
            timeline.charts.push(Chart {
                id: id.into(),
                title: words(title, title),
                caption: words("", ""),
                columns: Vec::new(),
                log: false,
                bands: Vec::new(),
                page: "time",
            });
        }
        let (metric, unit) = (metric.to_owned(), "count");
        let (interval, from_ms, to_ms) = (None, 0, 0);
        let found = Found {
            id,
            about: About::Target,
            confidence: Confidence::Hint,
            words: words(text, text),
            evidence: vec![Evidence { metric, value: 1.0, unit, interval, from_ms, to_ms }],
            exonerates: Vec::new(),
            advice: words("", ""),
            doc: String::new(),
            explains: &[],
        };
        Finding::new(&found, &timeline).charts
    }

    #[test]
    fn a_finding_shows_the_charts_of_its_host_or_series() {
        let both = ["watched.app.share", "watched.app-2.share"];
        assert_eq!(shown_for("host_busy", "The processors of app are busy.", "cpu"), both[..1]);
        assert_eq!(shown_for("host_busy", "Busy without load: app-2.", "cpu"), both[1..]);
        assert_eq!(shown_for("host_busy", "A host is busy.", "cpu"), both);
        assert_eq!(shown_for("series_level", "threads stays at 16.", "threads"), ["series.1"]);
    }

    #[test]
    fn a_series_keeps_the_name_that_the_user_gave_it() {
        let evidence = Evidence {
            metric: "errors".into(),
            value: 1.0,
            unit: "count",
            interval: None,
            from_ms: 0,
            to_ms: 0,
        };
        assert_eq!(shown("series_level", &evidence).metric, words("errors", "errors"));
        assert_eq!(shown("errors_named", &evidence).metric.en, "Failed requests");
    }
}
