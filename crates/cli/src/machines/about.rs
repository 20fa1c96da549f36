//! The machines of a run, as its summary has them: a line of text, and a list in JSON.

use fleet::remote::About;
use serde_json::{Value, json};

/// A block of the summary's text.
pub(crate) fn text(agents: &[About]) -> String {
    let processes: u32 = agents.iter().map(|about| about.shares).sum();
    let bound = agents.iter().map(|about| about.clock_bound_ms).fold(0.0, f64::max);
    format!(
        "Agents          {} machines, {processes} processes; CPU and memory are the sum of all; clocks known to {bound:.2} ms; \
         every sample is accounted for\n",
        agents.len()
    )
}

/// The summary's JSON with the machines of the run, if it has some.
pub(crate) fn into_json(json: String, agents: &[About]) -> String {
    if agents.is_empty() {
        return json;
    }
    let Ok(Value::Object(mut summary)) = serde_json::from_str(&json) else { return json };
    let agent = |about: &About| {
        json!({
            "name": about.name,
            "zone": about.zone,
            "processors": about.processors,
            "descriptors": about.descriptors,
            "memory": about.memory,
            "shares": about.shares,
            "threads": about.cores,
            "clock_bound_ms": about.clock_bound_ms,
            "clock_offset_ms": about.clock_offset_ms,
        })
    };
    summary.insert("agents".into(), agents.iter().map(agent).collect());
    serde_json::to_string_pretty(&summary).unwrap_or(json)
}
