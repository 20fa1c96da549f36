//! The tables of a run by agent and by zone.

use super::{Cell, Table};
use crate::model::Agent;

const FIGURES: [&str; 9] = [
    "users",
    "samples",
    "failed",
    "error_share",
    "rate_per_s",
    "mean_response_ms",
    "p50_response_ms",
    "p95_response_ms",
    "p99_response_ms",
];

pub(super) fn agents(agents: &[Agent]) -> Table {
    let columns = [&["agent", "zone"][..], &FIGURES, &["max_response_ms", "clock_bound_ms"]];
    let mut table = Table::new("agents", &columns.concat());
    for agent in agents {
        let mut row = vec![Cell::text(&agent.name), Cell::text(&agent.zone)];
        row.extend(figures(agent));
        row.extend([Cell::ms(agent.max_us), Cell::number(agent.clock_bound_ms)]);
        table.push(row);
    }
    table
}

pub(super) fn zones(zones: &[Agent]) -> Table {
    let columns = [&["zone", "agents"][..], &FIGURES, &["max_response_ms"]];
    let mut table = Table::new("zones", &columns.concat());
    for zone in zones {
        let mut row = vec![Cell::text(&zone.name), Cell::count(zone.agents)];
        row.extend(figures(zone));
        row.push(Cell::ms(zone.max_us));
        table.push(row);
    }
    table
}

fn figures(of: &Agent) -> [Cell; 9] {
    [
        Cell::count(of.users),
        Cell::count(of.samples),
        Cell::count(of.failed),
        Cell::number(of.failed as f64 / of.samples.max(1) as f64),
        Cell::number(of.rate_per_s),
        Cell::ms(of.mean_us),
        Cell::ms(of.p50_us),
        Cell::ms(of.p95_us),
        Cell::ms(of.p99_us),
    ]
}
