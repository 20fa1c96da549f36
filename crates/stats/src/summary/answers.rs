//! Requests that succeeded by themselves beside answers that were as expected; see [`crate::checks`].

use serde::Serialize;

use crate::checks::Checks;
use crate::grouped::{count, cut_percent, things};
use crate::totals::{Row, Totals};

/// Labels in the text; the JSON has all.
const SHOWN: usize = 5;

/// Both figures of a run with assertions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answers {
    /// Requests whose transport and status were good.
    pub requests_succeeded: u64,
    /// Answers that assertions checked.
    pub checked: u64,
    /// Of them those for which all assertions held.
    pub as_expected: u64,
    /// Percent.
    pub checks_percent: f64,
    /// Labels with checked answers, the worst share first.
    pub labels: Vec<OfLabel>,
    /// All requests.
    #[serde(skip)]
    requests: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OfLabel {
    pub label: String,
    pub checked: u64,
    pub as_expected: u64,
    pub checks_percent: f64,
}

impl Answers {
    /// `None` where no assertion ran.
    pub(super) fn new(totals: &Totals, requests: &Row) -> Option<Self> {
        let Checks { checked, failed, .. } = requests.tally.checks;
        let checks_percent = requests.tally.checks.percent()?;
        let of = |row: &Row| {
            let checks = row.tally.checks;
            Some(OfLabel {
                label: row.name.to_string(),
                checked: checks.checked,
                as_expected: checks.expected(),
                checks_percent: checks.percent()?,
            })
        };
        let mut labels: Vec<OfLabel> =
            totals.rows().iter().filter(|row| !row.transaction).filter_map(of).collect();
        labels.sort_by(|a, b| {
            let worse = a.checks_percent.total_cmp(&b.checks_percent);
            worse.then_with(|| a.label.cmp(&b.label))
        });
        Some(Self {
            requests_succeeded: requests.tally.count.saturating_sub(failed),
            checked,
            as_expected: requests.tally.checks.expected(),
            checks_percent,
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
        out.push_str(&format!(
            "Answers         {} of {} checked were as expected ({}), by their assertions\n",
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
        format!("{} of {} of {}", count(bad), count(self.checked), self.label)
    }
}
