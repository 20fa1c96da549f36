//! Reads the machines of a run and their metrics from the run's summary.

use report::model::{Agent, Agents};
use serde_json::Value;

/// Returns the machines and zones of a summary. They are empty if the run used one machine.
pub(crate) fn agents(summary: &Value) -> Agents {
    let list = |key: &str| {
        // Summaries of earlier versions list machines without metrics.
        let rows = summary[key].as_array().into_iter().flatten();
        rows.filter(|row| row["samples"].is_u64()).map(agent).collect()
    };
    Agents { agents: list("agents"), zones: list("zones") }
}

fn agent(of: &Value) -> Agent {
    let text = |key: &str| of[key].as_str().unwrap_or_default().to_owned();
    let count = |key: &str| of[key].as_u64().unwrap_or(0);
    let samples = count("samples");
    let us = |key: &str| of["response"][key].as_f64().filter(|_| samples > 0).map(|ms| ms * 1000.0);
    Agent {
        name: text("name"),
        zone: text("zone"),
        agents: of["agents"].as_u64().unwrap_or(1),
        users: count("users"),
        samples,
        failed: count("errors"),
        rate_per_s: of["rate_per_s"].as_f64().unwrap_or(0.0),
        mean_us: us("mean"),
        p50_us: us("p50"),
        p95_us: us("p95"),
        p99_us: us("p99"),
        max_us: us("max"),
        clock_bound_ms: of["clock_bound_ms"].as_f64(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn machines_without_figures_are_left_out() {
        let response = json!({ "mean": 2.0, "p50": 1.5, "p95": 3.0, "p99": 4.0, "max": 5.0 });
        let summary = json!({ "agents": [
            { "name": "a", "zone": "eu", "clock_bound_ms": 0.5, "users": 3, "samples": 6, "errors": 1,
              "rate_per_s": 2.0, "response": response },
            { "name": "idle", "samples": 0, "response": response },
            { "name": "of old" },
        ] });
        let found = agents(&summary);
        assert_eq!((found.agents.len(), found.zones.len()), (2, 0));
        let a = &found.agents[0];
        assert_eq!((a.samples, a.p95_us, a.clock_bound_ms), (6, Some(3000.0), Some(0.5)));
        assert_eq!((found.agents[1].p95_us, found.agents[1].clock_bound_ms), (None, None));
    }
}
