//! The metrics of a run by agent and by zone. A run on one machine has neither table.

use crate::captions::{digits, grouped, share, time};
use crate::html::Html;
use crate::model::{Agent, Agents, words};

/// Largest number of agents in the table: those with the highest p99, in their original order.
const SHOWN: usize = 50;

type Head = (&'static str, &'static str);

/// Columns that both tables have after their first columns.
const HEADS: [Head; 8] = [
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
    let with_zones = !zones.is_empty();
    out.raw("<section><h2>").both("By agent", "按代理").raw("</h2>");
    let first: &[Head] = if with_zones {
        &[("Agent", "代理"), ("Zone", "区域")]
    } else {
        &[("Agent", "代理")]
    };
    head(out, "Agents", first, &[("Clock known to", "时钟误差上限")]);
    let mut shown: Vec<(usize, &Agent)> = agents.iter().enumerate().collect();
    shown.sort_by(|(_, a), (_, b)| tail(b).total_cmp(&tail(a)));
    shown.truncate(SHOWN);
    shown.sort_by_key(|(at, _)| *at);
    for (_, agent) in shown {
        name(out, &agent.name);
        if with_zones {
            out.raw("<td class=\"hostile\">").text(&agent.zone).raw("</td>");
        }
        figures(out, agent);
        let clock = agent.clock_bound_ms.map_or_else(|| "–".into(), |ms| time(ms * 1000.0));
        number(out, &clock);
        out.raw("</tr>");
    }
    out.raw("</tbody></table></div>");
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
    out.raw("<section><h2>").both("By zone", "按区域").raw("</h2>");
    head(out, "Zones", &[("Zone", "区域")], &[("Agents", "代理数")]);
    for zone in zones {
        name(out, &zone.name);
        figures(out, zone);
        number(out, &grouped(zone.agents as f64));
        out.raw("</tr>");
    }
    out.raw("</tbody></table></div></section>");
}

fn head(out: &mut Html, label: &'static str, first: &[Head], last: &[Head]) {
    out.raw("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"").raw(label);
    out.raw("\"><table><thead><tr>");
    for (en, zh) in first {
        out.raw("<th scope=\"col\">").both(en, zh).raw("</th>");
    }
    for (en, zh) in HEADS.iter().chain(last) {
        out.raw("<th scope=\"col\" class=\"n\">").both(en, zh).raw("</th>");
    }
    out.raw("</tr></thead><tbody>");
}

/// Begins a table row with the name of an agent or a zone.
fn name(out: &mut Html, name: &str) {
    out.raw("<tr><th scope=\"row\" class=\"hostile\">");
    if name.is_empty() {
        out.both("(no zone)", "（无区域）");
    } else {
        out.text(name);
    }
    out.raw("</th>");
}

fn figures(out: &mut Html, of: &Agent) {
    number(out, &grouped(of.users as f64));
    number(out, &grouped(of.samples as f64));
    let errors = of.failed as f64 / of.samples.max(1) as f64;
    out.raw(if of.failed > 0 { "<td class=\"n bad\">" } else { "<td class=\"n\">" });
    out.text(&share(errors)).raw("</td>");
    number(out, &format!("{}/s", digits(of.rate_per_s)));
    for us in [of.mean_us, of.p50_us, of.p95_us, of.p99_us] {
        number(out, &us.map_or_else(|| "–".into(), time));
    }
}

fn number(out: &mut Html, text: &str) {
    out.raw("<td class=\"n\">").text(text).raw("</td>");
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
