//! Worker processes in the summary, and messages about workers that have died.

use fleet::{Loss, Missed};
use serde_json::{Map, Value, json};
use stats::grouped::things;

/// Returns the message that is printed when a worker process dies.
pub(crate) fn words(loss: &Loss) -> String {
    let Loss { worker, agent, pid, reason, users, connections, .. } = loss;
    let name = match agent {
        Some(agent) => format!("agent {agent} (process {pid} there)"),
        None => format!("worker {worker} (process {pid})"),
    };
    format!(
        "{name} is lost: {reason}; lost with it: {}, {}, and its samples since {} ({})",
        things((*users).into(), "user"),
        things(*connections, "connection"),
        moment(loss),
        missed(loss)
    )
}

/// Returns the summary's section about workers. It is empty for a run in one process.
pub(crate) fn text(workers: u32, losses: &[Loss]) -> String {
    if workers == 0 {
        return String::new();
    }
    if losses.is_empty() {
        return format!(
            "Workers         {}; CPU and memory are the sum of all; every sample is accounted for\n",
            things(workers.into(), "process")
        );
    }
    let users: u64 = losses.iter().map(|loss| u64::from(loss.users)).sum();
    let connections: u64 = losses.iter().map(|loss| loss.connections).sum();
    let mut out = format!(
        "\nWorkers lost    {} of {workers}: {}, {}, and their last samples\n",
        losses.len(),
        things(users, "user"),
        things(connections, "connection")
    );
    for loss in losses {
        out.push_str(&format!("                {}\n", words(loss)));
    }
    out
}

/// Adds the number of workers and the losses to the summary's JSON, unless the run was in one process.
pub(crate) fn add_to_json(summary: &mut Map<String, Value>, workers: u32, losses: &[Loss]) {
    if workers == 0 {
        return;
    }
    let lost = losses.iter().map(|loss| {
        let lost = json!({
            "worker": loss.worker,
            "pid": loss.pid,
            "reason": loss.reason,
            "users": loss.users,
            "connections": loss.connections,
            "last_report_ms": loss.last_ms,
        });
        with_agent(lost, loss)
    });
    summary.insert("workers".into(), workers.into());
    // Every worker that ended regularly has reported its number of samples, and all of them were received. A worker
    // that died could not report.
    summary.insert("accounted".into(), losses.is_empty().into());
    summary.insert("missing".into(), losses.iter().map(missing).collect());
    summary.insert("workers_lost".into(), lost.collect());
}

/// Returns as JSON the number of a dead worker's samples that are missing in all results, and the time of the first.
fn missing(loss: &Loss) -> Value {
    let (name, samples) = match loss.samples {
        Missed::About(samples) => ("samples_about", samples),
        Missed::Exactly(samples) => ("samples", samples),
    };
    let mut missing = json!({ "worker": loss.worker, "from_ms": loss.last_ms, name: samples });
    if let Some(at_most) = loss.at_most {
        missing["samples_at_most"] = at_most.into();
    }
    with_agent(missing, loss)
}

/// Adds the worker's machine to the JSON of a lost worker, if it is not this machine.
fn with_agent(mut value: Value, loss: &Loss) -> Value {
    if let Some(agent) = &loss.agent {
        value["agent"] = agent.clone().into();
    }
    value
}

fn missed(loss: &Loss) -> String {
    let bound = loss.at_most.map_or_else(String::new, |most| format!(", at most {most}"));
    match loss.samples {
        Missed::About(samples) if !bound.is_empty() => {
            format!("about {samples}, by its last second{bound}")
        }
        Missed::About(samples) => format!("about {samples}, by its last second"),
        Missed::Exactly(samples) => format!("{samples}"),
    }
}

/// Formats the end of the last second that the worker reported, or `its start` if it reported none.
fn moment(loss: &Loss) -> String {
    if loss.last_ms == 0 {
        return "its start".into();
    }
    let at = jiff::Timestamp::from_millisecond(loss.last_ms).unwrap_or_default();
    at.to_zoned(lang::zone::here()).strftime("%H:%M:%S").to_string()
}
