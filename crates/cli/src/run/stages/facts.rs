//! Facts about a run that its record contains from the start: plan, load, machine, and settings that rules need.

use engine::TotalLoad;
use plan::plan::{Plan, SamplerKind};
use record::frame::{
    ASSERTIONS, MISSING_FILES, MISSING_INCLUDES, PORTS_EACH, RECEIVE_BUFFER, SHARED_NAMES,
    TIME_WAIT_REUSE,
};

use crate::args::request::Request;
use crate::checks::check::MissingFiles;
use crate::checks::preflight::Look;

/// Returns the facts of a run that are known before it starts.
pub(super) fn frame(
    request: &Request,
    plan: &Plan,
    asked: TotalLoad,
    found: &Look,
    missing: &MissingFiles,
) -> record::Frame {
    let TotalLoad { users, rate, schedule, length_ms, open, endless, rate_users, .. } = asked;
    let copies = request.fleet.as_ref().map_or(1, fleet::remote::Way::copies);
    let (copies, many) = (u64::from(copies), f64::from(copies));
    let (users, of_rate) = (users * copies, rate_users.unwrap_or(0) * copies);
    let rate = rate.map(|rate| rate * many);
    let schedule = schedule.iter().map(|(ns, from, to)| record::RatePeriod {
        length_ms: ns / 1_000_000,
        begin: from * many,
        end: to * many,
    });
    let schedule = schedule.collect();
    let mut settings = plan_settings(plan);
    settings.extend(request.sources.recorded());
    settings.push((record::frame::PLAN_TEXT.to_owned(), format!("{:016x}", plan.text_hash)));
    let has_ports = found.ports_each > 0;
    let more = [
        (PORTS_EACH, has_ports, found.ports_each.to_string()),
        (TIME_WAIT_REUSE, has_ports, found.time_wait_reuse.to_string()),
        (RECEIVE_BUFFER, found.receive_buffer > 0, found.receive_buffer.to_string()),
        (record::frame::ENDLESS, endless, true.to_string()),
        (record::frame::RATE_USERS, rate_users.is_some(), of_rate.to_string()),
        (record::frame::MAIN_GROUP, plan.has_main_group, true.to_string()),
        (MISSING_FILES, !missing.read.is_empty(), missing.read.join("\n")),
        (MISSING_INCLUDES, !missing.included.is_empty(), missing.included.join("\n")),
    ];
    let more = more.into_iter().filter(|(_, is_so, _)| *is_so);
    settings.extend(more.map(|(name, _, value)| (name.to_owned(), value)));
    record::Frame {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        plan: request.plan.display().to_string(),
        plan_hash: plan.hash,
        processors: found.processors.max(1) as u32,
        memory: found.memory,
        load: record::Load { users, rate, schedule, length_ms, open },
        ports: found.ports.unwrap_or(0),
        settings,
        ..record::Frame::default()
    }
}

/// Returns the settings of the plan that rules of the verdict need.
fn plan_settings(plan: &Plan) -> Vec<(String, String)> {
    let assertions: usize = plan.samplers.iter().map(|sampler| sampler.checks.len()).sum();
    let mut of_http = plan.samplers.iter().filter_map(|sampler| match &sampler.kind {
        SamplerKind::Http(http) => Some(http.dns.is_none()),
        _ => None,
    });
    // Without a DNS Cache Manager, all requests are sent to the first address of a name.
    let pinned = of_http.clone().next().is_some() && of_http.all(|pinned| pinned);
    let mut settings: Vec<(String, String)> =
        [(ASSERTIONS, assertions.to_string()), ("dns_pinned", pinned.to_string())]
            .map(|(name, value)| (name.to_owned(), value))
            .into();
    let shared = shared_names(plan);
    if !shared.is_empty() {
        settings.push((SHARED_NAMES.to_owned(), shared.join("\n")));
    }
    settings
}

/// Returns the names that several samplers share. Samples with such a label may contain requests to several
/// services.
fn shared_names(plan: &Plan) -> Vec<&str> {
    let mut names: Vec<&str> =
        plan.samplers.iter().filter_map(|sampler| sampler.name.fixed()).collect();
    names.sort_unstable();
    let mut shared: Vec<&str> =
        names.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
    shared.dedup();
    shared
}
