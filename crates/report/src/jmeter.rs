//! The figures of JMeter's HTML dashboard, equal to those of JMeter 5.6.3 on the same result file.
//!
//! They are not the best figures that the rows give: percentiles are of the last 20 000 rows of a label. They are here
//! for those who compare with what JMeter said. Rows are taken in the order of the file, for the last digits of a mean
//! depend on it. Memory: four bytes for each of the last 20 000 rows of a label.

mod apdex;
mod errors;
mod rows;
mod settings;
mod statistics;

use serde::Serialize;

pub use apdex::Apdex;
pub use errors::{ErrorRow, Top};
pub use rows::{Gatherer, Note, Read, open, parts, read};
pub use settings::{PROPERTIES, Refused, Settings, Shown};
pub use statistics::{Statistics, StatisticsRow};

/// The name of the row for all labels.
pub const TOTAL: &str = "Total";

/// The tables of JMeter's dashboard.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    /// The rows of `statistics.json`.
    pub statistics: Statistics,
    /// The row for all labels first. As displayed: without the labels that `series_filter` and `show_controllers_only` hide.
    pub apdex: Vec<Apdex>,
    /// Most frequent first.
    pub errors: Vec<ErrorRow>,
    /// The row for all labels first, then the labels with errors.
    pub top5: Vec<Top>,
    /// Requests without transactions, and those that failed.
    #[serde(skip)]
    pub requests: (u64, u64),
    /// Rows of a label that percentiles are of; `None` for all.
    #[serde(skip)]
    pub window: Option<usize>,
    /// The three percentages of `pct1ResTime` to `pct3ResTime`, as the properties have them.
    #[serde(skip)]
    pub percentages: [String; 3],
    /// Earliest start and latest end of a row within the range of dates, ms since 1970.
    #[serde(skip)]
    pub span_ms: Option<(i64, i64)>,
    /// The property `report_title`.
    #[serde(skip)]
    pub title: Option<String>,
    #[serde(skip)]
    pub notes: Vec<Note>,
}

impl Figures {
    /// The text of `statistics.json`.
    pub fn statistics_json(&self) -> String {
        // Numbers and strings always have a text.
        serde_json::to_string_pretty(&self.statistics).unwrap_or_default()
    }
}
