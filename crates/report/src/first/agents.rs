//! The metrics of a run by agent and by zone. A run on one machine has neither table.

use super::table::{Cell, Head, Table};
use crate::captions::{digits, grouped, share, time};
use crate::html::Html;
use crate::model::{Agent, Agents, words};

/// Largest number of agents in the table: those with the highest p99, in their original order.
const SHOWN: usize = 50;

/// Names of the columns that the tables of agents and of zones share, after the first columns.
const HEADS: [(&str, &str); 8] = [
    ("Users", "用户数"),
    ("Samples", "样本数"),
    ("Errors", "错误率"),
    ("Rate", "速率"),
    ("Response time, mean", "平均响应时间"),
    ("Response p50", "响应时间 p50"),
    ("Response p95", "响应时间 p95"),
    ("Response p99", "响应时间 p99"),
];

pub(super) fn section(out: &mut Html, agents: &Agents) {
    let Agents { agents, zones } = agents;
    if agents.len() < 2 {
        return;
    }
    let mut shown: Vec<(usize, &Agent)> = agents.iter().enumerate().collect();
    shown.sort_by(|(_, a), (_, b)| tail(b).total_cmp(&tail(a)));
    shown.truncate(SHOWN);
    shown.sort_by_key(|(at, _)| *at);
    let mut first = vec![Head::text(words("Agent", "代理"))];
    if !zones.is_empty() {
        first.push(Head::text(words("Zone", "区域")));
    }
    let row = |(_, agent): (usize, &Agent)| {
        let mut cells = vec![name(&agent.name)];
        if !zones.is_empty() {
            cells.push(Cell::name(&agent.zone));
        }
        cells.extend(figures(agent));
        cells.push(known(agent.clock_bound_ms.map(|ms| ms * 1000.0)));
        cells
    };
    let table = Table {
        name: "Agents",
        title: words("By agent", "按代理"),
        heads: heads(first, Head::number(words("Clock known to", "时钟误差上限"))),
        rows: shown.into_iter().map(row).collect(),
    };
    out.raw("<section>");
    table.render(out);
    if agents.len() > SHOWN {
        let more = agents.len() - SHOWN;
        out.raw("<p class=\"note\">");
        out.words(&words(
            format!("{more} more, none of them with a higher p99, are in summary.json."),
            format!("另有 {more} 个代理，其 p99 均不更高，见 summary.json。"),
        ));
        out.raw("</p>");
    }
    out.raw("</section>");
    by_zone(out, zones);
}

fn by_zone(out: &mut Html, zones: &[Agent]) {
    if zones.is_empty() {
        return;
    }
    let row = |zone: &Agent| {
        let mut cells = vec![name(&zone.name)];
        cells.extend(figures(zone));
        cells.push(count(zone.agents as f64));
        cells
    };
    let table = Table {
        name: "Zones",
        title: words("By zone", "按区域"),
        heads: heads(
            vec![Head::text(words("Zone", "区域"))],
            Head::number(words("Agents", "代理数")),
        ),
        rows: zones.iter().map(row).collect(),
    };
    out.raw("<section>");
    table.render(out);
    out.raw("</section>");
}

fn heads(first: Vec<Head>, last: Head) -> Vec<Head> {
    let figures = HEADS.map(|(en, zh)| Head::number(words(en, zh)));
    first.into_iter().chain(figures).chain([last]).collect()
}

/// Returns the cell with the name of an agent or a zone.
fn name(name: &str) -> Cell {
    if name.is_empty() {
        Cell::words(words("(no zone)", "（无区域）")).class("hostile")
    } else {
        Cell::name(name)
    }
}

fn figures(of: &Agent) -> Vec<Cell> {
    let errors = of.failed as f64 / of.samples.max(1) as f64;
    let mut cells = vec![
        count(of.users as f64),
        count(of.samples as f64),
        Cell::number(errors, share(errors)).class(if of.failed > 0 { "n bad" } else { "n" }),
        Cell::number(of.rate_per_s, format!("{}/s", digits(of.rate_per_s))),
    ];
    cells.extend([of.mean_us, of.p50_us, of.p95_us, of.p99_us].map(known));
    cells
}

fn count(n: f64) -> Cell {
    Cell::number(n, grouped(n))
}

/// Returns the cell with a time; a dash for an unknown one.
fn known(us: Option<f64>) -> Cell {
    us.map_or_else(|| Cell::text("–").class("n"), |us| Cell::number(us, time(us)))
}

fn tail(agent: &Agent) -> f64 {
    agent.p99_us.unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(name: &str, zone: &str, p99_us: f64) -> Agent {
        let known = Some(p99_us);
        Agent {
            name: name.into(),
            zone: zone.into(),
            agents: 1,
            users: 2,
            samples: 1200,
            failed: 12,
            rate_per_s: 40.0,
            p99_us: known,
            clock_bound_ms: Some(0.25),
            ..Agent::default()
        }
    }

    fn shown(agents: &Agents) -> String {
        let mut out = Html::new();
        section(&mut out, agents);
        out.as_str().to_owned()
    }

    #[test]
    fn there_is_a_table_by_agent_and_one_by_zone() {
        let agents = vec![agent("<a>", "eu", 2_000.0), agent("b", "", 3_000.0)];
        let zones = vec![agent("eu", "", 2_000.0), agent("", "", 3_000.0)];
        let html = shown(&Agents { agents: agents.clone(), zones });
        assert!(html.contains("By agent") && html.contains("按代理"), "{html}");
        assert!(html.contains("By zone") && html.contains("按区域"), "{html}");
        assert!(html.contains("&lt;a&gt;") && !html.contains("<a>"), "{html}");
        assert!(html.contains("(no zone)") && html.contains(">1 %<"), "{html}");
        assert_eq!(html.matches("<tr>").count(), 6, "{html}");
        let html = shown(&Agents { agents, zones: Vec::new() });
        assert!(html.contains("By agent") && !html.contains("区域"), "{html}");
        let one = Agents { agents: vec![agent("a", "", 1.0)], zones: Vec::new() };
        assert_eq!(shown(&one), "");
    }

    #[test]
    fn of_many_agents_those_with_the_highest_tails_are_shown_in_their_order() {
        let name = |n: usize| format!("agent-{n:03}");
        let agents = (0..60).map(|n| agent(&name(n), "", (n % 7) as f64)).collect();
        let html = shown(&Agents { agents, zones: Vec::new() });
        assert_eq!(html.matches("<tr>").count(), 1 + SHOWN, "{html}");
        assert!(html.contains("agent-006") && !html.contains("agent-007"), "{html}");
        assert!(html.contains("10 more"), "{html}");
        assert!(html.find("agent-005") < html.find("agent-006"), "{html}");
    }
}
