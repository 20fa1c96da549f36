//! The tables of a sweep, of a search for capacity, and of a comparison.

use super::run::{criteria, findings, quantile_names, quantiles};
use super::{Cell, Table};
use crate::model::capacity::Held;
use crate::model::sweep::{Axis, StoppedBy};
use crate::model::{CapacityPage, ComparisonPage, SweepPage};

fn load(axis: Axis) -> &'static str {
    match axis {
        Axis::Users => "users",
        Axis::Rate => "starts_per_s",
    }
}

fn stopped(by: StoppedBy) -> Cell {
    Cell::text(match by {
        StoppedBy::Precision => "precision",
        StoppedBy::Time => "time",
    })
}

/// Returns the tables of a sweep.
pub fn sweep(page: &SweepPage) -> Vec<Table> {
    let mut columns = vec![
        load(page.axis),
        "in_flight",
        "rate_per_s",
        "rate_low_per_s",
        "rate_high_per_s",
        "mean_ms",
        "mean_low_ms",
        "mean_high_ms",
    ];
    columns.extend(quantile_names());
    columns.extend([
        "error_share",
        "length_s",
        "ramp_s",
        "warmup_s",
        "ended_by",
        "left_out",
        "run",
    ]);
    let mut table = Table::new("points", &columns);
    for point in &page.points {
        let mut row = vec![
            Cell::number(point.load),
            Cell::number(point.in_flight),
            Cell::number(point.rate_per_s),
            Cell::number(point.rate_low),
            Cell::number(point.rate_high),
            Cell::ms(point.mean_us),
            Cell::ms(point.mean_low),
            Cell::ms(point.mean_high),
        ];
        row.extend(quantiles(&point.quantiles));
        row.extend([
            Cell::number(point.error_share),
            Cell::number(point.length_s),
            Cell::number(point.ramp_s),
            Cell::number(point.warmup_s),
            stopped(point.stopped_by),
            point.excluded.as_ref().map_or(Cell::None, |words| Cell::text(&words.en)),
            Cell::text(&point.run),
        ]);
        table.push(row);
    }
    vec![table, findings(&page.verdict)]
}

/// Returns the tables of a search for capacity.
pub fn capacity(page: &CapacityPage) -> Vec<Table> {
    let mut table = Table::new(
        "probes",
        &[
            load(page.axis),
            "kind",
            "result",
            "windows_held",
            "windows_not_held",
            "succeeded_per_s",
            "in_flight",
            "p50_ms",
            "p99_ms",
            "samples",
            "length_s",
            "ended_by",
            "words",
            "run",
        ],
    );
    for probe in &page.probes {
        table.push(vec![
            Cell::number(probe.load),
            Cell::text(&probe.kind.en),
            Cell::text(match probe.verdict {
                Held::Good => "good",
                Held::Bad => "bad",
                Held::Doubtful => "inconclusive",
            }),
            Cell::count(probe.good as u64),
            Cell::count(probe.bad as u64),
            Cell::number(probe.rate_per_s),
            Cell::number(probe.in_flight),
            Cell::ms(probe.p50_us),
            Cell::ms(probe.p99_us),
            Cell::count(probe.samples),
            Cell::number(probe.length_s),
            stopped(probe.stopped_by),
            Cell::text(&probe.words.en),
            Cell::text(&probe.run),
        ]);
    }
    vec![table, criteria(&page.criteria), findings(&page.verdict)]
}

/// Returns the tables of a comparison.
pub fn comparison(page: &ComparisonPage) -> Vec<Table> {
    let mut table = Table::new(
        "changes",
        &[
            "label",
            "metric",
            "unit",
            "a",
            "b",
            "change",
            "low",
            "high",
            "different",
            "worse",
            "floor",
            "detectable",
        ],
    );
    for row in &page.rows {
        let value = |value| if row.unit == "us" { Cell::ms(value) } else { Cell::number(value) };
        table.push(vec![
            row.label.as_ref().map_or(Cell::None, Cell::text),
            Cell::text(&row.metric.en),
            Cell::text(if row.unit == "us" { "ms" } else { row.unit }),
            value(row.a),
            value(row.b),
            Cell::number(row.change),
            Cell::number(row.low),
            Cell::number(row.high),
            Cell::Truth(row.different),
            Cell::Truth(row.different && row.is_worse()),
            Cell::number(row.floor),
            Cell::number(row.detectable),
        ]);
    }
    let mut changed = Table::new("also-changed", &["what", "a", "b"]);
    for one in &page.changed {
        changed.push(vec![Cell::text(&one.what.en), Cell::text(&one.a), Cell::text(&one.b)]);
    }
    vec![table, changed, criteria(&page.criteria)]
}
