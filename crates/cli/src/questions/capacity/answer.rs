//! The answer of a search as its file has it: the bounds, the probes, and the limit that they have found.

use std::path::{Path, PathBuf};

use answers::search::{Answer, Purpose};
use answers::verdict::{About, Finding};
use report::model::capacity::{self as page, Searched, Speaking};
use report::model::sweep::Axis;
use report::model::{CapacityPage, Criterion};
use serde::{Deserialize, Serialize};

use super::judge::Judged;
use super::probe::Done;
use crate::questions::{results, sweep};

/// A search as its file has it.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Capacity {
    pub(super) plan: PathBuf,
    /// `users` or `rps`: what was searched.
    pub(super) axis: String,
    pub(super) criteria: Vec<String>,
    pub(super) answer: Answer,
    /// The answer is a lower bound of what the target can take: nothing larger was tried, or the generator, or a machine
    /// that both share, was at its limit.
    pub(super) at_least: bool,
    /// The reason for which the upper bound is one; absent where nothing failed.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub(super) limited_by: Option<LimitedBy>,
    /// It was ended, or failed, before there was an answer: the bounds are those of the probes until then.
    pub(super) unfinished: bool,
    /// The load of the last probe, if the criteria did not hold at the lightest load after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) not_recovered_from: Option<f64>,
    pub(super) probes: Vec<Done>,
}

/// The limit of a search.
#[derive(Debug, Serialize)]
pub(super) struct LimitedBy {
    /// The load of the probe that decided.
    load: f64,
    /// The criteria that did not hold there.
    criteria: Vec<Judged>,
    /// The finding that names the limit, and the load of the probe that it is of: the one that decided, or the overload.
    #[serde(skip_serializing_if = "Option::is_none")]
    finding: Option<Finding>,
    #[serde(skip_serializing_if = "Option::is_none")]
    finding_at: Option<f64>,
}

impl Capacity {
    fn axis(&self) -> Axis {
        if self.axis == "users" { Axis::Users } else { Axis::Rate }
    }

    /// Its probes as a page has them.
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

    /// The probe that decided.
    fn decided(&self) -> Option<&Done> {
        let probes = self.on_page();
        let searched = self.searched(&probes);
        let run = &searched.decided()?.run;
        self.probes.iter().find(|done| sweep::parent(&done.folder) == *run)
    }

    /// `None` where the run that decided cannot be read.
    pub(super) fn page(&self, folder: &Path) -> Option<CapacityPage> {
        let decided = self.speaking()?;
        let record = results::of_run(&decided.folder).ok()?;
        let probes = self.on_page();
        let lower = self.answer.lower.unwrap_or(decided.probe.load);
        let at = self.probes.iter().rev().find(|done| done.probe.load == lower);
        let one = |judged: &Judged| Criterion {
            text: judged.criterion.clone(),
            met: Some(judged.holds),
            value: judged.margin,
            shown: judged.shown.clone(),
            reason: None,
            of: None,
        };
        let criteria = at.map(|done| done.judged.iter().map(one).collect()).unwrap_or_default();
        let name = sweep::name(&folder.canonicalize().unwrap_or_else(|_| folder.to_owned()));
        let searched = self.searched(&probes);
        let span_ms = results::span(self.probes.iter().map(|done| &*done.folder), &record);
        let verdict = &decided.verdict;
        let speaking = Speaking { load: decided.probe.load, record: &record, verdict };
        Some(CapacityPage::new(&name, &speaking, span_ms, criteria, &searched))
    }

    /// The reason for which a larger load does not hold.
    pub(super) fn limit(&self) -> Option<LimitedBy> {
        self.answer.upper?;
        let decided = self.decided()?;
        let speaks = self.speaking().filter(|done| finding(done).is_some());
        Some(LimitedBy {
            load: decided.probe.load,
            criteria: decided.judged.iter().filter(|judged| !judged.holds).cloned().collect(),
            finding: speaks.and_then(finding).cloned(),
            finding_at: speaks.map(|done| done.probe.load),
        })
    }

    /// The run whose verdict stands behind the answer: the one that decided, or the overload where that one alone names
    /// the limit.
    pub(super) fn speaking(&self) -> Option<&Done> {
        let decided = self.decided()?;
        let is_overload = |done: &&Done| done.probe.purpose == Purpose::Overload;
        let overload = self.probes.iter().find(is_overload).filter(|done| !done.probe.holds);
        let overload = self.answer.upper.and(overload);
        let named = [Some(decided), overload].into_iter().flatten();
        Some(named.into_iter().find(|done| finding(done).is_some()).unwrap_or(decided))
    }
}

/// The finding of a run that names its limit.
fn finding(done: &Done) -> Option<&Finding> {
    done.verdict.findings.iter().find(|finding| finding.about != About::Test)
}
