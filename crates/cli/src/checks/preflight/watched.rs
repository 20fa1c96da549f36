//! Queries each host that a run would watch once before the run.

use serde::Serialize;
use stats::grouped::things;

/// Result of querying a watched host.
#[derive(Debug, Serialize)]
pub(crate) struct Watched {
    pub(crate) name: String,
    /// Number of metrics that the exporter returned, of metrics that an agent was asked for, or of firing alerts.
    pub(crate) figures: u64,
    /// Reason for a missing result, or a warning that the exporter does not reach its server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) problem: Option<String>,
    /// Noun for the counted items: metric or alert.
    #[serde(skip)]
    thing: &'static str,
}

const NOT_UP: &str = "the exporter answers, and says that it does not reach its server (up is 0)";

/// Queries all watched hosts in parallel.
pub(crate) fn ask(hosts: &[watch::Host]) -> Vec<Watched> {
    let watched = |(host, answer): (&watch::Host, watch::Answer)| {
        let (figures, problem) = match answer {
            Ok(answer) => (answer.figures, (!answer.is_up).then(|| NOT_UP.into())),
            Err(words) => (0, Some(words)),
        };
        let thing = match host.source {
            watch::Source::Alertmanager(_) => "firing alert",
            watch::Source::PerfMon(_) => "metric",
            watch::Source::Prometheus(_) => "figure",
        };
        Watched { name: host.name.clone(), figures, problem, thing }
    };
    hosts.iter().zip(watch::ask(hosts)).map(watched).collect()
}

pub(crate) fn text(watched: &[Watched]) -> String {
    if watched.is_empty() {
        return String::new();
    }
    let mut out = String::from("\nWatched hosts\n");
    for host in watched {
        match &host.problem {
            None => {
                let figures = things(host.figures, host.thing);
                out.push_str(&format!("  answers   {}: {figures}\n", host.name));
            }
            Some(words) if host.figures > 0 => {
                out.push_str(&format!("  not up    {}: {words}\n", host.name));
            }
            Some(words) => out.push_str(&format!("  no answer {}: {words}\n", host.name)),
        }
    }
    let silent = watched.iter().filter(|host| host.problem.is_some()).count() as u64;
    out.push_str(&match (silent, watched.len()) {
        (0, 1) => "  The watched host answers.\n".into(),
        (0, n) => format!("  All {n} watched hosts answer.\n"),
        (1, 1) => "  The watched host gives no figures.\n".into(),
        (n, all) => format!("  {n} of {all} watched hosts give no figures.\n"),
    });
    out
}
