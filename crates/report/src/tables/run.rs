//! The tables of a run.

use answers::criterion::{Outcome, Times};

use super::{Cell, Table};
use crate::model::{
    Cause, Class, Column, Criterion, Label, Quantile, RunPage, Sample, Service, Timeline, Verdict,
};

/// Percentiles with the names of their columns: value, lower and upper end of the interval.
const QUANTILES: [(f64, [&str; 3]); 5] = [
    (0.5, ["p50_ms", "p50_low_ms", "p50_high_ms"]),
    (0.9, ["p90_ms", "p90_low_ms", "p90_high_ms"]),
    (0.95, ["p95_ms", "p95_low_ms", "p95_high_ms"]),
    (0.99, ["p99_ms", "p99_low_ms", "p99_high_ms"]),
    (0.999, ["p999_ms", "p999_low_ms", "p999_high_ms"]),
];
/// Columns of the phases of a sample, in the order of the page.
const PHASES: [&str; 9] = [
    "late_ms",
    "room_ms",
    "dns_ms",
    "connect_ms",
    "tls_ms",
    "send_ms",
    "wait_ms",
    "receive_ms",
    "lag_ms",
];

/// Returns all tables of a run. A table without rows has only its heading.
pub fn run(page: &RunPage) -> Vec<Table> {
    vec![
        totals(page),
        labels(page),
        errors(&page.causes),
        criteria(&page.criteria),
        findings(&page.verdict),
        samples(page),
        connections(&page.classes),
        super::agents::agents(&page.agents.agents),
        super::agents::zones(&page.agents.zones),
        timeline(&page.timeline),
        over_time(page),
        pairs("properties", &page.about.properties),
        pairs("settings", &page.about.settings),
    ]
}

pub(super) fn quantile_names() -> impl Iterator<Item = &'static str> {
    QUANTILES.iter().flat_map(|(_, names)| names.iter().copied())
}

pub(super) fn quantiles(of: &[Quantile]) -> impl Iterator<Item = Cell> + '_ {
    QUANTILES.iter().flat_map(|(p, _)| {
        let found = of.iter().find(|one| one.p == *p);
        [
            Cell::ms(found.map(|one| one.us)),
            Cell::ms(found.and_then(|one| one.low)),
            Cell::ms(found.and_then(|one| one.high)),
        ]
    })
}

/// Columns of service times, which are present whatever times the other columns show.
const SERVICE: [&str; 5] =
    ["service_mean_ms", "service_p50_ms", "service_p95_ms", "service_p99_ms", "service_max_ms"];

/// Returns a cell with the kind of times, response or service, on which the metrics of a row are based.
fn times(of: Times) -> Cell {
    Cell::Text(of.word().en)
}

/// Returns the cells of [`SERVICE`]. Without separate service times, the row's own metrics are service times.
fn service(
    of: Option<&Service>,
    (mean_us, quantiles, max_us): (f64, &[Quantile], f64),
) -> [Cell; 5] {
    let (mean_us, quantiles, max_us) =
        of.map_or((mean_us, quantiles, max_us), |of| (of.mean_us, &*of.quantiles, of.max_us));
    let quantile = |p: f64| Cell::ms(quantiles.iter().find(|one| one.p == p).map(|one| one.us));
    [Cell::ms(mean_us), quantile(0.5), quantile(0.95), quantile(0.99), Cell::ms(max_us)]
}

fn totals(page: &RunPage) -> Table {
    let mut columns = vec![
        "samples",
        "failed",
        "error_share",
        "requests_succeeded",
        "checked_answers",
        "answers_as_expected",
        "rate_per_s",
        "rate_margin_per_s",
        "times",
        "mean_ms",
        "min_ms",
        "max_ms",
    ];
    columns.extend(quantile_names());
    columns.extend(SERVICE);
    columns.extend([
        "received_bytes",
        "sent_bytes",
        "generator_overhead_share",
        "in_flight_at_end",
        "transactions",
        "failed_transactions",
        "transactions_failed_by_own_assertions",
    ]);
    let mut table = Table::new("totals", &columns);
    let of = &page.totals;
    let mut row = vec![
        Cell::count(of.samples),
        Cell::number(of.failed.map(|n| n as f64)),
        Cell::number(of.error_share()),
        Cell::number(of.answers.map(|answers| answers.requests_succeeded as f64)),
        Cell::number(of.answers.and_then(|answers| answers.checked).map(|n| n as f64)),
        Cell::number(of.answers.and_then(|answers| answers.as_expected).map(|n| n as f64)),
        Cell::number(of.rate_per_s),
        Cell::number(of.rate_margin),
        times(of.times),
        Cell::ms(of.mean_us),
        Cell::ms(of.min_us),
        Cell::ms(of.max_us),
    ];
    row.extend(quantiles(&of.quantiles));
    row.extend(service(of.service.as_ref(), (of.mean_us, &of.quantiles, of.max_us)));
    let transactions = of.transactions;
    row.extend([
        Cell::count(of.received_bytes),
        Cell::count(of.sent_bytes),
        Cell::number(of.own_share),
        Cell::number(of.under_way_at_end.map(|n| n as f64)),
        Cell::number(transactions.map(|of| of.samples as f64)),
        Cell::number(transactions.and_then(|of| of.failed).map(|n| n as f64)),
        Cell::number(transactions.map(|of| of.own_failures as f64)),
    ]);
    table.push(row);
    table
}

fn labels(page: &RunPage) -> Table {
    let mut columns = vec![
        "label",
        "kind",
        "folded_labels",
        "samples",
        "failed",
        "error_share",
        "requests_succeeded",
        "checked_answers",
        "answers_as_expected",
        "rate_per_s",
        "times",
        "mean_ms",
        "min_ms",
        "max_ms",
    ];
    columns.extend(quantile_names());
    columns.extend(SERVICE);
    columns.extend(["received_bytes", "sent_bytes", "share_of_time"]);
    columns.extend(PHASES);
    let mut table = Table::new("labels", &columns);
    for label in &page.labels {
        table.push(label_row(label, page.totals.times));
    }
    table
}

fn label_row(label: &Label, of: Times) -> Vec<Cell> {
    let mut row = vec![
        Cell::text(&label.name),
        Cell::text(if label.transaction { "transaction" } else { "request" }),
        Cell::count(label.folded.into()),
        Cell::count(label.samples),
        Cell::number(label.failed.map(|n| n as f64)),
        Cell::number(label.error_share()),
        Cell::number(label.answers.map(|answers| answers.requests_succeeded as f64)),
        Cell::number(label.answers.and_then(|answers| answers.checked).map(|n| n as f64)),
        Cell::number(label.answers.and_then(|answers| answers.as_expected).map(|n| n as f64)),
        Cell::number(label.rate_per_s),
        times(of),
        Cell::ms(label.mean_us),
        Cell::ms(label.min_us),
        Cell::ms(label.max_us),
    ];
    row.extend(quantiles(&label.quantiles));
    let figures = (label.mean_us, &*label.quantiles, label.max_us);
    row.extend(service(label.service.as_ref(), figures));
    row.extend([
        Cell::count(label.received_bytes),
        Cell::count(label.sent_bytes),
        Cell::number(label.share_of_time),
    ]);
    row.extend(phases(&label.phases));
    row
}

fn phases(of: &[Option<f64>]) -> impl Iterator<Item = Cell> + '_ {
    (0..PHASES.len()).map(|n| Cell::ms(of.get(n).copied().flatten()))
}

fn errors(causes: &[Cause]) -> Table {
    let mut table = Table::new(
        "errors",
        &[
            "message",
            "code",
            "kind",
            "count",
            "share_of_errors",
            "first_label",
            "first_at",
            "last_at",
        ],
    );
    let all: u64 = causes.iter().map(|cause| cause.count).sum();
    for cause in causes {
        table.push(vec![
            Cell::text(&cause.message),
            Cell::text(&cause.code),
            Cell::text(&cause.outcome),
            Cell::count(cause.count),
            Cell::number(cause.count as f64 / all.max(1) as f64),
            Cell::text(&cause.first_label),
            Cell::at(cause.first_ms),
            Cell::at(cause.last_ms),
        ]);
    }
    table
}

pub(super) fn criteria(criteria: &[Criterion]) -> Table {
    let columns = ["criterion", "label", "outcome", "met", "value", "shown", "reason"];
    let mut table = Table::new("criteria", &columns);
    for one in criteria {
        let outcome = match one.met {
            Some(true) => Outcome::Met,
            Some(false) => Outcome::NotMet,
            None => Outcome::Undecided,
        };
        table.push(vec![
            Cell::text(&one.text),
            one.of.as_ref().map_or(Cell::None, Cell::text),
            Cell::text(outcome.word()),
            one.met.map_or(Cell::None, Cell::Truth),
            Cell::number(one.value),
            Cell::text(&one.shown.en),
            one.reason.as_ref().map_or(Cell::None, |reason| Cell::text(&reason.en)),
        ]);
    }
    table
}

pub(super) fn findings(verdict: &Verdict) -> Table {
    let mut table =
        Table::new("findings", &["finding", "about", "confidence", "held_back", "words", "advice"]);
    // The table uses the same names as the JSON of findings.
    let name = |value: serde_json::Result<serde_json::Value>| match value {
        Ok(serde_json::Value::String(name)) => Cell::Text(name),
        _ => Cell::None,
    };
    for (list, hidden) in [(&verdict.findings, false), (&verdict.hidden, true)] {
        for one in list {
            table.push(vec![
                Cell::text(one.id),
                name(serde_json::to_value(one.about)),
                name(serde_json::to_value(one.confidence)),
                Cell::Truth(hidden),
                Cell::text(&one.words.en),
                Cell::text(&one.advice.en),
            ]);
        }
    }
    table
}

fn samples(page: &RunPage) -> Table {
    let mut columns =
        vec!["at", "label", "why", "ok", "elapsed_ms", "code", "message", "address", "trace"];
    columns.extend(PHASES);
    let mut table = Table::new("samples", &columns);
    let label = |sample: &Sample| page.labels.get(sample.label).map(|label| label.name.clone());
    for one in &page.samples {
        let mut row = vec![
            Cell::at(one.at_ms),
            label(one).map_or(Cell::None, Cell::Text),
            Cell::text(one.why),
            Cell::Truth(one.ok),
            Cell::ms(one.elapsed_us),
            Cell::text(&one.code),
            Cell::text(&one.message),
            Cell::text(&one.address),
            one.trace.as_deref().map_or(Cell::None, Cell::text),
        ];
        row.extend(phases(&one.phases));
        table.push(row);
    }
    table
}

fn connections(classes: &[Class]) -> Table {
    let mut table = Table::new(
        "connections",
        &["kind", "value", "exchanges", "failed", "error_share", "opened", "p50_ms", "p95_ms"],
    );
    for one in classes {
        table.push(vec![
            Cell::text(&one.kind),
            Cell::text(&one.value),
            Cell::count(one.exchanges),
            Cell::count(one.errors),
            Cell::number(one.errors as f64 / one.exchanges.max(1) as f64),
            Cell::count(one.opened),
            Cell::ms(one.p50_us),
            Cell::ms(one.p95_us),
        ]);
    }
    table
}

/// Returns the name of a timeline column in the table: the column's id and unit. Names of causes and of metrics of
/// watched hosts follow the id.
fn heading(column: &Column) -> String {
    let unit = match column.unit {
        "us" => "_ms",
        "s" => "_s",
        "/s" => "_per_s",
        "share" => "_share",
        "bytes" => "_bytes",
        "bytes/s" => "_bytes_per_s",
        _ => "",
    };
    let id = &column.id;
    let unit = if id.ends_with(unit) { "" } else { unit };
    if id.starts_with("cause.") || id.starts_with("watched.") {
        format!("{id}{unit} {}", column.name.en)
    } else {
        format!("{id}{unit}")
    }
}

fn value(column: &Column, at: usize) -> Cell {
    let value = column.values.get(at).copied().flatten().map(|value| value as f64 * column.scale);
    if column.unit == "us" { Cell::ms(value) } else { Cell::number(value) }
}

fn elapsed(timeline: &Timeline, at_ms: i64) -> [Cell; 2] {
    let start = timeline.at_ms.first().copied().unwrap_or(at_ms);
    [Cell::at(at_ms), Cell::number((at_ms - start) as f64 / 1000.0)]
}

/// Returns the table with all columns over time except those of labels.
fn timeline(of: &Timeline) -> Table {
    let mut table = Table::new("timeline", &["at", "elapsed_s"]);
    let columns: Vec<&Column> = of.columns.iter().filter(|column| column.label.is_none()).collect();
    table.columns.extend(columns.iter().map(|column| heading(column)));
    for (n, at_ms) in of.at_ms.iter().enumerate() {
        let mut row = elapsed(of, *at_ms).to_vec();
        row.extend(columns.iter().map(|column| value(column, n)));
        table.push(row);
    }
    table
}

/// Returns the table with the columns of labels: one row for each instant and label.
fn over_time(page: &RunPage) -> Table {
    let mut table = Table::new(
        "labels-over-time",
        &["at", "elapsed_s", "label", "kind", "rate_per_s", "errors_per_s", "p50_ms", "p95_ms"],
    );
    let timeline = &page.timeline;
    for (place, label) in page.labels.iter().enumerate() {
        let columns: Vec<&Column> =
            timeline.columns.iter().filter(|column| column.label == Some(place)).collect();
        if columns.is_empty() {
            continue;
        }
        for (n, at_ms) in timeline.at_ms.iter().enumerate() {
            let mut row = elapsed(timeline, *at_ms).to_vec();
            row.push(Cell::text(&label.name));
            row.push(Cell::text(if label.transaction { "transaction" } else { "request" }));
            row.extend(columns.iter().map(|column| value(column, n)));
            table.push(row);
        }
    }
    table
}

fn pairs(name: &'static str, of: &[(String, String)]) -> Table {
    let mut table = Table::new(name, &["name", "value"]);
    for (name, value) in of {
        table.push(vec![Cell::text(name), Cell::text(value)]);
    }
    table
}
