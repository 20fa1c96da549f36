//! The data of a page in the structure that the page's script reads: `ui/src/model.ts` has the same types.
//!
//! Times of day are epoch ms and durations are µs, unless a name says otherwise. Unknown values are `null`. The size is
//! bounded for a run of any length: at most [`MOST_INSTANTS`] instants and [`MOST_LABELS`] labels.
mod about;
mod agents;
pub mod capacity;
mod charts;
mod checked;
mod columns;
mod comparison;
mod cost;
mod distribution;
mod errors;
mod gateway;
mod heat;
mod instants;
mod jmeter;
mod labels;
mod loads;
mod samples;
pub mod sweep;
mod timeline;
mod totals;
mod verdict;

pub use about::{About, Criterion, Given, losses};
pub use agents::{Agent, Agents};
pub use capacity::CapacityPage;
pub use charts::Chart;
pub(crate) use charts::is_series;
pub use checked::Answers;
pub(crate) use checked::percent_text;
pub use columns::Column;
pub(crate) use comparison::{Changed, Row as ComparedRow, Tails};
pub use comparison::{Compared, ComparisonPage, lacks};
pub use cost::{Cost, Known, Prices, Taken};
pub use distribution::{Distribution, Tail};
pub(crate) use errors::MOST as MOST_CAUSES;
pub use errors::{Cause, Class};
pub use gateway::Gateway;
pub use heat::Heat;
pub use jmeter::JMeter;
pub use labels::{Label, Rest};
pub use loads::{AtLoad, Loads};
pub use samples::Sample;
pub use sweep::SweepPage;
pub use timeline::{Mark, Timeline};
pub use totals::{Quantile, Service, Totals, Transactions};
pub use verdict::{Finding, Verdict};

use answers::lines::Scope;
pub use answers::verdict::Words;
use record::Record;
use serde::Serialize;
use stats::Number;

/// Largest number of instants in a timeline, which is more than fits on a screen.
pub const MOST_INSTANTS: usize = 720;
/// Largest number of labels with separate rows.
pub const MOST_LABELS: usize = 200;
/// Largest number of instants in exported tables.
pub const MOST_ROWS: usize = 10_000;
/// Largest number of labels with columns on the timeline.
pub const MOST_TIMED_LABELS: usize = 40;

/// The page of a run.
#[derive(Debug, Serialize)]
pub struct RunPage {
    pub kind: &'static str,
    /// Version of this data format.
    pub form: u32,
    /// True while the run is running.
    pub live: bool,
    pub about: About,
    pub verdict: Verdict,
    pub criteria: Vec<Criterion>,
    pub totals: Totals,
    pub timeline: Timeline,
    pub labels: Vec<Label>,
    pub rest: Option<Rest>,
    pub causes: Vec<Cause>,
    pub samples: Vec<Sample>,
    pub classes: Vec<Class>,
    pub targets: Vec<Watched>,
    /// Metrics of the agents. The first screen and the tables use them; the page's script does not.
    #[serde(skip)]
    pub agents: Agents,
    /// Alerts that fired, in the order of their start.
    #[serde(skip)]
    pub alerts: Vec<Alert>,
    /// Data series extracted from responses, by name, each with the count, sum and extremes of its values in the run.
    /// The summaries in Markdown and in k6's format use them; the page's script does not.
    #[serde(skip)]
    pub series: Vec<(String, Number)>,
    /// Cost of an ended run, if its summary contains the cost.
    #[serde(skip)]
    pub cost: Option<Cost>,
    /// True if results are missing. The flaws in `about` name the missing parts.
    #[serde(skip)]
    pub is_incomplete: bool,
    pub jmeter: Option<JMeter>,
}

/// A watched host, with the ids of the columns of its metrics.
#[derive(Debug, Serialize)]
pub struct Watched {
    pub host: String,
    pub columns: Vec<String>,
}

impl RunPage {
    pub fn new(given: &Given<'_>) -> Self {
        Self::bounded(given, MOST_INSTANTS, MOST_LABELS)
    }

    /// Builds the page with all labels and as many instants as exported tables may have.
    pub fn whole(given: &Given<'_>) -> Self {
        Self::bounded(given, MOST_ROWS, usize::MAX)
    }

    fn bounded(given: &Given<'_>, most_instants: usize, most_labels: usize) -> Self {
        let record = given.record;
        let order = labels::order(record, most_labels);
        let instants = instants::instants(&record.seconds, most_instants);
        let timeline = timeline::timeline(record, &instants, &order);
        let targets = charts::hosts(&timeline);
        Self {
            kind: "run",
            form: 1,
            live: given.live,
            about: About::new(given),
            verdict: Verdict::new(given.verdict, scope(given.criteria), &timeline),
            criteria: given.criteria.to_vec(),
            totals: Totals::new(record),
            labels: labels::labels(record, &order),
            rest: labels::rest(record, &order),
            causes: errors::causes(record, &instants, &order),
            samples: samples::samples(record, &order),
            classes: errors::classes(record),
            timeline,
            targets,
            agents: given.agents.clone(),
            alerts: alerts(record),
            series: series(record),
            cost: None,
            is_incomplete: false,
            jmeter: given.jmeter.map(JMeter::new),
        }
    }
}

/// Returns the scope of the verdict on a run, which says whether any of these criteria was not met.
fn scope(criteria: &[Criterion]) -> Scope {
    Scope::Run { not_met: criteria.iter().any(|criterion| criterion.met == Some(false)) }
}

/// Returns each data series of a record by name, with the count, sum and extremes of its values in the run.
fn series(record: &Record) -> Vec<(String, Number)> {
    let mut series: Vec<(String, Number)> =
        record.frame.series().map(|(name, _)| (name.to_owned(), Number::default())).collect();
    for (at, number) in record.seconds.iter().flat_map(|second| &second.numbers) {
        if let Some((_, sum)) = series.get_mut(*at as usize) {
            sum.merge(number);
        }
    }
    series
}

/// An alert that fired during the run. Times are ms since the start of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alert {
    pub name: String,
    pub labels: String,
    pub summary: String,
    /// Start of the alert; `None` if it began before the run.
    pub from_ms: Option<i64>,
    /// End of the alert; `None` if it still fired when the run ended.
    pub until_ms: Option<i64>,
}

fn alerts(record: &Record) -> Vec<Alert> {
    let mut alerts: Vec<record::Alert> =
        record.facts.iter().filter_map(record::Alert::of).collect();
    alerts.sort_by(|a, b| (a.from_ms, &a.name).cmp(&(b.from_ms, &b.name)));
    let since = |ms: i64| ms - record.frame.start_ms;
    let one = |record::Alert { name, labels, summary, from_ms, until_ms }| Alert {
        name,
        labels,
        summary,
        from_ms: Some(since(from_ms)).filter(|ms| *ms >= 0),
        until_ms: until_ms.map(since),
    };
    alerts.into_iter().map(one).collect()
}

/// Builds a string in both languages from its English and its Chinese version.
pub fn words(en: impl Into<String>, zh: impl Into<String>) -> Words {
    Words { en: en.into(), zh: zh.into() }
}
