//! Hosts that a run would watch, each asked once before it.

use serde::Serialize;
use stats::grouped::things;

/// The answer of a host.
#[derive(Debug, Serialize)]
pub(crate) struct Watched {
    pub(crate) name: String,
    /// Figures that it gave.
    pub(crate) figures: u64,
    /// Why it gave none, or that its exporter does not reach the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) problem: Option<String>,
}

/// Asks all hosts at the same time.
pub(crate) fn ask(hosts: &[watch::Host]) -> Vec<Watched> {
    let watched = |(host, answer): (&watch::Host, watch::Answer)| match answer {
        Ok(answer) => Watched {
            name: host.name.clone(),
            figures: answer.figures,
            problem: (!answer.is_up).then(|| {
                "the exporter answers, and says that it does not reach its server (up is 0)".into()
            }),
        },
        Err(words) => Watched { name: host.name.clone(), figures: 0, problem: Some(words) },
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
                let figures = things(host.figures, "figure");
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
