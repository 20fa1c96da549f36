//! The charts of a run, and the columns that they need. A chart without data is left out.
mod connections;
mod draft;
mod generator;
mod labels;
mod run;
mod series;
mod source;
mod watched;

use answers::verdict::{Subject, Words};
use record::Record;
use serde::Serialize;

pub(super) use watched::hosts;

use super::instants::Instant;
use super::labels::Order;
use super::timeline::Timeline;
use source::Source;

#[derive(Debug, Serialize)]
pub struct Chart {
    pub id: String,
    pub title: Words,
    pub caption: Words,
    pub columns: Vec<String>,
    pub log: bool,
    /// Pairs of columns with the low and the high line of a band. The area between both lines is filled.
    pub bands: Vec<(String, String)>,
    pub page: &'static str,
    /// The host or the series that the chart shows, if it shows only one.
    #[serde(skip)]
    pub subject: Option<Subject>,
}

/// The charts of a live page, in their order.
const LIVE: [&str; 4] = ["load", "response", "errors", "cpu"];

/// Returns true if a chart or column shows a data series extracted from responses. Such a series has a gap, not a
/// 0, where it has no value.
pub(crate) fn is_series(id: &str) -> bool {
    id.starts_with(series::ID)
}

/// Adds the charts of a live page to the timeline. Captions are left out, because they would change every second.
pub(super) fn live(record: &Record, instants: &[Instant], timeline: &mut Timeline) {
    let source = Source { record, instants };
    run::load(&source, timeline);
    run::response(&source, timeline);
    run::all_errors(&source).into(timeline);
    generator::processors(&source, timeline);
    series::series(&source, timeline);
    let is_live = |id: &str| LIVE.contains(&id) || is_series(id);
    timeline.charts.retain(|chart| is_live(&chart.id));
    for chart in &mut timeline.charts {
        chart.caption = super::words("", "");
        chart.page = "overview";
        if chart.id == "errors" {
            chart.title = super::words("Errors", "错误");
        }
    }
    let shown = |id: &String| timeline.charts.iter().any(|chart| chart.columns.contains(id));
    timeline.columns.retain(|column| shown(&column.id));
}

/// Adds all charts and columns of a run to the timeline.
pub(super) fn charts(
    record: &Record,
    instants: &[Instant],
    order: &Order,
    timeline: &mut Timeline,
) {
    let source = Source { record, instants };
    run::load(&source, timeline);
    series::series(&source, timeline);
    run::response(&source, timeline);
    run::errors(&source, timeline);
    run::traffic(&source, timeline);
    run::phases(&source, timeline);
    if record.has.generator {
        generator::generator(&source, timeline);
    }
    if record.has.connections {
        connections::connections(&source, timeline);
    }
    watched::watched(&source, timeline);
    labels::of_labels(&source, order, timeline);
}
