//! Iteration starts for a requested rate, and the starts that were skipped, in the summary.

use plan::load::{LoadOverrides, MAX_USERS};
use serde_json::{Map, Value, json};
use stats::grouped::count;
use stats::{Counter, Counters};

/// Number of iteration starts that a rate requires, and of those that were skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Starts {
    due: u64,
    missed: u64,
    /// Largest number of simultaneous users, if the command line sets the rate.
    most: Option<u32>,
}

impl Starts {
    /// Returns the starts of a run, or `None` if no rate was requested.
    pub(crate) fn of(counters: &Counters, given: &LoadOverrides) -> Option<Self> {
        let due = counters.get(Counter::StartsDue);
        let missed = counters.get(Counter::StartsMissed);
        let asks = given.groups.iter().filter_map(|(_, ask)| ask.as_ref()).chain([&given.all]);
        let bounds = asks.filter(|ask| ask.rate.is_some());
        let bounds = bounds.map(|ask| ask.max_users.unwrap_or(MAX_USERS));
        let most = bounds.reduce(u32::saturating_add);
        (due > 0).then_some(Self { due, missed, most })
    }

    /// Returns a line for the text summary. It is empty if no start was skipped.
    pub(crate) fn text(self) -> String {
        let Self { due, missed, most } = self;
        if missed == 0 {
            return String::new();
        }
        let why = match most {
            Some(most) => {
                format!("all {} users that --max-users allows were busy", count(most.into()))
            }
            None => "all users that the plan allows at once were busy".to_string(),
        };
        format!("{} of {} starts were not made: {why}\n", count(missed), count(due))
    }

    /// Adds `starts` to the summary's JSON.
    pub(crate) fn add_to_json(this: Option<Self>, summary: &mut Map<String, Value>) {
        let Some(Self { due, missed, .. }) = this else { return };
        summary.insert("starts".into(), json!({ "due": due, "missed": missed }));
    }
}
