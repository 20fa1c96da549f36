//! Agents that a plan's PerfMon collectors name, as hosts to watch.

use std::collections::HashMap;

use engine::Monitor;
use watch::perfmon::{Agent, Metric};
use watch::{Host, Source};

/// Returns an agent's settings, without its address and metrics.
pub(crate) fn template(properties: &HashMap<String, String>) -> Agent {
    let of = |key: &str| properties.get(key).map_or("", |text| text.trim());
    Agent {
        interval_ms: of("jmeterPlugin.perfmon.interval").parse().unwrap_or(1000),
        udp: of("jmeterPlugin.perfmon.useUDP").eq_ignore_ascii_case("true"),
        ..Agent::default()
    }
}

/// Returns the agents of the collectors, for a query before a run. Rows without a valid port are left out; the run
/// warns about them.
pub(crate) fn agents(monitors: &[Monitor], properties: &HashMap<String, String>) -> Vec<Host> {
    hosts(monitors, &template(properties), false).0
}

/// Returns the host name up to its first dot, if that part contains only letters, digits, `_` and `-`. Otherwise
/// returns the whole name.
fn short(host: &str) -> &str {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let first = host.split_once('.').map(|(first, _)| first);
    first.filter(|first| !first.is_empty() && first.chars().all(is_word)).unwrap_or(host)
}

/// Returns the agents that the collectors name, without duplicates, and warnings about rows with an invalid port,
/// which are left out. If `is_short` is true, labels contain the host's short name.
pub(crate) fn hosts(
    monitors: &[Monitor],
    template: &Agent,
    is_short: bool,
) -> (Vec<Host>, Vec<String>) {
    let mut hosts: Vec<Host> = Vec::new();
    let mut complaints = Vec::new();
    for (listener, monitor) in monitors.iter().enumerate() {
        for [host, port, kind, parameters] in &monitor.rows {
            let Ok(port) = port.parse::<u16>() else {
                complaints.push(format!("PerfMon: {port} is not a port; {host} is not watched"));
                continue;
            };
            let address = format!("{host}:{port}");
            let shown = if is_short { short(host) } else { host };
            let metric = Metric::new(listener, shown, kind, parameters);
            let same = |one: &&mut Host| matches!(&one.source, Source::PerfMon(agent) if agent.address == address);
            if let Some(Host { source: Source::PerfMon(agent), .. }) = hosts.iter_mut().find(same) {
                agent.add(metric);
                continue;
            }
            let taken = hosts.iter().any(|one| one.name == *host);
            let name = if taken { address.clone() } else { host.clone() };
            let agent = Agent { address, metrics: vec![metric], ..template.clone() };
            hosts.push(Host { name, source: Source::PerfMon(agent), ports: None });
        }
    }
    (hosts, complaints)
}
