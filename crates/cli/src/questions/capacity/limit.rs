//! The limit that a search has found: the criteria that broke, and what the runs say of it.

use answers::search::Purpose;
use answers::verdict::{About, Finding};
use serde::Serialize;

use super::judge::Judged;
use super::{Capacity, Done};

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
