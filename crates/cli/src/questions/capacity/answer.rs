//! The result of a capacity search as saved in its file: the bounds, the probes, and the cause of the limit.

use std::path::{Path, PathBuf};

use answers::rules;
use answers::search::{Answer, Purpose};
use answers::verdict::{About, Finding, Verdict, Words};
use report::model::capacity::{self as page, Searched, Speaking};
use report::model::sweep::Axis;
use report::model::{CapacityPage, Criterion, words};
use serde::{Deserialize, Serialize};

use super::judge::Judged;
use super::probe::{Done, EndedBy};
use crate::questions::{results, sweep};

/// Capacity search in the structure of its JSON file.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Capacity {
    pub(super) plan: PathBuf,
    /// The searched quantity: `users` or `rps`.
    pub(super) axis: String,
    pub(super) criteria: Vec<String>,
    pub(super) answer: Answer,
    /// True if the result of the search is only a lower bound of the target's capacity: no larger load was tried, or
    /// the generator or a machine shared with the target was at its limit.
    pub(super) at_least: bool,
    /// Cause of the upper bound. Absent if no probe failed.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub(super) limited_by: Option<LimitedBy>,
    /// True if the search was stopped or failed before it had a result. The bounds are then those that the finished
    /// probes show.
    pub(super) unfinished: bool,
    /// Load of the last probe, if the target no longer met the criteria at the lightest load after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) not_recovered_from: Option<f64>,
    pub(super) probes: Vec<Done>,
}

/// Cause of the limit that a search has found.
#[derive(Debug, Serialize)]
pub(super) struct LimitedBy {
    /// Load of the probe that decided the upper bound.
    load: f64,
    /// Criteria that were missed in the deciding probe.
    criteria: Vec<Judged>,
    /// The finding that names the cause of the limit: of the deciding probe or of the overload probe.
    #[serde(skip_serializing_if = "Option::is_none")]
    finding: Option<Finding>,
    /// Load of the probe that has the finding.
    #[serde(skip_serializing_if = "Option::is_none")]
    finding_at: Option<f64>,
}

impl Capacity {
    fn axis(&self) -> Axis {
        if self.axis == "users" { Axis::Users } else { Axis::Rate }
    }

    /// Returns the probes in the structure of the report page.
    pub(super) fn on_page(&self) -> Vec<page::Probe> {
        self.probes.iter().map(Done::on_page).collect()
    }

    pub(super) fn searched<'a>(&'a self, probes: &'a [page::Probe]) -> Searched<'a> {
        Searched {
            axis: self.axis(),
            criteria: &self.criteria,
            answer: &self.answer,
            unfinished: self.unfinished,
            not_recovered_from: self.not_recovered_from,
            probes,
        }
    }

    /// Returns the probe that decided the upper bound of the search.
    fn decided(&self) -> Option<&Done> {
        let probes = self.on_page();
        let searched = self.searched(&probes);
        let run = &searched.decided()?.run;
        self.probes.iter().find(|done| sweep::parent(&done.folder) == *run)
    }

    /// Builds the report page. Returns `None` if the record of the deciding run cannot be read.
    pub(super) fn page(&self, folder: &Path) -> Option<CapacityPage> {
        let decided = self.speaking()?;
        let record = results::of_run(&decided.folder).ok()?;
        let probes = self.on_page();
        let lower = self.answer.lower.unwrap_or(decided.probe.load);
        let at = self.probes.iter().rev().find(|done| done.probe.load == lower);
        let one = |judged: &Judged| Criterion {
            text: judged.criterion.clone(),
            met: (!judged.undecided).then_some(judged.holds),
            value: judged.margin,
            shown: shown(judged),
            reason: None,
            of: None,
        };
        let criteria = at.map(|done| done.judged.iter().map(one).collect()).unwrap_or_default();
        let name = sweep::name(&folder.canonicalize().unwrap_or_else(|_| folder.to_owned()));
        let searched = self.searched(&probes);
        let span_ms = results::span(self.probes.iter().map(|done| &*done.folder), &record);
        let verdict = &limiting(decided);
        let speaking = Speaking { load: decided.probe.load, record: &record, verdict };
        Some(CapacityPage::new(&name, &speaking, span_ms, criteria, &searched))
    }

    /// Returns the reason why the criteria do not hold at a larger load.
    pub(super) fn limit(&self) -> Option<LimitedBy> {
        self.answer.upper?;
        let decided = self.decided()?;
        let speaks = self.speaking().filter(|done| finding(done).is_some());
        Some(LimitedBy {
            load: decided.probe.load,
            criteria: decided.judged.iter().filter(|judged| !judged.holds).cloned().collect(),
            finding: speaks.and_then(finding),
            finding_at: speaks.map(|done| done.probe.load),
        })
    }

    /// Returns the probe whose verdict explains the result of the search: the deciding probe, or the overload probe
    /// if only its verdict names a cause of the limit.
    pub(super) fn speaking(&self) -> Option<&Done> {
        let decided = self.decided()?;
        let is_overload = |done: &&Done| done.probe.purpose == Purpose::Overload;
        let overload = self.probes.iter().find(is_overload).filter(|done| !done.probe.is_within());
        let overload = self.answer.upper.and(overload);
        let named = [Some(decided), overload].into_iter().flatten();
        Some(named.into_iter().find(|done| finding(done).is_some()).unwrap_or(decided))
    }
}

/// Returns the verdict on a probe without the findings that are not about the limit of the target. Two findings are
/// removed: too few samples (a probe is not judged before it has enough samples for the criteria; only without any
/// sample, the finding gives the reason) and requests cut by the end of the run. An interrupt by the search itself does
/// not make the probe undecided: the search interrupts a probe as soon as the result is clear.
pub(super) fn limiting(done: &Done) -> Verdict {
    let mut found = done.verdict.clone();
    if done.samples > 0 {
        found.remove("too_few_samples");
    }
    found.remove("cut_by_end");
    if matches!(done.ended_by, EndedBy::Precision) {
        found.undecided = found.undecided.filter(|reason| *reason != rules::interrupted());
    }
    found
}

/// Returns the finding of a probe that names a cause of the limit.
fn finding(done: &Done) -> Option<Finding> {
    limiting(done).findings.into_iter().find(|finding| finding.about != About::Test)
}

/// Returns the value of a criterion in both languages. Results that an older version stored contain the value only in
/// English.
fn shown(judged: &Judged) -> Words {
    let zh = if judged.shown_zh.is_empty() { &judged.shown } else { &judged.shown_zh };
    words(judged.shown.clone(), zh.clone())
}

#[cfg(test)]
mod tests {
    use answers::search::Probe;
    use answers::verdict::Confidence;

    use super::*;

    fn done(ended_by: EndedBy, samples: u64, verdict: Verdict) -> Done {
        let probe = Probe {
            load: 40.0,
            purpose: Purpose::Narrow,
            rate: 10.0,
            trials: Vec::new(),
            holds: true,
            undecided: false,
            margin: None,
            noise: None,
            certain: false,
            generator: false,
        };
        Done {
            probe,
            seconds: 25.0,
            ended_by,
            samples,
            p50: 1.0,
            p95: None,
            p99: 2.0,
            errors: 0.0,
            in_flight: 1.0,
            judged: Vec::new(),
            generator_finding: None,
            shared: None,
            verdict,
            folder: PathBuf::new(),
        }
    }

    fn found(id: &'static str) -> Verdict {
        let finding = Finding {
            id,
            about: About::Run,
            confidence: Confidence::Certain,
            words: words("A.", "甲。"),
            evidence: Vec::new(),
            exonerates: Vec::new(),
            advice: words("", ""),
            doc: String::new(),
            explains: &[],
            subjects: Vec::new(),
        };
        Verdict { findings: vec![finding], ..Verdict::default() }
    }

    #[test]
    fn a_probe_that_the_search_ended_is_not_undecided() {
        let interrupted =
            || Verdict { undecided: Some(rules::interrupted()), ..Verdict::default() };
        let clear = done(EndedBy::Precision, 1000, interrupted());
        assert_eq!(limiting(&clear).undecided, None);
        // Something else interrupted the run.
        let cut = done(EndedBy::Time, 1000, interrupted());
        assert_eq!(limiting(&cut).undecided, Some(rules::interrupted()));
        let other = Verdict { undecided: Some(words("x", "甲")), ..Verdict::default() };
        assert!(limiting(&done(EndedBy::Precision, 1000, other)).undecided.is_some());
    }

    #[test]
    fn only_a_probe_without_samples_is_explained_by_too_few_samples() {
        let few = |samples| done(EndedBy::Time, samples, found("too_few_samples"));
        assert!(finding(&few(1000)).is_none());
        assert!(finding(&few(0)).is_some());
        assert!(finding(&done(EndedBy::Time, 1000, found("cut_by_end"))).is_none());
        assert!(finding(&done(EndedBy::Time, 1000, found("plateau"))).is_some());
    }
}
