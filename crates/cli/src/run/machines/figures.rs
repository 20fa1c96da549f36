//! The measurements of a run by agent and by zone: tables for the text summary, and values for its JSON.
//!
//! The measurements of a zone are merged from those of its agents. All rates use the time of the whole run, from
//! its first sample to its last, so that the rates of all agents add up to the run's rate.

use fleet::Figures;
use fleet::remote::About;
use serde_json::{Value, json};
use stats::grouped::count;
use stats::summary::Spread;
use stats::tally::Tally;

/// Largest number of agents in the text summary. The JSON contains all agents.
const MOST: usize = 20;

/// Measurements of one agent or of one zone: a row of the table.
#[derive(Debug)]
pub(super) struct Row {
    name: String,
    zone: String,
    agents: u64,
    of: Figures,
    per_s: f64,
    response: Spread,
}

/// Rows of measurements for each agent, and for each zone if there are several zones.
#[derive(Debug, Default)]
pub(super) struct Tables {
    pub(super) agents: Vec<Row>,
    zones: Vec<Row>,
}

impl Row {
    fn new(name: &str, zone: &str, agents: u64, of: Figures, span_s: f64) -> Self {
        let per_s = if span_s > 0.0 { of.tally.count as f64 / span_s } else { 0.0 };
        let response = Spread::new(&of.response, of.tally.max_response);
        Self { name: name.into(), zone: zone.into(), agents, of, per_s, response }
    }

    /// Adds the measurements to the JSON object of an agent or a zone.
    pub(super) fn add_to(&self, value: &mut Value) {
        value["users"] = self.of.users.into();
        value["samples"] = self.of.tally.count.into();
        value["errors"] = self.of.tally.errors.into();
        value["rate_per_s"] = self.per_s.into();
        value["response"] = json!(self.response);
    }

    /// Returns the cells of the row: the name, `second` (the zone of an agent, or the number of agents of a zone), and
    /// the measurements in the order of `HEADS`.
    fn cells(&self, second: String) -> Vec<String> {
        let Row { of, response, .. } = self;
        let name = if self.name.is_empty() { "(no zone)".into() } else { self.name.clone() };
        let mut cells = vec![name, second, count(of.users)];
        cells.extend([of.tally.count, of.tally.errors].map(count));
        let times = [response.mean, response.p50, response.p95, response.p99];
        cells.extend([self.per_s].into_iter().chain(times).map(digits));
        cells
    }
}

impl Tables {
    pub(super) fn new(about: &[About], figures: &[Figures]) -> Self {
        let mut all = Tally::EMPTY;
        for of in figures {
            all.merge(&of.tally);
        }
        let span_s = all.last_end_ms.saturating_sub(all.first_start_ms).max(0) as f64 / 1000.0;
        let both = || about.iter().zip(figures);
        let agents =
            both().map(|(about, of)| Row::new(&about.name, &about.zone, 1, of.clone(), span_s));
        let mut zones: Vec<(&str, u64, Figures)> = Vec::new();
        for (about, of) in both() {
            match zones.iter_mut().find(|(zone, ..)| *zone == about.zone) {
                Some((_, agents, sum)) => {
                    *agents += 1;
                    sum.merge(of);
                }
                None => zones.push((&about.zone, 1, of.clone())),
            }
        }
        if zones.len() < 2 {
            zones.clear();
        }
        let zone = |(zone, agents, of)| Row::new(zone, zone, agents, of, span_s);
        Self { agents: agents.collect(), zones: zones.into_iter().map(zone).collect() }
    }

    /// Returns the tables for a terminal of `width` columns. Returns an empty string for a single agent.
    pub(super) fn text(&self, width: Option<usize>) -> String {
        if self.agents.len() < 2 {
            return String::new();
        }
        let mut shown: Vec<&Row> = self.agents.iter().collect();
        let more = shown.len().saturating_sub(MOST);
        if more > 0 {
            shown.sort_by(|a, b| b.response.p99.total_cmp(&a.response.p99));
            shown.truncate(MOST);
        }
        let with_zones = !self.zones.is_empty();
        let cells =
            |row: &&Row| row.cells(if with_zones { row.zone.clone() } else { String::new() });
        let second = if with_zones { "zone" } else { "" };
        let mut out = table("Agent", second, shown.iter().map(cells), width);
        if more > 0 {
            out.push_str(&format!(
                "{more} more agents, all of them with lower p99, are in summary.json\n"
            ));
        }
        if with_zones {
            let cells = |row: &Row| row.cells(count(row.agents));
            out.push_str(&table("Zone", "agents", self.zones.iter().map(cells), width));
        }
        out + "Times are response times, from the intended start\n"
    }

    /// Returns the zones for the summary's JSON. Returns none if all agents are in one zone.
    pub(super) fn zones(&self) -> Vec<Value> {
        let zone = |row: &Row| {
            let mut value = json!({ "name": row.name, "agents": row.agents });
            row.add_to(&mut value);
            value
        };
        self.zones.iter().map(zone).collect()
    }
}

/// Headings of the columns after the first two. Times are in milliseconds.
const HEADS: [&str; 8] =
    ["users", "samples", "errors", "/s", "mean ms", "p50 ms", "p95 ms", "p99 ms"];
/// Indexes of the columns that are dropped first on a narrow terminal.
const SPARE: [usize; 4] = [6, 7, 2, 5];

/// Formats a table with the headings `first`, `second` and `HEADS`. The first column is text. Empty columns are left
/// out.
fn table(
    first: &str,
    second: &str,
    rows: impl Iterator<Item = Vec<String>>,
    width: Option<usize>,
) -> String {
    let mut heads: Vec<String> = vec![first.into(), second.into()];
    heads.extend(HEADS.map(str::to_owned));
    let lines: Vec<Vec<String>> = std::iter::once(heads).chain(rows).collect();
    let wide = |n: usize| lines.iter().map(|line| line[n].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..lines[0].len()).map(wide).collect();
    let mut shown: Vec<bool> = widths.iter().map(|width| *width > 0).collect();
    for spare in SPARE {
        let all = widths.iter().zip(&shown).filter(|(_, shown)| **shown);
        let needed: usize = all.map(|(width, _)| width + 2).sum();
        shown[spare] &= width.is_none_or(|width| needed <= width + 2);
    }
    let mut out = String::from("\n");
    for line in &lines {
        let mut text = format!("{:<width$}", line[0], width = widths[0]);
        for n in (1..line.len()).filter(|n| shown[*n]) {
            text.push_str(&format!("  {:>width$}", line[n], width = widths[n]));
        }
        out.push_str(text.trim_end());
        out.push('\n');
    }
    out
}

/// Formats a number with three significant digits.
fn digits(value: f64) -> String {
    match value {
        v if v >= 100.0 => count(v.round() as u64),
        v if v >= 10.0 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use stats::hist::Hist;

    use super::*;

    /// Returns the measurements of an agent with `samples` samples of `ms` milliseconds each, within ten seconds.
    pub(in super::super) fn figures(samples: u64, ms: u64) -> Figures {
        let mut response = Hist::new();
        response.record(ms * 1000, samples);
        let tally = Tally {
            count: samples,
            errors: samples / 100,
            first_start_ms: 1_000,
            last_end_ms: 11_000,
            max_response: ms * 1_000_000,
            ..Tally::EMPTY
        };
        Figures { tally, response, users: 5 }
    }

    pub(in super::super) fn about(name: &str, zone: &str) -> About {
        About {
            name: name.into(),
            zone: zone.into(),
            processors: 2,
            descriptors: 1024,
            memory: 1 << 30,
            shares: 1,
            cores: 2,
            clock_bound_ms: 0.25,
            clock_offset_ms: 0,
            relay: None,
        }
    }

    fn three() -> Tables {
        let about = [about("a", "eu"), about("b", "us"), about("c", "us")];
        Tables::new(&about, &[figures(600, 10), figures(300, 20), figures(100, 200)])
    }

    #[test]
    fn each_table_adds_up_to_the_whole_and_a_zone_has_the_percentiles_of_its_samples() {
        let tables = three();
        for rows in [&tables.agents, &tables.zones] {
            assert_eq!(rows.iter().map(|row| row.of.tally.count).sum::<u64>(), 1000);
            assert_eq!(rows.iter().map(|row| row.of.tally.errors).sum::<u64>(), 10);
            let rate: f64 = rows.iter().map(|row| row.per_s).sum();
            assert!((rate - 100.0).abs() < 1e-9, "{rate}");
        }
        // In this zone a quarter of 400 samples takes 200 ms. An average of medians would wrongly be 65 ms.
        let us = &tables.zones[1].response;
        assert!((us.p50 / 20.0 - 1.0).abs() < 0.002, "{us:?}");
        assert!((us.p95 / 200.0 - 1.0).abs() < 0.002, "{us:?}");
        let zones = tables.zones();
        assert_eq!((&zones[1]["name"], &zones[1]["agents"]), (&"us".into(), &2.into()));
        assert_eq!(zones[1]["samples"], 400);
    }

    #[test]
    fn the_text_has_a_table_by_agent_and_one_by_zone_and_fits_the_terminal() {
        let text = three().text(None);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 10, "{text}");
        assert!(lines[9].starts_with("Times are response times"), "{text}");
        assert!(lines[1].starts_with("Agent  zone  users  samples  errors"), "{text}");
        assert!(lines[4].starts_with("c        us      5      100       1"), "{text}");
        assert!(lines[6].starts_with("Zone  agents  users"), "{text}");
        assert!(lines[4].ends_with("  200") && lines[8].ends_with("  200"), "{text}");
        let narrow = three().text(Some(60));
        assert!(narrow.lines().all(|line| line.chars().count() <= 60), "{narrow}");
        assert!(narrow.contains("p99 ms") && !narrow.contains("mean"), "{narrow}");
        let one = Tables::new(&[about("a", "eu")], &[figures(1, 1)]);
        assert_eq!((one.text(None).as_str(), one.zones().len()), ("", 0));
    }

    #[test]
    fn of_many_agents_the_slowest_are_in_the_text() {
        let about: Vec<_> = (0..30).map(|n| self::about(&format!("a{n:02}"), "")).collect();
        let of: Vec<_> = (0..30).map(|n| figures(10, 10 + n)).collect();
        let text = Tables::new(&about, &of).text(None);
        assert!(text.contains("a29") && !text.contains("a09 "), "{text}");
        assert!(text.contains("10 more agents"), "{text}");
        assert!(!text.contains("zone"), "{text}");
    }
}
