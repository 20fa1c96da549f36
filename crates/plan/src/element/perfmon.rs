//! jp@gc PerfMon Metrics Collector: server agents that are polled during the run, and the file for their metrics.
//!
//! The collector does not depend on samples. Wherever it is in the plan, it works once for the whole run.

use jmx::{ElementId, Prop};

use super::result_collector;
use crate::compile::Context;
use crate::plan::FileWriter;
use crate::support::Level;
use crate::template::Template;

pub(crate) const CLASS: &str = "kg.apc.jmeter.perfmon.PerfMonCollector";

/// A PerfMon collector.
#[derive(Debug)]
pub struct PerfMon {
    /// Name of the element.
    pub name: String,
    /// Rows of the metrics table: host, port, metric and its parameters.
    pub rows: Vec<[Template; 4]>,
    /// File for the metrics, if any.
    pub file: Option<FileWriter>,
}

pub(crate) fn compile(ctx: &mut Context<'_>, id: ElementId) -> PerfMon {
    let rows = ctx.props(id).collection("metricConnections");
    let rows = rows.iter().map(|row| {
        let cells = row.members();
        [0, 1, 2, 3].map(|n| ctx.text(id, cells.get(n).and_then(Prop::text).unwrap_or("")))
    });
    let rows = rows.collect();
    let file = result_collector::writer(ctx, id);
    PerfMon { name: ctx.doc.element(id).name.clone(), rows, file }
}

pub(super) fn review(ctx: &mut Context<'_>, id: ElementId) {
    if ctx.props(id).collection("metricConnections").is_empty() {
        ctx.remark(id, Level::Ignored, "it names no host");
    }
}
