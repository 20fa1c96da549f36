//! The machines of a run in its summary: lines of text, and lists in JSON.

use std::collections::BTreeSet;

use fleet::Figures;
use fleet::remote::About;
use serde_json::{Map, Value, json};
use stats::grouped::things;

use super::figures::Tables;

/// The machines whose agents run the users, with the measurements of each agent. Empty if the users run on this
/// machine.
#[derive(Debug, Default)]
pub(crate) struct Machines {
    about: Vec<About>,
    tables: Tables,
}

impl Machines {
    pub(crate) fn new(about: Vec<About>) -> Self {
        Self { about, tables: Tables::default() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.about.is_empty()
    }

    /// Stores the measurements of the agents, in the order of the agents, after the run.
    pub(crate) fn measured(&mut self, figures: &[Figures]) {
        self.tables = Tables::new(&self.about, figures);
    }

    /// Returns the line about the machines for the text summary.
    pub(crate) fn text(&self) -> String {
        let processes: u32 = self.about.iter().map(|about| about.shares).sum();
        let bound = self.about.iter().map(|about| about.clock_bound_ms).fold(0.0, f64::max);
        let relays: BTreeSet<_> = self.about.iter().filter_map(|of| of.relay.as_ref()).collect();
        let by = match relays.len() {
            0 => String::new(),
            1 => " by one relay".to_owned(),
            count => format!(" by {count} relays"),
        };
        format!(
            "Agents          {}{by}, {}; CPU and memory are the sum of all; clocks known to {bound:.2} ms; \
             every sample is accounted for\n",
            things(self.about.len() as u64, "machine"),
            things(processes.into(), "process")
        )
    }

    /// Returns the tables of measurements by agent and by zone, for a terminal of `width` columns.
    pub(crate) fn tables(&self, width: Option<usize>) -> String {
        self.tables.text(width)
    }

    /// Adds the machines of the run to the summary's JSON, if there are any.
    pub(crate) fn add_to_json(&self, summary: &mut Map<String, Value>) {
        if self.is_empty() {
            return;
        }
        let agent = |(at, about): (usize, &About)| {
            let mut value = json!({
                "name": about.name,
                "zone": about.zone,
                "processors": about.processors,
                "descriptors": about.descriptors,
                "memory": about.memory,
                "shares": about.shares,
                "threads": about.cores,
                "clock_bound_ms": about.clock_bound_ms,
                "clock_offset_ms": about.clock_offset_ms,
            });
            if let Some(relay) = &about.relay {
                value["relay"] = relay.as_str().into();
            }
            if let Some(row) = self.tables.agents.get(at) {
                row.add_to(&mut value);
            }
            value
        };
        summary.insert("agents".into(), self.about.iter().enumerate().map(agent).collect());
        let zones = self.tables.zones();
        if !zones.is_empty() {
            summary.insert("zones".into(), zones.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::figures::tests::{about, figures};
    use super::*;

    #[test]
    fn the_summary_has_each_agent_with_its_figures_and_the_zones() {
        let mut machines = Machines::new(vec![about("a", "eu"), about("b", "us")]);
        machines.measured(&[figures(600, 10), figures(400, 20)]);
        let mut json = Map::new();
        machines.add_to_json(&mut json);
        let agent = &json["agents"][1];
        assert_eq!((&agent["name"], &agent["clock_bound_ms"]), (&"b".into(), &0.25.into()));
        assert_eq!((&agent["samples"], &agent["rate_per_s"]), (&400.into(), &40.0.into()));
        let p95 = agent["response"]["p95"].as_f64().expect("a number");
        assert!((p95 / 20.0 - 1.0).abs() < 0.002, "{agent}");
        assert_eq!(
            (&json["zones"][0]["name"], &json["zones"][0]["users"]),
            (&"eu".into(), &5.into())
        );
        let none = Machines::default();
        let mut json = Map::new();
        none.add_to_json(&mut json);
        assert!(none.is_empty() && json.is_empty());
    }
}
