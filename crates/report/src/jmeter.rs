//! The metrics of JMeter's HTML dashboard, equal to those of JMeter 5.6.3 for the same result file.
//!
//! They are not the best metrics for the rows: percentiles use only the last 20 000 rows of a label. They allow a
//! comparison with JMeter's own reports. Rows are processed in the order of the file, because the last digits of a
//! mean depend on the order. Memory: four bytes for each of the last 20 000 rows of a label.

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

/// Name of the table row for all labels.
pub const TOTAL: &str = "Total";

/// The tables of JMeter's dashboard.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    /// The rows of `statistics.json`.
    pub statistics: Statistics,
    /// Rows of the APDEX table, the row for all labels first. Labels that `series_filter` and `show_controllers_only`
    /// hide are absent, as in JMeter.
    pub apdex: Vec<Apdex>,
    /// Types of errors, the most frequent first.
    pub errors: Vec<ErrorRow>,
    /// Table of the five most frequent errors: the row for all labels first, then the labels with errors.
    pub top5: Vec<Top>,
    /// Number of requests and number of failed requests. Transactions are not counted.
    #[serde(skip)]
    pub requests: (u64, u64),
    /// Number of a label's last rows that percentiles use; `None` for all rows.
    #[serde(skip)]
    pub window: Option<usize>,
    /// The percentages of the properties `pct1ResTime` to `pct3ResTime`, as the user wrote them.
    #[serde(skip)]
    pub percentages: [String; 3],
    /// Earliest start and latest end of the rows within the range of dates, ms since 1970.
    #[serde(skip)]
    pub span_ms: Option<(i64, i64)>,
    /// Title of the report from the property `report_title`.
    #[serde(skip)]
    pub title: Option<String>,
    #[serde(skip)]
    pub notes: Vec<Note>,
}

impl Figures {
    /// Renders the text of `statistics.json`.
    pub fn statistics_json(&self) -> String {
        // Serializing numbers and strings cannot fail.
        serde_json::to_string_pretty(&self.statistics).unwrap_or_default()
    }
}
