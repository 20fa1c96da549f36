//! `throng preflight`: checks before a run if this machine and a chain of proxies can carry its load.
//!
//! Reads the load from the plan and the limits from the machine. Each rule produces a finding with the limit, the
//! need, and the command that raises the limit. A run makes the same checks when it starts, and warns about limits
//! that are too small. The cost is a few reads of /proc and an evaluation of the plan's destinations.
//!
//! | module | holds |
//! |---|---|
//! | `demand`, `host` | the load of a plan, and the limits of a machine |
//! | `rules`, `finding` | the comparison of a load with the limits |
//! | `chain` | the capacity of a chain of proxies |
//! | `settings`, `place` | files of kernel settings, and the place where a setting is changed in a container |
//! | `watched` | one query of each host that a run would watch |
//! | `report` | the report as text and JSON |
//! | `fix` | raising kernel settings, and the commands that revert the changes |

mod chain;
pub(crate) mod demand;
mod finding;
mod fix;
mod host;
mod place;
mod report;
mod rules;
mod settings;
mod watched;

use std::path::Path;

use plan::number::OddNumber;
use plan::plan::Plan;
use serde_json::{Value, json};

use crate::args::flags::PreflightFlags;
use crate::args::project;
use crate::args::request::Request;
use crate::checks::check::Checked;
use crate::exit::Exit;
use crate::inputs::properties::Properties;
use crate::print::terminal;
use crate::print::tty::Stream;

use chain::{Chain, Mistake};
use demand::{Demand, Given};
use finding::{Finding, Severity};
pub(crate) use host::Host;
use place::Surroundings;
use report::Report;

/// Error message for `--watch` without any hosts.
const NO_HOSTS: &str = "--watch without NAME=URL asks the hosts of throng.toml and the plan's PerfMon agents, and none is named there: give \
    --watch NAME=URL, or name hosts under [watch] in throng.toml";

pub(crate) fn run(flags: PreflightFlags) -> Exit {
    let chain = match flags.chain.as_deref().map(Chain::parse).transpose() {
        Ok(chain) => chain,
        Err(mistake) => return usage(&diagnosis(&mistake)),
    };
    let mut request = Request {
        plan: flags.plan.clone().unwrap_or_default(),
        sources: flags.properties.sources(),
        watch: flags.watch.iter().filter_map(|host| host.0.clone()).collect(),
        ..Request::default()
    };
    let asks_hosts_of_project = flags.watch.iter().any(|host| host.0.is_none());
    if (flags.plan.is_some() || asks_hosts_of_project)
        && let Err(message) = project::apply(&mut request)
    {
        return usage(&message);
    }
    let mut demand = match demand_of(&flags, &request) {
        Ok(demand) => demand,
        Err(exit) => return exit,
    };
    let mut watched = request.watch;
    watched.append(&mut demand.agents);
    if asks_hosts_of_project && watched.is_empty() {
        return usage(NO_HOSTS);
    }
    let file = match flags.sysctl.as_deref().map(settings::File::read).transpose() {
        Ok(file) => file,
        Err(message) => return usage(&message),
    };
    let mut report = report(demand, &flags, file.as_ref(), chain.as_ref());
    if !flags.watch.is_empty() {
        report.watched = watched::ask(&watched);
    }
    if flags.json {
        terminal::json(&serde_json::to_string_pretty(&report).unwrap_or_default());
    } else {
        terminal::out(&report.text());
    }
    if flags.fix {
        fix(&report, flags.dry_run, flags.json);
    }
    if report.severity == Severity::TooSmall { Exit::TooSmall } else { Exit::Ok }
}

/// Builds the report on this machine, or on this machine with the settings of a file.
fn report(
    demand: Demand,
    flags: &PreflightFlags,
    file: Option<&settings::File>,
    chain: Option<&Chain>,
) -> Report {
    let now = |key: &str| settings::value_below(Path::new("/proc/sys"), key);
    let host = file.map_or_else(Host::now, |file| Host::with(&file.values(&now)));
    let mut report = Report::new(demand, &host, chain);
    report.has_load = flags.plan.is_some() || flags.users.is_some();
    report.settings = match file {
        None => settings::lowered(&host),
        Some(file) => file.judge(&now, &host.surroundings),
    };
    report.file = flags.sysctl.as_ref().map(|path| path.display().to_string());
    report
}

/// Returns the demand of a plan that `throng run` would run, or of the requested number of users. The error is the exit
/// code of a failure whose message is already printed.
fn demand_of(flags: &PreflightFlags, request: &Request) -> Result<Demand, Exit> {
    let given = Given {
        users: flags.users,
        sources: flags.source.clone(),
        message: flags.message,
        ..Given::default()
    };
    let demand = if flags.plan.is_some() {
        let checked = Checked::of_request(request, given).map_err(|message| usage(&message))?;
        if !checked.admits(flags.json, flags.skip_unsupported) {
            if flags.json {
                let refused = refused(&checked);
                terminal::json(&serde_json::to_string_pretty(&refused).unwrap_or_default());
            }
            return Err(Exit::Plan);
        }
        checked.demand.ok_or(Exit::Plan)?
    } else {
        let properties = Properties::load_or_tell(&request.sources).ok_or(Exit::Usage)?;
        let workers = properties.workers(request.workers).map(u64::from);
        let given = Given { properties: properties.to_map(), workers, ..given };
        demand::without_plan(flags.users.unwrap_or_default(), &given)
    };
    demand.map_err(|message| usage(&format!("source addresses: {message}")))
}

/// Returns the JSON report on a plan that `throng run` would refuse. Its key `plan` contains the report of `throng
/// check`.
fn refused(checked: &Checked) -> Value {
    json!({
        "severity": "refused",
        "demand": null,
        "connections": null,
        "workers": null,
        "findings": [],
        "settings": [],
        "surroundings": Surroundings::now(),
        "watched": [],
        "plan": checked.data(),
        "commands": [],
        "undo": [],
    })
}

/// Raises the settings that are too small, or prints the changes only. With --json, standard output is reserved for the
/// report.
fn fix(report: &Report, dry_run: bool, json: bool) {
    let text =
        if dry_run { report.plan_of_changes() } else { report.change(Path::new("/proc/sys")) };
    terminal::write(if json { Stream::Err } else { Stream::Out }, &text);
}

/// Results of the preflight checks at the start of a run.
#[derive(Debug, Default)]
pub(crate) struct Look {
    /// A line for each limit that is too small. Empty if all limits are sufficient.
    pub(crate) warnings: Vec<String>,
    /// The lines of `warnings` about limits that prevent a run on this machine.
    pub(crate) refusals: Vec<String>,
    /// Warnings about settings of thread groups that are not numbers.
    pub(crate) odd_numbers: Vec<OddNumber>,
    /// Number of users of the run.
    pub(crate) users: u64,
    /// Number of local ports available to the run's connections. `None` if a destination is unknown before the run.
    pub(crate) ports: Option<u64>,
    /// Number of local ports available for each destination, on all source addresses together.
    pub(crate) ports_each: u64,
    /// Value of `net.ipv4.tcp_tw_reuse`.
    pub(crate) time_wait_reuse: u64,
    /// Initial size of a socket's receive buffer in bytes. 0 if it is unknown.
    pub(crate) receive_buffer: u64,
    /// Largest number of connections that the users hold.
    pub(crate) connections: u64,
    /// Number of processes that run the users on this machine: the number that the user has set, or as many as the
    /// connections need.
    pub(crate) workers: u64,
    /// Number of descriptors that a process may open.
    pub(crate) descriptors: u64,
    /// Number of processors of the machine.
    pub(crate) processors: u64,
    /// Memory of the machine in bytes, within the limit of the control group.
    pub(crate) memory: u64,
}

/// Checks a plan that is about to run on this machine.
pub(crate) fn look(plan: &Plan, given: &Given, host: &Host) -> Look {
    // The engine reports errors in the source addresses, so they are ignored here.
    let Host { descriptors, processors, memory_total: memory, .. } = *host;
    let Ok(mut demand) = demand::of_plan(plan, given) else {
        return Look { descriptors, processors, memory, ..Look::default() };
    };
    let odd_numbers = std::mem::take(&mut demand.odd_numbers);
    let ports = rules::ports_there(&demand, host).filter(|_| demand.unknown_destinations == 0);
    let ports_each = host.local_ports().saturating_mul(demand.sources.max(1));
    let time_wait_reuse = host.time_wait_reuse;
    let (users, connections) = (demand.users, demand.connections());
    let workers = rules::workers(&demand, host);
    let words = |f: &Finding| {
        let change = f.change.iter().map(finding::Change::way).chain(f.advice.clone());
        let what_to_do: Vec<_> = change.collect();
        format!("{}: {}, needed {}; {}", f.what, f.now, f.needed, what_to_do.join("; and "))
    };
    let findings = rules::findings(&demand, host);
    let refused = findings.iter().filter(|f| rules::refuses(f, &demand, host));
    let refusals = refused.map(words).collect();
    let too_small = findings.iter().filter(|f| f.severity == Severity::TooSmall);
    let warnings = too_small.map(words).collect();
    Look {
        warnings,
        refusals,
        odd_numbers,
        users,
        ports,
        ports_each,
        time_wait_reuse,
        receive_buffer: host.tcp_rmem[1],
        connections,
        workers,
        descriptors,
        processors,
        memory,
    }
}

/// Formats an error in the description of a chain, with a mark below its position.
fn diagnosis(mistake: &Mistake) -> String {
    let before = mistake.text[..mistake.at].chars().count();
    format!("--chain: {}\n  {}\n  {}^", mistake.message, mistake.text, " ".repeat(before))
}

fn usage(message: &str) -> Exit {
    terminal::error(message);
    Exit::Usage
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::load;
    use crate::inputs::properties::Sources;

    const PLAN: &str = r#"<?xml version="1.0"?><jmeterTestPlan version="1.2" properties="5.0"><hashTree><TestPlan testclass="TestPlan"/><hashTree>
<ThreadGroup testclass="ThreadGroup" testname="users"><elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp><stringProp name="LoopController.loops">1</stringProp></elementProp>
<stringProp name="ThreadGroup.num_threads">1</stringProp><stringProp name="ThreadGroup.ramp_time">0</stringProp></ThreadGroup><hashTree>
<HTTPSamplerProxy testclass="HTTPSamplerProxy" testname="get"><stringProp name="HTTPSampler.domain">::1</stringProp><stringProp name="HTTPSampler.port">81</stringProp>
<stringProp name="HTTPSampler.path">/</stringProp><stringProp name="HTTPSampler.method">GET</stringProp></HTTPSamplerProxy><hashTree/>
</hashTree></hashTree></hashTree></jmeterTestPlan>"#;

    #[test]
    fn the_start_of_a_run_is_told_what_does_not_fit_and_nothing_else() {
        let (properties, _) = Properties::load(&Sources::default(), 0).expect("no files");
        let loaded = load::load(Path::new("p.jmx"), PLAN.as_bytes().to_vec(), &properties);
        let plan = loaded.plan.expect("a plan");
        let with = |users: u64| {
            look(&plan, &Given { by_group: Some(vec![users]), ..Given::default() }, &Host::now())
        };
        let few = with(1);
        assert_eq!(few.warnings, Vec::<String>::new());
        assert!(few.ports.is_some_and(|ports| (1..=65_535).contains(&ports)), "{few:?}");
        let many = with(2_000_000);
        let ports = many.warnings.iter().find(|line| line.starts_with("local ports: "));
        assert!(ports.is_some_and(|line| line.contains("needed 2 000 000; ")), "{many:?}");
        assert_eq!(many.ports, few.ports);
        let most = with(u64::from(u32::MAX));
        assert!(few.refusals.is_empty() && !most.refusals.is_empty(), "{most:?}");
    }

    #[test]
    fn a_mistake_in_a_chain_is_marked() {
        let mistake = Chain::parse("a -> é*0").expect_err("no instances");
        let text = diagnosis(&mistake);
        assert!(text.ends_with("\n  a -> é*0\n         ^"), "{text}");
    }
}
