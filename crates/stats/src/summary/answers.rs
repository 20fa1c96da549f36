//! The summary's block on requests that succeeded by themselves, and on responses that were as expected; see
//! [`crate::checks`].

use serde::Serialize;

use crate::checks::Checks;
use crate::grouped::{count, cut_percent, things};
use crate::totals::{Row, Totals};

/// Maximum number of labels in the summary's text; its JSON contains all.
const SHOWN: usize = 5;

/// Results of requests and of assertions in a run with assertions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answers {
    /// Number of requests that succeeded apart from assertions: a complete response with a status below 400.
    pub requests_succeeded: u64,
    /// Number of responses that assertions checked.
    pub checked: u64,
    /// Number of checked responses for which all assertions passed.
    pub as_expected: u64,
    /// Percentage of checked responses that were as expected; `None` if no response was checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checks_percent: Option<f64>,
    /// Labels with checked responses, the lowest percentage first. The list includes transactions with assertions; the
    /// sums above do not include transactions.
    pub labels: Vec<OfLabel>,
    /// Number of all requests.
    #[serde(skip)]
    requests: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OfLabel {
    pub label: String,
    #[serde(skip_serializing_if = "is_false")]
    pub transaction: bool,
    pub checked: u64,
    pub as_expected: u64,
    pub checks_percent: f64,
}

impl Answers {
    /// Computes the block. Returns `None` if no response was checked, unless the plan has assertions (`has_assertions`)
    /// and requests were made.
    pub(super) fn new(totals: &Totals, requests: &Row, has_assertions: bool) -> Option<Self> {
        let Checks { checked, failed, .. } = requests.tally.checks;
        let of = |row: &Row| {
            let checks = row.tally.checks;
            Some(OfLabel {
                label: row.name.to_string(),
                transaction: row.transaction,
                checked: checks.checked,
                as_expected: checks.expected(),
                checks_percent: checks.percent()?,
            })
        };
        let mut labels: Vec<OfLabel> = totals.rows().iter().filter_map(of).collect();
        labels.sort_by(|a, b| {
            let worse = a.checks_percent.total_cmp(&b.checks_percent);
            worse.then_with(|| a.label.cmp(&b.label))
        });
        let is_known = checked > 0 || (has_assertions && requests.tally.count > 0);
        is_known.then(|| Self {
            requests_succeeded: requests.tally.count.saturating_sub(failed),
            checked,
            as_expected: requests.tally.checks.expected(),
            checks_percent: requests.tally.checks.percent(),
            labels,
            requests: requests.tally.count,
        })
    }

    pub(super) fn text(&self) -> String {
        let share = |part: u64, of: u64| cut_percent(part as f64 * 100.0 / of.max(1) as f64);
        let mut out = format!(
            "Requests        {} of {} succeeded ({}), by transport and status\n",
            count(self.requests_succeeded),
            count(self.requests),
            share(self.requests_succeeded, self.requests),
        );
        if self.checked == 0 {
            out.push_str("Responses       none checked: no assertion ran on a response\n");
            return out;
        }
        out.push_str(&format!(
            "Responses       {} of {} checked as expected ({}), by their assertions\n",
            count(self.as_expected),
            count(self.checked),
            share(self.as_expected, self.checked),
        ));
        let bad = || self.labels.iter().filter(|label| label.as_expected < label.checked);
        let shown: Vec<String> = bad().take(SHOWN).map(OfLabel::text).collect();
        if !shown.is_empty() && self.labels.len() > 1 {
            let more = bad().count() - shown.len();
            let more = if more > 0 {
                format!(" and {}", things(more as u64, "more label"))
            } else {
                String::new()
            };
            out.push_str(&format!("                not as expected: {}{more}\n", shown.join(", ")));
        }
        out
    }
}

impl OfLabel {
    fn text(&self) -> String {
        let bad = self.checked - self.as_expected;
        let kind = if self.transaction { "transaction " } else { "" };
        format!("{kind}{} ({} of {})", self.label, count(bad), count(self.checked))
    }
}

fn is_false(value: &bool) -> bool {
    !value
}
