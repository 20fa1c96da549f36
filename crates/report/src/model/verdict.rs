//! The verdict of a page, with the subjects of silent rules and the charts that show a finding.

use answers::rules;
use answers::verdict::{About, Confidence, Evidence, Words};
use serde::Serialize;

use super::timeline::Timeline;
use super::words;

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
    /// The data missing to say whether the load reached a limit of the target.
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
    pub metric: String,
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
        let wanted = charts(of.id, of.about);
        let there = |id: &&&str| timeline.charts.iter().any(|chart| chart.id == **id);
        Self {
            id: of.id,
            about: of.about,
            confidence: of.confidence,
            words: of.words.clone(),
            evidence: of.evidence.iter().map(shown).collect(),
            exonerates: of.exonerates.clone(),
            advice: of.advice.clone(),
            doc: of.doc.clone(),
            charts: wanted.iter().filter(there).map(|id| (*id).to_owned()).collect(),
        }
    }
}

fn shown(of: &Evidence) -> Shown {
    Shown {
        metric: of.metric.clone(),
        value: of.value,
        unit: of.unit,
        interval: of.interval,
        from_ms: of.from_ms,
        to_ms: of.to_ms,
    }
}

/// Returns the ids of the charts that show a finding.
fn charts(id: &str, about: About) -> &'static [&'static str] {
    match id {
        id if id.contains("error")
            || id.contains("reset")
            || id.contains("timeout")
            || id.contains("breaker") =>
        {
            &["errors", "response"]
        }
        id if id.contains("port") => &["ports", "opened"],
        id if id.contains("tls") || id.contains("churn") || id.contains("accept") => {
            &["opened", "tls", "connect"]
        }
        id if id.contains("network") || id.contains("zero") => &["segments", "bytes"],
        "bandwidth" => &["bytes"],
        _ if about == About::Generator => &["cpu", "own", "waiting"],
        _ => &["load", "response"],
    }
}
