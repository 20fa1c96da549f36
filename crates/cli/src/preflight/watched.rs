//! Hosts that a run would watch, each asked once before it.

use serde::Serialize;
use stats::grouped::things;

/// The answer of a host.
#[derive(Debug, Serialize)]
pub(crate) struct Watched {
    pub(crate) name: String,
    /// Figures that it gave, metrics asked of an agent, or alerts that fire.
    pub(crate) figures: u64,
    /// Why it gave none, or that its exporter does not reach the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) problem: Option<String>,
    /// The word for one of its figures.
    #[serde(skip)]
    thing: &'static str,
}

const NOT_UP: &str = "the exporter answers, and says that it does not reach its server (up is 0)";

/// Asks all hosts at the same time.
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
