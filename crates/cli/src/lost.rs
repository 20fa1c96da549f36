//! Worker processes in the summary, and messages about those that died.

use fleet::Loss;
use serde_json::{Value, json};

/// The message printed when a worker dies.
pub(crate) fn words(loss: &Loss) -> String {
    let Loss { worker, pid, reason, users, connections, .. } = loss;
    format!(
        "worker {worker} (process {pid}) is lost: {reason}; lost with it: {users} users, {connections} connections, and its \
         samples since {}",
        moment(loss)
    )
}

/// A block of the summary's text; empty for a run in one process.
pub(crate) fn text(workers: u32, losses: &[Loss]) -> String {
    if workers == 0 {
        return String::new();
    }
    if losses.is_empty() {
        return format!("Workers         {workers} processes; CPU and memory are the sum of all\n");
    }
    let users: u64 = losses.iter().map(|loss| u64::from(loss.users)).sum();
    let connections: u64 = losses.iter().map(|loss| loss.connections).sum();
    let mut out = format!(
        "\nWorkers lost    {} of {workers}: {users} users, {connections} connections, and their last samples\n",
        losses.len()
    );
    for loss in losses {
        out.push_str(&format!("                {}\n", words(loss)));
    }
    out
}

/// The summary's JSON with the number of workers and what was lost, unless the run was in one process.
pub(crate) fn into_json(json: String, workers: u32, losses: &[Loss]) -> String {
    if workers == 0 {
        return json;
    }
    let Ok(Value::Object(mut summary)) = serde_json::from_str(&json) else { return json };
    let lost = losses.iter().map(|loss| {
        json!({
            "worker": loss.worker,
            "pid": loss.pid,
            "reason": loss.reason,
            "users": loss.users,
            "connections": loss.connections,
            "last_report_ms": loss.last_ms,
        })
    });
    summary.insert("workers".into(), workers.into());
    summary.insert("workers_lost".into(), lost.collect());
    serde_json::to_string_pretty(&summary).unwrap_or(json)
}

/// The end of the last second the worker reported.
fn moment(loss: &Loss) -> String {
    if loss.last_ms == 0 {
        return "its start".into();
    }
    let at = jiff::Timestamp::from_millisecond(loss.last_ms).unwrap_or_default();
    at.to_zoned(lang::zone::here()).strftime("%H:%M:%S").to_string()
}
